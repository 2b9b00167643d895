/* Runs on one CPU core of which only a sample is timed: when that is done, and what is told of it. */
#include "sim/run/run_internal.h"

#include "sim/base/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whoever asks for a sample gets one as soon as it saves time, as do NEON kernels of which only the time is asked for; otherwise
 * so many instructions are timed from the start on, which takes about a second or two. One that misses L1 takes the host up to a
 * microsecond, as long as some sixty others. Kernels with AMX words wait as others do:
 * their phases (packing, transforms, products) take turns in some hundred thousand instructions, at paces four times apart. Of
 * fourteen (convolutions, attention, norms) behind a start of 2^20, samples were off by 1 to 2 % in the mean, but by 2 to 20 % at
 * most, depending on how lengths of leads, windows and pieces fell onto those phases; NEON ones by 0.2 % and 1.6 % at most. So
 * steady loops of theirs are leapt over instead, pass by pass, wherever those fall. */
#define FIRST_UNASKED 0x1p26
#define MISS_UNASKED  0x1p6

/* A lead lasts until the window of the core and the queues of the memory system are as they would be. Triads that stream through
 * SLC and DRAM came out 3.4 % slow behind leads of 4096 instructions, 2.2 behind 16384 and 0.7 behind 32768; NEON kernels are
 * near behind 4096 (above). Windows are as long as leads, because short ones are noisy (updates at random places of 16 MiB: some
 * 18 % from window to window of 8192 instructions), while kinds of work are told by shorter pieces, of which fewer mix two.
 * Programs with AMX words move ten times as many bytes with an instruction: prefetches for many rows, all under way at once when
 * timing goes on, take turns with phases without any for some 50000 instructions, and leads of one length would end in the same
 * phase. The pieces of in-process kernels are loops of many thousand instructions, of which most run at the same pace. */
static const struct core_sample_shape shapes[RUN_SAMPLES] = {
    [RUN_SAMPLE_PROGRAM] =
        {.first = 0x1p20, .lead = 32768, .window = 32768, .piece = 8192, .gap_least = 0x1p17, .gap_most = 0x1p24, .dear = 4},
    [RUN_SAMPLE_LIBRARY] = {.first = 0x1p20, .lead = 4096, .window = 8192, .gap_least = 0x1p16, .gap_most = 0x1p19},
    [RUN_SAMPLE_AMX_PROGRAM] =
        {.first = 0x1p22, .lead = 65536, .spread = 32768, .window = 32768, .gap_least = 0x1p18, .gap_most = 0x1p21},
    [RUN_SAMPLE_KERNEL] = {.first = 0x1p20, .lead = 8192, .window = 0x1p14, .gap_least = 0x1p18, .gap_most = 0x1p20}};

static bool asked(const struct run *run, const char *word)
{
    return run->request->detail && strcmp(run->request->detail, word) == 0;
}

/* NULL when a sample may stand for the run. */
static const char *why_whole(const struct run *run, bool separate)
{
    if (run->request->watch)
        return "somebody watches each of them";
    return separate ? "several cores meet in time" : NULL;
}

bool run_samples(const struct run *run, bool separate)
{
    return run->request->mode != RUN_FUNCTIONAL && !asked(run, "instr") && !why_whole(run, separate);
}

static bool wants(const struct run *run)
{
    return asked(run, "sampled") || run->request->mode == RUN_TIMING;
}

struct core_sample_shape run_sample_shape(const struct run *run, enum run_sample_of of, bool blind, double expected)
{
    struct core_sample_shape shape = shapes[of];
    /* Nobody asks how long a warm-up takes, and skipped work leaves caches and predictors as timed work does. */
    if (blind) {
        shape.first = 1;
    } else if (!asked(run, "sampled") && !(run->request->mode == RUN_TIMING && of == RUN_SAMPLE_LIBRARY)) {
        shape.first = FIRST_UNASKED;
        shape.miss = of == RUN_SAMPLE_PROGRAM || of == RUN_SAMPLE_LIBRARY ? MISS_UNASKED : 0;
    }
    shape.leaps = of == RUN_SAMPLE_AMX_PROGRAM && wants(run);
    shape.blind = blind;
    shape.expected = expected;
    return shape;
}

/* The part of a product of several cores that is packing, at most: 0.06 of the instructions of 1536 x 1536 x 768 in f64 on M1 and
 * 0.23 of 1536 x 2048 x 2048 in f32 on M2. */
#define PACKS_MOST 0.25

/* What several cores do is told apart by stretches of 2048 instructions, so that packing and products have paces of their own
 * without leaps. The start of programs with AMX words is as long for each core as for one alone: in it, products pack. Cores that
 * pack at the same time fall into one of two states and stay there: some want rows of the same bank of DRAM at the same moment,
 * at 0.30 to 0.37 ns an instruction (M2, 1024 x 1024 x 2048), or they are apart, at 0.17. Which one it is takes some 10^5
 * instructions of a core to come out, several times a lead; behind gaps all were apart, and products up to 4.6 % too fast. */
struct core_sample_shape run_crew_shape(const struct run *run, enum run_sample_of of, bool blind, double expected)
{
    struct core_sample_shape shape = run_sample_shape(run, of, blind, expected);
    shape.leaps = false;
    shape.miss = 0; /* whoever did not ask for a sample gets one when it saves much: paces of several cores are less even */
    if (!blind && wants(run))
        shape.first = shapes[of].first;
    if (!blind && wants(run) && of == RUN_SAMPLE_AMX_PROGRAM) {
        shape.first_more = shapes[of].first;
        shape.first_part = PACKS_MOST;
    }
    return shape;
}

bool run_sample_tell(const struct run *run, const struct run_measure *m, struct run_result *r)
{
    const struct core_sampled *const s = &m->sampled;
    const char *const why = asked(run, "sampled") ? why_whole(run, run_copies(run) > 1 && !m->shared) : NULL;
    char text[200];
    if (!run_result_set_text(&r->detail, s->sampled ? "sampled" : "instr"))
        return false;
    if (s->sampled)
        snprintf(text, sizeof text,
                 "%.2g %% of all instructions were timed, in %u windows; the rest was executed and goes on at their pace (known "
                 "to %.2g %%)",
                 100 * s->timed_work / s->work, s->windows, 100 * s->sd_ns / fmax(m->end_ns, 1e-9));
    else
        snprintf(text, sizeof text, "every instruction was timed, although a sample was asked for: %s", why ? why : "");
    return (!s->sampled && !why) || run_assumption_add(&r->assumptions, "detail", "inferred", text);
}

void run_sample_explain(FILE *out, const struct run_result *r)
{
    for (size_t i = 0; i < r->assumptions.count; i++)
        if (strcmp(r->assumptions.item[i].key, "detail") == 0)
            fprintf(out, "timing       %s\n", r->assumptions.item[i].effect);
}
