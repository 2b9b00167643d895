/* From keys to the parameters of the GPU. */
#include "isa/array_count.h"
#include "sim/chip/chip_keys.inc"
#include "sim/chip/chip_units.h"

#include <stdio.h>
#include <string.h>

const char *const chip_gpu_prefixes[] = {"gpu.", "mem.", "dram.", "dies", "slc_MB", "memory_peak_GBps", "family"};
const size_t chip_gpu_prefix_count = ARRAY_COUNT(chip_gpu_prefixes);

#define NAME(enumerator, name) [GPU_COST_##enumerator] = #name,
static const char *const cost_names[] = {CHIP_GPU_COSTS(NAME)};
_Static_assert(ARRAY_COUNT(cost_names) == GPU_COST_COUNT, "chip_keys.inc lists every cost class of the GPU");

bool chip_gpu_generation(const struct chip *chip, enum gpu_generation *generation, struct orch_error *error)
{
    static const enum gpu_generation generations[] = {GPU_G13, GPU_G14, GPU_G15, GPU_G15};
    const struct chip_value *family = chip_value(chip, "family");
    const char *name = family && family->known ? family->json : "";
    if (name[0] == 'M' && name[1] >= '1' && name[1] <= '4' && !name[2]) {
        *generation = generations[name[1] - '1'];
        return true;
    }
    return orch_fail(error, ORCH_UNMODELLED, "chip %s: GPU of family '%.20s'", chip_id(chip), name);
}

static double number(const struct chip *chip, const char *name, bool *ok, struct orch_error *error)
{
    char key[96];
    double value = 0;
    snprintf(key, sizeof key, "gpu.%s", name);
    *ok = *ok && chip_number(chip, key, &value, error);
    return *ok ? value : 0;
}

static void read_cost(const struct chip *chip, const char *name, struct gpu_cost *cost, bool *ok, struct orch_error *error)
{
    char key[64];
    snprintf(key, sizeof key, "%s.pipe_cycles", name);
    cost->pipe_cycles = number(chip, key, ok, error);
    snprintf(key, sizeof key, "%s.latency_cycles", name);
    cost->latency_cycles = number(chip, key, ok, error);
}

bool chip_gpu_params(const struct chip *chip, struct gpu_params *params, struct orch_error *error)
{
    bool ok = true;
    memset(params, 0, sizeof *params);
#define FIELD(name, ...) params->name = (__typeof__(params->name))number(chip, #name, &ok, error);
    CHIP_GPU_FIELDS(FIELD)
#undef FIELD
    for (unsigned i = 0; i < GPU_COST_COUNT; i++)
        read_cost(chip, cost_names[i], &params->cost[i], &ok, error);
    return ok;
}

static bool read_dies(const struct chip *chip, unsigned *dies, double *cores, struct orch_error *error)
{
    double value = 1;
    if (!chip_number(chip, "dies", &value, error) || !chip_number(chip, "gpu.cores", cores, error))
        return false;
    *dies = value > 1 ? 2 : 1;
    return true;
}

bool chip_gpu_memory(const struct chip *chip, struct mem_params *params, unsigned *first_cluster, struct orch_error *error)
{
    unsigned dies = 1;
    double cores = 0;
    bool ok = read_dies(chip, &dies, &cores, error);
    struct mem_cluster_params c = {0};
    if (!ok)
        return false;
    const double here = cores / dies;
    c.clock_ghz = number(chip, "clock_ghz", &ok, error);
    c.l2.kib = (uint32_t)(number(chip, "l2_kib", &ok, error) / dies);
    c.l2.ways = (uint32_t)number(chip, "l2_ways", &ok, error);
    c.l2.latency_cycles = number(chip, "l2_latency_cycles", &ok, error);
    c.l2.bytes_per_cycle = number(chip, "l2_port_bytes_per_cycle", &ok, error) * here;
    c.l2_outstanding = (uint32_t)(number(chip, "l2_outstanding", &ok, error) * here);
    c.fabric_gbps = number(chip, "fabric_bytes_per_cycle", &ok, error) * c.clock_ghz * here;
    c.fabric_latency_ns = number(chip, "fabric_latency_ns", &ok, error);
    if (ok && params->cluster_count + dies > MEM_CLUSTERS_MAX)
        ok = orch_fail(error, ORCH_USAGE, "chip %s: more than %d clusters with the GPU's", chip_id(chip), MEM_CLUSTERS_MAX);
    *first_cluster = params->cluster_count;
    for (unsigned die = 0; ok && die < dies; die++) {
        c.die = die;
        params->cluster[params->cluster_count++] = c;
    }
    return ok;
}

bool chip_gpu_port(const struct chip *chip, unsigned first_cluster, unsigned core, struct mem_port_params *params,
                   struct orch_error *error)
{
    unsigned dies = 1;
    double cores = 1;
    bool ok = read_dies(chip, &dies, &cores, error);
    memset(params, 0, sizeof *params);
    params->cluster = first_cluster + (ok && core >= cores / dies ? 1 : 0);
    params->l1.kib = (uint32_t)number(chip, "l1_kib", &ok, error);
    params->l1.ways = (uint32_t)number(chip, "l1_ways", &ok, error);
    params->l1.latency_cycles = number(chip, "l1_latency_cycles", &ok, error);
    params->l1.bytes_per_cycle = number(chip, "l1_bytes_per_cycle", &ok, error);
    params->l2_bytes_per_cycle = number(chip, "l2_port_bytes_per_cycle", &ok, error);
    params->outstanding = (uint32_t)number(chip, "outstanding", &ok, error);
    params->gather_lines = (uint32_t)number(chip, "gather_lines", &ok, error);
    params->gather_plain = true;
    params->write_through = true;
    params->prefetch.train = 1; /* unused: no streams */
    return ok;
}
