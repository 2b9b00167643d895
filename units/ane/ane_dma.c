/* Operands: buffers of the request, tile memory and rings, read and written as rows of numbers. Every address is checked before a
 * task starts. */
#include "units/ane/ane_internal.h"

#include <stdlib.h>

/* The part of an operand that a task touches. */
struct extent {
    uint32_t outer, channels, height, width;
};

static uint64_t end_of(const struct ane_view *v, const struct extent *e)
{
    const uint64_t bytes = ane_format_bytes(v->format), columns = v->broadcast_width ? 1 : e->width;
    const uint64_t planes = (e->channels + v->interleave - 1) / v->interleave;
    return (e->outer - 1) * v->group + (planes - 1) * v->plane + (e->height - 1) * v->row + columns * v->interleave * bytes;
}

static bool in_buffer(struct ane_job *job, const struct ane_operand *o, const char *name, uint64_t skip, unsigned prot,
                      const struct extent *e, struct ane_view *v)
{
    const struct ane_request *r = job->request;
    const uint64_t begin = o->base + skip, end = begin + end_of(v, e);
    if (o->bar >= ANE_BARS || !r->bytes[o->bar])
        return ane_fault(job, UNIT_FAULT_UNMAPPED, 0, "%s: no buffer for base register %u", name, (unsigned)o->bar);
    if (end > r->bytes[o->bar])
        return ane_fault(job, UNIT_FAULT_UNMAPPED, r->address[o->bar] + r->bytes[o->bar],
                         "%s: bytes %llu to %llu of a buffer of %llu (base register %u)", name, (unsigned long long)begin,
                         (unsigned long long)end, (unsigned long long)r->bytes[o->bar], (unsigned)o->bar);
    const uint64_t address = r->address[o->bar] + begin;
    v->first = mem_at(r->space, address, end - begin, prot);
    if (v->first)
        return true;
    bool unmapped = true;
    uint64_t bad = address;
    mem_space_explain(r->space, address, end - begin, prot, &unmapped, &bad);
    return ane_fault(job, unmapped ? UNIT_FAULT_UNMAPPED : UNIT_FAULT_PERMISSION, bad, "%s: memory %s", name,
                     unmapped            ? "that is not mapped"
                     : prot == MEM_WRITE ? "that must not be written"
                                         : "that must not be read");
}

static bool in_tile_memory(struct ane_job *job, const struct ane_operand *o, const char *name, uint64_t skip,
                           const struct extent *e, struct ane_view *v)
{
    const uint64_t begin = o->base + skip, end = begin + end_of(v, e);
    if (end > job->core->l2_bytes)
        return ane_fault(job, UNIT_FAULT_UNMAPPED, begin, "%s: bytes %llu to %llu of %u bytes of tile memory", name,
                         (unsigned long long)begin, (unsigned long long)end, (unsigned)job->core->l2_bytes);
    v->first = job->core->l2 + begin;
    return true;
}

static void without_gaps(struct ane_view *v, const struct extent *e)
{
    v->interleave = 1;
    v->row = (uint64_t)e->width * ane_format_bytes(v->format);
    v->plane = v->row * e->height;
    v->group = v->plane * e->channels;
}

static bool from_ring(struct ane_job *job, const struct ane_operand *o, const char *name, const struct extent *e,
                      struct ane_view *v)
{
    const struct ane_ring *ring = &job->core->ring;
    struct extent there = *e;
    if (v->broadcast_width)
        there.width = 1;
    without_gaps(v, &there);
    if (!ring->bytes || ring->base != o->base)
        return ane_fault(job, UNIT_FAULT_UNMAPPED, o->base, "%s: no task before this one fills the ring at %#x", name,
                         (unsigned)o->base);
    if (ring->bytes != v->group * e->outer || ring->format != o->format)
        return ane_fault(job, UNIT_FAULT_UNMAPPED, o->base, "%s: the ring at %#x passes %llu bytes, read are %llu", name,
                         (unsigned)o->base, (unsigned long long)ring->bytes, (unsigned long long)(v->group * e->outer));
    v->first = ring->byte;
    return true;
}

