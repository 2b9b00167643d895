/* A GPU kernel and one launch of it, as abi.json describes them: code, arguments, start contents, expected results.
 *
 * The smallest description that runs:
 *
 *     {"files": {"code": "scale.s"}, "launch": {"threads_per_threadgroup": [64], "threadgroups": [16]},
 *      "args": [{"name": "x", "kind": "buffer", "dtype": "f32", "count": 1024, "initial": "f32 seed 1"},
 *               {"name": "factor", "kind": "scalar", "dtype": "f32", "value": 2.5}]}
 *
 * Everything else has a default: arguments follow one another, naturally aligned; main begins at byte 0; buffers start as zeros;
 * nothing is compared. "initial" and "expected" are "zeros", a generator (abi_generator.h), or a file of raw little-endian bytes
 * or in .npy format. Code is a raw image or assembler text (.s, .agx).
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_ABI_KERNEL_H
#define ORCHARD_SIM_WORKLOAD_GPU_ABI_KERNEL_H

#include "sim/workload/gpu/abi_compare.h"
#include "sim/workload/gpu/abi_generator.h"
#include "sim/workload/gpu/abi_source.h"
#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ABI_ARGS_MAX          128
#define ABI_GROUP_THREADS_MAX 1024                /* Metal feature set tables */
#define ABI_GROUP_MEMORY_MAX  (32u << 10)         /* bytes; Metal feature set tables */
#define ABI_BUFFERS_MAX       (UINT64_C(8) << 30) /* bytes of all buffers: what a simulation may ask of its host */
#define ABI_DIGEST_BYTES      32

enum abi_start { ABI_START_ZEROS, ABI_START_GENERATED, ABI_START_BYTES };

/* A file that the contents of a buffer are written to after the launch. */
struct abi_save {
    char *path;
    struct npy_array array; /* type and shape; no data */
};

struct abi_arg {
    char name[48];
    bool buffer;      /* otherwise a scalar */
    bool constant;    /* a buffer in constant memory: a launch may give one number instead */
    bool threadgroup; /* a scalar: the byte of threadgroup memory where a part begins whose size the launch gives */
    enum element_type type;
    uint32_t offset, size; /* bytes in the argument block */
    uint8_t scalar[8];
    uint64_t count, bytes; /* of a buffer */
    enum abi_start start;
    struct abi_generator generator;
    uint8_t *initial;  /* for START_BYTES: `bytes` of them */
    bool unchanged;    /* expected to keep its start contents */
    uint8_t *expected; /* NULL = none */
    bool has_digest;   /* `digest` is the SHA-256 of the expected bytes, given in their place */
    uint8_t digest[ABI_DIGEST_BYTES];
    struct abi_compare compare;
    struct abi_save *save; /* NULL = nowhere; never read from a description */
};

struct abi_mnemonic {
    char name[32];
    uint64_t count;
};

struct abi_kernel {
    char *path; /* of the description, as given */
    char name[64];
    char code_name[128]; /* file of the image that was chosen */
    uint8_t *code;
    size_t code_bytes;
    uint32_t main_offset, preamble_offset;
    bool has_preamble;
    bool values_steer_nothing; /* whatever it looks like: only numbers for the launch steer, which have contents in any case */
    uint32_t constants_offset, constants_first, constants_count; /* in bytes; first uniform half-word; in half-words */
    uint32_t argument_bytes;
    uint32_t register_halves; /* as stated, 0 = what the program names */
    bool holds_more;          /* see struct gpu_timing_launch */
    uint32_t threadgroup_memory_bytes, stack_words;
    uint32_t grid[3], group[3]; /* threads */
    struct abi_arg arg[ABI_ARGS_MAX];
    unsigned args;
    /* Dynamic counts of main that a run must reach exactly. */
    bool has_reference;
    uint64_t simdgroup_instructions, active_lane_instructions;
    struct abi_mnemonic *mnemonic;
    unsigned mnemonics;
    uint64_t hash;             /* of everything that was read */
    struct abi_source *source; /* NULL = nothing says which lines the code comes from */
};

/* Where the files that a description names come from. `read` allocates *bytes and puts a NUL after them. */
struct abi_files {
    bool (*read)(void *context, const char *name, uint8_t **bytes, size_t *size, struct orch_error *error);
    void *context;
};

/* Decides which of several images is taken. */
struct abi_target {
    const char *name;      /* "g13g", "g13x", "g14g", "g14x", "g15": as in the list "targets" */
    bool coherent_atomics; /* several clusters or dies: needs the image whose device atomics have the coherency bit */
};

/* False with *error: exit code 2 and "file: place: reason; fix". The kernel is freed with abi_kernel_free in any case. */
bool abi_kernel_parse(struct abi_kernel *kernel, const char *path, const char *text, size_t size, const struct abi_files *files,
                      const struct abi_target *target, struct orch_error *error);
/* `path` is abi.json or the folder that holds it. */
bool abi_kernel_open(struct abi_kernel *kernel, const char *path, const struct abi_target *target, struct orch_error *error);
/* The same without the code, whose file need not be there: launch, arguments, expectations and counts. */
bool abi_kernel_open_launch(struct abi_kernel *kernel, const char *path, struct orch_error *error);
void abi_kernel_free(struct abi_kernel *kernel);

/* Is the file a JSON object? No other workload is one. */
bool abi_is_description(const uint8_t *text, size_t size);

struct abi_arg *abi_kernel_arg(struct abi_kernel *kernel, const char *name); /* NULL = none */
/* Gives a buffer other start contents, from a .npy or raw file of the same size. Results are not compared any more. */
bool abi_kernel_set_input(struct abi_kernel *kernel, const char *name, const char *path, struct orch_error *error);

struct agx_assembly;
/* Gives the kernel a copy of assembled code and what goes with it, in place of what it had. Arguments and sizes stay. */
bool abi_kernel_take_code(struct abi_kernel *kernel, const struct agx_assembly *assembly, struct orch_error *error);

#endif
