#include "sim/run/network/run_network_memory.h"

#include "isa/list_grow.h"
#include "sim/network/graph/element.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1024 };

struct tensor {
    const void *host;
    enum element_type type;
    uint64_t count, address;
    bool shared; /* parts of it are tensors themselves, without a buffer of their own */
};

struct network_memory {
    struct mem_space *space;
    struct tensor *tensor;
    size_t tensors, room;
};

struct network_memory *network_memory_create(struct mem_space *space)
{
    struct network_memory *const memory = calloc(1, sizeof *memory);
    if (memory)
        memory->space = space;
    return memory;
}

void network_memory_free(struct network_memory *memory)
{
    if (memory)
        free(memory->tensor);
    free(memory);
}

struct mem_space *network_memory_space(const struct network_memory *memory)
{
    return memory->space;
}

/* ---- element types ---- */

static uint64_t bytes_of(enum element_type type, uint64_t count)
{
    return count * element_type_bytes(type);
}

/* Halves that the host has as halves: they are copied, not converted. */
#define AS_HALVES ELEMENT_U16

/* Numbers of the host are of four bytes, float32 or whole ones, but for bytes and for halves that it has as such. */
static uint64_t host_bytes(enum element_type type, uint64_t count)
{
    return type == ELEMENT_I8 || type == ELEMENT_U8 ? count : type == AS_HALVES ? 2 * count : 4 * count;
}

/* The buffer, for so many bytes of the host. */
static struct run_buffer given(const struct run_buffer *buffer, uint64_t bytes)
{
    struct run_buffer b = *buffer;
    if ((b.type == ELEMENT_F16 || b.type == ELEMENT_BF16) && bytes == host_bytes(AS_HALVES, b.count))
        b.type = AS_HALVES;
    return b;
}

static bool is_same(enum element_type type, const void *host, const uint8_t *own, uint64_t count)
{
    double number[CHUNK];
    uint8_t half[2 * CHUNK];
    if (type != ELEMENT_F16)
        return memcmp(host, own, bytes_of(type, count)) == 0;
    for (uint64_t at = 0; at < count; at += CHUNK) {
        const size_t n = (size_t)(count - at < CHUNK ? count - at : CHUNK);
        net_read_doubles(NET_F32, host, (int64_t)at, 1, n, number);
        net_write_doubles(NET_F16, half, 0, n, number);
        if (memcmp(half, own + 2 * at, 2 * n) != 0)
            return false;
    }
    return true;
}

static void convert(enum net_type from, const void *source, enum net_type to, void *target, uint64_t count)
{
    double number[CHUNK];
    for (uint64_t at = 0; at < count; at += CHUNK) {
        const size_t n = (size_t)(count - at < CHUNK ? count - at : CHUNK);
        net_read_doubles(from, source, (int64_t)at, 1, n, number);
        net_write_doubles(to, target, (int64_t)at, n, number);
    }
}

static void write_own(enum element_type type, const void *host, uint8_t *own, uint64_t count)
{
    if (type == ELEMENT_F16)
        convert(NET_F32, host, NET_F16, own, count);
    else
        memcpy(own, host, bytes_of(type, count));
}

/* ---- tensors ---- */

static struct tensor *find(const struct network_memory *memory, const void *host, enum element_type type, uint64_t count)
{
    for (size_t i = memory->tensors; i-- > 0;)
        if (memory->tensor[i].host == host && memory->tensor[i].type == type && memory->tensor[i].count == count)
            return &memory->tensor[i];
    return NULL;
}

/* Where a part of a tensor that units share lies; 0 = it is a part of none. */
static uint64_t find_part(const struct network_memory *memory, const void *host, enum element_type type, uint64_t count)
{
    const char *const at = host;
    for (size_t i = memory->tensors; i-- > 0;) {
        const struct tensor *const t = &memory->tensor[i];
        const char *const from = t->host;
        if (t->shared && t->type == type && at >= from && at + host_bytes(type, count) <= from + host_bytes(type, t->count))
            return t->address + bytes_of(type, (uint64_t)(at - from) / host_bytes(type, 1));
    }
    return 0;
}

static struct tensor *place(struct network_memory *memory, const void *host, const struct run_buffer *b, struct orch_error *error)
{
    struct tensor *const grown = list_grow(memory->tensor, memory->tensors, &memory->room, sizeof *grown);
    if (!grown) {
        orch_no_memory(error);
        return NULL;
    }
    memory->tensor = grown;
    const uint64_t address = mem_space_alloc(memory->space, bytes_of(b->type, b->count), MEM_PAGE_BYTES);
    if (!address) {
        orch_fail(error, ORCH_USAGE, "the network does not fit the chip's memory");
        return NULL;
    }
    grown[memory->tensors] = (struct tensor){host, b->type, b->count, address, false};
    return &grown[memory->tensors++];
}

