/* Worker processes that answer points of a sweep. Each has a study and a database connection of its own; the parent hands out
 * points and collects answers. A worker that dies is replaced; a point that kills two workers has failed. */
#ifndef ORCHARD_SIM_ASK_SWEEP_SWEEP_POOL_H
#define ORCHARD_SIM_ASK_SWEEP_SWEEP_POOL_H

#include "sim/ask/study/study.h"
#include "sim/ask/sweep/sweep_engine.h"

struct sweep_pool;

/* Everything pointed to must outlive the pool. NULL when memory is out. */
struct sweep_pool *sweep_pool_create(const struct sweep_spec *spec, const struct study_base *base, const char *db, unsigned jobs);
/* Ends the workers. */
void sweep_pool_free(struct sweep_pool *pool);
struct sweep_executor sweep_pool_executor(struct sweep_pool *pool);

#endif
