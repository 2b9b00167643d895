#include "reports/perfetto.h"

#include "reports/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, LANE_STRIDE = 1000000 }; /* lane k of track t is track t + k * LANE_STRIDE */

enum kind { SLICES, COUNTERS, MOMENTS, KINDS };
static const char *const kind_names[KINDS] = {"slices", "counter points", "moments"};

/* How many events of a kind came, and how many were written. */
struct quota {
    uint64_t seen, kept, stride, kept_at_stride;
};

struct track {
    unsigned pid, tid;
    char *name;
    unsigned lanes; /* named so far */
    double busy_until[LANES];
};

/* The last point of a counter; a value that does not change is not repeated. */
struct counter {
    unsigned pid;
    char *name;
    struct quota quota;
};

struct perfetto {
    FILE *out;
    struct text line;
    struct track *track;
    struct counter *counter;
    unsigned *process;
    size_t tracks, counters, processes;
    struct quota quota[KINDS];
    uint64_t keep, events, arrows;
    bool failed;
};

struct perfetto *perfetto_begin(FILE *out)
{
    struct perfetto *const p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->out = out;
    p->keep = PERFETTO_KEEP;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
    return p;
}

void perfetto_set_keep(struct perfetto *p, uint64_t keep)
{
    p->keep = keep ? keep : 1;
}

/* Whether the next event is written: the first `keep` all are, then every second one, every fourth ..., `keep` of each. */
static bool wanted(struct quota *q, uint64_t keep)
{
    if (q->stride == 0)
        q->stride = 1;
    if (q->kept_at_stride >= keep) {
        q->stride *= 2;
        q->kept_at_stride = 0;
    }
    const bool yes = q->seen++ % q->stride == 0;
    q->kept += yes;
    q->kept_at_stride += yes;
    return yes;
}

/* ---- one event, one line ---- */

static void begin(struct perfetto *p, const char *phase, unsigned pid, unsigned tid, const char *name)
{
    p->line.size = 0;
    text_printf(&p->line, "%s\n{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u,\"name\":", p->events++ ? "," : "", phase, pid, tid);
    text_json(&p->line, name ? name : "?");
}

/* Writes microseconds, to a thousandth of a nanosecond. */
static void time_member(struct perfetto *p, const char *name, double ns)
{
    text_printf(&p->line, ",\"%s\":%.6f", name, isfinite(ns) ? ns / 1000 : 0);
}

static void end(struct perfetto *p)
{
    text_put(&p->line, "}");
    p->failed = p->failed || p->line.failed;
    if (!p->failed)
        p->failed = fwrite(p->line.data, 1, p->line.size, p->out) != p->line.size;
}

static void details_member(struct perfetto *p, const struct perfetto_detail *d)
{
    bool any = false;
    text_put(&p->line, ",\"args\":{");
    for (; d && d->name; d++) {
        if (!d->text && isnan(d->number))
            continue;
        text_put(&p->line, any ? "," : "");
        text_json(&p->line, d->name);
        text_put(&p->line, ":");
        if (d->text)
            text_json(&p->line, d->text);
        else
            text_json_number(&p->line, d->number);
        any = true;
    }
    text_put(&p->line, "}");
}

static void name_event(struct perfetto *p, const char *what, unsigned pid, unsigned tid, const char *name)
{
    begin(p, "M", pid, tid, what);
    text_put(&p->line, ",\"args\":{\"name\":");
    text_json(&p->line, name);
    text_put(&p->line, "}");
    end(p);
}

/* ---- names ---- */

/* Makes room for one more entry. */
static void *grown(struct perfetto *p, void *list, size_t count, size_t size)
{
    if (count && (count & (count - 1)))
        return list;
    void *const more = realloc(list, (count ? 2 * count : 1) * size);
    p->failed = p->failed || !more;
    return more;
}

void perfetto_process(struct perfetto *p, unsigned pid, const char *name)
{
    for (size_t i = 0; i < p->processes; i++)
        if (p->process[i] == pid)
            return;
    unsigned *const list = grown(p, p->process, p->processes, sizeof *list);
    if (!list)
        return;
    p->process = list;
    p->process[p->processes++] = pid;
    name_event(p, "process_name", pid, 0, name);
    begin(p, "M", pid, 0, "process_sort_index");
    text_printf(&p->line, ",\"args\":{\"sort_index\":%u}", pid);
    end(p);
}

static struct track *find_track(const struct perfetto *p, unsigned pid, unsigned tid)
{
    for (size_t i = p->tracks; i-- > 0;)
        if (p->track[i].pid == pid && p->track[i].tid == tid)
            return &p->track[i];
    return NULL;
}

void perfetto_track(struct perfetto *p, unsigned pid, unsigned tid, const char *name)
{
    if (find_track(p, pid, tid))
        return;
    struct track *const list = grown(p, p->track, p->tracks, sizeof *list);
    if (!list)
        return;
    p->track = list;
    struct track *const t = &p->track[p->tracks];
    *t = (struct track){.pid = pid, .tid = tid, .name = strdup(name), .lanes = 1};
    p->failed = p->failed || !t->name;
    p->tracks++;
    for (unsigned i = 0; i < LANES; i++)
        t->busy_until[i] = -HUGE_VAL;
    name_event(p, "thread_name", pid, tid, name);
}

