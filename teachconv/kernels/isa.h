/* Which instruction set runs: asked of the processor once, lowered on request so that tests can run every
   level anywhere.

     level 0  BASELINE  what the compiler gives without options (SSE2, NEON), same vector source; else plain C
     level 1  AVX2      256-bit vectors with fused multiply-add
     level 2  AVX512    512-bit vectors */
#ifndef TEACHCONV_ISA_H
#define TEACHCONV_ISA_H

/* GNU's vector extensions (gcc, clang). -DTEACHCONV_PLAIN_C does without: vectors of one lane, as for any
   other compiler. */
#if defined(__GNUC__) && !defined(TEACHCONV_PLAIN_C)
#define TEACHCONV_VECTORS 1
#endif

#if defined(TEACHCONV_VECTORS) && (defined(__x86_64__) || defined(__i386__))
#define TEACHCONV_X86 1
#endif

enum { ISA_BASELINE = 0, ISA_AVX2 = 1, ISA_AVX512 = 2 };

static int chosen_isa = -1; /* -1: not asked yet. Two threads that ask at once write the same value. */

static int best_isa(void) {
#if defined(TEACHCONV_X86)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("fma"))
        return ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return ISA_AVX2;
#endif
    return ISA_BASELINE;
}

static int teachconv_isa(void) {
    if (chosen_isa < 0) chosen_isa = best_isa();
    return chosen_isa;
}

/* Lowers (or restores) the level; returns the level that holds now. A level that the processor lacks is not
   taken; -1 restores the best. */
static int teachconv_set_isa(int level) {
    const int best = best_isa();
    chosen_isa = level < 0 || level > best ? best : level;
    return chosen_isa;
}

#endif
