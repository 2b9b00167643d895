/* The system calls one by one, as a program sees them: x8 and arguments in, x0 and memory out. Expected values are
 * those of Linux on AArch64 (errno numbers of asm-generic, man pages of the calls).
 */
#include "tests/support/suite.h"
#include "units/cpu/cpu_system.h"

#include <string.h>

enum { HEAP = 0x200000, DATA = 0x100000, DATA_BYTES = 0x10000, MAP_TOP = 0x3e00000 };
enum {
    WRITE = 64,
    WRITEV = 66,
    BRK = 214,
    MUNMAP = 215,
    MMAP = 222,
    MPROTECT = 226,
    MADVISE = 233,
    CLOCK_GETTIME = 113,
    NANOSLEEP = 101,
    GETRANDOM = 278,
    EXIT = 93,
    TGKILL = 131,
    UNAME = 160,
    PRLIMIT = 261,
    OPENAT = 56,
    FSTAT = 80,
    RSEQ = 293,
    FTRUNCATE = 46,
    PWRITE = 68,
    SOCKETPAIR = 199,
    SENDMSG = 211,
    MEMFD_CREATE = 279
};
enum { NONE = 0, READ = 1, READ_WRITE = 3, PRIVATE_ANONYMOUS = 0x22, FIXED = 0x10 };

struct fixture {
    struct mem_space *space;
    struct cpu_core *core;
    struct cpu_linux *system;
    char text[256];
    size_t text_bytes;
    bool refuse_text;
    int exit_code;
    struct unit_fault fault;
    bool went_on;
};

static bool take_text(void *context, int fd, const void *bytes, size_t count)
{
    struct fixture *f = context;
    if (f->refuse_text || count > sizeof f->text - f->text_bytes || (fd != 1 && fd != 2))
        return false;
    memcpy(f->text + f->text_bytes, bytes, count);
    f->text_bytes += count;
    return true;
}

static uint64_t fixed_clock(void *context)
{
    return *(const uint64_t *)context;
}

static void set_up(struct fixture *f, uint32_t page_bytes, const uint64_t *clock)
{
    const struct cpu_linux_params params = {.heap_start = HEAP, .map_top = MAP_TOP, .page_bytes = page_bytes, .seed = 9};
    const struct cpu_clock fixed = {clock ? fixed_clock : NULL, (void *)(uintptr_t)clock};
    memset(f, 0, sizeof *f);
    f->space = mem_space_create(UINT64_C(1) << 26);
    f->core = cpu_core_create(f->space);
    cpu_core_set_clock(f->core, &fixed);
    f->system = cpu_linux_create(f->space, &params, NULL, 0);
    CU_ASSERT_TRUE_FATAL(f->space && f->core && f->system && mem_space_map(f->space, DATA, DATA_BYTES, MEM_READ | MEM_WRITE));
}

static void tear_down(struct fixture *f)
{
    cpu_linux_free(f->system);
    cpu_core_free(f->core);
    mem_space_free(f->space);
}

static int64_t call(struct fixture *f, uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
    const struct cpu_host host = {take_text, f};
    const struct cpu_system *hook = cpu_linux_hook(f->system);
    const uint64_t arg[6] = {a, b, c, d, e, 0};
    for (unsigned i = 0; i < 6; i++)
        cpu_core_set_x(f->core, i, arg[i]);
    cpu_core_set_x(f->core, 8, number);
    cpu_core_set_host(f->core, &host);
    memset(&f->fault, 0, sizeof f->fault);
    f->went_on = hook->call(hook->context, f->core, &f->exit_code, &f->fault);
    return (int64_t)cpu_core_x(f->core, 0);
}

static int64_t map(struct fixture *f, uint64_t at, uint64_t bytes, uint64_t prot, uint64_t flags)
{
    return call(f, MMAP, at, bytes, prot, flags, (uint64_t)-1);
}

static bool allows(const struct fixture *f, uint64_t addr, unsigned prot)
{
    return mem_at(f->space, addr, 1, prot) != NULL;
}

