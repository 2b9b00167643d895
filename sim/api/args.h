/* Options of a question as they were given: "NAME=VALUE", checked against tables. */
#ifndef ORCHARD_SIM_API_ARGS_H
#define ORCHARD_SIM_API_ARGS_H

#include "sim/base/error.h"
#include "sim/orchard.h"

#include <stdint.h>

struct api_given {
    const struct orchard_option *option;
    const char *value; /* "" for a switch; points into the text that was given */
    unsigned part;     /* of which workload among several, from 1; 0 = of all */
};
struct api_args {
    struct api_given *given;
    size_t count;
    unsigned parts;              /* how many workloads were told apart; 0 = none were */
    const char *const *of_parts; /* names of the options that each of several workloads may have; NULL = none. Ends with NULL */
};

/* Adds the options of a list that ends with NULL (NULL = empty). Each must be in one of the tables, and only those that
 * repeat may stand in the list twice. `own` may be NULL. A text "+" begins the options of the next of several workloads; those of
 * parts may stand once with each. */
bool api_args_add(struct api_args *args, const struct orchard_option *common, const struct orchard_option *own,
                  const char *const *options, struct orch_error *error);
void api_args_free(struct api_args *args);
/* The options that hold for one of several workloads, or (part 0) for all of them: where of options of parts only the last
 * workload has any, these hold for all. `of` has to be freed, and not to outlive the rest. */
bool api_args_part(const struct api_args *args, unsigned part, struct api_args *of, struct orch_error *error);
/* Whether workloads have options of their own in that sense. */
bool api_args_have_parts(const struct api_args *args);

/* The last value given, NULL when there is none; the count, and each value of an option that repeats. */
const char *api_value(const struct api_args *args, const char *name);
size_t api_count(const struct api_args *args, const char *name);
const char *api_value_at(const struct api_args *args, const char *name, size_t index);
bool api_has(const struct api_args *args, const char *name);

/* Numbers in range; *value is left alone when the option was not given. */
bool api_number(const struct api_args *args, const char *name, double lowest, double highest, double *value,
                struct orch_error *error);
/* A number in `unit`, or with another unit of its kind (sim/base/quantity.h): "20min". */
bool api_quantity(const struct api_args *args, const char *name, const char *unit, double lowest, double highest, double *value,
                  struct orch_error *error);
bool api_unsigned(const struct api_args *args, const char *name, uint64_t lowest, uint64_t highest, uint64_t *value,
                  struct orch_error *error);
/* The option "jobs", 1 to `most`; as many as the host has processors when it was not given. */
bool api_jobs(const struct api_args *args, uint64_t most, uint64_t *jobs, struct orch_error *error);
/* One of the words of `choices` ("a|b|c"); *index is its place, and left alone when the option was not given. */
bool api_chosen(const struct api_args *args, const char *name, const char *choices, unsigned *index, struct orch_error *error);
/* The same for the option "unit" of verbs that hand its word on: says what is wrong with it before any work is done. */
bool api_unit_is_known(const struct api_args *args, struct orch_error *error);
/* The same for a word that is no option. False with a suggestion for a word that is none of the choices. `what` says what the
 * word chooses: "trace command". */
bool api_choice(const char *what, const char *word, const char *choices, unsigned *index, struct orch_error *error);

#endif
