/* Boxes of detectors: those that stay when each suppresses what overlaps it and is less likely. */
#include "units/routines/operations.h"

#include <math.h>

static bool nms_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t batches = (uint64_t)r->value[NMS_BATCHES], classes = (uint64_t)r->value[NMS_CLASSES];
    const uint64_t boxes = (uint64_t)r->value[NMS_BOXES], most = (uint64_t)r->value[NMS_MOST];
    if (most > boxes)
        return kernel_refuse(error, "nms: k must be at most the number of boxes");
    if (!routine_check_count("nms", ROUTINE_DIMS(batches, classes, boxes, 4), error))
        return false;
    routine_add_operand(w, "boxes", r->type, ROUTINE_INPUT, ROUTINE_DIMS(batches, boxes, 4));
    routine_set_range(w, 0, 1);
    routine_add_operand(w, "scores", r->type, ROUTINE_INPUT, ROUTINE_DIMS(batches, classes, boxes));
    routine_set_range(w, 0, 1);
    routine_add_operand(w, "limits", r->type, ROUTINE_INPUT, ROUTINE_DIMS(2));
    routine_set_range(w, 0, 0.5);
    routine_add_operand(w, "out", ROUTINE_U32, ROUTINE_OUTPUT, ROUTINE_DIMS(batches, classes, most));
    for (unsigned i = 0; i < w->operands; i++)
        w->min_bytes += (double)routine_type_bytes(w->operand[i].type, w->operand[i].count);
    return true;
}

/* Sides of a box from the lower to the higher one. */
static void sides_of(const double *box, bool centred, double low[2], double high[2])
{
    for (unsigned d = 0; d < 2; d++) {
        low[d] = centred ? box[d] - box[2 + d] / 2 : fmin(box[d], box[2 + d]);
        high[d] = centred ? box[d] + box[2 + d] / 2 : fmax(box[d], box[2 + d]);
    }
}

static double overlap(const double *a, const double *b, bool centred)
{
    double low[2][2], high[2][2], both = 1, area[2] = {1, 1};
    sides_of(a, centred, low[0], high[0]);
    sides_of(b, centred, low[1], high[1]);
    for (unsigned d = 0; d < 2; d++) {
        both *= fmax(0, fmin(high[0][d], high[1][d]) - fmax(low[0][d], low[1][d]));
        area[0] *= high[0][d] - low[0][d];
        area[1] *= high[1][d] - low[1][d];
    }
    const double all = area[0] + area[1] - both;
    return all > 0 ? both / all : 0;
}

/* Whether box `one` comes before `other`: by score, then by place. */
static bool is_before(const double *score, int64_t one, int64_t other)
{
    return score[one] > score[other] || (score[one] == score[other] && one < other);
}

/* A box stays unless one that stays before it overlaps it too much: decided anew for each, from the definition. */
static bool stays(const struct routine_request *r, const double *box, const double *score, const double *limits, int64_t one)
{
    if (!(score[one] > limits[1]))
        return false;
    for (int64_t other = 0; other < r->value[NMS_BOXES]; other++)
        if (is_before(score, other, one) && overlap(box + 4 * one, box + 4 * other, r->value[NMS_CENTER] != 0) > limits[0] &&
            stays(r, box, score, limits, other))
            return false;
    return true;
}

static void nms_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t boxes = r->value[NMS_BOXES], most = r->value[NMS_MOST], classes = r->value[NMS_CLASSES];
    for (int64_t row = 0; row < r->value[NMS_BATCHES] * classes; row++) {
        const double *const box = operand[0] + row / classes * boxes * 4, *const score = operand[1] + row * boxes;
        double *const out = t->value + row * most;
        for (int64_t k = 0; k < most; k++) {
            int64_t next = -1;
            for (int64_t i = 0; i < boxes; i++)
                if ((k == 0 || (out[k - 1] < 0x1p32 - 1 && is_before(score, (int64_t)out[k - 1], i))) &&
                    (next < 0 || is_before(score, i, next)) && stays(r, box, score, operand[2], i))
                    next = i;
            out[k] = next < 0 ? 0x1p32 - 1 : (double)next;
            t->error[row * most + k] = 0;
        }
    }
}

const struct routine_operation operation_nms = {
    .name = "nms", .positional = 3, .operands = nms_operands, .reference = nms_reference, .by_values = true};