static void test_output(void)
{
    struct fixture f;
    set_up(&f, 16384, NULL);
    memcpy(f.space->host + DATA, "hello world", 11);
    CU_ASSERT_EQUAL(call(&f, WRITE, 1, DATA, 5, 0, 0), 5);
    const uint64_t vectors[6] = {DATA + 5, 1, DATA, 0, DATA + 6, 5};
    memcpy(f.space->host + DATA + 256, vectors, sizeof vectors);
    CU_ASSERT_EQUAL(call(&f, WRITEV, 2, DATA + 256, 3, 0, 0), 6);
    CU_ASSERT_TRUE(f.text_bytes == 11 && memcmp(f.text, "hello world", 11) == 0);
    CU_ASSERT_EQUAL(call(&f, WRITE, 3, DATA, 5, 0, 0), -9);  /* EBADF */
    CU_ASSERT_EQUAL(call(&f, WRITE, 1, 0x50, 5, 0, 0), -14); /* EFAULT */
    CU_ASSERT_EQUAL(call(&f, WRITE, 1, DATA, UINT64_MAX, 0, 0), -14);
    CU_ASSERT_EQUAL(call(&f, WRITE, 1, 0, 0, 0, 0), 0);
    CU_ASSERT_EQUAL(call(&f, WRITEV, 1, DATA + DATA_BYTES - 8, 1, 0, 0), -14);
    f.refuse_text = true;
    CU_ASSERT_EQUAL(call(&f, WRITE, 1, DATA, 5, 0, 0), -5); /* EIO */
    CU_ASSERT_EQUAL(f.text_bytes, 11);
    CU_ASSERT_EQUAL(call(&f, OPENAT, (uint64_t)-100, DATA, 0, 0, 0), -2); /* ENOENT */
    CU_ASSERT_EQUAL(call(&f, FSTAT, 1, DATA, 0, 0, 0), 0);
    CU_ASSERT_EQUAL(call(&f, FSTAT, 7, DATA, 0, 0, 0), -9);
    CU_ASSERT_EQUAL(call(&f, RSEQ, 0, 0, 0, 0, 0), -38); /* ENOSYS */
    tear_down(&f);
}

static void test_ends(void)
{
    struct fixture f;
    set_up(&f, 16384, NULL);
    call(&f, EXIT, 300, 0, 0, 0, 0);
    CU_ASSERT_TRUE(!f.went_on && f.fault.kind == UNIT_FAULT_NONE && f.exit_code == 300 - 256);
    call(&f, 9999, 1, 2, 3, 0, 0);
    CHECK(!f.went_on && f.fault.kind == UNIT_FAULT_TRAP && strstr(f.fault.text, "9999"), "%s", f.fault.text);
    call(&f, TGKILL, 1000, 1000, 6, 0, 0);
    CHECK(!f.went_on && f.fault.kind == UNIT_FAULT_TRAP && strstr(f.fault.text, "SIGABRT"), "%s", f.fault.text);
    CU_ASSERT_EQUAL(call(&f, TGKILL, 1000, 1000, 0, 0, 0), 0);
    CU_ASSERT_TRUE(f.went_on);
    tear_down(&f);
}

static void test_heap(void)
{
    struct fixture f;
    set_up(&f, 4096, NULL);
    CU_ASSERT_EQUAL(call(&f, BRK, 0, 0, 0, 0, 0), HEAP);
    CU_ASSERT_FALSE(allows(&f, HEAP, MEM_READ));
    CU_ASSERT_EQUAL(call(&f, BRK, HEAP + 100, 0, 0, 0, 0), HEAP + 100);
    CU_ASSERT_TRUE(allows(&f, HEAP, MEM_READ | MEM_WRITE));
    f.space->host[HEAP + 50] = 7;
    CU_ASSERT_EQUAL(call(&f, BRK, HEAP + 100000, 0, 0, 0, 0), HEAP + 100000);
    CU_ASSERT_EQUAL(f.space->host[HEAP + 50], 7);
    f.space->host[HEAP + 99999] = 8;
    CU_ASSERT_EQUAL(call(&f, BRK, HEAP + 10, 0, 0, 0, 0), HEAP + 10);
    CU_ASSERT_FALSE(allows(&f, HEAP + 99999, MEM_READ));
    CU_ASSERT_EQUAL(call(&f, BRK, HEAP + 100000, 0, 0, 0, 0), HEAP + 100000);
    CU_ASSERT_EQUAL(f.space->host[HEAP + 99999], 0); /* pages come back empty */
    CU_ASSERT_EQUAL(call(&f, BRK, HEAP - 1, 0, 0, 0, 0), HEAP + 100000);
    CU_ASSERT_EQUAL(call(&f, BRK, UINT64_MAX, 0, 0, 0, 0), HEAP + 100000);
    CU_ASSERT_TRUE(mem_space_map(f.space, HEAP + 0x80000, 1, MEM_READ)); /* somebody else's page in the way */
    CU_ASSERT_EQUAL(call(&f, BRK, HEAP + 0x90000, 0, 0, 0, 0), HEAP + 100000);
    CU_ASSERT_EQUAL(call(&f, BRK, HEAP + 0x80000, 0, 0, 0, 0), HEAP + 0x80000);
    tear_down(&f);
}

