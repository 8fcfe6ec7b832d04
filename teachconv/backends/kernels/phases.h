/* phases: the input gradient (and the transposed convolution) as stride_rows * stride_cols small dense
   convolutions, of a volume stride_planes times as many.

     dx, stride 2:   A B A B       The same taps of the filter contribute to every A, others to every B, ...
                     C D C D       So A, B, C and D are four gathers over dy. row_gemm computes each of them
                     A B A B       and writes it to every second column of every second row.
                     C D C D

     for each phase: row_gemm with that phase's taps; packing swaps the filter's channel axes
                     (few pixels and a large filter: exchanged.h)
                     or winograd.h, if the rung is one of its names

   If the filter is as wide as the stride, the phases of a row are one (merge_columns in phase_axis.h).

   Gain over scattering: no zeros are inserted into dy, and every cell of dx is written once, so no sums are
   read back from memory.

   Order of summation in every cell: tap of its phase, from last to first; out_channel. Always the same bits.
   Non-finite data: dy may hold anything; the filter must be finite, as in row_gemm.
   Scratch as in row_gemm.

   The forward op is one gather, so this file has its rungs as well. */

/* ---- tile: 0, or the outputs of a tile of winograd.h along an axis, which takes the gathers that it can ---- */

/* Returns how many numbers of the packed filter belong to one gather; -1 if too many. */
INLINE ptrdiff_t gather_packed_numbers(int tile, const gather *g) {
    if (tile && winograd_can(&g->shape)) return winograd_filter_numbers(tile, g);
    return lay_out_panels(&g->shape).numbers;
}

INLINE int pack_gather(int tile, const gather *g, const real *w, real *packed, int threads) {
    if (tile && winograd_can(&g->shape))
        return range_is_safe(winograd_transform_filters(tile, g, w, packed, threads)) ? CONV_OK
                                                                                      : CONV_OUT_OF_RANGE;
    pack_filter(g, w, packed, threads);
    return CONV_OK;
}

/* Computes one gather, with exchanged operands if it is of few pixels and a large filter. */
INLINE int run_one_gather(int tile, const gather *g, const real *data, const real *w, const real *packed,
                          const real *bias, int relu, real *result, int threads) {
    const conv_problem *s = &g->shape;
    if (tile && winograd_can(s))
        return winograd_gather(tile, g, data, w, packed, bias, relu, result, threads);
    if (!packed && g->swapped && exchange_pays(s))
        return run_exchanged(g, data, w, bias, relu, result, useful_threads(problem_macs(s), threads));
    /* mark: kernel of row_gemm if whole_input padded_rows patches */
    return run_gather(g, data, w, packed, bias, relu, result, threads); /* mark: kernel of phases */
}

/* ---- scatters: whether the gathers are the phases of an input gradient, or the one of the forward op ---- */

INLINE int rung_can(int tile, int scatters, const conv_problem *p) {
    return tile == 0 || (scatters ? winograd_can_input(p) : winograd_can(p));
}

/* Returns the problem in the form in which a rung computes it. */
INLINE conv_problem rung_problem(int tile, int scatters, const conv_problem *p) {
    return tile == 0 && scatters ? merge_columns(p) : *p;
}

/* Runs the statement for each gather g, whose first output lies `offset` numbers into the result. */
#define EACH_GATHER(statement)                                                                                \
    for (ptrdiff_t plane = 0; plane < (scatters ? smaller(p->stride_planes, p->in_planes) : 1); plane++)      \
        for (ptrdiff_t row = 0; row < (scatters ? smaller(p->stride_rows, p->in_rows) : 1); row++)            \
            for (ptrdiff_t col = 0; col < (scatters ? smaller(p->stride_cols, p->in_cols) : 1); col++) {      \
                ptrdiff_t offset = 0;                                                                         \
                const gather g = scatters ? phase_gather(p, plane, row, col, &offset) : forward_gather(p);    \
                statement;                                                                                    \
            }

KERNEL ptrdiff_t rung_packed_bytes(int tile, int scatters, const conv_problem *problem) {
    const conv_problem form = rung_problem(tile, scatters, problem), *p = &form;
    ptrdiff_t numbers = 0;
    if (!rung_can(tile, scatters, p)) return 0;
    EACH_GATHER(numbers = checked_plus(numbers, gather_packed_numbers(tile, &g)))
    return checked_times(numbers, sizeof(real));
}

KERNEL int rung_pack(int tile, int scatters, const conv_problem *problem, const real *w, real *packed,
                     int threads) {
    const conv_problem form = rung_problem(tile, scatters, problem), *p = &form;
    int status = CONV_OK;
    if (!rung_can(tile, scatters, p)) return CONV_UNSUPPORTED;
    EACH_GATHER(status |= pack_gather(tile, &g, w, packed, threads);
                packed += gather_packed_numbers(tile, &g))
    return status;
}

KERNEL int rung_run(int tile, int scatters, const conv_problem *problem, const real *data, const real *w,
                    const real *packed, const real *bias, int relu, real *result, int threads) {
    const conv_problem form = rung_problem(tile, scatters, problem), *p = &form;
    const ptrdiff_t channels = problem->in_channels;
    real *repeated = NULL; /* the bias, if a pixel of the form is several of the problem */
    int status = CONV_OK;
    if (!rung_can(tile, scatters, p)) return CONV_UNSUPPORTED;
    if (bias && p->in_channels != channels) {
        repeated = (real *)new_scratch(p->in_channels * (ptrdiff_t)sizeof(real));
        if (!repeated) return CONV_NO_MEMORY;
        for (ptrdiff_t i = 0; i < p->in_channels; i++) repeated[i] = bias[i % channels];
        bias = repeated;
    }
    if (scatters) took(TOOK_PHASES);
    EACH_GATHER(status |= run_one_gather(tile, &g, data, w, packed, bias, relu, result + offset, threads);
                if (packed) packed += gather_packed_numbers(tile, &g))
    free_scratch(repeated);
    return status;
}
#undef EACH_GATHER

/* What the table of kernels calls, whose pointers have no type. */
#define RUNG(name, tile, scatters)                                                                    \
    KERNEL ptrdiff_t name##_packed_bytes(const conv_problem *p) {                                     \
        return rung_packed_bytes(tile, scatters, p);                                                  \
    }                                                                                                 \
    KERNEL int name##_pack(const conv_problem *p, const void *w, void *packed, int threads) {         \
        return rung_pack(tile, scatters, p, w, packed, threads);                                      \
    }                                                                                                 \
    KERNEL int name##_run(const conv_problem *p, const void *data, const void *w, const void *packed, \
                          const void *bias, int relu, void *result, int threads) {                    \
        return rung_run(tile, scatters, p, data, w, packed, bias, relu, result, threads);             \
    }
RUNG(row_gemm, 0, 0)
RUNG(phases, 0, 1)
RUNG(winograd, 2, 0)
RUNG(winograd_input, 2, 1)
RUNG(winograd4, 4, 0)
RUNG(winograd4_input, 4, 1)
#undef RUNG
