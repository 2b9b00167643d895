/* The specification of a sweep: what varies, from where, by which design. Equal specifications are one sweep.
 *
 *     struct sweep_spec *spec = sweep_spec_parse("SPEC.json", text, size, &error);    // or
 *     spec = sweep_spec_create(); sweep_spec_workloads(spec, ...); sweep_spec_vary(spec, "gpu_cores=8:20:7", &error); ...
 *     sweep_spec_finish(spec, &error);
 *
 * Points are numbered from 0; sweep_design.h gives the setting of each.
 */
#ifndef ORCHARD_SIM_ASK_SWEEP_SWEEP_SPEC_H
#define ORCHARD_SIM_ASK_SWEEP_SWEEP_SPEC_H

#include "sim/db/db.h"
#include "sim/base/error.h"
#include "sim/ask/study/setting.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SWEEP_POINTS_MAX = 10000000, SWEEP_KEYS_MAX = 32 };
#define SWEEP_TOLERANCE 0.01

/* What varies besides the workload: a list of levels, or a range, which has levels in a grid and is continuous otherwise. */
struct sweep_key {
    char *name;
    bool chip;    /* it is a value of the chip, otherwise a key of the study */
    bool numeric; /* its values are numbers */
    bool whole;   /* integers only */
    bool range, log;
    double low, high; /* of numeric keys */
    char **level;     /* as text; sweep_spec_finish makes those of a range in a grid */
    size_t level_count;
    size_t steps; /* of a range in a grid, as given; 0 = not given */
};

enum sweep_design_kind { SWEEP_GRID, SWEEP_RANDOM, SWEEP_LHS };
const char *sweep_design_name(enum sweep_design_kind kind);

struct sweep_spec {
    char *name; /* NULL = none */
    char **workload;
    size_t workload_count;
    struct study_setting base; /* for every point; does not contain the workload */
    struct sweep_key *key;
    size_t key_count;
    enum sweep_design_kind design;
    uint64_t samples; /* random, lhs: per workload */
    uint64_t seed;
    double tolerance; /* relative error allowed for interpolation; 0 = everything is simulated */
    uint64_t points;  /* number of points of the design, set by sweep_spec_finish */
};

struct sweep_spec *sweep_spec_create(void); /* NULL when memory is out. */
void sweep_spec_free(struct sweep_spec *spec);

/* "gemm:64x64x64,conv2d:n=1,c=64,...": a comma begins another workload unless NAME= follows. */
bool sweep_spec_workloads(struct sweep_spec *spec, const char *list, struct orch_error *error);
bool sweep_spec_add_workload(struct sweep_spec *spec, const char *workload, size_t length, struct orch_error *error);
/* "KEY=a,b,c", "KEY=lo:hi", "KEY=lo:hi:N", "KEY=lo:hi:Nlog". */
bool sweep_spec_vary(struct sweep_spec *spec, const char *text, struct orch_error *error);
/* The same in parts; `level` are copied. */
bool sweep_spec_vary_list(struct sweep_spec *spec, const char *key, const char *const *level, size_t count,
                          struct orch_error *error);
bool sweep_spec_vary_range(struct sweep_spec *spec, const char *key, double low, double high, size_t steps, bool log,
                           struct orch_error *error);
bool sweep_spec_base(struct sweep_spec *spec, const char *key, const char *value, struct orch_error *error);
/* Runs the checks that need the whole specification, makes the levels of grids and counts the points. */
bool sweep_spec_finish(struct sweep_spec *spec, struct orch_error *error);

/* Parses and finishes a SPEC.json; NULL with an error that names file and place. */
struct sweep_spec *sweep_spec_parse(const char *name, const char *text, size_t size, struct orch_error *error);
/* The specification as JSON in a canonical form, with its name; the caller frees it. NULL when memory is out. */
char *sweep_spec_json(const struct sweep_spec *spec);
/* Hash of everything but the name, and of the model's version. */
bool sweep_spec_hash(const struct sweep_spec *spec, const char *version, char hash[DB_HASH_SIZE]);

#endif
