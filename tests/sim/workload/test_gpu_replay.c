/* Threadgroups that are played, against the same ones executed: whoever runs or moves them, they take the same steps, wait at the
 * same barriers and access the same lines in the same order. */
#include "isa/array_count.h"
#include "sim/base/splitmix64.h"
#include "sim/workload/gpu/gpu_crowd.h"
#include "sim/workload/gpu/gpu_library.h"
#include "tests/support/suite.h"

#include <string.h>

struct opened {
    struct gpu_library library;
    struct mem_space *space;
    uint64_t address[GPU_KERNEL_BUFFERS];
    struct gpu_setup setup;
};

static bool open_kernel(struct opened *o, const char *workload)
{
    struct orch_error error = {0};
    uint64_t given[ABI_ARGS_MAX] = {0};
    memset(o, 0, sizeof *o);
    o->space = mem_space_create(0);
    bool ok = gpu_library_open(&o->library, workload, NULL, GPU_G13, 8, &error) &&
              gpu_library_place(&o->library, o->space, NULL, false, 1, o->address, &error);
    const struct abi_kernel *k = &o->library.step[0];
    for (unsigned i = 0; ok && i < k->args; i++)
        if (k->arg[i].buffer)
            given[i] = o->address[o->library.place[0][i].buffer] + o->library.place[0][i].offset_bytes;
    ok = ok && gpu_setup_open_steering(&o->setup, k, GPU_G13, o->space, given, &error);
    CHECK(ok, "%s: %s", workload, error.text);
    return ok;
}

static void close_kernel(struct opened *o)
{
    gpu_setup_close(&o->setup);
    gpu_library_close(&o->library);
    mem_space_free(o->space);
}

/* Kernels, and the part of their threadgroups that can be played. */
static const struct {
    const char *workload;
    double least;
} kernels[] = {
    {"gemm:1024x1024x64", 1},            /* by strips of columns; barriers */
    {"gemm:256x256x64,batch=3", 1},      /* in the order of the grid */
    {"gemm:1000x200x48", 0.7},           /* ragged rows and columns */
    {"gemm:1000x1024x48", 0.9},          /* strips with ragged rows */
    {"attention:b=1,h=3,s=512,d=64", 1}, /* loops with barriers */
    {"layernorm:4096x512", 1},
    {"transpose:1024x768", 1},
    {"softmax:300x1024", 1},
    {"sort:64x1024", 1}, /* which elements change places is in values, not in addresses */
    {"elementwise:100000,op=gelu", 0.98},
};
/* Values steer; rows are no whole lines, so that a row shares its lines with its neighbours in another way than these do. */
static const char *const executed[] = {"gather:1000x512x28600", "softmax:300x1000"};

/* ---- step by step ---- */

static bool same_trace(const struct gpu_trace *a, const struct gpu_trace *b)
{
    bool same = a->written == b->written && a->lines_written == b->lines_written &&
                memcmp(a->record, b->record, a->written * sizeof *a->record) == 0;
    for (size_t i = 0; same && i < a->lines_written; i++)
        same = a->line[i].address == b->line[i].address && a->line[i].bytes == b->line[i].bytes;
    return same;
}

/* Runs a threadgroup both ways, simdgroups in random order and by random numbers of instructions. */
static void check_group(const char *workload, const struct opened *o, const struct gpu_replay *replay, struct gpu_group *group,
                        uint64_t number, uint64_t *state)
{
    struct gpu_trace run[GPU_SIMDGROUPS_MAX], play[GPU_SIMDGROUPS_MAX];
    struct gpu_played played;
    struct unit_fault fault = {0};
    gpu_setup_start(&o->setup, group, number, 0);
    gpu_played_start(replay, &played, number);
    const unsigned count = gpu_group_simdgroups(group);
    CHECK(count == gpu_replay_simdgroups(replay), "%s: %u simdgroups", workload, count);
    for (unsigned i = 0; i < count; i++) {
        gpu_trace_init(&run[i]);
        gpu_trace_init(&play[i]);
    }
    unsigned done = 0, differ = 0;
    for (unsigned turn = 0; done < count && !differ && turn < 1000000; turn++) {
        const uint64_t chance = splitmix64_next(state);
        const unsigned i = (unsigned)(chance % count);
        const uint64_t limit = 1 + chance / 64 % 100, before = gpu_group_executed(group, i);
        const enum gpu_step step = gpu_group_run(group, i, limit, &run[i], &fault);
        differ += step != gpu_played_run(replay, &played, i, limit, &play[i]) || gpu_group_executed(group, i) != played.at[i];
        done += step == GPU_STEP_DONE && gpu_group_executed(group, i) > before;
    }
    for (unsigned i = 0; i < count; i++) {
        differ += !same_trace(&run[i], &play[i]);
        gpu_trace_release(&run[i]);
        gpu_trace_release(&play[i]);
    }
    CHECK(done == count && !differ, "%s: threadgroup %llu", workload, (unsigned long long)number);
}

static void check_kernel(const char *workload, double least)
{
    struct opened o;
    struct gpu_replay *replay = NULL;
    uint64_t state = 5, played = 0;
    if (open_kernel(&o, workload)) {
        CHECK(gpu_replay_learn(&o.setup, &replay) && replay, "%s is not played", workload);
        struct gpu_group *const group = gpu_setup_steering_group(&o.setup);
        for (uint64_t i = 0; replay && i < o.setup.group_count; i++)
            played += gpu_replay_has(replay, i);
        CHECK((double)played >= least * (double)o.setup.group_count, "%s: %llu of %llu", workload, (unsigned long long)played,
              (unsigned long long)o.setup.group_count);
        for (unsigned i = 0; replay && i < 12; i++) {
            const uint64_t number = splitmix64_next(&state) % o.setup.group_count;
            if (gpu_replay_has(replay, number))
                check_group(workload, &o, replay, group, number, &state);
        }
        gpu_group_free(group);
    }
    gpu_replay_free(replay);
    close_kernel(&o);
}

