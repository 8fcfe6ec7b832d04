/* Packing copies the filter once, into the order in which the register tile reads it.

     w as the user has it: row k (tap, in_channel), columns = out_channels
         k=0   | panel 0 | panel 1 | rest |
         k=1   | panel 0 | panel 1 | rest |     packed: panel 0 of every k, then panel 1 of every k, ...
          ..   |         |         |      |

   A panel is 2 vectors wide; the last one may be 1 vector wide and is filled up with zeros. A tile reads a
   panel from front to back, in full cache lines, without jumps and so without TLB misses. For an input
   gradient, packing also swaps the two channel axes, by transposing LANES x LANES squares in registers. */

#if defined(TEACHCONV_VECTORS) && (defined(__clang__) || __GNUC__ >= 12)
#define HAVE_SHUFFLE 1
#else
#define HAVE_SHUFFLE 0
#endif

#if HAVE_SHUFFLE
/* Lane l of the two results of exchanging the squares of size d beside the diagonal. */
#define UPPER(n, d, l) ((l) & (d) ? (n) + (l) - (d) : (l))
#define LOWER(n, d, l) ((l) & (d) ? (n) + (l) : (l) + (d))
#define LANES_2(f, n, d) f(n, d, 0), f(n, d, 1)
#define LANES_4(f, n, d) LANES_2(f, n, d), f(n, d, 2), f(n, d, 3)
#define LANES_8(f, n, d) LANES_4(f, n, d), f(n, d, 4), f(n, d, 5), f(n, d, 6), f(n, d, 7)
#define LANES_16(f, n, d)                                                                         \
    LANES_8(f, n, d), f(n, d, 8), f(n, d, 9), f(n, d, 10), f(n, d, 11), f(n, d, 12), f(n, d, 13), \
        f(n, d, 14), f(n, d, 15)
#if REAL_IS_DOUBLE
#define LANES_LITERAL (VECTOR_BYTES / 8)
#else
#define LANES_LITERAL (VECTOR_BYTES / 4)
#endif
#if LANES_LITERAL == 16
#define EACH_LANE(f, d) LANES_16(f, 16, d)
#elif LANES_LITERAL == 8
#define EACH_LANE(f, d) LANES_8(f, 8, d)
#elif LANES_LITERAL == 4
#define EACH_LANE(f, d) LANES_4(f, 4, d)
#else
#define EACH_LANE(f, d) LANES_2(f, 2, d)
#endif
#define SHUFFLE_STEP(d)                                                                              \
    if (LANES > d) {                                                                                 \
        UNROLL(16)                                                                                   \
        for (int i = 0; i < LANES; i++)                                                              \
            if (!(i & d)) {                                                                          \
                const vec above = row[i], below = row[(i + d) % LANES];                              \
                row[i] = __builtin_shufflevector(above, below, EACH_LANE(UPPER, d % LANES_LITERAL)); \
                row[(i + d) % LANES] =                                                               \
                    __builtin_shufflevector(above, below, EACH_LANE(LOWER, d % LANES_LITERAL));      \
            }                                                                                        \
    }
#endif

/* to[k][j] = from[j][k] for a square of LANES x LANES, with zeros for j >= rows. */
INLINE void transpose_square(const real *from, ptrdiff_t from_step, ptrdiff_t rows, real *to,
                             ptrdiff_t to_step) {
#if HAVE_SHUFFLE
    vec row[LANES_LITERAL];
    UNROLL(16)
    for (int i = 0; i < LANES; i++) row[i] = i < rows ? load(from + i * from_step) : (vec){0};
    SHUFFLE_STEP(8)
    SHUFFLE_STEP(4)
    SHUFFLE_STEP(2)
    SHUFFLE_STEP(1)
    UNROLL(16)
    for (int i = 0; i < LANES; i++) store(to + i * to_step, row[i]);
#else
    for (ptrdiff_t k = 0; k < LANES; k++)
        for (ptrdiff_t j = 0; j < LANES; j++) to[k * to_step + j] = j < rows ? from[j * from_step + k] : 0;
#endif
}
#undef LANES_LITERAL

/* to[k][j] = from[j][k] for k < depth and j < columns, and zero for columns <= j < width. */
INLINE void transpose(const real *from, ptrdiff_t from_step, ptrdiff_t depth, ptrdiff_t columns, real *to,
                      ptrdiff_t width) {
    const ptrdiff_t whole_depth = depth / LANES * LANES;
    for (ptrdiff_t k = 0; k < whole_depth; k += LANES)
        for (ptrdiff_t j = 0; j < width; j += LANES) {
            for (ptrdiff_t i = 0; i < LANES; i++) PREFETCH(from + (j + i) * from_step + k + 4 * LANES, 3);
            transpose_square(from + j * from_step + k, from_step, smaller(LANES, columns - j), to + k * width + j,
                             width);
        }
    for (ptrdiff_t k = whole_depth; k < depth; k++)
        for (ptrdiff_t j = 0; j < width; j++) to[k * width + j] = j < columns ? from[j * from_step + k] : 0;
}

