/* Kernels of public Metal sources, brought by the user, against references of our own: what a case is, and the parts that
 * check_public.c puts together. README.md says how cases are written.
 */
#ifndef ORCHARD_TESTS_PUBLIC_PUBLIC_H
#define ORCHARD_TESTS_PUBLIC_PUBLIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PUBLIC_DIMS = 5, PUBLIC_TENSORS = 32, PUBLIC_BINDS = 40, PUBLIC_NUMBERS = 96, PUBLIC_CONSTANTS = 24, PUBLIC_NAME = 160 };

/* ---- tensors ---- */

struct public_type; /* public_tensor.c */

struct public_tensor {
    char name[32];
    const struct public_type *type;
    unsigned dims;
    uint64_t ne[PUBLIC_DIMS]; /* innermost first */
    uint64_t nb[PUBLIC_DIMS]; /* bytes from one to the next; of a block along the first */
    uint64_t count, bytes;
    uint8_t *start; /* contents before the launch */
    uint8_t *after; /* and behind it */
    double *value;  /* `start` as numbers */
};

const struct public_type *public_type_find(const char *name); /* NULL = there is none */
const char *public_type_name(const struct public_type *type);
bool public_type_is_float(const struct public_type *type);
/* "f32 256 4 2 range=-1:1": type, extents and how it is filled; false with *why. */
bool public_tensor_make(struct public_tensor *t, const char *name, const char *text, uint64_t *state, char *why, size_t size);
void public_tensor_read(const struct public_tensor *t, const uint8_t *bytes, double *value);
void public_tensor_free(struct public_tensor *t);
/* The number at a place; what lies outside in a dimension is taken from its beginning when that has one element. */
double public_at(const struct public_tensor *t, uint64_t i0, uint64_t i1, uint64_t i2, uint64_t i3);
/* Own reading of a block: `count` numbers. */
void public_block_read(const struct public_type *type, const uint8_t *block, double *value);

/* ---- a case ---- */

struct public_number {
    char name[32];
    double value[4];
    unsigned count;
};

struct public_case {
    char kernel[PUBLIC_NAME], source[512], header[512];
    const char *include[4], *define[8];
    size_t includes, defines;
    char constant[PUBLIC_CONSTANTS][64];
    size_t constants;
    struct public_tensor tensor[PUBLIC_TENSORS];
    size_t tensors;
    struct public_number number[PUBLIC_NUMBERS];
    size_t numbers;
    char bind[PUBLIC_BINDS][200];
    size_t binds;
    struct public_argument {
        char name[40], value[200];
    } argument[PUBLIC_BINDS]; /* by name, of cases that bind nothing in order */
    size_t arguments;
    uint32_t grid[3], group[3]; /* threads */
    char reference[64], out[32];
    double tolerance;
    unsigned line; /* of the file of cases */
    bool interpret;
};

struct public_tensor *public_tensor(struct public_case *c, const char *name); /* NULL = none */
/* A number that the case states, or `otherwise`. */
double public_number(const struct public_case *c, const char *name, double otherwise);

/* Folders that the user gave. */
struct public_roots {
    const char *mlx, *ggml;
};

typedef void public_visit(void *context, struct public_case *c, const char *wrong);
/* Calls `visit` with every case of a file whose kernel's name has `pattern` in it; `wrong` says why it is none. False when the
 * file cannot be read. */
bool public_cases(const char *path, const struct public_roots *roots, const char *pattern, public_visit *visit, void *context);

typedef void public_name(void *context, const char *name);
/* Visits the kernels of a case's source, in order. */
bool public_list(const struct public_case *c, public_name *visit, void *context);

/* Chooses of all kernels of a source whose name matches one of the patterns ("v_* vn_*") so many that every part of a name occurs
 * with every class of types that it occurs with at all. */
size_t public_cover(const struct public_case *c, const char *patterns, char (**names)[PUBLIC_NAME]);
/* The type of elements that a kernel's name speaks of; "f32" when it speaks of none. */
const char *public_type_of_name(const char *kernel);

/* The bytes of a structure of a header in C, filled from the numbers and the tensors of a case. NULL with *why; from malloc. */
uint8_t *public_struct(struct public_case *c, const char *name, size_t *bytes, char *why, size_t size);

/* ---- running it ---- */

enum public_result {
    PUBLIC_RIGHT,
    PUBLIC_WRONG,
    PUBLIC_NOT_COMPILED,
    PUBLIC_NOT_RUN,
    PUBLIC_NO_CASE,
    PUBLIC_ABSENT,
    PUBLIC_RESULTS
};

/* Compiles, runs, interprets and compares. `text` says what was found. */
enum public_result public_run(struct public_case *c, char *text, size_t size);

/* Fills `expected` with what the output has to be, f64; false when there is no reference of that name. */
bool public_reference(struct public_case *c, double *expected);
bool public_reference_ggml(struct public_case *c, double *expected);
bool public_reference_windows(struct public_case *c, double *expected);
bool public_reference_mlx(struct public_case *c, double *expected);

#endif
