/* The compiled kernels of frameworks (units/gpu/kernels/SET/NAME.inc) are what their sources give. With --write, writes them:
 * `make framework-kernels`; with --write SET/NAME... these alone. Skipped without clang. */
#include "sim/base/file_read.h"
#include "sim/compile/compile.h"
#include "tests/support/suite.h"
#include "units/gpu/kernels/framework_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER ORCHARD_SOURCE_DIR "/units/gpu/kernels/"
enum { PATH = 512, WORDS_A_LINE = 6 };

static const char *const sources[] = {
#define X(set, file) #set "/" #file,
    FRAMEWORK_SOURCES(X)
#undef X
};

static bool writing; /* no suite runs */
#define TELL(condition, ...)                                                                                                     \
    do {                                                                                                                         \
        const bool holds = (condition);                                                                                          \
        if (!writing)                                                                                                            \
            CHECK(holds, __VA_ARGS__);                                                                                           \
        else if (!holds)                                                                                                         \
            fprintf(stderr, __VA_ARGS__), fputc('\n', stderr);                                                                   \
    } while (0)

/* ---- one kernel as a row of the table ---- */

static void write_code(FILE *out, const struct abi_kernel *k)
{
    const size_t words = (k->code_bytes + 7) / 8;
    fprintf(out, "(const uint64_t[]){");
    for (size_t i = 0; i < words; i++) {
        uint64_t word = 0;
        const size_t left = k->code_bytes - 8 * i;
        memcpy(&word, k->code + 8 * i, left < 8 ? left : 8);
        fprintf(out, "%s0x%" PRIx64 ",", i % WORDS_A_LINE ? "" : "\n", word);
    }
    fprintf(out, "}");
}

static void write_row(FILE *out, const char *source, const struct abi_kernel *k)
{
    fprintf(out, "{\"%s\", \"%s\",\n%zu, %u, %u, %s, %u, %u, %u, %u, %u, %u, %u, %u, {", source, k->name, k->code_bytes,
            k->main_offset, k->preamble_offset, k->has_preamble ? "true" : "false", k->constants_offset, k->constants_first,
            k->constants_count, k->argument_bytes, k->register_halves, k->threadgroup_memory_bytes, k->stack_words, k->args);
    for (unsigned i = 0; i < k->args; i++)
        fprintf(out, "%s{\"%s\", %u, %s}", i ? ", " : "", k->arg[i].name, k->arg[i].offset,
                k->arg[i].constant ? "true" : "false");
    fprintf(out, "},\n");
    write_code(out, k);
    fprintf(out, "},\n");
}

static bool can_be_kept(const struct abi_kernel *k)
{
    bool ok = k->args <= FRAMEWORK_CODE_ARGUMENTS;
    for (unsigned i = 0; i < k->args; i++)
        ok = ok && k->arg[i].buffer && !k->arg[i].initial && strlen(k->arg[i].name) < 16;
    TELL(ok, "%s: arguments are no buffers, too many, or known by the launch alone", k->name);
    return ok;
}

static const char *const folders[] = {FOLDER "mlx", FOLDER "ggml"};

struct table {
    FILE *out;
    const char *source;
};

/* Writes a kernel's row, or tells why it has none. */
static bool write_kernel(void *context, const struct compile_result *r)
{
    const struct table *const t = context;
    TELL(r->spills < 32, "%s %s: %u spills", t->source, r->kernel.name, r->spills);
    const bool kept = can_be_kept(&r->kernel);
    if (kept)
        write_row(t->out, t->source, &r->kernel);
    return kept;
}

/* The file that a source gives, NULL when it fails. To be freed. */
static char *table_of(const char *source)
{
    char path[PATH], *text = NULL;
    size_t bytes = 0;
    struct orch_error error = {0};
    snprintf(path, sizeof path, FOLDER "%s.metal", source);
    struct table t = {.out = open_memstream(&text, &bytes), .source = source};
    if (!t.out)
        return NULL;
    const struct compile_request q = {
        .path = path, .include = folders, .includes = ARRAY_COUNT(folders), .optimise = 2, .fast_math = true};
    fprintf(t.out, "/* Compiled from %s.metal by `make framework-kernels`: do not edit. */\n", source);
    const bool ok = compile_every(&q, write_kernel, &t, &error);
    TELL(ok, "%s: %s", path, error.text);
    fclose(t.out);
    return text;
}

/* ---- the suite ---- */

static bool missing_clang(void)
{
    struct orch_error error = {0};
    if (compile_is_possible(COMPILE_METAL, &error))
        return false;
    suite_skip("clang is not installed");
    return true;
}

static void test_sources_give_the_tables(void)
{
    char path[PATH];
    if (missing_clang())
        return;
    for (size_t i = 0; i < ARRAY_COUNT(sources); i++) {
        char *const wanted = table_of(sources[i]);
        uint8_t *there = NULL;
        size_t bytes = 0;
        snprintf(path, sizeof path, FOLDER "%s.inc", sources[i]);
        FILE *const f = fopen(path, "rb");
        const bool read = f && file_read_all(f, 64 << 20, &there, &bytes);
        CHECK(read && wanted && strlen(wanted) == bytes && memcmp(wanted, there, bytes) == 0,
              "%s is not what its source gives today: make framework-kernels", path);
        if (f)
            fclose(f);
        free(there);
        free(wanted);
    }
}

static void test_names_are_found(void)
{
    for (size_t i = 0; i < framework_code_count(); i++) {
        const struct framework_code *const c = framework_code_at(i);
        CHECK(framework_code_find(c->name) == c, "%s is there twice", c->name);
        CHECK(c->main_offset < c->code_bytes && c->preamble_offset < c->code_bytes, "%s", c->name);
    }
    CU_ASSERT_PTR_NULL(framework_code_find("mlx"));
}

/* No names: all. */
static bool is_named(const char *source, int names, char *const *name)
{
    bool named = names == 0;
    for (int i = 0; i < names; i++)
        named = named || strcmp(name[i], source) == 0;
    return named;
}

static int write_sources(int names, char *const *name)
{
    char path[PATH];
    for (size_t i = 0; i < ARRAY_COUNT(sources); i++) {
        if (!is_named(sources[i], names, name))
            continue;
        char *const text = table_of(sources[i]);
        snprintf(path, sizeof path, FOLDER "%s.inc", sources[i]);
        FILE *const f = text ? fopen(path, "wb") : NULL;
        if (!f || fputs(text, f) == EOF || fclose(f) != 0)
            return fprintf(stderr, "%s cannot be written\n", path), 1;
        free(text);
    }
    return 0;
}

static const struct suite_test tests[] = {{"sources give the compiled tables", test_sources_give_the_tables},
                                          {"names are found, and stand once", test_names_are_found}};

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "--write") == 0) {
        writing = true;
        return write_sources(argc - 2, argv + 2);
    }
    return suite_run("framework_kernels", tests, ARRAY_COUNT(tests));
}
