/* Settings of a study: their JSON text, the names of keys, and what they change. */
#include "tests/sim/study_example.h"

static void test_settings_as_json(void)
{
    struct study_setting s = {0};
    CHECK(study_setting_set(&s, "workload", "gemm:64x64x64"), "set");
    CHECK(study_setting_set(&s, "gpu_max_mhz", "1278"), "set");
    CHECK(study_setting_set(&s, "dram.latency_ns", "9.75e1"), "set");
    CHECK(study_setting_set(&s, "cpu_p.clock_ghz", "[3.2,3.0]"), "set");
    CHECK(study_setting_set(&s, "amx.clock_ghz", "3.2GHz"), "set");
    CHECK(study_setting_set(&s, "gpu_max_mhz", "1300"), "replaced");
    CHECK(s.count == 5 && strcmp(study_setting_get(&s, "gpu_max_mhz"), "1300") == 0, "one value a key");
    CHECK(study_setting_get(&s, "chip") == NULL, "not set");
    char *const json = study_setting_json(&s);
    CHECK(json && strcmp(json, "{\"amx.clock_ghz\":\"3.2GHz\",\"cpu_p.clock_ghz\":\"[3.2,3.0]\",\"dram.latency_ns\":9.75e1,"
                               "\"gpu_max_mhz\":1300,\"workload\":\"gemm:64x64x64\"}") == 0,
          "%s", json ? json : "no memory");
    free(json);
    study_setting_free(&s);
    CHECK(s.count == 0 && s.key == NULL, "empty");
}

static void test_keys(void)
{
    struct orch_error error = {0};
    CHECK(study_key_check("power-cap", &error) && study_key_check("gpu_cores", &error) &&
              study_key_check("dram.latency_ns", &error),
          "%s", error.text);
    CHECK(study_key_is_chip("gpu_cores") && !study_key_is_chip("unit"), "which are the chip's");
    CHECK(!study_key_check("gpu_corse", &error) && error.exit_code == ORCH_USAGE && strstr(error.text, "gpu_cores"), "%s",
          error.text);
    CHECK(!study_key_check("workloud", &error) && strstr(error.text, "workload"), "%s", error.text);
    CHECK(!study_key_check("xyzzyquux", &error) && !strstr(error.text, "mean"), "%s", error.text);
}

static void test_wrong_settings(void)
{
    static const struct {
        const char *words, *told;
    } bad[] = {
        {"unit=gpuu", "gpu"},          {"gpu_corse=4", "gpu_cores"},
        {"chip=m1-mx", "m1-max"},      {"cores=0", "1..64"},
        {"cores=x", "not a number"},   {"policy=balanced", "device"},
        {"gpu_max_mhz=fast", "fast"},  {"device=macbook-ait", "macbook-air"},
        {"workload=gem:1x1x1", "gem"}, {"device=macbook-air policy=pce", "pace"},
    };
    struct study_example b = study_example_open("gemm:64x64x64", "gpu");
    struct study_answer answer;
    study_answer_init(&answer);
    for (size_t i = 0; study_example_start(&b, NULL) && i < ARRAY_COUNT(bad); i++) {
        struct orch_error error = {0};
        CHECK(!example_ask(&b, bad[i].words, false, &answer, &error) && error.exit_code == ORCH_USAGE &&
                  strstr(error.text, bad[i].told),
              "%s: %s", bad[i].words, error.text);
        study_free(b.study);
        b.study = NULL;
    }
    study_answer_free(&answer);
    study_example_close(&b);
}

static void test_settings_change_answers(void)
{
    struct study_example b = study_example_open("gemm:64x64x64", "gpu");
    struct study_answer plain, fast, amx;
    struct orch_error error = {0};
    study_answer_init(&plain);
    study_answer_init(&fast);
    study_answer_init(&amx);
    if (study_example_start(&b, NULL)) {
        CHECK(example_ask(&b, "", false, &plain, &error) && example_ask(&b, "gpu_max_mhz=2000", false, &fast, &error) &&
                  example_ask(&b, "unit=amx chip=m2-max", false, &amx, &error),
              "%s", error.text);
        CHECK(fast.result.device_seconds < plain.result.device_seconds, "%g < %g", fast.result.device_seconds,
              plain.result.device_seconds);
        CHECK(strcmp(amx.result.unit, "amx") == 0 && strncmp(amx.result.chip, "m2_max", 6) == 0, "%s %s", amx.result.unit,
              amx.result.chip);
        CHECK(plain.result.checksum.count == 0 && plain.result.joules > 0, "timing only, with energy");
    }
    study_answer_free(&plain);
    study_answer_free(&fast);
    study_answer_free(&amx);
    study_example_close(&b);
}

static const struct suite_test tests[] = {
    {"wrong settings are refused by name", test_wrong_settings},
    {"settings change answers", test_settings_change_answers},
    {"settings become JSON with sorted keys, and back", test_settings_as_json},
    {"unknown keys are refused with the nearest name", test_keys},
};
SUITE_MAIN("study settings", tests)
