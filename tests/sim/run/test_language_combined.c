/* Layers on several units: how they are given, sequences that go through them against times by hand, and whole models whose time
 * is that of the units where one has all, and less than the sum where sequences overlap. */
#include "isa/array_count.h"
#include "sim/run/language/language_options.h"
#include "sim/run/language/language_pipeline.h"
#include "tests/sim/run_example.h"
#include "tests/sim/story_example.h"

#include <math.h>

static struct chip_db *db;

static void test_texts(void)
{
    static const char *const good[] = {"gpu=5", "cpu=1,gpu=4", "gpu=1,ane=3,amx=1"}, *const bad[] = {"",
                                                                                                     "gpu",
                                                                                                     "gpu=",
                                                                                                     "gpu=0,cpu=5",
                                                                                                     "gpu=6",
                                                                                                     "gpu=2,cpu=2",
                                                                                                     "gpu=2,gpu=3",
                                                                                                     "cpu=2,amx=3",
                                                                                                     "tpu=5",
                                                                                                     "gpu=5,",
                                                                                                     "gpu=5 ",
                                                                                                     "gpu=-5",
                                                                                                     "gpu=2,ane=2,amx=2",
                                                                                                     "=5",
                                                                                                     "gpu=99999999999999999999",
                                                                                                     "gpu=1,ane=1,amx=1,cpu=2"};
    struct language_shards s;
    struct orch_error error;
    char text[64];
    for (size_t i = 0; i < ARRAY_COUNT(good); i++) {
        CHECK(language_shards_read(good[i], 5, &s, &error), "%s", error.text);
        language_shards_write(&s, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, good[i]);
    }
    CHECK(language_shards_part(&s, 0) == PART_GPU && language_shards_part(&s, 1) == PART_ANE &&
              language_shards_part(&s, 3) == PART_ANE && language_shards_part(&s, 4) == PART_AMX &&
              language_shards_part(&s, 5) == PART_AMX,
          "layers of %s", text);
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
        CHECK(!language_shards_read(bad[i], 5, &s, &error) && error.exit_code == ORCH_USAGE, "'%s' is taken", bad[i]);
}

static double end_of(const struct language_stage *stage, unsigned stages, unsigned sequences, unsigned rounds, double *lost_ns)
{
    struct orch_error error = {0};
    struct chip *const chip = chip_open(db, "m1", &(struct chip_overrides){NULL, 0}, &error);
    double end_ns = NAN;
    CHECK(chip && language_pipeline_run(chip, stage, stages, sequences, rounds, &end_ns, lost_ns, &error), "%s", error.text);
    chip_close(chip);
    return end_ns;
}

/* Units that need no memory: the busiest never waits once the first sequence has reached it. A command buffer is made beside it.
 */
