#include "sim/workload/ane/ane_workload.h"

#include "sim/chip/chip_units.h"
#include "sim/base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ane_workload_has(const char *workload)
{
    const char *colon = strchr(workload, ':');
    return colon && ane_kernel_find(workload, (size_t)(colon - workload));
}

/* ---- arrays ---- */

static void add_ports(struct ane_workload *w, enum ane_port_kind kind)
{
    for (unsigned bar = 0; bar < ANE_BARS; bar++)
        if (w->kernel.program.port[bar].kind == kind)
            ane_array_of_port(&w->kernel.program, bar, &w->array[w->arrays++]);
}

static void add_tensors(struct ane_workload *w)
{
    for (unsigned i = 0; i < w->kernel.tensors; i++)
        ane_array_of_tensor(&w->kernel.tensor[i], &w->array[w->arrays++]);
}

const struct ane_array *ane_workload_find(const struct ane_workload *w, const char *name, size_t length, unsigned roles,
                                          struct orch_error *error)
{
    char list[256] = "", given[64];
    size_t used = 0;
    struct suggest s;
    char phrase[96];
    snprintf(given, sizeof given, "%.*s", (int)length, name);
    suggest_start(&s, given);
    for (unsigned i = 0; i < w->arrays; i++) {
        const struct ane_array *v = &w->array[i];
        if (!(roles >> v->role & 1))
            continue;
        if (strlen(v->name) == length && memcmp(v->name, name, length) == 0)
            return v;
        suggest_offer(&s, v->name);
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", v->name);
    }
    orch_fail(error, ORCH_USAGE, "%.100s has no input '%.60s'%s; it has %s", w->name, given,
              suggest_phrase(&s, phrase, sizeof phrase), used ? list : "none");
    return NULL;
}

bool ane_workload_input(const char *text, size_t *name_length, const char **path, struct orch_error *error)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("input") " %.200s: expected NAME=FILE", text);
    *name_length = (size_t)(equals - text);
    *path = equals + 1;
    return true;
}

/* ---- kernels ---- */

/* isa_error.offset is 1 for limits of the generation and 0 for wrong requests. */
static bool build(struct ane_workload *w, struct orch_error *error)
{
    struct isa_error why = {0};
    if (ane_kernel_build(&w->request, &w->kernel, &why))
        return true;
    return orch_fail(error, why.offset ? ORCH_UNMODELLED : ORCH_USAGE, "%s", why.text);
}

/* Reads the constants that `inputs` give; their names are known once the kernel is built. *any says that it must be built again.
 */
static bool read_constants(struct ane_workload *w, const char *const *inputs, size_t count, bool *any, struct orch_error *error)
{
    const unsigned roles = 1u << ANE_TENSOR_INPUT | 1u << ANE_TENSOR_CONSTANT;
    for (size_t i = 0; i < count; i++) {
        size_t length, number = 0;
        const char *path;
        const struct ane_array *v = NULL;
        if (!ane_workload_input(inputs[i], &length, &path, error) || !(v = ane_workload_find(w, inputs[i], length, roles, error)))
            return false;
        if (v->role != ANE_TENSOR_CONSTANT)
            continue;
        for (const struct ane_array *before = w->array; before < v; before++)
            number += before->role == ANE_TENSOR_CONSTANT;
        if (number >= ANE_WORKLOAD_CONSTANTS)
            return orch_fail(error, ORCH_INTERNAL, "%s: more than %d constants", w->name, ANE_WORKLOAD_CONSTANTS);
        free(w->constant[number]);
        w->request.constant[number] = w->constant[number] = ane_array_load_floats(v, path, error);
        if (!w->constant[number])
            return false;
        *any = true;
    }
    return true;
}

static bool build_again(struct ane_workload *w, struct orch_error *error)
{
    ane_kernel_free(&w->kernel);
    memset(&w->kernel, 0, sizeof w->kernel);
    return build(w, error);
}

static uint64_t constant_count(const struct ane_workload *w, size_t number)
{
    for (unsigned i = 0; i < w->arrays; i++)
        if (w->array[i].role == ANE_TENSOR_CONSTANT && number-- == 0)
            return ane_array_count(&w->array[i]);
    return 0;
}

