/* winograd: a convolution with few multiplications, by tiles of outputs. A filter is cut into pieces of up to
   three taps (winograd_pieces.h), and each piece computes the tile by F(2, r) along each axis, or by F(4, r)
   (winograd_matrices.h). The stages are in winograd_stages.h.

     tile x tile outputs y of a piece g of the filter, from n x m inputs d, one for each of its elements:

         y = A' [ (G g G') * (B' d B) ] A                                   (* element by element)

     A' is the same for all pieces. Summed over them and over in_channels, each element is a matrix product:

                 in_channels of each piece           out_channels
        tiles  [    V        |    V    | .. ]  x  [ U of a piece ]         The sums M of a tile are 16 for a 3x3
                                                  [ U of another ]         and for a 5x5; V and U have a slot for
                                                  [      ..      ]         each product in them: 16 and 49.

     for each block of tiles                         (V of a block stays in the second-level cache)
       winograd_inputs: d to V                       (and check the range of d while it is in registers)
       for each panel of 2 vectors of out_channels   (winograd_filter: g to U; its U fits the second level)
         for each round of tiles
           for each element                          (U of an element and panel: in the first-level cache)
             for each group of up to 14 tiles:  register_tile.h: M, a run for each piece
           outputs: M to y                           (M of a round stays in the caches until it is used here)

   A volume has more pieces: the planes of its filter. V of a plane of x is computed once and serves all of them,
   plane of outputs by plane of outputs, as long as one reads it:

     for each block of tiles
       for each plane of outputs
         winograd_inputs of the planes of x that it is the first to read; each replaces one read no more
         for each panel: as above, with a run for each plane of the filter and each piece

   winograd2 is the name of this for 3x3 at stride 1, winograd4 the one for tiles of 4 x 4.

   Order of summation in every cell: plane of the filter, piece, in_channel, then A' M A. It does not depend on
   block, round, group, panel or thread, so the bits are always the same.
   Non-finite, huge or tiny data: if an image has a number of 2^50 (float64: 2^450) or more, or only numbers
   below 2^-50 (2^-450) that are not all zero, row_gemm computes it again; if the filter does, row_gemm
   computes every image again. The filter must be finite, as in row_gemm.
   Scratch: V of one block, M of one round and one panel of U; V of one tile, and of all the planes that its
   filter reads, at least. */

#include "winograd_stages.h"

/* What all threads of one winograd_transform_filters share. */
typedef struct {
    const gather *g;
    const winograd_layout *l;
    const real *w;
    real *u;
} winograd_filter_call;

/* Transforms one thread's panels of the filter. Returns its range flags. */
KERNEL int winograd_filter_panels(const void *call, const crew_member *me) {
    const winograd_filter_call *c = (const winograd_filter_call *)call;
    int flags = 0;
    EACH_JOB(me, panel, c->l->panels,
             flags |= winograd_filter(c->g, c->l, c->w, panel, c->u + c->l->panel_numbers * panel));
    return flags;
}

KERNEL int winograd_transform_filters(int tile, const gather *g, const real *w, real *u, int threads) {
    const winograd_layout l = winograd_lay_out(tile, g, 1, threads);
    const winograd_filter_call call = {g, &l, w, u};
    threads = useful_threads((double)l.depth * l.planes * g->shape.out_channels * 2 * l.slots, threads);
    return in_crew(threads, winograd_filter_panels, &call);
}

/* The numbers of U; -1 if there are too many. */
INLINE ptrdiff_t winograd_filter_numbers(int tile, const gather *g) {
    const winograd_layout l = winograd_lay_out(tile, g, 1, 1);
    return checked_times(l.panel_numbers, l.panels);
}

/* What all threads of one winograd_try share. u: the transformed filter, or NULL. */
typedef struct {
    const gather *g;
    const winograd_layout *l;
    const real *x, *w, *u, *bias;
    int relu;
    real *y;
    int *image_flags;
    ptrdiff_t shares; /* threads share the blocks; if these are few, they share each block's panels too */
} winograd_call;

enum { WINOGRAD_NO_MEMORY = 1 << 8 }; /* beside the flags of ranges.h */

/* Transforms the inputs of one block and multiplies them by one share of the panels. v, m, panel_u, starts: see
   winograd_blocks. Returns the range flags of the filter. */
KERNEL int winograd_block(const winograd_call *c, ptrdiff_t job, real *v, real *m, real *panel_u, ptrdiff_t *starts) {
    const winograd_layout *l = c->l;
    const conv_problem *s = &c->g->shape;
    const ptrdiff_t share = job % c->shares, first = job / c->shares * l->block_tiles,
                    past = smaller(l->tiles, first + l->block_tiles);
    winograd_depth taps = {.starts = starts};
    ptrdiff_t next = 0; /* the first plane of x that is not transformed yet */
    int flags = 0;
    for (ptrdiff_t out_plane = 0; out_plane < s->out_planes; out_plane++) {
        ptrdiff_t past_tap;
        const ptrdiff_t first_plane = planes_inside(s, out_plane, &taps.first, &past_tap);
        taps.count = past_tap - taps.first;
        for (next = larger(next, first_plane + taps.first); next < first_plane + past_tap; next++)
            winograd_inputs(c->g, l, c->x + next * in_plane_numbers(s), first, past,
                            v + next % l->planes * l->plane_step, c->image_flags);
        winograd_list_runs(l, first_plane, &taps);
        for (ptrdiff_t panel = l->panels * share / c->shares; panel < l->panels * (share + 1) / c->shares;
             panel++) {
            if (!c->u) flags |= winograd_filter(c->g, l, c->w, panel, panel_u); /* there is one plane only */
            winograd_multiply(c->g, l, &taps, v, c->u ? c->u + l->panel_numbers * panel : panel_u, panel, first,
                              past, c->bias, c->relu, m, c->y + out_plane * c->g->y_plane_step);
        }
    }
    return flags;
}

