/* The engine: tasks on a simulated time line.
 *
 * A task is anything that advances its own local time: a core running a program, a kernel on an AMX block, later GPU
 * dispatches and Neural Engine requests. The engine always steps the ready task with the smallest local time and lets
 * it run until it passes the next one, so tasks that share caches, blocks or DRAM meet them in time order. The order
 * depends on simulated time and task numbers only, never on host threads.
 */
#ifndef ORCHARD_SIM_SOC_ENGINE_H
#define ORCHARD_SIM_SOC_ENGINE_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum engine_progress { ENGINE_MORE, ENGINE_DONE, ENGINE_FAILED };

struct engine_task {
    const char *name;                /* for messages */
    double (*now_ns)(void *context); /* local time */
    /* Runs until local time passes limit_ns, or the task is done. Called at least once. */
    enum engine_progress (*step)(void *context, double limit_ns, struct orch_error *error);
    void (*start)(void *context, double now_ns); /* called once, when everything it depends on is done; may be NULL */
    void *context;
};

struct engine;

struct engine *engine_create(void);
void engine_free(struct engine *engine);
/* Adds a task that starts after `after[0..count)` (numbers returned earlier). Returns its number, -1 without memory. */
int engine_add(struct engine *engine, const struct engine_task *task, const int *after, size_t count);
/* Runs everything. False when a task failed (its error) or none can go on: then the text names who waits for whom.
 * *end_ns: completion of the last task. */
bool engine_run(struct engine *engine, double *end_ns, struct orch_error *error);
/* Local time at which a task ended. */
double engine_done_at(const struct engine *engine, int task);
/* Asks a running engine to stop at the next step (signal handlers may call it). */
void engine_interrupt(struct engine *engine);

#endif
