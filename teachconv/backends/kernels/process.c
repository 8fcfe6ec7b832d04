/* What kernels need of the process: memory, its lock, and the record of paths. */
#include "problem.h"
#include "crew.h"
#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(_WIN32) || defined(__GLIBC__)
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
    return _aligned_malloc(bytes, LINE_BYTES);
#else
    const size_t unit = bytes >= HUGE_PAGE ? HUGE_PAGE : LINE_BYTES;
    const size_t size = (bytes + unit - 1) / unit * unit; /* C11 requires a multiple of the alignment */
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

/* ---- free blocks are kept for later calls. The system would take large ones back, and then each of their pages is a
   page fault again. A block in use is in no table; the line before its memory says how large it is ---- */

#define WORTH_KEEPING ((size_t)64 * 1024) /* smaller blocks the system keeps itself; sizes are rounded up to this */
#define MOST_KEPT 64

typedef struct {
    void *block;
    size_t bytes; /* without the line before it */
} kept_block;

static kept_block kept[MOST_KEPT]; /* the one that was freed first comes first */
static int kept_count = 0;
static size_t kept_bytes = 0; /* of all of them */

#if defined(CREW_THREADS)
static size_t most_kept_bytes = KEPT_BYTES;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void hold_lock(void) { pthread_mutex_lock(&lock); }
void unlock_process(void) { pthread_mutex_unlock(&lock); }

static void unlock_in_child(void) {
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

static void *take_kept(int index) {
    void *block = kept[index].block;
    kept_bytes -= kept[index].bytes;
    kept_count--;
    memmove(&kept[index], &kept[index + 1], (size_t)(kept_count - index) * sizeof(kept_block));
    return block;
}

/* Gives blocks back to the system, those first that were freed first, until at most `most` bytes are left. */
static void forget_blocks(size_t most) {
    while (kept_bytes > most) release(take_kept(0));
}

void keep_scratch(ptrdiff_t bytes) {
    lock_process();
#if defined(CREW_THREADS)
    most_kept_bytes = (size_t)bytes;
#endif
    forget_blocks((size_t)bytes);
    unlock_process();
#if defined(__GLIBC__)
    if (!bytes) malloc_trim(0); /* glibc keeps what fits into its heap, up to twice its largest block */
#endif
}

/* Returns the smallest kept block that is large enough and has at most `most` bytes, or NULL. */
static void *find_block(size_t bytes, size_t most) {
    int best = -1;
    lock_process();
    for (int i = 0; i < kept_count; i++) {
        const size_t size = kept[i].bytes;
        if (size >= bytes && size <= most && (best < 0 || size < kept[best].bytes)) best = i;
    }
    void *block = best < 0 ? NULL : take_kept(best);
    unlock_process();
    return block;
}

static void *new_block(size_t bytes, size_t most) {
    if (bytes > PTRDIFF_MAX - 2 * HUGE_PAGE) return NULL;
    if (bytes >= WORTH_KEEPING) bytes = (bytes + WORTH_KEEPING - 1) / WORTH_KEEPING * WORTH_KEEPING;
    char *block = bytes >= WORTH_KEEPING ? find_block(bytes, most) : NULL;
    if (!block && !(block = allocate(LINE_BYTES + bytes))) {
        lock_process();
        forget_blocks(0);
        unlock_process();
        if (!(block = allocate(LINE_BYTES + bytes))) return NULL;
    }
    *(size_t *)block = bytes;
    return block + LINE_BYTES;
}

void *new_scratch(ptrdiff_t bytes) { return new_block((size_t)bytes, SIZE_MAX); } /* a negative size is too large */

static size_t bytes_of(const void *memory) { return *(const size_t *)((const char *)memory - LINE_BYTES); }

void free_scratch(void *memory) {
    if (!memory) return;
    void *block = (char *)memory - LINE_BYTES;
    const size_t bytes = bytes_of(memory);
    if (bytes >= WORTH_KEEPING) {
        lock_process();
        if (bytes <= most_kept_bytes) {
            if (kept_count == MOST_KEPT) release(take_kept(0));
            forget_blocks(most_kept_bytes - bytes);
            kept[kept_count++] = (kept_block){block, bytes};
            kept_bytes += bytes;
            block = NULL;
        }
        unlock_process();
    }
    if (block) release(block);
}

/* ---- memory of arrays, in the form in which NumPy asks for it (PyDataMem_Handler) ---- */

/* A kept block of up to a quarter more will do: an array may live for long. */
void *new_array(void *unused, size_t bytes) {
    (void)unused;
    return new_block(bytes, bytes + bytes / 4 + WORTH_KEEPING);
}

void *new_zeros(void *unused, size_t count, size_t each) {
    if (each && count > PTRDIFF_MAX / each) return NULL;
    void *memory = new_array(unused, count * each);
    return memory ? memset(memory, 0, count * each) : NULL;
}

void *resized_array(void *unused, void *memory, size_t bytes) {
    void *other = new_array(unused, bytes);
    if (!other || !memory) return other;
    memcpy(other, memory, bytes_of(memory) < bytes ? bytes_of(memory) : bytes);
    free_scratch(memory);
    return other;
}

void free_array(void *unused, void *memory, size_t unreliable) { /* NumPy gives another size for an empty array */
    (void)unused, (void)unreliable;
    free_scratch(memory);
}
