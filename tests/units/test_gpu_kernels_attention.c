/* Attention and rotary embedding on the GPU, executed: against plain loops in double precision. */
#include "isa/array_count.h"
#include "tests/units/gpu_library_example.h"

static double *copy_of(const struct gpu_example *x, const char *name)
{
    return example_values(x, name);
}

/* ---- attention ---- */

struct heads {
    int b, h, s, d, causal, kvh;
};

/* What differs from plain attention. */
struct look {
    bool all, whole;    /* queries see all keys; scores are not scaled by the depth */
    bool biased;        /* scores have biases: */
    const double *bias; /* of the keys of a query, each `step` further */
    int step;
};

/* Exact attention of one query into out[d]; *scores: the largest magnitude sum of a score. */
static void exact_query(const struct heads *p, const struct look *look, const double *q, const double *k, const double *v,
                        int row, double *out, double *scores)
{
    double *w = malloc(sizeof *w * (size_t)p->s), largest = -INFINITY, sum = 0;
    const int seen = p->causal ? row + 1 : p->s;
    *scores = 0;
    for (int i = 0; i < seen; i++) {
        double magnitude = 0;
        w[i] = 0;
        for (int c = 0; c < p->d; c++) {
            w[i] += q[c] * k[(long)i * p->d + c];
            magnitude += fabs(q[c] * k[(long)i * p->d + c]);
        }
        w[i] = w[i] / (look->whole ? 1 : sqrt(p->d)) + (look->bias ? look->bias[(long)i * look->step] : 0);
        largest = fmax(largest, w[i]);
        *scores = fmax(*scores, magnitude / (look->whole ? 1 : sqrt(p->d)) + (look->bias ? 1 : 0));
    }
    for (int i = 0; i < seen; i++)
        sum += w[i] = exp(w[i] - largest);
    for (int c = 0; c < p->d; c++) {
        out[c] = 0;
        for (int i = 0; i < seen; i++)
            out[c] += w[i] / sum * v[(long)i * p->d + c];
    }
    free(w);
}

/* Weights carry the relative error of e^x at scores with errors of (d + 4) u; |v| <= 1, so the result carries that, the sums over
 * s keys and the roundings to the type: of results, and of scores and weights where these are stored (naive). */
static const struct look plain = {.all = false};

static double worst_query(const struct gpu_example *x, const struct heads *p, bool naive)
{
    double *q = copy_of(x, "q"), *k = copy_of(x, "k"), *v = copy_of(x, "v"), *got = copy_of(x, "out"), worst = 0;
    double *want = malloc(sizeof *want * (size_t)p->d);
    const double u = 0x1p-24, epsilon = example_epsilon(x->request.type);
    for (int row = 0; row < p->b * p->h * p->s; row++) {
        const int head = row / p->s, kv = head / p->h * p->kvh + head % p->h / (p->h / p->kvh);
        double scores;
        exact_query(p, &plain, q + (long)row * p->d, k + (long)kv * p->s * p->d, v + (long)kv * p->s * p->d, row % p->s, want,
                    &scores);
        double bound = (2 * (p->d + 8) * (scores + 1) + p->s + 8) * u + epsilon + 0x1p-25;
        bound += naive ? (2 * scores + 2) * epsilon : 0;
        for (int c = 0; c < p->d; c++) {
            const double ratio = fabs(got[(long)row * p->d + c] - want[c]) / bound;
            worst = !(ratio <= worst) ? ratio : worst;
        }
    }
    free(q);
    free(k);
    free(v);
    free(got);
    free(want);
    return worst;
}

static void check_attention(struct heads p, const char *precision, const char *variant)
{
    struct gpu_example x;
    char workload[128];
    snprintf(workload, sizeof workload, "attention:b=%d,h=%d,s=%d,d=%d,causal=%d,kvh=%d,variant=%s", p.b, p.h, p.s, p.d, p.causal,
             p.kvh, variant);
    if (example_start(&x, workload, precision, (uint64_t)(p.s + p.d))) {
        const double ratio = worst_query(&x, &p, variant[0] == 'n');
        CHECK(ratio <= 1, "%s %s: %g times the bound", workload, precision, ratio);
    }
    example_close(&x);
}

