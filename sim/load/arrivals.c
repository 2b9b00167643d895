#include "sim/load/arrivals.h"

#include "isa/list_grow.h"
#include "sim/base/file_read.h"
#include "sim/base/splitmix64.h"
#include "sim/base/suggest.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MOST = 1 << 28, COLUMNS = 5, TOKENS_MOST = 1 << 20, SAMPLES_MOST = 4096 };

struct line {
    const char *file;
    unsigned number;
    char *cell[COLUMNS];
    unsigned cells;
};

void arrivals_free(struct arrivals *a)
{
    free(a->item);
    a->item = NULL;
    a->count = a->room = 0;
}

/* ---- files ---- */

/* Cuts the line into cells without spaces around them; false for one that is empty. */
static bool cut(char *text, struct line *l)
{
    char *rest = text, *cell;
    text[strcspn(text, "#")] = 0;
    l->cells = 0;
    for (const char *c = text; *c; c++)
        if (!isspace((unsigned char)*c)) {
            while (l->cells < COLUMNS && (cell = strsep(&rest, ",")) != NULL) {
                while (isspace((unsigned char)*cell))
                    cell++;
                for (size_t n = strlen(cell); n && isspace((unsigned char)cell[n - 1]); n--)
                    cell[n - 1] = 0;
                l->cell[l->cells++] = cell;
            }
            return true;
        }
    return false;
}

static bool read_count(const struct line *l, unsigned column, const char *what, unsigned most, unsigned *value,
                       struct orch_error *error)
{
    char *end;
    if (l->cells <= column || !*l->cell[column])
        return true;
    const double number = strtod(l->cell[column], &end);
    if (*end || !(number >= 1) || number > most || number != floor(number))
        return orch_fail(error, ORCH_USAGE, "%s:%u: %s '%.40s': a whole number from 1 to %u", l->file, l->number, what,
                         l->cell[column], most);
    *value = (unsigned)number;
    return true;
}

static bool read_model(const struct line *l, const char *const *model, size_t models, int *which, struct orch_error *error)
{
    struct suggest s;
    char hint[96];
    if (l->cells < 2 || !*l->cell[1])
        return true;
    suggest_start(&s, l->cell[1]);
    for (size_t i = 0; i < models; i++) {
        if (strcmp(model[i], l->cell[1]) == 0) {
            *which = (int)i;
            return true;
        }
        suggest_offer(&s, model[i]);
    }
    return orch_fail(error, ORCH_USAGE, "%s:%u: '%.60s' is none of the models%s", l->file, l->number, l->cell[1],
                     suggest_phrase(&s, hint, sizeof hint));
}

static bool read_line(const struct line *l, const char *const *model, size_t models, struct arrivals *a, struct orch_error *error)
{
    struct arrival r = {.model = ARRIVAL_NOBODY, .samples = 1};
    char *end;
    r.time_s = strtod(l->cell[0], &end);
    if (end == l->cell[0] || *end || !isfinite(r.time_s) || r.time_s < 0)
        return orch_fail(error, ORCH_USAGE, "%s:%u: '%.40s': expected the second of the arrival, 0 or more", l->file, l->number,
                         l->cell[0]);
    if (a->count && r.time_s < a->item[a->count - 1].time_s)
        return orch_fail(error, ORCH_USAGE, "%s:%u: %.9g s comes before %.9g s of the line above: sort the lines by time",
                         l->file, l->number, r.time_s, a->item[a->count - 1].time_s);
    if (!read_model(l, model, models, &r.model, error) || !read_count(l, 2, "samples", SAMPLES_MOST, &r.samples, error) ||
        !read_count(l, 3, "prompt", TOKENS_MOST, &r.prompt, error) ||
        !read_count(l, 4, "generate", TOKENS_MOST, &r.generate, error))
        return false;
    struct arrival *const grown = list_grow(a->item, a->count, &a->room, sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    a->item = grown;
    a->item[a->count++] = r;
    return true;
}

bool arrivals_parse(const char *file, const char *text, size_t size, const char *const *model, size_t models, struct arrivals *a,
                    struct orch_error *error)
{
    struct line l = {.file = file};
    char buffer[512];
    bool ok = true;
    *a = (struct arrivals){.kind = ARRIVALS_TRACE};
    for (size_t at = 0; ok && at < size;) {
        const char *const newline = memchr(text + at, '\n', size - at);
        const size_t length = newline ? (size_t)(newline - text) - at : size - at;
        l.number++;
        if (length >= sizeof buffer || memchr(text + at, 0, length))
            return orch_fail(error, ORCH_USAGE, "%s:%u: no line of `seconds,model,samples,prompt,generate`", file, l.number);
        memcpy(buffer, text + at, length);
        buffer[length] = 0;
        at += length + 1;
        if (cut(buffer, &l) && !(a->count == 0 && isalpha((unsigned char)l.cell[0][0])))
            ok = read_line(&l, model, models, a, error);
    }
    if (ok && a->count < 2)
        return orch_fail(error, ORCH_USAGE, "%s: %zu requests: a trace has two or more, a line each", file, a->count);
    if (ok)
        a->rate = (double)(a->count - 1) / fmax(a->item[a->count - 1].time_s - a->item[0].time_s, 1e-9);
    return ok;
}

static bool read_file(const char *path, const char *const *model, size_t models, struct arrivals *a, struct orch_error *error)
{
    FILE *const file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t size = 0;
    const bool read = file && file_read_all(file, FILE_MOST, &bytes, &size);
    const int why = errno;
    if (file)
        fclose(file);
    if (!read)
        return orch_fail(
            error, ORCH_USAGE,
            ORCH_OPTION("arrivals") " %s: %s; it is poisson:RATE, constant:RATE or a file with a line for each request", path,
            strerror(why));
    const bool ok = arrivals_parse(path, (const char *)bytes, size, model, models, a, error);
    free(bytes);
    return ok;
}

bool arrivals_read(const char *text, const char *const *model, size_t models, struct arrivals *a, struct orch_error *error)
{
    const bool poisson = strncmp(text, "poisson:", 8) == 0;
    const char *const number = poisson ? text + 8 : strncmp(text, "constant:", 9) == 0 ? text + 9 : NULL;
    char *end;
    *a = (struct arrivals){.kind = poisson ? ARRIVALS_POISSON : ARRIVALS_CONSTANT};
    if (!number)
        return read_file(text, model, models, a, error);
    a->rate = strtod(number, &end);
    return (end != number && !*end && a->rate >= 1e-6 && a->rate <= 1e7) ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("arrivals") " %s: a rate is a number of requests a second, 1e-6 to 1e7",
                     text);
}

/* ---- streams ---- */

double arrival_share(uint64_t seed, uint64_t index)
{
    return ((double)(splitmix64_at(seed, index) >> 11) + 1) * 0x1p-53;
}

bool arrival_next(struct arrival_stream *s, struct arrival *arrival)
{
    const struct arrivals *const a = s->from;
    if (a->kind == ARRIVALS_TRACE) {
        if (s->next == a->count)
            return false;
        *arrival = a->item[s->next++];
        return true;
    }
    s->drawn++;
    s->last_s =
        a->kind == ARRIVALS_CONSTANT ? (double)s->drawn / a->rate : s->last_s - log(arrival_share(s->seed, s->drawn)) / a->rate;
    *arrival = (struct arrival){.time_s = s->last_s, .model = ARRIVAL_NOBODY, .samples = 1};
    return true;
}
