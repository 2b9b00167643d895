#include "sim/scenario/together_machine.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* An AMX block is shared by time. Its capacity is in arbitrary units per ns. */
#define AMX_UNITS_PER_NS 1000.0
/* A run that fills a resource to this share when alone is limited by its rate, not by latency. */
#define FILLS 0.9

__attribute__((format(printf, 4, 5))) static unsigned add(struct together_machine *m, double gbps, double grant,
                                                          const char *format, ...)
{
    va_list args;
    if (m->count == FAIR_RESOURCES_MAX)
        return m->count - 1;
    va_start(args, format);
    vsnprintf(m->name[m->count], sizeof m->name[0], format, args);
    va_end(args);
    m->resource[m->count] = (struct fair_resource){m->name[m->count], gbps > 0 ? gbps : INFINITY, grant};
    return m->count++;
}

static void add_cluster(struct together_machine *m, const struct chip_clusters *cpu, unsigned c)
{
    const struct mem_cluster_params *p = &m->memory.cluster[c];
    char who[16];
    if (c >= cpu->count)
        snprintf(who, sizeof who, "gpu%u", c - cpu->count);
    else
        snprintf(who, sizeof who, "%s%u", cpu->cluster[c].kind == CHIP_P_CORE ? "p" : "e", c);
    m->l2[c] = add(m, p->l2.bytes_per_cycle * p->clock_ghz, FAIR_LINE_BYTES, "%s.l2", who);
    m->read[c] = add(m, p->fabric_gbps, FAIR_LINE_BYTES, "%s.fabric_read", who);
    m->write[c] = add(m, p->fabric_gbps, FAIR_LINE_BYTES, "%s.fabric_write", who);
    if (c < cpu->count && cpu->cluster[c].has_amx)
        m->amx[c] = add(m, AMX_UNITS_PER_NS, 0, "%s.amx", who);
}

static void add_die(struct together_machine *m, unsigned d)
{
    const struct mem_params *p = &m->memory;
    const char *number = p->dies > 1 ? d ? "1" : "0" : "";
    m->slc[d] = add(m, p->slc.kib ? p->slc_gbps : 0, FAIR_LINE_BYTES, "slc%s", number);
    m->dram[d] = add(m, p->dram_peak_gbps, FAIR_LINE_BYTES, "dram%s", number);
    if (p->dies > 1)
        m->link[d] = add(m, p->die_link_gbps, FAIR_LINE_BYTES, "link_from_die%s", number);
}

bool together_machine_open(struct together_machine *m, const struct chip *chip, const unsigned *active, struct orch_error *error)
{
    struct chip_clusters cpu;
    unsigned gpu;
    memset(m, 0, sizeof *m);
    m->gpu_cores = 1;
    if (!chip_clusters(chip, &cpu, error) || !chip_mem_params(chip, active, &m->memory, error))
        return false;
    chip_gpu_memory(chip, &m->memory, &gpu, NULL); /* when the GPU's caches are not known, nothing runs on it */
    chip_number(chip, "gpu_cores", &m->gpu_cores, NULL);
    m->share = dram_share_of(&m->memory);
    m->cpu_clusters = cpu.count;
    m->clusters = m->memory.cluster_count;
    for (unsigned c = 0; c < m->clusters; c++)
        add_cluster(m, &cpu, c);
    m->ane = add(m, 0, FAIR_LINE_BYTES, "ane.fabric");
    for (unsigned d = 0; d < m->memory.dies; d++)
        add_die(m, d);
    return true;
}

static void load_clusters(const struct together_machine *m, const struct mem_traffic *t, double *bytes)
{
    for (unsigned c = 0; c < m->clusters; c++) {
        const double read = (double)t->requester[c][MEM_FLOW_FABRIC_READ], write = (double)t->requester[c][MEM_FLOW_FABRIC_WRITE];
        /* Prefetched lines and lines written back do not pass the cores' side of the L2. A GPU has no prefetch. */
        bytes[m->l2[c]] = fmax(0, (double)t->requester[c][MEM_FLOW_L2] - write - (c < m->cpu_clusters ? read : 0));
        bytes[m->read[c]] = read;
        bytes[m->write[c]] = write;
    }
    bytes[m->ane] = (double)(t->requester[MEM_REQUESTERS - 1][MEM_FLOW_FABRIC_READ] +
                             t->requester[MEM_REQUESTERS - 1][MEM_FLOW_FABRIC_WRITE]);
}

static void load_dies(const struct together_machine *m, const struct mem_traffic *t, double *bytes)
{
    for (unsigned d = 0; d < m->memory.dies; d++) {
        bytes[m->slc[d]] = (double)t->die[d][MEM_DIE_SLC];
        bytes[m->dram[d]] =
            dram_share_bytes(&m->share, (double)t->die[d][MEM_DIE_DRAM_READ], (double)t->die[d][MEM_DIE_DRAM_WRITE]);
        if (m->memory.dies > 1)
            bytes[m->link[d]] = (double)t->die[d][MEM_DIE_LINK];
    }
}

/* The result has one utilisation for all AMX blocks that took part, which is taken to be that of each. */
static void load_amx(const struct together_machine *m, const struct run_measure *measure, const struct run_result *alone,
                     double *bytes)
{
    const double busy = alone->utilisation[PART_AMX];
    for (unsigned i = 0; busy > 0 && i < measure->core_count; i++)
        if (measure->cores[i]->amx)
            bytes[m->amx[measure->cores[i]->cluster]] = busy * measure->end_ns * AMX_UNITS_PER_NS;
}

/* A run on CPU cores that fills no resource but stalls on DRAM and SLC is bound by latency. Returns the DRAM latency divided by
 * the share of the time that it stalls, in ns: the time of a request with the work beside it. 0 = not bound by latency. */
static double latency_of(const struct together_machine *m, const struct run_result *alone, const struct together_load *load)
{
    double share = 0;
    for (unsigned j = 0; j < m->count; j++)
        if (load->bytes[j] > FILLS * load->busy_ns * m->resource[j].capacity_gbps)
            return 0;
    static const char *const reasons[] = {"cpu.dram", "cpu.slc"};
    for (unsigned i = 0; i < 2; i++) {
        const double here = run_values_get(&alone->stalls, reasons[i]);
        share += isnan(here) ? 0 : here;
    }
    return share > 0 ? m->memory.dram_latency_ns / share : 0;
}

void together_load_read(const struct together_machine *m, const struct run *run, const struct run_measure *measure,
                        const struct run_result *alone, struct together_load *load)
{
    const enum orch_part part = run_part(run);
    memset(load, 0, sizeof *load);
    load->busy_ns = fmax(0, measure->end_ns - (isnan(alone->overhead_seconds) ? 0 : alone->overhead_seconds * 1e9));
    load_clusters(m, &measure->memory.traffic, load->bytes);
    load_dies(m, &measure->memory.traffic, load->bytes);
    if (part == PART_CPU || part == PART_AMX) {
        load_amx(m, measure, alone, load->bytes);
        load->latency_ns = latency_of(m, alone, load);
    }
    /* With bursts and a mix that changes, a mean rate may come out above the capacity, although that sufficed when alone. */
    for (unsigned j = 0; j < m->count; j++)
        load->bytes[j] = fmin(load->bytes[j], load->busy_ns * m->resource[j].capacity_gbps);
    load->requesters = part == PART_GPU ? (unsigned)m->gpu_cores : part == PART_ANE ? 1 : measure->core_count;
}
