/* Names of library functions: OpenCL C's as clang mangles them (Itanium C++ ABI, itanium-cxx-abi.github.io/cxx-abi/abi.html) and
 * what each becomes. */
#ifndef ORCHARD_ISA_AGX_COMPILER_IR_BUILTIN_NAMES_H
#define ORCHARD_ISA_AGX_COMPILER_IR_BUILTIN_NAMES_H

#include "isa/agx/compiler/ir.h"

enum ir_library_kind {
    IR_LIBRARY_ID,      /* a position: `code` is a builtin, the result of size_t */
    IR_LIBRARY_COUNT,   /* the same without a dimension, the result of uint */
    IR_LIBRARY_OP,      /* an operation, lane by lane */
    IR_LIBRARY_BUILTIN, /* a builtin, lane by lane */
    IR_LIBRARY_EXPAND,  /* several instructions, lane by lane: `code` is an enum ir_expansion */
    IR_LIBRARY_SPECIAL, /* handled as a whole: `code` is an enum ir_special */
    IR_LIBRARY_ATOMIC,  /* `code` is an enum ir_atomic */
    IR_LIBRARY_SIMD     /* `code` is an enum ir_reduction, `detail` a builtin */
};

enum ir_expansion {
#define IR_EXPANSION(name) IR_X_##name,
#define IR_LIBRARY(text, kind, code, code_signed, code_float, detail)
#include "isa/agx/compiler/ir_builtin_names.inc"
    IR_EXPANSION_COUNT
};

enum ir_special {
#define IR_SPECIAL(name) IR_S_##name,
#define IR_LIBRARY(text, kind, code, code_signed, code_float, detail)
#include "isa/agx/compiler/ir_builtin_names.inc"
    IR_SPECIAL_COUNT
};

struct ir_library_name {
    const char *text;
    enum ir_library_kind kind;
    unsigned code, code_signed, code_float; /* for unsigned integers, signed ones, floating point */
    unsigned detail;
};

struct ir_library_type {
    char code;      /* of the ABI: i, j, f ...; h for half is 'H'; 'P' when it points to something else than a number */
    unsigned lanes; /* 1 = not a vector */
    bool is_pointer, is_signed, is_float;
    unsigned space; /* of what it points to */
};

struct ir_library_call {
    const struct ir_library_name *name; /* NULL: a name with parts, such as convert_uint4_sat */
    char text[64];                      /* without the mangling */
    unsigned parameters;
    struct ir_library_type parameter[8]; /* of a pointer: what it points to */
};

/* False when `mangled` is not a library function known here; `call->text` is then still filled where it can be. */
bool ir_library_find(const char *mangled, struct ir_library_call *call);

/* Builtins by their own names, as our headers for Metal call them: __orchard_NAME, then what the builtin has of a kind ("add",
 * "fmax"), a type ("_u32", "_f16") and a space ("_as1"); the operands tell the last two as well. */
#define IR_OWN "__orchard_"
/* Finds such a builtin. `*kind` is an enum ir_atomic or ir_reduction, 0 when it has none. */
bool ir_builtin_by_name(const char *name, unsigned operands, enum ir_builtin *builtin, unsigned *kind, bool *has_kind);

#endif
