/* Networks on units that work at the same time: who waits for whom, what that saves, and products that AMX and GPU share. */
#include "sim/network/arrays.h"
#include "sim/network/network.h"
#include "sim/network/onnx/onnx.h"
#include "sim/network/operators/operator.h"
#include "sim/run/network/run_network.h"
#include "sim/run/network/run_network_schedule.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct chip_db *db;

enum { SIDE = 576 };

static net_id add_value(struct net_model *model, const char *name, int64_t rows, int64_t columns)
{
    const int64_t shape[2] = {rows, columns};
    const net_id id = net_value_add(model, name);
    model->value[id].type = NET_F32;
    model->value[id].shape = net_shape_of(shape, 2);
    CHECK(net_graph_add_input(model->graph, id), "an input");
    return id;
}

static net_id add_node(struct net_model *model, const char *op, net_id a, net_id b, const char *name)
{
    struct net_node *const node = net_node_new(name, op, "", 2, 1);
    node->input[0] = a;
    node->input[1] = b;
    node->output[0] = net_value_add(model, name);
    node->row = net_operator_find(op, "");
    node->version = 14;
    CHECK(net_graph_insert(model->graph, model->graph->nodes, node), "a node");
    return node->output[0];
}

/* Two products that do not hang on one another, and their sum. */
static void write_branches(const char *path)
{
    struct orch_error error = {0};
    struct net_model *const model = net_model_new("branches");
    const net_id x = add_value(model, "x", SIDE, SIDE), v = add_value(model, "v", SIDE, SIDE),
                 w = add_value(model, "w", SIDE, SIDE);
    const net_id left = add_node(model, "MatMul", x, v, "left"), right = add_node(model, "MatMul", x, w, "right");
    CHECK(net_model_add_output(model, add_node(model, "Add", left, right, "sum")), "an output");
    CHECK(onnx_export(model, path, &error), "%s", error.text);
    net_model_free(model);
}

static double begin_of(const struct outcome *o, size_t place)
{
    char name[64];
    snprintf(name, sizeof name, RUN_NETWORK_BEGIN, place + 1);
    return counter(o, name);
}

static double end_of(const struct outcome *o, size_t place)
{
    char name[64];
    snprintf(name, sizeof name, RUN_NETWORK_SECONDS, place + 1);
    return begin_of(o, place) + counter(o, name);
}

static size_t place_of(const struct outcome *o, const char *op)
{
    for (size_t i = 0; i < o->result.placement.count; i++)
        if (strstr(o->result.placement.item[i].op, op))
            return i;
    return 0;
}

/* The products begin at the same time on two units, the sum when both are done; the whole is shorter than one after another. */
static void check_overlap(const struct outcome *o, const char *how)
{
    const size_t left = place_of(o, "left"), right = place_of(o, "right"), sum = place_of(o, "sum");
    const double done[2] = {end_of(o, left), end_of(o, right)};
    CHECK(o->ok && o->result.placement.count == 3, "%s: %s", how, o->error.text);
    CHECK(strcmp(o->result.placement.item[left].unit, o->result.placement.item[right].unit) != 0, "%s: both on %s", how,
          o->result.placement.item[left].unit);
    CHECK(begin_of(o, left) < done[1] && begin_of(o, right) < done[0], "%s: one after another", how);
    CHECK(begin_of(o, sum) >= fmax(done[0], done[1]), "%s: the sum begins after %g s, they end after %g and %g", how,
          begin_of(o, sum), done[0], done[1]);
    CHECK(o->result.seconds < 0.9 * counter(o, "network.one_after_another_seconds"), "%s: %g s of %g", how, o->result.seconds,
          counter(o, "network.one_after_another_seconds"));
    double longest = 0, stalls = 0;
    for (size_t i = 0; i < 3; i++)
        longest = fmax(longest, end_of(o, i));
    for (size_t i = 0; i < o->result.stalls.count; i++)
        stalls += o->result.stalls.item[i].value;
    /* Begin and length of a kernel are stored apart, so that their sum is rounded. */
    CHECK(o->result.seconds >= longest * (1 - 1e-12) && stalls < 1.001, "%s: %g s, kernels until %g; stalls %g", how,
          o->result.seconds, longest, stalls);
    CHECK(run_assumption_find(&o->result.assumptions, "schedule") != NULL, "%s: the result says so", how);
}

