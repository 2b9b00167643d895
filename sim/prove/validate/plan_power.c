/* Rows of watts, joules and work per joule. Their loads are rebuilt: products and convolutions from the kernel libraries, loops
 * of CPU cores as AArch64 programs. A load that its source does not describe well enough is refused with the reason. */
#include "isa/array_count.h"
#include "sim/prove/validate/fitted.h"
#include "sim/prove/validate/plan_launch.h"
#include "sim/prove/validate/power_loops.h"
#include "sim/prove/validate/program.h"

#include <stdlib.h>
#include <string.h>

struct power_row {
    struct validate_row *row;
    struct validate_program *program;
    const char *unit, *load, *metric; /* columns of the table */
};

#define DOMAIN(name) (1u << POWER_##name)

static bool refuse(const struct power_row *p, const char *why)
{
    return validate_refuse(p->row, "%s", why);
}

static void note(const struct power_row *p, const char *text)
{
    snprintf(p->program->remark, sizeof p->program->remark, "%s", text);
    p->program->note = p->program->remark;
}

/* Sets what is measured, in the row's own unit; `operations` of one repetition count for energies per operation. */
static bool in_its_unit(const struct power_row *p, double operations)
{
    static const struct {
        const char *unit;
        enum validate_measure measure;
        double work, per_operation;
    } units[] = {
        {"W", VALIDATE_WATTS, 1, 0},
        {"mW", VALIDATE_WATTS, 1e-3, 0},
        {"W/core", VALIDATE_WATTS, 1, 0},
        {"GFLOPS/W", VALIDATE_WORK_PER_JOULE, 0, 1},
        {"pJ/FLOP", VALIDATE_JOULES, 0, 1e-12},
        {"mJ/inference", VALIDATE_JOULES, 1e-3, 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        if (strcmp(p->row->unit, units[i].unit) != 0)
            continue;
        p->program->measure = units[i].measure;
        p->program->work = units[i].work + units[i].per_operation * operations;
        return true;
    }
    return validate_refuse(p->row, "unit '%.20s': not the power of a program", p->row->unit);
}

/* ---- CPU loops ---- */

static bool plan_loop(const struct power_row *p, enum power_loop loop, enum validate_core core, unsigned threads,
                      unsigned domains)
{
    struct emit e = {0};
    p->program->core = core;
    p->program->threads = threads;
    p->program->domains = domains;
    p->program->data_bytes = power_loop_data_bytes();
    p->program->warm = true;
    note(p, power_loop_about(loop));
    power_loop_emit(&e, loop, VALIDATE_DATA_ADDR);
    return validate_take_code(p->row, p->program, &e) && in_its_unit(p, 0);
}

static unsigned cpu_domains(const struct power_row *p)
{
    return strcmp(p->unit, "P-cluster") == 0   ? DOMAIN(P_CPU) | DOMAIN(AMX) /* they share a rail */
           : strcmp(p->unit, "E-cluster") == 0 ? DOMAIN(E_CPU)
                                               : 0;
}

static bool plan_one_thread(const struct power_row *p)
{
    if (strcmp(p->unit, "E-cluster") == 0)
        return refuse(p, "background work of the operating system on idle E cores");
    if (strcmp(p->unit, "DRAM") == 0)
        return refuse(p, "what Cinebench moves from and to DRAM is not known");
    return plan_loop(p, POWER_LOOP_RENDERER, VALIDATE_P_CORE, 1, cpu_domains(p));
}

static bool plan_all_cores(const struct power_row *p)
{
    if (strcmp(p->unit, "DRAM") == 0)
        return refuse(p, "what Cinebench moves from and to DRAM is not known");
    /* Cores of the other kind run the same program beside it; each cluster has caches and clocks of its own. */
    return plan_loop(p, POWER_LOOP_RENDERER, strcmp(p->unit, "E-cluster") == 0 ? VALIDATE_E_CORE : VALIDATE_P_CORE, 0,
                     cpu_domains(p));
}

/* ThomasKaiser/Knowledge: after ten minutes the P clusters run at about 2450 MHz, and sensors read 80 degC. */
static bool plan_throttled(const struct power_row *p)
{
    snprintf(p->program->set[0], sizeof p->program->set[0], "cpu_p.clock_ghz=2.45");
    p->program->celsius = 80;
    return plan_all_cores(p);
}

/* "fully active at 2388 MHz" is about one core. */
static bool plan_at_clock(const struct power_row *p)
{
    const bool performance = strcmp(p->unit, "P-core") == 0;
    double mhz;
    if (!performance && strcmp(p->unit, "E-core") != 0)
        return refuse(p, "a mix of loads that is not described");
    if (sscanf(p->load, "fully active at %lf MHz", &mhz) != 1)
        return refuse(p, "the clock is not read");
    snprintf(p->program->set[0], sizeof p->program->set[0], "cpu_%c.clock_ghz=%g", performance ? 'p' : 'e', mhz / 1000);
    return plan_loop(p, POWER_LOOP_RENDERER, performance ? VALIDATE_P_CORE : VALIDATE_E_CORE, 1,
                     performance ? DOMAIN(P_CPU) : DOMAIN(E_CPU));
}

/* The clock of "pstate07" of the row's chip and unit, from its row "freq". */
static bool clock_of_state(const struct power_row *p, double *mhz)
{
    static const char *const same[] = {"chip", "unit", "load"};
    const struct csv_table *const t = p->row->table;
    const int metric = csv_find(t, "metric"), value = csv_find(t, "value");
    for (size_t row = 0; row < csv_rows(t); row++) {
        bool found = strcmp(csv_cell(t, row, metric), "freq") == 0;
        for (size_t i = 0; found && i < ARRAY_COUNT(same); i++)
            found = strcmp(csv_cell(t, row, csv_find(t, same[i])), validate_cell(p->row, same[i])) == 0;
        if (found)
            return sscanf(csv_cell(t, row, value), "%lf", mhz) == 1 && *mhz > 0;
    }
    return false;
}

/* Figures of the kernel's energy model: CoreMark on one core, read from the power meter of its cluster (AsahiLinux/linux pull
 * request 229). The clock of a state is in another row. */
static bool plan_state(const struct power_row *p)
{
    const bool performance = strcmp(p->unit, "P-core") == 0;
    double mhz;
    if (!strstr(p->row->source, "t8103"))
        return refuse(p, "which load these figures belong to is not told (AsahiLinux/linux pull request 183)");
    if (!performance && strcmp(p->unit, "E-core") != 0)
        return refuse(p, "a budget of the firmware, not a measurement");
    if (!clock_of_state(p, &mhz))
        return refuse(p, "the clock of this state is not in the table");
    snprintf(p->program->set[0], sizeof p->program->set[0], "cpu_%c.clock_ghz=%g", performance ? 'p' : 'e', mhz / 1000);
    return plan_loop(p, POWER_LOOP_COREMARK, performance ? VALIDATE_P_CORE : VALIDATE_E_CORE, 1,
                     performance ? DOMAIN(P_CPU) | DOMAIN(AMX) : DOMAIN(E_CPU));
}

static bool plan_idle(const struct power_row *p)
{
    if (strcmp(p->unit, "package") != 0 && !cpu_domains(p) && strcmp(p->unit, "DRAM") != 0)
        return refuse(p, "a whole machine: waits for sustained runs on devices");
    if (strstr(p->load, "screen"))
        return refuse(p, "the display engine is not modelled");
    p->program->power = true;
    p->program->domains = strcmp(p->unit, "DRAM") == 0 ? DOMAIN(DRAM) : cpu_domains(p);
    return in_its_unit(p, 0);
}

/* ---- launches ---- */

static bool on_ane(const struct power_row *p)
{
    return strcmp(p->unit, "ANE") == 0;
}

/* The part of the "M1 family" is the author's M1 Max; that of "M2" is said to be of the class of an M2 Pro. */
static void take_chip(const struct power_row *p)
{
    const char *const chip = strncmp(p->row->chip, "M1 family", 9) == 0                   ? "m1-max"
                             : strncmp(validate_cell(p->row, "device"), "M2 Pro", 6) == 0 ? "m2-pro"
                                                                                          : "";
    snprintf(p->program->chip, sizeof p->program->chip, "%s", chip);
}

static bool launch(const struct power_row *p, double times, const char *precision, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static bool launch(const struct power_row *p, double times, const char *precision, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const bool ok = validate_launch_add(p->program, times, precision, format, args);
    va_end(args);
    p->program->ane = on_ane(p);
    p->program->domains = on_ane(p) ? DOMAIN(ANE) : DOMAIN(GPU);
    take_chip(p);
    return ok || refuse(p, "too many launches");
}

static bool product(const struct power_row *p, const char *precision, unsigned m, unsigned k, unsigned n)
{
    return launch(p, 1, precision, "gemm:%ux%ux%u", m, n, k) && in_its_unit(p, 2.0 * m * n * k);
}

/* The table of efficiencies of sbryngelson/ane-guide, chapter 10. Against the author's own watts and times of single calls, its
 * small products take the energy of 0.41 ms more at the power of an engine that waits; the rows of the two smallest count as
 * fitted. Operands are copied as in single calls. */
static bool in_efficiency_table(const struct power_row *p, double in_bytes, double out_bytes)
{
    if (!on_ane(p))
        return true;
    p->program->idle_seconds = FITTED_ANE_IDLE_S;
    snprintf(p->program->framework, sizeof p->program->framework, "aneforge");
    p->program->framework_bytes = in_bytes;
    p->program->framework_out_bytes = out_bytes;
    return true;
}

/* "GEMM M256 K4096 N4096" */
static bool plan_gemm(const struct power_row *p)
{
    unsigned m, k, n;
    return sscanf(p->load, "GEMM M%u K%u N%u", &m, &k, &n) == 3
               ? product(p, "f16", m, k, n) && in_efficiency_table(p, 2.0 * m * k, 2.0 * m * n)
               : refuse(p, "the size is not read");
}

/* The GPU runs the quarters one after another: simulating the whole would give the same. */
static bool plan_large_gemm(const struct power_row *p)
{
    enum { N = 4096, QUARTERS = 4 };
    if (on_ane(p))
        return product(p, "f16", N, N, N);
    note(p, "a quarter of it, four times");
    return launch(p, QUARTERS, "f16", "gemm:%dx%dx%d", N / 2, N / 2, N) && in_its_unit(p, 2.0 * N * N * N);
}

static bool plan_roofline(const struct power_row *p)
{
    enum { N = 4096 };
    note(p, "size not given: 4096 cubed, the largest of the same author's sweep");
    return product(p, "f16", N, N, N);
}

static bool plan_smallest_matmul(const struct power_row *p)
{
    note(p, "size not given: 64 x 256 x 256, the smallest of the same author's");
    return product(p, "f16", 64, 256, 256);
}

/* Weights of 1024 x 4096; the number of rows is not given. */
static bool plan_matmul(const struct power_row *p)
{
    enum { ROWS = 1024, K = 1024, N = 4096 };
    note(p, "rows not given: 1024");
    return product(p, strstr(p->load, "int8") ? "i8" : "f16", ROWS, K, N);
}

static bool plan_bandwidth(const struct power_row *p)
{
    enum { N = 4096 };
    note(p, "size not given: 4096 x 4096 weights, one column");
    p->program->beyond_caches = true;
    return launch(p, 1, "f16", "gemv:%dx%d", N, N) && in_its_unit(p, 2.0 * N * N);
}

/* "eight chained 1024^2 fp16 matmuls" with 1024 rows. */
static bool plan_chain(const struct power_row *p)
{
    enum { LAYERS = 8, N = 1024, SIDE = 32 };
    return launch(p, 1, "f16", "conv-stack:layers=%d,c=%d,h=%d,w=%d,r=1,s=1", LAYERS, N, SIDE, SIDE) &&
           in_its_unit(p, 2.0 * LAYERS * N * N * SIDE * SIDE);
}

/* Layers of 3 x 3 kernels with 256 channels on 32 x 32 pixels, as in published data of the same author. */
static bool conv_stack(const struct power_row *p, unsigned layers)
{
    enum { C = 256, SIDE = 32, TAPS = 9 };
    const bool ok = on_ane(p) ? launch(p, 1, "f16", "conv-stack:layers=%u,c=%d,h=%d,w=%d,r=3,s=3", layers, C, SIDE, SIDE)
                              : launch(p, layers, "f16", "conv2d:n=1,c=%d,h=%d,w=%d,k=%d,r=3,s=3,pad=1", C, SIDE, SIDE, C);
    return ok && in_its_unit(p, 2.0 * layers * C * C * TAPS * SIDE * SIDE);
}

static bool plan_conv_stack(const struct power_row *p)
{
    enum { LAYERS = 16, IMAGE_BYTES = 2 * 256 * 32 * 32 };
    note(p, "size not given: 256 channels, 32 x 32 pixels, as in the author's data");
    return conv_stack(p, LAYERS) && in_efficiency_table(p, IMAGE_BYTES, IMAGE_BYTES);
}

/* ViT-B: four projections of 768 channels and 12 heads of 64. */
static bool plan_attention(const struct power_row *p)
{
    enum { S = 512, WIDTH = 768, HEADS = 12, DEPTH = 64 };
    note(p, "four projections of 768 channels and 12 heads of 64, as the published operation counts have it");
    return launch(p, 4, "f16", "gemm:%dx%dx%d", S, WIDTH, WIDTH) &&
           launch(p, 1, on_ane(p) ? "f16" : "f32", "attention:b=1,h=%d,s=%d,d=%d", HEADS, S, DEPTH) &&
           in_its_unit(p, 8.0 * S * WIDTH * WIDTH + 4.0 * S * S * WIDTH) &&
           in_efficiency_table(p, 2.0 * S * WIDTH, 2.0 * S * WIDTH);
}

/* "4096-inner matmul, int8 weights" is bound by its weights. */
static bool plan_weights(const struct power_row *p)
{
    enum { N = 4096 };
    const char *const precision = strstr(p->load, "int8")     ? "i8"
                                  : strstr(p->load, "int4")   ? "i4"
                                  : strstr(p->load, "sparse") ? "sparse"
                                                              : "f16";
    p->program->beyond_caches = true;
    note(p, strcmp(precision, "sparse") == 0 ? "4096 x 4096 weights, one column, half of them 0"
                                             : "4096 x 4096 weights, one column");
    return launch(p, 1, precision, "gemv:%dx%d", N, N) && in_its_unit(p, 0);
}

/* ---- the row ---- */

static const struct {
    const char *unit, *load; /* NULL = any; otherwise a beginning */
    bool (*plan)(const struct power_row *p);
} plans[] = {
    {NULL, "Cinebench R23, 1 thread", plan_one_thread},
    {NULL, "Cinebench R23 1T", plan_one_thread},
    {NULL, "fully active at", plan_at_clock},
    {NULL, "pstate", plan_state},
    {"P-cluster", "Cinebench R23 10 min, end", plan_throttled},
    {"P-cluster", "Cinebench R23 10 min", plan_all_cores},
    {"E-cluster", "Cinebench R23 multi-core", plan_all_cores},
    {"DRAM", "Cinebench R23 multi-core", plan_all_cores},
    {NULL, "idle", plan_idle},
    {NULL, "GEMM M", plan_gemm},
    {NULL, "large square GEMM inner 4096", plan_large_gemm},
    {"ANE", "compute-bound GEMM", plan_roofline},
    {"ANE", "densest peak", plan_roofline},
    {"ANE", "dispatch", plan_smallest_matmul},
    {"ANE", "fp16 matmul 1024x4096", plan_matmul},
    {"ANE", "int8 same matmul", plan_matmul},
    {"ANE", "bandwidth-bound matmul", plan_bandwidth},
    {"ANE", "eight chained 1024^2", plan_chain},
    {NULL, "16-layer 3x3 conv stack", plan_conv_stack},
    {"ANE", "attention S=512", plan_attention},
    {"GPU", "attention S=512", plan_attention},
    {"ANE", "4096-inner matmul", plan_weights},
};

static const char *const refusals[][2] = {
    {"7z", "no such program is simulated: 7-Zip's instructions and misses are not known"},
    {"pigz", "no such program is simulated: pigz's instructions and misses are not known"},
    {"pixz", "no such program is simulated: pixz's instructions and misses are not known"},
    {"pbzip2", "no such program is simulated: pbzip2's instructions and misses are not known"},
    {"Geekbench", "Geekbench's programs are not described: nothing to rebuild"},
    {"GFXBench", "GFXBench's shaders are not described: nothing to rebuild"},
    {"100% active", "a mix of loads that is not described"},
    {"HandBrake", "a video encoder is not simulated"},
    {"Blender", "a path tracer with ray tracing units is not simulated"},
    {"YouTube", "playing video: its decoder and display are not modelled"},
    {"Netflix", "playing video: its decoder and display are not modelled"},
    {"AV1", "playing video: its decoder and display are not modelled"},
    {"VP9", "playing video: its decoder and display are not modelled"},
    {"H.264", "playing video: its decoder and display are not modelled"},
    {"software decode", "playing video: its decoder and display are not modelled"},
    {"desktop use", "the load is not described"},
    {"LLM", "a whole network: waits for networks"},
    {"ViT", "a whole network: waits for networks"},
    {"ResNet", "a whole network: waits for networks"},
    {"Core ML model", "a whole network: waits for networks"},
    {"stress", "the load is not described"},
    {"maximum", "the load is not described"},
    {"fp16 GEMM roofline", "neither size nor rail are given, and on M1 no size of the author's sweep has its throughput"},
    {"conv sustained", "the source does not give the size"},
    {"sustained convolution", "the source does not give the size"},
    {"convolution", "the source does not give the size"},
    {"best fp16 point", "the best figure seen, without what ran"},
    {"telemetry", "the load is not described"},
    {"clusters powered", "the loads of this sweep are not described"},
    {"lid closed", "a whole machine: waits for sustained runs on devices"},
    {"FP32 GEMM, best case", "a lower bound, not a value: the suite of run energy checks it"},
    {"opp table", "derived from other rows"},
    {"DVFS controller", "a setting of firmware, not a measurement"},
};

static bool is_about_power(const struct power_row *p)
{
    return strncmp(p->metric, "power", 5) == 0 || strncmp(p->metric, "efficiency", 10) == 0 ||
           strncmp(p->metric, "energy", 6) == 0 || strncmp(p->metric, "core_power", 10) == 0 ||
           strncmp(p->metric, "pstate", 6) == 0;
}

static bool starts_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

bool validate_is_power(const struct validate_row *row)
{
    return csv_find(row->table, "load") >= 0 && csv_find(row->table, "metric") >= 0;
}

static bool refuse_rest(const struct power_row *p)
{
    for (size_t i = 0; i < ARRAY_COUNT(refusals); i++)
        if (strstr(p->load, refusals[i][0]))
            return refuse(p, refusals[i][1]);
    if (starts_with(p->unit, "system") || strcmp(p->unit, "display") == 0 || strcmp(p->unit, "SoC") == 0)
        return refuse(p, "a whole machine: waits for sustained runs on devices");
    return validate_refuse(p->row, "no program for '%.80s'", p->load);
}

bool validate_plan_power(struct validate_row *row, struct validate_program *program)
{
    const struct power_row p = {row, program, validate_cell(row, "unit"), validate_cell(row, "load"),
                                validate_cell(row, "metric")};
    if (!is_about_power(&p))
        return validate_refuse(row, "'%.60s' is not a power", p.metric);
    if (strstr(p.metric, "std") || strstr(p.metric, "bound"))
        return refuse(&p, strstr(p.metric, "std") ? "the spread of another row"
                                                  : "a bound, not a value: the suite of run energy checks it");
    program->power = true;
    for (size_t i = 0; i < ARRAY_COUNT(plans); i++)
        if ((!plans[i].unit || strcmp(p.unit, plans[i].unit) == 0) && starts_with(p.load, plans[i].load))
            return plans[i].plan(&p);
    return refuse_rest(&p);
}
