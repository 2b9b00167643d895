#include "sim/soc/soc_internal.h"

#include "sim/chip/chip_units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fills in what is known of the cores before they are used. */
static bool number_cores(struct soc *soc, struct orch_error *error)
{
    unsigned number[2] = {0, 0};
    for (unsigned c = 0; c < soc->clusters.count; c++) {
        for (unsigned slot = 0; slot < soc->clusters.cluster[c].cores; slot++) {
            if (soc->core_count == CORES_MAX)
                return orch_fail(error, ORCH_UNMODELLED, "%s has more than %d CPU cores", chip_id(soc->chip), CORES_MAX);
            struct soc_core *const core = &soc->core[soc->core_count++];
            core->performance = soc->clusters.cluster[c].kind == CHIP_P_CORE;
            core->cluster = c;
            core->slot = slot;
            core->number = number[core->performance]++;
            core->gen = soc->gen;
        }
    }
    return true;
}

static double send_amx(void *context, double sent_ns, unsigned op, uint64_t operand)
{
    const struct soc_core *const core = context;
    return amx_block_send_cached(core->amx, core->slot, sent_ns, op, operand, core->gen);
}

static uint32_t send_words(void *context, const struct unit_words *words, uint64_t *answered)
{
    const struct soc_core *const core = context;
    return amx_block_send_words(core->amx, core->slot, words, core->gen, answered);
}

static double stores_done_at(void *context)
{
    const struct soc_core *const core = context;
    return amx_block_stores_done_at(core->amx, core->slot);
}

static void skip_amx(void *context, unsigned op, uint64_t operand)
{
    const struct soc_core *const core = context;
    amx_block_skip(core->amx, core->slot, cpu_timing_now(core->timing), op, operand, core->gen);
}

/* Each core has an address space of its own; the tag keeps them apart in the shared caches. */
static uint64_t tag_of(const struct soc *soc, const struct soc_core *core)
{
    return (uint64_t)(core - soc->core + 1) << 48;
}

static bool open_core(struct soc *soc, struct soc_core *core, struct orch_error *error)
{
    struct mem_port_params own, amx;
    struct cpu_params cpu;
    if (!chip_core_port(soc->chip, core->cluster, &own, error) || !chip_amx_port(soc->chip, core->cluster, &amx, error) ||
        !chip_cpu_params(soc->chip, core->performance ? CHIP_P_CORE : CHIP_E_CORE, 1, &cpu, error))
        return false;
    core->amx = soc->block[core->cluster];
    core->amx_issue_per_cycle = cpu.amx_issue_per_cycle;
    core->port = mem_port_open(soc->memory, &own, NULL);
    core->amx_port = core->port ? mem_port_open(soc->memory, &amx, core->port) : NULL;
    const uint64_t tag = tag_of(soc, core);
    core->timing = core->port ? cpu_timing_create(&cpu, core->port, tag) : NULL;
    if (!core->amx_port || !core->timing)
        return orch_no_memory(error);
    if (core->amx) {
        const struct cpu_amx_link link = {send_amx, stores_done_at, core, skip_amx, send_words};
        amx_block_set_port(core->amx, core->slot, core->amx_port, tag);
        cpu_timing_set_amx(core->timing, &link);
    }
    return true;
}

/* A cluster is opened when one of its cores is used, so that a run reads only the parameters of what it uses. */
static bool open_cluster(struct soc *soc, unsigned cluster, struct orch_error *error)
{
    const struct chip_cluster *const c = &soc->clusters.cluster[cluster];
    struct amx_params params;
    if (soc->opened[cluster])
        return true;
    if (c->has_amx && !soc->block[cluster]) {
        if (!chip_amx_params(soc->chip, c->kind, 1, &params, error))
            return false;
        soc->block[cluster] = amx_block_create(&params, c->cores);
        if (!soc->block[cluster])
            return orch_no_memory(error);
    }
    for (unsigned i = 0; i < soc->core_count; i++)
        if (soc->core[i].cluster == cluster && !soc->core[i].timing && !open_core(soc, &soc->core[i], error))
            return false;
    soc->opened[cluster] = true;
    return true;
}

struct soc *soc_create(const struct chip *chip, struct orch_error *error)
{
    struct soc *const soc = calloc(1, sizeof *soc);
    struct mem_params params;
    if (!soc) {
        orch_no_memory(error);
        return NULL;
    }
    soc->chip = chip;
    if (!chip_clusters(chip, &soc->clusters, error) || !chip_amx_gen(chip, &soc->gen, error) ||
        !chip_mem_params(chip, NULL, &params, error))
        goto failed;
    /* A chip whose GPU caches are not known fails in soc_gpu, when something is to run on its GPU. */
    soc->has_gpu_memory = chip_gpu_memory(chip, &params, &soc->gpu_cluster, NULL);
    soc->memory = mem_system_create(&params);
    if (!soc->memory) {
        orch_no_memory(error);
        goto failed;
    }
    if (!number_cores(soc, error))
        goto failed;
    return soc;
failed:
    soc_free(soc);
    return NULL;
}

