/* tiles.cuh: the three convolutions as matrix products whose matrices are never built.

                        columns                       forward          input gradient      filter gradient
          depth      [    B     ]       rows          places           cells of x          (tap, in_channel)
     [    A     ]    [  result  ]       columns       out_channel      in_channel          out_channel
     rows                               depth         (tap, in_channel) (tap, out_channel) places

   A Tile describes TM x TN cells of the result and steps along the depth in chunks of TK. A chunk of A and of B is loaded in
   items of V neighbours in memory, a few for each of the 256 threads: a(item) and b(item) return the offset of an item in the first
   or the second operand, has_a(item) and has_b(item) whether it is there or zero, and A::row, A::k, B::row and B::k its place in the
   chunk. Other files copy the items to shared memory and multiply, with ordinary units or with tensor cores; store() takes the
   finished sums.

   V neighbours lie along the depth or along the rows (columns), whichever is contiguous in memory:

     along the depth   x in the forward product, dy and w in the input gradient
     along the rows    w in the forward product, x and dy in the filter gradient

   V = 1 takes any convolution; V > 1 needs channels in multiples of V, so that V neighbours are all there or all zero.

   All items of a thread have the same place along the depth. So a step along (tap, channel) or (image, row, col) moves all its items
   of A by the same distance: `down` and `right` in x or dy, `shift` in memory. The distance is advanced by additions, not computed by
   divisions. `splits` blocks may share the depth of a tile: each writes its partial sums, which add_splits.cu adds. */

#ifndef TEACHCONV_TILES_CUH
#define TEACHCONV_TILES_CUH

#include "definition.cuh"

#define THREADS 256
#define NOWHERE (-(1 << 30)) /* a row, or a distance in rows, so far outside that their sum is outside, too */

/* Which numbers of a chunk of T x TK the items of a thread begin with. */
template <int T, int TK, int V> struct AlongDepth {
    static constexpr bool along_depth = true;
    static constexpr int ITEMS = T * TK / V / THREADS, NEXT = THREADS / (TK / V); /* rows from an item to the next */
    DEVICE static int k() { return threadIdx.x % (TK / V) * V; }
    DEVICE static int row(int item) { return threadIdx.x / (TK / V) + NEXT * item; }
};
template <int T, int TK, int V> struct AlongRows {
    static constexpr bool along_depth = false;
    static constexpr int ITEMS = T * TK / V / THREADS, NEXT = THREADS / TK * V;
    DEVICE static int k() { return threadIdx.x / (THREADS / TK); }
    DEVICE static int row(int item) { return threadIdx.x % (THREADS / TK) * V + NEXT * item; }
};

/* COUNT neighbours in memory, in one access. */
template <class T, int COUNT> struct __align__(COUNT * sizeof(T)) Vector { T value[COUNT]; };

DEVICE Index divide_up(Index a, Index b) { return (a + b - 1) / b; }

/* What all kinds of tiles have. Tiles are numbered with columns fastest, then groups, rows, phases and splits. */
struct Call {
    Problem p;
    const Number *const first, *const second, *const bias;
    const int relu, splits;
    Sum *const partial; /* [splits, cells of the result], or null if nothing is split */
    Number *const result;
    const unsigned block; /* blockIdx.x */
};

