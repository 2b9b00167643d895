/* orchard loadtest from the command line: text, document, page, database, MLPerf's scenarios, configurations, what is refused. */
#include "tests/sim/served_example.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

static struct cli_home home = {.name = "loadtest", .options = "--quiet"};

static void make(void)
{
    cli_home_open(&home);
    CU_ASSERT_TRUE_FATAL(served_network(home.folder, "dense"));
    CU_ASSERT_TRUE_FATAL(served_network(home.folder, "other"));
}

static json_object *ask(const char *line)
{
    if (!cli_ask(&home, "loadtest %s --json", line))
        return NULL;
    json_object *const d = cli_document(&home.outcome);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    return d;
}

/* The service time is that of run; at a light load nobody waits, and the energy is that of the idle chip and of each batch. */
static void test_light_load(void)
{
    make();
    json_object *const run = cli_ask(&home, "run $/dense/1/model.onnx --unit gpu --detail op --dim n=1 --chip m1 --json")
                                 ? cli_document(&home.outcome)
                                 : NULL;
    if (!run)
        return;
    json_object *const d = ask("$/dense --arrivals constant:10 --duration 20 --instances gpu=1 --chip m1");
    const double seconds = document_number(run, "seconds");
    CU_ASSERT_STRING_EQUAL(document_text(d, "/load/models/0/model"), "dense");
    CHECK(document_number(d, "/load/models/0/done") == 199, "%g done", document_number(d, "/load/models/0/done"));
    CHECK(fabs(document_number(d, "/load/models/0/latency_seconds/p99") / seconds - 1) < 1e-6, "%g s, run says %g s",
          document_number(d, "/load/models/0/latency_seconds/p99"), seconds);
    const double expected = 20 * document_number(d, "/load/idle_watts") +
                            199 * (document_number(run, "joules") - document_number(d, "/load/idle_watts") * seconds);
    CHECK(fabs(document_number(d, "joules") / expected - 1) < 1e-6, "%g J, expected %g J", document_number(d, "joules"),
          expected);
    CHECK(document_number(d, "run_id") > 0, "no run");
    json_object_put(d);
    json_object_put(run);
    /* The run is in the database, with its counters. */
    cli_ask(&home, "db sql SELECT%%20count(*)%%20FROM%%20run");
    CHECK(cli_ask(&home, "report last -o $/r.html") && home.outcome.code == 0, "%s", home.outcome.err);
    cli_home_remove(&home);
}

/* Heavy load fills batches; two units do more than one; the page has its figures. */
static void test_batches_and_page(void)
{
    make();
    json_object *const one = ask("$/dense --scenario offline --samples 4096 --max-batch 1 --instances gpu=1");
    if (!one)
        return;
    json_object *const many = ask("$/dense --scenario offline --samples 4096 --max-batch 16 --instances gpu=1");
    json_object *const both = ask("$/dense --scenario offline --samples 4096 --max-batch 16 --instances gpu=1,amx=1");
    const double a = document_number(one, "/load/inferences_per_second"),
                 b = document_number(many, "/load/inferences_per_second"),
                 c = document_number(both, "/load/inferences_per_second");
    CHECK(b > 8 * a && c > b, "%g, %g, %g /s", a, b, c);
    CHECK(document_number(many, "/load/models/0/batches_by_size/16") == 256, "not full");
    json_object_put(one);
    json_object_put(many);
    json_object_put(both);
    CHECK(cli_ask(&home,
                  "loadtest $/dense,$/other --share 3,1 --arrivals poisson:1000 --duration 5 --max-batch 4 --queue-delay 1 "
                  "--device macbook-air -o $/load.html") &&
              home.outcome.code == 0 && strstr(home.outcome.out, "battery lasts") && strstr(home.outcome.out, "other"),
          "%s %s", home.outcome.out, home.outcome.err);
    char path[300], page[200000];
    snprintf(path, sizeof path, "%s/load.html", home.folder);
    FILE *const file = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    page[fread(page, 1, sizeof page - 1, file)] = 0;
    fclose(file);
    static const char *const figures[] = {"Latency over rate", "Batch sizes of dense", "Batch sizes of other", "Queue",
                                          "Temperature"};
    for (size_t i = 0; i < ARRAY_COUNT(figures); i++)
        CHECK(strstr(page, figures[i]) != NULL, "%s", figures[i]);
    cli_home_remove(&home);
}

