/* The memory system, and the ports that CPU cores and their AMX blocks open on it. */
#include "sim/chip/chip_reader.h"
#include "sim/chip/chip_units.h"

#include <string.h>

static uint32_t kib_of_mib(double mib)
{
    return (uint32_t)(mib * 1024 + 0.5);
}

static void read_cluster(struct chip_reader *r, enum chip_core kind, struct mem_cluster_params *to)
{
    const bool p = kind == CHIP_P_CORE;
    to->clock_ghz = chip_read_key(r, p ? "cpu_p.clock_ghz" : "cpu_e.clock_ghz");
    to->l2.kib = kib_of_mib(chip_read_key(r, p ? "l2_MB_per_p_cluster" : "l2_MB_per_e_cluster"));
    r->prefix = p ? "mem.p_" : "mem.e_";
    MEM_CORE_PARAMS(PARAM_NONE, PARAM_NONE, PARAM_NONE, FILL_MEMBER)
}

static void read_die_policy(struct chip_reader *r, struct mem_params *to)
{
    const struct chip_value *value = chip_value(r->chip, "mem.placement");
    const char *name = value && value->known ? value->json : "interleave";
    if (strcmp(name, "first-touch") == 0) {
        to->die_policy = MEM_DIE_FIRST_TOUCH;
    } else if (strcmp(name, "local") == 0 || strcmp(name, "remote") == 0) {
        to->die_policy = MEM_DIE_ONE;
        to->home_die = strcmp(name, "remote") == 0; /* programs start on the first die */
    } else if (strcmp(name, "interleave") == 0) {
        to->die_policy = MEM_DIE_INTERLEAVE;
    } else if (r->ok) {
        r->ok =
            orch_fail(r->error, ORCH_USAGE, "chip %s: mem.placement '%.30s' is none of interleave, first-touch, local, remote",
                      chip_id(r->chip), name);
    }
}

static void read_standard(struct chip_reader *r, struct mem_params *to)
{
    const struct chip_value *type = chip_value(r->chip, "memory_type");
    const double gbit = chip_read(r, "density");
    if (r->ok && !dram_standard(type && type->known ? type->json : "", gbit, &to->dram_timing))
        r->ok = orch_fail(r->error, ORCH_UNMODELLED, "chip %s: memory of type '%.30s' is not known; %s to %s are",
                          chip_id(r->chip), type && type->known ? type->json : "", dram_standard_name(0), dram_standard_name(3));
}

/* Reads what the chip shares. Figures of the whole chip become figures of one die. */
static void read_shared(struct chip_reader *r, struct mem_params *to)
{
    r->prefix = "mem.";
    MEM_SHARED_PARAMS(FILL_MEMBER, PARAM_NONE, PARAM_NONE, PARAM_NONE)
    to->dies = (uint32_t)chip_read_key(r, "dies");
    if (to->dies > 1) {
        MEM_SHARED_PARAMS(PARAM_NONE, FILL_MEMBER, PARAM_NONE, PARAM_NONE)
        read_die_policy(r, to);
    }
    const double dies = to->dies ? to->dies : 1;
    to->slc.kib = kib_of_mib(chip_read_key(r, "slc_MB") / dies);
    to->dram_peak_gbps = chip_read_key(r, "memory_peak_GBps") / dies;
    r->prefix = "dram.";
    MEM_DRAM_PARAMS(FILL_MEMBER, PARAM_NONE)
    to->dram_channels = (uint32_t)(chip_read(r, "channels") / dies);
    read_standard(r, to);
}

bool chip_mem_params(const struct chip *chip, const unsigned *active, struct mem_params *params, struct orch_error *error)
{
    struct chip_clusters clusters;
    memset(params, 0, sizeof *params);
    if (!chip_clusters(chip, &clusters, error))
        return false;
    struct chip_reader r = chip_reader_start(chip, "", 1, error);
    read_shared(&r, params);
    params->cluster_count = clusters.count;
    for (unsigned i = 0; i < clusters.count; i++) {
        r.active = active && active[i] ? active[i] : 1;
        read_cluster(&r, clusters.cluster[i].kind, &params->cluster[i]);
        params->cluster[i].die = clusters.cluster[i].die;
        params->cluster[i].cpu = true;
    }
    return r.ok;
}

/* Begins a port of a core: clears the struct, finds the kind of the cluster and sets the reader to the keys of that kind. */
static bool start_port(const struct chip *chip, unsigned cluster, struct mem_port_params *to, enum chip_core *kind,
                       struct chip_reader *r, struct orch_error *error)
{
    struct chip_clusters clusters;
    memset(to, 0, sizeof *to);
    if (!chip_clusters(chip, &clusters, error))
        return false;
    if (cluster >= clusters.count)
        return orch_fail(error, ORCH_INTERNAL, "chip %s has no cluster %u", chip_id(chip), cluster);
    *kind = clusters.cluster[cluster].kind;
    *r = chip_reader_start(chip, *kind == CHIP_P_CORE ? "mem.p_" : "mem.e_", 1, error);
    to->cluster = cluster;
    return true;
}

bool chip_core_port(const struct chip *chip, unsigned cluster, struct mem_port_params *to, struct orch_error *error)
{
    struct chip_reader reader, *const r = &reader;
    enum chip_core kind;
    if (!start_port(chip, cluster, to, &kind, r, error))
        return false;
    to->l1.kib = (uint32_t)chip_read_key(r, kind == CHIP_P_CORE ? "l1d_kB_p" : "l1d_kB_e");
    MEM_CORE_PARAMS(FILL_MEMBER, PARAM_NONE, FILL_MEMBER, PARAM_NONE)
    return r->ok;
}

bool chip_amx_port(const struct chip *chip, unsigned cluster, struct mem_port_params *to, struct orch_error *error)
{
    struct chip_reader reader, *const r = &reader;
    enum chip_core kind;
    if (!start_port(chip, cluster, to, &kind, r, error))
        return false;
    MEM_CORE_PARAMS(PARAM_NONE, FILL_MEMBER, FILL_MEMBER, PARAM_NONE)
    return r->ok;
}
