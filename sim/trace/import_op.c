#include "sim/trace/import_op.h"
#include "isa/array_count.h"

#include <string.h>

/* Names of element types in profiles of PyTorch and ONNX Runtime. */
static const struct type_name {
    const char *name, *type;
    unsigned bytes;
} types[] = {
    {"float", "f32", 4},      {"c10::Half", "f16", 2},    {"float16", "f16", 2}, {"c10::BFloat16", "bf16", 2},
    {"bfloat16", "bf16", 2},  {"double", "f32", 8},       {"long int", NULL, 8}, {"long", NULL, 8},
    {"int64", NULL, 8},       {"uint64", NULL, 8},        {"int", NULL, 4},      {"int32", NULL, 4},
    {"uint32", NULL, 4},      {"short int", NULL, 2},     {"int16", NULL, 2},    {"uint16", NULL, 2},
    {"signed char", NULL, 1}, {"unsigned char", NULL, 1}, {"int8", NULL, 1},     {"uint8", NULL, 1},
    {"bool", NULL, 1},
};

static void set_type(struct import_array *a, const char *type)
{
    a->bytes = 4;
    a->type = "f32"; /* profiles without types are of f32 networks */
    if (!type || !*type)
        return;
    for (size_t i = 0; i < ARRAY_COUNT(types); i++)
        if (strcmp(types[i].name, type) == 0) {
            a->bytes = types[i].bytes;
            a->type = types[i].type;
            return;
        }
}

static double product(const struct import_array *a)
{
    double n = 1;
    for (unsigned i = 0; i < a->rank; i++)
        n *= (double)a->dim[i];
    return n;
}

/* Reads a shape; false when the list is one of shapes instead. */
static bool read_shape(struct import_array *a, json_object *dims)
{
    const size_t rank = json_object_array_length(dims);
    for (size_t i = 0; i < rank; i++) {
        json_object *const item = json_object_array_get_idx(dims, i);
        if (!json_object_is_type(item, json_type_int) && !json_object_is_type(item, json_type_double))
            return false;
        const int64_t value = json_object_get_int64(item);
        if (i < IMPORT_DIMS)
            a->dim[i] = value > 0 ? (uint64_t)value : 0;
        else
            a->dim[IMPORT_DIMS - 1] *= value > 0 && value < 1 << 20 ? (uint64_t)value : 0;
    }
    a->rank = rank < IMPORT_DIMS ? (unsigned)rank : IMPORT_DIMS;
    a->elements = product(a);
    return true;
}

void import_array_set(struct import_array *a, json_object *dims, const char *type)
{
    memset(a, 0, sizeof *a);
    set_type(a, type);
    if (!json_object_is_type(dims, json_type_array))
        return;
    const bool named_none =
        type && (!*type || strcmp(type, "Scalar") == 0 || strcmp(type, "ScalarList") == 0 || strcmp(type, "Device") == 0);
    if (read_shape(a, dims)) {
        a->is_array = a->rank > 0 || !named_none;
        if (!a->is_array)
            a->elements = 0;
        return;
    }
    double sum = 0;
    for (size_t i = 0; i < json_object_array_length(dims); i++) {
        struct import_array part = {0};
        json_object *const item = json_object_array_get_idx(dims, i);
        if (json_object_is_type(item, json_type_array) && read_shape(&part, item))
            sum += part.elements;
    }
    a->rank = 1;
    a->dim[0] = sum < 1e15 ? (uint64_t)sum : (uint64_t)1e15;
    a->elements = sum;
    a->is_array = true;
}
