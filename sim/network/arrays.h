/* Arrays in files: .npy, .npz and serialised TensorProtos. */
#ifndef ORCHARD_SIM_NETWORK_ARRAYS_H
#define ORCHARD_SIM_NETWORK_ARRAYS_H

#include "sim/network/graph/array.h"

/* Reads a file, recognised by its content. Of an .npz archive the member `name` (its only one when NULL). NULL with an error that
 * begins with the path. */
struct net_array *net_array_load(const char *path, const char *name, struct orch_error *error);
/* Writes a .npy file; bf16 as its bits in u2, integers of four bits as bytes. */
bool net_array_save(const char *path, const struct net_array *array, struct orch_error *error);

#endif
