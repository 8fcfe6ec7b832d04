/* phases: the input gradient (and the transposed convolution) as stride_rows * stride_cols small dense
   convolutions.

     dx, stride 2:   A B A B       The same taps of the filter contribute to every A, others to every B, ...
                     C D C D       So A, B, C and D are four gathers over dy. row_gemm computes each of them
                     A B A B       and writes it to every second column of every second row.
                     C D C D

     for each phase: row_gemm with that phase's taps; packing swaps the filter's channel axes
                     (few pixels and a large filter: exchanged.h)
                     or winograd.h, if the rung is one of its names

   Gain over scattering: no zeros are inserted into dy, and every cell of dx is written once, so no sums are
   read back from memory.

   Order of summation in every cell: tap of its phase, from last to first; out_channel. Always the same bits.
   Non-finite data: dy may hold anything; the filter must be finite, as in row_gemm.
   Scratch as in row_gemm. */

INLINE void phase_layout(const gather *g, gather_layout *l) {
    const conv_problem *s = &g->shape;
    l->depth = s->filter_rows * s->filter_cols * (s->in_channels / s->groups);
    l->group_columns = s->out_channels / s->groups;
    l->panel_columns = 2 * LANES;
    l->panels_per_group = divide_up(l->group_columns, l->panel_columns);
}

/* ---- tile: 0, or the outputs of a tile of winograd.h along an axis, which takes the phases that it can ---- */

/* Returns how many numbers of the packed filter belong to one phase; -1 if too many. */
INLINE ptrdiff_t phase_packed_numbers(int tile, const gather *g) {
    gather_layout l = {0};
    if (winograd_can(tile, &g->shape)) return winograd_filter_numbers(tile, g);
    phase_layout(g, &l);
    return packed_filter_numbers(g, &l, LANES);
}

INLINE int pack_phase(int tile, const gather *g, const real *w, real *packed, int threads) {
    if (winograd_can(tile, &g->shape))
        return range_is_safe(winograd_transform_filters(tile, g, w, packed, threads)) ? CONV_OK
                                                                                      : CONV_OUT_OF_RANGE;
    gather_layout l = {0};
    phase_layout(g, &l);
    pack_filter(g, &l, w, packed, threads);
    return CONV_OK;
}

/* Computes one phase, with exchanged operands if there are few pixels and the filter is large. */
INLINE int run_phase(int tile, const gather *g, const real *dy, const real *w, const real *packed,
                     const real *bias, int relu, real *dx, int threads) {
    const conv_problem *s = &g->shape;
    /* mark: kernel of winograd/dx winograd2/dx winograd4/dx */
    if (winograd_can(tile, s)) return winograd_gather(tile, g, dy, w, packed, bias, relu, dx, threads);
    if (!packed && exchange_pays(s))
        return run_exchanged(g, dy, w, bias, relu, dx, useful_threads(problem_macs(s), threads));
    return run_gather(g, dy, w, packed, bias, relu, dx, threads);
}

#define EACH_PHASE(p, row, col)                                                   \
    for (ptrdiff_t row = 0; row < smaller((p)->stride_rows, (p)->in_rows); row++) \
        for (ptrdiff_t col = 0; col < smaller((p)->stride_cols, (p)->in_cols); col++)

KERNEL ptrdiff_t phases_packed_bytes_by(int tile, const conv_problem *p) {
    ptrdiff_t numbers = 0, offset;
    if (tile && !winograd_can_input(tile, p)) return 0;
    EACH_PHASE(p, row, col) {
        const gather g = phase_gather(p, row, col, &offset);
        numbers = checked_plus(numbers, phase_packed_numbers(tile, &g));
    }
    return checked_times(numbers, sizeof(real));
}

KERNEL int phases_pack_by(int tile, const conv_problem *p, const real *w, real *packed, int threads) {
    ptrdiff_t offset;
    int status = CONV_OK;
    if (tile && !winograd_can_input(tile, p)) return CONV_UNSUPPORTED;
    EACH_PHASE(p, row, col) {
        const gather g = phase_gather(p, row, col, &offset);
        status |= pack_phase(tile, &g, w, packed, threads);
        packed += phase_packed_numbers(tile, &g);
    }
    return status;
}

KERNEL int phases_run_by(int tile, const conv_problem *p, const real *dy, const real *w, const real *packed,
                         const real *bias, int relu, real *dx, int threads) {
    ptrdiff_t offset;
    int status = CONV_OK;
    if (tile && !winograd_can_input(tile, p)) return CONV_UNSUPPORTED;
    took(TOOK_PHASES);
    EACH_PHASE(p, row, col) {
        const gather g = phase_gather(p, row, col, &offset);
        /* mark: kernel of phases */
        status |= run_phase(tile, &g, dy, w, packed, bias, relu, dx + offset, threads);
        if (packed) packed += phase_packed_numbers(tile, &g);
    }
    return status;
}

/* ---- the rungs of winograd.h and of this file ---- */

#define RUNG(name, by, tile)                                                                              \
    KERNEL ptrdiff_t name##_packed_bytes(const conv_problem *p) { return by##_packed_bytes_by(tile, p); } \
    KERNEL int name##_pack(const conv_problem *p, const real *w, real *packed, int threads) {             \
        return by##_pack_by(tile, p, w, packed, threads);                                                 \
    }                                                                                                     \
    KERNEL int name##_run(const conv_problem *p, const real *data, const real *w, const real *packed,     \
                          const real *bias, int relu, real *result, int threads) {                        \
        return by##_run_by(tile, p, data, w, packed, bias, relu, result, threads);                        \
    }
RUNG(winograd, winograd, 2)
RUNG(winograd4, winograd, 4)
RUNG(phases, phases, 0)
RUNG(winograd_input, phases, 2)
RUNG(winograd4_input, phases, 4)
#undef RUNG
