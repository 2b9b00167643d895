#include "sim/chip/chip_peaks.h"
#include "isa/array_count.h"
#include "sim/chip/chip_units.h"

#include <math.h>
#include <string.h>
#include <stdarg.h>
#include <stdio.h>

static struct chip_peak *add(struct chip_peaks *out, const char *unit, const char *precision, const char *measure, double value,
                             const char *format, ...) __attribute__((format(printf, 6, 7)));

static struct chip_peak *add(struct chip_peaks *out, const char *unit, const char *precision, const char *measure, double value,
                             const char *format, ...)
{
    if (out->count == CHIP_PEAKS_MAX)
        return NULL;
    struct chip_peak *peak = &out->peak[out->count++];
    *peak = (struct chip_peak){.unit = unit, .precision = precision, .measure = measure, .value = value, .supported = value > 0};
    va_list args;
    va_start(args, format);
    vsnprintf(peak->formula, sizeof peak->formula, format, args);
    va_end(args);
    return peak;
}

/* Sums of clocks over the cores and over the AMX blocks of one kind of clusters, all cores busy. The array of a block may have a
 * clock of its own. */
struct busy {
    double core_ghz, block_ghz, array_width; /* width: matrix instructions of a block per cycle */
    unsigned cores, blocks;
};

static bool busy_clusters(const struct chip *chip, enum chip_core kind, struct busy *busy)
{
    const char *array_key = kind == CHIP_P_CORE ? "amx.array_clock_ghz" : "amx_e.array_clock_ghz",
               *width_key = kind == CHIP_P_CORE ? "amx.array_width" : "amx_e.array_width";
    struct chip_clusters clusters;
    struct orch_error unused;
    double array = 0;
    *busy = (struct busy){.array_width = 1};
    if (chip_number(chip, width_key, &array, &unused))
        busy->array_width = array;
    if (!chip_clusters(chip, &clusters, &unused))
        return false;
    for (unsigned i = 0; i < clusters.count; i++) {
        const struct chip_cluster *c = &clusters.cluster[i];
        double core = 0, block = 0;
        if (c->kind != kind)
            continue;
        if (!chip_cpu_clock_ghz(chip, kind, c->cores, &core, &unused))
            return false;
        busy->core_ghz += c->cores * core;
        busy->cores += c->cores;
        if (c->has_amx && chip_amx_clock_ghz(chip, kind, c->cores, &block, &unused)) {
            busy->block_ghz += chip_number(chip, array_key, &array, &unused) && array > 0 ? array : block;
            busy->blocks++;
        }
    }
    return true;
}

/* A multiply-add per lane of a SIMD register; sdot and udot do four i8 products per lane of 32 bits. */
static void cpu_peaks(const struct chip *chip, struct chip_peaks *out)
{
    static const struct {
        const char *precision, *measure;
        unsigned bits_per_mac;
    } types[] = {{"f64", "FLOPS", 64}, {"f32", "FLOPS", 32}, {"f16", "FLOPS", 16}, {"i8 (sdot)", "OPS", 8}};
    struct busy p, e;
    double width, p_fma, e_fma;
    struct orch_error unused;
    if (!busy_clusters(chip, CHIP_P_CORE, &p) || !busy_clusters(chip, CHIP_E_CORE, &e) ||
        !chip_number(chip, "neon_width_bits", &width, &unused) || !chip_number(chip, "neon_fma_per_cycle_p", &p_fma, &unused) ||
        !chip_number(chip, "neon_fma_per_cycle_e", &e_fma, &unused))
        return;
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        const double lanes = width / types[i].bits_per_mac;
        add(out, "cpu", types[i].precision, types[i].measure, 2e9 * lanes * (p_fma * p.core_ghz + e_fma * e.core_ghz),
            "2 x %g lanes x (%g FMA x %u P x %.3f GHz + %g FMA x %u E x %.3f GHz)", lanes, p_fma, p.cores, p.core_ghz / p.cores,
            e_fma, e.cores, e.core_ghz / e.cores);
    }
}

/* "3.050 GHz", and "x 2" for an array that takes two instructions per cycle. */
static const char *rate_of(const struct busy *busy, char *text, size_t size)
{
    const double ghz = busy->blocks ? busy->block_ghz / busy->blocks : 0;
    if (busy->array_width == 1)
        snprintf(text, size, "%.3f GHz", ghz);
    else
        snprintf(text, size, "%.3f GHz x %g", ghz, busy->array_width);
    return text;
}

