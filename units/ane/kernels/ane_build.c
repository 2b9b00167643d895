#include "isa/rounding.h"
#include "units/ane/kernels/ane_build.h"
#include "isa/array_count.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 0x4000 /* buffers are whole pages: eiln/anecc */, RING_BYTES = 0x200 };

/* ---- errors ---- */

static void fail_with(struct ane_builder *b, unsigned long offset, const char *format, va_list args)
{
    if (b->failed)
        return;
    b->failed = true;
    *b->error = (struct isa_error){.offset = offset};
    vsnprintf(b->error->text, sizeof b->error->text, format, args);
}

void ane_build_fail(struct ane_builder *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_with(b, 0, format, args);
    va_end(args);
}

void ane_build_limit(struct ane_builder *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_with(b, 1, format, args);
    va_end(args);
}

const char *ane_build_generation(const struct ane_builder *b)
{
    switch (b->request->limits.generation) {
    case ANE_H13: return "H13";
    case ANE_H14: return "H14";
    case ANE_H15: return "H15";
    default: return "H16";
    }
}

/* ---- begin, end ---- */

void ane_build_begin(struct ane_builder *b, const struct ane_kernel_request *request, struct ane_kernel *kernel, unsigned outputs,
                     struct isa_error *error)
{
    memset(b, 0, sizeof *b);
    b->request = request;
    b->kernel = kernel;
    b->error = error;
    b->outputs = outputs;
    b->port[0] = (struct ane_port){.kind = ANE_PORT_COMMAND, .name = "command"};
    b->port[ANE_BAR_COEFFICIENTS] = (struct ane_port){.kind = ANE_PORT_COEFFICIENTS, .name = "coefficients"};
}

static void finish_ports(struct ane_builder *b)
{
    b->port[ANE_BAR_COEFFICIENTS].bytes = b->pack.used;
    if (b->scratch_bytes)
        b->port[ANE_BAR_SCRATCH] =
            (struct ane_port){.kind = ANE_PORT_SCRATCH, .name = "scratch", .bytes = b->scratch_bytes, .format = ANE_F16};
}

bool ane_build_end(struct ane_builder *b)
{
    if (!b->failed) {
        struct ane_program_parts parts = {
            .container = ANE_CONTAINER_HWX,
            .generation = b->request->limits.generation,
            .task = b->task,
            .count = b->count,
            .coefficients = b->pack.bytes,
            .coefficient_bytes = b->pack.used,
        };
        finish_ports(b);
        memcpy(parts.port, b->port, sizeof parts.port);
        b->failed = !ane_program_make(&parts, &b->kernel->program, b->error);
    }
    free(b->task);
    free(b->pack.bytes);
    b->task = NULL;
    b->pack = (struct ane_pack){0};
    return !b->failed;
}

/* ---- places ---- */

static void check_shape(struct ane_builder *b, uint32_t height, uint32_t width)
{
    const struct ane_limits *limits = &b->request->limits;
    if (height > limits->dimension_max || width > limits->dimension_max)
        ane_build_limit(b, "an image of %ux%u: %s has at most %u a side", (unsigned)height, (unsigned)width,
                        ane_build_generation(b), (unsigned)limits->dimension_max);
}

/* Places a view in a buffer of its own and adds to *bytes. The base addresses and strides of the DMA have 32 bits. */
static struct ane_view place_in_buffer(struct ane_builder *b, uint8_t bar, uint64_t *bytes, uint64_t images, uint32_t channels,
                                       uint32_t height, uint32_t width)
{
    struct ane_view view = {.place = ANE_PLACE_DRAM, .bar = bar, .channels = channels, .height = height, .width = width};
    check_shape(b, height, width);
    const uint64_t row = round_up((uint64_t)width * ANE_HALF_BYTES, ANE_ROW_BYTES), plane = row * height;
    const uint64_t all = plane * channels > UINT32_MAX ? UINT64_MAX : plane * channels * images;
    if (!b->failed && (images > UINT32_MAX || all > UINT32_MAX || *bytes + all > UINT32_MAX))
        ane_build_limit(b, "a buffer beyond 4 GiB: the DMA's base addresses end there");
    if (b->failed)
        return view;
    view.base = (uint32_t)*bytes;
    view.row = (uint32_t)row;
    view.plane = (uint32_t)plane;
    *bytes += all;
    return view;
}

