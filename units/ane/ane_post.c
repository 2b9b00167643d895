/* What follows the accumulators: (x + bias) * scale, the limit of the MAC's output port, the nonlinearity. Also the tasks that
 * consist of nothing else.
 */
#include "units/ane/ane_internal.h"

uint64_t ane_finish_row(const struct ane_job *job, float channel_bias, float *value, uint32_t count)
{
    const struct ane_task *t = job->task;
    const float scale = ldexpf(t->post_scale, -(int)t->post_shift);
    const float limit = t->ne_op == ANE_NE_ELEMENT ? INFINITY : job->core->mac_limit;
    const float first = ane_addend(channel_bias), second = ane_addend(t->acc_bias);
    uint64_t clamped = 0;
    for (uint32_t i = 0; i < count; i++) {
        const float y = (value[i] + first + second) * scale;
        value[i] = y >= limit ? INFINITY : y <= -limit ? -INFINITY : y;
    }
    if (t->nonlinear == ANE_RELU) {
        for (uint32_t i = 0; i < count; i++)
            value[i] = value[i] > 0 ? value[i] : 0;
    } else if (t->nonlinear == ANE_TABLE) {
        for (uint32_t i = 0; i < count; i++) {
            bool outside;
            value[i] = ane_lut_value(&job->lut, value[i], &outside);
            clamped += outside;
        }
    }
    return clamped;
}

static uint64_t element(const struct ane_job *job, float *value, uint32_t count)
{
    if (job->task->input_relu)
        for (uint32_t i = 0; i < count; i++)
            value[i] = value[i] > 0 ? value[i] : 0;
    return ane_finish_row(job, 0, value, count);
}

bool ane_run_element(struct ane_job *job)
{
    const struct ane_task *t = job->task;
    if (t->bias)
        return ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "a bias per channel without a convolution");
    if (t->second.place != ANE_PLACE_NONE)
        return ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "a second source of an element-wise task of the MAC engines");
    if (t->channels_in != t->channels_out || t->height_in != t->height_out || t->width_in < t->width_out)
        return ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "element by element from %ux%ux%u to %ux%ux%u", (unsigned)t->channels_in,
                         (unsigned)t->height_in, (unsigned)t->width_in, (unsigned)t->channels_out, (unsigned)t->height_out,
                         (unsigned)t->width_out);
    if (t->nonlinear == ANE_TABLE) {
        if (!ane_lut_open(job))
            return false;
        job->counts->table_lookups += (uint64_t)t->channels_out * t->height_out * t->width_out;
    }
    return ane_run_unary(job, element);
}
