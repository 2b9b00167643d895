/* Shared by the files that write Chrome traces of runs. */
#ifndef ORCHARD_SIM_LISTEN_PERFETTO_LISTENER_INTERNAL_H
#define ORCHARD_SIM_LISTEN_PERFETTO_LISTENER_INTERNAL_H

#include "reports/perfetto.h"
#include "sim/base/output_file.h"
#include "sim/listen/perfetto_listener.h"

/* The process numbers of a run: first its summary, then the parts of the chip, last the submissions. */
enum { PIDS_OF_RUN = 32, PID_RUN = 0, PID_PART = 1, PID_SUBMIT = PIDS_OF_RUN - 1, DETAILS_MAX = 64 };
/* Tracks of a part: its instances first. */
enum { TRACK_TRANSFERS = 1000, TRACK_KERNELS = 2000, TRACK_INSTRUCTIONS = 3000, TRACK_CORES = 4000 };

struct perfetto_listener {
    struct output_file *file;
    struct perfetto *perfetto;
    char run_name[256]; /* of the current run, as are all below */
    double gpu_cores;   /* of its chip; 0 or NAN = not known */
    double ops;         /* that ended, repeats included */
    struct perfetto_place last_op;
    double last_op_ns; /* when it began */
};

/* The process of a run with that offset, named at its first use; that of a part of the chip; the track of an instance of it. */
unsigned perfetto_listener_process(struct perfetto_listener *listener, const struct event *event, unsigned offset,
                                   const char *what);
unsigned perfetto_listener_part(struct perfetto_listener *listener, const struct event *event, enum orch_part part);
unsigned perfetto_listener_track(struct perfetto_listener *listener, unsigned pid, const struct event_place *place);
/* What the result of a run tells beyond its events: kernels of a network on their units, the time by reason, means. */
void perfetto_listener_result(struct perfetto_listener *listener, const struct event *event, const struct run_result *result);

#endif
