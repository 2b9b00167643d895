/* The steps of a run that the files of sim/run share; for them and for sim/scenario, which runs several at a time. */
#ifndef ORCHARD_SIM_RUN_RUN_INTERNAL_H
#define ORCHARD_SIM_RUN_RUN_INTERNAL_H

#include "sim/run/interval.h"
#include "sim/run/kind.h"

/* ---- run.c ---- */

/* Everything but energy. The caller releases the measure, zero-filled at first, in any case. */
bool run_time(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);
/* Time and energy on the chip of the measure and, unless `given` is NULL, in the caller's address space. */
bool run_time_given(struct run *run, const struct run_given *given, struct run_measure *m, struct run_result *result,
                    struct orch_error *error);
/* What run_execute does without events. The measure as for run_time. */
bool run_simulate(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);
enum orch_part run_part(const struct run *run); /* the unit that it is for */

/* ---- run_begin.c, run_emit.c ---- */

bool run_fill_begin(struct run *run, struct orch_error *error);
/* The bus may be NULL. `result` NULL = the run failed with *error. */
void run_emit_begin(const struct run *run, struct event_bus *bus, uint64_t number);
void run_emit_end(const struct run *run, const struct run_measure *m, const struct run_result *result,
                  const struct orch_error *error, struct event_bus *bus, uint64_t number);

/* ---- run_timing.c: detail "op" ---- */

bool run_is_operator(const struct run_request *request);
/* Fills in what of the measure energy and events read. */
bool run_operator(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);

/* ---- run_joules.c ---- */

/* Energy of a run of any kind, after its account; nothing without time. */
bool run_joules(struct run *run, const struct run_measure *m, struct run_result *result, struct orch_error *error);
/* The joules alone, of what the measure did in so much time. */
double run_joules_of(const struct run_kind *kind, const struct energy_model *model, const struct run_measure *m, double celsius,
                     double seconds, double device_seconds);
/* The same, and what they follow from. */
double run_joules_profiled(const struct run_kind *kind, const struct energy_model *model, const struct run_measure *m,
                           double celsius, double seconds, double device_seconds, struct power_profile *profile);
/* Takes what the chip costs in so many seconds in which no unit works from the parts of the result; *joules: all of it. */
bool run_joules_without_idle(const struct energy_model *model, double celsius, double seconds, struct run_result *result,
                             double *joules);
/* Joules and watts of the whole, by unit and by kind; false = out of memory. */
bool run_joules_add(const struct energy_report *report, struct run_result *result);
/* What the energy of CPU cores, of the GPU and of the Neural Engine follows from: `energy` of kinds. */
void run_energy_of_cores(const struct energy_model *model, const struct run_measure *m, struct energy_run *energy);
void run_energy_of_gpu(const struct energy_model *model, const struct run_measure *m, struct energy_run *energy);
void run_energy_of_ane(const struct energy_model *model, const struct run_measure *m, struct energy_run *energy);

/* ---- run_burst.c: launches of a GPU that was idle ---- */

/* Whether the request may say how long its unit was idle. */
bool run_burst_check(const struct run *run, struct orch_error *error);
/* Where it was: the measure is that of a launch in the fastest of the burst's command buffers, at the clocks that the GPU's
 * controller gave it. Nothing else is touched. */
bool run_burst(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error);

/* ---- run_memory.c ---- */

