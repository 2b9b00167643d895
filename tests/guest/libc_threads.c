/* Threads of a C library: what they share, how they wait, and what goes wrong. The first argument says what to do. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MOST = 32, ROUNDS = 3000 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static int go;
static long sum;
static atomic_long counted;
static __thread long mine;

static void *count(void *argument)
{
    const long id = (long)argument;
    pthread_mutex_lock(&mutex);
    while (!go)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < ROUNDS; i++) {
        atomic_fetch_add(&counted, 1);
        mine++;
        if (i % 50 == 0) {
            pthread_mutex_lock(&mutex);
            sum += id;
            pthread_mutex_unlock(&mutex);
        }
    }
    pthread_barrier_wait(&barrier);
    return (void *)mine;
}

/* Every primitive once, with as many threads as asked for. */
static int do_count(int threads)
{
    pthread_t thread[THREADS_MOST];
    long total = 0;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, count, (void *)i))
            return 9;
    pthread_mutex_lock(&mutex);
    go = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < threads; i++) {
        void *result;
        pthread_join(thread[i], &result);
        total += (long)result;
    }
    printf("sum %ld counted %ld total %ld mine %ld\n", sum, (long)counted, total, mine);
    return 0;
}

static void *wait_a_while(void *argument)
{
    const long id = (long)argument;
    const struct timespec pause = {0, 100000 * (10 - id)};
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&mutex);
    printf("thread %ld\n", id);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* Who sleeps longest is last. */
static int do_sleep(void)
{
    pthread_t thread[4];
    struct timespec before, after, soon;
    for (long i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, wait_a_while, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    clock_gettime(CLOCK_REALTIME, &before);
    soon = before;
    soon.tv_nsec += 2000000;
    pthread_mutex_lock(&mutex);
    const int result = pthread_cond_timedwait(&changed, &mutex, &soon);
    clock_gettime(CLOCK_REALTIME, &after);
    printf("timed out %d, late %d\n", result == ETIMEDOUT,
           (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec >= soon.tv_nsec);
    return 0;
}

static long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Sleeps alone, before there are other threads and behind them; says how long all of it took. */
static int do_nap(void)
{
    const struct timespec pause = {0, 5000000};
    const long begin = now_ns();
    for (int round = 0; round < 2; round++) {
        pthread_t thread;
        nanosleep(&pause, NULL);
        pthread_create(&thread, NULL, wait_a_while, (void *)0);
        pthread_join(thread, NULL);
    }
    nanosleep(&pause, NULL);
    printf("took %ld ns\n", now_ns() - begin);
    return 0;
}

static void *multiply(void *argument)
{
    volatile double *const x = argument;
    for (int i = 0; i < 40000; i++)
        *x = *x * 1.0000001 + 1e-9;
    return NULL;
}

/* Four threads that do the same, while the first one waits. */
static int do_four(void)
{
    pthread_t thread[4];
    double x[4 * 16] = {0};
    for (long i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, multiply, &x[16 * i]);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    printf("four %d\n", x[0] == x[16] && x[16] == x[32] && x[32] == x[48]);
    return 0;
}

static void *lock_both(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&second);
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&mutex);
    return NULL;
}

static int do_deadlock(void)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, lock_both, NULL);
    pthread_mutex_lock(&mutex);
    pthread_barrier_wait(&barrier);
    puts("now both wait");
    fflush(stdout);
    pthread_mutex_lock(&second);
    return 0;
}

static volatile sig_atomic_t ticks, users;

static void on_tick(int signal)
{
    if (signal == SIGALRM)
        ticks++;
    else
        users++;
}

static void *spin(void *argument)
{
    while (users < 3)
        *(volatile long *)argument += 1;
    return NULL;
}

/* Timers interrupt a loop and a sleep, and a thread is sent signals while it computes. */
static int do_signals(void)
{
    const struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_tick};
    const struct timespec pause = {1, 0};
    pthread_t thread;
    long work = 0;
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    double x = 1;
    while (ticks < 5)
        x = x * 1.0000001 + 1e-9;
    const int interrupted = nanosleep(&pause, NULL) == -1 && errno == EINTR;
    setitimer(ITIMER_REAL, &never, NULL);
    pthread_create(&thread, NULL, spin, &work);
    while (users < 3) {
        const int before = users;
        pthread_kill(thread, SIGUSR1);
        while (users == before)
            sched_yield();
    }
    pthread_join(thread, NULL);
    printf("ticks %d interrupted %d users %d x %d\n", ticks >= 6, interrupted, users, x > 1);
    return 0;
}

