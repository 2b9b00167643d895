/* Attention and rotary positions. */
#include "units/routines/operations.h"

#include <math.h>

int64_t operation_kv_heads(const struct routine_request *r)
{
    return r->value[ATTENTION_KVH] ? r->value[ATTENTION_KVH] : r->value[ATTENTION_H];
}

static bool attention_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t b = (uint64_t)r->value[ATTENTION_B], h = (uint64_t)r->value[ATTENTION_H], s = (uint64_t)r->value[ATTENTION_S];
    const uint64_t d = (uint64_t)r->value[ATTENTION_D], kvh = (uint64_t)operation_kv_heads(r);
    const double length = (double)s, pairs = r->value[ATTENTION_CAUSAL] ? length * (length + 1) / 2 : length * length;
    if (kvh > h || h % kvh)
        return kernel_refuse(error, "attention: h = %llu is no multiple of kvh = %llu", (unsigned long long)h,
                             (unsigned long long)kvh);
    if (!routine_check_count("attention", ROUTINE_DIMS(b, h, s, d), error))
        return false;
    routine_add_operand(w, "q", r->type, ROUTINE_INPUT, ROUTINE_DIMS(b, h, s, d));
    routine_add_operand(w, "k", r->type, ROUTINE_INPUT, ROUTINE_DIMS(b, kvh, s, d));
    routine_add_operand(w, "v", r->type, ROUTINE_INPUT, ROUTINE_DIMS(b, kvh, s, d));
    routine_add_operand(w, "out", r->type, ROUTINE_OUTPUT, ROUTINE_DIMS(b, h, s, d));
    w->macs = 2 * (double)(b * h) * pairs * (double)d;
    w->flops = 2 * w->macs;
    for (unsigned i = 0; i < w->operands; i++)
        w->min_bytes += (double)routine_type_bytes(r->type, w->operand[i].count);
    return true;
}

/* The scores of one query, their largest, and what float32 may add to each. */
struct scores {
    int64_t keys, d, step; /* elements from one key to the next */
    double most, u;
    double scale;
    const double *bias; /* of the query's head, for each key `bias_step` further; NULL = none */
    int64_t bias_step;
    const double *page; /* table of pages; NULL = keys follow one another */
    uint64_t page_bits;
};

/* Where a key or a value is. */
static int64_t place_of(const struct scores *s, int64_t key)
{
    const int64_t first = key >> s->page_bits << s->page_bits;
    return s->page ? (((int64_t)s->page[key >> s->page_bits] << s->page_bits) + key - first) * s->step : key * s->step;
}

static double score_of(const struct scores *s, const double *q, const double *k, int64_t key, double *error)
{
    double sum = 0, size = 0;
    const double bias = s->bias ? s->bias[key * s->bias_step] : 0;
    k += place_of(s, key);
    for (int64_t i = 0; i < s->d; i++) {
        sum += q[i] * k[i];
        size += fabs(q[i] * k[i]);
    }
    *error = s->u * ((double)(s->d + 3) * size * s->scale + (s->bias ? fabs(sum * s->scale) + 2 * fabs(bias) : 0));
    return sum * s->scale + bias;
}

/* A term e^(s - max) is off by the errors of both scores and by 4 + 2 (max - s) roundings; so is the sum by which it is divided,
 * on the mean. Sums of n products add 2 n + 8. */
static void attend(const struct scores *s, const double *q, const double *k, const double *v, double *out, double *error)
{
    double sum = 0, shares = 0, worst = 0, off;
    for (int64_t j = 0; j < s->keys; j++) {
        const double score = score_of(s, q, k, j, &off);
        worst = fmax(worst, off);
        sum += exp(score - s->most);
    }
    for (int64_t i = 0; i < s->d; i++)
        out[i] = error[i] = 0;
    for (int64_t j = 0; j < s->keys; j++) {
        const double score = score_of(s, q, k, j, &off), p = exp(score - s->most) / sum;
        const double share = off + worst + s->u * (4 + 2 * (s->most - score));
        shares += p * share;
        for (int64_t i = 0; i < s->d; i++) {
            out[i] += p * v[place_of(s, j) + i];
            error[i] += p * fabs(v[place_of(s, j) + i]) * (share + s->u * (2 * (double)s->keys + 8));
        }
    }
    for (int64_t i = 0; i < s->d; i++)
        error[i] += fabs(out[i]) * shares;
}

static void attention_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t h = r->value[ATTENTION_H], length = r->value[ATTENTION_S], d = r->value[ATTENTION_D],
                  kvh = operation_kv_heads(r);
    for (int64_t row = 0; row < r->value[ATTENTION_B] * h * length; row++) {
        const int64_t image = row / (h * length), head = row / length % h, at = row % length;
        const int64_t kv = (image * kvh + head / (h / kvh)) * length * d;
        struct scores s = {.keys = r->value[ATTENTION_CAUSAL] ? at + 1 : length,
                           .d = d,
                           .step = d,
                           .most = -INFINITY,
                           .u = t->epsilon,
                           .scale = 1 / sqrt((double)d)};
        double unused;
        for (int64_t j = 0; j < s.keys; j++)
            s.most = fmax(s.most, score_of(&s, operand[0] + row * d, operand[1] + kv, j, &unused));
        attend(&s, operand[0] + row * d, operand[1] + kv, operand[2] + kv, t->value + row * d, t->error + row * d);
    }
}

