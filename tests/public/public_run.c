/* One case: compiled, run on the simulated GPU, run by the interpreter of the intermediate representation as clang left it, and
 * compared with both the interpreter (bit by bit) and the reference. */
#include "tests/public/public_attempt.h"

#include "isa/agx/compiler/ir_interpret.h"
#include "isa/agx/compiler/ir_lower.h"
#include "isa/agx/compiler/ir_read.h"
#include "isa/rounding.h"
#include "sim/compile/compile.h"
#include "sim/compile/kernel_launch.h"
#include "sim/workload/gpu/gpu_functional.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INSTRUCTIONS_MAX = 1 << 24 };

static enum public_result say(struct attempt *a, enum public_result result, const char *what, const char *more)
{
    snprintf(a->text, a->size, "%s%s", what, more);
    return result;
}

/* ---- compiling ---- */

/* The source, or the text that clang made of it. */
static bool compile(struct attempt *a, bool source, struct orch_error *error)
{
    struct public_case *const c = a->c;
    const char *constant[PUBLIC_CONSTANTS];
    for (size_t i = 0; i < c->constants; i++)
        constant[i] = c->constant[i];
    FILE *const shown = source ? open_memstream(&a->llvm, &a->llvm_bytes) : NULL;
    if (source && !shown)
        return orch_no_memory(error);
    const struct compile_request q = {.path = source ? c->source : "clang.ll",
                                      .text = source ? NULL : a->llvm,
                                      .text_bytes = a->llvm_bytes,
                                      .entry = c->kernel,
                                      .define = c->define,
                                      .defines = source ? c->defines : 0,
                                      .include = c->include,
                                      .includes = source ? c->includes : 0,
                                      .constant = constant,
                                      .constants = source ? c->constants : 0,
                                      .optimise = 2,
                                      .fresh = true,
                                      .show = source ? COMPILE_SHOW_LLVM : COMPILE_SHOW_NONE,
                                      .shown = shown};
    const bool ok = compile_source(&q, &a->compiled, error);
    if (shown)
        fclose(shown);
    return ok;
}

/* Takes the permission to fuse products and sums out of the text of clang: what is left has one result. */
static bool take_contractions(struct attempt *a)
{
    static const char word[] = " contract ";
    char *to = a->llvm;
    bool found = false;
    for (const char *from = a->llvm; *from;) {
        const bool here = strncmp(from, word, sizeof word - 1) == 0;
        found = found || here;
        from += here ? sizeof word - 2 : 0;
        *to++ = *from++;
    }
    *to = 0;
    a->llvm_bytes = (size_t)(to - a->llvm);
    return found;
}

/* ---- running ---- */

/* The argument before this one that has the same tensor, and so the same memory; the argument itself when none has. */
static unsigned first_with(const struct attempt *a, unsigned i)
{
    for (unsigned n = 0; n < i && n < a->c->binds && i < a->c->binds && a->tensor[i] >= 0; n++)
        if (a->tensor[n] == a->tensor[i])
            return n;
    return i;
}

static bool place(struct attempt *a, uint64_t *address)
{
    const struct abi_kernel *const k = &a->compiled.kernel;
    for (unsigned i = 0; i < k->args; i++) {
        const unsigned first = first_with(a, i);
        if (!k->arg[i].buffer)
            continue;
        address[i] = first < i ? address[first] : mem_space_alloc(a->space, k->arg[i].bytes, MEM_PAGE_BYTES);
        if (!address[i])
            return false;
        memcpy(mem_at(a->space, address[i], k->arg[i].bytes, MEM_WRITE), k->arg[i].initial, k->arg[i].bytes);
    }
    return true;
}

static bool simulate(struct attempt *a, struct orch_error *error)
{
    uint64_t address[ABI_ARGS_MAX] = {0};
    struct gpu_totals totals = {0};
    const struct gpu_functional functional = {
        .threads = 1, .cores = 8, .checks = {.poison = true, .instruction_limit = INSTRUCTIONS_MAX}};
    a->space = mem_space_create(0);
    const bool ok =
        a->space && place(a, address) && gpu_setup_open(&a->setup, &a->compiled.kernel, GPU_G13, a->space, address, error) &&
        gpu_totals_init(&totals, a->setup.program, error) && gpu_functional_run(&a->setup, &functional, &totals, error);
    gpu_totals_free(&totals);
    for (unsigned i = 0; ok && i < a->c->binds; i++)
        if (a->tensor[i] >= 0) {
            struct public_tensor *const t = &a->c->tensor[a->tensor[i]];
            memcpy(t->after, gpu_setup_bytes(&a->setup, i), t->bytes);
        }
    return ok;
}

