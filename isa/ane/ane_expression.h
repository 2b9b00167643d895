/* What a chain of tasks computes, as expressions over its inputs, found by following the tasks from buffer to buffer. Inside
 * isa/ane only.
 *
 * Equal expressions are the same node, so nodes are compared by number and their count grows by only a few for each task.
 */
#ifndef ORCHARD_ISA_ANE_ANE_EXPRESSION_H
#define ORCHARD_ISA_ANE_ANE_EXPRESSION_H

#include "isa/ane/ane_coefficients.h"
#include "isa/ane/ane_program.h"

#define ANE_NODE_NONE UINT32_MAX

struct ane_node {
    const char *op;  /* "input", "scale", "add", "exp2" ...; static */
    double p, q;     /* scale: p * x + q; input: bar; tables with a parameter: p; windows: width, height */
    uint32_t arg[2]; /* ANE_NODE_NONE = none */
};

struct ane_expressions {
    struct ane_node *node; /* owned */
    uint32_t count;
    size_t room;
    uint32_t *result; /* of each task, owned */
    uint32_t *output; /* the different values of the outputs, in the order in which they are written; owned */
    uint32_t outputs;
    bool failed; /* memory ran out */
};
/* False when memory ran out. Free with ane_expressions_free. */
bool ane_expressions_make(const struct ane_program *program, struct ane_expressions *expressions);
void ane_expressions_free(struct ane_expressions *expressions);

/* Writes an expression, as "mul(bar5,reciprocal(bar6))"; it is cut off where the buffer ends. */
void ane_expression_text(const struct ane_expressions *expressions, uint32_t node, char *text, size_t size);

/* Reads the activation table of a task; false when it has none, or one that is not understood. */
bool ane_task_table(const struct ane_program *program, const struct ane_task *task, struct ane_table *table);

#endif
