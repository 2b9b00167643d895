#include "sim/run/gpu/run_warnings.h"

#include "sim/run/run_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 360 };

/* What would win less of the launch's time is not worth a programmer's time, and it is within what the model does not
 * know. */
#define WORTH 0.05
/* Blocks 8 elements wide, which tiles and matrix loads are made of, use a quarter of each line at least, and an access that
 * begins amid a line touches one more: neither is a mistake. What touches more than four times as many lines as it has bytes for
 * is. */
#define UNCOALESCED 4.0
/* Twice the passes means half the rate of threadgroup memory. Less is the rest of shapes that do not fit 32 banks. */
#define CONFLICTS 2.0
/* A value that is spilled outside loops costs a store and a load for each simdgroup, which nothing else in it is less than. */
#define LOOP_LAPS 2.0
/* Transfers of spilled values that are fewer among all instructions are not what makes the kernel slow. */
#define SPILLED 0.02

/* ---- saying something ---- */

static void place_of(const struct run_review *r, const struct profile_instruction *x, char *text, size_t size)
{
    if (x->line && x->file < r->k->files)
        snprintf(text, size, "%.200s:%" PRIu32, r->k->file[x->file], x->line);
    else
        snprintf(text, size, "%.200s+0x%" PRIx32, r->k->name, x->offset);
}

bool run_review_say(const struct run_review *r, uint32_t i, const char *kind, const char *evidence, const char *fix)
{
    const struct profile_instruction *const x = &r->k->instruction[i];
    char place[256], own_kind[32], own_evidence[TEXT_BYTES], own_fix[TEXT_BYTES];
    place_of(r, x, place, sizeof place);
    snprintf(own_kind, sizeof own_kind, "%s", kind);
    snprintf(own_evidence, sizeof own_evidence, "%s", evidence);
    snprintf(own_fix, sizeof own_fix, "%s", fix);
    const struct profile_warning w = {.kind = own_kind,
                                      .place = place,
                                      .kernel = r->kernel,
                                      .file = x->file,
                                      .line = x->line,
                                      .offset = x->offset,
                                      .evidence = own_evidence,
                                      .fix = own_fix};
    return line_profile_add_warning(r->profile, &w);
}

static bool same_line(const struct profile_instruction *a, const struct profile_instruction *b)
{
    return a->line ? a->line == b->line && a->file == b->file : a->offset == b->offset;
}

/* Programs without a table of lines are one place. */
static bool same_place(const struct profile_instruction *a, const struct profile_instruction *b)
{
    return a->line == b->line && (!a->line || a->file == b->file);
}

bool run_review_said(const struct run_review *r, uint32_t i, const char *kind)
{
    for (size_t n = 0; n < r->profile->warnings; n++) {
        const struct profile_warning *const w = &r->profile->warning[n];
        const struct profile_instruction at = {.offset = w->offset, .file = w->file, .line = w->line};
        if (w->kernel == r->kernel && strcmp(w->kind, kind) == 0 && same_place(&at, &r->k->instruction[i]))
            return true;
    }
    return false;
}

double run_review_share(const struct run_review *r, uint32_t i)
{
    double sum = 0;
    for (size_t n = 0; n < r->k->instructions; n++)
        if (same_line(&r->k->instruction[n], &r->k->instruction[i]))
            sum += profile_instruction_cycles(&r->k->instruction[n]);
    return r->cycles > 0 ? sum / r->cycles : 0;
}

/* ---- accesses ---- */

/* A way in which accesses are bad. */
struct pattern {
    const char *kind;
    bool (*has)(const struct run_review *r, uint32_t instruction);
    bool (*say)(const struct run_review *r, uint32_t instruction, const char *others);
};

static double excess(const struct run_review *r, uint32_t i)
{
    const struct profile_instruction *const x = &r->k->instruction[i];
    return x->units > x->least_units ? (double)x->issued * (x->units - x->least_units) : 0;
}

