/* tiles.cuh: the three convolutions as matrix products whose matrices are never built.

                        columns                       forward          input gradient      filter gradient
          depth      [    B     ]       rows          places           cells of x          (tap, in_channel)
     [    A     ]    [  result  ]       columns       out_channel      in_channel          out_channel
     rows                               depth         (tap, in_channel) (tap, out_channel) places

   A Tile describes TM x TN cells of the result and steps along the depth in chunks of TK. A chunk of A and of B is loaded in
   items of V neighbours in memory, a few for each of the 256 threads: a(item) and b(item) return the offset of an item in the first
   or the second operand, or ZEROS, and A::row, A::k, B::row and B::k its place in the chunk. Other files copy the items to shared
   memory and multiply, with ordinary units or with tensor cores; store() takes the finished sums.

   V neighbours lie along the depth or along the rows (columns), whichever is contiguous in memory:

     along the depth   x in the forward product, dy and w in the input gradient
     along the rows    w in the forward product, x and dy in the filter gradient

   V = 1 takes any convolution; V > 1 needs channels in multiples of V, so that V neighbours are all there or all zero.

   Positions are advanced by additions, not computed by divisions: a step of TK along (tap, channel) or (image, row, col) takes
   only a few. `splits` blocks may share the depth of a tile: each writes its partial sums, which add_splits.cu adds. */

#ifndef TEACHCONV_TILES_CUH
#define TEACHCONV_TILES_CUH

#include "definition.cuh"

#define THREADS 256
#define NOWHERE (-(1 << 30)) /* a row of x or dy that is outside for every tap */
#define ZEROS -1             /* instead of an offset: the item is not in memory */

/* Which number of a chunk of T x TK an item of a thread begins with. */
template <int T, int TK, int V> struct AlongDepth {
    static constexpr bool along_depth = true;
    static constexpr int ITEMS = T * TK / V / THREADS;
    DEVICE static int k(int) { return threadIdx.x % (TK / V) * V; }
    DEVICE static int row(int item) { return threadIdx.x / (TK / V) + THREADS / (TK / V) * item; }
};
template <int T, int TK, int V> struct AlongRows {
    static constexpr bool along_depth = false;
    static constexpr int ITEMS = T * TK / V / THREADS;
    static constexpr int LANES = T / V < 32 ? T / V : 32; /* threads side by side */
    static constexpr int ROWS = T / V / LANES, KS = ITEMS / ROWS; /* how many different rows, and k, a thread has */
    DEVICE static int k(int item) { return threadIdx.x / LANES + THREADS / LANES * (item / ROWS); }
    DEVICE static int row(int item) { return (threadIdx.x % LANES + LANES * (item % ROWS)) * V; }
};

DEVICE Index divide_up(Index a, Index b) { return (a + b - 1) / b; }

/* What all kinds of tiles have. Tiles are numbered with columns fastest, then groups, rows, phases and splits. */
struct Call {
    const Problem p;
    const Number *const first, *const second, *const bias;
    const int relu, splits;
    Sum *const partial; /* [splits, cells of the result], or null if nothing is split */
    Number *const result;
    unsigned block; /* blockIdx.x */
};

template <class Kind, int TM, int TN> struct TileOf : Call {
    int first_col, group, split;
    Index first_row, rest; /* rest: the tile's number after columns and groups */

    DEVICE TileOf(const Call &call, int cols) : Call(call) {
        const int col_tiles = (cols + TN - 1) / TN;
        first_col = (int)(call.block % col_tiles) * TN;
        group = (int)(call.block / col_tiles % p.groups);
        rest = (Index)(call.block / col_tiles / p.groups);
    }
    /* The share of this block in a depth: from `begin` on, in `chunks` chunks. */
    DEVICE void share(Index depth, int step, Index &begin, Index &chunks) const {
        const Index all = divide_up(depth, step), each = divide_up(all, splits);
        begin = split * each * step;
        chunks = begin >= depth ? 0 : all - split * each < each ? all - split * each : each;
    }
    /* Store a finished sum; return whether it is NaN, and has to be recomputed by redo(). */
    DEVICE bool put(Index cell, int channel, Sum sum) const {
        if (partial) {
            partial[(Long)split * Kind::cells(p) + cell] = sum;
            return false;
        }
        result[cell] = finish(sum, bias, channel, relu);
        return sum != sum;
    }
    DEVICE void redo(Index cell) const { redo_if_nan<Kind>(p, first, second, cell, bias, relu, result); }
};

