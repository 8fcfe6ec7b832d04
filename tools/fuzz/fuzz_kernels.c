/* The kernels of backends/kernels under a fuzzer, without Python: each input is a handful of bytes that say
   problem, kernel, type, instruction set, threads, packing, alignment and data.

   The data are small integers times a power of two, so that every sum is exact in any order: the result must be
   that of plain loops, bit for bit, and no tolerance is needed; only winograd4, whose transforms multiply by square
   roots, may differ by a bound on its roundings. Some numbers are infinite or NaN. Arrays have
   exactly their size, so that AddressSanitizer sees the first byte read or written beside them.

   With -DFUZZ_STANDALONE a main() reads inputs as lines of hexadecimal digits; else libFuzzer calls
   LLVMFuzzerTestOneInput. See tools/fuzz/fuzz.py. */
#include "engine.h"
#include <math.h>
#include <stdio.h>

typedef struct {
    const uint8_t *at;
    size_t left;
} byte_source;

/* A number below `count`: of one byte, or of two where one is too few. 0 once the bytes have run out. */
static ptrdiff_t take(byte_source *from, ptrdiff_t count) {
    ptrdiff_t value = 0;
    for (int bytes = count > 256 ? 2 : 1; bytes > 0 && from->left > 0; bytes--, from->at++, from->left--)
        value = value * 256 + *from->at;
    return value % count;
}

static ptrdiff_t take_between(byte_source *from, ptrdiff_t least, ptrdiff_t most) {
    return least + take(from, most - least + 1);
}

/* A power of two: up to 2^40, or what leaves room for a sum where indices have 32 bits. */
static ptrdiff_t take_large(byte_source *from) {
    return (ptrdiff_t)1 << take(from, 41) % (8 * (ptrdiff_t)sizeof(ptrdiff_t) - 4);
}

/* Mostly small steps; some so large that a product of 32 bits would overflow. */
static ptrdiff_t take_step(byte_source *from) {
    const ptrdiff_t step = take(from, 16);
    return step < 12 ? 1 + step % 4 : take_large(from);
}

static ptrdiff_t take_pad(byte_source *from) {
    const ptrdiff_t pad = take(from, 16);
    return pad < 14 ? pad - 4 : (pad == 14 ? 1 : -1) * take_large(from);
}

/* Every kernel, by its number in the kept inputs */
enum { FORWARD, INPUT_GRADIENT, FILTER_GRADIENT };
static const struct {
    int kind, algorithm;
} kernels[] = {
    {FORWARD, ROW_GEMM},
    {FORWARD, WINOGRAD2},
    {INPUT_GRADIENT, WINOGRAD2},
    {FORWARD, WINOGRAD4},
    {INPUT_GRADIENT, WINOGRAD4},
    {INPUT_GRADIENT, PHASES},
    {INPUT_GRADIENT, COL2IM},
    {FORWARD, DEPTHWISE},
    {INPUT_GRADIENT, DEPTHWISE},
    {FILTER_GRADIENT, PIXEL_GEMM},
    {FILTER_GRADIENT, DEPTHWISE},
    {FORWARD, WINOGRAD},
    {INPUT_GRADIENT, WINOGRAD},
    {FILTER_GRADIENT, WINOGRAD},
    {FILTER_GRADIENT, WINOGRAD4},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };
enum { MOST_MACS = 400000, MOST_NUMBERS = 60000 };

typedef struct {
    conv_problem p;
    int kernel, is_double, isa, threads, relu, has_bias, packed, pack_threads;
    ptrdiff_t offsets[3];        /* numbers before the first, second and result: their alignment */
    int exponents[2], specials[2]; /* of the first and second array */
    uint32_t seed;
} trial;

static int is_scatter(int kernel) { return kernels[kernel].kind == INPUT_GRADIENT; }
static int is_of_filter(int kernel) { return kernels[kernel].kind == FILTER_GRADIENT; }
static int is_depthwise(int kernel) { return kernels[kernel].algorithm == DEPTHWISE; }
static int is_col2im(int kernel) { return kernels[kernel].algorithm == COL2IM; }
static int is_winograd4(int kernel) { return kernels[kernel].algorithm == WINOGRAD4; }
static int is_of_pieces(int kernel) { return kernels[kernel].algorithm == WINOGRAD || is_winograd4(kernel); }
static int takes_volumes(int kernel) { return !is_depthwise(kernel) && !is_col2im(kernel); }
static int is_winograd(int kernel) { return kernels[kernel].algorithm == WINOGRAD2 || is_of_pieces(kernel); }

