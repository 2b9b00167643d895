/* GridSample: places are computed and made into numbers of pixels, by which rows of all channels are gathered and mixed. */
#include "sim/run/lower/lower_conv.h"
#include "sim/run/lower/lowering.h"

#include <string.h>

enum { CORNERS = 4, PIXELS_MOST = 1 << 24 }; /* pixels: float32 counts as far */

struct sample {
    int64_t images, channels, size[2], places, all; /* size: with a border; places: of one image, and of all images */
    bool corners, zeros, nearest;
};

static bool read_sample(struct lowering *l, struct sample *s)
{
    const struct net_array *const x = l->in[0], *const grid = l->node->inputs > 1 ? l->in[1] : NULL;
    const char *const mode = net_attr_text(l->node, "mode", "linear"), *const padding =
                                                                           net_attr_text(l->node, "padding_mode", "zeros");
    if (!grid || x->dims != 4 || grid->dims != 4 || grid->shape[3] != 2 || grid->shape[0] != x->shape[0] || mode[0] == 'c' ||
        padding[0] == 'r')
        return lowering_leave(l, "volumes, cubic samples, or a border that reflects");
    *s = (struct sample){.images = x->shape[0],
                         .channels = x->shape[1],
                         .places = grid->shape[1] * grid->shape[2],
                         .corners = net_attr_int(l->node, "align_corners", 0) != 0,
                         .zeros = padding[0] == 'z',
                         .nearest = mode[0] == 'n'};
    s->all = s->images * s->places;
    for (unsigned d = 0; d < 2; d++)
        s->size[d] = x->shape[2 + d] + (s->zeros ? 2 : 0);
    return s->images * s->size[0] * s->size[1] <= PIXELS_MOST || lowering_leave(l, "more than 2^24 pixels");
}

static float *add_function(struct lowering *l, const char *op, const float *from, int64_t count)
{
    float *const to = lowering_scratch(l, count);
    lowering_read(lowering_step(l, to, count, "elementwise:%lld,op=%s", (long long)count, op), from, count);
    return to;
}

/* Where along an axis: pixels, with a border of zeros one later, and no further than that. The nearest is found before, since
 * halves go to even pixels. */
static float *add_places(struct lowering *l, const struct sample *s, unsigned axis, const float *from)
{
    const float border = s->zeros ? 1 : 0, length = (float)s->size[axis] - 2 * border;
    const float numbers[] = {(s->corners ? length - 1 : length) / 2, (length - 1) / 2};
    const float ends[] = {border, 0, (float)(s->size[axis] - 1)};
    float *const to = lowering_scratch(l, s->all);
    if (!to || !lowering_add_chain(l, "mul+add", numbers, 2, from, to, s->all))
        return NULL;
    float *const at = s->nearest ? add_function(l, "round", to, s->all) : to;
    return at && lowering_add_chain(l, "add+max+min", ends, 3, at, at, s->all) ? at : NULL;
}

/* The number of the first pixel of a row among those of all images. */
static float *add_rows(struct lowering *l, const struct sample *s, const float *row)
{
    const float wide = (float)s->size[1];
    float *const to = lowering_scratch(l, s->all), *const first = s->images > 1 ? lowering_scratch(l, s->all) : NULL;
    if (!to || !lowering_add_chain(l, "mul", &wide, 1, row, to, s->all))
        return NULL;
    for (int64_t k = 0; first && k < s->all; k++)
        first[k] = (float)(k / s->places * s->size[0] * s->size[1]);
    return !first || lowering_add_pair(l, "add", to, first, s->all, to) ? to : NULL;
}

/* The next pixel along an axis, if there is one. */
static float *add_next(struct lowering *l, const struct sample *s, unsigned axis, const float *at)
{
    const float numbers[] = {1, (float)(s->size[axis] - 1)};
    float *const to = lowering_scratch(l, s->all);
    return to && lowering_add_chain(l, "add+min", numbers, 2, at, to, s->all) ? to : NULL;
}

