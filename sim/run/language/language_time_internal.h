/* What the files of language_time share: kernels of a pass by their shapes. */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_TIME_INTERNAL_H
#define ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_TIME_INTERNAL_H

#include "sim/language/kernel_calls.h"
#include "sim/run/language/kind_language.h"

struct timed {
    const struct run *run;
    struct language_work *work;
    struct language_unit *unit;
    const struct block_format *format;
    struct run_result *result;
    struct orch_error *error;
    enum orch_part part;               /* of the pass in work */
    bool cold;                         /* weights are larger than the last cache */
    bool as_ggml;                      /* kernels are ggml's, and so are passes of one token */
    const struct block_format *cached; /* asked for; NULL = as kernels have it */
};

/* Of a kernel: its time is found, and what it did hardly counts. */
#define LANGUAGE_ASKED 1e-9

/* Kernels of this unit come next. */
void language_time_enter(struct timed *t, enum orch_part part);
/* An empty list of the calls of a pass over so many sequences. */
struct kernel_calls language_time_calls(const struct timed *t, unsigned sequences);
bool language_time_call(const struct timed *t, const struct kernel_call *call, double times, struct language_sum *sum);
/* A matrix times the values of several sequences: as often times one vector, or times all of them, whichever takes less time. */
bool language_time_shared(const struct timed *t, const struct kernel_call *call, unsigned sequences, double times,
                          struct language_sum *sum);
/* That have a cache each. */
unsigned language_time_sequences(const struct language_work *work);

/* ---- language_combined.c ---- */

/* Units for the layers. */
bool language_time_choose(struct timed *t);
/* The same, where they are not given; then the prompts and steps of all sequences, one after another on each unit. */
bool language_time_combined(struct timed *t, struct language_sum *prefill, struct language_sum *decode);

#endif
