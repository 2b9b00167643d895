#include "sim/prove/check/gpu_sources.h"

#include "sim/compile/kernel_launch.h"
#include "sim/prove/check/case_folders.h"
#include "sim/workload/gpu/gpu_functional.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 320 };

struct source_check {
    const struct check_gpu_options *options;
    const struct compile_request *how;
    struct check_report *report;
    struct check_source_rows *rows;
    bool no_memory;
    struct orch_error missing; /* what the machine lacks for compiling; then nothing more is compiled */
};

/* ---- one kernel: its launch from the folder, its code from the compiler ---- */

static bool find_source(const char *folder, char path[CASE_PATH_BYTES + 16])
{
    static const char *const names[] = {"kernel.cl", "kernel.metal", "kernel.ll"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, CASE_PATH_BYTES + 16, "%s/%s", folder, names[i]);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* Arguments meet by name; those that the compiler added come behind. */
static bool place_arguments(struct abi_kernel *launch, struct abi_kernel *code, struct orch_error *error)
{
    unsigned added = 0;
    for (unsigned i = 0; i < code->args; i++) {
        if (kernel_launch_knows(&code->arg[i]) && launch->args < ABI_ARGS_MAX) {
            launch->arg[launch->args++] = code->arg[i];
            code->arg[i].initial = NULL; /* moved */
            added++;
            continue;
        }
        struct abi_arg *const a = abi_kernel_arg(launch, code->arg[i].name);
        if (!a)
            return orch_fail(error, ORCH_USAGE, "the source has the argument %s, the description has not", code->arg[i].name);
        if (a->buffer != code->arg[i].buffer || a->size != code->arg[i].size)
            return orch_fail(
                error, ORCH_USAGE, "the argument %s is a %s of %u bytes in the source, a %s of %u bytes in the description",
                a->name, code->arg[i].buffer ? "buffer" : "scalar", code->arg[i].size, a->buffer ? "buffer" : "scalar", a->size);
        a->offset = code->arg[i].offset;
    }
    kernel_launch_sizes(launch);
    return launch->args == code->args || orch_fail(error, ORCH_USAGE, "the description has %u arguments, the source has %u",
                                                   launch->args - added, code->args - added);
}

/* Moves the code into the launch. */
static bool put_code(struct abi_kernel *launch, struct abi_kernel *code, struct orch_error *error)
{
    if (!place_arguments(launch, code, error))
        return false;
    if (code->group[0] && memcmp(code->group, launch->group, sizeof code->group) != 0)
        return orch_fail(error, ORCH_USAGE, "compiled for threadgroups of %ux%ux%u, launched with %ux%ux%u", code->group[0],
                         code->group[1], code->group[2], launch->group[0], launch->group[1], launch->group[2]);
    free(launch->code);
    launch->code = code->code;
    code->code = NULL;
    memcpy(launch->code_name, code->code_name, sizeof launch->code_name);
    launch->code_bytes = code->code_bytes;
    launch->main_offset = code->main_offset;
    launch->preamble_offset = code->preamble_offset;
    launch->has_preamble = code->has_preamble;
    launch->constants_offset = code->constants_offset;
    launch->constants_first = code->constants_first;
    launch->constants_count = code->constants_count;
    launch->argument_bytes = code->argument_bytes;
    launch->register_halves = code->register_halves;
    launch->threadgroup_memory_bytes = code->threadgroup_memory_bytes;
    launch->stack_words = code->stack_words;
    return true;
}

static void judge(struct source_check *c, const struct gpu_setup *s, const struct gpu_findings *found, const char *title,
                  struct check_source_row *row)
{
    unsigned expected, right;
    char outputs[TEXT_BYTES];
    gpu_setup_compare(s, &expected, &right, outputs, sizeof outputs);
    row->right = !found->count && !outputs[0] && expected;
    if (found->count)
        check_fail(c->report, "%s: %s", title, found->text[0]);
    else if (outputs[0])
        check_fail(c->report, "%s: %s", title, outputs);
    else if (!expected)
        check_skip(c->report, "%s: no expected outputs", title);
    else
        check_pass(c->report);
}

static bool add_row(struct source_check *c, const struct check_source_row *row)
{
    struct check_source_row *const grown = realloc(c->rows->row, (c->rows->count + 1) * sizeof *grown);
    if (!grown)
        return false;
    c->rows->row = grown;
    c->rows->row[c->rows->count++] = *row;
    return true;
}

static void run_kernel(struct source_check *c, const struct abi_kernel *k, unsigned spills, unsigned reference_halves,
                       struct orch_error *why)
{
    struct gpu_setup setup = {.program = NULL};
    struct gpu_totals totals = {0};
    struct gpu_findings found = {.text = NULL};
    struct mem_space *const space = mem_space_create(0);
    if (!space) {
        orch_fail(why, ORCH_INTERNAL, "no address space for the simulated memory");
    } else if (gpu_setup_open(&setup, k, GPU_G14, space, NULL, why) &&
               check_gpu_execute(&setup, c->options, &totals, &found, why)) {
        struct check_source_row row = {.instructions = totals.instructions,
                                       .reference = k->has_reference ? k->simdgroup_instructions : 0,
                                       .code_bytes = (uint32_t)k->code_bytes,
                                       .register_halves = k->register_halves,
                                       .reference_halves = reference_halves,
                                       .spills = spills};
        memcpy(row.name, k->name, sizeof row.name);
        judge(c, &setup, &found, k->name, &row);
        c->no_memory = !add_row(c, &row) || c->no_memory;
    }
    gpu_findings_free(&found);
    gpu_totals_free(&totals);
    gpu_setup_close(&setup);
    if (space)
        mem_space_free(space);
}

/* Without clang no case tells anything; text that clang has written before needs none. */
static bool possible(struct source_check *c, const char *source)
{
    enum compile_language language;
    return compile_language_of(source, &language) && (!c->missing.exit_code && compile_is_possible(language, &c->missing));
}

/* The folder's name is the kernel's; a source with one kernel needs no name. */
static bool compile(const struct source_check *c, const char *path, const char *name, struct compile_result *r,
                    struct orch_error *why)
{
    struct compile_request q = *c->how;
    struct orch_error named = {0};
    q.path = path;
    q.text = NULL;
    q.entry = NULL;
    if (compile_source(&q, r, why))
        return true;
    compile_result_free(r);
    if (!strstr(why->text, " kernels ("))
        return false;
    q.entry = name;
    const bool ok = compile_source(&q, r, &named);
    *why = named;
    return ok;
}

static void check_folder(void *context, const char *path)
{
    struct source_check *const c = context;
    struct orch_error why = {0};
    struct abi_kernel launch;
    struct compile_result r = {.lines = 0};
    char source[CASE_PATH_BYTES + 16];
    const bool opened = abi_kernel_open_launch(&launch, path, &why);
    const unsigned reference_halves = opened ? launch.register_halves : 0; /* of the folder's own code */
    if (!opened)
        check_fail(c->report, "%s", why.text);
    else if (!find_source(path, source))
        check_skip(c->report, "%s: no kernel.cl", launch.name);
    else if (possible(c, source) && compile(c, source, launch.name, &r, &why) && put_code(&launch, &r.kernel, &why))
        run_kernel(c, &launch, r.spills, reference_halves, &why);
    if (why.exit_code && launch.name[0])
        check_fail(c->report, "%s: %s", launch.name, why.text);
    compile_result_free(&r);
    abi_kernel_free(&launch);
}

/* ---- all ---- */

bool check_gpu_sources(const char *folder, const char *const *names, size_t name_count, const struct check_gpu_options *options,
                       const struct compile_request *how, struct check_report *report, struct check_source_rows *rows,
                       struct orch_error *error)
{
    struct source_check check = {.options = options, .how = how, .report = report, .rows = rows};
    const struct case_kind kind = {.noun = "kernel", .marker = "abi.json", .check = check_folder, .context = &check};
    bool ok;
    *rows = (struct check_source_rows){.count = 0};
    ok = case_folders_run(folder, names, name_count, &kind, error) && (!check.no_memory || orch_no_memory(error));
    if (ok && check.missing.exit_code)
        *error = check.missing;
    return ok && !check.missing.exit_code;
}

void check_source_rows_free(struct check_source_rows *rows)
{
    free(rows->row);
    *rows = (struct check_source_rows){.count = 0};
}

double check_source_mean(const struct check_source_rows *rows)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->row[i].right && rows->row[i].reference) {
            sum += log((double)rows->row[i].instructions / (double)rows->row[i].reference);
            count++;
        }
    return count ? exp(sum / (double)count) : 0;
}
