/* Blocks: decoding, the hash by pc, and forgetting blocks whose bytes were written. Blocks stay allocated as long as the core,
 * because traces point at them; a forgotten block is just not found or linked any more. */
#include "units/cpu/cpu_exec.h"
#include "units/cpu/cpu_exec_hot.h"
#include "units/cpu/cpu_exec_loop.h"

#include <stdlib.h>
#include <string.h>

static uint32_t bucket_of(const struct cpu_core *core, uint64_t pc)
{
    return (uint32_t)((pc >> 2) * UINT64_C(0x9E3779B97F4A7C15) >> 40) & core->bucket_mask;
}

struct cpu_code *cpu_code_find(struct cpu_core *core, uint64_t pc)
{
    struct cpu_code *code = core->bucket ? core->bucket[bucket_of(core, pc)] : NULL;
    while (code && code->block.pc != pc)
        code = code->bucket_next;
    return code;
}

static void bucket_insert(struct cpu_core *core, struct cpu_code *code)
{
    struct cpu_code **head = &core->bucket[bucket_of(core, code->block.pc)];
    code->bucket_next = *head;
    *head = code;
}

/* Doubles the buckets when blocks outnumber them. */
static bool grow_buckets(struct cpu_core *core)
{
    if (core->bucket && core->code_count <= core->bucket_mask)
        return true;
    const uint32_t count = core->bucket ? 2 * (core->bucket_mask + 1) : 1024;
    struct cpu_code **bucket = calloc(count, sizeof *bucket);
    if (!bucket)
        return false;
    free(core->bucket);
    core->bucket = bucket;
    core->bucket_mask = count - 1;
    for (uint32_t i = 0; i < core->code_count; i++)
        if (core->code[i]->alive)
            bucket_insert(core, core->code[i]);
    return true;
}

static bool grow_list(struct cpu_core *core)
{
    if (core->code_count < core->code_capacity)
        return true;
    const uint32_t capacity = core->code_capacity ? 2 * core->code_capacity : 256;
    struct cpu_code **list = realloc(core->code, capacity * sizeof *list);
    if (!list)
        return false;
    core->code = list;
    core->code_capacity = capacity;
    return true;
}

static struct cpu_code_page *page_find(struct cpu_core *core, uint64_t number)
{
    for (uint32_t i = 0; i < core->page_count; i++)
        if (core->page[i].number == number)
            return &core->page[i];
    return NULL;
}

static struct cpu_code_page *page_make(struct cpu_core *core, uint64_t number)
{
    struct cpu_code_page *page = page_find(core, number);
    if (page)
        return page;
    if (core->page_count == core->page_capacity) {
        const uint32_t capacity = core->page_capacity ? 2 * core->page_capacity : 8;
        struct cpu_code_page *list = realloc(core->page, capacity * sizeof *list);
        if (!list)
            return NULL;
        core->page = list;
        core->page_capacity = capacity;
    }
    page = &core->page[core->page_count++];
    memset(page, 0, sizeof *page);
    page->number = number;
    return page;
}

static bool word_marked(const struct cpu_code_page *page, uint64_t word)
{
    return page->words[word >> 6] >> (word & 63) & 1;
}

/* Marks `count` words at pc, all in one page, as decoded. */
static bool mark_words(struct cpu_core *core, uint64_t pc, uint32_t count)
{
    struct cpu_code_page *page = page_make(core, pc >> MEM_PAGE_SHIFT);
    if (!page)
        return false;
    for (uint64_t w = (pc & (MEM_PAGE_BYTES - 1)) >> 2, end = w + count; w < end; w++)
        page->words[w >> 6] |= UINT64_C(1) << (w & 63);
    return true;
}

static bool any_word_marked(struct cpu_core *core, uint64_t addr, uint64_t bytes)
{
    for (uint32_t i = 0; i < core->page_count; i++) {
        const uint64_t base = core->page[i].number << MEM_PAGE_SHIFT;
        if (addr >= base + MEM_PAGE_BYTES || addr + bytes <= base)
            continue;
        const uint64_t from = addr > base ? addr - base : 0;
        const uint64_t to = addr + bytes < base + MEM_PAGE_BYTES ? addr + bytes - base : MEM_PAGE_BYTES;
        for (uint64_t w = from >> 2; w <= (to - 1) >> 2; w++)
            if (word_marked(&core->page[i], w))
                return true;
    }
    return false;
}

