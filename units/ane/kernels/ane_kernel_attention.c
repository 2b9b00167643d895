/* attention: per head and block of queries a product, powers of the scores in tile memory, a second product, and the reciprocals
 * of the sums last. Powers of up to 1 lose less in the MAC, which takes numbers below 2^-14 as 0, than weights of up to 1 / keys
 * would, and there are fewer results than weights. */
#include "isa/array_count.h"
#include "isa/rounding.h"
#include "units/ane/kernels/ane_kernel_family.h"
#include "units/ane/kernels/ane_norm.h"

#include <math.h>
#include <stdio.h>

enum { B, H, S, D, CAUSAL, KVH, QUERIES, MASK, TURNED };
enum { BLOCK_ALIGN = 16 /* one query per engine */, GROUPS_MAX = 8191 };

static const struct kernel_parameter parameters[] = {
    {.name = "b", .missing = 1, .least = 1, .most = 65536},       {.name = "h", .least = 1, .most = 65536, .required = true},
    {.name = "s", .least = 1, .most = 1 << 24, .required = true}, {.name = "d", .least = 1, .most = 1 << 20, .required = true},
    {.name = "causal", .missing = 0, .least = 0, .most = 1},      {.name = "kvh", .missing = 0, .least = 0, .most = 65536},
    {.name = "q", .missing = 0, .least = 0, .most = 1 << 24},     {.name = "mask", .missing = 0, .least = 0, .most = 1},
    {.name = "turned", .missing = 0, .least = 0, .most = 1},      {.name = NULL},
};

struct attention {
    uint32_t heads, kv_heads, keys, queries, depth; /* heads of all batches */
    bool causal, masked;
    uint32_t block; /* queries at once */
    bool keeps;     /* keys and values of a head stay in tile memory while its blocks are worked on */
    struct ane_view q, k, v, mask, out;
};

/* Bytes of tile memory for tiles and rings of the steps. */
static uint64_t room_beside(const struct ane_builder *b, const struct attention *a)
{
    return b->request->limits.l2_bytes / (a->keeps ? 4 : 2);
}

/* Bytes that keys and values of one head take in tile memory. */
static uint64_t kept_bytes(const struct attention *a)
{
    const uint64_t key_row = round_up((uint64_t)a->keys * ANE_HALF_BYTES, ANE_L2_BYTES);
    const uint64_t value_row = round_up((uint64_t)a->depth * ANE_HALF_BYTES, ANE_L2_BYTES);
    return key_row * a->depth + value_row * a->keys;
}

/* The number of queries whose scores, powers and sums of values fit in tile memory together. */
static uint32_t block_of(const struct ane_builder *b, const struct attention *a)
{
    const uint64_t row = (2 * (uint64_t)a->keys + a->depth) * ANE_HALF_BYTES + 5 * ANE_L2_BYTES;
    const uint64_t room = b->request->limits.l2_bytes - room_beside(b, a) - (a->keeps ? kept_bytes(a) : 0);
    uint64_t block = room / row / BLOCK_ALIGN * BLOCK_ALIGN;
    if (block < BLOCK_ALIGN)
        block = BLOCK_ALIGN; /* the scratch buffer takes what does not fit */
    if (block > GROUPS_MAX)
        block = GROUPS_MAX / BLOCK_ALIGN * BLOCK_ALIGN;
    return (uint32_t)(block < a->queries ? block : a->queries);
}

/* Keys and values are read once for all blocks of all heads that share them where they take no more than a quarter of the tile
 * memory. One block alone reads them from where they are. */
static void choose_blocks(const struct ane_builder *b, struct attention *a)
{
    a->block = block_of(b, a);
    if (a->block < a->queries && kept_bytes(a) <= b->request->limits.l2_bytes / 4) {
        a->keeps = true;
        a->block = block_of(b, a);
    }
}

static void name_heads(struct ane_builder *b, const char *name, enum ane_tensor_role role, const struct ane_view *view,
                       uint32_t heads, uint32_t lines, uint64_t line_stride, uint32_t depth, uint64_t depth_stride)
{
    const uint32_t batch = (uint32_t)b->request->value[B];
    struct ane_kernel_tensor *t = ane_build_tensor(b, name, role, view, -1, 1);
    ane_tensor_axis(t, batch, ane_view_bytes(view) * (heads / batch));
    ane_tensor_axis(t, heads / batch, ane_view_bytes(view));
    ane_tensor_axis(t, lines, line_stride);
    ane_tensor_axis(t, depth, depth_stride);
}

/* Keys are stored with their depth as channels: they are the source of the first product; queries and softmax are the second
 * sources. */
static void add_tensors(struct ane_builder *b, struct attention *a)
{
    const uint64_t two = ANE_HALF_BYTES;
    a->q = ane_build_input(b, "q", a->heads, a->queries, 1, a->depth);
    name_heads(b, "q", ANE_TENSOR_INPUT, &a->q, a->heads, a->queries, a->q.plane, a->depth, two);
    a->k = ane_build_input(b, "k", a->kv_heads, a->depth, 1, a->keys);
    if (b->request->value[TURNED])
        name_heads(b, "k", ANE_TENSOR_INPUT, &a->k, a->kv_heads, a->depth, a->k.plane, a->keys, two);
    else
        name_heads(b, "k", ANE_TENSOR_INPUT, &a->k, a->kv_heads, a->keys, two, a->depth, a->k.plane);
    a->v = ane_build_input(b, "v", a->kv_heads, a->keys, 1, a->depth);
    name_heads(b, "v", ANE_TENSOR_INPUT, &a->v, a->kv_heads, a->keys, a->v.plane, a->depth, two);
    if (a->masked) {
        a->mask = ane_build_input(b, "mask", 1, a->queries, 1, a->keys);
        struct ane_kernel_tensor *t = ane_build_tensor(b, "mask", ANE_TENSOR_INPUT, &a->mask, 0, 0);
        t->fill = a->causal ? ANE_FILL_CAUSAL : ANE_FILL_UNIFORM;
        ane_tensor_axis(t, a->queries, a->mask.plane);
        ane_tensor_axis(t, a->keys, two);
    }
    a->out = ane_build_output(b, "out", a->heads, a->queries, 1, a->depth);
    name_heads(b, "out", ANE_TENSOR_OUTPUT, &a->out, a->heads, a->queries, a->out.plane, a->depth, two);
}

