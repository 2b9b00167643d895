/* Places requests between others on a link, and into slots: body of mem_queue.c, mem_queue_avx2.c and mem_queue_avx512.c, which
 * differ in how eight times are handled at once. All give the same times. The including file defines PLACE_NS and MOVE_UP, the
 * names of the two functions.
 */
#include "units/mem/mem_queue.h"

#include <math.h>
#include <string.h>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

enum { TIMES = MEM_LINK_SPARE }; /* handled at once */
_Static_assert(TIMES == 8 && MEM_LINK_INTERVALS % TIMES == 0, "a full link is whole vectors");

/* ---- eight times ---- */

/* Which of the first `count` of these times are not later than `at`. */
static inline uint32_t not_later(const double *time, uint32_t count, double at)
{
    uint32_t set = 0;
#if defined(__AVX512F__)
    set = _mm512_cmp_pd_mask(_mm512_loadu_pd(time), _mm512_set1_pd(at), _CMP_LE_OQ);
#elif defined(__AVX2__)
    const __m256d limit = _mm256_set1_pd(at);
    set = (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(time), limit, _CMP_LE_OQ)) |
          (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(time + 4), limit, _CMP_LE_OQ)) << 4;
#else
    for (uint32_t k = 0; k < TIMES; k++)
        set |= (uint32_t)(time[k] <= at) << k;
#endif
    return count < TIMES ? set & ((1u << count) - 1) : set;
}

#if defined(__AVX2__) && !defined(__AVX512F__)
/* The same of four gaps. */
static inline uint32_t four_long_enough(const double *end, const double *start, double ns)
{
    const __m256d need = _mm256_add_pd(_mm256_loadu_pd(end), _mm256_set1_pd(ns));
    const __m256d limit = _mm256_add_pd(_mm256_loadu_pd(start), _mm256_set1_pd(MEM_LINK_EPSILON_NS));
    return (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(need, limit, _CMP_LE_OQ));
}
#endif

/* Into which of the gaps, each from end[k] to start[k], a request of `ns` fits. */
static inline uint32_t long_enough(const double *end, const double *start, double ns)
{
    uint32_t set = 0;
#if defined(__AVX512F__)
    const __m512d need = _mm512_add_pd(_mm512_loadu_pd(end), _mm512_set1_pd(ns));
    const __m512d limit = _mm512_add_pd(_mm512_loadu_pd(start), _mm512_set1_pd(MEM_LINK_EPSILON_NS));
    set = _mm512_cmp_pd_mask(need, limit, _CMP_LE_OQ);
#elif defined(__AVX2__)
    set = four_long_enough(end, start, ns) | four_long_enough(end + 4, start + 4, ns) << 4;
#else
    for (uint32_t k = 0; k < TIMES; k++)
        set |= (uint32_t)(end[k] + ns <= start[k] + MEM_LINK_EPSILON_NS) << k;
#endif
    return set;
}

/* Moves times up by one place. */
static inline void shift_up(double *time, uint32_t count)
{
#if defined(__AVX512F__)
    for (; count >= TIMES; count -= TIMES)
        _mm512_storeu_pd(time + count - TIMES + 1, _mm512_loadu_pd(time + count - TIMES));
    const __mmask8 rest = (__mmask8)((1u << count) - 1);
    _mm512_mask_storeu_pd(time + 1, rest, _mm512_maskz_loadu_pd(rest, time));
#elif defined(__AVX2__)
    for (; count >= 4; count -= 4)
        _mm256_storeu_pd(time + count - 4 + 1, _mm256_loadu_pd(time + count - 4));
    for (; count > 0; count--)
        time[count] = time[count - 1];
#else
    memmove(time + 1, time, count * sizeof *time);
#endif
}

/* ---- links ---- */

