/* Explains a request descriptor by descriptor: what each one does, which engines it keeps busy, what it moves and what limits it.
 */
#include "sim/run/ane/run_ane.h"
#include "sim/run/run_internal.h"

#include "sim/base/format.h"

#include <math.h>
#include <string.h>

#define LINES_MAX 256 /* descriptors that are listed one by one */

/* ---- one descriptor in words ---- */

static const char *table_of(const struct ane_program *p, const struct ane_task *t)
{
    struct ane_table table;
    struct isa_error unused;
    for (unsigned i = 0; i < ANE_BANKS; i++) {
        const struct ane_bank *b = &t->bank[i];
        if (!b->enabled || b->base > p->const_bytes || b->bytes > p->const_bytes - b->base)
            continue;
        if (!ane_table_read(p->bytes + p->const_offset + b->base, b->bytes, &table, &unused))
            return NULL;
        return ane_table_name(&table);
    }
    return NULL;
}

static void describe_ne(const struct ane_program *p, const struct ane_task *t, char *text, size_t size)
{
    static const char *const formats[] = {"u8", "i8", "f16"};
    const char *table = t->nonlinear == ANE_TABLE ? table_of(p, t) : NULL;
    char after[64] = "", weights[32] = "";
    if (t->nonlinear == ANE_RELU)
        snprintf(after, sizeof after, " + relu");
    else if (t->nonlinear == ANE_TABLE)
        snprintf(after, sizeof after, "%s%.40s", t->ne_op == ANE_NE_ELEMENT ? "" : " + ", table ? table : "table");
    if (t->palette_bits)
        snprintf(weights, sizeof weights, " %u-bit palette", t->palette_bits);
    else
        snprintf(weights, sizeof weights, " %s", formats[t->kernel_format]);
    switch (t->ne_op) {
    case ANE_NE_CONVOLUTION:
        snprintf(text, size, "%sconv %ux%u%s%s%s%s",
                 t->step_x > 1 || t->step_y > 1 ? "transposed "
                 : t->depthwise                 ? "depthwise "
                                                : "",
                 t->kernel_width, t->kernel_height, weights, t->sparse ? " sparse" : "", t->bias ? " + bias" : "", after);
        break;
    case ANE_NE_MATMUL: snprintf(text, size, "matmul%s", after); break;
    case ANE_NE_ELEMENT:
        snprintf(text, size, "%s", after[0] ? after + (after[0] == ' ' ? 3 : 0) : "element (scale, copy)");
        break;
    }
}

static void describe_pe(const struct ane_task *t, char *text, size_t size)
{
    static const char *const ops[] = {"add", "mul", "max", "min"};
    static const char *const reductions[] = {"", "sum of rows", "max of rows", "average pool", "max pool", "min pool"};
    if (t->pe_reduce != ANE_REDUCE_NONE)
        snprintf(text, size, "%s%s", reductions[t->pe_reduce], t->pe_reciprocal ? ", reciprocal" : "");
    else
        snprintf(text, size, "%s%s%s", t->second.place == ANE_PLACE_NONE ? "one-source " : "", t->pe_absolute ? "abs " : "",
                 t->pe_subtract_second ? "sub" : ops[t->pe_op]);
}

static uint64_t lookups(const struct ane_task *t)
{
    return t->engine == ANE_ENGINE_NE && t->nonlinear == ANE_TABLE ? (uint64_t)t->width_out * t->height_out * t->channels_out : 0;
}

/* The two reasons that take most of the task's cycles. */
static void describe_waits(const struct ane_task_time *time, char *text, size_t size)
{
    size_t used = 0;
    bool told[ANE_STALL_COUNT] = {false};
    text[0] = 0;
    for (int turn = 0; turn < 2; turn++) {
        int best = -1;
        for (int i = 0; i < ANE_STALL_COUNT; i++)
            if (!told[i] && time->cycles_by[i] > 0 && (best < 0 || time->cycles_by[i] > time->cycles_by[best]))
                best = i;
        if (best < 0 || time->cycles <= 0 || time->cycles_by[best] < 0.02 * time->cycles)
            break;
        told[best] = true;
        used += (size_t)snprintf(text + used, size - used, "%s%s %.0f %%", used ? ", " : "", ane_stall_name((enum ane_stall)best),
                                 100 * time->cycles_by[best] / time->cycles);
    }
}

