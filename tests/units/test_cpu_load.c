/* The loader and its linker. Independent truth: GNU ld links the same object at the same addresses, Unicorn runs what was
 * loaded and the host compiler runs the same C source.
 */
#include "isa/array_count.h"
#include "tests/guest/host/guest_files.h"
#include "tests/guest/host/unicorn_machine.h"
#include "tests/support/suite.h"
#include "units/cpu/cpu_load.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The object's own source, compiled for this host. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "tests/guest/object_kernels.c"
#pragma GCC diagnostic pop

enum { NO_GUEST, LOADED, REFUSED };

struct fixture {
    uint8_t *file;
    size_t size;
    struct elf_file elf;
    struct mem_space *space;
    struct cpu_image image;
    struct isa_error error;
};

static void tear_down(struct fixture *f)
{
    cpu_image_release(&f->image);
    mem_space_free(f->space);
    free(f->file);
}

static int set_up(struct fixture *f, const char *guest, uint64_t space_bytes)
{
    memset(f, 0, sizeof *f);
    f->file = guest_read(guest, &f->size);
    f->space = mem_space_create(space_bytes);
    if (!f->file) {
        suite_skip("the guests are not built: aarch64-linux-gnu-gcc is not installed");
        tear_down(f);
        return NO_GUEST;
    }
    CHECK(elf_open(&f->elf, f->file, f->size, &f->error), "%s: %s", guest, f->error.text);
    return cpu_load(f->space, &f->elf, &f->image, &f->error) ? LOADED : REFUSED;
}

/* Loads a guest that must load; false = skipped. */
static bool load(struct fixture *f, const char *guest)
{
    const int result = set_up(f, guest, UINT64_C(1) << 30);
    CHECK(result != REFUSED, "%s: %s", guest, f->error.text);
    return result == LOADED;
}

static unsigned prot_at(const struct fixture *f, uint64_t addr)
{
    unsigned prot = 0;
    for (unsigned bit = MEM_READ; bit <= MEM_EXEC; bit <<= 1)
        prot |= mem_at(f->space, addr, 1, bit) ? bit : 0;
    return prot;
}

static void check_segments(const struct fixture *f, const char *guest)
{
    for (uint32_t i = 0; i < f->elf.load_count; i++) {
        struct elf_segment s;
        elf_segment(&f->elf, i, &s);
        const uint64_t addr = s.addr + f->image.bias;
        const unsigned want = (s.read ? MEM_READ : 0u) | (s.write ? MEM_WRITE : 0u) | (s.exec ? MEM_EXEC : 0u);
        const uint8_t *host = mem_at(f->space, addr, s.mem_bytes, want);
        CHECK(host != NULL, "%s: segment %u lacks a permission", guest, i);
        if (!host)
            continue;
        if (s.exec || f->elf.kind != ELF_PIE) /* relocations change data of a PIE */
            CHECK(memcmp(host, f->file + s.offset, s.file_bytes) == 0, "%s: segment %u differs", guest, i);
        uint64_t dirt = 0;
        for (uint64_t at = s.file_bytes; at < s.mem_bytes; at++)
            dirt += host[at] != 0;
        CHECK(dirt == 0, "%s: segment %u: %lu bytes of bss are not zero", guest, i, (unsigned long)dirt);
    }
}

static void test_segments(void)
{
    static const char *const guests[] = {"integer_o2", "integer_o3", "integer_os", "integer_pie",
                                         "text",       "text_pie",   "memory_4k",  "relocations_ld"};
    for (size_t i = 0; i < ARRAY_COUNT(guests); i++) {
        struct fixture f;
        if (!load(&f, guests[i]))
            return;
        check_segments(&f, guests[i]);
        CHECK(f.image.end % MEM_PAGE_BYTES == 0 && f.image.end >= f.elf.high + f.image.bias, "%s", guests[i]);
        CHECK(prot_at(&f, f.image.end) == 0, "%s: the heap's first page is taken", guests[i]);
        tear_down(&f);
    }
}

/* integer_os: code ends and data begin inside one 16 KiB page (0x400000); integer_o2 is linked for 64 KiB pages. */
static void test_shared_pages(void)
{
    struct fixture f;
    if (!load(&f, "integer_os"))
        return;
    CU_ASSERT_EQUAL(prot_at(&f, 0x400000), MEM_READ | MEM_WRITE | MEM_EXEC);
    CU_ASSERT_EQUAL(prot_at(&f, 0x404000), MEM_READ | MEM_WRITE);
    CU_ASSERT_EQUAL(f.image.page_bytes, 4096);
    tear_down(&f);
    if (!load(&f, "integer_o2"))
        return;
    CU_ASSERT_EQUAL(prot_at(&f, 0x400000), MEM_READ | MEM_EXEC);
    CU_ASSERT_EQUAL(f.image.page_bytes, 16384);
    tear_down(&f);
}

