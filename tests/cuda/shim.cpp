/* shim.cpp: the scheduler of shim.h: it runs the threads of a block as fibers. It is a library that all kernels share.

   It is compiled without sanitizers: ThreadSanitizer would report the scheduler's own variables. With -DSANITIZE_thread or
   -DSANITIZE_address it tells them what the fibers are. What asynchronous copies read and write is looked at, because memcpy and
   memset always are. */

#include "shim.h"
#include <memory>
#include <mutex>
#include <ucontext.h>
#include <vector>
#if defined(SANITIZE_address)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(SANITIZE_thread)
#include <sanitizer/tsan_interface.h>
#endif

namespace shim {
Index block_index, thread_index, block_size, grid_size;
unsigned char *dynamic_memory;

enum State { RUNNING, AT_WARP_BARRIER, AT_BLOCK_BARRIER, DONE };
struct Copy { void *to; const void *from; size_t size, zeros; };
struct Fiber {
    void *place[5]; /* where it left its stack */
    static constexpr size_t stack_size = 256 * 1024;
    std::unique_ptr<char[]> stack{new char[stack_size]}; /* not filled: only the pages that are used take memory */
    State state = DONE;
    std::vector<std::vector<Copy>> copies; /* asynchronous ones that have not landed, in groups; the last is open */
    void *tsan = nullptr;
    bool started = false;
    unsigned passed[2] = {0, 0}; /* barriers of the block and of the warp */
    unsigned shown = 0;          /* instructions of the warp as a whole */
};
static std::vector<Fiber> fibers; /* they are kept from block to block and from launch to launch */
static void *scheduler_place[5];
static Fiber *current;
static const Call *call;
bool copies_wait;
int fault;

/* Leave one stack for another. The compiler's own setjmp and longjmp make no system call, as swapcontext does, and the sanitizers
   do not see them: AddressSanitizer would forget what it knows of the stack. They have to be told whenever the stack changes. */
static const void *scheduler_stack = nullptr;
static size_t scheduler_stack_size = 0;
static void *tsan_scheduler;
static void tell_before(const void *stack, size_t size, void *tsan, void **fake) {
#if defined(SANITIZE_address)
    __sanitizer_start_switch_fiber(fake, stack, size);
#elif defined(SANITIZE_thread)
    __tsan_switch_to_fiber(tsan, __tsan_switch_to_fiber_no_sync);
#endif
    (void)stack, (void)size, (void)tsan, (void)fake;
}
static void tell_after(void *fake, const void **stack, size_t *size) {
#if defined(SANITIZE_address)
    __sanitizer_finish_switch_fiber(fake, stack, size);
#endif
    (void)fake, (void)stack, (void)size;
}
static void fiber_main();
__attribute__((noinline, noreturn)) static void jump(void **place) { __builtin_longjmp(place, 1); }
__attribute__((noinline, noreturn)) static void start(Fiber *fiber) {
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = fiber->stack.get();
    context.uc_stack.ss_size = Fiber::stack_size;
    context.uc_link = nullptr;
    makecontext(&context, fiber_main, 0);
    fiber->started = true;
    setcontext(&context);
    std::abort();
}
__attribute__((noinline)) static void to_fiber(Fiber *fiber) {
    void *fake = nullptr;
    tell_before(fiber->stack.get(), Fiber::stack_size, fiber->tsan, &fake);
    if (!__builtin_setjmp(scheduler_place)) {
        if (fiber->started) jump(fiber->place);
        start(fiber);
    }
    tell_after(fake, nullptr, nullptr);
}
__attribute__((noinline)) static void to_scheduler() {
    void *fake = nullptr;
    tell_before(scheduler_stack, scheduler_stack_size, tsan_scheduler, &fake);
    if (!__builtin_setjmp(current->place)) jump(scheduler_place);
    tell_after(fake, &scheduler_stack, &scheduler_stack_size);
}
static void wait(State state) {
    current->state = state;
    to_scheduler();
}

/* What ThreadSanitizer is told: a barrier releases what its threads did before, and they acquire it behind it. Two for each kind
   of barrier, in turn: a fiber may reach the next one while others have not left this one. */
static char block_barrier[2], warp_barrier[64][2], start_of_block, end_of_block;
static void release(void *barrier) {
#if defined(SANITIZE_thread)
    __tsan_release(barrier);
#endif
    (void)barrier;
}
static void acquire(void *barrier) {
#if defined(SANITIZE_thread)
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
    tell_after(nullptr, &scheduler_stack, &scheduler_stack_size);
    for (;;) { /* one block after the other */
        acquire(&start_of_block);
        call->enter(*call);
        release(&end_of_block);
        wait(DONE);
    }
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
#if defined(SANITIZE_thread)
    tsan_scheduler = __tsan_get_current_fiber();
#endif
    release(&start_of_block);
    for (unsigned thread = 0; thread < threads; thread++) {
        Fiber &fiber = fibers[thread];
        fiber.state = RUNNING;
        fiber.passed[0] = fiber.passed[1] = fiber.shown = 0;
        fiber.copies.assign(1, {});
#if defined(SANITIZE_thread)
        if (!fiber.tsan) fiber.tsan = __tsan_create_fiber(0);
#endif
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

/* What the lanes of a warp show each other within one instruction. It is no barrier for the memory that they share, so that
   ThreadSanitizer is not told. Two places in turn: a lane may be at the next instruction while others still look. */
struct Shown { const void *pointer; float rows[8], cols[4]; };
static Shown shown[64][2][32];
static Shown *turn() { return shown[thread_index.x / 32][current->shown % 2]; }
void show_warp(const void *mine) {
    current->shown++;
    turn()[thread_index.x % 32].pointer = mine;
    wait(AT_WARP_BARRIER);
}
const void *of_lane(unsigned lane) { return turn()[lane].pointer; }

/* A register n of 4 has rows l / 4 + n % 2 * 8 and the n / 2-th half of the depth, of which lane l has `numbers` from l % 4 * numbers
   on; the columns' two have column l / 4 alike. */
void mma(float *const (&sums)[4], const float (&rows)[8], const float (&cols)[4], int numbers) {
    const int lane = thread_index.x % 32;
    current->shown++;
    for (int i = 0; i < 4 * numbers; i++) turn()[lane].rows[i] = rows[i];
    for (int i = 0; i < 2 * numbers; i++) turn()[lane].cols[i] = cols[i];
    wait(AT_WARP_BARRIER);
    const Shown *lanes = turn();
    for (int n = 0; n < 4; n++) {
        const int row = lane / 4 + n / 2 * 8, col = lane % 4 * 2 + n % 2;
        float sum = *sums[n];
        for (int half = 0; half < 2; half++)
            for (int owner = 0; owner < 4; owner++)
                for (int number = 0; number < numbers; number++)
                    sum += lanes[row % 8 * 4 + owner].rows[(row / 8 + 2 * half) * numbers + number] *
                           lanes[col * 4 + owner].cols[half * numbers + number];
        *sums[n] = sum;
    }
}

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
    static std::mutex one_at_a_time;
    const std::lock_guard<std::mutex> guard(one_at_a_time);
    call = &given;
    if (fibers.size() < block) fibers.resize(block);
    block_size = {block, 1, 1};
    grid_size = {grid, 1, 1};
    copies_wait = !reversed;
    fault = 0;
    int parted = 0;
    std::unique_ptr<unsigned char, decltype(&free)> memory((unsigned char *)aligned_alloc(128, (shared + 127) / 128 * 128), &free);
    dynamic_memory = memory.get();
    for (unsigned i = 0; i < grid && !parted; i++) {
        memset(dynamic_memory, 0x4b, shared); /* garbage, but no NaN, which a kernel would recompute */
        block_index = {reversed ? grid - 1 - i : i, 0, 0};
        parted = run_block(block, reversed);
    }
    if (parted) fibers.clear(); /* some are in the middle of the kernel */
    return parted ? 1 : fault ? 2 : 0;
}
} // namespace shim
