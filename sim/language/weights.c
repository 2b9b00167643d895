#include "sim/language/weights.h"

#include "isa/list_grow.h"

#include <stdlib.h>
#include <string.h>

bool weight_measure(struct weight_tensor *tensor, struct orch_error *error)
{
    uint64_t count = 1;
    for (unsigned i = 0; i < tensor->dims; i++) {
        if (__builtin_mul_overflow(count, tensor->shape[i], &count) || count > INT64_MAX)
            return orch_fail(error, ORCH_USAGE, "tensor '%.80s': its dimensions multiply to more than 2^63 values", tensor->name);
        if (tensor->shape[i] == 0)
            return orch_fail(error, ORCH_USAGE, "tensor '%.80s': dimension %u is 0", tensor->name, i);
    }
    const struct block_format *const format = tensor->format;
    const uint64_t row = tensor->dims ? tensor->shape[0] : 1;
    uint64_t bytes;
    if (row % format->values != 0)
        return orch_fail(error, ORCH_USAGE, "tensor '%.80s': rows of %llu values are no multiple of %s's blocks of %u",
                         tensor->name, (unsigned long long)row, format->name, format->values);
    if (__builtin_mul_overflow(count / format->values, (uint64_t)format->bytes, &bytes) || bytes > INT64_MAX)
        return orch_fail(error, ORCH_USAGE, "tensor '%.80s': larger than 2^63 bytes", tensor->name);
    tensor->count = count;
    tensor->bytes = bytes;
    return true;
}

bool weight_add(struct weight_list *list, const struct weight_tensor *tensor, struct orch_error *error)
{
    struct weight_tensor *const grown = list_grow(list->tensor, list->count, &list->room, sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    list->tensor = grown;
    char *const name = strdup(tensor->name);
    if (!name)
        return orch_no_memory(error);
    grown[list->count] = *tensor;
    grown[list->count++].name = name;
    return true;
}

void weight_list_free(struct weight_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free((void *)(uintptr_t)list->tensor[i].name);
    free(list->tensor);
    *list = (struct weight_list){0};
}

const struct weight_tensor *weight_find(const struct weight_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->tensor[i].name, name) == 0)
            return &list->tensor[i];
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    const struct weight_tensor *const *const x = a, *const *const y = b;
    return strcmp((*x)->name, (*y)->name);
}

static int by_place(const void *a, const void *b)
{
    const struct weight_tensor *const x = *(const struct weight_tensor *const *)a, *const y =
                                                                                       *(const struct weight_tensor *const *)b;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool check_pairs(const struct weight_tensor **sorted, size_t count, struct orch_error *error)
{
    qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            return orch_fail(error, ORCH_USAGE, "two tensors are called '%.80s'", sorted[i]->name);
    qsort(sorted, count, sizeof *sorted, by_place);
    for (size_t i = 1; i < count; i++)
        if (sorted[i - 1]->part == sorted[i]->part && sorted[i - 1]->offset + sorted[i - 1]->bytes > sorted[i]->offset)
            return orch_fail(error, ORCH_USAGE,
                             "tensors '%.80s' and '%.80s' overlap: the first has bytes %llu to %llu of the data, the second "
                             "begins at %llu",
                             sorted[i - 1]->name, sorted[i]->name, (unsigned long long)sorted[i - 1]->offset,
                             (unsigned long long)(sorted[i - 1]->offset + sorted[i - 1]->bytes - 1),
                             (unsigned long long)sorted[i]->offset);
    return true;
}

bool weight_list_is_sound(const struct weight_list *list, struct orch_error *error)
{
    const struct weight_tensor **const sorted = malloc((list->count + 1) * sizeof *sorted);
    if (!sorted)
        return orch_no_memory(error);
    for (size_t i = 0; i < list->count; i++)
        sorted[i] = &list->tensor[i];
    const bool sound = check_pairs(sorted, list->count, error);
    free(sorted);
    return sound;
}

void weight_row(const struct weight_tensor *tensor, uint64_t row, float *value)
{
    const uint64_t bytes = tensor->shape[0] / tensor->format->values * tensor->format->bytes;
    block_decode(tensor->format, tensor->data + row * bytes, 0, (size_t)tensor->shape[0], value);
}
