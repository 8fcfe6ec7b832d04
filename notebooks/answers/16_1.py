def conv2d_backprop_input(dy, w, geometry, **options):
    g = geometry
    dx = np.zeros(g.input_shape, dy.dtype)
    depth, outs = w.shape[2], g.out_channels // g.groups
    for tap_row in range(w.shape[0]):
        from_rows, to_rows = outputs_inside(g.rows, tap_row)
        for tap_col in range(w.shape[1]):
            from_cols, to_cols = outputs_inside(g.cols, tap_col)
            for group in range(g.groups):
                i, o = slice(group * depth, (group + 1) * depth), slice(group * outs, (group + 1) * outs)
                dx[:, to_rows, to_cols, i] += dy[:, from_rows, from_cols, o] @ w[tap_row, tap_col, :, o].T
    return dx


g = tc.conv2d_geometry(x.shape, w.shape, 2, "SAME")
dy = np.random.default_rng(2).standard_normal(g.output_shape)
theirs = conv2d_backprop_input(dy, w, g)
assert (
    tc.diff(tc.conv2d_backprop_input, x.shape, w, dy, 2, "SAME", backends=["numpy"], against={"mine": theirs})
    .rows[-1]
    .passed
)
