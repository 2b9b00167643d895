/* Vector handlers: how one host vector of lanes reaches memory. Included once per host instruction set, by gpu_vector_memory.h.
 *
 * A lane moves a record of 1, 2, 4, 8 or 16 bytes: one component, or two or four that lie side by side. Each host vector of
 * lanes is classified by itself: one address for all lanes, consecutive addresses, or scattered ones. An access that cannot be
 * shown to be valid (an unmapped page, the end of a memory) is left to the plain handler, which finds the lane at fault.
 */

typedef uint16_t vu16 __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef uint8_t vu8 __attribute__((vector_size(VECTOR_BYTES / 4)));

/* An access before its lanes are examined: address = base + offset * scale (a power of two), `item` bytes of it. */
struct reach {
    uint64_t base;
    uint32_t scale, item;
    bool device, sign;
    unsigned prot;
};

/* The host bytes of [address, address + bytes); NULL = needs a closer look. */
ALWAYS uint8_t *reach_bytes(const struct gpu_simdgroup *group, const struct reach *r, uint64_t address, uint64_t bytes)
{
    const struct gpu_group *all = group->group;
    if (r->device)
        return mem_at(all->launch.space, address, bytes, r->prot);
    return address < all->memory_bytes && bytes <= all->memory_bytes - address ? all->memory + address : NULL;
}

ALWAYS uint64_t reach_address(const struct reach *r, uint32_t offset)
{
    const uint64_t wide = r->sign ? (uint64_t)(int64_t)(int32_t)offset : offset;
    return r->base + wide * r->scale;
}

/* The distance of offsets whose items are contiguous; 0 = there is none. */
ALWAYS uint32_t reach_step(const struct reach *r)
{
    return r->scale <= r->item ? r->item >> __builtin_ctz(r->scale) : 0;
}

/* True when items are contiguous from the first lane on, without an overflow of the offsets. */
ALWAYS bool counts_up(const struct reach *r, vu offset, uint32_t active)
{
    const uint32_t step = reach_step(r), run = step * PART_LANES, first = offset[0];
    const bool wraps = r->sign ? (int32_t)first > INT32_MAX - (int32_t)run : first > UINT32_MAX - run;
    return step && (vec_ne(offset, first + step * vec_count()) & active) == 0 && !wraps;
}

ALWAYS vu load_items(const uint8_t *from, unsigned item)
{
    if (item == 4) {
        vu out;
        memcpy(&out, from, sizeof out);
        return out;
    }
    if (item == 2) {
        vu16 out;
        memcpy(&out, from, sizeof out);
        return __builtin_convertvector(out, vu);
    }
    vu8 out;
    memcpy(&out, from, sizeof out);
    return __builtin_convertvector(out, vu);
}

ALWAYS uint32_t load_item(const uint8_t *from, unsigned item)
{
    uint32_t out = 0;
    if (item == 4)
        memcpy(&out, from, 4);
    else if (item == 2)
        memcpy(&out, from, 2);
    else
        out = *from;
    return out;
}

/* The lowest and highest address of active lanes. False when they lie too far apart for 32-bit distances. */
ALWAYS bool span(const struct reach *r, vu offset, uint32_t active, uint64_t *low, uint64_t *high)
{
    const uint32_t turn = r->sign ? GPU_SIGN32 : 0; /* brings signed numbers into the order of unsigned ones */
    *low = reach_address(r, vec_least(offset ^ turn, active) ^ turn);
    *high = reach_address(r, ~vec_least(~(offset ^ turn), active) ^ turn);
    return *high - *low < INT32_MAX;
}

/* Gathers the words of a record: only out[0] when it has 4 bytes or less. */
ALWAYS void gather_record(const uint8_t *from, vu offset, uint32_t active, uint32_t item, vu *out)
{
    if (item <= 4) {
        out[0] = vec_gather(from, offset, active, item);
        return;
    }
#ifdef HAVE_GATHER_RECORDS
    if (active == PART_MASK) {
        if (item == 16)
            vec_gather_four(from, offset, out);
        else
            vec_gather_two(from, offset, out);
        return;
    }
#endif
    for (unsigned k = 0; k < item / 4; k++)
        out[k] = vec_gather(from + 4 * k, offset, active, 4);
}

/* Scattered addresses of one part. False = needs a closer look. */
static bool load_scattered(const struct gpu_simdgroup *group, const struct reach *r, const vu *offset, uint32_t active, vu *out)
{
    if (!r->device) {
        /* Threadgroup memory is small: offsets there are bytes and compare in 32 bits. */
        const struct gpu_group *all = group->group;
        const uint64_t start = r->base;
        if (r->item > all->memory_bytes || start > all->memory_bytes - r->item)
            return false;
        const vu last = vec_all((uint32_t)(all->memory_bytes - r->item - start));
        if (r->scale != 1 || (vec_gt(*offset, last) & active))
            return false;
        gather_record(all->memory + start, *offset, active, r->item, out);
        return true;
    }
    uint64_t low = 0, high = 0;
    if (!span(r, *offset, active, &low, &high))
        return false;
    const uint8_t *from = mem_at(group->group->launch.space, low, high - low + r->item, r->prot);
    if (!from)
        return false;
    const uint32_t first = (uint32_t)((low - r->base) / r->scale); /* distances wrap as the offsets do */
    gather_record(from, (*offset - first) * r->scale, active, r->item, out);
    return true;
}

