/* Rows about the Neural Engine: single operations, stacks of layers, streams of weights, costs of a request. They are built from
 * kernels of orchard's Neural Engine library, as one request.
 *
 * What a source does not say is said in the row's note; a row whose size cannot be read off its source is not guessed.
 */
#include "isa/array_count.h"
#include "sim/prove/validate/launch.h"

#include <stdlib.h>
#include <string.h>

struct ane_row {
    struct validate_row *row;
    struct validate_program *program;
    const char *precision; /* of the library: NULL where it has none such */
    double watts;          /* in one of the row's units; 0 = the row is about time */
};

static const char *cell(const struct ane_row *a, const char *column)
{
    return validate_cell(a->row, column);
}

static bool launch(struct ane_row *a, double times, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool launch(struct ane_row *a, double times, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const bool ok = validate_launch_add(a->program, times, a->precision, format, args);
    va_end(args);
    return ok || validate_refuse(a->row, "more than %d launches", VALIDATE_LAUNCHES);
}

static void note(struct ane_row *a, const char *text)
{
    snprintf(a->program->remark, sizeof a->program->remark, "%s", text);
    a->program->note = a->program->remark;
}

/* Sets what counts, in the row's own unit; `operations` (or bytes) for rates. */
static bool in_its_unit(struct ane_row *a, double operations)
{
    if (a->watts > 0) {
        a->program->measure = VALIDATE_WATTS;
        a->program->work = a->watts;
        return true;
    }
    static const struct {
        const char *unit;
        double nanoseconds, divisor; /* of times; of rates in 1e9 per second */
    } units[] = {{"ms", 1e6, 0},   {"us", 1e3, 0}, {"TFLOPS", 0, 1e3}, {"TOPS", 0, 1e3},
                 {"GFLOPS", 0, 1}, {"GB/s", 0, 1}, {"GMAC/s", 0, 2}};
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        if (strcmp(a->row->unit, units[i].unit) != 0)
            continue;
        a->program->measure = units[i].nanoseconds > 0 ? VALIDATE_NS_PER_WORK : VALIDATE_RATE;
        a->program->work = units[i].nanoseconds > 0 ? units[i].nanoseconds : operations / units[i].divisor;
        return true;
    }
    return validate_refuse(a->row, "unit '%.20s' is not the speed of a request", a->row->unit);
}

/* ---- whose time ---- */

/* Harnesses that copy operands to and from the engine's buffers; `in`, `out`: bytes of inputs and outputs in fp16, in rows of
 * `row_bytes`. ANEForge's benchmarks all call a network with arrays, which copies them into a buffer and the results out of
 * another; those of ane-guide are older and show a cost of rows that the engine's layout pads. Back-to-back loops and zero-copy
 * ones are left as they are. */
static void in_harness(struct ane_row *a, double in, double out, unsigned row_bytes)
{
    enum { ROW_UNIT = 64 };
    static const struct {
        const char *source, *condition, *framework;
        bool by_rows;
    } harnesses[] = {
        {"saturation sweep", "", "aneforge", false},
        {"rooflines.json", "", "aneforge", false},
        {"streaming", "", "aneforge", false},
        {"watt-complete", "single call", "aneforge", false},
        {"watt-complete", "ANE rail", "aneforge", false},
        {"ane-guide", "single call", "ane-guide", true},
    };
    for (size_t i = 0; i < ARRAY_COUNT(harnesses); i++) {
        if (!strstr(a->row->source, harnesses[i].source) || !strstr(cell(a, "condition"), harnesses[i].condition))
            continue;
        snprintf(a->program->framework, sizeof a->program->framework, "%s", harnesses[i].framework);
        a->program->framework_bytes = harnesses[i].by_rows ? in + out : in;
        a->program->framework_out_bytes = harnesses[i].by_rows ? 0 : out;
        a->program->framework_rows = harnesses[i].by_rows && row_bytes % ROW_UNIT ? (in + out) / row_bytes : 0;
        return;
    }
}

/* ---- products ---- */

static bool plan_product(struct ane_row *a, unsigned m, unsigned n, unsigned k)
{
    in_harness(a, 2.0 * m * k, 2.0 * m * n, 2 * k);
    return launch(a, 1, "gemm:%ux%ux%u", m, n, k) && in_its_unit(a, 2.0 * m * n * k);
}