static const struct heads heads[] = {
    {1, 1, 32, 16, 0, 1},  {1, 2, 70, 64, 0, 2}, {2, 4, 65, 64, 1, 2}, {1, 2, 100, 40, 1, 1},
    {1, 1, 37, 128, 0, 1}, {1, 2, 64, 96, 1, 2}, {1, 3, 5, 4, 0, 3},   {1, 1, 1, 8, 1, 1},
};

static void test_attention_flash(void)
{
    for (unsigned i = 0; i < ARRAY_COUNT(heads); i++) {
        check_attention(heads[i], "f32", "flash");
        check_attention(heads[i], "f16", "flash");
    }
}

/* Up to 112 elements of f32 keys and values fit threadgroup memory beside each other; more take turns, above 128 in parts. */
static void test_attention_head_sizes(void)
{
    static const struct heads sizes[] = {
        {1, 2, 33, 32, 0, 1},   {1, 4, 65, 80, 1, 2},  {2, 2, 67, 96, 1, 1},  {1, 1, 45, 112, 0, 1}, {1, 2, 97, 116, 1, 1},
        {1, 2, 95, 120, 0, 2},  {2, 4, 67, 128, 1, 2}, {1, 1, 61, 132, 0, 1}, {1, 2, 70, 144, 1, 1}, {1, 2, 39, 160, 1, 2},
        {1, 1, 100, 192, 0, 1}, {1, 2, 43, 200, 1, 2}, {2, 4, 75, 256, 1, 2}, {1, 1, 1, 256, 0, 1},  {1, 2, 64, 252, 0, 1},
    };
    for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
        check_attention(sizes[i], "f32", "flash");
        check_attention(sizes[i], "f16", "flash");
    }
}

static void test_attention_naive(void)
{
    for (unsigned i = 0; i < ARRAY_COUNT(heads); i++) {
        check_attention(heads[i], "f32", "naive");
        check_attention(heads[i], "f16", "naive");
    }
    check_attention((struct heads){1, 2, 33, 7, 1, 2}, "f32", "naive");
    check_attention((struct heads){1, 1, 20, 130, 0, 1}, "f32", "naive");
}

/* ---- over a cache ---- */

struct cached {
    int h, s, d, kvh, q;
};

static double worst_cached(const struct gpu_example *x, const struct cached *p, const struct look *look)
{
    double *q = copy_of(x, "q"), *k = copy_of(x, "k"), *v = copy_of(x, "v"), *got = copy_of(x, "out"), worst = 0;
    double *const bias = look->biased ? copy_of(x, "bias") : NULL;
    double *const want = malloc(sizeof *want * (size_t)p->d), *const own_k = malloc(sizeof *own_k * (size_t)(p->s * p->d)),
                  *const own_v = malloc(sizeof *own_v * (size_t)(p->s * p->d));
    for (int row = 0; row < p->q * p->h; row++) {
        const int kv = row % p->h / (p->h / p->kvh);
        const struct heads one = {1, 1, look->all ? p->s : p->s - p->q + row / p->h + 1, p->d, 0, 1};
        struct look own = *look;
        own.bias = bias ? bias + (long)(row / p->h) * p->s * p->h + row % p->h : NULL;
        own.step = p->h;
        double scores;
        for (int i = 0; i < p->s * p->d; i++) {
            own_k[i] = k[(i / p->d * p->kvh + kv) * p->d + i % p->d];
            own_v[i] = v[(i / p->d * p->kvh + kv) * p->d + i % p->d];
        }
        exact_query(&one, &own, q + (long)row * p->d, own_k, own_v, 0, want, &scores);
        const double bound = (2 * (p->d + 8) * (scores + 1) + one.s + 8) * 0x1p-24 + example_epsilon(x->request.type) + 0x1p-25;
        for (int c = 0; c < p->d; c++) {
            const double ratio = fabs(got[(long)row * p->d + c] - want[c]) / bound;
            worst = !(ratio <= worst) ? ratio : worst;
        }
    }
    free(q);
    free(k);
    free(v);
    free(got);
    free(want);
    free(own_k);
    free(own_v);
    free(bias);
    return worst;
}

