/* Passes: each finds its pattern in the forms in which exporters write it, leaves look-alikes alone, and changes no result. */
#include "sim/network/case.h"
#include "sim/network/memory.h"
#include "sim/network/network.h"
#include "sim/network/operators/run.h"
#include "sim/network/passes/pass.h"
#include "tests/sim/network/network_text.h"

/* A network, what must be in it after all passes ("Op*count Op", all operators that are left), with random inputs. */
struct row {
    const char *name, *network, *left;
};

#define IMAGE "in x f32[1,3,8,8]\nconst w f32[4,3,3,3] random\n"
#define ROWS                                                                                                                     \
    "in x f32[2,5,8]\nconst two f32[] 2\nconst eps f32[] 0.00001\nconst ax i64[1] -1\nconst g f32[8] random\nconst b f32[8] "    \
    "random\n"
#define QKV "in q f32[2,2,5,4]\nin k f32[2,2,6,4]\nin v f32[2,2,6,3]\n"

static const struct row rows[] = {
    {"batch norm and activation",
     IMAGE "const s f32[4] random\nconst o f32[4] random\nconst m f32[4] random\nconst v f32[4] random\n"
           "c = Conv(x, w) pads=1,1,1,1\nn = BatchNormalization(c, s, o, m, v)\ny = Relu(n)\nout y",
     "orchard.FusedConv"},
    {"scale, offset by channel, clip",
     IMAGE "const s f32[4,1,1] random\nconst o f32[1,4,1,1] random\nconst lo f32[] 0\nconst hi f32[] 6\n"
           "c = Conv(x, w)\na = Mul(c, s)\nn = Add(o, a)\ny = Clip(n, lo, hi)\nout y",
     "orchard.FusedConv"},
    {"an offset along the width is none by channel",
     "in x f32[1,3,8,4]\nconst w f32[4,3,1,1] random\nconst o f32[4] random\nc = Conv(x, w)\ny = Add(c, o)\nout y", "Conv Add"},
    {"residual sum and activation", "in x f32[1,4,8,8]\nin z f32[1,4,1,8]\na = Add(x, z)\ny = Relu(a)\nout y",
     "orchard.FusedAdd"},
    {"a sum with two users stays", "in x f32[3]\nin z f32[3]\na = Add(x, z)\nr = Relu(a)\ny = Mul(a, r)\nout y", "Add Relu Mul"},
    {"a result with two users stays", IMAGE "c = Conv(x, w)\nr = Relu(c)\ny = Add(c, r)\nout y", "Conv Relu Add"},
    {"transposed convolution",
     "in x f32[1,3,4,4]\nconst w f32[3,2,2,2] random\nconst s f32[2] random\nc = ConvTranspose(x, w) strides=2,2\n"
     "y = BatchNormalization(c, s, s, s, s)\nout y",
     "ConvTranspose"},
    {"product, bias, activation",
     "in x f32[3,5]\nconst w f32[5,7] random\nconst b f32[7] random\np = MatMul(x, w)\na = Add(b, p)\ny = Tanh(a)\nout y",
     "orchard.FusedMatMul"},
    {"gemm and leaky relu",
     "in x f32[3,5]\nconst w f32[7,5] random\nconst b f32[7] random\np = Gemm(x, w, b) transB=1 alpha=0.5\n"
     "y = LeakyRelu(p) alpha=0.2\nout y",
     "orchard.FusedMatMul"},
    {"gelu by erf",
     "in x f32[9]\nconst r f32[] 1.41421356\nconst one f32[] 1\nconst half f32[] 0.5\n"
     "d = Div(x, r)\ne = Erf(d)\na = Add(e, one)\nm = Mul(x, a)\ny = Mul(m, half)\nout y",
     "Gelu"},
    {"gelu by erf, half first",
     "in x f32[9]\nconst r f32[] 0.70710678\nconst one f32[] 1\nconst half f32[] 0.5\n"
     "d = Mul(r, x)\ne = Erf(d)\na = Add(one, e)\nh = Mul(half, x)\ny = Mul(h, a)\nout y",
     "Gelu"},
    {"gelu by tanh",
     "in x f32[9]\nconst c f32[] 0.044715\nconst three f32[] 3\nconst r f32[] 0.79788456\nconst one f32[] 1\nconst half f32[] "
     "0.5\n"
     "p = Pow(x, three)\nq = Mul(p, c)\ns = Add(x, q)\nt = Mul(s, r)\nu = Tanh(t)\na = Add(u, one)\nm = Mul(x, a)\ny = Mul(m, "
     "half)\nout y",
     "Gelu"},
    {"no gelu: another constant",
     "in x f32[9]\nconst r f32[] 1.5\nconst one f32[] 1\nconst half f32[] 0.5\n"
     "d = Div(x, r)\ne = Erf(d)\na = Add(e, one)\nm = Mul(x, a)\ny = Mul(m, half)\nout y",
     "Div Erf Add Mul*2"},
    {"hard swish",
     "in x f32[9]\nconst t f32[] 3\nconst z f32[] 0\nconst s f32[] 6\na = Add(x, t)\nc = Clip(a, z, s)\nm = Mul(x, c)\ny = "
     "Div(m, s)\nout y",
     "HardSwish"},
    {"hard swish by gate", "in x f32[9]\nh = HardSigmoid(x) alpha=0.16666667 beta=0.5\ny = Mul(h, x)\nout y", "HardSwish"},
    {"hard sigmoid",
     "in x f32[9]\nconst t f32[] 3\nconst z f32[] 0\nconst s f32[] 6\na = Add(x, t)\nc = Clip(a, z, s)\ny = Div(c, s)\nout y",
     "HardSigmoid"},
    {"swish", "in x f32[9]\ns = Sigmoid(x)\ny = Mul(s, x)\nout y", "Swish"},
    {"swiglu", "in g f32[2,9]\nin u f32[2,9]\ns = Sigmoid(g)\nw = Mul(g, s)\ny = Mul(w, u)\nout y", "orchard.SwiGLU"},
    {"layer norm",
     ROWS
     "m = ReduceMean(x, ax)\nd = Sub(x, m)\np = Pow(d, two)\nv = ReduceMean(p, ax)\na = Add(v, eps)\nr = Sqrt(a)\nq = Div(d, r)\n"
     "s = Mul(q, g)\ny = Add(s, b)\nout y",
     "LayerNormalization"},
    {"rms norm",
     ROWS
     "p = Mul(x, x)\nv = ReduceMean(p, ax)\na = Add(v, eps)\nr = Sqrt(a)\ni = Reciprocal(r)\nq = Mul(x, i)\ny = Mul(g, q)\nout y",
     "RMSNormalization"},
    {"no norm: the mean of something else",
     ROWS
     "in z f32[2,5,8]\np = Mul(z, z)\nv = ReduceMean(p, ax)\na = Add(v, eps)\nr = Sqrt(a)\nq = Div(x, r)\ny = Mul(g, q)\nout y",
     "Mul*2 ReduceMean Add Sqrt Div"},
    {"attention",
     QKV "const s f32[] 0.5\nconst m f32[1,1,5,6] random\nt = Transpose(k) perm=0,1,3,2\np = MatMul(q, t)\nd = Mul(p, s)\na = "
         "Add(d, m)\n"
         "f = Softmax(a) axis=-1\ny = MatMul(f, v)\nout y",
     "orchard.Attention"},
    {"attention, scaled before, keys as they are",
     "in q f32[2,5,4]\nin k f32[2,4,6]\nin v f32[2,6,3]\nconst s f32[] 2\nd = Div(q, s)\np = MatMul(d, k)\n"
     "f = Softmax(p) axis=2\ny = MatMul(f, v)\nout y",
     "orchard.Attention"},
    {"attention with a choice",
     QKV "const s f32[] 0.5\nconst c bool[1,6] 1 1 0 1 1 0\nconst n f32[] -1000000000\nt = Transpose(k) perm=0,1,3,2\n"
         "p = MatMul(q, t)\nd = Mul(p, s)\na = Where(c, d, n)\nf = Softmax(a) axis=-1\ny = MatMul(f, v)\nout y",
     "orchard.Attention"},
    {"no attention: softmax over another axis",
     "in q f32[2,5,4]\nin k f32[2,4,6]\nin v f32[2,6,3]\np = MatMul(q, k)\nf = Softmax(p) axis=1\n"
     "y = MatMul(f, v)\nout y",
     "MatMul*2 Softmax"},
    {"rotary embedding",
     "in x f32[1,2,5,8]\nin c f32[5,8]\nin s f32[5,8]\nconst z i64[1] 0\nconst h i64[1] 4\nconst e i64[1] 9223372036854775807\n"
     "const ax i64[1] -1\na = Slice(x, z, h, ax)\nb = Slice(x, h, e, ax)\nn = Neg(b)\nt = Concat(n, a) axis=-1\n"
     "l = Mul(x, c)\nr = Mul(t, s)\ny = Add(l, r)\nout y",
     "orchard.RotaryEmbedding"},
    {"no rotary embedding: halves not swapped",
     "in x f32[1,2,5,8]\nin c f32[5,8]\nin s f32[5,8]\nconst z i64[1] 0\nconst h i64[1] 4\nconst e i64[1] 8\n"
     "const ax i64[1] -1\na = Slice(x, z, h, ax)\nb = Slice(x, h, e, ax)\nn = Neg(a)\nt = Concat(n, b) axis=-1\n"
     "l = Mul(x, c)\nr = Mul(t, s)\ny = Add(l, r)\nout y",
     "Slice*2 Neg Concat Mul*2 Add"},
    {"equal parts and dead ones",
     "in x f32[9]\na = Exp(x)\nb = Exp(x)\nc = Sin(x)\nd = Sqrt(a)\ne = Sqrt(b)\ny = Add(d, e)\nout y", "Exp Sqrt Add"},
    {"nothing happens",
     "in x f32[2,9]\nconst one f32[] 1\nconst s i64[2] 2 9\na = Identity(x)\nb = Mul(a, one)\nc = Reshape(b, s)\nd = "
     "Transpose(c)\n"
     "e = Transpose(d) perm=1,0\nf = Cast(e) to=1\ny = Exp(f)\nout y",
     "Transpose*2 Exp"},
    {"an old softmax over the last axis", "in x f32[2,3,1,9]\na = Softmax(x) axis=2 flat=1\ny = Exp(a)\nout y", "Softmax Exp"},
    {"dropout", "in x f32[9]\nconst r f32[] 0.5\nconst t bool[] 0\na = Dropout(x)\nb = Dropout(a, r, t)\ny = Exp(b)\nout y",
     "Exp"},
    {"two transpositions are one", "in x f32[2,3,4]\na = Transpose(x) perm=1,2,0\nb = Transpose(a) perm=2,0,1\ny = Exp(b)\nout y",
     "Transpose Exp"},
};

