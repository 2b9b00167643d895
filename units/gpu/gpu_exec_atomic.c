/* Atomics on device memory (atomic on the host, because groups may run on several host threads) and on threadgroup memory. */
#include "units/gpu/gpu_exec_plain.h"

/* cmpxchg: the first register is the new value, the second the expected one (read from code compiled by Mesa). */
static uint32_t after(unsigned atomic, uint32_t old, uint32_t value, uint32_t expected)
{
    switch (atomic) {
    case AGX_ATOMIC_ADD: return old + value;
    case AGX_ATOMIC_SUB: return old - value;
    case AGX_ATOMIC_XCHG: return value;
    case AGX_ATOMIC_CMPXCHG: return old == expected ? value : old;
    case AGX_ATOMIC_UMIN: return old < value ? old : value;
    case AGX_ATOMIC_IMIN: return (int32_t)old < (int32_t)value ? old : value;
    case AGX_ATOMIC_UMAX: return old > value ? old : value;
    case AGX_ATOMIC_IMAX: return (int32_t)old > (int32_t)value ? old : value;
    case AGX_ATOMIC_AND: return old & value;
    case AGX_ATOMIC_OR: return old | value;
    default: return old ^ value;
    }
}

/* `at` is a multiple of 4, because bases are rounded down and offsets count words. */
static uint32_t exchange(unsigned atomic, uint8_t *at, uint32_t value, uint32_t expected)
{
    uint32_t *word = (uint32_t *)(void *)at;
    uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (
        !__atomic_compare_exchange_n(word, &old, after(atomic, old, value, expected), false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        continue;
    return old;
}

static void exchange64(enum gpu_atomic_wide wide, uint8_t *at, uint64_t value)
{
    uint64_t *word = (uint64_t *)(void *)at;
    uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (wide == GPU_ATOMIC_UMIN64 ? value < old : value > old)
        if (__atomic_compare_exchange_n(word, &old, value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            break;
}

static const struct gpu_op *atomic(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const enum gpu_atomic_wide wide = gpu_atomic_wide(op->inst, group->group->program->generation);
    struct gpu_access access;
    uint32_t value[GPU_LANES], second[GPU_LANES] = {0}, old[GPU_LANES];
    gpu_access_of(group, op, &access);
    gpu_read_raw(group, &op->source[0], 0, value);
    if (op->source[0].count > 1)
        gpu_read_raw(group, &op->source[0], 1, second);
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        if (!(group->mask >> lane & 1))
            continue;
        const uint64_t address = access.address[lane];
        uint8_t *at = mem_at(group->group->launch.space, address, access.bytes, MEM_READ | MEM_WRITE);
        if (!at)
            return gpu_fault_device(group, op, lane, address, access.bytes, MEM_READ | MEM_WRITE);
        if (address % access.bytes) /* 64-bit accesses at an odd word */
            return gpu_fault(group, op, UNIT_FAULT_ALIGNMENT, address,
                             "lane %u of simdgroup %u: address 0x%llx is no multiple of %u", lane, group->number,
                             (unsigned long long)address, access.bytes);
        if (wide != GPU_ATOMIC_NARROW)
            exchange64(wide, at, value[lane] | (uint64_t)second[lane] << 32);
        else
            old[lane] = exchange(op->inst->atomic, at, value[lane], second[lane]);
    }
    if (op->dst_kind != GPU_NONE)
        gpu_write_tuple(group, 2U * op->dst_word, true, 0, old, group->mask);
    return op->next;
}

static const struct gpu_op *threadgroup_atomic(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const struct gpu_group *all = group->group;
    struct gpu_access access;
    uint32_t value[GPU_LANES], second[GPU_LANES] = {0}, old[GPU_LANES];
    gpu_access_of(group, op, &access);
    gpu_read_raw(group, &op->source[0], 0, value);
    if (op->source[0].count > 1)
        gpu_read_raw(group, &op->source[0], 1, second);
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        const uint64_t address = access.address[lane];
        if (!(group->mask >> lane & 1))
            continue;
        if (address >= all->memory_bytes || 4 > all->memory_bytes - address)
            return gpu_fault(group, op, UNIT_FAULT_UNMAPPED, address,
                             "lane %u of simdgroup %u: threadgroup memory byte %lld of %u", lane, group->number,
                             (long long)address, all->memory_bytes);
        memcpy(&old[lane], all->memory + address, 4);
        const uint32_t new = after(op->inst->atomic, old[lane], value[lane], second[lane]);
        memcpy(all->memory + address, &new, 4);
    }
    if (op->dst_kind != GPU_NONE)
        gpu_write_tuple(group, 2U * op->dst_word + (op->dst_kind == GPU_HIGH), op->dst_kind == GPU_WORD, 0, old, group->mask);
    return op->next;
}

gpu_handler *gpu_plain_atomic(unsigned op)
{
    switch (op) {
    case AGX_OP_ATOMIC: return atomic;
    case AGX_OP_THREADGROUP_ATOMIC: return threadgroup_atomic;
    default: return NULL;
    }
}
