/* Images: any bytes are an image or one line that says why not. Inputs of neither kind stand behind the marks of a JPEG file. */
#include "sim/network/image/image.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_image(const uint8_t *data, size_t size)
{
    struct orch_error error = {0};
    struct image image;
    if (!image_decode(data, size, &image, &error)) {
        if (image.rgb || !error.text[0] || strchr(error.text, '\n') ||
            (error.exit_code != ORCH_USAGE && error.exit_code != ORCH_INTERNAL))
            __builtin_trap();
        return;
    }
    const int64_t shape[4] = {1, 3, 5, 7};
    struct net_value input = {.name = (char[]){"in"}, .type = NET_F32, .shape = {.known = true, .dims = 4}};
    struct net_model *const model = net_model_new("fuzz");
    memcpy(input.shape.dim, shape, sizeof shape);
    if (model && image.width <= 512 && image.height <= 512)
        net_array_release(image_input(model, &input, &image, &(struct image_scale){{0, 0, 0}, {1, 1, 1}}, &error));
    net_model_free(model);
    image_free(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t head[4] = {0xFF, 0xD8, 0xFF, 0xDB};
    if (size && (data[0] == 0xFF || data[0] == 0x89)) {
        try_image(data, size);
        return 0;
    }
    uint8_t *const file = malloc(size + sizeof head);
    if (!file)
        return 0;
    memcpy(file, head, sizeof head);
    if (size)
        memcpy(file + sizeof head, data, size);
    try_image(file, size + sizeof head);
    free(file);
    return 0;
}