static void test_links_as_gnu_ld(void)
{
    struct fixture ours, theirs;
    if (!load(&ours, "relocations"))
        return;
    if (!load(&theirs, "relocations_ld")) {
        tear_down(&ours);
        return;
    }
    unsigned compared = 0;
    for (uint32_t i = 1; i < theirs.elf.section_count; i++) {
        struct elf_section s;
        elf_section(&theirs.elf, i, &s);
        if (!(s.flags & SHF_ALLOC) || s.type != SHT_PROGBITS)
            continue;
        const uint8_t *a = mem_at(ours.space, s.addr, s.bytes, MEM_READ), *b = mem_at(theirs.space, s.addr, s.bytes, MEM_READ);
        CU_ASSERT_TRUE_FATAL(a && b);
        for (uint64_t at = 0; at < s.bytes; at++)
            CHECK(a[at] == b[at], "%s+0x%lx: %02x, GNU ld has %02x", s.name, (unsigned long)at, a[at], b[at]);
        compared += (unsigned)s.bytes;
    }
    CHECK(compared > 200, "%u bytes compared", compared);
    uint64_t addr, offset;
    const char *name;
    CU_ASSERT_TRUE(cpu_image_symbol(&ours.image, "odd", &addr) && addr == 0x10004003);
    CU_ASSERT_TRUE(cpu_image_symbol(&ours.image, "large", &addr) && addr == 0x123456789abc);
    CU_ASSERT_TRUE(cpu_image_locate(&ours.image, 0x10000010, &name, &offset) && strcmp(name, "relocations") == 0 && offset == 16);
    tear_down(&ours);
    tear_down(&theirs);
}

/* ---- calling functions in Unicorn ---- */

struct call {
    struct fixture *f;
    struct cpu_core *core;
    unsigned x, v;
    struct cpu_stack stack;
};

static bool start_call(struct call *c, struct fixture *f)
{
    const struct cpu_stack_params none = {.bytes = 1 << 16};
    *c = (struct call){.f = f, .core = cpu_core_create(f->space)};
    return c->core && cpu_load_stack(f->space, NULL, &none, &c->stack, &f->error);
}

static void pass(struct call *c, uint64_t value)
{
    cpu_core_set_x(c->core, c->x++, value);
}

static void pass_double(struct call *c, double value)
{
    uint8_t v[16] = {0};
    memcpy(v, &value, sizeof value);
    cpu_core_set_v(c->core, c->v++, v);
}

static void pass_float(struct call *c, float value)
{
    uint8_t v[16] = {0};
    memcpy(v, &value, sizeof value);
    cpu_core_set_v(c->core, c->v++, v);
}

/* Runs the function; the next pass() starts a new list of arguments. */
static uint64_t go(struct call *c, const char *name)
{
    const struct machine m = {.space = c->f->space, .core = c->core, .timeout_us = 5000000};
    uint64_t entry = 0;
    int code;
    struct unit_fault fault;
    CHECK(cpu_image_symbol(&c->f->image, name, &entry), "%s", name);
    cpu_core_set_pc(c->core, entry);
    cpu_core_set_x(c->core, 30, CPU_RETURN_ADDRESS);
    cpu_core_set_x(c->core, 31, c->stack.sp);
    const enum cpu_stop stop = machine_run(&m, &code, &fault);
    CHECK(stop == CPU_STOP_RETURN, "%s stopped with %d, fault %d at 0x%lx", name, stop, fault.kind, (unsigned long)fault.pc);
    c->x = c->v = 0;
    return cpu_core_x(c->core, 0);
}

static double result_double(const struct call *c)
{
    uint8_t v[16];
    double value;
    cpu_core_v(c->core, 0, v);
    memcpy(&value, v, sizeof value);
    return value;
}

