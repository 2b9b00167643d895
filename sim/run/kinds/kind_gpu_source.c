/* Kind "gpu-source": a GPU kernel in OpenCL C, Metal or LLVM's intermediate representation, compiled and launched in one step. */
#include "isa/agx/agx_coherent.h"
#include "sim/compile/compile_lines.h"
#include "sim/compile/kernel_launch.h"
#include "sim/run/gpu/kind_gpu_code.h"
#include "sim/run/run_internal.h"
#include "sim/run/gpu/run_launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool recognise(const struct run_file *file)
{
    enum compile_language language;
    return !file->is_folder && compile_language_of(file->path, &language);
}

/* The launch's work is the kernel, with its lines for profiles. */
static bool compile(struct run *run, struct abi_kernel *kernel, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    struct compile_request how = {.optimise = 2};
    struct compile_result r;
    if (q->source)
        how = *q->source;
    how.path = q->workload;
    how.text = (const char *)run->file.bytes;
    how.text_bytes = run->file.size;
    how.entry = q->entry;
    const bool ok = compile_source(&how, &r, error) && compile_lines(&r, &how, &r.kernel.source, error);
    if (ok) {
        *kernel = r.kernel;
        r.kernel = (struct abi_kernel){.path = NULL};
    }
    for (const char *line = ok ? r.warnings : ""; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char remark[RUN_REMARK_BYTES];
        snprintf(remark, sizeof remark, "%.*s", (int)strcspn(line, "\n"), line);
        if (!run_add_remark(run, remark, error))
            break;
    }
    compile_result_free(&r);
    return ok;
}

static bool open_workload(struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    struct abi_kernel *const kernel = run->work = calloc(1, sizeof *kernel);
    struct kernel_launch launch = {.args = q->args, .arg_count = q->arg_count};
    if (!kernel)
        return orch_no_memory(error);
    if (q->launch) {
        memcpy(launch.grid, q->launch->grid, sizeof launch.grid);
        memcpy(launch.group, q->launch->group, sizeof launch.group);
    }
    struct abi_target target;
    enum gpu_generation generation;
    if (!run_gpu_target(q->chip, &target, &generation, error) || !compile(run, kernel, error) ||
        !kernel_launch_complete(kernel, &launch, error))
        return false;
    if (target.coherent_atomics)
        agx_make_coherent(kernel->code, kernel->main_offset, kernel->code_bytes);
    return run_gpu_code_inputs(run, error);
}

static bool check(const struct run *run, struct orch_error *error)
{
    struct run_request without = *run->request; /* what kernels have as well */
    without.entry = NULL;
    without.arg_count = 0;
    without.max_instructions = 0;
    return run_check_no_program_options(&without, "is a GPU kernel", error) && run_gpu_code_check(run, error);
}

const struct run_kind run_kind_gpu_source = {
    .name = "gpu-source",
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
