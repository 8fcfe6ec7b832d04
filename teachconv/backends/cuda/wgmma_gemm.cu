/* wgmma_gemm: the product on Hopper's own units: the copy engine brings chunks, and wgmma multiplies them where they are.

     one block of 256 threads = two warpgroups = a tile of TILE_ROWS x TILE_COLS
     a chunk is 128 bytes deep: 64 halves or 32 floats

       first  --copy engine, im2col--> [ rows    of a chunk ] \  STAGES of both          sums
       second --copy engine----------> [ columns of a chunk ] /  in shared memory  --wgmma--> in registers

     thread 0 fetches chunks 0 .. STAGES-2
     for each chunk c
       wait until it has landed: the barrier of its stage counts bytes
       begin its products; wait until those of chunk c-1 are done, then for all threads: now nobody reads chunk c-1, in
       whose stage ... thread 0 fetches chunk c+STAGES-1, while the products of chunk c go on

                        rows                  columns        depth                 lines of the factors run along
       Forward          places                out_channel    (tap, in_channel)     the depth; columns (floats: the depth)
       InputGradient    cells of x            in_channel     (tap, out_channel)    the depth; the depth
       FilterGradient   (tap, in_channel)     out_channel    places                rows; columns (halves only)

   Faster than pipelined_gemm: no thread computes addresses, loads factors or waits for a product. The engine knows padding and stride.

   An input gradient at stride 1 is a forward product of dy with the flipped filter. Its rows are cells of x, and the taps are
   counted from the last to the first; so the filter stays as it is. Floats have to lie along the depth: arrange_filter transposes
   them for the forward product. The engine rounds floats to TF32. As in tiles.cuh, `splits` blocks may share the depth of a tile.

   A tile leaves through shared memory, so that a thread stores 16 neighbouring bytes. It needs channels in multiples of 16 bytes. */

#include "common.cuh"
#include "definition.cuh"
#include "hopper.cuh"

#if defined(ARRANGE_FILTER)
/* w [taps, in_depth, groups, out_depth] as [taps, out_depth, groups, in_depth]. A block transposes 32 x 32 of one tap. */
extern "C" __global__ void arrange_filter(Problem p, const Number *w, Number *arranged) {
    __shared__ Number square[32][33];
    const int across = (p.out_channels + 31) / 32, down = (p.in_depth() + 31) / 32, thread = (int)threadIdx.x;
    const int first_out = (int)(blockIdx.x % across) * 32, first_in = (int)(blockIdx.x / across % down) * 32;
    const Index tap = (Index)(blockIdx.x / across / down);
    for (int line = thread / 32; line < 32; line += 8) {
        const int in = first_in + line, out = first_out + thread % 32;
        if (in < p.in_depth() && out < p.out_channels) square[line][thread % 32] = w[(tap * p.in_depth() + in) * p.out_channels + out];
    }
    __syncthreads();
    for (int line = thread / 32; line < 32; line += 8) {
        const int in = first_in + thread % 32, out = first_out + line;
        if (in >= p.in_depth() || out >= p.out_channels) continue;
        const int group = out / p.out_depth(), out_of_group = out % p.out_depth();
        arranged[((tap * p.out_depth() + out_of_group) * p.groups + group) * p.in_depth() + in] = square[thread % 32][line];
    }
}
#endif

#if defined(WGMMA_GEMM)
#define THREADS 256
#define LINE 128 /* bytes */
#define DEPTH (LINE / (int)sizeof(Number))
#define VECTOR (16 / (int)sizeof(Number))

/* Whether the lines of the factors run along the depth, and whether the taps are counted from the last one. */
template <class Kind> struct Roles { static constexpr bool a_along_depth = true, b_along_depth = sizeof(Number) == 4, flipped = false; };
template <> struct Roles<InputGradient> { static constexpr bool a_along_depth = true, b_along_depth = true, flipped = true; };
template <> struct Roles<FilterGradient> { static constexpr bool a_along_depth = false, b_along_depth = false, flipped = false; };
constexpr bool A_ALONG_DEPTH = Roles<KIND>::a_along_depth, B_ALONG_DEPTH = Roles<KIND>::b_along_depth;