/* Bytes of all buffers as far as they are known before the run; whether so much fits a machine with `gib` (0 = the largest). */
double run_memory_need(const struct run *run);
bool run_memory_fits(const struct chip *chip, unsigned gib, const char *what, double bytes, struct orch_error *error);
/* Memory of the computer that simulates; 0 = not known. */
double run_host_memory_bytes(void);
/* False with a text that ends in `hint` when it cannot hold the contents of so many bytes. */
bool run_host_holds(const char *what, double bytes, const char *hint, struct orch_error *error);
/* The address space of a run, no larger than the machine's memory; freeing notes how much of it was used. */
struct mem_space *run_space_create(const struct run *run, struct orch_error *error);
void run_space_free(struct mem_space *space, const struct run *run, struct run_measure *m);
/* Notes the use of a program's space, which stays; with data also how well they compress. */
void run_space_note(const struct mem_space *space, bool data, struct run_measure *m);
/* Whether the contents of a run's memory mean something, and anybody asks for them. */
bool run_has_data(const struct run_request *request);
/* Before the chip is opened: what compression does to DRAM traffic, from a functional run where there are data. */
bool run_compression(const struct run *run, struct run_measure *m, struct orch_error *error);
/* Opens the chip of a measure unless it has one. */
bool run_soc_open(const struct run *run, struct run_measure *m, struct orch_error *error);
bool run_add_memory_use(const struct run *run, const struct run_measure *m, struct run_result *result, struct orch_error *error);

/* ---- run_shared.c ---- */

/* Opens the chip unless the measure has one and takes the cores that the request asks for. */
bool run_place(const struct run *run, unsigned count, struct run_measure *m, struct orch_error *error);
/* From now on the request's watch sees the instructions of the cores taken. */
void run_watch(const struct run *run, const struct run_measure *m);
bool run_add_memory(const struct chip *chip, const struct mem_counters *counters, struct run_values *to);
/* Bytes by unit and level, by die and over the link. */
bool run_add_traffic(const struct chip *chip, const struct mem_traffic *traffic, struct run_values *to);
bool run_add_activity(const struct activity *activity, struct run_values *to);
/* Stalls that a kernel has from what it was given to its unit in: of a command buffer, of a request. */
#define RUN_STALL_LAUNCH  "launch"
#define RUN_STALL_REQUEST "ane.request"
bool run_is_of_buffer(const char *stall);
/* What held up a kernel most, apart from these, which it shares with others. NULL when nothing is known. The result owns the
 * text. */
const char *run_kernel_limit(const struct run_result *kernel);
/* The folder of --output, made when it is not there. */
bool run_output_folder(const char *folder, struct orch_error *error);

/* ---- run_sample.c: samples of runs on one core ---- */

/* True when the run's timing may be a sample. `separate`: several programs of it run side by side. */
bool run_samples(const struct run *run, bool separate);
/* The shape of the sample. Warm-ups are blind; `expected` is the work that a warm-up did, or 0. */
struct core_sample_shape run_sample_shape(const struct run *run, enum run_sample_of of, bool blind, double expected);
/* The same for a program whose threads have several cores, for each of them. */
struct core_sample_shape run_crew_shape(const struct run *run, enum run_sample_of of, bool blind, double expected);
/* Fills in the level of detail and tells how the time was obtained; false = out of memory. */
bool run_sample_tell(const struct run *run, const struct run_measure *m, struct run_result *result);
/* The same in words, for people who ask how the answer came about. */
void run_sample_explain(FILE *out, const struct run_result *result);

/* ---- run_joules_judge.c: the interval of the joules of a result, and the assumptions that they rest on; false = out of memory
 * ---- */

bool run_joules_judge(const struct run *run, const struct energy_model *model, const struct energy_report *report,
                      const struct run_measure *m, struct run_result *result);

/* ---- run_interval.c: elasticities of a measured run, and from them the interval and the assumptions of its result ---- */

void run_cpu_shares(const struct chip *chip, const struct run_measure *m, struct interval_shares *shares);
void run_gpu_shares(const struct chip *chip, const struct run_measure *m, struct interval_shares *shares);
void run_ane_shares(const struct run_measure *m, struct interval_shares *shares);
/* `other_sd`: relative standard deviation that comes from elsewhere. */
bool run_set_interval(struct run *run, const struct interval_shares *shares, double other_sd, struct run_result *result,
                      struct orch_error *error);

#endif
