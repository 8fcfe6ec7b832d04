/* tiles.cuh: the three convolutions as matrix products whose matrices are never built.

                        columns                       forward          input gradient      filter gradient
          depth      [    B     ]       rows          places           cells of x          (tap, in_channel)
     [    A     ]    [  result  ]       columns       out_channel      in_channel          out_channel
     rows                               depth         (tap, in_channel) (tap, out_channel) places

   A Product describes one tile of the result, TM x TN, and steps along the depth in chunks of TK. It returns the item-th
   number of A or B for this thread in this chunk (load_a, load_b) and its position in the tile (a_k, a_row, b_k, b_col), and
   it writes a finished cell (store). Other files multiply, with ordinary units or with tensor cores.

   256 threads load a chunk. They are arranged along the axis that is contiguous in memory, so that they read neighbours:

     along the depth   k = thread % TK, row = thread / TK + ...       x in the forward product, dy and w in the input gradient
     along the rows    row = thread % 32 + ..., k = thread / 32 + ... w in the forward product, both in the filter gradient

   Positions are advanced by additions, not computed by divisions: a step of TK along (tap, channel) or (image, row, col) takes
   only a few. */

#ifndef TEACHCONV_TILES_CUH
#define TEACHCONV_TILES_CUH

#define THREADS 256
#define NOWHERE (-(1 << 30)) /* a row of x or dy that is outside for every tap */

struct Alongside { /* threads along the depth */
    template <int TK> DEVICE static int k(int) { return threadIdx.x % TK; }
    template <int TK> DEVICE static int row(int item) { return threadIdx.x / TK + THREADS / TK * item; }
};
template <int T> struct Across { /* threads along the rows (or columns) of a tile of T */
    DEVICE static int k(int item) { return threadIdx.x / 32 + THREADS / 32 * (item / (T / 32)); }
    DEVICE static int row(int item) { return threadIdx.x % 32 + 32 * (item % (T / 32)); }
};

DEVICE Long divide_up(Long a, Long b) { return (a + b - 1) / b; }

/* y[place, out_channel] = sum over k = (tap, in_channel) of x[place + tap, in_channel] * w[k, out_channel] */
template <int TM, int TN, int TK> struct Forward {
    static constexpr int A_ITEMS = TM * TK / THREADS, B_ITEMS = TN * TK / THREADS;
    const Problem p;
    const Number *x, *w, *bias;
    const int relu;
    Number *y;
    int group, first_col;
    Long first_row, depth;
    const Number *pixel[A_ITEMS]; /* image and group of the place; below, its input row and column for tap 0 */
    int row[A_ITEMS], col[A_ITEMS];
    int channel, tap_row, tap_col; /* this thread's k */
    Long b_first;                  /* this chunk's first k */

    DEVICE Forward(const Problem &p, const Number *x, const Number *w, const Number *bias, int relu, Number *y)
        : p(p), x(x), w(w), bias(bias), relu(relu), y(y), depth((Long)p.taps() * p.in_depth()) {}
    DEVICE Long col_tiles() const { return divide_up(p.out_depth(), TN); }
    DEVICE Long tiles() const { return divide_up(p.places(), TM) * p.groups * col_tiles(); }

    DEVICE static int a_k(int item) { return Alongside::k<TK>(item); }
    DEVICE static int a_row(int item) { return Alongside::row<TK>(item); }
    DEVICE static int b_k(int item) { return Across<TN>::k(item); }
    DEVICE static int b_col(int item) { return Across<TN>::row(item); }

    DEVICE void start(Long tile) {
        first_col = (int)(tile % col_tiles()) * TN;
        group = (int)(tile / col_tiles() % p.groups);
        first_row = tile / col_tiles() / p.groups * TM;
        for (int item = 0; item < A_ITEMS; item++) {
            const Long place = first_row + a_row(item);
            row[item] = NOWHERE, col[item] = 0, pixel[item] = x;
            if (place >= p.places()) continue;
            /* mark: stride of implicit_gemm/y tensor_gemm/y tensor_gemm_tf32/y */
            row[item] = p.in_row((int)(place / p.out_cols % p.out_rows), 0);
            col[item] = p.in_col((int)(place % p.out_cols), 0);
            pixel[item] = x + p.x_at((int)(place / p.out_cols / p.out_rows), 0, 0) + group * p.in_depth();
        }
        channel = tap_row = tap_col = 0;
        b_first = 0;
        walk(a_k(0));
    }
    DEVICE void walk(int steps) {
        channel += steps;
        while (channel >= p.in_depth() && tap_row < p.filter_rows) {
            channel -= p.in_depth();
            if (++tap_col == p.filter_cols) tap_col = 0, tap_row++;
        }
    }
    DEVICE void next_chunk() {
        walk(TK);
        b_first += TK;
    }
    DEVICE Number load_a(int item) const {
        /* mark: dilation of implicit_gemm/y tensor_gemm/y tensor_gemm_tf32/y */
        const int in_row = row[item] + tap_row * p.dilation_rows, in_col = col[item] + tap_col * p.dilation_cols;
        /* mark: padding of implicit_gemm/y tensor_gemm/y tensor_gemm_tf32/y */
        if (tap_row >= p.filter_rows || !p.has_input(in_row, in_col)) return narrow(0);
        return pixel[item][((Long)in_row * p.in_cols + in_col) * p.in_channels + channel];
    }
    DEVICE Number load_b(int item) const {
        const Long k = b_first + b_k(item);
        const int out_channel = first_col + b_col(item);
        if (k >= depth || out_channel >= p.out_depth()) return narrow(0);
        return w[k * p.out_channels + group * p.out_depth() + out_channel];
    }
    DEVICE void store(int tile_row, int tile_col, Sum sum) const {
        const Long place = first_row + tile_row;
        const int out_channel = group * p.out_depth() + first_col + tile_col;
        if (place < p.places() && first_col + tile_col < p.out_depth())
            y[place * p.out_channels + out_channel] = finish(sum, bias, out_channel, relu);
    }
};

