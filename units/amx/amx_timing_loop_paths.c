/* The addresses that the loads of a loop run over: whether they meet one another or recent accesses, and the trail of recent
 * accesses that they leave. */
#include "units/amx/amx_timing_loop.h"

bool amx_loop_same_coming(const struct amx_loop *l, const uint64_t before[AMX_FILES])
{
    uint64_t moved_on[AMX_FILES] = {0};
    for (uint32_t i = 0; i < l->loads; i++)
        moved_on[amx_loop_file(l, i)] = l->pass.step[l->load_at[i]] >> AMX_LINE_SHIFT;
    for (unsigned file = 0; file < AMX_FILES; file++)
        if (l->core->coming[file] - before[file] != moved_on[file])
            return false;
    return true;
}

/* True for two loads on the same track whose offsets within the step keep them apart. */
static bool in_file(const struct mem_steady_load *x, const struct mem_steady_load *y)
{
    if (x->address > y->address)
        return in_file(y, x);
    const uint64_t gap = (y->address - x->address) % (x->step ? x->step : 1);
    return x->step == y->step && gap >= x->bytes && x->step - gap >= y->bytes;
}

/* The whole lines that a load covers in so many periods: addresses [line_from, line_to). */
static uint64_t line_from(const struct mem_steady_load *x)
{
    return x->address >> AMX_LINE_SHIFT << AMX_LINE_SHIFT;
}

static uint64_t line_to(const struct mem_steady_load *x, uint32_t periods)
{
    const uint64_t line = 1 << AMX_LINE_SHIFT;
    return (x->address + x->step * periods + line - 1) / line * line;
}

bool amx_loop_crosses(const struct mem_steady *s, uint32_t periods)
{
    for (uint32_t i = 0; i < s->count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const struct mem_steady_load *x = &s->load[i], *y = &s->load[j];
            if (line_from(x) < line_to(y, periods) && line_from(y) < line_to(x, periods) && !in_file(x, y))
                return true;
        }
    return false;
}

/* Addresses [from, to) that loads run over. */
struct span {
    uint64_t from, to;
};

/* Loads with overlapping spans share one. Returns the number of spans. */
static uint32_t spans_of(const struct mem_steady *s, uint32_t periods, struct span *span)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint64_t from = s->load[i].address, to = from + s->load[i].step * periods;
        uint32_t k = 0;
        while (k < count && (from > span[k].to || span[k].from > to))
            k++;
        if (k == count)
            span[count++] = (struct span){from, to};
        span[k].from = from < span[k].from ? from : span[k].from;
        span[k].to = to > span[k].to ? to : span[k].to;
    }
    return count;
}

/* True when bytes at `address` lie in a span. */
static bool comes_by(const struct span *span, uint32_t count, uint64_t address, uint32_t bytes)
{
    for (uint32_t k = 0; k < count; k++)
        if (address + bytes > span[k].from && address < span[k].to)
            return true;
    return false;
}

bool amx_loop_meets_trail(const struct amx_loop *l, const struct mem_steady *s, uint32_t periods)
{
    const struct amx_block *block = l->block;
    struct span span[AMX_PERIOD_MAX];
    const uint32_t count = spans_of(s, periods, span);
    for (uint32_t b = 0; b < block->params.load_banks; b++)
        if (block->loaded[b].free > l->core->load_ready && block->loaded[b].block != UINT64_MAX &&
            comes_by(span, count, block->loaded[b].block * 64, 64))
            return true;
    int64_t visible = INT64_MIN;
    for (unsigned c = 0; c < block->cores; c++)
        visible = amx_later(visible, block->core[c]->stores_visible);
    for (uint32_t b = 0; visible > l->core->load_ready && b < AMX_STORE_LINES; b++)
        if (block->stored[b].visible > l->core->load_ready && block->stored[b].line != UINT64_MAX &&
            comes_by(span, count, block->stored[b].line << AMX_LINE_SHIFT, 1 << AMX_LINE_SHIFT))
            return true;
    return false;
}

/* Only the periods that fill all banks once are replayed: they overwrite everything that earlier ones left. */
void amx_loop_leave_trail(const struct amx_loop *l, const struct mem_steady *s, uint32_t n, int64_t shift)
{
    struct amx_block *block = l->block;
    const uint64_t mask = block->params.load_banks - 1;
    uint32_t period_of_banks = 1;
    for (uint32_t i = 0; i < s->count; i++)
        while (period_of_banks < block->params.load_banks && (s->load[i].step / 64 * period_of_banks) & mask)
            period_of_banks *= 2;
    for (uint32_t k = n > period_of_banks ? n - period_of_banks + 1 : 1; k <= n; k++)
        for (uint32_t i = 0; i < s->count; i++) {
            const struct mem_steady_load *load = &s->load[i]; /* stands one period after the last */
            const uint64_t first = (load->address - (n - k + 1) * load->step) / 64;
            const int64_t asked = block->record.load[l->load_of[i]].asked + k * shift;
            if (i == 0 || l->load_of[i] != l->load_of[i - 1])
                block->loaded[first & mask] = (struct amx_loaded_block){first, asked + block->ticks.load_bank};
            l->core->coming[amx_loop_file(l, l->load_of[i])] = 1 + (first * 64 >> AMX_LINE_SHIFT);
        }
}