static void test_mappings(void)
{
    struct fixture f;
    set_up(&f, 16384, NULL);
    CU_ASSERT_TRUE(mem_space_map(f.space, MAP_TOP - 0x8000, 0x4000, MEM_READ)); /* somebody's page in the way */
    const int64_t a = map(&f, 0, 100000, READ_WRITE, PRIVATE_ANONYMOUS), b = map(&f, 0, 1, READ, PRIVATE_ANONYMOUS);
    const int64_t c = map(&f, 0, 0x10000, NONE, PRIVATE_ANONYMOUS), d = map(&f, 0, 0x4000, READ_WRITE, PRIVATE_ANONYMOUS);
    CU_ASSERT_TRUE((uint64_t)a < MAP_TOP && (uint64_t)b < MAP_TOP && (uint64_t)c < MAP_TOP && (uint64_t)d < MAP_TOP);
    CU_ASSERT_TRUE(a > 0 && a % 16384 == 0 && allows(&f, (uint64_t)a + 99999, READ_WRITE));
    CU_ASSERT_TRUE(b > 0 && allows(&f, (uint64_t)b, MEM_READ) && !allows(&f, (uint64_t)b, MEM_WRITE));
    CU_ASSERT_TRUE(c > 0 && !allows(&f, (uint64_t)c, MEM_READ));
    const uint64_t start[] = {(uint64_t)a, (uint64_t)b, (uint64_t)c, (uint64_t)d}, bytes[] = {0x1c000, 0x4000, 0x10000, 0x4000};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            CHECK(start[i] + bytes[i] <= start[j] || start[j] + bytes[j] <= start[i], "mappings %d and %d overlap", i, j);
    CU_ASSERT_EQUAL(call(&f, MPROTECT, (uint64_t)c, 0x4000, READ_WRITE, 0, 0), 0);
    f.space->host[c] = 5;
    CU_ASSERT_EQUAL(call(&f, MPROTECT, (uint64_t)c, 0x4000, NONE, 0, 0), 0);
    CU_ASSERT_FALSE(allows(&f, (uint64_t)c, MEM_READ));
    CU_ASSERT_EQUAL(call(&f, MPROTECT, (uint64_t)c, 0x4000, READ, 0, 0), 0);
    CU_ASSERT_EQUAL(f.space->host[c], 5); /* bytes outlive a page's rights */
    CU_ASSERT_EQUAL(call(&f, MUNMAP, (uint64_t)a, 0x1c000, 0, 0, 0), 0);
    CU_ASSERT_FALSE(allows(&f, (uint64_t)a, MEM_READ));
    CU_ASSERT_EQUAL(map(&f, 0, 100000, READ_WRITE, PRIVATE_ANONYMOUS), a); /* the gap is used again */
    CU_ASSERT_EQUAL(map(&f, (uint64_t)b, 0x4000, READ_WRITE, PRIVATE_ANONYMOUS | FIXED), b);
    CU_ASSERT_TRUE(allows(&f, (uint64_t)b, MEM_WRITE));
    tear_down(&f);
}