const struct routine_operation operation_attention = {
    .name = "attention", .positional = 0, .operands = attention_operands, .reference = attention_reference};

/* ---- attention over a cache ---- */

enum routine_type operation_cached_type(const struct routine_request *r)
{
    static const enum routine_type others[] = {ROUTINE_F32, ROUTINE_F16, ROUTINE_Q8_0}; /* the first stands for own */
    return r->value[CACHE_TYPE] ? others[r->value[CACHE_TYPE]] : r->type;
}

bool operation_cache_pages(const struct routine_request *r, struct kernel_pages *pages, struct isa_error *error)
{
    return kernel_pages_of((uint64_t)r->value[CACHE_S], (uint64_t)r->value[CACHE_PAGE], (uint64_t)r->value[CACHE_PAGES], pages,
                           error);
}

int64_t operation_cache_before(const struct routine_request *r)
{
    return r->value[CACHE_SEEN] ? r->value[CACHE_S] : r->value[CACHE_S] - r->value[CACHE_Q];
}

double operation_cache_scale(const struct routine_request *r)
{
    return r->value[CACHE_SCALE] ? 1 : 1 / sqrt((double)r->value[CACHE_D]);
}

static bool cache_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t h = (uint64_t)r->value[CACHE_H], s = (uint64_t)r->value[CACHE_S], d = (uint64_t)r->value[CACHE_D];
    const uint64_t kvh = r->value[CACHE_KVH] ? (uint64_t)r->value[CACHE_KVH] : h, q = (uint64_t)r->value[CACHE_Q];
    if (kvh > h || h % kvh)
        return kernel_refuse(error, "cache-attention: h = %llu is no multiple of kvh = %llu", (unsigned long long)h,
                             (unsigned long long)kvh);
    if (q > s && !r->value[CACHE_SEEN])
        return kernel_refuse(error, "cache-attention: q = %llu queries are among s = %llu tokens", (unsigned long long)q,
                             (unsigned long long)s);
    const enum routine_type cached = operation_cached_type(r);
    if (cached != r->type && (r->type != ROUTINE_F32 || d % 4))
        return kernel_refuse(error, "cache-attention: where keys and values have another type (cached), queries are f32 and d a "
                                    "multiple of 4");
    if (kvh * d % routine_type_block(cached))
        return kernel_refuse(error, "cache-attention: kvh x d = %llu values of a token are no whole blocks of %u",
                             (unsigned long long)(kvh * d), routine_type_block(cached));
    struct kernel_pages pages;
    if (!operation_cache_pages(r, &pages, error) ||
        (r->value[CACHE_BIAS] && !routine_check_count("cache-attention", ROUTINE_DIMS(q, s, h), error)))
        return false;
    const uint64_t rows = pages.tokens ? pages.all * pages.tokens : s;
    if (!routine_check_count("cache-attention", ROUTINE_DIMS(q, h, d), error) ||
        !routine_check_count("cache-attention", ROUTINE_DIMS(rows, kvh, d), error))
        return false;
    routine_add_operand(w, "q", r->type, ROUTINE_INPUT, ROUTINE_DIMS(q, h, d));
    routine_add_operand(w, "k", cached, ROUTINE_INPUT, ROUTINE_DIMS(rows, kvh, d));
    routine_add_operand(w, "v", cached, ROUTINE_INPUT, ROUTINE_DIMS(rows, kvh, d));
    if (pages.tokens) {
        const unsigned table = routine_add_operand(w, "page", ROUTINE_U32, ROUTINE_INPUT, ROUTINE_DIMS(pages.used));
        routine_set_range(w, 0, (double)pages.all);
        w->operand[table].distinct = true;
    }
    if (r->value[CACHE_BIAS])
        routine_add_operand(w, "bias", r->type, ROUTINE_INPUT, ROUTINE_DIMS(q, s, h));
    routine_add_operand(w, "out", r->type, ROUTINE_OUTPUT, ROUTINE_DIMS(q, h, d));
    w->macs =
        2 * (double)h * (double)d * (double)q * (r->value[CACHE_SEEN] ? (double)s : (double)s - (double)q + ((double)q + 1) / 2);
    w->flops = 2 * w->macs;
    w->min_bytes = 2 * (double)(routine_type_bytes(r->type, q * h * d) + routine_type_bytes(cached, s * kvh * d)) +
                   (double)routine_type_bytes(ROUTINE_U32, pages.used) +
                   (r->value[CACHE_BIAS] ? (double)routine_type_bytes(r->type, q * s * h) : 0);
    return true;
}

