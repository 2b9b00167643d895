/* Heat under load: a machine that is always busy is that of a sustained run; half the load is half the work and less heat; what
 * the chip costs is what run says. */
#include "sim/load/load.h"
#include "sim/load/load_heat.h"
#include "sim/load/service.h"
#include "sim/run/run.h"
#include "tests/sim/sustain_example.h"

#include <stdlib.h>

/* One piece of work of the scene: a hundredth of its second. */
static void cost(const void *context, const struct load_work *work, struct load_cost *c)
{
    const struct power_profile *const p = context;
    (void)work;
    memset(c, 0, sizeof *c);
    c->profile = *p;
    c->device_s = p->seconds;
}

static struct power_profile hundredth(const struct power_profile *load)
{
    struct power_profile p = *load;
    p.seconds /= 100;
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        p.running_s[d] /= 100;
        p.shared_running_s[d] /= 100;
        p.event_j[d] /= 100;
    }
    return p;
}

static bool run_load(const struct sustain_scene *s, const struct power_profile *work, double rate, double seconds,
                     struct load_result *r, struct load_heat_summary *summary)
{
    const struct load_heat_setup heat = {.chip = s->chip,
                                         .device = s->setup.device,
                                         .ambient_c = 23,
                                         .policy = GOVERNOR_PERFORMANCE,
                                         .battery_percent = NAN,
                                         .p_cores = 4};
    struct orch_error error = {0};
    const struct arrivals arrivals = {.kind = ARRIVALS_CONSTANT, .rate = rate};
    struct load_setup setup = {.models = 1, .groups = 1, .arrivals = &arrivals, .duration_s = seconds, .seed = 1, .idle_w = NAN};
    setup.scenario = rate > 0 ? LOAD_OPEN : LOAD_SINGLE_STREAM;
    setup.model[0] = (struct load_model){.name = "a", .rule = {.most = 1}, .share = 1};
    setup.group[0] = (struct load_group){.count = 1, .part = PART_CPU, .cost = cost, .context = work};
    setup.unit[PART_CPU] = 1;
    setup.heat = load_heat_open(&heat, &error);
    CHECK(setup.heat != NULL, "%s", error.text);
    const bool ok = setup.heat && load_run(&setup, r, &error);
    CHECK(ok, "%s", error.text);
    if (ok)
        *summary = load_heat_summary(setup.heat);
    load_heat_close(setup.heat);
    return ok;
}

/* Two ways to the same answer: repetitions in the loop of sustained runs, and requests one after another. */
static void test_always_busy(void)
{
    static struct load_result r;
    struct sustain_scene s = sustain_scene_open("m1", "macbook-air");
    const struct power_profile work = hundredth(&s.load);
    struct load_heat_summary heat;
    struct sustain_result sustained;
    double joules = 0;
    s.setup.duration_s = 600;
    if (sustain_scene_run(&s, &sustained) && run_load(&s, &work, 0, 600, &r, &heat)) {
        for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
            joules += sustained.joules[d];
        const double done = (double)r.model[0].done / 100;
        CHECK(fabs(done / sustained.repetitions[0] - 1) < 0.02, "%g done, %g repetitions", done, sustained.repetitions[0]);
        CHECK(fabs(r.joules / joules - 1) < 0.02, "%g J, %g J", r.joules, joules);
        CHECK(fabs(heat.celsius_last - sustained.sample[sustained.samples - 1].mean_c) < 1, "%g C, %g C", heat.celsius_last,
              sustained.sample[sustained.samples - 1].mean_c);
        CHECK(fabs(heat.onset_s - sustained.onset_s) < 5, "clocks fall after %g s, %g s", heat.onset_s, sustained.onset_s);
        CHECK(heat.throttled_s > 100, "%g s", heat.throttled_s);
        sustain_result_free(&sustained);
    }
    load_result_free(&r);
    sustain_scene_close(&s);
}

