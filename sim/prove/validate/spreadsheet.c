#include "sim/prove/validate/spreadsheet.h"

#include "isa/array_count.h"
#include "sim/prove/validate/plan_launch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- work ---- */

bool spreadsheet_work(const struct validate_row *row, const struct validate_program *p, struct spreadsheet_work *work)
{
    *work = (struct spreadsheet_work){strtod(validate_cell(row, "flop"), NULL), strtod(validate_cell(row, "min_bytes"), NULL)};
    if (work->flop > 0 || work->bytes > 0)
        return true;
    bool ok = p->launches || *p->workload;
    if (*p->workload)
        ok = spreadsheet_kernel(p->workload, p->precision, 1, work);
    for (unsigned i = 0; ok && i < p->launches; i++)
        ok = spreadsheet_kernel(p->launch[i].workload, p->launch[i].precision, p->launch[i].times, work);
    return ok;
}

/* ---- peaks ---- */

static double number(const struct chip *chip, const char *key)
{
    const struct chip_value *const v = chip_value(chip, key);
    return v && v->known ? v->number : 0;
}

/* The type that a row computes in: stated, or named by its instruction. */
static const char *type_of(const struct validate_row *row, const struct validate_program *p)
{
    static const char *const names[][2] = {{"f64", "f64"},  {"fma64", "f64"}, {"FMLAL", "f16"}, {"i8", "i8"},
                                           {"int8", "i8"},  {"bf16", "f16"},  {"f16", "f16"},   {"fma16", "f16"},
                                           {"fp16", "f16"}, {"mac16", "i16"}, {"int16", "i16"}, {"i16", "i16"}};
    const char *const stated = p->launches                        ? p->launch[0].precision
                               : *p->precision                    ? p->precision
                               : *validate_cell(row, "precision") ? validate_cell(row, "precision")
                                                                  : row->what;
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (strstr(stated, names[i][0]))
            return names[i][1];
    return "f32";
}

/* A block of a P cluster at the highest clock of its cores; rows of E cores count their blocks alike. The figure is that of outer
 * products. */
static double amx_peak(const struct chip *chip, const struct validate_row *row, const struct validate_program *p,
                       const char *type)
{
    const bool e = p->core == VALIDATE_E_CORE;
    const double all = number(chip, e ? "amx_blocks_e" : "amx_blocks_p"), mhz = number(chip, e ? "e_max_mhz" : "p_max_mhz");
    const double blocks = p->threads && p->threads < all ? p->threads : all;
    double fma = 0;
    if (strstr(row->what, "vecfp") || strstr(row->what, "vector") || row->what[0] == '\0')
        return 0;
    return chip_map_number(chip, "amx_fma_per_cycle_per_p_block", type[1] == '1' ? "f16" : type, &fma) ? 2e6 * fma * mhz * blocks
                                                                                                       : 0;
}

static double cpu_peak(const struct chip *chip, const struct validate_program *p, const char *type)
{
    const double scale = strcmp(type, "f64") == 0 ? 0.5 : strcmp(type, "f16") == 0 ? 2 : strcmp(type, "i8") == 0 ? 4 : 1;
    const double one_p = number(chip, "p_peak_f32_gflops_per_core"), one_e = number(chip, "e_peak_f32_gflops_per_core");
    double p_cores = number(chip, "p_cores"), e_cores = number(chip, "e_cores");
    if (p->core == VALIDATE_E_CORE)
        p_cores = 0;
    if (p->core == VALIDATE_P_CORE || (p->threads && p->threads <= p_cores))
        e_cores = 0;
    if (p->threads)
        p_cores = fmin(p_cores, p->threads);
    return 1e9 * scale * (p_cores * one_p + e_cores * one_e);
}

static double gpu_peak(const struct chip *chip, const char *type)
{
    const double f32 = number(chip, "gpu_f32_flop_per_cycle_per_core"), f16 = number(chip, "gpu_f16_flop_per_cycle_per_core");
    const double peak = 1e9 * number(chip, "gpu_peak_f32_gflops");
    return strcmp(type, "f16") == 0 && f32 > 0 && f16 > 0 ? peak * f16 / f32 : peak;
}

