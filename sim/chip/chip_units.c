#include "sim/chip/chip_units.h"
#include "isa/array_count.h"
#include "sim/chip/chip_keys.inc"

#include <stdio.h>
#include <string.h>

const char *const chip_unit_prefixes[] = {
    "amx", "cpu_", "mem.", "dram.", "p_clusters", "e_clusters", "dies", "l1d_kB", "l2_MB", "slc_MB", "memory_peak_GBps", "family",
};
const size_t chip_unit_prefix_count = ARRAY_COUNT(chip_unit_prefixes);

/* Reads keys one after another; the first failure sticks, so that callers check once. */
struct reader {
    const struct chip *chip;
    struct orch_error *error;
    const char *prefix; /* of all names below */
    unsigned active;
    bool ok;
};

static double read_number(struct reader *r, const char *name)
{
    char key[96];
    double value = 0;
    snprintf(key, sizeof key, "%s%s", r->prefix, name);
    r->ok = r->ok && chip_number_active(r->chip, key, r->active, &value, r->error);
    return r->ok ? value : 0;
}

static uint32_t read_count(struct reader *r, const char *name)
{
    return (uint32_t)read_number(r, name);
}

/* Characteristics are named after the core kind in different places: l1d_kB_p, l2_MB_per_p_cluster. */
static double read_plain(struct reader *r, const char *name)
{
    const char *prefix = r->prefix;
    r->prefix = "";
    const double value = read_number(r, name);
    r->prefix = prefix;
    return value;
}

static struct reader start(const struct chip *chip, const char *prefix, unsigned active, struct orch_error *error)
{
    return (struct reader){.chip = chip, .error = error, .prefix = prefix, .active = active, .ok = true};
}

static bool read_list(const struct chip *chip, const char *key, const struct chip_value **value, struct orch_error *error)
{
    *value = chip_value(chip, key);
    if (*value && (*value)->known && (*value)->list)
        return true;
    return orch_fail(error, ORCH_UNMODELLED, "chip %s: %s is not known", chip_id(chip), key);
}

bool chip_clusters(const struct chip *chip, struct chip_clusters *out, struct orch_error *error)
{
    struct reader r = start(chip, "", 1, error);
    const unsigned dies = read_count(&r, "dies");
    static const char *const keys[2][2] = {{"p_clusters", "amx_blocks_p"}, {"e_clusters", "amx_blocks_e"}};
    out->count = 0;
    for (int kind = 0; kind < 2; kind++) {
        const struct chip_value *list;
        const double blocks = read_number(&r, keys[kind][1]);
        if (!r.ok || !read_list(chip, keys[kind][0], &list, error))
            return false;
        for (size_t i = 0; i < list->count; i++) {
            if (out->count == MEM_CLUSTERS_MAX)
                return orch_fail(error, ORCH_USAGE, "chip %s: more than %d clusters", chip_id(chip), MEM_CLUSTERS_MAX);
            out->cluster[out->count++] = (struct chip_cluster){
                .kind = (enum chip_core)kind,
                .cores = (unsigned)list->list[i],
                .die = (unsigned)(i * dies / list->count),
                .has_amx = (double)i < blocks,
            };
        }
    }
    return true;
}

bool chip_amx_gen(const struct chip *chip, enum amx_gen *gen, struct orch_error *error)
{
    const struct chip_value *family = chip_value(chip, "family");
    const char *name = family && family->known ? family->json : "";
    if (name[0] == 'M' && name[1] >= '1' && name[1] <= '4' && !name[2]) {
        *gen = (enum amx_gen)(AMX_GEN_M1 + (name[1] - '1'));
        return true;
    }
    return orch_fail(error, ORCH_UNMODELLED, "chip %s: AMX of family '%.20s'", chip_id(chip), name);
}

bool chip_cpu_clock_ghz(const struct chip *chip, enum chip_core kind, unsigned active, double *ghz, struct orch_error *error)
{
    return chip_number_active(chip, kind == CHIP_P_CORE ? "cpu_p.clock_ghz" : "cpu_e.clock_ghz", active, ghz, error);
}

bool chip_amx_clock_ghz(const struct chip *chip, enum chip_core kind, unsigned active, double *ghz, struct orch_error *error)
{
    return chip_number_active(chip, kind == CHIP_P_CORE ? "amx.clock_ghz" : "amx_e.clock_ghz", active, ghz, error);
}

bool chip_amx_params(const struct chip *chip, enum chip_core kind, unsigned active, struct amx_params *params,
                     struct orch_error *error)
{
    struct reader r = start(chip, kind == CHIP_P_CORE ? "amx." : "amx_e.", active, error);
    memset(params, 0, sizeof *params);
#define FIELD(name, ...) params->name = (__typeof__(params->name))read_number(&r, #name);
    CHIP_AMX_FIELDS(FIELD)
#undef FIELD
    return r.ok;
}

