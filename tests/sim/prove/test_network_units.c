/* Networks by kernels of a unit's library: golden outputs of an independent runtime, what is left to the reference, and times
 * that are those of the kernels. */
#include "isa/array_count.h"
#include "sim/prove/check/networks.h"
#include "sim/run/network/run_network.h"
#include "tests/sim/run_example.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct chip_db *db;

/* Networks whose outputs must be right, the nodes that the reference may compute, and the kernels that the CPU may take where
 * the library of AMX lacks them. */
static const struct network_case {
    const char *name;
    unsigned left, elsewhere;
} networks[] = {{"mnist_8", 0, 2},
                {"bert_tiny_random", 0, 27},
                {"llama_tiny_random", 0, 35},
                {"ppocr_cls", 0, 33},
                {"ultraface_slim320", 0, 19},
                {"coreml/linear_s4tf", 0, 0},
                {"coreml/mnist_cnn_keras", 0, 3},
                {"coreml/dtln_aec_128_part1", 0, 22}};

static void check_one(const char *unit, const char *precision, const struct network_case *c)
{
    const char *const folder = suite_shared("models");
    struct orch_error error = {0};
    struct check_report report = {0};
    struct check_network_rows got = {.row = NULL};
    struct chip *const chip = folder ? chip_open(db, "m1", NULL, &error) : NULL;
    if (!folder) {
        suite_skip("no folder of models");
        return;
    }
    const struct run_request request = {.chip = chip, .unit = unit, .precision = precision, .mode = RUN_FUNCTIONAL};
    const struct net_open_options options = {.level = 2};
    const bool alone = strcmp(unit, "cpu") == 0 || strcmp(unit, "gpu") == 0;
    const bool ok = chip && check_networks(folder, &c->name, 1, &options, &request, &report, &got, &error);
    CHECK(ok && got.count == 1, "%s: %s", c->name, error.text);
    for (size_t k = 0; ok && k < got.count; k++)
        CHECK(got.row[k].right && got.row[k].kernels > 0 && got.row[k].left <= c->left && got.row[k].share == 1 &&
                  got.row[k].elsewhere <= (alone ? 0 : c->elsewhere),
              "%s on %s: off by %g of %g, %u nodes left, %u on the cpu, share %g: %s", c->name, unit, got.row[k].difference,
              got.row[k].magnitude, got.row[k].left, got.row[k].elsewhere, got.row[k].share, got.row[k].fallbacks);
    check_network_rows_free(&got);
    check_report_free(&report);
    if (chip)
        chip_close(chip);
}

static void check_on(const char *unit, const char *precision)
{
    for (size_t i = 0; i < ARRAY_COUNT(networks); i++)
        check_one(unit, precision, &networks[i]);
}

static void test_golden_outputs(void)
{
    check_on("cpu", NULL);
}

static void test_golden_outputs_on_gpu(void)
{
    check_on("gpu", NULL);
    check_on("gpu", "f16");
}

static void test_golden_outputs_on_amx(void)
{
    check_on("amx", NULL);
}

/* ONNX's own tests of operators. Each is one node; what no kernel computes would be skipped. */
static const char *const operators[] = {
#include "tests/sim/prove/network_operators.inc"
};

/* These cases of a folder are computed whole by kernels of the unit, or of cores where it has none. */
static void check_cases(const char *folder, const char *unit, const char *const *names, size_t count)
{
    const struct net_open_options options = {.level = 2};
    struct check_report report = {0};
    struct check_network_rows got = {.row = NULL};
    struct orch_error error = {0};
    struct chip *const chip = chip_open(db, "m1", NULL, &error);
    const struct run_request request = {.chip = chip, .unit = unit, .mode = RUN_FUNCTIONAL};
    CHECK(chip && check_networks(folder, names, count, &options, &request, &report, &got, &error), "%s", error.text);
    for (size_t k = 0; k < got.count; k++)
        CHECK(got.row[k].right && got.row[k].kernels > 0 && got.row[k].left == 0, "%s: off by %g, %u kernels: %s",
              got.row[k].name, got.row[k].difference, got.row[k].kernels, got.row[k].fallbacks);
    CHECK(got.count == count, "%zu of %zu by kernels", got.count, count);
    check_network_rows_free(&got);
    check_report_free(&report);
    if (chip)
        chip_close(chip);
}

/* Of opsets that Debian's tests do not have yet, against onnxruntime. */
static const char *const newer[] = {"bits_and_remainders", "dynamic_quant_unsigned", "layernorm_moments", "reduce_apart",
                                    "attention24_no_keys", "attention24_products",   "rnn_both_ways"};

