/* A thermal case: a folder with a die, a package, a power trace and, for checks, what HotSpot computed.
 *
 * floorplan.flp and params.txt as power/ reads them; power.ptrace: a line of block names, then watts of every interval;
 * expected_steady.csv: node,kelvin under the mean power; expected_trace.csv: time_s and block temperatures at the end of every
 * interval; expected_grid_steady.csv: layer,cell,kelvin.
 */
#ifndef ORCHARD_SIM_MACHINE_THERMAL_THERMAL_CASE_H
#define ORCHARD_SIM_MACHINE_THERMAL_THERMAL_CASE_H

#include "power/thermal_hotspot.h"
#include "sim/base/error.h"

struct thermal_expected {
    char name[48];
    double kelvin;
};
struct thermal_case {
    struct floorplan plan;
    struct thermal_package package;
    size_t rows;     /* intervals of the power trace */
    double *power_w; /* [rows][blocks], in the order of the plan */
    double *mean_w;  /* mean power of every block */
    struct thermal_expected *steady;
    size_t steady_count;
    double *trace_k; /* [rows][blocks]; NULL when there is none */
    double *grid_k;  /* [layer][cell]; NULL when there is none */
};

/* False with "file:line: reason". Files with expected values may be missing. Free with thermal_case_free. */
bool thermal_case_load(const char *folder, struct thermal_case *c, struct orch_error *error);
void thermal_case_free(struct thermal_case *c);

/* What orchard computes for a case: node temperatures for the block model, cells of all layers for the grid model. Transients
 * start at init_temp. */
struct thermal_answer {
    size_t nodes;
    struct thermal_expected *steady; /* block model: all nodes; grid model: the blocks */
    double *grid_k;                  /* [layer][cell] for the grid model, otherwise NULL */
    double *trace_k;                 /* [rows][blocks] */
};
bool thermal_case_solve(const struct thermal_case *c, struct thermal_answer *answer, struct orch_error *error);
void thermal_answer_free(struct thermal_answer *answer);

#endif