/* "GEMM 128x1024x1024": rows, sums, columns. */
static bool plan_gemm(struct ane_row *a)
{
    unsigned m, n, k;
    return sscanf(a->row->what, "GEMM %ux%ux%u", &m, &k, &n) == 3 ? plan_product(a, m, n, k)
                                                                  : validate_refuse(a->row, "the size is not read");
}

static bool plan_cubed(struct ane_row *a)
{
    unsigned n;
    return sscanf(a->row->what, "%*[^0-9]%u", &n) == 1 ? plan_product(a, n, n, n)
                                                       : validate_refuse(a->row, "the size is not read");
}

/* The largest size of the sweep on these chips. */
static bool plan_peak_product(struct ane_row *a)
{
    enum { N = 4096 };
    note(a, "size not given: 4096 cubed, the largest of the same author's sweep");
    return plan_product(a, N, N, N);
}

/* "matvec-like matmul 4096", "GEMV K=512 (square weights)", "weights-bound 8192x4096": one column. */
static bool plan_gemv(struct ane_row *a)
{
    unsigned m = 0, n = 0;
    const int read = sscanf(a->row->what, "%*[^0-9]%ux%u", &m, &n);
    if (read < 1)
        return validate_refuse(a->row, "the size is not read");
    n = read == 2 ? n : m;
    in_harness(a, 2.0 * n, 2.0 * m, 2 * n);
    a->program->beyond_caches = true; /* weights are read once: nothing returns to them */
    return launch(a, 1, "gemv:%ux%u", m, n) && in_its_unit(a, 2.0 * m * n);
}

/* The output layer of Llama-3.2-1B: 128256 x 4096 fp16 weights, in sixteen parts (a descriptor has at most 65536 channels). */
static bool plan_head(struct ane_row *a)
{
    enum { PARTS = 16, ROWS = 128256, COLUMNS = 4096 };
    const bool plain = strstr(a->row->what, "1050.67 MB") && strcmp(a->precision, "f16") == 0;
    const bool palette = strstr(a->row->what, "396 MB") && strcmp(a->precision, "p6") == 0;
    if (!plain && !palette)
        return validate_refuse(a->row, "the size of the weights is not read");
    a->program->beyond_caches = true;
    note(a, "in 16 parts of one request");
    return launch(a, PARTS, "gemv:%ux%u", (unsigned)(ROWS / PARTS), (unsigned)COLUMNS) && in_its_unit(a, 2.0 * ROWS * COLUMNS);
}

static bool plan_weight_stream(struct ane_row *a)
{
    enum { N = 8192 };
    a->program->beyond_caches = true;
    note(a, "size not given: a product with 8192 x 8192 weights and one column");
    return launch(a, 1, "gemv:%ux%u", (unsigned)N, (unsigned)N) && in_its_unit(a, 2.0 * N * N);
}

/* ---- convolutions ---- */

/* "conv3x3 C64->64 16x16", "conv3x3 C128 64x64 batch 8", "conv3x3 C256 32x32 depth 16" */
static bool plan_conv(struct ane_row *a)
{
    unsigned r, s, c, k, h, w, batch = 1, layers = 1;
    const char *what = a->row->what, *at;
    if (sscanf(what, "conv%ux%u C%u->%u %ux%u", &r, &s, &c, &k, &h, &w) != 6) {
        if (sscanf(what, "conv%ux%u C%u %ux%u", &r, &s, &c, &h, &w) != 5)
            return validate_refuse(a->row, "the size is not read");
        k = c;
    }
    if ((at = strstr(what, "batch ")))
        batch = (unsigned)strtoul(at + 6, NULL, 10);
    if ((at = strstr(what, "depth ")))
        layers = (unsigned)strtoul(at + 6, NULL, 10);
    in_harness(a, 2.0 * batch * h * w * c, 2.0 * batch * h * w * k, 2 * w);
    const bool ok = layers > 1 ? launch(a, batch, "conv-stack:layers=%u,c=%u,h=%u,w=%u,r=%u,s=%u", layers, c, h, w, r, s)
                               : launch(a, 1, "conv2d:n=%u,c=%u,h=%u,w=%u,k=%u,r=%u,s=%u,pad=%u", batch, c, h, w, k, r, s, r / 2);
    return ok && in_its_unit(a, 2.0 * batch * layers * c * k * r * s * h * w);
}

