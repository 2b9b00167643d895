/* TensorProto: the values of constants and test data. */
#include "sim/base/file_below.h"
#include "sim/base/file_read.h"
#include "sim/network/onnx/onnx_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the elements as files hold them. */
static size_t packed_bytes(enum net_type type, int64_t count)
{
    return ((size_t)count * net_type_bits(type) + 7) / 8;
}

/* Elements of four bits stand two in a byte, the first in the lower half. */
static void unpack_fours(const uint8_t *from, struct net_array *to)
{
    for (int64_t k = 0; k < to->count; k++) {
        const int64_t value = from[k / 2] >> (k % 2 * 4) & 15;
        net_write_integers(to->type, to->data, k, 1, &value);
    }
}

static bool take_raw(const uint8_t *bytes, size_t size, struct net_array *to, struct orch_error *error)
{
    const size_t wanted = packed_bytes(to->type, to->count);
    if (size != wanted)
        return orch_fail(error, ORCH_USAGE, "%zu bytes of data, not %zu", size, wanted);
    if (net_type_bits(to->type) == 4)
        unpack_fours(bytes, to);
    else if (size)
        memcpy(to->data, bytes, size);
    return true;
}

/* ---- data in fields of their own ---- */

static bool counted(size_t given, int64_t wanted, struct orch_error *error)
{
    return given == (size_t)wanted || orch_fail(error, ORCH_USAGE, "%zu numbers, not %" PRId64, given, wanted);
}

static bool take_int32(const Onnx__TensorProto *t, struct net_array *to, struct orch_error *error)
{
    const bool fours = net_type_bits(to->type) == 4;
    if (!counted(t->n_int32_data, fours ? (to->count + 1) / 2 : to->count, error))
        return false;
    for (int64_t k = 0; k < to->count; k++) {
        const int32_t stored = t->int32_data[fours ? k / 2 : k];
        const int64_t value = fours ? stored >> (k % 2 * 4) & 15 : stored;
        const uint16_t bits = (uint16_t)stored;
        if (to->type == NET_F16 || to->type == NET_BF16)
            memcpy((uint8_t *)to->data + 2 * k, &bits, sizeof bits);
        else
            net_write_integers(to->type, to->data, k, 1, &value);
    }
    return true;
}

static bool take_fields(const Onnx__TensorProto *t, struct net_array *to, struct orch_error *error)
{
    const size_t bytes = net_array_bytes(to);
    switch (to->type) {
    case NET_F32:
        if (!counted(t->n_float_data, to->count, error))
            return false;
        if (bytes)
            memcpy(to->data, t->float_data, bytes);
        return true;
    case NET_F64:
        if (!counted(t->n_double_data, to->count, error))
            return false;
        if (bytes)
            memcpy(to->data, t->double_data, bytes);
        return true;
    case NET_I64:
        if (!counted(t->n_int64_data, to->count, error))
            return false;
        if (bytes)
            memcpy(to->data, t->int64_data, bytes);
        return true;
    case NET_U32:
    case NET_U64:
        if (!counted(t->n_uint64_data, to->count, error))
            return false;
        net_write_integers(to->type, to->data, 0, (size_t)to->count, (const int64_t *)t->uint64_data);
        return true;
    default: return take_int32(t, to, error);
    }
}

/* ---- external data ---- */

static bool read_number(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && errno == 0;
}

