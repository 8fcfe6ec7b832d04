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
    if (kept_bytes != KEPT_BYTES || new_scratch(1 << 20) != blocks[0]) return 4;
    keep_scratch(0);
    if (kept_bytes != 1 << 20) return 5; /* the one that is lent */
    free_scratch(blocks[0]);
    if (kept_bytes) return 6;
    keep_scratch(KEPT_BYTES);
    pthread_t threads[4];
    int numbers[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, thread, &numbers[i]);
    for (int i = 0; argc > 1 && i < 20; i++) {
        const pid_t child = fork();
        if (!child) {
            alarm(20);
            use(99);
            for (int k = 0; k < MOST_KEPT; k++)
                if (kept[k].lent) _exit(8);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        if (status) return 7;
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    puts("right");
    return 0;
}
