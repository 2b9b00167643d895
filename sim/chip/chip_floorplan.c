#include "sim/chip/chip_floorplan.h"

#include "power/floorplan_build.h"
#include "sim/chip/chip_power.h"
#include "sim/chip/chip_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MAX = 200, GPU_BLOCKS = 10 };

struct builder {
    struct chip_reader r; /* of the keys "area.*" */
    struct floorplan_area area[BLOCKS_MAX];
    struct chip_block block[BLOCKS_MAX];
    size_t count;
    double used_mm2;
    unsigned dies;
};

static double area(struct builder *b, const char *name)
{
    return chip_read(&b->r, name);
}

static void __attribute__((format(printf, 6, 7)))
add(struct builder *b, double mm2, enum power_domain domain, unsigned slice, bool sensor, const char *format, ...)
{
    va_list arguments;

    if (!b->r.ok || mm2 <= 0 || b->count == BLOCKS_MAX)
        return;
    va_start(arguments, format);
    vsnprintf(b->area[b->count].name, sizeof b->area[0].name, format, arguments);
    va_end(arguments);
    b->area[b->count].mm2 = mm2;
    b->block[b->count++] = (struct chip_block){.domain = domain, .slice = slice, .sensor = sensor};
    b->used_mm2 += mm2;
}

static unsigned per_die(const struct builder *b, unsigned slices)
{
    return slices > b->dies ? slices / b->dies : 1;
}

/* Adds the cores of one kind, cluster by cluster, each cluster with its L2. */
static void add_clusters(struct builder *b, const char *key, bool performance)
{
    const struct chip_value *const clusters = chip_value(b->r.chip, key);
    const enum power_domain domain = performance ? POWER_P_CPU : POWER_E_CPU;
    const char *const kind = performance ? "p" : "e";
    const double core = area(b, performance ? "p_core_mm2" : "e_core_mm2");
    const double l2 = area(b, performance ? "p_l2_mm2" : "e_l2_mm2");
    unsigned slice = 0;
    const size_t here = clusters && clusters->known ? clusters->count / b->dies : 0;

    for (size_t c = 0; c < (here ? here : 1); c++) {
        const unsigned cores = here ? (unsigned)clusters->list[c] : 4;
        for (unsigned i = 0; i < cores; i++)
            add(b, core, domain, slice++, true, "%s%zu_core%u", kind, c, i);
        add(b, l2, domain, UINT32_MAX, true, "%s%zu_l2", kind, c);
        if (performance)
            add(b, area(b, "p_amx_mm2"), POWER_AMX, (unsigned)c, true, "p%zu_amx", c);
    }
}

static void add_gpu(struct builder *b, unsigned cores)
{
    const double core = area(b, "gpu_core_mm2");
    /* Neighbouring cores of a large GPU share a block: they are equally warm, and a map of the die needs no more. */
    const unsigned group = (cores + GPU_BLOCKS - 1) / GPU_BLOCKS;

    for (unsigned i = 0; i < cores; i += group) {
        const unsigned here = cores - i < group ? cores - i : group;
        if (i <= cores / 2 && cores / 2 < i + group)
            add(b, core * cores * area(b, "gpu_shared_share"), POWER_GPU, UINT32_MAX, true, "gpu_shared");
        add(b, core * here, POWER_GPU, i, true, "gpu_core%u", i);
    }
}

static void add_memory(struct builder *b, unsigned channels, bool first_half)
{
    const unsigned half = (channels + 1) / 2;

    for (unsigned i = first_half ? 0 : half; i < (first_half ? half : channels); i++)
        add(b, area(b, "dram_phy_mm2"), POWER_DRAM, i, false, "dram_phy%u", i);
}

static void add_all(struct builder *b, const unsigned slices[POWER_DOMAIN_COUNT])
{
    const unsigned buses = per_die(b, slices[POWER_SLC]);

    add_memory(b, buses, true);
    add_clusters(b, "p_clusters", true);
    add_clusters(b, "e_clusters", false);
    for (unsigned i = 0; i < buses; i++)
        add(b, area(b, "slc_mm2"), POWER_SLC, i, true, "slc%u", i);
    add(b, area(b, "ane_mm2"), POWER_ANE, UINT32_MAX, true, "ane");
    add_gpu(b, per_die(b, slices[POWER_GPU]));
    add_memory(b, buses, false);
    /* What is left: fabric, display, media, I/O. */
    const double die = area(b, "die_mm2"), rest = die - b->used_mm2;
    if (b->r.ok && rest < 0.05 * die) {
        b->r.ok = orch_fail(b->r.error, ORCH_USAGE,
                            "chip %s: the blocks cover %.1f of %.1f mm2 of the die and leave nothing for fabric and I/O",
                            chip_id(b->r.chip), b->used_mm2, die);
        return;
    }
    add(b, rest * 0.3, POWER_FABRIC, UINT32_MAX, true, "fabric");
    add(b, rest * 0.4, POWER_SOC, UINT32_MAX, true, "soc");
    add(b, rest * 0.3, POWER_SOC, UINT32_MAX, false, "io");
}

bool chip_floorplan(const struct chip *chip, struct chip_floorplan *floorplan, struct orch_error *error)
{
    unsigned slices[POWER_DOMAIN_COUNT];
    struct power_error why;
    double dies;
    struct builder *const b = calloc(1, sizeof *b);

    memset(floorplan, 0, sizeof *floorplan);
    if (!b)
        return orch_no_memory(error);
    *b = (struct builder){.r = chip_reader_start(chip, "area.", 1, error), .dies = 1};
    b->r.ok = chip_power_slices(chip, slices, error) && chip_number(chip, "dies", &dies, error);
    if (b->r.ok) {
        b->dies = dies > 1 ? 2 : 1;
        add_all(b, slices);
    }
    const double aspect = area(b, "die_aspect");
    bool ok = b->r.ok;
    if (ok && !floorplan_build(b->area, b->count, aspect, &floorplan->plan, &why))
        ok = orch_fail(error, ORCH_USAGE, "chip %s: %.240s", chip_id(chip), why.text);
    if (ok) {
        floorplan->dies = b->dies;
        floorplan->block = calloc(b->count, sizeof *floorplan->block);
        ok = floorplan->block != NULL || orch_no_memory(error);
    }
    if (ok)
        memcpy(floorplan->block, b->block, b->count * sizeof *b->block);
    else
        chip_floorplan_free(floorplan);
    free(b);
    return ok;
}

void chip_floorplan_free(struct chip_floorplan *floorplan)
{
    floorplan_free(&floorplan->plan);
    free(floorplan->block);
    memset(floorplan, 0, sizeof *floorplan);
}

static double block_mm2(const struct chip_floorplan *f, size_t block)
{
    return 1e6 * f->plan.block[block].width_m * f->plan.block[block].height_m;
}

void chip_floorplan_spread(const struct chip_floorplan *f, const double domain_w[POWER_DOMAIN_COUNT],
                           const unsigned busy_slices[POWER_DOMAIN_COUNT], double *watts)
{
    double total[POWER_DOMAIN_COUNT] = {0};

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < f->plan.count; i++) {
            const struct chip_block *const b = &f->block[i];
            const unsigned busy = busy_slices[b->domain] / f->dies;
            const bool takes = b->slice == UINT32_MAX || busy == 0 || b->slice < busy;
            if (pass == 0)
                total[b->domain] += takes ? block_mm2(f, i) : 0;
            else
                watts[i] = takes && total[b->domain] > 0 ? domain_w[b->domain] / f->dies * block_mm2(f, i) / total[b->domain] : 0;
        }
}
