/* Shapes of the operations that tables of frameworks time: "64x1024x128 axis=0", "1000x64x256 * 256x32". */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_OPERATION_SHAPE_H
#define ORCHARD_SIM_PROVE_VALIDATE_OPERATION_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#define OPERATION_DIMENSIONS 6

struct operation_tensor {
    uint64_t size[OPERATION_DIMENSIONS];
    unsigned dimensions;
};

enum { OPERATION_AXIS_NONE = -100, OPERATION_AXIS_ALL = -99 };

struct operation_shape {
    struct operation_tensor operand[3];
    unsigned operands;
    int axis; /* OPERATION_AXIS_ALL: over everything; OPERATION_AXIS_NONE: not given */
};

bool operation_shape_read(const char *text, struct operation_shape *shape);

/* Elements of the dimensions from .. to - 1, and of all. */
uint64_t operation_product(const struct operation_tensor *t, unsigned from, unsigned to);
uint64_t operation_elements(const struct operation_tensor *t);

/* "BxMxK * BxKxN", "BxMxK * KxN" (one tall product) or "MxK * KxN". */
struct operation_matmul {
    uint64_t batch, m, n, k;
};
bool operation_shape_matmul(const struct operation_shape *shape, struct operation_matmul *p);

#endif
