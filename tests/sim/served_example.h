/* A network to be served, made by the suite: y = relu(x w) with an open batch, x [n, 4], y [n, 2]. */
#ifndef ORCHARD_TESTS_SIM_SERVED_EXAMPLE_H
#define ORCHARD_TESTS_SIM_SERVED_EXAMPLE_H

#include "tests/sim/network/onnx_example.h"
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* Row r of the result is relu of the sums of x[r][k] * served_weight[k][c]. */
static const float served_weight[8] = {1, -2, 3, -4, 5, -6, 7, 8};

/* Writes FOLDER/NAME/1/model.onnx, as a model repository has it. */
/* False when it cannot be written. */
static inline bool served_network(const char *folder, const char *name)
{
    static const int64_t in[2] = {-1, 4}, out_dim[2] = {-1, 2}, weights[2] = {4, 2};
    struct message graph = {NULL, 0}, x = value_info("x", 1, in, 2), y = value_info("y", 1, out_dim, 2);
    struct message w = tensor_proto("w", 1, weights, 2, served_weight, sizeof served_weight);
    struct message product = node_proto("MatMul", "x w", "h"), relu = node_proto("Relu", "h", "y");
    char path[300];
    put_message(&graph, 11, &x);
    put_message(&graph, 5, &w);
    put_message(&graph, 1, &product);
    put_message(&graph, 1, &relu);
    put_message(&graph, 12, &y);
    struct message m = model_proto(13, &graph);
    snprintf(path, sizeof path, "%.200s/%.40s", folder, name);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%.200s/%.40s/1", folder, name);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%.200s/%.40s/1/model.onnx", folder, name);
    FILE *const file = fopen(path, "wb");
    const bool ok = file && fwrite(m.byte, 1, m.size, file) == m.size;
    free(m.byte);
    return file && fclose(file) == 0 && ok;
}

#endif
