/* What all sets of vector handlers share below their primitives. Needs `vu`. */

/* Chooses lane by lane; `which` is all ones or zero. */
static inline vu vec_choose(vu which, vu yes, vu no)
{
    return (which & yes) | (~which & no);
}

/* Comparisons as bits of lanes; a set with mask registers defines its own. */
#ifndef HAVE_COMPARE
#define COMPARE(name, type, operator)                                                                                            \
    static inline uint32_t name(type a, type b)                                                                                  \
    {                                                                                                                            \
        return vec_bits((vu)(a operator b));                                                                                     \
    }
/* clang-format off */
#define COMPARE_TABLE(X) \
    X(vec_eq, vu, ==) X(vec_ne, vu, !=) X(vec_lt, vu, <) X(vec_gt, vu, >) X(vec_lt_signed, vi, <) \
    X(vec_gt_signed, vi, >) X(vec_feq, vf, ==) X(vec_flt, vf, <) X(vec_fgt, vf, >) X(vec_fle, vf, <=) \
    X(vec_fge, vf, >=) X(vec_fne, vf, !=)
/* clang-format on */
COMPARE_TABLE(COMPARE)
#undef COMPARE
#endif

#ifndef HAVE_MIN
static inline vu vec_min(vu a, vu b)
{
    return vec_choose((vu)(a < b), a, b);
}
#endif

#ifndef HAVE_LEAST
/* The smallest number of the given lanes, of which there is at least one. */
static inline uint32_t vec_least(vu value, uint32_t lanes)
{
    uint32_t least = UINT32_MAX;
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t one = value[__builtin_ctz(lanes)];
        least = one < least ? one : least;
    }
    return least;
}
#endif

/* Fetches lanes one after another, for hosts and item sizes without a gather. */
static inline vu gather_each(const uint8_t *base, vu offset, uint32_t active, unsigned item)
{
    uint32_t at[VECTOR_BYTES / 4], value[VECTOR_BYTES / 4] = {0};
    vu out;
    memcpy(at, &offset, sizeof at);
    for (; active; active &= active - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(active);
        if (item == 4)
            memcpy(&value[lane], base + at[lane], 4);
        else if (item == 2)
            memcpy(&value[lane], base + at[lane], 2);
        else
            value[lane] = base[at[lane]];
    }
    memcpy(&out, value, sizeof out);
    return out;
}