template <class Kind, int TM, int TN, class A_, class B_> struct TileOf : Call {
    typedef A_ A;
    typedef B_ B;
    int first_col, group, split;
    Index first_row, rest, chunks; /* rest: the tile's number after columns and groups */
    /* Where the items of A begin in x or dy, and the distance of this step from there */
    int row[A::ITEMS], col[A::ITEMS], down, right;
    Index at[A::ITEMS], shift;
    /* Where item 0 of B is at this step, and how many columns there are from it on */
    Index b_at;
    int b_cols;

    DEVICE TileOf(const Call &call, int cols) : Call(call) {
        const int col_tiles = (cols + TN - 1) / TN;
        first_col = (int)(call.block % col_tiles) * TN;
        group = (int)(call.block / col_tiles % p.groups);
        b_cols = cols - first_col - B::row(0);
        b_at = b_cols > 0 ? first_col + B::row(0) : 0; /* of a column that is there, so that an offset tells the step */
        rest = (Index)(call.block / col_tiles / p.groups);
    }
    DEVICE Index a(int item) const { return at[item] + shift; }
    /* The share of this block in a depth: from `begin` on, in `chunks` chunks. */
    DEVICE void share(Index depth, int step, Index &begin) {
        const Index all = divide_up(depth, step), each = divide_up(all, splits);
        begin = split * each * step;
        chunks = begin >= depth ? 0 : all - split * each < each ? all - split * each : each;
    }
    /* Store V finished sums of neighbouring columns at once, or PART at a time if they belong to a part of the depth. Return whether one
       is NaN, and has to be recomputed by redo(). */
    template <int V, int PART> DEVICE bool put(Index cell, int channel, const Sum *sums) const {
        if (partial) {
            Sum *const to = partial + (Long)split * Kind::cells(p) + cell;
#pragma unroll
            for (int n = 0; n < V; n += PART) *(Vector<Sum, PART> *)(to + n) = *(const Vector<Sum, PART> *)(sums + n);
            return false;
        }
        Vector<Number, V> numbers;
        bool has_nan = false;
#pragma unroll
        for (int n = 0; n < V; n++) {
            numbers.value[n] = finish(sums[n], bias, channel + n, relu);
            has_nan |= sums[n] != sums[n];
        }
        *(Vector<Number, V> *)(result + cell) = numbers;
        return has_nan;
    }
    DEVICE void redo(Index cell) const { redo_if_nan<Kind>(p, first, second, cell, bias, relu, result); }
};

/* Store RM x RN sums of a thread, whose rows and columns in the tile are Where::row(i) and Where::col(j); V columns are neighbours.
   Unrolled, for the sums to stay in registers; the rare cells to recompute are in a loop of their own, which is not. */
template <class Where, int V, int PART, class Tile, int RM, int RN> DEVICE void store(const Tile &tile, const Sum (&sums)[RM][RN]) {
    bool redo = false;
#pragma unroll
    for (int i = 0; i < RM; i++) {
        const Index at = tile.row_at(Where::row(i));
        if (at < 0) continue;
#pragma unroll
        for (int j = 0; j < RN; j += V)
            if (tile.has_col(Where::col(j)))
                redo |= tile.template put<V, PART>(at + Where::col(j), tile.bias_at() + Where::col(j), sums[i] + j);
    }
#pragma unroll 1
    for (int i = 0; redo && i < RM * RN; i++) {
        const Index at = tile.row_at(Where::row(i / RN));
        if (at >= 0 && tile.has_col(Where::col(i % RN))) tile.redo(at + Where::col(i % RN));
    }
}

/* A step along the depth of two kinds of product: a tap, counted along each axis, and a channel. */
struct Step {
    int tap_row, tap_col, channel;
    DEVICE Step() {}
    DEVICE Step(Index k, int tap_cols, int channels) : channel((int)(k % channels)) {
        tap_row = (int)(k / channels / tap_cols), tap_col = (int)(k / channels % tap_cols);
    }
    DEVICE void advance(int by, int tap_cols, int channels) {
        channel += by;
        while (channel >= channels) {
            channel -= channels;
            if (++tap_col == tap_cols) tap_col = 0, tap_row++;
        }
    }
};

template <class Kind, int TM, int TN, int TK, int V> struct Tile;

/* y[place, out_channel] = sum over k = (tap, in_channel) of x[place + tap, in_channel] * w[k, out_channel] */
template <int TM, int TN, int TK, int V>
struct Tile<Forward, TM, TN, TK, V> : TileOf<Forward, TM, TN, AlongDepth<TM, TK, V>, AlongRows<TN, TK, V>> {
    typedef TileOf<Forward, TM, TN, AlongDepth<TM, TK, V>, AlongRows<TN, TK, V>> Base;
    using typename Base::A, typename Base::B;
    using Base::p, Base::row, Base::col, Base::at, Base::down, Base::right, Base::shift, Base::b_at, Base::b_cols;
    Step step;  /* of this thread's items of A */
    Index stop; /* where the depth ends in B */

