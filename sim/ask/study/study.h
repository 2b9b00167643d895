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
#include "sim/run/gpu/run_launch_list.h"
#include "sim/run/run_timing.h"
#include "sim/ask/study/setting.h"

/* What all settings have in common. Everything pointed to must outlive the study. */
struct study_base {
    const struct chip_db *chips;
    struct chip_overrides sets;                /* for every setting; overrides of the setting itself come after */
    struct run_request request;                /* `chip` is ignored; a setting may override workload, unit, precision and so on */
    const char *chip;                          /* id or alias; NULL = m1 */
    const char *device, *policy, *power_mode;  /* NULL = none */
    double duration_s, ambient_c, power_cap_w; /* for the device; 0, NAN, 0 = not set */
};

enum study_method {
    STUDY_SIMULATED, /* simulated for this call */
    STUDY_KNOWN,     /* found as a characteristic, or in the memory of this study */
};

struct study_answer {
    struct run_result result; /* as that of a run, with run_id 0 */
    enum study_method method;
    double host_seconds;
};
void study_answer_init(struct study_answer *answer);
void study_answer_free(struct study_answer *answer);

struct study;
/* db may be NULL: then characteristics live as long as the study. */
struct study *study_create(const struct study_base *base, struct orch_db *db, struct orch_error *error);
void study_free(struct study *study);

/* Answers the question at a setting; deterministic. The answer must be initialised. ORCH_USAGE names a wrong key or value;
 * ORCH_UNMODELLED, as in run_prepare, what is not modelled. */
bool study_evaluate(struct study *study, const struct study_setting *setting, struct study_answer *answer,
                    struct orch_error *error);
/* Simulates in any case and uses no characteristics: tests compare with it. */
bool study_evaluate_fresh(struct study *study, const struct study_setting *setting, struct study_answer *answer,
                          struct orch_error *error);

/* The launches that the answer at a setting would take the time of, without simulating; none for what is no kernel of the GPU's
 * library. Fails as study_evaluate does. */
bool study_launches(struct study *study, const struct study_setting *setting, struct run_launch_list *list,
                    struct orch_error *error);

/* What a GPU kernel did at a setting, to be priced at others: the energy model is asked with the time that the kernel takes
 * there. `known` is false for anything else, and in machines. Simulates what is not known. */
struct study_work {
    bool known;
    struct run_timing_work work;
};
bool study_work(struct study *study, const struct study_setting *setting, struct study_work *work, struct orch_error *error);
/* *joules is NAN when the work or the energy is not known. Fails as study_evaluate does. */
bool study_work_joules(struct study *study, const struct study_work *work, const struct study_setting *setting,
                       const struct run_timing_took *took, double *joules, struct orch_error *error);

/* Keys of the chip database on which the last answer depended: what its timing read, and what its energy read. Valid until the
 * next evaluation. */
struct study_reads {
    const char *const *timing;
    size_t timing_count;
    const char *const *energy;
    size_t energy_count;
};
void study_last_reads(const struct study *study, struct study_reads *reads);

#endif
