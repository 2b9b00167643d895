#include "sim/workload/routine_data.h"

#include "sim/workload/distinct.h"
#include "sim/workload/element_type.h"
#include "units/cpu/cpu_random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 12 }; /* as many as a GPU kernel has buffers: buffer i starts from seed * SEEDS + i */

static enum element_type element_of(enum routine_type type)
{
    static const enum element_type types[ROUTINE_TYPES] = {
        [ROUTINE_F64] = ELEMENT_F64, [ROUTINE_F32] = ELEMENT_F32, [ROUTINE_F16] = ELEMENT_F16, [ROUTINE_BF16] = ELEMENT_BF16,
        [ROUTINE_I32] = ELEMENT_I32, [ROUTINE_U32] = ELEMENT_U32, [ROUTINE_I16] = ELEMENT_I16, [ROUTINE_I8] = ELEMENT_I8,
        [ROUTINE_U8] = ELEMENT_U8,   [ROUTINE_Q4_0] = ELEMENT_U8, [ROUTINE_Q8_0] = ELEMENT_U8, [ROUTINE_Q4_K] = ELEMENT_U8,
        [ROUTINE_Q6_K] = ELEMENT_U8,
    };
    return types[type];
}

static double next_number(uint64_t *state, double low, double high)
{
    return low + (high - low) * (double)(cpu_random(state) >> 11) * 0x1p-53;
}

/* Blocks: scales in half precision come first (two of them in q4_k; in q6_k last), then packed numbers, for which any bits will
 * do. The scales are chosen so that the weights stay within the operand's range. */
