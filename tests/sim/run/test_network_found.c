/* Functions, powers, places and losses of which ONNX has few cases, by kernels of cores, AMX blocks and the GPU, against the
 * reference in double precision. */
#include "tests/sim/run/network_form.h"

static struct chip_db *db;

static const struct form forms[] = {
    {"in x f32[7,9]\ny = Asin(x)\nout y\n", -1, 1},
    {"in x f32[7,9]\ny = Acos(x)\nout y\n", -1, 1},
    {"in x f32[7,9]\ny = Atan(x)\nout y\n", -30, 30},
    {"in x f32[7,9]\ny = Atan(x)\nout y\n", -0.01, 0.01},
    {"in x f32[7,8]\nconst p f32[8] -3 -2 -1 0 1 2 3 4\ny = Pow(x, p)\nout y\n", -2, -0.5},
    {"in x f32[7,8]\nconst p f32[7,1] -1.5 -0.5 0 0.25 1 1.75 2.5\ny = Pow(x, p)\nout y\n", 0.5, 3},
    {"in x f32[3,4]\nconst p i64[4] 0 1 9 12\ny = Pow(x, p)\nout y\n", -1.5, 1.5},
    {"in x f32[3,4]\ni = Cast(x) to=7\nconst p i32[4] 0 1 3 62\nz = Pow(i, p)\nout z\n", -3, 3},
    {"in x f32[7,5]\ny = Shrink(x) lambd=0.75 bias=0.25\nout y\n", -2, 2},
    {"in x f32[3,4,5]\ny = Hardmax(x) axis=1\nout y\n", -2, 2},
    {"in x f32[4,5]\ny = EyeLike(x) k=-1\nz = Mul(x, y)\nout z\n", -2, 2},
    /* places */
    {"in x f32[2,2,7,9]\ny, i = MaxPool(x) kernel_shape=3,2 pads=1,0,1,1 strides=2,2\nout y\nout i\n", -3, 3},
    {"in x f32[1,2,6,5]\ny, i = MaxPool(x) kernel_shape=2,2 dilations=2,1 storage_order=1\nout y\nout i\n", -3, 3},
    {"in x f32[4,3]\nconst i i64[2,3] 0 3 -1 0 1 -1\nconst u f32[2,3] random\ny = ScatterElements(x, i, u) reduction=add\nout "
     "y\n",
     -2, 2},
    {"in x f32[4,3]\nconst i i64[3,1] 2 -2 0\nconst u f32[3,3] random\ny = ScatterND(x, i, u) reduction=mul\nout y\n", -2, 2},
    {"in x f32[4,3]\nconst i i64[3,2] 2 1 -2 1 0 0\nconst u f32[3] random\ny = ScatterND(x, i, u) reduction=max\nout y\n", -2, 2},
    {"in x f32[3,2,5]\nr = Relu(x)\ny = NonZero(r)\nout y\n", -2, 2},
    {"in x f32[2,12,4]\nconst s f32[2,3,12] random\nconst k i64[1] 4\nconst t f32[1] 0.3\nconst m f32[1] -0.5\n"
     "y = NonMaxSuppression(x, s, k, t, m)\nout y\n",
     0, 1},
    {"in x f32[1,30,4]\nconst s f32[1,1,30] random\nconst k i64[1] 30\nconst t f32[1] 0.2\n"
     "y = NonMaxSuppression(x, s, k, t) center_point_box=1\nout y\n",
     0, 1},
    /* losses */
    {"in x f32[3,5,2]\nconst t i64[3,2] 0 4 2 2 3 1\nconst w f32[5] 1 0.5 0.25 2 3\n"
     "y, l = SoftmaxCrossEntropyLoss(x, t, w) ignore_index=2\nout y\nout l\n",
     -3, 3},
    {"in x f32[3,5]\nconst t i64[3] 0 4 2\ny = NegativeLogLikelihoodLoss(x, t) reduction=none\nout y\n", -3, 3},
};

static void test_forms(void)
{
    forms_check(db, forms, ARRAY_COUNT(forms));
}

static const struct suite_test tests[] = {{"as the reference", test_forms}};

int main(void)
{
    return example_chips_run("network_found", tests, ARRAY_COUNT(tests), &db);
}
