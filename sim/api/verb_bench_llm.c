/* The verb bench-llm: the table of llama-bench for published models on chips, with published rows and a roofline beside it. */
#include "isa/array_count.h"
#include "sim/api/api.h"
#include "sim/ask/study/known.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/db/db.h"
#include "sim/language/shape.h"
#include "sim/prove/validate/measurements.h"
#include "sim/prove/validate/spreadsheet.h"
#include "sim/prove/validate/tables.h"
#include "sim/run/language/language_options.h"
#include "sim/run/run.h"
#include "sim/workload/gpu/frameworks/framework.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PROMPT_USUALLY     512
#define GENERATE_USUALLY   128
#define PRECISIONS_USUALLY "f16,q8_0,q4_0"
#define KERNELS_USUALLY    "ggml@2023.11" /* of the build that most of the published table was made with */

static const struct orchard_option option_table[] = {
    {"precision", 0, "LIST", false, "formats of the matrices (default " PRECISIONS_USUALLY ")"},
    {"prompt", 0, "N", false, "tokens of the prompt, the test ppN (default 512)"},
    {"generate", 0, "N", false, "tokens that are generated behind nothing, the test tgN (default 128)"},
    {"unit", 0, "UNIT", false, "gpu (default), cpu or amx"},
    {"kernels", 0, "SET[@VERSION]", false, "GPU: whose kernels run where the set has them (default " KERNELS_USUALLY ")"},
    {"memory", 0, "GIB", false, "memory of the machine, one of the chip's options (default: largest; DRAM: smallest)"},
    {0},
};

struct bench {
    struct api_context *context;
    struct run_request request;
    struct language_options options;
    unsigned prompt, generate;
    struct orch_db *db;
    struct known *known;
    struct run_known ask;
    struct csv_table *published;
    struct table *table;
    json_object *rows;
    struct orch_error left_out; /* why the newest test that is not in the table is not, until it is told */
    /* Of tests that have a published row: sums of relative errors without sign. */
    double error, roofline_error;
    unsigned compared, done, all; /* all: tests that are asked for */
};

/* One test of one model in one format on one chip. */
struct line {
    const struct chip *chip;
    const char *model, *precision;
    char test[24];
    struct language_shape shape;
    double tokens, rate, low, high, joules, roofline, published;
    double published_cores; /* of the GPU, where the row is one of the same chip with others; NaN = it is the chip itself */
    const char *source;
};

/* ---- what stands beside ---- */

/* The begin of the tables' names: "llama7b" of llama-7b and llama-2-7b; "" for models that no table has. */
static const char *table_name(const char *model)
{
    return strcmp(model, "llama-7b") == 0 || strcmp(model, "llama-2-7b") == 0 ? "llama7b" : "";
}

/* The first row of the chip; where there is none, the one of a chip of its name whose GPU has the nearest number of cores. */
static void find_published(const struct bench *b, struct line *l)
{
    const struct csv_table *const t = b->published;
    const int chip = csv_find(t, "chip"), workload = csv_find(t, "workload"), precision = csv_find(t, "precision");
    char name[64];
    double cores = NAN, nearest = INFINITY;
    snprintf(name, sizeof name, "%s_%s", table_name(l->model), l->test);
    chip_number(l->chip, "gpu_cores", &cores, NULL);
    l->published = l->published_cores = NAN;
    if (strcmp(b->request.unit, "gpu") != 0 || !table_name(l->model)[0]) /* all rows are the GPU's */
        return;
    for (size_t i = 0; nearest > 0 && i < csv_rows(t); i++) {
        if (strcmp(csv_cell(t, i, workload), name) != 0 || strcmp(csv_cell(t, i, chip), chip_name(l->chip)) != 0 ||
            strcasecmp(csv_cell(t, i, precision), l->precision) != 0 ||
            strcmp(csv_cell(t, i, csv_find(t, "value_unit")), "tokens/s") != 0)
            continue;
        const bool exact = strcmp(csv_cell(t, i, csv_find(t, "chip_id")), chip_id(l->chip)) == 0;
        const double its = strtod(csv_cell(t, i, csv_find(t, "gpu_cores")), NULL), away = exact ? 0 : fabs(its - cores);
        if (!exact && !(its > 0 && its != cores && away < nearest))
            continue;
        nearest = away;
        l->published = strtod(csv_cell(t, i, csv_find(t, "value")), NULL);
        l->published_cores = exact ? (double)NAN : its;
        l->source = csv_cell(t, i, csv_find(t, "id"));
    }
}

