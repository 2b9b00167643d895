/* Vector handlers against the plain path: random programs of every form, all lanes and partial masks, on every host instruction
 * set that is there. The plain path itself is held to dougallj/applegpu's vectors elsewhere. */
#include "tests/units/gpu_exec_example.h"

#include <inttypes.h>

#define PROGRAMS    6000
#define LENGTH      24
#define BLOCK_BYTES MEM_PAGE_BYTES /* all that is mapped */
#define GROUP_BYTES 4096
#define OFFSET_WORD 40 /* register that holds small offsets */
#define BASE_WORD   42 /* registers that hold addresses in the block */

struct machine {
    struct mem_space *space;
    uint64_t block;
    uint8_t *bytes;
};

struct outcome {
    enum gpu_step step;
    struct gpu_lanes lanes;
    struct unit_fault fault;
    struct gpu_counts counts;
    uint64_t issued[LENGTH + 1];
    uint8_t bytes[BLOCK_BYTES];
};

static struct gpu_lanes start;
static uint16_t uniforms[AGX_UNIFORM_HALVES];
static struct outcome expected, got;

/* Mostly around 1, a third special: zeros, denormals, infinities, NaN, smallest normal numbers, halves, small integers. */
static uint32_t random_word(uint64_t *seed)
{
    static const uint32_t special[] = {0,          0x80000000, 0x3f800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                       0x00800000, 0x80800000, 0x007fffff, 0x3f7fffff, 0x00800001, 0x3c003c00,
                                       0x7e000001, 0x04008001, 17,         0x1f};
    const uint64_t x = suite_random(seed);
    switch (x >> 60) {
    case 0:
    case 1:
    case 2: return special[x >> 40 & 15];
    case 3: return (uint32_t)x & 0x3f;
    case 4:
    case 5: return (uint32_t)x;
    case 6: return ((uint32_t)x & 0x81ffffff) | 0x00800000;
    case 7: return ((uint32_t)x & 0x87ff87ff) | 0x38003800;
    default: return ((uint32_t)x & 0x81ffffff) | 0x3e000000;
    }
}

static void randomise(struct machine *m, uint64_t *seed)
{
    for (unsigned r = 0; r < AGX_REGISTERS; r++)
        for (unsigned lane = 0; lane < GPU_LANES; lane++)
            start.word[r][lane] = random_word(seed);
    const uint64_t way = suite_random(seed);
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        const uint32_t low = way & 1 ? lane : way & 2 ? 7 : (uint32_t)(suite_random(seed) & 63);
        start.word[OFFSET_WORD][lane] = low;
        const uint64_t base = m->block + (way & 0x40 ? 0 : way & 0x80 ? 8 * lane : suite_random(seed) & 255);
        start.word[BASE_WORD][lane] = (uint32_t)base;
        start.word[BASE_WORD + 1][lane] = (uint32_t)(base >> 32);
        start.word[0][lane] = (start.word[0][lane] & 0xffff0000) | (way & 12 ? 0 : (uint32_t)(suite_random(seed) & 3));
    }
    start.mask = way & 0x30 ? UINT32_MAX : (uint32_t)suite_random(seed);
    for (unsigned i = 0; i < AGX_UNIFORM_HALVES; i++)
        uniforms[i] = (uint16_t)random_word(seed);
    for (unsigned i = 0; i < 4; i++)
        uniforms[i] = (uint16_t)(m->block >> 16 * i);
}

static void set_field(struct agx_inst *inst, const char *name, uint32_t value)
{
    for (unsigned i = 0; i < agx_form_field_count(inst->form); i++)
        if (strcmp(agx_form_field_name(inst->form, i), name) == 0)
            inst->field[i] = value;
}

