#include "sim/prove/validate/validation.h"

#include "sim/prove/validate/fitted.h"
#include "sim/prove/validate/measurements.h"
#include "sim/prove/validate/spreadsheet.h"
#include "sim/prove/validate/work_order.h"
#include "sim/run/interval.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct validation *validation_create(void)
{
    return calloc(1, sizeof(struct validation));
}

void validation_free(struct validation *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < v->tables; i++) {
        csv_free(v->table[i]);
        free(v->file[i].path);
    }
    fitted_list_free(v->fitted);
    free(v->table);
    free(v->file);
    free(v->row);
    free(v);
}

/* "a/b/amx-timing.csv" -> "amx-timing" */
static void stem_of(const char *path, char *stem, size_t size)
{
    const char *const base = strrchr(path, '/');
    snprintf(stem, size, "%s", base ? base + 1 : path);
    char *const dot = strrchr(stem, '.');
    if (dot && dot != stem)
        *dot = '\0';
}

/* Hashes names and cells, so that line ends and quotes do not count. */
static void hash_table(const struct csv_table *table, char hash[CONTENT_HASH_SIZE])
{
    struct content_hash h;
    content_hash_begin(&h);
    for (size_t c = 0; c < csv_columns(table); c++)
        content_hash_add_text(&h, csv_name(table, c));
    for (size_t r = 0; r < csv_rows(table); r++)
        for (size_t c = 0; c < csv_columns(table); c++)
            content_hash_add_text(&h, csv_cell(table, r, (int)c));
    content_hash_end(&h, hash);
}

static bool add_table(struct validation *v, const char *path, struct csv_table *table, struct orch_error *error)
{
    char stem[VALIDATE_ID_SIZE];
    stem_of(path, stem, sizeof stem);
    const size_t rows = csv_rows(table);
    struct csv_table **tables = realloc(v->table, (v->tables + 1) * sizeof *tables);
    if (tables)
        v->table = tables;
    struct validation_file *const files = tables ? realloc(v->file, (v->tables + 1) * sizeof *files) : NULL;
    if (files)
        v->file = files;
    char *const copy = strdup(path);
    struct validate_row *const grown = files && copy ? realloc(v->row, (v->rows + rows + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(copy);
        csv_free(table);
        return orch_fail(error, ORCH_INTERNAL, "%s: out of memory", path);
    }
    v->row = grown;
    const char *const base = strrchr(path, '/');
    snprintf(v->file[v->tables].name, sizeof v->file[v->tables].name, "%s", base ? base + 1 : path);
    v->file[v->tables].path = copy;
    hash_table(table, v->file[v->tables].hash);
    v->table[v->tables++] = table;
    for (size_t i = 0; i < rows; i++)
        validate_row_read(&v->row[v->rows++], table, stem, i);
    return true;
}

bool validation_add_file(struct validation *v, const char *path, struct orch_error *error)
{
    struct csv_table *const table = measurements_read(path, error);
    return table && add_table(v, path, table, error);
}

bool validation_add_text(struct validation *v, const char *name, const char *text, size_t bytes, struct orch_error *error)
{
    struct csv_table *const table = measurements_parse(name, text, bytes, error);
    return table && add_table(v, name, table, error);
}

void validation_keep_every(struct validation *v, uint64_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < v->rows; i++)
        if (v->row[i].number % n == 0)
            v->row[kept++] = v->row[i];
    v->rows = kept;
}

void validation_run_own_kernels(struct validation *v)
{
    for (size_t i = 0; i < v->rows; i++)
        v->row[i].own_kernels = true;
}

void validation_run_language(struct validation *v)
{
    for (size_t i = 0; i < v->rows; i++)
        v->row[i].language = true;
}

size_t validation_skipped(const struct validation *v)
{
    size_t count = 0;
    for (size_t i = 0; i < v->tables; i++)
        count += csv_faults(v->table[i]);
    return count;
}

void validation_skipped_say(const struct validation *v, size_t index, char *text, size_t size)
{
    size_t table = 0;
    for (; index >= csv_faults(v->table[table]); table++)
        index -= csv_faults(v->table[table]);
    csv_fault_say(v->file[table].path, csv_fault_at(v->table[table], index), text, size);
}

