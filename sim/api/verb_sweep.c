/* The verb sweep: asks the same question at many settings. */
#define _GNU_SOURCE /* asprintf */
#include "isa/array_count.h"
#include "sim/base/file_read.h"
#include "sim/base/json_out.h"
#include "sim/base/json_read.h"
#include "sim/compile/kernel_row.h"
#include "sim/api/verb_sweep.h"
#include "sim/ask/sweep/sweep_pool.h"
#include "sim/api/sweep_slurm.h"
#include "sim/ask/study/fitted.h"
#include "sim/ask/sweep/sweep_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct orchard_option option_table[] = {
    {"list", 'L', "KEY=VALUES", true, "what varies: a,b,c or lo:hi:N or lo:hi:Nlog; lo:hi with --lhs or --random"},
    {"lhs", 0, "N", false, "N points of a Latin hypercube instead of a grid"},
    {"random", 0, "N", false, "N random points"},
    VERB_STUDY_OPTIONS,
    {"tolerance", 0, "SHARE", false, "of interpolation between simulated points (default 0.01)"},
    {"exact", 0, NULL, false, "simulate every point"},
    {"name", 0, "NAME", false, "of the sweep in the database"},
    {"jobs", 'j', "N", false, "worker processes (default: the cores of the host)"},
    {"shard", 0, "I/N", false, "only points whose number leaves I when divided by N; give each shard a --db of its own"},
    {"slurm", 0, "N", false, "submit an array of N shards and a job that merges them"},
    {"slurm-folder", 0, "DIR", false, "where scripts, shards and logs go (default: orchard-slurm)"},
    {"dry-run", 'n', NULL, false, "with --slurm: print the scripts; else: only count the points"},
    {"response", 0, "NAME", false, "what effects are about (default seconds)"},
    {"rows", 0, "N", false, "points shown per workload (default 10, with --json 1000)"},
    {"csv", 0, NULL, false, "a table on standard output (RFC 4180): a row for each point"},
    {0},
};

/* Options that are also keys of the base. */
static const char *const base_options[] = {"unit",   "precision", "detail",     "cores",     "memory",  "device",
                                           "policy", "ambient",   "power-mode", "power-cap", "duration"};

/* ---- specification ---- */

static bool read_sets(struct api_context *context, struct sweep_spec *spec, struct orch_error *error)
{
    char key[96];

    for (size_t i = 0; i < context->common.set_count; i++) {
        const char *const text = context->common.sets[i], *const equals = strchr(text, '=');
        if (!equals || equals == text || (size_t)(equals - text) >= sizeof key)
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("set") " %.60s: expected KEY=VALUE", text);
        snprintf(key, sizeof key, "%.*s", (int)(equals - text), text);
        if (!sweep_spec_base(spec, key, equals + 1, error))
            return orch_fail_in(error, ORCH_OPTION("set"));
    }
    return true;
}

/* A fitted set counts by name and content: with other content it is another sweep. */
static bool read_fitted(struct api_context *context, struct sweep_spec *spec, struct orch_error *error)
{
    const char *const name = api_value(&context->args, "fitted");
    char text[160];
    struct fitted_set set = {0};
    if (!name)
        return true;
    struct orch_db *const db = db_open(context->common.db, DB_WRITE, error);
    const bool found = db && fitted_open(db, name, &set, error);
    if (found)
        snprintf(text, sizeof text, "%.100s@%s", name, fitted_hash(&set));
    fitted_close(&set);
    db_close(db);
    return found && sweep_spec_base(spec, "fitted", text, error);
}

bool verb_sweep_base(struct api_context *context, struct sweep_spec *spec, struct orch_error *error)
{
    const struct api_args *const a = &context->args;
    char *chips = NULL;
    bool ok = true;

    for (size_t i = 0; ok && i < ARRAY_COUNT(base_options); i++)
        if (api_value(a, base_options[i]))
            ok = sweep_spec_base(spec, base_options[i], api_value(a, base_options[i]), error);
    ok = ok && read_sets(context, spec, error) && read_fitted(context, spec, error);
    if (ok && context->common.chips_given && strchr(context->common.chips, ',')) {
        ok = asprintf(&chips, "chip=%s", context->common.chips) > 0 && sweep_spec_vary(spec, chips, error);
        free(chips);
    } else if (ok && context->common.chips_given) {
        ok = sweep_spec_base(spec, "chip", context->common.chips, error);
    }
    if (context->common.seed_given)
        spec->seed = context->common.seed;
    return ok;
}

