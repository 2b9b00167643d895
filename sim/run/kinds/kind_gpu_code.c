/* Kind "gpu-code": a launch description (abi.json) with GPU machine code, as a file or a folder. */
#include "sim/base/checksum.h"
#include "sim/run/gpu/kind_gpu_code.h"
#include "sim/run/run_internal.h"
#include "sim/run/gpu/run_launch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool recognise(const struct run_file *file)
{
    char path[4096];
    struct stat st;
    if (!file->is_folder)
        return abi_is_description(file->bytes, file->size);
    snprintf(path, sizeof path, "%s/abi.json", file->path);
    return stat(path, &st) == 0;
}

/* "NAME=FILE" of --input. */
static bool set_input(struct abi_kernel *kernel, const char *text, struct orch_error *error)
{
    char name[64];
    const char *const equals = strchr(text, '=');
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof name)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("input") " %s: expected NAME=FILE", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    return abi_kernel_set_input(kernel, name, equals + 1, error);
}

bool run_gpu_code_inputs(struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    struct abi_kernel *const kernel = run->work;
    for (size_t i = 0; i < q->input_count; i++)
        if (!set_input(kernel, q->inputs[i], error))
            return false;
    snprintf(run->program_name, sizeof run->program_name, "%s", kernel->name);
    return true;
}

static bool open_workload(struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    struct abi_kernel *const kernel = run->work = calloc(1, sizeof *kernel);
    struct abi_target target;
    enum gpu_generation generation;
    if (!kernel)
        return orch_no_memory(error);
    return run_gpu_target(q->chip, &target, &generation, error) && abi_kernel_open(kernel, q->workload, &target, error) &&
           run_gpu_code_inputs(run, error);
}

void run_gpu_code_close(struct run *run)
{
    abi_kernel_free(run->work);
}

bool run_gpu_code_check(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    if (q->unit && strcmp(q->unit, "auto") != 0 && strcmp(q->unit, "gpu") != 0)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("unit") " %s: GPU machine code runs on the gpu", q->unit);
    return !q->precision ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("precision") " %s: machine code has its own element types", q->precision);
}

static bool check(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    const bool elsewhere = q->unit && strcmp(q->unit, "auto") != 0 && strcmp(q->unit, "gpu") != 0;
    struct run_request without = *q;
    without.max_instructions = 0; /* of a simdgroup */
    return (elsewhere || run_check_no_program_options(&without, "describes a GPU launch", error)) &&
           run_gpu_code_check(run, error);
}

uint64_t run_gpu_code_hash(const struct run *run)
{
    const struct abi_kernel *const kernel = run->work;
    return kernel->hash;
}

double run_gpu_code_bytes(const struct run *run)
{
    const struct abi_kernel *const kernel = run->work;
    double sum = 0;
    for (unsigned i = 0; i < kernel->args; i++)
        sum += kernel->arg[i].buffer ? (double)kernel->arg[i].bytes : 0;
    return sum;
}

/* ---- results ---- */

static bool save_output(const struct run_launch *l, unsigned arg)
{
    const struct abi_arg *a = &l->setup->kernel->arg[arg];
    const char *folder = l->run->request->output_folder;
    char path[PATH_MAX + 128];
    if (!run_output_folder(folder, l->error))
        return false;
    snprintf(path, sizeof path, "%s/%s.npy", folder, a->name);
    struct npy_array array = {
        .type = element_type_npy(a->type), .dims = 1, .shape = {a->count}, .data = gpu_setup_bytes(l->setup, arg)};
    return npy_measure(&array) && npy_save(path, &array, l->error);
}

/* The file that an argument of the launch names. */
static bool save_as_asked(const struct run_launch *l, unsigned arg)
{
    const struct abi_save *const save = l->setup->kernel->arg[arg].save;
    struct npy_array array = save->array;
    array.data = gpu_setup_bytes(l->setup, arg);
    return npy_save(save->path, &array, l->error);
}