static bool add_stack(struct ane_row *a, unsigned layers, unsigned c, unsigned h, unsigned w)
{
    return launch(a, 1, "conv-stack:layers=%u,c=%u,h=%u,w=%u,r=1,s=1", layers, c, h, w) &&
           in_its_unit(a, 2.0 * layers * c * c * h * w);
}

/* "128 x conv 512ch 64x64". With int8 these are int8 activations too. */
static bool plan_counted_stack(struct ane_row *a)
{
    unsigned layers, c, h, w;
    if (strcmp(a->precision, "i8") == 0)
        return validate_refuse(a->row, "int8 activations: programs are built with f16 activations");
    if (sscanf(a->row->what, "%u x conv %uch %ux%u", &layers, &c, &h, &w) != 4)
        return validate_refuse(a->row, "the size is not read");
    return add_stack(a, layers, c, h, w);
}

/* maderix/ANE inmem_peak: 1 x 1 convolutions on 1 x sp images. Without a number of layers, its usual 128. */
static bool plan_peak_stack(struct ane_row *a)
{
    enum { LAYERS = 128, CHANNELS = 512, PIXELS = 64, WIDE = 2048, WIDE_LAYERS = 32 };
    unsigned layers = LAYERS, c = CHANNELS, w = PIXELS;
    const char *what = a->row->what;
    if (sscanf(what, "inmem_peak %u layers %uch sp%u", &layers, &c, &w) != 3 &&
        sscanf(what, "inmem_peak %uch sp%u %u layers", &c, &w, &layers) != 3) {
        if (sscanf(what, "conv1x1 %uch sp%u", &c, &w) == 2 && w >= WIDE)
            layers = WIDE_LAYERS;
        note(a, layers == LAYERS ? "layers not given: 128, the deepest of this benchmark" : "layers not given: 32");
    }
    return add_stack(a, layers, c, 1, w);
}

/* "single conv1x1 1024ch sp64"; "conv 64ch sp32" in the condition of an execution path. */
static bool plan_single(struct ane_row *a)
{
    unsigned c, w;
    const char *text = strstr(a->row->what, "single conv") ? a->row->what : cell(a, "condition");
    const char *at = strstr(text, "conv");
    if (!at || (sscanf(at, "conv1x1 %uch sp%u", &c, &w) != 2 && sscanf(at, "conv %uch sp%u", &c, &w) != 2))
        return validate_refuse(a->row, "the size is not read");
    if (strstr(a->row->what, "execution path") && !strstr(a->row->what, "standard"))
        return validate_refuse(a->row, "another way to submit than the standard one: its cost is not known apart");
    return add_stack(a, 1, c, 1, w);
}

/* Layers whose time is told apart from the request: 16 more of them. */
static bool plan_layer(struct ane_row *a)
{
    enum { FEW = 16, SIDE = 32 };
    unsigned c = 0;
    const char *at = strstr(a->row->what, "Cout ");
    if (!at || (c = (unsigned)strtoul(at + 5, NULL, 10)) == 0)
        return validate_refuse(a->row, "the size is not read");
    struct validate_launch *l = &a->program->launch[0];
    if (!launch(a, 1, "conv-stack:layers=%d,c=%u,h=%d,w=%d,r=1,s=1", 2 * FEW, c, SIDE, SIDE) || !in_its_unit(a, 0))
        return false;
    for (int i = 0; i < 2; i++)
        snprintf(l->part[i], sizeof l->part[i], "conv-stack:layers=%d,c=%u,h=%d,w=%d,r=1,s=1", (1 + i) * FEW, c, SIDE, SIDE);
    a->program->slope = true;
    a->program->work *= FEW;
    note(a, "as many input as output channels; 32 layers less 16");
    return true;
}

