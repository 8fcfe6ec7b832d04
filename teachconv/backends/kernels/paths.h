/* Records which paths through the kernels were taken since the bits were last cleared. find_source reads the
   bits after a call, so that it names the lines that ran, not those that might have run. A kernel calls
   took(...) once per block or row; if the bit is set already, that costs one load. */
#ifndef TEACHCONV_PATHS_H
#define TEACHCONV_PATHS_H

/* Their names are those that the marks in the sources use. */
#define PATHS(X)                                                     \
    X(WHOLE_INPUT, "whole_input")                                    \
    X(PADDED_ROWS, "padded_rows")                                    \
    X(PATCHES, "patches")                                            \
    X(REDO, "redo") /* winograd left some images to row_gemm */ \
    X(PHASES, "phases")                                              \
    X(SCATTER, "scatter")                                            \
    X(PLANES, "planes")                                              \
    X(MERGED, "merged")                                              \
    X(TAPS, "taps")                                                  \
    X(ROWS, "rows")                                                  \
    X(ONE_CHANNEL, "one_channel")                                    \
    X(FEW_FILTERS, "few_filters")                                    \
    X(TILES, "tiles")                                                \
    X(TALL, "tall")                                                  \
    X(NEON_ROWS, "neon_rows")

/* Numbers of the paths, and a bit for each */
#define NUMBER_OF_PATH(path, name) PATH_##path,
#define BIT_OF_PATH(path, name) TOOK_##path = 1 << PATH_##path,
enum { PATHS(NUMBER_OF_PATH) PATH_COUNT };
enum { PATHS(BIT_OF_PATH) };

extern const char *const teachconv_path_names[PATH_COUNT];
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
