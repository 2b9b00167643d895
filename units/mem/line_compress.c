#include "units/mem/line_compress.h"

#include <stdbool.h>
#include <string.h>

/* Returns value number i of so many bytes. */
static uint64_t value_at(const uint8_t *line, unsigned i, unsigned bytes)
{
    uint64_t v = 0;
    memcpy(&v, line + (size_t)i * bytes, bytes); /* simulated memory is little-endian, as the host is */
    return v;
}

/* Bytes that the difference between two values of so many bytes takes as a signed number: 0, 1, 2, 4 or 8. */
static unsigned delta_bytes(uint64_t a, uint64_t b, unsigned bytes)
{
    const unsigned unused = 64 - 8 * bytes;
    const int64_t d = (int64_t)((a - b) << unused) >> unused;
    if (d == 0)
        return 0;
    for (unsigned n = 1; n < 8; n *= 2)
        if (d >= -(INT64_C(1) << (8 * n - 1)) && d < INT64_C(1) << (8 * n - 1))
            return n;
    return 8;
}

static bool is_zero(const uint8_t *bytes, size_t count)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

/* Size with one base: each value is a difference from the base or from zero (the immediate), and one bit per value says which. */
static unsigned base_delta(const uint8_t *line, unsigned bytes)
{
    const unsigned count = MEM_LINE_BYTES / bytes;
    const uint64_t zero = 0;
    uint64_t base = 0;
    bool have = false;
    unsigned wide = 0;
    for (unsigned pass = 1; pass < bytes; pass *= 2) { /* width of the differences to try */
        have = false;
        wide = pass;
        for (unsigned i = 0; i < count && wide == pass; i++) {
            const uint64_t v = value_at(line, i, bytes);
            if (delta_bytes(v, zero, bytes) <= pass)
                continue;
            if (!have) {
                base = v;
                have = true;
            }
            if (delta_bytes(v, base, bytes) > pass)
                wide = bytes;
        }
        if (wide == pass)
            return bytes + count * pass + count / 8;
    }
    return MEM_LINE_BYTES;
}

uint32_t mem_line_compressed_bytes(const uint8_t line[MEM_LINE_BYTES])
{
    unsigned best = MEM_LINE_BYTES;
    if (is_zero(line, MEM_LINE_BYTES) || memcmp(line, line + 8, MEM_LINE_BYTES - 8) == 0)
        return MEM_COMPRESS_SECTOR;
    for (unsigned bytes = 8; bytes >= 2; bytes /= 2) {
        const unsigned here = base_delta(line, bytes);
        best = here < best ? here : best;
    }
    return (best + MEM_COMPRESS_SECTOR - 1) / MEM_COMPRESS_SECTOR * MEM_COMPRESS_SECTOR;
}

/* The first page from `page` on that is mapped, or `pages`: most of an address space is not. */
static uint64_t mapped_from(const struct mem_space *space, uint64_t page, uint64_t pages)
{
    uint64_t eight;
    while (page + sizeof eight <= pages) {
        memcpy(&eight, &space->prot[page], sizeof eight);
        if (eight)
            break;
        page += sizeof eight;
    }
    while (page < pages && !space->prot[page])
        page++;
    return page;
}

double mem_space_compressed_share(const struct mem_space *space, uint64_t lines)
{
    const uint64_t pages = space->bytes >> MEM_PAGE_SHIFT, per_page = MEM_PAGE_BYTES / MEM_LINE_BYTES;
    const uint64_t all = (space->mapped_bytes >> MEM_PAGE_SHIFT) * per_page;
    const uint64_t step = (lines && all > lines ? all / lines : 1) | 1; /* odd: not always the same place of a page */
    uint64_t next = 0, number = 0, looked = 0, compressed = 0, found = 0;
    for (uint64_t page = 0; found < space->mapped_bytes && (page = mapped_from(space, page, pages)) < pages; page++) {
        const uint8_t *const at = space->host + (page << MEM_PAGE_SHIFT);
        found += MEM_PAGE_BYTES;
        if (next < number + per_page && is_zero(at, MEM_PAGE_BYTES))
            while (next < number + per_page)
                next += step;
        for (; next < number + per_page; next += step, looked++)
            compressed += mem_line_compressed_bytes(at + (next - number) * MEM_LINE_BYTES);
        number += per_page;
    }
    return looked ? (double)compressed / (double)(looked * MEM_LINE_BYTES) : 1;
}
