/* The verb models: lists the built-in zoo, shows a model of it or a file. */
#include "isa/array_count.h"
#include "sim/api/api.h"
#include "sim/api/models_accuracy.h"
#include "sim/api/models_language.h"
#include "sim/api/models_network.h"
#include "sim/api/models_passes.h"
#include "sim/api/models_quantise.h"
#include "sim/base/suggest.h"
#include "sim/language/shape.h"
#include "sim/language/transformers.h"
#include "sim/network/case.h"
#include "sim/network/coreml/coreml.h"
#include "sim/network/encoder/encoder.h"
#include "sim/network/zoo/zoo.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Kinds of files that can be shown, a row each. */
static const struct kind {
    const char *name;
    bool (*is)(const char *path, const void *head, size_t size, uint64_t file_bytes);
    int (*show)(struct api_context *context, const char *path);
} kinds[] = {
    {"GGUF", models_is_gguf, models_show_gguf},
    {"config.json", models_is_config, models_show_config},
    {"safetensors", models_is_safetensors, models_show_safetensors},
    {"ONNX", models_is_onnx, models_show_onnx},
};

/* Says which kinds there are, or which model was probably meant. */
static int show_nothing(struct api_context *context, const char *name, bool is_file)
{
    struct orch_error error = {0};
    struct suggest s;
    char hint[96];
    const struct shape_published *model;
    if (is_file) {
        orch_fail(&error, ORCH_USAGE, "%.300s: is none of the files that are shown:", name);
        for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
            orch_fail_more(&error, "%s %s", i ? "," : "", kinds[i].name);
        return api_fail(context, &error);
    }
    suggest_start(&s, name);
    for (size_t i = 0; (model = shape_published_at(i)); i++)
        suggest_offer(&s, model->name);
    for (size_t i = 0; net_zoo_at(i); i++)
        suggest_offer(&s, net_zoo_at(i)->name);
    orch_fail(&error, ORCH_USAGE, "'%.60s' is neither a file nor a model of the zoo (orchard models)%s", name,
              suggest_phrase(&s, hint, sizeof hint));
    return api_fail(context, &error);
}

static int show_file(struct api_context *context, const char *path, FILE *file)
{
    struct stat st;
    uint8_t head[64];
    if (fstat(fileno(file), &st) != 0 || !S_ISREG(st.st_mode)) {
        fclose(file);
        return show_nothing(context, path, true);
    }
    const size_t size = fread(head, 1, sizeof head, file);
    fclose(file);
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (kinds[i].is(path, head, size, (uint64_t)st.st_size))
            return kinds[i].show(context, path);
    return show_nothing(context, path, true);
}

static int show(struct api_context *context, const char *name);

/* A folder of a network, as model check takes it, or of a language model. */
static int show_folder(struct api_context *context, const char *path)
{
    char model[4096];
    if (transformers_is(path))
        return models_show_folder(context, path);
    return net_case_model(path, model, sizeof model) ? show(context, model) : show_nothing(context, path, true);
}