static void compare_integers(struct call *c, const char *guest, uint32_t calls_before, const uint64_t common_before[4])
{
    calls = calls_before;
    memcpy(kernel_common, common_before, sizeof kernel_common);
    memset(bytes_store, 0, sizeof bytes_store);
    memset(halves_store, 0, sizeof halves_store);
    pass(c, 12345);
    pass(c, 1000);
    CHECK(go(c, "kernel_dispatch") == kernel_dispatch(12345, 1000), "%s: kernel_dispatch", guest);
    pass(c, 777);
    CHECK(go(c, "kernel_data") == kernel_data(777), "%s: kernel_data", guest);
    uint64_t common = 0;
    CU_ASSERT_TRUE(cpu_image_symbol(&c->f->image, "kernel_common", &common));
    const uint8_t *host = mem_at(c->f->space, common, sizeof kernel_common, MEM_READ);
    CHECK(host && memcmp(host, kernel_common, sizeof kernel_common) == 0, "%s: kernel_common", guest);
    for (int op = -1; op < 9; op++) {
        pass(c, (uint64_t)op);
        pass(c, (uint64_t)-123456789);
        CHECK((int64_t)go(c, "kernel_switch") == kernel_switch(op, -123456789), "%s: kernel_switch %d", guest, op);
    }
    pass(c, 5);
    CHECK((int)go(c, "kernel_weak") == 1005, "%s: kernel_weak", guest);
}

static void compare_numbers(struct call *c, const char *guest)
{
    enum { N = 100 };
    double x[N];
    for (int i = 0; i < N; i++)
        x[i] = (double)i / 7;
    const uint64_t at = mem_space_alloc(c->f->space, sizeof x, 128);
    CU_ASSERT_TRUE_FATAL(at != 0);
    memcpy(c->f->space->host + at, x, sizeof x);
    pass(c, at);
    pass(c, N);
    pass_double(c, 0.25);
    go(c, "kernel_weigh");
    CHECK(result_double(c) == kernel_weigh(x, N, 0.25), "%s: kernel_weigh", guest);
    float fx[N], fy[N];
    for (int i = 0; i < N; i++) {
        fx[i] = (float)i / 3;
        fy[i] = (float)(N - i) / 11;
    }
    const uint64_t xa = mem_space_alloc(c->f->space, sizeof fx, 128), ya = mem_space_alloc(c->f->space, sizeof fy, 128);
    memcpy(c->f->space->host + xa, fx, sizeof fx);
    memcpy(c->f->space->host + ya, fy, sizeof fy);
    pass(c, N);
    pass(c, xa);
    pass(c, ya);
    pass_float(c, 1.1f);
    go(c, "kernel_saxpy");
    kernel_saxpy(N, 1.1f, fx, fy);
    CHECK(memcmp(c->f->space->host + ya, fy, sizeof fy) == 0, "%s: kernel_saxpy", guest);
}

static void test_objects_compute(void)
{
    static const char *const guests[] = {"kernels", "kernels_pic", "kernels_large", "kernels_tiny"};
    const uint32_t calls_before = calls;
    const uint64_t common_before[4] = {0};
    for (size_t i = 0; i < ARRAY_COUNT(guests); i++) {
        struct fixture f;
        struct call c;
        if (!load(&f, guests[i]))
            return;
        CU_ASSERT_TRUE_FATAL(start_call(&c, &f));
        compare_integers(&c, guests[i], calls_before, common_before);
        compare_numbers(&c, guests[i]);
        cpu_core_free(c.core);
        tear_down(&f);
    }
}

/* What nothing defines has an address where nothing is mapped, and is named by it. */
static void test_undefined_symbols(void)
{
    static const char *const missing[] = {"elsewhere", "far_away"};
    struct fixture f;
    if (!load(&f, "undefined"))
        return;
    unsigned found = 0;
    for (uint32_t i = 1; i < f.elf.symbol_count; i++) {
        const uint64_t addr = CPU_UNRESOLVED_BASE + (uint64_t)i * CPU_UNRESOLVED_BYTES;
        const char *const name = cpu_image_unresolved(&f.image, addr);
        if (!name)
            continue;
        CHECK(!mem_at(f.space, addr, 1, MEM_READ), "%s is mapped", name);
        for (size_t n = 0; n < ARRAY_COUNT(missing); n++)
            found += strcmp(name, missing[n]) == 0;
    }
    CU_ASSERT_EQUAL(found, 2);
    CU_ASSERT_PTR_NULL(cpu_image_unresolved(&f.image, f.image.end));
    tear_down(&f);
}

/* ---- where things cannot go ---- */