/* Where the next chunk begins: behind 128 bytes of channels. */
#if defined(NUMBER_FLOAT32)
DEVICE int next_channel(int channel) { return channel + 32; } /* mark: own of wgmma_gemm_tf32 */
#else
DEVICE int next_channel(int channel) { return channel + 64; } /* mark: own of wgmma_gemm/y wgmma_gemm/dx */
#endif

/* A warpgroup has half of the tile's rows, in products of 64 rows x WIDTH columns. */
constexpr int ROW_PARTS = TILE_ROWS / 128, WIDTH = TILE_COLS < 128 ? 64 : 128, COL_PARTS = TILE_COLS / WIDTH;
constexpr int A_SIZE = TILE_ROWS * LINE, B_SIZE = TILE_COLS * LINE, SIZE = A_SIZE + B_SIZE; /* bytes of a stage */
static_assert(STAGES >= 3 && TILE_ROWS * (TILE_COLS + VECTOR) * 4 <= STAGES * SIZE, "the finished tile goes through the stages");

/* Where a finished tile goes, and what becomes of two neighbouring sums. */
struct ToPartial {
    typedef Sum Out;
    static constexpr bool finished = false;
    template <class Pair> DEVICE static Pair pair(const float *sums, const Number *, int, int) { return {{sums[0], sums[1]}}; }
};
struct ToResult {
    typedef Number Out;
    static constexpr bool finished = true;
    template <class Pair> DEVICE static Pair pair(const float *sums, const Number *bias, int channel, int relu) {
        return {{finish(sums[0], bias, channel, relu), finish(sums[1], bias, channel + 1, relu)}};
    }
};

/* The places of a product, how they lie in the first operand, and the channels of a group. */
struct Walk { int rows, cols, step_rows, step_cols, first_row, first_col, depth, width; };
template <class Kind> DEVICE Walk walk_of(const Problem &p) {
    return {p.out_rows, p.out_cols, p.stride_rows, p.stride_cols, p.in_row(0, 0), p.in_col(0, 0), p.in_depth(), p.out_depth()};
}
/* From the output that reads a cell by the last tap; the outputs of earlier taps are further down and right. */
template <> DEVICE Walk walk_of<InputGradient>(const Problem &p) {
    const int row = p.pad_top - (p.filter_rows - 1) * p.dilation_rows, col = p.pad_left - (p.filter_cols - 1) * p.dilation_cols;
    return {p.in_rows, p.in_cols, 1, 1, row, col, p.out_depth(), p.in_depth()};
}

/* What wgmma is told of a factor: where it begins, and the bytes from 8 lines to the next 8 (`stride`) and, if lines run along the
   rows (columns), from 64 of them to the next 64 (`leading`), all in units of 16 bytes; and that lines are swizzled. Step k of 32
   bytes of the depth is within lines along it, or else is as many lines. */
