/* ceilings: what no kernel exceeds on this machine, one thread. Compare the other programs with it.

   Multiply-adds with all operands in registers, as many per second as the processor starts; and copies of
   three sizes, which stay in the second-level cache, in the third, or in neither.

   Run: build/play/ceilings */
#include "play.h"

enum { CHAINS = 12 }; /* independent sums: more than a multiply-add takes cycles, times two units */

KERNEL real multiply_adds(ptrdiff_t count, real start) {
    vec sum[CHAINS], factor = (vec){0} + start;
    for (int i = 0; i < CHAINS; i++) sum[i] = factor;
    for (ptrdiff_t k = 0; k < count; k += CHAINS) {
        UNROLL(12)
        for (int i = 0; i < CHAINS; i++) sum[i] += sum[i] * factor;
    }
    real all = 0;
    for (int i = 0; i < CHAINS * LANES; i++) all += ((const real *)sum)[i];
    return all;
}

KERNEL void copy(const real *from, real *to, ptrdiff_t count, int streams) {
    for (ptrdiff_t i = 0; streams && i < count; i += LANES) stream(to + i, load(from + i));
    for (ptrdiff_t i = 0; !streams && i < count; i += LANES) store(to + i, load(from + i));
    streams_end();
}

int main(void) {
    const ptrdiff_t bytes[] = {512 << 10, 4 << 20, 128 << 20}, adds = 120000;
    volatile real sink = 0; /* so that the compiler computes the sums */
    double us = TIMED(sink = multiply_adds(adds, sink));
    printf("multiply-adds in registers: %.1f GFLOP/s\n", 2e-3 * (double)(adds * LANES) / us);
    for (int i = 0; i < 3; i++) {
        const ptrdiff_t count = bytes[i] / 2 / (ptrdiff_t)sizeof(real);
        real *from = integers(count), *to = integers(count);
        us = fmin(TIMED(copy(from, to, count, 0)), TIMED(copy(from, to, count, 1)));
        printf("copy, %td KB read and written: %.1f GB/s\n", bytes[i] >> 10, 1e-3 * (double)bytes[i] / us);
        free_scratch(from), free_scratch(to);
    }
    return 0;
}
