/* Following the trees of remembered blocks: what a block did before is done again, as long as memory and the AMX block give the
 * same answers (cpu_timing_memo.c).
 */
#include "units/cpu/cpu_timing_memo.h"

/* A block that could not be repeated costs as much as placing this many instructions. */
#define FAILURE_COST 64
/* What repeating a block costs, in instructions placed: trees that have outgrown the host's caches come from far. */
#define NEAR_COST  2
#define FAR_COST   12
#define NEAR_BYTES (UINT64_C(1) << 20)
#define GOOD_RUN   1024 /* repeated in a row: the next delay is again as short as the first */

#define GRANULES_MAX 17 /* 16-byte granules that an access of up to 255 bytes can touch */

/* What a block that is repeated has changed so far, for the case that it must be placed after all. */
struct undo {
    unsigned forwards, lines;
    bool amx_pending;
    struct cpu_youngest youngest;
    struct undo_forward {
        struct cpu_forward *place;
        struct cpu_forward was;
    } forward[CPU_LOG_MAX * GRANULES_MAX];
    struct undo_line {
        uint64_t *place, was;
    } line[CPU_LOG_MAX * 2];
};

/* Asks memory or the AMX block as the block did, unless the answer to this access, `number`, is there. NULL when the answer is
 * new or stores under way interfere. */
static inline struct branch *repeat_access(struct cpu_timing *t, const struct cpu_plan *plan, struct step *step, uint32_t number,
                                           uint64_t operand)
{
    const struct cpu_memo_access *a = &step->access;
    const uint64_t at = t->board.now + a->when, addr = operand + t->address_tag;
    if (a->kind == MEM_ACCESS_LOAD &&
        ((t->amx_pending && cpu_amx_line_waits(t, addr, a->bytes)) || cpu_forward_find(t, addr, a->bytes, at)))
        return NULL;
    struct cpu_answer *const answer = &t->answer[number];
    if (number == t->answers) {
        *answer = a->kind == CPU_ACCESS_AMX
                      ? cpu_ask_amx(t, at, a->bytes, operand)
                      : cpu_ask(t, at, addr, a->bytes, (enum mem_access_kind)a->kind, plan->pc + a->pc_offset);
        t->answers++;
    }
    const uint64_t cycles = answer->cycle - at;
    return cycles <= CPU_MEMO_CYCLES_MAX ? branch_of(step, (uint32_t)cycles, (uint32_t)answer->level) : NULL;
}

static void repeat_forwards(struct cpu_timing *t, const struct cpu_memo_access *a, uint64_t cycles, uint64_t addr,
                            struct undo *undo)
{
    const uint64_t start = t->board.now, commit = start + a->when + cycles + 1;
    cpu_store_next(t, addr, a->bytes);
    for (uint64_t g = addr >> 4; g <= (addr + a->bytes - 1) >> 4; g++) {
        struct cpu_forward *place = &t->forward[g % CPU_FORWARDS];
        undo->forward[undo->forwards++] = (struct undo_forward){place, *place};
        *place = (struct cpu_forward){g + 1, addr, start + a->data, commit, a->bytes};
    }
}

static void repeat_amx_store(struct cpu_timing *t, uint64_t operand, struct undo *undo)
{
    uint64_t last, line = cpu_amx_lines(t, operand, &last);
    for (; line <= last; line++) {
        uint64_t *place = &t->amx_line[line % CPU_AMX_LINES];
        undo->line[undo->lines++] = (struct undo_line){place, *place};
        *place = line + 1;
    }
    t->amx_pending = true;
}

static void take_back(struct cpu_timing *t, struct undo *undo)
{
    while (undo->forwards--)
        *undo->forward[undo->forwards].place = undo->forward[undo->forwards].was;
    while (undo->lines--)
        *undo->line[undo->lines].place = undo->line[undo->lines].was;
    t->amx_pending = undo->amx_pending;
    t->youngest = undo->youngest;
}

/* Repeats all accesses of a block as when it was placed; t->answers of them are answered already. NULL when something went
 * differently; up to there the block went as before, so the answers hold when it is placed now. */
static const struct end *repeat_accesses(struct cpu_timing *t, const struct cpu_plan *plan, const struct path *path,
                                         const uint64_t *address)
{
    struct undo undo;
    undo.forwards = undo.lines = 0;
    undo.amx_pending = t->amx_pending;
    undo.youngest = t->youngest;
    for (uint32_t number = 0; path->step; number++) {
        const struct cpu_memo_access *a = &path->step->access;
        const uint64_t operand = address[number];
        const struct branch *b = repeat_access(t, plan, path->step, number, operand);
        if (!b)
            break;
        if (a->kind == CPU_ACCESS_AMX) {
            if (t->has_amx && cpu_amx_stores(a->bytes))
                repeat_amx_store(t, operand, &undo);
        } else if (a->kind != MEM_ACCESS_LOAD) {
            repeat_forwards(t, a, b->cycles, operand + t->address_tag, &undo);
        }
        path = &b->path;
    }
    if (path->end) {
        t->answers = 0;
        return path->end;
    }
    take_back(t, &undo);
    return NULL;
}

