/* Relations between values, as the files give them. A value that the user supposes may break a relation with a published one, but
 * it may not describe a machine that cannot be put together. */
#include "isa/array_count.h"
#include "sim/chip/chip_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct relation {
    const char *keys[4]; /* the relation is checked when all are known; NULL ends the list */
    bool structural;     /* it holds for supposed values, too */
    bool (*holds)(const struct chip *chip);
    const char *text;
};

static const struct chip_value *get(const struct chip *chip, const char *key)
{
    return &chip_slot_of(chip, key)->value;
}

static double number(const struct chip *chip, const char *key)
{
    return get(chip, key)->number;
}

static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fabs(b);
}

static double sum(const struct chip_value *list)
{
    double total = 0;
    for (size_t i = 0; i < list->count; i++)
        total += list->list[i];
    return total;
}

static bool p_clusters_add_up(const struct chip *chip)
{
    return sum(get(chip, "p_clusters")) == number(chip, "p_cores");
}

static bool e_clusters_add_up(const struct chip *chip)
{
    return sum(get(chip, "e_clusters")) == number(chip, "e_cores");
}

static bool clusters_fit_dies(const struct chip *chip)
{
    const size_t dies = (size_t)number(chip, "dies"), p = get(chip, "p_clusters")->count, e = get(chip, "e_clusters")->count;
    return p % dies == 0 && e % dies == 0 && p + e <= 8;
}

static bool blocks_match_clusters(const struct chip *chip)
{
    return number(chip, "amx_blocks_p") <= (double)get(chip, "p_clusters")->count &&
           number(chip, "amx_blocks_e") <= (double)get(chip, "e_clusters")->count;
}

/* Nominal bandwidths are printed with three digits. */
static bool peak_is_bus_times_rate(const struct chip *chip)
{
    const char *dash = strrchr(get(chip, "memory_type")->json, '-');
    const double rate = dash ? strtod(dash + 1, NULL) : 0;
    return near(number(chip, "memory_peak_GBps"), number(chip, "memory_bus_bits") / 8 * rate / 1000, 0.002);
}

static bool gpu_peak_is_product(const struct chip *chip)
{
    const double flop = number(chip, "gpu_cores") * number(chip, "gpu_f32_flop_per_cycle_per_core");
    return near(number(chip, "gpu_peak_f32_gflops"), flop * number(chip, "gpu_max_mhz") / 1000, 0.001);
}

static bool cpu_peak_is_product(const struct chip *chip, const char *peak, const char *fma, const char *mhz)
{
    const double flop = 2 * number(chip, fma) * number(chip, "neon_width_bits") / 32;
    return near(number(chip, peak), flop * number(chip, mhz) / 1000, 0.002);
}

static bool p_peak_is_product(const struct chip *chip)
{
    return cpu_peak_is_product(chip, "p_peak_f32_gflops_per_core", "neon_fma_per_cycle_p", "p_max_mhz");
}

static bool e_peak_is_product(const struct chip *chip)
{
    return cpu_peak_is_product(chip, "e_peak_f32_gflops_per_core", "neon_fma_per_cycle_e", "e_max_mhz");
}

/* The states rise, and the last one is the highest clock. */
static bool states_end_at(const struct chip *chip, const char *table, const char *highest)
{
    double last = 0, mhz = 0;
    for (size_t i = 0; i < get(chip, table)->count; i++, last = mhz)
        if (!chip_table_number(chip, table, i, "mhz", &mhz) || mhz <= last)
            return false;
    return mhz == number(chip, highest);
}

static bool p_states_end_at_max(const struct chip *chip)
{
    return states_end_at(chip, "p_opp_table", "p_max_mhz");
}

static bool e_states_end_at_max(const struct chip *chip)
{
    return states_end_at(chip, "e_opp_table", "e_max_mhz");
}

/* The clock of M3 GPUs is disputed: lists end at 1338 MHz, other sources say 1380 and 1398. */
static bool gpu_states_reach_max(const struct chip *chip)
{
    double mhz = 0;
    const size_t rows = get(chip, "gpu_states")->count;
    return chip_table_number(chip, "gpu_states", rows - 1, "mhz", &mhz) &&
           near(mhz, number(chip, "gpu_max_mhz"), get(chip, "gpu_max_mhz")->kind == CHIP_GUESS ? 0.05 : 0.0001);
}

static bool clocks_fall_with_cores(const struct chip *chip)
{
    const struct chip_value *clock = get(chip, "cpu_p.clock_ghz");
    for (size_t i = 1; i < clock->count; i++)
        if (clock->list[i] > clock->list[i - 1])
            return false;
    return clock->list[0] * 1000 <= number(chip, "p_max_mhz") * (1 + 1e-9);
}

static bool slc_fits_controllers(const struct chip *chip)
{
    return fmod(number(chip, "slc_MB"), number(chip, "slc_controllers")) == 0 &&
           fmod(number(chip, "memory_bus_bits"), 16 * number(chip, "slc_controllers")) == 0;
}

