/* pipelined_gemm: the product fed without a pause: copies of 16 bytes straight into shared memory, three chunks ahead.

     one block of 256 threads = one tile of 128 x 128; a chunk is 64 bytes deep: 32 halves or 16 floats

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
   ordinary multiply-adds or, with -DTF32, tensor cores. Two blocks share a multiprocessor, so that one multiplies while the other
   waits; this leaves a thread 128 registers, of which 64 hold sums.

   At the end a thread has sums of tensor cores here and there in the tile. They pass through shared memory once more, for it to store 16
   bytes of a row instead: neighbours together store whole sectors of memory.

   With at most 64 columns a tile is 128 x 64, and a chunk twice as deep, so that each step of the loop has as many products; three
   stages of it, two chunks ahead, leave room for the second block.

   Tiles of 256 x 128 are for tensor cores that the smaller ones would keep waiting for shared memory. Of a warp's 64 x 64 sums a step
   of the depth reads 64 + 64 numbers for 4096 multiply-adds, of 64 x 32 it reads 64 + 32 for 2048: 0.063 bytes for each in halves
   instead of 0.094. The copies write 0.023 instead of 0.031. A multiprocessor moves 128 bytes a cycle, and on an A100 its tensor cores
   take 1024 multiply-adds a cycle: 88 bytes instead of all 128. A thread has 128 sums, so one block fills a multiprocessor, and three
   stages fit into the 99 KiB that smaller cards have. Not measured.

   It needs channels in multiples of 16 bytes, so that a copy is all padding or none, and sm_80 for asynchronous copies. */

#include <cuda_pipeline.h>
#include "common.cuh"
#include "tiles.cuh"
#include "instructions.cuh"

#define VECTOR (16 / (int)sizeof(Number)) /* numbers in 16 bytes */
#define STAGES (TILE_ROWS == 128 && TILE_COLS > 64 ? 4 : 3)
#define TILE_DEPTH ((TILE_COLS > 64 ? 4 : 8) * VECTOR)
#define BLOCKS (TILE_ROWS == 128 ? 2 : 1) /* that share a multiprocessor */
#define PART 128 /* rows of sums for which the stages have room */

typedef Tile<KIND, TILE_ROWS, TILE_COLS, TILE_DEPTH, VECTOR> OurTile;

/* How a chunk of T x TILE_DEPTH lies in a stage: lines along the depth, or along the rows (columns). Spare numbers let lines begin
   in different banks of shared memory, so that a warp reads several at once. */
template <class Side, int T> struct Layout {
    static constexpr bool along_depth = Side::along_depth;
    static constexpr int PITCH = along_depth ? TILE_DEPTH + VECTOR : T + 8;
    static constexpr int SIZE = (along_depth ? T : TILE_DEPTH) * PITCH;
    DEVICE static int at(int row, int k) { return along_depth ? row * PITCH + k : k * PITCH + row; }
};
/* Of 16 rows (columns) x 2 * VECTOR: which register of four has which 8 rows (columns) and which half, as instructions.cuh orders them. */
struct A : Layout<OurTile::A, TILE_ROWS> {
    DEVICE static constexpr int quarter(int lines, int half) { return lines + 2 * half; }
    DEVICE static int row(int quarter) { return quarter % 2 * 8; }
    DEVICE static int k(int quarter) { return quarter / 2 * VECTOR; }
};
struct B : Layout<OurTile::B, TILE_COLS> {
    DEVICE static constexpr int quarter(int lines, int half) { return 2 * lines + half; }
    DEVICE static int row(int quarter) { return quarter / 2 * 8; }
    DEVICE static int k(int quarter) { return quarter % 2 * VECTOR; }
};

typedef Vector<float, 4> Four;

#if !defined(NUMBER_FLOAT32) || defined(TF32)
/* Tensor cores: 8 warps, each with WARP_ROWS x WARP_COLS of the tile. */
struct Engine {
    static constexpr int WARP_COLS = TILE_ROWS == 128 ? 32 : 64, WARPS_ACROSS = TILE_COLS / WARP_COLS;
    static constexpr int WARP_ROWS = TILE_ROWS / (8 / WARPS_ACROSS);
    static constexpr int RM = WARP_ROWS / 8, RN = WARP_COLS / 4, NEIGHBOURS = 1;
    static constexpr bool through_shared = sizeof(Number) == 2 || A::along_depth; /* else there is no register left for it */
    float sums[RM][RN] = {};
    bool has_nan = false; /* among the factors, where rounding would lose it */

