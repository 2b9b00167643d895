#include "units/mem/prefetch.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Without a program counter, demands this close together (in lines) belong to one stream. */
#define NEAR_LINES 16

static uint32_t key_rows(const struct mem_prefetcher *prefetcher)
{
    return (prefetcher->params.streams + MEM_STREAM_KEYS - 1) / MEM_STREAM_KEYS;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* No stream has been used; those beyond the last one never are. */
static void blank_keys(struct mem_prefetcher *prefetcher)
{
    memset(prefetcher->keys, 0, key_rows(prefetcher) * sizeof prefetcher->keys[0]);
    for (uint32_t i = 0; i < key_rows(prefetcher) * MEM_STREAM_KEYS; i++)
        prefetcher->keys[i / MEM_STREAM_KEYS].age[i % MEM_STREAM_KEYS] =
            i < prefetcher->params.streams ? i % MEM_STREAM_KEYS : UINT64_MAX;
}

bool mem_prefetch_init(struct mem_prefetcher *prefetcher, const struct mem_prefetch_params *params)
{
    memset(prefetcher, 0, sizeof *prefetcher);
    prefetcher->params = *params;
    if (params->streams == 0)
        return true;
    prefetcher->stream = calloc(params->streams, sizeof prefetcher->stream[0]);
    prefetcher->keys = calloc(key_rows(prefetcher), sizeof prefetcher->keys[0]);
    prefetcher->recent_count = MEM_PREFETCH_RECENT * params->streams;
    prefetcher->recent = calloc(prefetcher->recent_count, sizeof prefetcher->recent[0]);
    if (!prefetcher->stream || !prefetcher->keys || !prefetcher->recent)
        return false;
    blank_keys(prefetcher);
    return true;
}

void mem_prefetch_release(struct mem_prefetcher *prefetcher)
{
    free(prefetcher->stream);
    free(prefetcher->keys);
    free(prefetcher->recent);
    prefetcher->stream = NULL;
    prefetcher->keys = NULL;
    prefetcher->recent = NULL;
    prefetcher->params.streams = 0;
}

void mem_prefetch_clear(struct mem_prefetcher *prefetcher)
{
    if (prefetcher->params.streams == 0)
        return;
    memset(prefetcher->stream, 0, prefetcher->params.streams * sizeof prefetcher->stream[0]);
    blank_keys(prefetcher);
    prefetcher->unnamed = false;
    memset(prefetcher->recent_low, 0, sizeof prefetcher->recent_low);
    memset(prefetcher->recent, 0, prefetcher->recent_count * sizeof prefetcher->recent[0]);
}

static bool asked_lately(const struct mem_prefetcher *prefetcher, uint64_t line)
{
    const uint32_t *const recent = prefetcher->recent;
    const uint32_t wanted = (uint32_t)(line + 1);
    uint32_t found = 0;
    if (prefetcher->recent_low[wanted & 0xff] == 0)
        return false;
    for (uint32_t i = 0; i < prefetcher->recent_count; i++)
        found |= recent[i] == wanted;
    return found != 0;
}

static void remember(struct mem_prefetcher *prefetcher, uint64_t line)
{
    uint32_t *const place = &prefetcher->recent[prefetcher->clock % prefetcher->recent_count];
    if (*place)
        prefetcher->recent_low[*place & 0xff]--;
    *place = (uint32_t)(line + 1);
    if (*place)
        prefetcher->recent_low[*place & 0xff]++;
}

/* Whether the lines before this one, in the direction of `step`, were asked for lately: as many equal steps as a stream needs to
 * be trusted. */
static bool runs(const struct mem_prefetcher *prefetcher, uint64_t line, int64_t step)
{
    for (uint32_t n = 1; n <= prefetcher->params.train + 1; n++)
        if (!asked_lately(prefetcher, line - (uint64_t)(step * (int64_t)n)))
            return false;
    return true;
}

/* ---- the keys of streams ---- */

/* Bit i is set when key i is equal. */
static uint32_t equal_keys(const uint32_t key[MEM_STREAM_KEYS], uint32_t wanted)
{
    uint32_t equal = 0;
#ifdef __SSE2__
    const __m128i w = _mm_set1_epi32((int)wanted);
    for (uint32_t i = 0; i < MEM_STREAM_KEYS; i += 4) {
        const __m128i four = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(const void *)(key + i)), w);
        equal |= (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(four)) << i;
    }
