#include "units/amx/kernels/gemm_pack.h"

static void copy_bytes(uint8_t *dst, const uint8_t *src, uint64_t count)
{
    __builtin_memcpy(dst, src, count);
}

/* Transposes run block by block in 16-byte vectors (4 x 4 words, 8 x 8 halves, 2 x 2 doubles): whole lines are read and written
 * while they are in L1, and one load or store moves 16 bytes. Sources may have any alignment. */
typedef uint64_t vector2 __attribute__((vector_size(16)));
typedef uint32_t vector4 __attribute__((vector_size(16)));
typedef uint16_t vector8 __attribute__((vector_size(16)));

#define LOAD(type, v, from)                                                                                                      \
    type v;                                                                                                                      \
    __builtin_memcpy(&v, from, sizeof v)
#define STORE(to, v) __builtin_memcpy(to, &v, sizeof v)
#define LOW2(a, b)   __builtin_shufflevector(a, b, 0, 2)
#define HIGH2(a, b)  __builtin_shufflevector(a, b, 1, 3)

static void transpose_block_8(uint8_t *dst, uint64_t dst_row, const uint8_t *src, uint64_t src_row)
{
    LOAD(vector2, r0, src);
    LOAD(vector2, r1, src + src_row);
    const vector2 c0 = LOW2(r0, r1), c1 = HIGH2(r0, r1);
    STORE(dst, c0);
    STORE(dst + dst_row, c1);
}

static void transpose_block_4(uint8_t *dst, uint64_t dst_row, const uint8_t *src, uint64_t src_row)
{
    LOAD(vector4, r0, src);
    LOAD(vector4, r1, src + src_row);
    LOAD(vector4, r2, src + 2 * src_row);
    LOAD(vector4, r3, src + 3 * src_row);
    const vector4 a0 = __builtin_shufflevector(r0, r2, 0, 4, 1, 5), a1 = __builtin_shufflevector(r0, r2, 2, 6, 3, 7);
    const vector4 b0 = __builtin_shufflevector(r1, r3, 0, 4, 1, 5), b1 = __builtin_shufflevector(r1, r3, 2, 6, 3, 7);
    const vector4 c0 = __builtin_shufflevector(a0, b0, 0, 4, 1, 5), c1 = __builtin_shufflevector(a0, b0, 2, 6, 3, 7);
    const vector4 c2 = __builtin_shufflevector(a1, b1, 0, 4, 1, 5), c3 = __builtin_shufflevector(a1, b1, 2, 6, 3, 7);
    STORE(dst, c0);
    STORE(dst + dst_row, c1);
    STORE(dst + 2 * dst_row, c2);
    STORE(dst + 3 * dst_row, c3);
}

#define ZIP_LOW8(a, b)  __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define ZIP_HIGH8(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)

