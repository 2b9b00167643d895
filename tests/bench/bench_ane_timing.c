/* Host time that Neural Engine timing takes per descriptor: streams of tasks as the builders write them, with and without the
 * chip's memory.
 */
#include "sim/soc/soc.h"
#include "tests/units/ane_timing_example.h"

#include <stdio.h>
#include <time.h>

#define TASKS 512

static double cpu_seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts); /* The host is shared, so only the time of this process counts. */
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static struct ane_task task_of(unsigned kind, unsigned i)
{
    struct ane_task task = kind == 0   ? example_conv(64, 32, 32, 3)
                           : kind == 1 ? example_element(1, 64, 256)
                           : kind == 2 ? example_planar(1, 64, 256)
                                       : example_conv(512, 32, 32, 1);
    task.small_source = kind == 0;
    if (kind == 1 || kind == 2) /* pairs of descriptors around a ring */
        *(i % 2 ? &task.source : &task.result) = example_place(ANE_PLACE_CHAIN);
    return task;
}

static void measure(const char *name, unsigned kind, struct ane_timing *timing)
{
    static struct ane_task task[TASKS];
    static struct ane_task_time times[TASKS];
    for (unsigned i = 0; i < TASKS; i++)
        task[i] = task_of(kind, i);
    double now = 0;
    const double begin = cpu_seconds();
    unsigned rounds = 0;
    for (; rounds < 10 || cpu_seconds() - begin < 0.2; rounds++)
        now = ane_timing_tasks(timing, task, TASKS, 0, now, times, NULL);
    const double each = (cpu_seconds() - begin) / ((double)rounds * TASKS);
    printf("%-34s %10.0f ns each, %6.2f M descriptors/s\n", name, each * 1e9, 1e-6 / each);
}

int main(void)
{
    static const char *const names[] = {"convolution 3x3, 64 channels", "activation, pairs on a ring", "planar, pairs on a ring",
                                        "convolution 1x1, 512 channels"};
    const struct ane_params params = example_params();
    struct ane_timing *alone = ane_timing_create(&params, NULL);
    for (unsigned kind = 0; alone && kind < 4; kind++)
        measure(names[kind], kind, alone);
    ane_timing_free(alone);

    struct orch_error error = {0};
    struct chip_db *db = chip_db_open(ORCHARD_SOURCE_DIR "/sim/chips", &error);
    const struct chip_overrides none = {0};
    struct chip *chip = db ? chip_open(db, "m1", &none, &error) : NULL;
    struct soc *soc = chip ? soc_create(chip, &error) : NULL;
    struct soc_ane *ane = soc ? soc_ane(soc, &error) : NULL;
    if (ane) {
        printf("with SLC and DRAM of M1:\n");
        for (unsigned kind = 0; kind < 4; kind++)
            measure(names[kind], kind, ane->timing);
    } else {
        printf("%s\n", error.text);
    }
    soc_free(soc);
    if (chip)
        chip_close(chip);
    if (db)
        chip_db_close(db);
    return ane ? 0 : 1;
}
