/* Values that follow from others. A value is computed when no file gives it, and computed again when one of its inputs was
 * overridden: a chip with ten more GPU cores has a higher peak. An override of the value itself always wins. */
#include "isa/array_count.h"
#include "sim/chip/chip_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct derivation {
    struct chip *chip;
    const struct chip_slot *plain; /* the values without overrides */
    struct orch_error *error;
};

static const struct chip_value *get(const struct derivation *d, const char *key)
{
    return &chip_slot_of(d->chip, key)->value;
}

static bool overridden(const struct derivation *d, const char *key)
{
    return chip_slot_overridden(chip_slot_of(d->chip, key));
}

/* Whether the target is to be computed from the inputs: up to three keys, NULL ends the list. */
static bool wanted(const struct derivation *d, const char *target, const char *const inputs[3])
{
    if (overridden(d, target))
        return false;
    bool changed = false, complete = true;
    for (int i = 0; i < 3 && inputs[i]; i++) {
        changed |= overridden(d, inputs[i]);
        complete &= get(d, inputs[i])->known;
    }
    const struct chip_value *value = get(d, target);
    const bool given = value->known || value->source[0];
    return complete && (changed || !given);
}

/* Sets the target to the value, which it takes over. It is as certain as its least certain input and has the source of that. */
static bool set(struct derivation *d, const char *target, json_object *made, const char *const inputs[3])
{
    const struct chip_value *weakest = get(d, inputs[0]);
    double variance = 0;
    for (int i = 0; i < 3 && inputs[i]; i++) {
        const struct chip_value *input = get(d, inputs[i]);
        variance += input->uncertainty * input->uncertainty;
        if (input->kind > weakest->kind)
            weakest = input;
    }
    char note[160];
    snprintf(note, sizeof note, "from %s%s%s%s%s", inputs[0], inputs[1] ? ", " : "", inputs[1] ? inputs[1] : "",
             inputs[1] && inputs[2] ? ", " : "", inputs[1] && inputs[2] ? inputs[2] : "");
    struct chip_slot fresh = {0}, *slot = chip_slot_of(d->chip, target);
    char place[200];
    snprintf(place, sizeof place, "chip %s, derived %s", d->chip->base->id, target);
    struct json_reader r = json_reader_of(place, made, d->error);
    const struct json_node value = json_top(&r);
    chip_slot_set(&fresh, slot->value.key, &value);
    if (!json_reader_close(&r)) {
        chip_slot_clear(&fresh);
        return false;
    }
    chip_slot_describe(&fresh, weakest->kind, sqrt(variance), weakest->source, note, "derived");
    chip_slot_clear(slot);
    *slot = fresh;
    return true;
}

/* Rounds to ten digits, because products of decimal figures are not worth more. */
static json_object *new_number(double number)
{
    char text[32];
    snprintf(text, sizeof text, "%.10g", number);
    return json_object_new_double_s(strtod(text, NULL), text);
}

static bool set_number(struct derivation *d, const char *target, double number, const char *const inputs[3])
{
    return set(d, target, new_number(number), inputs);
}

/* Spreads `cores` over `clusters` as evenly as possible, larger clusters first. */
static json_object *spread(unsigned cores, unsigned clusters)
{
    json_object *list = json_object_new_array();
    if (clusters > cores)
        clusters = cores;
    for (unsigned i = 0; i < clusters; i++)
        json_object_array_add(list, json_object_new_int((int)(cores / clusters + (i < cores % clusters))));
    return list;
}

static bool derive_clusters(struct derivation *d, const char *cores, const char *clusters, const char *blocks)
{
    const char *const from_cores[3] = {cores}, *const from_clusters[3] = {clusters};
    const struct chip_value *list = get(d, clusters);
    if (overridden(d, cores) && !overridden(d, clusters) && list->known &&
        !set(d, clusters, spread((unsigned)get(d, cores)->number, (unsigned)list->count), from_cores))
        return false;
    list = get(d, clusters);
    if (overridden(d, clusters) && !overridden(d, cores)) {
        double sum = 0;
        for (size_t i = 0; i < list->count; i++)
            sum += list->list[i];
        if (!set_number(d, cores, sum, from_clusters))
            return false;
    }
    const bool changed = overridden(d, clusters) || overridden(d, cores);
    return !changed || overridden(d, blocks) || !list->known || set_number(d, blocks, (double)list->count, from_clusters);
}

