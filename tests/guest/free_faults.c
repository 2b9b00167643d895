/* Faults in the way that the first argument names. The marker before each fault shows how far the program came. */
#include "tests/guest/start.h"

static const uint64_t constants[2] = {1, 2};
static uint64_t words[2] = {3, 4};

int same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

__attribute__((noinline)) uint64_t load_null(const volatile uint64_t *p)
{
    return *p;
}

__attribute__((noinline)) void store_constant(volatile uint64_t *p)
{
    *p = 5;
}

int guest_main(long argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    guest_text("before\n");
    if (same(how, "load"))
        return (int)load_null((const volatile uint64_t *)8);
    if (same(how, "store"))
        store_constant((volatile uint64_t *)(uintptr_t)constants);
    if (same(how, "jump"))
        ((void (*)(void))(uintptr_t)words)();
    if (same(how, "wild"))
        ((void (*)(void))0x123456789000)();
    if (same(how, "undefined"))
        __asm__ volatile(".inst 0x00000000");
    if (same(how, "brk"))
        __asm__ volatile("brk #7");
    if (same(how, "call"))
        guest_call(9999, 0, 0, 0);
    if (same(how, "abort"))
        guest_call(131, 1000, 1000, 6);
    guest_text("after\n");
    return 9;
}