#else
    for (uint32_t i = 0; i < MEM_STREAM_KEYS; i++)
        equal |= (uint32_t)(key[i] == wanted) << i;
#endif
    return equal;
}

/* Bit i is set when key i is no further than NEAR_LINES from a line. */
static uint32_t near_keys(const uint32_t key[MEM_STREAM_KEYS], uint32_t line)
{
    uint32_t near = 0;
#ifdef __SSE2__
    const __m128i from = _mm_set1_epi32((int)(line + NEAR_LINES)), least = _mm_set1_epi32(INT32_MIN);
    const __m128i most = _mm_set1_epi32(INT32_MIN + 2 * NEAR_LINES);
    for (uint32_t i = 0; i < MEM_STREAM_KEYS; i += 4) { /* the host compares with signs */
        const __m128i back = _mm_sub_epi32(from, _mm_loadu_si128((const __m128i *)(const void *)(key + i)));
        const __m128i far = _mm_cmpgt_epi32(_mm_xor_si128(back, least), most);
        near |= (~(uint32_t)_mm_movemask_ps(_mm_castsi128_ps(far)) & 15) << i;
    }
#else
    for (uint32_t i = 0; i < MEM_STREAM_KEYS; i++)
        near |= (uint32_t)(line + NEAR_LINES - key[i] <= 2 * NEAR_LINES) << i;
#endif
    return near;
}

/* Brings the keys of a stream that has changed up to date. */
static void note_keys(struct mem_prefetcher *prefetcher, const struct mem_stream *s)
{
    const uint32_t number = (uint32_t)(s - prefetcher->stream), at = number % MEM_STREAM_KEYS;
    struct mem_stream_keys *const keys = &prefetcher->keys[number / MEM_STREAM_KEYS];
    const bool trusted = s->matches >= prefetcher->params.train;
    keys->age[at] = s->used * MEM_STREAM_KEYS + at;
    keys->last[at] = (uint32_t)s->last;
    keys->next[at] = (uint32_t)(s->last + (uint64_t)s->stride);
    keys->pc[at] = trusted ? 0 : (uint32_t)s->pc;
    keys->trusted &= ~(1u << at);
    keys->trusted |= (uint32_t)(trusted && (s->stride == 1 || s->stride == -1)) << at;
}

/* The first stream that expected a line; the number of streams when there is none. */
static uint32_t expecting(const struct mem_prefetcher *prefetcher, uint64_t line)
{
    const uint32_t none = prefetcher->params.streams;
    for (uint32_t row = 0; row < key_rows(prefetcher); row++)
        for (uint32_t equal = equal_keys(prefetcher->keys[row].next, (uint32_t)line); equal; equal &= equal - 1) {
            const uint32_t i = row * MEM_STREAM_KEYS + (uint32_t)__builtin_ctz(equal);
            const struct mem_stream *const s = &prefetcher->stream[i];
            if (i < none && s->used != 0 && s->matches > 0 && (int64_t)(line - s->last) == s->stride)
                return i;
        }
    return none;
}

/* The same of one that an instruction started and that is not trusted. */
static uint32_t started_by(const struct mem_prefetcher *prefetcher, uint64_t pc)
{
    const uint32_t none = prefetcher->params.streams;
    for (uint32_t row = 0; pc != 0 && row < key_rows(prefetcher); row++)
        for (uint32_t equal = equal_keys(prefetcher->keys[row].pc, (uint32_t)pc); equal; equal &= equal - 1) {
            const uint32_t i = row * MEM_STREAM_KEYS + (uint32_t)__builtin_ctz(equal);
            if (i < none && prefetcher->stream[i].used != 0 && prefetcher->stream[i].matches < prefetcher->params.train &&
                prefetcher->stream[i].pc == pc)
                return i;
        }
    return none;
}