/* "LPDDR5-6400" has a rate of 6400 MT/s. */
static double transfer_rate(const char *memory_type)
{
    const char *dash = strrchr(memory_type, '-');
    return dash ? strtod(dash + 1, NULL) : 0;
}

static bool derive_memory(struct derivation *d)
{
    static const char *const peak[3] = {"memory_bus_bits", "memory_type"}, *const bus[3] = {"memory_bus_bits"};
    const double bits = get(d, "memory_bus_bits")->number;
    if (wanted(d, "memory_peak_GBps", peak) &&
        !set_number(d, "memory_peak_GBps", bits / 8 * transfer_rate(get(d, "memory_type")->json) / 1000, peak))
        return false;
    /* LPDDR channels are 16 bits wide. */
    if (wanted(d, "dram.channels", bus) && !set_number(d, "dram.channels", bits / 16, bus))
        return false;
    /* One rank for each channel: what a channel holds is the density of its chip. */
    static const char *const size[3] = {"memory_options_GB", "dram.channels"}, *const given[3] = {"memory_GB", "dram.channels"};
    const struct chip_value *const memory = get(d, "memory_GB");
    if (memory->known)
        return !wanted(d, "dram.density", given) ||
               set_number(d, "dram.density", 8 * memory->number / get(d, "dram.channels")->number, given);
    const struct chip_value *options = get(d, "memory_options_GB");
    double least = options->known && options->count ? options->list[0] : 0;
    for (size_t i = 1; options->known && i < options->count; i++)
        least = options->list[i] < least ? options->list[i] : least;
    return !wanted(d, "dram.density", size) || set_number(d, "dram.density", 8 * least / get(d, "dram.channels")->number, size);
}

static bool derive_peaks(struct derivation *d)
{
    static const char *const gpu[3] = {"gpu_cores", "gpu_f32_flop_per_cycle_per_core", "gpu_max_mhz"};
    if (wanted(d, "gpu_peak_f32_gflops", gpu) &&
        !set_number(d, "gpu_peak_f32_gflops", get(d, gpu[0])->number * get(d, gpu[1])->number * get(d, gpu[2])->number / 1000,
                    gpu))
        return false;
    static const struct {
        const char *target, *inputs[3];
    } cpu[] = {{"p_peak_f32_gflops_per_core", {"neon_fma_per_cycle_p", "neon_width_bits", "p_max_mhz"}},
               {"e_peak_f32_gflops_per_core", {"neon_fma_per_cycle_e", "neon_width_bits", "e_max_mhz"}}};
    for (int i = 0; i < 2; i++)
        if (wanted(d, cpu[i].target, cpu[i].inputs) &&
            !set_number(d, cpu[i].target,
                        2 * get(d, cpu[i].inputs[0])->number * get(d, cpu[i].inputs[1])->number / 32 *
                            get(d, cpu[i].inputs[2])->number / 1000,
                        cpu[i].inputs))
            return false;
    return true;
}

/* The clock with n active cores: the entry "n", else the next larger entry, else the entry "all". */
static double mhz_with(const struct derivation *d, unsigned n, unsigned largest)
{
    double mhz;
    for (; n <= largest; n++) {
        char name[12];
        snprintf(name, sizeof name, "%u", n);
        if (chip_map_number(d->chip, "p_mhz_by_active_cores", name, &mhz))
            return mhz;
    }
    if (chip_map_number(d->chip, "p_mhz_by_active_cores", "all", &mhz))
        return mhz;
    return get(d, "p_max_mhz")->number;
}

