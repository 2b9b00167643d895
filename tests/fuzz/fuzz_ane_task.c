/* Neural Engine descriptors: arbitrary words are refused in one line, or understood such that encoding gives the same words and
 * decoding those gives the same task. An input as long as a descriptor is taken with its packet words corrected. A shorter one is
 * a list of patches (word, bits) of a convolution, an element-wise task or a planar one. Fields are also looked up by name.
 */
#include "isa/ane/ane_task.h"
#include "isa/array_count.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check(const struct ane_td *td)
{
    struct ane_task task, again;
    struct ane_td back;
    struct isa_error error;
    memset(&error, 0, sizeof error);
    if (!ane_task_decode(td, &task, &error)) {
        require(error.text[0] && !strchr(error.text, '\n') && error.offset < ANE_TD_BYTES);
        return;
    }
    require(ane_task_encode(&task, &back, &error) && memcmp(td, &back, sizeof back) == 0);
    require(ane_task_decode(&back, &again, &error) && memcmp(&task, &again, sizeof task) == 0);
}

static void good_task(unsigned kind, struct ane_td *td)
{
    const struct ane_operand dram = {.place = ANE_PLACE_DRAM,
                                     .format = ANE_F16,
                                     .bar = 5,
                                     .row = 128,
                                     .plane = 8192,
                                     .depth = 32768,
                                     .other = {.row = 128, .plane = 128}};
    struct ane_task task = {.last = true,
                            .width_in = 64,
                            .height_in = 64,
                            .channels_in = 4,
                            .width_out = 64,
                            .height_out = 64,
                            .channels_out = 4,
                            .groups = 1,
                            .tile_height = 16,
                            .kernel_width = 1,
                            .kernel_height = 1,
                            .stride_x = 1,
                            .stride_y = 1,
                            .step_x = 1,
                            .step_y = 1,
                            .source = dram,
                            .result = dram,
                            .post_scale = 1};
    struct isa_error error;
    task.result.bar = 4;
    if (kind < 2) {
        task.engines = 4;
        task.ne_op = kind ? ANE_NE_ELEMENT : ANE_NE_CONVOLUTION;
        task.nonlinear = kind ? ANE_TABLE : ANE_LINEAR;
        task.kernel_format = ANE_KERNEL_F16;
        for (unsigned i = 0; i < 4; i++)
            task.bank[i] = (struct ane_bank){true, 128 * i, 128};
    } else {
        task.engine = ANE_ENGINE_PE;
        task.pe_pre_scale = task.pe_scale = task.pe_final_scale = 1;
        task.pe_reduce = kind == 3 ? ANE_REDUCE_MAX : ANE_REDUCE_NONE;
        if (kind == 2)
            task.second = dram;
    }
    require(ane_task_encode(&task, td, &error));
}

static void look_up(const uint8_t *data, size_t size)
{
    enum ane_field field;
    unsigned element;
    if (ane_field_find((const char *)data, size, &field, &element))
        require(field < ANE_FIELD_COUNT && element < ane_field_info(field)->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ane_td td, fresh;
    look_up(data, size);
    if (size >= ANE_TD_BYTES) {
        static const uint16_t packets[] = {0x028, 0x124, 0x168, 0x1dc, 0x228, 0x23c, 0x254};
        ane_td_load(&td, data);
        check(&td);
        ane_td_init(&fresh);
        for (size_t i = 0; i < ARRAY_COUNT(packets); i++)
            td.word[packets[i] / 4] = fresh.word[packets[i] / 4];
        check(&td);
        return 0;
    }
    if (size == 0)
        return 0;
    good_task(data[0] & 3, &td);
    for (size_t i = 1; i + 3 <= size; i += 3)
        td.word[data[i] % ANE_TD_WORDS] ^= (uint32_t)data[i + 1] << (data[i + 2] & 31);
    check(&td);
    return 0;
}
