#include "units/mem/mem_pool.h"

#include <stdlib.h>
#include <string.h>

/* Class number = 4 * log2 + quarter; enough for 2^56 bytes. */
#define CLASSES   256
#define FIRST_LOG 7 /* one cache line */

struct block {
    uint64_t address; /* 0 = no block */
    uint64_t bytes;   /* of its class */
    bool free;
    uint32_t next;   /* the next free block of the same class, or the next unused record: index + 1 */
    uint32_t beside; /* the next block of the same first page: index + 1 */
};

struct mem_pool {
    struct mem_space *space;
    struct mem_pool_params params;
    struct block *block;
    uint32_t blocks, capacity, unused; /* unused: index + 1 */
    uint32_t first_free[CLASSES];      /* index + 1 */
    uint32_t *in_page;                 /* by page number: the first block that begins in the page, index + 1 */
    struct mem_pool_stats stats;
};

static const char *const pressure_names[] = {"nominal", "warn", "critical"};

const char *mem_pressure_name(enum mem_pressure pressure)
{
    return pressure_names[pressure];
}

enum mem_pressure mem_pressure_of(const struct mem_pool_params *params, uint64_t bytes)
{
    if (params->capacity_bytes == 0)
        return MEM_PRESSURE_NOMINAL;
    const double share = (double)bytes / (double)params->capacity_bytes;
    return share >= params->critical_share ? MEM_PRESSURE_CRITICAL
           : share >= params->warn_share   ? MEM_PRESSURE_WARN
                                           : MEM_PRESSURE_NOMINAL;
}

struct mem_pool *mem_pool_create(struct mem_space *space, const struct mem_pool_params *params)
{
    struct mem_pool *p = calloc(1, sizeof *p);
    uint32_t *in_page = calloc(space->bytes >> MEM_PAGE_SHIFT, sizeof *in_page);
    if (!p || !in_page) {
        free(p);
        free(in_page);
        return NULL;
    }
    p->space = space;
    p->params = *params;
    p->in_page = in_page;
    return p;
}

void mem_pool_free(struct mem_pool *p)
{
    if (!p)
        return;
    free(p->block);
    free(p->in_page);
    free(p);
}

/* ---- classes ---- */

/* Classes are powers of two and three steps between them: 512, 640, 768, 896, 1024, ...; only those that are whole lines, and
 * from one page on only whole pages. */
static unsigned quarter_step(uint64_t bytes, uint64_t *class_bytes)
{
    unsigned log = FIRST_LOG;
    while (log < 55 && (UINT64_C(1) << log) < bytes)
        log++;
    /* Between 2^(log-1) and 2^log: take the first quarter step that suffices. */
    const uint64_t half = log > FIRST_LOG ? UINT64_C(1) << (log - 1) : 0, step = half / 4;
    unsigned quarter = 4;
    for (unsigned q = 1; half && q < 4 && quarter == 4; q++)
        if (half + q * step >= bytes)
            quarter = q;
    *class_bytes = quarter == 4 ? UINT64_C(1) << log : half + quarter * step;
    return 4 * log + quarter;
}

static unsigned class_of(uint64_t bytes, uint64_t *class_bytes)
{
    unsigned class = quarter_step(bytes, class_bytes);
    const uint64_t unit = *class_bytes >= MEM_PAGE_BYTES ? MEM_PAGE_BYTES : MEM_LINE_BYTES;
    while (*class_bytes % unit) /* the next class of whole units */
        class = quarter_step((*class_bytes + unit - 1) / unit * unit, class_bytes);
    return class;
}

uint64_t mem_pool_class_bytes(uint64_t bytes)
{
    uint64_t class_bytes;
    class_of(bytes, &class_bytes);
    return class_bytes;
}

/* ---- records ---- */

/* Returns a new record as index + 1; 0 when memory is out. */
static uint32_t new_record(struct mem_pool *p)
{
    if (p->unused) {
        const uint32_t at = p->unused;
        p->unused = p->block[at - 1].next;
        return at;
    }
    if (p->blocks == p->capacity) {
        const uint32_t capacity = p->capacity ? 2 * p->capacity : 64;
        struct block *grown = realloc(p->block, capacity * sizeof *grown);
        if (!grown)
            return 0;
        p->block = grown;
        p->capacity = capacity;
    }
    return ++p->blocks;
}

static void drop_record(struct mem_pool *p, uint32_t at)
{
    p->block[at - 1] = (struct block){.next = p->unused};
    p->unused = at;
}

static void put_free(struct mem_pool *p, unsigned class, uint32_t at)
{
    p->block[at - 1].free = true;
    p->block[at - 1].next = p->first_free[class];
    p->first_free[class] = at;
}

/* ---- allocation ---- */

