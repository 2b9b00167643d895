/* The generator from inside. */
#ifndef ORCHARD_TESTS_OPENCL_GENERATE_PARTS_H
#define ORCHARD_TESTS_OPENCL_GENERATE_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum generated_type {
    GENERATED_INT,
    GENERATED_UINT,
    GENERATED_SHORT,
    GENERATED_UCHAR,
    GENERATED_LONG,
    GENERATED_ULONG,
    GENERATED_FLOAT,
    GENERATED_INT4,
    GENERATED_UINT4,
    GENERATED_FLOAT4,
    GENERATED_TYPES
};

struct generator {
    FILE *out;
    uint64_t random;
    unsigned variables[GENERATED_TYPES]; /* in scope: int0, int1 ... float40 */
    unsigned numbers;                    /* names and labels given */
    unsigned statements;                 /* still to be made */
    unsigned loops;                      /* around this statement */
    unsigned long_divisions;             /* still allowed, for they are large */
    unsigned out_label;                  /* behind the outermost loop; 0 = no loop */
    bool out_used;                       /* somebody goes there */
    bool in_function;                    /* has neither memory nor other functions */
};

extern const char *const generated_names[GENERATED_TYPES];

unsigned generated_any(struct generator *g, unsigned below);
void generated_expression(struct generator *g, enum generated_type type, unsigned depth);
/* A question with an answer of 0 or not 0. */
void generated_condition(struct generator *g, unsigned depth);

#endif
