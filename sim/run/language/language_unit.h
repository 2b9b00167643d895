/* One kernel after another on values that lie in one simulated memory: what a language model is made of when it runs on units.
 *
 * Each kernel is a run of its own on the unit that is asked for, executed on the values every time. Its time is found once for
 * each shape, behind the warm-up that such runs have, and holds for all kernels of that shape; sums are the sums of kernels.
 */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_UNIT_H
#define ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_UNIT_H

#include "sim/run/measure.h"
#include "sim/run/run.h"

enum { LANGUAGE_INPUTS = 5 };

/* Memory that the host and the units see at the same place. */
struct language_buffer {
    uint64_t address, bytes;
    void *host;
};

/* What kernels took. */
struct language_sum {
    double seconds, seconds_low, seconds_high, joules, joules_low, joules_high, flops, macs;
    /* Of one command buffer, the most expensive so far, and by which shape; not in the others before the sum is closed. */
    double launch_seconds, launch_joules;
    size_t launch_shape;
    uint64_t kernels;
    double launches; /* of the GPU, each of which waits for the one before it */
    double slc_bytes, dram_read_bytes, dram_written_bytes;
};

struct language_call {
    const char *title;     /* "attn_q" */
    const char *precision; /* NULL = f32 */
    enum orch_part part;
    const struct language_buffer *input[LANGUAGE_INPUTS];
    unsigned inputs;
    const struct language_buffer *result;
    bool cold;             /* what it reads cannot have stayed in the caches since it was read last */
    unsigned result_place; /* among the buffers of launches, whose order is the kernel's */
    unsigned constants;    /* bits of inputs that become part of the program: it is made once for each place of them */
};

struct language_unit;

/* `request` says chip, mode, caches, cores; `result` gets the placement, stalls and counters. NULL = *error. */
struct language_unit *language_unit_create(const struct run_request *request, struct run_result *result,
                                           struct orch_error *error);
void language_unit_free(struct language_unit *unit, struct run_measure *m); /* hands over what was measured; m may be NULL */

/* Memory with contents, or zeros where `from` is NULL. */
bool language_unit_place(struct language_unit *unit, const void *from, uint64_t bytes, struct language_buffer *buffer,
                         struct orch_error *error);
/* A part of a buffer. */
struct language_buffer language_part(const struct language_buffer *buffer, uint64_t first_byte, uint64_t bytes);

/* Runs a kernel and adds what it took to the sum. `format` writes the text that `orchard run` takes. */
bool language_unit_call(struct language_unit *unit, const struct language_call *call, struct language_sum *sum,
                        struct orch_error *error, const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Time of kernels that are not run for their values: by shape, as `orchard run KERNEL:SHAPE` has it. */
bool language_unit_time(struct language_unit *unit, const struct language_call *call, const char *workload, double times,
                        struct language_sum *sum, struct orch_error *error);

/* Where somebody keeps timings and the host has threads, kernels that are asked for by shape are only listed from here on, and
 * add nothing; false = they are not. The second simulates by all threads what is not known of the list, and ends that. */
bool language_unit_foresee(struct language_unit *unit);
bool language_unit_learn(struct language_unit *unit, struct orch_error *error);

/* The share of the multiply-adds that a unit did. */
double language_unit_share(const struct language_unit *unit, enum orch_part part);
/* What all kernels so far cost at clocks of their unit, as one repetition; false where energies are not known. */
bool language_unit_profile(const struct language_unit *unit, enum orch_part part, struct power_profile *profile);
void language_sum_add(struct language_sum *sum, const struct language_sum *part);
/* From a launch of the GPU to the next in its command buffer. */
double language_unit_between_s(const struct language_unit *unit);
/* Kernels of the sum ran beside others for so long: the chip idled once, not for each of them. */
bool language_unit_overlap(struct language_unit *unit, struct language_sum *sum, double seconds, struct orch_error *error);
/* Adds the costs of the command buffers, where there are any: the sum is that of so many steps. */
bool language_unit_close_steps(struct language_unit *unit, struct language_sum *sum, double steps, struct orch_error *error);

#endif