    DEVICE static int warp_row() { return threadIdx.x / 32 / WARPS_ACROSS * WARP_ROWS; }
    DEVICE static int warp_col() { return threadIdx.x / 32 % WARPS_ACROSS * WARP_COLS; }
    DEVICE static int row(int i) {
        const int line = threadIdx.x % 32 / 4;
        return warp_row() + (in_fours<A>() ? i / 4 * 32 + line * 4 + i % 4 : i * 8 + line);
    }
    DEVICE static int col(int j) {
        const int line = threadIdx.x % 4 * 2 + j % 2;
        return warp_col() + (in_fours<B>() ? j / 8 * 32 + line * 4 + j / 2 % 4 : j / 2 * 8 + line);
    }
    const int from_a = keep(of_lane<A>(warp_row())), from_b = keep(of_lane<B>(warp_col()));

    DEVICE void multiply(const Number *a, const Number *b) {
#pragma unroll
        for (int k = 0; k < TILE_DEPTH; k += 2 * VECTOR) {
            unsigned rows[2][4], cols[RN / 4][4];
#pragma unroll
            for (int j = 0; j < RN / 4; j += 2) load<B>(cols + j, b + from_b + B::at(16 * j, k));
#pragma unroll
            for (int i = 0; i < RM / 2; i++) {
                if (i % 2 == 0) load<A>(rows, a + from_a + A::at(16 * i, k));
#pragma unroll
                for (int j = 0; j < RN / 2; j++)
                    /* mark: multiply-add kernel of pipelined_gemm pipelined_gemm_tf32 */
                    multiply_add(sums[2 * i] + 2 * j, sums[2 * i + 1] + 2 * j, rows[i % 2], cols[j / 2] + j % 2 * 2);
            }
        }
    }
    /* Whether a lane loads four neighbouring rows (columns) at once, one for each of four products: floats that lie along them. */
    template <class Side> DEVICE static constexpr bool in_fours() { return sizeof(Number) == 4 && !Side::along_depth; }

    /* Where a lane begins to read the 32 rows (columns) x 2 * VECTOR from this row (column) on. */
    template <class Side> DEVICE static int of_lane(int row) {
        const int lane = threadIdx.x % 32, quarter = lane / 8, line = lane % 8;
        if (in_fours<Side>()) return Side::at(row + lane / 4 * 4, lane % 4);
        return Side::at(row + Side::row(quarter), Side::k(quarter)) + (Side::along_depth ? Side::at(line, 0) : Side::at(0, line));
    }
    /* Load 32 rows (columns) x 2 * VECTOR of a chunk. */
    template <class Side> DEVICE void load(unsigned (*to)[4], const Number *from) {
#pragma unroll
        for (int n = 0; n < 2; n++)
            if (in_fours<Side>()) {
                const Four four = *(const Four *)(from + Side::at(0, VECTOR * n));
#pragma unroll
                for (int m = 0; m < 4; m++) to[m / 2][Side::quarter(m % 2, n)] = __float_as_uint(four.value[m]);
            } else if (Side::along_depth)
                load_quarters(to[n], from + Side::at(16 * n, 0));
            else
                load_transposed_quarters(to[n], from + Side::at(16 * n, 0));
        for (int n = 0; n < 8; n += 2) round(to[n / 4][n % 4], to[n / 4][n % 4 + 1]);
    }
#if defined(TF32)
    /* Round two factors to 11 bits, to nearest: tensor cores ignore the last 13 of 24 bits, so that half a unit of the 11th is added.
       This keeps infinities, but a NaN may become a finite number: finish() makes up for it. */
    DEVICE void round(unsigned &a, unsigned &b) {
        const float first = __uint_as_float(a), second = __uint_as_float(b);
        has_nan |= first != first | second != second; /* one instruction */
        a += 0x1000, b += 0x1000; /* mark: own of pipelined_gemm_tf32 */
    }
#else
    DEVICE void round(unsigned &, unsigned &) {} /* two halves each, as tensor cores take them */ /* mark: own of pipelined_gemm */
#endif
    /* If a factor was NaN, have the warp's cells computed by the definition. */
    DEVICE void finish() {
#if defined(TF32)
        if (!any_lane(has_nan)) return;
#pragma unroll
        for (int i = 0; i < RM; i++)
#pragma unroll
            for (int j = 0; j < RN; j++) sums[i][j] = __uint_as_float(0x7fffffff);
#endif
    }
};
#else
/* Multiply-adds: 8 warps in 4 rows of 2; the 32 threads of a warp are 4 x 8, with RM x RN sums each. A load takes 4 numbers: of a
   matrix whose lines run along the depth 4 steps of a row (column), of the other kind 4 neighbouring rows (columns) at one step. */
