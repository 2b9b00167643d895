/* The trained story teller (stories260K) that tests generate with. */
#ifndef ORCHARD_TESTS_SIM_STORY_EXAMPLE_H
#define ORCHARD_TESTS_SIM_STORY_EXAMPLE_H

#include "tests/support/suite.h"

#include <stdio.h>
#include <unistd.h>

/* The file of a type (q8_0 ...); NULL when it is neither here nor beside the checkout. Valid until the next golden or shared
 * path. */
static inline const char *example_story(const char *type)
{
    char name[128];
    snprintf(name, sizeof name, "language/stories260K/stories260K-%s.gguf", type);
    if (access(suite_golden(name), R_OK) == 0)
        return suite_golden(name);
    snprintf(name, sizeof name, "models/llm/stories260K/stories260K-%s.gguf", type);
    return suite_shared(name);
}

#endif
