/* The operands of pixel_gemm: the copies of one block, and where a tile reads them. pixel_layout.h says when
   a copy pays. */

/* Copies one row of x into tiles [group][tile][image][row][col][X_TILE] or, if merged, into a padded row. A
   pixel of a tile is copied in whole vectors; what lies beyond its tile_rows is never used. */
KERNEL void copy_x_row(const conv_problem *p, const pixel_layout *l, const pixel_range *r, const real *x,
                       ptrdiff_t image, ptrdiff_t row, real *to) {
    const ptrdiff_t in_row =
        l->one_tap ? (r->first_row + row) * p->stride_rows - p->pad_top : r->first_in_row + row;
    /* copied col c is input col c * step + start */
    const ptrdiff_t step = l->one_tap ? p->stride_cols : 1,
                    start = l->one_tap || l->merged ? -p->pad_left : 0;
    ptrdiff_t first, past;
    indices_inside(l->x_cols, step, start, p->in_cols, &first, &past);
    const int inside = in_row >= 0 && in_row < p->in_rows;
    if (!inside && !l->merged) return; /* no tile reads such rows */
    if (!inside) first = past = 0;
    const real *from =
        x + ((r->first_image + image) * p->in_rows + (inside ? in_row : 0)) * p->in_cols * p->in_channels;
    /* nothing may be read beyond this */
    const real *end = x + p->batch * p->in_rows * p->in_cols * p->in_channels;
    if (l->merged) {
        to += (image * r->copied_rows + row) * l->x_cols * p->in_channels;
        /* mark: padding of pixel_gemm if merged */
        memset(to, 0, sizeof(real) * (size_t)(first * p->in_channels));
        if (first < past)
            memcpy(to + first * p->in_channels, from + (first + start) * p->in_channels,
                   sizeof(real) * (size_t)((past - first) * p->in_channels));
        memset(to + past * p->in_channels, 0, sizeof(real) * (size_t)((l->x_cols - past) * p->in_channels));
        return;
    }
    /* pixel by pixel, so that x is read from front to back, even if that writes to many tiles in turn */
    const ptrdiff_t channels = p->in_channels / p->groups;
    const ptrdiff_t tile_numbers = r->images * r->copied_rows * l->x_cols * X_TILE;
    if (first < past) from += (first * step + start) * p->in_channels;
    to += ((image * r->copied_rows + row) * l->x_cols + first) * X_TILE;
    for (ptrdiff_t col = first; col < past; col++, from += step * p->in_channels, to += X_TILE)
        for (ptrdiff_t tile = 0; tile < p->groups * l->tiles; tile++) {
            const real *a = from + tile / l->tiles * channels + tile % l->tiles * l->tile_rows;
            real *pixel = to + tile * tile_numbers;
            for (ptrdiff_t i = 0; i < X_TILE; i += LANES)
                store(pixel + i, a + i + LANES <= end ? load(a + i) : load_part(a + i, end - a - i));
        }
}

/* Copies one row of dy into panels [group][panel][image][row][col][2 vectors], with zeros beyond the
   columns. */
KERNEL void copy_dy_row(const conv_problem *p, const pixel_layout *l, const pixel_range *r, const real *dy,
                        ptrdiff_t image, ptrdiff_t row, real *to) {
    const ptrdiff_t dy_row = (r->first_image + image) * p->out_rows + r->first_row + row;
    const real *from = dy + (dy_row * p->out_cols + r->first_col) * p->out_channels;
    const ptrdiff_t panel_numbers = r->images * r->rows * r->cols * 2 * LANES;
    to += (image * r->rows + row) * r->cols * 2 * LANES;
    for (ptrdiff_t col = 0; col < r->cols; col++, from += p->out_channels, to += 2 * LANES)
        for (ptrdiff_t group = 0; group < p->groups; group++)
            for (ptrdiff_t panel = 0; panel < l->panels; panel++) {
                const ptrdiff_t columns = smaller(2 * LANES, l->columns - panel * 2 * LANES);
                const real *b = from + group * l->columns + panel * 2 * LANES;
                real *pixel = to + (group * l->panels + panel) * panel_numbers;
                if (columns == 2 * LANES) {
                    store(pixel, load(b));
                    store(pixel + LANES, load(b + LANES));
                } else {
                    for (ptrdiff_t j = 0; j < 2 * LANES; j++) pixel[j] = j < columns ? b[j] : 0;
                }
            }
}

/* Where a tile reads an operand, and the steps from there to the next pixel, line and image. */
typedef struct {
    const real *at;
    ptrdiff_t pixel, line, image;
} pixel_view;

/* One piece of dw: a tile of rows x a panel of columns, for one tap. */
typedef struct {
    ptrdiff_t group, panel, tile, tap;
} pixel_piece;

/* Shows x to a tile whose first pixel reads input (in_row, in_col) for output (first_row, first_col) of the
   block. */
INLINE pixel_view view_x(const conv_problem *p, const pixel_layout *l, const pixel_range *r, const real *x,
                         const real *x_copy, const pixel_piece *piece, ptrdiff_t in_row, ptrdiff_t in_col,
                         ptrdiff_t first_row, ptrdiff_t first_col) {
    /* mark: stride of pixel_gemm */
    const ptrdiff_t channels = p->in_channels, across = p->stride_cols, down = p->stride_rows;
    if (l->merged) {
        const ptrdiff_t row = l->x_cols * channels;
        const pixel_view v = {x_copy, across * channels, down * row, r->copied_rows * row};
        return v;
    }
    if (!l->copy_x) {
        const ptrdiff_t row = p->in_cols * channels;
        const pixel_view v = {x + (r->first_image * p->in_rows + in_row) * row + in_col * channels
                                  + piece->group * (channels / p->groups) + piece->tile * l->tile_rows,
                              across * channels, down * row, p->in_rows * row};
        return v;
    }
    const ptrdiff_t row = l->x_cols * X_TILE, image = r->copied_rows * row;
    const real *tile = x_copy + (piece->group * l->tiles + piece->tile) * r->images * image;
    if (l->one_tap) { /* copied pixels follow the outputs, not the inputs */
        const pixel_view v = {tile + first_row * row + first_col * X_TILE, X_TILE, row, image};
        return v;
    }
    const pixel_view v = {tile + (in_row - r->first_in_row) * row + in_col * X_TILE, across * X_TILE,
                          down * row, image};
    return v;
}

INLINE pixel_view view_dy(const conv_problem *p, const pixel_layout *l, const pixel_range *r, const real *dy,
                          const real *dy_copy, const pixel_piece *piece, ptrdiff_t first_row,
                          ptrdiff_t first_col) {
    const ptrdiff_t pixel = l->copy_dy ? 2 * LANES : p->out_channels;
    const ptrdiff_t line = (l->copy_dy ? r->cols : p->out_cols) * pixel;
    const ptrdiff_t image = (l->copy_dy ? r->rows : p->out_rows) * line;
    const real *block = l->copy_dy ? dy_copy + (piece->group * l->panels + piece->panel) * r->images * image
                                   : dy + (r->first_image * p->out_rows + r->first_row) * line
                                         + r->first_col * pixel + piece->group * l->columns
                                         + piece->panel * 2 * LANES;
    const pixel_view v = {block + first_row * line + first_col * pixel, pixel, line, image};
    return v;
}
