/* The ways in which a kernel runs here: its intermediate representation as clang wrote it and as it is when lowered, both in the
 * interpreter; its machine code on the simulated GPU, also with so few registers that values go to the stack. */
#ifndef ORCHARD_TESTS_OPENCL_WAYS_H
#define ORCHARD_TESTS_OPENCL_WAYS_H

#include "tests/opencl/opencl_case.h"

enum opencl_way { OPENCL_READ, OPENCL_LOWERED, OPENCL_MACHINE, OPENCL_TIGHT, OPENCL_WAYS };

/* What buffers hold afterwards, by argument. */
struct opencl_result {
    uint8_t *out[OPENCL_ARGS];
};

struct opencl_outcome {
    struct opencl_result result[OPENCL_WAYS];
    bool unread;    /* the interpreter does not know a function before it is lowered: that result is the next one's */
    bool tight;     /* it could do with fewer registers */
    bool refused;   /* the compiler says that it does not support something */
    char text[600]; /* why one of the ways failed; "" = none did */
};

/* Clang's text of a source. Free *llvm in any case. False with the reason in `why`. */
bool opencl_to_llvm(const char *source, size_t bytes, unsigned level, char **llvm, size_t *llvm_bytes, char *why, size_t size);
/* Runs one kernel of it in all ways; `halves` are the registers of the last, 0 = that is left out. False when one of them failed;
 * free the outcome in any case. */
bool opencl_run(const struct opencl_case *c, const char *llvm, size_t llvm_bytes, unsigned halves,
                struct opencl_outcome *outcome);
void opencl_outcome_free(struct opencl_outcome *outcome);

bool opencl_result_create(struct opencl_result *result, const struct opencl_case *c);
void opencl_result_free(struct opencl_result *result);

#endif