static struct net_array *random_array(const struct net_value *v, uint64_t *state)
{
    struct net_array *const a = net_array_new(v->type, v->shape.dim, v->shape.dims, NULL);
    for (int64_t k = 0; a && k < a->count; k++) {
        const double number = (double)(suite_random(state) % 4000) / 1000 - 2;
        net_write_doubles(a->type, a->data, k, 1, &number);
    }
    return a;
}

static struct net_array *result_of(const struct net_model *m, const char *name)
{
    struct net_array *input[8] = {NULL}, *output[1] = {NULL};
    struct orch_error error = {0};
    uint64_t state = 3;
    for (size_t k = 0; k < m->graph->inputs; k++)
        input[k] = random_array(&m->value[m->graph->input[k]], &state);
    const struct net_run run = {.model = m, .input = input};
    CHECK(net_run(&run, output, &error), "%s: %s", name, error.text);
    for (size_t k = 0; k < m->graph->inputs; k++)
        net_array_release(input[k]);
    return output[0];
}

/* "Slice*2 Neg": operators in the order in which they first come. */
static void list_operators(const struct net_model *m, char *text, size_t size)
{
    size_t at = 0;
    *text = 0;
    for (size_t i = 0; i < m->graph->nodes; i++) {
        const struct net_node *const n = m->graph->node[i];
        size_t times = 0;
        bool seen = false;
        for (size_t k = 0; k < m->graph->nodes; k++) {
            const bool same = strcmp(m->graph->node[k]->op, n->op) == 0;
            times += same;
            seen = seen || (same && k < i);
        }
        if (!seen)
            at += (size_t)snprintf(text + at, size - at, "%s%s%s%s", at ? " " : "", n->domain, *n->domain ? "." : "", n->op);
        if (!seen && times > 1)
            at += (size_t)snprintf(text + at, size - at, "*%zu", times);
    }
}

