/* CPU time of one answer of a study: simulated, known in memory, known in a database.
 *
 *     bench_study [FOLDER]      default /tmp
 */
#include "sim/ask/study/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { KNOWN = 10000, POINTS = 200 };

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "bench_study: %s\n", what);
    exit(70);
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds per answer over `count` values of a key, from `first` in steps of `step`. */
static double answers(struct study *study, const char *key, double first, double step, int count, enum study_method method)
{
    struct study_setting setting = {0};
    struct study_answer answer;
    struct orch_error error = {0};
    char value[32];
    study_answer_init(&answer);
    const double begin = cpu_s();
    for (int i = 0; i < count; i++) {
        snprintf(value, sizeof value, "%.9g", first + i * step);
        must(study_setting_set(&setting, key, value), "out of memory");
        must(study_evaluate(study, &setting, &answer, &error), error.text);
        must(answer.method == method, "answered in another way than expected");
    }
    const double seconds = (cpu_s() - begin) / count;
    study_answer_free(&answer);
    study_setting_free(&setting);
    return seconds;
}

static struct study *open_study(const struct study_base *base, struct orch_db *db)
{
    struct orch_error error = {0};
    struct study *study = study_create(base, db, &error);
    must(study != NULL, error.text);
    return study;
}

static void measure(const struct chip_db *chips, const char *workload, const char *unit, const char *key, double nominal)
{
    const struct study_base base = {
        .chips = chips, .chip = "m1", .ambient_c = NAN, .request = {.workload = workload, .unit = unit}};
    struct study *study = open_study(&base, NULL);
    const double simulated = answers(study, key, nominal, nominal / 100, 1, STUDY_SIMULATED);
    answers(study, "power.leakage_per_k", 0.01, 0, 1, STUDY_SIMULATED);
    const double known = answers(study, "power.leakage_per_k", 0.01, 1e-6, KNOWN, STUDY_KNOWN);
    printf("  %-72.72s %-4s simulated %8.2f ms   known %6.1f us\n", workload, unit, 1e3 * simulated, 1e6 * known);
    study_free(study);
}

static void measure_db(const struct chip_db *chips, const char *folder)
{
    const struct study_base base = {
        .chips = chips, .chip = "m1", .ambient_c = NAN, .request = {.workload = "softmax:64x64", .unit = "ane"}};
    struct orch_error error = {0};
    char path[256], other[280];
    snprintf(path, sizeof path, "%s/bench_study.%ld.db", folder, (long)getpid());
    struct orch_db *db = db_open(path, DB_WRITE, &error);
    must(db != NULL, error.text);
    struct study *first = open_study(&base, db), *second = open_study(&base, db);
    const double made = answers(first, "ane.clock_ghz", 1, 1e-3, POINTS, STUDY_SIMULATED);
    const double found = answers(second, "ane.clock_ghz", 1, 1e-3, POINTS, STUDY_KNOWN);
    printf("  %-72s %-4s stored    %8.2f ms   found %6.1f us\n", "the same through a database, softmax:64x64", "ane", 1e3 * made,
           1e6 * found);
    study_free(first);
    study_free(second);
    db_close(db);
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        snprintf(other, sizeof other, "%s%s", path, ends[i]);
        unlink(other);
    }
}

int main(int argc, char **argv)
{
    struct orch_error error = {0};
    struct chip_db *chips = chip_db_open(ORCHARD_SOURCE_DIR "/sim/chips", &error);
    must(chips != NULL, error.text);
    measure(chips, "gemm:512x512x512", "gpu", "gpu_max_mhz", 1200);
    measure(chips, "gemm:512x512x512", "amx", "amx.z_latency_cycles", 5);
    measure(chips, "conv2d:n=1,c=64,h=56,w=56,k=64,r=3,s=3,stride=1,pad=1,groups=1", "ane", "ane.clock_ghz", 1.1);
    measure(chips, "stream-triad:1M", "cpu", "dram.latency_ns", 80);
    measure_db(chips, argc > 1 ? argv[1] : "/tmp");
    chip_db_close(chips);
    return 0;
}
