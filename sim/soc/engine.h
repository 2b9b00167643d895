/* The engine: tasks on a simulated time line.
 *
 * A task is anything that advances its own local time: a core that runs a program, a kernel on an AMX block, a GPU launch. The
 * engine always steps the ready task with the smallest local time and lets it run until it passes the next one, so that tasks
 * that share caches, blocks or DRAM use them in time order. The order depends only on simulated time and task numbers, never on
 * host threads.
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
    /* Runs until local time passes limit_ns or the task is done. Called at least once. */
    enum engine_progress (*step)(void *context, double limit_ns, struct orch_error *error);
    void (*start)(void *context, double now_ns); /* called once, when all tasks it depends on are done; may be NULL */
    void *context;
};

struct engine;

struct engine *engine_create(void);
void engine_free(struct engine *engine);
/* Adds a task that starts when the tasks after[0..count) (numbers returned by earlier calls) are done. Returns its number, or -1
 * when memory ran out. */
int engine_add(struct engine *engine, const struct engine_task *task, const int *after, size_t count);
/* Runs all tasks. False when a task failed (*error is the task's) or when no task can proceed (*error says which task waits for
 * which). *end_ns is when the last task completed. */
bool engine_run(struct engine *engine, double *end_ns, struct orch_error *error);
/* Local time at which a task ended. */
double engine_done_at(const struct engine *engine, int task);

#endif
