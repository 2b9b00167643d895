/* Pooling and resizing of the NEON library, executed: against plain loops in double precision, at odd sizes, with padding; the
 * same bytes on three threads. */
#include "isa/array_count.h"
#include "tests/sim/cpu_library_example.h"

static const char *const types[] = {"f32", "f16", "bf16"};

static void test_pool(void)
{
    static const char *const workloads[] = {"pool:c=1,h=2,w=2",
                                            "pool:n=2,c=3,h=7,w=17",
                                            "pool:c=2,h=9,w=33,r=3,s=3,pad=1",
                                            "pool:c=2,h=9,w=33,r=3,s=3,pad=1,op=avg",
                                            "pool:c=2,h=9,w=33,r=3,s=3,pad=1,op=avg,include_pad=1,stride=1",
                                            "pool:c=3,h=5,w=19,r=2,s=5,stride=1,pad=1",
                                            "pool:c=1,h=8,w=8,r=8,s=8,op=avg",
                                            "pool:c=1,h=13,w=31,r=3,s=2,stride=3,op=avg"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static void test_globalpool(void)
{
    static const char *const workloads[] = {"globalpool:c=1,h=1,w=1", "globalpool:n=2,c=3,h=7,w=7",
                                            "globalpool:c=5,h=33,w=17,op=max"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static void test_resize(void)
{
    static const char *const workloads[] = {
        "resize:c=2,h=4,w=4,oh=8,ow=8",
        "resize:n=2,c=3,h=7,w=5,oh=13,ow=20",
        "resize:c=1,h=20,w=31,oh=9,ow=11",
        "resize:c=2,h=1,w=1,oh=3,ow=5,mode=bilinear",
        "resize:c=2,h=7,w=5,oh=13,ow=21,mode=bilinear",
        "resize:c=2,h=20,w=31,oh=9,ow=11,mode=bilinear,align=1",
        "resize:c=1,h=6,w=9,oh=6,ow=9,mode=bilinear",
        "resize:c=1,h=5,w=8,oh=1,ow=1,mode=bilinear,align=1",
    };
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static void test_refusals(void)
{
    neon_refused("pool:c=1,h=2,w=2,r=3", NULL, "does not fit");
    neon_refused("pool:c=1,h=9,w=9,pad=2", NULL, "half of the window");
    neon_refused("resize:c=1,h=2,w=2,oh=3,ow=3,align=1", NULL, "bilinear");
}

static const struct suite_test tests[] = {
    {"pool", test_pool},
    {"globalpool", test_globalpool},
    {"resize", test_resize},
    {"refusals", test_refusals},
};
SUITE_MAIN("neon images", tests)
