/* Leaps over laps of long loops.
 *
 * A lap of a loop is like the lap before it, once all threadgroups of the GPU are in their loop and the caches have settled. So
 * laps are timed until the pace is steady; then all threadgroups leap at once, and the time of the leap follows from the pace
 * before it and the pace behind it. Those on equally crowded cores leap over equally many laps, so that what they are ahead of
 * one another stays as it is, and with it what they find in the caches; but for slots that drift from the others all along
 * (gpu_drift.h), which leap over as many laps more or fewer: how well those of a core hide one another's latencies hangs on it.
 * The longer a pace has lasted, the longer the leap may be.
 */
#include "sim/workload/gpu/gpu_job_internal.h"

#include <math.h>
#include <string.h>

/* Fewest laps that a leap is worth. */
#define LEAST_LEAP 4
/* Laps that stay behind a leap: a loop ends as it did. */
#define LAST_LAPS 2
/* Laps of the window whose pace is taken, and of the one before it; both together are kept. */
#define WINDOW 3
/* Largest relative difference of the paces of the two. */
#define STEADY 0.02
/* Most laps of a leap for each lap that the threadgroups have been at a pace. */
#define GROWTH 3
/* Threadgroups that wait for one another may keep a pace for several leaps and then another one, 10 % off: so many places of a
 * launch are timed even when those so far are alike. */
#define FEWEST_PLACES 32.0
/* Instructions of a simdgroup that threadgroups leap over in turn. One leaping after the other left L1s with what the last one of
 * a core touched, and the others waited longer behind each leap. */
#define TURN 32

/* ---- what leaps are taken to count ---- */

/* The counts per ns since all threadgroups were in their loop. */
static void rate_now(const struct gpu_job *j, struct gpu_counted *rate)
{
    const double factor = 1 / (gpu_timing_now_ns(j->timing) - j->paced.begin_ns);
    struct gpu_counted now;
    j->selection.reader.read(j->selection.reader.context, &now);
    *rate = (struct gpu_counted){.activity = {0}};
    gpu_counted_add(rate, &now, factor);
    gpu_counted_add(rate, &j->paced.counts, -factor);
}

/* Gives the latest leap its time and counts: the mean of those before it and those found after it. */
static void settle_leap(struct gpu_job *j, double lap_ns, const struct gpu_counted *rate)
{
    const double ns = j->leapt.laps * (j->leapt.lap_ns + lap_ns) / 2;
    gpu_counted_add(&j->leapt.counts, &j->leapt.rate, ns / 2);
    gpu_counted_add(&j->leapt.counts, rate, ns / 2);
    j->leapt.ns += ns;
    j->leapt.laps = 0;
}

void gpu_job_end_pace(struct gpu_job *j)
{
    if (j->leapt.laps)
        settle_leap(j, j->leapt.lap_ns, &j->leapt.rate);
    j->paced.laps = 0;
    j->paced.begin_ns = 0;
}

/* ---- the pace ---- */

static double ago(const struct gpu_laps *laps, unsigned n)
{
    return laps->lap_ns[(laps->passed - 1 - n) % GPU_LAPS_KEPT];
}

/* Most simdgroups of a core. */
#define RESIDENTS_MAX (GPU_SCHEDULERS_MAX * 32)

/* Cores that hold equally many simdgroups. */
struct crowd {
    double now_ns, before_ns; /* sums over simdgroups of the time of a lap, in the two windows */
    unsigned simdgroups;
    uint32_t left; /* fewest laps that one of them has left */
};

/* The pace of the whole GPU. */
struct pace {
    struct crowd crowd[RESIDENTS_MAX + 1]; /* by simdgroups of a core */
    uint32_t loop;                         /* that all are in */
    unsigned largest;                      /* crowd with most simdgroups */
};

/* Adds the simdgroups of a slot; false when one of them is not at a pace, or in another loop. */
static bool add_pace(struct pace *pace, struct crowd *crowd, const struct gpu_laps *laps, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        pace->loop = pace->loop ? pace->loop : laps[i].loop;
        if (laps[i].loop != pace->loop || laps[i].passed < 2 * WINDOW + 2)
            return false;
        crowd->now_ns += (ago(&laps[i], 0) - ago(&laps[i], WINDOW)) / WINDOW;
        crowd->before_ns += (ago(&laps[i], WINDOW) - ago(&laps[i], 2 * WINDOW)) / WINDOW;
        crowd->simdgroups++;
    }
    return true;
}

static unsigned residents(const struct gpu_job *j, unsigned core)
{
    unsigned count = 0;
    for (unsigned k = 0; k < j->slots; k++)
        count += gpu_timing_laps(j->timing, core, k, NULL);
    return count;
}

