#include "units/mem/mem_streams.h"

#include "units/mem/mem_internal.h"

#include <string.h>

#define PAGE_PERIODS_MIN 2

bool mem_steady_enter(const struct mem_steady *s, uint64_t page)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const uint64_t other = s->load[i].address >> MEM_PAGE_SHIFT;
        if (other != page && mem_tlb_hint_slot(other) == mem_tlb_hint_slot(page))
            return false;
    }
    return mem_tlb_hint(&s->port->tlb, page) || mem_tlb_first_level(&s->port->tlb, page);
}

/* Adds a load to its stream. Returns false when it does not fit. */
static bool join(struct mem_steady_streams *streams, const struct mem_steady_load *load)
{
    for (uint32_t k = 0; k < streams->count; k++) {
        struct mem_steady_stream *const stream = &streams->of[k];
        if (load->step == (uint64_t)stream->lines * MEM_LINE_BYTES && load->address >= stream->address &&
            load->address - stream->address < load->step)
            return true;
    }
    const uint64_t lines = load->step / MEM_LINE_BYTES;
    if (streams->count == MEM_STREAMS_MAX || load->step % MEM_LINE_BYTES != 0 || lines == 0 || lines > MEM_STEADY_LOADS)
        return false;
    streams->of[streams->count++] =
        (struct mem_steady_stream){.address = load->address & ~(uint64_t)(MEM_LINE_BYTES - 1), .lines = (uint32_t)lines};
    return true;
}

/* Fills the places of a stream's loads. Returns false unless there is one load for each line. */
static bool find_loads(const struct mem_steady *s, struct mem_steady_stream *stream)
{
    uint64_t there = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint64_t line = (s->load[i].address - stream->address) >> MEM_LINE_SHIFT;
        if (line >= stream->lines)
            continue;
        if (there >> line & 1)
            return false;
        there |= UINT64_C(1) << line;
        stream->load[line] = (uint8_t)i;
    }
    return there == UINT64_MAX >> (64 - stream->lines);
}
_Static_assert(MEM_STEADY_LOADS <= 64, "a bit for each line of a period");

bool mem_streams_find(struct mem_steady *s)
{
    struct mem_steady_streams *const streams = &s->streams;
    struct mem_cluster *const cluster = s->port->cluster;
    streams->count = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->load[i].level != MEM_L2 || !join(streams, &s->load[i]))
            return false;
    for (uint32_t k = 0; k < streams->count; k++)
        if (!find_loads(s, &streams->of[k]))
            return false;
    return streams->count > 0 && mem_l2_notes(cluster);
}

static uint32_t line_in_page(const struct mem_steady_stream *stream)
{
    return stream->address >> MEM_LINE_SHIFT & (MEM_PAGE_LINES - 1);
}

/* True when some L1 may hold a line of a page. */
static bool page_is_held(const struct mem_system *system, uint64_t page)
{
    const uint16_t *const holders =
        system->holders + mem_holder_slot(page << MEM_LINES_PER_PAGE_SHIFT) / MEM_PAGE_LINES * MEM_PAGE_LINES;
    uint32_t any = 0;
    for (uint32_t i = 0; system->held > 0 && i < MEM_PAGE_LINES; i++)
        any |= holders[i];
    return any != 0;
}
_Static_assert(MEM_HOLDERS % MEM_PAGE_LINES == 0, "the lines of a page share a block of the table");

/* True when two streams leave the sets that they share in one order, whichever set it is: then *first says which goes first. */
static bool in_order(const struct mem_steady_stream *a, const struct mem_steady_stream *b, uint32_t periods, bool *first)
{
    const uint32_t from_a = line_in_page(a), from_b = line_in_page(b);
    *first = true;
    if (from_a + periods * a->lines <= from_b || from_b + periods * b->lines <= from_a)
        return true; /* they share none */
    if (a->lines != b->lines)
        return false;
    if (from_a != from_b) {
        *first = from_a > from_b;
        return (*first ? from_a - from_b : from_b - from_a) >= a->lines;
    }
    *first = a->load[0] < b->load[0];
    for (uint32_t i = 1; i < a->lines; i++)
        if ((a->load[i] < b->load[i]) != *first)
            return false;
    return true;
}

/* Writes the streams in the order of their touches. False when it differs from set to set. */
static bool order_streams(struct mem_steady *s, uint32_t periods)
{
    struct mem_steady_streams *const streams = &s->streams;
    uint8_t *const order = streams->order;
    const struct mem_cache *const l2 = &s->port->cluster->l2;
    bool first;
    for (uint32_t k = 0; k < streams->count; k++) {
        const uint32_t part = mem_cache_set(l2, streams->of[k].address >> MEM_LINE_SHIFT) / MEM_PAGE_LINES;
        uint32_t at = k;
        for (uint32_t i = 0; i < k; i++) {
            const struct mem_steady_stream *const other = &streams->of[order[i]];
            if (mem_cache_set(l2, other->address >> MEM_LINE_SHIFT) / MEM_PAGE_LINES != part)
                continue;
            if (!in_order(&streams->of[k], other, periods, &first))
                return false;
            at = first && at > i ? i : at;
        }
        memmove(order + at + 1, order + at, k - at);
        order[at] = (uint8_t)k;
    }
    return true;
}

uint32_t mem_streams_known(struct mem_steady *s, uint32_t most, uint32_t *apart)
{
    const struct mem_steady_streams *const streams = &s->streams;
    struct mem_cluster *const cluster = s->port->cluster;
    uint32_t periods = most;
    for (uint32_t k = 0; k < streams->count; k++) {
        const uint32_t room = (MEM_PAGE_LINES - line_in_page(&streams->of[k])) / streams->of[k].lines;
        periods = room < periods ? room : periods;
    }
    *apart = periods > 0 ? periods : 1;
    if (periods < PAGE_PERIODS_MIN || !order_streams(s, periods))
        return 0;
    for (uint32_t k = 0; k < streams->count; k++) {
        const struct mem_steady_stream *const stream = &streams->of[k];
        const uint64_t page = stream->address >> MEM_PAGE_SHIFT;
        const uint32_t from = line_in_page(stream);
        if (page_is_held(s->port->system, page) || !mem_steady_enter(s, page) ||
            !mem_later_knows(cluster->later, &cluster->l2, page, from, from + periods * stream->lines, s->first_ns))
            return 0;
    }
    return periods;
}

void mem_streams_advance(struct mem_steady *s, uint32_t periods)
{
    struct mem_steady_streams *const streams = &s->streams;
    for (uint32_t k = 0; k < streams->count; k++)
        streams->of[k].address += (uint64_t)periods * streams->of[k].lines * MEM_LINE_BYTES;
}

void mem_streams_touch(struct mem_steady *s, uint32_t periods)
{
    const struct mem_steady_streams *const streams = &s->streams;
    struct mem_cluster *const cluster = s->port->cluster;
    for (uint32_t k = 0; periods > 0 && k < streams->count; k++) {
        const struct mem_steady_stream *const stream = &streams->of[streams->order[k]];
        const uint32_t from = line_in_page(stream);
        mem_later_touch(cluster->later, &cluster->l2, stream->address >> MEM_PAGE_SHIFT, from, from + periods * stream->lines);
    }
    for (uint32_t i = 0; i < s->count; i++)
        s->load[i].address += s->load[i].step * periods;
    mem_streams_advance(s, periods);
}