/* Rows of frameworks are times of a call, or rates of one. */
double validation_value_of(const struct validate_row *row, double seconds)
{
    return row->measure == VALIDATE_NS_PER_WORK ? seconds * 1e9 / row->amount : row->amount / seconds / 1e9;
}

double validation_measured_s(const struct validate_row *row)
{
    return row->measure == VALIDATE_NS_PER_WORK ? row->measured * row->amount / 1e9 : row->amount / row->measured / 1e9;
}

bool validation_find_fitted(struct validation *v, const struct chip_db *chips, struct orch_error *error)
{
    fitted_list_free(v->fitted);
    v->fitted = fitted_list_create(chips);
    return v->fitted || orch_no_memory(error);
}

/* Adds the time of the framework to the prediction; the prediction without it stays in row->bare. */
static void add_overhead(struct validate_row *row, const struct validate_program *program, struct validate_timing *timing)
{
    row->bare = row->predicted = validate_value(program, timing);
    row->overhead = *program->framework ? validate_overhead_of(program->framework) : NULL;
    if (!row->overhead || program->power) /* joules contain it already, since the unit waits meanwhile */
        return;
    if (row->overhead->call_us > 0)
        row->bare = validation_value_of(row, row->device_s + row->way_s);
    const double seconds = validate_overhead_seconds(row->overhead, program->framework_bytes, program->framework_out_bytes);
    timing->seconds += seconds;
    timing->overhead_seconds += seconds;
    timing->thread_seconds[0] = timing->seconds;
    row->predicted = validate_value(program, timing);
}

/* Whether a ratio of values counts as a ratio of times: rates shrink as the time grows; watts and joules count as they are. */
static bool is_time(enum validate_measure measure)
{
    return measure == VALIDATE_NS_PER_WORK || measure == VALIDATE_CYCLES_PER_WORK || measure == VALIDATE_RATIO ||
           measure == VALIDATE_WATTS || measure == VALIDATE_JOULES;
}

double validation_log_ratio(const struct validate_row *row, double predicted)
{
    const double ratio = log(row->measured / predicted);
    return row->time ? ratio : -ratio;
}

/* The 90 % interval of a predicted row, by a spread of the ratios of rows like it. */
static void validation_set_interval(struct validate_row *row, const struct residual *residual)
{
    const struct interval i = interval_of(residual, row->parameters, row->parameters);
    row->low = row->predicted * (row->time ? i.low : 1 / i.high);
    row->high = row->predicted * (row->time ? i.high : 1 / i.low);
}

/* What the measurement of overheads wants to know of a row, be it modelled or not. */
static void note_framework(struct validate_row *row, const struct validate_program *program)
{
    snprintf(row->framework, sizeof row->framework, "%s", program->framework);
    row->framework_bytes = program->framework_bytes;
    row->framework_out_bytes = program->framework_out_bytes;
    row->measures_overhead = program->measures_overhead;
    row->measure = program->measure;
    row->amount = program->work;
    row->power = program->power;
}

static void predict(struct validate_row *row, const struct validate_program *program, struct validate_timing *timing)
{
    row->device_s = timing->seconds - timing->overhead_seconds;
    row->way_s = timing->way_seconds;
    add_overhead(row, program, timing);
    if (!isfinite(row->predicted) || row->predicted <= 0) {
        validate_refuse(row, "the run took no time");
        return;
    }
    row->state = VALIDATE_PREDICTED;
    if (program->launches && timing->overhead_seconds > 0.5 * timing->seconds && !program->power)
        row->work = RESIDUAL_LAUNCH;
    row->time = is_time(program->measure);
    row->parameters = timing->parameters;
    validation_set_interval(row, residual_of(row->part, row->work));
}

