/* The matrices of all forms (winograd_pieces.h). F(2, 3): two outputs of a filter of three taps with four
   multiplications instead of six; along both axes, F(2x2, 3x3): 16 instead of 36.

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

   So an output is made of the inputs that its own window reads, and of no others. (Of the filter
   gradient, that is not so.)

   Gain over row_gemm: 2.25 times fewer multiply-adds, for about 100 more additions per tile and channel. */

/* winograd4: F(4, 3), four outputs with six multiplications instead of twelve; along both axes sixteen outputs
   with 36 instead of 144. It runs with precision="fast" only, because its error is larger.

   Large powers of a point lose digits, so the points should be close to 1 in size: 0, infinity, +-a and +-b, with
   a = sqrt(1/2) and b = sqrt(2) = 1/a. (S. Winograd, Arithmetic Complexity of Computations, 1980; A. Lavin and
   S. Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016, with the points 0, +-1, +-2 and infinity.)

       p     B'                                 G (the filter at p)     A' (powers of p; these are columns)

       0     1    0  -5/2   0    1    0         1                       1    0    0     0
       inf   0    1    0  -5/2   0    1                       1         0    0    0     1
       a     0    b    2   -a   -1    0         2/3 ( 1   a  1/2 )      1    a   1/2   a/2
      -a     0   -b    2    a   -1    0         2/3 ( 1  -a  1/2 )      1   -a   1/2  -a/2
       b     0   -a  -1/2   b    1    0         1/6 ( 1   b   2  )      1    b    2    2b
      -b     0    a  -1/2  -b    1    0         1/6 ( 1  -b   2  )      1   -b    2   -2b

   The points +-p share their even and their odd part: even +- p odd. The textbook's points need no square
   roots, but lose about four times as much: docs/engine.md has the numbers.

   F(4, 2) has the first five of these points and columns of A', F(4, 1) the first four:

       p     B' of F(4, 2)                      its G                   B' of F(4, 1)                 its G
       0     1   -a   -2    b    0              1                       1    0   -2    0              1
       inf   0    a  -1/2  -b    1                    1                 0  -1/2   0    1              1
       a     0    1    a   -1    0              b     1                 0    a    1    0              1
      -a     0    1  -3a    1    0            -b/3   1/3                0   -a    1    0              1
       b     0  -1/2   0    1    0            2a/3   2/3

   An output's products read inputs that its own window does not. What these add cancels, but for roundings.

   Gain over F(2, 3): 1.78 times fewer multiply-adds along both axes, which made plans of 3x3 layers of 64 to 256
   channels 1.3 to 1.6 times as fast (AMD Zen 5, AVX-512). The transforms take about as many additions per output
   as before. U takes 2.25 times the memory; where it is large and the pixels are few, little of the gain is
   left. */

#define WINOGRAD4_A ((real)0.70710678118654752440) /* sqrt(1/2) */
#define WINOGRAD4_B ((real)1.41421356237309504880) /* sqrt(2) */

/* B': the inputs of a piece, which lie `step` apart, in place. */
INLINE void winograd_input_line(const int form, vec *d, int step) {
    if (form <= 2) return;
    const vec d0 = d[0], d1 = d[step], d2 = d[2 * step];
    if (form == 3) {
        d[0] = d0 - d1;
        d[step] = d2 - d1;
        d[2 * step] = d1;
        return;
    }
    const vec d3 = d[3 * step];
    if (form == 4) {
        d[0] = d0 - d2; /* mark: own of winograd2 */
        d[step] = d3 - d1;
        d[2 * step] = d1 + d2;
        d[3 * step] = d2 - d1;
        return;
    }
    if (form == 5) {
        d[0] = d0 - (real)2 * d2;
        d[step] = d3 - (real)0.5 * d1;
        d[2 * step] = d2 + WINOGRAD4_A * d1;
        d[3 * step] = d2 - WINOGRAD4_A * d1;
        return;
    }
    const vec d4 = d[4 * step];
    if (form == 6) {
        const vec sum = d1 + d3, difference = d1 - d3;
        d[0] = d0 - (real)2 * d2 + (WINOGRAD4_B * d3 - WINOGRAD4_A * d1);
        d[step] = d4 - (real)0.5 * d2 - (WINOGRAD4_B * d3 - WINOGRAD4_A * d1);
        d[2 * step] = difference + WINOGRAD4_A * d2;
        d[3 * step] = sum - (real)3 * WINOGRAD4_A * d2;
        d[4 * step] = d3 - (real)0.5 * d1;
        return;
    }
    const vec even_a = (real)2 * d2 - d4, odd_a = (real)2 * d1 - d3;
    const vec even_b = d4 - (real)0.5 * d2, odd_b = d3 - (real)0.5 * d1;
    d[0] = d0 + d4 - (real)2.5 * d2;
    d[step] = d1 + d[5 * step] - (real)2.5 * d3;
    d[2 * step] = even_a + WINOGRAD4_A * odd_a;
    d[3 * step] = even_a - WINOGRAD4_A * odd_a;
    d[4 * step] = even_b + WINOGRAD4_B * odd_b;
    d[5 * step] = even_b - WINOGRAD4_B * odd_b;
}