bool ane_workload_set_constants(struct ane_workload *w, const float *const *values, struct orch_error *error)
{
    for (size_t i = 0; i < ANE_WORKLOAD_CONSTANTS; i++) {
        const uint64_t count = values[i] ? constant_count(w, i) : 0;
        if (!count)
            continue;
        float *copy = malloc(count * sizeof *copy);
        if (!copy)
            return orch_no_memory(error);
        memcpy(copy, values[i], count * sizeof *copy);
        free(w->constant[i]);
        w->request.constant[i] = w->constant[i] = copy;
    }
    return build_again(w, error);
}

static void describe(struct ane_workload *w)
{
    const int length = ane_kernel_describe(&w->request, w->text, sizeof w->text);
    if (length > 0 && (size_t)length < sizeof w->text)
        snprintf(w->text + length, sizeof w->text - (size_t)length, " %s", w->precision);
}

static bool open_kernel(struct ane_workload *w, const char *text, const char *precision, const struct chip *chip,
                        struct orch_error *error)
{
    struct isa_error why = {0};
    if (!chip_ane_limits(chip, &w->request.limits, error))
        return false;
    if (!ane_kernel_parse(text, precision, &w->request, &why))
        return orch_fail(error, why.offset ? ORCH_UNMODELLED : ORCH_USAGE, "%s", why.text);
    w->precision = ane_weight_type_name(w->request.weights);
    snprintf(w->name, sizeof w->name, "%s", w->request.info->name);
    describe(w);
    if (!build(w, error))
        return false;
    add_tensors(w);
    return true;
}

bool ane_workload_open_kernel(struct ane_workload *w, const char *text, const char *precision, const struct chip *chip,
                              uint64_t seed, const char *const *inputs, size_t input_count, struct orch_error *error)
{
    bool again = false;
    memset(w, 0, sizeof *w);
    w->request.seed = seed;
    return open_kernel(w, text, precision, chip, error) && read_constants(w, inputs, input_count, &again, error) &&
           (!again || build_again(w, error));
}

bool ane_workload_open_blank(struct ane_workload *w, const char *text, const char *precision, const struct chip *chip,
                             struct orch_error *error)
{
    memset(w, 0, sizeof *w);
    w->request.blank = true;
    return open_kernel(w, text, precision, chip, error);
}

/* ---- files ---- */

/* The CPU subtype of Apple's container names the generation (freedomtan/coreml_to_ane_hwx). Descriptors of generations other than
 * H13 have their fields elsewhere, so a file that does not decode need not be damaged. */
static bool is_of_another_generation(const uint8_t *bytes, size_t size)
{
    static const uint8_t magic[4] = {0xce, 0xfa, 0xef, 0xbe};
    enum { SUBTYPE = 8, H13_SUBTYPE = 4 };
    return size > SUBTYPE && memcmp(bytes, magic, sizeof magic) == 0 && bytes[SUBTYPE] != H13_SUBTYPE;
}

bool ane_workload_open_file(struct ane_workload *w, const char *path, const uint8_t *bytes, size_t size, struct orch_error *error)
{
    const char *slash = strrchr(path, '/');
    struct isa_error why = {0};
    memset(w, 0, sizeof *w);
    snprintf(w->name, sizeof w->name, "%s", slash ? slash + 1 : path);
    w->precision = "f16";
    if (!ane_program_parse(bytes, size, &w->kernel.program, &why))
        return orch_fail(error, is_of_another_generation(bytes, size) ? ORCH_UNMODELLED : ORCH_USAGE, "%.250s: byte 0x%lx: %s",
                         path, why.offset, why.text);
    add_ports(w, ANE_PORT_INPUT);
    add_ports(w, ANE_PORT_OUTPUT);
    return true;
}

void ane_workload_close(struct ane_workload *w)
{
    if (w->request.info)
        ane_kernel_free(&w->kernel);
    else
        ane_program_free(&w->kernel.program);
    for (size_t i = 0; i < ANE_WORKLOAD_CONSTANTS; i++)
        free(w->constant[i]);
    memset(w, 0, sizeof *w);
}