static bool find_pace(const struct gpu_job *j, struct pace *pace)
{
    struct gpu_laps laps[GPU_SIMDGROUPS_MAX];
    double now_ns = 0, before_ns = 0;
    memset(pace, 0, sizeof *pace);
    for (unsigned core = 0; core < j->params->cores; core++) {
        struct crowd *crowd = &pace->crowd[residents(j, core)];
        for (unsigned k = 0; k < j->slots; k++)
            if (!add_pace(pace, crowd, laps, gpu_timing_laps(j->timing, core, k, laps)))
                return false;
    }
    for (unsigned i = 1; i <= RESIDENTS_MAX; i++) {
        now_ns += pace->crowd[i].now_ns;
        before_ns += pace->crowd[i].before_ns;
        pace->crowd[i].left = UINT32_MAX;
        pace->largest = pace->crowd[i].simdgroups > pace->crowd[pace->largest].simdgroups ? i : pace->largest;
    }
    return now_ns > 0 && fabs(now_ns - before_ns) <= STEADY * now_ns;
}

static double lap_ns(const struct crowd *crowd)
{
    return (crowd->now_ns + crowd->before_ns) / (2 * crowd->simdgroups);
}

/* Finds the laps that are left. False on a fault. */
static bool laps_left(struct gpu_job *j, struct pace *pace)
{
    for (unsigned core = 0; core < j->params->cores; core++) {
        uint32_t *left = &pace->crowd[residents(j, core)].left;
        for (unsigned k = 0; k < j->slots; k++) {
            struct gpu_job_slot *s = gpu_job_slot(j, core, k);
            if (!gpu_timing_laps(j->timing, core, k, NULL))
                continue;
            if (!s->looked && !gpu_leaper_look(j->leaper, s->group, &s->ahead, &j->fault))
                return false;
            s->looked = true;
            for (unsigned i = 0; i < s->simdgroups; i++)
                *left = s->ahead.left[i] < *left ? s->ahead.left[i] : *left;
            if (*left < LAST_LAPS + LEAST_LEAP)
                return true;
        }
    }
    return true;
}

/* The longest leap after which every threadgroup still has its last laps to run. */
static double longest_leap_ns(const struct pace *pace)
{
    double least = INFINITY;
    for (unsigned i = 1; i <= RESIDENTS_MAX; i++) {
        const struct crowd *c = &pace->crowd[i];
        if (!c->simdgroups)
            continue;
        const double room = c->left < LAST_LAPS + LEAST_LEAP ? 0 : (c->left - LAST_LAPS) * lap_ns(c);
        least = room < least ? room : least;
    }
    return least;
}

/* The time of a lap of the threadgroup in a slot; 0 when it is free. */
static double slot_lap_ns(const struct gpu_job *j, unsigned core, unsigned slot)
{
    struct gpu_laps laps[GPU_SIMDGROUPS_MAX];
    const unsigned count = gpu_timing_laps(j->timing, core, slot, laps);
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += (ago(&laps[i], 0) - ago(&laps[i], 2 * WINDOW)) / (2 * WINDOW);
    return count ? sum / count : 0;
}

/* Tells how fast slots are beside those of cores that are as crowded. */
static void tell_drift(struct gpu_job *j, const struct pace *pace)
{
    for (unsigned core = 0; core < j->params->cores; core++)
        for (unsigned k = 0; k < j->slots; k++) {
            const double own = slot_lap_ns(j, core, k);
            j->by_slot[core * j->slots + k] = own > 0 ? lap_ns(&pace->crowd[residents(j, core)]) / own : 0;
        }
    gpu_drift_part(j->drift, j->by_slot);
}

/* How many laps a slot leaps over in so many ns. Parts of laps that it drifts by add up from leap to leap. */
static uint32_t laps_over(struct gpu_job *j, const struct crowd *crowd, unsigned slot, double ns)
{
    const double laps = ns / lap_ns(crowd), most = crowd->left - LAST_LAPS;
    const double drift = laps * (gpu_drift_pace(j->drift, slot) - 1) + j->behind[slot];
    const double over = fmax(0, fmin(most, floor(laps + 0.5) + floor(drift + 0.5)));
    j->behind[slot] = drift - floor(drift + 0.5);
    return (uint32_t)over;
}