static void test_branches(void)
{
    char folder[] = "/tmp/orchard-schedule-XXXXXX", model[64];
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(model, sizeof model, "%s/m.onnx", folder);
    write_branches(model);
    struct outcome full = run_on(db, "m1", model, (struct run_request){.unit = "auto", .policy = "list"});
    struct outcome timed = run_on(db, "m1", model, (struct run_request){.unit = "auto", .policy = "list", .mode = RUN_TIMING});
    struct outcome usual = run_on(db, "m1", model, (struct run_request){.unit = "auto"});
    check_overlap(&full, "with values");
    check_overlap(&timed, "without values");
    CHECK(fabs(full.result.seconds / timed.result.seconds - 1) < 0.03, "%g s with values, %g s without", full.result.seconds,
          timed.result.seconds);
    CHECK(usual.ok && full.result.seconds < usual.result.seconds, "%g s, %g s one after another", full.result.seconds,
          usual.result.seconds);
    struct outcome amx = run_on(db, "m1", model, (struct run_request){.unit = "amx", .mode = RUN_TIMING});
    struct outcome gpu = run_on(db, "m1", model, (struct run_request){.unit = "gpu", .mode = RUN_TIMING});
    for (size_t i = 0; i < gpu.result.placement.count; i++) /* the command buffer is the network's: no kernel is held up by it */
        CHECK(strncmp(gpu.result.placement.item[i].why, "bound by gpu.", 13) == 0, "%s: %s", gpu.result.placement.item[i].kernel,
              gpu.result.placement.item[i].why);
    CHECK(usual.result.seconds <= 1.01 * fmin(amx.result.seconds, gpu.result.seconds), "auto %g s, amx %g s, gpu %g s",
          usual.result.seconds, amx.result.seconds, gpu.result.seconds);
    run_result_free(&amx.result);
    run_result_free(&gpu.result);
    run_result_free(&full.result);
    run_result_free(&timed.result);
    run_result_free(&usual.result);
    CHECK(suite_remove(folder), "%s stays", folder);
}

/* ---- who waits for whom ---- */

/* What a schedule needs of a run, on m1. The parts point at one another. */
struct rig {
    struct orch_error error;
    struct chip *chip;
    struct run_result result;
    struct run_request request;
    struct run_network network;
    struct network_schedule *schedule;
    struct network_scheduled outcome;
};

static void begin_rig(struct rig *r)
{
    *r = (struct rig){.schedule = network_schedule_create()};
    r->chip = chip_open(db, "m1", NULL, &r->error);
    r->request.chip = r->chip;
    r->network = (struct run_network){.request = &r->request, .result = &r->result};
    run_result_init(&r->result);
}

static void run_rig(struct rig *r)
{
    CHECK(network_schedule_run(r->schedule, &r->network, &r->outcome, &r->error), "%s", r->error.text);
}

static void end_rig(struct rig *r)
{
    network_schedule_free(r->schedule);
    run_result_free(&r->result);
    chip_close(r->chip);
}

/* A product of two kernels that do not hang on one another but share a unit, one that reads both, and memory that is used again.
 */
