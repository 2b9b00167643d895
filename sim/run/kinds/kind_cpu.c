/* Kind "cpu": a kernel of CPU cores, written as an AArch64 program for each request. Several cores share its arrays. */
#include "sim/base/checksum.h"
#include "sim/run/run_internal.h"
#include "sim/run/cpu/run_programs.h"
#include "sim/workload/cpu/cpu_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has(const struct run_request *q)
{
    return cpu_kernel_has(q->workload);
}

static bool open_workload(struct run *run, struct orch_error *error)
{
    struct cpu_kernel *const kernel = run->work = calloc(1, sizeof *kernel);
    if (!kernel)
        return orch_no_memory(error);
    if (!cpu_kernel_open(kernel, run->request->workload, run->request->precision, error))
        return false;
    snprintf(run->program_name, sizeof run->program_name, "%s", kernel->info->name);
    return true;
}

static uint64_t hash(const struct run *run)
{
    const struct cpu_kernel *const kernel = run->work;
    return checksum_add(checksum_add(CHECKSUM_START, "cpu", 3), kernel->text, strlen(kernel->text));
}

static const char *precision(const struct run *run)
{
    return cpu_kernel_precision(run->work);
}

static double bytes(const struct run *run)
{
    const struct cpu_kernel *const kernel = run->work;
    return kernel->min_bytes;
}

static struct run_operation operation(const struct run *run)
{
    const struct cpu_kernel *const kernel = run->work;
    return (struct run_operation){kernel->flops, 0};
}

/* ---- its program ---- */

/* `own` has a part of the arrays for each core. */
static bool prepare_part(void *context, unsigned number, struct program *program, struct orch_error *error)
{
    const struct run_programs *const p = context;
    struct cpu_kernel_part *const part = p->own;
    return cpu_kernel_prepare(p->run->work, number, run_copies(p->run), program_space(program), program_core(program),
                              p->run->request->seed, &part[number], error);
}

/* The results of all cores are one array. */
static bool checksum_parts(const struct run_programs *p, const struct program_set *set, struct run_result *r)
{
    const struct cpu_kernel_part *const part = p->own;
    uint64_t checksum = CHECKSUM_START;
    for (unsigned i = 0; i < set->count; i++)
        checksum = cpu_kernel_checksum(p->run->work, &part[i], program_space(set->program[i]), checksum);
    return run_checksum_add(&r->checksum, "out", checksum);
}

static bool programs(const struct run *run, struct run_programs *p, struct orch_error *error)
{
    const struct cpu_kernel *const kernel = run->work;
    p->own = calloc(run_copies(run), sizeof(struct cpu_kernel_part));
    if (!p->own)
        return orch_no_memory(error);
    p->file = p->own_file = cpu_kernel_elf(kernel, &p->bytes, error);
    p->options.entry = CPU_KERNEL_ENTRY;
    p->variant = kernel->is_f64 ? "neon_2xf64" : "neon_4xf32";
    p->prepare = prepare_part;
    p->may_steer = true;
    p->checksum = checksum_parts;
    return p->file != NULL;
}

const struct run_kind run_kind_cpu_kernel = {
    .name = "cpu",
    .program_kind = "kernel",
    .part = PART_CPU,
    .may_sample = true,
    .has = has,
    .open = open_workload,
    .check = run_check_cpu_kernel_options,
    .hash = hash,
    .precision = precision,
    .bytes = bytes,
    .operation = operation,
    .work = run_work_named,
    .programs = programs,
    .time_in = run_programs,
    .account = run_account,
    .energy = run_energy_of_cores,
};
