/* winograd4: F(4x4, 3x3), sixteen outputs per pair of channels with 36 multiply-adds instead of 144. It runs
   with precision="fast" only, because its error is larger.

   A product of two polynomials is known from its values at enough points p, and the value of a product is the
   product of the values. Six points give four outputs of a filter of three taps. Large powers of p lose
   digits, so the points should be close to 1 in size: 0, +-a, +-b and infinity, with a = sqrt(1/2) and
   b = sqrt(2) = 1/a. (S. Winograd, Arithmetic Complexity of Computations, 1980; A. Lavin and S. Gray, Fast
   Algorithms for Convolutional Neural Networks, CVPR 2016, with the points 0, +-1, +-2 and infinity.)

       p     B'                                 G (the filter at p)     A' (powers of p; these are columns)

       0     1    0  -5/2   0    1    0         1                       1    0    0     0
       a     0    b    2   -a   -1    0         2/3 ( 1   a  1/2 )      1    a   1/2   a/2
      -a     0   -b    2    a   -1    0         2/3 ( 1  -a  1/2 )      1   -a   1/2  -a/2
       b     0   -a  -1/2   b    1    0         1/6 ( 1   b   2  )      1    b    2    2b
      -b     0    a  -1/2  -b    1    0         1/6 ( 1  -b   2  )      1   -b    2   -2b
      inf    0    1    0  -5/2   0    1                       1         0    0    0     1

   The points +-p share their even and their odd part: even +- p odd. The textbook's points need no square
   roots, but lose about four times as much: docs/engine.md has the numbers.

   Gain over winograd2: 1.78 times fewer multiply-adds, which made plans of 3x3 layers of 64 to 256 channels
   1.3 to 1.6 times as fast (AMD Zen 5, AVX-512). The transforms take about as many additions per output as
   before. U takes 2.25 times the memory; where it is large and the pixels are few, little of the gain is
   left. */

#define WINOGRAD4_A ((real)0.70710678118654752440) /* sqrt(1/2) */
#define WINOGRAD4_B ((real)1.41421356237309504880) /* sqrt(2) */

/* B': six inputs that lie `step` apart, in place. */
INLINE void winograd4_input_line(vec *d, int step) {
    const vec d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step];
    const vec even_a = (real)2 * d2 - d4, odd_a = (real)2 * d1 - d3; /* mark: own of winograd4 */
    const vec even_b = d4 - (real)0.5 * d2, odd_b = d3 - (real)0.5 * d1;
    d[0] = d[0] + d4 - (real)2.5 * d2;
    d[step] = even_a + WINOGRAD4_A * odd_a;
    d[2 * step] = even_a - WINOGRAD4_A * odd_a;
    d[3 * step] = even_b + WINOGRAD4_B * odd_b;
    d[4 * step] = even_b - WINOGRAD4_B * odd_b;
    d[5 * step] = d1 + d[5 * step] - (real)2.5 * d3;
}

/* G: three taps that lie `step` apart to six. */
INLINE void winograd4_filter_line(const vec *g, int step, vec *u) {
    const vec g0 = g[0], g1 = g[step], g2 = g[2 * step];
    const vec even_a = g0 + (real)0.5 * g2, odd_a = WINOGRAD4_A * g1;
    const vec even_b = g0 + (real)2 * g2, odd_b = WINOGRAD4_B * g1;
    u[0] = g0;
    u[1] = (real)(2.0 / 3) * (even_a + odd_a);
    u[2] = (real)(2.0 / 3) * (even_a - odd_a);
    u[3] = (real)(1.0 / 6) * (even_b + odd_b);
    u[4] = (real)(1.0 / 6) * (even_b - odd_b);
    u[5] = g2;
}

/* A': six products that lie `step` apart to four outputs. */
INLINE void winograd4_output_line(const vec *m, int step, vec *y) {
    const vec m1 = m[step], m2 = m[2 * step], m3 = m[3 * step], m4 = m[4 * step];
    const vec even_a = m1 + m2, odd_a = WINOGRAD4_A * (m1 - m2);
    const vec even_b = m3 + m4, odd_b = WINOGRAD4_B * (m3 - m4);
    y[0] = m[0] + even_a + even_b;
    y[1] = odd_a + odd_b;
    y[2] = (real)0.5 * even_a + (real)2 * even_b;
    y[3] = (real)0.5 * odd_a + (real)2 * odd_b + m[5 * step];
}

/* A: the gradients of four outputs that lie `step` apart to those of six products. */
INLINE void winograd4_output_gradient_line(const vec *y, int step, vec *m) {
    const vec y0 = y[0], y1 = y[step], y2 = y[2 * step], y3 = y[3 * step];
    const vec even_a = y0 + (real)0.5 * y2, odd_a = WINOGRAD4_A * (y1 + (real)0.5 * y3);
    const vec even_b = y0 + (real)2 * y2, odd_b = WINOGRAD4_B * (y1 + (real)2 * y3);
    m[0] = y0;
    m[1] = even_a + odd_a;
    m[2] = even_a - odd_a;
    m[3] = even_b + odd_b;
    m[4] = even_b - odd_b;
    m[5] = y3;
}

/* G': the gradients of six elements of the filter that lie `step` apart to those of three taps. */
INLINE void winograd4_filter_gradient_line(const vec *u, int step, vec *g) {
    const vec u1 = u[step], u2 = u[2 * step], u3 = u[3 * step], u4 = u[4 * step];
    const vec even_a = (real)(2.0 / 3) * (u1 + u2), even_b = (real)(1.0 / 6) * (u3 + u4);
    g[0] = u[0] + even_a + even_b;
    g[1] = (real)(2.0 / 3) * WINOGRAD4_A * (u1 - u2) + (real)(1.0 / 6) * WINOGRAD4_B * (u3 - u4);
    g[2] = (real)0.5 * even_a + (real)2 * even_b + u[5 * step];
}
#undef WINOGRAD4_A
#undef WINOGRAD4_B