static void test_turns(void)
{
    const struct language_stage stage[] = {{PART_GPU, {.ns = 10}, 0}, {PART_ANE, {.ns = 20}, 0}, {PART_CPU, {.ns = 5}, 0}};
    const struct language_stage late[] = {{PART_GPU, {.ns = 10}, 40}, {PART_CPU, {.ns = 30}, 0}};
    double lost_ns;
    CU_ASSERT_DOUBLE_EQUAL(end_of(stage, 3, 1, 1, &lost_ns), 35, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(end_of(stage, 3, 1, 7, &lost_ns), 7 * 35, 1e-6); /* alone: one after another */
    CU_ASSERT_DOUBLE_EQUAL(end_of(stage, 3, 4, 3, &lost_ns), 10 + 12 * 20 + 5, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(end_of(stage, 3, 4, 100, &lost_ns), 10 + 400 * 20 + 5, 1e-3); /* most rounds are like others */
    CU_ASSERT_DOUBLE_EQUAL(end_of(late, 2, 1, 2, &lost_ns), 2 * 80, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(end_of(late, 2, 8, 1, &lost_ns), 50 + 8 * 30, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(lost_ns, 0, 1e-9);
}

/* Two units that each take all that DRAM gives: as if they took turns. Cores and their AMX block do. */
static void test_shared_memory(void)
{
    struct orch_error error = {0};
    struct chip *const chip = chip_open(db, "m1", &(struct chip_overrides){NULL, 0}, &error);
    struct run_slices memory;
    CHECK(chip && run_slices_open(&memory, chip, &error), "%s", error.text);
    const double full = 1e6 * memory.share.read_gbps;
    const struct language_stage both[] = {{PART_GPU, {.ns = 1e6, .dram_read_bytes = full}, 0},
                                          {PART_ANE, {.ns = 1e6, .dram_read_bytes = full}, 0}},
                                light[] = {{PART_GPU, {.ns = 1e6, .dram_read_bytes = full / 4}, 0},
                                           {PART_ANE, {.ns = 1e6, .dram_read_bytes = full / 4}, 0}},
                                cores[] = {{PART_CPU, {.ns = 1e6}, 0}, {PART_AMX, {.ns = 1e6}, 0}};
    double lost_ns;
    CU_ASSERT_DOUBLE_EQUAL(end_of(both, 2, 2, 20, &lost_ns), 80e6, 1e6);
    CHECK(lost_ns > 70e6, "%g ns lost", lost_ns);
    CU_ASSERT_DOUBLE_EQUAL(end_of(light, 2, 2, 20, &lost_ns), 41e6, 1e5);
    CU_ASSERT_DOUBLE_EQUAL(end_of(cores, 2, 2, 20, &lost_ns), 80e6, 1);
    run_slices_close(&memory);
    chip_close(chip);
}

static struct outcome time_of(const char *unit, const char *layers, unsigned batch)
{
    const struct language_options options = {.prompt = 1, .generate = 4, .batch = batch, .layers = layers};
    struct outcome o = run_on(db, "m1", example_story("f32"),
                              (struct run_request){.unit = unit, .mode = RUN_TIMING, .detail = "op", .language = &options});
    CHECK(o.ok, "%s %s: %s", unit, layers ? layers : "", o.error.text);
    return o;
}

static double decode_of(const struct outcome *o)
{
    return o->result.seconds - o->result.prefill_seconds;
}

/* All layers on one unit take what that takes; parts of them on two take, for one sequence, something between, and for several
 * less than one after another, but no less than one. What is chosen is no slower than that, and than one unit with all. */
static void test_times(void)
{
    if (!example_story("f32"))
        return;
    struct outcome gpu = time_of("gpu", NULL, 0), cpu = time_of("cpu", NULL, 0), all = time_of("combined", "gpu=5", 0),
                   two = time_of("combined", "gpu=3,cpu=2", 0), six = time_of("combined", "gpu=3,cpu=2", 6),
                   chosen = time_of("combined", NULL, 6), side = time_of("cpu", NULL, 6);
    CU_ASSERT_DOUBLE_EQUAL(decode_of(&all) / decode_of(&gpu), 1, 5e-3); /* attention in the middle, or on a line */
    CU_ASSERT_DOUBLE_EQUAL(all.result.prefill_seconds / gpu.result.prefill_seconds, 1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(all.result.joules / gpu.result.joules, 1, 5e-3);
    const double less = fmin(decode_of(&gpu), decode_of(&cpu)), more = fmax(decode_of(&gpu), decode_of(&cpu));
    CHECK(decode_of(&two) > 0.4 * less && decode_of(&two) < more, "%g s, of units %g and %g", decode_of(&two), less, more);
    CHECK(decode_of(&six) < 6 * decode_of(&two) && decode_of(&six) > decode_of(&two), "%g s for six, %g for one", decode_of(&six),
          decode_of(&two));
    CHECK(six.result.joules < 6 * two.result.joules, "%g J for six, %g for one", six.result.joules, two.result.joules);
    CHECK(decode_of(&chosen) <= 1.001 * decode_of(&six) && decode_of(&chosen) <= 1.01 * decode_of(&side),
          "%g s where units are chosen, %g where not, %g on cores", decode_of(&chosen), decode_of(&six), decode_of(&side));
    const struct run_assumption *const layers = run_assumption_find(&chosen.result.assumptions, "layers");
    CHECK(layers && strstr(layers->effect, "="), "%s", layers ? layers->effect : "no layers");
    double parts = 0;
    for (size_t i = 0; i < six.result.joules_by.count; i++)
        parts += six.result.joules_by.item[i].value;
    CU_ASSERT_DOUBLE_EQUAL(parts / six.result.joules, 1, 1e-6);
    struct outcome *const outcomes[] = {&gpu, &cpu, &all, &two, &six, &chosen, &side};
    for (size_t i = 0; i < ARRAY_COUNT(outcomes); i++)
        run_result_free(&outcomes[i]->result);
}

/* The GPU of a chip of two dies works on both, and each reads about half of the weights from the memory of the other. */
static void test_dies(void)
{
    const struct language_options options = {.generate = 1};
    struct outcome o =
        run_on(db, "m1-ultra", "model:gpt2",
               (struct run_request){
                   .unit = "gpu", .mode = RUN_TIMING, .detail = "op", .precision = "q8_0", .language = &options, .threads = 1});
    CHECK(o.ok, "%s", o.error.text);
    double dram = 0, link = 0;
    for (unsigned die = 0; die < 2; die++) {
        static const char *const flows[] = {"dram_read", "dram_write", "link"};
        for (size_t f = 0; f < ARRAY_COUNT(flows); f++) {
            char name[48];
            snprintf(name, sizeof name, "traffic.die%u.%s_bytes", die, flows[f]);
            const double bytes = counter(&o, name);
            *(f == 2 ? &link : &dram) += isnan(bytes) ? 0 : bytes;
        }
    }
    const double weights = counter(&o, LANGUAGE_WEIGHT_BYTES);
    CU_ASSERT_DOUBLE_EQUAL(dram / o.result.dram_bytes, 1, 1e-6);
    CHECK(dram > 0.9 * weights && dram < 1.2 * weights, "%g bytes of DRAM for weights of %g", dram, weights);
    CHECK(link > 0.4 * dram && link < 0.7 * dram, "%g of %g bytes between the dies", link, dram);
    run_result_free(&o.result);
}

static void test_refused(void)
{
    static const struct {
        struct language_options options;
        const char *unit, *workload, *text;
    } rows[] = {{{.layers = "gpu=5", .prompt = 4}, "gpu", "model:llama-7b", "--unit combined"},
                {{.layers = "gpu=5", .prompt = 4}, "combined", "model:llama-7b", "the model has 32 layers"},
                {{.layers = "gpu=30,ane=2", .prompt = 4, .kv_cache = "q8_0"}, "combined", "model:llama-7b", "kv-cache"},
                {{.prefill_unit = "gpu", .prompt = 4}, "combined", "model:llama-7b", "each layer has its unit"},
                {{.prompt = 4}, "combined", "model:t5-small", "has an encoder"}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct outcome o = run_on(db, "m1-max", rows[i].workload,
                                  (struct run_request){.unit = rows[i].unit, .mode = RUN_TIMING, .language = &rows[i].options});
        CHECK(!o.ok && strstr(o.error.text, rows[i].text), "%s: %s", rows[i].text, o.error.text);
        run_result_free(&o.result);
    }
}

static const struct suite_test tests[] = {
    {"layers as text", test_texts},  {"units take turns", test_turns}, {"units share memory", test_shared_memory},
    {"times of models", test_times}, {"two dies", test_dies},          {"what is refused", test_refused}};

int main(void)
{
    return example_chips_run("language combined", tests, ARRAY_COUNT(tests), &db);
}