/* dx[cell, in_channel] = sum over (tap, out_channel) of dy[the output that reads the cell by the tap] * w[tap, in, out].

   Cells are sorted into stride_rows * stride_cols phases; the cells of one phase are read through the same taps. A tile
   belongs to one phase and skips the other taps, so that no zeros are inserted. */
template <int TM, int TN, int TK> struct InputGradient {
    static constexpr int A_ITEMS = TM * TK / THREADS, B_ITEMS = TN * TK / THREADS;
    const Problem p;
    const Number *dy, *w, *bias;
    const int relu;
    Number *dx;
    int group, first_col, phase_row, phase_col, phase_rows, phase_cols; /* the last two: the number of the phase's cells in an image */
    Long first_row, depth;
    const Number *upstream[A_ITEMS];
    int row[A_ITEMS], col[A_ITEMS];
    int channel, tap_row, tap_col, row_shift, col_shift;

    DEVICE InputGradient(const Problem &p, const Number *dy, const Number *w, const Number *bias, int relu, Number *dx)
        : p(p), dy(dy), w(w), bias(bias), relu(relu), dx(dx) {}
    DEVICE Long col_tiles() const { return divide_up(p.in_depth(), TN); }
    DEVICE Long row_tiles() const { /* for the largest phase */
        return divide_up(p.batch * divide_up(p.in_rows, p.stride_rows) * divide_up(p.in_cols, p.stride_cols), TM);
    }
    DEVICE Long tiles() const { return row_tiles() * p.stride_rows * p.stride_cols * p.groups * col_tiles(); }

    DEVICE static int a_k(int item) { return Alongside::k<TK>(item); }
    DEVICE static int a_row(int item) { return Alongside::row<TK>(item); }
    DEVICE static int b_k(int item) { return Alongside::k<TK>(item); }
    DEVICE static int b_col(int item) { return Alongside::row<TK>(item); }

    /* mark: stride dilation of implicit_gemm/dx tensor_gemm/dx tensor_gemm_tf32/dx */
    DEVICE bool row_fits(int tap) const { return (phase_row + p.pad_top - tap * p.dilation_rows) % p.stride_rows == 0; }
    DEVICE bool col_fits(int tap) const { return (phase_col + p.pad_left - tap * p.dilation_cols) % p.stride_cols == 0; }
    DEVICE Long cells() const { return (Long)p.batch * phase_rows * phase_cols; }

    DEVICE void start(Long tile) {
        first_col = (int)(tile % col_tiles()) * TN;
        group = (int)(tile / col_tiles() % p.groups);
        const Long rest = tile / col_tiles() / p.groups;
        first_row = rest % row_tiles() * TM;
        phase_col = (int)(rest / row_tiles() % p.stride_cols);
        phase_row = (int)(rest / row_tiles() / p.stride_cols);
        phase_rows = phase_row < p.in_rows ? (int)divide_up(p.in_rows - phase_row, p.stride_rows) : 0;
        phase_cols = phase_col < p.in_cols ? (int)divide_up(p.in_cols - phase_col, p.stride_cols) : 0;
        int fitting_rows = 0, fitting_cols = 0;
        for (int tap = 0; tap < p.filter_rows; tap++) fitting_rows += row_fits(tap);
        for (int tap = 0; tap < p.filter_cols; tap++) fitting_cols += col_fits(tap);
        depth = (Long)fitting_rows * fitting_cols * p.out_depth();
        for (int item = 0; item < A_ITEMS; item++) {
            const Long cell = first_row + a_row(item);
            row[item] = NOWHERE, col[item] = 0, upstream[item] = dy;
            if (cell >= cells()) continue;
            row[item] = (int)(cell / phase_cols % phase_rows);
            col[item] = (int)(cell % phase_cols);
            upstream[item] = dy + p.y_at((int)(cell / phase_cols / phase_rows), 0, 0) + group * p.out_depth();
        }
        channel = tap_row = 0;
        tap_col = -1;
        while (tap_row < p.filter_rows && !row_fits(tap_row)) tap_row++;
        next_tap();
        walk(a_k(0));
    }
    /* The next tap of this phase; row_shift and col_shift are its offsets in outputs. Both divisions are exact. */
    DEVICE void next_tap() {
        if (depth == 0) {
            tap_row = p.filter_rows;
            return;
        }
        do {
            if (++tap_col < p.filter_cols) continue;
            tap_col = 0;
            do tap_row++;
            while (tap_row < p.filter_rows && !row_fits(tap_row));
        } while (tap_row < p.filter_rows && !col_fits(tap_col));
        row_shift = (phase_row + p.pad_top - tap_row * p.dilation_rows) / p.stride_rows;
        col_shift = (phase_col + p.pad_left - tap_col * p.dilation_cols) / p.stride_cols;
    }
    DEVICE void walk(int steps) {
        channel += steps;
        while (channel >= p.out_depth() && tap_row < p.filter_rows) {
            channel -= p.out_depth();
            next_tap();
        }
    }
    DEVICE void next_chunk() { walk(TK); }
    DEVICE Number load_a(int item) const {
        const int out_row = row[item] + row_shift, out_col = col[item] + col_shift;
        /* mark: padding of implicit_gemm/dx tensor_gemm/dx tensor_gemm_tf32/dx */
        if (tap_row >= p.filter_rows || out_row < 0 || out_row >= p.out_rows || out_col < 0 || out_col >= p.out_cols) return narrow(0);
        return upstream[item][((Long)out_row * p.out_cols + out_col) * p.out_channels + channel];
    }
    DEVICE Number load_b(int item) const {
        const int in_channel = first_col + b_col(item);
        if (tap_row >= p.filter_rows || in_channel >= p.in_depth()) return narrow(0);
        return w[p.w_at(tap_row, tap_col, in_channel) + group * p.out_depth() + channel];
    }
    DEVICE void store(int tile_row, int tile_col, Sum sum) const {
        const Long cell = first_row + tile_row;
        if (cell >= cells() || first_col + tile_col >= p.in_depth()) return;
        const int in_row = (int)(cell / phase_cols % phase_rows) * p.stride_rows + phase_row;
        const int in_col = (int)(cell % phase_cols) * p.stride_cols + phase_col;
        const int in_channel = group * p.in_depth() + first_col + tile_col;
        dx[p.x_at((int)(cell / phase_cols / phase_rows), in_row, in_col) + in_channel] = finish(sum, bias, in_channel, relu);
    }
};

