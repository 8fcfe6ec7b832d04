/* Compares two kernels on random calls of small multiples of a quarter, which sum exactly in any order, amid guard cells. */
#include "kernel.h"
#include <math.h>

typedef void Kernel(const T *, const T *, const T *, T *, const Conv *);

#define GUARD 512
#define ROOM (1 << 16)
static T first[ROOM], second[ROOM], bias[ROOM], results[2][ROOM];

static uint64_t state;
static ptrdiff_t below(ptrdiff_t n) { /* splitmix64 */
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (ptrdiff_t)((z ^ (z >> 31)) % (uint64_t)n);
}

/* One axis: sizes, stride, dilation and padding of either sign; 0 if there is no output. */
static int axis(ptrdiff_t *in, ptrdiff_t *out, ptrdiff_t *filter, ptrdiff_t *stride, ptrdiff_t *dilation,
                ptrdiff_t *before, ptrdiff_t *after, int transposed) {
    *in = 1 + below(below(4) ? 11 : 40), *filter = 1 + below(below(4) ? 4 : 8);
    *stride = 1 + below(below(2) ? 1 : 4), *dilation = 1 + below(below(2) ? 1 : 3);
    *before = below(2) ? 0 : below(8) - 3, *after = below(2) ? *before : below(8) - 3;
    ptrdiff_t room = *in + *before + *after - (*filter - 1) * *dilation - 1;
    if (room < 0) return 0;
    *out = room / *stride + 1;
    if (transposed && !below(4)) *in += below(3); /* output padding */
    return 1;
}

static int channels(void) { return 1 + below(below(3) ? 10 : below(3) ? 36 : 140); }

static void numbers(T *array, ptrdiff_t size, T unit) {
    for (ptrdiff_t at = 0; at < size + 2 * GUARD; at++) array[at] = NAN;
    for (ptrdiff_t at = 0; at < size; at++) array[GUARD + at] = unit * (T)(below(9) - 4);
}

/* Fill c with call number `seed`; 0 if there is no such call. */
int random_call(uint64_t seed, int transposed, Conv *c) {
    memset(c, 0, sizeof *c);
    state = seed * 0x2545f4914f6cdd1du + 1;
    c->batch = 1 + below(3);
    c->groups = below(3) ? 1 : 1 + below(5);
    ptrdiff_t depth = channels(), width = channels();
    if (c->groups > 1) depth = 1 + depth % 12, width = 1 + width % 12;
    c->in_channels = depth * c->groups, c->out_channels = width * c->groups;
    if (!axis(&c->in_rows, &c->out_rows, &c->filter_rows, &c->stride_rows, &c->dilation_rows, &c->pad_top,
              &c->pad_bottom, transposed)) return 0;
    if (!axis(&c->in_cols, &c->out_cols, &c->filter_cols, &c->stride_cols, &c->dilation_cols, &c->pad_left,
              &c->pad_right, transposed)) return 0;
    c->has_bias = below(2), c->relu = below(2), c->bias_step = 1;
    ptrdiff_t terms = c->filter_rows * c->filter_cols * (transposed ? width : depth);
    ptrdiff_t cells = transposed ? c->batch * c->in_rows * c->in_cols * c->in_channels
                                 : c->batch * c->out_rows * c->out_cols * c->out_channels;
    return terms * cells <= 40000 || (terms * cells <= 400000 && !below(20));
}

/* Return how many calls of `count` are compared before the first that differs; its integers are in c. */
ptrdiff_t compare(Kernel *right, Kernel *other, int transposed, ptrdiff_t count, Conv *c) {
    ptrdiff_t done = 0;
    for (uint64_t seed = 0; done < count; seed++) {
        if (!random_call(seed, transposed, c)) continue;
        ptrdiff_t in = c->batch * c->in_rows * c->in_cols * c->in_channels;
        ptrdiff_t out = c->batch * c->out_rows * c->out_cols * c->out_channels;
        ptrdiff_t filters = c->filter_rows * c->filter_cols * (c->in_channels / c->groups) * c->out_channels;
        if (in > ROOM - 2 * GUARD || out > ROOM - 2 * GUARD || filters > ROOM - 2 * GUARD) continue;
        numbers(first, transposed ? out : in, 0.25f);
        numbers(second, filters, 1);
        numbers(bias, c->in_channels + c->out_channels, 1);
        ptrdiff_t cells = (transposed ? in : out) + 2 * GUARD;
        memset(results[0], 0x55, cells * sizeof(T)), memset(results[1], 0x55, cells * sizeof(T));
        const T *given = c->has_bias ? bias + GUARD : NULL;
        right(first + GUARD, second + GUARD, given, results[0] + GUARD, c);
        other(first + GUARD, second + GUARD, given, results[1] + GUARD, c);
        for (ptrdiff_t at = 0; at < cells; at++) {
            T a = results[0][at], b = results[1][at];
            if (!(a == b || (a != a && b != b))) return done;
        }
        done++;
    }
    return done;
}
