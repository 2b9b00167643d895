/* Policies of networks that count joules: against all assignments of random networks, and against what runs say. */
#include "sim/base/splitmix64.h"
#include "sim/network/onnx/onnx.h"
#include "sim/network/operators/operator.h"
#include "sim/run/network/run_network_plan_internal.h"
#include "sim/scenario/run_sustained.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct chip_db *db;

enum { ITEMS = 5 };

/* ---- all assignments ---- */

struct example {
    struct network_plan plan;
    struct planned item[ITEMS];
};

static double chance(uint64_t *state)
{
    return (double)(splitmix64_next(state) >> 11) * 0x1p-53;
}

/* Seconds and joules of no order; some units do not have some items. The Neural Engine takes no part. */
static void fill(struct example *e, uint64_t seed)
{
    uint64_t state = seed;
    *e = (struct example){.plan = {.count = ITEMS}};
    e->plan.item = e->item;
    e->plan.speeds.hand_over_s = chance(&state);
    e->plan.begin_joules[PLAN_GPU] = chance(&state);
    for (unsigned unit = 0; unit < PLAN_PARTS; unit++)
        e->plan.waiting_w[unit] = unit == PLAN_ANE ? 0 : 0.4 * chance(&state);
    e->plan.waiting_w[PLAN_AMX] += e->plan.waiting_w[PLAN_CPU];
    for (unsigned i = 0; i < ITEMS; i++)
        for (unsigned unit = 0; unit < PLAN_PARTS; unit++) {
            const bool has = unit != PLAN_ANE && (unit == PLAN_CPU || chance(&state) < 0.8);
            e->item[i].seconds[unit] = has ? 0.1 + chance(&state) : INFINITY;
            e->item[i].joules[unit] = has ? 0.1 + chance(&state) : INFINITY;
        }
}

/* What an assignment takes: kernels, command buffers, and the units that wait for others; a core waits with its block. */
static void add_up(const struct example *e, const unsigned *unit, double *seconds, double *joules)
{
    bool used[PLAN_PARTS] = {false};
    double busy[PLAN_PARTS] = {0};
    *seconds = *joules = 0;
    for (unsigned i = 0; i < ITEMS; i++) {
        const bool begins = unit[i] == PLAN_GPU && (i == 0 || unit[i - 1] != PLAN_GPU);
        const double own = e->item[i].seconds[unit[i]] + (begins ? e->plan.speeds.hand_over_s : 0);
        *seconds += own;
        *joules += e->item[i].joules[unit[i]] + (begins ? e->plan.begin_joules[PLAN_GPU] : 0);
        busy[unit[i]] += own;
        used[unit[i]] = true;
    }
    if (used[PLAN_AMX]) {
        busy[PLAN_AMX] += busy[PLAN_CPU];
        used[PLAN_CPU] = false;
    }
    for (unsigned k = 0; k < PLAN_PARTS; k++)
        *joules += used[k] ? e->plan.waiting_w[k] * (*seconds - busy[k]) : 0;
}

struct best {
    double joules, product;
};

static struct best find_best(const struct example *e)
{
    struct best best = {INFINITY, INFINITY};
    unsigned unit[ITEMS] = {0};
    for (unsigned number = 0, all = 3125; number < all; number++) { /* 5 units to the 5 items */
        double seconds, joules;
        for (unsigned i = 0, rest = number; i < ITEMS; i++, rest /= PLAN_PARTS)
            unit[i] = rest % PLAN_PARTS;
        add_up(e, unit, &seconds, &joules);
        if (!(seconds < INFINITY))
            continue;
        best.joules = fmin(best.joules, joules);
        best.product = fmin(best.product, joules * seconds);
    }
    return best;
}

static void test_all_assignments(void)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct example e;
        struct orch_error error = {0};
        fill(&e, seed);
        const struct best best = find_best(&e);
        CHECK(network_plan_weigh(&e.plan, "energy", &error), "%s", error.text);
        CHECK(fabs(e.plan.joules_planned / best.joules - 1) < 1e-6, "seed %d: %g J, %g at least", (int)seed,
              e.plan.joules_planned, best.joules);
        CHECK(network_plan_weigh(&e.plan, "edp", &error), "%s", error.text);
        CHECK(fabs(e.plan.joules_planned * e.plan.as_planned / best.product - 1) < 1e-6, "seed %d: %g J s, %g at least",
              (int)seed, e.plan.joules_planned * e.plan.as_planned, best.product);
    }
}

static void test_power(void)
{
    struct example e;
    struct orch_error error = {0};
    fill(&e, 7);
    double before = 0;
    for (double watts = 3; watts > 0.8; watts -= 0.2) {
        char policy[32];
        snprintf(policy, sizeof policy, "power:%g", watts);
        e.plan.remark[0] = 0;
        CHECK(network_plan_weigh(&e.plan, policy, &error), "%s", error.text);
        CHECK(e.plan.remark[0] || e.plan.joules_planned / e.plan.as_planned <= watts, "%g W of %g",
              e.plan.joules_planned / e.plan.as_planned, watts);
        CHECK(e.plan.as_planned >= before, "less power in less time: %g s, %g before", e.plan.as_planned, before);
        before = e.plan.as_planned;
    }
    CHECK(network_plan_weigh(&e.plan, "power:0.001", &error) && strstr(e.plan.remark, "no assignment"), "%s", e.plan.remark);
}