/* One simdgroup and several, heads that fill a part of the lanes, all, and more; one token and many. */
static void test_attention_cache(void)
{
    static const struct cached shapes[] = {{1, 1, 4, 1, 1},    {8, 5, 8, 4, 1},     {8, 37, 8, 4, 1},   {4, 130, 64, 1, 3},
                                           {3, 21, 20, 3, 21}, {2, 200, 128, 2, 1}, {2, 70, 256, 1, 2}, {6, 17, 96, 2, 17}};
    for (unsigned i = 0; i < 2 * ARRAY_COUNT(shapes); i++) {
        const struct cached p = shapes[i / 2];
        const char *const precision = i % 2 ? "f16" : "f32";
        struct gpu_example x;
        char workload[128];
        snprintf(workload, sizeof workload, "cache-attention:h=%d,s=%d,d=%d,kvh=%d,q=%d", p.h, p.s, p.d, p.kvh, p.q);
        if (example_start(&x, workload, precision, (uint64_t)(p.s + p.d))) {
            const double ratio = worst_cached(&x, &p, &plain);
            CHECK(ratio <= 1, "%s %s: %g times the bound", workload, precision, ratio);
        }
        example_close(&x);
    }
}

/* Queries that see all keys, also more of them than there are keys; biases of scores; scores that depth does not scale. */
static void test_attention_bias(void)
{
    static const struct {
        struct cached p;
        struct look look;
    } cases[] = {{{4, 9, 8, 2, 33}, {.all = true}},
                 {{3, 21, 20, 3, 21}, {.all = true, .biased = true, .whole = true}},
                 {{8, 70, 64, 8, 1}, {.biased = true, .whole = true}},
                 {{2, 37, 256, 1, 3}, {.biased = true}}};
    for (unsigned i = 0; i < 2 * ARRAY_COUNT(cases); i++) {
        const struct cached p = cases[i / 2].p;
        const struct look look = cases[i / 2].look;
        struct gpu_example x;
        char workload[128];
        snprintf(workload, sizeof workload, "cache-attention:h=%d,s=%d,d=%d,kvh=%d,q=%d,seen=%s,bias=%d,scale=%s", p.h, p.s, p.d,
                 p.kvh, p.q, look.all ? "all" : "before", look.biased, look.whole ? "one" : "depth");
        if (example_start(&x, workload, i % 2 ? "f16" : "f32", (uint64_t)(p.s + p.d))) {
            const double ratio = worst_cached(&x, &p, &look);
            CHECK(ratio <= 1, "%s: %g times the bound", workload, ratio);
        }
        example_close(&x);
    }
}

/* Any bytes, and scales of values that stay near those of other types. */
static void fill_blocks(const struct gpu_example *x, const char *name, uint64_t seed)
{
    const unsigned buffer = example_buffer(x, name);
    uint8_t *const bytes = example_bytes(x, buffer);
    for (uint64_t at = 0; at < x->kernel.buffer[buffer].count / 32 * 34; at++)
        bytes[at] = (uint8_t)(suite_random(&seed) >> 56);
    for (uint64_t block = 0; block < x->kernel.buffer[buffer].count / 32; block++) {
        const uint16_t scale = example_float_to_half((float)example_uniform(&seed, 0.5 / 128, 1.0 / 128));
        memcpy(bytes + block * 34, &scale, sizeof scale);
    }
}