/* All weights once for a step, all multiply-adds of the weights for a prompt; published peak and the usual share of the published
 * bandwidth. */
static void find_roofline(const struct bench *b, struct line *l, bool prompt)
{
    const struct shape_sizes sizes = shape_sizes(&l->shape);
    const double bytes = (double)shape_bytes(&l->shape, block_format_named(l->precision));
    double bandwidth, peak;
    l->roofline = NAN;
    if (strcmp(b->request.unit, "gpu") != 0 || !chip_number(l->chip, "memory_peak_GBps", &bandwidth, NULL) ||
        !chip_number(l->chip, "gpu_peak_f32_gflops", &peak, NULL))
        return;
    const double tokens = prompt ? l->tokens : 1;
    const double work_s = 2 * (double)sizes.active_parameters * tokens / (peak * 1e9),
                 bytes_s = bytes / (SPREADSHEET_BANDWIDTH_SHARE * bandwidth * 1e9);
    l->roofline = tokens / fmax(work_s, bytes_s);
}

/* ---- a test ---- */

static bool run_test(struct bench *b, const struct line *l, bool prompt, struct run_result *r, struct orch_error *error)
{
    struct run_request q = b->request;
    struct language_options o = b->options;
    char workload[80];
    snprintf(workload, sizeof workload, "model:%s", l->model);
    o.prompt = prompt ? b->prompt : 0;
    o.generate = b->generate;
    o.prompt_alone = prompt;
    q.chip = l->chip;
    q.workload = workload;
    q.precision = l->precision;
    q.language = &o;
    struct run *const run = run_prepare(&q, error);
    const bool ok = run && run_execute(run, NULL, 1, r, error);
    run_free(run);
    return ok;
}

static void take(struct line *l, const struct run_result *r, bool prompt)
{
    const double seconds = prompt ? r->prefill_seconds : run_values_get(&r->counters, LANGUAGE_DECODE_SECONDS);
    l->rate = l->tokens / seconds;
    l->low = l->rate * r->seconds / r->seconds_high;
    l->high = l->rate * r->seconds / r->seconds_low;
    const double token = run_values_get(&r->counters, LANGUAGE_TOKEN_JOULES);
    l->joules = prompt ? run_values_get(&r->counters, LANGUAGE_PREFILL_JOULES) / l->tokens : token;
}

/* Whether a row of the chip itself is published. */
static bool is_published(const struct line *l)
{
    return !isnan(l->published) && isnan(l->published_cores);
}

static void add_row(struct bench *b, const struct line *l)
{
    char size[FORMAT_SIZE], parameters[FORMAT_SIZE], of[FORMAT_SIZE] = "";
    struct table *const t = b->table;
    table_row(t);
    table_cell(t, "%s %s", l->model, l->precision);
    table_cell(t, "%s", format_bytes(size, shape_bytes(&l->shape, block_format_named(l->precision))));
    table_cell(t, "%s", format_si(parameters, (double)shape_sizes(&l->shape).parameters, ""));
    table_cell(t, "%s", chip_id(l->chip));
    table_cell(t, "%s", l->test);
    table_cell(t, "%.2f", l->rate);
    table_cell(t, "%.2f-%.2f", l->low, l->high);
    table_cell(t, isnan(l->joules) ? "-" : "%.3g", l->joules);
    if (!isnan(l->published_cores))
        snprintf(of, sizeof of, " (%.0f cores)", l->published_cores);
    table_cell(t, isnan(l->published) ? "-" : "%.2f%s", l->published, of);
    table_cell(t, is_published(l) ? "%+.1f %%" : "-", 100 * (l->rate / l->published - 1));
    table_cell(t, isnan(l->roofline) ? "-" : "%.2f", l->roofline);
}

static void add_document(struct bench *b, const struct line *l)
{
    json_object *const o = json_object_new_object();
    json_add_text(o, "model", l->model);
    json_add_text(o, "precision", l->precision);
    json_add_text(o, "chip", chip_id(l->chip));
    json_add_text(o, "unit", b->request.unit);
    json_add_text(o, "test", l->test);
    json_add_number(o, "tokens_per_second", l->rate);
    json_add_number(o, "tokens_per_second_low", l->low);
    json_add_number(o, "tokens_per_second_high", l->high);
    json_add_number(o, "joules_per_token", l->joules);
    json_add_number(o, "published", is_published(l) ? l->published : (double)NAN);
    json_add_text(o, "published_row", is_published(l) ? l->source : NULL);
    if (!isnan(l->published_cores)) {
        json_add_number(o, "published_near", l->published);
        json_add_number(o, "published_near_gpu_cores", l->published_cores);
        json_add_text(o, "published_near_row", l->source);
    }
    json_add_number(o, "roofline", l->roofline);
    json_object_array_add(b->rows, o);
}

