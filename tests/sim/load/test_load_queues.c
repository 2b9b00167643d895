/* Queues under load against closed forms: M/D/1 (Pollaczek and Khinchine), M/M/1, M/D/c by its utilisation, Little's law, and
 * loads that have one possible answer. */
#include "isa/array_count.h"
#include "sim/load/load.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

/* Service times of a test: constant for each sample, with overhead, or at random. */
struct costs {
    double overhead_s, sample_s, batch_s, mean_s;
    uint64_t *random;
};

static void cost(const void *context, const struct load_work *work, struct load_cost *c)
{
    const struct costs *const s = context;
    memset(c, 0, sizeof *c);
    c->overhead_s = s->overhead_s;
    c->device_s = s->batch_s + s->sample_s * work->samples;
    if (work->kind == LOAD_PROMPT)
        c->device_s = 1e-3 * work->tokens;
    if (s->random)
        c->device_s = -s->mean_s * log(((double)(suite_random(s->random) >> 11) + 1) * 0x1p-53);
    c->joules = 2 * (c->overhead_s + c->device_s);
}

static struct load_setup setup_of(const struct costs *costs, const struct arrivals *arrivals)
{
    struct load_setup s = {.models = 1, .groups = 1, .arrivals = arrivals, .duration_s = 2000, .seed = 7, .idle_w = 1};
    s.model[0] = (struct load_model){.name = "a", .rule = {.most = 1}, .share = 1};
    s.group[0] = (struct load_group){.model = 0, .count = 1, .part = PART_GPU, .cost = cost, .context = costs};
    s.unit[PART_GPU] = 1;
    return s;
}

static bool run(const struct load_setup *s, struct load_result *r)
{
    struct orch_error error = {0};
    const bool ok = load_run(s, r, &error);
    CHECK(ok, "%s", error.text);
    return ok;
}

/* Waiting time rho S / (2 (1 - rho)). Waiting times are correlated: the standard error comes from the spread of 20 runs. */
static void waits(bool exponential)
{
    static struct load_result r;
    for (unsigned k = 0; k < 4; k++) {
        const double rho = 0.2 + 0.2 * k, service = 0.01;
        const struct arrivals arrivals = {.kind = ARRIVALS_POISSON, .rate = rho / service};
        const double expected = exponential ? rho * service / (1 - rho) : rho * service / (2 * (1 - rho));
        double sum = 0, squares = 0;
        enum { RUNS = 20 };
        for (unsigned i = 0; i < RUNS; i++) {
            uint64_t random = 1000 + i;
            const struct costs costs = {.sample_s = service, .mean_s = service, .random = exponential ? &random : NULL};
            struct load_setup s = setup_of(&costs, &arrivals);
            s.seed = 100 * k + i + 1;
            if (!run(&s, &r))
                return;
            const double wait = r.model[0].queued_s / (double)r.model[0].began;
            sum += wait;
            squares += wait * wait;
            /* Little: requests that wait = rate of arrivals x their wait. */
            CHECK(fabs(r.waiting / (wait * (double)r.model[0].began / r.seconds) - 1) < 0.01, "%g waiting, %g s", r.waiting,
                  wait);
            load_result_free(&r);
        }
        const double mean = sum / RUNS, error = sqrt((squares / RUNS - mean * mean) / (RUNS - 1));
        CHECK(fabs(mean - expected) < 4 * error && error < 0.05 * expected, "load %.1f: waits %.6f +- %.6f s, expected %.6f", rho,
              mean, error, expected);
    }
}

static void test_constant_service(void)
{
    waits(false);
}

static void test_random_service(void)
{
    waits(true);
}

/* Evenly spaced requests that each take less than the gap never wait; percentiles are all the service time. */
static void test_even_arrivals(void)
{
    static struct load_result r;
    const struct costs costs = {.overhead_s = 0.001, .sample_s = 0.003};
    const struct arrivals arrivals = {.kind = ARRIVALS_CONSTANT, .rate = 100};
    struct load_setup s = setup_of(&costs, &arrivals);
    s.duration_s = 10;
    if (!run(&s, &r))
        return;
    CHECK(r.model[0].done == 1000 - 1 && r.model[0].queued_s == 0, "%llu", (unsigned long long)r.model[0].done);
    CHECK(fabs(load_percentile(&r.model[0].latency, 0.5) - 0.004) < 1e-8 &&
              fabs(load_percentile(&r.model[0].latency, 0.99) - 0.004) < 1e-8,
          "%g", load_percentile(&r.model[0].latency, 0.99));
    CHECK(fabs(r.busy_s[PART_GPU] / r.seconds - 0.3) < 0.001, "%g", r.busy_s[PART_GPU]);
    /* 2 W more at work, 1 W always. */
    CHECK(fabs(r.joules - (10 + 999 * 2 * 0.004)) < 0.01, "%g J", r.joules);
    load_result_free(&r);
}

