/* Arbitrary bytes as coefficient banks and activation tables: nothing crashes, and weights that could be read are packed and read
 * back unchanged.
 */
#include "isa/ane/ane_coefficients.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

enum { HEAD = 16 };

/* A convolution from the first bytes. Its banks lie anywhere in the rest. */
static struct ane_task task_of(const uint8_t *head, size_t bytes)
{
    static const uint32_t palettes[] = {0, 0, 1, 2, 4, 6, 8, 3};
    static const uint32_t engines[] = {1, 2, 4, 8, 16, 3, 0, 16};
    struct ane_task task = {.engine = ANE_ENGINE_NE,
                            .ne_op = ANE_NE_CONVOLUTION,
                            .channels_in = head[0],
                            .channels_out = head[1],
                            .groups = head[2] & 7,
                            .kernel_width = head[3] & 7,
                            .kernel_height = head[3] >> 3 & 7,
                            .engines = engines[head[4] & 7],
                            .palette_bits = palettes[head[5] & 7],
                            .sparse = head[6] & 1,
                            .bias = head[6] >> 1 & 1,
                            .depthwise = head[6] >> 2 & 1,
                            .small_source = head[6] >> 3 & 1,
                            .channel_group_log2 = head[12] & 7,
                            .stride_x = head[12] >> 3 & 3,
                            .stride_y = head[12] >> 5 & 3,
                            .kernel_format = (enum ane_kernel_format)(head[7] % 3)};
    for (unsigned k = 0; k < ANE_BANKS; k++)
        task.bank[k] = (struct ane_bank){.enabled = (head[8] & 15) != k + 1,
                                         .base = (uint32_t)head[9] * 64 * k,
                                         .bytes = head[10] & 1 ? (uint32_t)head[11] * 64 : (uint32_t)bytes};
    return task;
}

/* A palette may hold a NaN, and each bank may have its own palette, whereas packing makes one palette for all banks. */
static void check_back(struct ane_task task, const struct ane_weights *weights)
{
    struct ane_pack pack = {.used = 0};
    struct ane_weights back = {.nonzero = 0};
    struct isa_error error = {.text = ""};
    const size_t count = weights->channels * weights->per_channel;
    if (ane_weights_pack(&task, weights->weight, weights->bias, &pack, &error)) {
        require(ane_weights_unpack(&task, pack.bytes, pack.used, &back, &error));
        require(back.channels * back.per_channel == count);
        const bool exact = !task.palette_bits || task.engines == 1;
        for (size_t i = 0; exact && i < count; i++) /* masks and codebooks treat +0 and -0 alike */
            require(back.weight[i] == weights->weight[i] || ((back.weight[i] | weights->weight[i]) & 0x7fff) == 0);
        ane_weights_free(&back);
    } else {
        require(task.palette_bits && error.text[0] != '\0');
    }
    free(pack.bytes);
}

static void check_table(const uint8_t *data, size_t size)
{
    uint8_t bytes[2 * ANE_TABLE_HALVES];
    struct ane_table table, back;
    struct isa_error error = {.text = ""};
    if (!ane_table_read(data, size, &table, &error)) {
        require(error.text[0] != '\0');
        return;
    }
    ane_table_write(&table, bytes);
    require(ane_table_read(bytes, sizeof bytes, &back, &error) && memcmp(&back, &table, sizeof table) == 0);
    const char *name = ane_table_name(&table);
    require(!name || ane_table_make(name, ane_table_alpha(&table), &back));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ane_weights weights;
    struct isa_error error = {.text = ""};
    check_table(data, size);
    if (size < HEAD)
        return 0;
    const struct ane_task task = task_of(data, size - HEAD);
    if (!ane_weights_unpack(&task, data + HEAD, size - HEAD, &weights, &error)) {
        require(error.text[0] != '\0' && weights.weight == NULL);
        return 0;
    }
    check_back(task, &weights);
    ane_weights_free(&weights);
    return 0;
}