/* Keys and values in another type than queries: heads within a block, of one, of several, of more than all lanes. */
static void test_attention_cache_types(void)
{
    static const struct {
        struct cached p;
        struct look look;
    } cases[] = {{{8, 5, 8, 4, 1}, {.all = false}},     {{8, 37, 8, 4, 3}, {.all = false}},
                 {{4, 130, 64, 1, 3}, {.all = false}},  {{6, 21, 32, 3, 21}, {.all = false}},
                 {{2, 70, 256, 1, 2}, {.all = false}},  {{3, 19, 128, 1, 2}, {.all = false}},
                 {{8, 37, 8, 4, 3}, {.biased = true}},  {{4, 130, 64, 1, 3}, {.biased = true, .whole = true}},
                 {{2, 70, 256, 1, 2}, {.biased = true}}};
    for (unsigned i = 0; i < 2 * ARRAY_COUNT(cases); i++) {
        const struct cached p = cases[i / 2].p;
        const struct look look = cases[i / 2].look;
        const bool blocks = i % 2;
        struct gpu_example x;
        char workload[128];
        snprintf(workload, sizeof workload, "cache-attention:h=%d,s=%d,d=%d,kvh=%d,q=%d,cached=%s,bias=%d,scale=%s", p.h, p.s,
                 p.d, p.kvh, p.q, blocks ? "q8_0" : "f16", look.biased, look.whole ? "one" : "depth");
        bool ok = example_open(&x, workload, "f32", 8);
        CHECK(ok, "%s: %s", workload, x.text);
        if (ok)
            example_fill(&x, (uint64_t)(p.s + p.d));
        if (ok && blocks) {
            fill_blocks(&x, "k", 3 + i);
            fill_blocks(&x, "v", 5 + i);
        }
        ok = ok && example_run(&x, true);
        const double ratio = ok ? worst_cached(&x, &p, &look) : INFINITY;
        CHECK(ratio <= 1, "%s: %g times the bound; %s", workload, ratio, x.text);
        example_close(&x);
    }
    example_refused("cache-attention:h=1,s=4,d=8,cached=q8_0", "f32", "no whole blocks");
    example_refused("cache-attention:h=1,s=4,d=32,cached=q8_0", "f16", "queries are f32");
}

/* ---- over pages ---- */

/* Lays what one buffer has row by row into the pages of another; bytes of a row. */
static void lay_in_pages(const struct gpu_example *from, const struct gpu_example *to, const char *name, const struct cached *p,
                         uint64_t row, unsigned page)
{
    const uint8_t *const rows = example_bytes(from, example_buffer(from, name));
    uint8_t *const pool = example_bytes(to, example_buffer(to, name));
    const uint32_t *const table = (const void *)example_bytes(to, example_buffer(to, "page"));
    for (unsigned token = 0; token < (unsigned)p->s; token++)
        memcpy(pool + row * (table[token / page] * page + token % page), rows + row * token, row);
}