/* Returns the first of the shortest gaps of a full link. */
static uint32_t closest(const double *start, const double *end)
{
#if defined(__AVX512F__)
    __m512d gap[MEM_LINK_INTERVALS / TIMES];
    const __m512d none = _mm512_set1_pd(HUGE_VAL); /* behind the last interval there is no gap */
    const __m512d last =
        _mm512_sub_pd(_mm512_loadu_pd(start + MEM_LINK_INTERVALS - TIMES + 1), _mm512_loadu_pd(end + MEM_LINK_INTERVALS - TIMES));
    __m512d least = _mm512_mask_mov_pd(last, 1u << (TIMES - 1), none), other = least;
    gap[MEM_LINK_INTERVALS / TIMES - 1] = least;
    for (uint32_t i = 0; i + 1 < MEM_LINK_INTERVALS / TIMES; i++) {
        gap[i] = _mm512_sub_pd(_mm512_loadu_pd(start + i * TIMES + 1), _mm512_loadu_pd(end + i * TIMES));
        if (i % 2)
            least = _mm512_min_pd(least, gap[i]);
        else
            other = _mm512_min_pd(other, gap[i]);
    }
    const __m512d shortest = _mm512_set1_pd(_mm512_reduce_min_pd(_mm512_min_pd(least, other)));
    uint32_t i = 0;
    while (_mm512_cmp_pd_mask(gap[i], shortest, _CMP_EQ_OQ) == 0)
        i++;
    return i * TIMES + (uint32_t)__builtin_ctz(_mm512_cmp_pd_mask(gap[i], shortest, _CMP_EQ_OQ));
#elif defined(__AVX2__)
    double gap[MEM_LINK_INTERVALS];
    __m256d least = _mm256_set1_pd(HUGE_VAL);
    for (uint32_t i = 0; i < MEM_LINK_INTERVALS; i += 4)
        _mm256_storeu_pd(gap + i, _mm256_sub_pd(_mm256_loadu_pd(start + i + 1), _mm256_loadu_pd(end + i)));
    gap[MEM_LINK_INTERVALS - 1] = HUGE_VAL; /* behind the last interval there is no gap */
    for (uint32_t i = 0; i < MEM_LINK_INTERVALS; i += 4)
        least = _mm256_min_pd(least, _mm256_loadu_pd(gap + i));
    least = _mm256_min_pd(least, _mm256_permute4x64_pd(least, 0x4e));
    const double shortest = _mm256_cvtsd_f64(_mm256_min_pd(least, _mm256_permute_pd(least, 5)));
    uint32_t best = 0;
    while (gap[best] != shortest)
        best++;
    return best;
#else
    uint32_t best = 0;
    double least = start[1] - end[0];
    for (uint32_t i = 1; i + 1 < MEM_LINK_INTERVALS; i++)
        if (start[i + 1] - end[i] < least)
            least = start[i + 1] - end[i], best = i;
    return best;
#endif
}

/* Counts the intervals that end no later than `at`. Requests often follow one another in time, so the search begins where the
 * last one was placed. */
static inline uint32_t count_past(const struct mem_link *link, const double *end, double at)
{
    const uint32_t count = link->count;
    uint32_t past = link->near > link->first ? link->near - link->first : 0;
    past = past < count ? past : count;
    if (past > 0 && end[past - 1] > at) {
        uint32_t from, set;
        do {
            from = past > TIMES ? past - TIMES : 0;
            set = not_later(end + from, past - from, at);
            past = from;
        } while (!set && from > 0);
        return from + (uint32_t)__builtin_popcount(set);
    }
    while (past < count) {
        const uint32_t more = (uint32_t)__builtin_popcount(not_later(end + past, count - past, at));
        past += more;
        if (more < TIMES)
            break;
    }
    return past;
}

/* The first interval from i on, i > 0, with enough room between the one before and itself; `count` when there is none. */
static inline uint32_t first_gap(const double *start, const double *end, uint32_t i, uint32_t count, double ns)
{
    for (; i < count; i += TIMES) {
        const uint32_t set = long_enough(end + i - 1, start + i, ns);
        const uint32_t at = set ? i + (uint32_t)__builtin_ctz(set) : count;
        if (set)
            return at < count ? at : count;
    }
    return count;
}

/* Removes interval i. */
static void remove_at(struct mem_link *link, uint32_t i)
{
    double *start = link->start_ns + link->first + i, *end = link->end_ns + link->first + i;
    const size_t bytes = (--link->count - i) * sizeof *start;
    memmove(start, start + 1, bytes);
    memmove(end, end + 1, bytes);
}

