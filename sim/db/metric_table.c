#include "sim/db/metric_table.h"

#include "isa/array_count.h"
#include "sim/base/event.h"

#include "isa/agx/agx_isa.h"
#include "isa/amx/amx_isa.h"
#include "power/energy.h"
#include "sim/base/run_result.h"
#include "units/amx/amx_timing.h"
#include "units/ane/ane_timing.h"
#include "units/cpu/cpu_timing.h"
#include "units/gpu/gpu_timing.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define HITS(level, text)                                                                                                        \
    {                                                                                                                            \
        "counter", "mem." level "_hits", "accesses", "accesses that found their line in " text, -1                               \
    }
#define MISSES(level, text)                                                                                                      \
    {                                                                                                                            \
        "counter", "mem." level "_misses", "accesses", "accesses that did not find their line in " text, 0                       \
    }
#define WRITEBACKS(level, text)                                                                                                  \
    {                                                                                                                            \
        "counter", "mem." level "_writebacks", "lines", "changed lines written back from " text, 0                               \
    }

#define TRAFFIC(unit, who)                                                                                                       \
    {"counter", "traffic." unit ".l2_bytes", "bytes", "bytes read from and written to the L2 of " who, 0},                       \
        {"counter", "traffic." unit ".fabric_read_bytes", "bytes", "bytes from the memory side to " who, 0},                     \
        {"counter", "traffic." unit ".fabric_write_bytes", "bytes", "bytes to the memory side from " who, 0},                    \
        {"counter", "traffic." unit ".remote_bytes", "bytes", "bytes of these that crossed to or from the other die", 0},        \
        {"counter", "traffic." unit ".dram_read_bytes", "bytes", "bytes read from DRAM for " who, 0},                            \
    {                                                                                                                            \
        "counter", "traffic." unit ".dram_write_bytes", "bytes", "bytes written to DRAM because of " who, 0                      \
    }
#define DIE_TRAFFIC(die, which)                                                                                                  \
    {"counter", "traffic." die ".slc_bytes", "bytes", "bytes through the system-level cache of the " which " die", 0},           \
        {"counter", "traffic." die ".dram_read_bytes", "bytes", "bytes read from the DRAM of the " which " die", 0},             \
        {"counter", "traffic." die ".dram_write_bytes", "bytes", "bytes written to the DRAM of the " which " die", 0},           \
    {                                                                                                                            \
        "counter", "traffic." die ".link_bytes", "bytes", "bytes that left the " which " die over the link", 0                   \
    }

