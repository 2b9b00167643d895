/* Plans for convolutions and stacks of them. */
#include "sim/prove/validate/plan_ane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* sbryngelson/ANEForge, bench/device_compare_wattcomplete.py: the single convolution has 16 channels in, the first layer of the
 * stack has 64, and each layer of it ends with a relu. */
static bool add_stack_of_comparison(struct ane_row *a, unsigned layers, unsigned c, unsigned h, unsigned w)
{
    enum { FIRST = 64 };
    plan_ane_harness(a, 2.0 * FIRST * h * w, 2.0 * c * h * w);
    return plan_ane_launch(a, 1, "conv2d:c=%d,h=%u,w=%u,k=%u,pad=1,act=relu", FIRST, h, w, c) &&
           plan_ane_launch(a, 1, "conv-stack:layers=%u,c=%u,h=%u,w=%u,act=relu", layers - 1, c, h, w) &&
           plan_ane_unit(a, 2.0 * 9 * c * h * w * (FIRST + (layers - 1.0) * c));
}

static unsigned channels_in(const struct ane_row *a, unsigned c)
{
    enum { OF_COMPARISON = 16 };
    return plan_ane_compares(a) && strcmp(a->row->what, "conv3x3 C64 32x32") == 0 ? OF_COMPARISON : c;
}

/* "conv3x3 C64->64 16x16", "conv3x3 C128 64x64 batch 8", "conv3x3 C256 32x32 depth 16" */
bool plan_ane_conv(struct ane_row *a)
{
    unsigned r, s, c, k, h, w, batch = 1, layers = 1;
    const char *what = a->row->what, *at;
    if (sscanf(what, "conv%ux%u C%u->%u %ux%u", &r, &s, &c, &k, &h, &w) != 6) {
        if (sscanf(what, "conv%ux%u C%u %ux%u", &r, &s, &c, &h, &w) != 5)
            return validate_refuse(a->row, "the size is not read");
        k = c;
        c = channels_in(a, k);
    }
    if ((at = strstr(what, "batch ")))
        batch = (unsigned)strtoul(at + 6, NULL, 10);
    if ((at = strstr(what, "depth ")))
        layers = (unsigned)strtoul(at + 6, NULL, 10);
    if (layers > 1 && plan_ane_compares(a))
        return add_stack_of_comparison(a, layers, c, h, w);
    plan_ane_harness(a, 2.0 * batch * h * w * c, 2.0 * batch * h * w * k);
    const bool ok =
        layers > 1 ? plan_ane_launch(a, batch, "conv-stack:layers=%u,c=%u,h=%u,w=%u,r=%u,s=%u", layers, c, h, w, r, s)
                   : plan_ane_launch(a, 1, "conv2d:n=%u,c=%u,h=%u,w=%u,k=%u,r=%u,s=%u,pad=%u", batch, c, h, w, k, r, s, r / 2);
    return ok && plan_ane_unit(a, 2.0 * batch * layers * c * k * r * s * h * w);
}

static bool add_stack(struct ane_row *a, unsigned layers, unsigned c, unsigned h, unsigned w)
{
    return plan_ane_launch(a, 1, "conv-stack:layers=%u,c=%u,h=%u,w=%u,r=1,s=1", layers, c, h, w) &&
           plan_ane_unit(a, 2.0 * layers * c * c * h * w);
}

/* "128 x conv 512ch 64x64"; with int8 the activations are int8, too. */
bool plan_ane_counted_stack(struct ane_row *a)
{
    unsigned layers, c, h, w;
    if (strcmp(a->precision, "i8") == 0)
        return validate_refuse(a->row, "int8 activations: programs are built with f16 activations");
    if (sscanf(a->row->what, "%u x conv %uch %ux%u", &layers, &c, &h, &w) != 4)
        return validate_refuse(a->row, "the size is not read");
    return add_stack(a, layers, c, h, w);
}

/* maderix/ANE inmem_peak: 1 x 1 convolutions on 1 x sp images. Its report of all machines is of 128 layers (ANE_BENCHMARK_REPORT,
 * "inmem_peak, 128x conv 512ch sp64" and "Peak: 16.77 TFLOPS ... at 128x conv 512ch sp2048"). */
