/* The options of one workload as the text that a launch record carries: "cores=4,home=elf,cold=1,args=1024%20f32:8".
 *
 * The names are those used in the brackets of `orchard run A[...] + B[...]`, plus args. In values, '%' and two hexadecimal digits
 * stand for a byte.
 */
#ifndef ORCHARD_SIM_TRACE_LAUNCH_SETTINGS_H
#define ORCHARD_SIM_TRACE_LAUNCH_SETTINGS_H

#include "sim/scenario/together.h"

/* Allocated text, "" when all options have their defaults; NULL when memory is out. Leaves out unit and precision. */
char *launch_settings_write(const struct together_part *part);

/* A request read back from a launch; its strings live in `storage`. */
struct launch_request {
    struct together_part part;
    char *storage;
    const char **args;
};
bool launch_settings_read(const char *settings, struct launch_request *request, struct orch_error *error);
void launch_request_free(struct launch_request *request);

#endif