/* sbryngelson/ane-guide, chapters 9 and 33: chains of 96 products with 128 channels; 1 MB of activations, and 2 MB. */
static bool plan_slope(struct ane_row *a)
{
    enum { C = 128, SIDE = 64, FEW = 48, ALL = 96 };
    struct validate_launch *l = &a->program->launch[0];
    if (!launch(a, 1, "conv-stack:layers=%d,c=%d,h=%d,w=%d,r=1,s=1", ALL, C, SIDE, SIDE))
        return false;
    for (int i = 0; i < 2; i++)
        snprintf(l->part[i], sizeof l->part[i], "conv-stack:layers=%d,c=%d,h=%d,w=%d,r=1,s=1", (1 + i) * FEW, C, SIDE, SIDE);
    a->program->slope = true;
    note(a, "chain of 96 products, 128 channels, 4096 rows (1 MB): the second half of it");
    return in_its_unit(a, 2.0 * FEW * C * C * SIDE * SIDE);
}

static bool plan_above_l2(struct ane_row *a)
{
    enum { C = 128, HEIGHT = 64, WIDTH = 128, LAYERS = 96 };
    note(a, "chain of 96 products, 128 channels, 8192 rows (2 MB)");
    return add_stack(a, LAYERS, C, HEIGHT, WIDTH);
}

/* "chain of 8 x 1024^2 matmul": 1024 rows. */
static bool plan_chain(struct ane_row *a)
{
    unsigned layers, n;
    if (sscanf(a->row->what, "chain of %u x %u^2 matmul", &layers, &n) != 2 || n % 32)
        return validate_refuse(a->row, "the size is not read");
    return add_stack(a, layers, n, 32, n / 32);
}

/* The time is the request's: the smallest layers that keep all engines in use. */
static bool plan_fused_layers(struct ane_row *a)
{
    unsigned layers;
    if (sscanf(a->row->what, "%u fused conv+relu layers", &layers) != 1)
        return validate_refuse(a->row, "the size is not read");
    note(a, "size not given: 16 channels, 8 x 8 pixels");
    if (!launch(a, 1, "conv-stack:layers=%u,c=16,h=8,w=8,act=relu", layers) || !in_its_unit(a, 0))
        return false;
    a->program->work *= layers;
    return true;
}

/* ---- streams and other operators ---- */

/* "streaming relu 8M elements". Rows of 1024 where an operator has rows. */
static bool plan_streaming(struct ane_row *a)
{
    enum { COLUMNS = 1024 };
    char op[16];
    unsigned millions;
    if (sscanf(a->row->what, "streaming %15[a-z] %uM elements", op, &millions) != 2)
        return validate_refuse(a->row, "the size is not read");
    const unsigned count = millions << 20;
    in_harness(a, 2.0 * count, strcmp(op, "sum") == 0 ? 2.0 * count / COLUMNS : 2.0 * count, 2 * COLUMNS);
    bool ok;
    if (strcmp(op, "sum") == 0)
        ok = launch(a, 1, "reduce:%ux%u,op=sum", count / COLUMNS, (unsigned)COLUMNS);
    else if (strcmp(op, "softmax") == 0)
        ok = launch(a, 1, "softmax:%ux%u", count / COLUMNS, (unsigned)COLUMNS);
    else
        ok = launch(a, 1, "elementwise:%u,op=%s", count, op);
    if (strcmp(op, "sum") == 0 || strcmp(op, "softmax") == 0)
        note(a, "shape not given: rows of 1024");
    return ok && in_its_unit(a, 0);
}

/* "attention S197". ViT-B: 12 heads of 64; the published operation counts are those of four projections and the attention. */
static bool plan_attention(struct ane_row *a)
{
    enum { WIDTH = 768, HEADS = 12, DEPTH = 64 };
    unsigned s;
    if (sscanf(a->row->what, "attention S%u", &s) != 1)
        return validate_refuse(a->row, "the size is not read");
    in_harness(a, 2.0 * s * WIDTH, 2.0 * s * WIDTH, 2 * WIDTH);
    note(a, "four projections of 768 channels and 12 heads of 64, as the published operation counts have it");
    return launch(a, 4, "gemm:%ux%dx%d", s, WIDTH, WIDTH) && launch(a, 1, "attention:b=1,h=%d,s=%u,d=%d", HEADS, s, DEPTH) &&
           in_its_unit(a, 8.0 * s * WIDTH * WIDTH + 4.0 * s * s * WIDTH);
}

