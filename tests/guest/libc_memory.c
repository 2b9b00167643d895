/* Memory management of a C library: small and large blocks, growth, page permissions, mappings that are given back. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t hash(const uint8_t *bytes, size_t size)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ bytes[i]) * 0x100000001b3u;
    return h;
}

static void small_blocks(void)
{
    enum { COUNT = 400 };
    uint8_t *block[COUNT] = {0};
    uint32_t state = 1;
    uint64_t sum = 0;
    for (int i = 0; i < 4000; i++) {
        state = state * 1664525u + 1013904223u;
        const unsigned at = (state >> 8) % COUNT;
        const size_t size = 1 + (state >> 16) % 3000;
        if (block[at])
            sum += hash(block[at], 1);
        free(block[at]);
        block[at] = malloc(size);
        if (!block[at])
            exit(1);
        memset(block[at], i & 255, size);
    }
    for (int i = 0; i < COUNT; i++)
        free(block[i]);
    printf("small %016llx\n", (unsigned long long)sum);
}

static void large_blocks(void)
{
    size_t size = 300000;
    uint8_t *p = malloc(size);
    for (size_t i = 0; i < size; i++)
        p[i] = (uint8_t)(i * 7);
    for (int i = 0; i < 4; i++) {
        p = realloc(p, size * 2);
        if (!p)
            exit(2);
        memset(p + size, i, size);
        size *= 2;
    }
    uint8_t *zero = calloc(1000, 1000);
    uint64_t any = 0;
    for (size_t i = 0; i < 1000000; i++)
        any |= zero[i];
    printf("large %016llx %llu\n", (unsigned long long)hash(p, size), (unsigned long long)any);
    free(zero);
    free(p);
}

static void pages(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *p = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        exit(3);
    memset(p, 5, 8 * page);
    const int readonly = mprotect(p + 4 * page, 4 * page, PROT_READ);
    const int back = mprotect(p + 4 * page, 4 * page, PROT_READ | PROT_WRITE);
    p[7 * page] = 9;
    uint8_t *none = mmap(NULL, 16 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int opened = mprotect(none + 4 * page, 4 * page, PROT_READ | PROT_WRITE);
    none[5 * page] = 77;
    printf("pages %d %d %d %d %d %d\n", readonly, back, opened, p[7 * page], p[3 * page], none[5 * page]);
    printf("unmap %d %d\n", munmap(p, 8 * page), munmap(none, 16 * page));
    int reused = 0; /* maps and unmaps 600 MiB, more than the 512 MiB of the simulated space could hold at once */
    for (int i = 0; i < 600; i++) {
        uint8_t *q = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (q == MAP_FAILED)
            exit(4);
        reused += q[12345] == 0;
        q[12345] = 1;
        munmap(q, 1 << 20);
    }
    printf("reused %d\n", reused);
    printf("bad %d\n", munmap(p + 1, page));
}

int main(void)
{
    small_blocks();
    large_blocks();
    pages();
    void *before = sbrk(0);
    sbrk(100000);
    printf("brk %d\n", (int)((char *)sbrk(0) - (char *)before));
    return 0;
}
