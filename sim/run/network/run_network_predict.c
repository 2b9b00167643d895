#include "sim/run/network/run_network_predict.h"

#include "isa/array_count.h"
#include "sim/chip/chip_units.h"
#include "sim/run/run_internal.h"
#include "sim/run/network/run_network_step.h"
#include "sim/run/run_timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

/* A kernel takes `fixed` cycles, `each` for every row, or for every product of a sum behind one another, and its work at `rate`
 * per cycle (of the GPU: per cycle of a core, at all cores), which convolutions of `thin` channels reach by half. Work is
 * multiplications, or elements where there are none.
 *
 * Inferred: fitted to the simulated times, on m1, of the 900 kernels of seven small networks (digits, faces, text lines, encoder
 * and decoder of transformers); dense convolutions and products, whose constant weights are packed beforehand, to those of five
 * of them, ResNet-18, SqueezeNet, MobileNetV2 and BERT-base. They are met within a factor of 1.1 to 1.6 in the mean, by row,
 * which is less than what units differ by. */
struct speed {
    double fixed, each, rate, thin;
};
struct row {
    const char *kernel, *with; /* begin of the workload, and what else it contains */
    struct speed cpu, amx, gpu;
};

static const struct row rows[] = {
    {"conv2d:", "groups=1,", {310, 26, 14.3, 10.5}, {25000, 16, 19, 8.5}, {1360, 25, 67.5, 5.8}},
    {"conv2d:", "", {6400, 256, 1.25, 0}, {6000, 240, 0.67, 0}, {900, 0, 6.8, 0}},
    {"gemm:", "packed=1", {8000, 0, 15, 0}, {1500, 0, 150, 0}, {570, 13, 113, 0}},
    {"gemm:", "tb=1", {8000, 0, 15, 0}, {30000, 0, 60, 0}, {570, 13, 113, 0}},
    {"gemm:", "", {8000, 0, 15, 0}, {7000, 0, 150, 0}, {570, 13, 113, 0}},
    {"elementwise:", "period=1", {640, 0, 0.43, 0}, {150, 0, 0.67, 0}, {380, 0, 2.15, 0}}, /* and periods from 10 on */
    {"elementwise:", "", {640, 0, 3.1, 0}, {150, 0, 0.67, 0}, {380, 0, 2.15, 0}},
    {"softmax:", "", {160, 170, 0.75, 0}, {300, 510, 0.67, 0}, {380, 2, 2.15, 0}},
    {"layernorm:", "", {160, 64, 1, 0}, {300, 180, 0.3, 0}, {380, 2, 2.15, 0}},
    {"rmsnorm:", "", {160, 64, 1, 0}, {300, 180, 0.3, 0}, {380, 2, 2.15, 0}},
    {"reduce:", "", {960, 0, 6.9, 0}, {0, 0, 0, 0}, {380, 0, 5.9, 0}},
    {"pool:", "", {4800, 0, 0.6, 0}, {0, 0, 0, 0}, {900, 0, 7.8, 0}},
    {"concat:", "", {160, 28, 6, 0}, {0, 0, 0, 0}, {640, 0, 6.8, 0}},
    {"slice:", "", {160, 12, 6, 0}, {0, 0, 0, 0}, {320, 0, 6.8, 0}},
    {"gather:", "x1x", {160, 0, 0.125, 0}, {0, 0, 0, 0}, {260, 0, 3.9, 0}}, /* single elements */
    {"", "", {160, 4, 4.4, 0}, {0, 0, 0, 0}, {640, 0, 6.8, 0}},             /* other moves */
};

static double channels_of(const char *workload)
{
    const char *const channels = strstr(workload, "c=");
    return channels ? atof(channels + 2) : 1;
}

static const struct row *row_of(const char *workload)
{
    size_t i = 0;
    while (i + 1 < ARRAY_COUNT(rows) &&
           (strncmp(workload, rows[i].kernel, strlen(rows[i].kernel)) != 0 || !strstr(workload, rows[i].with)))
        i++;
    return &rows[i];
}

