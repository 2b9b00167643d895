/* Layers of a model on several units, by the shapes of their kernels. */
#include "sim/run/language/language_pipeline.h"
#include "sim/run/language/language_time_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what layers take ---- */

/* Kernels before the layers, of so many layers, and behind them, for tokens of some sequences behind others in their caches. */
struct portion {
    bool first, last;
    unsigned layers, past, tokens, sequences;
};

static bool is_product(const struct kernel_call *c)
{
    return strncmp(c->kernel, "gemv:", 5) == 0 || strncmp(c->kernel, "gemm:", 5) == 0;
}

static bool add_portion(struct timed *t, const struct portion *p, double times, struct language_sum *sum)
{
    const unsigned all = t->work->model.shape.layers;
    struct kernel_calls calls = language_time_calls(t, p->sequences);
    enum { BEFORE, LAYER, BEHIND } place = BEFORE;
    bool ok = kernel_calls_of(&t->work->model.shape, t->format, p->past, p->tokens, &calls, t->error);
    for (size_t i = 0; ok && i < calls.count; i++) {
        const struct kernel_call *const c = &calls.call[i];
        place = place == BEFORE && strcmp(c->what, "attn_norm") == 0    ? LAYER
                : place == LAYER && strcmp(c->what, "output_norm") == 0 ? BEHIND
                                                                        : place;
        const double share = place == LAYER ? (double)p->layers / all : place == BEFORE ? p->first : p->last;
        const double often = times * share * c->times;
        if (often > 0)
            ok = p->tokens == 1 && p->sequences > 1 && is_product(c) ? language_time_shared(t, c, p->sequences, often, sum)
                                                                     : language_time_call(t, c, often, sum);
    }
    kernel_calls_free(&calls);
    return ok;
}

/* Seconds on the unit, and those of a command buffer; the sum is of LANGUAGE_ASKED times. */
struct cost {
    double seconds, launch_s;
};

static bool ask(struct timed *t, enum orch_part part, const struct portion *p, struct cost *cost)
{
    struct language_sum sum = {0};
    language_time_enter(t, part);
    if (!add_portion(t, p, LANGUAGE_ASKED, &sum))
        return false;
    *cost = (struct cost){(sum.seconds + sum.launches * language_unit_between_s(t->unit)) / LANGUAGE_ASKED, sum.launch_seconds};
    return true;
}

/* ---- which unit has which ---- */

enum { UNITS = 4, WAYS_MOST = 1 << 20 };

struct choice {
    struct cost layer[UNITS], before[UNITS], behind[UNITS];
    enum orch_part part[UNITS];
    unsigned units, groups, layers;
    double best_s, best_sum_s;
    unsigned best_groups;
    struct language_shards best;
};

/* How long a token of each sequence takes when units work side by side: as long as the busiest, or as one group goes through. */
static void judge(struct choice *c, const unsigned *unit, const unsigned *layers, unsigned count)
{
    double busiest_s = 0, sum_s = 0;
    for (unsigned i = 0; i < count; i++) {
        const unsigned u = unit[i];
        const double busy_s =
            layers[i] * c->layer[u].seconds + (i ? 0 : c->before[u].seconds) + (i + 1 == count ? c->behind[u].seconds : 0);
        busiest_s = fmax(busiest_s, busy_s);
        sum_s += busy_s + c->layer[u].launch_s;
    }
    const double round_s = fmax(c->groups * busiest_s, sum_s);
    if (round_s > c->best_s || (round_s == c->best_s && sum_s >= c->best_sum_s))
        return;
    c->best_s = round_s;
    c->best_sum_s = sum_s;
    c->best_groups = c->groups;
    c->best.count = count;
    for (unsigned i = 0; i < count; i++)
        c->best.shard[i] = (struct language_shard){c->part[unit[i]], layers[i]};
}

/* Cores are one unit, with or without their AMX blocks. */
static bool is_same_unit(enum orch_part a, enum orch_part b)
{
    return a == b || ((a == PART_CPU || a == PART_AMX) && (b == PART_CPU || b == PART_AMX));
}

/* All orders of units, and all numbers of layers for each. */
static void try_from(struct choice *c, unsigned *unit, unsigned *layers, unsigned count, unsigned left)
{
    for (unsigned u = 0; u < c->units && count < LANGUAGE_SHARDS; u++) {
        bool taken = false;
        for (unsigned i = 0; i < count; i++)
            taken |= is_same_unit(c->part[unit[i]], c->part[u]);
        if (taken)
            continue;
        unit[count] = u;
        layers[count] = left;
        judge(c, unit, layers, count + 1);
        for (unsigned some = 1; some < left; some++) {
            layers[count] = some;
            try_from(c, unit, layers, count + 1, left - some);
        }
    }
}

/* Sequences of a group, the last of which may be smaller: it is timed like the others. */
static unsigned in_group(const struct language_work *w, unsigned groups)
{
    return (language_time_sequences(w) + groups - 1) / groups;
}

