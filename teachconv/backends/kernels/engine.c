/* Chooses the instruction set and the table of kernels. */
#include "engine.h"

extern const kernel_table teachconv_f32_base, teachconv_f64_base;
#if defined(TEACHCONV_X86)
extern const kernel_table teachconv_f32_avx2, teachconv_f64_avx2, teachconv_f32_avx512, teachconv_f64_avx512;
#endif

#define NAME_OF_ALGORITHM(algorithm, name) name,
const char *const teachconv_algorithm_names[ALGORITHM_COUNT] = {ALGORITHMS(NAME_OF_ALGORITHM)};

#define NAME_OF_ISA(isa, name) name,
const char *const teachconv_isa_names[ISA_COUNT] = {ISAS(NAME_OF_ISA)};

/* -1: not determined yet. Two threads that determine it at once write the same value. */
static int chosen_isa = -1;

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

int teachconv_isa(void) {
    if (chosen_isa < 0) chosen_isa = best_isa();
    return chosen_isa;
}

int teachconv_set_isa(int level) {
    const int best = best_isa();
    chosen_isa = level < 0 || level > best ? best : level;
    return chosen_isa;
}

const kernel_table *kernels_of(int real_is_double) {
#if defined(TEACHCONV_X86)
    static const kernel_table *const tables[2][ISA_COUNT] = {
        {&teachconv_f32_base, &teachconv_f32_avx2, &teachconv_f32_avx512},
        {&teachconv_f64_base, &teachconv_f64_avx2, &teachconv_f64_avx512}};
    return tables[real_is_double][teachconv_isa()];
#else
    return real_is_double ? &teachconv_f64_base : &teachconv_f32_base;
#endif
}