/* Whether the kernel says that it solves the problem: the others must answer CONV_UNSUPPORTED. */
static int is_supported(const trial *t) {
    const conv_problem *p = &t->p;
    if (is_winograd(t->kernel)) return is_scatter(t->kernel) ? winograd_can_input(p) : winograd_can(p);
    if (is_depthwise(t->kernel)) return p->groups == p->in_channels;
    return !is_col2im(t->kernel) || p->groups == 1;
}

/* Makes the problem one of the common shapes that have kernels of their own; 0 leaves it as it is. */
static void make_common(trial *t, ptrdiff_t shape) {
    conv_problem *p = &t->p;
    if (!shape) return;
    p->filter_rows = p->filter_cols = shape == 3 ? 5 : 3;
    p->stride_rows = p->stride_cols = shape == 2 ? 2 : 1;
    p->dilation_rows = p->dilation_cols = 1;
    if (is_depthwise(t->kernel)) {
        if (shape == 4) p->groups = 256; /* pixels lie 1024 or 2048 bytes apart */
        p->in_channels = p->out_channels = p->groups;
    } else if (shape == 4) {
        p->out_channels /= p->groups, p->in_channels = p->groups = 1;
    }
}

static trial decode(byte_source *from) {
    trial t;
    memset(&t, 0, sizeof t);
    conv_problem *p = &t.p;
    t.kernel = (int)take(from, KERNELS);
    t.is_double = (int)take(from, 2);
    t.isa = (int)take(from, 3);
    const int fitting = (int)take(from, 8); /* mostly a problem that the kernel solves */
    p->batch = take_between(from, 1, 3);
    p->in_rows = take_between(from, 1, take(from, 8) ? 12 : 70);
    p->in_cols = take_between(from, 1, take(from, 8) ? 20 : 300);
    p->out_rows = take_between(from, 1, take(from, 8) ? 12 : 70);
    p->out_cols = take_between(from, 1, take(from, 8) ? 20 : 300);
    p->groups = take(from, 2) ? 1 : take_between(from, 1, 40);
    p->in_channels = p->groups * take_between(from, 1, take(from, 8) ? 20 : 300);
    p->out_channels = p->groups * take_between(from, 1, take(from, 8) ? 20 : 300);
    p->filter_rows = take_between(from, 1, take(from, 8) ? 5 : 70);
    p->filter_cols = take_between(from, 1, take(from, 8) ? 5 : 70);
    p->stride_rows = take_step(from), p->stride_cols = take_step(from);
    p->dilation_rows = take_step(from), p->dilation_cols = take_step(from);
    p->pad_top = take_pad(from), p->pad_left = take_pad(from);
    if (fitting && is_winograd(t.kernel)) {
        p->in_channels /= p->groups, p->out_channels /= p->groups, p->groups = 1;
        p->dilation_rows = p->dilation_cols = 1;
        if (is_of_pieces(t.kernel)) {
            p->filter_rows = 1 + p->filter_rows % 9, p->filter_cols = 1 + p->filter_cols % 9;
            p->stride_rows = 1 + p->stride_rows % 3, p->stride_cols = 1 + p->stride_cols % 3;
        } else {
            p->filter_rows = p->filter_cols = 3, p->stride_rows = p->stride_cols = 1;
        }
    } else if (fitting && is_depthwise(t.kernel)) {
        p->in_channels = p->groups = larger(p->groups, p->in_channels / p->groups);
        p->out_channels = p->in_channels * take_between(from, 1, 5);
    } else if (fitting && is_col2im(t.kernel)) {
        p->in_channels /= p->groups, p->out_channels /= p->groups, p->groups = 1;
    }
    t.threads = (int)take_between(from, 1, 5);
    t.pack_threads = (int)take_between(from, 1, 5);
    t.packed = (int)take(from, 2);
    t.has_bias = (int)take(from, 2);
    t.relu = (int)take(from, 2);
    for (int i = 0; i < 3; i++) t.offsets[i] = take(from, 4) ? 0 : take(from, 16);
    for (int i = 0; i < 2; i++) {
        const int most = t.is_double ? 470 : 55;
        t.exponents[i] = take(from, 3) ? 0 : (int)take_between(from, -most, most);
        t.specials[i] = take(from, 4) ? 0 : (int)take(from, 4);
    }
    t.seed = (uint32_t)take(from, 65536);
    if (fitting && !is_winograd(t.kernel)) make_common(&t, take(from, 5));
    p->in_planes = p->out_planes = p->filter_planes = p->stride_planes = p->dilation_planes = 1;
    if (takes_volumes(t.kernel) && take(from, 2)) {
        p->in_planes = take_between(from, 1, 6), p->out_planes = take_between(from, 1, 6);
        p->filter_planes = take_between(from, 1, take(from, 8) ? 4 : 12);
        p->stride_planes = take_step(from), p->dilation_planes = take_step(from), p->pad_front = take_pad(from);
        if (fitting && is_winograd(t.kernel)) p->dilation_planes = 1;
        if (take(from, 2)) { /* planes of a few pixels leave room for several */
            p->in_rows = 1 + p->in_rows % 6, p->in_cols = 1 + p->in_cols % 6;
            p->out_rows = 1 + p->out_rows % 6, p->out_cols = 1 + p->out_cols % 6;
        }
    }
    return t;
}

