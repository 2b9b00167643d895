/* Workloads at the same time: the result of the whole, from those of its members. */
#include "sim/scenario/together_internal.h"

#include "sim/scenario/together_joules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static unsigned last_to_end(const struct together *t)
{
    unsigned last = 0;
    for (unsigned i = 1; i < t->count; i++)
        if (t->member[i].outcome.end_seconds > t->member[last].outcome.end_seconds)
            last = i;
    return last;
}

static double known(double number)
{
    return isnan(number) ? 0 : number;
}

static void add_sums(const struct together *t, struct run_result *w)
{
    double busy[RUN_UTILISATION_COUNT] = {0};
    w->flops = w->macs = w->dram_bytes = w->host_seconds = 0;
    for (unsigned i = 0; i < t->count; i++) {
        const struct run_result *r = &t->member[i].outcome.alone;
        w->flops += known(r->flops);
        w->macs += known(r->macs);
        w->dram_bytes += known(r->dram_bytes);
        w->host_seconds += known(r->host_seconds);
        for (int part = 0; part < RUN_UTILISATION_COUNT; part++)
            busy[part] += known(r->utilisation[part]) * r->seconds;
    }
    w->gflops = w->seconds > 0 ? w->flops / w->seconds * 1e-9 : NAN;
    w->dram_gbps = w->seconds > 0 ? w->dram_bytes / w->seconds * 1e-9 : NAN;
    for (int part = 0; part < RUN_UTILISATION_COUNT; part++)
        w->utilisation[part] = w->seconds > 0 ? busy[part] / w->seconds : NAN;
}

/* How long some unit was busy: launches and waiting behind other workloads are not counted, and what overlaps once. */
static double busy_seconds(const struct together *t)
{
    double busy = 0, until = 0;
    for (;;) {
        const struct together_outcome *next = NULL;
        for (unsigned i = 0; i < t->count; i++) {
            const struct together_outcome *const o = &t->member[i].outcome;
            if (o->end_seconds > until && (!next || o->begin_seconds < next->begin_seconds))
                next = o;
        }
        if (!next)
            return busy;
        busy += next->end_seconds - fmax(until, next->begin_seconds);
        until = next->end_seconds;
    }
}

/* Splits the time of the workload that ended last: its own stalls, the time before it began, and what sharing cost it. */
static bool add_stalls(const struct together *t, struct run_result *w)
{
    const struct together_outcome *o = &t->member[last_to_end(t)].outcome;
    const double own = o->seconds > 0 ? fmin(1, o->alone.seconds / w->seconds) : 0, before = o->start_seconds / w->seconds;
    bool ok = true;
    for (size_t i = 0; i < o->alone.stalls.count; i++)
        ok &= run_values_add(&w->stalls, o->alone.stalls.item[i].name, o->alone.stalls.item[i].value * own);
    if (before > 0)
        ok &= run_values_add(&w->stalls, "idle", before);
    const double lost = 1 - own - before;
    if (lost > 1e-12)
        ok &= run_values_add(&w->stalls, "contention", lost);
    return ok && run_result_set_text(&w->bound_by, o->limited_by);
}

/* True for counters that add up over workloads. */
static bool is_sum(const char *name)
{
    const size_t length = strlen(name);
    return strncmp(name, "mem.", 4) == 0 || strncmp(name, "activity.", 9) == 0 ||
           (strncmp(name, "traffic.", 8) == 0 && length > 6 && strcmp(name + length - 6, "_bytes") == 0);
}

