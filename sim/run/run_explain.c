#include "sim/run/run_explain.h"

#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/run/run_internal.h"

#include <math.h>
#include <string.h>

/* What each reason means for somebody who wants to change it. */
static const struct {
    const char *reason, *meaning;
} meanings[] = {
    {"amx.array", "the outer-product array of the AMX block is busy: this is its peak for the element type"},
    {"amx.z_dependency", "one accumulator waits for its own previous result: more accumulators would help"},
    {"amx.load_port", "the AMX load path is full: wider loads or more reuse of X and Y would help"},
    {"amx.load_data", "AMX waits for operands from the caches"},
    {"amx.store", "results leave Z slowly: fewer stores per product would help"},
    {"amx.setclr", "enabling and disabling AMX: only long work hides it"},
    {"amx.cpu", "the CPU core does not send AMX instructions fast enough"},
    {"amx.drain", "latency of the last instructions"},
    {"cpu.dispatch", "the core dispatches as many instructions as it can"},
    {"cpu.ports", "the execution ports of one instruction class are full"},
    {"cpu.dependency", "a chain of dependent instructions"},
    {"cpu.l1", "waits for the L1 data cache"},
    {"cpu.l2", "waits for the cluster's L2"},
    {"cpu.slc", "waits for the system-level cache"},
    {"cpu.dram", "waits for DRAM"},
    {"cpu.branch", "mispredicted branches"},
    {"launch", "submission and completion of the command buffer: only longer work hides it"},
    {"gpu.issue", "the schedulers issue as fast as they can: fewer instructions would help"},
    {"gpu.alu", "the pipe of multiplies, shifts, conversions and special functions is full"},
    {"gpu.dependency", "chains of dependent instructions: more threads or independent work would help"},
    {"gpu.register_cache", "operands come from the register file instead of the register cache"},
    {"gpu.memory", "waits for device memory: more threads in flight, or more reuse, would help"},
    {"gpu.memory_queue", "the load/store path is full: wider or fewer accesses would help"},
    {"gpu.threadgroup_memory", "threadgroup memory: bank conflicts, or too many accesses per calculation"},
    {"gpu.barrier", "simdgroups wait for one another at barriers"},
    {"gpu.instruction_fetch", "the program does not fit the instruction cache"},
    {"ane.mac", "the MAC engines multiply as fast as they can: this is their peak"},
    {"ane.utilisation", "MAC lanes idle: channels in multiples of 16 and larger images fill them"},
    {"ane.planar", "the planar engine works: fewer passes over the data would help"},
    {"ane.coefficients", "waits for weights: smaller weights (palette, sparse, int8) or more reuse would help"},
    {"ane.tile_dma", "waits for data from or to memory: what stays in the 2 MB tile memory would help"},
    {"ane.task", "starts of descriptors: fewer and larger ones would help"},
    {"ane.request", "host and firmware build, send and complete the request: only longer work hides it"},
    {"ane.wake", "power domains wake up: requests that follow one another would help"},
    {"gpu.launch", "threadgroups are being started, or too few are left for all cores"},
};

const char *run_reason_meaning(const char *reason)
{
    for (size_t i = 0; reason && i < ARRAY_COUNT(meanings); i++)
        if (strcmp(meanings[i].reason, reason) == 0)
            return meanings[i].meaning;
    return "";
}

/* Joules by domain and by what they went into, from the counters of the run. */
static void energy_table(FILE *out, const struct run_result *r)
{
    static const char *const kinds[] = {"dynamic", "clock", "leakage"};
    char text[FORMAT_SIZE];
    if (isnan(r->joules))
        return;
    fprintf(out, "energy       %-8s %10s %10s %10s %8s\n", "", kinds[0], kinds[1], kinds[2], "share");
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        double joules[3], sum = 0;
        for (int k = 0; k < 3; k++) {
            char name[64];
            snprintf(name, sizeof name, "energy.%s.%s", power_domain_name(d), kinds[k]);
            joules[k] = run_values_get(&r->counters, name);
            joules[k] = isnan(joules[k]) ? 0 : joules[k];
            sum += joules[k];
        }
        fprintf(out, "             %-8s", power_domain_name(d));
        for (int k = 0; k < 3; k++)
            format_right(out, format_si(text, joules[k], "J"), 11);
        fprintf(out, " %7.1f%%\n", 100 * sum / r->joules);
    }
}

void run_explain(FILE *out, const struct run *run, const struct run_result *r)
{
    fprintf(out, "\nlimit        %s: %s\n", r->bound_by ? r->bound_by : "-", run_reason_meaning(r->bound_by));
    run_sample_explain(out, r);
    if (run && run->kind->explain)
        run->kind->explain(out, run, r);
    energy_table(out, r);
}
