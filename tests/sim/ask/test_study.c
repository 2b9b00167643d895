/* Answers of studies against fresh simulations. */
#include "tests/sim/study_example.h"

static void check_kernel(struct study_example *b, const char *read, const char *unread)
{
    struct study_answer plain, other;
    char both[128];
    study_answer_init(&plain);
    study_answer_init(&other);
    example_check_answer(b, "", STUDY_SIMULATED, &plain);
    example_check_answer(b, "", STUDY_KNOWN, &plain);
    CHECK(strcmp(plain.result.detail, "op") == 0 && plain.result.checksum.count == 0, "%s, no values", plain.result.detail);
    example_check_answer(b, unread, STUDY_KNOWN, &other);
    CHECK(other.result.seconds == plain.result.seconds, "%s does not matter", unread);
    example_check_answer(b, read, STUDY_SIMULATED, &other);
    CHECK(other.result.seconds != plain.result.seconds, "%s matters: %.17g", read, plain.result.seconds);
    snprintf(both, sizeof both, "%s %s", read, unread);
    example_check_answer(b, both, STUDY_KNOWN, &other);
    example_check_answer(b, "power.gpu.leakage_w=9", STUDY_KNOWN, &other);
    CHECK(other.result.seconds == plain.result.seconds && other.result.joules != plain.result.joules,
          "energy alone: %.17g, %.17g", plain.result.joules, other.result.joules);
    study_answer_free(&plain);
    study_answer_free(&other);
}

static void test_known_as_fresh(void)
{
    for (size_t i = 0; i < STUDY_KERNELS; i++) {
        struct study_example b = study_example_open(study_kernels[i].workload, study_kernels[i].unit);
        if (study_example_start(&b, NULL))
            check_kernel(&b, study_kernels[i].read, study_kernels[i].unread);
        study_example_close(&b);
    }
}

/* Makes a number of the chip a little larger. NULL when the key has no number. */
static const char *larger(const struct chip *chip, size_t key, char *words, size_t size)
{
    const struct chip_value *v = chip_value_at(chip, key);
    if (!v->known || (v->key->type != CHIP_INT && v->key->type != CHIP_REAL))
        return NULL;
    snprintf(words, size, "%s=%.9g", v->key->name, v->key->type == CHIP_INT ? v->number + 1 : v->number * 1.03);
    return words;
}

/* Changes keys one at a time: a known answer must be what a fresh simulation gives. A kernel reads few keys, so most answers must
 * be known. */
static void test_any_key(void)
{
    const char *const more = getenv("ORCHARD_TEST_KEYS"); /* set = all 1000 keys */
    uint64_t state = 11;
    for (size_t i = 0; i < STUDY_KERNELS; i++) {
        struct study_example b = study_example_open(study_kernels[i].workload, study_kernels[i].unit);
        struct chip *const chip = example_chip(b.chips, "m1", NULL);
        struct study_answer known, fresh;
        struct orch_error error = {0}, again = {0};
        char words[128];
        int hits = 0, asked = 0;
        study_answer_init(&known);
        study_answer_init(&fresh);
        bool ok = chip && study_example_start(&b, NULL) && example_ask(&b, "", false, &known, &error);
        CHECK(ok, "%s", error.text);
        for (size_t k = 0; ok && k < (more ? chip_key_count() : 40); k++) {
            const size_t key = more ? k : suite_random(&state) % chip_key_count();
            if (!larger(chip, key, words, sizeof words))
                continue;
            const bool answered = example_ask(&b, words, false, &known, &error);
            CHECK(example_ask(&b, words, true, &fresh, &again) == answered, "%s %s: %s %s", study_kernels[i].unit, words,
                  error.text, again.text);
            const char *const differs = answered ? example_difference(&known.result, &fresh.result) : NULL;
            CHECK(differs == NULL, "%s %s: %s differs", study_kernels[i].unit, words, differs ? differs : "");
            hits += answered && known.method == STUDY_KNOWN;
            asked += answered;
        }
        CHECK(2 * hits > asked, "%s: %d of %d known", study_kernels[i].unit, hits, asked);
        if (more)
            printf("  %s: %d of %d known\n", study_kernels[i].unit, hits, asked);
        study_answer_free(&known);
        study_answer_free(&fresh);
        chip_close(chip);
        study_example_close(&b);
    }
}

