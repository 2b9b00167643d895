/* Loads and stores: device memory, threadgroup memory, stack. They complete at once, in program order. */
#include "units/gpu/gpu_exec_format.h"
#include "units/gpu/gpu_exec_plain.h"
#include "units/gpu/gpu_lanes.h"

void gpu_access_of(const struct gpu_simdgroup *group, const struct gpu_op *op, struct gpu_access *access)
{
    gpu_lanes_access(group, op, access);
}

/* --- where bytes are --- */

/* Returns the host bytes of one component of a lane in one of the three memories, or NULL when it must not be touched. The stack
 * bytes of a lane are not contiguous; stack_byte finds each. */
static uint8_t *bytes_at(const struct gpu_simdgroup *group, unsigned op, uint64_t address, uint32_t bytes, unsigned prot)
{
    const struct gpu_group *all = group->group;
    if (gpu_on_device(op))
        return mem_at(all->launch.space, address, bytes, prot);
    return address < all->memory_bytes && bytes <= all->memory_bytes - address ? all->memory + address : NULL;
}

static uint8_t *stack_byte(const struct gpu_simdgroup *group, uint64_t address, unsigned lane)
{
    const uint64_t word = (uint64_t)group->number * group->group->stack_words + address / 4;
    return group->group->stack + (word * GPU_LANES + lane) * 4 + address % 4;
}

uint64_t gpu_stack_address(const struct gpu_simdgroup *group, uint64_t byte, unsigned lane)
{
    const struct gpu_group *all = group->group;
    const uint64_t stacks = UINT64_C(1) << 46, core = (uint64_t)all->core_index << 32;
    const uint64_t word = (uint64_t)group->number * all->stack_words + byte / 4;
    return stacks + core + (word * GPU_LANES + lane) * 4 + byte % 4;
}

static const struct gpu_op *refuse(struct gpu_simdgroup *group, const struct gpu_op *op, unsigned lane, uint64_t address,
                                   uint32_t bytes, unsigned prot)
{
    const struct gpu_group *all = group->group;
    if (gpu_on_device(op->inst->op))
        return gpu_fault_device(group, op, lane, address, bytes, prot);
    if (gpu_on_stack(op->inst->op))
        return gpu_fault(group, op, UNIT_FAULT_UNMAPPED, address, "lane %u of simdgroup %u: stack byte %lld of %u", lane,
                         group->number, (long long)address, all->stack_words * 4);
    return gpu_fault(group, op, UNIT_FAULT_UNMAPPED, address, "lane %u of simdgroup %u: threadgroup memory byte %lld of %u", lane,
                     group->number, (long long)address, all->memory_bytes);
}

/* Whether a lane may touch these bytes of its stack. */
static bool on_its_stack(const struct gpu_simdgroup *group, uint64_t address, uint64_t bytes)
{
    const uint32_t limit = group->group->stack_words * 4;
    return address < limit && bytes <= limit - address;
}

/* Moves one component between memory and `raw`. */
static bool move(const struct gpu_simdgroup *group, const struct gpu_op *op, unsigned lane, uint64_t address, uint32_t bytes,
                 bool store, uint32_t *raw)
{
    if (gpu_on_stack(op->inst->op)) {
        if (!on_its_stack(group, address, bytes))
            return false;
        uint8_t part[4] = {0};
        memcpy(part, raw, sizeof part);
        for (uint32_t i = 0; i < bytes; i++) {
            uint8_t *at = stack_byte(group, address + i, lane);
            if (store)
                *at = part[i];
            else
                part[i] = *at;
        }
        memcpy(raw, part, sizeof part);
        return true;
    }
    uint8_t *at = bytes_at(group, op->inst->op, address, bytes, store ? MEM_WRITE : MEM_READ);
    if (!at)
        return false;
    if (store)
        memcpy(at, raw, bytes);
    else
        memcpy(raw, at, bytes);
    return true;
}

static const struct gpu_op *load(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const bool wide = op->dst_kind == GPU_WORD, packed = gpu_format_packed(op->inst->format);
    const uint32_t first = 2U * op->dst_word + (op->dst_kind == GPU_HIGH);
    struct gpu_access access;
    uint32_t value[4][GPU_LANES];
    unsigned count = 0;
    gpu_access_of(group, op, &access);
    for (unsigned c = 0; c < 4; c++) {
        if (!(access.components >> c & 1))
            continue;
        for (unsigned lane = 0; lane < GPU_LANES; lane++) {
            uint32_t raw = 0;
            const uint64_t address = access.address[lane] + c * access.item_bytes;
            if (!(group->mask >> lane & 1))
                continue;
            if (!move(group, op, lane, address, access.item_bytes, false, &raw))
                return refuse(group, op, lane, address, access.item_bytes, MEM_READ);
            for (unsigned i = 0; i < (packed ? gpu_format_packed(op->inst->format) : 1); i++)
                value[count + i][lane] = gpu_format_load(op->inst->format, packed ? i : c, raw, wide);
        }
        count += packed ? gpu_format_packed(op->inst->format) : 1;
    }
    for (unsigned i = 0; i < count; i++)
        gpu_write_tuple(group, first, wide, i, value[i], group->mask);
    return op->next;
}

