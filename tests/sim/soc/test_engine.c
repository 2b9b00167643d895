/* The engine's rules: smallest local time first, dependencies, failures, and who waits for whom in a deadlock. */
#include "sim/soc/engine.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

struct log {
    char order[256];
};

struct fake {
    struct log *log;
    char letter;
    double now, step, end;
    int fails;
};

static double fake_now(void *context)
{
    return ((struct fake *)context)->now;
}

static void fake_start(void *context, double now_ns)
{
    ((struct fake *)context)->now = now_ns;
}

/* Works in steps until it passes the limit, and notes each call. */
static enum engine_progress fake_step(void *context, double limit_ns, struct orch_error *error)
{
    struct fake *f = context;
    strncat(f->log->order, &f->letter, 1);
    if (f->fails) {
        orch_fail(error, ORCH_FAULT, "%c broke", f->letter);
        return ENGINE_FAILED;
    }
    do
        f->now += f->step;
    while (f->now < f->end && f->now <= limit_ns);
    return f->now >= f->end ? ENGINE_DONE : ENGINE_MORE;
}

static struct engine_task task_of(struct fake *f)
{
    return (struct engine_task){
        .name = f->letter == 'a' ? "alpha" : "beta", .now_ns = fake_now, .step = fake_step, .start = fake_start, .context = f};
}

static void test_smallest_time_first(void)
{
    struct log log = {""};
    struct fake a = {&log, 'a', 0, 10, 40, 0}, b = {&log, 'b', 0, 15, 45, 0};
    struct engine *e = engine_create();
    struct engine_task ta = task_of(&a), tb = task_of(&b);
    double end;
    struct orch_error error = {0};
    engine_add(e, &ta, NULL, 0);
    engine_add(e, &tb, NULL, 0);
    CU_ASSERT(engine_run(e, &end, &error));
    CU_ASSERT_EQUAL(end, 45);
    CU_ASSERT_EQUAL(engine_done_at(e, 0), 40);
    CHECK(strcmp(log.order, "abababb") == 0 || strcmp(log.order, "ababab") == 0, "order was %s", log.order);
    CU_ASSERT_EQUAL(log.order[0], 'a');
    engine_free(e);
}

static void test_a_lone_task_is_not_interrupted(void)
{
    struct log log = {""};
    struct fake a = {&log, 'a', 0, 1, 1000, 0};
    struct engine *e = engine_create();
    struct engine_task ta = task_of(&a);
    double end;
    struct orch_error error = {0};
    engine_add(e, &ta, NULL, 0);
    CU_ASSERT(engine_run(e, &end, &error));
    CU_ASSERT_STRING_EQUAL(log.order, "a");
    engine_free(e);
}

static void test_dependencies_start_at_the_end_of_the_latest(void)
{
    struct log log = {""};
    struct fake a = {&log, 'a', 0, 10, 30, 0}, b = {&log, 'b', 0, 5, 100, 0}, c = {&log, 'c', 0, 1, 200, 0};
    struct engine *e = engine_create();
    struct engine_task ta = task_of(&a), tb = task_of(&b), tc = task_of(&c);
    double end;
    struct orch_error error = {0};
    const int after[2] = {engine_add(e, &ta, NULL, 0), engine_add(e, &tb, NULL, 0)};
    engine_add(e, &tc, after, 2);
    CU_ASSERT(engine_run(e, &end, &error));
    CU_ASSERT_EQUAL(end, 200);
    CU_ASSERT_EQUAL(log.order[strlen(log.order) - 1], 'c');
    CU_ASSERT_EQUAL(engine_done_at(e, 1), 100);
    engine_free(e);
}

static void test_a_failure_stops_everything(void)
{
    struct log log = {""};
    struct fake a = {&log, 'a', 0, 10, 30, 1};
    struct engine *e = engine_create();
    struct engine_task ta = task_of(&a);
    double end;
    struct orch_error error = {0};
    engine_add(e, &ta, NULL, 0);
    CU_ASSERT(!engine_run(e, &end, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_FAULT);
    CU_ASSERT_STRING_EQUAL(error.text, "a broke");
    engine_free(e);
}

static void test_a_deadlock_names_who_waits_for_whom(void)
{
    struct log log = {""};
    struct fake a = {&log, 'a', 0, 10, 30, 0}, b = {&log, 'b', 0, 10, 30, 0};
    struct engine *e = engine_create();
    struct engine_task ta = task_of(&a), tb = task_of(&b);
    double end;
    struct orch_error error = {0};
    const int one = 1, zero = 0;
    engine_add(e, &ta, &one, 1);
    engine_add(e, &tb, &zero, 1);
    CU_ASSERT(!engine_run(e, &end, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "alpha waits for beta"));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "beta waits for alpha"));
    engine_free(e);
}

static const struct suite_test tests[] = {
    {"the task with the smallest local time goes first", test_smallest_time_first},
    {"a lone task runs in one go", test_a_lone_task_is_not_interrupted},
    {"a task starts when the latest of its dependencies ends", test_dependencies_start_at_the_end_of_the_latest},
    {"a failure stops everything", test_a_failure_stops_everything},
    {"a deadlock names who waits for whom", test_a_deadlock_names_who_waits_for_whom},
};
SUITE_MAIN("engine", tests)
