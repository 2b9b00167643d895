/* Kinds "ane" and "ane-program": a kernel of the Neural Engine's library, or a program file (.hwx, .anec, raw descriptors). */
#include "sim/base/checksum.h"
#include "sim/base/npy.h"
#include "sim/run/ane/run_ane.h"
#include "sim/run/run_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has(const struct run_request *q)
{
    return ane_workload_has(q->workload);
}

static bool recognise(const struct run_file *file)
{
    return !file->is_folder && ane_program_recognise(file->bytes, file->size);
}

static bool name_program(struct run *run)
{
    snprintf(run->program_name, sizeof run->program_name, "%s", run_ane_workload(run)->name);
    return true;
}

static bool open_kernel(struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    struct ane_workload *const w = run->work = calloc(1, sizeof *w);
    if (!w)
        return orch_no_memory(error);
    const bool blank = q->mode == RUN_TIMING && q->input_count == 0 && !q->operands;
    return (blank ? ane_workload_open_blank(w, q->workload, q->precision, q->chip, error)
                  : ane_workload_open_kernel(w, q->workload, q->precision, q->chip, q->seed, q->inputs, q->input_count, error)) &&
           name_program(run);
}

static bool open_program(struct run *run, struct orch_error *error)
{
    struct ane_workload *const w = run->work = calloc(1, sizeof *w);
    return (w || orch_no_memory(error)) &&
           ane_workload_open_file(w, run->request->workload, run->file.bytes, run->file.size, error) && name_program(run);
}

static void close_workload(struct run *run)
{
    ane_workload_close(run->work);
}

static bool check_kernel(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    if (q->unit && strcmp(q->unit, "auto") != 0 && strcmp(q->unit, "ane") != 0)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("unit") " %s: %s runs on the ane", q->unit, q->workload);
    if (!run_check_no_program_options(q, "runs on the Neural Engine", error))
        return false;
    if (q->sanitize)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("sanitize") " belongs to GPU launches (abi.json)");
    if (q->detail && strcmp(q->detail, "sampled") == 0)
        return orch_fail(error, ORCH_UNMODELLED,
                         ORCH_OPTION("detail") " sampled: the Neural Engine works descriptor by descriptor (instr)");
    return true;
}

static bool check_program(const struct run *run, struct orch_error *error)
{
    const char *const precision = run->request->precision;
    return check_kernel(run, error) &&
           (!precision ||
            orch_fail(error, ORCH_USAGE, ORCH_OPTION("precision") " %s: a program has its own element types", precision));
}

/* The program says everything of a kernel too, constants included; input files come on top. Files that cannot be read are told
 * when the buffers are filled. Of a kernel whose constants nobody reads, the text says as much as the megabytes of its program.
 */
static uint64_t hash(const struct run *run)
{
    const struct run_request *q = run->request;
    const struct ane_workload *const w = run_ane_workload(run);
    const bool blank = w->request.blank && w->request.weights != ANE_WEIGHT_SPARSE;
    uint64_t h = checksum_add(CHECKSUM_START, "ane", 3);
    h = blank ? checksum_add(h, "blank", 5) : checksum_add(h, w->kernel.program.bytes, w->kernel.program.size);
    h = checksum_add(h, w->text, strlen(w->text));
    for (size_t i = 0; i < q->input_count; i++) {
        size_t length;
        const char *path;
        struct npy_array array;
        h = checksum_add(h, q->inputs[i], strlen(q->inputs[i]) + 1);
        if (ane_workload_input(q->inputs[i], &length, &path, NULL) && npy_load(path, &array, NULL)) {
            h = checksum_add(h, array.data, array.bytes);
            npy_release(&array);
        }
    }
    return h;
}

static const char *precision(const struct run *run)
{
    return run_ane_workload(run)->precision;
}

static unsigned buffers(const struct run *run, struct run_buffer buffer[RUN_BUFFERS])
{
    const struct ane_workload *const w = run_ane_workload(run);
    if (w->arrays > RUN_BUFFERS)
        return 0;
    for (unsigned i = 0; i < w->arrays; i++)
        buffer[i] = (struct run_buffer){.type = ELEMENT_F16,
                                        .count = ane_array_count(&w->array[i]),
                                        .read = w->array[i].role != ANE_TENSOR_OUTPUT,
                                        .written = w->array[i].role == ANE_TENSOR_OUTPUT};
    return w->arrays;
}

static struct run_operation operation(const struct run *run)
{
    const struct ane_kernel *const kernel = &run_ane_workload(run)->kernel;
    return (struct run_operation){kernel->flops, kernel->macs};
}

const struct run_kind run_kind_ane_kernel = {
    .name = "ane",
    .program_kind = "kernel",
    .part = PART_ANE,
    .takes_buffers = true,
    .has = has,
    .open = open_kernel,
    .close = close_workload,
    .check = check_kernel,
    .hash = hash,
    .precision = precision,
    .buffers = buffers,
    .operation = operation,
    .work = run_work_named,
    .time_in = run_ane_time_in,
    .account = run_ane_account,
    .energy = run_energy_of_ane,
    .explain = run_ane_explain,
};

const struct run_kind run_kind_ane_program = {
    .name = "ane-program",
    .program_kind = "ane",
    .part = PART_ANE,
    .takes_buffers = true,
    .recognise = recognise,
    .open = open_program,
    .close = close_workload,
    .check = check_program,
    .hash = hash,
    .precision = precision,
    .work = run_work_any,
    .time_in = run_ane_time_in,
    .account = run_ane_account,
    .energy = run_energy_of_ane,
    .explain = run_ane_explain,
};