static void test_memory(void)
{
    struct rig r;
    float a[8], b[8], c[8];
    struct activity none = {{0}};
    struct lowered_step read_a = {.operands = {.inputs = 1, .result = b, .result_bytes = sizeof b}, .input = {{a, sizeof a}}};
    struct lowered_step half_b = {.operands = {.inputs = 1, .result = c, .result_bytes = sizeof c}, .input = {{b + 4, 16}}};
    struct lowered_step new_b = {.operands = {.inputs = 1, .result = b, .result_bytes = 16}, .input = {{a, sizeof a}}};
    begin_rig(&r);
    struct network_schedule *const schedule = r.schedule;
    const struct network_scheduled *const s = &r.outcome;
    CHECK(network_schedule_add(schedule, PART_CPU, 0, &read_a), "writes b");
    CHECK(network_schedule_add(schedule, PART_AMX, 1, &half_b), "reads a part of b");
    CHECK(network_schedule_add(schedule, PART_CPU, 2, &new_b), "writes another part of b");
    network_schedule_begin(schedule, b, sizeof b);
    CHECK(network_schedule_add(schedule, PART_GPU, 3, &read_a), "another tensor where b was");
    for (size_t i = 0; i < 4; i++)
        network_schedule_took(schedule, i, 1e-3, &none);
    run_rig(&r);
    const struct outcome o = {.result = r.result, .ok = true};
    CHECK(begin_of(&o, 0) == 0 && fabs(begin_of(&o, 1) - 1e-3) < 1e-9 && fabs(begin_of(&o, 2) - 1e-3) < 1e-9, "%g %g %g",
          begin_of(&o, 0), begin_of(&o, 1), begin_of(&o, 2));
    CHECK(begin_of(&o, 3) < 0.5e-3 && s->command_buffers == 1, "the GPU begins after %g s", begin_of(&o, 3));
    CHECK(fabs(s->busy_ns - 2e6) < 1 && s->lost_ns == 0, "%g ns busy, %g ns lost", s->busy_ns, s->lost_ns);
    end_rig(&r);
}

/* Two kernels that each move as much as DRAM can take twice as long beside one another. */
static void test_sharing(void)
{
    struct rig r;
    double peak_GBps;
    float a[8], b[8], c[8];
    struct activity stream = {{0}};
    const struct lowered_step first = {.operands = {.inputs = 1, .result = b, .result_bytes = sizeof b},
                                       .input = {{a, sizeof a}}};
    const struct lowered_step second = {.operands = {.inputs = 1, .result = c, .result_bytes = sizeof c},
                                        .input = {{a, sizeof a}}};
    begin_rig(&r);
    struct network_schedule *const schedule = r.schedule;
    const struct network_scheduled *const s = &r.outcome;
    CHECK(chip_number(r.chip, "memory_peak_GBps", &peak_GBps, &r.error), "%s", r.error.text);
    stream.count[ACT_DRAM_READ_BYTES] = (uint64_t)(peak_GBps * 1e6); /* a millisecond's worth */
    CHECK(network_schedule_add(schedule, PART_CPU, 0, &first) && network_schedule_add(schedule, PART_AMX, 1, &second), "kernels");
    network_schedule_took(schedule, 0, 1e-3, &stream);
    network_schedule_took(schedule, 1, 1e-3, &stream);
    run_rig(&r);
    CHECK(fabs(s->end_ns / 2e6 - 1) < 0.02 && fabs(s->lost_ns / 2e6 - 1) < 0.02, "%g ns, %g ns lost", s->end_ns, s->lost_ns);
    end_rig(&r);
}

/* A request to the Neural Engine is one item: it begins when the GPU's buffer has completed and the request is made, its kernels
 * follow one another, and who reads the result of one waits for all. */
