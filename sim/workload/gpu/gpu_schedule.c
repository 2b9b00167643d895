#include "sim/workload/gpu/gpu_schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The pace of a core during one threadgroup after another differs from its own by so much at most: cores meet other cores in the
 * memory system at other moments. Lives of equal threadgroups in launches that are timed whole have standard deviations of 1.1 to
 * 1.4 % on a core, as numbers between these limits have: products of 4096x4096 by 512 to 4096, sorting, attention. Those of slots
 * of a core stay nearer to one another. Without it, threadgroups that begin together would stay together. */
#define SCATTER 0.02

struct gpu_schedule {
    unsigned cores, per_core, slots;
    uint64_t groups, next;
    const struct gpu_work *work;
    struct gpu_slot *slot;
    double scatter; /* SCATTER, or 0 */
    double *lag;    /* by core: time per instruction, relative to the mean */
    double *ahead;  /* by core: time that whole rounds have brought it ahead of the others */
    double *ends;   /* by slot: when its threadgroup ends, while going forward */
    unsigned *heap; /* busy slots, the one that ends first at the top; of equals, the first one */
    unsigned heaped;
};

struct gpu_schedule *gpu_schedule_create(unsigned cores, unsigned slots, uint64_t groups, const struct gpu_work *work)
{
    struct gpu_schedule *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct gpu_schedule){
        .cores = cores, .per_core = slots, .slots = cores * slots, .groups = groups, .work = work, .scatter = SCATTER};
    s->slot = calloc(s->slots, sizeof *s->slot);
    s->ends = calloc(s->slots, sizeof *s->ends);
    s->heap = calloc(s->slots, sizeof *s->heap);
    s->lag = calloc(cores, sizeof *s->lag);
    s->ahead = calloc(cores, sizeof *s->ahead);
    if (!s->slot || !s->ends || !s->heap || !s->lag || !s->ahead) {
        gpu_schedule_free(s);
        return NULL;
    }
    for (unsigned i = 0; i < cores; i++)
        s->lag[i] = 1;
    for (unsigned i = 0; i < s->slots; i++) {
        const uint64_t group = (uint64_t)(i % slots) * cores + i / slots;
        s->slot[i] = (struct gpu_slot){.group = group < groups ? group : GPU_NO_GROUP};
    }
    s->next = s->slots < groups ? s->slots : groups;
    return s;
}

void gpu_schedule_free(struct gpu_schedule *s)
{
    if (!s)
        return;
    free(s->slot);
    free(s->lag);
    free(s->ahead);
    free(s->ends);
    free(s->heap);
    free(s);
}

void gpu_schedule_copy(struct gpu_schedule *to, const struct gpu_schedule *from)
{
    to->next = from->next;
    to->scatter = from->scatter;
    memcpy(to->slot, from->slot, from->slots * sizeof *to->slot);
    memcpy(to->lag, from->lag, from->cores * sizeof *to->lag);
    memcpy(to->ahead, from->ahead, from->cores * sizeof *to->ahead);
}

void gpu_schedule_set_pace(struct gpu_schedule *s, unsigned core, double pace)
{
    s->lag[core] = 1 / pace;
}

void gpu_schedule_keep_step(struct gpu_schedule *s, bool keep)
{
    s->scatter = keep ? 0 : SCATTER;
}

double gpu_schedule_step(const struct gpu_schedule *s)
{
    double x = 0, y = 0;
    unsigned busy = 0;
    for (unsigned i = 0; i < s->slots; i++) {
        if (s->slot[i].group == GPU_NO_GROUP)
            continue;
        const double phase = 2 * M_PI * s->slot[i].done / gpu_work_of(s->work, s->slot[i].group);
        x += cos(phase);
        y += sin(phase);
        busy++;
    }
    return busy ? hypot(x, y) / busy : 0;
}

const struct gpu_slot *gpu_schedule_slots(const struct gpu_schedule *s)
{
    return s->slot;
}

uint64_t gpu_schedule_next(const struct gpu_schedule *s)
{
    return s->next;
}

unsigned gpu_schedule_busy(const struct gpu_schedule *s)
{
    unsigned busy = 0;
    for (unsigned i = 0; i < s->slots; i++)
        busy += s->slot[i].group != GPU_NO_GROUP;
    return busy;
}

void gpu_schedule_set(struct gpu_schedule *s, unsigned slot, struct gpu_slot as)
{
    s->slot[slot] = as;
}

void gpu_schedule_set_next(struct gpu_schedule *s, uint64_t next)
{
    s->next = next;
}

/* Between -1 and 1, evenly: splitmix64 of the number. */
static double scatter(uint64_t number)
{
    uint64_t x = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ x >> 31) >> 11) * 0x1p-52 - 1;
}

/* Time per instruction of a slot, relative to the mean. It is that of its core, so that slots of a core keep their distances. */
static double pace_of(const struct gpu_schedule *s, unsigned slot)
{
    const unsigned core = slot / s->per_core;
    return s->lag[core] + s->scatter * scatter((uint64_t)core + (s->slot[slot].group / s->slots << 32));
}

