#include "sim/prove/validate/jobs.h"

#include "sim/prove/validate/soc_runner.h"

#include <stdlib.h>

/* Every job has a database of its own, since chips share JSON whose references are counted without locks. */
struct job {
    struct chip_db *chips;
    struct soc_runner *runner;
};

static bool job_open(struct job *job, const char *chips, const struct chip_overrides *overrides, struct soc_runner_memory *memory,
                     struct orch_error *error)
{
    job->chips = chip_db_open(chips, error);
    if (!job->chips)
        return false;
    job->runner = soc_runner_create(job->chips, overrides, memory);
    return job->runner || orch_no_memory(error);
}

static void job_close(struct job *job)
{
    soc_runner_free(job->runner);
    if (job->chips)
        chip_db_close(job->chips);
}

bool validation_simulate(struct validation *v, const char *chips, const struct chip_overrides *overrides, unsigned jobs,
                         const struct validate_listener *listener, struct orch_error *error)
{
    const struct validate_listener nobody = {NULL, NULL};
    jobs = jobs < 1 ? 1 : jobs > VALIDATION_JOBS_MAX ? VALIDATION_JOBS_MAX : jobs;
    struct job *const job = calloc(jobs, sizeof *job);
    struct validate_runner *const hook = calloc(jobs, sizeof *hook);
    struct soc_runner_memory *const memory = soc_runner_memory_create();
    bool ok = (job && hook && memory) || orch_no_memory(error);
    for (unsigned i = 0; ok && i < jobs; i++) {
        ok = job_open(&job[i], chips, overrides, memory, error);
        hook[i] = ok ? soc_runner_hook(job[i].runner) : hook[i];
    }
    ok = ok && validation_find_fitted(v, job[0].chips, error);
    ok = ok && validation_run_jobs(v, hook, jobs, listener ? listener : &nobody, error);
    for (unsigned i = 0; job && i < jobs; i++)
        job_close(&job[i]);
    soc_runner_memory_free(memory);
    free(hook);
    free(job);
    return ok;
}