static uint8_t read_port_group(struct reader *r, const char *class_name)
{
    static const char *const groups[] = {
#define GROUP(enumerator, name) [CPU_PORTS_##enumerator] = #name,
        CHIP_CPU_PORTS(GROUP)
#undef GROUP
            [CPU_PORTS_NONE] = "none",
    };
    char key[96];
    snprintf(key, sizeof key, "%s%s.ports", r->prefix, class_name);
    const struct chip_value *value = chip_value(r->chip, key);
    const char *name = value && value->known ? value->json : "";
    for (unsigned i = 0; i < ARRAY_COUNT(groups); i++)
        if (groups[i] && strcmp(groups[i], name) == 0)
            return (uint8_t)i;
    if (r->ok)
        r->ok = orch_fail(r->error, ORCH_USAGE, "chip %s: %s: '%.30s' is no port group", chip_id(r->chip), key, name);
    return CPU_PORTS_NONE;
}

static void read_class(struct reader *r, const char *class_name, struct cpu_class_params *cls)
{
    char name[64];
    snprintf(name, sizeof name, "%s.latency_cycles", class_name);
    cls->latency_cycles = read_number(r, name);
    snprintf(name, sizeof name, "%s.issue_cycles", class_name);
    cls->issue_cycles = read_number(r, name);
    snprintf(name, sizeof name, "%s.uops", class_name);
    cls->uops = (uint8_t)read_number(r, name);
    cls->ports = read_port_group(r, class_name);
}

#define ONE(...) +1
_Static_assert(0 CHIP_CPU_CLASSES(ONE) == A64_CLASS_COUNT, "chip_keys.inc lists every instruction class");
_Static_assert(0 CHIP_CPU_PORTS(ONE) + 1 == CPU_PORT_GROUP_COUNT, "chip_keys.inc lists every port group but none");
#undef ONE

bool chip_cpu_params(const struct chip *chip, enum chip_core kind, unsigned active, struct cpu_params *params,
                     struct orch_error *error)
{
    struct reader r = start(chip, kind == CHIP_P_CORE ? "cpu_p." : "cpu_e.", active, error);
    memset(params, 0, sizeof *params);
#define FIELD(name, ...) params->name = (__typeof__(params->name))read_number(&r, #name);
    CHIP_CPU_FIELDS(FIELD)
#undef FIELD
#define PORTS(enumerator, name) params->port_count[CPU_PORTS_##enumerator] = read_count(&r, "ports_" #name);
    CHIP_CPU_PORTS(PORTS)
#undef PORTS
#define CLASS(enumerator, name) read_class(&r, #name, &params->cls[A64_C_##enumerator]);
    CHIP_CPU_CLASSES(CLASS)
#undef CLASS
    return r.ok;
}

static uint32_t kib_of_mib(double mib)
{
    return (uint32_t)(mib * 1024 + 0.5);
}

static void read_cluster(struct reader *r, enum chip_core kind, struct mem_cluster_params *c)
{
    const bool p = kind == CHIP_P_CORE;
    c->clock_ghz = read_plain(r, p ? "cpu_p.clock_ghz" : "cpu_e.clock_ghz");
    c->l2.kib = kib_of_mib(read_plain(r, p ? "l2_MB_per_p_cluster" : "l2_MB_per_e_cluster"));
    r->prefix = p ? "mem.p_" : "mem.e_";
    c->l2.ways = read_count(r, "l2_ways");
    c->l2.latency_cycles = read_number(r, "l2_latency_cycles");
    c->l2.bytes_per_cycle = read_number(r, "l2_bytes_per_cycle");
    c->l2_outstanding = read_count(r, "l2_outstanding");
    c->fabric_gbps = read_number(r, "fabric_gbps");
}

static void read_die_policy(struct reader *r, struct mem_params *params)
{
    const struct chip_value *value = chip_value(r->chip, "mem.placement");
    const char *name = value && value->known ? value->json : "interleave";
    if (strcmp(name, "first-touch") == 0) {
        params->die_policy = MEM_DIE_FIRST_TOUCH;
    } else if (strcmp(name, "local") == 0 || strcmp(name, "remote") == 0) {
        params->die_policy = MEM_DIE_ONE;
        params->home_die = strcmp(name, "remote") == 0; /* programs start on the first die */
    } else if (strcmp(name, "interleave") == 0) {
        params->die_policy = MEM_DIE_INTERLEAVE;
    } else if (r->ok) {
        r->ok =
            orch_fail(r->error, ORCH_USAGE, "chip %s: mem.placement '%.30s' is none of interleave, first-touch, local, remote",
                      chip_id(r->chip), name);
    }
}