static void test_request(void)
{
    struct rig r;
    double complete_us;
    float a[8], b[8], c[8], d[8], e[8];
    struct activity none = {{0}};
    struct lowered_step step[4] = {{.operands = {.inputs = 1, .result = b, .result_bytes = sizeof b}, .input = {{a, sizeof a}}},
                                   {.operands = {.inputs = 1, .result = c, .result_bytes = sizeof c}, .input = {{b, sizeof b}}},
                                   {.operands = {.inputs = 1, .result = d, .result_bytes = sizeof d}, .input = {{c, sizeof c}}},
                                   {.operands = {.inputs = 1, .result = e, .result_bytes = sizeof e}, .input = {{c, sizeof c}}}};
    begin_rig(&r);
    r.network.request_ns = 1e5;
    CHECK(chip_number(r.chip, "gpu.round_trip_us", &complete_us, &r.error), "%s", r.error.text);
    CHECK(network_schedule_add(r.schedule, PART_GPU, 0, &step[0]) &&
              network_schedule_add_to_request(r.schedule, true, 1, &step[1]) &&
              network_schedule_add_to_request(r.schedule, false, 2, &step[2]) &&
              network_schedule_add(r.schedule, PART_CPU, 3, &step[3]),
          "kernels");
    CHECK(run_values_set(&r.result.counters, "network.kernel2.seconds", 2e-4) &&
              run_values_set(&r.result.counters, "network.kernel3.seconds", 3e-4),
          "the kernels of the request");
    network_schedule_took(r.schedule, 0, 1e-3, &none);
    network_schedule_took(r.schedule, 1, 5e-4, &none);
    network_schedule_took(r.schedule, 3, 1e-3, &none);
    run_rig(&r);
    const struct outcome o = {.result = r.result, .ok = true};
    CHECK(fabs(begin_of(&o, 1) - (end_of(&o, 0) + 1e-6 * complete_us + 1e-4)) < 1e-9, "the GPU until %g s, the request from %g s",
          end_of(&o, 0), begin_of(&o, 1));
    CHECK(fabs(begin_of(&o, 2) - begin_of(&o, 1) - 2e-4) < 1e-9 && fabs(begin_of(&o, 3) - begin_of(&o, 1) - 5e-4) < 1e-9,
          "%g, %g, %g s", begin_of(&o, 1), begin_of(&o, 2), begin_of(&o, 3));
    CHECK(fabs(1e-9 * r.outcome.end_ns - end_of(&o, 3)) < 1e-9, "%g ns", r.outcome.end_ns);
    end_rig(&r);
}

/* ---- one product on two units ---- */

enum { M = 224, N = 96, K = 160 };

static struct net_array *numbers(int64_t rows, int64_t columns, uint64_t seed, const char *path)
{
    struct orch_error error = {0};
    const int64_t shape[2] = {rows, columns};
    struct net_array *const a = net_array_new(NET_F32, shape, 2, &error);
    for (int64_t k = 0; a && k < a->count; k++)
        ((float *)a->data)[k] = (float)(suite_random(&seed) % 2001) / 1000 - 1;
    CHECK(a && net_array_save(path, a, &error), "%s", error.text);
    return a;
}

/* Each element is a sum of K products in f32: off by K roundings of the sum of their magnitudes at most. */
static void check_product(const struct net_array *a, const struct net_array *b, const struct net_array *c, const char *how)
{
    const float *const x = a->data, *const y = b->data, *const z = c->data;
    size_t wrong = 0;
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            double sum = 0, size = 0;
            for (int64_t k = 0; k < K; k++) {
                sum += (double)x[i * K + k] * y[k * N + j];
                size += fabs((double)x[i * K + k] * y[k * N + j]);
            }
            wrong += !(fabs(z[i * N + j] - sum) <= K * 0x1p-24 * size);
        }
    CHECK(wrong == 0, "%s: %zu of %d numbers", how, wrong, M * N);
}

/* What is predicted of both units together is what they take: neither waits for the other, and the command buffer completes once.
 */
static void test_split_prediction(void)
{
    struct outcome o = run_on(db, "m1", "gemm:384x384x384", (struct run_request){.unit = "auto", .policy = "split:0.4"});
    const double predicted = counter(&o, "network.predicted.auto.seconds"), seconds = o.result.seconds;
    CHECK(o.ok && o.result.placement.count == 2 && fabs(predicted / seconds - 1) < 0.15, "%g s predicted, %g s taken: %s",
          predicted, seconds, o.error.text);
    run_result_free(&o.result);
}