static bool read_design(const struct api_args *a, struct sweep_spec *spec, struct orch_error *error)
{
    uint64_t lhs = 0, random = 0;

    if (!api_unsigned(a, "lhs", 1, SWEEP_POINTS_MAX, &lhs, error) ||
        !api_unsigned(a, "random", 1, SWEEP_POINTS_MAX, &random, error) ||
        !api_number(a, "tolerance", 0, 1, &spec->tolerance, error))
        return false;
    if (lhs && random)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("lhs") " and " ORCH_OPTION("random") " exclude one another");
    spec->design = lhs ? SWEEP_LHS : random ? SWEEP_RANDOM : SWEEP_GRID;
    spec->samples = lhs + random;
    if (api_has(a, "exact"))
        spec->tolerance = 0;
    if (api_value(a, "name"))
        spec->name = strdup(api_value(a, "name"));
    for (size_t i = 0; i < api_count(a, "list"); i++)
        if (!sweep_spec_vary(spec, api_value_at(a, "list", i), error))
            return orch_fail_in(error, ORCH_LETTER("L", "list"));
    return true;
}

static struct sweep_spec *spec_from_options(struct api_context *context, int words, const char *const *word,
                                            struct orch_error *error)
{
    struct sweep_spec *const spec = sweep_spec_create();
    bool ok = spec != NULL;

    for (int i = 0; ok && i < words; i++)
        ok = sweep_spec_workloads(spec, word[i], error);
    if (ok && verb_sweep_base(context, spec, error) && read_design(&context->args, spec, error) && sweep_spec_finish(spec, error))
        return spec;
    sweep_spec_free(spec);
    return NULL;
}

/* The first option given that a SPEC.json states itself; NULL = none. */
static const char *given_beside_file(struct api_context *context)
{
    static const char *const others[] = {"list", "lhs", "random", "tolerance", "exact", "name"};

    for (size_t i = 0; i < ARRAY_COUNT(base_options); i++)
        if (api_has(&context->args, base_options[i]))
            return base_options[i];
    for (size_t i = 0; i < ARRAY_COUNT(others); i++)
        if (api_has(&context->args, others[i]))
            return others[i];
    return context->common.chips_given ? "chip" : context->common.set_count ? "set" : NULL;
}

static struct sweep_spec *spec_from_file(struct api_context *context, const char *path, struct orch_error *error)
{
    const char *const beside = given_beside_file(context);
    uint8_t *text = NULL;
    size_t size = 0;

    if (beside) {
        orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") ": %.200s says that itself (\"base\", \"vary\", \"design\" ...)", beside,
                  path);
        return NULL;
    }
    if (!api_read_file(path, &text, &size, error))
        return NULL;
    struct sweep_spec *const spec = sweep_spec_parse(path, (const char *)text, size, error);
    free(text);
    return spec;
}

/* Kernels in a row are a workload, not a specification. */
static bool is_row(const char *path)
{
    uint8_t *text = NULL;
    size_t bytes;
    FILE *const f = fopen(path, "rb");
    const bool is = f && file_read_all(f, JSON_BYTES_MAX, &text, &bytes) && kernel_row_is(text, bytes);
    if (f)
        fclose(f);
    free(text);
    return is;
}

static bool is_spec_file(const char *word)
{
    const size_t length = strlen(word);

    return length > 5 && strcmp(word + length - 5, ".json") == 0 && !strchr(word, ',') && !is_row(word);
}

/* ---- progress ---- */

#define SEEN_AFTER_SECONDS 0.3 /* of the host: shorter sweeps are not worth a row */
#define SEEN_EVERY_SECONDS 1.0 /* of the host, between two renewals */

struct watchers {
    struct api_context *context;
    const struct sweep_spec *spec;
    int64_t row; /* what other processes see */
    double seen_s;
};