/* ------------------------------------------------------------------------------------------------ arrays -- */

typedef struct {
    void *block; /* of exactly offset + count numbers */
    void *numbers;
    double *exact; /* the same numbers as doubles */
    ptrdiff_t count;
} array;

static void *at_least_one(size_t bytes) {
    void *block = malloc(bytes ? bytes : 1);
    if (!block) abort();
    return block;
}

static array made_array(const trial *t, ptrdiff_t count, ptrdiff_t offset) {
    const size_t size = t->is_double ? sizeof(double) : sizeof(float);
    array a = {at_least_one((size_t)(offset + count) * size), NULL,
               (double *)at_least_one((size_t)count * sizeof(double)), count};
    a.numbers = (char *)a.block + (size_t)offset * size;
    return a;
}

static void drop_array(array *a) { free(a->block), free(a->exact); }

static double number_at(const trial *t, const void *numbers, ptrdiff_t i) {
    return t->is_double ? ((const double *)numbers)[i] : (double)((const float *)numbers)[i];
}

static void set_number(const trial *t, array *a, ptrdiff_t i, double value) {
    a->exact[i] = value;
    if (t->is_double) ((double *)a->numbers)[i] = value;
    else ((float *)a->numbers)[i] = (float)value;
}

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Integers -7..7 times 2^exponent, and `specials` of them infinite or NaN. */
static void fill(const trial *t, array *a, int exponent, int specials, uint32_t seed) {
    const double special[3] = {INFINITY, -INFINITY, NAN};
    for (ptrdiff_t i = 0; i < a->count; i++)
        set_number(t, a, i, ldexp((double)((int)(next_random(&seed) % 15) - 7), exponent));
    for (; specials > 0 && a->count > 0; specials--) {
        const ptrdiff_t i = (ptrdiff_t)(next_random(&seed) % (uint32_t)a->count);
        set_number(t, a, i, special[next_random(&seed) % 3]);
    }
}

static int is_all_finite(const array *a) {
    for (ptrdiff_t i = 0; i < a->count; i++)
        if (!isfinite(a->exact[i])) return 0;
    return 1;
}

/* ----------------------------------------------------------------------------------------- plain loops -- */