static void cache_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t h = r->value[CACHE_H], d = r->value[CACHE_D], kvh = r->value[CACHE_KVH] ? r->value[CACHE_KVH] : h;
    struct kernel_pages pages;
    struct isa_error refused;
    if (!operation_cache_pages(r, &pages, &refused)) /* such have been refused */
        return;
    for (int64_t row = 0; row < r->value[CACHE_Q] * h; row++) {
        const int64_t head = row % h / (h / kvh) * d;
        const int64_t seen = operation_cache_before(r) + row / h + 1;
        struct scores s = {
            .keys = seen < r->value[CACHE_S] ? seen : r->value[CACHE_S],
            .scale = operation_cache_scale(r),
            .bias = r->value[CACHE_BIAS] ? operand[pages.tokens ? 4 : 3] + row / h * r->value[CACHE_S] * h + row % h : NULL,
            .bias_step = h,
            .d = d,
            .step = kvh * d,
            .most = -INFINITY,
            .u = t->epsilon,
            .page = pages.tokens ? operand[3] : NULL,
            .page_bits = pages.bits};
        double unused;
        for (int64_t j = 0; j < s.keys; j++)
            s.most = fmax(s.most, score_of(&s, operand[0] + row * d, operand[1] + head, j, &unused));
        attend(&s, operand[0] + row * d, operand[1] + head, operand[2] + head, t->value + row * d, t->error + row * d);
    }
}

const struct routine_operation operation_cache_attention = {
    .name = "cache-attention", .positional = 0, .operands = cache_operands, .reference = cache_reference};

/* ---- rope ---- */

int64_t operation_rope_part(const struct routine_request *r)
{
    return r->value[ROPE_PART] ? r->value[ROPE_PART] : r->value[ROPE_D];
}

static bool rope_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t b = (uint64_t)r->value[ROPE_B], h = (uint64_t)r->value[ROPE_H], s = (uint64_t)r->value[ROPE_S];
    const uint64_t *const dims = r->value[ROPE_ORDER] ? ROUTINE_DIMS(b, s, h, (uint64_t)r->value[ROPE_D])
                                                      : ROUTINE_DIMS(b, h, s, (uint64_t)r->value[ROPE_D]);
    const uint64_t part = (uint64_t)operation_rope_part(r);
    if (dims[3] % 2 || part % 2)
        return kernel_refuse(error, "rope: d and part are even: elements turn in pairs");
    if (part > dims[3])
        return kernel_refuse(error, "rope: part = %llu of the d = %llu elements of a head", (unsigned long long)part,
                             (unsigned long long)dims[3]);
    if (!routine_check_count("rope", dims, error))
        return false;
    if (r->value[ROPE_S] + r->value[ROPE_OFFSET] > ROPE_POSITIONS)
        return kernel_refuse(error, "rope: positions up to %d", ROPE_POSITIONS);
    routine_add_operand(w, "x", r->type, ROUTINE_INPUT, dims);
    if (r->value[ROPE_SCALES]) {
        routine_add_operand(w, "scales", ROUTINE_F32, ROUTINE_INPUT, ROUTINE_DIMS(part / 2));
        routine_set_range(w, 0, 1);
    }
    routine_add_operand(w, "out", r->type, ROUTINE_OUTPUT, dims);
    w->flops = 3.0 * (double)(w->operand[0].count / dims[3] * part);
    w->min_bytes = 2 * (double)routine_type_bytes(r->type, w->operand[0].count);
    return true;
}

/* (x, y) -> (x cos - y sin, x sin + y cos); 8 u of sine and cosine, two roundings. Elements behind the part stay. */
static void rope_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t d = r->value[ROPE_D], s = r->value[ROPE_S], h = r->value[ROPE_H], part = operation_rope_part(r);
    const int64_t step = r->value[ROPE_STYLE] ? 1 : part / 2;
    for (int64_t row = 0; row < r->value[ROPE_B] * h * s; row++) {
        const double position = (double)((r->value[ROPE_ORDER] ? row / h % s : row % s) + r->value[ROPE_OFFSET]);
        for (int64_t i = row * d + part; i < (row + 1) * d; i++) {
            t->value[i] = operand[0][i];
            t->error[i] = 0;
        }
        for (int64_t pair = 0; pair < part / 2; pair++) {
            const double speed = pow(r->decimal[ROPE_BASE], -2.0 * (double)pair / (double)part);
            const double angle = position * speed * (r->value[ROPE_SCALES] ? operand[1][pair] : 1);
            const int64_t a = row * d + (r->value[ROPE_STYLE] ? 2 * pair : pair), b = a + step;
            const double x = operand[0][a], y = operand[0][b];
            t->value[a] = x * cos(angle) - y * sin(angle);
            t->value[b] = x * sin(angle) + y * cos(angle);
            t->error[a] = t->error[b] = 10 * t->epsilon * (fabs(x) + fabs(y));
        }
    }
}

const struct routine_operation operation_rope = {
    .name = "rope", .positional = 0, .operands = rope_operands, .reference = rope_reference};
