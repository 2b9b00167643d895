/* What a beginning costs, from made-up windows of which it is known. */
#include "isa/array_count.h"
#include "sim/workload/gpu/gpu_begins.h"
#include "tests/support/suite.h"

#include <math.h>

#define PACE_NS  0.03  /* per instruction, without beginnings */
#define BEGIN_NS 700.0 /* a beginning */

/* Windows that saw every other number of beginnings, with noise in turn. */
static double found(unsigned windows, double least, double most, double noise)
{
    struct gpu_begins b = {0};
    for (unsigned i = 0; i < windows; i++) {
        const double begins = i % 2 ? most : least;
        gpu_begins_add(&b, begins, PACE_NS + BEGIN_NS * begins + (i / 2 % 2 ? noise : -noise));
    }
    return gpu_begins_ns(&b);
}

static void test_known_cost(void)
{
    CU_ASSERT_DOUBLE_EQUAL(found(4, 0, 1e-5, 0), BEGIN_NS, 1e-6 * BEGIN_NS);
    CU_ASSERT_DOUBLE_EQUAL(found(40, 0, 2e-5, 0.001), BEGIN_NS, 0.01 * BEGIN_NS);
}

static void test_too_few(void)
{
    struct gpu_begins b = {0};
    CU_ASSERT(gpu_begins_ns(&b) == 0);
    gpu_begins_add(&b, 0, PACE_NS);
    gpu_begins_add(&b, 1e-5, PACE_NS + 0.007);
    CU_ASSERT(gpu_begins_ns(&b) == 0);
    gpu_begins_add(&b, 1e-5, PACE_NS - 0.007);
    CU_ASSERT(gpu_begins_ns(&b) == 0); /* others took less with as many */
}

/* Windows of conv2d:n=8,c=64,h=56,w=56,k=256,r=3,s=3,pad=1 on M1 Max, each of which saw one wave begin: their paces differ by
 * chance. As a slope they would make a beginning cost more than the whole threadgroup takes. */
static void test_whole_lives(void)
{
    static const double window[][2] = {{5.075e-05, 0.0316446}, {5.097e-05, 0.0324135}, {5.092e-05, 0.0317538}};
    struct gpu_begins b = {0};
    for (unsigned i = 0; i < ARRAY_COUNT(window); i++)
        gpu_begins_add(&b, window[i][0], window[i][1]);
    CU_ASSERT(gpu_begins_ns(&b) == 0);
}

/* Between none and as many as windows saw, beginnings cost what they cost; farther away, no more than windows differ by. */
static void test_far_away(void)
{
    const double instructions = 1e8, least = 1.00e-5, most = 1.01e-5;
    struct gpu_begins b = {0};
    CU_ASSERT(gpu_begins_add_ns(&b, 1000, instructions) == 0);
    for (unsigned i = 0; i < 8; i++)
        gpu_begins_add(&b, i % 2 ? most : least, PACE_NS + BEGIN_NS * (i % 2 ? most : least));
    CU_ASSERT_DOUBLE_EQUAL(gpu_begins_add_ns(&b, 5, instructions), 5 * BEGIN_NS, 1e-3 * BEGIN_NS);
    const double differ = BEGIN_NS * (most - least) * instructions; /* ten beginnings */
    CU_ASSERT_DOUBLE_EQUAL(gpu_begins_add_ns(&b, 1000, instructions), differ, 1e-6 * differ);
    CU_ASSERT_DOUBLE_EQUAL(gpu_begins_add_ns(&b, -1000, instructions), -differ, 1e-6 * differ);
}

static const struct suite_test tests[] = {
    {"what a beginning costs is found from windows that saw none and many", test_known_cost},
    {"nothing follows from two windows, or from what contradicts itself", test_too_few},
    {"windows that saw as many beginnings say nothing", test_whole_lives},
    {"far from what windows saw, beginnings add no more than windows differ by", test_far_away},
};

SUITE_MAIN("gpu_begins", tests)
