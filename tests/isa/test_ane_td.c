/* The table of descriptor fields: fields stand where tinygrad's list has them, hold their widths and are found by name. */
#include "isa/ane/ane_td.h"
#include "isa/array_count.h"
#include "tests/isa/ane_golden.h"

#include <json-c/json.h>
#include <string.h>

static struct json_object *public_fields(void)
{
    size_t size = 0;
    uint8_t *text = ane_golden_read("tinygrad/h13_td_fields.json.gz", &size);
    struct json_tokener *tokener = json_tokener_new();
    struct json_object *list = text ? json_tokener_parse_ex(tokener, (const char *)text, (int)size) : NULL;
    json_tokener_free(tokener);
    free(text);
    return list;
}

static unsigned number_at(struct json_object *list, size_t index)
{
    return (unsigned)json_object_get_int(json_object_array_get_idx(list, index));
}

/* The list has "aneTD.Header[0].TID" and "aneRegs.Common.InDim.Win"; our names lack the first part. */
static void check_public_field(struct json_object *row)
{
    const char *name = strchr(json_object_get_string(json_object_array_get_idx(row, 0)), '.') + 1;
    struct json_object *place = json_object_array_get_idx(row, 1);
    enum ane_field field = 0;
    unsigned element = 0;
    const bool found = ane_field_find(name, strlen(name), &field, &element);
    CHECK(found, "%s is missing", name);
    if (!found)
        return;
    const struct ane_field_info *info = ane_field_info(field);
    CHECK(info->byte + 4 * element == number_at(place, 0) && info->bit == number_at(place, 1) &&
              info->width == number_at(place, 2),
          "%s: byte 0x%x bit %u width %u", name, info->byte + 4 * element, info->bit, info->width);
    CHECK(info->text[0] != 0, "%s has no text", name);
}

static void test_public_names(void)
{
    struct json_object *list = public_fields();
    CHECK(list && json_object_array_length(list) == 258, "the public list has 258 fields");
    for (size_t i = 0; list && i < json_object_array_length(list); i++)
        check_public_field(json_object_array_get_idx(list, i));
    json_object_put(list);
}

static void test_fields_apart(void)
{
    struct ane_td seen;
    memset(&seen, 0, sizeof seen);
    for (unsigned i = 0; i < ANE_FIELD_COUNT; i++) {
        const enum ane_field field = (enum ane_field)i;
        const struct ane_field_info *info = ane_field_info(field);
        CHECK(info->byte % 4 * 8u + info->bit + info->width <= 32, "%s crosses a word", info->name);
        for (unsigned k = 0; k < info->count; k++) {
            struct ane_td td;
            memset(&td, 0, sizeof td);
            const uint32_t all = (uint32_t)((UINT64_C(1) << info->width) - 1);
            CHECK(ane_set_at(&td, field, k, all) && ane_get_at(&td, field, k) == all, "%s holds its width", info->name);
            CHECK(info->width == 32 || !ane_set_at(&td, field, k, all + 1), "%s refuses more", info->name);
            for (unsigned w = 0; w < ANE_TD_WORDS; w++) {
                CHECK((seen.word[w] & td.word[w]) == 0, "%s[%u] overlaps another field", info->name, k);
                seen.word[w] |= td.word[w];
            }
        }
        CHECK(!ane_set_at(&seen, field, info->count, 0), "%s has %u elements", info->name, info->count);
    }
}

static void test_field_names(void)
{
    static const char *const wrong[] = {"",
                                        "Common",
                                        "Common.InDim.Wi",
                                        "Common.InDim.Win2",
                                        "KernelDMASrc.CoeffDMAConfig.En",
                                        "KernelDMASrc.CoeffDMAConfig[16].En",
                                        "KernelDMASrc.CoeffDMAConfig[03].En",
                                        "KernelDMASrc.CoeffDMAConfig[].En",
                                        "KernelDMASrc.CoeffDMAConfig[3]En",
                                        "KernelDMASrc.CoeffDMAConfig[3",
                                        "KernelDMASrc.CoeffDMAConfig[3].Cr"};
    enum ane_field field;
    unsigned element;
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++)
        CHECK(!ane_field_find(wrong[i], strlen(wrong[i]), &field, &element), "%s is no field", wrong[i]);
    CHECK(ane_field_find("KernelDMASrc.CoeffBaseAddr[15].Addr", 35, &field, &element) &&
              field == ANE_KERNEL_COEFF_BASE_ADDR_ADDR && element == 15,
          "element 15");
}

static void test_bytes(void)
{
    struct ane_td td;
    ane_td_init(&td);
    CHECK(ane_set(&td, ANE_SRC_ROW_STRIDE_STRIDE, 0x32) && td.word[0x178 / 4] == 0xc80, "strides stand as bytes");
    CHECK(ane_get_bytes(&td, ANE_SRC_ROW_STRIDE_STRIDE) == 0xc80 && ane_get(&td, ANE_SRC_ROW_STRIDE_STRIDE) == 0x32, "and back");
}

static const struct suite_test tests[] = {
    {"the table has the public fields at their places", test_public_names},
    {"fields hold their widths and do not overlap", test_fields_apart},
    {"names that are no fields", test_field_names},
    {"addresses and strides in bytes", test_bytes},
};
SUITE_MAIN("ane_td", tests)