/* Store RM x RN sums of a thread, whose rows and columns in the tile are Where::row(i) and Where::col(j). Unrolled, for the sums
   to stay in registers; the rare cells to recompute are in a loop of their own, which is not. */
template <class Where, class Tile, int RM, int RN> DEVICE void store(const Tile &tile, const Sum (&sums)[RM][RN]) {
    bool redo = false;
#pragma unroll
    for (int i = 0; i < RM; i++) {
        const Index at = tile.row_at(Where::row(i));
        if (at < 0) continue;
#pragma unroll
        for (int j = 0; j < RN; j++)
            if (tile.has_col(Where::col(j))) redo |= tile.put(at + Where::col(j), tile.bias_at() + Where::col(j), sums[i][j]);
    }
#pragma unroll 1
    for (int i = 0; redo && i < RM * RN; i++) {
        const Index at = tile.row_at(Where::row(i / RN));
        if (at >= 0 && tile.has_col(Where::col(i % RN))) tile.redo(at + Where::col(i % RN));
    }
}

template <class Kind, int TM, int TN, int TK, int V> struct Tile;

/* y[place, out_channel] = sum over k = (tap, in_channel) of x[place + tap, in_channel] * w[k, out_channel] */
template <int TM, int TN, int TK, int V> struct Tile<Forward, TM, TN, TK, V> : TileOf<Forward, TM, TN> {
    typedef TileOf<Forward, TM, TN> Base;
    typedef AlongDepth<TM, TK, V> A;
    typedef AlongRows<TN, TK, V> B;
    using Base::p;
    Index chunks;
    Index pixel[A::ITEMS]; /* the offset of the item in x for tap 0 and channel 0; below, its row and column */
    int row[A::ITEMS], col[A::ITEMS];
    int channel, tap_row, tap_col; /* this thread's k in A */
    Index k, depth;                /* this chunk's first k */

    DEVICE Tile(const Call &call) : Base(call, call.p.out_depth()), depth((Index)call.p.taps() * call.p.in_depth()) {
        const Index row_tiles = divide_up(p.places(), TM);
        this->first_row = this->rest % row_tiles * TM;
        this->split = (int)(this->rest / row_tiles);
        this->share(depth, TK, k, chunks);
#pragma unroll
        for (int item = 0; item < A::ITEMS; item++) {
            const Index place = this->first_row + A::row(item), line = place / p.out_cols;
            row[item] = NOWHERE, col[item] = 0, pixel[item] = 0;
            if (place >= p.places()) continue;
            /* mark: stride of implicit_gemm/y tensor_gemm/y tensor_gemm_tf32/y pipelined_gemm/y pipelined_gemm_tf32/y pipelined_gemm_float32/y */
            row[item] = p.in_row((int)(line % p.out_rows), 0);
            col[item] = p.in_col((int)(place % p.out_cols), 0);
            pixel[item] = p.x_at((int)(line / p.out_rows), row[item], col[item]) + this->group * p.in_depth();
        }
        const Index from = k + A::k(0);
        channel = (int)(from % p.in_depth());
        tap_row = (int)(from / p.in_depth() / p.filter_cols), tap_col = (int)(from / p.in_depth() % p.filter_cols);
    }
    DEVICE void next_chunk() {
        k += TK;
        channel += TK;
        while (channel >= p.in_depth() && tap_row < p.filter_rows) {
            channel -= p.in_depth();
            if (++tap_col == p.filter_cols) tap_col = 0, tap_row++;
        }
    }
    DEVICE Index a(int item) const {
        /* mark: dilation of implicit_gemm/y tensor_gemm/y tensor_gemm_tf32/y pipelined_gemm/y pipelined_gemm_tf32/y pipelined_gemm_float32/y */
        const int down = tap_row * p.dilation_rows, right = tap_col * p.dilation_cols;
        /* mark: padding of implicit_gemm/y tensor_gemm/y tensor_gemm_tf32/y pipelined_gemm/y pipelined_gemm_tf32/y pipelined_gemm_float32/y */
        const bool outside = tap_row >= p.filter_rows | !p.has_input(row[item] + down, col[item] + right);
        return outside ? ZEROS : pixel[item] + (((Index)down * p.in_cols + right) * p.in_channels + channel);
    }
    DEVICE Index b(int item) const {
        const int out_channel = this->first_col + B::row(item);
        if (k + B::k(item) >= depth || out_channel >= p.out_depth()) return ZEROS;
        return (k + B::k(item)) * p.out_channels + this->group * p.out_depth() + out_channel;
    }
    /* The offset in y of the tile's cell in this row and column 0, or -1 if it has no such row. */
    DEVICE Index row_at(int tile_row) const {
        const Index place = this->first_row + tile_row;
        return place < p.places() ? place * p.out_channels + this->group * p.out_depth() + this->first_col : -1;
    }
    DEVICE bool has_col(int tile_col) const { return this->first_col + tile_col < p.out_depth(); }
    DEVICE int bias_at() const { return this->group * p.out_depth() + this->first_col; } /* the channel of column 0 */
};

