#include "sim/workload/gpu/gpu_loops.h"

#include <stdlib.h>

/* Fewest laps of a loop, each time it is entered, that is worth leaping over. */
#define LEAST_LAPS 96

struct loop {
    uint32_t first, jump; /* instructions */
    double laps;          /* of all simdgroups */
};

static bool jumps_back(const struct gpu_program *program, uint32_t i, uint32_t *target)
{
    const struct agx_inst *inst = gpu_program_inst(program, i);
    const int64_t to = (int64_t)gpu_program_pc(program, i) + inst->branch_bytes;
    if ((inst->op != AGX_OP_JMP_EXEC_ANY && inst->op != AGX_OP_JMP_EXEC_NONE) || inst->branch_bytes > 0)
        return false;
    for (*target = i; *target > 0 && gpu_program_pc(program, *target) > to;)
        --*target;
    return true;
}

static bool inside(const struct loop *inner, const struct loop *outer)
{
    return inner->first >= outer->first && inner->jump < outer->jump;
}

/* How often the loop is entered: by every simdgroup once, or in each lap of the smallest loop around it. */
static double entries(const struct loop *all, unsigned count, const struct loop *of, double simdgroups)
{
    const struct loop *around = NULL;
    for (unsigned i = 0; i < count; i++)
        if (inside(of, &all[i]) && (!around || inside(&all[i], around)))
            around = &all[i];
    return around ? around->laps : simdgroups;
}

static void choose(const struct loop *all, unsigned count, double simdgroups, bool *lap, unsigned *found)
{
    for (unsigned i = 0; i < count; i++)
        lap[all[i].jump] = all[i].laps >= LEAST_LAPS * entries(all, count, &all[i], simdgroups) && all[i].laps > 0;
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < count && lap[all[i].jump]; k++)
            if (lap[all[k].jump] && inside(&all[i], &all[k]))
                lap[all[i].jump] = false;
    for (unsigned i = 0; i < count; i++)
        *found += lap[all[i].jump];
}

static bool count_issues(const struct gpu_setup *setup, uint64_t group, uint64_t *issues, unsigned *simdgroups,
                         struct unit_fault *fault)
{
    struct gpu_group *g = gpu_setup_steering_group(setup);
    if (!g)
        return false;
    gpu_setup_start(setup, g, group, 0);
    *simdgroups = gpu_group_simdgroups(g);
    const bool ok = gpu_group_finish(g, NULL, fault);
    if (ok)
        gpu_group_issue_counts(g, issues);
    gpu_group_free(g);
    return ok;
}

bool gpu_loops_find(const struct gpu_setup *setup, uint64_t group, bool *lap, unsigned *found, struct unit_fault *fault)
{
    const uint32_t instructions = gpu_program_count(setup->program);
    uint64_t *issues = calloc(instructions, sizeof *issues);
    struct loop *all = calloc(instructions, sizeof *all);
    unsigned count = 0, simdgroups = 0;
    const bool ok = issues && all && count_issues(setup, group, issues, &simdgroups, fault);
    *found = 0;
    for (uint32_t i = 0; ok && i < instructions; i++) {
        lap[i] = false;
        if (jumps_back(setup->program, i, &all[count].first)) {
            all[count].jump = i;
            all[count++].laps = (double)issues[i];
        }
    }
    if (ok)
        choose(all, count, simdgroups, lap, found);
    free(issues);
    free(all);
    return ok;
}

bool *gpu_loops_heads(const struct gpu_program *program, const bool *lap)
{
    const uint32_t count = gpu_program_count(program);
    bool *head = calloc((size_t)count + 1, sizeof *head);
    uint32_t target;
    for (uint32_t i = 0; head && i < count; i++)
        if (lap[i] && jumps_back(program, i, &target))
            head[target] = true;
    return head;
}
