/* pipelined_gemm: the product fed without a pause: copies of 16 bytes straight into shared memory, three chunks ahead.

     one block of 256 threads = one tile of TILE_ROWS x TILE_COLS; a chunk is 64 bytes deep: 32 halves or 16 floats

       global --asynchronous copies, 16 B--> [ chunk c+3 | c+2 | c+1 | c ] --> registers --> sums
                                               4 stages of shared memory

     fetch chunks 0, 1 and 2
     for each chunk c
       wait until this thread's copies of chunk c have landed; wait for all threads: now all of it is there, and everybody
       is done with chunk c-1, in whose stage ...
       ... fetch chunk c+3, while the engine multiplies chunk c

   A copy of a tap in the padding is told to write 16 zeros: the zero-fill is the padding, without a branch.

   Faster than implicit_gemm and tensor_gemm, because numbers take no detour through registers, four times fewer instructions
   load them, and memory has the time of three chunks to answer. The engine is tensor cores for float16 and bfloat16, for float32
   ordinary multiply-adds or, with -DTF32, tensor cores.

   It needs channels in multiples of 16 bytes, so that a copy is all padding or none, and sm_80 for asynchronous copies. */

#include <cuda_pipeline.h>
#if !defined(NUMBER_FLOAT32) || defined(TF32)
#include <mma.h>
#endif
#include "common.cuh"
#include "tiles.cuh"

#define STAGES 4
#define VECTOR (16 / (int)sizeof(Number)) /* numbers in 16 bytes */
#define TILE_DEPTH (4 * VECTOR)

typedef Tile<KIND, TILE_ROWS, TILE_COLS, TILE_DEPTH, VECTOR> OurTile;

/* How a chunk of T x TILE_DEPTH lies in a stage: lines along the depth, or along the rows (columns); 16 spare bytes let lines
   begin in different banks. */
template <class Side, int T> struct Layout {
    static constexpr int PITCH = (Side::along_depth ? TILE_DEPTH : T) + VECTOR;
    static constexpr int SIZE = (Side::along_depth ? T : TILE_DEPTH) * PITCH;
    DEVICE static int at(int row, int k) { return Side::along_depth ? row * PITCH + k : k * PITCH + row; }
};
typedef Layout<OurTile::A, TILE_ROWS> A;
typedef Layout<OurTile::B, TILE_COLS> B;

#if !defined(NUMBER_FLOAT32) || defined(TF32)
namespace wmma = nvcuda::wmma;

template <bool lines_are_rows> struct Order { typedef wmma::row_major type; };
template <> struct Order<false> { typedef wmma::col_major type; };

/* Tensor cores: 8 warps, each with WARP_ROWS x WARP_COLS of the tile in fragments of 16 x 16. */
struct Engine {
    static constexpr int WARPS_ACROSS = TILE_COLS / 32, WARP_ROWS = TILE_ROWS / (8 / WARPS_ACROSS), WARP_COLS = 32;
    static constexpr int ROWS = WARP_ROWS / 16, COLS = WARP_COLS / 16;
#if defined(TF32)
    typedef wmma::precision::tf32 Type;
    static constexpr int STEP = 8;
    template <class Fragment> DEVICE static void round(Fragment &fragment) {
#pragma unroll
        for (int i = 0; i < fragment.num_elements; i++) fragment.x[i] = wmma::__float_to_tf32(fragment.x[i]); /* mark: own of pipelined_gemm_tf32 */
    }
#else
    typedef Number Type;
    static constexpr int STEP = 16;
    template <class Fragment> DEVICE static void round(Fragment &) {} /* mark: own of pipelined_gemm */
#endif
    typedef wmma::fragment<wmma::matrix_a, 16, 16, STEP, Type, Order<OurTile::A::along_depth>::type> Rows;
    typedef wmma::fragment<wmma::matrix_b, 16, 16, STEP, Type, Order<!OurTile::B::along_depth>::type> Cols;
    wmma::fragment<wmma::accumulator, 16, 16, STEP, float> sums[ROWS][COLS];

