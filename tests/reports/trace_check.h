/* Checks on the parsed document what holds for every Chrome trace. */
#ifndef ORCHARD_TESTS_REPORTS_TRACE_CHECK_H
#define ORCHARD_TESTS_REPORTS_TRACE_CHECK_H

#include "tests/support/suite.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct trace_sums {
    size_t slices, counters, arrows, moments;
};

enum { TRACE_TRACKS = 4096 };

struct trace_track {
    long pid, tid;
    char name[96]; /* of a counter; "" = a thread, "process" = a process */
    double last, until;
};

struct trace_state {
    struct trace_track track[TRACE_TRACKS];
    size_t tracks;
};

static inline struct trace_track *trace_track(struct trace_state *s, long pid, long tid, const char *name, bool add)
{
    for (size_t i = 0; i < s->tracks; i++)
        if (s->track[i].pid == pid && s->track[i].tid == tid && strcmp(s->track[i].name, name) == 0)
            return &s->track[i];
    if (!add || s->tracks == TRACE_TRACKS)
        return NULL;
    struct trace_track *const t = &s->track[s->tracks++];
    *t = (struct trace_track){.pid = pid, .tid = tid, .last = -HUGE_VAL, .until = -HUGE_VAL};
    snprintf(t->name, sizeof t->name, "%s", name);
    return t;
}

static inline const char *trace_text(json_object *e, const char *key)
{
    json_object *value = NULL;
    return json_object_object_get_ex(e, key, &value) ? json_object_get_string(value) : "";
}

static inline double trace_number(json_object *e, const char *key)
{
    json_object *value = NULL;
    const bool there = json_object_object_get_ex(e, key, &value);
    CHECK(there, "no %s in %s", key, json_object_to_json_string(e));
    return there ? json_object_get_double(value) : (double)NAN;
}

/* Slices and counters of a track come in order; slices do not overlap; names are declared first. */
static inline void trace_event(struct trace_state *s, json_object *e, struct trace_sums *sums)
{
    const long pid = (long)trace_number(e, "pid"), tid = (long)trace_number(e, "tid");
    const char *const ph = trace_text(e, "ph"), *const name = trace_text(e, "name");
    if (strcmp(ph, "M") == 0) {
        if (strcmp(name, "process_sort_index") != 0)
            trace_track(s, pid, strcmp(name, "process_name") == 0 ? -1 : tid, strcmp(name, "process_name") == 0 ? "process" : "",
                        true);
        return;
    }
    const double ts = trace_number(e, "ts");
    CHECK(trace_track(s, pid, -1, "process", false) != NULL, "process %ld has no name", pid);
    CHECK(isfinite(ts) && ts >= 0, "ts %g", ts);
    if (strcmp(ph, "C") == 0) {
        struct trace_track *const t = trace_track(s, pid, -2, name, true);
        CHECK(t && ts >= t->last, "%s goes back from %g to %g", name, t ? t->last : 0, ts);
        if (t)
            t->last = ts;
        sums->counters++;
        return;
    }
    struct trace_track *const t = trace_track(s, pid, tid, "", false);
    CHECK(t != NULL, "track %ld of %ld has no name", tid, pid);
    if (!t)
        return;
    if (strcmp(ph, "X") == 0) {
        const double dur = trace_number(e, "dur");
        sums->slices++;
        if (dur == 0 && ts < t->until) /* a moment within another slice: the last lane takes those that find no lane */
            return;
        CHECK(ts >= t->last && ts >= t->until - 1e-6, "track %ld: a slice at %g, the one before lasts from %g to %g", tid, ts,
              t->last, t->until);
        CHECK(dur >= 0, "dur %g", dur);
        t->last = ts;
        t->until = ts + dur;
    } else if (strcmp(ph, "s") == 0 || strcmp(ph, "f") == 0) {
        CHECK(ts >= t->last - 1e-6 && ts <= t->until + 1e-6, "an arrow at %g, outside %g..%g", ts, t->last, t->until);
        sums->arrows += *ph == 's';
    } else if (strcmp(ph, "i") == 0) {
        sums->moments++;
    } else {
        CHECK(false, "phase '%s'", ph);
    }
}

static inline void trace_check(json_object *document, struct trace_sums *sums)
{
    static struct trace_state state;
    json_object *events = NULL;
    state.tracks = 0;
    CHECK(document && json_object_object_get_ex(document, "traceEvents", &events), "no traceEvents");
    for (size_t i = 0; events && i < json_object_array_length(events); i++)
        trace_event(&state, json_object_array_get_idx(events, i), sums);
}

#endif