static double left_of(const struct gpu_schedule *s, unsigned slot)
{
    return fmax(0, gpu_work_of(s->work, s->slot[slot].group) - s->slot[slot].done);
}

double gpu_schedule_time(const struct gpu_schedule *s, double instructions)
{
    return instructions / s->slots;
}

/* ---- the heap ---- */

static bool before(const struct gpu_schedule *s, unsigned a, unsigned b)
{
    return s->ends[a] < s->ends[b] || (s->ends[a] == s->ends[b] && a < b);
}

static void sink(struct gpu_schedule *s, unsigned at)
{
    for (;;) {
        unsigned least = at;
        for (unsigned child = 2 * at + 1; child <= 2 * at + 2 && child < s->heaped; child++)
            if (before(s, s->heap[child], s->heap[least]))
                least = child;
        if (least == at)
            return;
        const unsigned slot = s->heap[at];
        s->heap[at] = s->heap[least];
        s->heap[least] = slot;
        at = least;
    }
}

static void build_heap(struct gpu_schedule *s)
{
    s->heaped = 0;
    for (unsigned i = 0; i < s->slots; i++) {
        if (s->slot[i].group == GPU_NO_GROUP)
            continue;
        s->ends[i] = left_of(s, i) * pace_of(s, i) - s->ahead[i / s->per_core];
        s->heap[s->heaped++] = i;
    }
    for (unsigned i = s->heaped / 2; i > 0; i--)
        sink(s, i - 1);
}

/* ---- going forward ---- */

/* The first threadgroup to end makes room for the next one. */
static bool replace_first(struct gpu_schedule *s, gpu_schedule_piece *piece, void *context)
{
    const unsigned first = s->heap[0];
    const double work = gpu_work_of(s->work, s->slot[first].group);
    const bool go_on = !piece || piece(context, first, s->slot[first].group, s->slot[first].done, work);
    s->slot[first] = (struct gpu_slot){.group = s->next++};
    s->ends[first] += gpu_work_of(s->work, s->slot[first].group) * pace_of(s, first);
    sink(s, 0);
    return go_on;
}

bool gpu_schedule_forward(struct gpu_schedule *s, double time, gpu_schedule_piece *piece, void *context)
{
    double until = time;
    build_heap(s);
    while (s->heaped && s->ends[s->heap[0]] <= time) {
        if (s->next == s->groups) {
            until = fmin(time, s->ends[s->heap[0]]);
            break;
        }
        if (!replace_first(s, piece, context))
            return false;
    }
    for (unsigned i = 0; i < s->slots; i++) {
        if (s->slot[i].group == GPU_NO_GROUP)
            continue;
        const double from = s->slot[i].done, work = gpu_work_of(s->work, s->slot[i].group);
        s->slot[i].done = fmax(from, work - fmax(0, s->ends[i] - until) / pace_of(s, i));
        if (piece && !piece(context, i, s->slot[i].group, from, s->slot[i].done))
            return false;
    }
    memset(s->ahead, 0, s->cores * sizeof *s->ahead);
    return true;
}

double gpu_schedule_rounds(struct gpu_schedule *s, double time, unsigned least)
{
    double life = 0;
    for (unsigned i = 0; i < s->slots; i++)
        life += s->slot[i].group == GPU_NO_GROUP ? 0 : gpu_work_of(s->work, s->slot[i].group) / s->slots;
    if (life <= 0 || time < (least + 1) * life)
        return time;
    const double farthest = least * life / 2; /* there is time for it in the rounds that are left */
    const uint64_t fit = (uint64_t)(time / life - least), most = (s->groups - s->next) / s->slots,
                   rounds = fit < most ? fit : most;
    for (unsigned i = 0; i < s->slots; i++)
        if (s->slot[i].group != GPU_NO_GROUP)
            s->slot[i].group += rounds * s->slots;
    s->next += rounds * s->slots;
    for (unsigned core = 0; core < s->cores; core++)
        s->ahead[core] = fmax(-farthest, fmin(farthest, (double)rounds * life * (1 - s->lag[core])));
    return time - (double)rounds * life;
}

/* ---- sums ---- */

double gpu_schedule_work(const struct gpu_schedule *s, double simdgroups)
{
    double sum = gpu_work_before(s->work, s->next);
    for (unsigned i = 0; i < s->slots; i++)
        if (s->slot[i].group != GPU_NO_GROUP)
            sum -= left_of(s, i);
    return sum * simdgroups;
}

/* ---- the end ---- */

double gpu_schedule_most_left(const struct gpu_schedule *s)
{
    double most = 0;
    for (unsigned core = 0; core < s->cores; core++) {
        double left = 0;
        for (unsigned i = core * s->per_core; i < (core + 1) * s->per_core; i++)
            left += s->slot[i].group == GPU_NO_GROUP ? 0 : left_of(s, i);
        most = fmax(most, left);
    }
    return most;
}

void gpu_schedule_drain(struct gpu_schedule *s, double instructions)
{
    for (unsigned i = 0; i < s->slots; i++) {
        if (s->slot[i].group == GPU_NO_GROUP)
            continue;
        if (left_of(s, i) <= instructions)
            s->slot[i].group = GPU_NO_GROUP;
        else
            s->slot[i].done += instructions;
    }
}
