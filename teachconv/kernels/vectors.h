/* The vector of one (instruction set, type) pair. Included again for each pair, after undefining the last
   one's macros.

   In:   REAL_IS_DOUBLE 0 or 1,  ISA_LEVEL 0, 1 or 2
   Out:  real, vec           a number and a vector of LANES of them
         unaligned_vec       the same vector, but it may lie anywhere in memory
         TILE_PIXELS         pixels that a register tile is high; it is TILE_VECTORS = 2 vectors wide
         NAME(f)             f_f32_avx512 and so on: one source, one function per pair
         KERNEL, INLINE      the function's target options; INLINE ones melt into the KERNEL that calls them

   A tile keeps pixels x 2 sums in registers, and needs 2 more for the filter and 1 for the pixel: 14 x 2 + 3
   = 31 of AVX-512's 32 registers, 6 x 2 + 3 = 15 of the 16 elsewhere. */
#undef real
#undef vec
#undef unaligned_vec
#undef LANES
#undef VECTOR_BYTES
#undef TILE_PIXELS
#undef NAME
#undef KERNEL
#undef INLINE
#undef JOIN_ISA
#undef ISA_TARGET

#define TILE_VECTORS 2
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

#if ISA_LEVEL == 2
#define VECTOR_BYTES 64
#define TILE_PIXELS 14
#define JOIN_ISA(f) JOIN(f, avx512)
#define ISA_TARGET \
    __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma,prfchw,prefer-vector-width=512")))
#elif ISA_LEVEL == 1
#define VECTOR_BYTES 32
#define TILE_PIXELS 6
#define JOIN_ISA(f) JOIN(f, avx2)
#define ISA_TARGET __attribute__((target("avx2,fma,prfchw")))
#else
#define VECTOR_BYTES 16
#define TILE_PIXELS 6
#define JOIN_ISA(f) JOIN(f, base)
#define ISA_TARGET
#endif

#if REAL_IS_DOUBLE
#define real double
#define NAME(f) JOIN_ISA(f##_f64)
#else
#define real float
#define NAME(f) JOIN_ISA(f##_f32)
#endif

#if defined(TEACHCONV_VECTORS)
#define LANES (VECTOR_BYTES / (ptrdiff_t)sizeof(real))
typedef real NAME(vector) __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef real NAME(unaligned) __attribute__((vector_size(VECTOR_BYTES), may_alias, aligned(sizeof(real))));
#define KERNEL static __attribute__((noinline, unused)) ISA_TARGET
#define INLINE static inline __attribute__((always_inline, unused)) ISA_TARGET
#define UNROLL(n) UNROLL_(GCC unroll n)
#define UNROLL_(text) _Pragma(#text)
#define PREFETCH(address, keep) __builtin_prefetch((address), 0, keep)
#define PREFETCH_TO_WRITE(address) __builtin_prefetch((address), 1, 3)
#else /* no vector extensions: a vector of one lane, the same source */
#define LANES ((ptrdiff_t)1)
typedef real NAME(vector);
typedef real NAME(unaligned);
#define KERNEL static
#define INLINE static inline
#define UNROLL(n)
#define PREFETCH(address, keep) ((void)0)
#define PREFETCH_TO_WRITE(address) ((void)0)
#endif
#define vec NAME(vector)
#define unaligned_vec NAME(unaligned)

INLINE vec NAME(load)(const real *from) { return *(const unaligned_vec *)from; }
INLINE void NAME(store)(real *to, vec value) { *(unaligned_vec *)to = value; }

/* The first `count` lanes only: for the channels that do not fill a vector. */
INLINE vec NAME(load_part)(const real *from, ptrdiff_t count) {
    union {
        vec whole;
        real lane[VECTOR_BYTES / sizeof(real)];
    } part;
    part.whole = (vec){0};
    for (ptrdiff_t i = 0; i < count; i++) part.lane[i] = from[i];
    return part.whole;
}

INLINE void NAME(store_part)(real *to, vec value, ptrdiff_t count) {
    union {
        vec whole;
        real lane[VECTOR_BYTES / sizeof(real)];
    } part;
    part.whole = value;
    for (ptrdiff_t i = 0; i < count; i++) to[i] = part.lane[i];
}

/* max(value, 0) that keeps NaN, as TensorFlow's relu does. */
INLINE vec NAME(relu)(vec value) {
#if defined(TEACHCONV_VECTORS)
    typedef __typeof__(value < value) mask;
    return (vec)((mask)value & ~(value < (vec){0}));
#else
    return value < 0 ? 0 : value;
#endif
}
