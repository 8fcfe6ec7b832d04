/* shim.cpp: the scheduler of shim.h: it runs the threads of a block as fibers.

   With -DRACES it tells ThreadSanitizer what the fibers are. It is compiled without ThreadSanitizer itself, which would report
   the scheduler's own variables; what asynchronous copies read and write is reported, because memcpy and memset always are. */

#include "shim.h"
#include <csetjmp>
#include <memory>
#include <ucontext.h>
#include <vector>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(RACES)
#include <sanitizer/tsan_interface.h>
#endif

namespace shim {
Index block_index, thread_index, block_size, grid_size;
unsigned char *dynamic_memory;

enum State { RUNNING, AT_WARP_BARRIER, AT_BLOCK_BARRIER, DONE };
struct Copy { void *to; const void *from; size_t size, zeros; };
struct Fiber {
    ucontext_t context;
    jmp_buf place;
    bool started = false;
    static constexpr size_t stack_size = 256 * 1024;
    std::unique_ptr<char[]> stack{new char[stack_size]}; /* not filled: only the pages that are used take memory */
    State state = DONE;
    std::vector<std::vector<Copy>> copies; /* asynchronous ones that have not landed, in groups; the last is open */
    void *tsan = nullptr;
    unsigned passed[2] = {0, 0}; /* barriers of the block and of the warp */
};
static std::vector<Fiber> fibers;
static ucontext_t scheduler;
static jmp_buf scheduler_place;
static Fiber *current;
static const Call *call;
static bool copies_wait;

/* Leave one stack for another. swapcontext saves the signal mask, by a system call: only a fiber's first switch does that. The
   sanitizers have to be told whenever the stack changes. */
static const void *scheduler_stack = nullptr;
static size_t scheduler_stack_size = 0;
static void to_fiber(Fiber *fiber) {
#if defined(__SANITIZE_ADDRESS__)
    void *fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, fiber->stack.get(), Fiber::stack_size);
    swapcontext(&scheduler, &fiber->context);
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#elif defined(RACES)
    __tsan_switch_to_fiber(fiber->tsan, __tsan_switch_to_fiber_no_sync);
    swapcontext(&scheduler, &fiber->context);
#else
    if (_setjmp(scheduler_place)) return;
    if (fiber->started) _longjmp(fiber->place, 1);
    fiber->started = true;
    setcontext(&fiber->context);
#endif
}
static void *tsan_scheduler;
static void to_scheduler() {
    Fiber *self = current;
#if defined(__SANITIZE_ADDRESS__)
    void *fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, scheduler_stack, scheduler_stack_size);
    swapcontext(&self->context, &scheduler);
    __sanitizer_finish_switch_fiber(fake, &scheduler_stack, &scheduler_stack_size);
#elif defined(RACES)
    __tsan_switch_to_fiber(tsan_scheduler, __tsan_switch_to_fiber_no_sync);
    swapcontext(&self->context, &scheduler);
#else
    if (!_setjmp(self->place)) _longjmp(scheduler_place, 1);
#endif
}
static void wait(State state) {
    current->state = state;
    to_scheduler();
}

/* What ThreadSanitizer is told: a barrier releases what its threads did before, and they acquire it behind it. Two for each kind
   of barrier, in turn: a fiber may reach the next one while others have not left this one. */
static char block_barrier[2], warp_barrier[64][2], start_of_block, end_of_block;
static void release(void *barrier) {
#if defined(RACES)
    __tsan_release(barrier);
#endif
    (void)barrier;
}
static void acquire(void *barrier) {
#if defined(RACES)
    __tsan_acquire(barrier);
#endif
    (void)barrier;
}
static void pass(State state) {
    char *barrier = state == AT_BLOCK_BARRIER ? &block_barrier[current->passed[0]++ % 2]
                                              : &warp_barrier[thread_index.x / 32][current->passed[1]++ % 2];
    release(barrier);
    wait(state);
    acquire(barrier);
}

static void fiber_main() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack, &scheduler_stack_size);
#endif
    acquire(&start_of_block);
    call->enter(*call);
    release(&end_of_block);
    wait(DONE);
}
static void run(unsigned thread) {
    current = &fibers[thread];
    thread_index = {thread, 0, 0};
    current->state = RUNNING;
    to_fiber(current);
}

/* Run one block; 0, or 1 where threads part at a barrier. */
static int run_block(unsigned threads, bool reversed) {
    const unsigned warps = (threads + 31) / 32;
#if defined(RACES)
    tsan_scheduler = __tsan_get_current_fiber();
#endif
    release(&start_of_block);
    for (unsigned thread = 0; thread < threads; thread++) {
        Fiber &fiber = fibers[thread];
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.get();
        fiber.context.uc_stack.ss_size = Fiber::stack_size;
        fiber.context.uc_link = nullptr;
        fiber.state = RUNNING;
        fiber.started = false;
        fiber.passed[0] = fiber.passed[1] = 0;
        fiber.copies.assign(1, {});
#if defined(RACES)
        if (!fiber.tsan) fiber.tsan = __tsan_create_fiber(0);
#endif
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
    acquire(&end_of_block);
    return 0;
}

void pass_block_barrier() { pass(AT_BLOCK_BARRIER); }
void pass_warp_barrier() { pass(AT_WARP_BARRIER); }

/* Asynchronous copies. What they read and write counts as their thread's accesses, at the moment when they land. */
static void land(const Copy &copy) {
    memcpy(copy.to, copy.from, copy.size - copy.zeros);
    memset((char *)copy.to + copy.size - copy.zeros, 0, copy.zeros);
}
void copy(void *to, const void *from, size_t size, size_t zeros) {
    if ((uintptr_t)to % size || (uintptr_t)from % size || zeros > size) std::abort(); /* what the copy asks of its pointers */
    const Copy copy = {to, from, size, zeros};
    if (copies_wait) current->copies.back().push_back(copy);
    else land(copy);
}
void commit() { current->copies.push_back({}); }
void wait_prior(size_t groups) {
    auto &copies = current->copies;
    for (; copies.size() > groups + 1; copies.erase(copies.begin()))
        for (const Copy &copy : copies.front()) land(copy);
}

int launch(const Call &given, unsigned grid, unsigned block, unsigned shared, int reversed) {
    call = &given;
    if (fibers.size() < block) fibers.resize(block);
    block_size = {block, 1, 1};
    grid_size = {grid, 1, 1};
    copies_wait = !reversed;
    int parted = 0;
    std::unique_ptr<unsigned char, decltype(&free)> memory((unsigned char *)aligned_alloc(128, (shared + 127) / 128 * 128), &free);
    dynamic_memory = memory.get();
    for (unsigned i = 0; i < grid && !parted; i++) {
        memset(dynamic_memory, 0x4b, shared); /* garbage, but no NaN, which a kernel would recompute */
        block_index = {reversed ? grid - 1 - i : i, 0, 0};
        parted = run_block(block, reversed);
    }
#if !defined(RACES)
    fibers.clear(); /* each kernel is a library of its own with its own stacks: a process loads dozens of them */
    fibers.shrink_to_fit();
#endif
    return parted;
}
} // namespace shim