/* y, dx or dw by the index law, whichever is `result`; the two others are read. */
static void convolve(const conv_problem *p, double *x, double *w, double *y, double *result, ptrdiff_t count) {
    const ptrdiff_t ins = p->in_channels / p->groups, outs = p->out_channels / p->groups,
                    taps_of_plane = p->filter_rows * p->filter_cols;
    for (ptrdiff_t i = 0; i < count; i++) result[i] = 0;
    for (ptrdiff_t pixel = 0; pixel < count_pixels(p); pixel++)
        for (ptrdiff_t tap = 0; tap < count_taps(p); tap++) {
            const ptrdiff_t plane = pixel / p->out_cols / p->out_rows, n = plane / p->out_planes;
            const ptrdiff_t in_plane = plane % p->out_planes * p->stride_planes - p->pad_front
                                       + tap / taps_of_plane * p->dilation_planes;
            const ptrdiff_t in_row = pixel / p->out_cols % p->out_rows * p->stride_rows - p->pad_top
                                     + tap % taps_of_plane / p->filter_cols * p->dilation_rows;
            const ptrdiff_t in_col =
                pixel % p->out_cols * p->stride_cols - p->pad_left + tap % p->filter_cols * p->dilation_cols;
            if (in_plane < 0 || in_plane >= p->in_planes || in_row < 0 || in_row >= p->in_rows || in_col < 0
                || in_col >= p->in_cols)
                continue;
            double *xs =
                x + (((n * p->in_planes + in_plane) * p->in_rows + in_row) * p->in_cols + in_col) * p->in_channels;
            double *ys = y + pixel * p->out_channels, *ws = w + tap * ins * p->out_channels;
            for (ptrdiff_t i = 0; i < ins; i++)
                for (ptrdiff_t o = 0; o < p->out_channels; o++) {
                    const ptrdiff_t c = o / outs * ins + i;
                    if (result == y) ys[o] += xs[c] * ws[i * p->out_channels + o];
                    else if (result == x) xs[c] += ys[o] * ws[i * p->out_channels + o];
                    else ws[i * p->out_channels + o] += xs[c] * ys[o];
                }
        }
}

/* --------------------------------------------------------------------------------------------- one trial -- */

static void fail(const trial *t, const char *why) {
    const conv_problem *p = &t->p;
    fprintf(stderr,
            "%s\nkernel %d double %d isa %d threads %d packed %d (threads %d) bias %d relu %d offsets %td %td %td "
            "exponents %d %d specials %d %d seed %u\nbatch %td in %td %td %td %td out %td %td %td %td groups %td "
            "filter %td %td %td strides %td %td %td dilations %td %td %td pads %td %td %td\n",
            why, t->kernel, t->is_double, t->isa, t->threads, t->packed, t->pack_threads, t->has_bias, t->relu,
            t->offsets[0], t->offsets[1], t->offsets[2], t->exponents[0], t->exponents[1], t->specials[0],
            t->specials[1], t->seed, p->batch, p->in_planes, p->in_rows, p->in_cols, p->in_channels, p->out_planes,
            p->out_rows, p->out_cols, p->out_channels, p->groups, p->filter_planes, p->filter_rows, p->filter_cols,
            p->stride_planes, p->stride_rows, p->stride_cols, p->dilation_planes, p->dilation_rows,
            p->dilation_cols, p->pad_front, p->pad_top, p->pad_left);
    abort();
}

/* Exactly nbytes, from the start of a cache line on; NULL if there is no memory. */
#if defined(_WIN32)
#include <malloc.h>
static void *new_lines(size_t nbytes) { return _aligned_malloc(nbytes, 64); }
static void free_lines(void *block) { _aligned_free(block); }
#else
static void *new_lines(size_t nbytes) {
    void *block;
    return posix_memalign(&block, 64, nbytes) ? NULL : block;
}
static void free_lines(void *block) { free(block); }
#endif

/* Packs the filter if the trial says so; NULL if there is nothing to pack, or it is out of the rung's range. */
static void *pack_filter(const trial *t, const conv_rung *rung, const array *w) {
    if (!t->packed || !rung->packed_bytes) return NULL;
    const ptrdiff_t nbytes = rung->packed_bytes(&t->p);
    void *packed = nbytes > 0 ? new_lines((size_t)nbytes) : NULL;
    if (!packed) return NULL;
    const int status = rung->pack(&t->p, w->numbers, packed, t->pack_threads);
    if (status == CONV_OK && is_supported(t)) return packed;
    if (status != CONV_OUT_OF_RANGE && is_supported(t)) fail(t, "pack refused a problem that it solves");
    if (status != CONV_UNSUPPORTED && !is_supported(t)) fail(t, "pack took a problem that it does not solve");
    free_lines(packed);
    return NULL;
}

