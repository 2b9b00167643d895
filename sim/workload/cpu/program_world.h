/* What a simulated program sees of the host: mounted files, standard input, its environment. Nothing of it is there unless the
 * user said so.
 */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_PROGRAM_WORLD_H
#define ORCHARD_SIM_WORKLOAD_CPU_PROGRAM_WORLD_H

#include "sim/base/error.h"
#include "units/cpu/cpu_sandbox.h"

struct program_world {
    struct cpu_mount *mount;
    size_t mounts;
    const char **env; /* "NAME=VALUE" */
    size_t envs;
    uint8_t *input; /* what standard input has */
    size_t input_bytes;
    char **owned; /* texts of mounts */
};

/* Reads "HOST:GUEST", "HOST:GUEST:ro" or "HOST:GUEST:rw". */
bool program_world_mount(struct program_world *world, const char *text, struct orch_error *error);
bool program_world_env(struct program_world *world, const char *text, struct orch_error *error);
/* Reads the whole file, whatever it is. */
bool program_world_input(struct program_world *world, const char *path, struct orch_error *error);
void program_world_free(struct program_world *world);

/* Whether a program can change files of the host. */
bool program_world_writes(const struct program_world *world);
/* Of everything that decides what a program sees, apart from what is in mounted files. */
uint64_t program_world_hash(const struct program_world *world, uint64_t hash);

#endif
