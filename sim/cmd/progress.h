/* How far a command is, on standard error: a bar or a counter on one line of a terminal, for work that takes longer than about a
 * second. Where there is no terminal, only work that counts its steps (sweeps, validations) says something, every ten seconds.
 */
#ifndef ORCHARD_SIM_CMD_PROGRESS_H
#define ORCHARD_SIM_CMD_PROGRESS_H

#include "sim/orchard.h"

struct progress {
    FILE *out;
    bool quiet, terminal; /* terminal: lines can be drawn again */
    bool lines;           /* a terminal of any kind */
    bool drawn;
    double drawn_at; /* host seconds of the work */
};

/* `out` is stderr; `quiet` silences it. */
struct progress progress_on(FILE *out, bool quiet);
/* Draws what is due; the end of the work wipes the line. */
void progress_tell(struct progress *progress, const struct orchard_progress *now);
/* Wipes a line that is still there. */
void progress_end(struct progress *progress);

#endif
