#include "sim/network/graph/array.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool net_shape_count(enum net_type type, const int64_t *shape, unsigned dims, int64_t *count)
{
    int64_t product = 1, bytes;
    bool empty = false;
    for (unsigned i = 0; i < dims; i++) {
        if (shape[i] < 0)
            return false;
        if (shape[i] == 0)
            empty = true;
        else if (__builtin_mul_overflow(product, shape[i], &product))
            return false;
    }
    if (__builtin_mul_overflow(product, (int64_t)net_type_bytes(type), &bytes) || bytes > NET_ARRAY_BYTES_MAX)
        return false;
    *count = empty ? 0 : product;
    return true;
}

static struct net_array *make(enum net_type type, const int64_t *shape, unsigned dims, struct orch_error *error)
{
    int64_t count;
    if (dims > NET_DIMS_MAX) {
        orch_fail(error, ORCH_USAGE, "a tensor of %u dimensions; at most %d are possible", dims, NET_DIMS_MAX);
        return NULL;
    }
    if (!net_shape_count(type, shape, dims, &count)) {
        orch_fail(error, ORCH_USAGE, "a tensor is larger than %lld GiB", (long long)(NET_ARRAY_BYTES_MAX >> 30));
        return NULL;
    }
    struct net_array *const a = calloc(1, sizeof *a);
    if (!a) {
        orch_no_memory(error);
        return NULL;
    }
    a->type = type;
    a->dims = dims;
    if (dims)
        memcpy(a->shape, shape, dims * sizeof *shape);
    a->count = count;
    a->references = 1;
    return a;
}

struct net_array *net_array_new(enum net_type type, const int64_t *shape, unsigned dims, struct orch_error *error)
{
    struct net_array *const a = make(type, shape, dims, error);
    if (!a)
        return NULL;
    a->data = calloc(a->count ? (size_t)a->count : 1, net_type_bytes(type));
    if (!a->data) {
        free(a);
        orch_no_memory(error);
        return NULL;
    }
    return a;
}

/* Pages that are never touched are never there. */
static size_t blank_bytes(const struct net_array *a)
{
    return net_array_bytes(a) + 1;
}

struct net_array *net_array_blank(enum net_type type, const int64_t *shape, unsigned dims, struct orch_error *error)
{
    struct net_array *const a = make(type, shape, dims, error);
    if (!a)
        return NULL;
    a->data = mmap(NULL, blank_bytes(a), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (a->data == MAP_FAILED) {
        free(a);
        orch_no_memory(error);
        return NULL;
    }
    a->blank = true;
    return a;
}

struct net_array *net_array_view(struct net_array *of, const int64_t *shape, unsigned dims, struct orch_error *error)
{
    struct net_array *const a = make(of->type, shape, dims, error);
    if (!a)
        return NULL;
    if (a->count != of->count) {
        free(a);
        orch_fail(error, ORCH_USAGE, "%lld elements do not fit the shape", (long long)of->count);
        return NULL;
    }
    a->lender = net_array_retain(of);
    a->data = of->data;
    a->blank = of->blank;
    return a;
}

struct net_array *net_array_retain(struct net_array *array)
{
    if (array)
        array->references++;
    return array;
}

void net_array_release(struct net_array *array)
{
    while (array && --array->references == 0) {
        struct net_array *const lender = array->lender;
        if (!lender && array->blank)
            munmap(array->data, blank_bytes(array));
        else if (!lender)
            free(array->data);
        free(array);
        array = lender;
    }
}

struct net_array *net_array_of_integers(enum net_type type, const int64_t *number, size_t count, struct orch_error *error)
{
    const int64_t shape = (int64_t)count;
    struct net_array *const a = net_array_new(type, &shape, 1, error);
    if (a)
        net_write_integers(type, a->data, 0, count, number);
    return a;
}

struct net_array *net_array_of_scalar(enum net_type type, double number, struct orch_error *error)
{
    struct net_array *const a = net_array_new(type, NULL, 0, error);
    if (a)
        net_write_doubles(type, a->data, 0, 1, &number);
    return a;
}

int64_t net_array_integer(const struct net_array *array, int64_t index)
{
    int64_t number;
    net_read_integers(array->type, array->data, index, 1, 1, &number);
    return number;
}

double net_array_double(const struct net_array *array, int64_t index)
{
    double number;
    net_read_doubles(array->type, array->data, index, 1, 1, &number);
    return number;
}

size_t net_array_bytes(const struct net_array *array)
{
    return (size_t)array->count * net_type_bytes(array->type);
}

bool net_array_same(const struct net_array *a, const struct net_array *b)
{
    return a->type == b->type && a->dims == b->dims && memcmp(a->shape, b->shape, a->dims * sizeof *a->shape) == 0 &&
           (a->data == b->data || (!a->blank && !b->blank && memcmp(a->data, b->data, net_array_bytes(a)) == 0));
}

void net_strides(const int64_t *shape, unsigned dims, int64_t *stride)
{
    int64_t step = 1;
    for (unsigned i = dims; i-- > 0;) {
        stride[i] = step;
        step *= shape[i];
    }
}

int64_t net_extent(const int64_t *shape, unsigned from, unsigned to)
{
    int64_t product = 1;
    for (unsigned i = from; i < to; i++)
        product *= shape[i];
    return product;
}