/* sbryngelson/ane-guide, chapter 10: 256 x 256, 32 steps; one step is a convolution of one channel with five taps of a 3 x 3
 * kernel. */
static bool plan_stencil(struct ane_row *a)
{
    enum { SIDE = 256, STEPS = 32 };
    in_harness(a, 2.0 * SIDE * SIDE, 2.0 * SIDE * SIDE, 2 * SIDE);
    return launch(a, 1, "conv-stack:layers=%d,c=1,h=%d,w=%d", STEPS, SIDE, SIDE) && in_its_unit(a, 0);
}

/* ---- weights in fewer bytes ---- */

static bool plan_speed_up(struct ane_row *a)
{
    enum { LAYERS = 8, C = 1024 };
    const char *fewer = strstr(a->row->what, "int4") ? "i4" : "sparse";
    a->program->beyond_caches = true;
    a->program->measure = VALIDATE_RATIO;
    a->program->work = 1;
    note(a, "size not given: 8 layers of 1024 to 1024 channels, one pixel; sparse: half of the weights");
    a->precision = fewer;
    if (!launch(a, 1, "conv-stack:layers=%d,c=%d,h=1,w=1,r=1,s=1", LAYERS, C))
        return false;
    a->precision = "f16";
    return launch(a, 1, "conv-stack:layers=%d,c=%d,h=1,w=1,r=1,s=1", LAYERS, C);
}

/* ---- the cost of a request ---- */

static bool plan_smallest(struct ane_row *a)
{
    return launch(a, 1, "elementwise:64,op=relu") && in_its_unit(a, 0);
}

/* "wake after 5 s idle", "wake after 100 ms idle" */
static bool plan_wake(struct ane_row *a)
{
    double idle;
    char unit[8];
    if (sscanf(a->row->what, "wake after %lf %7s idle", &idle, unit) != 2)
        return validate_refuse(a->row, "the idle time is not read");
    a->program->idle_seconds = strcmp(unit, "ms") == 0 ? idle * 1e-3 : idle;
    return plan_smallest(a);
}

/* ---- the row ---- */

static const struct {
    const char *what; /* begins with it; after '*': has it somewhere */
    bool (*plan)(struct ane_row *a);
    bool engine_level;
} plans[] = {
    {"GEMM N=", plan_cubed, true},
    {"GEMM ", plan_gemm, true},
    {"matmul slope", plan_slope, false},
    {"matmul, operand set above 2 MB", plan_above_l2, false},
    {"matmul 4096 weights-bound", plan_gemv, false},
    {"matmul ", plan_cubed, false},
    {"peak GEMM", plan_peak_product, false},
    {"matvec-like matmul", plan_gemv, true},
    {"weights-bound", plan_gemv, false},
    {"GEMV ", plan_gemv, false},
    {"weight stream bandwidth", plan_weight_stream, false},
    {"Llama LM head", plan_head, false},
    {"conv1x1 per-layer", plan_layer, false},
    {"conv1x1 C", plan_conv, true},
    {"conv3x3 C", plan_conv, true},
    {"conv1x1 512ch", plan_peak_stack, false},
    {"inmem_peak", plan_peak_stack, false},
    {"single conv", plan_single, false},
    {"execution path", plan_single, false},
    {"chain of", plan_chain, true},
    {"* x conv ", plan_counted_stack, false},
    {"* fused conv+relu layers", plan_fused_layers, false},
    {"streaming ", plan_streaming, false},
    {"attention S", plan_attention, false},
    {"stencil32", plan_stencil, false},
    {"int4 palette speed-up", plan_speed_up, false},
    {"sparse speed-up", plan_speed_up, false},
    {"dispatch floor", plan_smallest, false},
    {"dispatch total", plan_smallest, false},
    {"wake after", plan_wake, false},
};

