/* What a row asks of `orchard run`: the requests that a user would write for the kernels that it names. A request and the command
 * line that means the same come from one description, so that a prediction can be had by hand. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_REQUEST_H
#define ORCHARD_SIM_PROVE_VALIDATE_REQUEST_H

#include "sim/prove/validate/validate.h"
#include "sim/run/run.h"

/* On which cores of a chip a program runs that names them so. */
enum soc_core_choice validate_core_choice(enum validate_core core);

/* How many kernels the program asks for; 0 = it is code of its own. */
unsigned validate_request_count(const struct validate_program *program);

/* One of them. Points into the program. Without a chip yet. */
struct run_request validate_request(const struct validate_program *program, unsigned number);
/* The same on a chip, whose P cores all take part where the program says so. */
struct run_request validate_request_on(const struct validate_program *program, unsigned number, const struct chip *chip);
/* How often its time counts: negative for what is subtracted. */
double validate_request_times(const struct validate_program *program, unsigned number);
/* Whether its overhead counts as well, once; otherwise only the time of the device. */
bool validate_request_whole(const struct validate_program *program, unsigned number);

/* The command line that asks it, ready to paste; `sets` are those of the row and the user. The caller frees it; NULL when memory
 * is out. */
char *validate_request_command(const struct run_request *request, const char *chip, const struct chip_overrides *sets);

#endif
