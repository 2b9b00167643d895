/* A request of kernels of a framework, executed, with its operands before and after as numbers: for suites of their results. */
#ifndef ORCHARD_TESTS_SIM_WORKLOAD_FRAMEWORK_EXAMPLE_H
#define ORCHARD_TESTS_SIM_WORKLOAD_FRAMEWORK_EXAMPLE_H

#include "sim/workload/gpu/frameworks/framework.h"
#include "sim/workload/gpu/gpu_functional.h"
#include "tests/support/suite.h"
#include "tests/units/gpu_steer_example.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct example {
    struct gpu_library *library;
    struct mem_space *space;
    uint64_t address[GPU_KERNEL_BUFFERS];
    double *before[GPU_KERNEL_BUFFERS], *after[GPU_KERNEL_BUFFERS]; /* of operands */
};

/* Of an operand; blocks count as bytes. */
static double *numbers(const struct example *x, unsigned buffer)
{
    const struct gpu_kernel_buffer *const b = &x->library->kernel.buffer[buffer];
    const bool blocks = b->type >= GPU_Q4_0;
    const enum element_type type = blocks               ? ELEMENT_U8
                                   : b->type == GPU_F16 ? ELEMENT_F16
                                   : b->type == GPU_U32 ? ELEMENT_U32
                                                        : ELEMENT_F32;
    const uint64_t bytes = gpu_type_bytes(b->type, b->count), count = blocks ? bytes : b->count;
    const uint8_t *const at = mem_at(x->space, x->address[buffer], bytes, MEM_READ);
    double *const list = malloc(count * sizeof *list);
    for (uint64_t i = 0; list && at && i < count; i++)
        list[i] = element_read(type, at + i * element_type_bytes(type));
    return list;
}

/* Timing executes only what decides on the way and on addresses: a threadgroup amid the grid must leave the same record. */
static void compare_record(const struct example *x, const struct gpu_setup *setup)
{
    uint32_t groups[3];
    gpu_launch_groups(&setup->launch, groups);
    CHECK(same_records(&setup->launch, (const uint32_t[3]){groups[0] / 2, groups[1] / 2, groups[2] / 2}, NULL, NULL),
          "%s: timing sees another record than there is", x->library->text);
}

static bool run_steps(struct example *x, uint64_t *instructions, bool compare, struct orch_error *error)
{
    const struct gpu_functional plain = {.threads = 1, .cores = 8};
    const struct gpu_library *const l = x->library;
    bool ok = true;
    for (unsigned s = 0; ok && s < l->kernel.steps; s++) {
        struct gpu_setup setup = {.program = NULL};
        struct gpu_totals totals = {0};
        uint64_t given[ABI_ARGS_MAX] = {0};
        for (unsigned i = 0; i < l->step[s].args; i++)
            given[i] = x->address[l->place[s][i].buffer] + l->place[s][i].offset_bytes;
        ok = gpu_setup_open(&setup, &l->step[s], GPU_G13, x->space, given, error) &&
             gpu_totals_init(&totals, setup.program, error) && gpu_functional_run(&setup, &plain, &totals, error);
        *instructions += totals.instructions;
        if (ok && compare)
            compare_record(x, &setup);
        gpu_setup_close(&setup);
        gpu_totals_free(&totals);
    }
    return ok;
}

/* Timing leaves buffers empty: what they hold must not decide what is executed. */
static void clear_operands(const struct example *x)
{
    for (unsigned i = 0; i < x->library->kernel.buffers; i++) {
        const struct gpu_kernel_buffer *const b = &x->library->kernel.buffer[i];
        uint8_t *const at = x->before[i] ? mem_at(x->space, x->address[i], gpu_type_bytes(b->type, b->count), MEM_WRITE) : NULL;
        if (at)
            memset(at, 0, gpu_type_bytes(b->type, b->count));
    }
}

static bool run(struct example *x, const char *kernels, const char *chip, const char *workload, const char *precision)
{
    struct framework_choice choice;
    struct orch_error error = {0};
    *x = (struct example){.library = calloc(1, sizeof *x->library), .space = mem_space_create(0)};
    bool ok = x->library && x->space && framework_choose(kernels, chip, &choice, &error) &&
              gpu_library_open(x->library, workload, precision, GPU_G13, 8, &error) &&
              framework_apply(&choice, x->library, &error) &&
              gpu_library_place(x->library, x->space, NULL, true, 1, x->address, &error);
    for (unsigned i = 0; ok && i < x->library->kernel.buffers; i++)
        if (x->library->kernel.buffer[i].role != GPU_BUFFER_SCRATCH)
            x->before[i] = numbers(x, i);
    uint64_t executed = 0, with_zeros = 0;
    ok = ok && run_steps(x, &executed, false, &error);
    for (unsigned i = 0; ok && i < x->library->kernel.buffers; i++)
        if (x->before[i])
            x->after[i] = numbers(x, i);
    clear_operands(x);
    ok = ok && run_steps(x, &with_zeros, true, &error);
    /* but for what compares and exchanges, and leaves early when nothing is to be done */
    CHECK(!ok || executed == with_zeros || strstr(workload, "op=max") || strstr(workload, "op=min"),
          "%s: values steer: %llu instructions, with zeros %llu", x->library->text, (unsigned long long)executed,
          (unsigned long long)with_zeros);
    CHECK(ok, "%s with %s on %s: %s", workload, kernels, chip, error.text);
    return ok;
}

static void end(struct example *x)
{
    for (unsigned i = 0; i < GPU_KERNEL_BUFFERS; i++) {
        free(x->before[i]);
        free(x->after[i]);
    }
    if (x->library)
        gpu_library_close(x->library);
    free(x->library);
    mem_space_free(x->space);
}

/* Within `bound` of what is expected; tells the first that is not. */
static void close_to(const struct example *x, unsigned buffer, const double *expected, const double *bound)
{
    const uint64_t count = x->library->kernel.buffer[buffer].count;
    for (uint64_t i = 0; i < count; i++)
        if (!(fabs(x->after[buffer][i] - expected[i]) <= bound[i])) {
            CHECK(false, "%s: element %llu is %.9g, expected %.9g", x->library->text, (unsigned long long)i, x->after[buffer][i],
                  expected[i]);
            return;
        }
    CU_PASS("");
}

#endif
