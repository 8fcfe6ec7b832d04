/* The vector type of one translation unit, for one number type and one instruction set.

   In:   REAL_IS_DOUBLE 0 or 1,  ISA_LEVEL 0, 1 or 2
   Out:  real, vec        a number, and a vector of LANES numbers
         unaligned_vec    the same vector at any address
         TILE_PIXELS      height of a register tile in pixels; its width is TILE_VECTORS = 2 vectors
         BY_LANES         1 where a multiply-add takes a factor from a lane of a vector, else 0
         KERNEL, INLINE   function attributes: a function compiled for the instruction set, and one that is
                          inlined into the KERNEL that calls it

   A register tile (register_tile.h) keeps TILE_PIXELS x 2 sums in registers and needs 2 more for the filter
   and 1 for the pixel: 14 x 2 + 3 = 31 of the 32 registers of AVX-512, 6 x 2 + 3 = 15 of 16 with AVX2 or SSE.

   A vector of NEON has only 4 floats, so a load for every multiply-add or two would be the limit. Its
   multiply-adds can take a factor from one lane of a vector: the tile loads LANES numbers of each pixel at once
   and multiplies by one after the other. 8 x 2 sums, 8 of the pixels and 2 of the filter are 26 of 32.

   Blocks, and the distances of prefetches, have as many bytes on AArch64 as on x86: no such processor was at hand
   to try others. Blocks for the first-level cache have up to 24 KB; there are 64 KB (Neoverse N1, V1, V2) or 128 KB
   (performance cores of Apple's M1). The 600 KB of row_gemm fit the second level, 12 MB that four of Apple's cores
   share, or 1 to 2 MB of a Neoverse; not of one that was built with 512 KB or less. A line of Apple's caches has
   128 bytes, so every second prefetch, of 64, asks for a line that is on its way: 2 of the 91 instructions of the
   tile's loop. Loads of pairs come from the compilers, where two vectors of the filter are neighbours: in that
   loop GCC makes one and Clang four, and with either it is simulated at the limit of the pipes, 2 to 4
   multiply-adds a cycle (benchmarks/neon.py). */
#define TILE_VECTORS 2

#if ISA_LEVEL == 2
#define VECTOR_BYTES 64
#define TILE_PIXELS 14
/* Clang ignores the whole attribute if it does not know one of its words. */
#if defined(__clang__)
#define PREFER_512
#else
#define PREFER_512 ",prefer-vector-width=512"
#endif
#define ISA_TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma,prfchw" PREFER_512)))
#elif ISA_LEVEL == 1
#define VECTOR_BYTES 32
#define TILE_PIXELS 6
#define ISA_TARGET __attribute__((target("avx2,fma,prfchw")))
#elif defined(__aarch64__) && defined(TEACHCONV_VECTORS)
#define VECTOR_BYTES 16
#define TILE_PIXELS 8
#define BY_LANES 1
#define ISA_TARGET
#else
#define VECTOR_BYTES 16
#define TILE_PIXELS 6
#define ISA_TARGET
#endif
#if !defined(BY_LANES)
#define BY_LANES 0
#endif

/* X of every height of a register tile */
#define UP_TO_SIX(X) X(1) X(2) X(3) X(4) X(5) X(6)
#if TILE_PIXELS == 14
#define EACH_HEIGHT(X) UP_TO_SIX(X) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#elif TILE_PIXELS == 8
#define EACH_HEIGHT(X) UP_TO_SIX(X) X(7) X(8)
#else
#define EACH_HEIGHT(X) UP_TO_SIX(X)
#endif

#if REAL_IS_DOUBLE
typedef double real;
#else
typedef float real;
#endif

