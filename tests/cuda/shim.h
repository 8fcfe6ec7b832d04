/* shim.h: enough of CUDA for a host compiler to run the kernels of teachconv/backends/cuda, thread by thread.

   The threads of a block are fibers (ucontext): each runs until it reaches a barrier or its end, then the next one of its
   warp runs, in one fixed order, first to last or last to first. Blocks run one after the other. A kernel that forgot a
   barrier gives different results in the two orders; one where some threads miss a barrier is refused. Shared memory is
   static memory, and dynamic shared memory is allocated with exactly the bytes of the launch. Fragments of wmma are plain matrices,
   held by lane 0 of the warp, and multiplied in plain loops; for the instructions of instructions.cuh, the lanes of a warp exchange
   what they have, lane by lane as the PTX ISA defines it.

   Asynchronous copies land as late as CUDA allows, when their thread waits for them, in the first order of threads, and at once
   in the other: a missing wait leaves garbage, and a missing barrier in front of a copy overwrites what others still read.

   Under ThreadSanitizer every fiber is a thread, and barriers are its only synchronisation: two accesses of shared memory that
   no barrier separates are reported, whatever the order in which the fibers ran. */

#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__SANITIZE_THREAD__)
#define QUIET __attribute__((no_sanitize("thread"), noinline)) /* the shim itself is not looked at */
#else
#define QUIET
#endif

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)

/* The scheduler is in shim.cpp, a library that all kernels share. */
namespace shim __attribute__((visibility("default"))) {
struct Index { unsigned x, y, z; };
extern Index block_index, thread_index, block_size, grid_size;
extern unsigned char *dynamic_memory;
extern bool copies_wait; /* whether asynchronous copies land late */
extern int fault;        /* set where a kernel does what a card would not take */
struct Call { /* a kernel with its arguments */
    void (*enter)(const Call &);
    void (*kernel)();
    void **values;
};
int launch(const Call &call, unsigned grid, unsigned block, unsigned shared, int reversed);
void pass_block_barrier();
void pass_warp_barrier();
void copy(void *to, const void *from, size_t size, size_t zeros);
void commit();
void wait_prior(size_t groups);
const void *of_lane(unsigned lane);
void show_warp(const void *mine);
void mma(float *const (&sums)[4], const float (&rows)[8], const float (&cols)[4], int numbers);

template <class... P, size_t... I> Call bind(void (*kernel)(P...), void **values, std::index_sequence<I...>) {
    return {[](const Call &call) { ((void (*)(P...))call.kernel)(*(P *)call.values[I]...); }, (void (*)())kernel, values};
}
template <class... P> Call call_of(void (*kernel)(P...), void **values) {
    return bind(kernel, values, std::index_sequence_for<P...>());
}
QUIET inline Index get_block_index() { return block_index; }
QUIET inline Index get_thread_index() { return thread_index; }
QUIET inline Index get_block_size() { return block_size; }
QUIET inline Index get_grid_size() { return grid_size; }
QUIET inline unsigned char *get_dynamic_memory() { return dynamic_memory; }
} // namespace shim

#define blockIdx shim::get_block_index()
#define threadIdx shim::get_thread_index()
#define blockDim shim::get_block_size()
#define gridDim shim::get_grid_size()
inline void __syncthreads() { shim::pass_block_barrier(); }
inline void __syncwarp() { shim::pass_warp_barrier(); }

/* Groups of asynchronous copies (cuda_pipeline.h). */
inline void __pipeline_commit() { shim::commit(); }
inline void __pipeline_wait_prior(size_t groups) { shim::wait_prior(groups); } /* for all committed groups but the last of them */

/* EXPORT(kernel) makes kernel a function that a test can call: launch_kernel(grid, block, shared, arguments, reversed), with the
   arguments as cuLaunchKernel takes them. It returns 0, 1 where threads parted at a barrier, or 2 after a fault. */
#define EXPORT(kernel)                                                                                                     \
    extern "C" __attribute__((visibility("default"))) int launch_##kernel(unsigned grid, unsigned block, unsigned shared,  \
                                                                          void **values, int reversed) {                   \
        return shim::launch(shim::call_of(kernel, values), grid, block, shared, reversed);                                 \
    }