/* Says it once for each line, at its worst instruction; without lines, once for the kernel. */
static bool review_accesses(const struct run_review *r, const struct pattern *pattern)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < r->k->instructions; i++) {
        uint32_t worst = i, found = 0;
        char others[48] = "";
        if (!pattern->has(r, i) || run_review_said(r, i, pattern->kind))
            continue;
        for (uint32_t n = i; n < r->k->instructions; n++) {
            if (!same_place(&r->k->instruction[n], &r->k->instruction[i]) || !pattern->has(r, n))
                continue;
            worst = excess(r, n) > excess(r, worst) ? n : worst;
            found++;
        }
        if (found > 1)
            snprintf(others, sizeof others, "; so do %u more instructions", found - 1);
        ok = pattern->say(r, worst, others);
    }
    return ok;
}

/* ---- device memory ---- */

static bool is_uncoalesced(const struct run_review *r, uint32_t i)
{
    const struct profile_instruction *const x = &r->k->instruction[i];
    const enum agx_class unit_class = run_review_class(r, i);
    return (unit_class == AGX_CLASS_DEVICE_LOAD || unit_class == AGX_CLASS_DEVICE_STORE) &&
           x->units > UNCOALESCED * x->least_units &&
           (r->waits[GPU_STALL_MEMORY] + r->waits[GPU_STALL_MEMORY_QUEUE]) * r->excess_lines >= WORTH;
}

static bool say_uncoalesced(const struct run_review *r, uint32_t i, const char *others)
{
    const struct profile_instruction *const x = &r->k->instruction[i];
    const struct gpu_profile_row *const row = &r->l->profile.row[i];
    const struct agx_effect *const effect = gpu_program_effect(r->program, i);
    const bool load = effect->unit_class == AGX_CLASS_DEVICE_LOAD;
    const double bytes = effect->element_bytes * (effect->elements ? effect->elements : 1u);
    const double waits = r->waits[GPU_STALL_MEMORY] + r->waits[GPU_STALL_MEMORY_QUEUE];
    char evidence[TEXT_BYTES];
    snprintf(evidence, sizeof evidence,
             "each %s of a simdgroup touches %.3g lines of memory where %.3g would do: %.2g %% of their bytes are used%s; "
             "%.0f %% of the kernel's cycles wait for memory",
             load ? "load" : "store", x->units, x->least_units,
             100 * (double)row->lanes * bytes / ((double)row->units * GPU_LINE_BYTES), others, 100 * waits);
    return run_review_say(r, i, "uncoalesced", evidence,
                          load
                              ? "let neighbouring threads read neighbouring elements (the fastest index from the thread's x), or "
                                "bring the block through threadgroup memory"
                              : "let neighbouring threads write neighbouring elements (the fastest index from the thread's x), "
                                "or turn the block in threadgroup memory first");
}

/* ---- threadgroup memory ---- */

static bool has_conflicts(const struct run_review *r, uint32_t i)
{
    const struct profile_instruction *const x = &r->k->instruction[i];
    const enum agx_class unit_class = run_review_class(r, i);
    return (unit_class == AGX_CLASS_GROUP_LOAD || unit_class == AGX_CLASS_GROUP_STORE) &&
           x->units >= CONFLICTS * x->least_units && r->waits[GPU_STALL_THREADGROUP_MEMORY] * r->excess_passes >= WORTH;
}

static bool say_conflicts(const struct run_review *r, uint32_t i, const char *others)
{
    const struct profile_instruction *const x = &r->k->instruction[i];
    char evidence[TEXT_BYTES];
    snprintf(evidence, sizeof evidence,
             "each %s of threadgroup memory takes %.3g passes of its 32 banks where %.3g would do%s; %.0f %% of the kernel's "
             "cycles wait for threadgroup memory",
             run_review_class(r, i) == AGX_CLASS_GROUP_LOAD ? "load" : "store", x->units, x->least_units, others,
             100 * r->waits[GPU_STALL_THREADGROUP_MEMORY]);
    return run_review_say(r, i, "bank conflict", evidence,
                          "make rows one element longer, as in [16][17], so that a column lies in different banks");
}

/* ---- the stack ---- */

