/* A crew: the threads that share one call of a kernel.

     in_crew(3, work, call)      the caller   ---- work(call, {rank 0 of 3}) ----  waits for the others
                                 a worker     ---- work(call, {rank 1 of 3}) ----
                                 a worker     ---- work(call, {rank 2 of 3}) ----

   Workers are threads of a pool. Between two crews they wait, for a while actively, then asleep: waking up takes
   longer than a small call, but waiting actively is very slow on shared cores (see LOOK_TIME in crew.c).

   A crew is smaller than asked for if the system refuses a thread, or has no memory for its stack and its
   scratch. (An OpenMP library ends the process there.) So a kernel takes the size from its crew_member, never
   from what it asked for; results must not depend on it. */
#ifndef TEACHCONV_CREW_H
#define TEACHCONV_CREW_H
#include "problem.h"

#if defined(__has_include)
#if __has_include(<pthread.h>) && !defined(__STDC_NO_ATOMICS__)
#define CREW_THREADS
#endif
#endif

/* One lock for what all calls share: the pool of workers, and the scratch that is kept (process.c). It is free in a
   forked child, which has none of its parent's workers. */
void lock_process(void);
void unlock_process(void);
void forget_workers(void);

typedef struct crew crew;

/* What a thread knows of its crew. crew is NULL if it is alone. */
typedef struct {
    crew *crew;
    int rank, size;
} crew_member;

/* What every thread of a crew runs. It returns a status, and in_crew returns those of all threads, or-ed. */
typedef int (*crew_work)(const void *call, const crew_member *me);

int run_crew(int threads, crew_work work, const void *call);

/* One thread makes the call without a crew: gathering one takes about a microsecond. */
static inline int in_crew(int threads, crew_work work, const void *call) {
    static const crew_member alone = {NULL, 0, 1};
    return threads == 1 ? work(call, &alone) : run_crew(threads, work, call);
}

/* Waits until every thread of the crew has come here. */
void crew_meet(crew *crew);
static inline void meet(const crew_member *me) {
    if (me->crew) crew_meet(me->crew);
}

/* Returns the first job of a thread's share: contiguous jobs, as many for each thread, or one more. */
static inline ptrdiff_t share_start(ptrdiff_t jobs, int rank, int size) {
    if (size == 1) return rank ? jobs : 0; /* a division takes up to 90 cycles */
    return jobs / size * rank + smaller(jobs % size, rank);
}

/* Returns the size of blocks of at most `most` jobs, of which there are as many for each thread. */
static inline ptrdiff_t even_block(ptrdiff_t jobs, ptrdiff_t most, int threads) {
    return divide_up(jobs, round_up(divide_up(jobs, most), threads));
}

/* Runs the statement for each job of 0, 1, .. jobs-1 in this thread's share. */
#define EACH_JOB(me, job, jobs, statement)                                                         \
    do {                                                                                           \
        const ptrdiff_t job##_past = share_start(jobs, (me)->rank + 1, (me)->size);                \
        for (ptrdiff_t job = share_start(jobs, (me)->rank, (me)->size); job < job##_past; job++) { \
            statement;                                                                             \
        }                                                                                          \
    } while (0)

/* Takes the next `count` jobs, counted from 0 again after each crew_meet; returns the first of them. */
ptrdiff_t crew_take(crew *crew, ptrdiff_t count);

/* Returns where the jobs begin that the thread takes next; `before` is where those before began, or -count. */
static inline ptrdiff_t next_jobs(const crew_member *me, ptrdiff_t count, ptrdiff_t before) {
    return me->crew ? crew_take(me->crew, count) : before + count;
}

/* Runs the statement for jobs of 0, 1, .. jobs-1 that no other thread has taken yet, `count` at a time: for
   jobs of which some take longer than others. */
#define EACH_JOB_TAKEN(me, count, job, jobs, statement)                                                                 \
    do {                                                                                                               \
        for (ptrdiff_t job##_first = next_jobs(me, count, -(ptrdiff_t)(count)); job##_first < (jobs);                  \
             job##_first = next_jobs(me, count, job##_first)) {                                                        \
            for (ptrdiff_t job = job##_first; job < smaller(jobs, job##_first + (count)); job++) {                     \
                statement;                                                                                             \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

/* Why a crew was smaller than asked for: no memory for a thread's stack and scratch, no more threads allowed,
   or a system without POSIX threads. */
enum { CREW_NO_MEMORY = 1, CREW_NO_THREAD = 2, CREW_UNSUPPORTED = 3 };

/* The smallest of the crews that were smaller than asked for; reason is 0 if there was none. */
typedef struct {
    int asked, size, reason;
} crew_shortage;

/* Returns the shortage since the last call; it may have been another Python thread's. */
crew_shortage take_shortage(void);

#endif