/* Every chip has its own answer when they are asked one after another in one study. */
static void test_every_chip(void)
{
    for (size_t i = 0; i < STUDY_KERNELS; i++) {
        struct study_example b = study_example_open(study_kernels[i].workload, study_kernels[i].unit);
        struct study_answer known, fresh;
        struct orch_error error = {0}, again = {0};
        study_answer_init(&known);
        study_answer_init(&fresh);
        study_example_start(&b, NULL);
        for (size_t c = 0; b.study && c < chip_db_count(b.chips); c++) {
            char words[96];
            snprintf(words, sizeof words, "chip=%s", chip_db_id(b.chips, c));
            const bool answered = example_ask(&b, words, false, &known, &error);
            CHECK(example_ask(&b, words, true, &fresh, &again) == answered, "%s: %s %s", words, error.text, again.text);
            const char *const differs = answered ? example_difference(&known.result, &fresh.result) : NULL;
            CHECK(differs == NULL, "%s %s: %s differs", study_kernels[i].unit, words, differs ? differs : "");
        }
        study_answer_free(&known);
        study_answer_free(&fresh);
        study_example_close(&b);
    }
}

static void test_reads(void)
{
    struct study_example b = study_example_open("gemm:32x32x32", "amx");
    struct study_answer answer;
    struct orch_error error = {0};
    struct study_reads reads;
    bool z = false, leakage = false, gpu = false, pressure = false;
    study_answer_init(&answer);
    if (study_example_start(&b, NULL) && example_ask(&b, "", false, &answer, &error)) {
        study_last_reads(b.study, &reads);
        for (size_t i = 0; i < reads.timing_count; i++) {
            z |= strcmp(reads.timing[i], "amx.z_latency_cycles") == 0;
            gpu |= strncmp(reads.timing[i], "ane", 3) == 0 || strncmp(reads.timing[i], "power.", 6) == 0;
            pressure |= strncmp(reads.timing[i], "cpu_e.dispatch", 14) == 0;
        }
        for (size_t i = 0; i < reads.energy_count; i++)
            leakage |= strcmp(reads.energy[i], "power.leakage_per_k") == 0;
        CHECK(z && leakage && !gpu && !pressure, "what timing and energy read: %zu, %zu", reads.timing_count, reads.energy_count);
    }
    study_answer_free(&answer);
    study_example_close(&b);
}

/* An operator takes as long as a run of the same kernel, whatever the chip. */
static void test_operators_against_runs(void)
{
    static const char *const chips[] = {"m1", "m1-max", "m2-pro", "m3"};
    struct chip_db *const db = example_chips();
    uint64_t state = 7;
    for (int i = 0; db && i < 12; i++) {
        struct orch_error error = {0};
        char workload[48], set[64];
        const bool gpu = suite_random(&state) % 2;
        snprintf(workload, sizeof workload, "gemm:%dx%dx%d", 16 * (1 + (int)(suite_random(&state) % 6)),
                 16 * (1 + (int)(suite_random(&state) % 6)), 16 * (1 + (int)(suite_random(&state) % 6)));
        snprintf(set, sizeof set, "%s=%d", gpu ? "gpu_max_mhz" : "p_max_mhz", 900 + (int)(suite_random(&state) % 900));
        struct chip *const chip = example_chip(db, chips[suite_random(&state) % 4], set);
        struct run_request q = {
            .chip = chip, .workload = workload, .unit = gpu ? "gpu" : "amx", .detail = gpu ? "sampled" : NULL};
        struct run_result whole, op;
        run_result_init(&whole);
        run_result_init(&op);
        struct run *const run = chip ? run_prepare(&q, &error) : NULL;
        CHECK(run && run_execute(run, NULL, 1, &whole, &error), "%s: %s", workload, error.text);
        q.detail = "op";
        struct run *const again = chip ? run_prepare(&q, &error) : NULL;
        CHECK(again && run_execute(again, NULL, 1, &op, &error), "%s: %s", workload, error.text);
        CHECK(fabs(op.seconds / whole.seconds - 1) <= 0.03 && fabs(op.joules / whole.joules - 1) <= 0.03, "%s %s %s: %g s, %g s",
              workload, q.unit, set, op.seconds, whole.seconds);
        CHECK(op.checksum.count == 0 && run_energy(again) != NULL, "no values, but energy");
        run_free(run);
        run_free(again);
        run_result_free(&whole);
        run_result_free(&op);
        chip_close(chip);
    }
    chip_db_close(db);
}