static int run(const trial *t, int threads, const array *first, const array *second, const array *bias,
               array *result) {
    const kernel_table *table = kernels_of(t->is_double);
    const size_t size = t->is_double ? sizeof(double) : sizeof(float);
    memset(result->numbers, 0xff, (size_t)result->count * size); /* NaN: a cell that is not written shows */
    const int algorithm = kernels[t->kernel].algorithm;
    if (is_of_filter(t->kernel))
        return table->filter_gradient[algorithm](&t->p, first->numbers, second->numbers, result->numbers, threads);
    const conv_rung *rung =
        is_scatter(t->kernel) ? &table->input_gradient[algorithm] : &table->forward[algorithm];
    void *packed = pack_filter(t, rung, second);
    const int status = rung->run(&t->p, first->numbers, second->numbers, packed,
                                 t->has_bias ? bias->numbers : NULL, t->relu, result->numbers, threads);
    free_lines(packed);
    return status;
}

/* A bound on the error of winograd4 for data as `fill` makes them, integers of at most 7: gamma_{PC+32} times the
   largest number that the transforms could make of them (truth/bounds.py), with up to 9 pieces of the filter, or the
   one of a 3x3. The rows of the matrices' absolute values sum up to 5.2, 2.5 (of a 3x3 1.5) and 7.4, and each
   matrix is applied twice; those of the transposed ones for the filter gradient, whose sums run over pixels, to 7.3
   for A and 4 (2.7) for G'. */
static double winograd4_error(const trial *t) {
    const conv_problem *p = &t->p;
    const int one = p->filter_rows == 3 && p->filter_cols == 3 && p->stride_rows == 1 && p->stride_cols == 1;
    const double depth = is_of_filter(t->kernel)
                             ? (double)count_pixels(p)
                             : (one ? 1.0 : 9.0) * p->filter_planes * larger(p->in_channels, p->out_channels),
                 u = t->is_double ? 0x1p-53 : 0x1p-24;
    const double largest = ldexp(7.0 * 7 * depth, t->exponents[0] + t->exponents[1]);
    const double last = is_of_filter(t->kernel) ? 7.3 * (one ? 2.7 : 4) : (one ? 1.5 : 2.5) * 7.4,
                 grown = 5.2 * 5.2 * last * last * largest;
    return 1.01 * (depth + 33) * u * grown + ldexp(1, t->is_double ? -1000 : -120);
}

/* Compare with the plain loops. A filter with infinity or NaN may make padding NaN, where padding is multiplied:
   the caller then sees that the result is not finite and takes the direct loops. */
static void check(const trial *t, const array *second, const array *bias, const array *result) {
    const double allowed = is_winograd4(t->kernel) ? winograd4_error(t) : 0;
    const int any_filter = is_of_filter(t->kernel) || is_depthwise(t->kernel);
    const int excused = !any_filter && !is_all_finite(second);
    int all_finite = 1;
    for (ptrdiff_t i = 0; i < result->count; i++)
        all_finite = all_finite && isfinite(number_at(t, result->numbers, i));
    if (excused && !all_finite) return;
    for (ptrdiff_t i = 0; i < result->count; i++) {
        double want = result->exact[i];
        if (!is_of_filter(t->kernel) && t->has_bias) want += bias->exact[i % bias->count];
        if (!is_of_filter(t->kernel) && t->relu) want = want < 0 ? 0 : want;
        const double got = number_at(t, result->numbers, i);
        if (got != want && !(isnan(got) && isnan(want)) && !(fabs(got - want) <= allowed)) {
            fprintf(stderr, "cell %td: %a, not %a\n", i, got, want);
            fail(t, "wrong number");
        }
    }
}