static void check_operators(const char *unit)
{
    static const char *const folder = "/usr/share/libonnx-testdata/data/node";
    struct stat unused;
    check_cases(ORCHARD_SOURCE_DIR "/tests/golden/exporters", unit, newer, ARRAY_COUNT(newer));
    if (stat(folder, &unused) == 0)
        check_cases(folder, unit, operators, ARRAY_COUNT(operators));
    else
        suite_skip("no tests of ONNX");
}

static void test_operators(void)
{
    check_operators("cpu");
}

static void test_operators_on_gpu(void)
{
    check_operators("gpu");
}

static void test_operators_on_amx(void)
{
    check_operators("amx");
}

/* The kernel of a line of the placement, as a workload: behind the name of its variant. */
static const char *workload_of(const struct run_placement *p)
{
    const char *const space = strchr(p->kernel, ' ');
    return space ? space + 1 : "";
}

/* The network takes as long as its kernels, and each of them as long as it takes alone on generated values. Windows at the edges
 * of pools branch by values. */
static void test_times_are_those_of_kernels(void)
{
    const char *const folder = suite_shared("models");
    char path[PATH_MAX], name[64];
    double seconds = 0, joules = 0;
    if (!folder) {
        suite_skip("no folder of models");
        return;
    }
    snprintf(path, sizeof path, "%s/mnist_8/model.onnx", folder);
    struct outcome whole = run_on(db, "m1", path, (struct run_request){.unit = "cpu"});
    CHECK(whole.ok, "%s", whole.error.text);
    for (size_t k = 0; whole.ok && k < whole.result.placement.count; k++) {
        const struct run_placement *const p = &whole.result.placement.item[k];
        snprintf(name, sizeof name, RUN_NETWORK_SECONDS, k + 1);
        const double part = run_values_get(&whole.result.counters, name);
        if (strcmp(p->unit, "cpu") != 0) {
            CHECK(isnan(part), "%s of the %s has a time", p->op, p->unit);
            continue;
        }
        struct outcome alone = run_on(db, "m1", workload_of(p), (struct run_request){.unit = "cpu"});
        const double limit = strncmp(workload_of(p), "pool:", 5) == 0 ? 0.5 : 0.02;
        CHECK(alone.ok && fabs(alone.result.seconds / part - 1) < limit, "%s: %g s alone, %g s in the network", p->kernel,
              alone.result.seconds, part);
        seconds += part;
        snprintf(name, sizeof name, RUN_NETWORK_JOULES, k + 1);
        joules += run_values_get(&whole.result.counters, name);
        run_result_free(&alone.result);
    }
    CHECK(fabs(seconds / whole.result.seconds - 1) < 1e-9, "%g s, its kernels %g s", whole.result.seconds, seconds);
    CHECK(fabs(joules / whole.result.joules - 1) < 1e-3, "%g J, its kernels %g J", whole.result.joules, joules);
    CHECK(whole.result.native_mac_share == 1 && whole.result.macs == 786560, "%g of %g", whole.result.native_mac_share,
          whole.result.macs);
    run_result_free(&whole.result);
}

/* On the GPU the kernels are in one command buffer, whose costs come once; timing without values gives the same time, and so does
 * each kernel alone. Small pools and products of few rows depend on what their buffers share in caches. */