static struct ane_view add_port(struct ane_builder *b, enum ane_port_kind kind, unsigned bar, const char *name, uint64_t images,
                                uint32_t channels, uint32_t height, uint32_t width)
{
    uint64_t bytes = 0;
    if (bar >= ANE_BARS)
        ane_build_limit(b, "more than %u buffers", ANE_BARS);
    const struct ane_view view = place_in_buffer(b, (uint8_t)bar, &bytes, images, channels, height, width);
    if (b->failed)
        return view;
    struct ane_port *port = &b->port[bar];
    *port = (struct ane_port){.kind = kind,
                              .bytes = round_up(bytes, BUFFER_BYTES),
                              .format = ANE_F16,
                              .channels = channels,
                              .height = height,
                              .width = width,
                              .row = view.row,
                              .plane = view.plane};
    snprintf(port->name, sizeof port->name, "%s", name);
    return view;
}

struct ane_view ane_build_input(struct ane_builder *b, const char *name, uint64_t images, uint32_t channels, uint32_t height,
                                uint32_t width)
{
    return add_port(b, ANE_PORT_INPUT, ANE_BAR_OUTPUT + b->outputs + b->inputs_added++, name, images, channels, height, width);
}

struct ane_view ane_build_output(struct ane_builder *b, const char *name, uint64_t images, uint32_t channels, uint32_t height,
                                 uint32_t width)
{
    return add_port(b, ANE_PORT_OUTPUT, ANE_BAR_OUTPUT + b->outputs_added++, name, images, channels, height, width);
}

struct ane_view ane_build_scratch(struct ane_builder *b, uint32_t channels, uint32_t height, uint32_t width)
{
    return place_in_buffer(b, ANE_BAR_SCRATCH, &b->scratch_bytes, 1, channels, height, width);
}

/* ---- tile memory: residents from its start, tiles and rings in the rest ---- */

static uint32_t end_of(const struct ane_resident *r)
{
    return r->base + r->bytes;
}

/* The start of the free piece before resident `index`; index == residents: the last piece. */
static uint32_t piece_from(const struct ane_builder *b, unsigned index)
{
    return index ? end_of(&b->resident[index - 1]) : 0;
}

static uint32_t piece_bytes(const struct ane_builder *b, unsigned index)
{
    const uint32_t to = index < b->residents ? b->resident[index].base : b->request->limits.l2_bytes;
    return to - piece_from(b, index);
}

/* The largest free piece. */
static unsigned largest_piece(const struct ane_builder *b)
{
    unsigned largest = 0;
    for (unsigned i = 1; i <= b->residents; i++)
        if (piece_bytes(b, i) >= piece_bytes(b, largest))
            largest = i;
    return largest;
}

uint32_t ane_build_room(const struct ane_builder *b)
{
    return piece_bytes(b, largest_piece(b));
}

uint32_t ane_build_mark(const struct ane_builder *b)
{
    return piece_from(b, b->residents);
}

void ane_build_release(struct ane_builder *b, uint32_t mark)
{
    while (b->residents && b->resident[b->residents - 1].base >= mark)
        b->residents--;
}

void ane_build_free(struct ane_builder *b, const struct ane_view *view)
{
    for (unsigned i = 0; view->place == ANE_PLACE_L2 && i < b->residents; i++)
        if (b->resident[i].base == view->base) {
            memmove(&b->resident[i], &b->resident[i + 1], (--b->residents - i) * sizeof b->resident[0]);
            return;
        }
}

/* The lowest piece that is large enough. */
static bool place_in_l2(struct ane_builder *b, struct ane_view *view, uint32_t row, uint64_t beside)
{
    const uint64_t plane = (uint64_t)row * view->height, bytes = plane * view->channels;
    uint64_t taken = bytes;
    for (unsigned i = 0; i < b->residents; i++)
        taken += b->resident[i].bytes;
    if (plane > UINT32_MAX || taken + beside > b->request->limits.l2_bytes || b->residents == ARRAY_COUNT(b->resident))
        return false;
    unsigned at = 0;
    while (at <= b->residents && piece_bytes(b, at) < bytes)
        at++;
    if (at > b->residents)
        return false;
    view->place = ANE_PLACE_L2;
    view->row = row;
    view->plane = (uint32_t)plane;
    view->base = piece_from(b, at);
    memmove(&b->resident[at + 1], &b->resident[at], (b->residents++ - at) * sizeof b->resident[0]);
    b->resident[at] = (struct ane_resident){view->base, (uint32_t)bytes};
    return true;
}

