/* The planar engine: element by element, reductions of rows, pooling.
 *
 * y = final_scale * (scale * op(pre_scale * x0, x1) + bias), with every step in float and one rounding to fp16 at the end. A
 * reduction or pooling comes between the operation and the scales.
 */
#include "units/ane/ane_internal.h"

#include <stdlib.h>

/* ---- arithmetic of rows ---- */

static void operate(const struct ane_task *t, float *x, const float *y, uint32_t count)
{
    const float pre = t->pe_pre_scale, sign = t->pe_subtract_second ? -1 : 1;
    switch (t->pe_op) {
    case ANE_PE_ADD:
        for (uint32_t i = 0; i < count; i++)
            x[i] = pre * x[i] + sign * y[i];
        break;
    case ANE_PE_MUL:
        for (uint32_t i = 0; i < count; i++)
            x[i] = pre * x[i] * (sign * y[i]);
        break;
    case ANE_PE_MAX:
        for (uint32_t i = 0; i < count; i++)
            x[i] = pre * x[i] > sign * y[i] ? pre * x[i] : sign * y[i];
        break;
    case ANE_PE_MIN:
        for (uint32_t i = 0; i < count; i++)
            x[i] = pre * x[i] < sign * y[i] ? pre * x[i] : sign * y[i];
        break;
    }
}

static void first_alone(const struct ane_task *t, float *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        x[i] *= t->pe_pre_scale;
}

static void absolute(const struct ane_task *t, float *x, uint32_t count)
{
    if (t->pe_absolute)
        for (uint32_t i = 0; i < count; i++)
            x[i] = fabsf(x[i]);
}

static void scales(const struct ane_task *t, float *x, uint32_t count)
{
    if (t->pe_reciprocal)
        for (uint32_t i = 0; i < count; i++)
            x[i] = 1 / (x[i] + 0.0f); /* zeros lose their sign */
    const float bias = ane_addend(t->pe_bias);
    for (uint32_t i = 0; i < count; i++)
        x[i] = t->pe_final_scale * (t->pe_scale * x[i] + bias);
    if (t->pe_relu)
        for (uint32_t i = 0; i < count; i++)
            x[i] = x[i] > 0 ? x[i] : 0;
}

static uint64_t one_operand(const struct ane_job *job, float *value, uint32_t count)
{
    first_alone(job->task, value, count);
    absolute(job->task, value, count);
    scales(job->task, value, count);
    return 0;
}

/* Loads a row of op(pre_scale * x0, x1). */
static void load_row(const struct ane_job *job, uint32_t group, uint32_t channel, uint32_t row, float *x, float *y)
{
    const struct ane_task *t = job->task;
    ane_dma_load(job->core, &job->source, group, channel, row, t->width_in, false, x);
    if (t->second.place == ANE_PLACE_NONE) {
        first_alone(t, x, t->width_in);
    } else {
        ane_dma_load(job->core, &job->second, group, channel, row, t->width_in, false, y);
        operate(t, x, y, t->width_in);
    }
    absolute(t, x, t->width_in);
}

static float *room_for(uint64_t floats)
{
    return malloc((floats ? floats : 1) * sizeof(float));
}

/* ---- element by element, and reductions of rows ---- */

/* Reduces in order along the row, in float. */
static float reduced(const struct ane_task *t, const float *x)
{
    float sum = x[0];
    for (uint32_t i = 1; i < t->width_in; i++)
        sum = t->pe_reduce == ANE_REDUCE_SUM ? sum + x[i] : x[i] > sum ? x[i] : sum;
    return sum;
}

static bool planar_rows(void *context, uint64_t first, uint64_t end)
{
    const struct ane_job *job = context;
    const struct ane_task *t = job->task;
    const bool reduces = t->pe_reduce != ANE_REDUCE_NONE;
    float *x = room_for(2 * (uint64_t)t->width_in);
    if (!x)
        return false;
    for (uint64_t i = first; i < end; i++) {
        const uint32_t row = (uint32_t)(i % t->height_in), channel = (uint32_t)(i / t->height_in % t->channels_in);
        const uint32_t group = (uint32_t)(i / t->height_in / t->channels_in);
        load_row(job, group, channel, row, x, x + t->width_in);
        if (reduces)
            x[0] = reduced(t, x);
        scales(t, x, reduces ? 1 : t->width_in);
        ane_dma_store(job->core, &job->result, group, channel, row, reduces ? 1 : t->width_out, x);
    }
    free(x);
    return true;
}