template <bool along_depth> DEVICE unsigned long long descriptor(const unsigned char *factor, int k) {
    const int step = along_depth ? 32 : 32 / (int)sizeof(Number) * LINE, leading = along_depth ? 16 : 64 * LINE, stride = 8 * LINE;
    return (unsigned long long)(in_shared(factor + step * k) >> 4 & 0x3fff) | (unsigned long long)(leading >> 4) << 16 |
           (unsigned long long)(stride >> 4) << 32 | 1ull << 62;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) wgmma_gemm(Problem p, const Number *first, const Number *second,
                                                                         const Number *bias, int relu, int splits, Sum *partial,
                                                                         Number *result, const __grid_constant__ TensorMap first_map,
                                                                         const __grid_constant__ TensorMap second_map) {
    extern __shared__ __align__(128) unsigned char memory[];
    __shared__ Barrier landed[STAGES];
    unsigned char *const stages = memory + (1024 - in_shared(memory) % 1024) % 1024; /* where the swizzle begins anew */
    const int thread = (int)threadIdx.x;
    if (thread == 0) prefetch(first_map), prefetch(second_map);
    const Walk walk = walk_of<KIND>(p);
    const Index places = (Index)p.batch * walk.rows * walk.cols;

    /* the block's tile, and its share of the depth; the rows of a filter gradient come in parts: 64 channels of one tap */
    const int parts_of_tap = (walk.depth + 63) / 64, parts = p.taps() * parts_of_tap, chunks_of_tap = (walk.depth + DEPTH - 1) / DEPTH;
    const Index rows = A_ALONG_DEPTH ? places : (Index)parts * 64, depth = A_ALONG_DEPTH ? (Index)p.taps() * chunks_of_tap * DEPTH : places;
    const int row_tiles = (int)((rows + TILE_ROWS - 1) / TILE_ROWS), col_tiles = (walk.width + TILE_COLS - 1) / TILE_COLS;
    const int first_col = (int)(blockIdx.x % col_tiles) * TILE_COLS, group = (int)(blockIdx.x / col_tiles % p.groups);
    const Index first_row = (Index)(blockIdx.x / col_tiles / p.groups % row_tiles) * TILE_ROWS;
    const int split = (int)(blockIdx.x / col_tiles / p.groups / row_tiles);
    const int all = (int)((depth + DEPTH - 1) / DEPTH), share = (all + splits - 1) / splits, begin_chunk = split * share;
    const int chunks = all - begin_chunk < share ? all - begin_chunk : share; /* none, or fewer, if the share begins behind the end */

    /* Where the next chunk comes from: the first place, in whole steps, and the taps and channels; a filter gradient's parts differ in
       these, and its places advance. Thread 0 counts on, because a division would take as long as the products of a chunk. */
    constexpr int PARTS = A_ALONG_DEPTH ? 1 : TILE_ROWS / 64;
    int place = A_ALONG_DEPTH ? (int)first_row : begin_chunk * DEPTH, col = place % walk.cols, row = place / walk.cols % walk.rows;
    int image = place / walk.cols / walk.rows, tap = begin_chunk / chunks_of_tap, down[PARTS], right[PARTS], channel[PARTS];
#pragma unroll
    for (int i = 0; i < PARTS; i++) { /* behind the last part, it is fetched once more and not stored */
        const int part = (int)(first_row / 64) + i < parts ? (int)(first_row / 64) + i : parts - 1;
        const int its_tap = A_ALONG_DEPTH ? tap : part / parts_of_tap;
        /* mark: dilation of wgmma_gemm wgmma_gemm_tf32 */
        down[i] = its_tap / p.filter_cols * p.dilation_rows, right[i] = its_tap % p.filter_cols * p.dilation_cols;
        channel[i] = A_ALONG_DEPTH ? begin_chunk % chunks_of_tap * DEPTH : part % parts_of_tap * 64;
    }
    const int last_right = (p.filter_cols - 1) * p.dilation_cols;
    auto fetch = [&](int stage) {
        unsigned char *const a = stages + stage * SIZE, *const b = a + A_SIZE;
        Barrier *const barrier = &landed[stage];
        arrive(barrier, SIZE);
        /* mark: stride of wgmma_gemm wgmma_gemm_tf32 */
        const int in_row = walk.first_row + row * walk.step_rows, in_col = walk.first_col + col * walk.step_cols;
#pragma unroll
        for (int i = 0; i < PARTS; i++)
            /* mark: padding of wgmma_gemm wgmma_gemm_tf32 */
            fetch_places(a + i * 64 * LINE, first_map, group * walk.depth + channel[i], in_col, in_row, image, right[i], down[i], barrier);
        const int line = A_ALONG_DEPTH ? channel[0] : place, plane = !A_ALONG_DEPTH ? 0 : Roles<KIND>::flipped ? p.taps() - 1 - tap : tap;
        if (B_ALONG_DEPTH) fetch_box(b, second_map, line, group, first_col, plane, barrier);
        else
            for (int j = 0; j < TILE_COLS; j += 64) fetch_box(b + j * LINE, second_map, first_col + j, group, line, plane, barrier);
        if (A_ALONG_DEPTH) {
            channel[0] = next_channel(channel[0]);
            if (channel[0] < walk.depth) return;
            channel[0] = 0, tap++, right[0] += p.dilation_cols;
            if (right[0] > last_right) right[0] = 0, down[0] += p.dilation_rows;
        } else {
            place += DEPTH, col += DEPTH;
            for (; col >= walk.cols; col -= walk.cols)
                if (++row == walk.rows) row = 0, image++;
        }
    };
    if (thread == 0) {
        for (int stage = 0; stage < STAGES; stage++) begin(&landed[stage]);
        show_barriers();
        for (int chunk = 0; chunk < STAGES - 1 && chunk < chunks; chunk++) fetch(chunk);
    }
    __syncthreads();

    float sums[ROW_PARTS][COL_PARTS][WIDTH / 2] = {};
    const int my_part = thread / 128 * ROW_PARTS; /* of 64 rows: the first of this warpgroup's */
    int stage = 0, parity = 0;
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; chunk++) {
        const unsigned char *const a = stages + stage * SIZE + my_part * 64 * LINE, *const b = stages + stage * SIZE + A_SIZE;
        wait(&landed[stage], parity);
        begin_products();
#pragma unroll
        for (int k = 0; k < 4; k++)
#pragma unroll
            for (int i = 0; i < ROW_PARTS; i++)
#pragma unroll
                for (int j = 0; j < COL_PARTS; j++)
                    /* mark: multiply-add kernel of wgmma_gemm wgmma_gemm_tf32 */
                    multiply_add_tile<WIDTH, A_ALONG_DEPTH, B_ALONG_DEPTH>(sums[i][j], descriptor<A_ALONG_DEPTH>(a + i * 64 * LINE, k),
                                                                           descriptor<B_ALONG_DEPTH>(b + j * WIDTH * LINE, k));
        commit_products();
        wait_for_products<1>();
        __syncthreads();
        if (thread == 0 && chunk + STAGES - 1 < chunks) fetch(stage ? stage - 1 : STAGES - 1);
        if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    wait_for_products<0>();

    /* the cell of a row of the tile and its first column, or -1 if there is no such row */
    auto cell_at = [&](int row) -> Index {
        const Index at = first_row + row;
        if (A_ALONG_DEPTH) return at < places ? (at * p.groups + group) * walk.width + first_col : -1;
        const int part = (int)(at / 64), channel = part % parts_of_tap * 64 + row % 64;
        return part < parts && channel < walk.depth ? p.w_at(0, part / parts_of_tap, channel) + group * walk.width + first_col : -1;
    };
    const int my_row = thread % 128 / 32 * 16 + thread % 32 / 4, my_col = thread % 4 * 2, width = walk.width - first_col;
    const int first_channel = group * walk.width + first_col; /* of the bias */
    /* the tile goes to the stages, which are free, and from there to an array, 16 bytes of a row at once */
    auto leave = [&](auto role, auto *array) {
        typedef decltype(role) Role;
        typedef typename Role::Out Out;
        constexpr int numbers = 16 / (int)sizeof(Out), pitch = TILE_COLS + numbers;
        struct __align__(2 * sizeof(Out)) Pair { Out value[2]; };
        struct __align__(16) Vector { Out value[numbers]; };
        Out *const tile = (Out *)stages;
#pragma unroll
        for (int j = 0; j < TILE_COLS / 8; j++) /* a bias serves all rows */
#pragma unroll
            for (int i = 0; i < 2 * ROW_PARTS; i++) {
                const float *const two = &sums[i / 2][j * 8 / WIDTH][j * 8 % WIDTH / 2 + i % 2 * 2];
                const int row = (my_part + i / 2) * 64 + i % 2 * 8 + my_row, col = my_col + 8 * j;
                *(Pair *)(tile + row * pitch + col) = Role::template pair<Pair>(two, bias, first_channel + (col < width ? col : 0), relu);
            }
        __syncthreads();
#pragma unroll 1
        for (int i = thread; i < TILE_ROWS * TILE_COLS / numbers; i += THREADS) {
            const int row = i / (TILE_COLS / numbers), col = i % (TILE_COLS / numbers) * numbers;
            const Index cell = cell_at(row);
            if (cell < 0 || col >= width) continue;
            const Vector vector = *(const Vector *)(tile + row * pitch + col);
            *(Vector *)(array + cell + col) = vector;
            if constexpr (Role::finished) {
                bool redo = false;
                for (int n = 0; n < numbers; n++) redo |= widen(vector.value[n]) != widen(vector.value[n]);
#pragma unroll 1
                for (int n = 0; redo && n < numbers; n++) redo_if_nan<KIND>(p, first, second, cell + col + n, bias, relu, result);
            }
        }
    };
    __syncthreads();
    if (partial) leave(ToPartial(), partial + (Long)split * KIND::cells(p));
    else leave(ToResult(), result);
}
#endif
