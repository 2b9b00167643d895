/* Every kernel of texts of LLVM's representation through lowering and the back end: how long each takes and what is refused.
 *
 *     build/tests/bench/bench_compile FILE.ll ... [SECONDS]      more than SECONDS (1) is slow
 *
 * `orchard compile FILE.metal --print llvm` makes such a text. Without files it compiles the golden one. */
#include "isa/agx/compiler/agx_compile.h"
#include "isa/agx/compiler/ir_lower.h"
#include "isa/agx/compiler/ir_read.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct tally {
    unsigned kernels, good, slow;
    double most_s, limit_s;
    char slowest[160];
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static char *read_file(const char *path, size_t *size)
{
    FILE *const f = fopen(path, "rb");
    char *text = NULL;
    *size = 0;
    if (f && fseek(f, 0, SEEK_END) == 0) {
        const long bytes = ftell(f);
        text = bytes < 0 ? NULL : malloc((size_t)bytes + 1);
        rewind(f);
        *size = text ? fread(text, 1, (size_t)bytes, f) : 0;
    }
    if (f)
        fclose(f);
    return text;
}

static void compile(struct ir_module *m, struct ir_function *f, struct tally *t)
{
    const char *const name = f->host_name ? f->host_name : f->name;
    const struct ir_lower_options lower = {.fast_math = false};
    const struct agx_compile_options options = {0};
    struct agx_compiled code = {.assembly = NULL};
    struct isa_error error = {.line = 0};
    const double start_s = now_s();
    f->kernel = true;
    const bool good = ir_lower(m, f, &lower, &error) && agx_compile(f, &options, &code, &error);
    const double took_s = now_s() - start_s;
    if (good)
        printf("%s\tok\t%.3f\t%zu bytes, %u register halves, %u spills\n", name, took_s, code.program.code_bytes,
               code.program.register_halves, code.spills);
    else if (error.line)
        printf("%s\trefused\t%.3f\t%s:%lu: %s\n", name, took_s, error.file, error.line, error.text);
    else
        printf("%s\trefused\t%.3f\t%s\n", name, took_s, error.text);
    if (good)
        agx_compiled_free(&code);
    t->kernels++;
    t->good += good;
    t->slow += took_s > t->limit_s;
    if (took_s > t->most_s) {
        t->most_s = took_s;
        snprintf(t->slowest, sizeof t->slowest, "%s", name);
    }
}

static bool compile_file(const char *path, struct tally *t)
{
    struct isa_error error = {.line = 0};
    size_t size;
    char *const text = read_file(path, &size);
    struct ir_module *const m = text ? ir_read(text, size, &error) : NULL;
    if (!m)
        printf("%s:%lu: %s\n", path, error.line, text ? error.text : "cannot be read");
    for (struct ir_function *f = m ? ir_module_functions(m) : NULL; f; f = f->next)
        if ((f->kernel || f->host_name) && !f->declared_only)
            compile(m, f, t);
    ir_module_free(m);
    free(text);
    return m != NULL;
}

int main(int argc, char **argv)
{
    struct tally t = {.limit_s = 1};
    bool good = true;
    if (argc > 2 && strspn(argv[argc - 1], "0123456789.") == strlen(argv[argc - 1]))
        t.limit_s = strtod(argv[--argc], NULL);
    for (int i = 1; i < argc; i++)
        good = compile_file(argv[i], &t) && good;
    if (argc == 1)
        good = compile_file(suite_golden("agx/source/two.ll"), &t);
    printf("%u kernels, %u compiled (%.1f %%), slowest %.3f s (%s), %u over %g s\n", t.kernels, t.good,
           t.kernels ? 100.0 * t.good / t.kernels : 0, t.most_s, t.slowest, t.slow, t.limit_s);
    return good ? 0 : 1;
}
