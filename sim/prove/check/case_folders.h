/* For check verbs that take a folder of cases: every folder that holds a certain file is a case. */
#ifndef ORCHARD_SIM_PROVE_CHECK_CASE_FOLDERS_H
#define ORCHARD_SIM_PROVE_CHECK_CASE_FOLDERS_H

#include "sim/base/error.h"

#include <stddef.h>

enum { CASE_PATH_BYTES = 4096 };

struct case_kind {
    const char *noun;                  /* "kernel", for messages */
    const char *marker;                /* the file that makes a folder a case: "abi.json" */
    bool (*is_case)(const char *path); /* in place of the marker, which is then for messages only; also of folders in folders */
    void (*check)(void *context, const char *path);
    void *context;
};

/* Runs `folder` itself if it is a case, otherwise its case folders in the order of their names, or only those named. False when
 * there are none or a name is unknown. */
bool case_folders_run(const char *folder, const char *const *names, size_t name_count, const struct case_kind *kind,
                      struct orch_error *error);

#endif
