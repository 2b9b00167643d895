/* What answers cost that nobody has asked for before: the host's CPU seconds and memory of one command with an empty database, on
 * one thread of the host. There is no outside peer; the figures wanted stand beside them.
 */
#include "isa/array_count.h"
#include "tests/support/cli_binary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct {
    const char *command;
    double wanted_s; /* CPU seconds */
} answers[] = {
    {"run model:resnet-50 --unit gpu --chip m1 --mode timing", 0.5},
    {"run model:bert-base --unit gpu --chip m1 --mode timing", 0.5},
    {"run model:resnet-50 --unit ane --chip m1 --mode timing", 0.5},
    {"run model:bert-base --unit ane --chip m1 --mode timing", 0.5},
    {"run gemm:4096x4096x4096 --unit gpu --chip m1 --mode timing", 0.5},
    {"run gemm:11008x4096x512 --unit gpu --chip m1 --mode timing", 0.5},
    {"run conv2d:n=1,c=64,h=56,w=56,k=256 --unit gpu --chip m1 --mode timing", 0.5},
    {"run attention:s=4096,d=64 --unit gpu --chip m1 --mode timing", 0.5},
    {"run gemm:4096x4096x4096 --unit gpu --chip m2-ultra --mode timing", 2},
    {"bench-llm model:llama-7b --chip m2 --precision f16,q8_0,q4_0", 5}, /* twelve chips in a minute */
    {"bench-llm model:llama-7b --chip m1-max --precision f16,q8_0,q4_0", 5},
};

static double cpu_seconds(const struct rusage *u)
{
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) + 1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

/* Deletes a database and what SQLite keeps beside it. */
static void forget(const char *db)
{
    static const char *const parts[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
        char path[96];
        snprintf(path, sizeof path, "%s%s", db, parts[i]);
        remove(path);
    }
}

/* False when the command failed. */
static bool measure(const char *command, double wanted_s, const char *db)
{
    static struct cli_outcome outcome;
    struct rusage before, after;
    char line[256];
    snprintf(line, sizeof line, "%s -q --threads 1 --db %s", command, db);
    getrusage(RUSAGE_CHILDREN, &before);
    if (!cli_run(line, &outcome) || outcome.code != 0) {
        fprintf(stderr, "%s: %s\n", command, outcome.err);
        return false;
    }
    getrusage(RUSAGE_CHILDREN, &after);
    printf("%-76s %7.2f s (wanted %g)   most memory so far %4ld MB\n", command, cpu_seconds(&after) - cpu_seconds(&before),
           wanted_s, after.ru_maxrss / 1000);
    return true;
}

/* All answers, or those whose commands have the first argument in them. */
int main(int argc, char **argv)
{
    char folder[] = "/tmp/orchard_bench_cold_XXXXXX", db[64];
    bool ok = mkdtemp(folder);
    setvbuf(stdout, NULL, _IOLBF, 0);
    snprintf(db, sizeof db, "%s/cold.db", folder);
    for (size_t i = 0; ok && i < ARRAY_COUNT(answers); i++) {
        if (argc > 1 && !strstr(answers[i].command, argv[1]))
            continue;
        ok = measure(answers[i].command, answers[i].wanted_s, db);
        forget(db); /* nothing is known to the next one */
    }
    rmdir(folder);
    return ok ? 0 : 1;
}
