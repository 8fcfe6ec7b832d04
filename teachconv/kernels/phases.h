/* phases: the input gradient (and the transposed convolution) as stride_rows * stride_cols small dense
   convolutions.

     dx, stride 2:   A B A B       The same taps of the filter contribute to every A, others to every B, ...
                     C D C D       So A, B, C and D are four gathers over dy. row_gemm computes each of them
                     A B A B       and writes it to every second column of every second row.
                     C D C D

     for each phase: row_gemm with that phase's taps; packing swaps the filter's channel axes
                     (few pixels and a large filter: exchanged.h)

   Gain over scattering: no zeros are inserted into dy, and every cell of dx is written once, so no sums are
   read back from memory.

   Order of summation in every cell: tap of its phase, from last to first; out_channel. Always the same bits.
   Non-finite data: dy may hold anything; the filter must be finite, as in row_gemm.
   Scratch as in row_gemm. */

/* Computes one phase, with exchanged operands if there are few pixels and the filter is large. */
INLINE int run_phase(const gather *g, const real *dy, const real *w, const real *packed, const real *bias,
                     int relu, real *dx, int threads) {
    const conv_problem *s = &g->shape;
    if (!packed && exchange_pays(s))
        return run_exchanged(g, dy, w, bias, relu, dx, useful_threads(problem_macs(s), threads));
    return run_gather(g, dy, w, packed, bias, relu, dx, threads);
}

KERNEL ptrdiff_t phases_packed_bytes(const conv_problem *p) {
    /* every tap belongs to at most one phase, and all phases round their columns up in the same way */
    const ptrdiff_t columns = divide_up(p->in_channels / p->groups, LANES) * LANES;
    return checked_times(
        checked_times(p->filter_rows * p->filter_cols, checked_times(p->out_channels, columns)),
        sizeof(real));
}

INLINE void phase_layout(const gather *g, gather_layout *l) {
    const conv_problem *s = &g->shape;
    l->depth = s->filter_rows * s->filter_cols * (s->in_channels / s->groups);
    l->group_columns = s->out_channels / s->groups;
    l->panel_columns = 2 * LANES;
    l->panels_per_group = divide_up(l->group_columns, l->panel_columns);
}

KERNEL int phases_pack(const conv_problem *p, const real *w, real *packed, int threads) {
    for (ptrdiff_t row = 0; row < smaller(p->stride_rows, p->in_rows); row++)
        for (ptrdiff_t col = 0; col < smaller(p->stride_cols, p->in_cols); col++) {
            ptrdiff_t offset;
            const gather g = phase_gather(p, row, col, &offset);
            gather_layout l = {0};
            phase_layout(&g, &l);
            pack_filter(&g, &l, w, packed, threads);
            packed += packed_filter_numbers(&g, &l, LANES);
        }
    return CONV_OK;
}

KERNEL int phases_run(const conv_problem *p, const real *dy, const real *w, const real *packed,
                      const real *bias, int relu, real *dx, int threads) {
    int status = CONV_OK;
    took(TOOK_PHASES);
    for (ptrdiff_t row = 0; row < smaller(p->stride_rows, p->in_rows); row++)
        for (ptrdiff_t col = 0; col < smaller(p->stride_cols, p->in_cols); col++) {
            ptrdiff_t offset;
            const gather g = phase_gather(p, row, col, &offset);
            gather_layout l = {0};
            phase_layout(&g, &l);
            /* mark: kernel of phases */
            status |= run_phase(&g, dy, w, packed, bias, relu, dx + offset, threads);
            if (packed) packed += packed_filter_numbers(&g, &l, LANES);
        }
    return status;
}
