/* Rung of row_gemm for a packed filter so small that all of it stays in the second-level cache: the tiles are
   outside the panels, so that each pixel is read once.

     for each line of the block                                                                      loop 2
       for each tile of the line: its left rows stay in the first-level cache                        loop 1
         for each panel: all of k at once                                                            loop 4 */
#define SMALL_FILTER_BYTES (256 * 1024)

KERNEL void multiply_small_filter(const gather_run *r, const pixel_block *block) {
    const gather_layout *l = &r->l;
    for (ptrdiff_t line = 0; line < block->lines; line++) {
        ptrdiff_t first, past;
        visible_runs(r->g, l, block, line, &first, &past);
        const ptrdiff_t *y_starts = block->y_starts + line * block->line_pixels;
        ptrdiff_t tiles = count_tiles(l, block->line_pixels);
        for (ptrdiff_t pixel = 0, pixels; tiles > 0; tiles--, pixel += pixels) {
            pixels = divide_up(block->line_pixels - pixel, tiles);
            for (ptrdiff_t index = 0; index < l->panels.count; index++) {
                const filter_panel panel = panel_at(&l->panels, index);
                const ptrdiff_t turn = index % l->panels.per_group;
                const real *a = block->a + line * l->line_step + pixel * l->pixel_step
                                + panel.group * l->panels.group_inputs;
                const real *b = r->packed + panel.start + first * l->run_length * panel.width;
                /* during the first panel, prefetch the next tile's inputs; during the others, the lines that it will
                   write */
                const real *next = turn == 0 ? a + pixels * l->pixel_step
                                             : r->y + y_starts[pixel] + pixels * r->g->y_col_step;
                const tile_ending ending = {.bias = r->bias ? r->bias + panel.y_column : NULL,
                                            .columns = panel.columns, .relu = r->relu,
                                            .ahead = (const char *)next + larger(0, turn - 1) * l->panels.depth * LINE_BYTES,
                                            .ahead_step = LINE_BYTES};
                tile_table[pixels][panel.width > LANES](a, l->pixel_step, block->run_starts + first, past - first,
                                                        l->run_length, b, panel.width, r->y + panel.y_column,
                                                        y_starts + pixel, &ending);
            }
        }
    }
}
