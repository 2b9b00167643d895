/* A chip in a machine under a load on all cores, for the suites of the closed loop of clocks, power, heat and battery. */
#ifndef ORCHARD_TESTS_SIM_SUSTAIN_EXAMPLE_H
#define ORCHARD_TESTS_SIM_SUSTAIN_EXAMPLE_H

#include "sim/chip/chip_power.h"
#include "sim/machine/sustain/sustain.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

/* Chip, machine and a load on all cores. The energy of its events is what eight busy cores of an M1 need to draw the 15.4 W that
 * were measured before the clocks fell. */
struct sustain_scene {
    struct chip_db *db;
    struct chip *chip;
    struct device_list devices;
    struct power_profile load;
    struct sustain_setup setup;
};

static inline struct sustain_scene sustain_scene_open(const char *chip, const char *device)
{
    struct orch_error error = {0};
    struct sustain_scene s = {.db = chip_db_open(NULL, &error)};

    CU_ASSERT_PTR_NOT_NULL_FATAL(s.db);
    s.chip = chip_open(s.db, chip, NULL, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s.chip);
    CU_ASSERT_TRUE_FATAL(device_list_load(NULL, &s.devices, &error));
    s.load = (struct power_profile){.driver = POWER_P_CPU,
                                    .mhz = 2988,
                                    .seconds = 1,
                                    .slices = {[POWER_P_CPU] = 4, [POWER_E_CPU] = 4},
                                    .running_s = {[POWER_P_CPU] = 4, [POWER_E_CPU] = 4},
                                    .shared_running_s = {[POWER_P_CPU] = 1, [POWER_E_CPU] = 1},
                                    .event_j = {[POWER_P_CPU] = 11.35, [POWER_E_CPU] = 0.98, [POWER_DRAM] = 0.02}};
    s.setup = (struct sustain_setup){.chip = s.chip,
                                     .device = device_find(&s.devices, device, chip_id(s.chip), &error),
                                     .ambient_c = 23,
                                     .start_c = NAN,
                                     .profiles = 1,
                                     .duration_s = 600,
                                     .policy = GOVERNOR_PERFORMANCE};
    CHECK(s.setup.device != NULL, "%s", error.text);
    return s;
}

static inline void sustain_scene_close(struct sustain_scene *s)
{
    device_list_free(&s->devices);
    chip_close(s->chip);
    chip_db_close(s->db);
}

static inline bool sustain_scene_run(struct sustain_scene *s, struct sustain_result *result)
{
    struct orch_error error = {0};
    s->setup.profile[0] = &s->load;
    const bool ok = sustain_run(&s->setup, result, &error);
    CHECK(ok, "%s", error.text);
    return ok;
}

#endif
