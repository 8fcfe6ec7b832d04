/* Rung of row_gemm for few pixels and a large filter, where reading w takes most of the time: w is read once,
   from front to back, some rows of all panels at a time, and not packed. The first tile of pixels reads a
   panel's rows in place and leaves a copy of them in the first-level cache for the other tiles.

     w  k = 0 | panel 0 | panel 1 | ...    the first tile multiplies panel 0 and copies it,
         ..   |         |         |        the others multiply the copy; then panel 1, ...
         127  |         |         |
         128  |         |         |        prefetched meanwhile, from front to back, a cache line per k

     for each piece of k: its rows of a panel, 16 KB, stay in the first-level cache                loop 3
       for each panel                                                                              loop 4
         for each line, for each tile                                                        loops 2 and 1 */
#define COPIED_BYTES (16 * 1024)

KERNEL void multiply_streaming(const gather_run *r, const pixel_block *block, ptrdiff_t first_panel,
                               ptrdiff_t past_panel) {
    const ptrdiff_t row_numbers = r->g->shape.out_channels;
    k_piece k = {0};
    for (ptrdiff_t i = 0; !k.last; i++) {
        k = piece_at(&r->l, COPIED_BYTES, i);
        const real *w = r->w + k.first_k * row_numbers, *next = w + k.rows * row_numbers;
        for (ptrdiff_t index = first_panel; index < past_panel; index++) {
            const filter_panel panel = panel_at(&r->l.panels, index);
            filter_piece piece = {w + panel.first_column, row_numbers, block->piece,
                                  (const char *)(next + (index - first_panel) * k.rows * 2 * LANES),
                                  k.rows * panel.width * (ptrdiff_t)sizeof(real) / LINE_BYTES};
            if (panel.columns < 2 * LANES) {
                pack_piece(r, block, &panel, &k);
                piece.b = block->piece, piece.b_step = panel.width, piece.copy = NULL;
            }
            multiply_piece(r, block, &panel, &k, piece);
        }
    }
}
