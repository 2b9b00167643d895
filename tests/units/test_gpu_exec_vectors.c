/* Samples of dougallj/applegpu's answers (tests/golden/agx/README.md): single instructions, programs with nested masks, loads in
 * every format; on every path of the executing side. */
#include "tests/units/gpu_exec_example.h"

#include <inttypes.h>
#include <zlib.h>

#define REGISTERS    16 /* of the vectors' machine */
#define MEMORY_BASE  0x10000
#define MEMORY_BYTES 0x1000

static struct gpu_lanes before, after;
static uint16_t uniforms[AGX_UNIFORM_HALVES];
static struct mem_space *space;

/* One line, whatever its kind. */
struct vector {
    uint64_t seed, hash, alternative; /* alternative: with the IEEE sign of zero products, 0 = the same */
    char mode, hex[512], counter[4];
    unsigned mask, mask_after, misaligned;
    uint8_t code[260];
    size_t bytes;
};

static uint32_t half_value(uint32_t c)
{
    static const uint16_t special[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x0400,
                                       0x8400, 0x03ff, 0x7bff, 0xfbff, 0x3c01, 0x0001, 0x8001, 0x3800};
    const uint32_t low = c & 0xffff, p = c >> 16 & 7;
    return p < 4    ? low
           : p == 4 ? special[low & 15]
           : p == 5 ? (low & 0x87ff) | 0x3800
           : p == 6 ? low & 0x83ff
                    : (low & 0x8fff) | 0x3000;
}

static uint32_t float_value(uint32_t low, uint32_t p)
{
    static const uint32_t special[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                       0x7fc00000, 0x00800000, 0x80800000, 0x007fffff, 0x7f7fffff, 0xff7fffff,
                                       0x3f800001, 0x33800000, 0x477fe000, 0x38800000};
    switch (p) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5: return low;
    case 6:
    case 7:
    case 8: return (low & 0x81ffffff) | 0x3e000000;
    case 9:
    case 10: return special[low & 15];
    case 11: return low & 0x807fffff;
    case 12: return (low & 0x80ffffff) | 0x00800000;
    case 13: return (low & 0x80ffffff) | 0x7e000000;
    default: return (low & 0x87ffffff) | 0x38000000;
    }
}

static uint32_t value(uint64_t x, char mode)
{
    const uint32_t low = (uint32_t)x, high = (uint32_t)(x >> 32);
    switch (mode) {
    case 's': return low & 0x3f;
    case 'f': return float_value(low, high & 15);
    case 'h': return half_value(low) | half_value(high) << 16;
    default: return low;
    }
}

static uint64_t hash_state(const struct gpu_lanes *lanes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const uint8_t *at = (const uint8_t *)lanes->word;
    for (size_t i = 0; i < REGISTERS * GPU_LANES * 4; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    for (unsigned i = 0; i < 4; i++)
        hash = (hash ^ (lanes->mask >> 8 * i & 0xff)) * UINT64_C(0x100000001b3);
    return hash;
}

static void fill_state(struct vector *v)
{
    uint64_t seed = v->seed;
    memset(&before, 0, sizeof before);
    for (unsigned r = 0; r < REGISTERS; r++)
        for (unsigned lane = 0; lane < GPU_LANES; lane++)
            before.word[r][lane] = value(suite_random(&seed), v->mode);
    for (unsigned u = 0; u < 128; u++) {
        const uint32_t word = value(suite_random(&seed), v->mode);
        uniforms[2 * u] = (uint16_t)word;
        uniforms[2 * u + 1] = (uint16_t)(word >> 16);
    }
    for (unsigned lane = 0; lane < GPU_LANES && v->counter[0] == 'n'; lane++)
        before.word[0][lane] = (before.word[0][lane] & 0xffff0000) | (uint32_t)(suite_random(&seed) >> 40 & 3);
    before.mask = v->mask;
}

static void fill_load_state(struct vector *v)
{
    uint64_t seed = v->seed;
    uint8_t *memory = mem_at(space, MEMORY_BASE, MEMORY_BYTES, MEM_WRITE);
    memset(&before, 0, sizeof before);
    for (unsigned i = 0; i < MEMORY_BYTES; i += 8) {
        const uint64_t x = suite_random(&seed);
        memcpy(memory + i, &x, 8);
    }
    for (unsigned r = 0; r < REGISTERS; r++)
        for (unsigned lane = 0; lane < GPU_LANES; lane++)
            before.word[r][lane] = (uint32_t)suite_random(&seed);
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        before.word[12][lane] = MEMORY_BASE + 1024 + v->misaligned;
        before.word[13][lane] = 0;
        before.word[14][lane] = (uint32_t)(suite_random(&seed) & 0x3f) - 16;
    }
    before.mask = v->mask;
}