static bool take_external(const Onnx__TensorProto *t, const char *path, struct net_array *to, struct orch_error *error)
{
    const char *location = NULL;
    const size_t wanted = packed_bytes(to->type, to->count);
    uint64_t offset = 0, length = wanted;
    for (size_t k = 0; k < t->n_external_data; k++) {
        const char *const key = t->external_data[k]->key, *const value = t->external_data[k]->value;
        if (!key || !value)
            continue;
        if (strcmp(key, "location") == 0)
            location = value;
        else if ((strcmp(key, "offset") == 0 && !read_number(value, &offset)) ||
                 (strcmp(key, "length") == 0 && !read_number(value, &length)))
            return orch_fail(error, ORCH_USAGE, "external data with %.20s '%.40s'", key, value);
    }
    if (!path || !location || !*location || *location == '/')
        return orch_fail(error, ORCH_USAGE, "external data '%.100s' must lie in the folder of the model",
                         location ? location : "");
    if (length != wanted)
        return orch_fail(error, ORCH_USAGE, "%" PRIu64 " bytes of external data, not %zu", length, wanted);
    uint8_t *const bytes = malloc(wanted + 1);
    if (!bytes)
        return orch_no_memory(error);
    const bool ok = file_below_read(path, location, offset, bytes, wanted, error) && take_raw(bytes, wanted, to, error);
    free(bytes);
    return ok;
}

/* ---- tensors ---- */

static bool take(const Onnx__TensorProto *t, const char *path, struct net_array *to, struct orch_error *error)
{
    if (t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
        return take_external(t, path, to, error);
    return t->has_raw_data ? take_raw(t->raw_data.data, t->raw_data.len, to, error) : take_fields(t, to, error);
}

/* The numbers that the file has, by any field: sizes that it only claims get no memory. */
static bool has_data(const Onnx__TensorProto *t, enum net_type type, int64_t count)
{
    const size_t numbers = t->n_float_data + t->n_double_data + 2 * t->n_int32_data + t->n_int64_data + t->n_uint64_data;
    return t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL ||
           (t->has_raw_data ? t->raw_data.len >= packed_bytes(type, count) : numbers >= (size_t)count);
}

struct net_array *onnx_tensor(const Onnx__TensorProto *tensor, const char *path, struct orch_error *error)
{
    const enum net_type type = net_type_of_onnx(tensor->data_type);
    int64_t count;
    if (type == NET_TYPES) {
        orch_fail(error, ORCH_UNMODELLED, "elements of type %s", net_onnx_type_name(tensor->data_type));
        return NULL;
    }
    if (tensor->n_dims > NET_DIMS_MAX) {
        orch_fail(error, ORCH_USAGE, "%zu dimensions; at most %d are possible", tensor->n_dims, NET_DIMS_MAX);
        return NULL;
    }
    if (!net_shape_count(type, tensor->dims, (unsigned)tensor->n_dims, &count)) {
        orch_fail(error, ORCH_USAGE,
                  "the shape does not fit the data: a dimension is negative, or there is more than memory can have");
        return NULL;
    }
    if (!has_data(tensor, type, count)) {
        orch_fail(error, ORCH_USAGE, "the shape does not fit the data: %lld elements of %s are more than the file has",
                  (long long)count, net_type_name(type));
        return NULL;
    }
    struct net_array *const a = net_array_new(type, tensor->dims, (unsigned)tensor->n_dims, error);
    if (a && !take(tensor, path, a, error)) {
        net_array_release(a);
        return NULL;
    }
    return a;
}

struct net_array *onnx_tensor_load(const char *path, char *name, size_t name_size, struct orch_error *error)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    FILE *const file = fopen(path, "rb");
    if (!file || !file_read_all(file, ONNX_BYTES_MAX, &bytes, &size)) {
        orch_fail(error, ORCH_USAGE, "%s: %s", path, strerror(errno));
        if (file)
            fclose(file);
        return NULL;
    }
    fclose(file);
    struct net_array *array = NULL;
    Onnx__TensorProto *tensor = NULL;
    if (onnx_wire_check(&onnx__tensor_proto__descriptor, bytes, size, error)) {
        tensor = onnx__tensor_proto__unpack(NULL, size, bytes);
        if (tensor)
            array = onnx_tensor(tensor, NULL, error);
        else
            orch_fail(error, ORCH_USAGE, "no TensorProto");
    }
    if (array && name)
        snprintf(name, name_size, "%s", tensor->name ? tensor->name : "");
    if (!array)
        orch_fail_in(error, "%s", path);
    if (tensor)
        onnx__tensor_proto__free_unpacked(tensor, NULL);
    free(bytes);
    return array;
}
