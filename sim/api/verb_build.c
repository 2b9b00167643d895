/* orchard build: programs of a unit as files that run and disasm accept. */
#include "sim/workload/ane/ane_workload.h"
#include "sim/api/api.h"
#include "sim/workload/amx/kernel.h"

#include <stdlib.h>
#include <string.h>

const struct cli_option cmd_build_options[] = {
    {"unit", 0, "UNIT", false, "ane: whose program it becomes"},
    {"output", 'o', "FILE", false,
     "OUT.hwx for the container of Apple's compiler, OUT.bin for bare descriptors and coefficients"},
    {"precision", 0, "TYPE", false, "weights: f16 (default), i8, i4"},
    {"input", 0, "NAME=FILE", true, "a constant of the kernel (weights), .npy; others are generated"},
    {0},
};

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool check_request(const char *unit, const char *workload, struct orch_error *error)
{
    unsigned choice;
    if (!cli_choice("--unit", unit ? unit : "ane", "ane|gpu", &choice, error))
        return false;
    if (ends_with(workload, ".onnx") || !kernel_is_workload(workload))
        return orch_fail(error, ORCH_UNMODELLED, "%.200s: networks are not read yet; KERNEL:SHAPE is built (orchard kernels)",
                         workload);
    if (choice == 1)
        return orch_fail(error, ORCH_UNMODELLED, "--unit gpu: kernels of the GPU are not written to files yet; the ane's are");
    return true;
}

/* The other container: the same descriptors, coefficients and ports. */
static bool save_as(const struct ane_program *p, const char *path, struct orch_error *error)
{
    struct ane_program_parts parts = {.container = ends_with(path, ".hwx") ? ANE_CONTAINER_HWX : ANE_CONTAINER_RAW,
                                      .generation = p->generation,
                                      .task = p->task,
                                      .count = p->count,
                                      .coefficients = p->bytes + p->const_offset,
                                      .coefficient_bytes = p->const_bytes};
    struct ane_program made;
    struct isa_error why = {0};
    memcpy(parts.port, p->port, sizeof parts.port);
    if (parts.container == p->container)
        return cmd_write_file(path, p->bytes, p->size, error);
    if (!ane_program_make(&parts, &made, &why))
        return orch_fail(error, ORCH_USAGE, "%.200s: %s", path, why.text);
    const bool ok = cmd_write_file(path, made.bytes, made.size, error);
    ane_program_free(&made);
    return ok;
}

static bool build(struct cmd_context *context, const struct chip *chip, const char *text, const char *path,
                  struct orch_error *error)
{
    const struct cli_args *a = &context->args;
    struct ane_workload workload = {.arrays = 0};
    const size_t count = cli_count(a, "input");
    const char **inputs = calloc(count + 1, sizeof *inputs);
    if (!inputs)
        return orch_no_memory(error);
    for (size_t i = 0; i < count; i++)
        inputs[i] = cli_value_at(a, "input", i);
    bool ok =
        ane_workload_open_kernel(&workload, text, cli_value(a, "precision"), chip, context->common.seed, inputs, count, error);
    ok = ok && save_as(&workload.kernel.program, path, error);
    if (ok)
        cmd_note(context, "%s: %zu descriptor%s, %zu bytes of coefficients (%s)", path, workload.kernel.program.count,
                 workload.kernel.program.count == 1 ? "" : "s", workload.kernel.program.const_bytes, workload.kernel.variant);
    ane_workload_close(&workload);
    free(inputs);
    return ok;
}

int cmd_build(struct cmd_context *context, int argc, char **argv)
{
    struct orch_error error = {0};
    struct cmd_chips chips = {0};
    const char *output = cli_value(&context->args, "output");
    if (argc != 1)
        return cmd_usage(context, "expected one KERNEL:SHAPE");
    if (!output || !output[0])
        return cmd_usage(context, "build needs -o OUT");
    bool ok = check_request(cli_value(&context->args, "unit"), argv[0], &error) && cmd_chips_open(context, NULL, &chips, &error);
    if (ok && chips.count != 1)
        ok = orch_fail(&error, ORCH_USAGE, "--chip: one chip, whose limits count");
    ok = ok && build(context, chips.chip[0], argv[0], output, &error);
    cmd_chips_close(&chips);
    return ok ? ORCH_OK : cmd_fail(context, &error);
}