/* dw[(tap, in_channel), out_channel] = sum over places of x[place + tap, in_channel] * dy[place, out_channel].

   The result is small and the sum is long: `splits` tiles share the places, and add_splits adds their sums afterwards. */
template <int TM, int TN, int TK> struct FilterGradient {
    static constexpr int A_ITEMS = TM * TK / THREADS, B_ITEMS = TN * TK / THREADS;
    static constexpr int KS = TK / (THREADS / 32), ROWS = TM / 32; /* the number of different k, and of rows, of a thread */
    const Problem p;
    const Number *x, *dy;
    const int splits;
    Sum *partial; /* [splits, taps * in_depth, out_channels] */
    int group, first_col, split;
    Long first_row, rows, first_place, stop, depth;
    int row_shift[ROWS], col_shift[ROWS], channel[ROWS]; /* the tap, and the channel of x or -1 */
    Long image_at[KS];                                   /* the start of the place's image */
    int out_row[KS], out_col[KS];

    DEVICE FilterGradient(const Problem &p, const Number *x, const Number *dy, int splits, Sum *partial)
        : p(p), x(x), dy(dy), splits(splits), partial(partial), rows((Long)p.taps() * p.in_depth()) {}
    DEVICE Long col_tiles() const { return divide_up(p.out_depth(), TN); }
    DEVICE Long row_tiles() const { return divide_up(rows, TM); }
    DEVICE Long tiles() const { return splits * row_tiles() * p.groups * col_tiles(); }

    DEVICE static int a_k(int item) { return Across<TM>::k(item); }
    DEVICE static int a_row(int item) { return Across<TM>::row(item); }
    DEVICE static int b_k(int item) { return Across<TN>::k(item); }
    DEVICE static int b_col(int item) { return Across<TN>::row(item); }

    DEVICE void start(Long tile) {
        first_col = (int)(tile % col_tiles()) * TN;
        group = (int)(tile / col_tiles() % p.groups);
        first_row = tile / col_tiles() / p.groups % row_tiles() * TM;
        split = (int)(tile / col_tiles() / p.groups / row_tiles());
        const Long share = divide_up(p.places(), splits);
        first_place = split * share;
        stop = first_place + share < p.places() ? first_place + share : p.places();
        depth = stop > first_place ? stop - first_place : 0;
        for (int item = 0; item < ROWS; item++) {
            const Long row = first_row + a_row(item);
            const int tap = (int)(row / p.in_depth());
            /* mark: dilation of implicit_gemm/dw tensor_gemm/dw tensor_gemm_tf32/dw */
            row_shift[item] = p.in_row(0, tap / p.filter_cols);
            col_shift[item] = p.in_col(0, tap % p.filter_cols);
            channel[item] = row < rows ? group * p.in_depth() + (int)(row % p.in_depth()) : -1;
        }
        for (int item = 0; item < KS; item++) {
            const Long place = first_place + a_k(item * ROWS);
            out_col[item] = (int)(place % p.out_cols);
            out_row[item] = (int)(place / p.out_cols % p.out_rows);
            image_at[item] = place / p.out_cols / p.out_rows * p.in_rows * p.in_cols * p.in_channels;
        }
    }
    DEVICE void next_chunk() {
        first_place += TK;
        for (int item = 0; item < KS; item++) {
            out_col[item] += TK;
            while (out_col[item] >= p.out_cols) {
                out_col[item] -= p.out_cols;
                if (++out_row[item] < p.out_rows) continue;
                out_row[item] = 0;
                image_at[item] += (Long)p.in_rows * p.in_cols * p.in_channels;
            }
        }
    }
    DEVICE Number load_a(int item) const {
        const int k = item / ROWS, r = item % ROWS;
        /* mark: stride of implicit_gemm/dw tensor_gemm/dw tensor_gemm_tf32/dw */
        const int in_row = out_row[k] * p.stride_rows + row_shift[r], in_col = out_col[k] * p.stride_cols + col_shift[r];
        /* mark: padding of implicit_gemm/dw tensor_gemm/dw tensor_gemm_tf32/dw */
        if (first_place + a_k(item) >= stop || channel[r] < 0 || !p.has_input(in_row, in_col)) return narrow(0);
        return x[image_at[k] + ((Long)in_row * p.in_cols + in_col) * p.in_channels + channel[r]];
    }
    DEVICE Number load_b(int item) const {
        const Long place = first_place + b_k(item);
        const int out_channel = first_col + b_col(item);
        if (place >= stop || out_channel >= p.out_depth()) return narrow(0);
        return dy[place * p.out_channels + group * p.out_depth() + out_channel];
    }
    DEVICE void store(int tile_row, int tile_col, Sum sum) const {
        const Long row = first_row + tile_row;
        if (row >= rows || first_col + tile_col >= p.out_depth()) return;
        partial[(split * rows + row) * p.out_channels + group * p.out_depth() + first_col + tile_col] = sum;
    }
};

#endif