    DEVICE Tile(const Call &call) : Base(call, call.p.out_depth()) {
        const Index row_tiles = divide_up(p.places(), TM);
        this->first_row = this->rest % row_tiles * TM;
        this->split = (int)(this->rest / row_tiles);
        Index begin;
        const Index depth = (Index)p.taps() * p.in_depth();
        this->share(depth, TK, begin);
#pragma unroll
        for (int item = 0; item < A::ITEMS; item++) {
            const Index place = this->first_row + A::row(item), line = place / p.out_cols;
            row[item] = NOWHERE, col[item] = 0, at[item] = 0;
            if (place >= p.places()) continue;
            /* mark: stride of implicit_gemm/y tensor_gemm/y tensor_gemm_tf32/y pipelined_gemm/y pipelined_gemm_tf32/y pipelined_gemm_float32/y */
            row[item] = p.in_row((int)(line % p.out_rows), 0);
            col[item] = p.in_col((int)(place % p.out_cols), 0);
            at[item] = p.x_at((int)(line / p.out_rows), row[item], col[item]) + this->group * p.in_depth();
        }
        step = Step(begin + A::k(), p.filter_cols, p.in_depth());
        stop = depth * p.out_channels;
        b_at += (begin + B::k()) * p.out_channels + this->group * p.out_depth();
        aim();
    }
    DEVICE void aim() {
        /* mark: dilation of implicit_gemm/y tensor_gemm/y tensor_gemm_tf32/y pipelined_gemm/y pipelined_gemm_tf32/y pipelined_gemm_float32/y */
        down = step.tap_row * p.dilation_rows, right = step.tap_col * p.dilation_cols;
        shift = ((Index)down * p.in_cols + right) * p.in_channels + step.channel;
        if (step.tap_row >= p.filter_rows) down = NOWHERE;
    }
    DEVICE void next_chunk() {
        b_at += (Index)TK * p.out_channels;
        step.advance(TK, p.filter_cols, p.in_depth());
        aim();
    }
    /* mark: padding of implicit_gemm/y tensor_gemm/y tensor_gemm_tf32/y pipelined_gemm/y pipelined_gemm_tf32/y pipelined_gemm_float32/y */
    DEVICE bool has_a(int item) const { return p.has_input(row[item] + down, col[item] + right); }
    DEVICE bool has_b(int item) const { return b_at < stop && B::NEXT * item < b_cols; }
    DEVICE Index b(int item) const { return b_at + B::NEXT * item; }
    /* The offset in y of the tile's cell in this row and column 0, or -1 if it has no such row. */
    DEVICE Index row_at(int tile_row) const {
        const Index place = this->first_row + tile_row;
        return place < p.places() ? place * p.out_channels + this->group * p.out_depth() + this->first_col : -1;
    }
    DEVICE bool has_col(int tile_col) const { return this->first_col + tile_col < p.out_depth(); }
    DEVICE int bias_at() const { return this->group * p.out_depth() + this->first_col; } /* the channel of column 0 */
};

/* The taps of one axis that read the cells of one phase: those whose distance from the cell is a multiple of the stride. They are
   `step` apart. The output that a cell is read by is the cell's index in its phase plus the tap's shift. */
struct Taps {
    int first, step, count, shift, shift_step; /* shift_step: from tap to tap */
    DEVICE Taps() {}
    DEVICE Taps(int phase, int size, int stride, int dilation) : first(0), step(1) {
        while (step < size && step * dilation % stride) step++;
        /* mark: stride dilation of implicit_gemm/dx tensor_gemm/dx tensor_gemm_tf32/dx pipelined_gemm/dx pipelined_gemm_tf32/dx pipelined_gemm_float32/dx */
        while (first < step && (phase - first * dilation) % stride) first++;
        count = first < step ? (size - first + step - 1) / step : 0;
        shift = (phase - first * dilation) / stride, shift_step = -(step * dilation / stride);
    }
};

/* dx[cell, in_channel] = sum over (tap, out_channel) of dy[the output that reads the cell by the tap] * w[tap, in, out].

   Cells are sorted into stride_rows * stride_cols phases; the cells of one phase are read through the same taps. A tile
   belongs to one phase and skips the other taps, so that no zeros are inserted. */