/* The database is open only for this moment, because executors fork. */
static void show_others(struct watchers *w, const struct sweep_progress *p)
{
    char workload[200];
    if (p->host_seconds < SEEN_AFTER_SECONDS || (w->row && p->host_seconds - w->seen_s < SEEN_EVERY_SECONDS))
        return;
    struct orch_db *const db = db_open(w->context->common.db, DB_EXISTING, NULL);
    if (!db)
        return;
    w->seen_s = p->host_seconds;
    snprintf(workload, sizeof workload, "%.160s%s", w->spec->workload_count ? w->spec->workload[0] : "",
             w->spec->workload_count > 1 ? " and others" : "");
    db_put_progress(db, &w->row,
                    &(struct db_progress){.kind = "sweep",
                                          .workload = workload,
                                          .fraction = (double)p->done / (double)p->points,
                                          .seconds = NAN,
                                          .host_seconds = p->host_seconds,
                                          .ops = NAN,
                                          .op_seconds = NAN,
                                          .points = (double)p->asked,
                                          .points_done = (double)p->asked_done,
                                          .watts = NAN,
                                          .celsius = NAN,
                                          .dram_gbps = NAN,
                                          .utilisation = NAN});
    db_close(db);
}

static void hide(struct watchers *w)
{
    struct orch_db *const db = w->row ? db_open(w->context->common.db, DB_EXISTING, NULL) : NULL;
    if (db)
        db_end_progress(db, &w->row);
    db_close(db);
}

static void tell(void *watchers, const struct sweep_progress *p)
{
    struct watchers *const w = watchers;
    const double rate = (double)(p->done - p->before) / p->host_seconds;
    char line[200], left[60] = "";
    if (rate > 0)
        snprintf(left, sizeof left, ", at most %.0f s to go", (double)(p->points - p->done) / rate);
    snprintf(line, sizeof line, "sweep: %llu of %llu points (%.0f %%), %.1f/s%s", (unsigned long long)p->done,
             (unsigned long long)p->points, 100.0 * (double)p->done / (double)p->points, rate, left);
    api_progress(w->context, &(struct orchard_progress){line, NAN, (double)p->done, (double)p->points, p->host_seconds, NULL});
    show_others(w, p);
}

/* ---- running ---- */

static bool read_shard(const struct api_args *a, struct sweep_run *run, struct orch_error *error)
{
    const char *const text = api_value(a, "shard");
    unsigned long long index, count;
    char after;

    if (!text)
        return true;
    if (sscanf(text, "%llu/%llu%c", &index, &count, &after) != 2 || count == 0 || count > SWEEP_POINTS_MAX || index >= count)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("shard") " %.40s: expected I/N with I from 0 to N - 1", text);
    run->shard = index;
    run->shards = count;
    return true;
}

static bool show(struct api_context *context, const struct sweep_done *done, const struct sweep_summary *how,
                 struct orch_error *error)
{
    char which[24];

    snprintf(which, sizeof which, "%lld", (long long)done->id);
    const struct sweep_summary for_people = {how->response, api_has(&context->args, "rows") ? how->rows : 10, how->color};
    struct orch_db *const db = db_open(context->common.db, DB_READ, error);
    struct sweep_data *const data = db ? sweep_open(db, which, error) : NULL;
    bool ok = data != NULL;
    if (ok && api_wants_document(context)) {
        json_object *const document = sweep_summary_json(data, done, how, error);
        ok = document != NULL;
        if (ok)
            api_document(context, document);
    }
    if (ok && api_wants_text(context)) {
        ok = sweep_summary_print(context->out, data, done, &for_people, error);
        api_note(context, "see it: orchard report " ORCH_OPTION("sweep") " %lld " ORCH_LETTER("o", "output") " sweep.html",
                 (long long)done->id);
    }
    if (ok && data->done == 0 && data->failed > 0) /* a sweep without any answer; the base is no point of it */
        ok = orch_fail(error, ORCH_USAGE, "no point of the sweep could be simulated%s%s",
                       done->first_error[0] ? "; the first: " : "", done->first_error);
    sweep_close(data);
    db_close(db);
    return ok;
}

static bool evaluate(struct api_context *context, struct sweep_run *run, uint64_t jobs, struct sweep_done *done,
                     struct orch_error *error)
{
    struct study_base base = {.request = {.seed = run->spec->seed, .threads = 1, .detail = "op", .mode = RUN_TIMING}};