/* A reduction treats rows as groups; each group gives one value. */
static void describe_shape(const struct ane_task *t, char *text, size_t size)
{
    if (t->engine == ANE_ENGINE_PE && (t->pe_reduce == ANE_REDUCE_SUM || t->pe_reduce == ANE_REDUCE_MAX))
        snprintf(text, size, "%u rows of %u", t->groups, t->width_in);
    else
        snprintf(text, size, "%ux%ux%u>%ux%ux%u", t->channels_in, t->height_in, t->width_in, t->channels_out, t->height_out,
                 t->width_out);
}

static void print_task(FILE *out, const struct ane_program *p, size_t i, const struct ane_task_time *time)
{
    const struct ane_task *t = &p->task[i];
    char operation[192], shape[64], waits[96], dma[FORMAT_SIZE];
    if (t->engine == ANE_ENGINE_NE)
        describe_ne(p, t, operation, sizeof operation);
    else
        describe_pe(t, operation, sizeof operation);
    describe_shape(t, shape, sizeof shape);
    describe_waits(time, waits, sizeof waits);
    fprintf(out, "  %4zu  %-30.30s %-26s %2u %s %5.1f %%  %2u  %10.0f  %10s  %9llu  %s\n", i + 1, operation, shape,
            time->engines_used, t->engine == ANE_ENGINE_NE ? "NE" : "PE", 100 * time->mac_utilisation, time->coefficient_passes,
            time->cycles, format_si(dma, (double)(time->source_bytes + time->result_bytes + time->coefficient_bytes), "B"),
            (unsigned long long)lookups(t), waits);
}

/* ---- the whole ---- */

static void roofline(FILE *out, const struct run *run, const struct run_measure *m, const struct run_result *r)
{
    const struct ane_params *p = &m->ane.timed.params;
    const unsigned repeat = run_repeats(run);
    const double peak = 2e9 * p->engines * p->macs_per_engine * p->clock_ghz;
    const double bytes = (double)(m->ane.timed.source_bytes + m->ane.timed.result_bytes + m->ane.timed.coefficient_bytes);
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];
    if (!(r->flops > 0 && bytes > 0 && r->device_seconds > 0))
        return;
    const double intensity = r->flops / repeat / bytes, roof = fmin(peak, intensity * p->dma_GBps * 1e9);
    fprintf(out, "roofline     %s at most: peak %s (%u engines x %u MAC, %.4g GHz), DMA %s x %.4g flop/byte\n",
            format_si(a, roof, "FLOPS"), format_si(b, peak, "FLOPS"), p->engines, p->macs_per_engine, p->clock_ghz,
            format_si(c, p->dma_GBps * 1e9, "B/s"), intensity);
    fprintf(out, "             while busy this run reaches %.3g %% of it\n", 100 * r->flops / r->device_seconds / roof);
}

void run_ane_explain(FILE *out, const struct run *run, const struct run_result *r)
{
    const struct ane_program *p = &run_ane_workload(run)->kernel.program;
    struct run_measure m = {0};
    struct orch_error unused = {0};
    if (run_ane_time(run, &m, &unused)) {
        roofline(out, run, &m, r);
        fprintf(
            out,
            "descriptors  number, operation, channels x height x width in > out, engines, MACs in use, times that coefficients "
            "are streamed, cycles, DMA, table lookups, reasons\n");
        for (size_t i = 0; i < p->count && i < LINES_MAX; i++)
            print_task(out, p, i, &m.ane.timed.task[i]);
        if (p->count > LINES_MAX)
            fprintf(out, "  and %zu more\n", p->count - LINES_MAX);
    }
    ane_timed_free(&m.ane.timed);
    soc_free(m.soc);
}
