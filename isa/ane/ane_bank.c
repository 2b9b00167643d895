/* The layout of coefficient banks.
 *
 * joshuaswarren/mil-hwx-compiler (research/h13-td-fields.md, research/mint_conv_probes.py and the records in
 * research/oracles/h13) read it out of Apple's compiler for H13 with known weights:
 *
 * - A plane is `lanes` consecutive output channels; lanes = 2^OCGSize in all records. With E engines plane p lies in bank p % E,
 *   after planes p - E, p - 2E ...; planes touch, and the bank is padded to 64 bytes. Channels that whole rounds of E planes do
 *   not cover go into narrower planes: 768 channels with 32 lanes are 512 channels of 32 and then 256 of 16.
 * - A plane is a row of `lanes` biases, if there are any, and a row of `lanes` weights for each input channel, kernel row and
 *   kernel column, so the lane is innermost. That is the order in which products reach the adders.
 * - Groups follow one another, and the part of each in a bank is padded to 64 bytes. Depthwise convolutions are planes of one
 *   lane.
 * - A sparse plane (SparseFmt, which the compiler takes for every convolution of stride 2) has, after the biases, a 24-bit
 * number of bytes and then a slot for each place and lane. Eight slots at a time are a byte of mask bits and the weights of those
 * slots whose bit is set; zeros are not stored. The places are those of a kernel whose sides are rounded up to the stride, the
 * taps of one stride phase after those of another: 0 2 6 8, 1 7, 3 5, 4 for 3x3 at stride 2. A place has at least 2 slots, or 4
 * in small source mode. The number, the places of 3x3 kernels and the least slots are our reading of the records. It gives the
 *   SHA-256 of Apple's bytes for all records that were tried (tests/isa/test_ane_banks.c), also for the 16 and 32 lanes, groups
 *   and depthwise kernels that the source leaves open.
 *
 * Public programs (tinygrad conv.hwx and model.hwx.golden) have one channel per bank, bias first. sbryngelson/ane-guide tells
 * that a codebook of 16 or 256 fp16 values stands before the indices.
 *
 * CHOSEN HERE, because nothing public shows it: the codebook stands at the start of every bank; 8-bit weights and indices take
 * the places of halfwords, least significant bit first, and a plane (or the values of a mask byte, in a sparse plane) ends at a
 * whole byte; fewer than 8 slots may be left at the end; the phases of a sparse kernel ignore its padding; several planes of one
 * group touch; strides other than 1 without SparseFmt keep the plain order; 2 lanes in small source mode have 4 slots.
 */
#include "isa/rounding.h"
#include "isa/ane/ane_bank.h"
#include "isa/ane/ane_bytes.h"
#include "isa/ane/ane_task_parts.h"

static bool known_bits(uint32_t bits)
{
    return bits == 1 || bits == 2 || bits == 4 || bits == 6 || bits == 8;
}

static bool check_numbers(const struct ane_task *task, uint64_t groups, struct isa_error *error)
{
    if (task->engine != ANE_ENGINE_NE || task->ne_op != ANE_NE_CONVOLUTION)
        return ane_fail(error, 0, "the task is no convolution: it has no weights");
    if (!task->channels_in || !task->channels_out || !task->kernel_width || !task->kernel_height)
        return ane_fail(error, 0, "convolution of %u to %u channels with a %ux%u kernel", task->channels_in, task->channels_out,
                        task->kernel_width, task->kernel_height);
    if (task->channels_in > 1u << 17 || task->channels_out > 1u << 17 || task->kernel_width > 255 || task->kernel_height > 255)
        return ane_fail(error, 0, "convolution beyond 131072 channels or 255x255 taps");
    if (task->engines == 0 || task->engines > ANE_BANKS)
        return ane_fail(error, 0, "%u engines, expected 1 to 16", task->engines);
    if (task->channels_in % groups || task->channels_out % groups)
        return ane_fail(error, 0, "%u to %u channels do not divide into %lu groups", task->channels_in, task->channels_out,
                        (unsigned long)groups);
    if (task->palette_bits && !known_bits(task->palette_bits))
        return ane_fail(error, 0, "palette of %u bits, expected 1, 2, 4, 6 or 8", task->palette_bits);
    if (task->palette_bits && task->kernel_format != ANE_KERNEL_F16)
        return ane_fail(error, 0, "a palette holds fp16 values: the kernel format must be fp16");
    return true;
}

