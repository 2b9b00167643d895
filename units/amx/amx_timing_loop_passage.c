/* How the lines of a period pass the links between L2 and the core, and whether every period gets the same answers. */
#include "units/amx/amx_timing_loop.h"

#include <math.h>

/* The rounding of a reply's time must not decide between two ticks. */
static bool rounds_clearly(double ticks)
{
    return fabs(ticks - floor(ticks) - 0.5) > 0.01;
}

/* Returns the time at which the line arrives. */
static double pass_line(struct amx_passage *p, const struct mem_steady_rules *rules, double asked_ns)
{
    double t = asked_ns;
    for (unsigned k = 0; k < MEM_STEADY_LINKS; k++) {
        p->busy[k] += p->count == 0 || t > p->end_ns[k] + AMX_SLACK_NS;
        t = p->count > 0 && p->end_ns[k] > t ? p->end_ns[k] : t;
        p->end_ns[k] = t + rules->line_ns[k];
    }
    p->asked_ns[p->count] = asked_ns;
    p->done_ns[p->count] = t + rules->latency_ns[MEM_L2];
    return p->done_ns[p->count++];
}

/* True when an answer about `ticks` after the period's first request leads the same way, whichever tick it is rounded to.
 * `origin` is that request, counted from the last start before the period. */
static bool leads_on(const struct amx_period_load *load, int64_t origin, double ticks)
{
    const int64_t tick = origin + (int64_t)(ticks + 0.5);
    if (load->earliest == load->latest)
        return rounds_clearly(ticks) && tick == load->latest;
    return tick < load->latest;
}

/* Passes the loads of a period through idle links. Returns false when the answers would differ from those of the way. */
static bool pass_loads(const struct amx_loop *l, const struct amx_period_way *way, const struct mem_steady *s,
                       const struct mem_steady_rules *rules, struct amx_passage *p)
{
    const struct amx_block *block = l->block;
    const struct amx_record *r = &block->record;
    *p = (struct amx_passage){0};
    for (uint32_t i = 0, k = 0; i < r->loads; i++) {
        const double asked = (double)(way->load[i].asked - way->load[0].asked) * block->ns_per_tick;
        double done = asked + rules->latency_ns[MEM_L1];
        if (r->load[i].level > MEM_L2)
            return false;
        for (; k < s->count && l->load_of[k] == i; k++)
            if (r->load[i].level == MEM_L2)
                done = pass_line(p, rules, asked);
        if (!leads_on(&way->load[i], way->load[0].asked, done * block->ticks_per_ns))
            return false;
    }
    return true;
}

bool amx_passage_repeats(const struct amx_loop *l, const struct amx_period_way *way, const struct mem_steady *s,
                         const struct mem_steady_rules *rules, struct amx_passage *p)
{
    const double period_ns = (double)way->head * l->block->ns_per_tick;
    if (!pass_loads(l, way, s, rules, p))
        return false;
    if (p->count == 0)
        return true;
    for (unsigned k = 0; k < MEM_STEADY_LINKS; k++)
        if (p->asked_ns[0] + period_ns < p->end_ns[k] + AMX_SLACK_NS)
            return false;
    for (uint32_t i = 0; rules->in_flight && i < p->count; i++) {
        /* The line that comes in_flight places later reuses this one's place. */
        const uint32_t later = i + rules->in_flight;
        if (p->asked_ns[later % p->count] + period_ns * (later / p->count) < p->done_ns[i] + AMX_SLACK_NS)
            return false;
    }
    return period_ns * ((rules->tail - 2) / p->count) > rules->tail_ns + AMX_SLACK_NS;
}

void amx_passage_book(const struct amx_loop *l, const struct mem_steady *s, const struct amx_period_way *way,
                      const struct amx_passage *p, uint32_t tail, uint32_t gone, uint32_t n)
{
    double asked[MEM_STEADY_LOADS];
    if (p->count == 0)
        return;
    uint32_t least = p->count;
    for (unsigned k = 0; k < MEM_STEADY_LINKS; k++)
        least = p->busy[k] < least ? p->busy[k] : least;
    const uint32_t periods = tail / least + 2;
    for (uint32_t k = n > periods ? n - periods : 0; k < n; k++) {
        const int64_t head = l->core->head + way->head * (gone + k);
        uint32_t count = 0;
        for (uint32_t i = 0; i < s->count; i++)
            if (s->load[i].level == MEM_L2)
                asked[count++] = amx_ns_of(l->block, head + way->load[l->load_of[i]].asked);
        mem_steady_book(s, asked, count, (uint64_t)(n - 1 - k) * p->count);
    }
}
