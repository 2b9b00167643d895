/* Shape rules: dimensions that are numbers and symbols, and nodes that make no sense. */
#include "sim/network/network.h"
#include "sim/network/passes/pass.h"
#include "sim/network/show.h"
#include "tests/sim/network/network_text.h"

/* A network whose output y must have this type and shape, or be refused with a text that contains `wrong`. */
struct row {
    const char *network, *shape, *wrong;
};

static const struct row rows[] = {
    /* broadcasting */
    {"in a f32[2,3]\nin b f32[3]\ny = Add(a, b)\nout y", "f32[2,3]", NULL},
    {"in a f32[n,3]\nin b f32[1,3]\ny = Add(a, b)\nout y", "f32[n,3]", NULL},
    {"in a f32[n,3]\nin b f32[n,1]\ny = Mul(a, b)\nout y", "f32[n,3]", NULL},
    {"in a f32[n]\nin b f32[m]\ny = Mul(a, b)\nout y", "f32[?]", NULL},
    {"in a f32[n]\nin b f32[7]\ny = Mul(a, b)\nout y", "f32[7]", NULL},
    {"in a f32[2,3]\nin b f32[2]\ny = Add(a, b)\nout y", NULL, "do not broadcast"},
    {"in a f32[2]\nin b f32[2]\ny = Less(a, b)\nout y", "bool[2]", NULL},
    {"in c bool[4,1]\nin a i64[3]\nin b i64[]\ny = Where(c, a, b)\nout y", "i64[4,3]", NULL},
    /* shapes */
    {"in a f32[2,3,4]\nconst s i64[2] 0 -1\ny = Reshape(a, s)\nout y", "f32[2,12]", NULL},
    {"in a f32[n,3,4]\nconst s i64[2] 0 12\ny = Reshape(a, s)\nout y", "f32[n,12]", NULL},
    {"in a f32[2,3]\nconst s i64[1] 5\ny = Reshape(a, s)\nout y", NULL, "do not fit"},
    {"in a f32[2,3]\nconst s i64[2] -1 -1\ny = Reshape(a, s)\nout y", NULL, "two dimensions"},
    {"in a f32[2,3]\nconst s i64[3] 1 1 0\ny = Reshape(a, s)\nout y", NULL, "only 2"},
    {"in a f32[2,n,4]\ny = Flatten(a) axis=2\nout y", "f32[?,4]", NULL},
    {"in a f32[1,n,1]\nconst s i64[1] 0\ny = Squeeze(a, s)\nout y", "f32[n,1]", NULL},
    {"in a f32[2,3]\nconst s i64[1] 0\ny = Squeeze(a, s)\nout y", NULL, "cannot be dropped"},
    {"in a f32[n]\nconst s i64[2] 0 -1\ny = Unsqueeze(a, s)\nout y", "f32[1,n,1]", NULL},
    {"in a f32[n]\nconst s i64[2] 1 1\ny = Unsqueeze(a, s)\nout y", NULL, "twice"},
    {"in a f32[a,b,c]\ny = Transpose(a) perm=2,0,1\nout y", "f32[c,a,b]", NULL},
    {"in a f32[2,3]\ny = Transpose(a) perm=0,0\nout y", NULL, "no permutation"},
    {"in a f32[n,3]\nin b f32[n,4]\ny = Concat(a, b) axis=1\nout y", "f32[n,7]", NULL},
    {"in a f32[n,3]\nin b f32[2,m]\ny = Concat(a, b) axis=1\nout y", "f32[2,?]", NULL},
    {"in a f32[2,3]\nin b f32[4,4]\ny = Concat(a, b) axis=1\nout y", NULL, "dimension 0"},
    {"in a f32[7]\ny, z, w = Split(a) axis=0\nout y", "f32[3]", NULL},
    {"in a f32[7]\nconst s i64[2] 3 5\ny, z = Split(a, s)\nout y", NULL, "8 in all"},
    {"in a f32[10,n]\nconst s i64[1] -4\nconst e i64[1] 1000\ny = Slice(a, s, e)\nout y", "f32[4,n]", NULL},
    {"in a f32[10]\nconst s i64[1] -1\nconst e i64[1] -100\nconst x i64[1] 0\nconst t i64[1] -3\ny = Slice(a, s, e, x, t)\nout y",
     "f32[4]", NULL},
    {"in a f32[10]\nconst s i64[1] 0\nconst e i64[1] 5\nconst x i64[1] 0\nconst t i64[1] 0\ny = Slice(a, s, e, x, t)\nout y",
     NULL, "step of 0"},
    {"in a f32[n,1]\nconst s i64[2] 1 5\ny = Expand(a, s)\nout y", "f32[n,5]", NULL},
    {"in a f32[2,3]\nconst t i64[2] 2 3\ny = Tile(a, t)\nout y", "f32[4,9]", NULL},
    {"in a f32[2,3]\nconst p i64[4] 1 0 2 -1\ny = Pad(a, p)\nout y", "f32[5,2]", NULL},
    {"in a f32[5,n]\nin i i64[2,3]\ny = Gather(a, i) axis=0\nout y", "f32[2,3,n]", NULL},
    {"in a f32[2]\nin i f32[2]\ny = Gather(a, i)\nout y", NULL, "indices of f32"},
    {"in a f32[2,3,4]\nin i i64[2,1]\ny = GatherND(a, i) batch_dims=1\nout y", "f32[2,4]", NULL},
    /* chains of shapes */
    {"in a f32[2,3,4]\ns = Shape(a)\nconst one i64[1] 2\nconst i i64[1] 1\ng = Gather(s, i)\nc = Concat(g, one) axis=0\nconst z "
     "f32[] 1\n"
     "y = Expand(z, c)\nout y",
     "f32[3,2]", NULL},
    {"in a f32[6,4]\ns = Shape(a) start=1\nconst m i64[1] -1\nc = Concat(m, s) axis=0\ny = Reshape(a, c)\nout y", "f32[6,4]",
     NULL},
    /* products */
    {"in a f32[b,1,4,5]\nin w f32[3,5,6]\ny = MatMul(a, w)\nout y", "f32[b,3,4,6]", NULL},
    {"in a f32[5]\nin w f32[5]\ny = MatMul(a, w)\nout y", "f32[]", NULL},
    {"in a f32[2,4]\nin w f32[5,6]\ny = MatMul(a, w)\nout y", NULL, "4 columns and 5 rows"},
    {"in a f32[5,n]\nin w f32[6,5]\ny = Gemm(a, w) transA=1 transB=1\nout y", "f32[n,6]", NULL},
    {"in a f32[n,3,224,224]\nin w f32[64,3,7,7]\ny = Conv(a, w) pads=3,3,3,3 strides=2,2\nout y", "f32[n,64,112,112]", NULL},
    {"in a f32[1,4,9]\nin w f32[8,2,3]\ny = Conv(a, w) group=2 dilations=2, pads=0,1\nout y", "f32[1,8,6]", NULL},
    {"in a f32[1,4,9,h]\nin w f32[8,4,3,3]\ny = Conv(a, w) auto_pad=SAME_UPPER strides=2,2\nout y", "f32[1,8,5,?]", NULL},
    {"in a f32[1,3,8,8]\nin w f32[8,4,3,3]\ny = Conv(a, w)\nout y", NULL, "3 channels"},
    {"in a f32[1,3,2,2]\nin w f32[8,3,3,3]\ny = Conv(a, w)\nout y", NULL, "larger than the input"},
    {"in a f32[1,3,8,8]\nin w f32[8,3,3,3]\ny = Conv(a, w) strides=0,1\nout y", NULL, "strides is 0"},
    {"in a f32[1,6,4,4]\nin w f32[6,2,3,3]\ny = ConvTranspose(a, w) strides=2,2 pads=1,1,1,1 output_padding=1,1\nout y",
     "f32[1,2,8,8]", NULL},
    {"in a f32[1,3,10,10]\ny = MaxPool(a) kernel_shape=3,3 strides=2,2 ceil_mode=1\nout y", "f32[1,3,5,5]", NULL},
    {"in a f32[1,3,10,10]\ny = MaxPool(a)\nout y", NULL, "kernel_shape is missing"},
    {"in a f32[1,3,10,10]\nconst s f32[4] 1 1 2 2.5\ny = Resize(a, , s)\nout y", "f32[1,3,20,25]", NULL},
    {"in a f32[2,3]\nin b f32[3,4]\ny = Einsum(a, b) equation=ij,jk->ki\nout y", "f32[4,2]", NULL},
    /* reductions and the rest */
    {"in a f32[2,n,4]\nconst x i64[1] -1\ny = ReduceMean(a, x) keepdims=0\nout y", "f32[2,n]", NULL},
    {"in a f32[2,n,4]\ny = ReduceSum(a)\nout y", "f32[1,1,1]", NULL},
    {"in a f32[2,3]\nconst x i64[1] 2\ny = ReduceMax(a, x)\nout y", NULL, "axis 2"},
    {"in a f32[2,9]\nconst k i64[1] 4\ny, i = TopK(a, k)\nout i", "i64[2,4]", NULL},
    {"in a f32[3]\ny = Cast(a) to=10\nout y", "f16[3]", NULL},
    {"in a f32[4,n]\nin s f32[4]\nconst z i4[4] 0 0 0 0\ny = QuantizeLinear(a, s, z) axis=0\nout y", "i4[4,n]", NULL},
    {"in a f32[t,b,3]\nin w f32[2,16,3]\nin r f32[2,16,4]\ny, h, c = LSTM(a, w, r) direction=bidirectional\nout y",
     "f32[t,2,b,4]", NULL},
    {"in a f32[2,3]\ny = Relu(a, a)\nout y", NULL, "2 inputs"},
    {"in a f32[2,3]\ny = Concat(, a) axis=0\nout y", NULL, "left out"},
};