static void test_scenarios(void)
{
    make();
    json_object *const single = ask("$/dense --scenario single-stream --duration 0.1 --instances amx=1");
    if (!single)
        return;
    const double once = document_number(single, "/load/models/0/latency_seconds/p90");
    CHECK(fabs(document_number(single, "/load/services/0/seconds") / once - 1) < 1e-5, "%g s", once);
    json_object_put(single);
    json_object *const multi = ask("$/dense --scenario multi-stream --duration 0.1 --instances amx=1");
    CHECK(fabs(document_number(multi, "/load/models/0/latency_seconds/p99") / (8 * once) - 1) < 1e-5, "%g s",
          document_number(multi, "/load/models/0/latency_seconds/p99"));
    json_object_put(multi);
    /* The highest rate keeps the limit, and is near what one at a time can do. */
    char line[200];
    snprintf(line, sizeof line, "$/dense --scenario server --limit %.9g --duration 0.05 --instances amx=1", 1e3 * 20 * once);
    json_object *const server = ask(line);
    const double rate = document_number(server, "/load/rate");
    CHECK(rate * once > 0.6 && rate * once < 1 && document_number(server, "/load/models/0/latency_seconds/p99") <= 20 * once,
          "%g of the capacity", rate * once);
    json_object_put(server);
    snprintf(line, sizeof line,
             "$/dense --scenario server --arrivals poisson:%.9g --limit %.9g --duration 0.05 --instances amx=1", 0.9 / once,
             1e3 * 1.5 * once);
    CHECK(cli_ask(&home, "loadtest %s", line) && home.outcome.code == 1 && strstr(home.outcome.out, "is not kept"), "%d %s",
          home.outcome.code, home.outcome.out);
    cli_home_remove(&home);
}

/* A folder of a repository says how it is batched and on which unit. */
static void test_configuration(void)
{
    char path[300];
    make();
    snprintf(path, sizeof path, "%s/dense", home.folder);
    suite_write_text(path, "config.pbtxt",
                     "max_batch_size: 8 dynamic_batching { preferred_batch_size: 4 }\n"
                     "optimization { execution_accelerators { gpu_execution_accelerator { name: \"apple_neural_engine\" } } }\n");
    json_object *const d = ask("$/dense --scenario offline --samples 400");
    if (!d)
        return;
    CHECK(document_number(d, "/load/models/0/batches_by_size/4") == 100, "not in fours");
    CU_ASSERT_STRING_EQUAL(document_text(d, "/placement/0/unit"), "ane");
    CU_ASSERT_STRING_EQUAL(document_text(d, "precision"), "f16");
    json_object_put(d);
    suite_write_text(home.folder, "trace.csv", "seconds,model,samples\n0,dense,3\n0.001,other\n0.5,dense,8\n");
    json_object *const t = ask("$/dense,$/other --arrivals $/trace.csv --duration 1");
    CHECK(document_number(t, "/load/models/0/done") == 2 && document_number(t, "/load/models/1/done") == 1, "trace");
    CHECK(document_number(t, "/load/models/0/batches_by_size/8") == 1 &&
              document_number(t, "/load/models/0/batches_by_size/3") == 1,
          "sizes");
    json_object_put(t);
    cli_home_remove(&home);
}

/* A language model: a step of one sequence is that of run; four sequences side by side do more than one, and less than four times
 * as much; tokens join earlier when batches are continuous. */
