/* Checks of data in vector registers: whether every number is finite, and whether a transform can handle its
   magnitude.

     The bits of |x|, read as an integer, grow with |x|; those of infinity and NaN are above all finite ones.
     So one addition that overflows into the sign bit is a comparison:
         sign of (bits(|x|) + (sign - bits(limit)))   is set exactly where   |x| >= limit                */
#if REAL_IS_DOUBLE
typedef uint64_t integer;
#define SIGN_BIT ((uint64_t)1 << 63)
#define BITS_OF(exponent) ((uint64_t)((exponent) + 1023) << 52) /* of 2 ** exponent */
/* 2 ** -450 <= largest |x| < 2 ** 450: sums of products of two such numbers stay far from over- and
   underflow */
#define TRANSFORM_LIMIT 450
#define INFINITE_BITS BITS_OF(1024)
#else
typedef uint32_t integer;
#define SIGN_BIT ((uint32_t)1 << 31)
#define BITS_OF(exponent) ((uint32_t)((exponent) + 127) << 23)
#define TRANSFORM_LIMIT 50
#define INFINITE_BITS BITS_OF(128)
#endif

#if defined(TEACHCONV_VECTORS)
typedef integer whole_vector __attribute__((vector_size(VECTOR_BYTES), may_alias));
#else
typedef integer whole_vector;
#endif

enum { SEEN_TOO_LARGE = 1, SEEN_LARGE_ENOUGH = 2, SEEN_NONZERO = 4 };

/* Returns whether the data are all zero, or else none is too large and the largest is not so small that
   products would become subnormal and lose bits. */
static inline int range_is_safe(int flags) {
    return flags == 0 || (!(flags & SEEN_TOO_LARGE) && (flags & SEEN_LARGE_ENOUGH));
}

/* What has been seen so far: each answer is in the sign bits; that of `any` is in all bits. */
typedef struct {
    whole_vector too_large, large_enough, any;
} range_seen;

INLINE void look_at(range_seen *range, vec value) {
#if defined(TEACHCONV_VECTORS)
    const whole_vector size = (whole_vector)value & ~SIGN_BIT;
#else
    integer size;
    memcpy(&size, &value, sizeof size);
    size &= ~SIGN_BIT;
#endif
    range->too_large |= size + (integer)(SIGN_BIT - BITS_OF(TRANSFORM_LIMIT));
    range->large_enough |= size + (integer)(SIGN_BIT - BITS_OF(-TRANSFORM_LIMIT));
    range->any |= size;
}

INLINE int range_flags(const range_seen *range) {
    const integer *large = (const integer *)&range->too_large,
                  *enough = (const integer *)&range->large_enough, *any = (const integer *)&range->any;
    int flags = 0;
    for (ptrdiff_t i = 0; i < LANES; i++)
        flags |= (large[i] & SIGN_BIT ? SEEN_TOO_LARGE : 0) | (enough[i] & SIGN_BIT ? SEEN_LARGE_ENOUGH : 0)
                 | (any[i] ? SEEN_NONZERO : 0);
    return flags;
}

KERNEL int all_finite(const void *numbers, ptrdiff_t count) {
    const real *x = numbers;
    /* stop at the first block with a number that is not finite */
    for (ptrdiff_t first = 0; first < count; first += 4096) {
        const ptrdiff_t past = smaller(count, first + 4096);
        integer seen = 0;
        for (ptrdiff_t i = first; i < past; i++) {
            integer size;
            memcpy(&size, x + i, sizeof size);
            seen |= (size & ~SIGN_BIT) + (integer)(SIGN_BIT - INFINITE_BITS);
        }
        if (seen & SIGN_BIT) return 0;
    }
    return 1;
}
#undef INFINITE_BITS
#undef TRANSFORM_LIMIT