static void test_rules(void)
{
    for (size_t k = 0; k < ARRAY_COUNT(rows); k++) {
        struct net_model *const m = network_of(rows[k].network);
        struct net_open_options options = {.level = 0};
        struct orch_error error = {0};
        char shape[128], text[160];
        const bool ok = net_prepare(m, &options, NULL, &error);
        if (rows[k].wrong) {
            CHECK(!ok && error.exit_code == ORCH_USAGE && strstr(error.text, rows[k].wrong), "%s: %s", rows[k].network,
                  ok ? "accepted" : error.text);
        } else {
            const struct net_value *const v = &m->value[m->graph->output[0]];
            snprintf(text, sizeof text, "%s%s", net_type_name(v->type), net_shape_text(m, &v->shape, shape, sizeof shape));
            CHECK(ok && strcmp(text, rows[k].shape) == 0, "%s: %s", rows[k].network, ok ? text : error.text);
        }
        net_model_free(m);
    }
}

static void test_binding(void)
{
    struct orch_error error = {0};
    struct net_model *const m = network_of("in a f32[n,m]\ny = Transpose(a)\nout y");
    CHECK(!net_bind(m, "k=3", &error) && strstr(error.text, "no such dimension"), "%s", error.text);
    CHECK(!net_bind(m, "n=", &error) && !net_bind(m, "n=-1", &error) && !net_bind(m, "=4", &error) &&
              !net_bind(m, "n=4x", &error),
          "accepted");
    CHECK(net_bind(m, "n=4", &error) && net_infer_shapes(m, &error), "%s", error.text);
    const struct net_shape *const y = &m->value[m->graph->output[0]].shape;
    CHECK(y->dim[1] == 4 && y->dim[0] < 0, "%lld", (long long)y->dim[1]);
    net_model_free(m);
}