/* Patterns anywhere in the row's workload, in order. */
static const char *const refusals[][2] = {
    {"power floor", "the least of a sweep, without what ran"},
    {"rail power", "the source does not say what ran"},
    {"power, ", "the source does not say what ran"},
    {"conv 256 power", "the source does not give the size"},
    {"Llama", "a whole network: waits for networks"},
    {"ResNet", "a whole network: waits for networks"},
    {"MiniLM", "a whole network: waits for networks"},
    {"ViT", "a whole network: waits for networks"},
    {"CLIP", "a whole network: waits for networks"},
    {"BERT", "a whole network: waits for networks"},
    {"dispatch ", "a part of ane.request_us, which is one parameter"},
    {"compile ", "compiling is host software"},
    {"load ", "loading is host software"},
    {"cluster scaling", "the size of the loop that is bound by dispatches is not given"},
    {"weight-size sweep", "the source does not give the batch"},
    {"1x1 conv sustained", "the source does not give the size"},
    {"layernorm", "the source does not give the size"},
    {"rmsnorm", "the source does not give the size"},
    {"groupnorm", "the source does not give the size"},
    {"DFT", "the source does not give the size"},
    {"Jacobi", "the source does not give the size"},
    {"DRAM", "traffic by counters of the memory controller, not a time"},
    {"memory size", "a size, not a time"},
    {"auto-suspend", "a policy of the operating system"},
    {"DVFS", "a policy of the operating system"},
    {"4x Llama-2-7B MLP", "a piece of a network with palettes of the author's: waits for networks"},
};

static bool is_figure_of_network(const char *unit)
{
    static const char *const units[] = {"tokens/s", "ms/token", "ms/step", "it/s", "img/s", "inf/s", "s", "x real time"};
    for (size_t i = 0; i < ARRAY_COUNT(units); i++)
        if (strcmp(unit, units[i]) == 0)
            return true;
    return false;
}

static const char *precision_of(const struct validate_row *row)
{
    static const char *const names[][2] = {{"fp16", "f16"}, {"", "f16"},    {"int8", "i8"},           {"int4", "i4"},
                                           {"lut4", "i4"},  {"lut6", "p6"}, {"fp16 sparse", "sparse"}};
    const char *text = validate_cell(row, "precision");
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (strcmp(text, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

static double watts_of(const char *unit)
{
    return strcmp(unit, "W") == 0 ? 1 : strcmp(unit, "mW") == 0 ? 1e-3 : 0;
}

/* Chips of which there are enough such rows, from more than one author; fp16. An M2 Pro of one sweep takes twice an M2 Max's time
 * for everything, so its five rows tell of that machine. Loops repeat shapes that are there as single calls. */
static bool is_engine_level(const struct validate_row *row)
{
    static const char *const chips[] = {"M1", "M1 Max", "M2", "M2 Max"};
    if (watts_of(row->unit) > 0 || strcmp(validate_cell(row, "precision"), "fp16") != 0 ||
        strncmp(row->condition, "loop", 4) == 0)
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(chips); i++)
        if (strcmp(row->chip, chips[i]) == 0)
            return true;
    return false;
}

bool validate_is_ane(const struct validate_row *row)
{
    return csv_find(row->table, "unit_of_value") >= 0 &&
           (strncmp(validate_cell(row, "unit"), "ANE", 3) == 0 || strcmp(validate_cell(row, "unit"), "unstated") == 0);
}

bool validate_plan_ane(struct validate_row *row, struct validate_program *program)
{
    struct ane_row a = {row, program, precision_of(row), watts_of(row->unit)};
    program->ane = true;
    program->power = a.watts > 0;
    program->domains = 1u << POWER_ANE;
    for (size_t i = 0; i < ARRAY_COUNT(plans); i++) {
        const char *what = plans[i].what;
        if (*what == '*' ? !strstr(row->what, what + 1) : strncmp(row->what, what, strlen(what)) != 0)
            continue;
        row->engine_level = plans[i].engine_level && is_engine_level(row);
        return a.precision
                   ? plans[i].plan(&a)
                   : validate_refuse(row, "weights in '%.30s': no such programs are built", validate_cell(row, "precision"));
    }
    if (strcmp(row->what, "dispatch") == 0)
        return plan_smallest(&a);
    for (size_t i = 0; i < ARRAY_COUNT(refusals); i++)
        if (strstr(row->what, refusals[i][0]))
            return validate_refuse(row, "%s", refusals[i][1]);
    if (is_figure_of_network(row->unit) || strcmp(row->unit, "ms") == 0)
        return validate_refuse(row, "a whole network: waits for networks");
    return validate_refuse(row, "no program for '%.80s'", row->what);
}