static void test_one_command_buffer(void)
{
    const char *const folder = suite_shared("models");
    char path[PATH_MAX], name[64];
    double device = 0, joules = 0;
    if (!folder) {
        suite_skip("no folder of models");
        return;
    }
    snprintf(path, sizeof path, "%s/mnist_8/model.onnx", folder);
    struct outcome whole = run_on(db, "m1", path, (struct run_request){.unit = "gpu"});
    struct outcome alone = run_on(db, "m1", "softmax:1x10", (struct run_request){.unit = "gpu"});
    struct outcome timed = run_on(db, "m1", path, (struct run_request){.unit = "gpu", .mode = RUN_TIMING});
    CHECK(whole.ok && alone.ok && timed.ok, "%s%s%s", whole.error.text, alone.error.text, timed.error.text);
    for (size_t k = 0; whole.ok && k < whole.result.placement.count; k++) {
        const struct run_placement *const p = &whole.result.placement.item[k];
        snprintf(name, sizeof name, RUN_NETWORK_SECONDS, k + 1);
        const double part = run_values_get(&whole.result.counters, name);
        if (strcmp(p->unit, "gpu") != 0)
            continue;
        device += part;
        snprintf(name, sizeof name, RUN_NETWORK_JOULES, k + 1);
        joules += run_values_get(&whole.result.counters, name);
    }
    CHECK(run_values_get(&whole.result.counters, "network.command_buffers") == 1 &&
              whole.result.overhead_seconds == alone.result.overhead_seconds,
          "%g s of costs, one kernel has %g s", whole.result.overhead_seconds, alone.result.overhead_seconds);
    CHECK(fabs(device / whole.result.device_seconds - 1) < 1e-9 &&
              fabs(whole.result.seconds - whole.result.device_seconds - whole.result.overhead_seconds) < 1e-12,
          "kernels take %g s, the device %g s of %g s", device, whole.result.device_seconds, whole.result.seconds);
    CHECK(joules < whole.result.joules, "kernels take %g J of %g J", joules, whole.result.joules);
    CHECK(fabs(timed.result.device_seconds / whole.result.device_seconds - 1) < 0.05, "%g s with values, %g s without",
          whole.result.device_seconds, timed.result.device_seconds);
    run_result_free(&whole.result);
    run_result_free(&alone.result);
    run_result_free(&timed.result);
}

/* A network composed of its kernels' characteristics, which know no values, takes as long and as many joules as the network that
 * was executed. */
static void test_composed(void)
{
    static const char *const units[] = {"cpu", "amx", "gpu", "ane", "auto"};
    const char *const folder = suite_shared("models");
    char path[PATH_MAX];
    if (!folder) {
        suite_skip("no folder of models");
        return;
    }
    snprintf(path, sizeof path, "%s/bert_tiny_random/model.onnx", folder);
    for (size_t u = 0; u < ARRAY_COUNT(units); u++) {
        struct outcome whole = run_on(db, "m1", path, (struct run_request){.unit = units[u]});
        struct outcome composed = run_on(db, "m1", path, (struct run_request){.unit = units[u], .detail = "op"});
        const struct run_result *const w = &whole.result, *const c = &composed.result;
        CHECK(whole.ok && composed.ok && strcmp(c->detail, "op") == 0, "%s%s", whole.error.text, composed.error.text);
        CHECK(fabs(c->seconds / w->seconds - 1) < 0.03 && fabs(c->device_seconds / w->device_seconds - 1) < 0.03 &&
                  c->overhead_seconds == w->overhead_seconds,
              "%s: composed %g s (%g s busy), executed %g s (%g s)", units[u], c->seconds, c->device_seconds, w->seconds,
              w->device_seconds);
        CHECK(fabs(c->joules / w->joules - 1) < 0.03 && c->native_mac_share == w->native_mac_share && c->macs == w->macs,
              "%s: composed %g J, executed %g J", units[u], c->joules, w->joules);
        run_result_free(&whole.result);
        run_result_free(&composed.result);
    }
}

/* Each operator by the unit that is predicted to be done first: no worse than half as long again as the best of the units alone,
 * which is what predictions are off by; the costs of handing over keep small networks off the GPU. */
static void test_auto(void)
{
    static const char *const names[] = {"mnist_8", "bert_tiny_random", "llama_tiny_random"};
    static const char *const units[] = {"cpu", "amx", "gpu"};
    const char *const folder = suite_shared("models");
    char path[PATH_MAX];
    if (!folder) {
        suite_skip("no folder of models");
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        double best = INFINITY, least = INFINITY;
        snprintf(path, sizeof path, "%s/%s/model.onnx", folder, names[i]);
        struct outcome chosen = run_on(db, "m1", path, (struct run_request){.unit = "auto"});
        CHECK(chosen.ok && strcmp(chosen.result.unit, "auto") == 0, "%s: %s", names[i], chosen.error.text);
        for (size_t u = 0; u < ARRAY_COUNT(units); u++) {
            char counter[64];
            struct outcome alone = run_on(db, "m1", path, (struct run_request){.unit = units[u]});
            snprintf(counter, sizeof counter, RUN_NETWORK_PREDICTED, units[u]);
            const double predicted = run_values_get(&chosen.result.counters, counter);
            CHECK(alone.ok && predicted > 0.4 * alone.result.seconds && predicted < 2.5 * alone.result.seconds,
                  "%s on %s: predicted %g s, took %g s", names[i], units[u], predicted, alone.result.seconds);
            best = fmin(best, alone.result.seconds);
            least = fmin(least, predicted);
            run_result_free(&alone.result);
        }
        snprintf(path, sizeof path, RUN_NETWORK_PREDICTED, "auto");
        CHECK(run_values_get(&chosen.result.counters, path) <= least * (1 + 1e-9), "%s: predicted %g s, a unit alone %g s",
              names[i], run_values_get(&chosen.result.counters, path), least);
        CHECK(chosen.result.seconds < 1.5 * best, "%s: %g s, a unit alone %g s", names[i], chosen.result.seconds, best);
        run_result_free(&chosen.result);
    }
}

