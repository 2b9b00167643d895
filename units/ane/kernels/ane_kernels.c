#include "units/ane/kernels/ane_kernels.h"

#include "isa/array_count.h"
#include "units/ane/kernels/ane_kernel_family.h"

#include <string.h>

static const struct ane_kernel_family *const families[] = {
#define X(family) &ane_family_##family,
    ANE_KERNEL_FAMILIES(X)
#undef X
};
enum { FAMILIES = ARRAY_COUNT(families) };

static const char *const type_names[ANE_WEIGHT_TYPES] = {
    [ANE_WEIGHT_F16] = "f16",       [ANE_WEIGHT_I8] = "i8",       [ANE_WEIGHT_PALETTE4] = "i4", [ANE_WEIGHT_PALETTE8] = "p8",
    [ANE_WEIGHT_SPARSE] = "sparse", [ANE_WEIGHT_PALETTE6] = "p6", [ANE_WEIGHT_PALETTE2] = "p2",
};

const char *ane_weight_type_name(enum ane_weight_type type)
{
    return type < ANE_WEIGHT_TYPES ? type_names[type] : "?";
}

/* ---- the table ---- */

size_t ane_kernel_count(void)
{
    size_t count = 0;
    for (unsigned i = 0; i < FAMILIES; i++)
        count += families[i]->count;
    return count;
}

const struct ane_kernel_info *ane_kernel_at(size_t index)
{
    for (unsigned i = 0; i < FAMILIES; i++) {
        if (index < families[i]->count)
            return &families[i]->row[index];
        index -= families[i]->count;
    }
    return NULL;
}

static struct kernel_form form_of(const struct ane_kernel_info *info)
{
    return (struct kernel_form){info->name, info->grammar, info->positional, info->parameter};
}

static bool form_at(size_t index, struct kernel_form *form)
{
    const struct ane_kernel_info *info = ane_kernel_at(index);
    if (info)
        *form = form_of(info);
    return info != NULL;
}

static const struct kernel_library library = {form_at};

const struct ane_kernel_info *ane_kernel_find(const char *name, size_t length)
{
    size_t index;
    return kernel_library_find(&library, name, length, &index) ? ane_kernel_at(index) : NULL;
}

/* ---- requests ---- */

static bool read_precision(const char *precision, struct ane_kernel_request *request, struct isa_error *error)
{
    request->weights = ANE_WEIGHT_F16;
    for (unsigned i = 0; precision && i < ANE_WEIGHT_TYPES; i++)
        if (strcmp(type_names[i], precision) == 0) {
            request->weights = (enum ane_weight_type)i;
            return true;
        }
    return !precision ||
           kernel_refuse(error, "%s on the Neural Engine has no precision '%.40s'; weights are one of f16 i8 i4 p2 p6 p8 sparse",
                         request->info->name, precision);
}

bool ane_kernel_parse(const char *workload, const char *precision, struct ane_kernel_request *request, struct isa_error *error)
{
    struct kernel_form form;
    size_t index;
    const char *options = kernel_library_choose(&library, workload, &index, &form, error);
    request->info = options ? ane_kernel_at(index) : NULL;
    if (!options)
        return false;
    memset(request->value, 0, sizeof request->value);
    memset(request->decimal, 0, sizeof request->decimal);
    return read_precision(precision, request, error) && kernel_text_read(&form, options, request->value, request->decimal, error);
}

int ane_kernel_describe(const struct ane_kernel_request *request, char *text, size_t size)
{
    const struct kernel_form form = form_of(request->info);
    return kernel_text_write(&form, request->value, request->decimal, text, size);
}

/* ---- building ---- */

bool ane_kernel_build(const struct ane_kernel_request *request, struct ane_kernel *kernel, struct isa_error *error)
{
    memset(kernel, 0, sizeof *kernel);
    if (request->info->build(request, kernel, error))
        return true;
    ane_kernel_free(kernel);
    return false;
}

void ane_kernel_free(struct ane_kernel *kernel)
{
    ane_program_free(&kernel->program);
    memset(kernel, 0, sizeof *kernel);
}