    DEVICE static int warp_row() { return threadIdx.x / 32 / WARPS_ACROSS * WARP_ROWS; }
    DEVICE static int warp_col() { return threadIdx.x / 32 % WARPS_ACROSS * WARP_COLS; }

    DEVICE Engine() {
#pragma unroll
        for (int i = 0; i < ROWS; i++)
#pragma unroll
            for (int j = 0; j < COLS; j++) wmma::fill_fragment(sums[i][j], 0.0f);
    }
    DEVICE void multiply(const Number *a, const Number *b) {
#pragma unroll
        for (int k = 0; k < TILE_DEPTH; k += STEP) {
            Rows rows[ROWS];
            Cols cols[COLS];
#pragma unroll
            for (int i = 0; i < ROWS; i++) wmma::load_matrix_sync(rows[i], a + A::at(warp_row() + 16 * i, k), A::PITCH), round(rows[i]);
#pragma unroll
            for (int j = 0; j < COLS; j++) wmma::load_matrix_sync(cols[j], b + B::at(warp_col() + 16 * j, k), B::PITCH), round(cols[j]);
#pragma unroll
            for (int i = 0; i < ROWS; i++)
#pragma unroll
                /* mark: multiply-add kernel of pipelined_gemm pipelined_gemm_tf32 */
                for (int j = 0; j < COLS; j++) wmma::mma_sync(sums[i][j], rows[i], cols[j], sums[i][j]);
        }
    }
    /* The stages are free: 16 x 16 sums of each warp go through them, 8 columns of a row for each lane. */
    DEVICE void finish(const OurTile &tile, unsigned char *memory) const {
        __syncthreads(); /* before the corners overwrite the last chunk */
        float *corner = (float *)memory + threadIdx.x / 32 * (16 * 20);
        const int lane = threadIdx.x % 32;
        bool redo = false;
#pragma unroll
        for (int i = 0; i < ROWS; i++)
#pragma unroll
            for (int j = 0; j < COLS; j++) {
                wmma::store_matrix_sync(corner, sums[i][j], 20, wmma::mem_row_major);
                __syncwarp();
                const Index at = tile.row_at(warp_row() + 16 * i + lane / 2);
                const int col = warp_col() + 16 * j + lane % 2 * 8;
                for (int c = 0; c < 8; c++)
                    if (at >= 0 && tile.has_col(col + c))
                        redo |= tile.put(at + col + c, tile.bias_at() + col + c, corner[lane / 2 * 20 + lane % 2 * 8 + c]);
                __syncwarp(); /* before the next fragment overwrites the corner */
            }
#pragma unroll 1
        for (int n = 0; redo && n < ROWS * COLS * 8; n++) {
            const Index at = tile.row_at(warp_row() + n / 8 / COLS * 16 + lane / 2);
            const int col = warp_col() + n / 8 % COLS * 16 + lane % 2 * 8 + n % 8;
            if (at >= 0 && tile.has_col(col)) tile.redo(at + col);
        }
    }
};
#else
struct __align__(16) Four { float value[4]; };

/* Multiply-adds: 8 warps in 4 rows of 2; the 32 threads of a warp are 4 x 8, with RM x RN sums each. Of a matrix whose lines run
   along the depth a thread reads 4 steps of the depth at once, of the other kind 4 neighbouring rows (columns). */
struct Engine {
    static constexpr int RM = TILE_ROWS / 16, RN = TILE_COLS / 16;
    float sums[RM][RN] = {};

