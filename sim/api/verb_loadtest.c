/* The verb loadtest: models served by a chip under load, as a simulation of events whose service times are those of `run`. */
#include "sim/api/verb_loadtest.h"

#include "sim/api/record.h"
#include "sim/base/host_time.h"
#include "sim/base/json_out.h"
#include "sim/base/output_file.h"
#include "sim/base/checksum.h"
#include "sim/listen/run_json.h"
#include "sim/run/run_version.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOWER_MOST = 30 }; /* steps of 2 % down from a rate that did not hold */

/* ---- the load ---- */

/* A load at a rate, at fixed clocks, for a curve or a search: half a minute, but enough requests for a percentile and no more
 * than a search has patience for. */
static bool run_at(const struct loadtest *t, double rate, struct load_rate *answer, struct orch_error *error)
{
    enum { REQUESTS = 20000, REQUESTS_MOST = 60000, SECONDS = 30 };
    const struct arrivals arrivals = {.kind = ARRIVALS_POISSON, .rate = rate};
    struct load_setup s = t->setup;
    struct load_result *const r = calloc(1, sizeof *r);
    if (!r)
        return orch_no_memory(error);
    s.heat = NULL;
    s.arrivals = &arrivals;
    s.duration_s = fmin(t->setup.duration_s, fmax(REQUESTS / rate, fmin(SECONDS, REQUESTS_MOST / rate)));
    const bool ok = load_run(&s, r, error);
    *answer = (struct load_rate){.rate = rate, .joules = r->joules};
    double samples = 0, batches = 0, done = 0;
    unsigned slowest = 0;
    for (unsigned m = 0; ok && m < r->models; m++) {
        samples += (double)r->model[m].samples;
        batches += (double)r->model[m].batches;
        done += (double)r->model[m].done;
        if (load_percentile(&r->model[m].latency, 0.99) > load_percentile(&r->model[slowest].latency, 0.99))
            slowest = m;
    }
    if (ok) {
        answer->done_rate = done / r->seconds;
        answer->batch = batches > 0 ? samples / batches : NAN;
        answer->joules = done > 0 ? r->joules / done : NAN;
        answer->p50_s = load_percentile(&r->model[slowest].latency, 0.5);
        answer->p95_s = load_percentile(&r->model[slowest].latency, 0.95);
        answer->p99_s = load_percentile(&r->model[slowest].latency, 0.99);
    }
    load_result_free(r);
    free(r);
    return ok;
}

/* The highest rate whose 99th percentile stays below the limit, to a hundredth; MLPerf's server scenario asks for it. */
static bool find_rate(struct loadtest *t, struct orch_error *error)
{
    double low = 0, high = 1.5 * loadtest_capacity(t);
    struct load_rate answer;
    for (unsigned i = 0; i < 40 && high - low > 0.01 * high; i++) {
        const double middle = (low + high) / 2;
        if (!run_at(t, middle, &answer, error))
            return false;
        if (answer.p99_s <= t->limit_s && answer.done_rate > 0.95 * middle)
            low = middle;
        else
            high = middle;
        if (high < 1e-6)
            return orch_fail(error, ORCH_FAILED,
                             "no rate keeps 99 %% of the latencies below %g ms: one request alone takes longer",
                             1e3 * t->limit_s);
    }
    t->found_rate = t->arrivals.rate = low;
    return true;
}

static bool run_rates(struct loadtest *t, struct orch_error *error)
{
    const double capacity = loadtest_capacity(t);
    if (!t->page || t->setup.scenario != LOAD_OPEN)
        return true;
    for (t->rates = 0; t->rates < LOADTEST_RATES; t->rates++)
        if (!run_at(t, capacity * (t->rates + 1) / 10, &t->rate[t->rates], error))
            return false;
    return true;
}

static bool run_whole(struct loadtest *t, struct orch_error *error)
{
    if (api_has(&t->context->args, "device")) {
        t->setup.heat = load_heat_open(&t->heat, error);
        if (!t->setup.heat)
            return false;
    }
    const bool ok = load_run(&t->setup, &t->result, error);
    if (ok && t->setup.heat)
        t->heated = load_heat_summary(t->setup.heat);
    load_heat_close(t->setup.heat);
    t->setup.heat = NULL;
    return ok;
}

/* A rate that was found in a shorter time, at fixed clocks, has to hold for the whole time too. */
static bool run_load(struct loadtest *t, struct orch_error *error)
{
    const bool looked_for = t->server && !t->arrivals_text;
    if ((looked_for && !find_rate(t, error)) || !run_whole(t, error))
        return false;
    for (unsigned i = 0; looked_for && i < SLOWER_MOST && load_percentile(&t->result.model[0].latency, 0.99) > t->limit_s; i++) {
        load_result_free(&t->result);
        t->found_rate = t->arrivals.rate *= 0.98;
        if (!run_whole(t, error))
            return false;
    }
    return run_rates(t, error);
}

/* ---- as a run ---- */