static bool covers(const struct cpu_code *code, uint64_t addr, uint64_t bytes)
{
    return code->block.pc < addr + bytes && addr < code->block.pc + 4 * (uint64_t)code->block.count;
}

/* Links and jump caches may lead to any block, so all of them are cleared; this is rare. */
static void forget_links(struct cpu_core *core)
{
    memset(core->jump, 0, sizeof core->jump);
    memset(core->bucket, 0, (core->bucket_mask + (size_t)1) * sizeof *core->bucket);
    for (uint32_t i = 0; i < core->code_count; i++) {
        core->code[i]->link[0] = core->code[i]->link[1] = NULL;
        if (core->code[i]->alive)
            bucket_insert(core, core->code[i]);
    }
}

static void mark_again(struct cpu_core *core)
{
    core->page_count = 0;
    for (uint32_t i = 0; i < core->code_count; i++)
        if (core->code[i]->alive)
            (void)mark_words(core, core->code[i]->block.pc, core->code[i]->block.count);
}

static void forget_code(struct cpu_core *core, uint64_t addr, uint64_t bytes)
{
    if (bytes == 0 || !any_word_marked(core, addr, bytes))
        return;
    for (uint32_t i = 0; i < core->code_count; i++)
        if (covers(core->code[i], addr, bytes))
            core->code[i]->alive = false;
    forget_links(core);
    mark_again(core);
}

void cpu_code_written(struct cpu_core *core, uint64_t addr, uint64_t bytes)
{
    struct cpu_core *each = core;
    do {
        forget_code(each, addr, bytes);
        each = each->peer;
    } while (each != core);
}

/* Decodes from pc to the end of the block: a branch, the end of the page, or the largest size. */
static uint32_t decode_run(const struct cpu_core *core, const uint8_t *bytes, uint64_t pc, struct a64_insn *insn)
{
    const uint64_t to_page_end = (MEM_PAGE_BYTES - (pc & (MEM_PAGE_BYTES - 1))) / 4;
    const uint32_t most = to_page_end < CPU_BLOCK_MAX ? (uint32_t)to_page_end : CPU_BLOCK_MAX;
    uint32_t count = 0;
    while (count < most) {
        uint32_t word;
        memcpy(&word, bytes + 4 * (size_t)count, 4);
        a64_decode(word, &insn[count]);
        if (insn[count].flags & A64_INSN_V86 && !core->has_v86)
            a64_make_undefined(&insn[count]);
        if (insn[count++].flags & A64_INSN_ENDS_BLOCK)
            break;
    }
    return count;
}

/* Joins a comparison with the closing conditional branch after it. The branch's own operation stays behind, unused, because
 * blocks are entered only at their start. */
static void join_compare_branch(struct cpu_op *compare, const struct cpu_op *branch)
{
    static const uint16_t joined[] = {
        [HOT_B_EQ] = HOT_CMPB_IMM_W_EQ, [HOT_B_NE] = HOT_CMPB_IMM_W_NE, [HOT_B_CS] = HOT_CMPB_IMM_W_CS,
        [HOT_B_CC] = HOT_CMPB_IMM_W_CC, [HOT_B_HI] = HOT_CMPB_IMM_W_HI, [HOT_B_LS] = HOT_CMPB_IMM_W_LS,
        [HOT_B_GE] = HOT_CMPB_IMM_W_GE, [HOT_B_LT] = HOT_CMPB_IMM_W_LT, [HOT_B_GT] = HOT_CMPB_IMM_W_GT,
        [HOT_B_LE] = HOT_CMPB_IMM_W_LE,
    };
    const unsigned base = branch->go <= HOT_B_LE ? joined[branch->go] : 0;
    if (!base)
        return;
    switch (compare->go) {
    case HOT_SUBS_IMM_W: compare->go = base; break;
    case HOT_SUBS_IMM_X: compare->go = base + 1; break;
    case HOT_SUBS_NONE_W: compare->go = base + 2; break;
    case HOT_SUBS_NONE_X: compare->go = base + 3; break;
    default: break;
    }
}

