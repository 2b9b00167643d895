/* How many threadgroups fit on a core. */
#include "units/gpu/gpu_timing_state.h"

struct bound {
    unsigned groups;
    const char *name;
};

static struct bound tighter(struct bound a, double groups, const char *name)
{
    return groups < a.groups ? (struct bound){(unsigned)groups, name} : a;
}

/* Registers are allocated for whole granules of simdgroups; with two at a time this gives the table of Mesa
 * src/asahi/compiler/agx_performance.c (104 half registers 1024 threads ... 256: 384), row by row. */
static unsigned simdgroups_by_registers(const struct gpu_params *p, unsigned halves)
{
    const double bytes = (halves ? halves : 1) * 2.0 * 32;
    const unsigned granule = p->register_granule ? p->register_granule : 1;
    return (unsigned)(p->register_file_bytes / bytes) / granule * granule;
}

/* What a framework's kernel holds as it was compiled for the measured machines, as long as its threadgroup fits. */
static unsigned halves_as_compiled(const struct gpu_params *p, const struct gpu_timing_launch *launch)
{
    const bool fits = simdgroups_by_registers(p, p->framework_halves) >= launch->simdgroups_per_group;
    return launch->holds_more && fits ? p->framework_halves : 0;
}

/* A register file that follows actual use needs what the program names, not what the launch allocates. */
static unsigned halves_named(const struct gpu_params *p, const struct gpu_timing_launch *launch)
{
    const unsigned named = launch->program ? gpu_program_register_halves(launch->program) : 0;
    if (!launch->register_halves)
        return named;
    return p->dynamic_registers && named && named < launch->register_halves ? named : launch->register_halves;
}

static unsigned halves_needed(const struct gpu_params *p, const struct gpu_timing_launch *launch)
{
    const unsigned named = halves_named(p, launch), compiled = halves_as_compiled(p, launch);
    return compiled > named ? compiled : named;
}

unsigned gpu_timing_occupancy(const struct gpu_params *p, const struct gpu_timing_launch *launch, const char **limit)
{
    const unsigned simds = launch->simdgroups_per_group ? launch->simdgroups_per_group : 1;
    /* Places in the schedulers, a limit of the model; so far it is always beyond threads_per_core_max. */
    struct bound b = {p->schedulers * GPU_SIMDS_MAX / simds, "schedulers"};
    b = tighter(b, p->threads_per_core_max / (simds * 32), "threads");
    b = tighter(b, simdgroups_by_registers(p, halves_needed(p, launch)) / simds, "registers");
    if (launch->threadgroup_memory_bytes) {
        b = tighter(b, p->threadgroup_memory_bytes / launch->threadgroup_memory_bytes, "threadgroup memory");
        b = tighter(b, p->threadgroup_memory_groups, "threadgroups with memory");
    }
    if (limit)
        *limit = b.name;
    return b.groups;
}

double gpu_timing_pool_left(const struct gpu_params *p, const struct gpu_timing_launch *launch, unsigned groups)
{
    const double registers = halves_needed(p, launch) * 2.0 * 32 * launch->simdgroups_per_group;
    return p->pool_bytes - groups * (registers + launch->threadgroup_memory_bytes);
}