static void test_refuses_places(void)
{
    struct fixture f;
    int result = set_up(&f, "integer_o2", 1 << 20); /* linked at 4 MiB */
    if (result == NO_GUEST)
        return;
    CHECK(result == REFUSED && strstr(f.error.text, "leave the simulated address space"), "'%s'", f.error.text);
    tear_down(&f);
    result = set_up(&f, "kernels", 1 << 20);
    CHECK(result == REFUSED && strstr(f.error.text, "leave the simulated address space"), "'%s'", f.error.text);
    tear_down(&f);
    CU_ASSERT_TRUE_FATAL(load(&f, "integer_o2"));
    struct cpu_image again;
    CU_ASSERT_FALSE(cpu_load(f.space, &f.elf, &again, &f.error)); /* over itself */
    CHECK(strstr(f.error.text, "in use") != NULL, "'%s'", f.error.text);
    tear_down(&f);
}

/* Copies a guest's segments to address 0 of the file: null pointers must stay invalid. */
static void test_refuses_page_zero(void)
{
    struct fixture f;
    if (!load(&f, "integer_o2"))
        return;
    Elf64_Ehdr header;
    memcpy(&header, f.file, sizeof header);
    Elf64_Phdr p;
    memcpy(&p, f.file + header.e_phoff, sizeof p);
    p.p_vaddr = 0;
    memcpy(f.file + header.e_phoff, &p, sizeof p);
    struct mem_space *space = mem_space_create(UINT64_C(1) << 30);
    struct cpu_image image;
    CHECK(elf_open(&f.elf, f.file, f.size, &f.error), "%s", f.error.text);
    CU_ASSERT_FALSE(cpu_load(space, &f.elf, &image, &f.error));
    CHECK(strstr(f.error.text, "null pointers") != NULL, "'%s'", f.error.text);
    mem_space_free(space);
    tear_down(&f);
}

/* ---- the first stack ---- */

static uint64_t word_at(const struct fixture *f, uint64_t addr)
{
    uint64_t word = 0;
    const uint8_t *host = mem_at(f->space, addr, 8, MEM_READ);
    CU_ASSERT_PTR_NOT_NULL(host);
    if (host)
        memcpy(&word, host, sizeof word);
    return word;
}

static const char *text_at(const struct fixture *f, uint64_t addr)
{
    return (const char *)mem_at(f->space, addr, 1, MEM_READ);
}

static uint64_t auxiliary(const struct fixture *f, uint64_t at, uint64_t key)
{
    for (; word_at(f, at) != AT_NULL; at += 16)
        if (word_at(f, at) == key)
            return word_at(f, at + 8);
    return UINT64_MAX;
}

/* What a program is told of its cores: bits of Linux (asm/hwcap.h), each with an instruction that it promises. Whatever is told
 * beyond them would be a promise that nobody checks. */
static void check_features(const struct fixture *f, uint64_t aux)
{
    static const struct {
        unsigned bit;
        uint32_t word;
    } features[] = {{0, 0x1e202800} /* fadd */,
                    {1, 0x4e20d400} /* fadd */,
                    {3, 0x4e284800} /* aese */,
                    {4, 0x0ee0e000} /* pmull */,
                    {5, 0x5e280800} /* sha1h */,
                    {6, 0x5e282800} /* sha256su0 */,
                    {7, 0x1ac04000} /* crc32b */,
                    {8, 0xb8200000} /* ldadd */,
                    {9, 0x1ee02800} /* fadd */,
                    {10, 0x0e401400} /* fadd */,
                    {12, 0x2e408400} /* sqrdmlah */,
                    {13, 0x1e7e0000} /* fjcvtzs */,
                    {14, 0x2e80e400} /* fcadd */,
                    {15, 0x38bfc000} /* ldaprb */,
                    {16, 0xd50b7c20} /* dc cvap */,
                    {17, 0xce000000} /* eor3 */,
                    {20, 0x0e809400} /* sdot */,
                    {21, 0xce608000} /* sha512h */,
                    {23, 0x0e20ec00} /* fmlal */,
                    {26, 0x99400000} /* ldapur */,
                    {27, 0xd500401f} /* cfinv */,
                    {32 + 7, 0xd500405f} /* axflag */,
                    {32 + 8, 0x1e284000} /* frint32z */};
    const uint64_t told = auxiliary(f, aux, AT_HWCAP) | auxiliary(f, aux, AT_HWCAP2) << 32;
    uint64_t checked = 0;
    for (size_t i = 0; i < ARRAY_COUNT(features); i++) {
        struct a64_insn insn;
        a64_decode(features[i].word, &insn);
        CHECK(insn.form != A64_UNDEFINED, "feature %u: %08x", features[i].bit, features[i].word);
        checked |= UINT64_C(1) << features[i].bit;
    }
    CHECK(told == checked, "told %llx, of which %llx was checked", (unsigned long long)told, (unsigned long long)checked);
}

