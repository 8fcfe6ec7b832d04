/* What kernels need of the process: scratch memory, and the record of paths. */
#include "problem.h"
#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(_WIN32)
#include <malloc.h>
#endif

int teachconv_paths = 0;

#define NAME_OF_PATH(path, name) name,
const char *const teachconv_path_names[PATH_COUNT] = {PATHS(NAME_OF_PATH)};

#define CACHE_LINE 64
#define HUGE_PAGE (2 * 1024 * 1024)

/* A block of 2 MB or more is aligned to that and advised to consist of huge pages: the first touch of each of
   its 4 KB pages would be a page fault, 512 times as many. Where the system has no huge pages, the advice is
   without effect. */
void *new_scratch(ptrdiff_t bytes) {
    if (bytes < 0 || bytes > PTRDIFF_MAX - 2 * HUGE_PAGE) return NULL;
#if defined(_WIN32)
    return _aligned_malloc((size_t)bytes + CACHE_LINE, CACHE_LINE);
#else
    const size_t unit = bytes >= HUGE_PAGE ? HUGE_PAGE : CACHE_LINE;
    /* C11 requires a multiple of the alignment; at least a line is allocated, and one more than is asked for */
    const size_t size = ((size_t)bytes + CACHE_LINE + unit - 1) / unit * unit;
    void *block = aligned_alloc(unit, size);
#if defined(MADV_HUGEPAGE)
    if (block && unit == HUGE_PAGE) madvise(block, (size_t)bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#endif
    return block;
#endif
}

void free_scratch(void *block) {
#if defined(_WIN32)
    _aligned_free(block);
#else
    free(block);
#endif
}