/* Half types: 16 bits in memory; `digits` of significand, exponents from `lowest` on. To nearest, ties to even. <cmath> is not
   included: to parse it takes longer than to compile a kernel. */
namespace shim {
template <class To, class From> To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof(to));
    return to;
}
inline double power_of_2(int exponent) { return same_bits<double>((uint64_t)(exponent + 1023) << 52); } /* a normal double */
inline int exponent_of(double number) { return (int)(same_bits<uint64_t>(number) >> 52 & 0x7ff) - 1023; }
template <int digits, int lowest, int exponent_bits> struct Half {
    uint16_t bits;
    static Half from(float value) {
        const uint16_t sign = __builtin_signbit(value) ? 0x8000 : 0, infinity = ((1 << exponent_bits) - 1) << (digits - 1);
        const double size = __builtin_fabs((double)value);
        if (__builtin_isnan(value)) return {(uint16_t)(sign | infinity | 1 << (digits - 2))};
        if (__builtin_isinf(value)) return {(uint16_t)(sign | infinity)};
        const int exponent = exponent_of(size) < lowest ? lowest : exponent_of(size); /* the lowest one for subnormals */
        const double ulps = size * power_of_2(digits - 1 - exponent);
        const long rounded = (long)(ulps + 0x1p52 - 0x1p52); /* may carry: the sum below does that right */
        const long all = rounded + ((long)(exponent - lowest) << (digits - 1));
        return {(uint16_t)(sign | (all < infinity ? all : infinity))};
    }
    explicit operator float() const {
        const int exponent = (bits & 0x7fff) >> (digits - 1), fraction = bits & ((1 << (digits - 1)) - 1);
        const double sign = bits & 0x8000 ? -1 : 1;
        if (exponent == (1 << exponent_bits) - 1) return fraction ? __builtin_nanf("") : (float)sign * __builtin_inff();
        const double size = exponent ? fraction + (1 << (digits - 1)) : fraction;
        return (float)(sign * size * power_of_2((exponent ? exponent - 1 : 0) + lowest - digits + 1));
    }
};
} // namespace shim
typedef shim::Half<11, -14, 5> __half;
typedef shim::Half<8, -126, 8> __nv_bfloat16;
inline float __half2float(__half number) { return (float)number; }
inline __half __float2half_rn(float number) { return __half::from(number); }
inline float __bfloat162float(__nv_bfloat16 number) { return (float)number; }
inline __nv_bfloat16 __float2bfloat16_rn(float number) { return __nv_bfloat16::from(number); }

namespace nvcuda::wmma {
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
} // namespace precision
inline bool is_lane_0() { return threadIdx.x % 32 == 0; }

template <class T> struct Stored { typedef T type; };
template <> struct Stored<precision::tf32> { typedef float type; };

/* rows x cols of the matrix by itself: 16 x step for A, step x 16 for B, 16 x 16 for the sums. */
template <class Use, int m, int n, int k, class T, class Layout = void> struct fragment {
    static constexpr int rows = std::is_same_v<Use, matrix_b> ? k : m, cols = std::is_same_v<Use, matrix_a> ? k : n;
    static constexpr int num_elements = rows * cols;
    typename Stored<T>::type x[rows * cols];
};
template <class Use, int m, int n, int k, class T, class Layout> void fill_fragment(fragment<Use, m, n, k, T, Layout> &f, T value) {
    for (auto &number : f.x) number = value;
}
template <class Use, int m, int n, int k, class T, class Layout, class S>
void load_matrix_sync(fragment<Use, m, n, k, T, Layout> &f, const S *from, unsigned pitch) {
    if ((uintptr_t)from % 32 || pitch * sizeof(S) % 16) std::abort(); /* what wmma asks of its pointers */
    if (!is_lane_0()) return;
    for (int i = 0; i < f.rows; i++)
        for (int j = 0; j < f.cols; j++) f.x[i * f.cols + j] = from[std::is_same_v<Layout, row_major> ? i * pitch + j : j * pitch + i];
}
template <class A, class B, int m, int n, int k>
void mma_sync(fragment<accumulator, m, n, k, float> &d, const A &a, const B &b, const fragment<accumulator, m, n, k, float> &c) {
    if (!is_lane_0()) return;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = c.x[i * n + j];
            for (int l = 0; l < k; l++) sum += (float)a.x[i * k + l] * (float)b.x[l * n + j];
            d.x[i * n + j] = sum;
        }
}
template <class F> void store_matrix_sync(float *to, const F &f, unsigned pitch, layout_t layout) {
    if ((uintptr_t)to % 32 || pitch % 4) std::abort();
    if (!is_lane_0()) return;
    for (int i = 0; i < f.rows; i++)
        for (int j = 0; j < f.cols; j++) to[layout == mem_row_major ? i * pitch + j : j * pitch + i] = f.x[i * f.cols + j];
}
inline float __float_to_tf32(float number) { /* 10 bits of the fraction are kept; to nearest, ties away from zero */
    const uint32_t bits = shim::same_bits<uint32_t>(number);
    return (bits >> 23 & 255) == 255 ? number : shim::same_bits<float>((bits + 0x1000) & ~0x1fffu);
}
} // namespace nvcuda::wmma

