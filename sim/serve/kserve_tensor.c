#include "sim/serve/kserve_tensor.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const names[NET_TYPES] = {
    [NET_F64] = "FP64",  [NET_F32] = "FP32",   [NET_F16] = "FP16",   [NET_BF16] = "BF16", [NET_I8] = "INT8",
    [NET_U8] = "UINT8",  [NET_I16] = "INT16",  [NET_U16] = "UINT16", [NET_I32] = "INT32", [NET_U32] = "UINT32",
    [NET_I64] = "INT64", [NET_U64] = "UINT64", [NET_BOOL] = "BOOL"};

const char *kserve_type_name(enum net_type type)
{
    return type < NET_TYPES ? names[type] : NULL;
}

enum net_type kserve_type_named(const char *name)
{
    for (enum net_type type = 0; type < NET_TYPES; type++)
        if (names[type] && strcmp(names[type], name) == 0)
            return type;
    return NET_TYPES;
}

/* ---- reading ---- */

static bool read_shape(const struct json_node *input, int64_t dim[NET_DIMS_MAX], unsigned *dims)
{
    const struct json_node shape = json_get_array(input, "shape", 0, NET_DIMS_MAX);
    struct json_node item;
    *dims = 0;
    for (struct json_walk walk = {.of = &shape}; json_next(&walk, &item);)
        dim[(*dims)++] = (int64_t)json_get_integer(&item, NULL, 0, INT64_C(1) << 40);
    return json_ok(input);
}

/* Nested or flat: numbers in the order in which they stand. */
static bool read_values(const struct json_node *list, struct net_array *a, int64_t *count)
{
    struct json_node item;
    for (struct json_walk walk = {.of = list}; json_next(&walk, &item);) {
        if (json_object_is_type(item.value, json_type_array)) {
            const struct json_node inner = json_get_array(&item, NULL, 0, SIZE_MAX);
            if (!read_values(&inner, a, count))
                return false;
            continue;
        }
        if (*count == a->count)
            return json_wrong(list, NULL, "has more than the %" PRId64 " elements of its shape", a->count);
        if (net_type_is_float(a->type)) {
            const double number = json_get_number(&item, NULL, JSON_FINITE);
            net_write_doubles(a->type, a->data, *count, 1, &number);
        } else {
            int64_t number;
            if (json_object_is_type(item.value, json_type_boolean) && a->type == NET_BOOL)
                number = json_object_get_boolean(item.value);
            else if (!json_object_is_type(item.value, json_type_int))
                return json_wrong(&item, NULL, "expected an integer");
            else if (a->type == NET_U64)
                number = (int64_t)json_object_get_uint64(item.value);
            else
                number = json_object_get_int64(item.value);
            net_write_integers(a->type, a->data, *count, 1, &number);
        }
        ++*count;
    }
    return json_ok(list);
}

static bool read_data(const struct json_node *input, struct net_array *a)
{
    const struct json_node data = json_get_array(input, "data", 0, SIZE_MAX);
    int64_t count = 0;
    if (!json_ok(input) || !read_values(&data, a, &count))
        return false;
    return count == a->count || json_wrong(input, "data", "has %" PRId64 " elements, its shape %" PRId64, count, a->count);
}

static bool read_binary(const struct json_node *input, uint64_t size, struct net_array *a, struct kserve_binary *binary)
{
    if (json_has(input, "data"))
        return json_wrong(input, "data", "stands beside binary_data_size: a tensor has one or the other");
    if (size != net_array_bytes(a))
        return json_wrong(input, "parameters", "binary_data_size is %" PRIu64 ", the shape has %zu bytes", size,
                          net_array_bytes(a));
    if (size > binary->left)
        return json_wrong(input, "parameters", "binary_data_size is %" PRIu64 ", but %zu bytes are left of the body", size,
                          binary->left);
    memcpy(a->data, binary->at, size);
    binary->at += size;
    binary->left -= size;
    return true;
}

struct net_array *kserve_read(const struct json_node *input, enum net_type expected, struct kserve_binary *binary,
                              struct orch_error *error)
{
    int64_t dim[NET_DIMS_MAX];
    unsigned dims;
    const char *const name = json_get_string(input, "datatype");
    const enum net_type type = kserve_type_named(name);
    if (!json_ok(input) || !read_shape(input, dim, &dims))
        return NULL;
    if (type == NET_TYPES) {
        json_wrong(input, "datatype", "'%.20s' is no type that is served (BOOL, UINT8 ... INT64, FP16, BF16, FP32, FP64)", name);
        return NULL;
    }
    if (expected != NET_TYPES && type != expected) {
        json_wrong(input, "datatype", "is %s, the model takes %s", name,
                   kserve_type_name(expected) ? kserve_type_name(expected) : "?");
        return NULL;
    }
    const struct json_node parameters = json_find_object(input, "parameters");
    const uint64_t size = json_find_integer(&parameters, "binary_data_size", 0, INT64_C(1) << 40, UINT64_MAX);
    int64_t count;
    if (!json_ok(input))
        return NULL;
    if (!net_shape_count(type, dim, dims, &count)) {
        json_wrong(input, "shape", "is larger than any tensor that is served");
        return NULL;
    }
    /* Before memory is asked for: what is sent is as long as the shape says, or has at least a character for each number. */
    if (size == UINT64_MAX ? (uint64_t)count > binary->json : size > binary->left) {
        json_wrong(input, "shape", "has %" PRId64 " elements, more than are in the body", count);
        return NULL;
    }
    struct net_array *const a = net_array_new(type, dim, dims, error);
    if (!a)
        return NULL;
    if (size != UINT64_MAX ? read_binary(input, size, a, binary) : read_data(input, a))
        return a;
    net_array_release(a);
    return NULL;
}

/* ---- writing ---- */

bool kserve_write(struct text *to, const struct net_array *a)
{
    text_put(to, "[");
    for (int64_t i = 0; i < a->count; i++) {
        if (i)
            text_put(to, ",");
        if (a->type == NET_BOOL) {
            text_put(to, ((const uint8_t *)a->data)[i] ? "true" : "false");
        } else if (net_type_is_float(a->type)) {
            const double number = net_array_double(a, i);
            if (!isfinite(number))
                return false;
            text_printf(to, a->type == NET_F64 ? "%.17g" : "%.9g", number);
        } else if (a->type == NET_U64) {
            text_printf(to, "%" PRIu64, (uint64_t)net_array_integer(a, i));
        } else {
            text_printf(to, "%" PRId64, net_array_integer(a, i));
        }
    }
    text_put(to, "]");
    return true;
}
