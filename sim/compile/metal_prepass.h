/* Metal source for clang: preprocessed text in, text that clang takes as C++ out.
 *
 * clang knows no Metal. In its SYCL device mode it has what Metal needs of address spaces; what remains is rewritten here, token
 * by token: kernels and their arguments, explicit instantiations with a host name, function constants, threadgroup variables,
 * member functions with address spaces, literals. The library is the set of headers in sim/compile/metal (README.md there). Lines
 * stay lines, so that what clang says of a place is true of the source.
 *
 * Public source: Metal Shading Language Specification, developer.apple.com/metal.
 */
#ifndef ORCHARD_SIM_COMPILE_METAL_PREPASS_H
#define ORCHARD_SIM_COMPILE_METAL_PREPASS_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum metal_argument_kind { METAL_BUFFER, METAL_THREADGROUP };

struct metal_argument {
    const char *name;
    enum metal_argument_kind kind;
    unsigned index;   /* of the buffer or the threadgroup memory; numbered in order where the source gives none */
    bool conditional; /* there only if a function constant says so */
};

struct metal_kernel {
    const char *name;     /* as the host calls it */
    const char *function; /* as the source does, with template arguments: scale<float> */
    const char *entry;    /* the global variable of the IR that holds its address: __orchard_kernel_0; NULL when not wanted */
    const struct metal_argument *argument; /* those that the host binds, in order; positions are none */
    size_t arguments;
    const char *file;
    unsigned line;
};

struct metal_constant {
    const char *name, *type;
    long index;
    bool given; /* else its value is 0 */
};

/* A value for a function constant, by name, or by number when `name` is NULL. */
struct metal_value {
    const char *name;
    long index;
    const char *text; /* as C++ writes it: true, 16, 0.5f */
};

struct metal_unit {
    /* asked; all zero: every kernel, no function constant given */
    const char *source; /* its name, for messages about the whole; NULL = it has none */
    const char *wanted; /* host name of the only kernel to keep; NULL = all */
    const struct metal_value *value;
    size_t values;
    /* answered */
    const char *text;
    size_t bytes;
    const struct metal_kernel *kernel; /* all of the source, in order, wanted or not */
    size_t kernels;
    const struct metal_constant *constant;
    size_t constants;
    struct metal_memory *memory; /* of all of these */
};

/* Fails with ORCH_UNMODELLED naming file and line for textures, ray tracing and rendering, and with ORCH_USAGE when the wanted
 * kernel is not there or the text is broken. Whether it fails or not, metal_unit_free may follow. */
bool metal_prepass(const char *text, size_t bytes, struct metal_unit *unit, struct orch_error *error);
void metal_unit_free(struct metal_unit *unit);

/* Options of clang for the two steps, NULL at the end; the folder of headers comes behind "-isystem" for the first. */
const char *const *metal_preprocess_options(void);
const char *const *metal_compile_options(void);

#endif