/* A buffer that the description calls unchanged is no output; compare() reports it when it did change. */
static bool hand_over(struct run_launch *l, struct run_result *r)
{
    const struct abi_kernel *k = l->setup->kernel;
    unsigned files = 0;
    bool ok = true;
    for (unsigned i = 0; ok && i < k->args; i++) {
        if (!k->arg[i].buffer || k->arg[i].unchanged)
            continue;
        ok = run_checksum_add(&r->checksum, k->arg[i].name, checksum_fnv1a64(gpu_setup_bytes(l->setup, i), k->arg[i].bytes)) ||
             orch_no_memory(l->error);
        if (ok && l->run->request->output_folder) {
            ok = save_output(l, i);
            files++;
        }
        if (ok && k->arg[i].save) {
            ok = save_as_asked(l, i);
            files++;
        }
    }
    return ok && (!files || run_values_add(&r->counters, RUN_COUNTER_FILES, files));
}

static bool compare(struct run_launch *l, struct run_result *r)
{
    unsigned expected, right;
    char text[320];
    gpu_setup_compare(l->setup, &expected, &right, text, sizeof text);
    if (text[0] && !run_launch_remark(l, text))
        return false;
    return !expected || (run_values_add(&r->counters, RUN_COUNTER_EXPECTED, expected) &&
                         run_values_add(&r->counters, RUN_COUNTER_AS_EXPECTED, right));
}

/* ---- the whole ---- */

/* Results are handed over before the timed passes, which leave their own in memory. */
static bool run_launch(struct run_launch *l, struct run_result *r)
{
    const enum run_mode mode = l->run->request->mode;
    struct run_measure *m = l->m;
    l->setup->progress = l->run->progress;
    m->gpu.groups = l->setup->group_count;
    if (!gpu_totals_init(&m->gpu.totals, l->setup->program, l->error) || (mode != RUN_FUNCTIONAL && !run_launch_open(l)))
        return false;
    if ((mode != RUN_FUNCTIONAL && !run_launch_prepare(l)) ||
        (mode != RUN_TIMING && (!run_launch_execute(l) || !compare(l, r) || !hand_over(l, r))))
        return false;
    return mode == RUN_FUNCTIONAL || (run_launch_time(l) && run_launch_end_profile(l, r));
}

bool run_gpu_code_time_in(struct run *run, const struct run_given *given, struct run_measure *m, struct run_result *result,
                          struct orch_error *error)
{
    const struct abi_kernel *const k = run->work;
    (void)given;
    struct gpu_setup setup = {.program = NULL};
    struct run_launch l = {.run = run, .setup = &setup, .m = m, .error = error};
    enum gpu_generation generation;
    struct mem_space *space = run_space_create(run, error);
    bool ok = space != NULL;
    ok = ok && run_gpu_generation(run, &generation, result, error) &&
         (run->request->mode == RUN_TIMING ? gpu_setup_open_steering : gpu_setup_open)(&setup, k, generation, space, NULL, error);
    setup.instruction_limit = run->request->max_instructions;
    ok = ok && run_launch(&l, result) && run_gpu_counters(&setup, m, result, error);
    run->gpu_bytes = ok ? run_launch_buffer_bytes(&l) : 0;
    run->gpu_group_threads = k->group[0] * k->group[1] * k->group[2];
    if (ok)
        ok = run_placement_add(&result->placement, k->name, "gpu", k->code_name, "GPU machine code runs on the GPU");
    run_launch_close(&l);
    gpu_setup_close(&setup);
    run_space_free(space, run, m);
    return ok;
}

const struct run_kind run_kind_gpu_code = {
    .name = "gpu-code",
    .program_kind = "agx",
    .part = PART_GPU,
    .may_sample = true,
    .recognise = recognise,
    .open = open_workload,
    .close = run_gpu_code_close,
    .check = check,
    .hash = run_gpu_code_hash,
    .bytes = run_gpu_code_bytes,
    .work = run_work_by_stalls,
    .time_in = run_gpu_code_time_in,
    .account = run_gpu_account,
    .energy = run_energy_of_gpu,
    .explain = run_gpu_code_explain,
};
