/* Kernels over all of OpenCL C, of tests/golden/opencl: clang's representation and what lowering makes of it in the interpreter,
 * machine code on the simulated GPU, against an OpenCL of the host's processors and exact functions of real numbers.
 *
 *     test_opencl_kernels             with hashes that PoCL's results have (expected.txt), for kernels whose every bit counts
 *     test_opencl_kernels --native    with PoCL itself; says for every function how far it was off
 *     test_opencl_kernels --native NAME [FILE]    only kernels whose names have NAME in them; those of FILE
 *     test_opencl_kernels --write     writes expected.txt from what PoCL computes
 */
#include "tests/opencl/opencl_compare.h"
#include "tests/opencl/opencl_native.h"
#include "tests/support/suite.h"

#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 2048, TIGHT_HALVES = 40 };
#define APPROXIMATE 4 /* units: the interpreter has exact roots, machine code what the hardware has */

static struct opencl_native *native;
static char cache[] = "/tmp/orchard-opencl-XXXXXX"; /* of PoCL */
static const char *only;                            /* part of the names of kernels; NULL = all */
static const char *only_file;                       /* a source of somebody's own; NULL = all of ours */

/* ---- what PoCL said ---- */

static struct {
    char name[64];
    uint64_t hash;
} known[LINES];
static unsigned known_count;

static void read_known(void)
{
    FILE *const in = fopen(suite_golden("opencl/expected.txt"), "r");
    while (in && known_count < LINES && fscanf(in, "%63s %" SCNx64, known[known_count].name, &known[known_count].hash) == 2)
        known_count++;
    if (in)
        fclose(in);
}

static const uint64_t *known_hash(const char *name)
{
    for (unsigned i = 0; i < known_count; i++)
        if (strcmp(known[i].name, name) == 0)
            return &known[i].hash;
    return NULL;
}

/* ---- one kernel ---- */

struct tally {
    unsigned tried, right, wrong, refused;
};

/* Inputs of the same number, where there are as many as results. */
static const char *inputs(const struct opencl_case *c, const struct opencl_off *off)
{
    static char text[200];
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < c->args && used < sizeof text; i++)
        if (c->arg[i].use == OPENCL_IN && c->arg[i].count == c->arg[off->arg].count) {
            const uint8_t *const at = c->arg[i].start + off->element * opencl_type_bytes(c->arg[i].type);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.9g", used ? ", " : " of ",
                                     opencl_value(c->arg[i].type, at));
        }
    return text;
}

static bool within(const struct opencl_case *c, const char *what, const struct opencl_off *off, double allowed)
{
    CHECK(off->units <= allowed, "%s, %s: off by %g units of %g allowed, element %zu of argument %u: %.10g instead of %.10g%s",
          c->name, what, off->units, allowed, off->element, off->arg, off->got, off->expected, inputs(c, off));
    return off->units <= allowed;
}

static bool check_native(const struct opencl_case *c, const struct opencl_outcome *o, double *units)
{
    struct opencl_result theirs = {.out = {NULL}};
    bool good = opencl_result_create(&theirs, c) && opencl_native_run(native, c, theirs.out);
    CHECK(good, "%s: the native OpenCL does not run it", c->name);
    if (good) {
        const struct opencl_off a = opencl_compare(c, &theirs, &o->result[OPENCL_READ]);
        const struct opencl_off b = opencl_compare(c, &theirs, &o->result[OPENCL_MACHINE]);
        *units = b.units;
        good = within(c, "PoCL and the interpreter", &a, 2 * c->ulp);
        good = within(c, "PoCL and machine code", &b, 2 * c->ulp) && good; /* each may be off by so much */
    }
    opencl_result_free(&theirs);
    return good;
}

static bool check_known(const struct opencl_case *c, const struct opencl_outcome *o)
{
    const uint64_t *const hash = c->ulp > 0 || c->absolute > 0 || c->own ? NULL : known_hash(c->name);
    const bool same = !hash || *hash == opencl_hash(c, &o->result[OPENCL_MACHINE]);
    CHECK(same, "%s: PoCL had another result", c->name);
    CHECK(hash || c->own || c->ulp > 0 || c->absolute > 0 || native, "%s is not in expected.txt (--write)", c->name);
    return same;
}