static const struct gpu_op *store(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const struct gpu_operand *data = &op->source[0];
    const bool wide = data->kind == GPU_WORD;
    const unsigned packed = gpu_format_packed(op->inst->format);
    struct gpu_access access;
    uint32_t value[4][GPU_LANES];
    gpu_access_of(group, op, &access);
    for (unsigned i = 0; i < data->count && i < 4; i++)
        gpu_read_raw(group, data, i, value[i]);
    unsigned next = 0;
    for (unsigned c = 0; c < 4; c++) {
        if (!(access.components >> c & 1))
            continue;
        for (unsigned lane = 0; lane < GPU_LANES; lane++) {
            uint32_t part[4] = {0};
            if (!(group->mask >> lane & 1))
                continue;
            for (unsigned i = 0; i < (packed ? packed : 1); i++)
                part[i] = value[next + i][lane];
            uint32_t raw = gpu_format_store(op->inst->format, c, part, wide);
            const uint64_t address = access.address[lane] + c * access.item_bytes;
            if (!move(group, op, lane, address, access.item_bytes, true, &raw))
                return refuse(group, op, lane, address, access.item_bytes, MEM_WRITE);
        }
        next++;
    }
    return op->next;
}

const struct gpu_op *gpu_pass(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    (void)group;
    return op->next;
}

static unsigned prot_of(unsigned op)
{
    switch (op) {
    case AGX_OP_ATOMIC:
    case AGX_OP_THREADGROUP_ATOMIC: return MEM_READ | MEM_WRITE;
    case AGX_OP_DEVICE_STORE:
    case AGX_OP_THREADGROUP_STORE:
    case AGX_OP_STACK_STORE: return MEM_WRITE;
    default: return MEM_READ;
    }
}

static bool may_touch(const struct gpu_simdgroup *group, unsigned op, uint64_t address, uint32_t bytes, unsigned prot)
{
    return gpu_on_stack(op) ? on_its_stack(group, address, bytes) : bytes_at(group, op, address, bytes, prot) != NULL;
}

/* Lanes that are farther from one another are looked at one by one: that is less than all pages between them. */
#define FAR ((uint64_t)64 << MEM_PAGE_SHIFT)

/* Tells whether all bytes between the lowest and the highest one that active lanes touch may be reached. */
static bool all_reached(const struct gpu_simdgroup *group, const struct gpu_op *op, const struct gpu_access *access,
                        unsigned prot)
{
    uint64_t low, high;
    gpu_record_span(access, group->mask, &low, &high);
    if (low > high) /* no lane is active */
        return true;
    const uint64_t end = high + (access->components ? 32 - (unsigned)__builtin_clz(access->components) : 1) * access->item_bytes;
    if (end < high || end - low > FAR || access->bytes > access->item_bytes)
        return false;
    return may_touch(group, op->inst->op, low, (uint32_t)(end - low), prot);
}

/* The access has just been recorded. Lane by lane, in the order of loads and stores, so that a fault names the same byte. */
const struct gpu_op *gpu_reach(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const unsigned prot = prot_of(op->inst->op);
    const bool on_threadgroup = !gpu_on_device(op->inst->op) && !gpu_on_stack(op->inst->op);
    if (on_threadgroup && op->vectorised && group->group->vectors->inside(group, op))
        return op->next;
    struct gpu_access own;
    const struct gpu_access *access = on_threadgroup ? &own : &group->group->last_access;
    if (on_threadgroup)
        gpu_access_of(group, op, &own);
    if (all_reached(group, op, access, prot))
        return op->next;
    for (unsigned c = 0; c < 4; c++)
        for (unsigned lane = 0; lane < GPU_LANES; lane++) {
            const uint64_t address = access->address[lane] + c * access->item_bytes;
            if (!(access->components >> c & 1) || !(group->mask >> lane & 1))
                continue;
            if (!may_touch(group, op->inst->op, address, access->bytes, prot))
                return refuse(group, op, lane, address, access->bytes, prot);
        }
    return op->next;
}

/* Grows (positive) or shrinks the frame by words of 4 bytes. */
static const struct gpu_op *stack_adjust(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const int64_t left = (int64_t)group->stack_bytes_left - 4 * (int64_t)op->inst->source[0].immediate;
    const int64_t size = (int64_t)group->group->stack_words * 4;
    if (left < 0 || left > size)
        return gpu_fault(group, op, UNIT_FAULT_UNMAPPED, (uint64_t)left, "the stack of %lld bytes per thread %s", (long long)size,
                         left < 0 ? "overflows" : "is taken back further than it grew");
    group->stack_bytes_left = (uint32_t)left;
    return op->next;
}

/* The kind of pointer that it gives is not published: here it is the byte position in the thread's stack (a guess). */
static const struct gpu_op *stack_get_ptr(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    uint64_t out[GPU_LANES];
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        out[lane] = group->stack_bytes_left;
    gpu_write_int(group, op, out);
    return op->next;
}

gpu_handler *gpu_plain_memory(unsigned op)
{
    switch (op) {
    case AGX_OP_DEVICE_LOAD:
    case AGX_OP_THREADGROUP_LOAD:
    case AGX_OP_STACK_LOAD: return load;
    case AGX_OP_DEVICE_STORE:
    case AGX_OP_THREADGROUP_STORE:
    case AGX_OP_STACK_STORE: return store;
    case AGX_OP_STACK_ADJUST: return stack_adjust;
    case AGX_OP_STACK_GET_PTR: return stack_get_ptr;
    default: return NULL;
    }
}
