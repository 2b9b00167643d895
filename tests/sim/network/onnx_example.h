/* ONNX files made by hand, message by message, for tests and fuzzing: fields of onnx.proto by their numbers. */
#ifndef ORCHARD_TESTS_SIM_NETWORK_ONNX_EXAMPLE_H
#define ORCHARD_TESTS_SIM_NETWORK_ONNX_EXAMPLE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct message {
    uint8_t *byte;
    size_t size;
};

static inline void put_byte(struct message *m, uint8_t byte)
{
    m->byte = realloc(m->byte, m->size + 1);
    if (!m->byte)
        abort();
    m->byte[m->size++] = byte;
}

static inline void put_varint(struct message *m, uint64_t number)
{
    for (; number > 127; number >>= 7)
        put_byte(m, (uint8_t)(number | 128));
    put_byte(m, (uint8_t)number);
}

static inline void put_number(struct message *m, unsigned field, uint64_t number)
{
    put_varint(m, field << 3);
    put_varint(m, number);
}

static inline void put_bytes(struct message *m, unsigned field, const void *bytes, size_t size)
{
    put_varint(m, field << 3 | 2);
    put_varint(m, size);
    m->byte = realloc(m->byte, m->size + size + 1);
    if (!m->byte)
        abort();
    if (size)
        memcpy(m->byte + m->size, bytes, size);
    m->size += size;
}

static inline void put_text(struct message *m, unsigned field, const char *text)
{
    put_bytes(m, field, text, strlen(text));
}

static inline void put_float(struct message *m, unsigned field, float number)
{
    uint8_t bytes[4];
    memcpy(bytes, &number, sizeof bytes);
    put_varint(m, field << 3 | 5);
    for (size_t k = 0; k < sizeof bytes; k++)
        put_byte(m, bytes[k]);
}

/* Puts a message into another, and releases it. */
static inline void put_message(struct message *m, unsigned field, struct message *inner)
{
    put_bytes(m, field, inner->byte, inner->size);
    free(inner->byte);
    *inner = (struct message){NULL, 0};
}

/* ---- parts of models ---- */

/* ValueInfoProto of a tensor; dimensions that are negative have a name: -1 "n", -2 "o", -3 "p" ... */
static inline struct message value_info(const char *name, unsigned type, const int64_t *dim, size_t dims)
{
    struct message info = {NULL, 0}, tensor = {NULL, 0}, shape = {NULL, 0}, type_proto = {NULL, 0};
    for (size_t k = 0; k < dims; k++) {
        struct message one = {NULL, 0};
        const char symbol[] = {(char)('n' - 1 - dim[k]), 0};
        if (dim[k] < 0)
            put_text(&one, 2, symbol);
        else
            put_number(&one, 1, (uint64_t)dim[k]);
        put_message(&shape, 1, &one);
    }
    put_number(&tensor, 1, type);
    put_message(&tensor, 2, &shape);
    put_message(&type_proto, 1, &tensor);
    put_text(&info, 1, name);
    put_message(&info, 2, &type_proto);
    return info;
}

/* TensorProto with raw data. */
static inline struct message tensor_proto(const char *name, unsigned type, const int64_t *dim, size_t dims, const void *raw,
                                          size_t size)
{
    struct message t = {NULL, 0};
    for (size_t k = 0; k < dims; k++)
        put_number(&t, 1, (uint64_t)dim[k]);
    put_number(&t, 2, type);
    put_text(&t, 8, name);
    if (raw)
        put_bytes(&t, 9, raw, size);
    return t;
}

/* NodeProto; names of inputs and outputs are separated by blanks. */
static inline struct message node_proto(const char *op, const char *inputs, const char *outputs)
{
    struct message n = {NULL, 0};
    for (unsigned field = 1; field <= 2; field++)
        for (const char *at = field == 1 ? inputs : outputs; *at; at += strspn(at, " ")) {
            const size_t length = strcspn(at, " ");
            put_bytes(&n, field, at, length);
            at += length;
        }
    put_text(&n, 4, op);
    return n;
}

static inline void put_int_attribute(struct message *node, const char *name, int64_t value)
{
    struct message a = {NULL, 0};
    put_text(&a, 1, name);
    put_number(&a, 3, (uint64_t)value);
    put_number(&a, 20, 2);
    put_message(node, 5, &a);
}

static inline void put_ints_attribute(struct message *node, const char *name, const int64_t *value, size_t count)
{
    struct message a = {NULL, 0};
    put_text(&a, 1, name);
    for (size_t k = 0; k < count; k++)
        put_number(&a, 8, (uint64_t)value[k]);
    put_number(&a, 20, 7);
    put_message(node, 5, &a);
}

static inline void put_float_attribute(struct message *node, const char *name, float value)
{
    struct message a = {NULL, 0};
    put_text(&a, 1, name);
    put_float(&a, 2, value);
    put_number(&a, 20, 1);
    put_message(node, 5, &a);
}

/* ModelProto around a graph, which is released. */
static inline struct message model_proto(unsigned opset, struct message *graph)
{
    struct message m = {NULL, 0}, set = {NULL, 0};
    put_number(&m, 1, 8);
    put_number(&set, 2, opset);
    put_message(&m, 8, &set);
    put_message(&m, 7, graph);
    return m;
}

/* Inputs and outputs of a graph. */
static inline void put_graph_input(struct message *graph, const char *name, unsigned type, const int64_t *dim, size_t dims)
{
    struct message info = value_info(name, type, dim, dims);
    put_message(graph, 11, &info);
}

static inline void put_graph_output(struct message *graph, const char *name)
{
    struct message info = {NULL, 0};
    put_text(&info, 1, name);
    put_message(graph, 12, &info);
}

#endif