static void *at(void *context, uint64_t address, uint64_t bytes)
{
    const struct attempt *const a = context;
    const struct abi_kernel *const k = &a->compiled.kernel;
    for (unsigned i = 0; i < k->args; i++)
        if (a->copy[i] && address >= a->setup.address[i] && address + bytes <= a->setup.address[i] + k->arg[i].bytes)
            return a->copy[i] + (address - a->setup.address[i]);
    return NULL;
}

static struct ir_function *find_kernel(struct ir_module *m, const char *name)
{
    for (struct ir_function *f = ir_module_functions(m); f; f = f->next)
        if (strcmp(f->name, name) == 0 || (f->host_name && strcmp(f->host_name, name) == 0))
            return f;
    return NULL;
}

/* The argument block of the interpreter: that of the launch, but threadgroup memory begins with what the launch gives. */
static void fill_block(const struct attempt *a, uint8_t *block, uint32_t *offset)
{
    const struct abi_kernel *const k = &a->compiled.kernel;
    memcpy(block, a->setup.uniforms, k->argument_bytes);
    for (unsigned i = 0; i < k->args; i++) {
        offset[i] = k->arg[i].offset;
        uint64_t begin;
        memcpy(&begin, k->arg[i].scalar, sizeof begin);
        begin -= a->threadgroup_first;
        if (k->arg[i].threadgroup)
            memcpy(block + k->arg[i].offset, &begin, sizeof begin);
    }
}

/* On what clang left, or on what was lowered of it. */
static bool interpret(struct attempt *a, bool lowered, struct isa_error *error)
{
    const struct abi_kernel *const k = &a->compiled.kernel;
    uint8_t block[1024 + 64];
    uint32_t offset[ABI_ARGS_MAX];
    fill_block(a, block, offset);
    for (unsigned i = 0; i < k->args; i++)
        if (k->arg[i].buffer && first_with(a, i) == i && (a->copy[i] || (a->copy[i] = malloc(k->arg[i].bytes))))
            memcpy(a->copy[i], k->arg[i].initial, k->arg[i].bytes);
    struct ir_module *const m = ir_read(a->llvm, a->llvm_bytes, error);
    struct ir_function *const f = m ? find_kernel(m, a->c->kernel) : NULL;
    bool ok = f != NULL;
    if (ok) {
        const struct ir_lower_options options = {.fast_math = false};
        f->kernel = true;
        struct ir_launch launch = {.arguments = block,
                                   .argument_bytes = k->argument_bytes,
                                   .threadgroup_bytes = a->threadgroup_bytes,
                                   .memory = {at, a},
                                   .most_instructions = 1u << 30,
                                   .ended_arrive = true,
                                   .flush_subnormals = true};
        memcpy(launch.grid, k->grid, sizeof launch.grid);
        memcpy(launch.group, k->group, sizeof launch.group);
        ok = (!lowered || ir_lower(m, f, &options, error)) && ir_interpret(f, &launch, error);
    }
    ir_module_free(m);
    return ok;
}

/* ---- comparing ---- */

/* Bits that differ from the interpreter's; *near when they are floats that are close. */
static bool same_as_interpreted(struct attempt *a, char *text, size_t size, bool *near)
{
    *near = true;
    for (unsigned i = 0; i < a->c->binds; i++) {
        if (a->tensor[i] < 0 || !a->copy[i])
            continue;
        const struct public_tensor *const t = &a->c->tensor[a->tensor[i]];
        if (memcmp(t->after, a->copy[i], t->bytes) == 0)
            continue;
        double *const got = calloc(t->count + 1, sizeof *got), *const wanted = calloc(t->count + 1, sizeof *wanted), most = 0;
        uint64_t first = t->count;
        public_tensor_read(t, t->after, got);
        public_tensor_read(t, a->copy[i], wanted);
        for (uint64_t n = 0; n < t->count; n++)
            most = isfinite(wanted[n]) && fabs(wanted[n]) > most ? fabs(wanted[n]) : most;
        for (uint64_t n = t->count; n-- > 0;) {
            const bool equal = got[n] == wanted[n] || (isnan(got[n]) && isnan(wanted[n]));
            const bool number = fabs(wanted[n]) > 1e-20 && fabs(wanted[n]) < 1e20; /* else it may be an integer */
            if (!equal && !(public_type_is_float(t->type) && number && fabs(got[n] - wanted[n]) <= 1e-3 * most))
                *near = false;
            if (!equal)
                first = n;
        }
        if (first < t->count)
            snprintf(text, size, "%s[%llu] is %.9g, interpreted %.9g", t->name, (unsigned long long)first, got[first],
                     wanted[first]);
        else
            snprintf(text, size, "%s has other bits than interpreted", t->name), *near = *near && public_type_is_float(t->type);
        free(got);
        free(wanted);
        return false;
    }
    return true;
}

