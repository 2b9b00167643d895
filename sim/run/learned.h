/* What earlier runs of kernels say about how long another one may take: nearest neighbours among recorded kernels of the same
 * unit, operation and precision. It serves choices between units (run_network_plan_learned.c); times of results are never made of
 * it.
 *
 * A kernel is a point: the logarithms of the numbers of its shape. A word of it that differs counts like a factor of e. The time
 * of a point is that of the nearest rows, moved along the logarithm of the work (floating-point operations; where there are none,
 * the product of the shape's numbers) by their own slope, which lies between 0 (launches decide) and 1 (work decides). The error
 * that is stated is that of the rows themselves, each foretold from the others, and what their
 * distance adds. */
#ifndef ORCHARD_SIM_RUN_LEARNED_H
#define ORCHARD_SIM_RUN_LEARNED_H

#include "sim/base/content_hash.h"
#include "sim/base/error.h"
#include "sim/base/run_result.h"

#include <stddef.h>

struct learned_row {
    enum orch_part part;
    bool e_core; /* of PART_CPU */
    const char *kernel, *shape, *precision;
    double flops;   /* 0 or NAN = none */
    double seconds; /* of the kernel alone, without a command buffer; in an estimate's question it is not looked at */
};

struct learned_estimate {
    double seconds;
    double error;    /* relative, of one standard deviation: exp(error) is a factor; NAN with a single row */
    double distance; /* of the nearest row */
    unsigned rows;   /* that it rests on; 0 = none is near, and the rest is NAN */
};

struct learned_set;
/* NULL when memory ran out. */
struct learned_set *learned_create(void);
void learned_free(struct learned_set *set);
/* Copies the row. Rows without a time, or on other units than cores, AMX and GPU, are passed over. */
bool learned_add(struct learned_set *set, const struct learned_row *row, struct orch_error *error);
/* Puts the rows in an order that does not hang on how they came; behind the last one, before the first question. */
void learned_sort(struct learned_set *set);
size_t learned_count(const struct learned_set *set);
/* Of all rows. */
void learned_hash(const struct learned_set *set, char hash[CONTENT_HASH_SIZE]);

/* `set` may be NULL. */
struct learned_estimate learned_ask(const struct learned_set *set, const struct learned_row *question);
/* Whether a choice may rest on it: rows enough, near enough, and at one with each other. */
bool learned_is_sure(const struct learned_estimate *estimate);

#endif
