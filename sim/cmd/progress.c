#include "sim/cmd/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR_WIDTH = 24 };
#define FIRST_SECONDS        1.0 /* shorter work shows nothing */
#define REDRAW_SECONDS       0.1
#define SWEEP_REDRAW_SECONDS 0.2
#define SWEEP_REPEAT_SECONDS 10.0 /* where there is no terminal */

struct progress progress_on(FILE *out, bool quiet)
{
    const char *kind = getenv("TERM");
    const bool dumb = kind && strcmp(kind, "dumb") == 0, terminal = isatty(fileno(out)) == 1;
    return (struct progress){.out = out, .quiet = quiet, .terminal = terminal && !dumb, .lines = terminal};
}

void progress_end(struct progress *p)
{
    if (!p->drawn)
        return;
    fputs("\r\033[K", p->out);
    fflush(p->out);
    p->drawn = false;
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

static void draw_run(struct progress *p, const char *line, double fraction)
{
    fputs("\r\033[K", p->out);
    if (!isnan(fraction))
        draw_bar(p, fraction);
    fprintf(p->out, " %s", line);
    fflush(p->out);
    p->drawn = true;
}

/* Where lines cannot be drawn again, they are written one below the other. */
static void draw_sweep(struct progress *p, const char *line)
{
    fprintf(p->out, p->lines ? "\r\033[K%s" : "%s\n", line);
    fflush(p->out);
    p->drawn = p->lines;
}

/* Whether `now` is late enough for another line; remembers it when so. */
static bool is_due(struct progress *p, double now, double step)
{
    if (now < FIRST_SECONDS || now - p->drawn_at < step)
        return false;
    p->drawn_at = now;
    return true;
}

void progress_tell(struct progress *p, const struct orchard_progress *now)
{
    if (!now->line) {
        progress_end(p);
        p->drawn_at = 0;
    } else if (p->quiet) {
        return;
    } else if (isnan(now->host_seconds)) { /* steps, a line each */
        if (p->lines)
            fprintf(p->out, "%s\n", now->line);
    } else if (now->all > 0) {
        if (is_due(p, now->host_seconds, p->lines ? SWEEP_REDRAW_SECONDS : SWEEP_REPEAT_SECONDS))
            draw_sweep(p, now->line);
    } else if (p->terminal && is_due(p, now->host_seconds, REDRAW_SECONDS)) {
        draw_run(p, now->line, now->fraction);
    }
}
