/* The start of a freestanding guest: _start, two system calls, and output of numbers. A guest defines guest_main. */
#ifndef ORCHARD_TESTS_GUEST_START_H
#define ORCHARD_TESTS_GUEST_START_H

#include <stddef.h>
#include <stdint.h>

int guest_main(long argc, char **argv);

static long guest_call(long number, long a, long b, long c)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
}

static inline void guest_text(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    guest_call(64, 1, (long)text, (long)n);
}

/* "name 0123456789abcdef\n" */
static inline void guest_report(const char *name, uint64_t value)
{
    char line[18];
    guest_text(name);
    line[0] = ' ';
    for (int i = 0; i < 16; i++)
        line[i + 1] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
    line[17] = '\n';
    guest_call(64, 1, (long)line, 18);
}

static inline uint64_t guest_hash(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

__attribute__((used)) static void guest_begin(long *stack)
{
    const int code = guest_main(stack[0], (char **)(stack + 1));
    guest_call(94, code, 0, 0);
}

__asm__(".globl _start\n"
        ".type _start, %function\n"
        "_start:\n"
        "    mov x29, #0\n"
        "    mov x30, #0\n"
        "    mov x0, sp\n"
        "    bl guest_begin\n"
        "    brk #1\n");

#endif
