/* What a draft costs and saves: the time of each unit, and the speed of the model alone. */
#include "isa/array_count.h"
#include "sim/run/language/language_options.h"
#include "tests/sim/run_example.h"
#include "tests/sim/story_example.h"

#include <math.h>
#include <unistd.h>

static struct chip_db *db;

/* With a draft on another unit: how long each unit works adds up to what is no launch, and the speed without the draft is that of
 * the model alone, whose steps are timed on values. */
static void test_draft_time(void)
{
    char file[512], small[512];
    double seconds_alone = 0;
    snprintf(file, sizeof file, "%s", example_story("f32"));
    snprintf(small, sizeof small, "%s", example_story("q8_0"));
    for (int with = 0; with < 2; with++) {
        struct language_options options = {
            .prompt_text = "Once", .generate = 8, .draft = with ? small : NULL, .draft_unit = with ? "amx" : NULL};
        struct outcome o = run_on(db, "m1", file, (struct run_request){.unit = "cpu", .language = &options, .threads = 1});
        const struct run_values *const n = &o.result.counters;
        CHECK(o.ok, "%s", o.error.text);
        if (!with)
            seconds_alone = 1 / o.result.tokens_per_second;
        const double without = run_values_get(n, LANGUAGE_DRAFT_WITHOUT), cpu = run_values_get(n, "busy.cpu"),
                     amx = run_values_get(n, "busy.amx");
        CHECK(!with || fabs(without * seconds_alone - 1) < 0.05, "%g tokens/s, alone %g", without, 1 / seconds_alone);
        CHECK(with ? cpu > 0 && amx > 0 && fabs(cpu + amx - o.result.device_seconds / o.result.seconds) < 1e-6
                   : fabs(cpu - 1) < 1e-6,
              "%g and %g", cpu, amx);
        run_result_free(&o.result);
    }
}

static const struct suite_test tests[] = {{"units and speed with a draft", test_draft_time}};
int main(void)
{
    return example_chips_run("language draft", tests, ARRAY_COUNT(tests), &db);
}