struct Engine {
    static constexpr int RM = TILE_ROWS / 16, RN = TILE_COLS / 16;
    static constexpr int NEIGHBOURS = B::along_depth ? 1 : 4; /* of a thread's sums, how many are neighbours in a row */
    static constexpr bool through_shared = false;             /* 8 threads store 32 bytes or more of a row at once */
    float sums[RM][RN] = {};

    DEVICE static int row(int i) {
        const int first = threadIdx.x / 64 * (TILE_ROWS / 4), lane = threadIdx.x % 32 / 8;
        return first + (A::along_depth ? lane + 4 * i : lane * 4 + 16 * (i / 4) + i % 4);
    }
    DEVICE static int col(int j) {
        const int first = threadIdx.x / 32 % 2 * (TILE_COLS / 2), lane = threadIdx.x % 8;
        return first + (B::along_depth ? lane + 8 * j : lane * 4 + 32 * (j / 4) + j % 4);
    }
    const int from_a = keep(A::at(row(0), 0)), from_b = keep(B::at(col(0), 0)); /* where the thread begins to read a chunk */

    DEVICE void multiply(const float *a, const float *b) {
        /* in 4 rounds if A lies along the depth: the compiler would load so far ahead, if all were unrolled, that registers run out */
#pragma unroll(A::along_depth ? TILE_DEPTH / 16 : TILE_DEPTH / 4)
        for (int k = 0; k < TILE_DEPTH; k += 4) {
            float cols[RN][4]; /* 4 steps of the depth */
#pragma unroll
            for (int n = 0; n < RN; n++) {
                const Four four = load<B, 8>(b + from_b, n, k);
#pragma unroll
                for (int m = 0; m < 4; m++) cols[line<B>(n, m)][step<B>(n, m)] = four.value[m];
            }
#pragma unroll
            for (int n = 0; n < RM; n++) {
                const Four four = load<A, 4>(a + from_a, n, k); /* used at once: registers are scarce */
#pragma unroll
                for (int m = 0; m < 4; m++)
#pragma unroll
                    for (int j = 0; j < RN; j++)
                        /* mark: multiply-add kernel of pipelined_gemm_float32 */
                        sums[line<A>(n, m)][j] += four.value[m] * cols[j][step<A>(n, m)];
            }
        }
    }
    DEVICE void finish() {}
    /* Which row (column) of the thread, and which step of 4, number m of load n belongs to. */
    template <class Side> DEVICE static constexpr int line(int n, int m) { return Side::along_depth ? n : n / 4 * 4 + m; }
    template <class Side> DEVICE static constexpr int step(int n, int m) { return Side::along_depth ? m : n % 4; }
    template <class Side, int LANES> DEVICE static Four load(const float *from, int n, int k) {
        const int row = Side::along_depth ? n * LANES : n / 4 * 4 * LANES;
        return *(const Four *)(from + Side::at(row, k + step<Side>(n, 0)));
    }
};
#endif

