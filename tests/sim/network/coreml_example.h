/* Core ML files made by hand, message by message, for tests and fuzzing: fields of the public schema by their numbers. */
#ifndef ORCHARD_TESTS_SIM_NETWORK_COREML_EXAMPLE_H
#define ORCHARD_TESTS_SIM_NETWORK_COREML_EXAMPLE_H

#include "tests/sim/network/onnx_example.h"

static inline void put_floats(struct message *m, unsigned field, const float *number, size_t count)
{
    put_bytes(m, field, number, count * sizeof *number);
}

static inline void put_packed(struct message *m, unsigned field, const int64_t *number, size_t count)
{
    struct message list = {NULL, 0};
    for (size_t k = 0; k < count; k++)
        put_varint(&list, (uint64_t)number[k]);
    put_message(m, field, &list);
}

/* ---- descriptions ---- */

/* FeatureDescription of an array in single precision. */
static inline struct message array_feature(const char *name, const int64_t *shape, size_t dims)
{
    struct message feature = {NULL, 0}, type = {NULL, 0}, array = {NULL, 0};
    put_packed(&array, 1, shape, dims);
    put_number(&array, 2, 65568);
    put_message(&type, 5, &array);
    put_text(&feature, 1, name);
    put_message(&feature, 3, &type);
    return feature;
}

static inline struct message image_feature(const char *name, uint64_t width, uint64_t height, uint64_t colour)
{
    struct message feature = {NULL, 0}, type = {NULL, 0}, image = {NULL, 0};
    put_number(&image, 1, width);
    put_number(&image, 2, height);
    put_number(&image, 3, colour);
    put_message(&type, 4, &image);
    put_text(&feature, 1, name);
    put_message(&feature, 3, &type);
    return feature;
}

static inline struct message coreml_file(unsigned specification, struct message *description, unsigned kind, struct message *body)
{
    struct message model = {NULL, 0};
    put_number(&model, 1, specification);
    put_message(&model, 2, description);
    put_message(&model, kind, body);
    return model;
}

/* ---- neural networks ---- */

static inline struct message network_layer(const char *name, const char *in, const char *out, unsigned kind, struct message *body)
{
    struct message layer = {NULL, 0};
    put_text(&layer, 1, name);
    if (*in)
        put_text(&layer, 2, in);
    put_text(&layer, 3, out);
    put_message(&layer, kind, body);
    return layer;
}

static inline void put_weights(struct message *m, unsigned field, const float *number, size_t count)
{
    struct message weights = {NULL, 0};
    put_floats(&weights, 1, number, count);
    put_message(m, field, &weights);
}

/* x of a shape in, y out; `layers` holds the layers. */
static inline struct message coreml_network_file(const int64_t *shape, size_t dims, bool exact, struct message *layers)
{
    struct message description = {NULL, 0}, x = array_feature("x", shape, dims), y = array_feature("y", NULL, 0);
    put_message(&description, 1, &x);
    put_message(&description, 10, &y);
    if (exact)
        put_number(layers, 5, 1);
    return coreml_file(exact ? 4 : 1, &description, 500, layers);
}

/* One layer between x and y. */
static inline struct message one_layer(unsigned kind, struct message *body, const int64_t *shape, size_t dims, bool exact)
{
    struct message layers = {NULL, 0}, layer = network_layer("it", "x", "y", kind, body);
    put_message(&layers, 1, &layer);
    return coreml_network_file(shape, dims, exact, &layers);
}

/* ---- programs ---- */

static inline struct message tensor_type(unsigned kind, const int64_t *shape, size_t dims)
{
    struct message type = {NULL, 0}, tensor = {NULL, 0};
    put_number(&tensor, 1, kind);
    put_number(&tensor, 2, dims);
    for (size_t d = 0; d < dims; d++) {
        struct message dimension = {NULL, 0}, constant = {NULL, 0};
        put_number(&constant, 1, (uint64_t)shape[d]);
        put_message(&dimension, 1, &constant);
        put_message(&tensor, 3, &dimension);
    }
    put_message(&type, 1, &tensor);
    return type;
}

