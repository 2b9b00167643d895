#include "sim/prove/validate/operation_shape.h"

#include <stdlib.h>
#include <string.h>

bool operation_shape_read(const char *text, struct operation_shape *o)
{
    const char *at = text;
    char *end;
    *o = (struct operation_shape){.axis = OPERATION_AXIS_NONE};
    while (o->operands < 3) {
        struct operation_tensor *const t = &o->operand[o->operands++];
        do {
            const uint64_t size = strtoull(at, &end, 10);
            if (end == at || !size || t->dimensions == OPERATION_DIMENSIONS)
                return false;
            t->size[t->dimensions++] = size;
            at = end + (*end == 'x');
        } while (*end == 'x');
        if (strncmp(at, " * ", 3) != 0)
            break;
        at += 3;
    }
    if (strcmp(at, " axis=all") == 0)
        o->axis = OPERATION_AXIS_ALL;
    else if (strncmp(at, " axis=", 6) == 0)
        o->axis = atoi(at + 6);
    else
        return !*at;
    if (o->axis < 0 && o->axis != OPERATION_AXIS_ALL)
        o->axis += (int)o->operand[0].dimensions;
    return o->axis == OPERATION_AXIS_ALL || (o->axis >= 0 && o->axis < (int)o->operand[0].dimensions);
}

uint64_t operation_product(const struct operation_tensor *t, unsigned from, unsigned to)
{
    uint64_t all = 1;
    for (unsigned i = from; i < to; i++)
        all *= t->size[i];
    return all;
}

uint64_t operation_elements(const struct operation_tensor *t)
{
    return operation_product(t, 0, t->dimensions);
}

bool operation_shape_matmul(const struct operation_shape *o, struct operation_matmul *p)
{
    const struct operation_tensor *const a = &o->operand[0], *const b = &o->operand[1];
    if (o->operands < 2 || a->dimensions < 2 || b->dimensions < 2)
        return false;
    p->k = a->size[a->dimensions - 1];
    p->n = b->size[b->dimensions - 1];
    p->batch = operation_product(b, 0, b->dimensions - 2);
    p->m = operation_elements(a) / p->k / p->batch;
    return b->size[b->dimensions - 2] == p->k && operation_elements(a) == p->batch * p->m * p->k &&
           (b->dimensions == 2 || p->batch == operation_product(a, 0, a->dimensions - 2));
}