/* Units whose kernels have the format: the Neural Engine has f16 alone. */
static bool ask_all(struct timed *t, struct choice *c)
{
    static const enum orch_part parts[UNITS] = {PART_GPU, PART_ANE, PART_AMX, PART_CPU};
    const struct language_options *const o = &t->work->options;
    const unsigned past = (o->prompt ? o->prompt : (unsigned)t->work->prompt.count) + o->generate / 2;
    const unsigned each = in_group(t->work, c->groups);
    const struct portion layer = {false, false, 1, past, 1, each}, before = {true, false, 0, past, 1, each},
                         behind = {false, true, 0, past, 1, each};
    bool ok = true;
    c->units = 0;
    for (unsigned i = 0; ok && i < UNITS; i++) {
        const unsigned u = c->units;
        if (parts[i] == PART_ANE && (strcmp(t->format->name, "f16") != 0 || t->cached))
            continue;
        c->part[u] = parts[i];
        ok = ask(t, parts[i], &layer, &c->layer[u]) && ask(t, parts[i], &before, &c->before[u]) &&
             ask(t, parts[i], &behind, &c->behind[u]);
        c->units++;
    }
    return ok;
}

/* Where the host has threads, what nobody knows is simulated by all of them first. */
bool language_time_choose(struct timed *t)
{
    struct choice c = {.layers = t->work->model.shape.layers, .best_s = INFINITY, .best_sum_s = INFINITY};
    unsigned unit[LANGUAGE_SHARDS], layers[LANGUAGE_SHARDS];
    const unsigned sequences = language_time_sequences(t->work), most = sequences < LANGUAGE_SHARDS ? sequences : LANGUAGE_SHARDS;
    const bool listed = language_unit_foresee(t->unit);
    for (c.groups = 1; listed && c.groups <= most; c.groups++)
        if (!ask_all(t, &c))
            return false;
    if (!language_unit_learn(t->unit, t->error))
        return false;
    for (c.groups = 1; c.groups <= most; c.groups++) {
        if (!ask_all(t, &c))
            return false;
        try_from(&c, unit, layers, 0, c.layers);
    }
    t->work->shards = c.best;
    t->work->groups = c.best_groups;
    return true;
}

/* ---- the time of all ---- */

/* Of one group: the stages, and what they add to the sum when all groups go through so many times. */
static bool add_stages(struct timed *t, unsigned past, unsigned tokens, double times, struct language_stage *stage,
                       struct language_sum *sum)
{
    const struct language_shards *const s = &t->work->shards;
    for (unsigned i = 0; i < s->count; i++) {
        const struct portion p = {
            i == 0, i + 1 == s->count, s->shard[i].layers, past, tokens, in_group(t->work, t->work->groups)};
        struct language_sum own = {0};
        language_time_enter(t, s->shard[i].part);
        if (!add_portion(t, &p, times, &own))
            return false;
        const double launch_s = own.launch_seconds;
        if (!language_unit_close_steps(t->unit, &own, times, t->error))
            return false;
        stage[i] = (struct language_stage){s->shard[i].part,
                                           {1e9 * (own.seconds / times - launch_s), own.slc_bytes / times,
                                            own.dram_read_bytes / times, own.dram_written_bytes / times},
                                           1e9 * launch_s};
        language_sum_add(sum, &own);
    }
    return true;
}

/* All groups through the units, so often: the sum becomes as long as that takes. */
static bool run_all(struct timed *t, unsigned past, unsigned tokens, unsigned rounds, struct language_sum *sum)
{
    struct language_stage stage[LANGUAGE_SHARDS];
    const unsigned groups = t->work->groups;
    double end_ns, lost_ns;
    if (!add_stages(t, past, tokens, (double)rounds * groups, stage, sum))
        return false;
    if (sum->seconds <= 0) /* kernels are only listed */
        return true;
    if (!language_pipeline_run(t->run->request->chip, stage, t->work->shards.count, groups, rounds, &end_ns, &lost_ns, t->error))
        return false;
    t->work->lost_seconds += 1e-9 * lost_ns;
    return language_unit_overlap(t->unit, sum, sum->seconds - 1e-9 * end_ns, t->error);
}

static bool run_both(struct timed *t, struct language_sum *prefill, struct language_sum *decode)
{
    const struct language_options *const o = &t->work->options;
    return (!o->prompt || run_all(t, 0, o->prompt, 1, prefill)) &&
           (!o->generate || run_all(t, o->prompt + o->generate / 2, 1, o->generate, decode));
}

static bool tell(const struct timed *t, bool chosen)
{
    char units[80], text[192];
    language_shards_write(&t->work->shards, units, sizeof units);
    snprintf(text, sizeof text, "%.60s%s; %u groups of sequences; attention is timed in the middle of what is generated", units,
             chosen ? ", for the least time of a token of each sequence" : "", t->work->groups);
    return run_assumption_add(&t->result->assumptions, "layers", "inferred", text) || orch_no_memory(t->error);
}

bool language_time_combined(struct timed *t, struct language_sum *prefill, struct language_sum *decode)
{
    struct language_sum prompt = {0}, steps = {0};
    const bool chosen = !t->work->shards.count;
    t->work->lost_seconds = 0;
    if (chosen && !language_time_choose(t))
        return false;
    const unsigned sequences = language_time_sequences(t->work), units = t->work->shards.count;
    if (!chosen)
        t->work->groups = sequences < units ? sequences : units;
    if (language_unit_foresee(t->unit) && (!run_both(t, &prompt, &steps) || !language_unit_learn(t->unit, t->error)))
        return false;
    return run_both(t, prefill, decode) && tell(t, chosen);
}
