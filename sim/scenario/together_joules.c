#include "sim/scenario/together_joules.h"
#include "isa/array_count.h"

#include <math.h>

enum { CLUSTERS_MAX = 64 };

/* Domains in which a workload takes slices; memory and the rest are on anyway. */
static const enum power_domain taken[] = {POWER_P_CPU, POWER_E_CPU, POWER_AMX, POWER_GPU, POWER_ANE};
enum { TAKEN = ARRAY_COUNT(taken) };

void together_energy_place(struct together_energy_part *part, const struct run_measure *m)
{
    for (size_t i = 0; i < TAKEN; i++)
        part->clusters[taken[i]] = 0;
    part->clusters[POWER_GPU] = part->clusters[POWER_ANE] = 1;
    for (unsigned i = 0; i < m->core_count; i++) {
        const struct soc_core *const core = m->cores[i];
        const uint64_t bit = UINT64_C(1) << (core->cluster % CLUSTERS_MAX);
        part->clusters[core->performance ? POWER_P_CPU : POWER_E_CPU] |= bit;
        part->clusters[POWER_AMX] |= core->amx ? bit : 0;
    }
}

static unsigned bits(uint64_t mask)
{
    return (unsigned)__builtin_popcountll(mask);
}

static double stretch(const struct together_energy_part *p)
{
    return p->run->device_s > 0 ? p->busy_s / p->run->device_s : 1;
}

/* Seconds that the union of the intervals [begin, end] covers. Sorts them by their begin. */
static double covered(double *begin, double *end, unsigned count)
{
    double sum = 0, until = 0;

    for (unsigned i = 1; i < count; i++)
        for (unsigned k = i; k > 0 && begin[k] < begin[k - 1]; k--) {
            const double b = begin[k], e = end[k];
            begin[k] = begin[k - 1];
            end[k] = end[k - 1];
            begin[k - 1] = b;
            end[k - 1] = e;
        }
    for (unsigned i = 0; i < count; i++) {
        sum += fmax(0, end[i] - fmax(begin[i], until));
        until = fmax(until, end[i]);
    }
    return sum;
}

enum { PARTS_MAX = 64 };

/* Seconds in which at least one of a cluster's slices is at work. */
static double cluster_running(const struct together_energy_part *part, unsigned count, enum power_domain d, uint64_t bit)
{
    double begin[PARTS_MAX], end[PARTS_MAX];
    unsigned n = 0;

    for (unsigned i = 0; i < count && n < PARTS_MAX; i++) {
        const struct power_profile *const p = &part[i].run->profile;
        if (!p->slices[d] || !(part[i].clusters[d] & bit))
            continue;
        end[n] = part[i].end_s;
        begin[n] = fmax(part[i].start_s, end[n] - p->shared_running_s[d] * stretch(&part[i]) / bits(part[i].clusters[d]));
        n++;
    }
    return covered(begin, end, n);
}

/* Time at which the slices of a part are power-gated, in seconds. */
static double gated_at(const struct energy_model *model, const struct together_energy_part *p, enum power_domain d,
                       double seconds)
{
    return fmin(seconds, p->end_s + model->params.domain[d].gate_after_us * 1e-6);
}

/* The GPU and the Neural Engine do one thing at a time with all their slices; no two workloads share a core; AMX blocks belong to
 * clusters, which they may share. */
static unsigned joint_slices(const struct together_energy_part *part, unsigned count, enum power_domain d, unsigned most)
{
    unsigned sum = 0, largest = 0;
    uint64_t blocks = 0;

    for (unsigned i = 0; i < count; i++) {
        const unsigned n = part[i].run->profile.slices[d];
        sum += n;
        largest = n > largest ? n : largest;
        blocks |= n ? part[i].clusters[d] : 0;
    }
    sum = d == POWER_AMX ? bits(blocks) : d == POWER_GPU || d == POWER_ANE ? largest : sum;
    return sum < most ? sum : most;
}

static void add_slices(const struct energy_model *model, const struct together_energy_part *part, unsigned count,
                       enum power_domain d, struct energy_run *whole)
{
    struct power_profile *const w = &whole->profile;
    const unsigned slices = joint_slices(part, count, d, model->slices[d]);
    double running = 0, waiting = 0, mhz = 0, weight = 0;
    uint64_t all = 0;

    for (unsigned i = 0; i < count; i++) {
        const struct power_profile *const p = &part[i].run->profile;
        const double own = p->running_s[d] * stretch(&part[i]);
        if (!p->slices[d])
            continue;
        running += own;
        waiting += fmax(0, p->slices[d] * (gated_at(model, &part[i], d, w->seconds) - part[i].start_s) - own);
        mhz += part[i].run->mhz[d] * p->slices[d];
        weight += p->slices[d];
        all |= part[i].clusters[d];
    }
    if (!slices)
        return;
    energy_run_set_slices(whole, model, d, slices, running, mhz / weight);
    w->waiting_s[d] = fmin(waiting, w->waiting_s[d]);
    w->shared_running_s[d] = w->shared_waiting_s[d] = 0;
    for (unsigned c = 0; c < CLUSTERS_MAX; c++) {
        const uint64_t bit = UINT64_C(1) << c;
        if (!(all & bit))
            continue;
        double begin = w->seconds, end = 0;
        for (unsigned i = 0; i < count; i++)
            if (part[i].run->profile.slices[d] && (part[i].clusters[d] & bit)) {
                begin = fmin(begin, part[i].start_s);
                end = fmax(end, gated_at(model, &part[i], d, w->seconds));
            }
        const double here = cluster_running(part, count, d, bit);
        w->shared_running_s[d] += here;
        w->shared_waiting_s[d] += fmax(0, end - begin - here);
    }
}

/* Slices of one domain may run at different voltages. Returns the one voltage at which all their events cost the same energy. */
static double joint_volts(const struct together_energy_part *part, unsigned count, enum power_domain d, double otherwise)
{
    double events = 0, square = 0;

    for (unsigned i = 0; i < count; i++) {
        const double j = part[i].run->profile.event_j[d], v = part[i].run->volts[d];
        events += j;
        square += j * v * v;
    }
    return events > 0 ? sqrt(square / events) : otherwise;
}

void together_energy(const struct energy_model *model, const struct together_energy_part *part, unsigned count, double seconds,
                     struct energy_run *whole)
{
    double begin[PARTS_MAX], end[PARTS_MAX];
    unsigned n = 0;

    for (; n < count && n < PARTS_MAX; n++) {
        end[n] = part[n].end_s;
        begin[n] = end[n] - part[n].busy_s;
    }
    energy_run_start(whole, model, seconds, fmin(seconds, covered(begin, end, n)));
    for (unsigned i = 0; i < count; i++) {
        const struct energy_run *const r = part[i].run;
        for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
            whole->profile.event_j[d] += r->profile.event_j[d];
        whole->profile.flops += r->profile.flops;
        whole->profile.dram_bytes += r->profile.dram_bytes;
        whole->memory_bytes += r->memory_bytes;
    }
    for (size_t i = 0; i < TAKEN; i++)
        add_slices(model, part, count, taken[i], whole);
    energy_run_set_memory(whole, model);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        whole->volts[d] = joint_volts(part, count, d, whole->volts[d]);
}

double together_dynamic_joules(const struct energy_model *model, const struct energy_run *run)
{
    double sum = 0;

    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        const struct power_use use = {.seconds = run->profile.seconds, .event_j = run->profile.event_j[d]};
        const struct power_point point = {run->volts[d], run->mhz[d], 0};
        sum += power_interval(&model->params, d, &use, &point).dynamic_j;
    }
    return sum;
}
