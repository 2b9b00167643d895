/* How a row's number can be had by hand: the `orchard run` commands, what of their answers counts, and what is made of it. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_RECIPE_H
#define ORCHARD_SIM_PROVE_VALIDATE_RECIPE_H

#include "sim/chip/chip.h"
#include "sim/prove/validate/validate.h"

struct validate_recipe {
    struct validate_recipe_run {
        char *command;     /* ready to paste */
        const char *takes; /* the number of its answer that counts: seconds, device_seconds, cycles or joules */
        double times;      /* how often that counts; negative: it is subtracted */
        double more;       /* how often device_seconds count besides, when seconds do */
    } run[VALIDATE_LAUNCHES];
    unsigned runs;      /* 0 = no command gives the number */
    char file[256];     /* the file with the row's own program, which the command runs; "" = it has none */
    char framework[32]; /* whose time is added; "" = none */
    double framework_seconds;
    bool several;    /* no command gives the number, because it is made of several programs */
    char value[160]; /* what is made of the sum, as a formula */
};

/* `file` is the name for the row's own program; NULL = one made of the id. Free in any case. */
bool validation_recipe(const struct validation *v, const char *id, const struct chip_db *chips,
                       const struct chip_overrides *overrides, const char *file, struct validate_recipe *recipe,
                       struct orch_error *error);
void validate_recipe_free(struct validate_recipe *recipe);

/* "seconds of run 1 + 3 x device_seconds of run 2" */
void validate_recipe_sum(const struct validate_recipe *recipe, char *text, size_t size);

#endif