static bool parse(const char *line, char kind, struct vector *v)
{
    char hash[20], alternative[20] = "-";
    memset(v, 0, sizeof *v);
    v->mask = UINT32_MAX;
    int fields = 0;
    if (kind == 's')
        fields = sscanf(line, "%" SCNx64 " %c %3s %x %511s %x %19s %19s", &v->seed, &v->mode, v->counter, &v->mask, v->hex,
                        &v->mask_after, hash, alternative) == 8;
    else if (kind == 'p')
        fields = sscanf(line, "%" SCNx64 " %c %*u %511s %x %19s %19s", &v->seed, &v->mode, v->hex, &v->mask_after, hash,
                        alternative) == 6;
    else
        fields = sscanf(line, "%" SCNx64 " %u %x %511s %19s", &v->seed, &v->misaligned, &v->mask, v->hex, hash) == 5;
    v->hash = strtoull(hash, NULL, 16);
    v->alternative = alternative[0] == '-' ? 0 : strtoull(alternative, NULL, 16);
    v->bytes = strlen(v->hex) / 2;
    for (size_t i = 0; i < v->bytes; i++) {
        const char digits[3] = {v->hex[2 * i], v->hex[2 * i + 1], '\0'};
        v->code[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    v->code[v->bytes] = 0x88; /* stop */
    return fields == 1;
}

static void run_on(const struct vector *v, const char *path, const char *line)
{
    struct unit_fault fault;
    struct gpu_program *program = gpu_program_create(v->code, v->bytes + 2, 0, GPU_G13, &fault);
    CHECK(program != NULL, "%s: %.80s", fault.text, line);
    if (!program)
        return;
    const struct gpu_launch launch = {
        .program = program, .uniforms = uniforms, .grid_threads = {32, 1, 1}, .group_threads = {32, 1, 1}, .space = space};
    struct gpu_group *group = gpu_example_group(&launch, path);
    if (group) {
        gpu_group_start_bare(group, &before);
        CHECK(gpu_group_run(group, 0, 0, NULL, &fault) == GPU_STEP_DONE, "%s %s: %.80s", path, fault.text, line);
        gpu_group_read_state(group, 0, &after);
        /* Products keep the sign of zero (Vulkan conformance of the driver); applegpu's do not. */
        const uint64_t wanted = v->alternative ? v->alternative : v->hash;
        CHECK(hash_state(&after) == wanted, "%s: %.120s", path, line);
    }
    gpu_group_free(group);
    gpu_program_free(program);
}

static void check_file(const char *name, char kind, unsigned least)
{
    static char line[1 << 16];
    static struct vector v;
    unsigned count = 0;
    space = mem_space_create(8 * MEM_PAGE_BYTES);
    CU_ASSERT_TRUE_FATAL(space && mem_space_map(space, MEMORY_BASE, MEMORY_BYTES, MEM_READ | MEM_WRITE));
    gzFile file = gzopen(suite_golden(name), "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    while (gzgets(file, line, sizeof line)) {
        if (line[0] == '#')
            continue;
        const bool good = parse(line, kind, &v);
        CHECK(good, "%.80s", line);
        if (kind == 'l')
            fill_load_state(&v);
        else
            fill_state(&v);
        for (unsigned i = 0; i < GPU_PATHS && good; i++)
            run_on(&v, gpu_paths[i], line);
        count++;
    }
    gzclose(file);
    mem_space_free(space);
    CHECK(count >= least, "only %u lines", count);
}

static void test_single(void)
{
    check_file("agx/exec-single.txt.gz", 's', 370);
}

static void test_programs(void)
{
    check_file("agx/exec-program.txt.gz", 'p', 60);
}

static void test_loads(void)
{
    check_file("agx/exec-load.txt.gz", 'l', 80);
}

static const struct suite_test tests[] = {
    {"single instructions", test_single}, {"programs with nested masks", test_programs}, {"loads in every format", test_loads}};
SUITE_MAIN("gpu execution vectors", tests)