/* The taps of one axis that read the cells of one phase: those whose distance from the cell is a multiple of the stride. They
   are `step` apart. An output is the cell's index in its phase plus the tap's shift, which falls by shift_step from tap to tap. */
struct Taps {
    int first, step, count, shift, shift_step; /* first: the filter's size if there is none */
    DEVICE Taps() {}
    DEVICE Taps(int phase, int size, int stride, int dilation) : first(size), step(size), count(0), shift(0), shift_step(0) {
        for (int tap = 0; tap < size; tap++) {
            /* mark: stride dilation of implicit_gemm/dx tensor_gemm/dx tensor_gemm_tf32/dx pipelined_gemm/dx pipelined_gemm_tf32/dx pipelined_gemm_float32/dx */
            if ((phase - tap * dilation) % stride) continue;
            if (count == 0) first = tap, shift = (phase - tap * dilation) / stride;
            if (count == 1) step = tap - first, shift_step = step * dilation / stride;
            count++;
        }
    }
};

/* dx[cell, in_channel] = sum over (tap, out_channel) of dy[the output that reads the cell by the tap] * w[tap, in, out].

   Cells are sorted into stride_rows * stride_cols phases; the cells of one phase are read through the same taps. A tile
   belongs to one phase and skips the other taps, so that no zeros are inserted. */