/* Whether the output is what the reference says; *there when there is a reference. */
static bool as_referred(struct attempt *a, char *text, size_t size, bool *there)
{
    struct public_case *const c = a->c;
    struct public_tensor *const t = public_tensor(c, c->out);
    *there = c->reference[0] != 0;
    if (!*there)
        return true;
    if (!t)
        return snprintf(text, size, "no tensor %s", c->out) < 0;
    double *const got = calloc(t->count + 1, sizeof *got), *const expected = calloc(t->count + 1, sizeof *expected), mean = 0;
    for (uint64_t i = 0; i < t->count; i++)
        expected[i] = t->value[i];
    bool ok = public_reference(c, expected);
    if (!ok)
        snprintf(text, size, "no reference %s", c->reference);
    public_tensor_read(t, t->after, got);
    for (uint64_t i = 0; i < t->count; i++)
        mean += isfinite(expected[i]) ? fabs(expected[i]) / (double)t->count : 0;
    for (uint64_t i = 0; i < t->count && ok; i++) {
        const double e = expected[i], tolerance = c->tolerance * (fabs(e) > mean ? fabs(e) : mean);
        ok = got[i] == e || (isnan(e) && isnan(got[i])) || (isfinite(e) && fabs(got[i] - e) <= tolerance);
        if (!ok)
            snprintf(text, size, "%s[%llu] is %.9g, should be %.9g", c->out, (unsigned long long)i, got[i], e);
    }
    free(got);
    free(expected);
    return ok;
}

/* ---- the whole ---- */

static void close_attempt(struct attempt *a)
{
    for (unsigned i = 0; i < ABI_ARGS_MAX; i++) {
        free(a->copy[i]);
        a->copy[i] = NULL;
    }
    if (a->space)
        gpu_setup_close(&a->setup);
    mem_space_free(a->space);
    a->space = NULL;
    a->threadgroup_bytes = 0;
    compile_result_free(&a->compiled);
}

static bool is_absent(const char *why)
{
    return strstr(why, "no kernel is named") || strstr(why, "No such file or directory");
}

/* Everything up to the results of the machine code. */
static enum public_result reach(struct attempt *a, bool source)
{
    struct orch_error error = {0};
    char why[700] = "";
    bool compiled = compile(a, source, &error);
    if (!compiled && strstr(error.text, "has no such function constant")) { /* another version of the source */
        free(a->llvm);
        a->llvm = NULL;
        a->c->constants = 0;
        compiled = compile(a, source, &error);
    }
    if (!compiled)
        return say(a, is_absent(error.text) ? PUBLIC_ABSENT : PUBLIC_NOT_COMPILED, error.text, "");
    if (!public_give(a, why, sizeof why))
        return say(a, PUBLIC_NO_CASE, why, "");
    return simulate(a, &error) ? PUBLIC_RIGHT : say(a, PUBLIC_NOT_RUN, error.text, "");
}

/* The same without contractions against the interpreter. */
static enum public_result judge_bits(struct attempt *a, bool referred, const char *prefix)
{
    char difference[400] = "", all[600];
    struct isa_error why = {0};
    bool near = false;
    if (take_contractions(a)) {
        close_attempt(a);
        const enum public_result result = reach(a, false);
        if (result != PUBLIC_RIGHT)
            return result;
    }
    if (!interpret(a, false, &why)) {
        snprintf(all, sizeof all, "%s; not interpreted: %s", prefix, why.text);
        return say(a, referred ? PUBLIC_RIGHT : PUBLIC_NOT_RUN, all, "");
    }
    if (same_as_interpreted(a, difference, sizeof difference, &near))
        return say(a, PUBLIC_RIGHT, prefix, referred ? ", and bit by bit as interpreted" : "bit by bit as interpreted");
    char below[300] = "";
    bool unused;
    if (interpret(a, true, &why) && same_as_interpreted(a, below, sizeof below, &unused))
        snprintf(difference + strlen(difference), sizeof difference - strlen(difference), " (bit by bit as lowered)");
    snprintf(all, sizeof all, "%s%s%s", prefix, referred ? "; " : "near: ", difference);
    return say(a, near ? PUBLIC_RIGHT : PUBLIC_WRONG, all, "");
}

enum public_result public_run(struct public_case *c, char *text, size_t size)
{
    struct attempt *const a = calloc(1, sizeof *a);
    char found[300] = "";
    bool there = false;
    if (!a)
        return PUBLIC_NO_CASE;
    *a = (struct attempt){.c = c, .text = text, .size = size};
    enum public_result result = reach(a, true);
    if (result == PUBLIC_RIGHT && !as_referred(a, found, sizeof found, &there)) {
        result = judge_bits(a, true, found);
        if (result == PUBLIC_RIGHT)
            result = PUBLIC_WRONG;
    } else if (result == PUBLIC_RIGHT && (c->interpret || !there)) {
        result = judge_bits(a, there, there ? "as the reference" : "");
    } else if (result == PUBLIC_RIGHT) {
        say(a, result, "as the reference", "");
    }
    close_attempt(a);
    free(a->llvm);
    free(a);
    return result;
}