static void check_choices(const trial *t) {
    const choice by = {.lanes = kernels_of(t->is_double)->lanes,
                       .precision = t->relu + t->has_bias, /* STRICT, DEFAULT or FAST */
                       .planned = t->packed};
    const int chosen[] = {[FORWARD] = choose_forward(&t->p, &by),
                          [INPUT_GRADIENT] = choose_input_gradient(&t->p, &by),
                          [FILTER_GRADIENT] = choose_filter_gradient(&t->p, &by)};
    for (int kind = FORWARD; kind <= FILTER_GRADIENT; kind++) {
        trial with = *t;
        for (with.kernel = 0; with.kernel < KERNELS; with.kernel++)
            if (kernels[with.kernel].kind == kind && kernels[with.kernel].algorithm == chosen[kind]) break;
        if (with.kernel == KERNELS) fail(t, "an algorithm was chosen that has no such kernel");
        if (!is_supported(&with)) fail(&with, "a kernel was chosen that does not solve the problem");
    }
}

static void try_one(const trial *t) {
    const conv_problem *p = &t->p;
    if (!problem_fits(p) || problem_macs(p) > MOST_MACS) return;
    const ptrdiff_t xs = p->batch * in_image_numbers(p), ys = count_pixels(p) * p->out_channels,
                    ws = count_taps(p) * (p->in_channels / p->groups) * p->out_channels;
    if (larger(xs, larger(ys, ws)) > MOST_NUMBERS) return;
    const int of_filter = is_of_filter(t->kernel), scatters = is_scatter(t->kernel);
    teachconv_set_isa(t->isa);
    check_choices(t);
    array first = made_array(t, scatters ? ys : xs, t->offsets[0]);
    array second = made_array(t, of_filter ? ys : ws, t->offsets[1]);
    array result = made_array(t, of_filter ? ws : scatters ? xs : ys, t->offsets[2]);
    array bias = made_array(t, scatters ? p->in_channels : p->out_channels, 0);
    fill(t, &first, t->exponents[0], t->specials[0], t->seed);
    fill(t, &second, t->exponents[1], t->specials[1], t->seed + 1);
    fill(t, &bias, t->exponents[0] + t->exponents[1], 0, t->seed + 2);
    if (!!kernels_of(t->is_double)->all_finite(first.numbers, first.count) != is_all_finite(&first))
        fail(t, "all_finite is wrong");
    const int status = run(t, t->threads, &first, &second, &bias, &result);
    if (!is_supported(t)) {
        if (status != CONV_UNSUPPORTED) fail(t, "the kernel ran a problem that it does not solve");
    } else {
        if (status != CONV_OK) fail(t, "the kernel refused a problem that it solves");
        double *x = scatters ? result.exact : first.exact, *w = of_filter ? result.exact : second.exact,
               *y = of_filter ? second.exact : scatters ? first.exact : result.exact;
        convolve(p, x, w, y, result.exact, result.count);
        check(t, &second, &bias, &result);
        array alone = made_array(t, result.count, 0);
        run(t, 1, &first, &second, &bias, &alone);
        for (ptrdiff_t i = 0; i < result.count; i++) {
            const double a = number_at(t, alone.numbers, i), b = number_at(t, result.numbers, i);
            if (memcmp(&a, &b, sizeof a) != 0 && !(isnan(a) && isnan(b)))
                fail(t, "one thread gives other bits");
        }
        drop_array(&alone);
    }
    drop_array(&first), drop_array(&second), drop_array(&result), drop_array(&bias);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    byte_source from = {data, size};
    const trial t = decode(&from);
    keep_scratch(0); /* in a block from an earlier trial, memory beside the scratch or never written to is no fault */
    try_one(&t);
    return 0;
}

#if defined(FUZZ_STANDALONE)
/* Reads one input a line from standard input, in hexadecimal. */
int main(void) {
    static char line[8192];
    static uint8_t data[4096];
    long count = 0;
    while (fgets(line, sizeof line, stdin)) {
        size_t size = 0;
        unsigned byte;
        for (const char *at = line; size < sizeof data && sscanf(at, "%2x", &byte) == 1; at += 2)
            data[size++] = (uint8_t)byte;
        LLVMFuzzerTestOneInput(data, size);
        count++;
    }
    printf("%ld inputs: no fault, every number right\n", count);
    return 0;
}
#endif