static void test_fixing(void)
{
    struct orch_error error = {0};
    const struct net_open_options options = {.level = 0};
    struct net_model *const m = network_of("in a f32[3]\nin n i64[]\nin s i64[1]\ny = Expand(a, s)\nz = Add(n, n)\nout y\nout z");
    CHECK(!net_fix(m, "k=3", &error) && strstr(error.text, "no such input"), "%s", error.text);
    CHECK(!net_fix(m, "a=3", &error) && strstr(error.text, "no single number"), "%s", error.text);
    CHECK(!net_fix(m, "n", &error) && !net_fix(m, "n=", &error) && !net_fix(m, "n=3x", &error), "accepted");
    CHECK(net_fix(m, "n=21", &error) && net_fix(m, "s=3", &error) && net_prepare(m, &options, NULL, &error), "%s", error.text);
    const struct net_value *const y = &m->value[m->graph->output[0]], *const z = &m->value[m->graph->output[1]];
    CHECK(y->shape.known && y->shape.dim[0] == 3 && z->constant && net_array_integer(z->constant, 0) == 42, "not folded");
    net_model_free(m);
}

static const struct suite_test tests[] = {
    {"shapes that nodes have", test_rules}, {"dimensions by name", test_binding}, {"inputs that are numbers", test_fixing}};
SUITE_MAIN("shape_rules", tests)