struct spreadsheet_peaks spreadsheet_peaks(const struct chip *chip, const struct validate_row *row,
                                           const struct validate_program *p)
{
    const char *const type = type_of(row, p), *const part = row->part;
    return (struct spreadsheet_peaks){.flops = strcmp(part, "gpu") == 0   ? gpu_peak(chip, type)
                                               : strcmp(part, "amx") == 0 ? amx_peak(chip, row, p, type)
                                               : strcmp(part, "cpu") == 0 ? cpu_peak(chip, p, type)
                                               : strcmp(part, "ane") == 0 ? 1e12 * number(chip, "ane_tops")
                                                                          : 0,
                                      .bytes_per_s = 1e9 * SPREADSHEET_BANDWIDTH_SHARE * number(chip, "memory_peak_GBps")};
}

/* ---- the row ---- */

double spreadsheet_seconds(const struct spreadsheet_work *w, const struct spreadsheet_peaks *peaks)
{
    if ((w->flop > 0 && peaks->flops <= 0) || (w->bytes > 0 && peaks->bytes_per_s <= 0))
        return 0;
    return fmax(w->flop > 0 ? w->flop / peaks->flops : 0, w->bytes > 0 ? w->bytes / peaks->bytes_per_s : 0);
}

/* Units, and what a spreadsheet puts into their cells. */
enum quantity { NOTHING, TIME, FLOP_RATE, BYTE_RATE, WORK_RATE };
struct unit {
    const char *name;
    enum quantity quantity;
    double size; /* seconds, or operations or bytes per second, of one */
};

static struct unit unit_of(const struct validate_row *row)
{
    static const struct unit units[] = {
        {"s", TIME, 1},           {"ms", TIME, 1e-3},          {"us", TIME, 1e-6},        {"GFLOPS", FLOP_RATE, 1e9},
        {"GOPS", FLOP_RATE, 1e9}, {"TFLOPS", FLOP_RATE, 1e12}, {"TOPS", FLOP_RATE, 1e12}, {"GMAC/s", FLOP_RATE, 2e9},
        {"GB/s", BYTE_RATE, 1e9}, {"tokens/s", WORK_RATE, 1},  {"MLUP/s", WORK_RATE, 1e6}};
    for (size_t i = 0; i < ARRAY_COUNT(units); i++)
        if (strcmp(units[i].name, row->unit) == 0)
            return units[i];
    return (struct unit){"", NOTHING, 0};
}

double spreadsheet_value(const struct chip *chip, const struct validate_row *row, const struct validate_program *p,
                         double overhead_s)
{
    const struct unit unit = unit_of(row);
    struct spreadsheet_work w;
    if (p->power || p->slope || (p->idle_seconds > 0 && !p->burst.buffers) || p->measure == VALIDATE_RATIO ||
        strcmp(row->work, "latency") == 0)
        return 0;
    const struct spreadsheet_peaks peaks = spreadsheet_peaks(chip, row, p);
    const bool sized = spreadsheet_work(row, p, &w);
    const double seconds = sized ? spreadsheet_seconds(&w, &peaks) : 0;
    switch (unit.quantity) {
    case NOTHING: return 0;
    case TIME: return seconds > 0 ? (seconds + overhead_s) / unit.size : 0;
    case WORK_RATE: { /* the figures of the table are those of one token, the overhead is that of all */
        const double each_s = p->measure == VALIDATE_RATE && p->work > 0 ? 1e9 * overhead_s / p->work : overhead_s;
        return seconds > 0 ? 1 / (seconds + each_s) / unit.size : 0;
    }
    case FLOP_RATE:
        return seconds > 0 && w.flop > 0 ? w.flop / (seconds + overhead_s) / unit.size : sized ? 0 : peaks.flops / unit.size;
    case BYTE_RATE: /* neither caches nor some of the cores have a published rate; ggml counts a copied byte once */
        if (strcmp(row->work, "cache") == 0 || (p->code && p->threads))
            return 0;
        if (strncmp(row->what, "memcpy", 6) == 0)
            return 0.5 * peaks.bytes_per_s / unit.size;
        return seconds > 0 && w.bytes > 0 ? w.bytes / (seconds + overhead_s) / unit.size : peaks.bytes_per_s / unit.size;
    }
    return 0;
}
