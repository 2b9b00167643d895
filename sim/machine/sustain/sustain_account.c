#include "isa/list_grow.h"
#include "sim/machine/sustain/sustain_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool sustain_sample(struct sustain_loop *l, enum thermal_pressure pressure, double rpm, struct orch_error *error)
{
    struct sustain_result *const r = l->result;
    if (l->sampled_s <= 0)
        return true;
    struct sustain_sample *const grown = list_grow(r->sample, r->samples, &l->room, sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    r->sample = grown;
    struct sustain_sample s = l->sum;
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        s.watts[d] /= l->sampled_s;
        s.mhz[d] /= l->sampled_s;
        s.utilisation[d] /= l->sampled_s;
    }
    s.dram_gbps /= l->sampled_s * 1e9;
    s.time_s = l->time_s;
    s.mean_c = l->machine.mean_c;
    s.hottest_c = l->machine.hottest_c;
    s.case_c = machine_case_c(&l->machine);
    s.fan_rpm = rpm;
    s.pressure = pressure;
    s.battery_percent = battery_percent(&l->battery);
    double watts = 0;
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        watts += s.watts[d];
    s.wall_w = battery_wall_w(&l->setup->device->battery, watts);
    r->sample[r->samples++] = s;
    memset(&l->sum, 0, sizeof l->sum);
    l->sampled_s = 0;
    return true;
}

void sustain_account(struct sustain_loop *l, const struct load_step *step, const double mhz[POWER_DOMAIN_COUNT], double seconds)
{
    struct sustain_result *const r = l->result;
    double joules = 0;
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        r->joules[d] += step->joules[d];
        l->sum.watts[d] += step->joules[d];
        l->sum.mhz[d] += mhz[d] * seconds;
        l->sum.utilisation[d] += step->utilisation[d] * seconds;
        joules += step->joules[d];
    }
    for (unsigned w = 0; sustain_running(l) && w < l->setup->profiles; w++) {
        r->repetitions[w] += step->repetitions[w];
        r->pace[w] += (step->pace[w] - r->pace[w]) * seconds / (l->worked_s + seconds); /* running mean */
        l->last_pace[w] = step->pace[w];
    }
    l->worked_s += sustain_running(l) ? seconds : 0;
    l->sum.dram_gbps += step->dram_bytes;
    l->sampled_s += seconds;
    l->last_w = joules / seconds;
    r->watts_peak = fmax(r->watts_peak, l->last_w);
    r->celsius_max = fmax(r->celsius_max, l->machine.hottest_c);
    if (l->time_s >= l->setup->duration_s * 0.9 && l->time_s < l->setup->duration_s) {
        l->tail_j += joules;
        l->tail_s += seconds;
    }
}

void sustain_finish(struct sustain_loop *l)
{
    struct sustain_result *const r = l->result;
    const struct thermal_balance e = machine_balance(&l->machine);
    const double watts = l->tail_s > 0 ? l->tail_j / l->tail_s : l->last_w;
    const double dies = l->machine.floorplan.dies;
    r->seconds = l->time_s;
    r->heat_in_j = e.in_j * dies;
    r->heat_out_j = e.out_j * dies;
    r->heat_stored_j = e.stored_j * dies;
    r->hours_left = battery_hours_left(&l->battery, watts);
    r->wall_w = battery_wall_w(&l->setup->device->battery, watts);
}
