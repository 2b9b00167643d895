/* Measures what frameworks take beside the device by the rows of a validation, and predicts rows with what other sources
 * measured.
 */
#include "sim/prove/validate/overhead.h"
#include "sim/prove/validate/validation.h"

#include <stdlib.h>
#include <string.h>

/* Rows of the framework that measure it, and what they say; rows of the source `without` are left out. */
struct measuring {
    struct overhead_sample *sample;
    const struct validate_row **row;
    size_t count;
};

static bool measures(const struct validate_row *r, const char *framework, const char *without)
{
    return (r->state == VALIDATE_PREDICTED || r->roofline_s > 0) && r->measures_overhead &&
           validate_overhead_covers(framework, r->framework) && (!without || strcmp(r->source, without) != 0);
}

static void gather(const struct validation *v, const char *framework, const char *without, struct measuring *m)
{
    m->count = 0;
    for (size_t i = 0; i < v->rows; i++) {
        const struct validate_row *const r = &v->row[i];
        if (!measures(r, framework, without))
            continue;
        const bool copies = r->framework_out_bytes > 0;
        const double device_s = r->state == VALIDATE_PREDICTED ? r->device_s : r->roofline_s;
        const double beside_s = copies ? device_s + r->way_s : device_s;
        m->row[m->count] = r;
        m->sample[m->count++] = (struct overhead_sample){.missing_us = 1e6 * (validation_measured_s(r) - beside_s),
                                                         .in_kib = copies ? r->framework_bytes / 1024 : 0,
                                                         .out_kib = r->framework_out_bytes / 1024,
                                                         .bytes = r->framework_bytes};
    }
}

static bool open_measuring(struct measuring *m, size_t rows)
{
    /* Each row once for the framework, once for another whose pages are taken. */
    *m = (struct measuring){calloc(2 * rows + 1, sizeof *m->sample), calloc(2 * rows + 1, sizeof *m->row), 0};
    return m->sample && m->row;
}

static void close_measuring(struct measuring *m)
{
    free(m->sample);
    free(m->row);
}

/* Whether no row before it has the same first letters of a framework's name. */
static bool is_first(const struct validation *v, size_t row, size_t letters)
{
    for (size_t i = 0; i < row; i++)
        if (strncmp(v->row[i].framework, v->row[row].framework, letters) == 0)
            return false;
    return true;
}

static void print(FILE *out, const char *framework, const struct measuring *m, size_t borrowed, const struct overhead_measured *o)
{
    const char *source = "";
    fprintf(out, "{\"%s\", %.1f, %.1f, %.1f, \"", framework, o->call_us, o->ns_per_kib, o->ns_per_kib_out);
    for (size_t i = 0, n = 0; i < m->count + borrowed; i++)
        if (m->sample[i].used) {
            fprintf(out, "%s%s", n++ ? " " : "", m->row[i]->id);
            source = m->row[i]->source;
        }
    fprintf(out, "\", \"%s\"},\n", source);
}

/* ---- pages of results ---- */

/* 2.5.1 is 20501; 0 without a version. */
static long version_of(const char *framework)
{
    unsigned number[3] = {0};
    const char *const at = strchr(framework, ' ');
    return at && sscanf(at, " %u.%u.%u", &number[0], &number[1], &number[2]) > 1
               ? 10000L * number[0] + 100L * number[1] + number[2]
               : 0;
}

static bool is_named(const char *framework, const char *name, size_t length)
{
    return strncmp(framework, name, length) == 0 && framework[length] == ' ';
}

/* What the pages of results take is the system's doing, and a version whose rows do not measure it was run on that of the version
 * next to it in time. The framework of this name, of the nearest version, whose rows do; NULL without any. */
static const char *pages_like(const struct validation *v, const char *name, size_t length, long version)
{
    const char *best = NULL;
    for (size_t i = 0; i < v->rows; i++) {
        const struct validate_row *const r = &v->row[i];
        const long away = labs(version_of(r->framework) - version);
        if (measures(r, r->framework, NULL) && r->framework_out_bytes > 0 && is_named(r->framework, name, length) &&
            !strchr(r->framework, ',') && (!best || away < labs(version_of(best) - version)))
            best = r->framework;
    }
    return best;
}