/* The overhead is that of the prediction. */
static void ask_spreadsheet(struct validate_row *row, const struct validate_program *program,
                            const struct validate_timing *timing, const struct validate_runner *runner)
{
    const struct chip *const chip = runner->chip ? runner->chip(runner->context, program) : NULL;
    struct spreadsheet_work work;
    if (!chip)
        return;
    if (row->state == VALIDATE_PREDICTED)
        row->spreadsheet = spreadsheet_value(chip, row, program, timing->overhead_seconds);
    const struct spreadsheet_peaks peaks = spreadsheet_peaks(chip, row, program);
    if (program->measures_overhead && spreadsheet_work(row, program, &work))
        row->roofline_s = spreadsheet_seconds(&work, &peaks);
}

static bool run_row(const struct validation *v, struct validate_row *row, const struct validate_runner *runner,
                    struct orch_error *error)
{
    struct validate_program program;
    row->state = VALIDATE_UNMODELLED;
    row->parameter = v->fitted ? fitted_list_key(v->fitted, row) : NULL;
    if (!validate_plan(row, &program)) /* which may name a parameter itself */
        return true;
    row->parameter = v->fitted ? row->parameter : NULL;
    validate_classify(row, &program);
    note_framework(row, &program);
    struct validate_timing timing = {0};
    struct orch_error why = {0};
    const bool ran = runner->run(runner->context, &program, &timing, &why);
    row->spreadsheet = row->roofline_s = 0;
    if (ran)
        predict(row, &program, &timing);
    if (ran || program.measures_overhead)
        ask_spreadsheet(row, &program, &timing, runner);
    if (!ran)
        validate_refuse(row, "%.150s", why.text);
    validate_program_free(&program);
    if (!ran && why.exit_code == ORCH_INTERRUPTED) {
        if (error)
            *error = why;
        return false;
    }
    return true;
}

/* ---- rows, each by whoever is free ---- */

struct crew {
    struct validation *v;
    const size_t *order; /* of rows */
    struct validate_listener listener;
    pthread_mutex_t lock; /* guards everything below, and the listener */
    size_t next, done;    /* the next place in the order; rows that are done */
    bool ended;
    struct orch_error error;
};

struct worker {
    struct crew *crew;
    const struct validate_runner *runner;
    pthread_t thread;
    bool started;
};

static struct validate_row *take_row(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    struct validate_row *const row = crew->ended || crew->next == crew->v->rows ? NULL : &crew->v->row[crew->order[crew->next++]];
    pthread_mutex_unlock(&crew->lock);
    return row;
}

static void *work(void *context)
{
    const struct worker *const worker = context;
    struct crew *const crew = worker->crew;
    struct orch_error error = {0};
    for (struct validate_row *row; (row = take_row(crew)) != NULL;) {
        const bool ok = run_row(crew->v, row, worker->runner, &error);
        pthread_mutex_lock(&crew->lock);
        if (!ok) {
            crew->ended = true;
            crew->error = error;
        } else if (crew->listener.tell) {
            crew->listener.tell(crew->listener.context, ++crew->done, crew->v->rows);
        }
        pthread_mutex_unlock(&crew->lock);
    }
    return NULL;
}

bool validation_run(struct validation *v, const struct validate_runner *runner, struct orch_error *error)
{
    return validation_run_jobs(v, runner, 1, &(struct validate_listener){NULL, NULL}, error);
}

bool validation_run_jobs(struct validation *v, const struct validate_runner *runners, unsigned jobs,
                         const struct validate_listener *listener, struct orch_error *error)
{
    size_t *const order = work_order(v->row, v->rows, &runners[0]);
    struct crew crew = {.v = v, .order = order, .listener = *listener, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct worker *const worker = order ? calloc(jobs ? jobs : 1, sizeof *worker) : NULL;
    if (!worker) {
        free(order);
        return orch_no_memory(error);
    }
    for (unsigned i = 0; i < jobs; i++) {
        worker[i] = (struct worker){.crew = &crew, .runner = &runners[i]};
        worker[i].started = i && pthread_create(&worker[i].thread, NULL, work, &worker[i]) == 0;
    }
    work(&worker[0]); /* works alone if no thread could be started */
    for (unsigned i = 0; i < jobs; i++)
        if (worker[i].started)
            pthread_join(worker[i].thread, NULL);
    free(worker);
    free(order);
    pthread_mutex_destroy(&crew.lock);
    if (crew.ended && error)
        *error = crew.error;
    return !crew.ended;
}
