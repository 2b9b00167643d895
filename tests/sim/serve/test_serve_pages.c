/* Live pages and metrics of orchard serve without a model: runs as they come, filters, comparisons, sweeps, chips, a dashboard
 * whose metrics exist, hostile names and paths, and promtool's judgement where it is installed. */
#include "tests/sim/serve/serve_example.h"
#include "tests/support/cli_binary.h"

#include <sqlite3.h>

static bool start_alone(const char *options)
{
    char line[300];
    cli_home_open(&home);
    port = http_free_port();
    snprintf(line, sizeof line, "serve --db %s/runs.db --port %u --quiet %s", home.folder, port, options);
    return start_line(line);
}

static char *page(const char *path, unsigned status)
{
    struct http_answer a = ask("GET", path, "", NULL, 0);
    CHECK(a.status == status, "%s: %u %.200s", path, a.status, a.body ? a.body : "");
    return a.body;
}

static bool page_has(const char *path, const char *text)
{
    char *const body = page(path, 200);
    const bool has = body && strstr(body, text);
    free(body);
    return has;
}

enum { PATIENCE = 1200 }; /* looks of 0.05 s: the host may be busy with other tests */

/* Asks until a path gives a text with, or without, this word: a run is seen after 0.3 s, a metric a second later. */
static bool comes(const char *path, const char *word, bool there)
{
    for (unsigned i = 0; i < PATIENCE; i++) {
        char *const body = page(path, 200);
        const bool has = body && strstr(body, word);
        free(body);
        if (has == there)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    return false;
}

/* Runs of nobody, written as SQLite would let anybody. */
static void write_runs(const char *sql)
{
    char path[128], *message = NULL;
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/runs.db", home.folder);
    CU_ASSERT_TRUE_FATAL(sqlite3_open(path, &db) == SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    CHECK(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s", message ? message : "");
    sqlite3_close(db);
}

/* A sweep without all its answers says so, on its page and in the list. */
static void check_partial_sweeps(void)
{
    CHECK(!page_has("/sweeps/1", "class=\"callout\""), "a whole sweep is called partial");
    write_runs("UPDATE sweep_point SET status = 'failed', error = 'lost' WHERE point = 1");
    CHECK(page_has("/sweeps/1", "1 of 2 points failed;") && page_has("/", ">1 of 2</td>"), "a failed point is not told");
    write_runs("DELETE FROM sweep_point WHERE point = 1");
    CHECK(page_has("/sweeps/1", "This sweep is not whole: 1 of 2 points are done, 0 failed, 1 have no answer yet.") &&
              page_has("/sweeps/1", "Sweep pair: not finished") && page_has("/", ">not finished</td>"),
          "a missing point is not told");
}

static void test_lists(void)
{
    if (!start_alone(""))
        return;
    cli_ask(&home, "run gemm:32x32x32 --unit amx");
    cli_ask(&home, "run gemm:48x48x48 --unit gpu");
    CHECK(page_has("/", "<a href=\"/runs/1\">1</a>") && page_has("/", "gemm:48x48x48"), "a run is missing");
    CHECK(page_has("/?unit=gpu", "gemm:48x48x48") && !page_has("/?unit=gpu", "gemm:32x32x32"), "the unit is no filter");
    CHECK(page_has("/?workload=32x", "gemm:32x32x32") && !page_has("/?workload=32x", "gemm:48x48x48"), "nor the workload");
    CHECK(page_has("/?workload=%27%20OR%201--", "data-rows=\"/runs.json?list=1&amp;workload=%27%20OR%201%2D%2D\""),
          "a filter is not carried along");
    CHECK(page_has("/compare?runs=1,2", "2 runs side by side"), "no comparison");
    /* What a page asks for while it is open: only what is newer, oldest first. */
    json_object *const all = get("/runs.json?list=1&after=0"), *const newer = get("/runs.json?list=1&after=1"),
                       *const none = get("/runs.json?list=1&after=2");
    CHECK(json_object_array_length(document_at(all, "/rows")) == 2 && strcmp(document_text(all, "/rows/0/0"), "1") == 0, "%s",
          json_object_to_json_string(all));
    CHECK(json_object_array_length(document_at(newer, "/rows")) == 1 && strcmp(document_text(newer, "/rows/0/0"), "2") == 0, "%s",
          json_object_to_json_string(newer));
    CHECK(json_object_array_length(document_at(none, "/rows")) == 0, "%s", json_object_to_json_string(none));
    json_object_put(all);
    json_object_put(newer);
    json_object_put(none);
    cli_ask(&home, "sweep gemm:32x32x32 --unit amx -L p_max_mhz=2000,3000 --name pair");
    CHECK(page_has("/", "<a href=\"/sweeps/1\">1</a>") && page_has("/sweeps/1", "Choose points"), "no sweep");
    CHECK(page_has("/", ">2 of 2</td>"), "points of a chart are counted as points of the sweep");
    check_partial_sweeps();
    CHECK(page_has("/chips", "<a href=\"/chips/m1_4p4e_8g\">") && page_has("/chips/m1", "reverse-engineered"), "no chips");
    stop();
}

static void test_what_is_not_there(void)
{
    static const char *const paths[] = {"/runs/99",       "/runs/",           "/runs/1;2", "/runs/../../etc/passwd", "/sweeps/1",
                                        "/sweeps/last",   "/chips/no-such",   "/nowhere",  "/chips/..%2F..%2Fetc",   "/compare",
                                        "/../etc/passwd", "/compare?runs=a,b"};
    if (!start_alone(""))
        return;
    for (size_t i = 0; i < ARRAY_COUNT(paths); i++)
        free(page(paths[i], 404));
    struct http_answer a = ask("POST", "/", "", "x", 1);
    CHECK(a.status == 405 && strcmp(http_header(&a, "Allow"), "GET") == 0, "%u", a.status);
    free(a.body);
    stop();
}

/* Names that would be markup, labels, terminal escapes or formulas. */
static void test_hostile_names(void)
{
    if (!start_alone(""))
        return;
    cli_ask(&home, "run gemm:32x32x32 --unit amx");
    write_runs(
        "UPDATE run SET workload = '<script>alert(1)</script>\"}\n\x1b[2J=HYPERLINK(1)', chip = '\"><img src=x>', "
        "device = '../../etc/passwd', unit = 'am\"x}\xff' WHERE id = 1; INSERT INTO progress (kind, host, process, workload, "
        "chip, unit, "
        "doing, fraction, started, renewed) VALUES ('run', 'another host', '1 1 boot space', "
        "'<script>alert(2)</script>\"}\n\x1b[2J=HYPERLINK(2)', '\"><img src=x>', 'g\"x}', '\x1b[2J<script>alert(3)</script>', "
        "0.5, '2026-11-28T19:00:00.000Z', '')");
    static const char *const paths[] = {"/", "/runs/1", "/runs.json?list=1&after=0", "/now.json"};
    for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
        char *const body = page(paths[i], 200);
        CHECK(body && !strstr(body, "<script>alert") && !strstr(body, "<img src") && !strchr(body, '\x1b'), "%s: %.3000s",
              paths[i], body ? body : "");
        free(body);
    }
    CHECK(comes("/metrics", "orchard_running_done_ratio{", true) && comes("/metrics", "unit=\"am_x__\"", true), "not observed");
    char *const metrics = page("/metrics", 200), *const info = metrics ? strstr(metrics, "orchard_latest_run_info{") : NULL;
    CHECK(info && !strchr(metrics, '\x1b') && !strchr(metrics, '\xff') && strstr(info, "</script>\\\"} ") &&
              strstr(metrics, "orchard_running_done_ratio{") && !strstr(metrics, "\n=HYPERLINK") &&
              strstr(metrics, "unit=\"am_x__\""),
          "%.300s", info ? info : "none");
    free(metrics);
    stop();
}

/* ---- metrics ---- */

static void test_runs_become_metrics(void)
{
    if (!start_alone(""))
        return;
    char *const empty = page("/metrics", 200);
    CHECK(empty && !strstr(empty, "orchard_latest_run_info"), "there was no run");
    free(empty);
    cli_ask(&home, "run gemm:32x32x32 --unit amx");
    comes("/metrics", "orchard_latest_run_info", true);
    char *const text = page("/metrics", 200);
    static const char *const lines[] = {
        "\norchard_runs_total{status=\"done\",unit=\"amx\"} 1\n",
        "\norchard_run_duration_seconds_bucket{unit=\"amx\",le=\"0.0001\"} 1\n",
        "\norchard_run_duration_seconds_count{unit=\"amx\"} 1\n",
        "\norchard_operations_total{unit=\"amx\",kernel=\"gemm\"} 1\n",
        "\norchard_latest_run_info{run=\"1\",workload=\"gemm:32x32x32\",chip=\"m1_4p4e_8g\",unit=\"amx\"} 1\n",
        "\norchard_thermal_pressure{level=\"nominal\"} 1\n",
    };
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++)
        CHECK(text && strstr(text, lines[i]), "no %s", lines[i]);
    free(text);
    stop();
}

/* ---- what is going on in other processes ---- */

/* Whether both runs say what they draw, and it is what such a chip draws. */
static bool two_draw_power(void)
{
    static const char name[] = "\norchard_running_power_watts{";
    for (unsigned i = 0; i < PATIENCE; i++) {
        char *const body = page("/metrics", 200);
        unsigned runs = 0;
        for (const char *at = body ? strstr(body, name) : NULL; at; at = strstr(at + 1, name)) {
            const double watts = strtod(strchr(at + 1, '}') + 1, NULL);
            runs += watts > 0.05 && watts < 40;
        }
        free(body);
        if (runs == 2)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    return false;
}

static void test_runs_of_others_are_seen_while_they_run(void)
{
    enum { WRITERS = 3 };
    static const char *const lines[WRITERS] = {"run gemm:64x64x64 --unit gpu --device macbook-air --duration 2700h",
                                               "run gemm:2048x2048x2048 --unit gpu --detail instr --mode timing",
                                               "sweep gemm:512x512x512 --unit gpu -L gpu_max_mhz=1000:1300:20000 --jobs 1"};
    pid_t writer[WRITERS];
    char line[300];
    if (!start_alone(""))
        return;
    CHECK(page_has("/", "data-rows=\"/now.json\"") && comes("/metrics", "orchard_runs_running 0\n", true), "something goes on");
    for (int i = 0; i < WRITERS; i++) {
        snprintf(line, sizeof line, "%s --quiet --db %s/runs.db", lines[i], home.folder);
        writer[i] = cli_start(line, -1);
    }
    CHECK(comes("/now.json", "gemm:64x64x64", true) && comes("/now.json", "gemm:2048x2048x2048", true) &&
              comes("/now.json", " of 20000 points", true),
          "a writer is not seen");
    CHECK(comes("/metrics", "orchard_runs_running 2\n", true) && comes("/metrics", "orchard_sweeps_running 1\n", true) &&
              comes("/metrics", "workload=\"gemm:2048x2048x2048\",chip=\"m1_4p4e_8g\",unit=\"gpu\"} ", true),
          "no metrics of what is going on");
    /* The machine's power and heat, and what the launch draws while it is timed. */
    CHECK(comes("/metrics", "\norchard_running_temperature_celsius{row=\"", true) &&
              comes("/metrics", "\norchard_running_memory_bytes_per_second{row=\"", true) && two_draw_power(),
          "no state of what is going on");
    for (int i = 0; i < WRITERS; i++)
        kill(writer[i], SIGKILL);
    for (int i = 0; i < WRITERS; i++)
        cli_wait(writer[i], 20);
    CHECK(!page_has("/", "<td>running</td>") && page_has("/", "<td>interrupted</td>"), "the list takes the dead for alive");
    CHECK(comes("/now.json", "gemm", false) && comes("/metrics", "orchard_runs_running 0\n", true), "the dead go on");
    CHECK(comes("/metrics", "orchard_runs_total{status=\"interrupted\",unit=\"gpu\"} 2\n", true), "nobody says how they ended");
    /* The next writer takes away what they left. */
    cli_ask(&home, "run gemm:32x32x32 --unit amx");
    cli_ask(&home, "db sql SELECT/**/count(*)/**/FROM/**/progress");
    CHECK(strstr(home.outcome.out, "0") != NULL, "%s%s", home.outcome.out, home.outcome.err);
    stop();
}

static void test_promtool_finds_nothing(void)
{
    char file[128], command[300], line[200] = "";
    if (access("/usr/bin/promtool", X_OK) != 0) {
        suite_skip("promtool is not installed (Debian package prometheus)");
        return;
    }
    if (!start_alone("--device macbook-air"))
        return;
    cli_ask(&home, "run gemm:32x32x32 --unit amx");
    comes("/metrics", "orchard_latest_run_info", true);
    char *const text = page("/metrics", 200);
    suite_write_text(home.folder, "metrics.txt", text ? text : "");
    snprintf(file, sizeof file, "%s/metrics.txt", home.folder);
    snprintf(command, sizeof command, "/usr/bin/promtool check metrics < %s 2>&1", file);
    FILE *const in = popen(command, "r");
    CHECK(in && !fgets(line, sizeof line, in), "%s", line);
    CHECK(in && pclose(in) == 0, "promtool is not content");
    free(text);
    stop();
}

/* Whether a metric of this name, cut at the end of the word, is in the text. */
static bool is_a_metric(const char *text, const char *word, size_t length)
{
    for (const char *at = text; (at = strstr(at, "\norchard_")) != NULL; at++)
        if (strncmp(at + 1, word, length) == 0 && (at[1 + length] == '{' || at[1 + length] == ' '))
            return true;
    return false;
}

static void test_the_dashboard_asks_for_what_there_is(void)
{
    unsigned names = 0;
    if (!start("--device macbook-air"))
        return;
    cli_ask(&home, "run gemm:32x32x32 --unit amx");
    json_object_put(post("/completion", "{\"prompt\":\"Once\",\"n_predict\":2}", 200));
    comes("/metrics", "orchard_latest_run_info", true);
    json_object *const dashboard = get("/grafana.json");
    char *const metrics = page("/metrics", 200);
    CHECK(json_object_array_length(document_at(dashboard, "/panels")) > 10, "an empty dashboard");
    const char *text = json_object_to_json_string_ext(dashboard, JSON_C_TO_STRING_PLAIN);
    for (const char *at = text; (at = strstr(at, "orchard_")) != NULL; names++) {
        const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
        CHECK(is_a_metric(metrics, at, length), "no metric %.*s", (int)length, at);
        at += length;
    }
    CHECK(names > 20, "%u names", names);
    json_object_put(dashboard);
    free(metrics);
    stop();
}

static void test_a_port_in_use(void)
{
    if (!start_alone(""))
        return;
    cli_ask(&home, "serve --port %u", port);
    CHECK(home.outcome.code == 2 && strstr(home.outcome.err, "Address already in use"), "%d %s", home.outcome.code,
          home.outcome.err);
    stop();
}

static const struct suite_test tests[] = {
    {"lists of runs, sweeps and chips", test_lists},
    {"paths that are not there", test_what_is_not_there},
    {"hostile names stay texts", test_hostile_names},
    {"runs of others become metrics", test_runs_become_metrics},
    {"runs of others are seen while they run, until they are killed", test_runs_of_others_are_seen_while_they_run},
    {"promtool finds nothing", test_promtool_finds_nothing},
    {"the dashboard asks for metrics that there are", test_the_dashboard_asks_for_what_there_is},
    {"a port in use", test_a_port_in_use},
};
SUITE_MAIN("live pages and metrics", tests)
