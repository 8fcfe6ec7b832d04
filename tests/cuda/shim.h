/* shim.h: enough of CUDA for a host compiler to run the kernels of teachconv/backends/cuda, thread by thread.

   The threads of a block are fibers (ucontext): each runs until it reaches a barrier or its end, then the next one of its
   warp runs, in one fixed order, first to last or last to first. Blocks run one after the other. A kernel that forgot a
   barrier gives different results in the two orders; one where some threads miss a barrier is refused. Shared memory is
   static memory. Tensor-core fragments are plain matrices, held by lane 0 of the warp, and multiplied in plain loops. */

#pragma once
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>
#include <ucontext.h>
#include <utility>
#include <vector>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(threads)

namespace shim {
struct Index { unsigned x, y, z; };
enum State { RUNNING, AT_WARP_BARRIER, AT_BLOCK_BARRIER, DONE };
struct Fiber {
    ucontext_t context;
    static constexpr size_t stack_size = 256 * 1024;
    std::unique_ptr<char[]> stack{new char[stack_size]}; /* not filled: only the pages that are used take memory */
    State state = DONE;
};
inline Index block_index, thread_index, block_size, grid_size;
inline std::vector<Fiber> fibers;
inline ucontext_t scheduler;
inline Fiber *current;
inline void (*body)(void *);
inline void *arguments;

/* AddressSanitizer has to be told whenever the stack changes. */
inline const void *scheduler_stack = nullptr;
inline size_t scheduler_stack_size = 0;
inline void leave_for(ucontext_t *from, ucontext_t *to, const void *stack, size_t size) {
#if defined(__SANITIZE_ADDRESS__)
    void *fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, stack, size);
    swapcontext(from, to);
    const void *old = nullptr;
    size_t old_size = 0;
    __sanitizer_finish_switch_fiber(fake, &old, &old_size);
    if (from != &scheduler) scheduler_stack = old, scheduler_stack_size = old_size;
#else
    (void)stack, (void)size;
    swapcontext(from, to);
#endif
}
inline void wait(State state) {
    Fiber *self = current;
    self->state = state;
    leave_for(&self->context, &scheduler, scheduler_stack, scheduler_stack_size);
}
inline void fiber_main() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack, &scheduler_stack_size);
#endif
    body(arguments);
    wait(DONE);
}
inline void run(unsigned thread) {
    current = &fibers[thread];
    thread_index = {thread, 0, 0};
    current->state = RUNNING;
    leave_for(&scheduler, &current->context, current->stack.get(), Fiber::stack_size);
}

/* Run one block; 0, or 1 where threads part at a barrier. */
inline int run_block(unsigned threads, bool reversed) {
    const unsigned warps = (threads + 31) / 32;
    for (unsigned thread = 0; thread < threads; thread++) {
        Fiber &fiber = fibers[thread];
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.get();
        fiber.context.uc_stack.ss_size = Fiber::stack_size;
        fiber.context.uc_link = nullptr;
        fiber.state = RUNNING;
        makecontext(&fiber.context, fiber_main, 0);
    }
    for (bool done = false; !done;) {
        State all = RUNNING;
        for (unsigned w = 0; w < warps; w++) {
            const unsigned first = 32 * (reversed ? warps - 1 - w : w), last = first + 32 < threads ? first + 32 : threads;
            State warp = RUNNING;
            do {
                for (unsigned i = first; i < last; i++) run(reversed ? first + last - 1 - i : i);
                warp = fibers[first].state;
                for (unsigned i = first; i < last; i++)
                    if (fibers[i].state != warp) return 1;
            } while (warp == AT_WARP_BARRIER);
            if (w && warp != all) return 1;
            all = warp;
        }
        done = all == DONE;
    }
    return 0;
}

template <class... P> struct Call {
    void (*kernel)(P...);
    std::tuple<P...> values;
    static void enter(void *self) {
        Call *call = (Call *)self;
        std::apply(call->kernel, call->values);
    }
};
template <class... P, size_t... I> Call<P...> bind(void (*kernel)(P...), void **values, std::index_sequence<I...>) {
    return {kernel, {*(P *)values[I]...}};
}

/* Launch with arguments as cuLaunchKernel takes them: 0 where all went well, 1 where threads parted at a barrier. */
template <class... P> int launch(void (*kernel)(P...), unsigned grid, unsigned block, void **values, int reversed) {
    Call<P...> call = bind(kernel, values, std::index_sequence_for<P...>());
    body = Call<P...>::enter;
    arguments = &call;
    if (fibers.size() < block) fibers.resize(block);
    block_size = {block, 1, 1};
    grid_size = {grid, 1, 1};
    for (unsigned i = 0; i < grid; i++) {
        block_index = {reversed ? grid - 1 - i : i, 0, 0};
        if (run_block(block, reversed)) return 1;
    }
    return 0;
}
} // namespace shim

#define blockIdx shim::block_index
#define threadIdx shim::thread_index
#define blockDim shim::block_size
#define gridDim shim::grid_size
inline void __syncthreads() { shim::wait(shim::AT_BLOCK_BARRIER); }
inline void __syncwarp() { shim::wait(shim::AT_WARP_BARRIER); }

/* EXPORT(kernel) makes kernel a function that a test can call: launch_kernel(grid, block, arguments, reversed). */
#define EXPORT(kernel)                                                                                                     \
    extern "C" __attribute__((visibility("default"))) int launch_##kernel(unsigned grid, unsigned block, void **values, int reversed) {                           \
        return shim::launch(kernel, grid, block, values, reversed);                                                        \
    }

/* Half types: 16 bits in memory; `digits` of significand, exponents from `lowest` on. To nearest, ties to even. */
namespace shim {
template <int digits, int lowest, int exponent_bits> struct Half {
    uint16_t bits;
    static Half from(float value) {
        const uint16_t sign = std::signbit(value) ? 0x8000 : 0, infinity = ((1 << exponent_bits) - 1) << (digits - 1);
        const double size = std::fabs((double)value);
        if (std::isnan(value)) return {(uint16_t)(sign | infinity | 1 << (digits - 2))};
        if (std::isinf(value)) return {(uint16_t)(sign | infinity)};
        int exponent = size ? std::ilogb(size) : lowest;
        if (exponent < lowest) exponent = lowest; /* subnormal */
        const double ulps = std::nearbyint(std::ldexp(size, digits - 1 - exponent)); /* may carry: the sum below does that right */
        const long all = (long)ulps + ((long)(exponent - lowest) << (digits - 1));
        return {(uint16_t)(sign | (all < infinity ? all : infinity))};
    }
    explicit operator float() const {
        const int exponent = (bits & 0x7fff) >> (digits - 1), fraction = bits & ((1 << (digits - 1)) - 1);
        const double sign = bits & 0x8000 ? -1 : 1;
        if (exponent == (1 << exponent_bits) - 1) return fraction ? NAN : (float)(sign * INFINITY);
        const double size = exponent ? fraction + (1 << (digits - 1)) : fraction;
        return (float)(sign * std::ldexp(size, (exponent ? exponent - 1 : 0) + lowest - digits + 1));
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
    uint32_t bits;
    std::memcpy(&bits, &number, 4);
    if ((bits >> 23 & 255) != 255) bits = (bits + 0x1000) & ~0x1fffu;
    std::memcpy(&number, &bits, 4);
    return number;
}
} // namespace nvcuda::wmma
