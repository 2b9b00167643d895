/* The simulated address space: mapping, permissions, range checks, allocation. */
#include "tests/support/suite.h"
#include "units/mem/mem_space.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE  MEM_PAGE_BYTES
#define SPACE (64 * PAGE)

static struct mem_space *space_create(void)
{
    struct mem_space *space = mem_space_create(SPACE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(space);
    return space;
}

static void test_permissions(void)
{
    struct mem_space *space = space_create();
    CU_ASSERT_TRUE(mem_space_map(space, 4 * PAGE, 2 * PAGE, MEM_READ));
    CU_ASSERT_PTR_NOT_NULL(mem_at(space, 4 * PAGE, 2 * PAGE, MEM_READ));
    CU_ASSERT_PTR_NULL(mem_at(space, 4 * PAGE, 8, MEM_WRITE));
    CU_ASSERT_PTR_NULL(mem_at(space, 4 * PAGE, 8, MEM_READ | MEM_EXEC));
    CU_ASSERT_TRUE(mem_space_protect(space, 5 * PAGE, 1, MEM_READ | MEM_WRITE));
    CU_ASSERT_PTR_NOT_NULL(mem_at(space, 5 * PAGE, PAGE, MEM_WRITE));
    CU_ASSERT_PTR_NULL(mem_at(space, 5 * PAGE - 1, 2, MEM_WRITE)); /* one byte in each */
    CU_ASSERT_FALSE(mem_space_protect(space, 5 * PAGE, 2 * PAGE, MEM_READ));
    mem_space_free(space);
}

static void test_ranges(void)
{
    struct mem_space *space = space_create();
    CU_ASSERT_TRUE(mem_space_map(space, SPACE - PAGE, PAGE, MEM_READ));
    CU_ASSERT_PTR_NOT_NULL(mem_at(space, SPACE - 1, 1, MEM_READ));
    CU_ASSERT_PTR_NULL(mem_at(space, SPACE - 1, 2, MEM_READ));
    CU_ASSERT_PTR_NULL(mem_at(space, SPACE, 1, MEM_READ));
    CU_ASSERT_PTR_NULL(mem_at(space, UINT64_MAX, 2, MEM_READ));
    CU_ASSERT_PTR_NULL(mem_at(space, SPACE - 1, UINT64_MAX, MEM_READ));
    CU_ASSERT_FALSE(mem_space_map(space, SPACE - PAGE, 2 * PAGE, MEM_READ));
    CU_ASSERT_FALSE(mem_space_map(space, 0, 0, MEM_READ));
    mem_space_free(space);
}

static int first_byte(const struct mem_space *space)
{
    const uint8_t *at = mem_at(space, PAGE, 1, MEM_READ);
    return at ? *at : -1;
}

static void test_fresh_pages_are_zero(void)
{
    struct mem_space *space = space_create();
    CU_ASSERT_TRUE(mem_space_map(space, PAGE, PAGE, MEM_READ | MEM_WRITE));
    uint8_t *bytes = mem_at(space, PAGE, 16, MEM_WRITE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    memset(bytes, 0xa5, 16);
    CU_ASSERT_TRUE(mem_space_map(space, PAGE, PAGE, MEM_READ)); /* again: the bytes stay */
    CU_ASSERT_EQUAL(first_byte(space), 0xa5);
    CU_ASSERT_EQUAL(space->mapped_bytes, PAGE);
    CU_ASSERT_TRUE(mem_space_unmap(space, PAGE, PAGE));
    CU_ASSERT_PTR_NULL(mem_at(space, PAGE, 1, MEM_READ));
    CU_ASSERT_EQUAL(space->mapped_bytes, 0);
    CU_ASSERT_TRUE(mem_space_map(space, PAGE, PAGE, MEM_READ));
    CU_ASSERT_EQUAL(first_byte(space), 0);
    CU_ASSERT_EQUAL(space->mapped_peak_bytes, PAGE);
    mem_space_free(space);
}

static void test_addresses_of_pointers(void)
{
    struct mem_space *space = space_create();
    uint64_t addr = 0;
    CU_ASSERT_TRUE(mem_addr_of(space, space->host + 12345, &addr));
    CU_ASSERT_EQUAL(addr, 12345);
    CU_ASSERT_FALSE(mem_addr_of(space, &addr, &addr));
    mem_space_free(space);
}

static void test_why_refused(void)
{
    struct mem_space *space = space_create();
    bool unmapped;
    uint64_t bad;
    CU_ASSERT_TRUE(mem_space_map(space, 2 * PAGE, PAGE, MEM_READ));
    CU_ASSERT_TRUE(mem_space_explain(space, 3 * PAGE - 4, 8, MEM_READ, &unmapped, &bad));
    CU_ASSERT_TRUE(unmapped);
    CU_ASSERT_EQUAL(bad, 3 * PAGE);
    CU_ASSERT_TRUE(mem_space_explain(space, 3 * PAGE - 4, 4, MEM_WRITE, &unmapped, &bad));
    CU_ASSERT_FALSE(unmapped);
    CU_ASSERT_EQUAL(bad, 3 * PAGE - 4);
    CU_ASSERT_FALSE(mem_space_explain(space, 2 * PAGE, PAGE, MEM_READ, &unmapped, &bad));
    mem_space_free(space);
}

/* What came after a mark is gone and found again; what came before stays. */
static void test_release_to_a_mark(void)
{
    struct mem_space *const space = mem_space_create(64 * PAGE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(space);
    const uint64_t before = mem_space_alloc(space, PAGE, 128), mark = mem_space_mark(space);
    const uint64_t mapped = space->mapped_bytes;
    uint64_t first = 0;
    for (unsigned i = 0; i < 100; i++) {
        const uint64_t a = mem_space_alloc(space, 5 * PAGE, 128), b = mem_space_alloc(space, 1, 128);
        first = i ? first : a;
        CU_ASSERT_TRUE(a == first && b > a && mem_at(space, b, 1, MEM_WRITE));
        mem_space_release(space, mark);
        CU_ASSERT_TRUE(!mem_at(space, a, 1, MEM_READ) && !mem_at(space, b, 1, MEM_READ) &&
                       mem_at(space, before, PAGE, MEM_WRITE));
    }
    CU_ASSERT_TRUE(space->mapped_bytes == mapped);
    mem_space_release(space, mark);
    CU_ASSERT_PTR_NOT_NULL(mem_at(space, before, PAGE, MEM_WRITE));
    mem_space_free(space);
}

static void test_allocations_have_guards(void)
{
    struct mem_space *space = space_create();
    const uint64_t a = mem_space_alloc(space, 3 * PAGE - 5, 128), b = mem_space_alloc(space, 1, 4 * PAGE);
    CU_ASSERT_TRUE(a != 0 && b != 0);
    CU_ASSERT_EQUAL(a % 128, 0);
    CU_ASSERT_EQUAL(b % (4 * PAGE), 0);
    CU_ASSERT_PTR_NOT_NULL(mem_at(space, a, 3 * PAGE, MEM_READ | MEM_WRITE));
    CU_ASSERT_PTR_NULL(mem_at(space, a + 3 * PAGE, 1, MEM_READ));
    CU_ASSERT_PTR_NULL(mem_at(space, a - 1, 1, MEM_READ));
    CU_ASSERT_TRUE(b >= a + 4 * PAGE);
    mem_space_free(space);
}

/* Random lives: neighbours never touch. */
static void test_guards_stay_when_space_is_used_again(void)
{
    struct mem_space *space = space_create();
    uint64_t at[8] = {0}, bytes[8] = {0}, seed = 9;
    for (int i = 0; i < 3000; i++) {
        const unsigned k = (unsigned)(suite_random(&seed) % 8);
        if (at[k])
            CU_ASSERT_TRUE(mem_space_unmap(space, at[k], bytes[k]));
        bytes[k] = (1 + suite_random(&seed) % 6) * PAGE;
        at[k] = mem_space_alloc(space, bytes[k], 128 << suite_random(&seed) % 9);
        if (!at[k])
            continue;
        const bool alone = !mem_at(space, at[k] - 1, 1, MEM_READ) && !mem_at(space, at[k] + bytes[k], 1, MEM_READ);
        CHECK(alone, "block at page %lu", (unsigned long)(at[k] / PAGE));
    }
    mem_space_free(space);
}

static void test_space_is_used_again(void)
{
    struct mem_space *space = space_create();
    unsigned count = 0;
    for (int i = 0; i < 1000; i++) { /* far more than fits at a time */
        const uint64_t a = mem_space_alloc(space, 5 * PAGE, 128);
        count += a != 0;
        if (a)
            CU_ASSERT_TRUE(mem_space_unmap(space, a, 5 * PAGE));
    }
    CU_ASSERT_EQUAL(count, 1000);
    unsigned fit = 0;
    while (mem_space_alloc(space, 5 * PAGE, 128) != 0)
        fit++;
    CHECK(fit >= 9 && fit <= 10, "%u blocks of 5 + 1 pages in 64", fit);
    CU_ASSERT_EQUAL(mem_space_alloc(space, UINT64_MAX, 128), 0);
    mem_space_free(space);
}

/* A range of which few words are touched takes few pages of the host, and keeps its bytes. */
static void test_sparse(void)
{
    enum { BYTES = 64 << 20 };
    static unsigned char resident[BYTES / 4096];
    struct mem_space *space = mem_space_create(BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(space);
    CU_ASSERT_TRUE(mem_space_map(space, 0, BYTES, MEM_READ | MEM_WRITE));
    mem_space_sparse(space, 0, BYTES);
    mem_space_sparse(space, PAGE, UINT64_MAX); /* leaves the space: nothing happens */
    uint8_t *const bytes = mem_at(space, 0, BYTES, MEM_READ | MEM_WRITE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    const size_t words = BYTES / PAGE, host_pages = BYTES / (size_t)sysconf(_SC_PAGESIZE);
    for (uint64_t at = 0; at < BYTES; at += PAGE)
        memcpy(bytes + at, &at, 8);
    CU_ASSERT_EQUAL_FATAL(mincore(bytes, BYTES, resident), 0);
    size_t there = 0, kept = 0;
    for (size_t i = 0; i < host_pages; i++)
        there += resident[i] & 1;
    for (uint64_t at = 0; at < BYTES; at += PAGE)
        kept += memcmp(bytes + at, &at, 8) == 0;
    CU_ASSERT_EQUAL(kept, words);
    CHECK(there <= words, "%zu host pages for %zu words", there, words);
    mem_space_free(space);
}

static const struct suite_test tests[] = {
    {"permissions", test_permissions},
    {"ranges", test_ranges},
    {"fresh pages are zero", test_fresh_pages_are_zero},
    {"addresses of pointers", test_addresses_of_pointers},
    {"why an access was refused", test_why_refused},
    {"allocations have guard pages", test_allocations_have_guards},
    {"releases to a mark", test_release_to_a_mark},
    {"space is used again", test_space_is_used_again},
    {"sparse ranges take few pages of the host", test_sparse},
    {"guards stay when space is used again", test_guards_stay_when_space_is_used_again},
};
SUITE_MAIN("mem_space", tests)