/* What instructions.cuh has in assembly. A register of 4 bytes holds two halves or one float. */
inline unsigned __float_as_uint(float number) { return shim::same_bits<unsigned>(number); }
inline float __uint_as_float(unsigned bits) { return shim::same_bits<float>(bits); }
inline bool any_lane(bool holds) {
    shim::show_warp(holds ? "" : nullptr);
    bool any = false;
    for (unsigned lane = 0; lane < 32; lane++) any |= shim::of_lane(lane) != nullptr;
    return any;
}
inline void copy_or_zero(void *to, const void *from, bool zero) { shim::copy(to, from, 16, zero ? 16 : 0); }
inline int keep(int number) { return number; }
template <class Problem> void forget(Problem &) {}

/* ldmatrix.m8n8.x4: lane l gives the start of line l % 8 of matrix l / 8, 16 bytes; it gets the 4 bytes l % 4 of line l / 4 of each. */
inline void load_quarters(unsigned (&to)[4], const void *line) {
    if ((uintptr_t)line % 16) std::abort();
    shim::show_warp(line);
    for (int n = 0; n < 4; n++)
        std::memcpy(&to[n], (const char *)shim::of_lane(8 * n + threadIdx.x % 32 / 4) + threadIdx.x % 4 * 4, 4);
}
/* ldmatrix.m8n8.x4.trans: lane l gets numbers l / 4 of lines l % 4 * 2 and the next. */
inline void load_transposed_quarters(unsigned (&to)[4], const void *line) {
    if ((uintptr_t)line % 16) std::abort();
    shim::show_warp(line);
    for (int n = 0; n < 4; n++)
        for (int half = 0; half < 2; half++)
            std::memcpy((char *)&to[n] + 2 * half,
                        (const char *)shim::of_lane(8 * n + threadIdx.x % 4 * 2 + half) + threadIdx.x % 32 / 4 * 2, 2);
}

/* mma.m16n8k16 for halves, m16n8k8 for TF32, of which the last 13 bits are ignored: 16 x 8 sums. */
namespace shim {
template <class Number> void widen_register(float *to, unsigned bits) {
    Number numbers[4 / sizeof(Number)];
    if (sizeof(Number) == 4) bits &= ~0x1fffu;
    std::memcpy(numbers, &bits, 4);
    for (size_t i = 0; i < 4 / sizeof(Number); i++) to[i] = (float)numbers[i];
}
template <class Number> void multiply_add(float *upper, float *lower, const unsigned *rows, const unsigned *cols) {
    constexpr int numbers = 4 / sizeof(Number); /* of a register */
    float a[8], b[4];
    for (int n = 0; n < 4; n++) widen_register<Number>(a + n * numbers, rows[n]);
    for (int n = 0; n < 2; n++) widen_register<Number>(b + n * numbers, cols[n]);
    float *const sums[4] = {upper, upper + 1, lower, lower + 1};
    mma(sums, a, b, numbers);
}
} // namespace shim
#define multiply_add shim::multiply_add<Number>
