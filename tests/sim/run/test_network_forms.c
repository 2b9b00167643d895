/* Forms of operators for which ONNX has no golden data in single precision, by kernels of cores, AMX blocks and the GPU, against
 * the reference, which computes them one by one in double precision. */
#include "tests/sim/run/network_form.h"

static struct chip_db *db;

static const struct form forms[] = {
    /* windows that no library has: strides, dilations and borders that differ, groups, several images, three dimensions */
    {"in x f32[2,4,10,15]\nconst w f32[6,2,3,3] random\nconst b f32[6] random\n"
     "y = Conv(x, w, b) group=2 pads=4,2,4,2 strides=2,1 dilations=3,1\nout y\n",
     -1, 1},
    {"in x f32[2,3,9,7]\nconst w f32[5,3,3,2] random\ny = Conv(x, w) strides=2,3 pads=1,0,2,1\nout y\n", -1, 1},
    {"in x f32[2,4,5,6,7]\nconst w f32[6,2,2,3,2] random\nconst b f32[6] random\n"
     "y = Conv(x, w, b) group=2 pads=0,1,1,1,1,0 strides=1,2,1\nout y\n",
     -1, 1},
    {"in x f32[2,4,5,6]\nconst w f32[4,3,3,2] random\nconst b f32[6] random\n"
     "y = ConvTranspose(x, w, b) group=2 pads=1,0,2,1 strides=2,1 dilations=3,1 output_padding=1,0\nout y\n",
     -1, 1},
    {"in x f32[1,4,3,4,2]\nconst w f32[4,3,2,3,2] random\ny = ConvTranspose(x, w) strides=2,1,3 pads=0,1,0,1,0,0\nout y\n", -1,
     1},
    {"in x f32[2,3,9,8]\ny = MaxPool(x) kernel_shape=4,2 pads=2,1,2,1 strides=2,1 dilations=1,3\nout y\n", -3, -1},
    {"in x f32[1,2,6,7,5]\ny = MaxPool(x) kernel_shape=2,3,2 strides=2,2,1 pads=1,1,0,0,1,1\nout y\n", -3, -1},
    {"in x f32[2,2,7,9]\ny = AveragePool(x) kernel_shape=4,2 pads=2,1,1,0 strides=2,3\nout y\n", -1, 1},
    {"in x f32[2,2,7,9]\ny = AveragePool(x) kernel_shape=4,2 pads=2,1,1,0 strides=2,3 count_include_pad=1 ceil_mode=1\nout y\n",
     -1, 1},
    {"in x f32[1,3,6,6]\ny = AveragePool(x) kernel_shape=3,3 pads=2,2,2,2 count_include_pad=1\nout y\n", -1, 1},
    /* norms */
    {"in x f32[2,6,2,3]\nconst s f32[6] random\nconst b f32[6] random\ny = GroupNormalization(x, s, b) num_groups=3\nout y\n", -2,
     2},
    {"in x f32[2,6,5]\nconst s f32[2] random\nconst b f32[2] random\ny = GroupNormalization(x, s, b) num_groups=2\nout y\n", -2,
     2},
    {"in x f32[2,9,5,3]\ny = LRN(x) size=5 alpha=0.05 beta=0.6 bias=1.5\nout y\n", -3, 3},
    {"in x f32[1,7,11]\ny = LRN(x) size=4 alpha=0.1\nout y\n", -3, 3},
    /* sums of functions */
    {"in x f32[3,5,4]\nconst a i64[1] 1\ny = ReduceLogSumExp(x, a) keepdims=0\nout y\n", -90, 90},
    {"in x f32[3,5,4]\nconst a i64[2] 1 2\ny = ReduceLogSumExp(x, a)\nout y\n", -90, 90},
    {"in x f32[4,30]\nconst a i64[1] 0\ny = ReduceSumSquare(x, a)\nout y\n", -2, 2},
    {"in x f32[4,30]\nconst a i64[1] -1\ny = ReduceL1(x, a) keepdims=0\nout y\n", -2, 2},
    {"in x f32[4,30]\nconst a i64[1] -1\ny = ReduceLogSum(x, a)\nout y\n", 1, 2},
    {"in x f32[3,4,2,5]\nconst a i64[2] 0 2\ny = ReduceMean(x, a)\nout y\n", -2, 2},
    {"in x f32[3,4,2,5]\nconst a i64[2] 1 3\ny = ReduceLogSumExp(x, a) keepdims=0\nout y\n", -2, 2},
    {"in x f32[3,4,5]\ny = LpNormalization(x) axis=1\nout y\n", -2, 2},
    {"in x f32[3,4,5]\ny = LpNormalization(x) p=1\nout y\n", -2, 2},
    {"in x f32[3,4,5,2]\ny = MeanVarianceNormalization(x)\nout y\n", -2, 2},
    {"in x f32[3,4,5]\ny = MeanVarianceNormalization(x) axes=0,2\nout y\n", -2, 2},
    /* functions */
    {"in x f32[7,5]\ny = Sinh(x)\nout y\n", -4, 4},
    /* transforms */
    {"in x f32[2,12,3,2]\nconst n i64[1] 9\nconst a i64[1] 1\ny = DFT(x, n, a)\nout y\n", -2, 2},
    {"in x f32[2,3,7,1]\ny = DFT(x) onesided=1\nout y\n", -2, 2},
    {"in x f32[2,3,5,2]\ny = DFT(x) inverse=1 onesided=1\nout y\n", -2, 2},
    {"in x f32[2,30,1]\nconst s i64[1] 4\nconst w f32[8] random\ny = STFT(x, s, w)\nout y\n", -2, 2},
    {"in x f32[2,3,6,5]\nconst g f32[2,4,3,2] random\ny = GridSample(x, g)\nout y\n", -2, 2},
    {"in x f32[2,3,6,5]\nconst g f32[2,4,3,2] random\ny = GridSample(x, g) padding_mode=border align_corners=1\nout y\n", -2, 2},
    {"in x f32[7,5]\ny = Cosh(x)\nout y\n", -4, 4},
    {"in x f32[7,5]\ny = Tan(x)\nout y\n", -1.3, 1.3},
    {"in x f32[7,5]\ny = Asinh(x)\nout y\n", -9, 9},
    {"in x f32[7,5]\ny = Acosh(x)\nout y\n", 1, 9},
    {"in x f32[7,5]\ny = Atanh(x)\nout y\n", -0.9, 0.9},
    {"in x f32[7,5]\nconst p i64[1] 4\ny = Pow(x, p)\nout y\n", -2, 2},
    {"in x f32[7,5]\nconst p f32[1] 3\ny = Pow(x, p)\nout y\n", -2, 2},
    {"in x f32[7,5]\nconst p f32[1] 5\ny = Pow(x, p)\nout y\n", -2, 2},
    {"in x f32[7,5]\nconst p f32[1] -0.75\ny = Pow(x, p)\nout y\n", 0.5, 4},
    {"in x f32[7,5]\ny = Selu(x)\nout y\n", -4, 4},
    {"in x f32[7,5]\ny = Selu(x) alpha=1.5 gamma=0.5\nout y\n", -4, 4},
    {"in x f32[7,5]\ny = Celu(x) alpha=2.0\nout y\n", -4, 4},
    {"in x f32[4,3]\nconst a f32[4,3] random\nconst b f32[3] random\ny = Mean(b, x, a)\nout y\n", -1, 1},
    {"in x f32[4,3]\nconst a f32[4,3] random\nconst b f32[3] random\ny = Max(b, x, a)\nout y\n", -1, 2},
    {"in x f32[4,3]\nconst a f32[3,5] random\nconst c f32[5] random\ny = Gemm(x, a, c) alpha=0.5 beta=2.5\nout y\n", -1, 1},
    /* sequences */
    {"in x f32[5,2,3]\nconst w f32[1,4,3] random\nconst r f32[1,4,4] random\nconst b f32[1,8] random\n"
     "y, h = RNN(x, w, r, b) hidden_size=4\nout y\nout h\n",
     -1, 1},
    {"in x f32[4,2,3]\nconst w f32[1,4,3] random\nconst r f32[1,4,4] random\ny = RNN(x, w, r) hidden_size=4 direction=reverse\n"
     "out y\n",
     -1, 1},
};

static void test_forms(void)
{
    forms_check(db, forms, ARRAY_COUNT(forms));
}

static const struct suite_test tests[] = {{"as the reference", test_forms}};

int main(void)
{
    return example_chips_run("network_forms", tests, ARRAY_COUNT(tests), &db);
}
