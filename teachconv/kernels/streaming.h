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

KERNEL void multiply_streaming(const block_product *m, ptrdiff_t first_panel, ptrdiff_t past_panel) {
    const filter_feed *feed = m->feed;
    const ptrdiff_t row_numbers = m->g->shape.out_channels;
    k_piece k = first_piece(m->l, COPIED_BYTES);
    do {
        const real *w = feed->w + k.first_k * row_numbers, *next = w + k.rows * row_numbers;
        for (ptrdiff_t index = first_panel; index < past_panel; index++) {
            const filter_panel panel = panel_at(m->l, index);
            filter_piece piece = {w + panel.first_column, row_numbers, feed->piece,
                                  (const char *)(next + (index - first_panel) * k.rows * m->l->panel_columns),
                                  k.rows * panel.width * (ptrdiff_t)sizeof(real) / LINE_BYTES};
            if (panel.columns < m->l->panel_columns) {
                pack_panel(m->g, feed->w, 0, panel.first_column, panel.columns, panel.width, k.first_k,
                           k.first_k + k.rows, feed->piece);
                piece.b = feed->piece, piece.b_step = panel.width, piece.copy = NULL;
            }
            multiply_piece(m, &panel, &k, piece);
        }
    } while (next_piece(m->l, &k));
}
