/* Questions as a program asks them: only sim/orchard.h, with a database and files in a folder that the last test of a suite
 * deletes. */
#ifndef ORCHARD_TESTS_SIM_API_ASK_SESSION_H
#define ORCHARD_TESTS_SIM_API_ASK_SESSION_H

#include "sim/orchard.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>

#define LIST(...)                                                                                                                \
    (const char *[])                                                                                                             \
    {                                                                                                                            \
        __VA_ARGS__, NULL                                                                                                        \
    }

static char folder[] = "/tmp/orchard-ask-XXXXXX", db_option[64];

static inline const char *const *common_options(void)
{
    static const char *options[2];
    if (!db_option[0]) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
        snprintf(db_option, sizeof db_option, "db=%s/runs.db", folder);
    }
    options[0] = db_option;
    return options;
}

static inline struct orchard_session silent(void)
{
    return (struct orchard_session){.options = common_options()};
}

static inline const char *in_folder(const char *name)
{
    static char path[2][128];
    static int at;
    at = !at;
    snprintf(path[at], sizeof path[at], "%s/%s", folder, name);
    return path[at];
}

/* Last: deletes what the tests wrote. */
static inline void test_nothing_is_left(void)
{
    CU_ASSERT_TRUE(suite_remove(folder));
}

#endif