/* Spilled values stand at constant places of the stack; arrays are indexed. */
static bool is_transfer(const struct run_review *r, uint32_t i)
{
    const struct agx_inst *const inst = gpu_program_inst(r->program, i);
    return (run_review_class(r, i) == AGX_CLASS_STACK_LOAD || run_review_class(r, i) == AGX_CLASS_STACK_STORE) &&
           inst->source[2].place == AGX_PLACE_IMMEDIATE;
}

static bool review_spills(const struct run_review *r)
{
    const struct abi_source *const source = r->l->setup->kernel->source;
    double loads = 0, stores = 0;
    uint32_t worst = UINT32_MAX;
    char evidence[TEXT_BYTES], fix[TEXT_BYTES];
    for (uint32_t i = 0; source && source->spills && i < r->k->instructions; i++) {
        const double issued = (double)r->k->instruction[i].issued;
        if (!is_transfer(r, i) || issued < LOOP_LAPS * r->simdgroups)
            continue;
        *(run_review_class(r, i) == AGX_CLASS_STACK_LOAD ? &loads : &stores) += issued;
        if (worst == UINT32_MAX || run_review_share(r, i) > run_review_share(r, worst))
            worst = i;
    }
    if (worst == UINT32_MAX || loads + stores < SPILLED * r->issued)
        return true;
    snprintf(evidence, sizeof evidence,
             "%u values do not fit into registers; in loops they are loaded %.3g and stored %.3g times a simdgroup, which is "
             "%.0f %% of all instructions",
             source->spills, loads / r->simdgroups, stores / r->simdgroups, 100 * (loads + stores) / r->issued);
    snprintf(fix, sizeof fix,
             "keep fewer values alive in the loop: smaller blocks for each thread, less unrolling, half instead of float; or "
             "declare a smaller threadgroup, which leaves a thread more than %u half registers",
             r->l->setup->kernel->register_halves);
    return run_review_say(r, worst, "spill in a loop", evidence, fix);
}

/* ---- the whole ---- */

/* What accesses move beyond the least, as a share of all that they move. */
static double excess_share(const struct run_review *r, bool group_memory)
{
    double more = 0, all = 0;
    for (uint32_t i = 0; i < r->k->instructions; i++) {
        const struct profile_instruction *const x = &r->k->instruction[i];
        const enum agx_class unit_class = run_review_class(r, i);
        const bool group = unit_class == AGX_CLASS_GROUP_LOAD || unit_class == AGX_CLASS_GROUP_STORE;
        const bool device = unit_class == AGX_CLASS_DEVICE_LOAD || unit_class == AGX_CLASS_DEVICE_STORE;
        if (isnan(x->units) || !(group_memory ? group : device))
            continue;
        more += excess(r, i);
        all += (double)x->issued * x->units;
    }
    return all > 0 ? more / all : 0;
}

static struct run_review review_of(const struct run_launch *l, struct line_profile *profile)
{
    struct run_review r = {.l = l, .program = l->setup->program, .profile = profile, .kernel = (uint32_t)profile->kernels - 1};
    r.k = &profile->kernel[r.kernel];
    r.cycles = profile_kernel_cycles(r.k);
    r.issued = (double)profile_kernel_issued(r.k);
    r.simdgroups = (double)l->setup->group_count * run_launch_simdgroups(l) * run_repeats(l->run);
    for (size_t i = 0; i < r.k->instructions; i++)
        for (unsigned reason = 0; reason < GPU_STALL_COUNT; reason++)
            r.waits[reason] += r.cycles > 0 ? r.k->instruction[i].cycles[reason] / r.cycles : 0;
    r.excess_lines = excess_share(&r, false);
    r.excess_passes = excess_share(&r, true);
    return r;
}

bool run_warnings(const struct run_launch *l, struct line_profile *profile, struct orch_error *error)
{
    static const struct pattern patterns[] = {{"uncoalesced", is_uncoalesced, say_uncoalesced},
                                              {"bank conflict", has_conflicts, say_conflicts}};
    const struct run_review r = review_of(l, profile);
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof patterns / sizeof patterns[0]; i++)
        ok = review_accesses(&r, &patterns[i]);
    return (ok && review_spills(&r) && run_review_work(&r)) || orch_no_memory(error);
}
