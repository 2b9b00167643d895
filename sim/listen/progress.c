#include "sim/listen/progress.h"

#include "sim/base/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR_WIDTH = 24 };
#define FIRST_SECONDS  1.0 /* a shorter run shows nothing */
#define REDRAW_SECONDS 0.1

struct progress {
    FILE *out;
    bool terminal, drawn;
    double drawn_at; /* host seconds of the run */
};

struct progress *progress_create_for(FILE *out, bool terminal)
{
    struct progress *const p = calloc(1, sizeof *p);
    if (p)
        *p = (struct progress){out, terminal, false, 0};
    return p;
}

struct progress *progress_create(FILE *out, bool quiet)
{
    const char *const kind = getenv("TERM");
    const bool dumb = kind && strcmp(kind, "dumb") == 0;
    return progress_create_for(out, !quiet && !dumb && isatty(fileno(out)) == 1);
}

static void wipe(struct progress *p)
{
    if (!p->drawn)
        return;
    fputs("\r\033[K", p->out);
    fflush(p->out);
    p->drawn = false;
}

void progress_free(struct progress *progress)
{
    if (!progress)
        return;
    wipe(progress);
    free(progress);
}

static void draw_bar(struct progress *p, double fraction)
{
    const double part = fmin(fmax(fraction, 0), 1);
    const int filled = (int)(part * BAR_WIDTH);
    fputc('[', p->out);
    for (int i = 0; i < BAR_WIDTH; i++)
        fputc(i < filled ? '#' : '.', p->out);
    fprintf(p->out, "] %3.0f %%", part * 100);
}

static void draw(struct progress *p, const struct event *event)
{
    const struct event_progress *const e = &event->progress;
    char text[FORMAT_SIZE];
    fputs("\r\033[K", p->out);
    if (!isnan(e->fraction))
        draw_bar(p, e->fraction);
    fprintf(p->out, " %s", e->what ? e->what : "simulating");
    fprintf(p->out, "  simulated %s", format_quantity(text, event->time_ns * 1e-9, "s"));
    fprintf(p->out, ", host %.0f s", e->host_seconds);
    if (e->fraction > 0.02 && e->fraction <= 1)
        fprintf(p->out, ", %.0f s to go", e->host_seconds * (1 / e->fraction - 1));
    fflush(p->out);
    p->drawn = true;
    p->drawn_at = e->host_seconds;
}

void progress_on_event(void *progress, const struct event *event)
{
    struct progress *const p = progress;
    if (event->kind == EVENT_RUN_BEGIN)
        p->drawn_at = 0;
    if (event->kind == EVENT_RUN_END || event->kind == EVENT_FAULT)
        wipe(p);
    if (event->kind != EVENT_PROGRESS || !p->terminal)
        return;
    const double now = event->progress.host_seconds;
    if (now >= FIRST_SECONDS && (!p->drawn || now - p->drawn_at >= REDRAW_SECONDS))
        draw(p, event);
}
