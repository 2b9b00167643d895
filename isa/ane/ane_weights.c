/* Reading weights out of coefficient banks. */
#include "isa/rounding.h"
#include "isa/ane/ane_bank.h"
#include "isa/ane/ane_bytes.h"
#include "isa/ane/ane_half.h"
#include "isa/ane/ane_task_parts.h"

#include <stdlib.h>

static bool refuse_bank(struct isa_error *error, const struct ane_bank *bank, unsigned number, uint64_t needed)
{
    if (!bank->enabled)
        return ane_fail(error, bank->base, "bank %u is off, but channels fall to it", number);
    return ane_fail(error, bank->base, "bank %u (0x%x bytes at 0x%x) is shorter than its contents, %llu bytes", number,
                    bank->bytes, bank->base, (unsigned long long)needed);
}

/* Reads `bits` bits, at most 16, from bit `at` of a little-endian stream. */
static uint32_t bits_at(const uint8_t *bytes, uint64_t at, unsigned bits)
{
    uint32_t value = 0;
    for (uint64_t byte = at / 8, shift = 0; shift < bits + at % 8; byte++, shift += 8)
        value |= (uint32_t)bytes[byte] << shift;
    return value >> at % 8 & ((1u << bits) - 1);
}

struct bank_reader {
    const struct ane_bank_shape *shape;
    const uint8_t *bytes; /* of the bank */
    uint64_t at, end;
    bool is_signed;
    struct ane_weights *weights;
};

/* The value that a stored weight stands for. */
static uint16_t weight_of(const struct bank_reader *reader, uint32_t raw)
{
    if (reader->shape->palette)
        return ane_get16(reader->bytes + 2 * (size_t)raw);
    if (reader->shape->bits == 16)
        return (uint16_t)raw;
    return ane_half_bits(reader->is_signed ? (int8_t)raw : (double)raw);
}

static void read_bias(struct bank_reader *reader, const struct ane_bank_plane *plane)
{
    if (!reader->shape->bias)
        return;
    for (uint32_t lane = 0; lane < plane->lanes; lane++)
        reader->weights->bias[plane->channel + lane] = ane_get16(reader->bytes + reader->at + 2 * (size_t)lane);
    reader->at += 2 * (uint64_t)plane->lanes;
}

/* The caller has checked that the bank is long enough. */
static void read_dense(struct bank_reader *reader, const struct ane_bank_plane *plane)
{
    const uint64_t rows = reader->shape->per_channel, lanes = plane->lanes, bits = reader->shape->bits;
    const uint8_t *from = reader->bytes + reader->at;
    uint16_t *to = reader->weights->weight + plane->channel * rows;
    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t lane = 0; lane < lanes; lane++)
            to[lane * rows + row] = bits == 16 ? ane_get16(from + 2 * (row * lanes + lane))
                                               : weight_of(reader, bits_at(from, (row * lanes + lane) * bits, (unsigned)bits));
    reader->at += (rows * lanes * bits + 7) / 8;
}

/* The slots of a sparse plane: eight for each mask byte, which is followed by the values of those that are set. */
struct slots {
    uint64_t number; /* slots passed */
    uint64_t values; /* byte offset of the values of the present mask */
    uint32_t taken;  /* values of it that were read */
    uint8_t mask;
};

/* Reads the next slot; false when the bank or the plane ends. */
static bool next_slot(const struct bank_reader *reader, struct slots *slots, uint64_t end, bool *set, uint16_t *weight)
{
    const uint32_t bits = reader->shape->bits, bit = slots->number++ % 8;
    if (bit == 0) {
        const uint64_t at = slots->values + (slots->taken * bits + 7) / 8;
        if (at >= end)
            return false;
        slots->mask = reader->bytes[at];
        slots->values = at + 1;
        slots->taken = 0;
    }
    *set = slots->mask >> bit & 1;
    if (!*set)
        return true;
    if (slots->values + ((slots->taken + 1) * bits + 7) / 8 > end)
        return false;
    *weight = weight_of(reader, bits_at(reader->bytes + slots->values, slots->taken++ * bits, bits));
    return true;
}

/* Reads the slots of one place; the weights are zero until then. */
static bool read_place(const struct bank_reader *reader, const struct ane_bank_plane *plane, struct slots *slots, uint64_t end,
                       uint64_t input, uint64_t tap)
{
    const struct ane_bank_shape *shape = reader->shape;
    const uint64_t taps = shape->per_channel / shape->inputs;
    for (uint32_t slot = 0; slot < ane_bank_slots(shape, plane->lanes); slot++) {
        uint16_t weight = 0;
        bool set;
        if (!next_slot(reader, slots, end, &set, &weight) || (set && (tap == ANE_BANK_NO_TAP || slot >= plane->lanes)))
            return false;
        if (set)
            reader->weights->weight[(plane->channel + slot) * shape->per_channel + input * taps + tap] = weight;
    }
    return true;
}

