/* The ELF reader and writer: files that GNU tools made, GNU tools reading ours, and damaged files. */
#include "isa/array_count.h"
#include "isa/elf/elf_read.h"
#include "isa/elf/elf_write.h"
#include "tests/support/suite.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* mov w0, #42; mov w8, #94; svc #0 (exit_group) and one AMX word: fma32 x5 */
static const uint32_t code[] = {0x52800540, 0x52800bc8, 0xd4000001, 0x00201185};
static const char text_part[] = "constants";
static const uint64_t data_part[3] = {1, 2, 3};

static const struct elf_label labels[] = {
    {"_start", 0x400000, 12, true},
    {"kernel", 0x40000c, 4, true},
    {"table", 0x410000, 24, false},
    {"space", 0x420000, 100, false},
};

static struct elf_program sample(void)
{
    return (struct elf_program){.code = {0x400000, code, sizeof code},
                                .rodata = {0x404000, text_part, sizeof text_part},
                                .data = {0x410000, data_part, sizeof data_part},
                                .bss_addr = 0x420000,
                                .bss_bytes = 0x5000,
                                .labels = labels,
                                .label_count = 4};
}

static uint8_t *written(size_t *size)
{
    const struct elf_program program = sample();
    struct isa_error error = {0};
    uint8_t *file = elf_write(&program, size, &error);
    CHECK(file != NULL, "%s", error.text);
    return file;
}

static void test_writes_what_it_reads(void)
{
    size_t size;
    uint8_t *file = written(&size);
    struct elf_file elf;
    struct isa_error error = {0};
    CHECK(elf_open(&elf, file, size, &error), "%s", error.text);
    CU_ASSERT_EQUAL(elf.kind, ELF_EXECUTABLE);
    CU_ASSERT_EQUAL(elf.entry, 0x400000);
    CU_ASSERT_EQUAL(elf.load_count, 4);
    CU_ASSERT_EQUAL(elf.low, 0x400000);
    CU_ASSERT_EQUAL(elf.high, 0x425000);
    const struct {
        uint64_t addr, mem, file;
        bool w, x;
    } want[4] = {{0x400000, sizeof code, sizeof code, false, true},
                 {0x404000, sizeof text_part, sizeof text_part, false, false},
                 {0x410000, 24, 24, true, false},
                 {0x420000, 0x5000, 0, true, false}};
    for (uint32_t i = 0; i < 4; i++) {
        struct elf_segment s;
        elf_segment(&elf, i, &s);
        CHECK(s.addr == want[i].addr && s.mem_bytes == want[i].mem && s.file_bytes == want[i].file && s.read &&
                  s.write == want[i].w && s.exec == want[i].x,
              "segment %u at 0x%lx", i, (unsigned long)s.addr);
    }
    struct elf_segment s;
    elf_segment(&elf, 0, &s);
    CU_ASSERT_EQUAL(memcmp(file + s.offset, code, sizeof code), 0);
    elf_segment(&elf, 2, &s);
    CU_ASSERT_EQUAL(memcmp(file + s.offset, data_part, sizeof data_part), 0);
    uint32_t index = 0;
    struct elf_symbol symbol;
    CU_ASSERT_TRUE_FATAL(elf_find_symbol(&elf, "kernel", &index));
    elf_symbol(&elf, index, &symbol);
    CU_ASSERT_EQUAL(symbol.value, 0x40000c);
    CU_ASSERT_TRUE(elf_symbol_is_entry(&elf, &symbol));
    CU_ASSERT_TRUE_FATAL(elf_find_symbol(&elf, "table", &index));
    elf_symbol(&elf, index, &symbol);
    CU_ASSERT_FALSE(elf_symbol_is_entry(&elf, &symbol));
    CU_ASSERT_FALSE(elf_find_symbol(&elf, "kernels", &index));
    free(file);
}

