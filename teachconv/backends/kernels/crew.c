/* The pool of threads behind crew.h. */
#include "crew.h"

static crew_shortage shortage = {0, 0, 0};

static int no_more_than(int asked, int size, int reason) {
    lock_process();
    if (!shortage.reason || size < shortage.size) shortage = (crew_shortage){asked, size, reason};
    unlock_process();
    return size;
}

crew_shortage take_shortage(void) {
    lock_process();
    const crew_shortage taken = shortage;
    shortage.reason = 0;
    unlock_process();
    return taken;
}

#if defined(CREW_THREADS)
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

/* Kernels and BLAS need less than 100 KB; the system's default, often 8 MB, would be taken from a limit on the
   address space. */
#define STACK_BYTES ((size_t)1024 * 1024)

/* Nanoseconds. A thread looks for LOOK_TIME before it sleeps: waking it takes 5 to 50 microseconds, as long as a call of
   a millisecond may lose, and networks call again within that time. It gives way to others as it looks; where one of
   them took the processor for TAKEN_TIME, all threads look only briefly for BUSY_TIME, because one that sleeps is given
   a shared processor sooner. */
enum { LOOK_TIME = 200000, TAKEN_TIME = 50000, BUSY_TIME = 100000000, LOOKS = 100 /* between two looks at the clock */ };

static inline void breathe(void) { /* leaves the core's units to the other hardware thread for a moment */
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Where threads sleep until a number changes. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
} bed;

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
}

static atomic_llong busy_until = 0;

/* Waits while *number is `old`. */
static void wait_while(bed *b, atomic_uint *number, unsigned old) {
    int64_t time = nanoseconds(), before;
    const int64_t end = time < atomic_load(&busy_until) ? time : time + LOOK_TIME;
    do {
        for (int look = 0; look < LOOKS; look++, breathe())
            if (atomic_load(number) != old) return;
        if (time < end) sched_yield();
        before = time, time = nanoseconds();
    } while (time < end && time - before < TAKEN_TIME);
    if (time - before >= TAKEN_TIME) atomic_store(&busy_until, time + BUSY_TIME);
    pthread_mutex_lock(&b->lock);
    while (atomic_load(number) == old) pthread_cond_wait(&b->changed, &b->lock);
    pthread_mutex_unlock(&b->lock);
}

/* Wakes those who wait for a number that was changed before. */
static void wake(bed *b) {
    pthread_mutex_lock(&b->lock);
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

struct crew {
    crew_work work;
    const void *call;
    int size;
    bed *where; /* the first worker's, where the whole crew waits: it outlives the crew, see work_for_crews */
    atomic_int status;
    atomic_uint working, finished;
    atomic_uint arrived, meetings;
    atomic_ptrdiff_t taken;
};

typedef struct worker worker;
struct worker {
    worker *next; /* in the pool, or in the crew */
    bed bed;
    atomic_uint calls; /* to a crew, until now */
    crew_member me;    /* in the last one */
    void *set_aside;   /* while a crew is gathered: as much memory as its scratch will take */
};

static worker *pool = NULL; /* the workers that are in no crew */

void forget_workers(void) { pool = NULL; }

static void *work_for_crews(void *argument) {
    worker *w = argument;
    for (unsigned calls = 0;; calls++) {
        wait_while(&w->bed, &w->calls, calls);
        crew *c = w->me.crew;
        bed *where = c->where;
        atomic_fetch_or(&c->status, c->work(c->call, &w->me));
        if (atomic_fetch_sub(&c->working, 1) == 1) {
            atomic_store(&c->finished, 1); /* after this the crew may be gone, but no worker ever is */
            wake(where);
        }
    }
    return NULL;
}

static int no_memory_for_a_stack(void) { /* pthread_create says EAGAIN in either case */
#if defined(MAP_ANON)
    void *block = mmap(NULL, 2 * STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (block == MAP_FAILED) return 1;
    munmap(block, 2 * STACK_BYTES);
#endif
    return 0;
}

/* Creates a worker; returns NULL and sets the reason if it cannot. */
static worker *new_worker(int *reason) {
    worker *w = calloc(1, sizeof *w);
    void *set_aside = w ? new_scratch(SCRATCH_BYTES) : NULL;
    pthread_attr_t attributes;
    *reason = CREW_NO_MEMORY;
    if (set_aside && !pthread_attr_init(&attributes)) {
        pthread_t thread;
        pthread_mutex_init(&w->bed.lock, NULL);
        pthread_cond_init(&w->bed.changed, NULL);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
        w->set_aside = set_aside;
        *reason = !pthread_create(&thread, &attributes, work_for_crews, w) ? 0
                  : no_memory_for_a_stack()                                 ? CREW_NO_MEMORY
                                                                            : CREW_NO_THREAD;
        pthread_attr_destroy(&attributes);
        if (!*reason) return w;
    }
    free_scratch(set_aside);
    free(w);
    return NULL;
}

/* Takes workers for a crew of `asked` threads from the pool, or creates them; returns the crew's size. */
static int hire(int asked, worker **hired) {
    int size = 1, reason = 0;
    *hired = NULL;
    lock_process();
    for (worker *w; size < asked && (w = pool); size++) pool = w->next, w->next = *hired, *hired = w;
    unlock_process();
    for (worker *w; size < asked && (w = new_worker(&reason)); size++) w->next = *hired, *hired = w;
    for (worker *w = *hired; w && w->set_aside; w = w->next) { /* the new ones are in front */
        free_scratch(w->set_aside);
        w->set_aside = NULL;
    }
    return reason ? no_more_than(asked, size, reason) : size;
}

/* Gives the workers of a crew back to the pool. */
static void dismiss(worker *hired) {
    worker *last = hired;
    while (last->next) last = last->next;
    lock_process();
    last->next = pool, pool = hired;
    unlock_process();
}

int run_crew(int threads, crew_work work, const void *call) {
    worker *hired;
    const int size = hire(threads, &hired);
    if (size == 1) return in_crew(1, work, call);
    crew c = {.work = work, .call = call, .size = size, .where = &hired->bed, .working = (unsigned)size - 1};
    int rank = 1;
    for (worker *w = hired; w; w = w->next) {
        w->me = (crew_member){&c, rank++, size};
        atomic_fetch_add(&w->calls, 1);
        wake(&w->bed);
    }
    const crew_member me = {&c, 0, size};
    const int status = work(call, &me);
    wait_while(c.where, &c.finished, 0);
    dismiss(hired);
    return status | atomic_load(&c.status);
}

void crew_meet(crew *c) {
    const unsigned meetings = atomic_load(&c->meetings);
    if (atomic_fetch_add(&c->arrived, 1) + 1 < (unsigned)c->size) {
        wait_while(c->where, &c->meetings, meetings);
        return;
    }
    atomic_store(&c->arrived, 0);
    atomic_store(&c->taken, 0);
    atomic_store(&c->meetings, meetings + 1);
    wake(c->where);
}

ptrdiff_t crew_take(crew *c, ptrdiff_t count) { return atomic_fetch_add(&c->taken, count); }

#else /* one thread */

void forget_workers(void) {}

int run_crew(int threads, crew_work work, const void *call) {
    no_more_than(threads, 1, CREW_UNSUPPORTED);
    return in_crew(1, work, call);
}

void crew_meet(crew *c) { (void)c; }

ptrdiff_t crew_take(crew *c, ptrdiff_t count) {
    (void)c;
    return count;
}
#endif