static char *options_text(const struct loadtest *t)
{
    json_object *const o = json_object_new_object(), *const models = json_object_new_array();
    for (unsigned m = 0; m < t->setup.models; m++) {
        const struct load_model *const model = &t->setup.model[m];
        json_object *const one = json_object_new_object();
        json_add_text(one, "workload", t->entry[m].workload);
        json_add_count(one, "max_batch", model->rule.most);
        json_add_number(one, "delay_s", model->rule.delay_s);
        json_add_count(one, "queue", model->rule.queue);
        json_add_number(one, "timeout_s", model->rule.timeout_s);
        json_add_count(one, "prompt", model->prompt);
        json_add_count(one, "generate", model->generate);
        json_add_bool(one, "continuous", model->continuous);
        json_add_number(one, "share", model->share);
        json_object_array_add(models, one);
    }
    json_object_object_add(o, "models", models);
    for (unsigned g = 0; g < t->setup.groups; g++) {
        char key[24], text[32];
        snprintf(key, sizeof key, "group%u", g);
        snprintf(text, sizeof text, "%u/%s=%u", t->setup.group[g].model, t->unit[g], t->setup.group[g].count);
        json_add_text(o, key, text);
    }
    json_add_text(o, "arrivals", t->arrivals_text ? t->arrivals_text : "");
    json_add_number(o, "rate", t->arrivals.rate);
    json_add_count(o, "scenario", t->server ? 9 : t->setup.scenario);
    json_add_number(o, "duration", t->setup.duration_s);
    json_add_count(o, "samples", t->setup.requests);
    json_add_number(o, "power_cap", t->heat.power_cap_w);
    json_add_bool(o, "low_power", t->heat.low_power);
    return json_line(o);
}

static bool emit(struct loadtest *t, struct event_bus *bus, uint64_t number, const struct event_run_begin *begin,
                 struct run_result *r, struct orch_error *error)
{
    struct event event = {.kind = EVENT_RUN_BEGIN, .run = number, .run_begin = *begin};
    struct orch_error own = {0};
    const double began = host_seconds();
    event_bus_emit(bus, &event);
    const bool ok = run_load(t, &own) && (t->host_seconds = host_seconds() - began, loadtest_fill(t, r) || orch_no_memory(&own));
    event = (struct event){
        .kind = EVENT_RUN_END,
        .run = number,
        .time_ns = ok ? 1e9 * t->result.seconds : 0,
        .run_end = {.status = ok ? EVENT_RUN_DONE : EVENT_RUN_FAILED, .error = ok ? NULL : own.text, .result = ok ? r : NULL}};
    event_bus_emit(bus, &event);
    if (!ok && error)
        *error = own;
    return ok;
}

static bool work(void *subject, struct event_bus *bus, uint64_t number, struct run_result *r, struct orch_error *error)
{
    struct loadtest *const t = subject;
    char chip[24], program[24];
    char *const options = options_text(t);
    if (!options)
        return orch_no_memory(error);
    snprintf(chip, sizeof chip, "%016" PRIx64, chip_hash(t->request.chip));
    snprintf(program, sizeof program, "%016" PRIx64, checksum_add(CHECKSUM_START, options, strlen(options)));
    const struct event_run_begin begin = {.workload = t->words,
                                          .chip_id = chip_id(t->request.chip),
                                          .chip_hash = chip,
                                          .chip_modified = chip_modified(t->request.chip),
                                          .program_name = t->name[0],
                                          .program_kind = "network",
                                          .program_hash = program,
                                          .device = t->heat.device ? t->heat.device->id : NULL,
                                          .unit = t->unit[0],
                                          .precision = t->service[0].precision,
                                          .detail = "op",
                                          .mode = "timing",
                                          .options = options,
                                          .version = run_model_version(),
                                          .seed = t->setup.seed,
                                          .host = "local"};
    const bool ok = emit(t, bus, number, &begin, r, error);
    free(options);
    return ok;
}

/* ---- the page ---- */

static bool write_page(struct loadtest *t, struct orch_error *error)
{
    char title[256], sub[256];
    snprintf(title, sizeof title, "Load on %.160s, %.60s", t->words, chip_id(t->request.chip));
    snprintf(sub, sizeof sub, "%.100s for %.6g s%s%.60s, seed %llu", t->arrivals_text ? t->arrivals_text : "a scenario of MLPerf",
             t->result.seconds, t->heat.device ? ", in " : ", fixed clocks", t->heat.device ? t->heat.device->name : "",
             (unsigned long long)t->setup.seed);
    struct page *const page =
        load_page(&(struct load_page){.title = title,
                                      .subtitle = sub,
                                      .limits = "Service times and joules are those of orchard run at detail op, at the "
                                                "batch sizes that were simulated and on lines between them. Units that work "
                                                "at the same time do not slow each other down.",
                                      .setup = &t->setup,
                                      .result = &t->result,
                                      .rate = t->rate,
                                      .rates = t->rates});
    struct output_file *const file = page ? output_file_open(t->page, OUTPUT_PLAIN, error) : NULL;
    bool ok = page ? file != NULL : orch_no_memory(error);
    if (file) {
        ok = page_write(page, output_file_stream(file));
        if (!ok && output_file_flush(file, error))
            orch_no_memory(error);
        if (ok)
            ok = output_file_commit(file, error);
        else
            output_file_discard(file);
    }
    page_free(page);
    return ok;
}