static bool check_case(const struct opencl_case *c, const char *llvm, size_t bytes, struct tally *tally)
{
    struct opencl_outcome o;
    tally->tried++;
    bool good = opencl_run(c, llvm, bytes, TIGHT_HALVES, &o);
    CHECK(good || (o.refused && c->unsupported), "%s: %s", c->name, o.text);
    if (!good)
        tally->refused += o.refused;
    double exact_units = 0, native_units = 0;
    if (good) {
        struct opencl_case strict = *c;
        if (c->ulp > 0 && c->ulp < APPROXIMATE)
            strict.ulp = APPROXIMATE;
        const struct opencl_off lowered = opencl_compare(&strict, &o.result[OPENCL_LOWERED], &o.result[OPENCL_MACHINE]);
        const struct opencl_off read = opencl_compare(c, &o.result[OPENCL_READ], &o.result[OPENCL_MACHINE]);
        good = within(c, "the lowered form and machine code", &lowered, strict.ulp);
        good = within(c, "the interpreter and machine code", &read, c->ulp) && good;
        good = check_known(c, &o) && good;
        if (o.tight) {
            const struct opencl_off tight = opencl_compare(c, &o.result[OPENCL_MACHINE], &o.result[OPENCL_TIGHT]);
            good = within(c, "machine code in many and in few registers", &tight, 0) && good;
        }
    }
    if (good && opencl_has_reference(c)) {
        const struct opencl_off exact = opencl_compare_exact(c, &o.result[OPENCL_MACHINE]);
        exact_units = exact.units;
        good = within(c, "exact results and machine code", &exact, c->ulp);
    }
    if (good && native && !c->own)
        good = check_native(c, &o, &native_units);
    if (native && c->ulp > 0)
        printf("  %-24s %8.2f units off the exact result, %8.2f off PoCL, %g allowed\n", c->name, exact_units, native_units,
               c->ulp);
    tally->right += good;
    tally->wrong += !good && !o.refused;
    opencl_outcome_free(&o);
    return good;
}

/* ---- all kernels of a file ---- */

static bool wanted(const struct opencl_case *c)
{
    return !only || strstr(c->name, only);
}

static void write_hashes(const struct opencl_file *f, FILE *out)
{
    for (unsigned i = 0; i < f->count; i++) {
        const struct opencl_case *const c = &f->cases[i];
        struct opencl_result theirs = {.out = {NULL}};
        if (c->own || c->ulp > 0 || c->absolute > 0)
            continue;
        if (opencl_result_create(&theirs, c) && opencl_native_run(native, c, theirs.out))
            fprintf(out, "%s %016" PRIx64 "\n", c->name, opencl_hash(c, &theirs));
        else
            printf("%s: PoCL does not run it\n", c->name);
        opencl_result_free(&theirs);
    }
}

static void check_file(const char *path)
{
    struct opencl_file f;
    struct tally tally = {0, 0, 0, 0};
    char why[600], *llvm = NULL;
    size_t llvm_bytes;
    bool some = false;
    const bool parsed = opencl_file_read(path, &f);
    CHECK(parsed, "%s: not understood", path);
    for (unsigned i = 0; parsed && i < f.count; i++)
        some = some || wanted(&f.cases[i]);
    if (parsed && some) {
        const bool compiled = opencl_to_llvm(f.text, f.bytes, 2, &llvm, &llvm_bytes, why, sizeof why);
        CHECK(compiled, "%s: %s", path, why);
        if (compiled && native)
            CHECK(opencl_native_build(native, f.text), "%s", path);
        for (unsigned i = 0; compiled && i < f.count; i++)
            if (wanted(&f.cases[i]))
                check_case(&f.cases[i], llvm, llvm_bytes, &tally);
    }
    if (native && some)
        printf("  %-16s %3u tried, %3u right, %3u wrong, %3u not compiled\n", strrchr(path, '/') + 1, tally.tried, tally.right,
               tally.wrong, tally.refused);
    free(llvm);
    opencl_file_free(&f);
}

static void for_all(void (*each)(const char *path))
{
    glob_t found;
    if (only_file) {
        each(only_file);
        return;
    }
    if (glob(suite_golden("opencl/*.cl"), 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        each(found.gl_pathv[i]);
    globfree(&found);
}

static void test_kernels(void)
{
    char why[600], *llvm;
    size_t bytes;
    if (!opencl_to_llvm("", 0, 2, &llvm, &bytes, why, sizeof why)) {
        suite_skip(why);
        return;
    }
    free(llvm);
    read_known();
    for_all(check_file);
}

static FILE *hashes;

static void write_file(const char *path)
{
    struct opencl_file f;
    if (opencl_file_read(path, &f) && opencl_native_build(native, f.text))
        write_hashes(&f, hashes);
    opencl_file_free(&f);
}

static int write_all(void)
{
    hashes = fopen(suite_golden("opencl/expected.txt"), "w");
    if (!hashes)
        return 1;
    for_all(write_file);
    return fclose(hashes) != 0;
}

static const struct suite_test tests[] = {
    {"kernels of OpenCL C", test_kernels},
};

int main(int argc, char **argv)
{
    const char *why = "";
    const char *const how = argc > 1 ? argv[1] : "";
    const bool write = strcmp(how, "--write") == 0;
    only = argc > 2 ? argv[2] : NULL;
    only_file = argc > 3 ? argv[3] : NULL;
    setenv("XDG_CACHE_HOME", "/dev/null", 1); /* nothing is kept */
    setenv("POCL_CACHE_DIR", mkdtemp(cache), 0);
    if (write || strcmp(how, "--native") == 0) {
        native = opencl_native_open(&why);
        if (!native)
            printf("suite opencl kernels: skipped: %s\n", why);
        if (!native)
            return write + !suite_remove(cache);
    }
    const int code = write ? write_all() : suite_run("opencl kernels", tests, ARRAY_COUNT(tests));
    opencl_native_close(native);
    suite_remove(cache);
    return code;
}