static bool read_sparse(struct bank_reader *reader, const struct ane_bank_plane *plane)
{
    const uint64_t start = reader->at + ANE_BANK_COUNT_BYTES, places = ane_bank_places(reader->shape);
    if (start > reader->end)
        return false;
    const uint8_t *count = reader->bytes + reader->at;
    const uint64_t end = start + (ane_get16(count) | (uint64_t)count[2] << 16);
    struct slots slots = {.values = start};
    if (end > reader->end)
        return false;
    for (uint64_t input = 0; input < reader->shape->inputs; input++)
        for (uint64_t place = 0; place < places; place++)
            if (!read_place(reader, plane, &slots, end, input, ane_bank_tap(reader->shape, place)))
                return false;
    reader->at = end;
    return slots.values + (slots.taken * reader->shape->bits + 7) / 8 == end;
}

static bool read_bank(const struct ane_task *task, struct bank_reader *reader, unsigned number, struct isa_error *error)
{
    struct ane_bank_walk walk = {.shape = reader->shape, .bank = number};
    struct ane_bank_plane plane;
    reader->at = ane_bank_start(reader->shape);
    while (ane_bank_next(&walk, &plane)) {
        if (plane.begins_group)
            reader->at = round_up(reader->at, ANE_BANK_ROUND);
        if (reader->shape->bias && reader->at + 2 * (uint64_t)plane.lanes > reader->end)
            return refuse_bank(error, &task->bank[number], number, reader->at + 2 * (uint64_t)plane.lanes);
        read_bias(reader, &plane);
        if (!reader->shape->sparse)
            read_dense(reader, &plane);
        else if (!read_sparse(reader, &plane))
            return ane_fail(error, task->bank[number].base, "bank %u: the masks of channels from %llu do not fit their bytes",
                            number, (unsigned long long)plane.channel);
    }
    return true;
}

static bool check_banks(const struct ane_task *task, const struct ane_bank_shape *shape, size_t bytes, struct isa_error *error)
{
    for (unsigned k = 0; k < shape->engines; k++) {
        const struct ane_bank *bank = &task->bank[k];
        const uint64_t needed = ane_bank_bytes(shape, k, false);
        const bool inside = bank->base <= bytes && bank->bytes <= bytes - bank->base;
        if (needed && (!bank->enabled || !inside || needed > bank->bytes))
            return refuse_bank(error, bank, k, needed);
    }
    return true;
}

static void count_nonzero(struct ane_weights *weights)
{
    for (size_t i = 0; i < weights->channels * weights->per_channel; i++)
        weights->nonzero += (weights->weight[i] & 0x7fff) != 0;
}

bool ane_weights_unpack(const struct ane_task *task, const uint8_t *coefficients, size_t bytes, struct ane_weights *weights,
                        struct isa_error *error)
{
    struct ane_bank_shape shape;
    *weights = (struct ane_weights){.nonzero = 0};
    if (!ane_bank_shape(task, &shape, error) || !check_banks(task, &shape, bytes, error))
        return false;
    weights->per_channel = shape.per_channel;
    weights->channels = shape.channels;
    weights->weight = calloc(shape.channels * shape.per_channel, sizeof *weights->weight);
    weights->bias = shape.bias ? calloc(shape.channels, sizeof *weights->bias) : NULL;
    bool ok = weights->weight && (!shape.bias || weights->bias);
    if (!ok)
        *error = (struct isa_error){.text = "out of memory"};
    for (unsigned k = 0; ok && k < shape.engines; k++) {
        struct bank_reader reader = {.shape = &shape,
                                     .bytes = coefficients + task->bank[k].base,
                                     .end = task->bank[k].bytes,
                                     .is_signed = task->kernel_format == ANE_KERNEL_I8,
                                     .weights = weights};
        ok = ane_bank_bytes(&shape, k, false) == 0 || read_bank(task, &reader, k, error);
    }
    if (ok)
        count_nonzero(weights);
    else
        ane_weights_free(weights);
    return ok;
}

void ane_weights_free(struct ane_weights *weights)
{
    free(weights->weight);
    free(weights->bias);
    *weights = (struct ane_weights){.nonzero = 0};
}
