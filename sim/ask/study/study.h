/* A study: the same question asked at many settings. What-if sweeps, searches, tuning, calibration, regression and trace replay
 * ask here; nobody else simulates for them.
 *
 *     struct study *s = study_create(&base, db, &error);
 *     study_evaluate(s, &setting, &answer, &error);
 *
 * Timing at detail `op` is looked up as a characteristic: found when the program, the shape, the model's version and exactly
 * those parameters that its timing run read have the same values; else the kernel is simulated (sampled where it can be, timing
 * only where control flow does not depend on data) and the characteristic is stored. Energy is worked out anew from the stored
 * activity, so parameters that only power/ reads cost no simulation. A known characteristic never changes an answer: a fresh
 * simulation gives the same numbers bit for bit.
 *
 * One struct study per thread or process; any number may share a database file.
 */
#ifndef ORCHARD_SIM_ASK_STUDY_STUDY_H
#define ORCHARD_SIM_ASK_STUDY_STUDY_H

#include "sim/chip/chip.h"
#include "sim/db/db.h"
#include "sim/run/run.h"
#include "sim/ask/study/setting.h"

/* What all settings start from. Everything pointed to must outlive the study. */
struct study_base {
    const struct chip_db *chips;
    struct chip_overrides sets; /* of every setting; a setting's own come behind */
    struct run_request request; /* `chip` is ignored; workload, unit, precision ... may be overridden by a setting */
    const char *chip;           /* id or alias; NULL = m1 */
    const char *device, *policy, *power_mode;  /* NULL = none */
    double duration_s, ambient_c, power_cap_w; /* of the device; 0, NAN, 0 = not given */
};

enum study_method {
    STUDY_SIMULATED, /* for this call */
    STUDY_KNOWN,     /* from a characteristic, or from this study's memory */
};

struct study_answer {
    struct run_result result; /* as of a run; run_id 0 */
    enum study_method method;
    double host_seconds;
};
void study_answer_init(struct study_answer *answer);
void study_answer_free(struct study_answer *answer);

struct study;
/* db may be NULL: characteristics then live as long as the study. */
struct study *study_create(const struct study_base *base, struct orch_db *db, struct orch_error *error);
void study_free(struct study *study);

/* The answer at a setting; deterministic. The answer must be initialised. ORCH_USAGE names a key or value that is wrong,
 * ORCH_UNMODELLED what is not modelled, as of run_prepare. */
bool study_evaluate(struct study *study, const struct study_setting *setting, struct study_answer *answer,
                    struct orch_error *error);
/* The same, simulated in any case and without characteristics: what tests compare with. */
bool study_evaluate_fresh(struct study *study, const struct study_setting *setting, struct study_answer *answer,
                          struct orch_error *error);

/* Keys of the chip database that the last evaluated answer depended on: what its timing read, and what its energy read. Valid
 * until the next evaluation. */
struct study_reads {
    const char *const *timing;
    size_t timing_count;
    const char *const *energy;
    size_t energy_count;
};
void study_last_reads(const struct study *study, struct study_reads *reads);

#endif