    base.chips = api_chip_db(context, error);
    struct sweep_pool *const pool = base.chips ? sweep_pool_create(run->spec, &base, context->common.db, (unsigned)jobs) : NULL;
    if (base.chips && !pool)
        return orch_no_memory(error);
    if (!pool)
        return false;
    run->study = study_create(&base, NULL, error);
    run->executor = sweep_pool_executor(pool);
    run->progress = tell;
    struct watchers watchers = {.context = context, .spec = run->spec};
    run->progress_context = &watchers;
    const bool ok = run->study && sweep_run(run, done, error);
    hide(&watchers);
    api_progress(context, &(struct orchard_progress){NULL, 1, (double)done->points, (double)done->points, NAN, NULL});
    sweep_pool_free(pool);
    study_free(run->study);
    run->study = NULL;
    return ok;
}

static bool run_here(struct api_context *context, const struct sweep_spec *spec, const struct sweep_summary *how,
                     struct sweep_done *done, struct orch_error *error)
{
    struct sweep_run run = {.spec = spec, .db = context->common.db};
    uint64_t jobs;

    return read_shard(&context->args, &run, error) && api_jobs(&context->args, 1024, &jobs, error) &&
           evaluate(context, &run, jobs, done, error) && show(context, done, how, error);
}

static int only_count(struct api_context *context, const struct sweep_spec *spec)
{
    if (api_wants_document(context)) {
        json_object *const document = json_object_new_object();
        json_add_count(document, "points", spec->points);
        api_document(context, document);
    }
    if (api_wants_text(context))
        fprintf(context->out, "%llu points\n", (unsigned long long)spec->points);
    return ORCH_OK;
}

static bool read_how(struct api_context *context, struct sweep_summary *how, struct orch_error *error)
{
    const char *const response = api_value(&context->args, "response");
    uint64_t rows = 1000; /* of a document; a person gets 10 */

    how->color = context->common.color;
    if (!api_unsigned(&context->args, "rows", 0, SWEEP_POINTS_MAX, &rows, error))
        return false;
    how->rows = rows;
    return !response || sweep_response_find(response, &how->response, error);
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    struct sweep_summary how = {SWEEP_seconds, 0, false};
    struct sweep_done done = {0};

    if (words == 0)
        return api_usage(context, "a workload or a SPEC.json is missing");
    struct sweep_spec *const spec = words == 1 && is_spec_file(word[0]) ? spec_from_file(context, word[0], &error)
                                                                        : spec_from_options(context, words, word, &error);
    int code = ORCH_OK;
    if (!spec || !read_how(context, &how, &error))
        code = api_fail(context, &error);
    else if (api_has(&context->args, "slurm"))
        code = sweep_slurm(context, spec);
    else if (api_has(&context->args, "dry-run"))
        code = only_count(context, spec);
    else if (!run_here(context, spec, &how, &done, &error))
        code = api_fail(context, &error);
    sweep_spec_free(spec);
    return code;
}

const struct api_verb verb_sweep = {
    .help =
        {
            .name = "sweep",
            .synopsis = "WORKLOAD[,WORKLOAD...] -L KEY=a,b,c [-L KEY=lo:hi:N ...]\n"
                        "SPEC.json",
            .summary = "the same question at many settings",
            .text = "KEY is a characteristic or unit parameter of the chip (orchard chips show ID), or chip, unit, precision, "
                    "detail, cores, memory,\n"
                    "device, policy, ambient, power-mode, power-cap, duration. Lists and lo:hi:N (lo:hi:Nlog) make a grid; --lhs "
                    "N and --random N\n"
                    "spread N points over ranges. Answers go to the database as they come: the same command goes on where it was "
                    "stopped.\n"
                    "Points between simulated ones are interpolated when leaving simulated ones out shows that this is within "
                    "--tolerance.",
            .examples =
                "orchard sweep gemm:256x256x256 --unit gpu -L chip=m1,m2,m3 -L gpu_cores=8,10,16\n"
                "orchard sweep gemm:512x512x512 --unit amx --chip m2 -L amx.clock_ghz=2:4 -L memory_peak_GBps=50:200 --lhs 500\n"
                "orchard sweep gemm:512x512x512 --unit amx -L memory_peak_GBps=0.5x,1x,2x\n"
                "orchard sweep examples/sweep/spec.json --shard 0/2 --db shard-0.db",
            .options = option_table,
        },
    .ask = ask,
};
