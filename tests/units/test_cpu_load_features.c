/* What a program is told of its cores holds: each feature of the auxiliary vector comes with an instruction that is executed, and
 * nothing else is promised. Bits: Linux, arch/arm64/include/uapi/asm/hwcap.h. */
#include "isa/a64/a64_isa.h"
#include "tests/support/suite.h"
#include "units/cpu/cpu_load.h"

#include <elf.h>
#include <string.h>

enum { WORDS_MOST = 200 };

/* The value of an entry of the auxiliary vector, which follows argc, argv, envp and their ends. */
static uint64_t auxiliary(const struct mem_space *space, const struct cpu_stack *stack, uint64_t key)
{
    uint64_t word[WORDS_MOST] = {0};
    const uint64_t bytes = stack->top - stack->sp;
    memcpy(word, space->host + stack->sp, bytes < sizeof word ? bytes : sizeof word);
    unsigned at = 1;
    for (unsigned ends = 0; ends < 2 && at + 2 < WORDS_MOST; at++)
        ends += word[at] == 0;
    for (; word[at] != AT_NULL && at + 2 < WORDS_MOST; at += 2)
        if (word[at] == key)
            return word[at + 1];
    return 0;
}

/* fadd (twice), aese, pmull, sha1h, sha256su0, crc32b, ldadd, fadd in half precision (twice), sqrdmlah, fjcvtzs, fcadd, ldaprb,
 * dc cvap, eor3, sdot, sha512h, fmlal, ldapur, cfinv; from bit 32 on, of the second word: axflag, frint32z. */
static void test_features(void)
{
    static const uint32_t promise[64] = {
        [0] = 0x1e202800,  [1] = 0x4e20d400,  [3] = 0x4e284800,  [4] = 0x0ee0e000,  [5] = 0x5e280800,  [6] = 0x5e282800,
        [7] = 0x1ac04000,  [8] = 0xb8200000,  [9] = 0x1ee02800,  [10] = 0x0e401400, [12] = 0x2e408400, [13] = 0x1e7e0000,
        [14] = 0x2e80e400, [15] = 0x38bfc000, [16] = 0xd50b7c20, [17] = 0xce000000, [20] = 0x0e809400, [21] = 0xce608000,
        [23] = 0x0e20ec00, [26] = 0x99400000, [27] = 0xd500401f, [39] = 0xd500405f, [40] = 0x1e284000};
    static const char *const argv[] = {"program"};
    const struct cpu_stack_params params = {.bytes = 1 << 16, .argv = argv, .argc = 1};
    const struct cpu_image image = {.page_bytes = 16384};
    struct mem_space *const space = mem_space_create(UINT64_C(1) << 26);
    struct cpu_stack stack = {0};
    struct isa_error error;
    CU_ASSERT_TRUE_FATAL(space && cpu_load_stack(space, &image, &params, &stack, &error));
    const uint64_t told = auxiliary(space, &stack, AT_HWCAP) | auxiliary(space, &stack, AT_HWCAP2) << 32;
    for (unsigned i = 0; i < 64; i++) {
        struct a64_insn insn;
        a64_decode(promise[i], &insn);
        CHECK((told >> i & 1) == (insn.form != A64_UNDEFINED), "feature %u, by %08x", i, promise[i]);
    }
    CU_ASSERT_EQUAL(auxiliary(space, &stack, AT_PAGESZ), 16384);
    mem_space_free(space);
}

static const struct suite_test tests[] = {{"programs are told what the cores execute, and no more", test_features}};
SUITE_MAIN("cpu-load-features", tests)