static void test_writer_refuses(void)
{
    struct isa_error error = {0};
    size_t size;
    struct elf_program p = sample();
    p.code.size = 0;
    CU_ASSERT_PTR_NULL(elf_write(&p, &size, &error));
    CHECK(strstr(error.text, "no code") != NULL, "%s", error.text);
    p = sample();
    p.data.addr = 0x400000;
    CU_ASSERT_PTR_NULL(elf_write(&p, &size, &error));
    CHECK(strstr(error.text, "shares a page") != NULL, "%s", error.text);
    p = sample();
    p.rodata.addr = 0x404010;
    CU_ASSERT_PTR_NULL(elf_write(&p, &size, &error));
    CHECK(strstr(error.text, "multiple of 0x4000") != NULL, "%s", error.text);
    p = sample();
    p.entry = "begin";
    CU_ASSERT_PTR_NULL(elf_write(&p, &size, &error));
    CHECK(strstr(error.text, "begin") != NULL, "%s", error.text);
    const struct elf_label outside[] = {{"_start", 0x900000, 0, true}};
    p = sample();
    p.labels = outside;
    p.label_count = 1;
    CU_ASSERT_PTR_NULL(elf_write(&p, &size, &error));
    CHECK(strstr(error.text, "_start") && strstr(error.text, "no part"), "%s", error.text);
}

/* Writes the sample to disk; the caller removes it. */
static bool on_disk(char path[64])
{
    size_t size;
    uint8_t *file = written(&size);
    strcpy(path, "/tmp/orchard_elf_XXXXXX");
    const int fd = mkstemp(path);
    const bool ok = file && fd >= 0 && write(fd, file, size) == (ssize_t)size && fchmod(fd, 0700) == 0;
    if (fd >= 0)
        close(fd);
    free(file);
    return ok;
}

static bool have(const char *tool)
{
    char command[200];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", tool);
    return system(command) == 0;
}

static void output_of(const char *format, const char *path, char *text, size_t size)
{
    char command[300];
    snprintf(command, sizeof command, "%s %s 2>&1", format, path);
    FILE *pipe = popen(command, "r");
    const size_t n = pipe ? fread(text, 1, size - 1, pipe) : 0;
    text[n] = 0;
    if (pipe)
        pclose(pipe);
}

static void test_gnu_tools_read_it(void)
{
    static char text[20000];
    char path[64];
    if (!have("aarch64-linux-gnu-objdump")) {
        suite_skip("aarch64-linux-gnu-objdump is not installed");
        return;
    }
    CU_ASSERT_TRUE_FATAL(on_disk(path));
    output_of("aarch64-linux-gnu-objdump -d", path, text, sizeof text);
    CHECK(strstr(text, "<_start>:") && strstr(text, "<kernel>:") && strstr(text, "mov\tw0, #0x2a") && strstr(text, "00201185"),
          "%s", text);
    output_of("aarch64-linux-gnu-readelf -aW", path, text, sizeof text);
    CHECK(!strstr(text, "Warning") && !strstr(text, "Error"), "%s", text);
    CHECK(strstr(text, ".rodata") && strstr(text, ".bss") && strstr(text, " space"), "%s", text);
    remove(path);
}

static void test_qemu_runs_it(void)
{
    char path[64];
    if (!have("qemu-aarch64-static")) {
        suite_skip("qemu-aarch64-static is not installed");
        return;
    }
    CU_ASSERT_TRUE_FATAL(on_disk(path));
    char command[200];
    snprintf(command, sizeof command, "qemu-aarch64-static %s", path);
    const int status = system(command);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42, "status %d", status);
    remove(path);
}

/* Every truncated file gives a clear error, at a place inside the file. */
static void test_truncation(void)
{
    size_t size;
    uint8_t *file = written(&size);
    for (size_t n = 0; n < size; n += n < 1000 || n + 2000 > size ? 1 : 97) {
        uint8_t *part = malloc(n ? n : 1); /* an allocation of its own, so that sanitizers see reads behind it */
        memcpy(part, file, n);
        struct elf_file elf;
        struct isa_error error = {0};
        CHECK(!elf_open(&elf, part, n, &error) && error.text[0], "%zu of %zu bytes were accepted", n, size);
        free(part);
    }
    free(file);
}

