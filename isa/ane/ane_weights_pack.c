/* Writing weights into coefficient banks. */
#include "isa/rounding.h"
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
        uint8_t *bytes = room <= SIZE_MAX ? calloc(room, 1) : NULL;
        if (!bytes)
            return false;
        if (pack->used)
            ane_copy_sparse(bytes, pack->bytes, pack->used);
        free(pack->bytes);
        pack->bytes = bytes;
        pack->room = room;
    }
    ane_clear_sparse(pack->bytes + pack->used, (size_t)(end - pack->used));
    return true;
}

struct bank_writer {
    const struct ane_bank_shape *shape;
    const uint16_t *weight, *bias, *codebook;
    struct ane_palette palette; /* the same values */
    uint8_t *bytes;             /* of the bank, zeroed */
    uint64_t at;
};

static void put_bits(uint8_t *bytes, uint64_t at, unsigned bits, uint32_t value)
{
    for (unsigned i = 0; i < bits; i++)
        bytes[(at + i) / 8] |= (uint8_t)((value >> i & 1) << (at + i) % 8);
}

/* The bits that stand for a weight in the bank. */
static uint32_t stored_of(const struct bank_writer *writer, uint16_t weight)
{
    if (writer->shape->bits == 16)
        return weight;
    if (writer->shape->palette)
        return ane_palette_index(&writer->palette, weight);
    return (uint8_t)(int)ane_half_value(weight);
}

static void put_stored(const struct bank_writer *writer, uint8_t *bytes, uint64_t number, uint16_t weight)
{
    if (writer->shape->bits == 16)
        ane_put16(bytes + 2 * number, weight);
    else
        put_bits(bytes, number * writer->shape->bits, writer->shape->bits, stored_of(writer, weight));
}

static void write_bias(struct bank_writer *writer, const struct ane_bank_plane *plane)
{
    if (!writer->shape->bias)
        return;
    for (uint32_t lane = 0; lane < plane->lanes; lane++)
        ane_put16(writer->bytes + writer->at + 2 * (size_t)lane, writer->bias ? writer->bias[plane->channel + lane] : 0);
    writer->at += 2 * (uint64_t)plane->lanes;
}

static void write_dense(struct bank_writer *writer, const struct ane_bank_plane *plane)
{
    const uint64_t rows = writer->shape->per_channel, lanes = plane->lanes;
    const uint16_t *weight = writer->weight + plane->channel * rows;
    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t lane = 0; lane < lanes; lane++)
            put_stored(writer, writer->bytes + writer->at, row * lanes + lane, weight[lane * rows + row]);
    writer->at += (rows * lanes * writer->shape->bits + 7) / 8;
}

/* The slots of a sparse plane: eight for each mask byte, which is followed by the values of those that are set. */
struct slots {
    uint64_t number, mask, taken; /* slots passed; byte offset of the present mask; values written after it */
};

static void write_slot(const struct bank_writer *writer, struct slots *slots, uint16_t weight)
{
    const uint32_t bit = slots->number++ % 8;
    if (bit == 0 && slots->number > 1) {
        slots->mask += 1 + (slots->taken * writer->shape->bits + 7) / 8;
        slots->taken = 0;
    }
    if (is_zero(weight))
        return;
    writer->bytes[slots->mask] |= (uint8_t)(1u << bit);
    put_stored(writer, writer->bytes + slots->mask + 1, slots->taken++, weight);
}

