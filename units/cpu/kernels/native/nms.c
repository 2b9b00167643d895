/* Boxes of detectors that stay when the likeliest suppresses what overlaps it, then the likeliest of the rest, and so on. */
#include <stdint.h>

/* ORDER: cpu_kernel_image.c. */
struct nms {
    const float *boxes, *scores, *limits; /* limits: of overlap, and of scores */
    uint32_t *out;
    int64_t classes, count, most, center;
};
void neon_nms(const struct nms *n, uint64_t first, uint64_t end, uint64_t thread);

static inline float least(float a, float b)
{
    return a < b ? a : b;
}

static inline float largest(float a, float b)
{
    return a > b ? a : b;
}

struct box {
    float low[2], high[2];
};

static inline struct box read_box(const struct nms *n, const float *at)
{
    struct box b;
    for (unsigned d = 0; d < 2; d++) {
        b.low[d] = n->center ? at[d] - at[2 + d] * 0.5F : least(at[d], at[2 + d]);
        b.high[d] = n->center ? at[d] + at[2 + d] * 0.5F : largest(at[d], at[2 + d]);
    }
    return b;
}

static inline float area_of(const struct box *b)
{
    return (b->high[0] - b->low[0]) * (b->high[1] - b->low[1]);
}

/* What both have of what either has is compared without a division. */
static inline int overlaps(const struct box *a, const struct box *b, float limit)
{
    const float high = largest(0, least(a->high[0], b->high[0]) - largest(a->low[0], b->low[0]));
    const float wide = largest(0, least(a->high[1], b->high[1]) - largest(a->low[1], b->low[1]));
    const float both = high * wide, all = area_of(a) + area_of(b) - both;
    return all > 0 ? both > limit * all : 0 > limit;
}

/* The likeliest box behind `last` in the order of scores, of equal ones the first; -1 = there is none. */
static int64_t next_box(const struct nms *n, const float *score, int64_t last)
{
    int64_t best = -1;
    for (int64_t i = 0; i < n->count; i++) {
        const int behind = last < 0 || score[i] < score[last] || (score[i] == score[last] && i > last);
        if (score[i] > n->limits[1] && behind && (best < 0 || score[i] > score[best]))
            best = i;
    }
    return best;
}

static void take_row(const struct nms *n, const float *boxes, const float *score, uint32_t *out)
{
    int64_t have = 0, at = -1;
    while (have < n->most && (at = next_box(n, score, at)) >= 0) {
        const struct box one = read_box(n, boxes + 4 * at);
        int stays = 1;
        for (int64_t k = 0; stays && k < have; k++) {
            const struct box other = read_box(n, boxes + 4 * out[k]);
            stays = !overlaps(&one, &other, n->limits[0]);
        }
        if (stays)
            out[have++] = (uint32_t)at;
    }
    for (; have < n->most; have++)
        out[have] = UINT32_MAX;
}

void neon_nms(const struct nms *n, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (uint64_t row = first; row < end; row++)
        take_row(n, n->boxes + (int64_t)row / n->classes * n->count * 4, n->scores + (int64_t)row * n->count,
                 n->out + (int64_t)row * n->most);
}