/* The same of one close by, where one of the instructions is not known. */
static uint32_t close_by(const struct mem_prefetcher *prefetcher, uint64_t line, uint64_t pc)
{
    const uint32_t none = prefetcher->params.streams;
    for (uint32_t row = 0; row < key_rows(prefetcher) && (pc == 0 || prefetcher->unnamed); row++)
        for (uint32_t near = near_keys(prefetcher->keys[row].last, (uint32_t)line); near; near &= near - 1) {
            const uint32_t i = row * MEM_STREAM_KEYS + (uint32_t)__builtin_ctz(near);
            const struct mem_stream *const s = &prefetcher->stream[i];
            const int64_t delta = (int64_t)(line - s->last);
            if (i < none && s->used != 0 && s->matches < prefetcher->params.train && (pc == 0 || s->pc == 0) &&
                delta >= -NEAR_LINES && delta <= NEAR_LINES)
                return i;
        }
    return none;
}

/* ---- streams ---- */

/* A trusted stream of neighbouring lines whose reach a demand lies in: among the lines that it has ordered, or behind its last
 * one by no more than it runs ahead. Of several the nearest. */
static struct mem_stream *covering(const struct mem_prefetcher *prefetcher, uint64_t line)
{
    struct mem_stream *best = NULL;
    uint64_t nearest = UINT64_MAX;
    for (uint32_t row = 0; row < key_rows(prefetcher); row++)
        for (uint32_t trusted = prefetcher->keys[row].trusted; trusted; trusted &= trusted - 1) {
            struct mem_stream *const s = &prefetcher->stream[row * MEM_STREAM_KEYS + (uint32_t)__builtin_ctz(trusted)];
            const int64_t ahead = (int64_t)(line - s->last) * s->stride;
            const uint64_t distance = (uint64_t)(ahead < 0 ? -ahead : ahead);
            if (distance < nearest && (ahead < 0 ? distance <= prefetcher->params.distance : ahead <= s->far || ahead == 1)) {
                best = s;
                nearest = distance;
            }
        }
    return best;
}

/* Sixteen at a time in four chains, which the host follows side by side. Those that were never used come first, in order. */
static struct mem_stream *oldest(struct mem_prefetcher *prefetcher)
{
    uint64_t best_used = UINT64_MAX, best = 0;
    for (uint32_t row = 0; row < key_rows(prefetcher); row++) {
        const uint64_t *const age = prefetcher->keys[row].age;
        uint64_t least[4];
        for (uint32_t l = 0; l < 4; l++)
            least[l] = earlier(earlier(age[l], age[l + 4]), earlier(age[l + 8], age[l + 12]));
        const uint64_t first = earlier(earlier(least[0], least[1]), earlier(least[2], least[3]));
        if (first / MEM_STREAM_KEYS < best_used) {
            best_used = first / MEM_STREAM_KEYS;
            best = row * MEM_STREAM_KEYS + first % MEM_STREAM_KEYS;
        }
    }
    return &prefetcher->stream[best];
}

/* The stream that a demand fits best: one that expected it, else one of the same instruction, else one close by where one of the
 * instructions is not known (known ones have streams of their own, and what they do together is seen in the latest demands). One
 * that is trusted is not taken for another demand: an instruction that goes on elsewhere starts another stream, and this one
 * ages. */
static struct mem_stream *match(struct mem_prefetcher *prefetcher, uint64_t line, uint64_t pc, bool *fresh)
{
    const uint32_t none = prefetcher->params.streams;
    uint32_t found = expecting(prefetcher, line);
    if (found == none)
        found = started_by(prefetcher, pc);
    if (found == none)
        found = close_by(prefetcher, line, pc);
    *fresh = found == none;
    return *fresh ? oldest(prefetcher) : &prefetcher->stream[found];
}

