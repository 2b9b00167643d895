#include "sim/run/measure.h"

#include "isa/array_count.h"

#include <math.h>
#include <stdlib.h>

void run_measure_release(struct run_measure *m)
{
    gpu_totals_free(&m->gpu.totals);
    ane_timed_free(&m->ane.timed);
    soc_free(m->soc);
}

void run_memory_add(struct mem_counters *sum, const struct mem_counters *c)
{
    for (int level = 0; level < MEM_LEVEL_COUNT; level++) {
        sum->hits[level] += c->hits[level];
        sum->misses[level] += c->misses[level];
        sum->writebacks[level] += c->writebacks[level];
    }
    sum->prefetch_issued += c->prefetch_issued;
    sum->prefetch_used += c->prefetch_used;
    sum->prefetch_late += c->prefetch_late;
    sum->prefetch_evicted_unused += c->prefetch_evicted_unused;
    sum->demand_evicted_by_prefetch += c->demand_evicted_by_prefetch;
    sum->tlb_misses += c->tlb_misses;
    mem_traffic_add(&sum->traffic, &c->traffic, 1);
}

/* The core that ended last, or of several that share threads the one that was at work for longest. */
static const struct soc_core *critical_core(const struct run_measure *m)
{
    unsigned best = 0;
    double longest = soc_core_done_at(m->cores[0]) - soc_core_idle_ns(m->cores[0]);
    for (unsigned i = 1; i < m->core_count; i++) {
        const double at_work = soc_core_done_at(m->cores[i]) - soc_core_idle_ns(m->cores[i]) - m->joined_ns[i];
        if (at_work <= longest)
            continue;
        longest = at_work;
        best = i;
    }
    return m->cores[best];
}

/* The critical core's time by reason. Time in which the core waited for its AMX block, and the block's tail after the core's
 * last instruction, are charged to the block's own reasons in the proportion in which the block met them. */
static void split_stalls(struct run_measure *m)
{
    const struct soc_core *core = m->critical;
    double cpu[CPU_STALL_COUNT], amx[AMX_STALL_COUNT] = {0}, cpu_total, amx_total = 0, block_total = 0;
    const double *const extra = m->sampled.extra, shown_ns = m->end_ns - m->sampled.extra_ns;
    cpu_timing_stalls(core->timing, cpu, &cpu_total);
    for (int i = 0; i < CPU_STALL_COUNT; i++)
        cpu[i] = fmax(0, cpu[i] + extra[i]);
    const double cpu_ns = 1 / core->clock_ghz;
    /* A core whose last thread ended before the others has no tail of its block, but nothing to do. */
    const double idle = m->shared ? fmax(0, shown_ns - soc_core_done_at(core)) : 0;
    double waited = cpu[CPU_STALL_AMX] * cpu_ns + fmax(0, shown_ns - idle - cpu_timing_done_at(core->timing));
    if (core->amx)
        amx_block_stalls(core->amx, core->slot, amx, &block_total);
    for (int i = 0; i < AMX_STALL_COUNT; i++)
        amx_total += i == AMX_STALL_CPU ? 0 : (amx[i] = fmax(0, amx[i] + extra[CPU_STALL_COUNT + i]));
    for (int i = 0; i < CPU_STALL_COUNT; i++)
        m->stalls[i] = i == CPU_STALL_AMX ? (amx_total > 0 ? 0 : waited) : cpu[i] * cpu_ns;
    m->stalls[CPU_STALL_IDLE] += idle;
    for (int i = 0; i < AMX_STALL_COUNT; i++)
        m->stalls[CPU_STALL_COUNT + i] = amx_total > 0 && i != AMX_STALL_CPU ? waited * amx[i] / amx_total : 0;
}

static uint64_t accesses(const struct mem_counters *memory)
{
    uint64_t sum = 0;
    for (int level = 0; level < MEM_LEVEL_COUNT; level++)
        sum += memory->hits[level];
    return sum;
}

/* What was skipped has been counted but for what depends on time. Loads that take their data from stores under way do not read
 * L1: so many accesses are missing in windows, and each of them is the bytes of a load. */
