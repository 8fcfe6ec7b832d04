/* What the programs beside this file share: the layer to run, its data, plain loops to check against, a clock.

   Each program is one rung of the ladder, without Python: it includes the kernels' own headers, checks the rung
   on one layer, then times it. Edit a kernel, run make kernels-play, and see whether it is still right and what
   it gained. The instruction set is the compiler's: -march=native, or -mavx2 -mfma. */
#if !defined(TEACHCONV_PLAY_H)
#define TEACHCONV_PLAY_H
#define REAL_IS_DOUBLE 0
#if defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define ISA_LEVEL 2
#elif defined(__AVX2__) && defined(__FMA__)
#define ISA_LEVEL 1
#else
#define ISA_LEVEL 0
#endif
#include "kernels_of_one_isa.h"
#include <math.h>
#include <stdio.h>
#include <time.h>

/* Returns a layer with SAME padding: the numbers given on the command line, and the others as they are here.
   A depthwise layer has as many groups as channels. */
static conv_problem layer_from(int argc, char **argv, int size, int in_channels, int out_channels, int filter,
                               int stride, int depthwise) {
    int numbers[] = {size, in_channels, out_channels, filter, stride, 1};
    for (int i = 1; i < argc && i <= 6; i++) numbers[i - 1] = atoi(argv[i]);
    for (int i = 0; i < 6; i++)
        if (numbers[i] < 1 || numbers[i] > 4096) {
            fprintf(stderr, "usage: %s [size in_channels out_channels filter stride batch]\n", argv[0]);
            exit(2);
        }
    conv_problem p = {.batch = numbers[5], .in_channels = numbers[1], .out_channels = numbers[2]};
    p.in_planes = p.out_planes = p.filter_planes = p.stride_planes = p.dilation_planes = 1; /* an image */
    p.in_rows = p.in_cols = numbers[0], p.filter_rows = p.filter_cols = numbers[3];
    p.stride_rows = p.stride_cols = numbers[4], p.dilation_rows = p.dilation_cols = 1;
    p.out_rows = p.out_cols = divide_up(p.in_rows, p.stride_rows);
    const ptrdiff_t padding = larger(0, (p.out_rows - 1) * p.stride_rows + p.filter_rows - p.in_rows);
    p.pad_top = p.pad_left = padding / 2, p.groups = depthwise ? p.in_channels : 1;
    if (!problem_fits(&p) || problem_macs(&p) > 1e11) {
        fprintf(stderr, "%s: no layer, or too large a one\n", argv[0]);
        exit(2);
    }
    return p;
}

static ptrdiff_t x_count(const conv_problem *p) { return p->batch * p->in_rows * p->in_cols * p->in_channels; }
static ptrdiff_t y_count(const conv_problem *p) {
    return p->batch * p->out_rows * p->out_cols * p->out_channels;
}
static ptrdiff_t w_count(const conv_problem *p) {
    return p->filter_rows * p->filter_cols * (p->in_channels / p->groups) * p->out_channels;
}

/* Returns an array of small integers, always the same. Every sum of their products is exact in any order, and
   winograd2's halves are exact too: the right result is right to the last bit, and no tolerance is needed. */
static real *integers(ptrdiff_t count) {
    real *array = (real *)new_scratch(count * (ptrdiff_t)sizeof(real));
    if (!array) exit(1);
    uint32_t state = 1;
    for (ptrdiff_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        array[i] = (real)((int)(state >> 24) % 9 - 4);
    }
    return array;
}

enum { FORWARD, INPUT_GRADIENT, FILTER_GRADIENT };

/* The definition. Every product belongs to one cell of x, one of w and one of y; two of the arrays are given,
   and the products are added up in the third. */
static void plain_loops(const conv_problem *p, int kind, real *x, real *w, real *y) {
    const ptrdiff_t ins = p->in_channels / p->groups, outs = p->out_channels / p->groups;
    if (kind == FORWARD) memset(y, 0, sizeof(real) * (size_t)y_count(p));
    if (kind == INPUT_GRADIENT) memset(x, 0, sizeof(real) * (size_t)x_count(p));
    if (kind == FILTER_GRADIENT) memset(w, 0, sizeof(real) * (size_t)w_count(p));
    for (ptrdiff_t pixel = 0; pixel < p->batch * p->out_rows * p->out_cols; pixel++)
        for (ptrdiff_t tap = 0; tap < p->filter_rows * p->filter_cols; tap++) {
            const ptrdiff_t image = pixel / p->out_cols / p->out_rows;
            const ptrdiff_t row = pixel / p->out_cols % p->out_rows * p->stride_rows - p->pad_top
                                  + tap / p->filter_cols * p->dilation_rows;
            const ptrdiff_t col = pixel % p->out_cols * p->stride_cols - p->pad_left
                                  + tap % p->filter_cols * p->dilation_cols;
            if (row < 0 || row >= p->in_rows || col < 0 || col >= p->in_cols) continue; /* padding */
            real *from = x + ((image * p->in_rows + row) * p->in_cols + col) * p->in_channels;
            for (ptrdiff_t i = 0; i < ins; i++)
                for (ptrdiff_t o = 0; o < p->out_channels; o++) {
                    real *in = from + o / outs * ins + i, *out = y + pixel * p->out_channels + o,
                         *weight = w + (tap * ins + i) * p->out_channels + o;
                    if (kind == FORWARD) *out += *in * *weight;
                    else if (kind == INPUT_GRADIENT) *in += *out * *weight;
                    else *weight += *in * *out;
                }
        }
}

/* Ends the program if the kernel returned a status, or a cell is not what the plain loops give. */
static void check(const char *name, int status, const real *got, const real *want, ptrdiff_t count) {
    if (status) fprintf(stderr, "%s: status %d, see kernels/problem.h\n", name, status), exit(1);
    for (ptrdiff_t i = 0; i < count; i++)
        if (!(got[i] == want[i])) {
            fprintf(stderr, "%s: cell %td is %g, the plain loops give %g\n", name, i, got[i], want[i]);
            exit(1);
        }
}

/* Returns processor time, which stands still while another program has the processor; on Windows, where that
   advances by 16 ms, the time of day. */
static double microseconds(void) {
    struct timespec now;
#if defined(_WIN32)
    clock_gettime(CLOCK_MONOTONIC, &now);
#else
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
#endif
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

#if !defined(PLAY_MICROSECONDS) /* the test of these programs sets fewer */
#define PLAY_MICROSECONDS 2e5
#endif

/* The microseconds of the quickest call in a fifth of a second. */
#define TIMED(call)                                                                               \
    __extension__({                                                                               \
        double least = INFINITY, start = microseconds();                                          \
        for (double now = start, then; now < start + PLAY_MICROSECONDS; now = then) {             \
            call;                                                                                 \
            then = microseconds();                                                                \
            least = then - now < least ? then - now : least;                                      \
        }                                                                                         \
        least;                                                                                    \
    })

/* Runs the call again and again and prints its quickest time. */
#define TIME(name, p, call)                                                                       \
    do {                                                                                          \
        const double us = TIMED(call);                                                            \
        printf("%-20s %td x %td, %td to %td channels: right, %.1f us, %.1f GFLOP/s\n", name,      \
               (p).in_rows, (p).in_cols, (p).in_channels, (p).out_channels, us,                   \
               2e-3 * problem_macs(&(p)) / us);                                                   \
    } while (0)
#endif