/* Half the load: half the work, cool enough for full clocks, less than the whole energy and more than that of the work alone. */
static void test_half_busy(void)
{
    static struct load_result whole, half;
    struct sustain_scene s = sustain_scene_open("m1", "macbook-air");
    const struct power_profile work = hundredth(&s.load);
    struct load_heat_summary hot, cool;
    if (run_load(&s, &work, 0, 60, &whole, &hot) && run_load(&s, &work, 50.0, 60, &half, &cool)) {
        CHECK(half.model[0].done >= 2998 && half.model[0].done <= 3000, "%llu", (unsigned long long)half.model[0].done);
        CHECK(cool.celsius_last < hot.celsius_last - 1 && cool.celsius_last > 23, "%g C, %g C", cool.celsius_last,
              hot.celsius_last);
        CHECK(isnan(cool.onset_s) && half.joules < 0.6 * whole.joules && half.joules > 0.4 * whole.joules, "%g J, %g J",
              half.joules, whole.joules);
    }
    load_result_free(&whole);
    load_result_free(&half);
    sustain_scene_close(&s);
}

/* A kernel: what a batch of one costs is what run answers, and joules with those of the idle chip add up to the run's. */
static void test_service_is_run(void)
{
    struct orch_error error = {0};
    struct chip_db *const db = chip_db_open(NULL, &error);
    struct chip *const chip = db ? chip_open(db, "m1", NULL, &error) : NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(chip);
    const struct run_request q = {.chip = chip, .workload = "gemm:64x64x64", .unit = "gpu", .detail = "op", .mode = RUN_TIMING};
    static struct service service;
    const struct service_setup setup = {.run = q, .workload = q.workload, .most = 1, .idle_w = service_idle_watts(chip)};
    struct run_result r;
    struct load_cost cost_of_one;
    run_result_init(&r);
    struct run *const run = run_prepare(&q, &error);
    CHECK(run && run_execute(run, NULL, 1, &r, &error) && service_open(&setup, &service, &error), "%s", error.text);
    service_cost(&service, &(struct load_work){LOAD_BATCH, 1, 0}, &cost_of_one);
    const double seconds = cost_of_one.overhead_s + cost_of_one.device_s;
    CHECK(fabs(seconds / r.seconds - 1) < 1e-12 && fabs(cost_of_one.overhead_s / r.overhead_seconds - 1) < 1e-12, "%g s, %g s",
          seconds, r.seconds);
    CHECK(fabs((cost_of_one.joules + setup.idle_w * seconds) / r.joules - 1) < 1e-12, "%g J", r.joules);
    struct service_setup two = setup;
    two.most = 2;
    CHECK(!service_open(&two, &service, &error) && strstr(error.plain, "max-batch"), "%s", error.text);
    run_free(run);
    run_result_free(&r);
    chip_close(chip);
    chip_db_close(db);
}

/* Between two sizes, on the line; the units of a chip. */
static void test_between_sizes(void)
{
    static struct service s = {.points = 2,
                               .point = {{.size = 2, .cost = {.overhead_s = 1, .device_s = 2, .joules = 4}},
                                         {.size = 6, .cost = {.overhead_s = 1, .device_s = 10, .joules = 8}}}};
    struct load_cost c;
    static const unsigned sizes[] = {1, 2, 3, 6, 9};
    static const double device[] = {2, 2, 4, 10, 10};
    for (unsigned i = 0; i < 5; i++) {
        service_cost(&s, &(struct load_work){LOAD_BATCH, sizes[i], 0}, &c);
        CHECK(fabs(c.device_s - device[i]) < 1e-12 && c.overhead_s == 1, "%u: %g", sizes[i], c.device_s);
    }
    struct orch_error error = {0};
    struct chip_db *const db = chip_db_open(NULL, &error);
    struct chip *const chip = db ? chip_open(db, "m1-max", NULL, &error) : NULL;
    unsigned unit[PART_COUNT];
    CU_ASSERT_PTR_NOT_NULL_FATAL(chip);
    CHECK(service_units(chip, unit, &error) && unit[PART_CPU] == 8 && unit[PART_GPU] == 1 && unit[PART_ANE] == 1 &&
              unit[PART_AMX] == 2,
          "%u cores, %u blocks", unit[PART_CPU], unit[PART_AMX]);
    const double idle = service_idle_watts(chip);
    CHECK(idle > 0 && idle < 5, "%g W", idle);
    chip_close(chip);
    chip_db_close(db);
}

static const struct suite_test tests[] = {{"always busy", test_always_busy},
                                          {"half busy", test_half_busy},
                                          {"a service is a run", test_service_is_run},
                                          {"between sizes", test_between_sizes}};
SUITE_MAIN("load_heat", tests)
