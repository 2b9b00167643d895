/* Shared by the files that read launch descriptions; not for others. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_ABI_INTERNAL_H
#define ORCHARD_SIM_WORKLOAD_GPU_ABI_INTERNAL_H

#include "isa/agx/agx_asm.h"
#include "sim/base/json_read.h"
#include "sim/workload/gpu/abi_kernel.h"

struct abi_reader {
    struct abi_kernel *kernel;
    const struct abi_files *files;
    const struct abi_target *target;
    struct orch_error *error;
    struct agx_assembly assembly; /* of code that was given as text */
    bool assembled;
};

/* Reads a named file and checks the SHA-256 that `digest_member` of the node states, when it does. */
bool abi_read_file(struct abi_reader *r, const struct json_node *node, const char *member, const char *name,
                   const char *digest_member, uint8_t **bytes, size_t *size);
bool abi_read_digest(const struct json_node *node, const char *member, uint8_t digest[ABI_DIGEST_BYTES], bool *given);
void abi_sha256(const void *bytes, size_t size, uint8_t digest[ABI_DIGEST_BYTES]);

bool abi_read_code(struct abi_reader *r, const struct json_node *top);
bool abi_read_args(struct abi_reader *r, const struct json_node *top);
/* Puts a file's elements, raw or .npy, into *data (taken over from `bytes`); checks or fills in type and count. */
bool abi_take_elements(const struct json_node *node, const char *member, const char *name, uint8_t *bytes, size_t size,
                       struct abi_arg *arg, uint8_t **data);

/* Turns k->code from text into code and takes the directives as defaults. */
bool abi_assemble(struct abi_reader *r, const struct json_node *node);
const struct agx_argument *abi_assembled_arg(const struct abi_reader *r, const char *name); /* NULL = none */
bool abi_check_assembled_args(const struct abi_reader *r, const struct json_node *top);

#endif