static void test_split(void)
{
    static const char *const policies[] = {"split:0.3", "split:0.5", "split"};
    char folder[] = "/tmp/orchard-split-XXXXXX", a_text[64], b_text[64], c_path[64];
    struct orch_error error = {0};
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(a_text, sizeof a_text, "a=%s/a.npy", folder);
    snprintf(b_text, sizeof b_text, "b=%s/b.npy", folder);
    snprintf(c_path, sizeof c_path, "%s/c.npy", folder);
    struct net_array *const a = numbers(M, K, 1, a_text + 2), *const b = numbers(K, N, 2, b_text + 2);
    const char *const inputs[2] = {a_text, b_text};
    for (size_t i = 0; i < ARRAY_COUNT(policies); i++) {
        struct outcome o =
            run_on(db, "m1", "gemm:224x96x160",
                   (struct run_request){
                       .unit = "auto", .policy = policies[i], .inputs = inputs, .input_count = 2, .output_folder = folder});
        struct net_array *const c = o.ok ? net_array_load(c_path, "c", &error) : NULL;
        CHECK(c != NULL, "%s: %s%s", policies[i], o.error.text, error.text);
        if (c)
            check_product(a, b, c, policies[i]);
        if (o.ok && i < 2)
            CHECK(o.result.placement.count == 2 && strcmp(o.result.placement.item[0].unit, "gpu") == 0 &&
                      strcmp(o.result.placement.item[1].unit, "amx") == 0,
                  "%s: %zu kernels", policies[i], o.result.placement.count);
        net_array_release(c);
        run_result_free(&o.result);
    }
    struct outcome o = run_on(db, "m1", "gemm:8x8x8,ta=1", (struct run_request){.unit = "auto", .policy = "split"});
    CHECK(!o.ok && o.error.exit_code == ORCH_USAGE && strstr(o.error.text, "cannot be split"), "%s", o.error.text);
    run_result_free(&o.result);
    net_array_release(a);
    net_array_release(b);
    CHECK(suite_remove(folder), "%s stays", folder);
}

/* A large one is done sooner than by either unit alone. */
static void test_gain(void)
{
    static const char product[] = "gemm:960x960x960";
    struct outcome both = run_on(db, "m1", product, (struct run_request){.unit = "auto", .policy = "split", .mode = RUN_TIMING});
    struct outcome amx = run_on(db, "m1", product, (struct run_request){.unit = "amx", .mode = RUN_TIMING});
    struct outcome gpu = run_on(db, "m1", product, (struct run_request){.unit = "gpu", .mode = RUN_TIMING});
    CHECK(both.ok && amx.ok && gpu.ok && both.result.seconds < 0.8 * fmin(amx.result.seconds, gpu.result.seconds),
          "%g s together, %g s and %g s alone: %s", both.result.seconds, amx.result.seconds, gpu.result.seconds, both.error.text);
    /* Two units at work count once, and draw more than their mean with the waiting in it. */
    CHECK(both.result.device_seconds < both.result.seconds && both.result.watts_avg < both.result.watts_peak,
          "busy for %g of %g s, %g W, %g W at the most", both.result.device_seconds, both.result.seconds, both.result.watts_avg,
          both.result.watts_peak);
    run_result_free(&both.result);
    run_result_free(&amx.result);
    run_result_free(&gpu.result);
}

/* ---- the Neural Engine among the units ---- */