template <int TM, int TN, int TK, int V>
struct Tile<InputGradient, TM, TN, TK, V> : TileOf<InputGradient, TM, TN, AlongDepth<TM, TK, V>, AlongDepth<TN, TK, V>> {
    typedef TileOf<InputGradient, TM, TN, AlongDepth<TM, TK, V>, AlongDepth<TN, TK, V>> Base;
    using typename Base::A, typename Base::B;
    using Base::p, Base::row, Base::col, Base::at, Base::down, Base::right, Base::shift, Base::b_at, Base::b_cols;
    int phase_row, phase_col, phase_rows, phase_cols; /* the last two: the number of the phase's cells in an image */
    Taps row_taps, col_taps;
    Step step; /* of this thread's items, in taps of the phase */
    Index weight, weight_row, weight_col; /* in w: the offset of item 0 of B at step 0, and from tap to tap */

    DEVICE Index cells() const { return (Index)p.batch * phase_rows * phase_cols; }

    DEVICE Tile(const Call &call) : Base(call, call.p.in_depth()) {
        /* tiles of the largest phase */
        const Index row_tiles = divide_up(p.batch * divide_up(p.in_rows, p.stride_rows) * divide_up(p.in_cols, p.stride_cols), TM);
        this->first_row = this->rest % row_tiles * TM;
        phase_col = (int)(this->rest / row_tiles % p.stride_cols);
        phase_row = (int)(this->rest / row_tiles / p.stride_cols % p.stride_rows);
        this->split = (int)(this->rest / row_tiles / p.stride_cols / p.stride_rows);
        phase_rows = phase_row < p.in_rows ? (int)divide_up(p.in_rows - phase_row, p.stride_rows) : 0;
        phase_cols = phase_col < p.in_cols ? (int)divide_up(p.in_cols - phase_col, p.stride_cols) : 0;
        row_taps = Taps(phase_row + p.pad_top, p.filter_rows, p.stride_rows, p.dilation_rows);
        col_taps = Taps(phase_col + p.pad_left, p.filter_cols, p.stride_cols, p.dilation_cols);
        if (col_taps.count == 0) row_taps.count = 0;
        Index begin;
        this->share((Index)row_taps.count * col_taps.count * p.out_depth(), TK, begin);
#pragma unroll
        for (int item = 0; item < A::ITEMS; item++) {
            const Index cell = this->first_row + A::row(item);
            row[item] = NOWHERE, col[item] = 0, at[item] = 0;
            if (cell >= cells()) continue;
            row[item] = (int)(cell / phase_cols % phase_rows) + row_taps.shift;
            col[item] = (int)(cell % phase_cols) + col_taps.shift;
            at[item] = p.y_at((int)(cell / phase_cols / phase_rows), row[item], col[item]) + this->group * p.out_depth();
        }
        step = Step(begin + A::k(), col_taps.count ? col_taps.count : 1, p.out_depth());
        weight = p.w_at(row_taps.first, col_taps.first, this->first_col + B::row(0)) + this->group * p.out_depth();
        weight_row = p.w_at(row_taps.step, 0, 0), weight_col = p.w_at(0, col_taps.step, 0);
        aim();
    }
    DEVICE void aim() {
        down = step.tap_row * row_taps.shift_step, right = step.tap_col * col_taps.shift_step;
        shift = ((Index)down * p.out_cols + right) * p.out_channels + step.channel;
        b_at = weight + step.tap_row * weight_row + step.tap_col * weight_col + step.channel;
        if (step.tap_row >= row_taps.count) down = NOWHERE;
    }
    DEVICE void next_chunk() {
        step.advance(TK, col_taps.count, p.out_depth());
        aim();
    }
    /* mark: padding of implicit_gemm/dx tensor_gemm/dx tensor_gemm_tf32/dx pipelined_gemm/dx pipelined_gemm_tf32/dx pipelined_gemm_float32/dx */
    DEVICE bool has_a(int item) const { return p.has_output(row[item] + down, col[item] + right); }
    DEVICE bool has_b(int item) const { return step.tap_row < row_taps.count && B::NEXT * item < b_cols; }
    DEVICE Index b(int item) const { return b_at + (Index)B::NEXT * item * p.out_channels; }
    DEVICE Index row_at(int tile_row) const {
        const Index cell = this->first_row + tile_row;
        if (cell >= cells()) return -1;
        const int in_row = (int)(cell / phase_cols % phase_rows) * p.stride_rows + phase_row;
        const int in_col = (int)(cell % phase_cols) * p.stride_cols + phase_col;
        return p.x_at((int)(cell / phase_cols / phase_rows), in_row, in_col) + bias_at();
    }
    DEVICE bool has_col(int tile_col) const { return this->first_col + tile_col < p.in_depth(); }
    DEVICE int bias_at() const { return this->group * p.in_depth() + this->first_col; }
};