static void add_skipped(struct run_measure *m)
{
    const struct core_sampled *const s = &m->sampled;
    const double *const amx = s->extra + CPU_STALL_COUNT;
    const double counted = (double)accesses(&m->memory);
    double block_cycles = 0;
    for (int i = 0; i < AMX_STALL_COUNT; i++)
        block_cycles += i == AMX_STALL_CPU || i == AMX_STALL_SHARED ? 0 : amx[i];
    energy_cores_more(&m->busy, m->critical, s->extra_ns * 1e-9,
                      m->critical->amx ? block_cycles / (m->critical->amx_clock_ghz * 1e9) : 0);
    mem_timed_counts_set(&m->memory, s->memory);
    for (int d = 0; d < POWER_DOMAIN_COUNT; d++) {
        uint64_t *const count = m->by[d].count;
        const double loads = (double)count[ACT_CPU_LOADS], fewer = counted - (double)accesses(&m->memory);
        if (loads > 0)
            count[ACT_L1D_READ_BYTES] =
                (uint64_t)llround((double)count[ACT_L1D_READ_BYTES] * fmin(1, fmax(0, 1 - fewer / loads)));
    }
}

void run_measure_finish(struct run_measure *m)
{
    m->critical = critical_core(m);
    soc_take_activity_by(m->soc, m->by);
    energy_cores_add(&m->busy, m->cores, m->core_count);
    mem_system_counters(soc_memory(m->soc), &m->memory);
    if (m->sampled.sampled)
        add_skipped(m);
    for (int d = 0; d < POWER_DOMAIN_COUNT; d++)
        activity_add(&m->activity, &m->by[d]);
    split_stalls(m);
}

void run_gpu_add(struct run_gpu *sum, const struct run_gpu *g)
{
    const double all = sum->device_ns + g->device_ns, longest_ns = fmax(g->longest_ns, g->device_ns);
    if (all > 0) {
        sum->issue_share = (sum->issue_share * sum->device_ns + g->issue_share * g->device_ns) / all;
        sum->replayed_share = (sum->replayed_share * sum->device_ns + g->replayed_share * g->device_ns) / all;
        sum->scale_uncertainty = (sum->scale_uncertainty * sum->device_ns + g->scale_uncertainty * g->device_ns) / all;
    }
    sum->params = g->params;
    sum->device_ns = all;
    sum->groups += g->groups;
    sum->groups_timed += g->groups_timed;
    sum->timed_share = all > 0 ? (sum->timed_share * (all - g->device_ns) + g->timed_share * g->device_ns) / all : 1;
    for (int i = 0; i < GPU_STALL_COUNT; i++)
        sum->stalls[i] += g->stalls[i];
    if (longest_ns < sum->longest_ns)
        return;
    sum->longest_ns = longest_ns;
    sum->occupancy = g->occupancy;
}

void run_measure_add(struct run_measure *sum, const struct run_measure *pass)
{
    sum->end_ns += pass->end_ns;
    sum->slept_ns += pass->slept_ns;
    sum->host_seconds += pass->host_seconds;
    sum->cpu_instructions += pass->cpu_instructions;
    sum->amx_instructions += pass->amx_instructions;
    sum->memory_bytes = fmax(sum->memory_bytes, pass->memory_bytes);
    sum->compressed_share = pass->compressed_share;
    for (unsigned op = 0; op < ARRAY_COUNT(sum->amx_counts); op++)
        sum->amx_counts[op] += pass->amx_counts[op];
    for (int i = 0; i < CPU_STALL_COUNT + AMX_STALL_COUNT; i++)
        sum->stalls[i] += pass->stalls[i];
    activity_add(&sum->activity, &pass->activity);
    for (int d = 0; d < POWER_DOMAIN_COUNT; d++)
        activity_add(&sum->by[d], &pass->by[d]);
    energy_cores_sum(&sum->busy, &pass->busy);
    run_memory_add(&sum->memory, &pass->memory);
    core_sampled_add(&sum->sampled, &pass->sampled);
    sum->critical = pass->critical;
    sum->shared |= pass->shared;
}