static void test_sequences(void)
{
    const char *const form = "%s/language/stories260K/stories260K-q8_0.gguf --prompt 16 --generate 16 --instances gpu=1 %s";
    char line[400];
    double rate[2], first[2];
    make();
    json_object *const run =
        cli_ask(&home, "run %s/language/stories260K/stories260K-q8_0.gguf --unit gpu --detail op --prompt 16 --generate 1 --json",
                suite_golden(""))
            ? cli_document(&home.outcome)
            : NULL;
    if (!run)
        return;
    for (unsigned i = 0; i < 2; i++) {
        snprintf(line, sizeof line, form, suite_golden(""),
                 i ? "--scenario offline --samples 64 --max-batch 4" : "--scenario offline --samples 64");
        json_object *const d = ask(line);
        rate[i] = document_number(d, "/load/models/0/tokens_per_second");
        CHECK(fabs(document_number(d, "/load/services/0/seconds") * document_number(run, "tokens_per_second") - 1) < 1e-9 &&
                  fabs(document_number(d, "/load/services/0/prompt_seconds") / document_number(run, "prefill_seconds") - 1) <
                      1e-9,
              "%g s a token", document_number(d, "/load/services/0/seconds"));
        json_object_put(d);
        snprintf(line, sizeof line, form, suite_golden(""),
                 i ? "--arrivals constant:150 --duration 1 --max-batch 4"
                   : "--arrivals constant:150 --duration 1 --max-batch 4 --batching static");
        json_object *const o = ask(line);
        first[i] = document_number(o, "/load/models/0/first_token_seconds/p99");
        json_object_put(o);
    }
    CHECK(rate[1] > 1.2 * rate[0] && rate[1] < 4 * rate[0], "%g tokens/s alone, %g of four", rate[0], rate[1]);
    /* In a machine that stays cool tokens are as fast as at fixed clocks. */
    snprintf(line, sizeof line, form, suite_golden(""), "--scenario offline --samples 64 --device macbook-air");
    json_object *const m = ask(line);
    const double cool = document_number(m, "/load/models/0/tokens_per_second");
    CHECK(fabs(cool / rate[0] - 1) < 0.01, "%g tokens/s at fixed clocks, %g in a machine", rate[0], cool);
    json_object_put(m);
    CHECK(first[1] <= first[0], "first token after %g s static, %g s continuous", first[0], first[1]);
    json_object_put(run);
    cli_home_remove(&home);
}

static void test_wrong(void)
{
    static const struct cli_wrong rows[] = {
        {"loadtest", 2, "one list of models"},
        {"loadtest $/none.onnx", 2, "none.onnx"},
        {"loadtest $/dense --max-batch 0", 2, "--max-batch"},
        {"loadtest $/dense --max-batch 4 --preferred 8", 2, "preferred batch size 8: batches hold 1 to 4"},
        {"loadtest $/dense --max-batch 8 --preferred 4,2", 2, "sizes rise"},
        {"loadtest $/dense --queue-delay -1", 2, "--queue-delay"},
        {"loadtest $/dense --arrivals poisson:x", 2, "a rate is a number"},
        {"loadtest $/dense --arrivals possion:5", 2, "poisson:RATE"},
        {"loadtest $/dense --instances gpv=1", 2, "did you mean gpu"},
        {"loadtest $/dense --instances gpu=0", 2, "--instances"},
        {"loadtest $/dense --instances dens/gpu=1", 2, "no model of that name"},
        {"loadtest $/dense --scenario ofline", 2, "did you mean offline"},
        {"loadtest $/dense --scenario offline --arrivals poisson:5", 2, "--arrivals"},
        {"loadtest $/dense,$/other --scenario offline", 2, "of one model"},
        {"loadtest $/dense,$/dense", 2, "two models are called dense"},
        {"loadtest $/dense,$/other --share 1", 2, "--share"},
        {"loadtest $/dense --ambient 30", 2, "give --device"},
        {"loadtest $/dense --device macbook-pr0", 2, "macbook-pro"},
        {"loadtest gemm:64x64x64 --max-batch 2", 2, "--max-batch 1"},
        {"loadtest $/dense --config $/none.pbtxt", 2, "none.pbtxt"},
        {"loadtest $/dense --precision q4", 2, "did you mean q4_0?"},
    };
    make();
    cli_all_wrong(&home, rows, ARRAY_COUNT(rows));
}

static const struct suite_test tests[] = {{"a light load", test_light_load},
                                          {"batches and the page", test_batches_and_page},
                                          {"MLPerf's scenarios", test_scenarios},
                                          {"configurations and traces", test_configuration},
                                          {"sequences of a language model", test_sequences},
                                          {"wrong lines", test_wrong}};
SUITE_MAIN("loadtest_cli", tests)