static bool derive_p_clock(struct derivation *d)
{
    static const char *const from_max[3] = {"p_max_mhz"}, *const from_table[3] = {"p_mhz_by_active_cores", "p_max_mhz"};
    const char *const *inputs = get(d, "p_mhz_by_active_cores")->known ? from_table : from_max;
    if (!wanted(d, "cpu_p.clock_ghz", inputs))
        return true;
    const size_t index = (size_t)(chip_slot_of(d->chip, "p_max_mhz") - d->chip->slot);
    const struct chip_value *plain = &d->plain[index].value, *clusters = get(d, "p_clusters");
    /* A supposed highest clock moves the whole table unless the table was supposed as well. */
    const bool scale = overridden(d, "p_max_mhz") && !overridden(d, "p_mhz_by_active_cores") && plain->known;
    const double factor = scale && inputs == from_table ? get(d, "p_max_mhz")->number / plain->number : 1;
    unsigned largest = 1;
    for (size_t i = 0; i < clusters->count; i++)
        largest = clusters->list[i] > largest ? (unsigned)clusters->list[i] : largest;
    json_object *list = json_object_new_array();
    for (unsigned n = 1; n <= largest; n++)
        json_object_array_add(list, new_number(mhz_with(d, n, largest) * factor / 1000));
    return set(d, "cpu_p.clock_ghz", list, inputs);
}

static bool derive_rest(struct derivation *d)
{
    static const char *const e_max[3] = {"e_max_mhz"}, *const link[3] = {"ultrafusion_TBps"};
    if (wanted(d, "cpu_e.clock_ghz", e_max) && !set_number(d, "cpu_e.clock_ghz", get(d, "e_max_mhz")->number / 1000, e_max))
        return false;
    /* The advertised figure is taken to count both directions. Apple does not say; this is a guess. */
    return !wanted(d, "mem.die_link_gbps", link) ||
           set_number(d, "mem.die_link_gbps", get(d, "ultrafusion_TBps")->number * 1000 / 2, link);
}

/* Parameters of the GPU that are characteristics of the chip in other units of measure. */
static bool derive_gpu(struct derivation *d)
{
    static const struct {
        const char *target, *inputs[3];
        double factor;
    } rows[] = {{"gpu.clock_ghz", {"gpu_max_mhz"}, 0.001},
                {"gpu.cores", {"gpu_cores"}, 1},
                {"gpu.register_file_bytes", {"gpu_register_file_kB_per_core"}, 1024},
                {"gpu.threadgroup_memory_bytes", {"gpu_threadgroup_mem_kB_per_core"}, 1024},
                {"gpu.instruction_cache_bytes", {"gpu_icache_kB_per_core"}, 1024},
                {"gpu.l1_kib", {"gpu_l1d_kB_per_core"}, 1},
                {"gpu.l2_kib", {"gpu_l2_kB"}, 1}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (wanted(d, rows[i].target, rows[i].inputs) &&
            !set_number(d, rows[i].target, get(d, rows[i].inputs[0])->number * rows[i].factor, rows[i].inputs))
            return false;
    return true;
}

/* One Neural Engine has 16 of the cores that Apple counts. */
static bool derive_ane(struct derivation *d)
{
    static const char *const cores[3] = {"ane_cores"};
    return !wanted(d, "ane.units", cores) || set_number(d, "ane.units", get(d, "ane_cores")->number / 16, cores);
}

bool chip_derive(struct chip *chip, const struct chip_slot *before_overrides, struct orch_error *error)
{
    struct derivation d = {chip, before_overrides, error};
    return derive_clusters(&d, "p_cores", "p_clusters", "amx_blocks_p") &&
           derive_clusters(&d, "e_cores", "e_clusters", "amx_blocks_e") && derive_memory(&d) && derive_peaks(&d) &&
           derive_p_clock(&d) && derive_rest(&d) && derive_gpu(&d) && derive_ane(&d);
}
