/* The operation that a Neural Engine program implements: names, operands, parameters. */
#include "isa/ane/ane_text.h"
#include "tests/isa/ane_listing.h"

#include <math.h>
#include <string.h>

static void test_operations(void)
{
    for (size_t i = 0; i < ANE_GOLDENS; i++) {
        struct ane_program program;
        char detail[160];
        if (!listing_open_golden(ane_goldens[i].file, &program))
            continue;
        const char *name = ane_program_operation(&program, detail, sizeof detail);
        CHECK(name && strcmp(name, ane_goldens[i].operation) == 0, "%s: %s", ane_goldens[i].file, name ? name : "(none)");
        if (strstr(ane_goldens[i].file, "gemm"))
            CHECK(strstr(detail, "gemm 1x64x64") != NULL, "%s", detail);
        if (strstr(ane_goldens[i].file, "1dcaecacc4"))
            CHECK(strstr(detail, "channels=3->2 with bias") != NULL, "%s", detail);
        ane_program_free(&program);
    }
}

static void test_operands(void)
{
    struct ane_program program;
    struct ane_operation operation;
    if (listing_open_golden("tinygrad/sum.6ca449afd2.hwx.gz", &program)) {
        CU_ASSERT(ane_program_find_operation(&program, &operation));
        CU_ASSERT(operation.inputs == 2 && operation.input[0] == 6 && operation.input[1] == 5 && operation.output == 4);
        ane_program_free(&program);
    }
    if (listing_open_golden("eiln/binary_div.bin.gz", &program)) { /* the divisor is the one whose reciprocal is taken */
        CU_ASSERT(ane_program_find_operation(&program, &operation));
        CU_ASSERT(operation.inputs == 2 && operation.input[0] == 5 && operation.input[1] == 6);
        ane_program_free(&program);
    }
}

/* The same program with another table is another function. */
static void test_every_table_in_a_program(void)
{
    static const char *const differs[][2] = {{"leaky_relu", "alpha=0.01"}, {"hardtanh", "alpha=1"}};
    struct ane_program program;
    const char *name;
    if (!listing_open_golden("eiln/activation_gelu.bin.gz", &program))
        return;
    for (size_t i = 0; (name = ane_table_at(i, NULL)); i++) {
        struct ane_table table;
        char detail[160];
        ane_table_make(name, (double)NAN, &table);
        ane_table_write(&table, program.bytes + program.const_offset);
        const char *found = ane_program_operation(&program, detail, sizeof detail);
        CHECK(found && strcmp(found, name) == 0, "%s is %s", name, found ? found : "(none)");
        for (size_t k = 0; found && k < 2; k++)
            CHECK(strcmp(name, differs[k][0]) != 0 || strncmp(detail, differs[k][1], strlen(differs[k][1])) == 0, "%s %s", name,
                  detail);
    }
    ane_program_free(&program);
}

/* Tasks changed in place: names follow what is computed, and nothing is named that is not computed. */
static void test_structure_decides(void)
{
    struct ane_program program;
    char detail[160];
    if (listing_open_golden("eiln/binary_add.bin.gz", &program)) {
        program.task[0].pe_scale = 0.5F;
        CU_ASSERT_STRING_EQUAL(ane_program_operation(&program, detail, sizeof detail), "ave");
        program.task[0].pe_scale = 0.25F;
        CU_ASSERT_PTR_NULL(ane_program_operation(&program, detail, sizeof detail));
        program.task[0].pe_scale = 1;
        program.task[0].pe_pre_scale = -1;
        CU_ASSERT_STRING_EQUAL(ane_program_operation(&program, detail, sizeof detail), "sub");
        CU_ASSERT_STRING_EQUAL(detail, "x=bar 6 y=bar 5");
        program.task[0].pe_pre_scale = 1;
        program.task[0].pe_op = ANE_PE_MUL;
        program.task[0].second.bar = program.task[0].source.bar;
        CU_ASSERT_STRING_EQUAL(ane_program_operation(&program, detail, sizeof detail), "square");
        program.task[0].pe_op = ANE_PE_ADD;
        program.task[0].pe_reduce = ANE_REDUCE_SUM; /* sum(x + x) has no name */
        CU_ASSERT_PTR_NULL(ane_program_operation(&program, detail, sizeof detail));
        ane_program_free(&program);
    }
    if (listing_open_golden("eiln/unary_abs.bin.gz", &program)) { /* a mean needs the factor of its width */
        program.task[0].pe_absolute = false;
        program.task[0].pe_reduce = ANE_REDUCE_SUM;
        program.task[0].pe_scale = 1.0F / 1600;
        CU_ASSERT_STRING_EQUAL(ane_program_operation(&program, detail, sizeof detail), "reduce_mean");
        program.task[0].pe_scale = 1.0F / 800;
        CU_ASSERT_PTR_NULL(ane_program_operation(&program, detail, sizeof detail));
        ane_program_free(&program);
    }
    if (listing_open_golden("eiln/activation_softmax.bin.gz", &program)) {
        program.task[3].pe_reciprocal = false;
        CU_ASSERT_PTR_NULL(ane_program_operation(&program, detail, sizeof detail));
        ane_program_free(&program);
    }
    if (listing_open_golden("tinygrad/golden.1dcaecacc4.hwx.gz", &program)) {
        program.task[0].nonlinear = ANE_RELU;
        CU_ASSERT_STRING_EQUAL(ane_program_operation(&program, detail, sizeof detail), "conv2d");
        CHECK(strstr(detail, "then relu") != NULL, "%s", detail);
        ane_program_free(&program);
    }
}

static const struct suite_test tests[] = {
    {"operations of public programs", test_operations},
    {"operands of operations", test_operands},
    {"every activation table in a program", test_every_table_in_a_program},
    {"structure decides the name", test_structure_decides},
};
SUITE_MAIN("ane_operation", tests)