static int show(struct api_context *context, const char *name)
{
    const char *const in_zoo = strncmp(name, "model:", 6) == 0 ? name + 6 : name;
    const struct shape_published *const model = shape_published_named(in_zoo);
    if (model)
        return models_language_show(context, model);
    if (coreml_is_named(name) || net_zoo_find(name) || encoder_is(name))
        return models_show_onnx(context, name);
    struct stat st;
    if (stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        return show_folder(context, name);
    FILE *const file = fopen(name, "rb");
    if (file)
        return show_file(context, name, file);
    struct orch_error error = {0};
    if (errno == ENOENT)
        return show_nothing(context, in_zoo, false);
    orch_fail(&error, ORCH_USAGE, "%.300s: %s", name, strerror(errno));
    return api_fail(context, &error);
}

static int list(struct api_context *context)
{
    json_object *const rows = json_object_new_array();
    if (!rows)
        return ORCH_INTERNAL;
    models_language_list(context, rows);
    models_network_list(context, rows);
    if (api_wants_document(context))
        api_document(context, rows);
    else
        json_object_put(rows);
    return ORCH_OK;
}

static const struct {
    const char *word;
    int (*ask)(struct api_context *context, const char *name);
} questions[] = {{"show", show}, {"quantize", models_quantise}, {"accuracy", models_accuracy}, {"passes", models_passes}};

static int ask(struct api_context *context, int words, const char *const *word)
{
    if (words == 0 || (words == 1 && strcmp(word[0], "list") == 0))
        return list(context);
    for (size_t i = 0; i < ARRAY_COUNT(questions); i++)
        if (strcmp(word[0], questions[i].word) == 0)
            return words == 2 ? questions[i].ask(context, word[1])
                              : api_usage(context, "expected %s NAME|FILE", questions[i].word);
    if (strcmp(word[0], "check") == 0)
        return api_usage(context, "networks are checked by orchard model check");
    return api_usage(context, "'%s' is neither list, show NAME|FILE, quantize FILE, accuracy FILE nor passes NAME|FILE", word[0]);
}

static const struct orchard_option option_table[] = {
    {"dim", 0, "NAME=N", true,
     "networks: the size of a dimension that is open (of model:NAME: that has another size by itself); repeats"},
    {"value", 0, "NAME=NUMBER", true,
     "networks: the value of an input that is one number, so that what depends on it is folded; repeats"},
    {"opt", 0, "0|1|2", false, "networks: passes: 0 folds constants, 1 also tidies up, 2 (default) also fuses"},
    {"no-pass", 0, "NAME", true, "networks: leave a pass out; repeats"},
    {"pass", 0, "NAME", false, "networks: stop after this pass; memory: where each tensor lies"},
    {"unit", 0, "UNIT", false, "passes: cpu, amx, gpu, ane, hybrid or auto (default)"},
    {"precision", 0, "TYPE", false, "passes: as in run"},
    MODELS_QUANTISE_OPTIONS,
    {0},
};

const struct api_verb verb_models = {
    .help =
        {
            .name = "models",
            .synopsis = "[list]\n"
                        "show NAME|FILE\n"
                        "quantize FILE --to TYPE -o FILE\n"
                        "accuracy FILE --calibrate PATH\n"
                        "passes NAME|FILE [--unit UNIT]",
            .summary = "published models, and files of models",
            .text =
                "list: language models of the zoo with their dimensions, parameters and bytes by format of the weights, and\n"
                "published networks with their parameters; orchard run model:NAME runs either.\n"
                "show: one of them, or a file (GGUF, safetensors, config.json): metadata, tensors, parameters, and which sizes "
                "of\n"
                "memory hold it, of all chips or of those of --chip. Of networks: inputs, operators with shapes, work, "
                "memory,\n"
                "and what passes do: fold dead identity cse batch_norm einsum (from --opt 1 on), integer unsigned directions "
                "steps "
                "hard_swish\n"
                "gelu silu layer_norm rope attention swiglu conv sum matmul (--opt 2). Dimensions without a name are called "
                "INPUT.AXIS.\n"
                "quantize: writes a network (ONNX or Core ML) as ONNX with its weights as integers or halves, in pairs of\n"
                "QuantizeLinear and DequantizeLinear, or pruned,\n"
                "and reports how near its outputs are to those in single precision.\n"
                "accuracy: what weights in f16, int8 and int4 and pruned ones take, and cost the outputs, as one table.\n"
                "passes: what each pass saves on a unit of a chip, in time, joules, launches and bytes of tensors: behind the\n"
                "passes above it, and when it alone is left out. Each number is a difference between runs in mode timing.",
            .examples = "orchard models\n"
                        "orchard models show llama-3-8b --chip m2-max\n"
                        "orchard models show examples/models/stories.gguf --json\n"
                        "orchard models show examples/models/digits.onnx --dim batch=1\n"
                        "orchard models show resnet50\n"
                        "orchard models show examples/models/digits.onnx --dim batch=1 --pass memory\n"
                        "orchard models quantize examples/models/digits.onnx --to int8 --calibrate examples/models --mean 127.5 "
                        "--std 127.5 -o digits8.onnx\n"
                        "orchard models accuracy examples/models/digits.onnx --calibrate examples/models --mean 127.5 --std "
                        "127.5\n"
                        "orchard models passes model:squeezenet --unit gpu",
            .options = option_table,
        },
    .ask = ask,
};