static void fill_blocks(const struct routine_operand *o, uint8_t *to, uint64_t state)
{
    const uint64_t block = routine_type_bytes(o->type, 1), bytes = routine_type_bytes(o->type, o->count);
    const unsigned scales = o->type == ROUTINE_Q4_K ? 2 : 1;
    const uint64_t first = o->type == ROUTINE_Q6_K ? block - 2 : 0;
    const double steps = o->type == ROUTINE_Q8_0   ? 256
                         : o->type == ROUTINE_Q4_K ? 16 * 64
                         : o->type == ROUTINE_Q6_K ? 64 * 256
                                                   : 16;
    for (uint64_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(cpu_random(&state) >> 56);
    for (uint64_t at = 0; at + block <= bytes; at += block)
        for (unsigned s = 0; s < scales; s++)
            element_write(ELEMENT_F16, next_number(&state, 0.5, 1) * (o->high - o->low) / steps, to + at + first + 2 * s);
}

void routine_fill(const struct routine_operand *o, unsigned index, uint64_t seed, uint8_t *to)
{
    const enum element_type type = element_of(o->type);
    const bool whole = !element_type_float(type);
    uint64_t state = seed * SEEDS + index;
    if (routine_type_block(o->type) > 1) {
        fill_blocks(o, to, state);
        return;
    }
    if (o->distinct) {
        distinct_fill(type, o->count, o->low, o->high, state, to);
        return;
    }
    for (uint64_t i = 0; i < o->count; i++) {
        const double number = next_number(&state, o->low, o->high);
        element_write(type, whole ? (double)(int64_t)number : number, to + i * element_type_bytes(type));
    }
}

/* ---- values ---- */

static void read_q4_0(const uint8_t *block, double *to)
{
    const double scale = element_read(ELEMENT_F16, block);
    for (int i = 0; i < 16; i++) {
        to[i] = scale * ((block[2 + i] & 15) - 8);
        to[i + 16] = scale * ((block[2 + i] >> 4) - 8);
    }
}

static void read_q8_0(const uint8_t *block, double *to)
{
    const double scale = element_read(ELEMENT_F16, block);
    for (int i = 0; i < 32; i++)
        to[i] = scale * (int8_t)block[2 + i];
}

/* Eight groups of 32 weights; six bits each for scale and least value of a group: four groups in the low bits of bytes 0-3 and
 * 4-7, the other four in bytes 8-11, their upper bits atop the first. */
static void read_q4_k(const uint8_t *block, double *to)
{
    const double scale = element_read(ELEMENT_F16, block), step = element_read(ELEMENT_F16, block + 2);
    const uint8_t *const s = block + 4, *const q = block + 16;
    for (int group = 0; group < 8; group++) {
        const int low = group < 4 ? s[group] & 63 : (s[group + 4] & 15) | (s[group - 4] >> 6) << 4;
        const int least = group < 4 ? s[group + 4] & 63 : s[group + 4] >> 4 | (s[group] >> 6) << 4;
        for (int i = 0; i < 32; i++) {
            const uint8_t pair = q[group / 2 * 32 + i];
            to[group * 32 + i] = scale * low * (group % 2 ? pair >> 4 : pair & 15) - step * least;
        }
    }
}

/* Six bits a weight: a nibble, and two bits above it; sixteen weights have a signed scale. */
static void read_q6_k(const uint8_t *block, double *to)
{
    const double d = element_read(ELEMENT_F16, block + 208);
    for (int i = 0; i < 256; i++) {
        const int half = i / 128, group = i / 32 % 4, at = i % 32;
        const uint8_t pair = block[64 * half + group % 2 * 32 + at], upper = block[128 + 32 * half + at];
        const int number = (group < 2 ? pair & 15 : pair >> 4) | (upper >> 2 * group & 3) << 4;
        to[i] = d * (int8_t)block[192 + i / 16] * (number - 32);
    }
}

static void read_block(enum routine_type type, const uint8_t *block, double *to)
{
    switch (type) {
    case ROUTINE_Q4_0: read_q4_0(block, to); break;
    case ROUTINE_Q8_0: read_q8_0(block, to); break;
    case ROUTINE_Q4_K: read_q4_k(block, to); break;
    default: read_q6_k(block, to);
    }
}

double *routine_values(const struct routine_operand *o, const uint8_t *from)
{
    const unsigned block = routine_type_block(o->type);
    const enum element_type type = element_of(o->type);
    double *const values = malloc((o->count + 1) * sizeof *values);
    if (!values)
        return NULL;
    for (uint64_t i = 0; i + block <= o->count; i += block) {
        const uint8_t *const at = from + routine_type_bytes(o->type, i);
        if (block == 1)
            values[i] = element_read(type, at);
        else
            read_block(o->type, at, values + i);
    }
    return values;
}

/* ---- comparison ---- */

/* Whole numbers wrap; numbers of 16 bits lose what is below their smallest; what blocks lose is in the error. */
static double allowed_error(enum routine_type type, double want, double error)
{
    const double epsilon = routine_type_epsilon(type), smallest = type == ROUTINE_F16 ? 0x1p-25 : 0x1p-134;
    if (routine_type_block(type) > 1)
        return error;
    return epsilon == 0 ? 0 : error + epsilon * (fabs(want) + error) + smallest;
}

static double wrapped(enum routine_type type, double want)
{
    return type == ROUTINE_I32 ? (double)(int32_t)(uint32_t)(int64_t)want : want;
}

static bool same(double got, double want)
{
    return got == want || (isnan(got) && isnan(want));
}

static void judge(const struct routine_operand *o, const double *got, const struct routine_truth *truth,
                  struct routine_difference *d)
{
    *d = (struct routine_difference){.wrong = 0};
    for (uint64_t i = 0; i < o->count; i++) {
        const double want = wrapped(o->type, truth->value[i]), allowed = allowed_error(o->type, want, truth->error[i]);
        const double off = same(got[i], want) ? 0 : fabs(got[i] - want), share = off == 0 ? 0 : off / allowed;
        if (!(share <= 1))
            d->wrong++;
        if (!(share <= d->share)) {
            d->share = isnan(share) ? INFINITY : share;
            d->at = i;
            d->got = got[i];
            d->want = want;
            d->allowed = allowed;
        }
    }
}

bool routine_compare(const struct routine_request *r, const struct routine_work *w, const double *const *before,
                     const uint8_t *result, struct routine_difference *d)
{
    const struct routine_operand *const o = &w->operand[routine_result(w)];
    double *const got = routine_values(o, result);
    const struct routine_truth truth = {.value = malloc((o->count + 1) * sizeof(double)),
                                        .error = malloc((o->count + 1) * sizeof(double)),
                                        .epsilon = w->epsilon};
    const bool ok = got && truth.value && truth.error;
    if (ok) {
        r->row->operation->reference(r, before, &truth);
        judge(o, got, &truth, d);
    }
    free(got);
    free(truth.value);
    free(truth.error);
    return ok;
}