/* Threadgroups leap side by side, some instructions in turn. */
static bool go_in_turns(struct gpu_job *j, double now_ns)
{
    for (bool left = true; left;) {
        left = false;
        for (unsigned i = 0; i < j->params->cores * j->slots; i++) {
            struct gpu_job_slot *s = &j->slot[i];
            if (s->leaps && !gpu_leaper_go(j->leaper, s->group, TURN, j->selection.leaps->port[i / j->slots], now_ns, &s->way,
                                           &left, &j->fault))
                return false;
        }
    }
    for (unsigned i = 0; i < j->params->cores * j->slots; i++) {
        struct gpu_job_slot *s = &j->slot[i];
        if (s->leaps && !gpu_leaper_end(j->leaper, s->group, j->selection.leaps->port[i / j->slots], now_ns, &s->way, &j->fault))
            return false;
    }
    return true;
}

static bool leap(struct gpu_job *j, const struct pace *pace, double ns)
{
    const double now_ns = gpu_timing_now_ns(j->timing), before = (double)gpu_crowd_counts(j->crowd).instructions;
    tell_drift(j, pace);
    for (unsigned core = 0; core < j->params->cores; core++) {
        const struct crowd *crowd = &pace->crowd[residents(j, core)];
        for (unsigned k = 0; k < j->slots; k++) {
            struct gpu_job_slot *s = gpu_job_slot(j, core, k);
            s->leaps = gpu_timing_laps(j->timing, core, k, NULL) > 0;
            if (!s->leaps)
                continue;
            const uint32_t over = laps_over(j, crowd, core * j->slots + k, ns);
            if (!gpu_leaper_begin(j->leaper, s->group, over, &s->ahead, j->selection.leaps->port[core], now_ns, &s->way,
                                  &j->fault))
                return false;
        }
        gpu_timing_restart_laps(j->timing, core);
    }
    const bool ok = go_in_turns(j, now_ns);
    j->leapt.work += (double)gpu_crowd_counts(j->crowd).instructions - before;
    return ok;
}

/* Begins to count when the first laps are over. */
static void begin_counting(struct gpu_job *j)
{
    struct gpu_laps laps[GPU_SIMDGROUPS_MAX];
    for (unsigned core = 0; core < j->params->cores; core++)
        for (unsigned k = 0; k < j->slots; k++) {
            const unsigned count = gpu_timing_laps(j->timing, core, k, laps);
            for (unsigned i = 0; i < count; i++)
                if (laps[i].passed < 2)
                    return;
        }
    j->selection.reader.read(j->selection.reader.context, &j->paced.counts);
    j->paced.begin_ns = gpu_timing_now_ns(j->timing);
}

static unsigned all_residents(const struct gpu_job *j)
{
    unsigned count = 0;
    for (unsigned core = 0; core < j->params->cores; core++)
        count += residents(j, core);
    return count;
}

/* The most laps that a leap may have: the longer the pace has lasted, the more, but so few that the mean of all paces of the
 * launch is sure. */
static double most_laps(const struct gpu_job *j, const struct pace *pace)
{
    const double passed = j->paced.laps + 2 * WINDOW + 2, life = passed + pace->crowd[pace->largest].left;
    const double lives = (double)j->setup->group_count / ((double)j->params->cores * j->slots);
    const double share = fmin(gpu_places_share(&j->paced.places), 1 / FEWEST_PLACES);
    return share > 0 ? fmin(GROWTH * passed, share * life * fmax(1, lives)) : passed;
}

/* When all threadgroups run the same loop at a steady pace, all leap at once. */
bool gpu_job_leap(void *context)
{
    struct gpu_job *j = context;
    struct pace pace;
    const unsigned now = all_residents(j);
    if (now != j->paced.residents)
        gpu_job_end_pace(j);
    j->paced.residents = now;
    if (j->paced.begin_ns <= 0)
        begin_counting(j);
    if (j->paced.begin_ns <= 0 || !find_pace(j, &pace))
        return true;
    if (pace.loop != j->paced.loop) {
        gpu_job_end_pace(j);
        j->paced.places = (struct gpu_places){.changes = 0};
        j->paced.loop = pace.loop;
        return true;
    }
    const double its_ns = lap_ns(&pace.crowd[pace.largest]);
    struct gpu_counted rate;
    if (gpu_timing_now_ns(j->timing) < j->paced.begin_ns + WINDOW * its_ns)
        return true;
    rate_now(j, &rate);
    if (j->leapt.laps)
        settle_leap(j, its_ns, &rate);
    if (!laps_left(j, &pace))
        return false;
    const double ns = fmin(longest_leap_ns(&pace), its_ns * most_laps(j, &pace));
    if (ns <= 0)
        return true;
    gpu_places_add(&j->paced.places, its_ns);
    j->leapt.rate = rate;
    j->paced.begin_ns = 0;
    j->leapt.laps = (uint32_t)(ns / its_ns + 0.5);
    j->leapt.lap_ns = its_ns;
    j->paced.laps += 2 * WINDOW + 2 + j->leapt.laps;
    return leap(j, &pace, ns);
}