static void test_steps(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(kernels); i++)
        check_kernel(kernels[i].workload, kernels[i].least);
}

static void test_executed(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(executed); i++) {
        struct opened o;
        struct gpu_replay *replay = NULL;
        if (open_kernel(&o, executed[i]))
            CHECK(gpu_replay_learn(&o.setup, &replay) && !replay, "%s is played", executed[i]);
        gpu_replay_free(replay);
        close_kernel(&o);
    }
}

/* ---- by turns ---- */

struct touched {
    uint64_t hash, lines;
};

static void take(void *context, uint64_t address, uint32_t bytes, enum mem_access_kind kind)
{
    struct touched *t = context;
    uint64_t state = t->hash ^ (address * 1024 + bytes * 4 + (uint64_t)kind);
    t->hash = splitmix64_next(&state);
    t->lines++;
}

/* What a threadgroup accesses when its simdgroups go on side by side, up to one place after another. */
static void check_touches(const char *workload)
{
    struct opened o;
    struct gpu_replay *replay = NULL;
    if (open_kernel(&o, workload) && gpu_replay_learn(&o.setup, &replay) && replay) {
        struct touched ran = {0}, play = {0};
        struct gpu_played played;
        struct unit_fault fault = {0};
        uint64_t end[GPU_SIMDGROUPS_MAX], number = o.setup.group_count - 1, state = 6, to = 0;
        struct gpu_touches *const touches = gpu_touches_create(o.setup.program);
        struct gpu_group *const group = gpu_setup_steering_group(&o.setup);
        while (!gpu_replay_has(replay, number))
            number--;
        gpu_setup_start(&o.setup, group, number, 0);
        gpu_played_start(replay, &played, number);
        for (unsigned turn = 0; turn < 400; turn++) {
            const bool touching = turn % 5 != 2;
            to += splitmix64_next(&state) % (turn % 16 ? 40 : 3000);
            for (unsigned i = 0; i < GPU_SIMDGROUPS_MAX; i++)
                end[i] = to;
            CU_ASSERT(gpu_touches_run(touches, group, end, touching ? take : NULL, &ran, &fault));
            gpu_played_touch(replay, &played, to, NULL, touching ? take : NULL, &play);
            CHECK(ran.lines == play.lines && ran.hash == play.hash, "%s: %llu and %llu lines", workload,
                  (unsigned long long)ran.lines, (unsigned long long)play.lines);
        }
        CU_ASSERT(ran.lines > 10);
        gpu_touches_free(touches);
        gpu_group_free(group);
    }
    gpu_replay_free(replay);
    close_kernel(&o);
}

static void test_touches(void)
{
    check_touches("gemm:512x1024x256");
    check_touches("attention:b=1,h=2,s=512,d=64");
    check_touches("transpose:512x512");
}

/* A crowd that plays is where one is that executes. */
static void test_crowd(void)
{
    enum { CORES = 3, SLOTS = 2 };
    struct opened o;
    struct gpu_replay *replay = NULL;
    struct unit_fault fault = {0};
    uint64_t state = 7;
    if (open_kernel(&o, "gemm:1000x1024x256") && gpu_replay_learn(&o.setup, &replay) && replay) {
        struct gpu_crowd *const crowd[2] = {gpu_crowd_create(&o.setup, CORES, SLOTS, NULL),
                                            gpu_crowd_create(&o.setup, CORES, SLOTS, NULL)};
        gpu_crowd_set_replay(crowd[1], replay);
        for (unsigned turn = 0; turn < 300; turn++) {
            const unsigned slot = (unsigned)(splitmix64_next(&state) % (CORES * SLOTS));
            const double to = (double)(splitmix64_next(&state) % 1500);
            uint64_t number = 0;
            if (!gpu_crowd_holds(crowd[0], slot, &number) || turn % 3 == 0)
                number = splitmix64_next(&state) % o.setup.group_count;
            for (unsigned i = 0; i < 2; i++)
                CU_ASSERT(gpu_crowd_move(crowd[i], slot, number, to, false, &fault) && gpu_crowd_settle(crowd[i], slot, &fault));
            CHECK(gpu_crowd_done(crowd[0], slot) == gpu_crowd_done(crowd[1], slot), "turn %u: %g and %g instructions", turn,
                  gpu_crowd_done(crowd[0], slot), gpu_crowd_done(crowd[1], slot));
        }
        CU_ASSERT(gpu_crowd_counts(crowd[0]).instructions == gpu_crowd_counts(crowd[1]).instructions);
        gpu_crowd_free(crowd[0]);
        gpu_crowd_free(crowd[1]);
    }
    gpu_replay_free(replay);
    close_kernel(&o);
}

static const struct suite_test tests[] = {
    {"threadgroups that are played take the steps of those that are executed", test_steps},
    {"threadgroups that are not alike are executed", test_executed},
    {"lines are accessed in the same order", test_touches},
    {"a crowd that plays is where one is that executes", test_crowd},
};

SUITE_MAIN("gpu_replay", tests)