/* Writes a sparse plane; false when its number of bytes does not fit its field. */
static bool write_sparse(struct bank_writer *writer, const struct ane_bank_plane *plane)
{
    const struct ane_bank_shape *shape = writer->shape;
    const uint64_t start = writer->at + ANE_BANK_COUNT_BYTES, places = ane_bank_places(shape),
                   taps = shape->per_channel / shape->inputs;
    const uint16_t *weight = writer->weight + plane->channel * shape->per_channel;
    struct slots slots = {.mask = start};
    for (uint64_t input = 0; input < shape->inputs; input++)
        for (uint64_t place = 0; place < places; place++) {
            const uint64_t tap = ane_bank_tap(shape, place);
            const uint64_t lanes = tap == ANE_BANK_NO_TAP ? 0 : plane->lanes;
            for (uint32_t slot = 0; slot < ane_bank_slots(shape, plane->lanes); slot++)
                write_slot(writer, &slots, slot < lanes ? weight[slot * shape->per_channel + input * taps + tap] : 0);
        }
    const uint64_t end = slots.mask + 1 + (slots.taken * shape->bits + 7) / 8, count = end - start;
    ane_put16(writer->bytes + writer->at, (uint16_t)count);
    writer->bytes[writer->at + 2] = (uint8_t)(count >> 16);
    writer->at = end;
    return count < 1u << 24;
}

static bool write_bank(struct bank_writer *writer, unsigned bank)
{
    const struct ane_bank_shape *shape = writer->shape;
    struct ane_bank_walk walk = {.shape = shape, .bank = bank};
    struct ane_bank_plane plane;
    for (unsigned i = 0; i < shape->palette; i++)
        ane_put16(writer->bytes + 2 * i, writer->codebook[i]);
    writer->at = ane_bank_start(shape);
    while (ane_bank_next(&walk, &plane)) {
        if (plane.begins_group)
            writer->at = round_up(writer->at, ANE_BANK_ROUND);
        write_bias(writer, &plane);
        if (!shape->sparse)
            write_dense(writer, &plane);
        else if (!write_sparse(writer, &plane))
            return false;
    }
    return true;
}

static bool add_bank(struct bank_writer *writer, unsigned number, struct ane_pack *pack, struct ane_bank *bank)
{
    const uint64_t most = ane_bank_bytes(writer->shape, number, true), base = round_up(pack->used, ANE_BANK_ROUND);
    *bank = (struct ane_bank){.enabled = false};
    if (most == 0)
        return true;
    if (base + round_up(most, ANE_BANK_ROUND) > UINT32_MAX || !grow(pack, base + round_up(most, ANE_BANK_ROUND)))
        return false;
    writer->bytes = pack->bytes + base;
    writer->at = most;
    if (writer->weight && !write_bank(writer, number))
        return false;
    const uint64_t bytes = round_up(writer->at, ANE_BANK_ROUND);
    pack->used = base + bytes;
    *bank = (struct ane_bank){.enabled = true, .base = (uint32_t)base, .bytes = (uint32_t)bytes};
    return true;
}

bool ane_weights_pack(struct ane_task *task, const uint16_t *weight, const uint16_t *bias, struct ane_pack *pack,
                      struct isa_error *error)
{
    struct ane_bank_shape shape;
    uint16_t codebook[256] = {0};
    task->bias = task->bias || bias != NULL;
    if (!ane_bank_shape(task, &shape, error) || !check_weights(task, &shape, weight, error))
        return false;
    bool ok = !shape.palette ||
              ane_palette_choose(weight, shape.channels * shape.per_channel, !shape.sparse, task->palette_bits, codebook);
    struct bank_writer writer = {.shape = &shape, .weight = weight, .bias = bias, .codebook = codebook};
    ane_palette_prepare(&writer.palette, codebook, task->palette_bits);
    for (unsigned k = 0; ok && k < ANE_BANKS; k++)
        ok = add_bank(&writer, k, pack, &task->bank[k]);
    if (!ok)
        return ane_fail(error, 0, "out of memory, coefficients of 4 GB and more, or a sparse plane beyond 16 MB");
    return true;
}

bool ane_weights_reserve(struct ane_task *task, struct ane_pack *pack, struct isa_error *error)
{
    struct ane_bank_shape shape;
    if (!ane_bank_shape(task, &shape, error))
        return false;
    struct bank_writer writer = {.shape = &shape};
    for (unsigned k = 0; k < ANE_BANKS; k++)
        if (!add_bank(&writer, k, pack, &task->bank[k]))
            return ane_fail(error, 0, "out of memory, or coefficients of 4 GB and more");
    return true;
}
