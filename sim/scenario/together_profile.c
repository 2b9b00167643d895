#include "sim/scenario/together_profile.h"

#include "sim/scenario/together_internal.h"

#include <string.h>

/* The queue of a unit is shared by time. Its capacity is in arbitrary units per ns. */
#define QUEUE_UNITS_PER_NS 1000.0

static void add_clocked(const struct together_machine *m, const struct chip_clusters *cpu, enum power_domain *clocked_by)
{
    for (unsigned j = 0; j < FAIR_RESOURCES_MAX; j++)
        clocked_by[j] = POWER_DOMAIN_COUNT;
    for (unsigned c = 0; c < m->clusters; c++) {
        const enum power_domain d = c >= cpu->count ? POWER_GPU : cpu->cluster[c].kind == CHIP_P_CORE ? POWER_P_CPU : POWER_E_CPU;
        clocked_by[m->l2[c]] = d;
        if (c < cpu->count && cpu->cluster[c].has_amx)
            clocked_by[m->amx[c]] = d;
    }
}

/* The GPU and the Neural Engine do one thing at a time: workloads of one of them share its queue. */
static void add_queue(const struct together *t, struct together_profiles *p, enum orch_part part, const char *name)
{
    struct sustain_sharing *const s = &p->sharing;
    unsigned users = 0;

    for (unsigned i = 0; i < t->count; i++)
        users += run_part(t->member[i].run) == part;
    if (users < 2 || s->resources == FAIR_RESOURCES_MAX)
        return;
    const unsigned j = s->resources++;
    p->resource[j] = (struct fair_resource){name, QUEUE_UNITS_PER_NS, 0};
    for (unsigned i = 0; i < t->count; i++)
        if (run_part(t->member[i].run) == part)
            p->bytes[i][j] = t->member[i].load.busy_ns * QUEUE_UNITS_PER_NS;
    p->clocked_by[j] = part == PART_GPU ? POWER_GPU : POWER_ANE;
}

static bool fill_sharing(const struct together *t, struct together_profiles *p, struct orch_error *error)
{
    struct sustain_sharing *const s = &p->sharing;
    struct chip_clusters cpu;

    if (!chip_clusters(t->member[0].part.request.chip, &cpu, error))
        return false;
    add_clocked(&t->machine, &cpu, p->clocked_by);
    s->resources = t->machine.count;
    memcpy(p->resource, t->machine.resource, s->resources * sizeof *p->resource);
    for (unsigned i = 0; i < t->count; i++) {
        const struct member *const w = &t->member[i];
        memcpy(p->bytes[i], w->load.bytes, s->resources * sizeof p->bytes[i][0]);
        s->demand[i] =
            (struct sustain_demand){p->bytes[i], w->part.weight, w->load.latency_ns, w->part.priority, w->load.requesters};
        s->mhz[w->energy.profile.driver] = w->energy.profile.mhz;
    }
    add_queue(t, p, PART_GPU, "gpu.queue");
    add_queue(t, p, PART_ANE, "ane.queue");
    s->resource = p->resource;
    s->clocked_by = p->clocked_by;
    return true;
}

static bool fill_profile(const struct member *w, const struct chip_db *db, const struct chip_overrides *overrides,
                         struct power_profile *profile, struct orch_error *error)
{
    const struct run_request *const q = &w->part.request;

    if (!w->has_energy)
        return orch_fail(error, ORCH_UNMODELLED, "%s on %s: its energy is not known, which a run in a device needs", q->workload,
                         chip_id(q->chip));
    *profile = w->energy.profile;
    return run_profile_split(q, db, overrides, profile, error);
}

bool together_profiles(struct together *t, const struct chip_db *db, const struct chip_overrides *overrides,
                       struct together_profiles *p, struct run_result *whole, struct orch_error *error)
{
    memset(p, 0, sizeof *p);
    for (unsigned i = 0; i < t->count; i++)
        if (t->member[i].part.start_seconds > 0)
            return orch_fail(error, ORCH_USAGE, "[start=%g]: workloads that repeat in a device all begin at once",
                             t->member[i].part.start_seconds);
    t->by_rates = true;
    bool ok = together_execute(t, NULL, 0, whole, error) && fill_sharing(t, p, error);
    for (unsigned i = 0; ok && i < t->count; i++)
        ok = fill_profile(&t->member[i], db, overrides, &p->profile[i], error);
    return ok;
}
