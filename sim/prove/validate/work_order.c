#include "sim/prove/validate/work_order.h"

#include "sim/prove/validate/request.h"
#include "sim/prove/validate/spreadsheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Milliseconds of one host core, roughly: a sampled launch takes the same for each core of the GPU, programs of cores take their
 * instructions, products their multiply-adds. */
#define LAUNCH_MS_PER_GPU_CORE 25.0
#define REQUEST_MS             5.0
#define THREAD_MS              5.0
#define CORE_LAUNCH_MS         1000.0
#define LOOP_MS_PER_GPU_CORE   5.0
#define MS_PER_DATA_BYTE       4e-6
#define MS_PER_FLOP            4e-6

static double cores_of(const struct chip *chip)
{
    const struct chip_value *const v = chip ? chip_value(chip, "gpu_cores") : NULL;
    return v && v->known ? v->number : 8;
}

double work_order_cost(const struct validate_program *p, const struct chip *chip)
{
    struct spreadsheet_work work = {0, 0};
    if (p->launches && *p->launch[0].unit)
        return p->launches * CORE_LAUNCH_MS;
    if (p->launches)
        return p->launches * (p->ane ? REQUEST_MS : LAUNCH_MS_PER_GPU_CORE * cores_of(chip));
    if (*p->workload)
        return spreadsheet_kernel(p->workload, p->precision, 1, &work) ? MS_PER_FLOP * work.flop : REQUEST_MS;
    if (p->gpu.text)
        return LOOP_MS_PER_GPU_CORE * (p->gpu.cores ? p->gpu.cores : cores_of(chip));
    const double threads = p->threads ? p->threads : 12;
    return threads * (THREAD_MS + MS_PER_DATA_BYTE * (double)p->data_bytes);
}

struct task {
    size_t row;
    double cost;
    char *asks; /* the first request; NULL = none that others could share */
};

static void plan_task(struct task *task, struct validate_row *row, const struct validate_runner *runner)
{
    struct validate_program program;
    struct validate_row plan = *row; /* what planning notes is noted again when the row is run */
    if (!validate_plan(&plan, &program))
        return;
    task->cost = work_order_cost(&program, runner->chip ? runner->chip(runner->context, &program) : NULL);
    if (validate_request_count(&program)) {
        const struct run_request request = validate_request(&program, 0);
        task->asks = validate_request_command(&request, program.chip, &(struct chip_overrides){NULL, 0});
    }
    validate_program_free(&program);
}

static int by_request(const void *a, const void *b)
{
    const struct task *const x = a, *const y = b;
    const int order = strcmp(x->asks ? x->asks : "", y->asks ? y->asks : "");
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static int longest_first(const void *a, const void *b)
{
    const struct task *const x = a, *const y = b;
    return x->cost != y->cost ? (x->cost < y->cost) - (x->cost > y->cost) : (x->row > y->row) - (x->row < y->row);
}

size_t *work_order(struct validate_row *rows, size_t count, const struct validate_runner *runner)
{
    struct task *const task = calloc(count + 1, sizeof *task);
    size_t *const order = malloc((count + 1) * sizeof *order);
    for (size_t i = 0; task && i < count; i++) {
        task[i].row = i;
        plan_task(&task[i], &rows[i], runner);
    }
    if (task && order) {
        qsort(task, count, sizeof *task, by_request);
        for (size_t i = count; i-- > 1;)
            if (task[i].asks && task[i - 1].asks && strcmp(task[i].asks, task[i - 1].asks) == 0)
                task[i].cost = 0;
        qsort(task, count, sizeof *task, longest_first);
    }
    for (size_t i = 0; task && order && i < count; i++)
        order[i] = task[i].row;
    for (size_t i = 0; task && i < count; i++)
        free(task[i].asks);
    free(task);
    if (task)
        return order;
    free(order);
    return NULL;
}
