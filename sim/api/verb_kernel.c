/* orchard kernel: GPU kernels against what they must compute. */
#include "sim/prove/check/gpu_kernels.h"
#include "sim/api/api.h"

#include <string.h>

const struct cli_option cmd_kernel_options[] = {
    {"path", 0, "PATH", false, "execute by fast (default) or reference, one lane at a time"},
    {"sanitize", 0, NULL, false, "also look for races, accesses out of bounds and reads before their wait"},
    {0},
};

int cmd_kernel(struct cmd_context *context, int argc, char **argv)
{
    struct orch_error error = {0};
    struct check_report report = {0};
    unsigned verb, path = 0;
    const char *path_name = cli_value(&context->args, "path");
    if (argc < 2)
        return cmd_usage(context, "expected check and a folder of kernels");
    if (!cli_choice("kernel command", argv[0], "check", &verb, &error) ||
        (path_name && !cli_choice("--path", path_name, "fast|reference", &path, &error)))
        return cmd_fail(context, &error);
    const struct check_gpu_options options = {context->common.threads, path == 1, cli_has(&context->args, "sanitize")};
    const bool ok = check_gpu_kernels(argv[1], (const char *const *)argv + 2, (size_t)argc - 2, &options, &report, &error);
    const int code = ok ? cmd_print_report(context, &report) : cmd_fail(context, &error);
    check_report_free(&report);
    return code;
}