struct ane_view ane_build_between_beside(struct ane_builder *b, uint64_t beside, uint32_t channels, uint32_t height,
                                         uint32_t width)
{
    struct ane_view view = {.channels = channels, .height = height, .width = width};
    check_shape(b, height, width);
    if (b->failed || place_in_l2(b, &view, (uint32_t)round_up((uint64_t)width * ANE_HALF_BYTES, ANE_L2_BYTES), beside))
        return view;
    return ane_build_scratch(b, channels, height, width);
}

struct ane_view ane_build_between(struct ane_builder *b, uint32_t channels, uint32_t height, uint32_t width)
{
    return ane_build_between_beside(b, b->request->limits.l2_bytes / 2, channels, height, width);
}

/* Rings lie at the end of the largest piece that residents leave, with 16 rows each, as in the public programs. */
struct ane_view ane_build_ring(struct ane_builder *b, uint32_t channels, uint32_t height, uint32_t width)
{
    struct ane_view view = {.place = ANE_PLACE_CHAIN, .channels = channels, .height = height, .width = width};
    check_shape(b, height, width);
    view.row = 2 * ANE_L2_BYTES;
    view.plane = 2 * ANE_L2_BYTES;
    const unsigned piece = largest_piece(b);
    if (piece_bytes(b, piece) < 2 * RING_BYTES)
        ane_build_limit(b, "no tile memory is left for a ring");
    view.base = piece_from(b, piece) + piece_bytes(b, piece) - (1 + b->rings++ % 2) * RING_BYTES;
    return view;
}

struct ane_view ane_build_column_beside(struct ane_builder *b, uint64_t beside, uint32_t rows)
{
    struct ane_view view = {.channels = 1, .height = rows, .width = 1, .broadcast_width = true};
    if (!b->failed && !place_in_l2(b, &view, ANE_L2_BYTES, beside))
        ane_build_limit(b, "%u row results do not fit the tile memory", (unsigned)rows);
    return view;
}

struct ane_view ane_build_column(struct ane_builder *b, uint32_t rows)
{
    return ane_build_column_beside(b, b->request->limits.l2_bytes / 2, rows);
}

/* ---- views ---- */

uint64_t ane_view_bytes(const struct ane_view *view)
{
    return (uint64_t)view->channels * view->plane;
}

struct ane_view ane_view_image(struct ane_view view, uint64_t index)
{
    view.base += (uint32_t)(index * ane_view_bytes(&view));
    return view;
}

struct ane_view ane_view_channels(struct ane_view view, uint32_t first, uint32_t count)
{
    view.base += first * view.plane;
    view.channels = count;
    return view;
}

struct ane_view ane_view_rows(struct ane_view view, uint32_t first, uint32_t count)
{
    view.base += first * view.row;
    view.height = count;
    return view;
}

/* ---- tensors of the user ---- */

struct ane_kernel_tensor *ane_build_tensor(struct ane_builder *b, const char *name, enum ane_tensor_role role,
                                           const struct ane_view *view, double low, double high)
{
    struct ane_kernel *kernel = b->kernel;
    const unsigned index = kernel->tensors < ANE_KERNEL_TENSORS ? kernel->tensors++ : ANE_KERNEL_TENSORS - 1;
    struct ane_kernel_tensor *tensor = &kernel->tensor[index];
    *tensor = (struct ane_kernel_tensor){.role = role, .low = low, .high = high};
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    if (view) {
        tensor->bar = view->bar;
        tensor->offset = view->base;
    }
    return tensor;
}

void ane_tensor_axis(struct ane_kernel_tensor *tensor, uint64_t extent, uint64_t stride)
{
    if (tensor->rank == ARRAY_COUNT(tensor->shape))
        return;
    tensor->shape[tensor->rank] = (uint32_t)extent;
    tensor->stride[tensor->rank++] = (uint32_t)stride;
}