/* Computes one thread's blocks, with scratch of its own: V, M, one panel of U and the table of runs. */
KERNEL int winograd_blocks(const void *call, const crew_member *me) {
    const winograd_call *c = (const winograd_call *)call;
    const winograd_layout *l = c->l;
    const ptrdiff_t v_numbers = l->slots * l->slot_step,
                    m_numbers = l->elements * l->round_tiles * 2 * LANES;
    ptrdiff_t *starts =
        (ptrdiff_t *)new_scratch((v_numbers + m_numbers + (c->u ? 0 : l->panel_numbers)) * (ptrdiff_t)sizeof(real)
                                 + winograd_table_bytes(l));
    if (!starts) return WINOGRAD_NO_MEMORY;
    int flags = 0;
    real *v = (real *)((char *)starts + winograd_table_bytes(l)), *m = v + v_numbers, *panel_u = m + m_numbers;
    EACH_JOB_TAKEN(me, 1, job, l->blocks * c->shares, flags |= winograd_block(c, job, v, m, panel_u, starts));
    free_scratch(starts);
    return flags;
}

/* Transforms and multiplies. The range flags of each image and of the filter tell the caller which images
   must be computed again. */
KERNEL int winograd_try(int tile, const gather *g, const real *x, const real *w, const real *u,
                        const real *bias, int relu, real *y, int threads, int *image_flags,
                        int *filter_flags) {
    const winograd_layout l = winograd_lay_out(tile, g, u != NULL, threads);
    real *own_u = NULL;
    int flags_of_u = 0;
    if (l.once && !u) {
        own_u = (real *)new_scratch(checked_times(winograd_filter_numbers(tile, g), sizeof(real)));
        if (!own_u) return CONV_NO_MEMORY;
        flags_of_u = winograd_transform_filters(tile, g, w, own_u, threads);
        u = own_u;
    }
    const winograd_call call = {.g = g, .l = &l, .x = x, .w = w, .u = u, .bias = bias, .relu = relu, .y = y,
                                .image_flags = image_flags,
                                .shares = threads > 1 && l.blocks < threads ? smaller(l.panels, threads) : 1};
    const int flags = in_crew(threads, winograd_blocks, &call);
    free_scratch(own_u);
    *filter_flags = flags | flags_of_u;
    return flags & WINOGRAD_NO_MEMORY ? CONV_NO_MEMORY : CONV_OK;
}

/* Writes the cells whose windows lie in the padding: the bias alone. With F(4, r) the other cells of their tiles
   leave rounding errors there. */
KERNEL void winograd_padding_only(const gather *g, const real *bias, int relu, real *y) {
    const conv_problem *s = &g->shape;
    ptrdiff_t first_row, past_row, first_col, past_col;
    /* the last tap of the first of them, and the first tap of the last, lie inside */
    const ptrdiff_t down = s->filter_rows - 1, right = s->filter_cols - 1;
    indices_inside(s->out_rows, s->stride_rows, down - s->pad_top, s->in_rows + down, &first_row, &past_row);
    indices_inside(s->out_cols, s->stride_cols, right - s->pad_left, s->in_cols + right, &first_col, &past_col);
    if (past_row - first_row == s->out_rows && past_col - first_col == s->out_cols) return;
    for (ptrdiff_t i = 0; i < count_pixels(s); i++) {
        const ptrdiff_t row = i / s->out_cols % s->out_rows, col = i % s->out_cols;
        if (row >= first_row && row < past_row && col >= first_col && col < past_col) continue;
        real *cell = y + y_start(g, i);
        for (ptrdiff_t o = 0; o < s->out_channels; o++)
            cell[o] = !bias || (relu && bias[o] < 0) ? 0 : bias[o] + 0;
    }
}

/* Computes the gather g, which is a whole problem or a phase of its input gradient; row_gemm computes again
   what is out of range. */
KERNEL int winograd_gather(int tile, const gather *g, const real *x, const real *w, const real *u,
                           const real *bias, int relu, real *y, int threads) {
    const conv_problem *s = &g->shape;
    if (count_pixels(s) == 0 || s->out_channels == 0) return CONV_OK;
    threads = useful_threads(problem_macs(s) / tile, threads);
    int filter_flags = 0, *image_flags = (int *)calloc((size_t)s->batch, sizeof(int));
    /* mark: kernel of winograd/y winograd/dx winograd2 winograd4/y winograd4/dx */
    int status = image_flags ? winograd_try(tile, g, x, w, u, bias, relu, y, threads, image_flags, &filter_flags)
                             : CONV_NO_MEMORY;
    if (!status && tile == 4) winograd_padding_only(g, bias, relu, y);
    gather one_image = *g;
    one_image.shape.batch = 1;
    for (ptrdiff_t image = 0; !status && image < s->batch; image++)
        if (!range_is_safe(filter_flags) || !range_is_safe(image_flags[image])) {
            took(TOOK_REDO); /* mark: fallback of winograd/y winograd/dx winograd2 winograd4/y winograd4/dx if redo by row_gemm */
            status = w ? run_gather(&one_image, x + image * in_image_numbers(s), w, NULL,
                                    bias, relu, y + image * g->y_image_step, threads)
                       : CONV_OUT_OF_RANGE;
        }
    free(image_flags);
    return status;
}