/* Of rows with calls of a library, those with small results measure the call (overhead.h). */
static bool has_pages(const struct overhead_sample *s)
{
    return s->out_kib > 0.01 * s->in_kib;
}

static bool lacks_pages(const struct validation *v, const char *framework, const struct measuring *m)
{
    bool has_results = false;
    for (size_t i = 0; i < m->count; i++)
        if (has_pages(&m->sample[i]))
            return false;
    for (size_t i = 0; i < v->rows; i++)
        has_results |= v->row[i].framework_out_bytes > 0 && strcmp(v->row[i].framework, framework) == 0;
    return has_results && version_of(framework) > 0;
}

/* Threads of a library touch pages as loops do: those of the same version say what they take. */
#define OF_LIBRARY "-blas"

/* Adds what the pages of results take where the framework's own rows do not say. Returns how many rows behind m's own were looked
 * at. */
static size_t borrow_pages(const struct validation *v, const char *framework, struct measuring *m, struct overhead_measured *o)
{
    const char *const library = strstr(framework, OF_LIBRARY " ");
    const size_t length = library ? (size_t)(library - framework) : strcspn(framework, " ");
    const char *const like = lacks_pages(v, framework, m) ? pages_like(v, framework, length, version_of(framework)) : NULL;
    if (!like)
        return 0;
    struct measuring others = {m->sample + m->count, m->row + m->count, 0};
    gather(v, like, NULL, &others);
    o->ns_per_kib_out = overhead_measure(others.sample, others.count).ns_per_kib_out;
    for (size_t i = 0; i < others.count; i++)
        others.sample[i].used &= has_pages(&others.sample[i]);
    return others.count;
}

static void measure(const struct validation *v, const char *framework, struct measuring *m, FILE *out)
{
    gather(v, framework, NULL, m);
    struct overhead_measured o = overhead_measure(m->sample, m->count);
    const size_t borrowed = borrow_pages(v, framework, m, &o);
    if (o.rows)
        print(out, framework, m, borrowed, &o);
}

bool validation_measure_overheads(const struct validation *v, FILE *out, struct orch_error *error)
{
    struct measuring m;
    const bool ok = open_measuring(&m, v->rows) || orch_no_memory(error);
    for (size_t i = 0; ok && i < v->rows; i++) {
        const char *const framework = v->row[i].framework;
        const size_t length = strlen(framework), of_version = strcspn(framework, ",");
        char version[sizeof v->row[i].framework];
        if (!length)
            continue;
        if (is_first(v, i, length + 1))
            measure(v, framework, &m, out);
        snprintf(version, sizeof version, "%.*s", (int)of_version, framework);
        if (of_version < length && is_first(v, i, of_version + 1))
            measure(v, version, &m, out);
    }
    close_measuring(&m);
    return ok;
}

/* ---- predictions without a source ---- */

/* Measures a framework again and predicts its rows with what is left: nothing, perhaps. */
static void predict_again(const struct validation *v, size_t first, const char *without, struct measuring *m, double *predicted)
{
    const char *const framework = v->row[first].framework;
    gather(v, v->row[first].overhead->framework, without, m);
    const struct overhead_measured o = overhead_measure(m->sample, m->count);
    const struct validate_overhead left = {framework, o.call_us, o.ns_per_kib, o.ns_per_kib_out, "", ""};
    for (size_t i = first; i < v->rows; i++) {
        const struct validate_row *const r = &v->row[i];
        if (r->state != VALIDATE_PREDICTED || r->power || strcmp(r->framework, framework) != 0)
            continue;
        const double added_s = validate_overhead_seconds(&left, r->framework_bytes, r->framework_out_bytes);
        predicted[i] = validation_value_of(r, r->device_s + added_s + (o.call_us > 0 ? 0 : r->way_s));
    }
}

bool validation_predict_without(const struct validation *v, const char *source, double *predicted)
{
    struct measuring m;
    const bool ok = open_measuring(&m, v->rows);
    for (size_t i = 0; i < v->rows; i++)
        predicted[i] = v->row[i].predicted;
    for (size_t i = 0; ok && i < v->rows; i++) {
        const struct validate_row *const r = &v->row[i];
        if (r->overhead && strcmp(r->overhead->source, source) == 0 && is_first(v, i, sizeof r->framework))
            predict_again(v, i, source, &m, predicted);
    }
    close_measuring(&m);
    return ok;
}