/* Most addresses inside the block, some anywhere. */
static void tame_memory(struct agx_inst *inst, uint64_t *seed)
{
    const bool device = inst->op == AGX_OP_DEVICE_LOAD || inst->op == AGX_OP_DEVICE_STORE || inst->op == AGX_OP_ATOMIC;
    const bool group =
        inst->op == AGX_OP_THREADGROUP_LOAD || inst->op == AGX_OP_THREADGROUP_STORE || inst->op == AGX_OP_THREADGROUP_ATOMIC;
    if (!device && !group)
        return;
    const bool by_register = device && suite_random(seed) % 3 == 0;
    set_field(inst, "A", by_register ? 2 * BASE_WORD : device ? 0 : 2 * OFFSET_WORD);
    set_field(inst, "At", device && !by_register);
    if (suite_random(seed) % 4) {
        set_field(inst, "O", 2 * OFFSET_WORD);
        set_field(inst, "Ot", 0);
    } else {
        set_field(inst, "O", (uint32_t)(suite_random(seed) & 63));
        set_field(inst, "Ot", 1);
    }
}

static bool moves_on(unsigned op)
{
    switch (op) {
    case AGX_OP_STOP:
    case AGX_OP_TRAP:
    case AGX_OP_RET:
    case AGX_OP_CALL:
    case AGX_OP_CALL_REGISTER:
    case AGX_OP_JMP_EXEC_ANY:
    case AGX_OP_JMP_EXEC_NONE:
    case AGX_OP_JMP_INCOMPLETE:
    case AGX_OP_UNIFORM_STORE:
    case AGX_OP_STACK_ADJUST:
    case AGX_OP_STACK_LOAD:
    case AGX_OP_STACK_STORE: return false;
    default: return true;
    }
}

/* A random instruction that the executing side takes; its length. */
static size_t random_instruction(uint64_t *seed, uint8_t code[AGX_MAX_BYTES])
{
    for (;;) {
        struct agx_inst inst = {.form = (uint16_t)(suite_random(seed) % agx_form_count()), .op = AGX_OP_STOP}; /* some op */
        for (unsigned i = 0; i < agx_form_field_count(inst.form); i++)
            inst.field[i] = (uint32_t)suite_random(seed);
        agx_encode(&inst, code);
        if (agx_decode(code, AGX_MAX_BYTES, &inst) == 0)
            continue;
        tame_memory(&inst, seed);
        const size_t bytes = agx_encode(&inst, code);
        uint8_t probe[AGX_MAX_BYTES + 2] = {0};
        memcpy(probe, code, bytes);
        probe[bytes] = 0x88;
        struct unit_fault fault;
        if (agx_decode(code, bytes, &inst) != bytes || !moves_on(inst.op))
            continue;
        struct gpu_program *program = gpu_program_create(probe, bytes + 2, 0, GPU_G13, &fault);
        gpu_program_free(program);
        if (program)
            return bytes;
    }
}

static void run(const struct gpu_launch *launch, const struct machine *m, const char *path, struct outcome *out)
{
    struct gpu_group *group = gpu_example_group(launch, path);
    memset(out, 0, sizeof *out);
    uint64_t seed = 99;
    for (unsigned i = 0; i < BLOCK_BYTES; i += 8) {
        const uint64_t x = suite_random(&seed);
        memcpy(m->bytes + i, &x, 8);
    }
    gpu_group_start_bare(group, &start);
    out->step = gpu_group_run(group, 0, 0, NULL, &out->fault);
    gpu_group_read_state(group, 0, &out->lanes);
    out->counts = gpu_group_counts(group);
    gpu_group_issue_counts(group, out->issued);
    memcpy(out->bytes, m->bytes, BLOCK_BYTES);
    gpu_group_free(group);
}

static void explain(const uint8_t *code, size_t bytes, const char *path, uint64_t number)
{
    for (unsigned r = 0; r < AGX_REGISTERS; r++)
        for (unsigned lane = 0; lane < GPU_LANES; lane++)
            if (got.lanes.word[r][lane] != expected.lanes.word[r][lane]) {
                CHECK(false, "%s program %" PRIu64 ": r%u lane %u is %08x, should be %08x", path, number, r, lane,
                      got.lanes.word[r][lane], expected.lanes.word[r][lane]);
                r = AGX_REGISTERS - 1;
                break;
            }
    for (size_t pc = 0; pc < bytes;) {
        struct agx_inst inst;
        char text[AGX_TEXT_BYTES];
        const size_t length = agx_decode(code + pc, bytes - pc, &inst);
        agx_disasm(&inst, text, sizeof text);
        fprintf(stderr, "    %s\n", text);
        pc += length;
    }
}