bool plan_ane_peak_stack(struct ane_row *a)
{
    enum { LAYERS = 128, CHANNELS = 512, PIXELS = 64, SUSTAINED_LAYERS = 32 };
    unsigned layers = LAYERS, c = CHANNELS, w = PIXELS;
    const char *const what = a->row->what;
    if (sscanf(what, "inmem_peak %u layers %uch sp%u", &layers, &c, &w) != 3 &&
        sscanf(what, "inmem_peak %uch sp%u %u layers", &c, &w, &layers) != 3) {
        sscanf(what, "conv1x1 %uch sp%u", &c, &w);
        if (strstr(what, "sustained")) {
            plan_ane_guess(a, "layers not given: 32");
            layers = SUSTAINED_LAYERS;
        }
    }
    plan_ane_caller(a, layers, 2.0 * c * c + 4.0 * c * w);
    plan_ane_note(a, "every layer reads the same weights: the blobs of this benchmark all give 0 as the place of their data");
    return plan_ane_launch(a, 1, "conv-stack:layers=%u,c=%u,h=1,w=%u,r=1,s=1,same=1", layers, c, w) &&
           plan_ane_unit(a, 2.0 * layers * c * c * w);
}

/* "single conv1x1 1024ch sp64"; "conv 64ch sp32" in the condition of an execution path. */
bool plan_ane_single(struct ane_row *a)
{
    unsigned c, w;
    const char *const text = strstr(a->row->what, "single conv") ? a->row->what : plan_ane_cell(a, "condition");
    const char *const at = strstr(text, "conv");
    if (!at || (sscanf(at, "conv1x1 %uch sp%u", &c, &w) != 2 && sscanf(at, "conv %uch sp%u", &c, &w) != 2))
        return validate_refuse(a->row, "the size is not read");
    if (strstr(a->row->what, "execution path") && !strstr(a->row->what, "standard"))
        return validate_refuse(a->row, "another way to submit than the standard one: its cost is not known apart");
    plan_ane_caller(a, 1, 2.0 * c * c + 4.0 * c * w);
    return add_stack(a, 1, c, 1, w);
}

/* Layers whose time is stated apart from the request: the time of 32 layers less that of 16. */
bool plan_ane_layer(struct ane_row *a)
{
    enum { FEW = 16, SIDE = 32 };
    unsigned c = 0;
    const char *const at = strstr(a->row->what, "Cout ");
    if (!at || (c = (unsigned)strtoul(at + 5, NULL, 10)) == 0)
        return validate_refuse(a->row, "the size is not read");
    if (!plan_ane_launch(a, 1, "conv-stack:layers=%d,c=%u,h=%d,w=%d,r=1,s=1", 2 * FEW, c, SIDE, SIDE) ||
        !plan_ane_launch(a, -1, "conv-stack:layers=%d,c=%u,h=%d,w=%d,r=1,s=1", FEW, c, SIDE, SIDE) || !plan_ane_unit(a, 0))
        return false;
    a->program->slope = true;
    a->program->work *= FEW;
    plan_ane_note(a, "as many input as output channels; 32 layers less 16");
    return true;
}

/* sbryngelson/ane-guide, chapters 9 and 33: chains of 96 products with 128 channels and 1 MB or 2 MB of activations. */
bool plan_ane_slope(struct ane_row *a)
{
    enum { C = 128, SIDE = 64, FEW = 48, ALL = 96 };
    if (!plan_ane_launch(a, 1, "conv-stack:layers=%d,c=%d,h=%d,w=%d,r=1,s=1", ALL, C, SIDE, SIDE) ||
        !plan_ane_launch(a, -1, "conv-stack:layers=%d,c=%d,h=%d,w=%d,r=1,s=1", FEW, C, SIDE, SIDE))
        return false;
    a->program->slope = true;
    plan_ane_note(a, "chain of 96 products, 128 channels, 4096 rows (1 MB): the second half of it");
    return plan_ane_unit(a, 2.0 * FEW * C * C * SIDE * SIDE);
}

bool plan_ane_above_l2(struct ane_row *a)
{
    enum { C = 128, HEIGHT = 64, WIDTH = 128, LAYERS = 96 };
    plan_ane_note(a, "chain of 96 products, 128 channels, 8192 rows (2 MB)");
    return add_stack(a, LAYERS, C, HEIGHT, WIDTH);
}

/* "chain of 8 x 1024^2 matmul" with 1024 rows. */
bool plan_ane_chain(struct ane_row *a)
{
    unsigned layers, n;
    if (sscanf(a->row->what, "chain of %u x %u^2 matmul", &layers, &n) != 2 || n % 32)
        return validate_refuse(a->row, "the size is not read");
    return add_stack(a, layers, n, 32, n / 32);
}

/* The time is that of the request, so the layers are the smallest that keep all engines in use. */
bool plan_ane_fused_layers(struct ane_row *a)
{
    unsigned layers;
    if (sscanf(a->row->what, "%u fused conv+relu layers", &layers) != 1)
        return validate_refuse(a->row, "the size is not read");
    plan_ane_guess(a, "size not given: 16 channels, 8 x 8 pixels");
    if (!plan_ane_launch(a, 1, "conv-stack:layers=%u,c=16,h=8,w=8,act=relu", layers) || !plan_ane_unit(a, 0))
        return false;
    a->program->work *= layers;
    return true;
}
