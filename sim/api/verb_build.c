/* The verb build: writes a kernel, or the kernels of a network, as program files of a unit, which the verbs run and isa accept.
 */
#include "sim/api/api.h"
#include "sim/api/verb_run_network.h"
#include "sim/run/network/run_build.h"
#include "sim/workload/ane/ane_save.h"
#include "sim/workload/ane/ane_workload.h"

#include <stdlib.h>
#include <string.h>

static const struct orchard_option option_table[] = {
    {"unit", 0, "UNIT", false, "ane (default) or gpu: whose programs they become"},
    {"output", 'o', "OUT", false,
     "of a network: the folder; of a kernel of the ane: OUT.hwx for the container of Apple's compiler, OUT.bin for bare "
     "descriptors and coefficients; of the gpu: a folder"},
    {"precision", 0, "TYPE", false, "ane: weights: f16 (default), i8, i4 ...; gpu: f32 (default), f16"},
    {"input", 0, "NAME=FILE", true, "a constant of the kernel (weights), or an input of the network, .npy; others are generated"},
    {"dim", 0, "NAME=N", true, "networks: the size of a dimension that the file leaves open; repeats"},
    {"opt", 0, "0|1|2", false, "networks: passes: 0 folds constants, 1 also tidies up, 2 (default) also fuses"},
    {"no-pass", 0, "NAME", true, "networks: leave a pass out; repeats"},
    {0},
};

/* A kernel of the Neural Engine, whose constants may come from files. */
static bool build_engine(struct api_context *context, const struct run_request *q, const char *path, struct orch_error *error)
{
    struct ane_workload workload = {.arrays = 0};
    bool ok = ane_workload_open_kernel(&workload, q->workload, q->precision, q->chip, q->seed, q->inputs, q->input_count, error);
    ok = ok && ane_save(&workload.kernel.program, path, error);
    if (ok)
        api_note(context, "%s: %zu descriptor%s, %zu bytes of coefficients (%s)", path, workload.kernel.program.count,
                 workload.kernel.program.count == 1 ? "" : "s", workload.kernel.program.const_bytes, workload.kernel.variant);
    ane_workload_close(&workload);
    return ok;
}

static bool build_others(struct api_context *context, const struct run_request *q, const char *path, struct orch_error *error)
{
    struct run_built built;
    if (!run_build(q, path, &built, error))
        return false;
    if (run_is_network(q->workload))
        api_note(context,
                 "%s: %u program%s of the %s, %.0f bytes; network.json has their order, %u kernel%s of other units, and %u "
                 "operator%s without one",
                 path, built.programs, built.programs == 1 ? "" : "s", q->unit, built.code_bytes, built.elsewhere,
                 built.elsewhere == 1 ? "" : "s", built.left, built.left == 1 ? "" : "s");
    else
        api_note(context, "%s: %u launch%s, %.0f bytes of code", path, built.programs, built.programs == 1 ? "" : "es",
                 built.code_bytes);
    return true;
}

static bool build(struct api_context *context, const struct chip *chip, const char *workload, const char *path,
                  struct orch_error *error)
{
    const struct api_args *const a = &context->args;
    const bool network = run_is_network(workload);
    struct verb_run_network passes = {.text = NULL};
    const size_t count = api_count(a, "input");
    const char **const inputs = calloc(count + 1, sizeof *inputs);
    unsigned unit = 0;
    struct run_request q = {.chip = chip,
                            .workload = workload,
                            .precision = api_value(a, "precision"),
                            .inputs = inputs,
                            .input_count = count,
                            .seed = context->common.seed,
                            .threads = context->common.threads};
    for (size_t i = 0; inputs && i < count; i++)
        inputs[i] = api_value_at(a, "input", i);
    bool ok = (inputs || orch_no_memory(error)) && api_chosen(a, "unit", "ane|gpu", &unit, error) &&
              (!network || verb_run_network_read(a, &passes, &q, error));
    q.unit = unit == 1 ? "gpu" : "ane";
    ok = ok && (network || unit == 1 ? build_others : build_engine)(context, &q, path, error);
    verb_run_network_free(&passes);
    free(inputs);
    return ok;
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    struct api_chips chips = {0};
    const char *output = api_value(&context->args, "output");
    if (words != 1)
        return api_usage(context, "expected one network or KERNEL:SHAPE");
    if (!output || !output[0])
        return api_usage(context, "build needs " ORCH_LETTER("o", "output") " OUT");
    bool ok = api_chips_open(context, NULL, &chips, &error);
    if (ok && chips.count != 1)
        ok = orch_fail(&error, ORCH_USAGE, ORCH_OPTION("chip") ": one chip, whose limits count");
    ok = ok && build(context, chips.chip[0], word[0], output, &error);
    api_chips_close(&chips);
    return ok ? ORCH_OK : api_fail(context, &error);
}

const struct api_verb verb_build = {
    .help =
        {
            .name = "build",
            .synopsis = "X.onnx|X.mlmodel|model:NAME|KERNEL:SHAPE --unit ane|gpu -o OUT",
            .summary = "writes a network or a kernel as programs of a unit",
            .text =
                "Of the Neural Engine: OUT.hwx is a container like those of Apple's compiler, other names get bare descriptors "
                "with\ncoefficients behind; run and isa disasm ane take both. Of the GPU: folders with code.bin and abi.json, "
                "which run\nand isa disasm agx take. A network becomes a folder with a program for each kernel, weights "
                "inside, and\nnetwork.json: their order, what each reads and writes, and what other units compute. Constants "
                "of kernels are\ngenerated unless --input names a file.",
            .examples = "orchard build conv2d:n=1,c=64,h=56,w=56,k=64,r=3,s=3,pad=1 --unit ane -o conv.hwx\n"
                        "orchard build examples/models/digits.onnx --dim batch=1 --unit gpu -o digits-gpu",
            .options = option_table,
        },
    .ask = ask,
};
