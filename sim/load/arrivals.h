/* When requests come: at random with a mean rate, evenly, or as a file says. */
#ifndef ORCHARD_SIM_LOAD_ARRIVALS_H
#define ORCHARD_SIM_LOAD_ARRIVALS_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARRIVAL_NOBODY = -1 };

struct arrival {
    double time_s;
    int model;                 /* its place among the models; ARRIVAL_NOBODY = chosen by the shares */
    unsigned samples;          /* of a network; 1 or more */
    unsigned prompt, generate; /* tokens of a language model; 0 = as usual */
};

struct arrivals {
    enum { ARRIVALS_POISSON, ARRIVALS_CONSTANT, ARRIVALS_TRACE } kind;
    double rate;          /* requests a second; of a trace: its mean */
    struct arrival *item; /* of a trace, owned, in the order of time */
    size_t count, room;
};

/* "poisson:50", "constant:50" or a file. A file has a line for each request, `seconds,model,samples,prompt,generate`, of which
 * all but the first may be left out or empty; '#' begins a remark, and a line of names may come first. `models` are the names
 * that it may use. Free in any case. */
bool arrivals_read(const char *text, const char *const *model, size_t models, struct arrivals *arrivals,
                   struct orch_error *error);
bool arrivals_parse(const char *file, const char *text, size_t size, const char *const *model, size_t models,
                    struct arrivals *arrivals, struct orch_error *error);
void arrivals_free(struct arrivals *arrivals);

/* One after another; false behind the last of a trace. */
struct arrival_stream {
    const struct arrivals *from;
    uint64_t seed, drawn;
    double last_s;
    size_t next;
};
bool arrival_next(struct arrival_stream *stream, struct arrival *arrival);
/* A number in (0, 1] of a stream of its own. */
double arrival_share(uint64_t seed, uint64_t index);

#endif
