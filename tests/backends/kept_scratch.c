/* Scratch that is kept for later calls: its bound, its release, many threads, and children forked meanwhile.
   Without arguments it does not fork, which ThreadSanitizer does not allow beside threads. */
#include "process.c"
#include "crew.c"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
/* Takes blocks of several sizes, which nobody else may have at the same time. */
static void use(int number) {
    for (int i = 0; i < 300; i++) {
        const ptrdiff_t bytes = 1 << (14 + (i * 7 + number) % 9);
        volatile int *block = new_scratch(bytes);
        if (!block) exit(2);
        block[0] = block[bytes / 4 - 1] = number;
        for (int wait = 0; wait < 50; wait++) breathe();
        if (block[0] != number || block[bytes / 4 - 1] != number) exit(3);
        free_scratch((void *)block);
        if (i % 64 == 63) keep_scratch(0), keep_scratch(KEPT_BYTES);
    }
}

static int work(const void *call, const crew_member *me) {
    use(*(const int *)call * 10 + me->rank);
    return 0;
}

static void *thread(void *number) {
    run_crew(3, work, number);
    return NULL;
}

int main(int argc, char **argv) {
    void *blocks[100];
    (void)argv;
    for (int i = 0; i < 100; i++) blocks[i] = new_scratch(1 << 20);
    for (int i = 0; i < 100; i++) free_scratch(blocks[i]);
    if (kept_bytes != KEPT_BYTES || new_scratch(1 << 20) != blocks[36]) return 4; /* those freed last are kept */
    keep_scratch(0);
    free_scratch(blocks[36]);
    if (kept_bytes) return 5;
    keep_scratch(KEPT_BYTES);
    free_scratch(new_scratch(1 << 20));
    char *small = new_array(NULL, 1 << 17); /* not from the block of 1 MB, most of which it would not use */
    if (kept_bytes != 1 << 20) return 6;
    memset(small, 1, 1 << 17);
    char *large = resized_array(NULL, small, 1 << 20);
    if (kept_bytes != 1 << 17 || large[0] != 1 || large[(1 << 17) - 1] != 1) return 9;
    free_array(NULL, large, 1); /* NumPy's size of an empty array */
    large = new_zeros(NULL, 1 << 10, 1 << 10);
    if (large[0] || large[(1 << 17) - 1] || kept_bytes != 1 << 17) return 10;
    if (new_zeros(NULL, SIZE_MAX / 2, 3) || new_scratch(-1) || new_array(NULL, SIZE_MAX)) return 11;
    free_array(NULL, large, 1 << 20);
    if (!new_array(NULL, 0)) return 12;
    pthread_t threads[4];
    int numbers[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, thread, &numbers[i]);
    for (int i = 0; argc > 1 && i < 20; i++) {
        const pid_t child = fork();
        if (!child) {
            alarm(20);
            use(99);
            keep_scratch(0);
            _exit(kept_bytes || kept_count ? 8 : 0);
        }
        int status;
        waitpid(child, &status, 0);
        if (status) return 7;
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    puts("right");
    return 0;
}