static bool add_lists(const struct member *m, unsigned number, struct run_result *w)
{
    const struct run_result *r = &m->outcome.alone;
    bool ok = true;
    char name[96];
    for (size_t i = 0; i < r->placement.count; i++)
        ok &= run_placement_add(&w->placement, r->placement.item[i].op, r->placement.item[i].unit, r->placement.item[i].kernel,
                                r->placement.item[i].why);
    for (size_t i = 0; i < r->checksum.count; i++) {
        snprintf(name, sizeof name, "%u.%.80s", number + 1, r->checksum.item[i].output);
        ok &= run_checksum_add(&w->checksum, name, r->checksum.item[i].fnv1a64);
    }
    for (size_t i = 0; i < r->counters.count; i++)
        if (is_sum(r->counters.item[i].name))
            ok &= run_values_add(&w->counters, r->counters.item[i].name, r->counters.item[i].value);
    for (size_t i = 0; i < r->assumptions.count; i++) {
        bool there = false;
        for (size_t k = 0; k < w->assumptions.count; k++)
            there |= strcmp(w->assumptions.item[k].key, r->assumptions.item[i].key) == 0;
        ok &= there || run_assumption_add(&w->assumptions, r->assumptions.item[i].key, r->assumptions.item[i].kind,
                                          r->assumptions.item[i].effect);
    }
    return ok;
}

static bool fill_whole(const struct together *t, double end_ns, struct run_result *w, struct orch_error *error)
{
    const struct run_result *last = &t->member[last_to_end(t)].outcome.alone;
    bool ok = run_result_set_text(&w->chip, t->begin.chip_id) && run_result_set_text(&w->workload, t->text) &&
              run_result_set_text(&w->unit, t->unit) && run_result_set_text(&w->detail, t->begin.detail) &&
              run_result_set_text(&w->mode, t->begin.mode) &&
              run_assumption_add(
                  &w->assumptions, "sharing", "inferred",
                  t->line_by_line
                      ? "the programs ran on one time line and met in the caches line by line"
                      : "mean rates of each workload share the chip max-min fairly; each keeps in caches what it keeps alone");
    w->seconds = end_ns * 1e-9;
    w->device_seconds = busy_seconds(t);
    w->seconds_low = w->seconds * (last->seconds > 0 ? last->seconds_low / last->seconds : 1);
    w->seconds_high = w->seconds * (last->seconds > 0 ? last->seconds_high / last->seconds : 1);
    add_sums(t, w);
    ok = ok && add_stalls(t, w);
    for (unsigned i = 0; ok && i < t->count; i++)
        ok = add_lists(&t->member[i], i, w);
    return ok || orch_no_memory(error);
}

/* Adds energy and power; does nothing for a chip without power keys. */
static bool add_joules(struct together *t, struct run_result *whole, struct orch_error *error)
{
    const struct run_request *const q = &t->member[0].part.request;
    struct together_energy_part part[TOGETHER_PARTS];
    struct energy_model model;
    struct energy_run joint;
    struct energy_report report;
    if (!energy_model_open(&model, q->chip, NULL))
        return true;
    for (unsigned i = 0; i < t->count; i++) {
        struct member *w = &t->member[i];
        struct together_energy_part *p = &part[i];
        *p = (struct together_energy_part){
            .run = run_energy(w->run), .start_s = w->outcome.start_seconds, .end_s = w->outcome.end_seconds};
        if (!p->run)
            return true;
        /* Launches take as long as they do alone; sharing stretches the rest. */
        p->busy_s = p->run->device_s;
        if (!t->line_by_line)
            p->busy_s += fmax(0, w->outcome.seconds - w->outcome.queued_seconds - p->run->profile.seconds);
        together_energy_place(p, &w->measure);
        w->outcome.dynamic_joules = together_dynamic_joules(&model, p->run);
    }
    together_energy(&model, part, t->count, whole->seconds, &joint);
    energy_report(&joint, &model, q->celsius != 0 ? q->celsius : energy_reference_celsius(&model), &report);
    return run_joules_add(&report, whole) || orch_no_memory(error);
}

bool together_fill_result(struct together *t, double end_ns, struct run_result *whole, struct orch_error *error)
{
    return fill_whole(t, end_ns, whole, error) && add_joules(t, whole, error);
}