static bool slc_fits_dies(const struct chip *chip)
{
    return fmod(number(chip, "slc_MB"), number(chip, "dies")) == 0;
}

static bool gpu_cores_fit_clusters(const struct chip *chip)
{
    double clusters = 0, cores = 0;
    return chip_map_number(chip, "gpu_clusters", "clusters", &clusters) &&
           chip_map_number(chip, "gpu_clusters", "cores_per_cluster_full", &cores) &&
           number(chip, "gpu_cores") <= clusters * cores;
}

static bool link_needs_two_dies(const struct chip *chip)
{
    return number(chip, "dies") == 2;
}

static bool amx_below_cpu(const struct chip *chip)
{
    return number(chip, "amx.clock_ghz") * 1000 <= number(chip, "p_max_mhz");
}

/* clang-format off */
static const struct relation relations[] = {
    {{"p_cores", "p_clusters"}, true, p_clusters_add_up, "the clusters must add up to the cores"},
    {{"e_cores", "e_clusters"}, true, e_clusters_add_up, "the clusters must add up to the cores"},
    {{"dies", "p_clusters", "e_clusters"}, true, clusters_fit_dies,
     "dies must have equally many clusters, at most 8 in all"},
    {{"amx_blocks_p", "p_clusters", "amx_blocks_e", "e_clusters"}, true, blocks_match_clusters,
     "a cluster has at most one AMX block"},
    {{"memory_peak_GBps", "memory_bus_bits", "memory_type"}, false, peak_is_bus_times_rate,
     "the peak must be bus width x transfer rate"},
    {{"gpu_peak_f32_gflops", "gpu_cores", "gpu_f32_flop_per_cycle_per_core", "gpu_max_mhz"}, false,
     gpu_peak_is_product, "the peak must be cores x operations per cycle x clock"},
    {{"p_peak_f32_gflops_per_core", "neon_fma_per_cycle_p", "neon_width_bits", "p_max_mhz"}, false,
     p_peak_is_product, "the peak must be 2 x FMA per cycle x lanes x clock"},
    {{"e_peak_f32_gflops_per_core", "neon_fma_per_cycle_e", "neon_width_bits", "e_max_mhz"}, false,
     e_peak_is_product, "the peak must be 2 x FMA per cycle x lanes x clock"},
    {{"p_opp_table", "p_max_mhz"}, false, p_states_end_at_max, "the states must rise to the highest clock"},
    {{"e_opp_table", "e_max_mhz"}, false, e_states_end_at_max, "the states must rise to the highest clock"},
    {{"gpu_states", "gpu_max_mhz"}, false, gpu_states_reach_max, "the states must rise to the highest clock"},
    {{"cpu_p.clock_ghz", "p_max_mhz"}, false, clocks_fall_with_cores,
     "the clock must not rise with the number of active cores nor pass the highest clock"},
    {{"amx.clock_ghz", "p_max_mhz"}, false, amx_below_cpu, "an AMX block is not faster than its cores"},
    {{"slc_MB", "slc_controllers", "memory_bus_bits"}, false, slc_fits_controllers,
     "cache and bus must divide evenly over the controllers"},
    {{"slc_MB", "dies"}, false, slc_fits_dies, "the cache must divide evenly over the dies"},
    {{"gpu_cores", "gpu_clusters"}, false, gpu_cores_fit_clusters, "the cores must fit into the clusters"},
    {{"ultrafusion_TBps", "dies"}, false, link_needs_two_dies, "a link needs two dies"},
};
/* clang-format on */

static bool applies(const struct relation *r, const struct chip *chip)
{
    for (size_t i = 0; i < 4 && r->keys[i]; i++) {
        const struct chip_slot *slot = chip_slot_of(chip, r->keys[i]);
        if (!slot->value.known || (!r->structural && chip_slot_overridden(slot)))
            return false;
    }
    return true;
}

/* A relation between a supposed value and one derived from it holds by construction; one between a derived value and
 * a published table need not. */
static bool derived_from_override(const struct relation *r, const struct chip *chip)
{
    for (size_t i = 0; i < 4 && r->keys[i]; i++)
        if (chip->modified && strcmp(chip_slot_of(chip, r->keys[i])->value.origin, "derived") == 0)
            return true;
    return false;
}

bool chip_check(const struct chip *chip, struct orch_error *error)
{
    for (size_t i = 0; i < ARRAY_COUNT(relations); i++) {
        const struct relation *r = &relations[i];
        if (!applies(r, chip) || (!r->structural && derived_from_override(r, chip)) || r->holds(chip))
            continue;
        const struct chip_value *a = get(chip, r->keys[0]), *b = get(chip, r->keys[1]);
        return orch_fail(error, ORCH_USAGE, "chip %s: %s = %.60s (%s) and %s = %.60s (%s): %s", chip->base->id, r->keys[0],
                         a->json, a->origin, r->keys[1], b->json, b->origin, r->text);
    }
    return true;
}