#if defined(TEACHCONV_VECTORS)
#define LANES (VECTOR_BYTES / (ptrdiff_t)sizeof(real))
typedef real vec __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef real unaligned_vec __attribute__((vector_size(VECTOR_BYTES), may_alias, aligned(sizeof(real))));
#define KERNEL static __attribute__((noinline, unused)) ISA_TARGET
#define INLINE static inline __attribute__((always_inline, unused)) ISA_TARGET
#if defined(__clang__) /* with a count it unrolls too late to keep an array of vectors in registers */
#define UNROLL(n) _Pragma("clang loop unroll(full)")
#else
#define UNROLL(n) UNROLL_(GCC unroll n)
#define UNROLL_(text) _Pragma(#text)
#endif
#define PREFETCH(address, keep) __builtin_prefetch((address), 0, keep)
#define PREFETCH_TO_WRITE(address) __builtin_prefetch((address), 1, 3)
#else /* no vector extensions: the same source with vectors of one lane */
#define LANES ((ptrdiff_t)1)
typedef real vec;
typedef real unaligned_vec;
#define KERNEL static
#define INLINE static inline
#define UNROLL(n)
#define PREFETCH(address, keep) ((void)0)
#define PREFETCH_TO_WRITE(address) ((void)0)
#endif

INLINE vec load(const real *from) { return *(const unaligned_vec *)from; }
INLINE void store(real *to, vec value) { *(unaligned_vec *)to = value; }

/* Returns a vector that serves several multiply-adds, in a register, where there are 32 of them. GCC would
   load it again for each multiply-add, as an operand in memory; and with NEON move a sum from one register to
   another between them. */
INLINE vec keep(vec value) {
#if ISA_LEVEL == 2
    __asm__("" : "+v"(value));
#elif BY_LANES && !defined(__clang__)
    __asm__("" : "+w"(value));
#endif
    return value;
}

/* A streaming store sends a whole cache line to memory and leaves it in no cache. An ordinary store would
   first read the line, and put it in the place of one that is still needed. Only a vector as long as a line
   can do so; `to` must be aligned. Other threads see the results after streams_end. */
#if ISA_LEVEL == 2
#include <immintrin.h>
#if REAL_IS_DOUBLE
#define M512(name) _mm512_##name##_pd
typedef __m512d m512;
#else
#define M512(name) _mm512_##name##_ps
typedef __m512 m512;
#endif
#define CAN_STREAM 1
INLINE void stream(real *to, vec value) { M512(stream)(to, (m512)value); }
INLINE void streams_end(void) { _mm_sfence(); }
#else
#define CAN_STREAM 0
INLINE void stream(real *to, vec value) { store(to, value); }
INLINE void streams_end(void) {}
#endif

/* load_part and store_part move the first `count` <= LANES lanes only, for channels that do not fill a vector;
   none if count is negative. The other lanes of what load_part returns are zero. */
#if ISA_LEVEL == 2
INLINE __mmask16 first_lanes(ptrdiff_t count) { return (__mmask16)(count > 0 ? (1u << count) - 1 : 0); }
INLINE vec load_part(const real *from, ptrdiff_t count) {
    return (vec)M512(maskz_loadu)(first_lanes(count), from);
}
INLINE void store_part(real *to, vec value, ptrdiff_t count) {
    M512(mask_storeu)(to, first_lanes(count), (m512)value);
}
#else
/* at most one move for each power of two */
INLINE void copy_part(real *to, const real *from, ptrdiff_t count) {
    UNROLL(5)
    for (ptrdiff_t size = LANES; size > 0; size /= 2)
        if (count >= size) {
            memcpy(to, from, sizeof(real) * (size_t)size);
            to += size, from += size, count -= size;
        }
}
INLINE vec load_part(const real *from, ptrdiff_t count) {
    vec value = {0};
    copy_part((real *)&value, from, count);
    return value;
}
INLINE void store_part(real *to, vec value, ptrdiff_t count) { copy_part(to, (real *)&value, count); }
#endif

/* Returns max(value, 0); NaN stays NaN, as in TensorFlow's relu. */
INLINE vec rectify(vec value) {
#if defined(TEACHCONV_VECTORS)
    typedef __typeof__(value < value) mask;
    return (vec)((mask)value & ~(value < (vec){0}));
#else
    return value < 0 ? 0 : value;
#endif
}
