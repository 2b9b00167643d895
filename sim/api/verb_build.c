/* The verb build: writes a kernel as a program file of a unit, which the verbs run and isa accept. */
#include "sim/base/output_file.h"
#include "sim/workload/ane/ane_workload.h"
#include "sim/api/api.h"
#include "sim/workload/amx/kernel.h"

#include <stdlib.h>
#include <string.h>

static const struct orchard_option option_table[] = {
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
    if (!api_choice(ORCH_OPTION("unit"), unit ? unit : "ane", "ane|gpu", &choice, error))
        return false;
    if (ends_with(workload, ".onnx") || !kernel_is_workload(workload))
        return orch_fail(error, ORCH_UNMODELLED, "%.200s: networks are not read yet; KERNEL:SHAPE is built (orchard kernels)",
                         workload);
    if (choice == 1)
        return orch_fail(error, ORCH_UNMODELLED,
                         ORCH_OPTION("unit") " gpu: kernels of the GPU are not written to files yet; the ane's are");
    return true;
}

/* Writes the container that the name asks for: descriptors, coefficients and ports are the same in both. */
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
        return output_file_write(path, p->bytes, p->size, error);
    if (!ane_program_make(&parts, &made, &why))
        return orch_fail(error, ORCH_USAGE, "%.200s: %s", path, why.text);
    const bool ok = output_file_write(path, made.bytes, made.size, error);
    ane_program_free(&made);
    return ok;
}

static bool build(struct api_context *context, const struct chip *chip, const char *text, const char *path,
                  struct orch_error *error)
{
    const struct api_args *a = &context->args;
    struct ane_workload workload = {.arrays = 0};
    const size_t count = api_count(a, "input");
    const char **inputs = calloc(count + 1, sizeof *inputs);
    if (!inputs)
        return orch_no_memory(error);
    for (size_t i = 0; i < count; i++)
        inputs[i] = api_value_at(a, "input", i);
    bool ok =
        ane_workload_open_kernel(&workload, text, api_value(a, "precision"), chip, context->common.seed, inputs, count, error);
    ok = ok && save_as(&workload.kernel.program, path, error);
    if (ok)
        api_note(context, "%s: %zu descriptor%s, %zu bytes of coefficients (%s)", path, workload.kernel.program.count,
                 workload.kernel.program.count == 1 ? "" : "s", workload.kernel.program.const_bytes, workload.kernel.variant);
    ane_workload_close(&workload);
    free(inputs);
    return ok;
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    struct api_chips chips = {0};
    const char *output = api_value(&context->args, "output");
    if (words != 1)
        return api_usage(context, "expected one KERNEL:SHAPE");
    if (!output || !output[0])
        return api_usage(context, "build needs " ORCH_LETTER("o", "output") " OUT");
    bool ok = check_request(api_value(&context->args, "unit"), word[0], &error) && api_chips_open(context, NULL, &chips, &error);
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
            .synopsis = "KERNEL:SHAPE --unit ane -o OUT",
            .summary = "writes a kernel as a program of a unit",
            .text = "OUT.hwx is a container like those of Apple's compiler, other names get bare descriptors with coefficients "
                    "behind; run and\n"
                    "isa disasm ane take both. Constants are generated unless --input names a file.",
            .examples = "orchard build conv2d:n=1,c=64,h=56,w=56,k=64,r=3,s=3,pad=1 --unit ane -o conv.hwx",
            .options = option_table,
        },
    .ask = ask,
};