/* ---- the verb ---- */

static bool one_chip(struct loadtest *t, const struct chip *chip, uint64_t number, json_object *rows, struct orch_error *error)
{
    const struct api_record record = {.context = t->context, .db = t->db};
    struct run_result r;
    t->request.chip = t->heat.chip = chip;
    t->heat.p_cores = 1;
    if (api_has(&t->context->args, "device")) {
        t->heat.device = device_find(&t->devices, api_value(&t->context->args, "device"), chip_id(chip), error);
        if (!t->heat.device)
            return false;
    }
    for (unsigned g = 0; g < t->setup.groups; g++)
        if (t->setup.group[g].part == PART_CPU)
            t->heat.p_cores += t->setup.group[g].count;
    run_result_init(&r);
    bool ok = loadtest_services(t, chip, error) && api_record_run(&record, chip, work, t, number, &r, error);
    if (ok && t->page)
        ok = write_page(t, error);
    if (ok && api_wants_document(t->context))
        json_object_array_add(rows, loadtest_json(t, &r));
    if (ok && api_wants_text(t->context))
        loadtest_text(t, &r);
    t->missed |= ok && t->server && load_percentile(&t->result.model[0].latency, 0.99) > t->limit_s;
    load_result_free(&t->result);
    run_result_free(&r);
    return ok;
}

static bool open_known(struct loadtest *t, struct orch_error *error)
{
    t->db = db_open(t->context->common.db, DB_WRITE, error);
    t->known = t->db ? known_create(t->db, error) : NULL;
    if (!t->known)
        return false;
    t->ask = known_as_run(t->known);
    t->request.known = &t->ask;
    return true;
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct loadtest *const t = calloc(1, sizeof *t);
    struct orch_error error = {0};
    struct api_chips chips = {.chip = NULL};
    if (words != 1) {
        free(t);
        return api_usage(context, "one list of models, as in model.onnx or a.onnx,b.onnx");
    }
    json_object *const rows = json_object_new_array();
    bool ok = (t && rows) || orch_no_memory(&error);
    if (ok) {
        t->context = context;
        t->words = word[0];
        ok = loadtest_read(t, &error) && api_chips_open(context, NULL, &chips, &error) && open_known(t, &error);
    }
    if (ok && t->page && chips.count > 1)
        ok = orch_fail(&error, ORCH_USAGE, ORCH_LETTER("o", "output") ": a page is of one chip");
    for (size_t i = 0; ok && i < chips.count; i++) {
        ok = one_chip(t, chips.chip[i], i + 1, rows, &error);
    }
    if (ok && api_wants_document(context))
        api_documents(context, json_object_get(rows));
    json_object_put(rows);
    if (t) {
        known_free(t->known);
        db_close(t->db);
        arrivals_free(&t->arrivals);
        device_list_free(&t->devices);
    }
    const bool missed = t && t->missed;
    free(t);
    api_chips_close(&chips);
    return !ok ? api_fail(context, &error) : missed ? ORCH_FAILED : ORCH_OK;
}

const struct api_verb verb_loadtest = {
    .help =
        {
            .name = "loadtest",
            .synopsis = "MODEL[,MODEL...] [options]",
            .summary = "serves models under load: latencies, throughput, energy, heat",
            .text = "MODEL is a network (.onnx), a language model (.gguf, model:NAME), or a folder of a Triton repository "
                    "(config.pbtxt,\n"
                    "1/model.onnx). Requests arrive, wait, are batched by Triton's rule and run on instances of the chip's "
                    "units; what a\n"
                    "batch costs is asked of run at detail op, for powers of two, preferred and largest sizes. Instances of one "
                    "unit take\n"
                    "turns: submission overlaps, work does not. Latencies count from arrival; percentiles are MLPerf's. With a "
                    "device the\n"
                    "governor of the machine sets clocks as it heats. Of MLPerf's scenarios, server without arrivals looks for "
                    "the highest\n"
                    "rate that keeps the limit; with arrivals, exit code 1 says that it is not kept.",
            .examples = "orchard loadtest examples/models/digits.onnx --arrivals poisson:200 --instances gpu=1 --duration 60\n"
                        "orchard loadtest examples/models/digits.onnx --max-batch 8 --queue-delay 2 --instances gpu=2,ane=1 "
                        "--arrivals poisson:400 --duration 10 -o load.html\n"
                        "orchard loadtest examples/models/digits.onnx --scenario server --limit 15 --chip m1-max\n"
                        "orchard loadtest examples/models/digits.onnx --arrivals poisson:50 --duration 1h --device macbook-air",
            .options = loadtest_options,
        },
    .ask = ask,
};
