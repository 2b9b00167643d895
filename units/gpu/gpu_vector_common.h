/* What every set of vector handlers has in common below its primitives. Needs `vu`. */

/* Lane by lane, where `which` is all ones or zero. */
static inline vu vec_choose(vu which, vu yes, vu no)
{
    return (which & yes) | (~which & no);
}

/* Lanes fetched one after another, for hosts and item sizes without a gather. */
static inline vu gather_each(const uint8_t *base, vu offset, uint32_t active, unsigned item)
{
    vu out = {0};
    for (; active; active &= active - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(active);
        uint32_t value = 0;
        if (item == 4)
            memcpy(&value, base + offset[lane], 4);
        else if (item == 2)
            memcpy(&value, base + offset[lane], 2);
        else
            value = base[offset[lane]];
        out[lane] = value;
    }
    return out;
}
