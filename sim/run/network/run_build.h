/* Programs as files: a kernel of the Neural Engine's or of the GPU's library, or those of a network, which `orchard run` and
 * `orchard isa disasm` accept.
 *
 * A network becomes a folder. Each kernel is a file NUMBER-OPERATOR.hwx of it, or a folder NUMBER-OPERATOR with abi.json for the
 * GPU; weights are in them. network.json says in which order they come, which tensors they read and write, and what other units
 * compute between them.
 */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_BUILD_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_BUILD_H

#include "sim/run/lower/lowering.h"
#include "sim/run/network/run_network.h"

struct run_build;
struct network_step;
struct run_given;

/* What was written. */
struct run_built {
    unsigned programs, elsewhere, left; /* of the unit; kernels of cores and operators without a kernel, which have no program */
    double code_bytes;                  /* of code, or of descriptors with their coefficients */
};

/* The request says which unit. A network goes to the folder `output`, which is made; a kernel of the Neural Engine to that file,
 * one of the GPU to that folder (its launches to folders in it, if they are several). */
bool run_build(const struct run_request *request, const char *output, struct run_built *built, struct orch_error *error);

/* ---- for run_network.c ---- */

/* Writes the programs of a node whose kernels are open; what hangs on constants alone is run for its values. */
bool run_build_node(struct run_network *network, const char *title, const struct lowering *lowering, struct network_step *step,
                    struct orch_error *error);
/* Notes a node that no kernel computes. */
bool run_build_leave(const struct run_network *network, const char *title, const char *why);

/* ---- run_build_gpu.c ---- */

/* Writes the launches of a kernel of the GPU's library, with the contents that the caller's buffers have, or with generated ones
 * (`given` NULL): as the folder `base`, or as base-1, base-2 ... */
bool run_build_gpu(struct run *run, const struct run_given *given, const char *base, struct run_built *built,
                   struct orch_error *error);

#endif