/* Forgets the oldest interval when it ended long before `now_ns`. */
static inline bool forget_oldest(struct mem_link *link, double now_ns)
{
    const double end_ns = link->end_ns[link->first];
    if (end_ns >= now_ns - MEM_LINK_LATE_NS)
        return false;
    link->floor_ns = end_ns;
    link->first++;
    link->count--;
    return true;
}

/* Closes the shortest gap of a full link. */
static void join_closest(struct mem_link *link)
{
    double *end = link->end_ns + link->first;
    const uint32_t best = closest(link->start_ns + link->first, end);
    end[best] = end[best + 1];
    remove_at(link, best + 1);
    link->near -= link->near > link->first + best;
}

/* Makes room for one more interval. */
static inline void make_room(struct mem_link *link, double now_ns)
{
    if (link->count == MEM_LINK_INTERVALS && !forget_oldest(link, now_ns))
        join_closest(link);
    if (link->first + link->count == 2 * MEM_LINK_INTERVALS) {
        memmove(link->start_ns, link->start_ns + link->first, link->count * sizeof link->start_ns[0]);
        memmove(link->end_ns, link->end_ns + link->first, link->count * sizeof link->end_ns[0]);
        link->near = link->near > link->first ? link->near - link->first : 0;
        link->first = 0;
    }
}

static inline void insert(struct mem_link *link, uint32_t i, double start_ns, double end_ns)
{
    double *start = link->start_ns + link->first, *end = link->end_ns + link->first;
    if (i > 0 && start_ns <= end[i - 1] + MEM_LINK_EPSILON_NS) {
        end[i - 1] = end_ns;
        if (i < link->count && start[i] <= end_ns + MEM_LINK_EPSILON_NS) {
            end[i - 1] = end[i];
            remove_at(link, i);
        }
        return;
    }
    if (i < link->count && end_ns >= start[i] - MEM_LINK_EPSILON_NS) {
        start[i] = start_ns;
        return;
    }
    shift_up(start + i, link->count - i);
    shift_up(end + i, link->count - i);
    link->count++;
    start[i] = start_ns;
    end[i] = end_ns;
}

double PLACE_NS(struct mem_link *link, double now_ns, double ns)
{
    make_room(link, now_ns);
    const double *start = link->start_ns + link->first, *end = link->end_ns + link->first;
    double at = now_ns > link->floor_ns ? now_ns : link->floor_ns;
    uint32_t i = count_past(link, end, at);
    if (i < link->count && !(at + ns <= start[i] + MEM_LINK_EPSILON_NS)) {
        i = first_gap(start, end, i + 1, link->count, ns);
        at = end[i - 1];
    }
    link->near = link->first + i;
    insert(link, i, at, at + ns);
    return at;
}

/* ---- slots ---- */

#if defined(__AVX512F__) || defined(__AVX2__)
uint32_t MOVE_UP(double *free_ns, uint32_t low, uint32_t high, double until_ns)
{
    /* Whether all eight move is a guess that the host makes well, so that it need not wait for how many do. */
    while (high - low >= TIMES) {
        const uint32_t earlier = not_later(free_ns + high - TIMES, TIMES, until_ns);
        if (earlier) {
            const uint32_t later = TIMES - (uint32_t)__builtin_popcount(earlier);
            shift_up(free_ns + high - later, later);
            return high - later;
        }
        high -= TIMES;
        shift_up(free_ns + high, TIMES);
    }
    while (high > low && free_ns[high - 1] > until_ns) {
        free_ns[high] = free_ns[high - 1];
        high--;
    }
    return high;
}
#else
uint32_t MOVE_UP(double *free_ns, uint32_t low, uint32_t high, double until_ns)
{
    uint32_t from = low, to = high;
    if (low == high || free_ns[high - 1] <= until_ns)
        return high;
    while (from < to) {
        const uint32_t middle = (from + to) / 2;
        if (free_ns[middle] <= until_ns)
            from = middle + 1;
        else
            to = middle;
    }
    shift_up(free_ns + from, high - from);
    return from;
}
#endif