static bool to_ring(struct ane_job *job, const struct ane_operand *o, const struct extent *e, struct ane_view *v)
{
    struct ane_ring *ring = &job->core->next_ring;
    without_gaps(v, e);
    const uint64_t bytes = v->group * e->outer;
    if (bytes > ring->room) {
        free(ring->byte);
        ring->room = 0;
        ring->byte = malloc(bytes);
        if (!ring->byte)
            return ane_fault_memory(job);
        ring->room = bytes;
    }
    ring->bytes = bytes;
    ring->base = o->base;
    ring->format = o->format;
    v->first = ring->byte;
    return true;
}

static bool open_source(struct ane_job *job, const struct ane_operand *o, const char *name, uint32_t skip, const struct extent *e,
                        struct ane_view *v)
{
    *v = (struct ane_view){.format = o->format,
                           .row = o->row,
                           .plane = o->plane,
                           .group = o->group,
                           .interleave = o->interleave ? o->interleave : 1,
                           .broadcast_width = o->broadcast_width};
    const uint64_t skip_bytes = (uint64_t)skip * v->interleave * ane_format_bytes(o->format);
    if (skip)
        v->crop_gain = job->core->numeric.width_crop_gain != 1 ? (float)job->core->numeric.width_crop_gain : 0;
    switch (o->place) {
    case ANE_PLACE_DRAM: return in_buffer(job, o, name, skip_bytes, MEM_READ, e, v);
    case ANE_PLACE_L2: return in_tile_memory(job, o, name, skip_bytes, e, v);
    case ANE_PLACE_CHAIN:
        return skip ? ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "%s: a crop of a ring", name) : from_ring(job, o, name, e, v);
    case ANE_PLACE_NONE: break;
    }
    return ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "%s: none", name);
}

static bool open_result(struct ane_job *job, const struct extent *e)
{
    const struct ane_operand *o = &job->task->result;
    struct ane_view *v = &job->result;
    *v = (struct ane_view){.format = o->format,
                           .row = o->row,
                           .plane = o->plane,
                           .group = o->group,
                           .interleave = o->interleave ? o->interleave : 1};
    switch (o->place) {
    case ANE_PLACE_DRAM: return in_buffer(job, o, "result", 0, MEM_WRITE, e, v);
    case ANE_PLACE_L2: return in_tile_memory(job, o, "result", 0, e, v);
    case ANE_PLACE_CHAIN: return to_ring(job, o, e, v);
    case ANE_PLACE_NONE: break;
    }
    return ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "result: none");
}

static uint64_t bytes_of(const struct ane_operand *o, const struct extent *e)
{
    return o->place == ANE_PLACE_DRAM
               ? (uint64_t)e->outer * e->channels * e->height * (o->broadcast_width ? 1 : e->width) * ane_format_bytes(o->format)
               : 0;
}

bool ane_dma_open(struct ane_job *job)
{
    const struct ane_task *t = job->task;
    const bool reduces = t->engine == ANE_ENGINE_PE && (t->pe_reduce == ANE_REDUCE_SUM || t->pe_reduce == ANE_REDUCE_MAX);
    const bool product = t->engine == ANE_ENGINE_NE && t->ne_op == ANE_NE_MATMUL;
    const struct extent in = {job->outer, t->channels_in, t->height_in, t->width_in};
    const struct extent out = {job->outer, t->channels_out, t->height_out, reduces ? 1 : t->width_out};
    const uint32_t groups = t->groups ? t->groups : 1;
    const struct extent matrix = {1, t->channels_out, 1, t->channels_in / groups};
    const struct extent *second = product ? &matrix : &in;
    if (!in.outer || !in.channels || !in.height || !in.width || !out.channels || !out.height || !out.width)
        return ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "an empty tensor");
    if (!open_source(job, &t->source, "first source", t->pixel_offset, &in, &job->source))
        return false;
    if (t->second.place != ANE_PLACE_NONE && !open_source(job, &t->second, "second source", 0, second, &job->second))
        return false;
    if (!open_result(job, &out))
        return false;
    job->counts->source_bytes += bytes_of(&t->source, &in) + bytes_of(&t->second, second);
    job->counts->result_bytes += bytes_of(&t->result, &out);
    return true;
}