/* Advances the stream to `line`. Returns true once its stride has proved itself. */
static bool advance(struct mem_stream *s, uint64_t line, uint32_t train)
{
    const int64_t delta = (int64_t)(line - s->last);
    if (delta == 0)
        return false;
    s->last = line;
    s->step = 1;
    if (delta == s->stride) {
        s->matches++;
        s->far = s->far > 0 ? s->far - 1 : 0;
        s->near = s->near > 0 ? s->near - 1 : 0;
    } else {
        s->stride = delta;
        s->matches = 0;
        s->far = s->near = 0;
    }
    return s->matches >= train && s->matches > 0;
}

/* A demand within the reach of a trusted stream: one ahead moves it on, one behind only reminds it of what it has not ordered
 * yet. Returns false when the stream stands there already. */
static bool move(struct mem_stream *s, uint64_t line)
{
    const int64_t ahead = (int64_t)(line - s->last) * s->stride;
    s->step = ahead > 1 ? (uint32_t)ahead : 1;
    if (ahead <= 0)
        return ahead < 0;
    s->last = line;
    s->matches++;
    s->far = s->far > ahead ? s->far - ahead : 0;
    s->near = s->near > ahead ? s->near - ahead : 0;
    return true;
}

/* Moves a stream that no trusted one covers. False while it is not to be trusted. */
static bool train(struct mem_prefetcher *prefetcher, struct mem_stream *s, bool fresh, uint64_t line, uint64_t pc)
{
    if (fresh)
        *s = (struct mem_stream){.pc = pc, .last = line};
    else if (advance(s, line, prefetcher->params.train))
        return true;
    const int64_t step = runs(prefetcher, line, 1) ? 1 : runs(prefetcher, line, -1) ? -1 : 0;
    if (step == 0)
        return false;
    s->stride = step;
    s->step = 1;
    s->matches = prefetcher->params.train;
    return true;
}

/* The stream that a demand belongs to, NULL while there is none to be trusted. */
static struct mem_stream *follow(struct mem_prefetcher *prefetcher, uint64_t line, uint64_t pc)
{
    bool fresh = false, trusted;
    remember(prefetcher, line);
    struct mem_stream *s = covering(prefetcher, line);
    if (s) {
        trusted = move(s, line);
    } else {
        s = match(prefetcher, line, pc, &fresh);
        trusted = train(prefetcher, s, fresh, line, pc);
    }
    s->used = prefetcher->clock;
    prefetcher->unnamed |= pc == 0;
    note_keys(prefetcher, s);
    return trusted ? s : NULL;
}

bool mem_prefetch_observe(struct mem_prefetcher *prefetcher, uint64_t line, uint64_t pc, struct mem_prefetch_orders *orders,
                          uint32_t *stream)
{
    const struct mem_prefetch_params *p = &prefetcher->params;
    if (p->streams == 0)
        return false;
    prefetcher->clock++;
    struct mem_stream *const s = follow(prefetcher, line, pc);
    if (!s)
        return false;
    const int64_t far = p->distance, near = p->l1_distance < p->distance ? p->l1_distance : p->distance;
    orders->base = s->last;
    orders->stride = s->stride;
    const int64_t orders_most = (int64_t)p->degree * s->step;
    orders->far_first = s->far + 1;
    orders->far_count = (uint32_t)(far - s->far < orders_most ? far - s->far : orders_most);
    s->far += orders->far_count;
    orders->near_first = s->near + 1;
    /* Only lines already on their way to L2 can go on into L1. */
    const int64_t reach = near < s->far ? near : s->far;
    orders->near_count = reach > s->near ? (uint32_t)(reach - s->near) : 0;
    s->near += orders->near_count;
    *stream = (uint32_t)(s - prefetcher->stream);
    return orders->far_count + orders->near_count > 0;
}

void mem_prefetch_refuse(struct mem_prefetcher *prefetcher, uint32_t stream, uint32_t far_left)
{
    struct mem_stream *s = &prefetcher->stream[stream];
    s->far -= far_left;
    if (s->near > s->far)
        s->near = s->far;
}
