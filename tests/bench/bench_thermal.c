/* Thermal models: steps per second of a block model as large as HotSpot's (132 nodes), and an hour of sustained operation.
 *
 * HotSpot 7.0's own integrator does 116 steps of 20 ms per second on such a case (one core, AMD EPYC, default build). The peer in
 * this run is a plain matrix exponential step, one dense 132 x 132 product each.
 */
#include "power/thermal_hotspot.h"
#include "power/thermal_solver.h"
#include "sim/machine/sustain/sustain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCKS = 30, NODES = 4 * BLOCKS + 12 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* 5 x 6 blocks on a die of 10 x 12 mm. */
static bool example(struct thermal_network *network, struct thermal_package *package)
{
    char text[BLOCKS * 64];
    size_t used = 0;
    struct floorplan plan;
    struct power_error error;

    for (int i = 0; i < BLOCKS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "b%d 0.002 0.002 %g %g\n", i, 0.002 * (i % 5), 0.002 * (i / 5));
    thermal_package_init(package);
    if (!floorplan_parse(text, used, &plan, &error))
        return false;
    const bool ok = thermal_hotspot_network(&plan, package, network, &error);
    floorplan_free(&plan);
    return ok;
}

static double steps_per_second(struct thermal_solver *solver)
{
    double power_w[BLOCKS], kelvin[BLOCKS];
    const int steps = 200000;

    for (int i = 0; i < BLOCKS; i++)
        power_w[i] = 0.1 * i;
    const double begin = now_s();
    for (int i = 0; i < steps; i++) {
        power_w[i % BLOCKS] += 1e-3;
        thermal_step(solver, power_w, 0.02);
        thermal_read(solver, 0, BLOCKS, kelvin);
    }
    return steps / (now_s() - begin);
}

static double peer_steps_per_second(void)
{
    static double e[NODES][NODES], t[NODES], next[NODES];
    const int steps = 20000;
    double sum = 0;

    for (int i = 0; i < NODES; i++) {
        t[i] = 300 + i;
        for (int j = 0; j < NODES; j++)
            e[i][j] = 1.0 / (NODES + i + j);
    }
    const double begin = now_s();
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < NODES; i++) {
            double x = 0;
            for (int j = 0; j < NODES; j++)
                x += e[i][j] * t[j];
            next[i] = x;
        }
        memcpy(t, next, sizeof t);
        t[s % NODES] += 1;
        sum += t[0];
    }
    const double seconds = now_s() - begin;
    return sum == 0 ? 0 : steps / seconds;
}

static double one_hour_s(void)
{
    struct orch_error error = {0};
    struct device_list devices;
    struct chip_db *const db = chip_db_open(NULL, &error);
    struct chip *const chip = db ? chip_open(db, "m1", NULL, &error) : NULL;
    struct power_profile load = {.driver = POWER_P_CPU,
                                 .mhz = 2988,
                                 .seconds = 1,
                                 .slices = {[POWER_P_CPU] = 4},
                                 .running_s = {[POWER_P_CPU] = 4},
                                 .shared_running_s = {[POWER_P_CPU] = 1},
                                 .event_j = {[POWER_P_CPU] = 9}};
    struct sustain_result result;
    double seconds = NAN;

    if (chip && device_list_load(NULL, &devices, &error)) {
        const struct sustain_setup setup = {.chip = chip,
                                            .device = device_find(&devices, "macbook-air", chip_id(chip), &error),
                                            .ambient_c = NAN,
                                            .start_c = NAN,
                                            .profile = {&load},
                                            .profiles = 1,
                                            .duration_s = 3600,
                                            .policy = GOVERNOR_PERFORMANCE};
        const double begin = now_s();
        if (sustain_run(&setup, &result, &error)) {
            seconds = now_s() - begin;
            sustain_result_free(&result);
        }
        device_list_free(&devices);
    }
    chip_close(chip);
    chip_db_close(db);
    return seconds;
}

int main(void)
{
    struct thermal_network network;
    struct thermal_package package;
    struct power_error error;

    if (!example(&network, &package))
        return 1;
    struct thermal_solver *const solver = thermal_solver_create(&network, package.ambient_k, &error);
    if (!solver)
        return 1;
    const double ours = steps_per_second(solver), peer = peer_steps_per_second();
    printf("block model, %zu nodes, 20 ms steps   %9.0f steps/s   %5.2f x one dense product a step (%.0f/s), %.0f x HotSpot's "
           "116/s\n",
           thermal_solver_nodes(solver), ours, ours / peer, peer, ours / 116);
    printf("one hour of a throttled machine        %9.3f s\n", one_hour_s());
    thermal_solver_free(solver);
    thermal_network_free(&network);
    return 0;
}