/* Takes pages from the space and cuts them into free blocks of the class. */
static bool take_pages(struct mem_pool *p, unsigned class, uint64_t class_bytes)
{
    const uint64_t bytes = class_bytes < MEM_PAGE_BYTES ? MEM_PAGE_BYTES : class_bytes;
    if (p->params.capacity_bytes && bytes > p->params.capacity_bytes - p->stats.held_bytes)
        return false;
    const uint64_t address = mem_space_alloc(p->space, bytes, MEM_PAGE_BYTES);
    if (!address)
        return false;
    unsigned made = 0;
    for (uint64_t at = 0; at + class_bytes <= bytes; at += class_bytes) {
        const uint32_t record = new_record(p);
        if (!record)
            break;
        uint32_t *const first = &p->in_page[(address + at) >> MEM_PAGE_SHIFT];
        p->block[record - 1] = (struct block){.address = address + at, .bytes = class_bytes, .beside = *first};
        *first = record;
        put_free(p, class, record);
        made++;
    }
    if (!made) {
        mem_space_unmap(p->space, address, bytes);
        return false;
    }
    p->stats.held_bytes += bytes;
    if (p->stats.held_bytes > p->stats.held_peak_bytes)
        p->stats.held_peak_bytes = p->stats.held_bytes;
    return true;
}

static void count_use(struct mem_pool *p, uint64_t bytes)
{
    struct mem_pool_stats *s = &p->stats;
    s->blocks++;
    s->used_bytes += bytes;
    s->pressure = mem_pressure_of(&p->params, s->used_bytes);
    if (s->used_bytes > s->used_peak_bytes)
        s->used_peak_bytes = s->used_bytes;
    if (s->pressure > s->pressure_peak)
        s->pressure_peak = s->pressure;
}

uint64_t mem_pool_alloc(struct mem_pool *p, uint64_t bytes)
{
    uint64_t class_bytes;
    if (bytes > p->space->bytes) {
        p->stats.refused++;
        return 0;
    }
    const unsigned class = class_of(bytes ? bytes : 1, &class_bytes);
    const bool there = p->first_free[class] != 0;
    if (!there && !take_pages(p, class, class_bytes) && (mem_pool_trim(p) == 0 || !take_pages(p, class, class_bytes))) {
        p->stats.refused++;
        return 0;
    }
    struct block *b = &p->block[p->first_free[class] - 1];
    p->first_free[class] = b->next;
    b->free = false;
    p->stats.reused += there;
    uint8_t *host = mem_at(p->space, b->address, b->bytes, MEM_READ | MEM_WRITE);
    if (host && there) /* new pages are zero */
        memset(host, 0, b->bytes);
    count_use(p, b->bytes);
    return b->address;
}

bool mem_pool_release(struct mem_pool *p, uint64_t address)
{
    if (address >= p->space->bytes)
        return false;
    for (uint32_t at = p->in_page[address >> MEM_PAGE_SHIFT]; at; at = p->block[at - 1].beside) {
        struct block *b = &p->block[at - 1];
        uint64_t ignored;
        if (b->address != address || b->free)
            continue;
        p->stats.blocks--;
        p->stats.used_bytes -= b->bytes;
        p->stats.pressure = mem_pressure_of(&p->params, p->stats.used_bytes);
        put_free(p, class_of(b->bytes, &ignored), at);
        return true;
    }
    return false;
}

/* ---- giving back ---- */

static uint64_t page_of(const struct block *b)
{
    return b->address & ~(MEM_PAGE_BYTES - 1);
}

/* True when every block of that page is free. */
static bool page_is_free(const struct mem_pool *p, uint64_t page)
{
    for (uint32_t at = p->in_page[page >> MEM_PAGE_SHIFT]; at; at = p->block[at - 1].beside)
        if (!p->block[at - 1].free)
            return false;
    return true;
}

static void forget_page(struct mem_pool *p, uint64_t page)
{
    for (uint32_t at = p->in_page[page >> MEM_PAGE_SHIFT], next; at; at = next) {
        next = p->block[at - 1].beside;
        drop_record(p, at);
    }
    p->in_page[page >> MEM_PAGE_SHIFT] = 0;
}

static void link_free(struct mem_pool *p)
{
    uint64_t ignored;
    memset(p->first_free, 0, sizeof p->first_free);
    for (uint32_t i = p->blocks; i-- > 0;)
        if (p->block[i].address && p->block[i].free)
            put_free(p, class_of(p->block[i].bytes, &ignored), i + 1);
}

uint64_t mem_pool_trim(struct mem_pool *p)
{
    uint64_t given = 0;
    for (uint32_t i = 0; i < p->blocks; i++) {
        const struct block b = p->block[i];
        if (!b.address || !b.free || !page_is_free(p, page_of(&b)))
            continue;
        const uint64_t bytes = b.bytes < MEM_PAGE_BYTES ? MEM_PAGE_BYTES : b.bytes;
        mem_space_unmap(p->space, page_of(&b), bytes);
        forget_page(p, page_of(&b));
        given += bytes;
    }
    p->stats.held_bytes -= given;
    link_free(p);
    return given;
}

void mem_pool_stats(const struct mem_pool *p, struct mem_pool_stats *stats)
{
    *stats = p->stats;
}
