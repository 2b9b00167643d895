/* Layout of coefficient banks.
 *
 * Known from public programs (tinygrad conv.hwx and model.hwx.golden): one output channel per bank, bias first, then its inputs;
 * sizes are multiples of 64 bytes; 64 and 512 output channels fill 16 banks evenly. From sbryngelson/ane-guide: codebooks of 16 and
 * 256 fp16 values before the indices, a bit per weight before the values that are not zero. Chosen here, because no public program
 * shows it: channels k, k + engines ... of a group share a bank, group after group; biases of a bank stand together; indices, mask
 * bits and values are little-endian streams over all channels of the bank; the mask ends at a whole halfword; taps are in the
 * order input channel, row, column.
 */
#include "isa/ane/ane_bank.h"
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
    const uint64_t taps = (uint64_t)task->kernel_width * task->kernel_height;
    *shape = (struct ane_bank_shape){
        .channels = task->channels_out, .groups = task->depthwise ? 1 : groups, .per_group = task->channels_out / (task->depthwise ? 1 : groups),
        .per_channel = task->depthwise ? taps : task->channels_in / groups * taps, .engines = task->engines,
        .bits = task->palette_bits ? task->palette_bits : task->kernel_format == ANE_KERNEL_F16 ? 16 : 8,
        .palette = task->palette_bits ? 1u << task->palette_bits : 0, .sparse = task->sparse, .bias = task->bias};
    return true;
}

/* Channels of one group that fall to a bank. */
static uint64_t share(const struct ane_bank_shape *shape, unsigned bank)
{
    return bank < shape->engines ? (shape->per_group + shape->engines - 1 - bank) / shape->engines : 0;
}

uint64_t ane_bank_channels(const struct ane_bank_shape *shape, unsigned bank)
{
    return shape->groups * share(shape, bank);
}

uint64_t ane_bank_channel(const struct ane_bank_shape *shape, unsigned bank, uint64_t n)
{
    const uint64_t each = share(shape, bank);
    return n / each * shape->per_group + n % each * shape->engines + bank;
}

struct ane_bank_parts ane_bank_parts(const struct ane_bank_shape *shape, uint64_t channels, uint64_t stored)
{
    struct ane_bank_parts parts = {.bias = 2 * (uint64_t)shape->palette};
    parts.mask = parts.bias + (shape->bias ? 2 * channels : 0);
    parts.weights = parts.mask + (shape->sparse ? (channels * shape->per_channel + 15) / 16 * 2 : 0);
    parts.end = parts.weights + (stored * shape->bits + 7) / 8;
    return parts;
}
