/* The instruction set that the kernels use: the best that the processor has, or a lower one on request, so
   that tests can run every level.

     level 0  BASELINE  what the compiler uses by default (SSE2, NEON): the same vector source, or plain C
     level 1  AVX2      256-bit vectors with fused multiply-add
     level 2  AVX512    512-bit vectors */
#ifndef TEACHCONV_ISA_H
#define TEACHCONV_ISA_H

/* Vectors are GNU's vector extensions (gcc, clang). With -DTEACHCONV_PLAIN_C, or with any other compiler, a
   vector has one lane. */
#if defined(__GNUC__) && !defined(TEACHCONV_PLAIN_C)
#define TEACHCONV_VECTORS 1
#endif

#if defined(TEACHCONV_VECTORS) && (defined(__x86_64__) || defined(__i386__))
#define TEACHCONV_X86 1
#endif

/* In the order of the levels */
#define ISAS(X) X(BASELINE, "baseline") X(AVX2, "avx2") X(AVX512, "avx512")
#define NUMBER_OF_ISA(isa, name) ISA_##isa,
enum { ISAS(NUMBER_OF_ISA) ISA_COUNT };

extern const char *const teachconv_isa_names[ISA_COUNT];

int teachconv_isa(void);

/* Sets the level, and returns the level in use. For -1, or a level that the processor lacks, that is the
   processor's best. */
int teachconv_set_isa(int level);

#endif