static void test_mapping_errors(void)
{
    struct fixture f;
    set_up(&f, 16384, NULL);
    CU_ASSERT_EQUAL(map(&f, 0, 0, READ, PRIVATE_ANONYMOUS), -22);          /* EINVAL */
    CU_ASSERT_EQUAL(map(&f, 0, 4096, READ, 2), -9);                        /* EBADF: no file */
    CU_ASSERT_EQUAL(map(&f, 0, UINT64_MAX, READ, PRIVATE_ANONYMOUS), -12); /* ENOMEM */
    CU_ASSERT_EQUAL(map(&f, 0, UINT64_C(1) << 26, READ, PRIVATE_ANONYMOUS), -12);
    CU_ASSERT_EQUAL(map(&f, 0x4001, 4096, READ, PRIVATE_ANONYMOUS | FIXED), -22);
    CU_ASSERT_EQUAL(map(&f, 0, 4096, READ, PRIVATE_ANONYMOUS | FIXED), -22); /* page zero */
    CU_ASSERT_EQUAL(call(&f, MUNMAP, 5, 4096, 0, 0, 0), -22);
    CU_ASSERT_EQUAL(call(&f, MUNMAP, DATA, UINT64_MAX, 0, 0, 0), -22);
    CU_ASSERT_EQUAL(call(&f, MPROTECT, 0x3000000, 4096, READ, 0, 0), -12);
    CU_ASSERT_EQUAL(call(&f, MPROTECT, DATA + 1, 4096, READ, 0, 0), -22);
    tear_down(&f);
}

/* A program that thinks in 4 KiB pages: simulated pages keep what any quarter needs and live as long as one of them. */
static void test_small_pages(void)
{
    struct fixture f;
    set_up(&f, 4096, NULL);
    const uint64_t a = (uint64_t)map(&f, 0, 0x8000, READ_WRITE, PRIVATE_ANONYMOUS);
    CU_ASSERT_EQUAL(call(&f, MPROTECT, a + 0x1000, 0x1000, READ, 0, 0), 0);
    CU_ASSERT_TRUE(allows(&f, a, MEM_WRITE));
    CU_ASSERT_EQUAL(call(&f, MPROTECT, a, 0x5000, READ, 0, 0), 0);
    CU_ASSERT_TRUE(!allows(&f, a, MEM_WRITE) && allows(&f, a + 0x4000, MEM_WRITE));
    CU_ASSERT_EQUAL(call(&f, MUNMAP, a, 0x3000, 0, 0, 0), 0);
    CU_ASSERT_TRUE(allows(&f, a + 0x3000, MEM_READ));
    CU_ASSERT_EQUAL(call(&f, MUNMAP, a + 0x3000, 0x1000, 0, 0, 0), 0);
    CU_ASSERT_TRUE(!allows(&f, a + 0x3000, MEM_READ) && allows(&f, a + 0x4000, MEM_READ));
    const uint64_t b = (uint64_t)map(&f, 0, 0x1000, READ_WRITE, PRIVATE_ANONYMOUS); /* a quarter is all there is of it */
    CU_ASSERT_EQUAL(call(&f, MUNMAP, b, 0x1000, 0, 0, 0), 0);
    CU_ASSERT_FALSE(allows(&f, b, MEM_READ));
    f.space->host[a + 0x4001] = 3;
    CU_ASSERT_EQUAL(call(&f, MADVISE, a + 0x4000, 0x1000, 4, 0, 0), 0);
    CU_ASSERT_EQUAL(f.space->host[a + 0x4001], 0);
    tear_down(&f);
}

static void time_of(struct fixture *f, uint64_t clock, int64_t spec[2])
{
    CU_ASSERT_EQUAL(call(f, CLOCK_GETTIME, clock, DATA, 0, 0, 0), 0);
    memcpy(spec, f->space->host + DATA, 16);
}

static void test_time(void)
{
    struct fixture f;
    uint64_t clock = UINT64_C(3000000005);
    int64_t spec[2];
    set_up(&f, 16384, &clock);
    time_of(&f, 1, spec);
    CU_ASSERT_TRUE(spec[0] == 3 && spec[1] == 5);
    time_of(&f, 0, spec);
    CU_ASSERT_TRUE(spec[0] == 1704067200 + 3 && spec[1] == 5);
    const int64_t nap[2] = {1, 999999999};
    memcpy(f.space->host + DATA, nap, sizeof nap);
    CU_ASSERT_EQUAL(call(&f, NANOSLEEP, DATA, 0, 0, 0, 0), 0);
    time_of(&f, 1, spec);
    CU_ASSERT_TRUE(spec[0] == 5 && spec[1] == 4);
    CU_ASSERT_EQUAL(call(&f, CLOCK_GETTIME, 99, DATA, 0, 0, 0), -22);
    CU_ASSERT_EQUAL(call(&f, CLOCK_GETTIME, 1, 8, 0, 0, 0), -14);
    tear_down(&f);
}

