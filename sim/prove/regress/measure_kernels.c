/* Kernels of the libraries, alone and for minutes in a machine; a study answers. */
#include "sim/machine/device/device.h"
#include "sim/prove/regress/measure.h"
#include "sim/ask/study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool set_overrides(struct study_setting *setting, const struct chip_overrides *sets)
{
    for (size_t i = 0; i < sets->count; i++) {
        const char *const equals = strchr(sets->text[i], '=');
        char *const key = equals ? strndup(sets->text[i], (size_t)(equals - sets->text[i])) : NULL;
        const bool ok = key && study_setting_set(setting, key, equals + 1);
        free(key);
        if (!ok)
            return false;
    }
    return true;
}

/* The first machine of the list with the chip; NULL when there is none. */
static const char *machine_of(const struct device_list *devices, const char *chip)
{
    for (size_t i = 0; i < devices->count; i++)
        for (unsigned c = 0; c < devices->device[i].chips; c++)
            if (strcmp(devices->device[i].chip[c], chip) == 0)
                return devices->device[i].id;
    return NULL;
}

static bool make_setting(struct study_setting *s, const struct regress_program *p, const struct regress_job *job,
                         const char *machine)
{
    char cores[16];
    snprintf(cores, sizeof cores, "%u", p->cores ? p->cores : 1);
    return study_setting_set(s, "workload", p->what) && study_setting_set(s, "unit", p->detail) &&
           study_setting_set(s, "chip", job->chip) && study_setting_set(s, "detail", "op") &&
           (!p->unit || study_setting_set(s, "precision", p->unit)) && (!p->cores || study_setting_set(s, "cores", cores)) &&
           (!machine || (study_setting_set(s, "device", machine) && study_setting_set(s, "duration", "600"))) &&
           set_overrides(s, &job->sets);
}

/* Takes all answers of a program from one run. */
static void take(struct regress_job *job, const struct regress_program *program, const struct run_result *result, const char *why)
{
    struct regress_metric m;
    for (size_t i = 0; regress_metric_at(i, &m); i++) {
        if (m.program != program || !job->value[i].wanted)
            continue;
        if (result)
            job->value[i].value = regress_metric_of(&m, result);
        if (!result || !isfinite(job->value[i].value))
            regress_refuse(&job->value[i], result ? "the run has no such answer" : why);
    }
}

static bool run_program(const struct regress_worker *worker, struct regress_job *job, const struct regress_program *p,
                        struct orch_error *error)
{
    struct study_setting setting = {0};
    struct study_answer answer;
    struct orch_error why = {0};
    const char *const machine = p->way == REGRESS_DEVICE ? machine_of(worker->devices, job->chip) : NULL;
    if (p->way == REGRESS_DEVICE && !machine) {
        take(job, p, NULL, "no machine of the list has this chip");
        return true;
    }
    bool ok = make_setting(&setting, p, job, machine) || orch_no_memory(error);
    study_answer_init(&answer);
    if (ok && study_evaluate(worker->study, &setting, &answer, &why))
        take(job, p, &answer.result, NULL);
    else if (ok && why.exit_code == ORCH_INTERNAL)
        ok = orch_fail(error, ORCH_INTERNAL, "%s on %s: %.300s", p->name, job->chip, why.text);
    else if (ok)
        take(job, p, NULL, why.text);
    study_answer_free(&answer);
    study_setting_free(&setting);
    return ok;
}

static bool is_wanted(const struct regress_job *job, const struct regress_program *program)
{
    struct regress_metric m;
    for (size_t i = 0; regress_metric_at(i, &m); i++)
        if (m.program == program && job->value[i].wanted)
            return true;
    return false;
}

bool regress_measure_kernels(const struct regress_worker *worker, struct regress_job *job, struct orch_error *error)
{
    for (size_t i = 0; i < regress_program_count(); i++) {
        const struct regress_program *const p = regress_program_at(i);
        if (p->way >= REGRESS_KERNEL && is_wanted(job, p) && !run_program(worker, job, p, error))
            return false;
    }
    return true;
}
