/* The GPU: its cores, and its way to memory. */
#include "sim/chip/chip_reader.h"
#include "sim/chip/chip_units.h"

#include <string.h>

bool chip_gpu_generation(const struct chip *chip, enum gpu_generation *generation, struct orch_error *error)
{
    static const enum gpu_generation generations[] = {GPU_G13, GPU_G14, GPU_G15, GPU_G15};
    unsigned number;
    if (!chip_generation(chip, "GPU", &number, error))
        return false;
    *generation = generations[number];
    return true;
}

static void read_cost(struct chip_reader *r, const char *prefix, struct gpu_cost *to)
{
    r->prefix = prefix;
#define X(class, ...) FILL_FIELD(__VA_ARGS__)
    GPU_COST_PARAMS(X, )
#undef X
}

bool chip_gpu_params(const struct chip *chip, struct gpu_params *to, struct orch_error *error)
{
    struct chip_reader reader = chip_reader_start(chip, "gpu.", 1, error), *const r = &reader;
    memset(to, 0, sizeof *to);
    GPU_PARAMS(FILL_FIELD)
#define X(enumerator, name) read_cost(r, "gpu." #name ".", &to->cost[GPU_COST_##enumerator]);
    GPU_COST_TABLE(X)
#undef X
    return r->ok;
}

static bool read_dies(const struct chip *chip, unsigned *dies, double *cores, struct orch_error *error)
{
    double value = 1;
    if (!chip_number(chip, "dies", &value, error) || !chip_number(chip, "gpu.cores", cores, error))
        return false;
    *dies = value > 1 ? 2 : 1;
    return true;
}

/* Reads the L2 that `cores` cores share on one of `dies` dies. */
static void read_cluster(struct chip_reader *r, double cores, unsigned dies, struct mem_cluster_params *to)
{
    to->clock_ghz = chip_read(r, "clock_ghz");
    to->l2.kib = (uint32_t)(chip_read(r, "l2_kib") / dies);
    MEM_GPU_PARAMS(PARAM_NONE, FILL_MEMBER, PARAM_NONE)
    to->l2.bytes_per_cycle = chip_read(r, "l2_port_bytes_per_cycle") * cores;
    to->l2_outstanding = (uint32_t)(chip_read(r, "l2_outstanding") * cores);
    to->fabric_gbps = chip_read(r, "fabric_bytes_per_cycle") * to->clock_ghz * cores;
}

bool chip_gpu_memory(const struct chip *chip, struct mem_params *params, unsigned *first_cluster, struct orch_error *error)
{
    unsigned dies = 1;
    double cores = 0;
    struct mem_cluster_params c = {0};
    if (!read_dies(chip, &dies, &cores, error))
        return false;
    struct chip_reader r = chip_reader_start(chip, "gpu.", 1, error);
    read_cluster(&r, cores / dies, dies, &c);
    if (r.ok && params->cluster_count + dies > MEM_CLUSTERS_MAX)
        r.ok = orch_fail(error, ORCH_USAGE, "chip %s: more than %d clusters with the GPU's", chip_id(chip), MEM_CLUSTERS_MAX);
    *first_cluster = params->cluster_count;
    for (unsigned die = 0; r.ok && die < dies; die++) {
        c.die = die;
        params->cluster[params->cluster_count++] = c;
    }
    return r.ok;
}

bool chip_gpu_port(const struct chip *chip, unsigned first_cluster, unsigned core, struct mem_port_params *to,
                   struct orch_error *error)
{
    struct chip_reader reader = chip_reader_start(chip, "gpu.", 1, error), *const r = &reader;
    unsigned dies = 1;
    double cores = 1;
    memset(to, 0, sizeof *to);
    r->ok = read_dies(chip, &dies, &cores, error);
    to->cluster = first_cluster + (r->ok && core >= cores / dies ? 1 : 0);
    MEM_GPU_PARAMS(FILL_MEMBER, PARAM_NONE, PARAM_NONE)
    to->l1.bytes_per_cycle = chip_read(r, "l1_bytes_per_cycle");
    to->gather_plain = true;
    to->write_through = true;
    to->prefetch.train = 1; /* not used, because there are no streams */
    return r->ok;
}
