/* Kernels that are compiled functions (of CPU cores, of the AMX block) as data: one row a kernel.
 *
 * An operation says what is computed, whatever unit does it: its name, its operands, how much work it is, and an independent
 * reference in double precision with the error that it allows. A row of a unit's library adds how that unit does it: precisions,
 * options of its own, and calls of compiled functions, each with the rule by which its work is shared by threads. From the two
 * follow parsing, buffers, accounts, tests and --explain; a new kernel needs no line elsewhere but in sim/workload/kernels.inc.
 *
 *     struct routine_request r;
 *     routine_read(&library, "softmax:128x1000", "f16", &r, &error) && routine_build(&r, &work, &error)
 */
#ifndef ORCHARD_UNITS_ROUTINES_ROUTINE_H
#define ORCHARD_UNITS_ROUTINES_ROUTINE_H

#include "units/kernel_text.h"

/* Types of elements. Quantised ones are GGUF blocks (ggml: block of 32 or 256 weights). */
enum routine_type {
    ROUTINE_F64,
    ROUTINE_F32,
    ROUTINE_F16,
    ROUTINE_BF16,
    ROUTINE_I32,
    ROUTINE_U32,
    ROUTINE_I16,
    ROUTINE_I8,
    ROUTINE_U8,
    ROUTINE_Q4_0,
    ROUTINE_Q8_0,
    ROUTINE_Q4_K,
    ROUTINE_Q6_K,
    ROUTINE_TYPES
};
const char *routine_type_name(enum routine_type type); /* "f32" ..., spelt as for --precision */
/* Bytes of `count` elements (whole blocks for quantised types). */
uint64_t routine_type_bytes(enum routine_type type, uint64_t count);
/* Elements of a block; 1 for types that have none. */
unsigned routine_type_block(enum routine_type type);
/* Largest relative error of rounding to the type; 0 = whole numbers. */
double routine_type_epsilon(enum routine_type type);

#define ROUTINE_OPERANDS 16
#define ROUTINE_CALLS    10
#define ROUTINE_WORDS    40
#define ROUTINE_THREADS  64

struct routine;
struct routine_work;

struct routine_request {
    const struct routine *row;
    int64_t value[KERNEL_PARAMETERS];
    double decimal[KERNEL_PARAMETERS]; /* of decimal parameters */
    enum routine_type type;
    unsigned threads;    /* that share the work; 0 = 1. Set by the caller after reading */
    unsigned generation; /* of the unit, from 1 on; 0 = any, which has what all have. Set by the caller after reading */
};

enum routine_role { ROUTINE_INPUT, ROUTINE_OUTPUT, ROUTINE_IN_OUT, ROUTINE_SCRATCH };
struct routine_operand {
    char name[12]; /* "a", "bias", "out" */
    enum routine_type type;
    enum routine_role role;
    uint64_t dims[4], count; /* count: elements, the product of the dimensions */
    /* Range of generated inputs: uniform in [low, high); integers in [low, high). */
    double low, high;
    bool distinct;                /* no two of the integers are the same */
    uint64_t thread_stride_bytes; /* scratch: each thread has so many bytes of its own; 0 = all share it */
};

/* A call of a compiled function, as function(arguments, first, end, thread): each thread works on items first .. end - 1. The
 * arguments are 64-bit words in memory: whole numbers, doubles as bits, addresses. Calls follow one another; a thread begins the
 * next one when all have finished this one. */
struct routine_call {
    char symbol[40];
    const char *items; /* what the threads share, for people: "panels of 8 rows of c" */
    uint64_t item_count;
    struct routine_word {
        int operand;    /* -1 = the value itself */
        uint64_t value; /* behind an operand: bytes into it */
    } word[ROUTINE_WORDS];
    unsigned words;
};

struct routine_work {
    struct routine_operand operand[ROUTINE_OPERANDS];
    unsigned operands;
    struct routine_call call[ROUTINE_CALLS];
    unsigned calls;
    unsigned loading;   /* so many calls at the beginning work on constant weights: they run once, when these are loaded */
    char variant[40];   /* "neon_sgemm_8x12" */
    double flops, macs; /* of the operation, not of the program: 2mnk ...; 0 = none */
    double min_bytes;   /* every operand touched once */
    double epsilon;     /* relative error of sums; f32 unless the builder says otherwise */
};