static bool same(void)
{
    return got.step == expected.step && memcmp(&got.lanes, &expected.lanes, sizeof got.lanes) == 0 &&
           got.fault.kind == expected.fault.kind && got.fault.pc == expected.fault.pc &&
           got.fault.address == expected.fault.address && strcmp(got.fault.text, expected.fault.text) == 0 &&
           got.counts.instructions == expected.counts.instructions && got.counts.active_lanes == expected.counts.active_lanes &&
           memcmp(got.issued, expected.issued, sizeof got.issued) == 0 && memcmp(got.bytes, expected.bytes, BLOCK_BYTES) == 0;
}

static unsigned one_program(struct machine *m, uint64_t number, uint64_t *finished)
{
    uint8_t code[(LENGTH + 1) * AGX_MAX_BYTES] = {0};
    uint64_t seed = number * 1000003;
    size_t bytes = 0;
    struct unit_fault fault;
    randomise(m, &seed);
    for (unsigned i = 0; i < LENGTH; i++) {
        uint8_t word[AGX_MAX_BYTES] = {0};
        const size_t length = random_instruction(&seed, word);
        memcpy(code + bytes, word, length);
        bytes += length;
    }
    code[bytes] = 0x88; /* stop */
    struct gpu_program *program = gpu_program_create(code, bytes + 2, 0, GPU_G13, &fault);
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    const uint32_t threads = number % 5 ? GPU_LANES : 20;
    const struct gpu_launch launch = {.program = program,
                                      .uniforms = uniforms,
                                      .grid_threads = {threads, 1, 1},
                                      .group_threads = {threads, 1, 1},
                                      .threadgroup_memory_bytes = GROUP_BYTES,
                                      .space = m->space};
    run(&launch, m, "reference", &expected);
    *finished += expected.step == GPU_STEP_DONE;
    unsigned wrong = 0;
    for (unsigned i = 1; i < GPU_PATHS; i++) {
        struct gpu_group *there = gpu_example_group(&launch, gpu_paths[i]);
        gpu_group_free(there);
        if (!there)
            continue;
        run(&launch, m, gpu_paths[i], &got);
        /* What a simdgroup wrote before its fault is not promised. */
        if (expected.step == GPU_STEP_FAULT)
            memcpy(got.bytes, expected.bytes, BLOCK_BYTES);
        if (!same()) {
            wrong++;
            CHECK(false, "%s program %" PRIu64 " differs: %s / %s", gpu_paths[i], number, got.fault.text, expected.fault.text);
            explain(code, bytes, gpu_paths[i], number);
        }
    }
    gpu_program_free(program);
    return wrong;
}

static void test_random_programs(void)
{
    struct machine m = {.space = mem_space_create(64 * MEM_PAGE_BYTES)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(m.space);
    m.block = mem_space_alloc(m.space, BLOCK_BYTES, 128);
    m.bytes = mem_at(m.space, m.block, BLOCK_BYTES, MEM_READ | MEM_WRITE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m.bytes);
    uint64_t finished = 0;
    unsigned wrong = 0;
    for (uint64_t number = 1; number <= PROGRAMS && wrong < 5; number++)
        wrong += one_program(&m, number, &finished);
    CU_ASSERT_EQUAL(wrong, 0);
    CHECK(finished > PROGRAMS / 4, "only %" PRIu64 " programs ran to their end", finished);
    mem_space_free(m.space);
}

static const struct suite_test tests[] = {{"every path gives the bits of the plain one", test_random_programs}};
SUITE_MAIN("gpu execution paths", tests)
