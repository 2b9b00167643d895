/* Writing weights into coefficient banks. */
#include "isa/ane/ane_bank.h"
#include "isa/ane/ane_bytes.h"
#include "isa/ane/ane_half.h"
#include "isa/ane/ane_task_parts.h"

#include <stdlib.h>
#include <string.h>

static bool is_zero(uint16_t weight)
{
    return (weight & 0x7fff) == 0;
}

static bool check_weights(const struct ane_task *task, const struct ane_bank_shape *shape, const uint16_t *weight,
                          struct isa_error *error)
{
    const double least = task->kernel_format == ANE_KERNEL_I8 ? -128 : 0, most = least + 255;
    if (shape->bits == 16)
        return true;
    for (uint64_t i = 0; i < shape->channels * shape->per_channel; i++) {
        const double value = ane_half_value(weight[i]);
        const bool good = shape->palette ? isfinite(value) : value >= least && value <= most && value == nearbyint(value);
        if (!good)
            return ane_fail(error, i, "weight %llu is %g, which %s cannot hold", (unsigned long long)i, value,
                        shape->palette ? "a palette" : "8 bits");
    }
    return true;
}

static bool grow(struct ane_pack *pack, uint64_t end)
{
    if (end > pack->room) {
        const uint64_t room = end + end / 2;
        uint8_t *bytes = room <= SIZE_MAX ? realloc(pack->bytes, room) : NULL;
        if (!bytes)
            return false;
        pack->bytes = bytes;
        pack->room = room;
    }
    memset(pack->bytes + pack->used, 0, end - pack->used);
    return true;
}

struct bank_writer {
    const struct ane_bank_shape *shape;
    const uint16_t *palette;
    unsigned palette_bits;
    uint8_t *bytes; /* of the bank, zeroed */
    struct ane_bank_parts parts;
    uint64_t place, stored;
};

static void put_bits(uint8_t *bytes, uint64_t at, unsigned bits, uint32_t value)
{
    for (unsigned i = 0; i < bits; i++)
        bytes[(at + i) / 8] |= (uint8_t)((value >> i & 1) << (at + i) % 8);
}

static void put_stored(struct bank_writer *writer, uint16_t weight)
{
    const unsigned bits = writer->shape->bits;
    uint8_t *bytes = writer->bytes + writer->parts.weights;
    if (bits == 16)
        ane_put16(bytes + 2 * writer->stored, weight);
    else if (writer->shape->palette)
        put_bits(bytes, writer->stored * bits, bits, ane_palette_index(writer->palette, writer->palette_bits, weight));
    else
        bytes[writer->stored] = (uint8_t)(int)ane_half_value(weight);
    writer->stored++;
}

static void put_weight(struct bank_writer *writer, uint16_t weight)
{
    if (!writer->shape->sparse)
        put_stored(writer, weight);
    else if (!is_zero(weight)) {
        put_bits(writer->bytes + writer->parts.mask, writer->place, 1, 1);
        put_stored(writer, weight);
    }
    writer->place++;
}

static uint64_t count_stored(const struct ane_bank_shape *shape, unsigned bank, const uint16_t *weight)
{
    const uint64_t channels = ane_bank_channels(shape, bank);
    uint64_t stored = 0;
    if (!shape->sparse)
        return channels * shape->per_channel;
    for (uint64_t n = 0; n < channels; n++)
        for (uint64_t i = 0; i < shape->per_channel; i++)
            stored += !is_zero(weight[ane_bank_channel(shape, bank, n) * shape->per_channel + i]);
    return stored;
}

static void write_bank(struct bank_writer *writer, unsigned bank, const uint16_t *weight, const uint16_t *bias)
{
    const struct ane_bank_shape *shape = writer->shape;
    for (unsigned i = 0; i < shape->palette; i++)
        ane_put16(writer->bytes + 2 * i, writer->palette[i]);
    for (uint64_t n = 0; n < ane_bank_channels(shape, bank); n++) {
        const uint64_t channel = ane_bank_channel(shape, bank, n);
        if (shape->bias)
            ane_put16(writer->bytes + writer->parts.bias + 2 * n, bias ? bias[channel] : 0);
        for (uint64_t i = 0; i < shape->per_channel; i++)
            put_weight(writer, weight[channel * shape->per_channel + i]);
    }
}

static bool add_bank(struct bank_writer *writer, unsigned number, const uint16_t *weight, const uint16_t *bias, struct ane_pack *pack,
                     struct ane_bank *bank)
{
    const uint64_t channels = ane_bank_channels(writer->shape, number), base = ane_round_up(pack->used, ANE_BANK_ROUND);
    *bank = (struct ane_bank){.enabled = false};
    if (channels == 0)
        return true;
    writer->parts = ane_bank_parts(writer->shape, channels, count_stored(writer->shape, number, weight));
    const uint64_t bytes = ane_round_up(writer->parts.end, ANE_BANK_ROUND);
    if (base + bytes > UINT32_MAX || !grow(pack, base + bytes))
        return false;
    writer->bytes = pack->bytes + base;
    writer->place = writer->stored = 0;
    write_bank(writer, number, weight, bias);
    pack->used = base + bytes;
    *bank = (struct ane_bank){.enabled = true, .base = (uint32_t)base, .bytes = (uint32_t)bytes};
    return true;
}

bool ane_weights_pack(struct ane_task *task, const uint16_t *weight, const uint16_t *bias, struct ane_pack *pack,
                      struct isa_error *error)
{
    struct ane_bank_shape shape;
    uint16_t palette[256] = {0};
    task->bias = task->bias || bias != NULL;
    if (!ane_bank_shape(task, &shape, error) || !check_weights(task, &shape, weight, error))
        return false;
    bool ok = !shape.palette ||
              ane_palette_choose(weight, shape.channels * shape.per_channel, !shape.sparse, task->palette_bits, palette);
    struct bank_writer writer = {.shape = &shape, .palette = palette, .palette_bits = task->palette_bits};
    for (unsigned k = 0; ok && k < ANE_BANKS; k++)
        ok = add_bank(&writer, k, weight, bias, pack, &task->bank[k]);
    if (!ok)
        return ane_fail(error, 0, "out of memory, or coefficients of 4 GB and more");
    return true;
}