/* What an operation gives in double precision, and how far a result may be from it before it is rounded to its type: for inputs
 * as they are stored and sums in a type with relative error `epsilon`. */
struct routine_truth {
    double *value, *error; /* by element of the output */
    double epsilon;
};

struct routine_operation {
    const char *name; /* "gemm" */
    unsigned positional;
    bool by_values; /* which way its kernels go hangs on the values of operands, floating-point ones as well */
    /* Adds the operands and sets flops, macs and min_bytes. Refuses shapes that are none. */
    bool (*operands)(const struct routine_request *request, struct routine_work *work, struct isa_error *error);
    /* operand: by index, contents before the kernel ran; NULL for those that are only written. */
    void (*reference)(const struct routine_request *request, const double *const *operand, const struct routine_truth *truth);
};

struct routine {
    const struct routine_operation *operation;
    const char *grammar;    /* "MxNxK[,batch=B]" */
    const char *precisions; /* "f32 f16"; the first one is the usual one */
    const char *text;       /* what it computes; data layout */
    /* Those of the operation in its order, then options of this unit alone. */
    const struct kernel_parameter *parameter;
    /* Adds scratch operands and calls to what the operation has filled in. */
    bool (*build)(const struct routine_request *request, struct routine_work *work, struct isa_error *error);
};

/* The kernels of one unit. */
struct routine_library {
    const char *unit; /* for messages: "the CPU" */
    const struct routine *const *row;
    size_t count;
};

const struct routine *routine_find(const struct routine_library *library, const char *workload); /* NULL = none */
/* Parses "softmax:128x1000,log=1". precision NULL = the first of the row. False with a text that names the wrong option and the
 * nearest right one. */
bool routine_read(const struct routine_library *library, const char *workload, const char *precision,
                  struct routine_request *request, struct isa_error *error);
/* Writes the canonical text: equal requests have equal texts. */
int routine_write(const struct routine_request *request, char *text, size_t size);

/* False with a text for the user: what is impossible and what is possible. */
bool routine_build(const struct routine_request *request, struct routine_work *work, struct isa_error *error);
/* The operand that a kernel writes. */
unsigned routine_result(const struct routine_work *work);

/* Static shares of a call's items: thread t has bound[t] .. bound[t + 1] - 1, as many as its weight says. weight NULL = all
 * alike. */
void routine_split(const struct routine_call *call, unsigned threads, const double *weight, uint64_t *bound);

/* ---- for operations and builders ---- */

/* Adds an operand and returns its index. Dimensions that are not there are 1. */
unsigned routine_add_operand(struct routine_work *work, const char *name, enum routine_type type, enum routine_role role,
                             const uint64_t dims[4]);
#define ROUTINE_DIMS(...) ((const uint64_t[4]){__VA_ARGS__})
/* Range of the operand added last; [-1, 1) unless it is called. */
void routine_set_range(struct routine_work *work, double low, double high);
/* Scratch memory: for all threads together, or so much for each. */
unsigned routine_add_scratch(struct routine_work *work, const char *name, uint64_t bytes, unsigned threads);

/* Begins a call. The symbol is "<name>_<type>"; `type` ROUTINE_TYPES leaves it as it is. */
struct routine_call *routine_add_call(struct routine_work *work, const char *name, enum routine_type type, const char *items,
                                      uint64_t count);
void routine_pass_operand(struct routine_call *call, unsigned operand, uint64_t offset_bytes);
void routine_pass(struct routine_call *call, int64_t value);
void routine_pass_real(struct routine_call *call, double value);

/* The most elements of one operand: more than any memory holds, and counts of bytes stay far from 2^63. */
#define ROUTINE_COUNT_MAX (UINT64_C(1) << 42)
/* False with a text when the product of the dimensions is above the limit. */
bool routine_check_count(const char *name, const uint64_t dims[4], struct isa_error *error);

#endif