void soc_free(struct soc *soc)
{
    if (!soc)
        return;
    for (unsigned i = 0; i < soc->core_count; i++)
        if (soc->core[i].timing)
            cpu_timing_free(soc->core[i].timing);
    for (unsigned c = 0; c < MEM_CLUSTERS_MAX; c++)
        if (soc->block[c])
            amx_block_free(soc->block[c]);
    gpu_timing_free(soc->gpu.timing);
    free(soc->gpu.port);
    ane_timing_free(soc->ane.timing);
    mem_bulk_free(soc->ane.bulk);
    mem_system_free(soc->memory);
    free(soc);
}

const struct chip *soc_chip(const struct soc *soc)
{
    return soc->chip;
}

enum amx_gen soc_amx_gen(const struct soc *soc)
{
    return soc->gen;
}

struct mem_system *soc_memory(struct soc *soc)
{
    return soc->memory;
}

unsigned soc_core_count(const struct soc *soc, bool performance)
{
    unsigned count = 0;
    for (unsigned i = 0; i < soc->core_count; i++)
        count += soc->core[i].performance == performance;
    return count;
}

static struct soc_core *core_of(struct soc *soc, unsigned cluster, unsigned slot)
{
    for (unsigned i = 0; i < soc->core_count; i++)
        if (soc->core[i].cluster == cluster && soc->core[i].slot == slot)
            return &soc->core[i];
    return NULL;
}

/* Takes up to `count` cores of one kind, one from each cluster in turn. */
static unsigned take_cores(struct soc *soc, enum chip_core kind, unsigned count, unsigned *active, struct soc_core **cores)
{
    unsigned taken = 0;
    for (bool more = true; more && taken < count;) {
        more = false;
        for (unsigned c = 0; c < soc->clusters.count && taken < count; c++) {
            const struct chip_cluster *const cluster = &soc->clusters.cluster[c];
            if (cluster->kind != kind || active[c] == cluster->cores)
                continue;
            cores[taken++] = core_of(soc, c, active[c]++);
            more = true;
        }
    }
    return taken;
}

/* Sets the clocks of a cluster for its number of busy cores. */
static bool set_clocks(struct soc *soc, unsigned c, unsigned active, struct orch_error *error)
{
    const struct chip_cluster *const cluster = &soc->clusters.cluster[c];
    double cpu_ghz, amx_ghz = 0;
    if (!chip_cpu_clock_ghz(soc->chip, cluster->kind, active, &cpu_ghz, error) ||
        (cluster->has_amx && !chip_amx_clock_ghz(soc->chip, cluster->kind, active, &amx_ghz, error)))
        return false;
    mem_system_set_clock(soc->memory, c, cpu_ghz);
    mem_system_set_busy(soc->memory, c, active);
    if (cluster->has_amx)
        amx_block_set_clock(soc->block[c], amx_ghz);
    for (unsigned i = 0; i < soc->core_count; i++) {
        struct soc_core *const core = &soc->core[i];
        if (core->cluster != c)
            continue;
        cpu_timing_set_clock(core->timing, cpu_ghz);
        core->clock_ghz = cpu_ghz;
        core->amx_clock_ghz = amx_ghz;
    }
    return true;
}

bool soc_place(struct soc *soc, unsigned count, enum soc_core_choice choice, struct soc_core **cores, struct orch_error *error)
{
    unsigned active[MEM_CLUSTERS_MAX] = {0}, taken = 0;
    if (choice != SOC_E_CORE)
        taken = take_cores(soc, CHIP_P_CORE, count, active, cores);
    if (choice != SOC_P_CORE && taken < count)
        taken += take_cores(soc, CHIP_E_CORE, count - taken, active, cores + taken);
    if (count == 0 || taken < count)
        return orch_fail(error, ORCH_USAGE, "%s has %u P and %u E cores; %u%s were asked for", chip_id(soc->chip),
                         soc_core_count(soc, true), soc_core_count(soc, false), count,
                         choice == SOC_P_CORE   ? " P cores"
                         : choice == SOC_E_CORE ? " E cores"
                                                : "");
    for (unsigned c = 0; c < soc->clusters.count; c++)
        if ((active[c] && !open_cluster(soc, c, error)) ||
            (soc->opened[c] && !set_clocks(soc, c, active[c] ? active[c] : 1, error)))
            return false;
    return true;
}

void soc_share_space(struct soc *soc, struct soc_core *core, const struct soc_core *with)
{
    const uint64_t tag = tag_of(soc, with);
    cpu_timing_set_tag(core->timing, tag);
    if (core->amx)
        amx_block_set_port(core->amx, core->slot, core->amx_port, tag);
}