/* Other tensors that the host had there than the one at this address are gone. */
static void forget_others(struct network_memory *memory, const void *host, uint64_t address)
{
    size_t kept = 0;
    for (size_t i = 0; i < memory->tensors; i++) {
        const struct tensor *const t = &memory->tensor[i];
        if (t->host == host && t->address != address)
            mem_space_unmap(memory->space, t->address, bytes_of(t->type, t->count));
        else
            memory->tensor[kept++] = *t;
    }
    memory->tensors = kept;
}

void network_memory_begin(struct network_memory *memory, const void *host)
{
    if (memory && host)
        forget_others(memory, host, 0);
}

bool network_memory_share(struct network_memory *memory, const void *host, uint64_t count, struct orch_error *error)
{
    const struct run_buffer whole = {.type = ELEMENT_F32, .count = count};
    struct tensor *const known = find(memory, host, ELEMENT_F32, count);
    struct tensor *const t = known ? known : place(memory, host, &whole, error);
    if (t)
        t->shared = true;
    return t != NULL;
}

/* The kernel writes into a buffer of its own unless it also reads the tensor there. */
static bool give_result(struct network_memory *memory, const struct run_buffer *b, const void *host, uint64_t *address,
                        struct orch_error *error)
{
    const struct tensor *const known = find(memory, host, b->type, b->count);
    *address = known ? 0 : find_part(memory, host, b->type, b->count);
    if (*address)
        return true;
    const struct tensor *const t = known ? known : place(memory, host, b, error);
    if (!t)
        return false;
    *address = t->address;
    forget_others(memory, host, t->address);
    return true;
}

static bool give_operand(struct network_memory *memory, const struct run_buffer *b, const struct run_operand *from, bool values,
                         uint64_t *address, struct orch_error *error)
{
    const struct tensor *const known = find(memory, from->data, b->type, b->count);
    const uint64_t part = known ? 0 : find_part(memory, from->data, b->type, b->count);
    const struct tensor *const t = known || part ? known : place(memory, from->data, b, error);
    *address = part ? part : t ? t->address : 0;
    uint8_t *const own = *address ? mem_at(memory->space, *address, bytes_of(b->type, b->count), MEM_READ | MEM_WRITE) : NULL;
    if (!own)
        return false;
    if ((values || b->places) && !((known || part) && is_same(b->type, from->data, own, b->count)))
        write_own(b->type, from->data, own, b->count);
    return true;
}

/* ---- kernels ---- */

static bool other_size(const struct run_buffer *b, uint64_t bytes, struct orch_error *error)
{
    return orch_fail(error, ORCH_INTERNAL, "a buffer of %llu elements is given %llu bytes", (unsigned long long)b->count,
                     (unsigned long long)bytes);
}

/* Contents of buffers that are read and written come last among the operands; a kernel that does not look at them goes without.
 */
bool network_memory_give(struct network_memory *memory, const struct run_buffer *buffer, unsigned buffers,
                         const struct run_operands *operands, bool values, uint64_t *address, struct orch_error *error)
{
    unsigned next = 0;
    for (unsigned i = 0; i < buffers; i++) {
        const uint64_t bytes = buffer[i].written         ? operands->result_bytes
                               : next < operands->inputs ? operands->input[next].bytes
                                                         : 0;
        const struct run_buffer its = given(&buffer[i], bytes), *const b = &its;
        if (b->written) {
            if (host_bytes(b->type, b->count) != operands->result_bytes)
                return other_size(b, operands->result_bytes, error);
            if (!give_result(memory, b, operands->result, &address[i], error))
                return false;
        }
        if (!b->read || (b->written && next == operands->inputs))
            continue;
        if (next == operands->inputs || operands->input[next].bytes != host_bytes(b->type, b->count))
            return other_size(b, next < operands->inputs ? operands->input[next].bytes : 0, error);
        const struct run_operand *const from = &operands->input[next++];
        if (b->written && values)
            write_own(b->type, from->data, mem_at(memory->space, address[i], bytes_of(b->type, b->count), MEM_WRITE), b->count);
        if (!b->written && !give_operand(memory, b, from, values, &address[i], error))
            return false;
    }
    return next == operands->inputs ||
           orch_fail(error, ORCH_INTERNAL, "%u operands are given, the kernel reads %u", operands->inputs, next);
}

bool network_memory_take(const struct network_memory *memory, const struct run_buffer *buffer, unsigned buffers,
                         const struct run_operands *operands, const uint64_t *address, struct orch_error *error)
{
    for (unsigned i = 0; i < buffers; i++) {
        const struct run_buffer its = given(&buffer[i], operands->result_bytes), *const b = &its;
        const uint64_t bytes = bytes_of(b->type, b->count);
        const uint8_t *const own = b->written ? mem_at(memory->space, address[i], bytes, MEM_READ) : NULL;
        if (!own)
            continue;
        if (b->type == ELEMENT_F16)
            convert(NET_F16, own, NET_F32, operands->result, b->count);
        else
            memcpy(operands->result, own, bytes);
        return true;
    }
    return orch_fail(error, ORCH_INTERNAL, "a kernel without a result");
}