/* Numbers of pixels: of the nearest, or of four around each place, and with which share each is mixed. */
static bool add_pixels(struct lowering *l, const struct sample *s, const float *grid, float *pixel, float *share)
{
    const float *const y = add_places(l, s, 0, grid + s->all), *const x = add_places(l, s, 1, grid);
    if (!x || !y)
        return false;
    const float *const r = s->nearest ? y : add_function(l, "floor", y, s->all);
    const float *const c = s->nearest ? x : add_function(l, "floor", x, s->all);
    const float *const row[2] = {add_rows(l, s, r), s->nearest ? r : add_rows(l, s, add_next(l, s, 0, r))};
    const float *const column[2] = {c, s->nearest ? c : add_next(l, s, 1, c)};
    if (!row[0] || !row[1] || !column[1])
        return false;
    if (s->nearest)
        return lowering_add_pair(l, "add", row[0], c, s->all, pixel);
    static const float turned[] = {-1, 1};
    float *v[2] = {lowering_scratch(l, s->all), lowering_scratch(l, s->all)};
    float *u[2] = {lowering_scratch(l, s->all), lowering_scratch(l, s->all)};
    if (!u[1] || !lowering_add_pair(l, "sub", y, r, s->all, v[1]) || !lowering_add_pair(l, "sub", x, c, s->all, u[1]) ||
        !lowering_add_chain(l, "mul+add", turned, 2, v[1], v[0], s->all) ||
        !lowering_add_chain(l, "mul+add", turned, 2, u[1], u[0], s->all))
        return false;
    for (unsigned k = 0; k < CORNERS; k++)
        if (!lowering_add_pair(l, "add", row[k / 2], column[k % 2], s->all, pixel + k * s->all) ||
            !lowering_add_pair(l, "mul", v[k / 2], u[k % 2], s->all, share + k * s->all))
            return false;
    return true;
}

/* The image as rows of all channels, with a border of zeros where places may lie outside. */
static const float *add_table(struct lowering *l, const struct sample *s)
{
    struct net_window w = {.in = {1, l->in[0]->shape[2], l->in[0]->shape[3]}, .before = {0, 1, 1}, .after = {0, 1, 1}};
    const float *const from =
        s->zeros ? lowering_pad_planes(l, NET_F32, l->in[0]->data, s->images * s->channels, &w) : l->in[0]->data;
    float *const to = lowering_scratch(l, s->images * s->channels * s->size[0] * s->size[1]);
    lowering_turn(l, NET_F32, from, s->images, s->channels, s->size[0] * s->size[1], to);
    return to;
}

/* Numbers of pixels need float32, whatever the network is in; the Neural Engine has none. */
static bool add_numbers_of_pixels(struct lowering *l, const struct sample *s, float *pixel, float *share, void *number,
                                  int64_t rows)
{
    const enum orch_part part = l->part;
    const unsigned first = l->steps;
    float *const grid = lowering_scratch(l, 2 * s->all);
    l->part = part == PART_ANE ? PART_CPU : part;
    lowering_turn(l, NET_F32, l->in[1]->data, 1, s->all, 2, grid);
    const bool ok = grid && add_pixels(l, s, grid, pixel, share);
    if (ok)
        lowering_add_cast(l, NET_F32, pixel, NET_I32, number, rows);
    l->part = part;
    for (unsigned k = first; k < l->steps; k++)
        l->step[k].precision = l->step[k].precision ? l->step[k].precision : "f32";
    return ok;
}

bool lowering_grid_sample(struct lowering *l, const char *word)
{
    struct sample s = {.images = 0};
    (void)word;
    if (!read_sample(l, &s))
        return false;
    const int64_t rows = s.nearest ? s.all : CORNERS * s.all, pixels = s.images * s.size[0] * s.size[1];
    const float *const table = add_table(l, &s);
    float *const pixel = lowering_scratch(l, rows);
    float *const share = lowering_scratch(l, rows), *const seen = lowering_scratch(l, rows * s.channels);
    void *const number = lowering_scratch(l, rows);
    if (!seen || !number || !add_numbers_of_pixels(l, &s, pixel, share, number, rows))
        return false;
    struct lowered_step *const step = lowering_step(l, seen, rows * s.channels, "gather:%lldx%lldx%lld", (long long)pixels,
                                                    (long long)s.channels, (long long)rows);
    lowering_read(step, table, pixels * s.channels);
    lowering_read(step, number, rows);
    float *sum = seen;
    if (!s.nearest) {
        const struct net_array all = {.type = NET_F32, .dims = 2, .shape = {rows, s.channels}, .count = rows * s.channels};
        const struct net_array each = {.type = NET_F32, .dims = 2, .shape = {rows, 1}, .count = rows, .data = share};
        sum = lowering_scratch(l, s.all * s.channels);
        if (!sum || !lowering_broadcast_pair(l, "mul", seen, &all, &each, seen))
            return false;
        lowering_read(
            lowering_step(l, sum, s.all * s.channels, "reduce:%dx%lld,op=sum,axis=0", CORNERS, (long long)(s.all * s.channels)),
            seen, rows * s.channels);
    }
    lowering_turn(l, NET_F32, sum, s.images, s.places, s.channels, l->out[0]->data);
    return lowering_holds(l);
}