/* Packs rows first_k..past_k-1 of one panel, which begins at column first_column of the group. */
KERNEL void pack_panel(const gather *g, const real *w, ptrdiff_t group, ptrdiff_t first_column,
                       ptrdiff_t columns, ptrdiff_t width, ptrdiff_t first_k, ptrdiff_t past_k, real *to) {
    const conv_problem *s = &g->shape;
    const ptrdiff_t channels = s->in_channels / s->groups, group_columns = s->out_channels / s->groups;
    for (ptrdiff_t k = first_k; k < past_k;) {
        const ptrdiff_t tap = k / channels, channel = k % channels,
                        count = smaller(channels - channel, past_k - k);
        const ptrdiff_t stored = stored_tap(g, tap);
        if (g->swapped) {
            const real *from =
                w + (stored * group_columns + first_column) * s->in_channels + group * channels + channel;
            transpose(from, s->in_channels, count, columns, to, width);
        } else {
            const real *from = w + (stored * channels + channel) * s->out_channels + group * group_columns
                               + first_column;
            for (ptrdiff_t i = 0; i < count; i++, from += s->out_channels) {
                real *row = to + i * width;
                PREFETCH(from + 20 * s->out_channels, 3);
                PREFETCH(from + 20 * s->out_channels + LANES, 3);
                for (ptrdiff_t j = 0; j < width; j += LANES)
                    store(row + j, load_part(from + j, smaller(LANES, columns - j)));
            }
        }
        to += count * width;
        k += count;
    }
}

/* How the filter of a gather is cut into panels. */
typedef struct {
    ptrdiff_t depth;                       /* rows: multiply-adds per output cell, taps * in_channels / groups */
    ptrdiff_t group_inputs, group_columns; /* in_channels and out_channels of a group */
    ptrdiff_t per_group, count;            /* panels */
    ptrdiff_t numbers;                     /* of the packed filter; -1 if too many */
} panel_layout;

INLINE panel_layout lay_out_panels(const conv_problem *s) {
    panel_layout l = {.group_inputs = s->in_channels / s->groups, .group_columns = s->out_channels / s->groups};
    l.depth = count_taps(s) * l.group_inputs;
    l.per_group = divide_up(l.group_columns, 2 * LANES);
    l.count = s->groups * l.per_group;
    l.numbers = checked_times(checked_times(s->groups, l.depth), round_up(l.group_columns, LANES));
    return l;
}

/* One panel: at most 2 vectors of the out_channels of a group. */
typedef struct {
    ptrdiff_t group, first_column; /* within the group */
    ptrdiff_t y_column;            /* in y */
    ptrdiff_t columns, width;      /* those that exist; rounded up to vectors */
    ptrdiff_t start;               /* in the packed filter */
} filter_panel;

INLINE filter_panel panel_at(const panel_layout *l, ptrdiff_t index) {
    filter_panel p = {.group = index / l->per_group};
    p.first_column = index % l->per_group * 2 * LANES;
    p.y_column = p.group * l->group_columns + p.first_column;
    p.columns = smaller(2 * LANES, l->group_columns - p.first_column);
    p.width = p.columns > LANES ? 2 * LANES : LANES;
    p.start = l->depth * (p.group * round_up(l->group_columns, LANES) + p.first_column);
    return p;
}

/* What all threads of one pack_filter share. */
typedef struct {
    const gather *g;
    panel_layout panels;
    const real *w;
    real *packed;
} pack_call;

/* Packs one thread's panels. */
KERNEL int pack_panels(const void *call, const crew_member *me) {
    const pack_call *c = (const pack_call *)call;
    EACH_JOB(me, i, c->panels.count, {
        const filter_panel p = panel_at(&c->panels, i);
        pack_panel(c->g, c->w, p.group, p.first_column, p.columns, p.width, 0, c->panels.depth, c->packed + p.start);
    });
    return CONV_OK;
}

KERNEL void pack_filter(const gather *g, const real *w, real *packed, int threads) {
    const pack_call call = {g, lay_out_panels(&g->shape), w, packed};
    in_crew(useful_threads((double)call.panels.count * call.panels.depth * 2 * LANES, threads), pack_panels, &call);
}
