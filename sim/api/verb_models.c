/* The verb models: looks into networks. */
#include "sim/api/api.h"
#include "sim/network/passes/pass.h"
#include "sim/network/show.h"

#include <stdlib.h>
#include <string.h>

static const struct orchard_option option_table[] = {
    {"dim", 0, "NAME=N", true, "the size of a dimension that the file leaves open; repeats"},
    {"value", 0, "NAME=NUMBER", true, "the value of an input that is one number, so that what depends on it is folded; repeats"},
    {"opt", 0, "0|1|2", false, "passes: 0 folds constants, 1 also tidies up, 2 (default) also fuses"},
    {"no-pass", 0, "NAME", true, "leave a pass out; repeats"},
    {"pass", 0, "NAME", false, "stop after this pass; memory: where each tensor lies"},
    {0},
};

/* The pass that is no change of the graph but a plan. */
static const char memory_pass[] = "memory";

static bool open_model(struct api_context *context, const char *path, const char *last, struct net_model **model,
                       struct net_report *report, struct orch_error *error)
{
    const size_t count = api_count(&context->args, "no-pass");
    const char **const without = calloc(count + 1, sizeof(*without));
    unsigned level = 2;
    bool ok = without || orch_no_memory(error);
    for (size_t k = 0; ok && k < count; k++)
        without[k] = api_value_at(&context->args, "no-pass", k);
    const struct net_pass *const pass = ok && last && strcmp(last, memory_pass) != 0 ? net_pass_find(last, error) : NULL;
    ok = ok && (!last || pass || strcmp(last, memory_pass) == 0) && api_chosen(&context->args, "opt", "0|1|2", &level, error);
    if (pass && (int)level < pass->level)
        level = (unsigned)pass->level;
    *model = ok ? net_import(path, error) : NULL;
    ok = *model != NULL;
    for (size_t k = 0; ok && k < api_count(&context->args, "dim"); k++)
        ok = net_bind(*model, api_value_at(&context->args, "dim", k), error);
    for (size_t k = 0; ok && k < api_count(&context->args, "value"); k++)
        ok = net_fix(*model, api_value_at(&context->args, "value", k), error);
    const struct net_open_options options = {(int)level, without, count, pass ? pass->name : NULL};
    ok = ok && net_prepare(*model, &options, report, error);
    free(without);
    return ok;
}

static int show(struct api_context *context, const char *path)
{
    struct orch_error error = {0};
    struct net_model *model = NULL;
    struct net_report report = {.effects = 0};
    struct net_memory memory = {.of = NULL};
    const char *const last = api_value(&context->args, "pass");
    bool ok = open_model(context, path, last, &model, &report, &error) && net_memory_plan(model, &memory, &error);
    if (ok && api_wants_document(context))
        api_document(context, net_json(model, &report, &memory));
    if (ok && api_wants_text(context) &&
        !net_print(model, &report, &memory, last && strcmp(last, memory_pass) == 0, context->out, context->common.color))
        ok = orch_no_memory(&error);
    net_memory_free(&memory);
    net_model_free(model);
    return ok ? ORCH_OK : api_fail(context, &error);
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    if (words == 2 && strcmp(word[0], "show") == 0)
        return show(context, word[1]);
    return api_usage(context, words ? "'%s' is not show FILE.onnx" : "expected show FILE.onnx%s", words ? word[0] : "");
}

const struct api_verb verb_models = {
    .help =
        {
            .name = "models",
            .synopsis = "show FILE.onnx",
            .summary = "networks: inputs, operators with shapes, work, memory, what passes do",
            .text = "Passes in their order: fold dead identity cse batch_norm (from --opt 1 on), hard_swish gelu silu layer_norm "
                    "rope attention\n"
                    "swiglu conv matmul (--opt 2). The table at the end says what each has saved. Dimensions without a name are "
                    "called\n"
                    "INPUT.AXIS.",
            .examples = "orchard models show mnist.onnx\n"
                        "orchard models show bert.onnx --dim batch=1 --dim sequence=128\n"
                        "orchard models show voice.onnx --value sr=16000\n"
                        "orchard models show resnet.onnx --pass memory",
            .options = option_table,
        },
    .ask = ask,
};
