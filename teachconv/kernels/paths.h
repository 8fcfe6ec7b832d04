/* Records which paths through the kernels were taken since the bits were last cleared. find_source reads the
   bits after a call, so that it names the lines that ran, not those that might have run. A kernel calls
   took(...) once per block or row; if the bit is set already, that costs one load. */
#ifndef TEACHCONV_PATHS_H
#define TEACHCONV_PATHS_H

enum {
    /* the first three: sources of row_gemm's left matrix, in the order of gather.h */
    TOOK_WHOLE_INPUT = 1 << 0,
    TOOK_PADDED_ROWS = 1 << 1,
    TOOK_PATCHES = 1 << 2,
    TOOK_REDO = 1 << 3, /* winograd passed some images on to row_gemm */
    TOOK_PHASES = 1 << 4,
    TOOK_SCATTER = 1 << 5,
    TOOK_PLANES = 1 << 6,
    TOOK_MERGED = 1 << 7,
    TOOK_TAPS = 1 << 8,
    TOOK_STRIPS = 1 << 9,
    TOOK_ADJACENT = 1 << 10,
    TOOK_WIDE = 1 << 11,
    TOOK_ROWS = 1 << 12,
    TOOK_MOVING = 1 << 13,
    TOOK_ONE_CHANNEL = 1 << 14,
    TOOK_TILES = 1 << 15,
    TOOK_TALL = 1 << 16
};

extern int teachconv_paths;

/* Sets bits of a number that other threads set bits of, too. */
static inline void set_bits(int *number, int bits) {
#if defined(__GNUC__)
    if (~__atomic_load_n(number, __ATOMIC_RELAXED) & bits) __atomic_fetch_or(number, bits, __ATOMIC_RELAXED);
#else
    *number |= bits;
#endif
}

static inline void took(int path) { set_bits(&teachconv_paths, path); }

#endif
