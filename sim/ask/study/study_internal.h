/* Shared by the files of sim/ask/study only. */
#ifndef ORCHARD_SIM_ASK_STUDY_STUDY_INTERNAL_H
#define ORCHARD_SIM_ASK_STUDY_STUDY_INTERNAL_H

#include "power/governor.h"
#include "sim/machine/device/device.h"
#include "sim/ask/study/study.h"

/* What base and setting ask for together. Points into both, which must outlive it. */
struct study_asked {
    struct run_request request; /* without a chip */
    const char *chip;
    struct chip_overrides sets; /* those of the base, then those of the setting */
    char **text;                /* KEY=VALUE of the setting; owned */
    const char **all;           /* what `sets` points to; owned */
    size_t texts;
    const char *fitted; /* NAME or NAME@HASH; NULL = none */
    const char *device; /* NULL = fixed clocks */
    enum governor_policy policy;
    bool low_power;
    double ambient_c, power_cap_w, duration_s; /* NAN, 0, 0 = not set */
};
bool study_ask(struct study_asked *asked, const struct study_base *base, const struct study_setting *setting,
               struct orch_error *error);
void study_asked_free(struct study_asked *asked);

#endif
