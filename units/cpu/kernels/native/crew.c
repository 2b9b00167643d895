/* Runs the calls of a kernel on threads of Linux: orchard calls neon_run, whose structures sim/workload/cpu/cpu_library.c writes.
 * Shares are static: a thread's part of each call is known before it starts. */
#include <stdint.h>

enum { SYSCALL_EXIT = 93, SYSCALL_FUTEX = 98, FUTEX_WAIT = 128, FUTEX_WAKE = 129, SPINS = 256 };

/* ORDER: cpu_library.c. Words of 64 bits. */
struct step {
    void (*function)(const void *args, uint64_t first, uint64_t end, uint64_t thread);
    const void *args;
    const uint64_t *bound; /* thread t works on items bound[t] .. bound[t + 1] - 1 */
};
struct crew {
    uint64_t threads, steps;
    const struct step *step;
    char *stacks;
    uint64_t stack_bytes;
    uint32_t arrived, generation, sleepers, unused; /* of the barrier */
};

void neon_run(struct crew *crew);
_Noreturn void neon_child(struct crew *crew, uint64_t thread);
/* Starts a thread that calls neon_child(crew, thread) on its stack. */
int64_t neon_clone(uint64_t flags, char *stack_top, struct crew *crew, uint64_t thread);

__asm__(".text\n"
        ".global neon_clone\n"
        ".type neon_clone, %function\n"
        "neon_clone:\n"
        "    stp x2, x3, [x1, #-16]!\n"
        "    mov x2, #0\n"
        "    mov x3, #0\n"
        "    mov x4, #0\n"
        "    mov x8, #220\n"
        "    svc #0\n"
        "    cbz x0, 1f\n"
        "    ret\n"
        "1:  ldp x0, x1, [sp]\n"
        "    bl neon_child\n"
        ".size neon_clone, . - neon_clone\n");

static int64_t call_system(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
    register uint64_t x0 __asm__("x0") = a;
    register uint64_t x1 __asm__("x1") = b;
    register uint64_t x2 __asm__("x2") = c;
    register uint64_t x3 __asm__("x3") = 0;
    register uint64_t x8 __asm__("x8") = number;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x8) : "memory");
    return (int64_t)x0;
}

/* The last thread that arrives lets the others go on. They look for a while before they sleep. */
static void meet(struct crew *crew)
{
    const uint32_t generation = __atomic_load_n(&crew->generation, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&crew->arrived, 1, __ATOMIC_ACQ_REL) == crew->threads) {
        crew->arrived = 0;
        __atomic_store_n(&crew->generation, generation + 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&crew->sleepers, __ATOMIC_SEQ_CST))
            call_system(SYSCALL_FUTEX, (uint64_t)&crew->generation, FUTEX_WAKE, INT32_MAX);
        return;
    }
    for (int i = 0; i < SPINS; i++) {
        if (__atomic_load_n(&crew->generation, __ATOMIC_ACQUIRE) != generation)
            return;
        __asm__ volatile("yield");
    }
    __atomic_add_fetch(&crew->sleepers, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&crew->generation, __ATOMIC_ACQUIRE) == generation)
        call_system(SYSCALL_FUTEX, (uint64_t)&crew->generation, FUTEX_WAIT, generation);
    __atomic_sub_fetch(&crew->sleepers, 1, __ATOMIC_SEQ_CST);
}

static void work(struct crew *crew, uint64_t thread)
{
    for (uint64_t i = 0; i < crew->steps; i++) {
        const struct step *const s = &crew->step[i];
        if (s->bound[thread] < s->bound[thread + 1])
            s->function(s->args, s->bound[thread], s->bound[thread + 1], thread);
        if (crew->threads > 1)
            meet(crew);
    }
}

void neon_child(struct crew *crew, uint64_t thread)
{
    work(crew, thread);
    for (;;)
        call_system(SYSCALL_EXIT, 0, 0, 0);
}

void neon_run(struct crew *crew)
{
    /* CLONE_VM | FS | FILES | SIGHAND | THREAD | SYSVSEM */
    const uint64_t flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000;
    for (uint64_t t = 1; t < crew->threads; t++)
        neon_clone(flags, crew->stacks + t * crew->stack_bytes, crew, t);
    work(crew, 0);
}
