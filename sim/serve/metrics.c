/* /metrics in the text format of Prometheus (0.0.4): base units, counters that only grow, times of the simulated machine. */
#include "sim/serve/exposition.h"
#include "sim/serve/protocol.h"

#include <math.h>
#include <string.h>

/* ---- models ---- */

struct row {
    const char *name, *help;
    double (*value)(const struct served_counts *c);
    bool language; /* of language models alone */
};

#define FIELD(field)                                                                                                             \
    static double field##_of(const struct served_counts *c)                                                                      \
    {                                                                                                                            \
        return (double)c->field;                                                                                                 \
    }
FIELD(requests)
FIELD(failures)
FIELD(samples)
FIELD(executions)
FIELD(seconds)
FIELD(joules)
FIELD(host_s)
FIELD(prompt_tokens)
FIELD(tokens)
FIELD(prompt_seconds)
FIELD(tokens_seconds)

static double micros_of(const struct served_counts *c)
{
    return 1e6 * c->seconds;
}

static const struct row rows[] = {
    {"orchard_requests_total", "Requests that were answered", requests_of, false},
    {"orchard_request_failures_total", "Requests that were refused or failed", failures_of, false},
    {"orchard_inferences_total", "Samples that were computed", samples_of, false},
    {"orchard_simulated_seconds_total", "Simulated time of the answers", seconds_of, false},
    {"orchard_simulated_joules_total", "Simulated energy of the answers", joules_of, false},
    {"orchard_host_seconds_total", "Time of this host for computing the answers", host_s_of, false},
    {"orchard_prompt_tokens_total", "Tokens of prompts", prompt_tokens_of, true},
    {"orchard_generated_tokens_total", "Tokens that were generated", tokens_of, true},
    {"nv_inference_request_success", "Number of successful inference requests, all batch sizes", requests_of, false},
    {"nv_inference_request_failure", "Number of failed inference requests, all batch sizes", failures_of, false},
    {"nv_inference_count", "Number of inferences performed", samples_of, false},
    {"nv_inference_exec_count", "Number of model executions performed", executions_of, false},
    {"nv_inference_request_duration_us", "Cumulative request duration in microseconds, simulated", micros_of, false},
    {"nv_inference_compute_infer_duration_us", "Cumulative compute duration in microseconds, simulated", micros_of, false},
    {"llamacpp:prompt_tokens_total", "Number of prompt tokens processed", prompt_tokens_of, true},
    {"llamacpp:prompt_seconds_total", "Prompt process time, simulated", prompt_seconds_of, true},
    {"llamacpp:tokens_predicted_total", "Number of generation tokens processed", tokens_of, true},
    {"llamacpp:tokens_predicted_seconds_total", "Predict process time, simulated", tokens_seconds_of, true},
};

/* Names of other servers break rules of names that ours keep (promtool), so that they have to be asked for. */
static void put_models(struct text *to, struct served *served, bool aliases)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        bool any = false;
        for (size_t i = 0; i < served_count(served); i++) {
            const struct served_model *const m = served_at(served, i);
            const struct served_counts c = served_counts(served, m);
            if ((rows[k].language && !m->language) || (!aliases && strncmp(rows[k].name, "orchard_", 8) != 0))
                continue;
            if (!any)
                exposition_head(to, rows[k].name, "counter", rows[k].help);
            any = true;
            struct text labels = {.data = NULL};
            exposition_label(&labels, "model", m->entry.name);
            text_put(&labels, ",version=\"1\",");
            exposition_label(&labels, "unit", m->unit);
            exposition_value(to, rows[k].name, labels.data ? labels.data : "", rows[k].value(&c));
            text_free(&labels);
        }
    }
}

/* ---- the machine ---- */

