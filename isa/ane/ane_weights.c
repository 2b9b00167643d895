/* Reading weights out of coefficient banks. */
#include "isa/ane/ane_bank.h"
#include "isa/ane/ane_bytes.h"
#include "isa/ane/ane_half.h"
#include "isa/ane/ane_task_parts.h"

#include <stdlib.h>

static bool refuse_bank(struct isa_error *error, const struct ane_bank *bank, unsigned number, uint64_t needed)
{
    if (!bank->enabled)
        return ane_fail(error, bank->base, "bank %u is off, but channels fall to it", number);
    return ane_fail(error, bank->base, "bank %u (0x%x bytes at 0x%x) is shorter than its contents, %llu bytes", number, bank->bytes,
                    bank->base, (unsigned long long)needed);
}

/* `bits` bits from bit `at` of a little-endian stream; at most 16. */
static uint32_t bits_at(const uint8_t *bytes, uint64_t at, unsigned bits)
{
    uint32_t value = 0;
    for (uint64_t byte = at / 8, shift = 0; shift < bits + at % 8; byte++, shift += 8)
        value |= (uint32_t)bytes[byte] << shift;
    return value >> at % 8 & ((1u << bits) - 1);
}

static uint64_t mask_ones(const uint8_t *mask, uint64_t bits)
{
    uint64_t ones = 0;
    for (uint64_t i = 0; i < bits / 8; i++)
        ones += (unsigned)__builtin_popcount(mask[i]);
    return ones + (bits % 8 ? (unsigned)__builtin_popcount(mask[bits / 8] & ((1u << bits % 8) - 1)) : 0);
}

struct bank_reader {
    const struct ane_bank_shape *shape;
    const uint8_t *bytes; /* of the bank */
    struct ane_bank_parts parts;
    bool is_signed;
    uint64_t place, stored; /* weights passed, and those of them that are present */
};

static uint16_t stored_weight(const struct bank_reader *reader)
{
    const unsigned bits = reader->shape->bits;
    const uint32_t raw = bits_at(reader->bytes + reader->parts.weights, reader->stored * bits, bits);
    if (reader->shape->palette)
        return ane_get16(reader->bytes + 2 * (size_t)raw);
    if (bits == 16)
        return (uint16_t)raw;
    return ane_half_bits(reader->is_signed ? (int8_t)raw : (double)raw);
}

static uint16_t next_weight(struct bank_reader *reader)
{
    uint16_t weight = 0;
    if (!reader->shape->sparse || bits_at(reader->bytes + reader->parts.mask, reader->place, 1)) {
        weight = stored_weight(reader);
        reader->stored++;
    }
    reader->place++;
    return weight;
}

/* Where the parts of a bank lie; false when it ends before they do. */
static bool open_bank(const struct ane_task *task, const struct ane_bank_shape *shape, unsigned number, const uint8_t *coefficients,
                      size_t bytes, struct bank_reader *reader, struct isa_error *error)
{
    const struct ane_bank *bank = &task->bank[number];
    const uint64_t channels = ane_bank_channels(shape, number), weights = channels * shape->per_channel;
    uint64_t stored = shape->sparse ? 0 : weights;
    struct ane_bank_parts parts = ane_bank_parts(shape, channels, stored);
    const bool inside = bank->base <= bytes && bank->bytes <= bytes - bank->base;
    if (!bank->enabled || !inside || parts.end > bank->bytes)
        return refuse_bank(error, bank, number, parts.end);
    if (shape->sparse) {
        stored = mask_ones(coefficients + bank->base + parts.mask, weights);
        parts = ane_bank_parts(shape, channels, stored);
        if (parts.end > bank->bytes)
            return refuse_bank(error, bank, number, parts.end);
    }
    *reader = (struct bank_reader){.shape = shape, .bytes = coefficients + bank->base, .parts = parts,
                                   .is_signed = task->kernel_format == ANE_KERNEL_I8};
    return true;
}

static void read_halves(const uint8_t *bytes, size_t count, uint16_t *halves)
{
    for (size_t i = 0; i < count; i++)
        halves[i] = ane_get16(bytes + 2 * i);
}

static void read_bank(struct bank_reader *reader, unsigned number, struct ane_weights *weights)
{
    const uint64_t channels = ane_bank_channels(reader->shape, number);
    for (uint64_t n = 0; n < channels; n++) {
        const uint64_t channel = ane_bank_channel(reader->shape, number, n);
        uint16_t *weight = weights->weight + channel * weights->per_channel;
        if (weights->bias)
            weights->bias[channel] = ane_get16(reader->bytes + reader->parts.bias + 2 * n);
        if (reader->shape->bits == 16 && !reader->shape->sparse)
            read_halves(reader->bytes + reader->parts.weights + 2 * n * weights->per_channel, weights->per_channel, weight);
        else
            for (size_t i = 0; i < weights->per_channel; i++)
                weight[i] = next_weight(reader);
        for (size_t i = 0; i < weights->per_channel; i++)
            weights->nonzero += (weight[i] & 0x7fff) != 0;
    }
}

bool ane_weights_unpack(const struct ane_task *task, const uint8_t *coefficients, size_t bytes, struct ane_weights *weights,
                        struct isa_error *error)
{
    struct ane_bank_shape shape;
    struct bank_reader reader[ANE_BANKS];
    *weights = (struct ane_weights){.nonzero = 0};
    if (!ane_bank_shape(task, &shape, error))
        return false;
    for (unsigned k = 0; k < shape.engines; k++)
        if (ane_bank_channels(&shape, k) && !open_bank(task, &shape, k, coefficients, bytes, &reader[k], error))
            return false;
    weights->per_channel = shape.per_channel;
    weights->channels = shape.channels;
    weights->weight = calloc(shape.channels * shape.per_channel, sizeof *weights->weight);
    weights->bias = shape.bias ? calloc(shape.channels, sizeof *weights->bias) : NULL;
    if (!weights->weight || (shape.bias && !weights->bias)) {
        ane_weights_free(weights);
        *error = (struct isa_error){.text = "out of memory"};
        return false;
    }
    for (unsigned k = 0; k < shape.engines; k++)
        if (ane_bank_channels(&shape, k))
            read_bank(&reader[k], k, weights);
    return true;
}

void ane_weights_free(struct ane_weights *weights)
{
    free(weights->weight);
    free(weights->bias);
    *weights = (struct ane_weights){.nonzero = 0};
}