void ane_dma_close(struct ane_job *job)
{
    struct ane_core *core = job->core;
    const struct ane_task *t = job->task;
    if (t->result.place == ANE_PLACE_CHAIN) {
        const struct ane_ring old = core->ring;
        core->ring = core->next_ring;
        core->next_ring = old;
    } else if (t->source.place == ANE_PLACE_CHAIN || t->second.place == ANE_PLACE_CHAIN) {
        core->ring.bytes = 0;
    }
}

/* ---- rows ---- */

uint8_t *ane_dma_row(const struct ane_view *v, uint32_t group, uint32_t channel, uint32_t row)
{
    const uint64_t beside = (uint64_t)(channel % v->interleave) * ane_format_bytes(v->format);
    return v->first + group * v->group + (channel / v->interleave) * v->plane + row * v->row + beside;
}

static float element(const struct ane_core *core, enum ane_format format, const uint8_t *at, bool mac)
{
    uint16_t bits;
    switch (format) {
    case ANE_U8: return *at;
    case ANE_I8: return (int8_t)*at;
    case ANE_F16: break;
    }
    memcpy(&bits, at, sizeof bits);
    return mac ? ane_mac_value(&core->numeric, bits) : ane_operand_value(&core->numeric, bits);
}

/* The crop multiplies in fp16; what does not fit is infinite from then on (sbryngelson/ane-guide, chapter 3). */
static void crop(const struct ane_core *core, float gain, float *value, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++) {
        const uint16_t bits = ane_result_bits(&core->numeric, value[i] * gain);
        const float passed = ane_operand_value(&core->numeric, bits);
        value[i] = (bits & 0x7fffu) >= ANE_HALF_INFINITY ? passed : passed / gain;
    }
}

void ane_dma_load(const struct ane_core *core, const struct ane_view *v, uint32_t group, uint32_t channel, uint32_t row,
                  uint32_t width, bool mac, float *to)
{
    const uint8_t *from = ane_dma_row(v, group, channel, row);
    const uint32_t columns = v->broadcast_width ? 1 : width;
    const uint64_t step = (uint64_t)v->interleave * ane_format_bytes(v->format);
    if (v->format == ANE_F16 && v->interleave == 1)
        core->set->expand(&core->numeric, mac, from, to, columns);
    else
        for (uint32_t i = 0; i < columns; i++)
            to[i] = element(core, v->format, from + i * step, mac);
    if (v->crop_gain != 0)
        crop(core, v->crop_gain, to, columns);
    for (uint32_t i = columns; i < width; i++)
        to[i] = to[0];
}

static uint8_t to_byte(enum ane_format format, float value)
{
    const float least = format == ANE_U8 ? 0 : -128, most = format == ANE_U8 ? 255 : 127;
    if (value != value)
        return 0;
    const float whole = nearbyintf(value < least ? least : value > most ? most : value);
    return (uint8_t)(int)whole;
}

void ane_dma_store(const struct ane_core *core, const struct ane_view *v, uint32_t group, uint32_t channel, uint32_t row,
                   uint32_t width, const float *from)
{
    uint8_t *to = ane_dma_row(v, group, channel, row);
    const uint64_t step = (uint64_t)v->interleave * ane_format_bytes(v->format);
    if (v->format == ANE_F16 && v->interleave == 1) {
        core->set->reduce(&core->numeric, from, to, width);
        return;
    }
    for (uint32_t i = 0; i < width; i++, to += step)
        if (v->format == ANE_F16) {
            const uint16_t bits = ane_result_bits(&core->numeric, from[i]);
            memcpy(to, &bits, sizeof bits);
        } else {
            *to = to_byte(v->format, from[i]);
        }
}
