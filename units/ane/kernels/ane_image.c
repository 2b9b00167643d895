#include "units/ane/kernels/ane_image.h"

static void name_image(struct ane_builder *b, const char *name, enum ane_tensor_role role, const struct ane_view *view,
                       uint32_t n)
{
    struct ane_kernel_tensor *t = ane_build_tensor(b, name, role, view, -1, 1);
    ane_tensor_axis(t, n, ane_view_bytes(view));
    ane_tensor_axis(t, view->channels, view->plane);
    ane_tensor_axis(t, view->height, view->row);
    ane_tensor_axis(t, view->width, ANE_HALF_BYTES);
}

struct ane_view ane_image_input(struct ane_builder *b, const char *name, uint32_t n, uint32_t c, uint32_t h, uint32_t w)
{
    const struct ane_view view = ane_build_input(b, name, n, c, h, w);
    name_image(b, name, ANE_TENSOR_INPUT, &view, n);
    return view;
}

struct ane_view ane_image_output(struct ane_builder *b, const char *name, uint32_t n, uint32_t c, uint32_t h, uint32_t w)
{
    const struct ane_view view = ane_build_output(b, name, n, c, h, w);
    name_image(b, name, ANE_TENSOR_OUTPUT, &view, n);
    return view;
}

void ane_image_weights(struct ane_builder *b, const uint32_t shape[4], uint32_t bias, double range)
{
    struct ane_kernel_tensor *t = ane_build_tensor(b, "weights", ANE_TENSOR_CONSTANT, NULL, -range, range);
    for (unsigned i = 0; i < 4; i++)
        ane_tensor_axis(t, shape[i], 0);
    if (bias)
        ane_tensor_axis(ane_build_tensor(b, "bias", ANE_TENSOR_CONSTANT, NULL, -1, 1), bias, 0);
}