/* `steering` NULL: every instruction is executed. */
static bool fill(struct cpu_code *code, uint64_t pc, const struct a64_insn *insn, uint32_t count,
                 const struct cpu_steering *steering)
{
    code->block = (struct cpu_block){.pc = pc, .count = count};
    code->block.insn = malloc(count * sizeof *insn);
    code->op = calloc(count + 1, sizeof *code->op);
    code->number = steering ? malloc(count + (size_t)1) : NULL;
    if (!code->block.insn || !code->op || (steering && !code->number))
        return false;
    memcpy(code->block.insn, insn, count * sizeof *insn);
    for (uint32_t i = 0; i < count; i++) {
        const struct a64_insn *const own = &code->block.insn[i];
        struct cpu_op *const op = &code->op[code->ops];
        unsigned hot = HOT_UNMODELLED;
        code->block.mem_count += cpu_traces_address(own);
        if (steering && steering->without[i])
            continue;
        cpu_select(own, pc + 4 * (uint64_t)i, op, &hot);
        op->go = hot;
        if (code->number)
            code->number[code->ops] = (uint8_t)i;
        code->ops++;
    }
    code->op[code->ops].go = HOT_CLOSE;
    if (code->number)
        code->number[code->ops] = (uint8_t)(count - 1);
    code->loop = steering ? NULL : cpu_loop_find(insn, count);
    if (code->loop)
        code->op[code->ops - 1].go = HOT_LOOP_NE;
    else if (code->ops > 1)
        join_compare_branch(&code->op[code->ops - 2], &code->op[code->ops - 1]);
    code->target = pc + 4 * (uint64_t)(count - 1) + (uint64_t)insn[count - 1].imm;
    return true;
}

static void free_code(struct cpu_code *code)
{
    if (!code)
        return;
    free(code->block.insn);
    free(code->op);
    free(code->number);
    free(code->loop);
    free(code);
}

static struct cpu_code *out_of_memory(struct cpu_core *core, struct cpu_code *code)
{
    free_code(code);
    cpu_fault_set(core, UNIT_FAULT_UNMODELLED, 0, "the host has no memory for decoded code");
    return NULL;
}

static struct cpu_code *fetch_fault(struct cpu_core *core, uint64_t pc)
{
    bool unmapped = true;
    uint64_t bad = pc;
    (void)mem_space_explain(core->space, pc, 4, MEM_EXEC, &unmapped, &bad);
    cpu_fault_set(core, unmapped ? UNIT_FAULT_UNMAPPED : UNIT_FAULT_PERMISSION, pc,
                  unmapped ? "instruction fetch from an unmapped address"
                           : "instruction fetch from a page without execute permission");
    core->fault.pc = pc;
    return NULL;
}

static struct cpu_code *strayed(struct cpu_core *core, uint64_t pc)
{
    core->strayed = true;
    cpu_fault_set(core, UNIT_FAULT_UNMODELLED, 0, "what a vector register holds steers, and vectors have no values");
    core->fault.pc = pc;
    return NULL;
}

struct cpu_code *cpu_code_make(struct cpu_core *core, uint64_t pc)
{
    if (pc & 3) {
        cpu_fault_set(core, UNIT_FAULT_ALIGNMENT, pc, "instruction fetch from an address that is no multiple of 4");
        core->fault.pc = pc;
        return NULL;
    }
    const uint8_t *bytes = mem_at(core->space, pc, 4, MEM_EXEC);
    if (!bytes)
        return fetch_fault(core, pc);
    struct a64_insn insn[CPU_BLOCK_MAX];
    const uint32_t count = decode_run(core, bytes, pc, insn);
    struct cpu_steering steering = {{0}};
    if (core->steers && !cpu_steering_find(&steering, insn, count))
        return strayed(core, pc);
    struct cpu_code *code = calloc(1, sizeof *code);
    if (!code || !fill(code, pc, insn, count, core->steers ? &steering : NULL) || !grow_list(core) || !grow_buckets(core) ||
        !mark_words(core, pc, count))
        return out_of_memory(core, code);
    code->block.id = core->code_count;
    code->alive = true;
    core->code[core->code_count++] = code;
    bucket_insert(core, code);
    return code;
}

void cpu_code_free(struct cpu_core *core)
{
    for (uint32_t i = 0; i < core->code_count; i++)
        free_code(core->code[i]);
    free(core->code);
    free(core->bucket);
    free(core->page);
}