void soc_restart(struct soc *soc, bool keep_caches)
{
    if (!keep_caches)
        mem_system_flush(soc->memory);
    if (!keep_caches && soc->ane.bulk)
        mem_bulk_flush(soc->ane.bulk);
    mem_system_restart(soc->memory, 0);
    if (soc->ane.timing)
        ane_timing_restart(soc->ane.timing);
    for (unsigned c = 0; c < soc->clusters.count; c++)
        if (soc->block[c])
            amx_block_restart(soc->block[c], 0);
    for (unsigned i = 0; i < soc->core_count; i++)
        if (soc->core[i].timing)
            cpu_timing_restart(soc->core[i].timing, 0);
}

static enum power_domain domain_of(bool performance)
{
    return performance ? POWER_P_CPU : POWER_E_CPU;
}

void soc_take_activity_by(struct soc *soc, struct activity by[POWER_DOMAIN_COUNT])
{
    if (soc->gpu.timing)
        gpu_timing_take_activity(soc->gpu.timing, &by[POWER_GPU]);
    if (soc->ane.timing)
        ane_timing_take_activity(soc->ane.timing, &by[POWER_ANE]);
    for (unsigned c = 0; c < soc->clusters.count; c++) {
        struct activity *const cluster = &by[domain_of(soc->clusters.cluster[c].kind == CHIP_P_CORE)];
        mem_system_take_cluster_activity(soc->memory, c, cluster);
        if (soc->block[c])
            amx_block_take_activity(soc->block[c], cluster);
    }
    for (unsigned i = 0; i < soc->core_count; i++)
        if (soc->core[i].timing)
            cpu_timing_take_activity(soc->core[i].timing, &by[domain_of(soc->core[i].performance)]);
    for (unsigned c = soc->clusters.count; c < MEM_CLUSTERS_MAX; c++) /* the GPU's caches follow the clusters of cores */
        mem_system_take_cluster_activity(soc->memory, c, &by[POWER_GPU]);
    mem_system_take_activity(soc->memory, &by[POWER_FABRIC]);
}

void soc_take_activity(struct soc *soc, struct activity *into)
{
    struct activity by[POWER_DOMAIN_COUNT] = {{{0}}};
    soc_take_activity_by(soc, by);
    for (int d = 0; d < POWER_DOMAIN_COUNT; d++)
        activity_add(into, &by[d]);
}

void soc_gpu_activity(const struct soc *soc, struct activity *into)
{
    if (soc->gpu.timing)
        gpu_timing_activity(soc->gpu.timing, into);
    mem_system_activity(soc->memory, into);
}

double soc_core_send_amx_batch(struct soc_core *core, double sent_ns, double step_ns, const uint8_t *op, const uint64_t *operand,
                               uint32_t count)
{
    const struct amx_batch batch = {.op = op, .operand = operand, .count = count, .gen = core->gen, .step_ns = step_ns};
    return amx_block_send_batch(core->amx, core->slot, &batch, sent_ns);
}

double soc_core_send_amx_passes(struct soc_core *core, double sent_ns, double step_ns, const struct amx_passes *passes)
{
    return amx_block_send_passes(core->amx, core->slot, passes, core->gen, step_ns, sent_ns);
}

void soc_core_skip_amx_batch(struct soc_core *core, double now_ns, const uint8_t *op, const uint64_t *operand, uint32_t count)
{
    mem_port_stop(core->amx_port, true);
    for (uint32_t i = 0; i < count; i++)
        amx_block_skip(core->amx, core->slot, now_ns, op[i], operand[i], core->gen);
    mem_port_stop(core->amx_port, false);
}

void soc_core_skip_amx_passes(struct soc_core *core, double now_ns, const struct amx_passes *passes)
{
    mem_port_stop(core->amx_port, true);
    amx_block_skip_passes(core->amx, core->slot, now_ns, passes, core->gen);
    mem_port_stop(core->amx_port, false);
}

void soc_core_resume(struct soc_core *core, double now_ns)
{
    mem_port_resume(core->port, now_ns);
    mem_port_resume(core->amx_port, now_ns);
}

double soc_core_send_step_ns(const struct soc_core *core)
{
    return 1.0 / (core->amx_issue_per_cycle * core->clock_ghz);
}

double soc_core_done_at(const struct soc_core *core)
{
    const double cpu = cpu_timing_done_at(core->timing);
    return core->amx ? fmax(cpu, amx_block_idle_at(core->amx, core->slot)) : cpu;
}

double soc_core_idle_ns(const struct soc_core *core)
{
    double cycles[CPU_STALL_COUNT], unused;
    cpu_timing_stalls(core->timing, cycles, &unused);
    return cycles[CPU_STALL_IDLE] / core->clock_ghz;
}