/* The same bytes as from a cache in one piece, wherever pages lie. */
static void test_attention_pages(void)
{
    static const struct {
        struct cached p;
        unsigned page, pages;
        const char *precision, *cached;
        uint64_t row;
    } cases[] = {{{8, 37, 8, 4, 1}, 4, 13, "f32", "", 4 * 32},
                 {{4, 130, 64, 1, 3}, 16, 9, "f16", "", 2 * 64},
                 {{3, 21, 20, 3, 21}, 8, 3, "f32", "", 4 * 60},
                 {{2, 70, 256, 1, 2}, 32, 4, "f32", ",cached=q8_0", 8 * 34},
                 {{2, 200, 128, 2, 1}, 64, 4, "f32", ",cached=f16", 2 * 256},
                 {{3, 21, 20, 3, 4}, 8, 3, "f32", ",bias=1,scale=one", 4 * 60},
                 {{2, 70, 256, 1, 2}, 32, 4, "f32", ",cached=q8_0,bias=1", 8 * 34}};
    for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct cached p = cases[i].p;
        struct gpu_example one, paged;
        char workload[160], all[200];
        snprintf(workload, sizeof workload, "cache-attention:h=%d,s=%d,d=%d,kvh=%d,q=%d%s", p.h, p.s, p.d, p.kvh, p.q,
                 cases[i].cached);
        snprintf(all, sizeof all, "%s,page=%u,pages=%u", workload, cases[i].page, cases[i].pages);
        bool ok = example_open(&one, workload, cases[i].precision, 8);
        CHECK(ok, "%s: %s", workload, one.text);
        ok = ok && example_open(&paged, all, cases[i].precision, 8);
        CHECK(ok, "%s: %s", all, paged.text);
        if (!ok)
            return;
        example_fill(&one, i);
        example_fill(&paged, 100 + i);
        if (strstr(workload, "q8_0")) {
            fill_blocks(&one, "k", 3);
            fill_blocks(&one, "v", 5);
        }
        uint32_t *const table = (void *)example_bytes(&paged, example_buffer(&paged, "page"));
        const unsigned used = ((unsigned)p.s + cases[i].page - 1) / cases[i].page;
        for (unsigned n = 0; n < used; n++)
            table[n] = cases[i].pages - 1 - n;
        lay_in_pages(&one, &paged, "k", &p, cases[i].row, cases[i].page);
        lay_in_pages(&one, &paged, "v", &p, cases[i].row, cases[i].page);
        const unsigned query = example_buffer(&one, "q"), out = example_buffer(&one, "out");
        const uint64_t bytes = gpu_type_bytes(one.kernel.buffer[out].type, one.kernel.buffer[out].count);
        memcpy(example_bytes(&paged, query), example_bytes(&one, query), bytes);
        if (strstr(workload, "bias")) {
            const unsigned from = example_buffer(&one, "bias");
            memcpy(example_bytes(&paged, example_buffer(&paged, "bias")), example_bytes(&one, from),
                   gpu_type_bytes(one.kernel.buffer[from].type, one.kernel.buffer[from].count));
        }
        ok = example_run(&one, true) && example_run(&paged, true);
        CHECK(ok && memcmp(example_bytes(&one, out), example_bytes(&paged, example_buffer(&paged, "out")), bytes) == 0,
              "%s: other bytes than without pages; %s", all, paged.text);
        example_close(&one);
        example_close(&paged);
    }
    example_refused("cache-attention:h=1,s=9,d=4,page=6", "f32", "no power of two");
    example_refused("cache-attention:h=1,s=9,d=4,page=4,pages=2", "f32", "need 3 pages");
}

/* ---- values that go into the cache ---- */

/* Blocks lose half a step of their own scale, and what the scale loses as a half; a block of zeros stays one. */
static void test_quantise(void)
{
    static const struct {
        const char *shape, *precision;
    } cases[] = {{"quantise:32", "q8_0"}, {"quantise:1056", "q8_0"}, {"quantise:4", "f16"}, {"quantise:1052", "f16"}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct gpu_example x;
        bool ok = example_open(&x, cases[i].shape, cases[i].precision, 8);
        CHECK(ok, "%s: %s", cases[i].shape, x.text);
        if (!ok)
            continue;
        example_fill(&x, i + 1);
        const uint64_t count = x.kernel.buffer[0].count;
        float *const in = (float *)(void *)example_bytes(&x, example_buffer(&x, "x"));
        for (uint64_t k = 32; k < 64 && k < count; k++)
            in[k] = 0;
        CHECK(example_run(&x, true), "%s: %s", cases[i].shape, x.text);
        double *const out = example_values(&x, "out");
        for (uint64_t k = 0; k < count; k++) {
            double most = 0;
            for (uint64_t j = k / 32 * 32; j < k / 32 * 32 + 32 && j < count; j++)
                most = fmax(most, fabs((double)in[j]));
            const double bound = i < 2 ? most / 254 * (1 + 0x1p-20) + most * 0x1p-11 : fabs((double)in[k]) * 0x1p-11;
            CHECK(fabs(out[k] - (double)in[k]) <= bound, "%s %s: %g became %g", cases[i].shape, cases[i].precision, (double)in[k],
                  out[k]);
        }
        free(out);
        example_close(&x);
    }
    example_refused("quantise:33", "q8_0", "multiples of 32");
    example_refused("quantise:6", "f16", "multiples of 4");
}

