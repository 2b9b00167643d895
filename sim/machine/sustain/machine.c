#include "sim/machine/sustain/machine.h"

#include "sim/chip/chip_power.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KELVIN 273.15

static double level_rpm(const struct thermal_device *d, unsigned level)
{
    if (d->fan_points == 0 || level == 0)
        return 0;
    const double slowest = d->fan[1].rpm, fastest = d->fan[d->fan_points - 1].rpm;
    return slowest + (fastest - slowest) * (level - 1) / (MACHINE_FAN_LEVELS - 2);
}

static unsigned rpm_level(const struct thermal_device *d, double rpm)
{
    unsigned best = 0;
    for (unsigned i = 1; d->fan_points && i < MACHINE_FAN_LEVELS; i++)
        if (fabs(level_rpm(d, i) - rpm) < fabs(level_rpm(d, best) - rpm))
            best = i;
    return best;
}

static bool make_solver(struct machine *m, unsigned level, struct orch_error *error)
{
    struct thermal_network network;
    struct power_error why;
    if (m->solver[level])
        return true;
    if (thermal_device_network(&m->floorplan.plan, &m->device->thermal, level_rpm(&m->device->thermal, level), &network, &why)) {
        /* two dies share the housing, so each sees half of it */
        if (m->floorplan.dies == 2)
            for (size_t i = network.nodes - m->device->thermal.stages; i < network.nodes; i++) {
                network.node[i].capacity_j_per_k /= 2;
                network.node[i].ambient_w_per_k /= 2;
            }
        for (size_t l = 0; m->floorplan.dies == 2 && l < network.links; l++)
            if (network.link[l].a >= network.nodes - m->device->thermal.stages)
                network.link[l].w_per_k /= 2;
        m->solver[level] = thermal_solver_create(&network, m->ambient_k, &why);
        m->nodes = network.nodes;
        thermal_network_free(&network);
    }
    return m->solver[level] != NULL || orch_fail(error, ORCH_USAGE, "%s: %.240s", m->device->id, why.text);
}

static bool read_chip(struct machine *m, const struct chip *chip, unsigned active_p, struct orch_error *error)
{
    if (!chip_power_params(chip, &m->power, error) || !chip_power_slices(chip, m->slices, error) ||
        !chip_floorplan(chip, &m->floorplan, error) || !chip_p_limit_mhz(chip, active_p, &m->p_limit_mhz, error))
        return false;
    m->gpu_control_known = chip_gpu_control(chip, &m->gpu_control, NULL);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        if (!chip_opp_table(chip, d, &m->opp[d], error))
            return false;
    return true;
}

/* Means of `kelvin` weighted by area: over the sensors of the die (returned) and over every domain. hottest_c may be NULL. */
static double mean_temperatures(const struct machine *m, double domain_c[POWER_DOMAIN_COUNT], double *hottest_c)
{
    double area[POWER_DOMAIN_COUNT] = {0}, heat[POWER_DOMAIN_COUNT] = {0}, all = 0, sum = 0, hottest = -KELVIN;
    for (size_t i = 0; i < m->floorplan.plan.count; i++) {
        const struct floorplan_block *const b = &m->floorplan.plan.block[i];
        const enum power_domain domain = m->floorplan.block[i].domain;
        const double a = b->width_m * b->height_m, celsius = m->kelvin[i] - KELVIN;
        area[domain] += a;
        heat[domain] += a * celsius;
        if (m->floorplan.block[i].sensor) {
            all += a;
            sum += a * celsius;
            hottest = fmax(hottest, celsius);
        }
    }
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        domain_c[d] = area[d] > 0 ? heat[d] / area[d] : sum / all;
    if (hottest_c)
        *hottest_c = hottest;
    return sum / all;
}

static void read_temperatures(struct machine *m)
{
    thermal_read(m->solver[m->now], 0, m->floorplan.plan.count, m->kelvin);
    m->mean_c = mean_temperatures(m, m->domain_c, &m->hottest_c);
    m->gpu_c = -KELVIN;
    for (size_t i = 0; i < m->floorplan.plan.count; i++)
        if (m->floorplan.block[i].domain == POWER_GPU)
            m->gpu_c = fmax(m->gpu_c, m->kelvin[i] - KELVIN);
}

bool machine_open(struct machine *m, const struct sustain_setup *setup, unsigned active_p, struct orch_error *error)
{
    memset(m, 0, sizeof *m);
    m->device = setup->device;
    m->ambient_k = (isnan(setup->ambient_c) ? setup->device->ambient_c : setup->ambient_c) + KELVIN;
    bool ok = read_chip(m, setup->chip, active_p, error) && make_solver(m, 0, error);
    if (ok) {
        m->block_w = calloc(m->floorplan.plan.count, sizeof *m->block_w);
        m->kelvin = calloc(m->nodes, sizeof *m->kelvin);
        ok = (m->block_w && m->kelvin) || orch_no_memory(error);
    }
    if (!ok) {
        machine_close(m);
        return false;
    }
    thermal_set_uniform(m->solver[0], isnan(setup->start_c) ? m->ambient_k + m->device->idle_rise_k : setup->start_c + KELVIN);
    read_temperatures(m);
    return true;
}

void machine_close(struct machine *m)
{
    for (unsigned i = 0; i < MACHINE_FAN_LEVELS; i++)
        thermal_solver_free(m->solver[i]);
    chip_floorplan_free(&m->floorplan);
    free(m->block_w);
    free(m->kelvin);
    memset(m, 0, sizeof *m);
}

bool machine_set_fan(struct machine *m, double rpm, struct orch_error *error)
{
    const unsigned level = rpm_level(&m->device->thermal, rpm);
    if (level == m->now)
        return true;
    if (!make_solver(m, level, error))
        return false;
    const struct thermal_balance e = thermal_energy(m->solver[m->now]);
    m->before.in_j += e.in_j;
    m->before.out_j += e.out_j;
    m->before.stored_j += e.stored_j;
    thermal_read(m->solver[m->now], 0, m->nodes, m->kelvin);
    thermal_set(m->solver[level], m->kelvin);
    m->now = level;
    return true;
}

void machine_step(struct machine *m, const double domain_w[POWER_DOMAIN_COUNT], const unsigned busy[POWER_DOMAIN_COUNT],
                  double seconds)
{
    chip_floorplan_spread(&m->floorplan, domain_w, busy, m->block_w);
    thermal_step(m->solver[m->now], m->block_w, seconds);
    read_temperatures(m);
}

double machine_steady_mean_c(struct machine *m, const double domain_w[POWER_DOMAIN_COUNT],
                             const unsigned busy[POWER_DOMAIN_COUNT], double domain_c[POWER_DOMAIN_COUNT])
{
    chip_floorplan_spread(&m->floorplan, domain_w, busy, m->block_w);
    thermal_steady(m->solver[m->now], m->block_w, m->kelvin);
    return mean_temperatures(m, domain_c, NULL);
}

double machine_case_c(const struct machine *m)
{
    double kelvin;
    thermal_read(m->solver[m->now], m->nodes - 1, 1, &kelvin);
    return kelvin - KELVIN;
}

struct thermal_balance machine_balance(const struct machine *m)
{
    struct thermal_balance e = thermal_energy(m->solver[m->now]);
    e.in_j += m->before.in_j;
    e.out_j += m->before.out_j;
    e.stored_j += m->before.stored_j;
    return e;
}