/* ---- runs ---- */

static const char network[] = "model:mobilenet-v3-small";
static const char *const size[] = {"size=32"};

static struct outcome run_by(const char *unit, const char *policy)
{
    return run_on(db, "m1", network,
                  (struct run_request){.unit = unit, .policy = policy, .mode = RUN_TIMING, .dims = size, .dim_count = 1});
}

/* No unit alone takes fewer joules, and the policy of time is no slower. */
static void test_runs(void)
{
    static const char *const units[] = {"cpu", "amx", "gpu"};
    struct outcome energy = run_by("auto", "energy"), time = run_by("auto", "cost");
    CHECK(energy.ok && time.ok, "%s%s", energy.error.text, time.error.text);
    CHECK(energy.result.joules < time.result.joules && energy.result.seconds > time.result.seconds, "%g J, %g s; %g J, %g s",
          energy.result.joules, energy.result.seconds, time.result.joules, time.result.seconds);
    CHECK(fabs(counter(&energy, "network.predicted.auto.joules") / energy.result.joules - 1) < 0.05, "%g J, %g predicted",
          energy.result.joules, counter(&energy, "network.predicted.auto.joules"));
    bool on_e_core = false;
    for (size_t i = 0; i < energy.result.placement.count; i++)
        on_e_core |= strstr(energy.result.placement.item[i].why, "on an E core") != NULL;
    CHECK(on_e_core, "small kernels cost least on an E core");
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        struct outcome one = run_by(units[i], NULL);
        CHECK(one.ok && energy.result.joules <= one.result.joules * 1.01, "%s: %g J, %g", units[i], one.result.joules,
              energy.result.joules);
        run_result_free(&one.result);
    }
    run_result_free(&energy.result);
    run_result_free(&time.result);
}

/* ---- in a machine ---- */

/* A product of two inputs. */
static void write_product(const char *path)
{
    static const int64_t shape[2] = {64, 64};
    struct orch_error error = {0};
    struct net_model *const model = net_model_new("product");
    struct net_node *const node = net_node_new("product", "MatMul", "", 2, 1);
    for (unsigned k = 0; k < 2; k++) {
        node->input[k] = net_value_add(model, k ? "b" : "a");
        model->value[node->input[k]].type = NET_F32;
        model->value[node->input[k]].shape = net_shape_of(shape, 2);
        CHECK(net_graph_add_input(model->graph, node->input[k]), "an input");
    }
    node->output[0] = net_value_add(model, "c");
    node->row = net_operator_find("MatMul", "");
    node->version = 14;
    CHECK(net_graph_insert(model->graph, 0, node) && net_model_add_output(model, node->output[0]), "a node");
    CHECK(onnx_export(model, path, &error), "%s", error.text);
    net_model_free(model);
}

/* A machine that stays cool does most by the policy of time, as often as the product fits into the time. */
static void test_machine(void)
{
    enum { SECONDS = 20 };
    char folder[] = "/tmp/orchard-energy-XXXXXX", path[64];
    struct orch_error error = {0};
    struct device_list devices = {0};
    struct run_sustained_choice choice = {.policy = ""};
    CHECK(mkdtemp(folder) != NULL && device_list_load(NULL, &devices, &error), "%s", error.text);
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    write_product(path);
    struct chip *const chip = chip_open(db, "m1", NULL, &error);
    const struct run_request q = {.chip = chip, .workload = path, .unit = "auto", .mode = RUN_TIMING, .seed = 1};
    const struct run_sustained_request asked = {.run = q,
                                                .db = db,
                                                .device = "macbook-air",
                                                .machine = device_find(&devices, "macbook-air", chip_id(chip), &error),
                                                .duration_s = SECONDS,
                                                .ambient_c = NAN,
                                                .battery_percent = NAN};
    struct outcome once = run_on(db, "m1", path, q), refused = run_on(db, "m1", path, (struct run_request){.policy = "thermal"});
    CHECK(run_sustained_policy(&asked, &choice, &error), "%s", error.text);
    CHECK(strcmp(choice.policy, "cost") == 0 && fabs(choice.repetitions * once.result.seconds / SECONDS - 1) < 0.01,
          "%s: %g repetitions of %g s", choice.policy, choice.repetitions, once.result.seconds);
    CHECK(!refused.ok && strstr(refused.error.text, "of a machine"), "%s", refused.error.text);
    run_result_free(&once.result);
    run_result_free(&refused.result);
    device_list_free(&devices);
    chip_close(chip);
    CHECK(suite_remove(folder), "%s stays", folder);
}

static const struct suite_test tests[] = {{"the best of all assignments", test_all_assignments},
                                          {"within a power", test_power},
                                          {"runs by joules and by time", test_runs},
                                          {"in a machine", test_machine}};

int main(void)
{
    return example_chips_run("network_energy", tests, ARRAY_COUNT(tests), &db);
}