/* ---- rope ---- */

struct rope_case {
    const char *shape, *precision;
    int b, h, s, d;
    double base;
    int offset;
    bool interleaved, tokens;
    int part; /* 0 = d */
};

static void check_rope(const struct rope_case *c)
{
    struct gpu_example x;
    const int part = c->part ? c->part : c->d;
    if (example_start(&x, c->shape, c->precision, 5)) {
        double *in = copy_of(&x, "x"), *out = copy_of(&x, "out"), worst = 0;
        double *const scales = strstr(c->shape, "scales") ? copy_of(&x, "scales") : NULL;
        for (long row = 0; row < (long)c->b * c->h * c->s; row++) {
            const long at = (c->tokens ? row / c->h % c->s : row % c->s) + c->offset;
            for (int i = 0; i < part / 2; i++) {
                const double angle = (double)at * pow(c->base, -2.0 * i / part) * (scales ? scales[i] : 1);
                const long a = row * c->d + (c->interleaved ? 2 * i : i), b = c->interleaved ? a + 1 : a + part / 2;
                const double want[2] = {in[a] * cos(angle) - in[b] * sin(angle), in[a] * sin(angle) + in[b] * cos(angle)};
                /* Angle: exponent of up to log2(base) and three roundings; functions 8 u each, |x| <= 1. */
                const double bound = 2 * ((log2(c->base) + 4) * fabs(angle) + 20) * 0x1p-24 + 2 * example_epsilon(x.request.type);
                worst = fmax(worst, fmax(fabs(out[a] - want[0]), fabs(out[b] - want[1])) / bound);
            }
            for (long i = row * c->d + part; i < (row + 1) * c->d; i++)
                worst = out[i] == in[i] ? worst : INFINITY;
        }
        CHECK(worst <= 1, "%s %s: %g times the bound", c->shape, c->precision, worst);
        free(in);
        free(out);
        free(scales);
    }
    example_close(&x);
}

static void test_rope(void)
{
    static const struct rope_case cases[] = {
        {"rope:b=2,h=3,s=17,d=64", "f32", 2, 3, 17, 64, 10000, 0, false, false, 0},
        {"rope:h=2,s=33,d=10,base=500000,offset=1000", "f32", 1, 2, 33, 10, 500000, 1000, false, false, 0},
        {"rope:h=1,s=40,d=32,style=interleaved", "f32", 1, 1, 40, 32, 10000, 0, true, false, 0},
        {"rope:h=2,s=9,d=128", "f16", 1, 2, 9, 128, 10000, 0, false, false, 0},
        {"rope:h=2,s=9,d=6,style=interleaved", "bf16", 1, 2, 9, 6, 10000, 0, true, false, 0},
        {"rope:b=2,h=3,s=17,d=64,order=tokens", "f32", 2, 3, 17, 64, 10000, 0, false, true, 0},
        {"rope:h=5,s=9,d=80,part=32,offset=7", "f32", 1, 5, 9, 80, 10000, 7, false, false, 32},
        {"rope:h=4,s=12,d=16,part=6,style=interleaved,order=tokens", "f16", 1, 4, 12, 16, 10000, 0, true, true, 6},
        {"rope:h=3,s=20,d=64,scales=1,order=tokens,offset=100", "f32", 1, 3, 20, 64, 10000, 100, false, true, 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        check_rope(&cases[i]);
}

static const struct suite_test tests[] = {
    {"attention in one pass", test_attention_flash},
    {"attention of heads from 32 to 256 elements", test_attention_head_sizes},
    {"attention as two products", test_attention_naive},
    {"attention over a cache", test_attention_cache},
    {"queries that see all keys, and biases", test_attention_bias},
    {"attention over a cache of another type", test_attention_cache_types},
    {"attention over pages", test_attention_pages},
    {"values that go into the cache", test_quantise},
    {"rope", test_rope},
};
SUITE_MAIN("gpu_kernels_attention", tests)
