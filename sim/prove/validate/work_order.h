/* In which order rows are run: those that take the host longest first, so that no thread is left with a long one at the end. What
 * comes out does not depend on it. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_WORK_ORDER_H
#define ORCHARD_SIM_PROVE_VALIDATE_WORK_ORDER_H

#include "sim/prove/validate/row.h"

/* About how long the host works on a program on this chip (NULL = not known), in no particular unit. */
double work_order_cost(const struct validate_program *program, const struct chip *chip);

/* Row numbers in the order in which they should be run; rows that ask what an earlier one asks come last, since their answer is
 * there by then. From malloc; NULL when memory is out. */
size_t *work_order(struct validate_row *rows, size_t count, const struct validate_runner *runner);

#endif
