/* Random programs in OpenCL C: the interpreter on what clang wrote and on its lowered form, machine code in many and in few
 * registers, and PoCL when asked for, must have the same results to the bit.
 *
 *     test_opencl_random                         150 of them
 *     test_opencl_random FIRST COUNT [NATIVE]    seeds from FIRST on; every NATIVE-th source of 25 also with PoCL
 *     test_opencl_random --print SEED            the source of one
 */
#include "tests/opencl/opencl_compare.h"
#include "tests/opencl/opencl_generate.h"
#include "tests/opencl/opencl_native.h"
#include "tests/support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { A_SOURCE = 25, HALVES_LEAST = 36, HALVES_STEPS = 6 };

static uint64_t first = 0;
static unsigned long count = 150;
static unsigned long each_native;
static struct opencl_native *native;
static char cache[] = "/tmp/orchard-opencl-XXXXXX"; /* of PoCL */
static unsigned long tried, tight, refused, compared;

static bool same(const struct opencl_case *c, const char *what, const struct opencl_result *expected,
                 const struct opencl_result *got)
{
    const struct opencl_off off = opencl_compare(c, expected, got);
    CHECK(off.units == 0, "%s, %s: element %zu is %.10g instead of %.10g", c->name, what, off.element, off.got, off.expected);
    return off.units == 0;
}

static void check_native(const struct opencl_case *c, const struct opencl_outcome *o)
{
    struct opencl_result theirs = {.out = {NULL}};
    const bool ran = opencl_result_create(&theirs, c) && opencl_native_run(native, c, theirs.out);
    CHECK(ran, "%s: PoCL does not run it", c->name);
    compared += ran && same(c, "PoCL and machine code", &theirs, &o->result[OPENCL_MACHINE]);
    opencl_result_free(&theirs);
}

static void check_kernel(const struct opencl_case *c, const char *llvm, size_t bytes, bool also_native)
{
    struct opencl_outcome o;
    tried++;
    const bool good = opencl_run(c, llvm, bytes, HALVES_LEAST + 8 * (unsigned)(tried % HALVES_STEPS), &o);
    CHECK(good, "%s: %s", c->name, o.text);
    refused += o.refused;
    tight += o.tight;
    if (good) {
        same(c, "the interpreter before and after lowering", &o.result[OPENCL_READ], &o.result[OPENCL_LOWERED]);
        same(c, "the interpreter and machine code", &o.result[OPENCL_READ], &o.result[OPENCL_MACHINE]);
        if (o.tight)
            same(c, "the interpreter and machine code in few registers", &o.result[OPENCL_READ], &o.result[OPENCL_TIGHT]);
        if (also_native)
            check_native(c, &o);
    }
    opencl_outcome_free(&o);
}

static char *source_of(uint64_t seed, unsigned kernels, size_t *bytes)
{
    char *text = NULL;
    FILE *const out = open_memstream(&text, bytes);
    opencl_generate_head(out);
    for (unsigned k = 0; k < kernels; k++)
        opencl_generate(out, seed + k);
    fclose(out);
    return text;
}

/* Every fourth source as it stands, without clang's optimiser. */
static void check_source(uint64_t seed, unsigned number, unsigned kernels)
{
    static const unsigned levels[] = {2, 1, 3, 0};
    struct opencl_file f;
    size_t bytes, llvm_bytes;
    char *const text = source_of(seed, kernels, &bytes), why[600], *llvm;
    const bool compiled = opencl_to_llvm(text, bytes, levels[number % 4], &llvm, &llvm_bytes, why, sizeof why);
    const bool parsed = opencl_file_parse(text, bytes, &f), with_native = native && number % each_native == 0;
    CHECK(compiled && parsed, "seed %" PRIu64 ": %s", seed, why);
    if (with_native)
        CHECK(opencl_native_build(native, text), "seed %" PRIu64, seed);
    for (unsigned k = 0; compiled && parsed && k < f.count; k++)
        check_kernel(&f.cases[k], llvm, llvm_bytes, with_native);
    free(llvm);
    opencl_file_free(&f);
}

static void test_random(void)
{
    char why[600], *llvm;
    size_t bytes;
    if (!opencl_to_llvm("", 0, 2, &llvm, &bytes, why, sizeof why)) {
        suite_skip(why);
        return;
    }
    free(llvm);
    for (unsigned long done = 0; done < count; done += A_SOURCE)
        check_source(first + done, (unsigned)(done / A_SOURCE), count - done < A_SOURCE ? (unsigned)(count - done) : A_SOURCE);
    CHECK(tight >= tried / 4, "only %lu of %lu ran in few registers", tight, tried);
    if (getenv("SUITE_TIMES") || native)
        printf("  %lu programs, %lu in few registers, %lu compared with PoCL, %lu not compiled\n", tried, tight, compared,
               refused);
}

static const struct suite_test tests[] = {
    {"random programs", test_random},
};

static int print(uint64_t seed)
{
    opencl_generate_head(stdout);
    opencl_generate(stdout, seed);
    return 0;
}

int main(int argc, char **argv)
{
    const char *why;
    setenv("XDG_CACHE_HOME", "/dev/null", 1); /* nothing is kept */
    if (argc > 2 && strcmp(argv[1], "--print") == 0)
        return print(strtoull(argv[2], NULL, 10));
    if (argc > 2) {
        first = strtoull(argv[1], NULL, 10);
        count = strtoul(argv[2], NULL, 10);
        each_native = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    }
    setenv("POCL_CACHE_DIR", mkdtemp(cache), 0);
    native = each_native ? opencl_native_open(&why) : NULL;
    if (each_native && !native)
        printf("  without PoCL: %s\n", why);
    const int code = suite_run("opencl random", tests, ARRAY_COUNT(tests));
    opencl_native_close(native);
    suite_remove(cache);
    return code;
}
