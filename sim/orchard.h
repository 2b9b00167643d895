/* liborchard: a simulated Apple Silicon chip from C.
 *
 *     struct orchard_error error;
 *     struct orchard *o = orchard_open("m1-max", NULL, 0, &error);
 *     float *a, *b, *c;
 *     uint64_t ga = orchard_alloc(o, bytes, (void **)&a, &error), ...;
 *     fill a and b
 *     int job = orchard_enqueue(o, "amx", "gemm:256x256x256", &(struct orchard_launch){.buffer = {ga, gb, gc}}, &error);
 *     orchard_wait(o, &error);
 *     printf("%g s\n", orchard_seconds(o, job));
 *     orchard_close(o);
 *
 * Memory is unified: a buffer has one simulated address for every unit and one host pointer for you. Jobs on one unit run
 * in the order they were enqueued. Times are simulated seconds unless a name says host. One struct orchard belongs to one
 * thread at a time.
 */
#ifndef ORCHARD_H
#define ORCHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ORCHARD_API __attribute__((visibility("default")))
#else
#define ORCHARD_API
#endif

struct orchard;

/* code: 2 wrong use or unreadable input, 3 not modelled, 4 the simulated program faulted, 70 internal. */
struct orchard_error {
    int code;
    char text[512];
};

ORCHARD_API const char *orchard_version(void);

/* Opens a chip by id or alias with `set_count` overrides "KEY=VALUE". NULL with *error (which may be NULL). */
ORCHARD_API struct orchard *orchard_open(const char *chip, const char *const *sets, size_t set_count,
                                         struct orchard_error *error);
ORCHARD_API void orchard_close(struct orchard *orchard);

/* A zero-filled buffer of `bytes` in unified memory, 16 KiB aligned. Returns its simulated address, 0 on failure; *host
 * (may be NULL) is where to read and write it between jobs. Freed by orchard_free or orchard_close. What does not fit the memory
 * of the machine, the largest that is sold with the chip, is refused. */
ORCHARD_API uint64_t orchard_alloc(struct orchard *orchard, uint64_t bytes, void **host, struct orchard_error *error);

/* Gives a buffer back; its address may be handed out again. False when none in use begins there. */
ORCHARD_API bool orchard_free(struct orchard *orchard, uint64_t address);

struct orchard_memory {
    uint64_t capacity_bytes;         /* of the machine */
    uint64_t used_bytes, peak_bytes; /* buffers in use: now and at most */
    int pressure;                    /* 0 nominal, 1 warn, 2 critical */
};
ORCHARD_API void orchard_memory(const struct orchard *orchard, struct orchard_memory *memory);

#define ORCHARD_BUFFERS 12
struct orchard_launch {
    uint64_t buffer[ORCHARD_BUFFERS]; /* operands of a kernel in its documented order (gemm: A, B, C; gemv: A, x, y); 0 = the
                               library allocates and fills them. On the ane they are fp16 elements in the order of the
                               operator's shape, weights included; programs: inputs, then outputs */
    const char *precision;            /* NULL = f32, on the ane f16 */
    uint64_t seed;                    /* of filled operands */
    bool timing_only;                 /* no values are computed */
};

/* Adds a kernel ("KERNEL:SHAPE", on the ane also a program file) to a unit's queue; returns the job's number, -1 on failure. */
ORCHARD_API int orchard_enqueue(struct orchard *orchard, const char *unit, const char *workload,
                                const struct orchard_launch *launch, struct orchard_error *error);
/* Adds a call of `entry` (NULL = the program's start) in an AArch64 ELF file to a CPU core's queue. `args` as in
 * `orchard run --args`. */
ORCHARD_API int orchard_enqueue_program(struct orchard *orchard, const char *elf_path, const char *entry, const char *const *args,
                                        size_t arg_count, struct orchard_error *error);
/* Runs everything enqueued. */
ORCHARD_API bool orchard_wait(struct orchard *orchard, struct orchard_error *error);

/* Of a finished job; NaN when there is no such job or counter. Counters are those of `orchard run --json`. */
ORCHARD_API double orchard_seconds(const struct orchard *orchard, int job);
ORCHARD_API double orchard_counter(const struct orchard *orchard, int job, const char *name);

#ifdef __cplusplus
}
#endif
#endif