/* Kernels that nobody knows take minutes: which test is asked now. */
static void tell_progress(const struct bench *b, const struct line *l)
{
    char line[120];
    snprintf(line, sizeof line, "%s %s on %s, %s", l->model, l->precision, chip_id(l->chip), l->test);
    api_progress(b->context, &(struct orchard_progress){line, NAN, b->done, b->all, NAN, NULL});
}

static bool one_test(struct bench *b, struct line *l, bool prompt, struct orch_error *error)
{
    struct run_result r;
    l->tokens = prompt ? b->prompt : b->generate;
    snprintf(l->test, sizeof l->test, "%s%u", prompt ? "pp" : "tg", prompt ? b->prompt : b->generate);
    run_result_init(&r);
    tell_progress(b, l);
    const bool ok = run_test(b, l, prompt, &r, error);
    b->done++;
    if (ok) {
        take(l, &r, prompt);
        find_published(b, l);
        find_roofline(b, l, prompt);
        add_row(b, l);
        add_document(b, l);
    }
    if (ok && is_published(l) && !isnan(l->roofline)) {
        b->error += fabs(l->rate / l->published - 1);
        b->roofline_error += fabs(l->roofline / l->published - 1);
        b->compared++;
    }
    run_result_free(&r);
    return ok;
}

static void tell_left_out(struct bench *b)
{
    if (b->left_out.exit_code)
        api_warn(b->context, "%s", b->left_out.plain);
    b->left_out = (struct orch_error){0};
}

/* What does not fit a machine, or has no kernels, is said and left out. */
static bool one_model(struct bench *b, const struct chip *chip, const char *model, const char *precision,
                      struct orch_error *error)
{
    const struct shape_published *const published = shape_published_named(model);
    struct line l = {.chip = chip, .model = model, .precision = precision};
    struct orch_error own = {0};
    if (published)
        shape_of_published(published, &l.shape);
    bool ok = true;
    const unsigned before = b->done;
    for (int prompt = 1; ok && prompt >= 0; prompt--)
        ok = one_test(b, &l, prompt == 1, &own);
    b->done = before + 2;
    if (!ok && published && block_format_named(precision) && api_leaves_out(&own)) {
        tell_left_out(b);
        b->left_out = own;
        return true;
    }
    if (!ok && error)
        *error = own;
    return ok;
}

/* ---- all of them ---- */

/* Calls for each name of a list that is separated by commas. */
static bool each_precision(struct bench *b, const struct chip *chip, const char *model, struct orch_error *error)
{
    const char *const asked = api_value(&b->context->args, "precision");
    char *const names = strdup(asked ? asked : PRECISIONS_USUALLY);
    char *rest = NULL;
    bool ok = names || orch_no_memory(error);
    for (char *name = ok ? strtok_r(names, ",", &rest) : NULL; ok && name; name = strtok_r(NULL, ",", &rest))
        ok = one_model(b, chip, model, name, error);
    free(names);
    return ok;
}

static bool each_model(struct bench *b, const struct chip *chip, const char *list, struct orch_error *error)
{
    char *const names = strdup(list);
    char *rest = NULL;
    bool ok = names || orch_no_memory(error);
    for (char *name = ok ? strtok_r(names, ",", &rest) : NULL; ok && name; name = strtok_r(NULL, ",", &rest))
        ok = each_precision(b, chip, strncmp(name, "model:", 6) == 0 ? name + 6 : name, error);
    free(names);
    return ok;
}

/* Names of a list that is separated by commas. */
static unsigned count_of(const char *list)
{
    unsigned count = 1;
    for (; (list = strchr(list, ',')); list++)
        count++;
    return count;
}

