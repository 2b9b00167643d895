#include "units/gpu/kernels/gpu_kernels.h"

#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_kernel_family.h"
#include "units/gpu/kernels/gpu_kernel_slices.h"

#include <stdio.h>
#include <string.h>

static const struct gpu_kernel_family *const families[] = {
#define X(family) &gpu_family_##family,
    GPU_KERNEL_FAMILIES(X)
#undef X
};
enum { FAMILIES = ARRAY_COUNT(families) };

/* Blocks of quantised types: ggml (block_q4_0, block_q8_0, block_q4_K). */
static const struct type_row {
    const char *name;
    unsigned block_elements, block_bytes;
} types[GPU_TYPE_COUNT] = {
    [GPU_F32] = {"f32", 1, 4},       [GPU_F16] = {"f16", 1, 2},     [GPU_BF16] = {"bf16", 1, 2},
    [GPU_I32] = {"i32", 1, 4},       [GPU_U32] = {"u32", 1, 4},     [GPU_U8] = {"u8", 1, 1},
    [GPU_Q4_0] = {"q4_0", 32, 18},   [GPU_Q8_0] = {"q8_0", 32, 34}, [GPU_Q4_K] = {"q4_k", 256, 144},
    [GPU_Q6_K] = {"q6_k", 256, 210},
};

const char *gpu_type_name(enum gpu_type type)
{
    return type < GPU_TYPE_COUNT ? types[type].name : "?";
}

uint64_t gpu_type_bytes(enum gpu_type type, uint64_t count)
{
    const struct type_row *row = &types[type];
    return (count + row->block_elements - 1) / row->block_elements * row->block_bytes;
}

/* ---- the table ---- */

size_t gpu_kernel_count(void)
{
    size_t count = 0;
    for (unsigned i = 0; i < FAMILIES; i++)
        count += families[i]->count;
    return count;
}

const struct gpu_kernel_info *gpu_kernel_at(size_t index)
{
    for (unsigned i = 0; i < FAMILIES; i++) {
        if (index < families[i]->count)
            return &families[i]->row[index];
        index -= families[i]->count;
    }
    return NULL;
}

static struct kernel_form form_of(const struct gpu_kernel_info *info)
{
    return (struct kernel_form){info->name, info->grammar, info->positional, info->parameter};
}

static bool form_at(size_t index, struct kernel_form *form)
{
    const struct gpu_kernel_info *info = gpu_kernel_at(index);
    if (info)
        *form = form_of(info);
    return info != NULL;
}

static const struct kernel_library library = {form_at};

const struct gpu_kernel_info *gpu_kernel_find(const char *name, size_t length)
{
    size_t index;
    return kernel_library_find(&library, name, length, &index) ? gpu_kernel_at(index) : NULL;
}

/* ---- requests ---- */

static bool read_precision(const char *precision, struct gpu_kernel_request *request, struct isa_error *error)
{
    const struct gpu_kernel_info *info = request->info;
    const size_t length = precision ? strlen(precision) : strcspn(info->precisions, " ");
    const char *name = precision ? precision : info->precisions;
    int64_t index;
    for (unsigned t = 0; kernel_word_listed(info->precisions, ' ', name, length, &index) && t < GPU_TYPE_COUNT; t++)
        if (strlen(types[t].name) == length && memcmp(types[t].name, name, length) == 0) {
            request->type = (enum gpu_type)t;
            return true;
        }
    return kernel_refuse(error, "%s on the GPU has no precision '%s'; it has %s", info->name, name, info->precisions);
}

bool gpu_kernel_parse(const char *workload, const char *precision, struct gpu_kernel_request *request, struct isa_error *error)
{
    struct kernel_form form;
    size_t index;
    const char *options = kernel_library_choose(&library, workload, &index, &form, error);
    request->info = options ? gpu_kernel_at(index) : NULL;
    if (!options)
        return false;
    memset(request->value, 0, sizeof request->value);
    memset(request->decimal, 0, sizeof request->decimal);
    return read_precision(precision, request, error) && kernel_text_read(&form, options, request->value, request->decimal, error);
}

int gpu_kernel_describe(const struct gpu_kernel_request *request, char *text, size_t size)
{
    const struct kernel_form form = form_of(request->info);
    return kernel_text_write(&form, request->value, request->decimal, text, size);
}

/* ---- building ---- */

unsigned gpu_kernel_add_buffer(struct gpu_kernel *kernel, const char *name, enum gpu_type type, uint64_t count,
                               enum gpu_buffer_role role, double low, double high)
{
    if (kernel->buffers == GPU_KERNEL_BUFFERS)
        return GPU_KERNEL_BUFFERS - 1;
    struct gpu_kernel_buffer *b = &kernel->buffer[kernel->buffers];
    *b = (struct gpu_kernel_buffer){.type = type, .count = count, .role = role, .low = low, .high = high};
    snprintf(b->name, sizeof b->name, "%s", name);
    return kernel->buffers++;
}

bool gpu_kernel_build(const struct gpu_kernel_request *request, struct gpu_kernel *kernel, struct isa_error *error)
{
    memset(kernel, 0, sizeof *kernel);
    if (request->info->build(request, kernel, error))
        return true;
    gpu_kernel_free(kernel);
    struct isa_error slices = {0};
    if (gpu_kernel_build_slices(request, kernel, &slices))
        return true;
    gpu_kernel_free(kernel);
    if (slices.text[0])
        *error = slices;
    return false;
}

void gpu_kernel_free(struct gpu_kernel *kernel)
{
    for (unsigned i = 0; i < kernel->steps; i++)
        agx_assembly_free(&kernel->step[i].code);
    memset(kernel, 0, sizeof *kernel);
}