static void test_patterns(void)
{
    for (size_t k = 0; k < ARRAY_COUNT(rows); k++) {
        struct net_model *const before = network_of(rows[k].network), *const after = network_of(rows[k].network);
        struct net_open_options options = {.level = 2};
        struct orch_error error = {0};
        char left[256];
        const bool random = strstr(rows[k].network, "random") != NULL; /* such constants differ between two readings */
        for (size_t v = 0; random && v < after->values; v++)
            if (after->value[v].constant) {
                net_array_release(after->value[v].constant);
                after->value[v].constant = net_array_retain(before->value[v].constant);
            }
        struct net_array *const expected = result_of(before, rows[k].name);
        CHECK(net_prepare(after, &options, NULL, &error), "%s: %s", rows[k].name, error.text);
        list_operators(after, left, sizeof left);
        CHECK(strcmp(left, rows[k].left) == 0, "%s: %s", rows[k].name, left);
        struct net_array *const got = result_of(after, rows[k].name);
        if (expected && got) {
            const struct net_difference d = net_compare(got, expected, 2e-6, 2e-6);
            CHECK(d.fits && d.worst <= 1, "%s differs by %g", rows[k].name, d.largest);
        }
        net_array_release(expected);
        net_array_release(got);
        net_model_free(before);
        net_model_free(after);
    }
}

