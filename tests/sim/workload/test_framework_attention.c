/* MLX's fused attention against sums in double precision: each kernel, its edges, shared heads, causal and not. */
#include "tests/sim/workload/framework_example.h"

struct shape {
    const char *kernels, *chip, *precision;
    bool cached; /* tokens one after another, instead of heads */
    unsigned batch, heads, kv_heads, queries, keys, depth, causal;
    const char *code; /* of the first launch */
    unsigned launches;
};

static size_t place(const struct shape *s, bool key, unsigned b, unsigned head, unsigned token)
{
    const unsigned heads = key ? s->kv_heads : s->heads, tokens = key ? s->keys : s->queries;
    return s->cached ? ((size_t)token * heads + head) * s->depth : (((size_t)b * heads + head) * tokens + token) * s->depth;
}

/* One query's results. */
static void expect(const struct shape *s, const struct example *x, unsigned b, unsigned h, unsigned t, double *weight,
                   double *expected)
{
    const unsigned shared = h / (s->heads / s->kv_heads), seen = s->causal ? s->keys - s->queries + t + 1 : s->keys;
    const double *const q = x->before[0] + place(s, false, b, h, t);
    double most = -INFINITY, sum = 0;
    for (unsigned i = 0; i < seen; i++) {
        const double *const k = x->before[1] + place(s, true, b, shared, i);
        weight[i] = 0;
        for (unsigned d = 0; d < s->depth; d++)
            weight[i] += q[d] * k[d] / sqrt(s->depth);
        most = fmax(most, weight[i]);
    }
    for (unsigned i = 0; i < seen; i++)
        sum += weight[i] = exp(weight[i] - most);
    for (unsigned i = 0; i < seen; i++)
        for (unsigned d = 0; d < s->depth; d++)
            expected[place(s, false, b, h, t) + d] += weight[i] / sum * x->before[2][place(s, true, b, shared, i) + d];
}

static void check(const struct shape *s)
{
    struct example x;
    char text[160];
    const size_t count = (size_t)s->batch * s->heads * s->queries * s->depth;
    double *const expected = calloc(count, sizeof *expected), *const bound = malloc(count * sizeof *bound);
    double *const weight = malloc(s->keys * sizeof *weight);
    if (s->cached)
        snprintf(text, sizeof text, "cache-attention:h=%u,s=%u,d=%u,kvh=%u,q=%u", s->heads, s->keys, s->depth, s->kv_heads,
                 s->queries);
    else
        snprintf(text, sizeof text, "attention:b=%u,h=%u,s=%u,d=%u,kvh=%u,causal=%u", s->batch, s->heads, s->keys, s->depth,
                 s->kv_heads, s->causal);
    if (run(&x, s->kernels, s->chip, text, s->precision) && expected && bound && weight) {
        const bool half = strcmp(s->precision, "f16") == 0;
        CHECK(strcmp(x.library->step[0].code_name, s->code) == 0 && x.library->kernel.steps == s->launches, "%s: %u launches, %s",
              text, x.library->kernel.steps, x.library->step[0].code_name);
        for (unsigned b = 0; b < s->batch; b++)
            for (unsigned h = 0; h < s->heads; h++)
                for (unsigned t = 0; t < s->queries; t++)
                    expect(s, &x, b, h, t, weight, expected);
        /* sums of weights that are one together, of values up to one; scores of halves are scaled as halves first */
        for (size_t i = 0; i < count; i++)
            bound[i] = half ? 0x1p-9 : 0x1p-18;
        close_to(&x, 3, expected, bound);
    }
    free(expected);
    free(bound);
    free(weight);
    end(&x);
}

static void test_attention(void)
{
    static const struct shape shapes[] = {
        {"mlx", "M1", "f32", false, 2, 2, 2, 64, 64, 64, 0, "mlx_attention_float_32_64", 1},
        {"mlx@0.25", "M1", "f32", false, 1, 4, 2, 45, 45, 80, 1, "mlx_attention_float_32_80", 1},
        {"mlx@0.24.1", "M1", "f16", false, 2, 2, 1, 70, 70, 128, 1, "mlx_attention_half_16_128", 1},
        {"mlx", "M1 Max", "f32", false, 1, 2, 1, 9, 9, 128, 0, "mlx_attention_float_16_128", 1},
        {"mlx", "M1", "f32", false, 2, 3, 1, 7, 7, 96, 1, "mlx_attention_vector_float_96", 1},
        {"mlx", "M1", "f16", true, 1, 4, 2, 1, 333, 256, 1, "mlx_attention_vector_half_256", 1},
        {"mlx", "M1", "f32", true, 1, 2, 2, 5, 40, 64, 1, "mlx_attention_vector_float_64", 1},
        {"mlx", "M1 Ultra", "f32", true, 1, 2, 2, 3, 1055, 64, 1, "mlx_attention_parts_float_64", 2},
        {"mlx", "M1", "f16", true, 1, 2, 1, 1, 4097, 128, 1, "mlx_attention_parts_half_128", 2},
        {"mlx", "M1", "f32", true, 1, 2, 1, 40, 75, 64, 1, "mlx_attention_float_32_64", 1},
        {"mlx", "M1", "f32", false, 2, 3, 3, 20, 20, 72, 0, "mlx_mul_vs_float_1", 4},
        {"mlx@0.20", "M1", "f16", false, 1, 2, 2, 70, 70, 64, 0, "mlx_mul_vs_half_1", 4},
        {"mlx@0.0.7", "M1", "f32", false, 1, 2, 2, 33, 33, 16, 0, "mlx_mul_vs_float_1", 4},
    };
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++)
        check(&shapes[i]);
}

static void test_refusals(void)
{
    static const char *const cases[][3] = {{"mlx@0.20", "attention:h=1,s=64,d=64,causal=1", "no mask"},
                                           {"mlx@0.24.1", "cache-attention:h=1,s=64,d=64,q=20", "no cache"},
                                           {"mlx", "attention:h=2,kvh=1,s=64,d=72", "share keys"},
                                           {"mlx@0.24.1", "attention:h=1,s=4,d=256,causal=1", "not fused"},
                                           {"mlx", "cache-attention:h=1,s=64,d=64,cached=q8_0", "cached=own"}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct gpu_library *const l = calloc(1, sizeof *l);
        struct framework_choice choice;
        struct orch_error error = {0};
        const bool ok = l && framework_choose(cases[i][0], "M1", &choice, &error) &&
                        gpu_library_open(l, cases[i][1], "f32", GPU_G13, 8, &error) && framework_apply(&choice, l, &error);
        CHECK(!ok && strstr(error.text, cases[i][2]), "%s %s: %s", cases[i][0], cases[i][1], error.text);
        if (l)
            gpu_library_close(l);
        free(l);
    }
}

static const struct suite_test tests[] = {{"attention", test_attention}, {"what is not fused is refused", test_refusals}};
SUITE_MAIN("framework_attention", tests)
