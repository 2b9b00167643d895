/* A setting is what one point of a study changes: a list of KEY=VALUE in the order given.
 *
 * Keys of the study itself are those of STUDY_KEY_TABLE; every other key is a characteristic or unit parameter of the chip
 * database and becomes an override.
 */
#ifndef ORCHARD_SIM_ASK_STUDY_SETTING_H
#define ORCHARD_SIM_ASK_STUDY_SETTING_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* X(key, what) */
/* clang-format off */
#define STUDY_KEY_TABLE(X) \
    X("workload", "kernel and shape, or a file") \
    X("chip", "id or alias") \
    X("unit", "cpu, amx, gpu, ane or auto") \
    X("precision", "element type") \
    X("detail", "instr, sampled, op or auto") \
    X("cores", "copies of a program of the CPU") \
    X("memory", "GiB of the machine") \
    X("fitted", "named set of tune or calibrate; NAME@HASH = only with this content") \
    X("device", "housing; none = fixed clocks") \
    X("policy", "of the governor; needs a device") \
    X("ambient", "degC; needs a device") \
    X("power-mode", "high, balanced or low; needs a device") \
    X("power-cap", "W; needs a device") \
    X("duration", "s; needs a device")
/* clang-format on */

struct study_setting {
    char **key, **value;
    size_t count;
};

void study_setting_free(struct study_setting *setting); /* Leaves an empty setting. */
/* Adds a key, or replaces its value. Copies both; false when memory is out. */
bool study_setting_set(struct study_setting *setting, const char *key, const char *value);
const char *study_setting_get(const struct study_setting *setting, const char *key); /* NULL = not set */
bool study_setting_copy(struct study_setting *to, const struct study_setting *from);
/* Accepts a key of STUDY_KEY_TABLE or of the chip database; otherwise ORCH_USAGE with the nearest name. */
bool study_key_check(const char *key, struct orch_error *error);
bool study_key_is_chip(const char *key); /* Whether the key is an override of the chip. */
/* {"KEY":"VALUE",...} with sorted keys, and numbers as numbers: the `settings` of a sweep point. The caller frees it; NULL when
 * memory is out. */
char *study_setting_json(const struct study_setting *setting);

#endif
