#include "isa/a64/a64_table.h"
#include "isa/array_count.h"

const struct a64_row a64_rows[A64_FORM_COUNT] = {
#define A64_ROW(form, mask, bits, layout, sizes, cls, props, text)                                                               \
    [A64_##form] = {mask, bits, A64_L_##layout, sizes, A64_C_##cls, props, text},
#include "isa/a64/a64_table.inc"
#undef A64_ROW
};

/* The first row of every group. A group takes a number of the enumeration and gives it back to the row that follows. */
enum {
    ROW_BEFORE = A64_AMX,
#define A64_ROW(form, ...)   ROW_##form,
#define A64_GROUP(name, ...) FIRST_##name, REWIND_##name = FIRST_##name - 1,
#include "isa/a64/a64_table.inc"
#undef A64_GROUP
#undef A64_ROW
};

#define A64_ROW(form, ...)
#define A64_GROUP(name, mask, bits, title) {mask, bits, FIRST_##name, title},
const struct a64_group a64_groups[] = {
#include "isa/a64/a64_table.inc"
    {0, 0, A64_FORM_COUNT, ""}, /* closes the last group */
};
#undef A64_GROUP
#undef A64_ROW

const unsigned a64_group_count = ARRAY_COUNT(a64_groups) - 1;