bool ane_bank_shape(const struct ane_task *task, struct ane_bank_shape *shape, struct isa_error *error)
{
    const uint64_t groups = task->groups ? task->groups : 1;
    if (!check_numbers(task, groups, error))
        return false;
    const uint64_t taps = (uint64_t)task->kernel_width * task->kernel_height,
                   inputs = task->depthwise ? 1 : task->channels_in / groups;
    const bool phases = task->sparse && task->stride_x && task->stride_y;
    *shape = (struct ane_bank_shape){.channels = task->channels_out,
                                     .groups = task->depthwise ? 1 : groups,
                                     .per_group = task->channels_out / (task->depthwise ? 1 : groups),
                                     .inputs = inputs,
                                     .per_channel = inputs * taps,
                                     .kernel_width = task->kernel_width,
                                     .kernel_height = task->kernel_height,
                                     .phases_x = phases ? task->stride_x : 1,
                                     .phases_y = phases ? task->stride_y : 1,
                                     .engines = task->engines,
                                     .lanes = task->depthwise ? 1 : 1u << (task->channel_group_log2 & 7),
                                     .slots = task->small_source ? 4 : 2,
                                     .bits = task->palette_bits                      ? task->palette_bits
                                             : task->kernel_format == ANE_KERNEL_F16 ? 16
                                                                                     : 8,
                                     .palette = task->palette_bits ? 1u << task->palette_bits : 0,
                                     .sparse = task->sparse,
                                     .bias = task->bias};
    return true;
}

/* Lanes of the planes that begin where `left` channels of a group are left. */
static uint32_t lanes_for(const struct ane_bank_shape *shape, uint64_t left)
{
    uint32_t lanes = shape->lanes;
    while (lanes > 1 && (uint64_t)lanes * shape->engines > left)
        lanes /= 2;
    return lanes;
}

bool ane_bank_next(struct ane_bank_walk *walk, struct ane_bank_plane *plane)
{
    const struct ane_bank_shape *shape = walk->shape;
    while (walk->group < shape->groups) {
        const uint64_t first = walk->first, left = shape->per_group - first;
        const uint32_t lanes = lanes_for(shape, left);
        const uint64_t round = (uint64_t)lanes * shape->engines, place = (uint64_t)walk->bank * lanes, group = walk->group;
        walk->first += round;
        if (walk->first >= shape->per_group) {
            walk->first = 0;
            walk->group++;
        }
        if (walk->bank < shape->engines && place < left) {
            *plane = (struct ane_bank_plane){
                .channel = group * shape->per_group + first + place, .lanes = lanes, .begins_group = group > 0 && first == 0};
            return true;
        }
    }
    return false;
}

uint64_t ane_bank_places(const struct ane_bank_shape *shape)
{
    return (uint64_t)shape->phases_x * shape->phases_y * divide_up(shape->kernel_width, shape->phases_x) *
           divide_up(shape->kernel_height, shape->phases_y);
}

uint64_t ane_bank_tap(const struct ane_bank_shape *shape, uint64_t place)
{
    const uint64_t across = divide_up(shape->kernel_width, shape->phases_x),
                   each = across * divide_up(shape->kernel_height, shape->phases_y);
    const uint64_t phase = place / each, inside = place % each;
    const uint64_t x = inside % across * shape->phases_x + phase % shape->phases_x;
    const uint64_t y = inside / across * shape->phases_y + phase / shape->phases_x;
    return x < shape->kernel_width && y < shape->kernel_height ? y * shape->kernel_width + x : ANE_BANK_NO_TAP;
}

uint32_t ane_bank_slots(const struct ane_bank_shape *shape, uint32_t lanes)
{
    return lanes > shape->slots ? lanes : shape->slots;
}

uint64_t ane_bank_start(const struct ane_bank_shape *shape)
{
    return 2 * (uint64_t)shape->palette;
}

static uint64_t plane_bytes(const struct ane_bank_shape *shape, uint32_t lanes, bool most)
{
    const uint64_t bias = shape->bias ? 2 * (uint64_t)lanes : 0, values = shape->per_channel * lanes;
    if (!shape->sparse)
        return bias + divide_up(values * shape->bits, 8);
    const uint64_t masks = divide_up(shape->inputs * ane_bank_places(shape) * ane_bank_slots(shape, lanes), 8);
    const uint64_t rounding = shape->bits < 8 ? masks : 0; /* values of a mask byte end at a whole byte */
    return bias + ANE_BANK_COUNT_BYTES + masks + (most ? divide_up(values * shape->bits, 8) + rounding : 0);
}

uint64_t ane_bank_bytes(const struct ane_bank_shape *shape, unsigned bank, bool most)
{
    struct ane_bank_walk walk = {.shape = shape, .bank = bank};
    struct ane_bank_plane plane;
    uint64_t bytes = ane_bank_start(shape), planes = 0;
    while (ane_bank_next(&walk, &plane)) {
        bytes = (plane.begins_group ? round_up(bytes, ANE_BANK_ROUND) : bytes) + plane_bytes(shape, plane.lanes, most);
        planes++;
    }
    return planes ? bytes : 0;
}