template <int TM, int TN, int TK, int V> struct Tile<InputGradient, TM, TN, TK, V> : TileOf<InputGradient, TM, TN> {
    typedef TileOf<InputGradient, TM, TN> Base;
    typedef AlongDepth<TM, TK, V> A;
    typedef AlongDepth<TN, TK, V> B;
    using Base::p;
    int phase_row, phase_col, phase_rows, phase_cols; /* the last two: the number of the phase's cells in an image */
    Index chunks;
    Index upstream[A::ITEMS]; /* the offset of the item in dy for a shift of 0; below, its row and column */
    int row[A::ITEMS], col[A::ITEMS];
    int channel, tap_row, tap_col, row_shift, col_shift; /* the shifts: of the tap, in outputs */
    Taps row_taps, col_taps;

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
        Index begin;
        this->share((Index)row_taps.count * col_taps.count * p.out_depth(), TK, begin, chunks);
#pragma unroll
        for (int item = 0; item < A::ITEMS; item++) {
            const Index cell = this->first_row + A::row(item);
            row[item] = NOWHERE, col[item] = 0, upstream[item] = 0;
            if (cell >= cells()) continue;
            row[item] = (int)(cell / phase_cols % phase_rows);
            col[item] = (int)(cell % phase_cols);
            upstream[item] = p.y_at((int)(cell / phase_cols / phase_rows), row[item], col[item]) + this->group * p.out_depth();
        }
        channel = 0;
        tap_row = col_taps.count ? row_taps.first : p.filter_rows, tap_col = col_taps.first;
        row_shift = row_taps.shift, col_shift = col_taps.shift;
        walk(begin + A::k(0));
    }
    DEVICE void next_tap() {
        tap_col += col_taps.step, col_shift -= col_taps.shift_step;
        if (tap_col < p.filter_cols) return;
        tap_col = col_taps.first, col_shift = col_taps.shift;
        tap_row += row_taps.step, row_shift -= row_taps.shift_step;
    }
    DEVICE void walk(Index steps) {
        steps += channel;
        while (steps >= p.out_depth() && tap_row < p.filter_rows) {
            steps -= p.out_depth();
            next_tap();
        }
        channel = (int)steps;
    }
    DEVICE void next_chunk() { walk(TK); }
    DEVICE Index a(int item) const {
        const int out_row = row[item] + row_shift, out_col = col[item] + col_shift;
        /* mark: padding of implicit_gemm/dx tensor_gemm/dx tensor_gemm_tf32/dx pipelined_gemm/dx pipelined_gemm_tf32/dx pipelined_gemm_float32/dx */
        const bool outside = (unsigned)out_row >= (unsigned)p.out_rows || (unsigned)out_col >= (unsigned)p.out_cols;
        const Index shift = ((Index)row_shift * p.out_cols + col_shift) * p.out_channels + channel;
        return tap_row >= p.filter_rows | outside ? ZEROS : upstream[item] + shift;
    }
    DEVICE Index b(int item) const {
        const int in_channel = this->first_col + B::row(item);
        if (tap_row >= p.filter_rows || in_channel >= p.in_depth()) return ZEROS;
        return p.w_at(tap_row, tap_col, in_channel) + this->group * p.out_depth() + channel;
    }
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
template <int TM, int TN, int TK, int V> struct Tile<FilterGradient, TM, TN, TK, V> : TileOf<FilterGradient, TM, TN> {
    typedef TileOf<FilterGradient, TM, TN> Base;
    typedef AlongRows<TM, TK, V> A;
    typedef AlongRows<TN, TK, V> B;
    using Base::p;
    Index chunks, rows, place, stop; /* this chunk's first place, and the end of this block's share */
    int row_shift[A::ROWS], col_shift[A::ROWS], channel[A::ROWS]; /* the tap, and the channel of x or -1 */
    Index image_at[A::KS];                                       /* the start of the place's image in x */
    int out_row[A::KS], out_col[A::KS];

    DEVICE Tile(const Call &call) : Base(call, call.p.out_depth()), rows((Index)call.p.taps() * call.p.in_depth()) {
        const Index row_tiles = divide_up(rows, TM);
        this->first_row = this->rest % row_tiles * TM;
        this->split = (int)(this->rest / row_tiles);
        this->share(p.places(), TK, place, chunks);
        stop = place + chunks * TK < p.places() ? place + chunks * TK : p.places();
#pragma unroll
        for (int item = 0; item < A::ROWS; item++) {
            const Index row = this->first_row + A::row(item);
            const int tap = (int)(row / p.in_depth());
            /* mark: dilation of implicit_gemm/dw tensor_gemm/dw tensor_gemm_tf32/dw pipelined_gemm/dw pipelined_gemm_tf32/dw pipelined_gemm_float32/dw */
            row_shift[item] = p.in_row(0, tap / p.filter_cols);
            col_shift[item] = p.in_col(0, tap % p.filter_cols);
            channel[item] = row < rows ? this->group * p.in_depth() + (int)(row % p.in_depth()) : -1;
        }
#pragma unroll
        for (int item = 0; item < A::KS; item++) {
            const Index here = place + A::k(item * A::ROWS);
            out_col[item] = (int)(here % p.out_cols);
            out_row[item] = (int)(here / p.out_cols % p.out_rows);
            image_at[item] = here / p.out_cols / p.out_rows * p.in_rows * p.in_cols * p.in_channels;
        }
    }
    DEVICE void next_chunk() {
        place += TK;
#pragma unroll
        for (int item = 0; item < A::KS; item++) {
            out_col[item] += TK;
            while (out_col[item] >= p.out_cols) {
                out_col[item] -= p.out_cols;
                if (++out_row[item] < p.out_rows) continue;
                out_row[item] = 0;
                image_at[item] += (Index)p.in_rows * p.in_cols * p.in_channels;
            }
        }
    }
    DEVICE Index a(int item) const {
        const int k = item / A::ROWS, r = item % A::ROWS;
        /* mark: stride of implicit_gemm/dw tensor_gemm/dw tensor_gemm_tf32/dw pipelined_gemm/dw pipelined_gemm_tf32/dw pipelined_gemm_float32/dw */
        const int in_row = out_row[k] * p.stride_rows + row_shift[r], in_col = out_col[k] * p.stride_cols + col_shift[r];
        /* mark: padding of implicit_gemm/dw tensor_gemm/dw tensor_gemm_tf32/dw pipelined_gemm/dw pipelined_gemm_tf32/dw pipelined_gemm_float32/dw */
        const bool outside = place + A::k(item) >= stop | channel[r] < 0 | !p.has_input(in_row, in_col);
        return outside ? ZEROS : image_at[k] + ((Index)in_row * p.in_cols + in_col) * p.in_channels + channel[r];
    }
    DEVICE Index b(int item) const {
        const int out_channel = this->first_col + B::row(item);
        if (place + B::k(item) >= stop || out_channel >= p.out_depth()) return ZEROS;
        return (place + B::k(item)) * p.out_channels + this->group * p.out_depth() + out_channel;
    }
    DEVICE Index row_at(int tile_row) const {
        const Index row = this->first_row + tile_row;
        return row < rows ? row * p.out_channels + this->group * p.out_depth() + this->first_col : -1;
    }
    DEVICE bool has_col(int tile_col) const { return this->first_col + tile_col < p.out_depth(); }
    DEVICE int bias_at() const { return 0; }
};

#endif