static void test_operators_only(void)
{
    struct chip_db *const db = example_chips();
    struct chip *const chip = example_chip(db, "m1", NULL);
    struct orch_error error = {0};
    struct run_request q = {.chip = chip, .workload = "/proc/self/exe", .detail = "op"};
    CHECK(run_prepare(&q, &error) == NULL && error.exit_code == ORCH_UNMODELLED && strstr(error.text, "not an operator"), "%s",
          error.text);
    q = (struct run_request){.chip = chip, .workload = "gemm:16x16x16", .detail = "op", .mode = RUN_FUNCTIONAL};
    CHECK(run_prepare(&q, &error) == NULL && error.exit_code == ORCH_USAGE, "%s", error.text);
    q = (struct run_request){.chip = chip, .workload = "gemm:16x16x16", .detail = "oop"};
    CHECK(run_prepare(&q, &error) == NULL && strstr(error.text, "did you mean op"), "%s", error.text);
    chip_close(chip);
    chip_db_close(db);
}

static void test_in_a_device(void)
{
    static const char words[] = "device=macbook-air duration=60 ambient=30", hot[] = "device=macbook-air duration=60 ambient=40";
    struct study_example b = study_example_open("gemm:64x64x64", "amx");
    struct study_answer first, second;
    struct orch_error error = {0};
    study_answer_init(&first);
    study_answer_init(&second);
    if (study_example_start(&b, NULL)) {
        CHECK(example_ask(&b, words, false, &first, &error) && first.method == STUDY_SIMULATED, "%s", error.text);
        CHECK(example_ask(&b, hot, false, &second, &error) && second.method == STUDY_KNOWN, "only the room is warmer: %s",
              error.text);
        CHECK(second.result.celsius_max > first.result.celsius_max + 5, "%g, %g", first.result.celsius_max,
              second.result.celsius_max);
        CHECK(example_ask(&b, words, true, &second, &error), "%s", error.text);
        CHECK(first.result.seconds == second.result.seconds && first.result.joules == second.result.joules &&
                  first.result.celsius_max == second.result.celsius_max,
              "as a fresh run: %.17g J, %.17g J", first.result.joules, second.result.joules);
    }
    study_answer_free(&first);
    study_answer_free(&second);
    study_example_close(&b);
}

/* ---- work in other times ---- */

/* What a kernel did costs what its run cost when it is priced where it ran. Somewhere else it costs what a run there costs, up to
 * the traffic between caches that differs. */
static void test_work_is_priced(void)
{
    struct orch_error error = {0};
    struct chip_db *const chips = example_chips();
    const struct study_base base = {.chips = chips, .request = {.seed = 1, .threads = 1, .detail = "op", .mode = RUN_TIMING}};
    struct study *const study = study_create(&base, NULL, &error);
    static const char *const mhz[] = {"1278", "700", "1500"}, *const workloads[] = {"softmax:256x256", "gemm:128x128x128"};
    for (size_t w = 0; w < 2; w++) {
        struct study_work work = {.known = false};
        for (size_t i = 0; i < 3; i++) {
            struct study_setting setting = {0};
            struct study_answer answer;
            double joules = NAN;
            study_answer_init(&answer);
            bool ok = study_setting_set(&setting, "workload", workloads[w]) && study_setting_set(&setting, "unit", "gpu") &&
                      study_setting_set(&setting, "chip", "m1") && study_setting_set(&setting, "gpu_max_mhz", mhz[i]) &&
                      study_evaluate(study, &setting, &answer, &error);
            ok = ok && (i > 0 || study_work(study, &setting, &work, &error));
            const struct run_result *const r = &answer.result;
            ok =
                ok && study_work_joules(study, &work, &setting,
                                        &(struct run_timing_took){r->seconds, r->device_seconds, r->dram_bytes}, &joules, &error);
            CHECK(ok && work.known, "%s", error.text);
            CHECK(fabs(joules / r->joules - 1) <= (i == 0 ? 1e-12 : 0.005), "%s at %s MHz: %g J, priced %g J", workloads[w],
                  mhz[i], r->joules, joules);
            study_answer_free(&answer);
            study_setting_free(&setting);
        }
    }
    struct study_setting amx = {0};
    struct study_work work;
    CU_ASSERT_TRUE(study_setting_set(&amx, "workload", "gemm:64x64x64") && study_setting_set(&amx, "unit", "amx"));
    CU_ASSERT_TRUE(study_work(study, &amx, &work, &error) && !work.known);
    study_setting_free(&amx);
    study_free(study);
    chip_db_close(chips);
}

static const struct suite_test tests[] = {
    {"known answers equal fresh ones", test_known_as_fresh},
    {"known answers equal fresh ones whatever key changes", test_any_key},
    {"every chip has its own answers", test_every_chip},
    {"a study lists the keys that an answer read", test_reads},
    {"operators take as long as runs of their kernels", test_operators_against_runs},
    {"programs are refused as operators", test_operators_only},
    {"known timings serve a machine under other conditions", test_in_a_device},
    {"what a GPU kernel did is priced at other settings", test_work_is_priced},
};
SUITE_MAIN("study", tests)