/* Overhead of one instance passes while another works: two instances on one unit do as much as the unit can. */
static void test_instances_share_a_unit(void)
{
    static struct load_result r;
    const struct costs costs = {.overhead_s = 0.01, .sample_s = 0.01};
    static const double expected[] = {50, 100, 100};
    for (unsigned n = 1; n <= 3; n++) {
        struct load_setup s = setup_of(&costs, NULL);
        s.scenario = LOAD_OFFLINE;
        s.requests = 10000;
        s.group[0].count = n;
        if (!run(&s, &r))
            return;
        CHECK(r.model[0].done == 10000, "%llu", (unsigned long long)r.model[0].done);
        CHECK(fabs((double)r.model[0].samples / r.seconds / expected[n - 1] - 1) < 0.001, "%u instances: %g /s", n,
              (double)r.model[0].samples / r.seconds);
        load_result_free(&r);
    }
}

/* Offline, batches are full, and the time is that of the batches. */
static void test_offline(void)
{
    static struct load_result r;
    const struct costs costs = {.batch_s = 0.01, .sample_s = 0.001};
    struct load_setup s = setup_of(&costs, NULL);
    s.scenario = LOAD_OFFLINE;
    s.requests = 804;
    s.model[0].rule = (struct batch_rule){.most = 8};
    if (!run(&s, &r))
        return;
    CHECK(r.model[0].by_size[8] == 100 && r.model[0].by_size[4] == 1, "%llu", (unsigned long long)r.model[0].by_size[8]);
    CHECK(fabs(r.seconds - (100 * 0.018 + 0.014)) < 1e-9, "%g s", r.seconds);
    load_result_free(&r);
}

/* MLPerf's closed loops: one after another; queries of eight, whose latency is that of the slowest sample. */
static void test_streams(void)
{
    static struct load_result r;
    const struct costs costs = {.sample_s = 0.01};
    struct load_setup s = setup_of(&costs, NULL);
    s.scenario = LOAD_SINGLE_STREAM;
    s.duration_s = 100.005;
    if (!run(&s, &r))
        return;
    CHECK(r.model[0].done == 10000 && fabs(load_percentile(&r.model[0].latency, 0.9) - 0.01) < 1e-8, "%llu",
          (unsigned long long)r.model[0].done);
    load_result_free(&r);
    s.scenario = LOAD_MULTI_STREAM;
    if (!run(&s, &r))
        return;
    CHECK(r.model[0].latency.count == 1250 && fabs(load_percentile(&r.model[0].latency, 0.99) - 0.08) < 1e-7, "%zu queries, %g s",
          r.model[0].latency.count, load_percentile(&r.model[0].latency, 0.99));
    load_result_free(&r);
}

/* A full queue turns requests away: M/D/1 with room for none is Erlang's loss formula, rho / (1 + rho), whatever the service. */
static void test_loss(void)
{
    static struct load_result r;
    const struct costs costs = {.sample_s = 0.01};
    const struct arrivals arrivals = {.kind = ARRIVALS_POISSON, .rate = 100};
    struct load_setup s = setup_of(&costs, &arrivals);
    /* One waits for the unit for no time at all, so that one place is room for none beside the one that is served. */
    s.model[0].rule.queue = 1;
    s.model[0].rule.timeout_s = 1e-9;
    if (!run(&s, &r))
        return;
    const double share = (double)r.model[0].rejected / (double)r.model[0].arrived;
    CHECK(fabs(share - 0.5) < 0.01, "%g are turned away", share);
    load_result_free(&r);
}

