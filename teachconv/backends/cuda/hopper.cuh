/* hopper.cuh: what only cards of compute capability 9.0 (Hopper) have: the copy engine (TMA), its barriers, and wgmma.

   The copy engine copies boxes of a tensor to shared memory while the threads do something else. A tensor map, which the driver
   makes, tells it where the tensor is, its sizes, and the box. In im2col mode the map also has padding and stride: one copy brings
   the same tap of many places, and zeros for places outside the tensor. A line of 128 bytes arrives swizzled: its 16-byte piece j is
   at place j ^ line % 8, so that a column of pieces lies in different banks. wgmma reads lines in that order.

   wgmma multiplies 64 rows by up to 256 columns, over 32 bytes of the depth, for a warpgroup: 128 threads. It reads both factors
   from shared memory, by descriptors, while the threads go on. Of the sums, a thread has rows l / 4 and l / 4 + 8 of its warp's 16,
   and of each 8 columns l % 4 * 2 and the next, where l is its lane.

   NVIDIA's PTX ISA defines all of it (asynchronous copies of tensors, mbarrier, wgmma and its matrix descriptors).

   A host compiler does not see them: tests/cuda/hopper.h has the same functions, by the same definition. */

#ifndef TEACHCONV_HOPPER_CUH
#define TEACHCONV_HOPPER_CUH

#if defined(__CUDACC__)
struct __align__(64) TensorMap { unsigned char bits[128]; };
typedef unsigned long long Barrier;

DEVICE unsigned in_shared(const void *pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

/* A phase of a barrier ends when one thread has arrived and all bytes that it announced have landed. Then the next one begins. */
DEVICE void begin(Barrier *barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(in_shared(barrier)) : "memory");
}
/* Make new barriers visible to the copy engine. */
DEVICE void show_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;" : : : "memory");
}
DEVICE void arrive(Barrier *barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" : : "r"(in_shared(barrier)), "r"(bytes) : "memory");
}
/* Wait for the end of a phase: parity 0 for the first one, then 1, 0, 1 ... */
DEVICE void wait(Barrier *barrier, int parity) {
    unsigned ended;
    do
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(ended) : "r"(in_shared(barrier)), "r"(parity) : "memory");
    while (!ended);
}

/* Have a tensor map brought to the copy engine, before it is needed. */
DEVICE void prefetch(const TensorMap &map) { asm volatile("prefetch.tensormap [%0];" : : "l"(&map) : "memory"); }
/* Begin to copy a box of a tensor of rank 4. */
DEVICE void fetch_box(void *to, const TensorMap &map, int first, int second, int third, int fourth, Barrier *barrier) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];" : :
                 "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)), "r"(first), "r"(second), "r"(third), "r"(fourth) : "memory");
}
/* Begin to copy one tap of many places, from this place on: the engine walks along columns, rows and images. */
DEVICE void fetch_places(void *to, const TensorMap &map, int channel, int col, int row, int image, int right, int down, Barrier *barrier) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};" : : "r"(in_shared(to)), "l"(&map), "r"(in_shared(barrier)),
                 "r"(channel), "r"(col), "r"(row), "r"(image), "h"((short)right), "h"((short)down) : "memory");
}

DEVICE void begin_products() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
DEVICE void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory"); }
/* Wait for all committed groups of products but the last `but`. */
template <int but> DEVICE void wait_for_products() { asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(but) : "memory"); }

#define SUMS_32                                                                                                                     \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, " \
    "%27, %28, %29, %30, %31"
#define SUMS_64                                                                                                                     \
    SUMS_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, " \
            "%55, %56, %57, %58, %59, %60, %61, %62, %63"
#define FOUR(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
/* The predicate says that the sums are added to; + and + are the signs of the factors; then which factors are transposed. */
#if defined(NUMBER_FLOAT32)
#define WGMMA(cols, list, a, b, one, rows_first, cols_first)                                                                        \
    "{ .reg .pred add; setp.ne.s32 add, %" one ", 0; wgmma.mma_async.sync.aligned.m64n" cols "k8.f32.tf32.tf32 " list "}, %" a       \
    ", %" b ", add, 1, 1; }"
#else
#if defined(NUMBER_FLOAT16)
#define HALVES "f16.f16 "
#else
#define HALVES "bf16.bf16 "
#endif
#define WGMMA(cols, list, a, b, one, rows_first, cols_first)                                                                        \
    "{ .reg .pred add; setp.ne.s32 add, %" one ", 0; wgmma.mma_async.sync.aligned.m64n" cols "k16.f32." HALVES list "}, %" a         \
    ", %" b ", add, 1, 1, %" rows_first ", %" cols_first "; }"
#endif

/* Begin to add the products of 64 rows and `cols` columns to their sums. A factor's lines run along the depth, or else along the rows
   (columns), which floats cannot. */
template <int cols, bool a_along_depth, bool b_along_depth>
DEVICE void multiply_add_tile(float (&sums)[cols / 2], unsigned long long a, unsigned long long b) {
    static_assert(sizeof(Number) == 2 || (a_along_depth && b_along_depth), "wgmma transposes halves only");
    if constexpr (cols == 64)
        asm volatile(WGMMA("64", SUMS_32, "32", "33", "34", "35", "36")
                     : SIXTEEN(0), SIXTEEN(16)
                     : "l"(a), "l"(b), "r"(1), "n"(!a_along_depth), "n"(!b_along_depth));
    else
        asm volatile(WGMMA("128", SUMS_64, "64", "65", "66", "67", "68")
                     : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)
                     : "l"(a), "l"(b), "r"(1), "n"(!a_along_depth), "n"(!b_along_depth));
}
#endif

#endif