/* The counters of caches and prefetchers, as struct mem_counters in units/mem has them. */
static const struct metric_entry listed[] = {
    HITS("l1", "an L1 data cache"),
    MISSES("l1", "an L1 data cache"),
    WRITEBACKS("l1", "an L1 data cache"),
    HITS("l2", "a cluster's L2"),
    MISSES("l2", "a cluster's L2"),
    WRITEBACKS("l2", "a cluster's L2"),
    HITS("slc", "the system-level cache"),
    MISSES("slc", "the system-level cache"),
    WRITEBACKS("slc", "the system-level cache"),
    HITS("dram", "DRAM"),
    MISSES("dram", "DRAM"),
    {"counter", "mem.prefetch_issued", "lines", "lines asked for by prefetchers", -1},
    {"counter", "mem.prefetch_used", "lines", "prefetched lines that were used later", 1},
    {"counter", "mem.prefetch_late", "lines", "prefetched lines still on their way when they were needed", 0},
    {"counter", "mem.prefetch_evicted_unused", "lines", "prefetched lines thrown out before use", 0},
    {"counter", "mem.demand_evicted_by_prefetch", "lines", "lines in use that a prefetch pushed out", 0},
    {"counter", "mem.tlb_misses", "accesses", "translations that needed a page walk", 0},
    {"counter", "memory.capacity_bytes", "bytes", "memory of the machine", -1},
    {"counter", "memory.used_bytes", "bytes", "simulated memory in use at most", 0},
    {"counter", "memory.compressed_share", "1", "lines of the buffers after lossless compression, estimated, over their size", 0},
    {"counter", "memory.moved_share", "1", "share of DRAM traffic that compression leaves, when it is on", 0},
    {"counter", "memory.pressure", "1", "memory pressure at the most: 0 nominal, 1 warn, 2 critical", 0},
    {"counter", "replay.kernels", "launches", "launches of a replay that a kernel of the target answered", -1},
    {"counter", "replay.estimates", "launches", "launches of a replay that took as long as a copy of their bytes", -1},
    {"counter", "replay.no_work", "launches", "launches of a replay without work", -1},
    {"counter", "replay.kernel_seconds", "s", "simulated time of launches with a kernel, sum", 0},
    {"counter", "replay.estimate_seconds", "s", "simulated time of launches by copies, sum", 0},
    {"counter", "replay.contention_seconds", "s", "simulated time that launches waited for DRAM that others used, sum", 0},
    TRAFFIC("cpu", "CPU clusters and their AMX blocks"),
    TRAFFIC("gpu", "the GPU"),
    TRAFFIC("ane", "the Neural Engine"),
    DIE_TRAFFIC("die0", "first"),
    DIE_TRAFFIC("die1", "second"),
    {"counter", "traffic.dram_imbalance", "1", "DRAM traffic of the busier die over the mean of both, less 1", 0},
    {"counter", "traffic.gpu.imbalance", "1", "memory traffic of the busier die's half of the GPU over the mean of both, less 1",
     0},
    {"counter", "cpu.instructions", "instructions", "AArch64 instructions executed, AMX words included", -1},
    {"counter", "amx.instructions", "instructions", "AMX instructions executed", -1},
    {"counter", "gpu.simdgroup_instructions", "instructions", "GPU instructions issued, one for a simdgroup of 32 lanes", -1},
    {"counter", "gpu.active_lane_instructions", "instructions", "GPU instructions issued times the lanes that were active", -1},
    {"counter", "gpu.threadgroups", "threadgroups", "threadgroups of the launch", -1},
    {"counter", "gpu.threadgroups_per_core", "threadgroups", "threadgroups that a GPU core holds at a time", -1},
    {"counter", RUN_COUNTER_CORE_PACKED, "bytes", "constant weights in panels of cores and AMX, which were made before the run",
     0},
    {"counter", RUN_COUNTER_PACKED, "bytes", "constant weights in layouts of kernels, which were made before the run", 0},
    {"counter", "gpu.outputs_expected", "buffers", "buffers whose content after the launch is known from elsewhere", -1},
    {"counter", "gpu.outputs_as_expected", "buffers", "of these, those that agree", 1},
    {"counter", "device.repetitions", "runs", "repetitions of the workload in the machine", -1},
    {"counter", "device.wall_watts", "W", "power at the wall when the machine runs from its adapter", 0},
    {"counter", "device.battery_hours_left", "h", "hours that a charge lasts at this power", 1},
    {"counter", "device.throttle_onset", "s", "first time below the clock that was asked for", 1},
    {"counter", "device.clock_changes", "changes", "operating points that working domains were moved to", 0},
    {"counter", "device.clock_change_time", "s", "time that domains lost by changes of their operating point", 0},
    {"counter", "device.low_power_time", "s", "time in the low-power mode", -1},
    {"counter", "device.moved_time", "s", "time in which work of the P cores ran on the E cores", -1},
    {"counter", "device.last_clock", "MHz", "clock of the domain that paces the work at the end", 1},
    {"counter", "device.last_temperature", "degC", "mean die temperature at the end", 0},
    {"counter", "ane.descriptors", "descriptors", "task descriptors of a request to the Neural Engine", -1},
    {"counter", "ane.macs", "macs", "multiply-accumulates that the Neural Engine executed", -1},
    {"counter", "ane.elements", "elements", "elements that passed the Neural Engine's planar and element paths", -1},
    {"counter", "ane.table_lookups", "lookups", "activation tables looked up by the Neural Engine", -1},
    {"counter", "ane.table_clamped", "lookups", "of these, those at or beyond the clamps of the table", -1},
    {"counter", "ane.source_bytes", "bytes", "bytes that one request's tile DMA reads", 0},
    {"counter", "ane.result_bytes", "bytes", "bytes that one request's tile DMA writes", 0},
    {"counter", "ane.coefficient_bytes", "bytes", "bytes that one request's kernel DMA streams, passes counted each", 0},
    {"counter", "ane.l2_bytes", "bytes", "bytes that one request moves from and to tile memory", 0},
    {"counter", "program.exit_code", "1", "exit code of the program's first copy", -1},
    {"counter", "program.threads", "1", "threads that the program's first copy started, if more than one", -1},
    {"counter", "program.cores", "1", "cores that its threads used", -1},
    {"counter", "program.output_bytes", "bytes", "bytes that the program's first copy printed", -1},
    {"counter", "program.output_files", "files", "buffers of the program written to files", -1},
    {"counter", "run.approximate", "1", "1: the time is known less well than the interval says; the assumptions say why", -1},

    {"sample", "power", "W", "power of a part", 0},
    {"sample", "temperature", "degC", "temperature of a block", 0},
    {"sample", "clock", "MHz", "clock of a part", -1},
    {"sample", "voltage", "V", "supply voltage of a part", -1},
    {"sample", "bandwidth", "GB/s", "traffic of a part", -1},
    {"sample", "utilisation", "1", "busy share of a part since the sample before", -1},
    {"sample", "pressure", "1", "thermal pressure level", 0},
    {"sample", "battery", "1", "charge of the battery", 1},
    {"sample", "memory_used", "bytes", "simulated memory in use", 0},

    {"traffic", "l1d_read", "bytes", "bytes read from L1 data caches", 0},
    {"traffic", "l1d_write", "bytes", "bytes written to L1 data caches", 0},
    {"traffic", "l2_read", "bytes", "bytes read from cluster L2 caches", 0},
    {"traffic", "l2_write", "bytes", "bytes written to cluster L2 caches", 0},
    {"traffic", "slc_read", "bytes", "bytes read from the system-level cache", 0},
    {"traffic", "slc_write", "bytes", "bytes written to the system-level cache", 0},
    {"traffic", "dram_read", "bytes", "bytes read from DRAM", 0},
    {"traffic", "dram_write", "bytes", "bytes written to DRAM", 0},

    {"characteristic", "flops", "flop", "floating-point operations; a multiply-add is two", -1},
    {"characteristic", "macs", "macs", "multiply-accumulates", -1},
    {"characteristic", "seconds", "s", "simulated time from first submit to last completion, overheads included", 0},
    {"characteristic", "instructions", "instructions", "instructions executed", -1},
    {"characteristic", "launches", "launches", "kernel launches and requests", -1},

    {"stall", "launch", "cycles", "any unit: submission and launch overhead", 0},
    {"stall", "compute", "cycles", "any unit: the unit works at its full rate", 0},
    {"stall", "dram_bandwidth", "cycles", "any unit: the DRAM bandwidth is used up", 0},
    {"stall", "slc_bandwidth", "cycles", "any unit: the bandwidth of the system-level cache is used up", 0},
    {"stall", "fabric", "cycles", "any unit: the unit's port to the fabric is full", 0},
    {"stall", "contention", "cycles", "any unit: others use the shared resource", 0},
    {"stall", "throttle", "cycles", "any unit: the clock is below the one that was asked for", 0},
    {"stall", "dependency_wait", "cycles", "any unit: waits for another unit's result", 0},
    {"stall", "idle", "cycles", "any unit: nothing to do", 0},

#define X(name, key, text) {"stall", "cpu." key, "cycles", "cpu: " text, 0},
    CPU_STALL_TABLE(X)
#undef X
#define X(name, key, text) {"stall", "amx." key, "cycles", "amx: " text, 0},
        AMX_STALL_TABLE(X)
#undef X
#define X(name, key, text) {"stall", "gpu." key, "cycles", "gpu: " text, 0},
            GPU_STALL_TABLE(X)
#undef X
#define X(name, key, text) {"stall", "ane." key, "cycles", "ane: " text, 0},
                ANE_STALL_TABLE(X)
#undef X

#define X(name, event_unit, text) {"activity", #name, event_unit, text, -1},
                    ACTIVITY_TABLE(X)
#undef X
#define X(enumerator, name, text)                                                                                                \
    {"counter", "energy." #name ".dynamic", "J", "energy of what happened in the " text, 0},                                     \
        {"counter", "energy." #name ".clock", "J", "energy of clock trees and control in the " text, 0},                         \
        {"counter", "energy." #name ".leakage", "J", "leakage of the " text, 0},
                        POWER_DOMAIN_TABLE(X)
#undef X
#define X(name, text)                                                                                                            \
    {"energy", text, "J", "energy of " text, 0},                                                                                 \
        {"utilisation", text, "1", "work done by " text " over the most that it could do in that time, 0 to 1", -1},
                            ORCH_PART_TABLE(X)
#undef X
};

static bool visit_totals(metric_visit *visit, void *context)
{
    for (size_t i = 0; i < run_number_field_count(); i++) {
        const struct run_number_field *f = run_number_field(i);
        const struct metric_entry entry = {"total", f->name, f->unit, f->definition, f->higher_is_better};
        if (!visit(context, &entry))
            return false;
    }
    return true;
}

/* Counters whose names come from another table: activity events ("activity.dram_read_bytes") and AMX mnemonics ("amx.fma32"). */
static bool visit_activity(metric_visit *visit, void *context)
{
    for (int i = 0; i < ACT_COUNT; i++) {
        char name[64];
        snprintf(name, sizeof name, "activity.%s", activity_name((enum activity_event)i));
        for (char *p = name; *p; p++)
            *p = (char)tolower((unsigned char)*p);
        const struct metric_entry entry = {"counter", name, activity_unit((enum activity_event)i),
                                           activity_definition((enum activity_event)i), -1};
        if (!visit(context, &entry))
            return false;
    }
    return true;
}

static bool visit_amx_instructions(metric_visit *visit, void *context)
{
    for (unsigned op = 0; op < AMX_OP_COUNT; op++) {
        char name[64], definition[96];
        const char *mnemonic = op == AMX_SETCLR ? "set_clr" : amx_op_name(op, 0);
        snprintf(name, sizeof name, "amx.%s", mnemonic);
        snprintf(definition, sizeof definition, "AMX instructions number %u executed", op);
        const struct metric_entry entry = {"counter", name, "instructions", definition, -1};
        if (!visit(context, &entry))
            return false;
    }
    return true;
}

/* Several forms of an instruction may share a mnemonic. */
static bool visit_gpu_instructions(metric_visit *visit, void *context)
{
    for (unsigned form = 0; form < agx_form_count(); form++) {
        const char *mnemonic = agx_form_mnemonic(form);
        char name[64], definition[96];
        unsigned earlier = 0;
        while (earlier < form && strcmp(agx_form_mnemonic(earlier), mnemonic) != 0)
            earlier++;
        if (earlier < form)
            continue;
        snprintf(name, sizeof name, "gpu.%s", mnemonic);
        snprintf(definition, sizeof definition, "GPU instructions %s issued, one for a simdgroup", mnemonic);
        const struct metric_entry entry = {"counter", name, "instructions", definition, -1};
        if (!visit(context, &entry))
            return false;
    }
    return true;
}

/* Metrics of workloads that run at the same time in a machine. */
static bool visit_parts(metric_visit *visit, void *context)
{
    static const struct {
        const char *name, *unit, *definition;
        int higher_is_better;
    } of_each[] = {{"repetitions", "runs", "repetitions in the machine", -1},
                   {"slowdown", "1", "time of a repetition over its time alone in a cool machine", 0}};
    for (unsigned i = 1; i <= EVENT_WORKLOADS; i++)
        for (size_t k = 0; k < ARRAY_COUNT(of_each); k++) {
            char name[64], definition[120];
            snprintf(name, sizeof name, "device.%u.%s", i, of_each[k].name);
            snprintf(definition, sizeof definition, "workload %u of several at once: %s", i, of_each[k].definition);
            const struct metric_entry entry = {"counter", name, of_each[k].unit, definition, of_each[k].higher_is_better};
            if (!visit(context, &entry))
                return false;
        }
    return true;
}

bool metric_table_visit(metric_visit *visit, void *context)
{
    for (size_t i = 0; i < ARRAY_COUNT(listed); i++)
        if (!visit(context, &listed[i]))
            return false;
    return visit_activity(visit, context) && visit_amx_instructions(visit, context) && visit_gpu_instructions(visit, context) &&
           visit_parts(visit, context) && visit_totals(visit, context);
}
