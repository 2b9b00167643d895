/* What a program without a C library needs: the start, and text to look at (blocks.c has what compilers call). It uses Linux
 * AArch64 system calls, which orchard's small Linux answers. */
#include "units/amx/kernels/native/freestanding.h"

static long system_call(long number, long a, long b, long c)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x8) : "memory");
    return x0;
}

enum { SYSTEM_WRITE = 64, SYSTEM_EXIT = 93 };

void program_exit(int code)
{
    for (;;)
        system_call(SYSTEM_EXIT, code, 0, 0);
}

void print_text(const char *text)
{
    unsigned long n = 0;
    while (text[n])
        n++;
    system_call(SYSTEM_WRITE, 1, (long)text, (long)n);
}

void print_number(uint64_t value)
{
    char digits[24];
    unsigned at = sizeof digits;
    digits[--at] = 0;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    print_text(digits + at);
}

int main(void);

__attribute__((used)) void program_start(void)
{
    program_exit(main());
}

__asm__(".global _start\n_start:\n\tmov x29, #0\n\tmov x30, #0\n\tbl program_start\n");
