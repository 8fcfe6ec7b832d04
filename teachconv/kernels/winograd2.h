/* winograd2: F(2, 3), two outputs of a filter of three taps with four multiplications instead of six; along
   both axes, F(2x2, 3x3): 16 instead of 36.

   A product of two polynomials is known from its values at enough points, and the value of a product is the
   product of the values. With the points 0, infinity, 1 and -1, in this order:

                 1  0 -1  0             1   0   0
        y = A' [ 0 -1  0  1  d  *  (    0   0   1   g ) ]         A' = 1 0 1  1
                 0  1  1  0          1/2  1/2 1/2                      0 1 1 -1
                 0 -1  1  0          1/2 -1/2 1/2
                     B'                 G                       (* element by element)

   For example y[0] = (d0-d2) g0 + (d1+d2)(g0+g1+g2)/2 + (d2-d1)(g0-g1+g2)/2 = d0 g0 + d1 g1 + d2 g2. In two
   dimensions, each matrix is applied to the columns and then to the rows.

   F(2, 2) needs three points and has the first three columns of the same A', F(2, 1) two:

                1 -1  0         1 0                     1 0         1
        B' =    0 -1  1     G = 0 1               B' =  0 1     G = 1
                0  1  0         1 1

   So an output is made of the inputs that its own window reads, and of no others, in each of them.

   Gain over row_gemm: 2.25 times fewer multiply-adds, for about 100 more additions per tile and channel. */

/* B': the inputs of a piece, which lie `step` apart, in place. */
INLINE void winograd2_input_line(const int elements, vec *d, int step) {
    if (elements <= 2) return;
    const vec d0 = d[0], d1 = d[step], d2 = d[2 * step]; /* mark: own of winograd */
    if (elements == 3) {
        d[0] = d0 - d1;
        d[step] = d2 - d1;
        d[2 * step] = d1;
        return;
    }
    d[0] = d0 - d2; /* mark: own of winograd2 */
    d[step] = d[3 * step] - d1;
    d[2 * step] = d1 + d2;
    d[3 * step] = d2 - d1;
}

/* G: the taps of a piece, which lie `step` apart. */
INLINE void winograd2_filter_line(const int elements, const vec *g, int step, vec *u) {
    const vec half = (vec){0} + (real)0.5, last = g[(taps_of(elements) - 1) * step];
    u[0] = g[0];
    if (elements > 1) u[1] = last;
    if (elements == 3) u[2] = g[0] + last;
    if (elements < 4) return;
    const vec outer = g[0] + last;
    u[2] = half * (outer + g[step]);
    u[3] = half * (outer - g[step]);
}

/* A': products that lie `step` apart to two outputs. */
INLINE void winograd2_output_line(const int elements, const vec *m, int step, vec *y) {
    y[0] = m[0];
    if (elements == 2) y[1] = m[step];
    if (elements == 3) y[0] = m[0] + m[2 * step], y[1] = m[2 * step] + m[step];
    if (elements == 4) {
        const vec m2 = m[2 * step], m3 = m[3 * step];
        y[0] = m[0] + m2 + m3;
        y[1] = m2 - m3 + m[step];
    }
}

/* ---- the same matrices transposed, for the filter gradient ---- */

/* A: the gradients of outputs that lie `step` apart to those of products. */
INLINE void winograd2_output_gradient_line(const int elements, const vec *y, int step, vec *m) {
    m[0] = y[0];
    if (elements > 1) m[1] = y[step];
    if (elements > 2) m[2] = y[0] + y[step];
    if (elements > 3) m[3] = y[0] - y[step];
}

/* G': the gradients of elements of the filter that lie `step` apart to those of its taps. */
INLINE void winograd2_filter_gradient_line(const int elements, const vec *u, int step, vec *g) {
    if (elements == 1) g[0] = u[0];
    if (elements == 2) g[0] = u[0] + u[step];
    if (elements == 3) g[0] = u[0] + u[2 * step], g[1] = u[2 * step] + u[step];
    if (elements == 4) {
        const vec half = (vec){0} + (real)0.5, even = half * (u[2 * step] + u[3 * step]);
        g[0] = u[0] + even;
        g[1] = half * (u[2 * step] - u[3 * step]);
        g[2] = even + u[step];
    }
}