static void test_stack(void)
{
    static const char *const argv[] = {"prog", "first", ""}, *const envp[] = {"A=1", "B=two"};
    struct fixture f;
    if (!load(&f, "text_pie"))
        return;
    const struct cpu_stack_params params = {.argv = argv, .argc = 3, .envp = envp, .envc = 2, .seed = 1};
    struct cpu_stack stack = {0};
    CHECK(cpu_load_stack(f.space, &f.image, &params, &stack, &f.error), "%s", f.error.text);
    const uint64_t sp = stack.sp;
    CU_ASSERT_TRUE(stack.low < sp && sp < stack.top && stack.top - stack.low == 8u << 20);
    CU_ASSERT_EQUAL(sp % 16, 0);
    CU_ASSERT_EQUAL(word_at(&f, sp), 3);
    for (unsigned i = 0; i < 3; i++)
        CU_ASSERT_STRING_EQUAL(text_at(&f, word_at(&f, sp + 8 + 8 * i)), argv[i]);
    CU_ASSERT_EQUAL(word_at(&f, sp + 32), 0);
    CU_ASSERT_STRING_EQUAL(text_at(&f, word_at(&f, sp + 40)), "A=1");
    CU_ASSERT_STRING_EQUAL(text_at(&f, word_at(&f, sp + 48)), "B=two");
    CU_ASSERT_EQUAL(word_at(&f, sp + 56), 0);
    const uint64_t aux = sp + 64;
    check_features(&f, aux);
    CU_ASSERT_EQUAL(auxiliary(&f, aux, AT_PAGESZ), f.image.page_bytes);
    CU_ASSERT_EQUAL(auxiliary(&f, aux, AT_ENTRY), f.elf.entry + CPU_LOAD_BASE);
    CU_ASSERT_EQUAL(auxiliary(&f, aux, AT_PHNUM), f.elf.phdr_count);
    Elf64_Ehdr header;
    memcpy(&header, f.file, sizeof header);
    const uint8_t *phdr = mem_at(f.space, auxiliary(&f, aux, AT_PHDR), sizeof(Elf64_Phdr) * f.elf.phdr_count, MEM_READ);
    CU_ASSERT_TRUE(phdr && memcmp(phdr, f.file + header.e_phoff, sizeof(Elf64_Phdr) * f.elf.phdr_count) == 0);
    CU_ASSERT_TRUE(word_at(&f, auxiliary(&f, aux, AT_RANDOM)) != word_at(&f, auxiliary(&f, aux, AT_RANDOM) + 8));
    /* Room below, a guard above. */
    CU_ASSERT_TRUE(mem_at(f.space, sp - (7u << 20), 7u << 20, MEM_READ | MEM_WRITE) != NULL);
    CU_ASSERT_EQUAL(prot_at(&f, f.space->bytes - 1), 0);
    CU_ASSERT_FALSE(cpu_load_stack(f.space, &f.image, &params, &stack, &f.error)); /* the place is taken now */
    tear_down(&f);
}

/* Any byte of an object changed: loaded or refused with a reason (sanitizers watch the rest). */
static void test_damaged_objects(void)
{
    struct fixture f;
    if (!load(&f, "kernels_pic"))
        return;
    uint64_t random = 3;
    unsigned refused = 0;
    uint8_t *file = malloc(f.size);
    for (int round = 0; round < 1500; round++) {
        struct elf_file elf;
        struct cpu_image image;
        struct isa_error error = {0};
        memcpy(file, f.file, f.size);
        for (int i = 0; i < 2; i++)
            file[suite_random(&random) % f.size] = (uint8_t)suite_random(&random);
        struct mem_space *space = mem_space_create(UINT64_C(1) << 30);
        if (elf_open(&elf, file, f.size, &error) && cpu_load(space, &elf, &image, &error))
            cpu_image_release(&image);
        else
            refused += error.text[0] != 0;
        mem_space_free(space);
    }
    CHECK(refused > 50, "%u refused", refused);
    free(file);
    tear_down(&f);
}

static const struct suite_test tests[] = {
    {"segments lie in memory with their permissions", test_segments},
    {"a page shared by segments takes all permissions", test_shared_pages},
    {"links every relocation as GNU ld does", test_links_as_gnu_ld},
    {"linked objects compute what the host computes", test_objects_compute},
    {"names undefined symbols", test_undefined_symbols},
    {"refuses places that do not fit", test_refuses_places},
    {"keeps page zero empty", test_refuses_page_zero},
    {"first stack as Linux writes it", test_stack},
    {"damaged objects are refused or load", test_damaged_objects},
};
SUITE_MAIN("cpu-load", tests)