/* ---- blocks of AMX words ---- */

#define WORDS_MIN 2 /* fewer are sent one by one */

static struct run *make_run(struct cpu_memo *m, uint32_t count)
{
    struct run *run = cpu_memo_take(m, sizeof *run + count * (2 * sizeof run->when[0] + sizeof run->op[0]));
    if (!run)
        return NULL;
    run->when = (uint32_t *)(void *)(run + 1);
    run->answer = run->when + count;
    run->op = (uint8_t *)(run->answer + count);
    return run;
}

/* Writes the way down that the block has just gone. */
static void note_run(struct cpu_timing *t, struct tree *tree, const struct end *end)
{
    const uint32_t count = tree->plan->addresses;
    if (!tree->run)
        tree->run = make_run(t->memo, count);
    struct path *path = &tree->path;
    for (uint32_t i = 0; tree->run && i < count; i++) {
        struct step *const step = path->step;
        tree->run->when[i] = step->access.when;
        tree->run->answer[i] = (uint32_t)(t->answer[i].cycle - t->board.now - step->access.when);
        tree->run->op[i] = step->access.bytes;
        path = &branch_of(step, tree->run->answer[i], MEM_L1)->path;
    }
    if (tree->run)
        tree->run->end = end;
}

/* Sends the words of a block as it went last time. NULL when one was answered differently: the answers up to that are kept. */
static const struct end *repeat_run(struct cpu_timing *t, const struct run *run, uint32_t count, const uint64_t *address)
{
    const struct unit_words words = {.clock = &t->clock,
                                     .now = t->board.now,
                                     .op = run->op,
                                     .operand = address,
                                     .when = run->when,
                                     .answer = run->answer,
                                     .count = count};
    uint64_t answered = 0;
    const uint32_t same = t->amx.send_words(t->amx.context, &words, &answered);
    if (same == count)
        return run->end;
    for (uint32_t i = 0; i < same; i++)
        t->answer[i] = (struct cpu_answer){t->board.now + run->when[i] + run->answer[i], MEM_L1};
    t->answer[same] = (struct cpu_answer){answered, MEM_L1};
    t->answers = same + 1;
    return NULL;
}

/* Repeats the accesses of a block in the quickest way that there is. */
static const struct end *repeat_block(struct cpu_timing *t, struct tree *tree, const uint64_t *address)
{
    const struct cpu_plan *const plan = tree->plan;
    const bool words = plan->only_words && plan->addresses >= WORDS_MIN && t->has_amx && t->amx.send_words;
    const struct end *end = words && tree->run ? repeat_run(t, tree->run, plan->addresses, address) : NULL;
    if (end)
        return end;
    end = repeat_accesses(t, plan, &tree->path, address);
    if (end && words)
        note_run(t, tree, end);
    return end;
}

/* Keeps account of a block that was repeated. */
static void count_gain(struct cpu_memo *m, uint32_t instructions)
{
    const uint32_t cost = m->bytes > NEAR_BYTES ? FAR_COST : NEAR_COST;
    if (instructions < cost) {
        m->loss += cost - instructions;
        return;
    }
    const uint32_t gain = instructions - cost;
    m->loss -= m->loss < gain ? m->loss : gain;
    if (m->loss == 0)
        m->idle_next = CPU_MEMO_IDLE_FIRST;
}

bool cpu_memo_step(struct cpu_timing *t, const struct cpu_plan *plan, unsigned outcome, const uint64_t *address)
{
    struct cpu_memo *m = t->memo;
    struct cpu_board *b = &t->board;
    t->answers = t->answers_used = 0;
    const bool waits = plan->has_sync && t->amx_pending; /* until the stores are visible, which no state tells */
    struct tree *const tree = m->at && !waits ? tree_of(m->at, plan, outcome) : NULL;
    const struct end *e = tree ? repeat_block(t, tree, address) : NULL;
    if (!e) {
        m->loss += m->at ? FAILURE_COST : 0;
        m->good_run = 0;
        return false;
    }
    count_gain(m, plan->count);
    m->lost = 0;
    if (++m->good_run == GOOD_RUN)
        m->put_off_next = CPU_MEMO_PUT_OFF_FIRST;
    __builtin_prefetch(e->to);
    b->now += e->cycles;
    b->last_retire = b->now + (uint64_t)(int64_t)e->retire;
    for (uint32_t i = 0; i < e->stalls; i++)
        b->stall[e->stall[i].reason] += e->stall[i].cycles;
    b->instructions += plan->count;
    m->at = e->to;
    return true;
}