/* ---- events ---- */

/* The first lane that is free at that time, which is named when it is new. The last lane takes the slices that find none. */
static unsigned lane_for(struct perfetto *p, struct track *t, double begin_ns)
{
    unsigned lane = 0;
    while (lane + 1 < LANES && t->busy_until[lane] > begin_ns)
        lane++;
    for (; t->lanes <= lane; t->lanes++) {
        char name[160];
        snprintf(name, sizeof name, "%.120s (%u)", t->name ? t->name : "", t->lanes + 1);
        name_event(p, "thread_name", t->pid, t->tid + t->lanes * LANE_STRIDE, name);
    }
    return lane;
}

struct perfetto_place perfetto_slice(struct perfetto *p, unsigned pid, unsigned tid, const char *name, double begin_ns,
                                     double duration_ns, const struct perfetto_detail *details)
{
    struct track *const t = find_track(p, pid, tid);
    if (!t || !wanted(&p->quota[SLICES], p->keep))
        return (struct perfetto_place){pid, tid, false};
    const unsigned lane = lane_for(p, t, begin_ns), at = tid + lane * LANE_STRIDE;
    if (t->busy_until[lane] > begin_ns)
        duration_ns = 0; /* all lanes are busy, so it becomes a moment */
    else
        t->busy_until[lane] = begin_ns + duration_ns;
    begin(p, "X", pid, at, name);
    time_member(p, "ts", begin_ns);
    time_member(p, "dur", fmax(duration_ns, 0));
    details_member(p, details);
    end(p);
    return (struct perfetto_place){pid, at, true};
}

static void arrow_end(struct perfetto *p, const char *phase, const char *name, struct perfetto_place at, double ns)
{
    begin(p, phase, at.pid, at.tid, name);
    text_printf(&p->line, ",\"cat\":\"flow\",\"id\":%llu%s", (unsigned long long)p->arrows, *phase == 'f' ? ",\"bp\":\"e\"" : "");
    time_member(p, "ts", ns);
    end(p);
}

void perfetto_arrow(struct perfetto *p, const char *name, struct perfetto_place from, double from_ns, struct perfetto_place to,
                    double to_ns)
{
    if (!from.written || !to.written)
        return;
    p->arrows++;
    arrow_end(p, "s", name, from, from_ns);
    arrow_end(p, "f", name, to, to_ns);
}

static struct counter *counter_for(struct perfetto *p, unsigned pid, const char *name)
{
    for (size_t i = 0; i < p->counters; i++)
        if (p->counter[i].pid == pid && p->counter[i].name && strcmp(p->counter[i].name, name) == 0)
            return &p->counter[i];
    struct counter *const list = grown(p, p->counter, p->counters, sizeof *list);
    if (!list)
        return NULL;
    p->counter = list;
    p->counter[p->counters] = (struct counter){.pid = pid, .name = strdup(name)};
    p->failed = p->failed || !p->counter[p->counters].name;
    return &p->counter[p->counters++];
}

void perfetto_counter(struct perfetto *p, unsigned pid, const char *name, const char *unit, double time_ns, double value)
{
    struct counter *const c = counter_for(p, pid, name);
    if (!c)
        return;
    p->quota[COUNTERS].seen++;
    if (!isfinite(value) || !wanted(&c->quota, p->keep / 10 + 1))
        return;
    p->quota[COUNTERS].kept++;
    begin(p, "C", pid, 0, name);
    time_member(p, "ts", time_ns);
    text_put(&p->line, ",\"args\":{");
    text_json(&p->line, unit && *unit ? unit : "value");
    text_put(&p->line, ":");
    text_json_number(&p->line, value);
    text_put(&p->line, "}");
    end(p);
}

void perfetto_moment(struct perfetto *p, unsigned pid, unsigned tid, const char *name, double time_ns,
                     const struct perfetto_detail *details)
{
    if (!wanted(&p->quota[MOMENTS], p->keep))
        return;
    begin(p, "i", pid, tid, name);
    time_member(p, "ts", time_ns);
    text_put(&p->line, ",\"s\":\"t\"");
    details_member(p, details);
    end(p);
}

/* ---- the end ---- */

static void left_out(struct perfetto *p)
{
    p->line.size = 0;
    text_put(&p->line, "\n],\"otherData\":{\"written by\":\"orchard\"");
    for (int k = 0; k < KINDS; k++)
        if (p->quota[k].kept < p->quota[k].seen)
            text_printf(&p->line, ",\"sampled down: %s\":\"%llu of %llu\"", kind_names[k], (unsigned long long)p->quota[k].kept,
                        (unsigned long long)p->quota[k].seen);
    text_put(&p->line, "}}\n");
    p->failed = p->failed || p->line.failed || fwrite(p->line.data, 1, p->line.size, p->out) != p->line.size;
}

bool perfetto_end(struct perfetto *p)
{
    if (!p)
        return false;
    left_out(p);
    const bool ok = fflush(p->out) == 0 && !ferror(p->out) && !p->failed;
    for (size_t i = 0; i < p->tracks; i++)
        free(p->track[i].name);
    for (size_t i = 0; i < p->counters; i++)
        free(p->counter[i].name);
    free(p->track);
    free(p->counter);
    free(p->process);
    text_free(&p->line);
    free(p);
    return ok;
}
