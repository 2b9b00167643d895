/* Requests of a network to the Neural Engine. Kernels of its library that follow one another become one program
 * (workload/ane/ane_link.h), which is timed when the network has been gone through; where they are executed, that is kernel by
 * kernel.
 *
 * A tensor is known by where the host has it, and who makes a new one there says so.
 */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_REQUEST_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_REQUEST_H

#include "sim/run/lower/lowering.h"
#include "sim/run/network/run_network.h"
#include "sim/run/network/run_network_step.h"
#include "sim/workload/ane/ane_workload.h"

struct network_requests;

struct network_requests *network_requests_create(void);
void network_requests_free(struct network_requests *requests);

/* Keeps what is needed of a kernel's program; kernels of the same text are the same. False = out of memory. */
bool network_requests_program(struct network_requests *requests, const struct ane_workload *workload, size_t *program);
/* The kernel comes next, in the request that the network is at. `placement`: its line. False = out of memory. */
bool network_requests_add(struct network_requests *requests, const struct run_network *network, size_t program,
                          const struct lowered_step *step, size_t placement);

/* The host has made a tensor at this place. */
void network_requests_begin(struct network_requests *requests, const void *host);
/* Somebody else reads what is at this place. */
void network_requests_keep(struct network_requests *requests, const void *host);

/* Times all requests, adds them to the network, and completes the lines of their kernels. */
bool network_requests_finish(struct network_requests *requests, struct run_network *network, struct orch_error *error);

#endif
