/* Arguments of a called function, as written on the command line: "42", "3.5f", "f32:64x64:rand:1", "in:A.npy" ...
 * The grammar is the text program_args_help.
 */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_PROGRAM_ARGS_H
#define ORCHARD_SIM_WORKLOAD_CPU_PROGRAM_ARGS_H

#include "sim/base/error.h"
#include "sim/base/npy.h"
#include "units/mem/mem_space.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum program_arg_kind {
    PROGRAM_ARG_INTEGER, /* next general register */
    PROGRAM_ARG_FLOAT,   /* next vector register, 32 bits */
    PROGRAM_ARG_DOUBLE,  /* next vector register, 64 bits */
    PROGRAM_ARG_POINTER  /* next general register: address of a buffer or string */
};

enum program_fill { PROGRAM_FILL_ZERO, PROGRAM_FILL_SEQUENCE, PROGRAM_FILL_RANDOM, PROGRAM_FILL_VALUE };

struct program_arg {
    enum program_arg_kind kind;
    uint64_t bits; /* the number, or the buffer's address once it is placed */

    /* The rest is for POINTER only. The array's data come from a file (`owned`), from a fill or from text. */
    struct npy_array array;
    bool bf16;      /* array.type is NPY_U16, and the elements are bfloat16 */
    bool read_only; /* in:, str: */
    enum program_fill fill;
    uint64_t seed;
    double value;
    const char *text; /* str: */
    char *save_path;  /* file that the buffer is written to afterwards; NULL = none. Owned. */
};

/* Reads digits and an optional K, M or G (1024, ...); *end points past them. */
bool program_arg_count(const char *text, char **end, uint64_t *count);
/* Parses one argument and reads the file of in: and inout:. Errors start with the argument's own text. */
bool program_arg_parse(const char *text, struct program_arg *arg, struct orch_error *error);
void program_arg_release(struct program_arg *arg);

/* Writes the start contents of a POINTER into array.bytes bytes, which are zeros. */
void program_arg_fill(const struct program_arg *arg, uint8_t *zeros);
/* Allocates the buffer in the space (fresh pages) and fills it. Does nothing for numbers. */
bool program_arg_place(struct program_arg *arg, struct mem_space *space, struct orch_error *error);

/* Element type as the grammar spells it: "f32", "bf16". */
const char *program_arg_type_name(const struct program_arg *arg);

/* The grammar, for `run --help`: lines that end in newlines. */
extern const char program_args_help[];

#endif
