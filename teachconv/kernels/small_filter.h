/* Rung of row_gemm for a packed filter so small that all of it stays in the second-level cache: the tiles are
   outside the panels, so that each pixel is read once.

     for each line of the block                                                                      loop 2
       for each tile of the line: its left rows stay in the first-level cache                        loop 1
         for each panel: all of k at once                                                            loop 4 */
#define SMALL_FILTER_BYTES (256 * 1024)

KERNEL void multiply_small_filter(const block_product *m) {
    const gather_layout *l = m->l;
    const pixel_block *block = m->block;
    const ptrdiff_t panels = m->g->shape.groups * l->panels_per_group,
                    tiles = divide_up(block->line_pixels, line_tile_height(l));
    for (ptrdiff_t line = 0; line < block->lines; line++) {
        ptrdiff_t first, past;
        visible_runs(m->g, l, block, line, &first, &past);
        const ptrdiff_t *y_starts = block->y_starts + line * block->line_pixels;
        for (ptrdiff_t tile = 0, pixel = 0; tile < tiles; tile++) {
            const ptrdiff_t pixels = divide_up(block->line_pixels - pixel, tiles - tile);
            for (ptrdiff_t index = 0; index < panels; index++) {
                const filter_panel panel = panel_at(l, index);
                const ptrdiff_t turn = index % l->panels_per_group;
                const real *a = block->a + line * block->line_step + pixel * l->pixel_step
                                + panel.group * (m->g->shape.in_channels / m->g->shape.groups);
                /* during the first panel, prefetch the next tile's inputs; during the others, the lines that
                   it will write */
                const real *next = turn == 0 ? a + pixels * l->pixel_step
                                             : m->y + y_starts[pixel] + pixels * m->g->y_col_step;
                const tile_ending ending = {.bias = m->feed->bias ? m->feed->bias + panel.y_column : NULL,
                                            .columns = panel.columns,
                                            .relu = m->feed->relu,
                                            .ahead = (const char *)next + larger(0, turn - 1) * l->depth * LINE_BYTES,
                                            .ahead_step = LINE_BYTES};
                const real *b = m->feed->packed + panel.start + first * l->run_length * panel.width;
                tile_table[pixels][panel.width > LANES](a, l->pixel_step, block->run_starts + first,
                                                        past - first, l->run_length, b, panel.width,
                                                        m->y + panel.y_column, y_starts + pixel, &ending);
            }
            pixel += pixels;
        }
    }
}