static void put_units(struct text *to, const struct served_machine *now)
{
    char label[32];
    exposition_head(to, "orchard_unit_busy_seconds_total", "counter", "Simulated time at work, by unit of the chip");
    for (enum orch_part p = 0; p < PART_DRAM; p++) {
        snprintf(label, sizeof label, "unit=\"%s\"", orch_part_name(p));
        exposition_value(to, "orchard_unit_busy_seconds_total", label, now->busy_s[p]);
    }
    exposition_head(to, "orchard_unit_utilisation_ratio", "gauge", "Simulated time at work over time since the start");
    for (enum orch_part p = 0; p < PART_DRAM; p++) {
        snprintf(label, sizeof label, "unit=\"%s\"", orch_part_name(p));
        exposition_value(to, "orchard_unit_utilisation_ratio", label, fmin(1, now->busy_s[p] / fmax(now->up_s, 1e-9)));
    }
    exposition_head(to, "orchard_dram_bytes_total", "counter", "Simulated bytes read from and written to DRAM");
    exposition_value(to, "orchard_dram_bytes_total", "", now->dram_bytes);
    exposition_head(to, "orchard_memory_bandwidth_bytes_per_second", "gauge", "Simulated DRAM bytes over time since the start");
    exposition_value(to, "orchard_memory_bandwidth_bytes_per_second", "", now->dram_bytes / fmax(now->up_s, 1e-9));
}

/* The level that macOS would report: 1 for the present one, 0 for the others. */
static void put_pressure(struct text *to, enum thermal_pressure now)
{
    char label[40];
    exposition_head(to, "orchard_thermal_pressure", "gauge", "Level of thermal pressure: 1 for the present one");
    for (enum thermal_pressure p = 0; p < PRESSURE_COUNT; p++) {
        snprintf(label, sizeof label, "level=\"%s\"", thermal_pressure_name(p));
        exposition_value(to, "orchard_thermal_pressure", label, p == now);
    }
}

static void put_machine(struct text *to, const struct served_machine *now)
{
    exposition_head(to, "orchard_power_watts", "gauge", "Power of chip and memory, mean since the last scrape");
    exposition_value(to, "orchard_power_watts", "", now->watts);
    exposition_head(to, "orchard_energy_joules_total", "counter", "Energy of chip and memory, idle time included");
    exposition_value(to, "orchard_energy_joules_total", "", now->joules);
    exposition_head(to, "orchard_temperature_celsius", "gauge", "Temperature of the die");
    exposition_value(to, "orchard_temperature_celsius", "place=\"mean\"", now->celsius);
    exposition_value(to, "orchard_temperature_celsius", "place=\"hottest_so_far\"", now->hottest_c);
    exposition_head(to, "orchard_clock_ratio", "gauge", "Lowest clock of the units over its limit: below 1 when heat holds it");
    exposition_value(to, "orchard_clock_ratio", "", now->clock_share);
    exposition_head(to, "orchard_throttled_seconds_total", "counter", "Time below the wanted clocks");
    exposition_value(to, "orchard_throttled_seconds_total", "", now->throttled_s);
    put_pressure(to, now->pressure);
}

static void put_aliases(struct text *to, const struct served_machine *now)
{
    exposition_head(to, "metal_gpu_utilization_percent", "gauge", "As orchard_unit_utilisation_ratio of the gpu, in percent");
    exposition_value(to, "metal_gpu_utilization_percent", "", 100 * fmin(1, now->busy_s[PART_GPU] / fmax(now->up_s, 1e-9)));
    exposition_head(to, "metal_memory_bandwidth_gbps", "gauge", "As orchard_memory_bandwidth_bytes_per_second, in GB per second");
    exposition_value(to, "metal_memory_bandwidth_gbps", "", 1e-9 * now->dram_bytes / fmax(now->up_s, 1e-9));
    if (!now->known)
        return;
    exposition_head(to, "metal_power_usage_watts", "gauge", "As orchard_power_watts");
    exposition_value(to, "metal_power_usage_watts", "", now->watts);
}

void metrics_answer(const struct protocol_context *c, struct http_reply *reply)
{
    const struct served_machine now = served_machine_now(c->served);
    struct text *const to = &reply->body;
    reply->status = 200;
    reply->type = "text/plain; version=0.0.4; charset=utf-8";
    exposition_head(to, "orchard_build_info", "gauge", "The version, and the chip that is simulated");
    text_put(to, "orchard_build_info{");
    exposition_label(to, "version", c->version);
    text_put(to, ",");
    exposition_label(to, "chip", chip_id(served_setup(c->served)->run.chip));
    text_put(to, ",clock=\"simulated\"} 1\n");
    exposition_head(to, "orchard_uptime_seconds", "gauge", "Time of this host since the server began");
    exposition_value(to, "orchard_uptime_seconds", "", now.up_s);
    put_models(to, c->served, c->aliases);
    put_units(to, &now);
    if (now.known)
        put_machine(to, &now);
    if (c->observed)
        observed_metrics(c->observed, to);
    if (c->aliases)
        put_aliases(to, &now);
}