static void test_leaving_out(void)
{
    static const char *const without[] = {"gelu", "nonsense"};
    struct orch_error error = {0};
    char left[256];
    struct net_model *m = network_of("in x f32[9]\ns = Sigmoid(x)\ny = Mul(s, x)\nout y");
    struct net_open_options options = {.level = 2, .without = without, .without_count = 2};
    CHECK(!net_prepare(m, &options, NULL, &error) && strstr(error.text, "unknown pass"), "%s", error.text);
    static const char *const silu[] = {"silu"};
    options = (struct net_open_options){.level = 2, .without = silu, .without_count = 1};
    CHECK(net_prepare(m, &options, NULL, &error), "%s", error.text);
    list_operators(m, left, sizeof left);
    CHECK(strcmp(left, "Sigmoid Mul") == 0, "%s", left);
    net_model_free(m);
}

/* Tensors that live at the same time do not overlap, and the plan is not worse than no plan. */
static void test_memory(void)
{
    struct orch_error error = {0};
    struct net_memory plan;
    struct net_model *const m =
        network_of("in x f32[100]\na = Exp(x)\nb = Sin(a)\nc = Add(a, b)\nd = Cos(c)\nconst s i64[2] 10 10\n"
                   "e = Reshape(d, s)\nf = Exp(e)\ny = Mul(f, e)\nout y");
    CHECK(net_infer_shapes(m, &error) && net_memory_plan(m, &plan, &error), "%s", error.text);
    CHECK(plan.peak_bytes >= plan.floor_bytes && plan.peak_bytes < plan.sum_bytes && plan.unknown == 0, "%llu of %llu",
          (unsigned long long)plan.peak_bytes, (unsigned long long)plan.sum_bytes);
    CHECK(plan.floor_bytes == 3 * 400, "%llu live", (unsigned long long)plan.floor_bytes);
    for (size_t i = 0; i < m->values; i++)
        for (size_t k = 0; k < i; k++) {
            const struct net_placement *const a = &plan.of[i], *const b = &plan.of[k];
            if (!a->placed || !b->placed || a->root == b->root || plan.of[a->root].last < b->first ||
                plan.of[b->root].last < a->first)
                continue;
            CHECK(a->offset_bytes + a->bytes <= b->offset_bytes || b->offset_bytes + b->bytes <= a->offset_bytes,
                  "%s and %s overlap", m->value[i].name, m->value[k].name);
        }
    net_memory_free(&plan);
    net_model_free(m);
}

static const struct suite_test tests[] = {
    {"patterns", test_patterns}, {"leaving passes out", test_leaving_out}, {"where tensors lie", test_memory}};
SUITE_MAIN("network_passes", tests)
