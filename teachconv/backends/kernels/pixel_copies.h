/* The copies of one block's operands for pixel_gemm. pixel_layout.h says when a copy pays. */

/* Finds row `line` of those that are copied, counted through images and planes: sets where it begins in the
   operand, of which a row has `from` numbers, and in the copy. Returns whether it lies inside the image. */
INLINE int copied_row(const pixel_layout *l, const pixel_part *part, int of_x, ptrdiff_t line, ptrdiff_t *from,
                      ptrdiff_t *to) {
    const ptrdiff_t *step = of_x ? l->x_step : l->dy_step;
    ptrdiff_t numbers = *from;
    int inside = 1;
    *from = *to = 0;
    for (int i = ROWS; i >= 0; i--) {
        const pixel_axis *a = &l->axis[i];
        const ptrdiff_t count = of_x ? part[i].cells : part[i].count, cell = line % count,
                        at = of_x ? part[i].first_in + cell * a->every : part[i].first + cell,
                        size = of_x ? a->in : a->out;
        inside &= at >= 0 && at < size;
        *from += at * numbers, *to += cell * step[i];
        numbers *= size, line /= count;
    }
    return inside;
}

/* Copies one row of x into tiles [group][tile][image][plane][row][col][X_TILE] or, if merged, into a padded row.
   A pixel of a tile is copied in whole vectors; what lies beyond its tile_rows is never used. */
KERNEL void copy_x_row(const conv_problem *p, const pixel_layout *l, const pixel_part *part, const real *x,
                       ptrdiff_t line, real *to) {
    const pixel_part *cols = &part[COLS];
    const ptrdiff_t every = l->axis[COLS].every, numbers = p->in_channels;
    ptrdiff_t row = p->in_cols * numbers, start, first, past;
    const int inside = copied_row(l, part, 1, line, &row, &start);
    to += start;
    indices_inside(inside ? cols->cells : 0, every, cols->first_in, p->in_cols, &first, &past);
    const real *from = x, *end = x + p->batch * in_image_numbers(p); /* nothing may be read beyond */
    if (first < past) from += row + (cols->first_in + first * every) * numbers;
    if (l->merged) {
        /* mark: padding of pixel_gemm if merged */
        memset(to, 0, sizeof(real) * (size_t)(first * numbers));
        memcpy(to + first * numbers, from, sizeof(real) * (size_t)((past - first) * numbers));
        memset(to + past * numbers, 0, sizeof(real) * (size_t)((cols->cells - past) * numbers));
        return;
    }
    /* pixel by pixel, so that x is read from front to back, even if that writes to many tiles in turn */
    to += first * X_TILE;
    for (ptrdiff_t col = first; col < past; col++, from += every * numbers, to += X_TILE)
        for (ptrdiff_t tile = 0; tile < p->groups * l->tiles; tile++) {
            const real *a = from + tile / l->tiles * (numbers / p->groups) + tile % l->tiles * l->tile_rows;
            real *pixel = to + tile * l->x_tile;
            for (ptrdiff_t i = 0; i < X_TILE; i += LANES)
                store(pixel + i, a + i + LANES <= end ? load(a + i) : load_part(a + i, end - a - i));
        }
}

/* Copies one row of dy into panels [group][panel][image][plane][row][col][2 vectors], with zeros beyond the
   columns. */
KERNEL void copy_dy_row(const conv_problem *p, const pixel_layout *l, const pixel_part *part, const real *dy,
                        ptrdiff_t line, real *to) {
    ptrdiff_t row = p->out_cols * p->out_channels, start;
    copied_row(l, part, 0, line, &row, &start);
    const real *from = dy + row + part[COLS].first * p->out_channels;
    to += start;
    for (ptrdiff_t col = 0; col < part[COLS].count; col++, from += p->out_channels, to += 2 * LANES)
        for (ptrdiff_t panel = 0; panel < p->groups * l->panels; panel++) {
            const ptrdiff_t first = panel % l->panels * 2 * LANES, columns = smaller(2 * LANES, l->columns - first);
            const real *b = from + panel / l->panels * l->columns + first;
            real *pixel = to + panel * l->dy_panel;
            if (columns == 2 * LANES) {
                store(pixel, load(b));
                store(pixel + LANES, load(b + LANES));
            } else {
                for (ptrdiff_t j = 0; j < 2 * LANES; j++) pixel[j] = j < columns ? b[j] : 0;
            }
        }
}