static struct ane_view first_columns(struct ane_view view, uint32_t count)
{
    view.width = count;
    return view;
}

/* The number of keys that the last query of the block sees. */
static uint32_t keys_seen(const struct attention *a, uint32_t first, uint32_t count)
{
    return a->causal ? a->keys - a->queries + first + count : a->keys;
}

/* Writes a head's queries from `first` on; all_k, all_v are its keys and values. */
static void write_block(struct ane_builder *b, const struct attention *a, struct ane_view all_k, struct ane_view all_v,
                        uint32_t head, uint32_t first, uint32_t count)
{
    const uint32_t keys = keys_seen(a, first, count), mark = ane_build_mark(b);
    const uint64_t beside = room_beside(b, a);
    const struct ane_planar sum = {.op = ANE_PE_ADD};
    const struct ane_view q = ane_view_channels(ane_view_image(a->q, head), first, count);
    const struct ane_view out = ane_view_channels(ane_view_image(a->out, head), first, count);
    const struct ane_view k = first_columns(all_k, keys), v = ane_view_channels(all_v, 0, keys);
    const struct ane_view factor = ane_build_column_beside(b, beside, count),
                          sums = ane_build_between_beside(b, beside, count, 1, a->depth),
                          scores = ane_build_between_beside(b, beside, count, 1, keys),
                          weights = ane_build_between_beside(b, beside, count, 1, keys);
    ane_build_matmul(b, k, q, (float)(1 / sqrt(a->depth)), a->masked ? weights : scores);
    if (a->masked) {
        const struct ane_view mask = first_columns(ane_view_channels(a->mask, first, count), keys);
        ane_build_planar(b, &sum, weights, &mask, scores);
    }
    ane_build_softmax_parts(b, beside, scores, weights, factor);
    ane_build_matmul(b, v, weights, 1, sums);
    ane_build_row_scale(b, sums, factor, out);
    ane_build_release(b, mark);
}

static struct ane_view kept(struct ane_builder *b, const struct attention *a, struct ane_view view)
{
    if (!a->keeps)
        return view;
    const struct ane_view inside = ane_build_between_beside(b, room_beside(b, a), view.channels, view.height, view.width);
    ane_build_copy(b, view, inside);
    return inside;
}

/* The heads that share keys and values number `kv`. */
static void write_heads(struct ane_builder *b, const struct attention *a, uint32_t kv)
{
    const uint32_t mark = ane_build_mark(b), shared = a->heads / a->kv_heads;
    const struct ane_view k = kept(b, a, ane_view_image(a->k, kv)), v = kept(b, a, ane_view_image(a->v, kv));
    for (uint32_t head = kv * shared; head < (kv + 1) * shared; head++)
        for (uint32_t first = 0; first < a->queries && !b->failed; first += a->block)
            write_block(b, a, k, v, head, first, a->queries - first < a->block ? a->queries - first : a->block);
    ane_build_release(b, mark);
}

static bool build(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    const int64_t *p = q->value;
    const int64_t kv_heads = p[KVH] ? p[KVH] : p[H], queries = p[QUERIES] ? p[QUERIES] : p[S];
    struct attention a = {.heads = (uint32_t)(p[B] * p[H]),
                          .kv_heads = (uint32_t)(p[B] * kv_heads),
                          .keys = (uint32_t)p[S],
                          .queries = (uint32_t)queries,
                          .depth = (uint32_t)p[D],
                          .causal = p[CAUSAL] != 0,
                          .masked = p[CAUSAL] != 0 || p[MASK] != 0};
    struct ane_builder b;
    if (p[H] % kv_heads || queries > p[S] || p[B] * p[H] > UINT16_MAX)
        return kernel_refuse(error,
                             "attention: h must be a multiple of kvh, q at most s, and there are at most 65535 heads in all");
    ane_build_begin(&b, q, kernel, 1, error);
    add_tensors(&b, &a);
    choose_blocks(&b, &a);
    for (uint32_t kv = 0; kv < a.kv_heads && !b.failed; kv++)
        write_heads(&b, &a, kv);
    kernel->macs = 2.0 * a.heads * a.queries * (double)a.keys * a.depth;
    kernel->flops = 2 * kernel->macs;
    snprintf(kernel->variant, sizeof kernel->variant, "blocks of %u queries%s, %zu descriptors", (unsigned)a.block,
             a.keeps ? ", keys kept" : "", b.count);
    return ane_build_end(&b);
}

static const struct ane_kernel_info rows[] = {
    {"attention", "h=H,s=S,d=D[,b=B][,causal=0|1][,kvh=H][,q=Q][,mask=0|1][,turned=0|1]",
     "softmax(Q K^T / sqrt d + mask) V per head; Q queries (as S unless told otherwise), keys and values of kvh heads. The "
     "engine has no "
     "mask of its own: causal=1 reads one (0 up to the diagonal, -40000 beyond) and leaves out keys that no query of a block "
     "sees. turned=1: keys are given as depth x keys",
     0, parameters, build},
};
const struct ane_kernel_family ane_family_attention = {rows, ARRAY_COUNT(rows)};
