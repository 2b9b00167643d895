/* What a launch cost by instruction, joined with the lines of its source. The unit knows instructions and cycles; lines, texts
 * and names are added here.
 *
 * Where the whole launch was timed, counts are exact, and cycles are those of a core in the mean of the cores. Where a part was
 * timed, the instructions of the whole launch are known from executing it; each takes the cycles that it took in what was timed,
 * and all together take as long as the launch.
 */
#include "sim/run/run_internal.h"
#include "sim/run/gpu/run_launch.h"

#include <math.h>
#include <string.h>

bool run_launch_begin_profile(struct run_launch *l)
{
    return !l->run->request->profile || gpu_profile_create(&l->profile, gpu_program_count(l->setup->program)) ||
           orch_no_memory(l->error);
}

/* What the counts of the timed part are multiplied by. */
struct scale {
    double cycles, idle_cycles; /* cycles of a core for each cycle counted; of no instruction */
    double each;                /* cycles counted of an instruction, in the mean of all */
};

/* How many times more often than timed an instruction was issued. */
static double repeated(const struct gpu_profile_row *row, uint64_t issued)
{
    return row->issues ? (double)issued / (double)row->issues : 0;
}

static double cycles_of(const struct gpu_profile_row *row)
{
    double sum = 0;
    for (unsigned r = 0; r < GPU_STALL_COUNT; r++)
        sum += row->cycles[r];
    return sum;
}

/* Cycles of a core, in the mean, without a simdgroup or while its simdgroups are being started. Windows tell their share. */
static double idle_cycles(const struct run_launch *l, double all)
{
    const struct run_gpu *g = &l->m->gpu;
    double stalls = 0;
    for (unsigned r = 0; r < GPU_STALL_COUNT; r++)
        stalls += g->stalls[r];
    if (l->way == RUN_WAY_FORWARD)
        return stalls > 0 ? g->stalls[GPU_STALL_LAUNCH] / stalls * all : 0;
    return fmin(all, l->profile.idle_cycles / (g->params.cores * g->params.schedulers) + l->idle_beside);
}

static struct scale scale_of(const struct run_launch *l)
{
    const struct run_gpu *g = &l->m->gpu;
    const double all = g->device_ns * g->params.clock_ghz;
    double counted = 0, issues = 0, expected = 0;
    struct scale s = {.cycles = 0};
    for (uint32_t i = 0; i < l->profile.count; i++) {
        counted += cycles_of(&l->profile.row[i]);
        issues += (double)l->profile.row[i].issues;
    }
    s.each = issues > 0 ? counted / issues : 0;
    for (uint32_t i = 0; i < l->profile.count; i++) {
        const struct gpu_profile_row *row = &l->profile.row[i];
        expected += row->issues ? cycles_of(row) * repeated(row, g->totals.issues[i]) : s.each * (double)g->totals.issues[i];
    }
    s.idle_cycles = idle_cycles(l, all);
    s.cycles = expected > 0 ? (all - s.idle_cycles) / expected : 0;
    return s;
}

static bool add_instruction(const struct run_launch *l, const struct scale *s, uint32_t i, struct profile_kernel *k)
{
    const struct gpu_profile_row *row = &l->profile.row[i];
    const uint64_t issued = l->m->gpu.totals.issues[i];
    const struct abi_kernel *kernel = l->setup->kernel;
    char text[AGX_TEXT_BYTES];
    struct profile_instruction p = {.offset = gpu_program_pc(l->setup->program, i), .text = text, .issued = issued};
    agx_disasm(gpu_program_inst(l->setup->program, i), text, sizeof text);
    const struct abi_source_line *const at = kernel->source ? abi_source_find(kernel->source, p.offset) : NULL;
    p.file = at ? at->file : 0;
    p.line = at ? at->line : 0;
    p.lanes = row->issues ? (double)row->lanes / (double)row->issues : NAN;
    p.units = row->accesses ? (double)row->units / (double)row->accesses : NAN;
    p.least_units = row->accesses ? (double)row->least_units / (double)row->accesses : NAN;
    for (unsigned r = 0; row->issues && r < GPU_STALL_COUNT; r++)
        p.cycles[r] = row->cycles[r] * repeated(row, issued) * s->cycles;
    if (!row->issues)
        p.cycles[GPU_STALL_ISSUE] = s->each * (double)issued * s->cycles;
    return profile_kernel_add_instruction(k, &p);
}

static bool add_source(const struct abi_source *s, struct profile_kernel *k)
{
    bool ok = true;
    for (size_t i = 0; s && ok && i < s->files; i++)
        ok = profile_kernel_add_file(k, s->file[i]);
    for (size_t i = 0; s && ok && i < s->texts; i++)
        ok = profile_kernel_add_text(k, s->text[i].file, s->text[i].line, s->text[i].text);
    return ok;
}

static bool add_launch(const struct run_launch *l, struct line_profile *profile)
{
    const struct scale s = scale_of(l);
    struct profile_kernel *const k = line_profile_add_kernel(profile, l->setup->kernel->name);
    if (!k)
        return false;
    k->timed_share = l->m->gpu.timed_share;
    k->idle_cycles = s.idle_cycles;
    bool ok = true;
    for (uint32_t i = 0; ok && i < l->profile.count; i++)
        ok = add_instruction(l, &s, i, k);
    return ok && add_source(l->setup->kernel->source, k);
}

static struct line_profile *profile_of(struct run_result *result)
{
    if (result->profile)
        return result->profile;
    result->profile = line_profile_create();
    for (unsigned r = 0; result->profile && r < GPU_STALL_COUNT; r++)
        if (!line_profile_add_reason(result->profile, gpu_stall_name((enum gpu_stall)r)))
            return NULL;
    return result->profile;
}

bool run_launch_end_profile(struct run_launch *l, struct run_result *result)
{
    if (!l->profile.row)
        return true;
    struct line_profile *const profile = profile_of(result);
    return profile && add_launch(l, profile) ? run_warnings(l, profile, l->error) : orch_no_memory(l->error);
}