static bool opens(const uint8_t *file, size_t size, struct isa_error *error)
{
    struct elf_file elf;
    memset(error, 0, sizeof *error);
    return elf_open(&elf, file, size, error);
}

static void put(uint8_t *file, size_t at, uint64_t value, size_t bytes)
{
    memcpy(file + at, &value, bytes);
}

#define EHDR(field) offsetof(Elf64_Ehdr, field), sizeof(((Elf64_Ehdr *)0)->field)
#define PHDR(index, field)                                                                                                       \
    sizeof(Elf64_Ehdr) + (index) * sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, field), sizeof(((Elf64_Phdr *)0)->field)

static void test_damage_is_named(void)
{
    static const struct {
        size_t at, bytes;
        uint64_t value;
        const char *expected;
    } damage[] = {
        {0, 1, 0, "not an ELF file"},
        {EI_CLASS, 1, 1, "64-bit"},
        {EI_DATA, 1, 2, "little-endian"},
        {EHDR(e_machine), 62, "machine 62, expected 183"},
        {EHDR(e_type), 4, "type 4"},
        {EHDR(e_phoff), ~0ull - 10, "program headers at offset"},
        {EHDR(e_phentsize), 32, "program header size 32, expected 56"},
        {EHDR(e_phnum), 60000, "60000 program headers"},
        {EHDR(e_shoff), ~0ull, "section headers"},
        {EHDR(e_shnum), 0, "section count 0"},
        {EHDR(e_shnum), 65000, "65000 section headers"},
        {EHDR(e_shstrndx), 77, "section 77 does not exist"},
        {EHDR(e_shstrndx), 1, "expected 3 (string table)"},
        {PHDR(0, p_offset), 1ull << 40, "outside the file"},
        {PHDR(0, p_filesz), ~0ull, "outside the file"},
        {PHDR(0, p_memsz), 3, "hold less"},
        {PHDR(1, p_vaddr), ~0ull - 5, "48-bit address space"},
        {PHDR(1, p_vaddr), 0x400004, "overlaps"},
        {PHDR(3, p_vaddr), 0x100000, "overlaps or precedes"},
        {PHDR(0, p_align), 3, "power of two"},
        {PHDR(0, p_type), PT_INTERP, "-static"},
    };
    size_t size;
    uint8_t *good = written(&size), *file = malloc(size);
    for (size_t i = 0; i < ARRAY_COUNT(damage); i++) {
        struct isa_error error;
        memcpy(file, good, size);
        put(file, damage[i].at, damage[i].value, damage[i].bytes);
        CHECK(!opens(file, size, &error) && strstr(error.text, damage[i].expected), "case %zu (%s): '%s'", i, damage[i].expected,
              error.text);
    }
    free(file);
    free(good);
}

/* A file with one byte changed anywhere in headers and tables is accepted or refused with a reason, and never crashes us. */
static void test_any_byte(void)
{
    size_t size;
    uint64_t random = 5;
    uint8_t *good = written(&size), *file = malloc(size);
    unsigned refused = 0;
    for (size_t at = 0; at < size; at += at < 400 || at > 0x10000 - 64 ? 1 : 61) {
        struct isa_error error;
        memcpy(file, good, size);
        file[at] ^= (uint8_t)(1 + suite_random(&random) % 255);
        if (!opens(file, size, &error)) {
            refused++;
            CHECK(error.text[0] && error.offset <= size, "byte %zu: '%s'", at, error.text);
        }
    }
    CHECK(refused > 50, "%u refused", refused);
    free(file);
    free(good);
}

static const struct suite_test tests[] = {
    {"reads what the writer wrote", test_writes_what_it_reads},
    {"writer refuses impossible programs", test_writer_refuses},
    {"objdump and readelf understand the writer", test_gnu_tools_read_it},
    {"qemu runs a written program", test_qemu_runs_it},
    {"every truncation is an error", test_truncation},
    {"damaged fields are named", test_damage_is_named},
    {"any changed byte is survived", test_any_byte},
};
SUITE_MAIN("elf", tests)
