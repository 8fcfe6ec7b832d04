/* winograd2: F(2x2, 3x3), four outputs per pair of channels with 16 multiply-adds instead of 36.

   In one dimension, two outputs of a filter of three taps take four multiplications instead of six:

                 1  0 -1  0             1   0   0
        y = A' [ 0  1  1  0  d  *  ( 1/2 1/2 1/2  g ) ]         A' = 1 1  1  0
                 0 -1  1  0          1/2 -1/2 1/2                    0 1 -1 -1
                 0  1  0 -1             0   0   1
                     B'                 G                       (* element by element)

   For example y[0] = (d0-d2) g0 + (d1+d2)(g0+g1+g2)/2 + (d2-d1)(g0-g1+g2)/2 = d0 g0 + d1 g1 + d2 g2. In two
   dimensions, each matrix is applied to the columns and then to the rows. winograd.h has the rest.

   Gain over row_gemm: 2.25 times fewer multiply-adds, for about 100 more additions per tile and channel. */

/* B': four inputs that lie `step` apart, in place. */
INLINE void winograd2_input_line(vec *d, int step) {
    const vec d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step];
    d[0] = d0 - d2; /* mark: own of winograd2 */
    d[step] = d1 + d2;
    d[2 * step] = d2 - d1;
    d[3 * step] = d1 - d3;
}

/* G: three taps to four. */
INLINE void winograd2_filter_line(vec g0, vec g1, vec g2, vec *u) {
    const vec half = (vec){0} + (real)0.5, outer = g0 + g2;
    u[0] = g0;
    u[1] = half * (outer + g1);
    u[2] = half * (outer - g1);
    u[3] = g2;
}

/* A': four products that lie `step` apart to two outputs. */
INLINE void winograd2_output_line(const vec *m, int step, vec *y) {
    const vec m1 = m[step], m2 = m[2 * step];
    y[0] = m[0] + m1 + m2;
    y[1] = m1 - m2 - m[3 * step];
}