/* G: the taps of a piece, which lie `step` apart. */
INLINE void winograd_filter_line(const int form, const vec *g, int step, vec *u) {
    const vec half = (vec){0} + (real)0.5, first = g[0], last = g[(taps_of(form) - 1) * step];
    u[0] = first;
    if (form > 1) u[1] = last;
    if (form == 3) u[2] = first + last;
    if (form == 4) {
        const vec outer = first + last;
        u[2] = half * (outer + g[step]);
        u[3] = half * (outer - g[step]);
    }
    if (form == 5) u[2] = u[3] = first;
    if (form == 6) {
        const vec scaled = WINOGRAD4_B * first;
        u[2] = last + scaled;
        u[3] = (real)(1.0 / 3) * (last - scaled);
        u[4] = (real)(2.0 / 3) * (last + half * scaled);
    }
    if (form == 7) {
        const vec even_a = first + half * last, odd_a = WINOGRAD4_A * g[step];
        const vec even_b = first + (real)2 * last, odd_b = WINOGRAD4_B * g[step];
        u[2] = (real)(2.0 / 3) * (even_a + odd_a);
        u[3] = (real)(2.0 / 3) * (even_a - odd_a);
        u[4] = (real)(1.0 / 6) * (even_b + odd_b);
        u[5] = (real)(1.0 / 6) * (even_b - odd_b);
    }
}

/* A': products that lie `step` apart to the outputs. */
INLINE void winograd_output_line(const int form, const vec *m, int step, vec *y) {
    y[0] = m[0];
    if (form == 2) y[1] = m[step];
    if (form == 3 || form == 4) {
        const vec m2 = m[2 * step]; /* mark: own of winograd/y winograd/dx */
        y[0] = m[0] + m2;
        y[1] = m2;
        if (form == 4) y[0] += m[3 * step], y[1] -= m[3 * step];
        y[1] += m[step];
    }
    if (form < 5) return;
    const vec even_a = m[2 * step] + m[3 * step]; /* mark: own of winograd4/y winograd4/dx */
    const vec odd_a = WINOGRAD4_A * (m[2 * step] - m[3 * step]);
    vec even_b = {0}, odd_b = {0};
    if (form == 6) even_b = m[4 * step], odd_b = WINOGRAD4_B * even_b;
    if (form == 7) even_b = m[4 * step] + m[5 * step], odd_b = WINOGRAD4_B * (m[4 * step] - m[5 * step]);
    y[0] = m[0] + even_a + even_b;
    y[1] = odd_a + odd_b;
    y[2] = (real)0.5 * even_a + (real)2 * even_b;
    y[3] = (real)0.5 * odd_a + (real)2 * odd_b + m[step];
}

/* ---- the same matrices transposed, for the filter gradient ---- */

/* A: the gradients of outputs that lie `step` apart to those of products. */
INLINE void winograd_output_gradient_line(const int form, const vec *y, int step, vec *m) {
    const vec y0 = y[0];
    m[0] = y0;
    if (form == 1) return;
    const vec y1 = y[step], last = y[(outputs_of(form) - 1) * step];
    m[1] = last;
    if (form == 3 || form == 4) {
        m[2] = y0 + y1; /* mark: own of winograd/dw */
        if (form == 4) m[3] = y0 - y1;
    }
    if (form < 5) return;
    const vec even_a = y0 + (real)0.5 * y[2 * step]; /* mark: own of winograd4/dw */
    const vec odd_a = WINOGRAD4_A * (y1 + (real)0.5 * last);
    const vec even_b = y0 + (real)2 * y[2 * step], odd_b = WINOGRAD4_B * (y1 + (real)2 * last);
    m[2] = even_a + odd_a;
    m[3] = even_a - odd_a;
    if (form > 5) m[4] = even_b + odd_b;
    if (form > 6) m[5] = even_b - odd_b;
}

/* G': the gradients of elements of the filter that lie `step` apart to those of its taps. */
INLINE void winograd_filter_gradient_line(const int form, const vec *u, int step, vec *g) {
    if (form == 1) g[0] = u[0];
    if (form == 2) g[0] = u[0] + u[step];
    if (form == 3) g[0] = u[0] + u[2 * step], g[1] = u[2 * step] + u[step];
    if (form == 4) {
        const vec half = (vec){0} + (real)0.5, even = half * (u[2 * step] + u[3 * step]);
        g[0] = u[0] + even;
        g[1] = half * (u[2 * step] - u[3 * step]);
        g[2] = even + u[step];
    }
    if (form == 5) g[0] = (u[0] + u[step]) + (u[2 * step] + u[3 * step]);
    if (form == 6) {
        const vec u2 = u[2 * step], u3 = (real)(1.0 / 3) * u[3 * step], u4 = (real)(2.0 / 3) * u[4 * step];
        g[0] = u[0] + WINOGRAD4_B * (u2 - u3 + (real)0.5 * u4);
        g[1] = u[step] + (u2 + u3 + u4);
    }
    if (form == 7) {
        const vec u2 = u[2 * step], u3 = u[3 * step], u4 = u[4 * step], u5 = u[5 * step];
        const vec even_a = (real)(2.0 / 3) * (u2 + u3), even_b = (real)(1.0 / 6) * (u4 + u5);
        g[0] = u[0] + even_a + even_b;
        g[1] = (real)(2.0 / 3) * WINOGRAD4_A * (u2 - u3) + (real)(1.0 / 6) * WINOGRAD4_B * (u4 - u5);
        g[2] = (real)0.5 * even_a + (real)2 * even_b + u[step];
    }
}
#undef WINOGRAD4_A
#undef WINOGRAD4_B