/* Sequences: a prompt, then tokens; a second one joins between tokens, or waits for the batch to end. */
static void test_sequences(void)
{
    static struct load_result r;
    const struct costs costs = {.batch_s = 0.01};
    struct arrival item[] = {{0, 0, 1, 20, 11}, {0.055, 0, 1, 10, 3}};
    const struct arrivals arrivals = {.kind = ARRIVALS_TRACE, .item = item, .count = 2, .rate = 1};
    for (unsigned continuous = 0; continuous < 2; continuous++) {
        struct load_setup s = setup_of(&costs, &arrivals);
        s.duration_s = 5;
        s.model[0] = (struct load_model){
            .name = "l", .language = true, .continuous = continuous, .rule = {.most = 4}, .prompt = 1, .generate = 1, .share = 1};
        if (!run(&s, &r))
            return;
        struct load_times *const first = &r.model[0].first_token, *const all = &r.model[0].latency;
        CHECK(r.model[0].tokens == 14 && first->count == 2, "%llu tokens", (unsigned long long)r.model[0].tokens);
        /* Alone: 20 ms prompt, then ten steps of 10 ms until 120 ms. The other one comes at 55 ms. */
        const double expected_first = continuous ? 0.060 + 0.010 - 0.055 : 0.120 + 0.010 - 0.055;
        const double expected_last = continuous ? 0.130 : 0.120; /* its steps are held up by the other's prompt */
        CHECK(fabs(load_percentile(all, continuous ? 0.99 : 0.99) - expected_last) < 1e-6, "%g s", load_percentile(all, 0.99));
        CHECK(fabs(load_percentile(first, 0.99) - fmax(expected_first, 0.02)) < 1e-6, "first token %g s, expected %g",
              load_percentile(first, 0.99), expected_first);
        load_result_free(&r);
    }
}

/* A static batch reads its prompts together, as long as they are in the mean, and ends with the longest of its sequences. */
static void test_static_prompts(void)
{
    static struct load_result r;
    const struct costs costs = {.batch_s = 0.01};
    struct arrival item[] = {{0, 0, 1, 5, 1}, {0.001, 0, 1, 20, 2}, {0.002, 0, 1, 10, 7}};
    const struct arrivals arrivals = {.kind = ARRIVALS_TRACE, .item = item, .count = 3, .rate = 1};
    struct load_setup s = setup_of(&costs, &arrivals);
    s.duration_s = 5;
    s.model[0] = (struct load_model){.name = "l", .language = true, .rule = {.most = 4}, .prompt = 1, .generate = 1, .share = 1};
    if (!run(&s, &r))
        return;
    /* The first is alone until 5 ms; then two prompts of 15 tokens in the mean, and six steps. */
    CHECK(fabs(load_percentile(&r.model[0].first_token, 0.99) - 0.019) < 1e-6 &&
              fabs(load_percentile(&r.model[0].latency, 0.99) - 0.078) < 1e-6,
          "first token after %g s, the end after %g s", load_percentile(&r.model[0].first_token, 0.99),
          load_percentile(&r.model[0].latency, 0.99));
    load_result_free(&r);
}

/* The same seed gives the same answer; another one another. */
static void test_seed(void)
{
    static struct load_result r[3];
    const struct costs costs = {.sample_s = 0.008};
    const struct arrivals arrivals = {.kind = ARRIVALS_POISSON, .rate = 100};
    for (unsigned i = 0; i < 3; i++) {
        struct load_setup s = setup_of(&costs, &arrivals);
        s.seed = i < 2 ? 5 : 6;
        if (!run(&s, &r[i]))
            return;
    }
    CU_ASSERT_TRUE(load_mean(&r[0].model[0].latency) == load_mean(&r[1].model[0].latency));
    CU_ASSERT_TRUE(load_mean(&r[0].model[0].latency) != load_mean(&r[2].model[0].latency));
    for (unsigned i = 0; i < 3; i++)
        load_result_free(&r[i]);
}

static void test_impossible(void)
{
    static struct load_result r;
    const struct costs costs = {.sample_s = 0.008};
    const struct arrivals arrivals = {.kind = ARRIVALS_POISSON, .rate = 100};
    struct orch_error error = {0};
    struct load_setup s = setup_of(&costs, &arrivals);
    s.model[0].rule.preferred[0] = 4;
    s.model[0].rule.preferences = 1;
    CHECK(!load_run(&s, &r, &error) && error.exit_code == ORCH_USAGE && strstr(error.text, "preferred batch size 4"), "%s",
          error.text);
    s = setup_of(&costs, &arrivals);
    s.duration_s = 0;
    CHECK(!load_run(&s, &r, &error) && strstr(error.text, "lasts"), "%s", error.text);
    s = setup_of(&costs, &arrivals);
    s.unit[PART_GPU] = 0;
    CHECK(!load_run(&s, &r, &error) && error.exit_code == ORCH_USAGE, "%s", error.text);
}

static const struct suite_test tests[] = {{"constant service: Pollaczek and Khinchine", test_constant_service},
                                          {"random service: M/M/1", test_random_service},
                                          {"even arrivals", test_even_arrivals},
                                          {"instances share a unit", test_instances_share_a_unit},
                                          {"offline", test_offline},
                                          {"streams", test_streams},
                                          {"loss", test_loss},
                                          {"sequences", test_sequences},
                                          {"prompts of a static batch", test_static_prompts},
                                          {"seeds", test_seed},
                                          {"impossible loads", test_impossible}};
SUITE_MAIN("load_queues", tests)
