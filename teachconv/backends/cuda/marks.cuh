/* marks.cuh: the marks that kernels set for their data; helpers.cu explains the three of them. */

#ifndef TEACHCONV_MARKS_CUH
#define TEACHCONV_MARKS_CUH

/* Read before writing: for almost every thread the mark is set already, and reads are cached. */
DEVICE void set_mark(int *mark) {
    if (!*mark) *mark = 1;
}

DEVICE void mark(Sum number, Sum largest, Sum smallest, int *marks) {
    const Sum size = number < 0 ? -number : number;
    if (!(size <= largest)) set_mark(marks); /* a NaN fails every comparison */
    if (size > 0) set_mark(marks + 1);
    if (size >= smallest) set_mark(marks + 2);
}

DEVICE bool is_unfit(const int *marks) { return marks[0] || (marks[1] && !marks[2]); }

#endif
