/* What kernels need of the process: scratch memory, its lock, and the record of paths. */
#include "problem.h"
#include "crew.h"
#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(_WIN32)
#include <malloc.h>
#endif
#if defined(CREW_THREADS)
#include <pthread.h>
#endif

int teachconv_paths = 0;

#define NAME_OF_PATH(path, name) name,
const char *const teachconv_path_names[PATH_COUNT] = {PATHS(NAME_OF_PATH)};

#define HUGE_PAGE (2 * 1024 * 1024)

/* A block of 2 MB or more is aligned to that and advised to consist of huge pages: the first touch of each of
   its 4 KB pages would be a page fault, 512 times as many. Where the system has no huge pages, the advice is
   without effect. */
static void *allocate(size_t bytes) {
#if defined(_WIN32)
    return _aligned_malloc(bytes + LINE_BYTES, LINE_BYTES);
#else
    const size_t unit = bytes >= HUGE_PAGE ? HUGE_PAGE : LINE_BYTES;
    /* C11 requires a multiple of the alignment; at least a line is allocated, and one more than is asked for */
    const size_t size = (bytes + LINE_BYTES + unit - 1) / unit * unit;
    void *block = aligned_alloc(unit, size);
#if defined(MADV_HUGEPAGE)
    if (block && unit == HUGE_PAGE) madvise(block, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#endif
    return block;
#endif
}

static void release(void *block) {
#if defined(_WIN32)
    _aligned_free(block);
#else
    free(block);
#endif
}

/* ---- blocks that no call uses are kept for later calls. The system would take large ones back, and then each of
   their pages is a page fault again ---- */

#define WORTH_KEEPING ((size_t)64 * 1024) /* smaller blocks the system keeps itself; sizes are rounded up to this */
#define MOST_KEPT 64

typedef struct {
    void *block;  /* or NULL */
    size_t bytes;
    int lent; /* to a call */
} kept_block;

static kept_block kept[MOST_KEPT];
static size_t kept_bytes = 0; /* of all of them */

#define EACH_KEPT(k) for (kept_block *k = kept; k < kept + MOST_KEPT; k++)

#if defined(CREW_THREADS)
static size_t most_kept_bytes = KEPT_BYTES;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void hold_lock(void) { pthread_mutex_lock(&lock); }
void unlock_process(void) { pthread_mutex_unlock(&lock); }

/* A forked child has none of the threads that blocks were lent to. */
static void unlock_in_child(void) {
    EACH_KEPT(k) k->lent = 0;
    forget_workers();
    unlock_process();
}

static void prepare_for_forks(void) {
#if defined(__unix__) || defined(__APPLE__)
    pthread_atfork(hold_lock, unlock_process, unlock_in_child);
#endif
}

/* The lock is never taken before forks are prepared for: a child would inherit it locked, for ever. */
void lock_process(void) {
    static pthread_once_t prepared = PTHREAD_ONCE_INIT;
    pthread_once(&prepared, prepare_for_forks);
    hold_lock();
}
#else /* without a lock nothing is kept */
static size_t most_kept_bytes = 0;
void unlock_process(void) {}
void lock_process(void) {}
#endif

/* Gives blocks that no call uses back to the system, until those that are left take at most `most` bytes. */
static void forget_blocks(size_t most) {
    EACH_KEPT(k) {
        if (!k->block || k->lent || kept_bytes <= most) continue;
        release(k->block);
        kept_bytes -= k->bytes;
        k->block = NULL;
    }
}

/* Returns the smallest block that is large enough, or a new one; NULL if that would be too much to keep. */
static kept_block *find_block(size_t bytes) {
    kept_block *found = NULL, *empty = NULL;
    EACH_KEPT(k) {
        if (k->block && !k->lent && k->bytes >= bytes && (!found || k->bytes < found->bytes)) found = k;
    }
    if (found || bytes > most_kept_bytes) return found;
    forget_blocks(most_kept_bytes - bytes); /* all of them are too small */
    if (kept_bytes > most_kept_bytes - bytes) return NULL;
    EACH_KEPT(k) {
        if (!k->block && !empty) empty = k;
    }
    if (!empty || !(empty->block = allocate(bytes))) return NULL;
    empty->bytes = bytes;
    kept_bytes += bytes;
    return empty;
}

void *new_scratch(ptrdiff_t bytes) {
    if (bytes < 0 || bytes > PTRDIFF_MAX - 2 * HUGE_PAGE) return NULL;
    size_t size = (size_t)bytes;
    if (size < WORTH_KEEPING) return allocate(size);
    size = (size + WORTH_KEEPING - 1) / WORTH_KEEPING * WORTH_KEEPING;
    lock_process();
    kept_block *found = find_block(size);
    void *block = found ? found->block : NULL;
    if (found) found->lent = 1;
    if (!block && !(block = allocate(size))) {
        forget_blocks(0);
        block = allocate(size);
    }
    unlock_process();
    return block;
}

void free_scratch(void *block) {
    int is_kept = 0;
    lock_process();
    EACH_KEPT(k) {
        if (block && k->block == block) is_kept = 1, k->lent = 0;
    }
    if (is_kept) forget_blocks(most_kept_bytes);
    unlock_process();
    if (!is_kept) release(block);
}

void keep_scratch(ptrdiff_t bytes) {
    lock_process();
#if defined(CREW_THREADS)
    most_kept_bytes = (size_t)bytes;
#endif
    forget_blocks((size_t)bytes);
    unlock_process();
}
