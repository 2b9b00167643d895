/* Traces: records written and read per second, bytes per record, and a replay in bounded memory; beside them zstd alone on the
 * same bytes, which is the speed that the format could have at best.
 *
 *     bench_trace [MiB [FILE]]      default 32; the README of sim/trace quotes 1024
 */
#include "sim/trace/trace_replay.h"
#include "traces/trace_read.h"
#include "traces/trace_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Launches on two units and three streams with a dependency now and then; sizes and times do not compress well. */
static uint64_t generate(const char *path, uint64_t bytes)
{
    static const char *const works[] = {"copy:4K", "copy:16K", "softmax:64x64", "gemm:64x64x64"};
    const struct trace_header header = {.workload = "generated", .level = "operator", .source = "bench"};
    struct trace_error error = {false, "the file cannot be created"};
    struct trace_record r;
    struct stat st = {0};
    uint64_t state = 1, op = 0;
    FILE *const out = fopen(path, "wb");
    struct trace_writer *w = out ? trace_writer_create(out, path, &header, false, &error) : NULL;
    trace_record_init(&r, TRACE_RUN_BEGIN);
    r.run_begin.run = 1;
    bool ok = w && trace_write(w, &r, &error);
    while (ok && ((op & 0xffff) != 0 || (stat(path, &st) == 0 && (uint64_t)st.st_size < bytes))) {
        const uint64_t dice = random_next(&state);
        const uint64_t after[1] = {op > 8 ? op - dice % 8 : op};
        op++;
        trace_record_init(&r, TRACE_LAUNCH);
        r.launch = (struct trace_launch){.run = 1,
                                         .op = op,
                                         .submitted_ps = (int64_t)(op * 1000000 + dice % 999983),
                                         .name = works[dice >> 8 & 3],
                                         .kernel = "kernel",
                                         .workload = works[dice >> 8 & 3],
                                         .precision = "f32",
                                         .unit = (dice >> 8 & 3) != 3 || dice >> 16 & 3 ? "gpu" : "amx",
                                         .stream = dice >> 20 & 1,
                                         .after = {after, op > 8 && (dice >> 24 & 7) == 0},
                                         .work = "kernel",
                                         .bytes = random_next(&state) | UINT64_C(1) << 62};
        ok = trace_write(w, &r, &error);
    }
    if (ok)
        ok = trace_writer_finish(w, &error);
    if (!ok)
        fprintf(stderr, "bench_trace: %s\n", error.text);
    trace_writer_free(w);
    ok = out && fclose(out) == 0 && ok;
    return ok ? op : 0;
}

static void read_through(const char *path)
{
    struct trace_error error;
    struct trace_record r;
    struct trace_account a;
    const double begin = now();
    struct trace_reader *reader = trace_reader_open(path, false, &error);
    while (reader && trace_next(reader, &r, &error) == TRACE_GOT)
        continue;
    if (!reader)
        return;
    const double seconds = now() - begin;
    trace_reader_account(reader, &a);
    printf("read     %8.2f M records/s, %.0f MB/s of file; %.2f bytes a record (%.2f before compression)\n",
           (double)a.records / seconds * 1e-6, (double)a.file_bytes / seconds * 1e-6, (double)a.file_bytes / (double)a.records,
           (double)a.raw_bytes / (double)a.records);
    trace_reader_close(reader);
}

static long peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

static void replay(const char *path, uint64_t launches)
{
    struct orch_error error = {0};
    struct trace_replay_account account;
    struct run_result result;
    struct chip_db *chips = chip_db_open(NULL, &error);
    struct chip *chip = chips ? chip_open(chips, "m1", NULL, &error) : NULL;
    const struct trace_replay_request q = {
        .path = path, .chip = chip, .chip_name = "m1", .chips = chips, .common = {.threads = 1, .seed = 1}};
    const double begin = now();
    run_result_init(&result);
    if (chip && trace_replay(&q, NULL, 1, &result, &account, &error))
        printf("replay   %8.2f M launches/s in %.1f s; %.6g s simulated; at most %ld MB of memory\n",
               (double)launches / (now() - begin) * 1e-6, now() - begin, result.seconds, peak_mb());
    else
        fprintf(stderr, "bench_trace: %s\n", error.text);
    run_result_free(&result);
    chip_close(chip);
    chip_db_close(chips);
}

/* The same bytes through zstd at the writer's level, in blocks of the writer's size. */
static void zstd_alone(void)
{
    enum { SIZE = 1 << 20 };
    uint64_t state = 1;
    uint8_t *raw = malloc(SIZE), *stored = malloc(ZSTD_compressBound(SIZE));
    for (size_t i = 0; raw && i < SIZE; i++) /* a third of a trace's content is random */
        raw[i] = i % 3 ? (uint8_t)(i * 7) : (uint8_t)random_next(&state);
    const double begin = now();
    size_t sum = 0;
    for (int i = 0; raw && stored && i < 64; i++)
        sum += ZSTD_compress(stored, ZSTD_compressBound(SIZE), raw, SIZE, 3);
    const double seconds = now() - begin;
    printf("zstd -3  %8.0f MB/s before compression, alone (%.2f of the size)\n", 64.0 * SIZE / seconds * 1e-6,
           (double)sum / (64.0 * SIZE));
    free(raw);
    free(stored);
}

int main(int argc, char **argv)
{
    const uint64_t mib = argc > 1 ? strtoull(argv[1], NULL, 10) : 32;
    char own[64] = "/tmp/bench_trace_XXXXXX";
    const int fd = argc > 2 ? -1 : mkstemp(own);
    const char *path = argc > 2 ? argv[2] : own;
    const double begin = now();
    const uint64_t launches = generate(path, mib << 20);
    if (launches) {
        printf("%" PRIu64 " launches, %" PRIu64 " MiB\n", launches, mib);
        printf("write    %8.2f M records/s\n", (double)launches / (now() - begin) * 1e-6);
        zstd_alone();
        read_through(path);
        replay(path, launches);
    }
    if (fd >= 0)
        close(fd);
    unlink(path);
    return launches ? 0 : 1;
}