static volatile int *nowhere;
static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
    printf("signal %d at %p\n", signal, info->si_addr);
    fflush(stdout);
    _exit(7);
}

static int do_fault(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    return *nowhere;
}

static int pipe_end[2];
static void *write_numbers(void *argument)
{
    (void)argument;
    for (int i = 0; i < 20000; i++)
        if (write(pipe_end[1], &i, sizeof i) != sizeof i)
            return NULL;
    close(pipe_end[1]);
    return NULL;
}

/* More than a pipe holds. */
static int do_pipe(void)
{
    pthread_t thread;
    long total = 0;
    int i;
    if (pipe(pipe_end))
        return 9;
    pthread_create(&thread, NULL, write_numbers, NULL);
    while (read(pipe_end[0], &i, sizeof i) == sizeof i)
        total += i;
    pthread_join(thread, NULL);
    printf("total %ld\n", total);
    return 0;
}

static void *hold_and_leave(void *argument)
{
    pthread_mutex_lock(argument);
    return NULL;
}

/* A robust mutex tells the next owner that the last one has gone. */
static int do_robust(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t robust;
    pthread_t thread;
    sem_t semaphore;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attributes);
    pthread_create(&thread, NULL, hold_and_leave, &robust);
    pthread_join(thread, NULL);
    const int owner_gone = pthread_mutex_lock(&robust) == EOWNERDEAD;
    sem_init(&semaphore, 0, 1);
    sem_wait(&semaphore);
    printf("owner gone %d, semaphore %d\n", owner_gone, sem_trywait(&semaphore) == -1 && errno == EAGAIN);
    return 0;
}

static void *add_with_priority(void *argument)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(argument);
        sum += i;
        pthread_mutex_unlock(argument);
    }
    return NULL;
}

/* Mutexes that pass priority on: contended, left locked by a thread that ends, waited for in vain. */
static int do_priority(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t heir;
    pthread_t thread[4];
    struct timespec soon;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&heir, &attributes);
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, add_with_priority, &heir);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    pthread_create(&thread[0], NULL, hold_and_leave, &heir);
    pthread_join(thread[0], NULL);
    const int owner_gone = pthread_mutex_lock(&heir) == EOWNERDEAD;
    pthread_mutex_consistent(&heir);
    const int again = pthread_mutex_trylock(&heir);
    pthread_mutex_unlock(&heir);
    pthread_create(&thread[0], NULL, hold_and_leave, &heir);
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += 1;
    pthread_join(thread[0], NULL);
    printf("sum %ld owner gone %d again %d timed %d\n", sum, owner_gone, again == EBUSY || again == EDEADLK,
           pthread_mutex_timedlock(&heir, &soon) == EOWNERDEAD);
    return 0;
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "count";
    if (strcmp(what, "count") == 0)
        return do_count(argc > 2 ? atoi(argv[2]) : 4);
    if (strcmp(what, "sleep") == 0)
        return do_sleep();
    if (strcmp(what, "nap") == 0)
        return do_nap();
    if (strcmp(what, "four") == 0)
        return do_four();
    if (strcmp(what, "deadlock") == 0)
        return do_deadlock();
    if (strcmp(what, "signals") == 0)
        return do_signals();
    if (strcmp(what, "fault") == 0)
        return do_fault();
    if (strcmp(what, "pipe") == 0)
        return do_pipe();
    if (strcmp(what, "robust") == 0)
        return do_robust();
    if (strcmp(what, "fork") == 0)
        return fork();
    if (strcmp(what, "system") == 0)
        return system("true");
    if (strcmp(what, "forever") == 0)
        for (;;)
            mine++;
    if (strcmp(what, "priority") == 0)
        return do_priority();
    if (strcmp(what, "requeue") == 0)
        return (int)syscall(SYS_futex, &go, 11, 0, NULL, NULL, 0);
    if (strcmp(what, "alone") == 0)
        return (int)syscall(SYS_futex, &go, 0, 0, NULL, NULL, 0);
    if (strcmp(what, "stack") == 0) {
        volatile char deep[1 << 16];
        deep[0] = (char)argc;
        return main(argc, argv) + deep[0];
    }
    return 8;
}
