/* Options of one workload as the text that a launch record carries: "cores=4,home=elf,cold=1,args=1024%20f32:8".
 *
 * The same names as in the brackets of `orchard run A[...] + B[...]`, and args. In values, '%' and two hex digits stand for a
 * byte.
 */
#ifndef ORCHARD_SIM_TRACE_LAUNCH_SETTINGS_H
#define ORCHARD_SIM_TRACE_LAUNCH_SETTINGS_H

#include "sim/scenario/together.h"

/* Allocated, "" when all is as usual; NULL without memory. Unit and precision are not part of it. */
char *launch_settings_write(const struct together_part *part);

/* A request read back. Texts live in `storage`. */
struct launch_request {
    struct together_part part;
    char *storage;
    const char **args;
};
bool launch_settings_read(const char *settings, struct launch_request *request, struct orch_error *error);
void launch_request_free(struct launch_request *request);

#endif