/* A Value; `how` is the field of TensorValue, `list` its message. */
static inline struct message program_value(unsigned kind, const int64_t *shape, size_t dims, unsigned how, struct message *list)
{
    struct message value = {NULL, 0}, type = tensor_type(kind, shape, dims), now = {NULL, 0}, tensor = {NULL, 0};
    put_message(&tensor, how, list);
    put_message(&now, 1, &tensor);
    put_message(&value, 2, &type);
    put_message(&value, 3, &now);
    return value;
}

static inline struct message value_floats(const float *number, const int64_t *shape, size_t dims)
{
    struct message list = {NULL, 0};
    size_t count = 1;
    for (size_t d = 0; d < dims; d++)
        count *= (size_t)shape[d];
    put_floats(&list, 1, number, count);
    return program_value(11, shape, dims, 1, &list);
}

static inline struct message value_ints(const int64_t *number, size_t count, bool scalar)
{
    const int64_t shape = (int64_t)count;
    struct message list = {NULL, 0};
    put_packed(&list, 1, number, count);
    return program_value(23, &shape, scalar ? 0 : 1, 2, &list);
}

static inline struct message value_bytes(unsigned kind, const void *bytes, size_t size, const int64_t *shape, size_t dims)
{
    struct message list = {NULL, 0};
    put_bytes(&list, 1, bytes, size);
    return program_value(kind, shape, dims, 7, &list);
}

static inline struct message value_word(const char *word)
{
    struct message list = {NULL, 0};
    put_text(&list, 1, word);
    return program_value(2, NULL, 0, 4, &list);
}

static inline struct message value_blob(unsigned kind, const int64_t *shape, size_t dims, const char *file, uint64_t offset)
{
    struct message value = {NULL, 0}, type = tensor_type(kind, shape, dims), blob = {NULL, 0};
    put_text(&blob, 1, file);
    put_number(&blob, 2, offset);
    put_message(&value, 2, &type);
    put_message(&value, 5, &blob);
    return value;
}

static inline void put_map(struct message *m, unsigned field, const char *key, struct message *value)
{
    struct message entry = {NULL, 0};
    put_text(&entry, 1, key);
    put_message(&entry, 2, value);
    put_message(m, field, &entry);
}

/* An input of an operation: the name of a value, or a constant. */
static inline void put_input(struct message *op, const char *key, const char *name)
{
    struct message argument = {NULL, 0};
    while (*name) { /* names with a space between */
        const size_t length = strcspn(name, " ");
        struct message binding = {NULL, 0};
        put_bytes(&binding, 1, name, length);
        put_message(&argument, 1, &binding);
        name += length + (name[length] == ' ');
    }
    put_map(op, 2, key, &argument);
}

static inline void put_parameter(struct message *op, const char *key, struct message value)
{
    struct message argument = {NULL, 0}, binding = {NULL, 0};
    put_message(&binding, 2, &value);
    put_message(&argument, 1, &binding);
    put_map(op, 2, key, &argument);
}

static inline struct message operation(const char *type)
{
    struct message op = {NULL, 0};
    put_text(&op, 1, type);
    return op;
}

static inline void put_output(struct message *op, const char *name)
{
    struct message named = {NULL, 0};
    put_text(&named, 1, name);
    put_message(op, 3, &named);
}

/* Puts an operation with its one output into a block. */
static inline void put_operation(struct message *block, struct message *op, const char *output)
{
    put_output(op, output);
    put_message(block, 3, op);
}

/* x of a shape in, y out. */
static inline struct message coreml_program_file(const int64_t *shape, size_t dims, const char *opset, struct message *block)
{
    struct message description = {NULL, 0}, x = array_feature("x", shape, dims), y = array_feature("y", NULL, 0);
    struct message program = {NULL, 0}, function = {NULL, 0}, input = {NULL, 0}, type = tensor_type(11, shape, dims);
    put_message(&description, 1, &x);
    put_message(&description, 10, &y);
    put_text(&input, 1, "x");
    put_message(&input, 2, &type);
    put_message(&function, 1, &input);
    put_text(&function, 2, opset);
    put_text(block, 2, "y");
    put_map(&function, 3, opset, block);
    put_number(&program, 1, 1);
    put_map(&program, 2, "main", &function);
    return coreml_file(7, &description, 502, &program);
}

#endif