/* "softmax:64x1000" has 64. */
static double rows_of(const char *workload)
{
    const char *const shape = strchr(workload, ':');
    const double number = shape ? atof(shape + 1) : 0;
    return number > 0 ? number : 1;
}

/* ---- seconds ---- */

void network_speeds_of(const struct chip *chip, struct network_speeds *s)
{
    struct gpu_params gpu;
    *s = (struct network_speeds){.hand_over_s = INFINITY};
    if (!chip_cpu_clock_ghz(chip, CHIP_P_CORE, 1, &s->ghz[PART_CPU], NULL))
        s->ghz[PART_CPU] = 0;
    if (!chip_amx_clock_ghz(chip, CHIP_P_CORE, 1, &s->ghz[PART_AMX], NULL))
        s->ghz[PART_AMX] = 0;
    if (!chip_gpu_params(chip, &gpu, NULL))
        return;
    s->gpu_ghz = gpu.clock_ghz;
    s->ghz[PART_GPU] = gpu.clock_ghz * gpu.cores;
    s->submit_s = 1e-6 * gpu.submit_us;
    s->complete_s = 1e-6 * gpu.round_trip_us;
    s->hand_over_s = s->submit_s + s->complete_s;
}

/* A kernel of a command buffer has none of its own. */
static double kernel_seconds(const struct run_timing *timing)
{
    return timing->kind->part == PART_GPU ? timing->result.device_seconds : timing->result.seconds;
}

double network_known_time(const struct run_network *n, const struct lowered_step *step, enum orch_part part)
{
    struct run_network apart = *n;
    struct orch_error unused = {0};
    struct run_request q;
    const struct run_known *const known = n->request->known;
    const struct run_timing *timing = NULL;
    apart.characteristics = true;
    apart.e_core = false;
    network_step_ask(&apart, step->workload, step->precision, part, &q);
    const bool found = known && known->find && known->find(known->context, &q, &timing, &unused) && timing;
    return found ? kernel_seconds(timing) : NAN;
}

double network_time(const struct run_network *n, const struct lowered_step *step, enum orch_part part, bool e_core)
{
    struct run_network apart = *n;
    struct orch_error unused = {0};
    struct run_timing own;
    struct run_request q;
    bool was_known;
    apart.characteristics = true;
    apart.e_core = e_core;
    run_timing_init(&own);
    network_step_ask(&apart, step->workload, step->precision, part, &q);
    const struct run_known *const known = n->request->known;
    const struct run_timing *timing = &own;
    if (known)
        timing = known->timing(known->context, &q, &was_known, &unused);
    else if (!run_timing_simulate(&q, &own, &unused))
        timing = NULL;
    const double seconds = timing ? kernel_seconds(timing) : INFINITY;
    run_timing_free(&own);
    return seconds;
}

double network_predict(const struct network_speeds *s, const struct run *run, double operand_elements, double result_elements)
{
    const enum orch_part part = run->kind->part;
    const struct row *const row = row_of(run->request->workload);
    const struct speed *const speed = part == PART_GPU ? &row->gpu : part == PART_AMX ? &row->amx : &row->cpu;
    const struct run_operation asked = run->kind->operation(run);
    const double macs = asked.macs > 0 ? asked.macs : strncmp(row->kernel, "gemm:", 5) == 0 ? asked.flops / 2 : 0;
    const double work = macs > 0 ? macs : fmax(result_elements, strncmp(row->kernel, "reduce:", 7) == 0 ? operand_elements : 0);
    const double each = macs > 0 && result_elements > 0 ? macs / result_elements : rows_of(run->request->workload);
    const double slower = speed->thin > 0 ? 1 + speed->thin / channels_of(run->request->workload) : 1;
    const double clock = part == PART_GPU ? s->gpu_ghz : s->ghz[part];
    if (speed->rate <= 0 || s->ghz[part] <= 0)
        return INFINITY;
    return 1e-9 * ((speed->fixed + each * speed->each) / clock + slower * work / (speed->rate * s->ghz[part]));
}