    DEVICE static int row(int i) {
        const int first = threadIdx.x / 64 * (TILE_ROWS / 4), lane = threadIdx.x % 32 / 8;
        return first + (OurTile::A::along_depth ? lane + 4 * i : lane * 4 + 16 * (i / 4) + i % 4);
    }
    DEVICE static int col(int j) {
        const int first = threadIdx.x / 32 % 2 * (TILE_COLS / 2), lane = threadIdx.x % 8;
        return first + (OurTile::B::along_depth ? lane + 8 * j : lane * 4 + 32 * (j / 4) + j % 4);
    }
    DEVICE void multiply(const float *a, const float *b) {
#pragma unroll
        for (int k = 0; k < TILE_DEPTH; k += 4) {
            float rows[RM][4];
#pragma unroll
            for (int i = 0; i < RM; i += 4) load<OurTile::A, A>(a, row, i, k, rows + i);
#pragma unroll
            for (int j = 0; j < RN; j += 4) {
                float cols[4][4]; /* 4 columns at a time: registers are scarce */
                load<OurTile::B, B>(b, col, j, k, cols);
#pragma unroll
                for (int kk = 0; kk < 4; kk++)
#pragma unroll
                    for (int i = 0; i < RM; i++)
#pragma unroll
                        /* mark: multiply-add kernel of pipelined_gemm_float32 */
                        for (int jj = 0; jj < 4; jj++) sums[i][j + jj] += rows[i][kk] * cols[jj][kk];
            }
        }
    }
    /* 4 rows (columns) of this thread from the `first` on, 4 steps of the depth of each. */
    template <class Side, class Lines> DEVICE static void load(const float *chunk, int (*place)(int), int first, int k, float (*to)[4]) {
#pragma unroll
        for (int n = 0; n < 4; n++) {
            const Four four = *(const Four *)(chunk + (Side::along_depth ? Lines::at(place(first + n), k) : Lines::at(place(first), k + n)));
#pragma unroll
            for (int m = 0; m < 4; m++) (Side::along_depth ? to[n][m] : to[m][n]) = four.value[m];
        }
    }
    DEVICE void finish(const OurTile &tile, unsigned char *) const { store<Engine>(tile, sums); }
};
#endif

DEVICE void multiply(OurTile tile) {
    extern __shared__ __align__(128) unsigned char memory[];
    Number *a = (Number *)memory, *b = a + STAGES * A::SIZE; /* STAGES chunks of each */
    auto copy = [](Number *to, const Number *from, const Number *anything) {
        __pipeline_memcpy_async(to, from ? from : anything, 16, from ? 0 : 16); /* the last: how many zeros */
    };
    auto fetch = [&](int stage) {
#pragma unroll
        for (int i = 0; i < OurTile::A::ITEMS; i++) copy(a + stage * A::SIZE + A::at(OurTile::A::row(i), OurTile::A::k(i)), tile.a(i), tile.first);
#pragma unroll
        for (int i = 0; i < OurTile::B::ITEMS; i++) copy(b + stage * B::SIZE + B::at(OurTile::B::row(i), OurTile::B::k(i)), tile.b(i), tile.second);
        tile.next_chunk();
    };
    Engine engine;
    for (int stage = 0; stage < STAGES - 1; stage++) {
        if (stage < tile.chunks) fetch(stage);
        __pipeline_commit();
    }
    for (Index chunk = 0; chunk < tile.chunks; chunk++) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        if (chunk + STAGES - 1 < tile.chunks) fetch((int)(chunk + STAGES - 1) % STAGES);
        __pipeline_commit();
        engine.multiply(a + (int)chunk % STAGES * A::SIZE, b + (int)chunk % STAGES * B::SIZE);
    }
    engine.finish(tile, memory);
}

/* Blocks that share a multiprocessor and its 65,536 registers: with floats a thread needs more than the 128 that two leave. */
#define BLOCKS (sizeof(Number) == 4 ? 1 : 2)

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) pipelined_gemm(Problem p, const Number *first, const Number *second,
                                                                       const Number *bias, int relu, int splits, Sum *partial,
                                                                       Number *result) {
    multiply(OurTile({p, first, second, bias, relu, splits, partial, result}));
}
