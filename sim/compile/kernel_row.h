/* GPU kernels of a user in a row: sources with their launches, one after another, over buffers with names.
 *
 * An argument may name a buffer where it gives its form, "x=f32:1024:rand:1", and from then on "x" is that buffer, in the same
 * step and in later ones. Buffers can also be named beforehand. As a file, a row is
 *
 *     {"buffers": {"x": "f32:1024:rand:1", "y": "out:f32:1024:y.npy"},
 *      "steps": [{"kernel": "scale.metal", "entry": "scale", "grid": "1024", "group": "64", "args": ["x", "t=f32:1024", "2f"]},
 *                {"kernel": "add.cl", "grid": "1024", "args": ["t", "y"], "define": ["N=1024"]}],
 *      "expect": {"y": "want.npy"}, "rtol": 1e-5}
 */
#ifndef ORCHARD_SIM_COMPILE_KERNEL_ROW_H
#define ORCHARD_SIM_COMPILE_KERNEL_ROW_H

#include "sim/compile/compile.h"
#include "sim/compile/kernel_launch.h"

#define KERNEL_ROW_STEPS 64

struct kernel_step {
    struct compile_request how; /* path and entry included */
    struct kernel_launch launch;
};

/* What is asked for. */
struct kernel_row_request {
    const struct kernel_step *step;
    unsigned steps;
    const char *const *name; /* of buffers that are there from the beginning, with their forms */
    const char *const *form;
    unsigned names;
    const char *const *expect_name; /* buffers that have to end as .npy files say: within `compare` */
    const char *const *expect_file;
    unsigned expects;
    struct abi_compare compare;
};

struct kernel_row_buffer {
    char name[48]; /* "x", or "2.y" for argument y of step 2 */
    uint64_t bytes, count;
    enum element_type type;
    bool read_only;
    bool number;           /* given by number, in constant memory */
    uint8_t *initial;      /* NULL = zeros */
    struct abi_save *save; /* NULL = nowhere */
    uint8_t *expected;     /* NULL = not stated */
};

struct kernel_row {
    struct abi_kernel *step; /* complete, but buffers have no contents */
    unsigned steps;
    unsigned (*place)[ABI_ARGS_MAX]; /* by step and argument: its buffer; no meaning for numbers */
    struct kernel_row_buffer *buffer;
    unsigned buffers;
    struct abi_compare compare; /* for what is expected */
    char *warnings;             /* of clang about all sources; "" = none */
    uint64_t hash;              /* of everything that decides what comes out */
    bool borrowed;              /* kernels and contents belong to somebody else */
};

/* Compiles every source and gives every buffer its place. False with *error, which names the step. To be freed in any case. */
bool kernel_row_open(const struct kernel_row_request *request, struct kernel_row *row, struct orch_error *error);
/* A row of one kernel that is complete already and outlives the row; each argument that is a buffer has one of its own. */
bool kernel_row_of(const struct abi_kernel *kernel, struct kernel_row *row, struct orch_error *error);
void kernel_row_free(struct kernel_row *row);
double kernel_row_bytes(const struct kernel_row *row); /* of all buffers */

/* ---- kernel_row_file.c ---- */

struct kernel_row_file;
/* Whether a text is a JSON object with a member "steps". */
bool kernel_row_is(const uint8_t *text, size_t size);
/* Reads such a text; names of sources and folders are relative to that of `path`. The request points into the result, which has
 * to be freed after use. NULL with *error, which names the place. */
struct kernel_row_file *kernel_row_read(const char *path, const char *text, size_t size, struct kernel_row_request *request,
                                        struct orch_error *error);
void kernel_row_file_free(struct kernel_row_file *file);

#endif