/* --- records side by side: word k of lane i is word i * words + k of memory --- */

ALWAYS vu every_second(vu a, vu b, unsigned first)
{
    return __builtin_shuffle(a, b, 2 * vec_count() + first);
}

/* Interleaves the lanes of a and b: the first half of them, or the last. */
ALWAYS vu by_turns(vu a, vu b, bool last)
{
    const vu i = vec_count();
    return __builtin_shuffle(a, b, (i >> 1) + (last ? PART_LANES / 2 : 0) + (i & 1) * PART_LANES);
}

ALWAYS void load_records(const uint8_t *from, uint32_t item, vu *out)
{
    if (item <= 4) {
        out[0] = load_items(from, item);
        return;
    }
    vu v[4];
    if (item == 8) {
        memcpy(v, from, 2 * sizeof *v);
        out[0] = every_second(v[0], v[1], 0);
        out[1] = every_second(v[0], v[1], 1);
        return;
    }
    memcpy(v, from, sizeof v);
    for (unsigned k = 0; k < 2; k++) {
        const vu low = every_second(v[0], v[1], k), high = every_second(v[2], v[3], k);
        out[k] = every_second(low, high, 0);
        out[k + 2] = every_second(low, high, 1);
    }
}

static void store_records(uint8_t *to, const vu *value, uint32_t item)
{
    if (item == 16) {
        const vu a = by_turns(value[0], value[2], false), b = by_turns(value[0], value[2], true);
        const vu c = by_turns(value[1], value[3], false), d = by_turns(value[1], value[3], true);
        const vu v[4] = {by_turns(a, c, false), by_turns(a, c, true), by_turns(b, d, false), by_turns(b, d, true)};
        memcpy(to, v, sizeof v);
    } else if (item == 8) {
        const vu v[2] = {by_turns(value[0], value[1], false), by_turns(value[0], value[1], true)};
        memcpy(to, v, sizeof v);
    } else if (item == 4) {
        memcpy(to, value, sizeof *value);
    } else if (item == 2) {
        const vu16 narrow = __builtin_convertvector(*value, vu16);
        memcpy(to, &narrow, sizeof narrow);
    } else {
        const vu8 narrow = __builtin_convertvector(*value, vu8);
        memcpy(to, &narrow, sizeof narrow);
    }
}

ALWAYS bool load_part(const struct gpu_simdgroup *group, const struct reach *r, vu offset, uint32_t active, vu *out)
{
    if (active == 0)
        return true;
    const uint32_t same = offset[__builtin_ctz(active)];
    if ((vec_ne(offset, vec_all(same)) & active) == 0) {
        const uint8_t *from = reach_bytes(group, r, reach_address(r, same), r->item);
        for (unsigned k = 0; from && 4 * k < r->item; k++)
            out[k] = vec_all(load_item(from + 4 * k, r->item < 4 ? r->item : 4));
        return from;
    }
    /* Bytes of inactive lanes are not read: another host thread may be writing them. */
    if ((active == PART_MASK || r->item == 4) && counts_up(r, offset, active)) {
        const uint8_t *from = reach_bytes(group, r, reach_address(r, offset[0]), (uint64_t)PART_LANES * r->item);
        if (from) {
            if (active == PART_MASK)
                load_records(from, r->item, out);
            else
                *out = vec_load_active(from, active);
            return true;
        }
    }
    return load_scattered(group, r, &offset, active, out);
}

/* Of lanes that write to the same place, the highest wins, as in the plain handler. */
static bool store_scattered(const struct gpu_simdgroup *group, const struct reach *r, const vu *offset, uint32_t active,
                            const vu *value)
{
    uint64_t low = 0, high = 0;
    uint8_t bytes[4 * VECTOR_BYTES];
    uint32_t by[PART_LANES];
    if (!span(r, *offset, active, &low, &high))
        return false;
    uint8_t *to = reach_bytes(group, r, low, high - low + r->item);
    if (!to)
        return false;
    store_records(bytes, value, r->item);
    const uint32_t item = r->item, first = (uint32_t)((low - r->base) / r->scale); /* distances wrap as the offsets do */
    const vu distance = (*offset - first) * r->scale;
    memcpy(by, &distance, sizeof by);
    for (; active; active &= active - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(active);
        uint8_t *at = to + by[lane];
        if (item == 4)
            memcpy(at, bytes + 4 * lane, 4);
        else if (item == 2)
            memcpy(at, bytes + 2 * lane, 2);
        else if (item == 16)
            memcpy(at, bytes + 16 * lane, 16);
        else if (item == 8)
            memcpy(at, bytes + 8 * lane, 8);
        else
            *at = bytes[lane];
    }
    return true;
}

ALWAYS bool store_part(const struct gpu_simdgroup *group, const struct reach *r, vu offset, uint32_t active, const vu *value)
{
    if (active == 0)
        return true;
    if (active == PART_MASK && counts_up(r, offset, active)) {
        uint8_t *to = reach_bytes(group, r, reach_address(r, offset[0]), (uint64_t)PART_LANES * r->item);
        if (to)
            store_records(to, value, r->item);
        return to;
    }
    return store_scattered(group, r, &offset, active, value);
}
