/* Which operands of a network's kernels are in the caches: tensors that were used last, weights of networks that fit; and what of
 * it shows as traffic. */
#include "sim/network/graph/graph.h"
#include "sim/run/run_internal.h"
#include "sim/run/network/run_network_residency.h"
#include "tests/sim/run_example.h"

#include <stdlib.h>

static struct chip_db *db;

/* M1's system-level cache has 8 MiB. */
enum { MIB = 1 << 20, WEIGHTS_MIB = 64, TENSORS = 4 };

/* A network of which only the size of its weights counts. */
static struct net_model *weights_alone(int64_t mib)
{
    struct orch_error error = {0};
    const int64_t shape[1] = {mib * MIB / 4};
    struct net_model *const model = net_model_new("weights");
    CHECK(net_constant_add(model, "weights", net_array_blank(NET_F32, shape, 1, &error)) != NET_NONE, "%s", error.text);
    return model;
}

static struct network_residency *open_for(struct run_request *q, const struct net_model *model)
{
    struct orch_error error = {0};
    struct network_residency *r = NULL;
    const struct run_network n = {.request = q, .model = model};
    CHECK(network_residency_open(&n, &r, &error), "%s", error.text);
    return r;
}

/* A kernel that reads `from` (at an offset) and writes `to`; 3 MiB each. */
static uint32_t use(struct network_residency *r, char *from, size_t offset, char *to)
{
    struct lowered_step step = {.operands = {.inputs = 1, .result = to, .result_bytes = 3 * MIB}};
    step.input[0] = (struct run_operand){from + offset, 3 * MIB - offset};
    return network_residency_use(r, &step);
}

static void test_tensors_used_last_are_present(void)
{
    struct orch_error error = {0};
    struct chip *const chip = chip_open(db, "m1", NULL, &error);
    struct run_request q = {.chip = chip, .unit = "gpu"};
    struct net_model *const model = weights_alone(WEIGHTS_MIB), *const small = weights_alone(1);
    struct network_residency *const r = open_for(&q, model);
    char *const t[TENSORS] = {(char *)(3l * MIB), (char *)(6l * MIB), (char *)(9l * MIB), (char *)(12l * MIB)};
    CU_ASSERT_EQUAL(use(r, t[0], 0, t[1]), 0);   /* nobody has touched it */
    CU_ASSERT_EQUAL(use(r, t[1], 0, t[2]), 1);   /* 0 drops out: three take 9 MiB */
    CU_ASSERT_EQUAL(use(r, t[1], MIB, t[2]), 1); /* a part */
    CU_ASSERT_EQUAL(use(r, t[0], 0, t[3]), 0);   /* now 1 and 2 drop out */
    CU_ASSERT_EQUAL(use(r, t[1], 0, t[2]), 0);
    CU_ASSERT_EQUAL(use(r, t[2], 0, t[3]), 1);
    network_residency_begin(r, t[3] + MIB, MIB);
    CU_ASSERT_EQUAL(use(r, t[3], 0, t[0]), 0); /* another tensor in the same memory */
    network_residency_ask(r, 5, &q);
    CU_ASSERT(q.cold && !q.evict && q.present == 5);
    network_residency_free(r);
    q = (struct run_request){.chip = chip, .unit = "gpu", .precision = "f16"};
    struct network_residency *const fits = open_for(&q, small), *const halves = open_for(&q, model);
    CU_ASSERT(fits == NULL && network_residency_use(fits, NULL) == 0);
    network_residency_ask(fits, 1, &q);
    CU_ASSERT(!q.cold && q.present == 0);
    CU_ASSERT_EQUAL(use(halves, t[0], 0, t[1]), 0); /* 16 MiB of the host's are 8 of halves */
    CU_ASSERT_EQUAL(use(halves, t[1], 0, t[2]), 1);
    CU_ASSERT_EQUAL(use(halves, t[0], 0, t[2]), 1);
    network_residency_free(halves);
    net_model_free(model);
    net_model_free(small);
    chip_close(chip);
}

/* MobileNetV2 has 3.5 million weights (Sandler et al., 2018), which an M1's 8 MiB do not hold and an M1 Max's 48 do. */
static void test_weights_that_do_not_fit_come_from_dram(void)
{
    const double weights = 4 * 3.4e6; /* those of its products */
    const char *const dims[] = {"size=32"};
    static const struct {
        const char *chip, *unit;
        bool fits;
    } rows[] = {{"m1", "cpu", false}, {"m1", "amx", false}, {"m1", "gpu", false}, {"m1-max", "cpu", true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct run_request q = {.unit = rows[i].unit, .mode = RUN_TIMING, .dims = dims, .dim_count = 1, .threads = 1};
        struct outcome o = run_on(db, rows[i].chip, "model:mobilenet-v2", q);
        const double bytes = o.ok ? counter(&o, "activity.dram_read_bytes") : 0;
        CHECK(o.ok, "%s", o.error.text);
        if (rows[i].fits)
            CHECK(!(bytes > 0.05 * weights), "%s %s: %g bytes from DRAM", rows[i].chip, rows[i].unit, bytes);
        else
            CHECK(bytes > 0.85 * weights && bytes < 1.5 * weights, "%s %s: %g bytes from DRAM", rows[i].chip, rows[i].unit,
                  bytes);
        run_result_free(&o.result);
    }
}

static const struct suite_test tests[] = {
    {"tensors that were used last are present", test_tensors_used_last_are_present},
    {"weights that do not fit come from DRAM", test_weights_that_do_not_fit_come_from_dram},
};

int main(void)
{
    return example_chips_run("network residency", tests, sizeof tests / sizeof tests[0], &db);
}