/* Sums of products of numbers that are rounded to f16 once each, and of the results. */
static void check_sums(const struct net_array *x, const struct net_array *v, const struct net_array *w,
                       const struct net_array *sum)
{
    const float *const a = x->data, *const b = v->data, *const c = w->data, *const got = sum->data;
    size_t wrong = 0;
    for (int64_t i = 0; i < SIDE; i += 7)
        for (int64_t j = 0; j < SIDE; j++) {
            double exact = 0, size = 0;
            for (int64_t k = 0; k < SIDE; k++) {
                exact += (double)a[i * SIDE + k] * (b[k * SIDE + j] + (double)c[k * SIDE + j]);
                size += fabs((double)a[i * SIDE + k]) * (fabs((double)b[k * SIDE + j]) + fabs((double)c[k * SIDE + j]));
            }
            wrong += !(fabs(got[i * SIDE + j] - exact) <= 4 * 0x1p-11 * size);
        }
    CHECK(wrong == 0, "%zu numbers", wrong);
}

/* In f16 auto gives the products to the Neural Engine where that is done first, with the right values; in f32 never. */
static void test_engine(void)
{
    char folder[] = "/tmp/orchard-engine-XXXXXX", model[64], out[64], text[3][64];
    const char *inputs[3];
    struct net_array *number[3];
    struct orch_error error = {0};
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(model, sizeof model, "%s/m.onnx", folder);
    snprintf(out, sizeof out, "%s/sum.npy", folder);
    write_branches(model);
    for (unsigned i = 0; i < 3; i++) {
        inputs[i] = text[i];
        snprintf(text[i], sizeof text[i], "%c=%s/%u.npy", "xvw"[i], folder, i);
        number[i] = numbers(SIDE, SIDE, i + 1, text[i] + 2);
    }
    struct outcome o = run_on(db, "m2", model,
                              (struct run_request){.unit = "auto",
                                                   .precision = "f16",
                                                   .mode = RUN_FUNCTIONAL,
                                                   .inputs = inputs,
                                                   .input_count = 3,
                                                   .output_folder = folder});
    struct net_array *const sum = o.ok ? net_array_load(out, "sum", &error) : NULL;
    CHECK(sum && strcmp(o.result.placement.item[place_of(&o, "left")].unit, "ane") == 0, "%s%s", o.error.text, error.text);
    if (sum)
        check_sums(number[0], number[1], number[2], sum);
    net_array_release(sum);
    run_result_free(&o.result);
    struct outcome timed[4];
    static const char *const units[4] = {"auto", "hybrid", "ane", "gpu"};
    for (unsigned i = 0; i < 4; i++) {
        timed[i] = run_on(db, "m2", model, (struct run_request){.unit = units[i], .precision = "f16", .mode = RUN_TIMING});
        CHECK(timed[i].ok, "%s: %s", units[i], timed[i].error.text);
    }
    for (unsigned i = 0; i < 2; i++)
        CHECK(timed[i].result.seconds <= 1.01 * fmin(timed[2].result.seconds, timed[3].result.seconds), "%s %g s, ane %g, gpu %g",
              units[i], timed[i].result.seconds, timed[2].result.seconds, timed[3].result.seconds);
    for (unsigned i = 0; i < 4; i++)
        run_result_free(&timed[i].result);
    for (unsigned i = 0; i < 3; i++)
        net_array_release(number[i]);
    struct outcome f32 = run_on(db, "m2", model, (struct run_request){.unit = "auto", .mode = RUN_TIMING});
    for (size_t i = 0; i < f32.result.placement.count; i++)
        CHECK(strcmp(f32.result.placement.item[i].unit, "ane") != 0, "%s in f32", f32.result.placement.item[i].op);
    run_result_free(&f32.result);
    CHECK(suite_remove(folder), "%s stays", folder);
}

static const struct suite_test tests[] = {{"a request to the Neural Engine is one item", test_request},
                                          {"the Neural Engine takes part in f16", test_engine},
                                          {"who reads waits for who wrote there", test_memory},
                                          {"units that share DRAM slow each other", test_sharing},
                                          {"branches run at the same time", test_branches},
                                          {"a product that two units share is right", test_split},
                                          {"what is predicted of a split product", test_split_prediction},
                                          {"and done sooner", test_gain}};

int main(void)
{
    return example_chips_run("network_schedule", tests, ARRAY_COUNT(tests), &db);
}
