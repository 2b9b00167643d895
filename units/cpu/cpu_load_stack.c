/* The first stack of a program, as Linux for AArch64 lays it out:
 *
 *   sp -> argc | argv[0..argc-1] NULL | envp... NULL | auxiliary vector ... AT_NULL | strings, 16 random bytes
 *
 * Which entries a static C library wants was found by running one. HWCAP names what the cores of every chip execute. It leaves
 * out CPUID, so that C libraries do not choose by the make of the core, and what is not simulated (SM3 and SM4, SVE, pointer
 * authentication, SB, SSBS, DIT, atomics on what is not aligned). I8MM and BF16 are not announced, since M1 has neither.
 * Constants: Linux include/uapi/linux/auxvec.h, arch/arm64/include/uapi/asm/hwcap.h.
 */
#include "isa/rounding.h"
#include "units/cpu/cpu_load_internal.h"
#include "units/cpu/cpu_random.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#define DEFAULT_STACK_BYTES    (UINT64_C(8) << 20)
#define CLOCK_TICKS_PER_SECOND 100
/* Bits of AT_HWCAP and AT_HWCAP2. */
enum {
    L_FP = 1 << 0,
    L_ASIMD = 1 << 1,
    L_AES = 1 << 3,
    L_PMULL = 1 << 4,
    L_SHA1 = 1 << 5,
    L_SHA2 = 1 << 6,
    L_CRC32 = 1 << 7,
    L_ATOMICS = 1 << 8,
    L_FPHP = 1 << 9,
    L_ASIMDHP = 1 << 10,
    L_ASIMDRDM = 1 << 12,
    L_JSCVT = 1 << 13,
    L_FCMA = 1 << 14,
    L_LRCPC = 1 << 15,
    L_DCPOP = 1 << 16,
    L_SHA3 = 1 << 17,
    L_ASIMDDP = 1 << 20,
    L_SHA512 = 1 << 21,
    L_ASIMDFHM = 1 << 23,
    L_ILRCPC = 1 << 26,
    L_FLAGM = 1 << 27,
    L_HWCAP = L_FP | L_ASIMD | L_AES | L_PMULL | L_SHA1 | L_SHA2 | L_CRC32 | L_ATOMICS | L_FPHP | L_ASIMDHP | L_ASIMDRDM |
              L_JSCVT | L_FCMA | L_LRCPC | L_DCPOP | L_SHA3 | L_ASIMDDP | L_SHA512 | L_ASIMDFHM | L_ILRCPC | L_FLAGM,
    L_FLAGM2 = 1 << 7,
    L_FRINT = 1 << 8,
    L_HWCAP2 = L_FLAGM2 | L_FRINT
};
enum { STRINGS_LIMIT = 1 << 20, WORDS_LIMIT = 4096 };

/* Strings grow down from the top, words grow up from the future sp. */
struct builder {
    struct mem_space *space;
    uint64_t low, top; /* the stack's pages */
    uint64_t strings;  /* lowest address used by strings */
    uint64_t word[WORDS_LIMIT];
    uint32_t words;
    bool full;
};

static uint64_t push_bytes(struct builder *b, const void *bytes, size_t size)
{
    if (size > STRINGS_LIMIT || b->top - b->strings + size > STRINGS_LIMIT || size > b->strings - b->low) {
        b->full = true;
        return 0;
    }
    b->strings -= size;
    memcpy(b->space->host + b->strings, bytes, size);
    return b->strings;
}

static uint64_t push_string(struct builder *b, const char *text)
{
    return push_bytes(b, text, strlen(text) + 1);
}

static void add_word(struct builder *b, uint64_t word)
{
    if (b->words == WORDS_LIMIT)
        b->full = true;
    else
        b->word[b->words++] = word;
}

static void add_pair(struct builder *b, uint64_t key, uint64_t value)
{
    add_word(b, key);
    add_word(b, value);
}

static uint64_t push_random(struct builder *b, uint64_t seed)
{
    const uint64_t first = cpu_random(&seed), bytes[2] = {first, cpu_random(&seed)};
    return push_bytes(b, bytes, sizeof bytes);
}

static void add_auxiliary(struct builder *b, const struct cpu_image *image, uint64_t seed, uint64_t name)
{
    if (image->phdr_addr) {
        add_pair(b, AT_PHDR, image->phdr_addr);
        add_pair(b, AT_PHENT, sizeof(Elf64_Phdr));
        add_pair(b, AT_PHNUM, image->elf->phdr_count);
    }
    add_pair(b, AT_PAGESZ, image->page_bytes);
    add_pair(b, AT_BASE, 0);
    add_pair(b, AT_FLAGS, 0);
    add_pair(b, AT_ENTRY, image->entry);
    add_pair(b, AT_UID, 1000);
    add_pair(b, AT_EUID, 1000);
    add_pair(b, AT_GID, 1000);
    add_pair(b, AT_EGID, 1000);
    add_pair(b, AT_SECURE, 0);
    add_pair(b, AT_HWCAP, L_HWCAP);
    add_pair(b, AT_HWCAP2, L_HWCAP2);
    add_pair(b, AT_CLKTCK, CLOCK_TICKS_PER_SECOND);
    add_pair(b, AT_PLATFORM, push_string(b, "aarch64"));
    add_pair(b, AT_RANDOM, push_random(b, seed));
    add_pair(b, AT_EXECFN, name);
    add_pair(b, AT_NULL, 0);
}

static void build(struct builder *b, const struct cpu_image *image, const struct cpu_stack_params *params)
{
    uint64_t name = 0;
    add_word(b, params->argc);
    for (uint32_t i = 0; i < params->argc && !b->full; i++) {
        const uint64_t at = push_string(b, params->argv[i]);
        name = i ? name : at;
        add_word(b, at);
    }
    add_word(b, 0);
    for (uint32_t i = 0; i < params->envc && !b->full; i++)
        add_word(b, push_string(b, params->envp[i]));
    add_word(b, 0);
    add_auxiliary(b, image, params->seed, name ? name : push_string(b, "program"));
}

bool cpu_load_stack(struct mem_space *space, const struct cpu_image *image, const struct cpu_stack_params *params,
                    struct cpu_stack *stack, struct isa_error *error)
{
    const uint64_t bytes = round_up(params->bytes ? params->bytes : DEFAULT_STACK_BYTES, MEM_PAGE_BYTES);
    if (params->bytes > space->bytes || bytes + 2 * MEM_PAGE_BYTES > space->bytes)
        return elf_refuse(error, 0,
                          "a stack of 0x%" PRIx64 " bytes does not fit the simulated address space of 0x%" PRIx64 " bytes", bytes,
                          space->bytes);
    struct builder b = {.space = space, .top = space->bytes - MEM_PAGE_BYTES}; /* the last page stays a guard */
    b.low = b.top - bytes;
    b.strings = b.top;
    if (!cpu_load_claim(space, b.low, bytes, "the stack", error))
        return false;
    *stack = (struct cpu_stack){.sp = b.top - 16, .low = b.low, .top = b.top};
    if (!image)
        return true;
    build(&b, image, params);
    const uint64_t words_bytes = (uint64_t)b.words * 8;
    if (b.full || words_bytes + 16 > b.strings - b.low)
        return elf_refuse(error, 0,
                          "arguments and environment do not fit the stack: at most %d words and %d bytes of "
                          "text",
                          WORDS_LIMIT, STRINGS_LIMIT);
    stack->sp = (b.strings - words_bytes) & ~UINT64_C(15);
    memcpy(space->host + stack->sp, b.word, words_bytes);
    return true;
}