static bool all_on(const struct run_result *r, const char *unit, const char *or_else)
{
    for (size_t k = 0; k < r->placement.count; k++) {
        const char *const got = r->placement.item[k].unit;
        if (strcmp(got, RUN_NETWORK_VIEW) != 0 && strcmp(got, unit) != 0 && strcmp(got, or_else) != 0)
            return false;
    }
    return true;
}

/* Rules of thumb that leave no choice are the units alone, to the bit; the class of a network of convolutions is the Neural
 * Engine's. */
static void test_policies(void)
{
    static const struct {
        const char *policy, *unit, *or_else;
    } rules[] = {{"size:0:0", "gpu", "gpu"}, {"size:1e9:1e9", "amx", "cpu"}, {"class", "ane", "ane"}};
    const char *const folder = suite_shared("models");
    char path[PATH_MAX];
    if (!folder) {
        suite_skip("no folder of models");
        return;
    }
    snprintf(path, sizeof path, "%s/mnist_8/model.onnx", folder);
    for (size_t i = 0; i < ARRAY_COUNT(rules); i++) {
        struct outcome routed = run_on(db, "m1", path, (struct run_request){.unit = "auto", .policy = rules[i].policy});
        struct outcome alone = run_on(db, "m1", path, (struct run_request){.unit = rules[i].unit});
        CHECK(routed.ok && alone.ok, "%s%s", routed.error.text, alone.error.text);
        CHECK(all_on(&routed.result, rules[i].unit, rules[i].or_else), "%s: on other units", rules[i].policy);
        CHECK(routed.result.checksum.count == 1 &&
                  routed.result.checksum.item[0].fnv1a64 == alone.result.checksum.item[0].fnv1a64,
              "%s: other results", rules[i].policy);
        CHECK(routed.result.seconds == alone.result.seconds, "%s: %g s, %s alone %g s", rules[i].policy, routed.result.seconds,
              rules[i].unit, alone.result.seconds);
        run_result_free(&routed.result);
        run_result_free(&alone.result);
    }
}

/* In f16; what the engine's library lacks (gather, operands that are repeated) is left to the cores. */
static void test_golden_outputs_on_ane(void)
{
    check_on("ane", NULL);
}

/* Two networks that f16 alone gets wrong: half of their nodes stay in f32, on the engine's behalf by cores. */
static void test_mixed_precision(void)
{
    static const struct network_case poses = {"coreml/pose_hourglass", 1, 0}, text = {"ppocr_det", 0, 120};
    check_one("gpu", "f16", &poses);
    check_one("ane", "f16", &text);
}

static void test_golden_outputs_of_auto(void)
{
    check_on("auto", NULL);
}

static void test_subgraphs(void)
{
    static const struct network_case voice = {"silero_vad_v5", 0, 27};
    check_one("cpu", NULL, &voice);
    check_one("amx", NULL, &voice);
    check_one("gpu", NULL, &voice);
    check_one("gpu", "f16", &voice);
    check_one("ane", NULL, &voice);
}

static const struct suite_test tests[] = {{"golden outputs", test_golden_outputs},
                                          {"golden outputs on the GPU", test_golden_outputs_on_gpu},
                                          {"golden outputs on AMX", test_golden_outputs_on_amx},
                                          {"golden outputs on the Neural Engine", test_golden_outputs_on_ane},
                                          {"mixed precision", test_mixed_precision},
                                          {"ONNX's own tests", test_operators},
                                          {"ONNX's own tests on the GPU", test_operators_on_gpu},
                                          {"ONNX's own tests on AMX", test_operators_on_amx},
                                          {"times are those of the kernels", test_times_are_those_of_kernels},
                                          {"one command buffer", test_one_command_buffer},
                                          {"composed of characteristics", test_composed},
                                          {"each operator by the unit that suits it", test_auto},
                                          {"rules of thumb", test_policies},
                                          {"golden outputs of that", test_golden_outputs_of_auto},
                                          {"nodes of subgraphs", test_subgraphs}};

int main(void)
{
    return example_chips_run("network_units", tests, ARRAY_COUNT(tests), &db);
}