static void amx_peaks(const struct chip *chip, struct chip_peaks *out)
{
    static const struct {
        const char *precision, *measure, *field;
        double macs; /* of one full matrix instruction */
        enum amx_gen first;
    } types[] = {{"f64", "FLOPS", "array_f64_cycles", 64, AMX_GEN_M1},
                 {"f32", "FLOPS", "array_f32_cycles", 256, AMX_GEN_M1},
                 {"f16", "FLOPS", "array_f16_cycles", 1024, AMX_GEN_M1},
                 {"f16 -> f32", "FLOPS", "array_f16_f32_cycles", 1024, AMX_GEN_M1},
                 {"bf16", "FLOPS", "array_f16_cycles", 1024, AMX_GEN_M2},
                 {"bf16 -> f32", "FLOPS", "array_f16_f32_cycles", 1024, AMX_GEN_M2},
                 {"i8 -> i16", "OPS", "array_i8_i16_cycles", 1024, AMX_GEN_M1},
                 {"i16, i8 -> i32", "OPS", "array_i16_cycles", 1024, AMX_GEN_M1}};
    struct busy p, e;
    enum amx_gen gen;
    struct orch_error unused;
    if (!chip_amx_gen(chip, &gen, &unused) || !busy_clusters(chip, CHIP_P_CORE, &p) || !busy_clusters(chip, CHIP_E_CORE, &e) ||
        p.blocks == 0)
        return;
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        char key[64], key_e[64];
        double cycles, cycles_e;
        snprintf(key, sizeof key, "amx.%s", types[i].field);
        snprintf(key_e, sizeof key_e, "amx_e.%s", types[i].field);
        if (gen < types[i].first) {
            add(out, "amx", types[i].precision, types[i].measure, 0, "from M2 on");
        } else if (chip_number(chip, key, &cycles, &unused) && chip_number(chip, key_e, &cycles_e, &unused) && cycles > 0 &&
                   cycles_e > 0) {
            char p_rate[48], e_rate[48];
            add(out, "amx", types[i].precision, types[i].measure,
                2e9 * types[i].macs * (p.block_ghz * p.array_width / cycles + e.block_ghz * e.array_width / cycles_e),
                "2 x %g MAC x (%u P blocks x %s / %g cycles + %u E blocks x %s / %g cycles)", types[i].macs, p.blocks,
                rate_of(&p, p_rate, sizeof p_rate), cycles, e.blocks, rate_of(&e, e_rate, sizeof e_rate), cycles_e);
        }
    }
}

static void gpu_peaks(const struct chip *chip, struct chip_peaks *out)
{
    static const struct {
        const char *precision, *key, *measure;
    } types[] = {{"f32", "gpu_f32_flop_per_cycle_per_core", "FLOPS"},
                 {"f16", "gpu_f16_flop_per_cycle_per_core", "FLOPS"},
                 {"i32 (add)", "gpu_int32_add_per_cycle_per_core", "OPS"}};
    double cores, mhz, rate;
    struct orch_error unused;
    if (!chip_number(chip, "gpu_cores", &cores, &unused) || !chip_number(chip, "gpu_max_mhz", &mhz, &unused))
        return;
    for (size_t i = 0; i < ARRAY_COUNT(types); i++)
        if (chip_number(chip, types[i].key, &rate, &unused))
            add(out, "gpu", types[i].precision, types[i].measure, cores * mhz * 1e6 * rate, "%g cores x %g per cycle x %g MHz",
                cores, rate, mhz);
    add(out, "gpu", "f64", "FLOPS", 0, "no f64 arithmetic");
}

static void ane_peaks(const struct chip *chip, struct chip_peaks *out)
{
    struct ane_params p;
    struct orch_error unused;
    double tops = 0;
    if (chip_ane_params(chip, &p, &unused)) {
        const double f16 = 2e9 * p.units * p.engines * p.macs_per_engine * p.clock_ghz;
        chip_number(chip, "ane_tops", &tops, &unused);
        add(out, "ane", "f16", "FLOPS", f16, "2 x %u x %u engines x %u MAC x %.3f GHz; advertised %g TOPS", p.units, p.engines,
            p.macs_per_engine, p.clock_ghz, tops);
        add(out, "ane", "i8", "OPS", f16 * p.int8_rate, "%u x f16", p.int8_rate);
        add(out, "ane", "stream", "B/s", 1e9 * p.units * p.dma_GBps, "%u x %g GB/s (ane.dma_GBps)", p.units, p.dma_GBps);
    }
    add(out, "ane", "f32", "FLOPS", 0, "no f32 arithmetic");
}

static void other_peaks(const struct chip *chip, struct chip_peaks *out)
{
    double gbps;
    struct mem_params memory;
    struct orch_error unused;
    ane_peaks(chip, out);
    if (!chip_number(chip, "memory_peak_GBps", &gbps, &unused))
        return;
    add(out, "dram", "", "B/s", gbps * 1e9, "nominal: bus width x transfer rate");
    if (chip_mem_params(chip, NULL, &memory, &unused)) {
        const double stream = mem_dram_stream_gbps(&memory, 0) * memory.dies;
        add(out, "dram", "stream", "B/s", stream * 1e9, "%.3f of the peak: one stream of reads, refresh in it", stream / gbps);
    }
}

void chip_peaks(const struct chip *chip, struct chip_peaks *out)
{
    out->count = 0;
    cpu_peaks(chip, out);
    amx_peaks(chip, out);
    gpu_peaks(chip, out);
    other_peaks(chip, out);
}

bool chip_peak_is_of(const struct chip_peak *peak, const char *precision)
{
    const size_t n = precision ? strlen(precision) : 0;
    return n && strncmp(precision, peak->precision, n) == 0 && (peak->precision[n] == 0 || peak->precision[n] == ' ');
}

double chip_peak_of(const struct chip_peaks *peaks, const char *unit, const char *precision)
{
    for (unsigned i = 0; i < peaks->count; i++) {
        const struct chip_peak *const p = &peaks->peak[i];
        if (p->supported && unit && strcmp(p->unit, unit) == 0 && chip_peak_is_of(p, precision))
            return p->value;
    }
    return NAN;
}
