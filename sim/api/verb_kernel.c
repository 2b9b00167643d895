/* The verb kernel: checks GPU kernels against what they must compute. */
#include "sim/prove/check/gpu_kernels.h"
#include "sim/api/api.h"

#include <string.h>

static const struct orchard_option option_table[] = {
    {"path", 0, "PATH", false, "execute by fast (default) or reference, one lane at a time"},
    {"sanitize", 0, NULL, false, "also look for races, accesses out of bounds and reads before their wait"},
    {0},
};

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    struct check_report report = {0};
    unsigned verb, path = 0;
    if (words < 2)
        return api_usage(context, "expected check and a folder of kernels");
    if (!api_choice("kernel command", word[0], "check", &verb, &error) ||
        !api_chosen(&context->args, "path", "fast|reference", &path, &error))
        return api_fail(context, &error);
    const struct check_gpu_options options = {context->common.threads, path == 1, api_has(&context->args, "sanitize")};
    const bool ok = check_gpu_kernels(word[1], word + 2, (size_t)words - 2, &options, &report, &error);
    const int code = ok ? api_report(context, &report) : api_fail(context, &error);
    check_report_free(&report);
    return code;
}

const struct api_verb verb_kernel = {
    .help =
        {
            .name = "kernel",
            .synopsis = "check DIR [NAME...]",
            .summary = "GPU kernels against their expected results",
            .text = "DIR holds a folder per kernel with abi.json, machine code, inputs and expected outputs. Outputs are "
                    "compared by each\n"
                    "description's rule, dynamic instruction counts exactly.",
            .examples = "orchard kernel check kernels/agx\n"
                        "orchard kernel check kernels/agx sgemm_tiled histogram",
            .options = option_table,
        },
    .ask = ask,
};
