/* The small headers of isa/ that every room uses: lists that grow, rounding, numbers as bits. */
#include "isa/float_bits.h"
#include "isa/list_grow.h"
#include "isa/rounding.h"

#include "tests/support/suite.h"

#include <math.h>

static void test_lists_keep_their_items(void)
{
    uint32_t *items = NULL;
    size_t count = 0, room = 0, moves = 0;
    while (count < 1000) {
        const size_t before = room;
        uint32_t *const grown = list_grow(items, count, &room, sizeof *grown);
        CU_ASSERT_PTR_NOT_NULL_FATAL(grown);
        moves += room != before;
        CU_ASSERT_TRUE(room > count);
        items = grown;
        items[count] = (uint32_t)(3 * count);
        count++;
    }
    for (size_t i = 0; i < count; i++)
        CHECK(items[i] == 3 * i, "item %zu is %u", i, items[i]);
    CU_ASSERT_TRUE(moves <= 10); /* doubling: 16, 32 ... 1024 */
    free(items);
}

static void test_lists_that_cannot_grow_stay(void)
{
    uint64_t item = 7, *const items = &item;
    size_t room = SIZE_MAX / 8;
    CU_ASSERT_PTR_NULL(list_grow(items, room, &room, sizeof item));
    CU_ASSERT_EQUAL(room, SIZE_MAX / 8);
    CU_ASSERT_EQUAL(item, 7);
}

static void test_rounding(void)
{
    for (uint64_t unit = 1; unit < 40; unit++)
        for (uint64_t value = 0; value < 400; value++) {
            uint64_t pieces = 0;
            while (pieces * unit < value)
                pieces++;
            CHECK(divide_up(value, unit) == pieces, "%u by %u", (unsigned)value, (unsigned)unit);
            CHECK(round_up(value, unit) == pieces * unit, "%u to %u", (unsigned)value, (unsigned)unit);
        }
}

static void test_bits(void)
{
    CU_ASSERT_EQUAL(f32_bits(1.0f), 0x3f800000);
    CU_ASSERT_EQUAL(f32_bits(-0.0f), 0x80000000);
    CU_ASSERT_EQUAL(f64_bits(-2.0), UINT64_C(0xc000000000000000));
    CU_ASSERT_EQUAL(f32_of_bits(0x7f800000), INFINITY);
    CU_ASSERT_EQUAL(f64_of_bits(1), 0x1p-1074);
    CU_ASSERT_EQUAL(f32_bits(f32_of_bits(0x7fc12345)), 0x7fc12345); /* the payload of a NaN is kept */
}

static const struct suite_test tests[] = {
    {"lists grow by doubling and keep their items", test_lists_keep_their_items},
    {"a list that cannot grow stays as it was", test_lists_that_cannot_grow_stay},
    {"rounding up gives the least multiple", test_rounding},
    {"numbers and bits are the same thing", test_bits},
};
SUITE_MAIN("everybody", tests)