static bool open_bench(struct bench *b, struct orch_error *error)
{
    const struct api_args *const a = &b->context->args;
    uint64_t prompt = PROMPT_USUALLY, generate = GENERATE_USUALLY, memory = 0;
    const bool gpu = !api_value(a, "unit") || strcmp(api_value(a, "unit"), "gpu") == 0;
    if (!api_unsigned(a, "prompt", 1, 1 << 20, &prompt, error) || !api_unsigned(a, "generate", 1, 1 << 20, &generate, error) ||
        !api_unsigned(a, "memory", 1, 65536, &memory, error))
        return false;
    const char *const kernels = api_value(a, "kernels") ? api_value(a, "kernels") : gpu ? KERNELS_USUALLY : NULL;
    struct framework_choice choice;
    if (kernels && !framework_choose(kernels, "", &choice, error))
        return false;
    b->prompt = (unsigned)prompt;
    b->generate = (unsigned)generate;
    b->request = (struct run_request){.unit = api_value(a, "unit") ? api_value(a, "unit") : "gpu",
                                      .detail = "op",
                                      .mode = RUN_TIMING,
                                      .memory_gib = (unsigned)memory,
                                      .kernels = kernels,
                                      .seed = b->context->common.seed,
                                      .threads = b->context->common.threads};
    char *const path = validation_shipped_path("hw-measured.csv", error);
    b->published = path ? measurements_read(path, error) : NULL;
    free(path);
    b->db = b->published ? db_open(b->context->common.db, DB_WRITE, error) : NULL;
    b->known = b->db ? known_create(b->db, error) : NULL;
    if (!b->known)
        return false;
    b->ask = known_as_run(b->known);
    b->request.known = &b->ask;
    return true;
}

static void show(struct bench *b)
{
    if (api_wants_document(b->context))
        api_document(b->context, json_object_get(b->rows));
    if (!api_wants_text(b->context))
        return;
    api_table(b->context, b->table);
    b->table = NULL;
    if (b->compared)
        fprintf(b->context->out, "\n%u tests have a published row: the mean error is %.1f %%, that of the roofline %.1f %%\n",
                b->compared, 100 * b->error / b->compared, 100 * b->roofline_error / b->compared);
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    static const struct table_column columns[] = {
        {"model", NULL, false, 0},     {"size", NULL, true, 0},  {"params", NULL, true, 0},   {"chip", NULL, false, 0},
        {"test", NULL, true, 0},       {"t/s", NULL, true, 0},   {"interval", NULL, true, 0}, {"J/token", NULL, true, 0},
        {"published", "t/s", true, 0}, {"error", NULL, true, 0}, {"roofline", "t/s", true, 0}};
    struct orch_error error = {0};
    struct api_chips chips = {.chip = NULL};
    if (words != 1)
        return api_usage(context, "one list of models, as in model:llama-7b");
    struct bench b = {.context = context, .rows = json_object_new_array(), .table = table_create(columns, ARRAY_COUNT(columns))};
    bool ok = open_bench(&b, &error) && api_chips_open_or_all(context, &chips, &error);
    b.all = 2 * (unsigned)chips.count * count_of(word[0]) *
            count_of(api_value(&context->args, "precision") ? api_value(&context->args, "precision") : PRECISIONS_USUALLY);
    for (size_t i = 0; ok && i < chips.count; i++)
        ok = each_model(&b, chips.chip[i], word[0], &error);
    api_progress(context, &(struct orchard_progress){.fraction = NAN, .host_seconds = NAN});
    if (ok && json_object_array_length(b.rows) == 0) { /* nothing is left to show */
        error = b.left_out;
        ok = false;
    }
    if (ok) {
        tell_left_out(&b);
        show(&b);
    }
    table_free(b.table);
    json_object_put(b.rows);
    known_free(b.known);
    db_close(b.db);
    csv_free(b.published);
    api_chips_close(&chips);
    return ok ? ORCH_OK : api_fail(context, &error);
}

const struct api_verb verb_bench_llm = {
    .help =
        {
            .name = "bench-llm",
            .synopsis = "MODEL[,MODEL...] [options]",
            .summary = "the table of llama-bench for published language models",
            .text =
                "MODEL is a model of the zoo (orchard models), with or without model: before it; chips are all "
                "unless " ORCH_OPTION(
                    "chip") " names some.\n"
                            "ppN reads a prompt of N tokens, tgN generates N tokens behind nothing. Every kernel is timed by its "
                            "shape; its\n"
                            "characteristic is kept in the performance database, so that a second table takes seconds. Beside it "
                            "stand what was\n"
                            "published for llama.cpp (of a chip with another number of GPU cores where that is all there is, "
                            "which "
                            "is told and\n"
                            "no error), and what a roofline says: weights once for a token at 85 % of the published bandwidth,\n"
                            "all multiply-adds at the published peak. What does not fit a chip's memory is said and left out.",
            .examples = "orchard bench-llm qwen2.5-0.5b --chip m1 --precision q4_0 --prompt 32 --generate 4\n"
                        "orchard bench-llm qwen2.5-0.5b --chip m1 --precision q4_0 --prompt 32 --generate 4 --json",
            .options = option_table,
        },
    .ask = ask,
};
