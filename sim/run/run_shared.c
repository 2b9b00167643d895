/* What the accounts of all units share: placing on cores, counters of the memory system and of activity. */
#include "isa/array_count.h"
#include "sim/run/run_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool run_place(const struct run *run, unsigned count, struct run_measure *m, struct orch_error *error)
{
    const struct run_request *q = run->request;
    const unsigned most = ARRAY_COUNT(m->cores);
    struct soc_core *cores[3 * ARRAY_COUNT(m->cores)];
    const unsigned all = q->skip_cores + count + q->other_cores;
    if (count > most || q->skip_cores > most || q->other_cores > most)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("cores") ": no chip has %u CPU cores", all);
    if (!run_soc_open(run, m, error) || !soc_place(m->soc, all, q->core_choice, cores, error))
        return false;
    memcpy(m->cores, cores + q->skip_cores, count * sizeof cores[0]);
    m->core_count = count;
    return true;
}

bool run_add_memory(const struct chip *chip, const struct mem_counters *c, struct run_values *counters)
{
    static const char *const levels[MEM_LEVEL_COUNT] = {"l1", "l2", "slc", "dram"};
    char name[64];
    bool ok = true;
    for (int level = 0; level < MEM_LEVEL_COUNT; level++) {
        snprintf(name, sizeof name, "mem.%s_hits", levels[level]);
        ok &= run_values_add(counters, name, (double)c->hits[level]);
        snprintf(name, sizeof name, "mem.%s_misses", levels[level]);
        ok &= run_values_add(counters, name, (double)c->misses[level]);
    }
    ok &= run_values_add(counters, "mem.prefetch_issued", (double)c->prefetch_issued);
    ok &= run_values_add(counters, "mem.prefetch_used", (double)c->prefetch_used);
    ok &= run_values_add(counters, "mem.tlb_misses", (double)c->tlb_misses);
    return ok && run_add_traffic(chip, &c->traffic, counters);
}

bool run_add_activity(const struct activity *activity, struct run_values *counters)
{
    bool ok = true;
    for (int i = 0; i < ACT_COUNT; i++) {
        char name[64];
        if (!activity->count[i])
            continue;
        snprintf(name, sizeof name, "activity.%s", activity_name((enum activity_event)i));
        for (char *p = name + 9; *p; p++)
            *p = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
        ok &= run_values_add(counters, name, (double)activity->count[i]);
    }
    return ok;
}

void run_watch(const struct run *run, const struct run_measure *m)
{
    const struct unit_watch *watch = run->request->watch;
    for (unsigned i = 0; watch && i < m->core_count; i++) {
        cpu_timing_set_watch(m->cores[i]->timing, watch, i);
        if (m->cores[i]->amx)
            amx_block_set_watch(m->cores[i]->amx, watch);
    }
}

bool run_output_folder(const char *folder, struct orch_error *error)
{
    return mkdir(folder, 0777) == 0 || errno == EEXIST ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("output") " %s: %s", folder, strerror(errno));
}

bool run_is_of_buffer(const char *stall)
{
    return strcmp(stall, RUN_STALL_LAUNCH) == 0 || strcmp(stall, RUN_STALL_REQUEST) == 0;
}

const char *run_kernel_limit(const struct run_result *k)
{
    const struct run_named_value *largest = NULL;
    for (size_t i = 0; i < k->stalls.count; i++)
        if (!run_is_of_buffer(k->stalls.item[i].name) && (!largest || k->stalls.item[i].value > largest->value))
            largest = &k->stalls.item[i];
    return largest ? largest->name : k->bound_by;
}