static void transpose_block_2(uint8_t *dst, uint64_t dst_row, const uint8_t *src, uint64_t src_row)
{
    vector8 r[8], t[8];
    for (int i = 0; i < 8; i++)
        __builtin_memcpy(&r[i], src + (uint64_t)i * src_row, 16);
    for (int i = 0; i < 4; i++) {
        t[2 * i] = ZIP_LOW8(r[i], r[i + 4]);
        t[2 * i + 1] = ZIP_HIGH8(r[i], r[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        r[2 * i] = ZIP_LOW8(t[i], t[i + 4]);
        r[2 * i + 1] = ZIP_HIGH8(t[i], t[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        const vector8 low = ZIP_LOW8(r[i], r[i + 4]), high = ZIP_HIGH8(r[i], r[i + 4]);
        __builtin_memcpy(dst + (uint64_t)(2 * i) * dst_row, &low, 16);
        __builtin_memcpy(dst + (uint64_t)(2 * i + 1) * dst_row, &high, 16);
    }
}

static void transpose_elements(uint8_t *dst, uint64_t dst_row, const uint8_t *src, uint64_t src_row, uint32_t bytes,
                               uint32_t vectors, uint32_t k0, uint32_t k1)
{
    for (uint32_t j = 0; j < vectors; j++)
        for (uint32_t i = k0; i < k1; i++)
            copy_bytes(dst + i * dst_row + (uint64_t)j * bytes, src + j * src_row + (uint64_t)i * bytes, bytes);
}

/* Transposes elements [from, to) of `side` source vectors, a run of whole cache lines of each at a time: a line is read once and
 * completely, even when the rows of the source fall into the same cache sets, and the prefetcher has few streams to follow, each
 * long enough to be found. */
static void transpose_blocks(uint8_t *dst, uint64_t dst_row, const uint8_t *src, uint64_t src_row, uint32_t bytes, uint32_t from,
                             uint32_t to)
{
    const uint8_t *end = src + (uint64_t)to * bytes;
    dst += from * dst_row;
    src += (uint64_t)from * bytes;
    if (bytes == 8) {
        for (; src < end; src += 16, dst += 2 * dst_row)
            transpose_block_8(dst, dst_row, src, src_row);
    } else if (bytes == 4) {
        for (; src < end; src += 16, dst += 4 * dst_row)
            transpose_block_4(dst, dst_row, src, src_row);
    } else {
        for (; src < end; src += 16, dst += 8 * dst_row)
            transpose_block_2(dst, dst_row, src, src_row);
    }
}

/* Element j of dst line i is element i of source vector j. */
static void transpose_panel(uint8_t *dst, uint64_t dst_row, const uint8_t *src, uint64_t src_row, uint32_t bytes,
                            uint32_t vectors, uint32_t k)
{
    const uint32_t side = bytes == 1 ? 0 : 16 / bytes, run = gemm_pack_run_bytes(src_row, vectors) / bytes;
    const uint32_t whole_k = side ? k / side * side : 0, whole_j = side ? vectors / side * side : 0;
    for (uint32_t i = 0; i < whole_k; i += run)
        for (uint32_t j = 0; j < whole_j; j += side)
            transpose_blocks(dst + (uint64_t)j * bytes, dst_row, src + j * src_row, src_row, bytes, i,
                             i + run < whole_k ? i + run : whole_k);
    transpose_elements(dst, dst_row, src, src_row, bytes, whole_j, whole_k, k);
    transpose_elements(dst + (uint64_t)whole_j * bytes, dst_row, src + whole_j * src_row, src_row, bytes, vectors - whole_j, 0,
                       k);
}

static void zero_bytes(void *dst, uint64_t count)
{
    __builtin_memset(dst, 0, count);
}

void gemm_pack_panel(struct amx_ctx *ctx, void *dst, const struct pack_source *s, uint32_t width, uint32_t valid, uint32_t k,
                     uint32_t k_padded)
{
    const uint64_t line_bytes = (uint64_t)width * s->element_bytes;
    AMX_SCALAR_BEGIN(ctx);
    if (valid < width)
        zero_bytes(dst, line_bytes * k);
    zero_bytes((uint8_t *)dst + line_bytes * k, line_bytes * (k_padded - k));
    if (s->lines_contiguous) {
        const uint32_t row_bytes = valid * s->element_bytes;
        const uint64_t src_stride = s->stride * s->element_bytes;
        for (uint32_t i = 0; i < k; i++)
            copy_bytes((uint8_t *)dst + line_bytes * i, (const uint8_t *)s->base + src_stride * i, row_bytes);
        AMX_SCALAR_COPY(ctx, dst, line_bytes, s->base, src_stride, k, row_bytes);
    } else {
        transpose_panel(dst, line_bytes, s->base, s->stride * s->element_bytes, s->element_bytes, valid, k);
        AMX_SCALAR_TRANSPOSE(ctx, dst, line_bytes, s->base, s->stride * s->element_bytes, valid, k, s->element_bytes);
    }
}

/* `panels` panels, panel_bytes apart, of source lines that begin at `from`. */
static void pack_strip(struct amx_ctx *ctx, uint8_t *to, uint64_t panel_bytes, uint32_t panels, const uint8_t *from,
                       uint64_t src_row, uint64_t line_bytes, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++, to += line_bytes, from += src_row) {
        for (uint32_t p = 0; p < panels; p++)
            copy_bytes(to + p * panel_bytes, from + p * line_bytes, line_bytes);
        AMX_SCALAR_COPY(ctx, to, panel_bytes, from, line_bytes, panels, (uint32_t)line_bytes);
    }
}

void gemm_pack_strips(struct amx_ctx *ctx, void *dst_, const struct pack_source *s, uint32_t width, uint32_t elements, uint32_t k,
                      uint32_t k_padded)
{
    const uint64_t line_bytes = (uint64_t)width * s->element_bytes, panel_bytes = line_bytes * k_padded;
    uint8_t *dst = dst_;
    const uint8_t *src = s->base;
    AMX_SCALAR_BEGIN(ctx);
    for (uint32_t left = elements / width; left > 0;) {
        const uint32_t panels = left < GEMM_STRIP_PANELS ? left : GEMM_STRIP_PANELS;
        pack_strip(ctx, dst, panel_bytes, panels, src, s->stride * s->element_bytes, line_bytes, k);
        for (uint32_t p = 0; p < panels; p++, dst += panel_bytes)
            zero_bytes(dst + line_bytes * k, panel_bytes - line_bytes * k);
        src += panels * line_bytes;
        left -= panels;
    }
}

void gemm_pack_panel_k4(struct amx_ctx *ctx, void *dst_, const struct pack_source *s, uint32_t width, uint32_t valid, uint32_t k,
                        uint32_t k_padded)
{
    uint8_t *dst = dst_;
    const uint8_t *src = s->base;
    AMX_SCALAR_BEGIN(ctx);
    if (valid < width || k < k_padded)
        zero_bytes(dst, (uint64_t)width * k_padded);
    if (s->lines_contiguous) { /* stored transposed: consecutive k are one row apart */
        for (uint32_t i = 0; i < k; i++)
            for (uint32_t j = 0; j < valid; j++)
                dst[((uint64_t)(i / 4) * width + j) * 4 + i % 4] = src[i * s->stride + j];
        AMX_SCALAR_TRANSPOSE(ctx, dst, 4 * (uint64_t)width, src, s->stride, k, valid, 1);
        return;
    }
    /* Four bytes along k move as one word. */
    transpose_panel(dst, 4 * (uint64_t)width, src, s->stride, 4, valid, k / 4);
    for (uint32_t j = 0; j < valid; j++)
        copy_bytes(dst + ((uint64_t)(k / 4) * width + j) * 4, src + j * s->stride + k / 4 * 4, k % 4);
    AMX_SCALAR_TRANSPOSE(ctx, dst, 4 * (uint64_t)width, src, s->stride, valid, k / 4, 4);
}

void gemm_copy_rows(struct amx_ctx *ctx, void *dst, uint64_t dst_stride, const void *src, uint64_t src_stride, uint32_t rows,
                    uint32_t row_bytes)
{
    AMX_SCALAR_BEGIN(ctx);
    for (uint32_t i = 0; i < rows; i++)
        copy_bytes((uint8_t *)dst + dst_stride * i, (const uint8_t *)src + src_stride * i, row_bytes);
    AMX_SCALAR_COPY(ctx, dst, dst_stride, src, src_stride, rows, row_bytes);
}