/* Figures of the whole chip become figures of one die. */
static void read_shared(struct reader *r, struct mem_params *params)
{
    r->prefix = "mem.";
    params->slc.ways = read_count(r, "slc_ways");
    params->slc_latency_ns = read_number(r, "slc_latency_ns");
    params->slc_gbps = read_number(r, "slc_gbps");
    params->tlb_miss_ns = read_number(r, "tlb_miss_ns");
    params->tlb_l2_ns = read_number(r, "tlb_l2_ns");
    params->tlb_entries_l1 = read_count(r, "tlb_entries_l1");
    params->tlb_entries_l2 = read_count(r, "tlb_entries_l2");
    params->dies = (uint32_t)read_plain(r, "dies");
    if (params->dies > 1) {
        params->die_link_gbps = read_number(r, "die_link_gbps");
        params->die_link_latency_ns = read_number(r, "die_link_latency_ns");
        read_die_policy(r, params);
    }
    const double dies = params->dies ? params->dies : 1;
    params->slc.kib = kib_of_mib(read_plain(r, "slc_MB") / dies);
    params->dram_peak_gbps = read_plain(r, "memory_peak_GBps") / dies;
    r->prefix = "dram.";
    params->dram_latency_ns = read_number(r, "latency_ns");
    params->dram_efficiency_read = read_number(r, "efficiency_stream");
    params->dram_efficiency_mixed = read_number(r, "efficiency_mixed");
    params->dram_channels = (uint32_t)(read_number(r, "channels") / dies);
}

bool chip_mem_params(const struct chip *chip, const unsigned *active, struct mem_params *params, struct orch_error *error)
{
    struct chip_clusters clusters;
    memset(params, 0, sizeof *params);
    if (!chip_clusters(chip, &clusters, error))
        return false;
    struct reader r = start(chip, "", 1, error);
    read_shared(&r, params);
    params->cluster_count = clusters.count;
    for (unsigned i = 0; i < clusters.count; i++) {
        r.active = active && active[i] ? active[i] : 1;
        read_cluster(&r, clusters.cluster[i].kind, &params->cluster[i]);
        params->cluster[i].die = clusters.cluster[i].die;
    }
    return r.ok;
}

/* What both ports of a core have in common; leaves the reader at the keys of the cluster's kind. */
static bool start_port(const struct chip *chip, unsigned cluster, struct mem_port_params *params, struct reader *r,
                       struct orch_error *error)
{
    struct chip_clusters clusters;
    memset(params, 0, sizeof *params);
    if (!chip_clusters(chip, &clusters, error))
        return false;
    if (cluster >= clusters.count)
        return orch_fail(error, ORCH_INTERNAL, "chip %s has no cluster %u", chip_id(chip), cluster);
    params->cluster = cluster;
    *r = start(chip, clusters.cluster[cluster].kind == CHIP_P_CORE ? "mem.p_" : "mem.e_", 1, error);
    params->prefetch.streams = read_count(r, "prefetch_streams");
    params->prefetch.degree = read_count(r, "prefetch_degree");
    params->prefetch.distance = read_count(r, "prefetch_distance");
    params->prefetch.train = read_count(r, "prefetch_train");
    params->gather_lines = read_count(r, "gather_lines");
    params->gather_plain = read_count(r, "gather_plain") != 0;
    return r->ok;
}

bool chip_core_port(const struct chip *chip, unsigned cluster, struct mem_port_params *params, struct orch_error *error)
{
    struct reader r;
    if (!start_port(chip, cluster, params, &r, error))
        return false;
    params->l1.kib = (uint32_t)read_plain(&r, strcmp(r.prefix, "mem.p_") == 0 ? "l1d_kB_p" : "l1d_kB_e");
    params->l1.ways = read_count(&r, "l1_ways");
    params->l1.latency_cycles = read_number(&r, "l1_latency_cycles");
    params->l1.bytes_per_cycle = read_number(&r, "l1_bytes_per_cycle");
    params->l2_bytes_per_cycle = read_number(&r, "l2_port_bytes_per_cycle");
    params->outstanding = read_count(&r, "outstanding");
    params->prefetch.l1_distance = read_count(&r, "prefetch_l1_distance");
    return r.ok;
}

bool chip_amx_port(const struct chip *chip, unsigned cluster, struct mem_port_params *params, struct orch_error *error)
{
    struct reader r;
    if (!start_port(chip, cluster, params, &r, error))
        return false;
    params->outstanding = read_count(&r, "amx_outstanding");
    params->l2_bytes_per_cycle = read_number(&r, "amx_l2_bytes_per_cycle");
    params->tlb_refill_ns = read_number(&r, "amx_tlb_refill_ns");
    params->tlb_entries = read_count(&r, "amx_tlb_entries");
    return r.ok;
}