static bool same_shape(struct ane_job *job)
{
    const struct ane_task *t = job->task;
    const bool reduces = t->pe_reduce != ANE_REDUCE_NONE;
    if (t->channels_in == t->channels_out && t->height_in == t->height_out && (reduces || t->width_in >= t->width_out))
        return true;
    return ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "planar engine from %ux%ux%u to %ux%ux%u without pooling",
                     (unsigned)t->channels_in, (unsigned)t->height_in, (unsigned)t->width_in, (unsigned)t->channels_out,
                     (unsigned)t->height_out, (unsigned)t->width_out);
}

static bool run_rows(struct ane_job *job)
{
    const struct ane_task *t = job->task;
    const uint64_t rows = (uint64_t)job->outer * t->channels_in * t->height_in, elements = rows * t->width_in;
    if (!same_shape(job))
        return false;
    if (t->pe_reduce == ANE_REDUCE_NONE && t->second.place == ANE_PLACE_NONE)
        return ane_run_unary(job, one_operand);
    job->counts->elements += elements;
    return ane_parallel(ane_row_threads(job, elements), rows, planar_rows, job) || ane_fault_memory(job);
}

/* ---- pooling ---- */

/* One window; elements outside the image are left out of a maximum or minimum and count as zeros in a sum. */
static float window(const struct ane_task *t, const float *plane, uint32_t top, uint32_t left)
{
    float value = t->pe_reduce == ANE_POOL_MAX ? -INFINITY : t->pe_reduce == ANE_POOL_MIN ? INFINITY : 0;
    for (uint32_t y = 0; y < t->kernel_height; y++)
        for (uint32_t x = 0; x < t->kernel_width; x++) {
            const uint32_t row = top + y - t->pad_top,
                           column = left + x - t->pad_left; /* wraps around above and to the left of it */
            if (row >= t->height_in || column >= t->width_in)
                continue;
            const float next = plane[(uint64_t)row * t->width_in + column];
            if (t->pe_reduce == ANE_POOL_AVERAGE)
                value += next;
            else
                value = (t->pe_reduce == ANE_POOL_MAX ? next > value : next < value) ? next : value;
        }
    return value;
}

static void pool_plane(const struct ane_job *job, uint32_t group, uint32_t channel, float *plane, float *second, float *out)
{
    const struct ane_task *t = job->task;
    const float share = t->pe_reduce == ANE_POOL_AVERAGE ? 1.0f / (float)(t->kernel_width * t->kernel_height) : 1;
    for (uint32_t row = 0; row < t->height_in; row++)
        load_row(job, group, channel, row, plane + (uint64_t)row * t->width_in, second);
    for (uint32_t row = 0; row < t->height_out; row++) {
        for (uint32_t x = 0; x < t->width_out; x++)
            out[x] = window(t, plane, row * t->stride_y, x * t->stride_x) * share;
        scales(t, out, t->width_out);
        ane_dma_store(job->core, &job->result, group, channel, row, t->width_out, out);
    }
}

static bool pool_planes(void *context, uint64_t first, uint64_t end)
{
    const struct ane_job *job = context;
    const struct ane_task *t = job->task;
    const uint64_t area = (uint64_t)t->height_in * t->width_in;
    float *plane = room_for(area + t->width_in + t->width_out);
    if (!plane)
        return false;
    for (uint64_t i = first; i < end; i++)
        pool_plane(job, (uint32_t)(i / t->channels_in), (uint32_t)(i % t->channels_in), plane, plane + area,
                   plane + area + t->width_in);
    free(plane);
    return true;
}

static bool run_pool(struct ane_job *job)
{
    const struct ane_task *t = job->task;
    const uint64_t planes = (uint64_t)job->outer * t->channels_in;
    if (t->channels_in != t->channels_out || !t->kernel_width || !t->kernel_height || !t->stride_x || !t->stride_y)
        return ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "pooling of %u channels to %u over %ux%u by %ux%u",
                         (unsigned)t->channels_in, (unsigned)t->channels_out, (unsigned)t->kernel_height,
                         (unsigned)t->kernel_width, (unsigned)t->stride_y, (unsigned)t->stride_x);
    const uint64_t elements = planes * t->height_out * t->width_out;
    job->counts->elements += elements;
    return ane_parallel(ane_row_threads(job, elements), planes, pool_planes, job) || ane_fault_memory(job);
}

bool ane_run_planar(struct ane_job *job)
{
    switch (job->task->pe_reduce) {
    case ANE_REDUCE_NONE:
    case ANE_REDUCE_SUM:
    case ANE_REDUCE_MAX: return run_rows(job);
    case ANE_POOL_AVERAGE:
    case ANE_POOL_MAX:
    case ANE_POOL_MIN: return run_pool(job);
    }
    return ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "planar reduction %d", (int)job->task->pe_reduce);
}