/* Store the sums of a tile; `room` is where the stages were. */
DEVICE void store(Call &call, const Engine &engine, Sum *room) {
    if constexpr (!Engine::through_shared) {
        forget(call.p); /* where the sums go is computed once more: the loop had no registers to keep it */
        /* partial sums of Forward one at a time: the loop would keep four in a row of registers, and run out of others */
        store<Engine, Engine::NEIGHBOURS, A::along_depth ? 1 : Engine::NEIGHBOURS>(OurTile(call), engine.sums);
        return;
    }
    constexpr int PITCH = TILE_COLS + 8, ACROSS = TILE_COLS / VECTOR, NEXT = THREADS / ACROSS; /* rows from a vector to the next */
    const int first = threadIdx.x / ACROSS, col = threadIdx.x % ACROSS * VECTOR;
    bool redo = false;
    forget(call.p);
    const OurTile tile(call);
#pragma unroll 1
    for (int part = 0; part < TILE_ROWS; part += PART) {
        __syncthreads(); /* all have read the last chunk, or the last part */
#pragma unroll
        for (int i = 0; i < Engine::RM; i++)
#pragma unroll
            for (int j = 0; j < Engine::RN; j++)
                if (Engine::row(0) / PART == part / PART) room[(Engine::row(i) - part) * PITCH + Engine::col(j)] = engine.sums[i][j];
        __syncthreads();
#pragma unroll 1
        for (int row = first; row < PART; row += NEXT) {
            const Index at = tile.has_col(col) ? tile.row_at(part + row) : -1;
            if (at >= 0) redo |= tile.put<VECTOR, 4>(at + col, tile.bias_at() + col, room + row * PITCH + col);
        }
    }
#pragma unroll 1
    for (int i = 0; redo && i < TILE_ROWS / NEXT * VECTOR; i++) {
        const Index at = tile.row_at(first + i / VECTOR * NEXT);
        if (at >= 0) tile.redo(at + col + i % VECTOR);
    }
}

DEVICE void multiply(Call call) {
    extern __shared__ __align__(128) unsigned char memory[];
    constexpr int SIZE = A::SIZE + B::SIZE; /* of a stage, which has a chunk of A and one of B */
    OurTile tile(call);
    /* where the thread's items go in a chunk */
    const int to_a = keep(A::at(OurTile::A::row(0), OurTile::A::k())), to_b = keep(B::at(OurTile::B::row(0), OurTile::B::k()));
    auto fetch = [&](int stage) {
        Number *const a = (Number *)memory + stage, *const b = a + A::SIZE;
#pragma unroll
        for (int i = 0; i < OurTile::A::ITEMS; i++)
            copy_or_zero(a + to_a + A::at(OurTile::A::NEXT * i, 0), tile.first + tile.a(i), !tile.has_a(i));
#pragma unroll
        for (int i = 0; i < OurTile::B::ITEMS; i++)
            copy_or_zero(b + to_b + B::at(OurTile::B::NEXT * i, 0), tile.second + tile.b(i), !tile.has_b(i));
    };
    Engine engine;
#pragma unroll 1
    for (int chunk = 0; chunk < STAGES - 1; chunk++) {
        if (chunk < tile.chunks) {
            if (chunk) tile.next_chunk();
            fetch(chunk * SIZE);
        }
        __pipeline_commit();
    }
    int stage = 0;
    for (Index chunks = tile.chunks; chunks > 0; chunks--) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        if (chunks >= STAGES) {
            tile.next_chunk();
            fetch(stage ? stage - SIZE : (STAGES - 1) * SIZE);
        }
        __pipeline_commit();
        engine.multiply((Number *)memory + stage, (Number *)memory + stage + A::SIZE);
        stage = stage == (STAGES - 1) * SIZE ? 0 : stage + SIZE;
    }
    engine.finish();
    static_assert(PART * (TILE_COLS + 8) * sizeof(Sum) <= STAGES * SIZE * sizeof(Number), "the sums fit where the stages were");
    store(call, engine, (Sum *)memory);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) pipelined_gemm(Problem p, const Number *first, const Number *second,
                                                                            const Number *bias, int relu, int splits, Sum *partial,
                                                                            Number *result) {
    multiply({p, first, second, bias, relu, splits, partial, result, blockIdx.x});
}
