/* Rows about the Neural Engine: single operations, stacks of layers, streams of weights, costs of a request. They are built from
 * kernels of orchard's Neural Engine library, as one request.
 *
 * What a source leaves out is said in the note of the row. A row whose size its source does not state is not guessed.
 */
#include "isa/array_count.h"
#include "sim/prove/validate/plan_ane.h"

#include <string.h>

static const struct {
    const char *what; /* beginning of the row's workload; after '*', any part of it */
    plan_ane *plan;
    bool engine_level;
} plans[] = {
    {"GEMM N=", plan_ane_cubed, true},
    {"GEMM ", plan_ane_gemm, true},
    {"matmul slope", plan_ane_slope, false},
    {"matmul, operand set above 2 MB", plan_ane_above_l2, false},
    {"matmul 4096 weights-bound", plan_ane_gemv, false},
    {"matmul ", plan_ane_two_inputs, false},
    {"peak GEMM", plan_ane_peak_product, false},
    {"matvec-like matmul", plan_ane_gemv, true},
    {"weights-bound", plan_ane_gemv, false},
    {"GEMV ", plan_ane_gemv, false},
    {"weight stream bandwidth", plan_ane_weight_stream, false},
    {"Llama LM head", plan_ane_head, false},
    {"conv1x1 per-layer", plan_ane_layer, false},
    {"conv1x1 C", plan_ane_conv, true},
    {"conv3x3 C", plan_ane_conv, true},
    {"conv1x1 512ch", plan_ane_peak_stack, false},
    {"inmem_peak", plan_ane_peak_stack, false},
    {"single conv", plan_ane_single, false},
    {"execution path", plan_ane_single, false},
    {"chain of", plan_ane_chain, true},
    {"* x conv ", plan_ane_counted_stack, false},
    {"* fused conv+relu layers", plan_ane_fused_layers, false},
    {"streaming ", plan_ane_streaming, false},
    {"attention S", plan_ane_attention, false},
    {"Whisper ", plan_ane_whisperkit, false},
    {"DenseNet-121", plan_ane_network, false},
    {"ResNet-18", plan_ane_network, false},
    {"MiniLM", plan_ane_network, false},
    {"ViT-B/16", plan_ane_network, false},
    {"CLIP ViT-H", plan_ane_network, false},
    {"ChickenDetector", plan_ane_network, false},
    {"4x Llama-2-7B MLP", plan_ane_feed_forward, false},
    {"Llama-2-7B decode", plan_ane_chunks, false},
    {"GPT-2 124M decode", plan_ane_gpt2, false},
    {"Stories110M training", plan_ane_training, false},
    {"Stable Diffusion 2.1 base", plan_ane_diffusion, false},
    {"SDXL ", plan_ane_diffusion_large, false},
    {"Phi-4-mini decode", plan_ane_phi4, false},
    {"Hy-MT 1.8B decode", plan_ane_hymt, false},
    {"small LM decode", plan_ane_small_decoder, false},
    {"layernorm", plan_ane_norm, false},
    {"rmsnorm", plan_ane_norm, false},
    {"groupnorm", plan_ane_norm, false},
    {"DFT", plan_ane_fourier, false},
    {"Jacobi", plan_ane_jacobi, false},
    {"stencil32", plan_ane_stencil, false},
    {"int4 palette speed-up", plan_ane_speed_up, false},
    {"sparse speed-up", plan_ane_speed_up, false},
    {"dispatch floor", plan_ane_smallest, false},
    {"dispatch total", plan_ane_smallest, false},
    {"wake after", plan_ane_wake, false},
};

/* Patterns anywhere in the row's workload, tried in order. */
static const char *const refusals[][2] = {
    {"power floor", "the least of a sweep, without what ran"},
    {"rail power", "the source does not say what ran"},
    {"power, ", "the source does not say what ran"},
    {"conv 256 power", "the source does not give the size"},
    {"BERT", "the power of a phone, at a clock that the source does not state"},
    {"dispatch ", "a part of ane.request_us, which is one parameter"},
    {"compile ", "compiling is host software"},
    {"load ", "loading is host software"},
    {"cluster scaling", "the size of the loop that is bound by dispatches is not given"},
    {"weight-size sweep", "the source does not give the batch"},
    {"1x1 conv sustained", "the source does not give the size"},
    {"DRAM", "traffic by counters of the memory controller, not a time"},
    {"memory size", "a size, not a time"},
    {"auto-suspend", "a policy of the operating system"},
    {"DVFS", "a policy of the operating system"},
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
    static const char *const names[][2] = {{"fp16", "f16"},
                                           {"", "f16"},
                                           {"int8", "i8"},
                                           {"int4", "i4"},
                                           {"lut2", "p2"},
                                           {"lut4", "i4"},
                                           {"lut6", "p6"},
                                           {"6-bit LUT", "p6"},
                                           {"4-bit LUT", "i4"},
                                           {"mixed-bit LUT", "i4"},
                                           {"fp16 sparse", "sparse"},
                                           {"quantized", "p8"},
                                           {"mixed", "f16"},
                                           {"lut4 + int8 activations", "i4"}};
    const char *const text = validate_cell(row, "precision"), *const chip = validate_cell(row, "chip");
    /* Activations of 8 bits bring nothing before M4 (key ane.int8_rate): these engines multiply them as fp16. */
    if (strcmp(text, "lut2 + int8 activations") == 0 && chip[0] == 'M' && chip[1] >= '1' && chip[1] <= '3')
        return "p2";
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (strcmp(text, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

static double watts_of(const char *unit)
{
    return strcmp(unit, "W") == 0 ? 1 : strcmp(unit, "mW") == 0 ? 1e-3 : 0;
}

/* In fp16, on any chip. Left out are loops, which repeat shapes that exist as single calls. */
static bool is_engine_level(const struct validate_row *row)
{
    return watts_of(row->unit) == 0 && strcmp(validate_cell(row, "precision"), "fp16") == 0 &&
           strncmp(row->condition, "loop", 4) != 0;
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
    program->submitted = true;
    program->power = a.watts > 0;
    program->domains = 1u << POWER_ANE;
    for (size_t i = 0; i < ARRAY_COUNT(plans); i++) {
        const char *const what = plans[i].what;
        if (*what == '*' ? !strstr(row->what, what + 1) : strncmp(row->what, what, strlen(what)) != 0)
            continue;
        row->engine_level = plans[i].engine_level && is_engine_level(row);
        return a.precision
                   ? plans[i].plan(&a)
                   : validate_refuse(row, "weights in '%.30s': no such programs are built", validate_cell(row, "precision"));
    }
    if (strcmp(row->what, "dispatch") == 0)
        return plan_ane_dispatch(&a);
    for (size_t i = 0; i < ARRAY_COUNT(refusals); i++)
        if (strstr(row->what, refusals[i][0]))
            return validate_refuse(row, "%s", refusals[i][1]);
    if (is_figure_of_network(row->unit) || strcmp(row->unit, "ms") == 0)
        return validate_refuse(row, "a whole network whose layers are not published");
    return validate_refuse(row, "no program for '%.80s'", row->what);
}