static void test_random_repeats(void)
{
    uint8_t first[40], second[40];
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        set_up(&f, 16384, NULL);
        CU_ASSERT_EQUAL(call(&f, GETRANDOM, DATA, 37, 0, 0, 0), 37);
        CU_ASSERT_EQUAL(f.space->host[DATA + 37], 0);
        memcpy(i ? second : first, f.space->host + DATA, 37);
        CU_ASSERT_EQUAL(call(&f, GETRANDOM, DATA, 37, 0, 0, 0), 37);
        CU_ASSERT_NOT_EQUAL(memcmp(i ? second : first, f.space->host + DATA, 37), 0);
        CU_ASSERT_EQUAL(call(&f, GETRANDOM, DATA + DATA_BYTES - 4, 37, 0, 0, 0), -14);
        tear_down(&f);
    }
    CU_ASSERT_EQUAL(memcmp(first, second, 37), 0);
}

static void test_machine(void)
{
    struct fixture f;
    uint64_t pair[2];
    set_up(&f, 16384, NULL);
    CU_ASSERT_EQUAL(call(&f, UNAME, DATA, 0, 0, 0, 0), 0);
    CU_ASSERT_STRING_EQUAL((const char *)f.space->host + DATA, "Linux");
    CU_ASSERT_STRING_EQUAL((const char *)f.space->host + DATA + 4 * 65, "aarch64");
    CU_ASSERT_EQUAL(call(&f, PRLIMIT, 0, 3, 0, DATA, 0), 0);
    memcpy(pair, f.space->host + DATA, sizeof pair);
    CU_ASSERT_EQUAL(pair[0], 8u << 20);
    tear_down(&f);
}

/* What would be wrong quietly is not there: packets, more memory than the host should give, mappings that are two copies. */
static void test_files_without_a_name(void)
{
    enum { UNIX = 1, INET = 2, STREAM = 1, PACKETS = 2, SHARED = 1, MOST = 64 << 20 };
    struct fixture f;
    set_up(&f, 16384, NULL);
    CHECK(call(&f, SOCKETPAIR, INET, STREAM, 0, DATA, 0) == -97, "another family");
    CHECK(call(&f, SOCKETPAIR, UNIX, PACKETS, 0, DATA, 0) == -94, "packets");
    CHECK(call(&f, SOCKETPAIR, UNIX, STREAM, 0, DATA, 0) == 0, "a pair");
    CHECK(call(&f, SENDMSG, 3, DATA, 0, 0, 0) == -95 && call(&f, SENDMSG, 1, DATA, 0, 0, 0) == -88, "messages");
    const int64_t fd = call(&f, MEMFD_CREATE, DATA + 64, 0, 0, 0, 0);
    CHECK(fd == 5, "a file in memory: %d", (int)fd);
    CHECK(call(&f, FTRUNCATE, 5, MOST, 0, 0, 0) == 0 && call(&f, FTRUNCATE, 5, MOST + 1, 0, 0, 0) == -27, "its most");
    CHECK(call(&f, PWRITE, 5, DATA, 1, MOST, 0) == -27 && call(&f, PWRITE, 5, DATA, 1, MOST - 1, 0) == 1, "a write beyond it");
    CHECK(call(&f, MMAP, 0, 16384, READ_WRITE, SHARED, (uint64_t)fd) > 0 && f.went_on, "mapped once");
    call(&f, MMAP, 0, 16384, READ_WRITE, SHARED, (uint64_t)fd);
    CHECK(!f.went_on && strstr(f.fault.text, "another copy"), "%s", f.fault.text);
    tear_down(&f);
}

static const struct suite_test tests[] = {
    {"output goes to the host and nowhere else", test_output},
    {"exit, unknown calls and signals end the program", test_ends},
    {"the heap grows and shrinks", test_heap},
    {"mappings come, change and go", test_mappings},
    {"wrong mappings are refused", test_mapping_errors},
    {"programs with 4 KiB pages", test_small_pages},
    {"time is simulated", test_time},
    {"random numbers repeat", test_random_repeats},
    {"the machine describes itself", test_machine},
    {"files without a name", test_files_without_a_name},
};
SUITE_MAIN("cpu-system", tests)