/* dw[(tap, in_channel), out_channel] = sum over places of x[place + tap, in_channel] * dy[place, out_channel].

   The result is small and the sum is long, so that the depth, the places, is almost always split. */
template <int TM, int TN, int TK, int V>
struct Tile<FilterGradient, TM, TN, TK, V> : TileOf<FilterGradient, TM, TN, AlongRows<TM, TK, V>, AlongRows<TN, TK, V>> {
    typedef TileOf<FilterGradient, TM, TN, AlongRows<TM, TK, V>, AlongRows<TN, TK, V>> Base;
    using typename Base::A, typename Base::B;
    using Base::p, Base::row, Base::col, Base::at, Base::down, Base::right, Base::shift, Base::b_at, Base::b_cols;
    Index rows, stop;     /* stop: where this block's share of the depth ends in B */
    Index image_at;       /* the start of this thread's image in x */
    int out_row, out_col; /* and its place there */

    DEVICE Tile(const Call &call) : Base(call, call.p.out_depth()), rows((Index)call.p.taps() * call.p.in_depth()) {
        const Index row_tiles = divide_up(rows, TM);
        this->first_row = this->rest % row_tiles * TM;
        this->split = (int)(this->rest / row_tiles);
        Index begin;
        this->share(p.places(), TK, begin);
        const Index end = begin + this->chunks * TK, place = begin + A::k();
        stop = (end < p.places() ? end : p.places()) * p.out_channels;
#pragma unroll
        for (int item = 0; item < A::ITEMS; item++) {
            const Index here = this->first_row + A::row(item);
            const int tap = (int)(here / p.in_depth());
            /* mark: dilation of implicit_gemm/dw tensor_gemm/dw tensor_gemm_tf32/dw pipelined_gemm/dw pipelined_gemm_tf32/dw pipelined_gemm_float32/dw */
            row[item] = p.in_row(0, tap / p.filter_cols), col[item] = p.in_col(0, tap % p.filter_cols);
            at[item] = p.x_at(0, row[item], col[item]) + this->group * p.in_depth() + here % p.in_depth();
            if (here >= rows) row[item] = NOWHERE;
        }
        out_col = (int)(place % p.out_cols);
        out_row = (int)(place / p.out_cols % p.out_rows);
        image_at = p.x_at((int)(place / p.out_cols / p.out_rows), 0, 0);
        b_at += place * p.out_channels + this->group * p.out_depth();
        aim();
    }
    DEVICE void aim() {
        /* mark: stride of implicit_gemm/dw tensor_gemm/dw tensor_gemm_tf32/dw pipelined_gemm/dw pipelined_gemm_tf32/dw pipelined_gemm_float32/dw */
        down = out_row * p.stride_rows, right = out_col * p.stride_cols;
        shift = image_at + ((Index)down * p.in_cols + right) * p.in_channels;
        if (b_at >= stop) down = NOWHERE;
    }
    DEVICE void next_chunk() {
        b_at += (Index)TK * p.out_channels;
        out_col += TK;
        while (out_col >= p.out_cols) {
            out_col -= p.out_cols;
            if (++out_row < p.out_rows) continue;
            out_row = 0;
            image_at += (Index)p.in_rows * p.in_cols * p.in_channels;
        }
        aim();
    }
    /* mark: padding of implicit_gemm/dw tensor_gemm/dw tensor_gemm_tf32/dw pipelined_gemm/dw pipelined_gemm_tf32/dw pipelined_gemm_float32/dw */
    DEVICE bool has_a(int item) const { return p.has_input(row[item] + down, col[item] + right); }
    DEVICE bool has_b(int item) const { return b_at < stop && B::NEXT * item < b_cols; }
    DEVICE Index b(int item) const { return b_at + B::NEXT * item; }
    DEVICE Index row_at(int tile_row) const {
        const Index row = this->first_row + tile_row;
        return row < rows ? row * p.out_channels + this->group * p.out_depth() + this->first_col : -1;
    }
    DEVICE bool has_col(int tile_col) const { return this->first_col + tile_col < p.out_depth(); }
    DEVICE int bias_at() const { return 0; }
};

#endif
