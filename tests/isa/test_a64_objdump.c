/* The disassembler against binutils: compiled programs line by line, and random words of every form. */
#include "isa/a64/a64_isa.h"
#include "isa/a64/a64_table.h"
#include "isa/array_count.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OBJDUMP  "aarch64-linux-gnu-objdump"
#define COMPILER "aarch64-linux-gnu-gcc"

static bool have(const char *tool)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", tool);
    return system(command) == 0;
}

/* Removes comments, symbol names and trailing blanks; what is left is compared. */
static void normalise(char *text)
{
    char *cut = strstr(text, "//");
    if (cut)
        *cut = 0;
    cut = strchr(text, '<');
    if (cut)
        *cut = 0;
    for (size_t n = strlen(text); n && (text[n - 1] == ' ' || text[n - 1] == '\t' || text[n - 1] == '\n'); n--)
        text[n - 1] = 0;
}

struct tally {
    unsigned lines, different;
};

/* objdump writes targets with 0x in files without symbols, and without it in others; they are compared without. */
static void strip_target_prefix(const struct a64_insn *insn, char *text)
{
    const char *row = insn->form == A64_UNDEFINED ? "" : a64_rows[insn->form].text;
    const bool has_target = strstr(row, "%t") || strstr(row, "%T");
    char *prefix = has_target ? strstr(text, "\t0x") ? strstr(text, "\t0x") : strstr(text, ", 0x") : NULL;
    if (!prefix)
        return;
    prefix = strstr(prefix, "0x");
    memmove(prefix, prefix + 2, strlen(prefix + 2) + 1);
}

/* The modelled cores have neither memory tagging (in glibc's malloc) nor SVE (in its string functions; bits 28..25 = 2), so
 * undefined is right. */
static bool is_absent(uint32_t word, const char *text)
{
    static const char *const names[] = {"ldg\t",   "gmi\t",   "irg\t",    "stg\t",  "st2g\t", "stzg\t",
                                        "stz2g\t", "dc\tgva", "dc\tgzva", "addg\t", "subg\t", "subp"};
    if ((word >> 25 & 15) == 2)
        return true;
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (strncmp(text, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Checks a line of objdump: "   address:\tword \ttext". */
static void compare_line(char *line, struct tally *tally)
{
    unsigned long long pc;
    unsigned word;
    int at = 0;
    if (sscanf(line, " %llx: %x %n", &pc, &word, &at) != 2 || !at || strlen(line) < (size_t)at)
        return;
    char *theirs = line + at, ours[160];
    normalise(theirs);
    struct a64_insn insn;
    a64_decode(word, &insn);
    if (insn.form == A64_AMX ||
        (insn.form == A64_UNDEFINED && (theirs[0] == '.' || strncmp(theirs, "udf", 3) == 0 || is_absent(word, theirs))))
        return; /* binutils does not know the unit */
    if (strstr(theirs, "undefined") && insn.form != A64_UNDEFINED && a64_rows[insn.form].props & P_PAIR &&
        insn.flags & A64_INSN_LOAD)
        return; /* a pair loaded into one register, or into its own base: left open by the architecture */
    a64_disasm(&insn, pc, ours, sizeof ours);
    if ((insn.form == A64_MRS || insn.form == A64_MSR) && strstr(ours, "s3_"))
        return; /* we do not name privileged registers */
    strip_target_prefix(&insn, theirs);
    tally->lines++;
    if (strcmp(ours, theirs) != 0 && tally->different++ < 40)
        printf("  %s %08x: ours \"%s\", objdump \"%s\"\n", a64_form_name(insn.form), word, ours, theirs);
}

static void compare_output(const char *command, struct tally *tally)
{
    FILE *pipe = popen(command, "r");
    char line[512];
    while (pipe && fgets(line, sizeof line, pipe))
        compare_line(line, tally);
    CHECK(pipe && pclose(pipe) == 0, "%s", command);
}

static const char program[] =
    "#include <stdint.h>\n"
    "#include <math.h>\n"
    "#include <arm_neon.h>\n"
    "uint32_t crc(const uint8_t *p, uint64_t n, const uint32_t *t) { uint32_t c = ~0u; while (n--) c = c >> 8 ^ t[(c ^ *p++) & "
    "255]; return ~c; }\n"
    "void saxpy(float *y, const float *x, float a, int n) { for (int i = 0; i < n; i++) y[i] += a * x[i]; }\n"
    "void sums(int8_t *a, const uint16_t *b, const int32_t *c, int64_t *d, int n) { for (int i = 0; i < n; i++) { a[i] += b[i]; "
    "d[i] += (int64_t)c[i] * b[i]; } }\n"
    "int main(void) { return 0; }\n"
    "int pick(int a, int b, unsigned c) { return a > b ? a + 1 : c >= 7 ? -b : ~a; }\n"
    "uint64_t bits(uint64_t a, uint32_t b) { return (a >> 13 & 0x1ff) | (uint64_t)b << 40 | __builtin_bswap64(a) | "
    "__builtin_clzll(a) | (a << 7 | a >> 57); }\n"
    "double poly(double x) { return sqrt(x) + fabs(x) * 3.5 - floor(x) / 1.25 + (double)(int)x + fmax(x, 2.0); }\n"
    "float norm(const float *x, int n) { float s = 0, m = -1e30f; for (int i = 0; i < n; i++) { m = fmaxf(m, x[i]); s += x[i] * "
    "x[i]; } return s / m; }\n"
    "void sgemm(float *c, const float *a, const float *b, int n) { for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) for "
    "(int j = 0; j < n; j++) c[i*n+j] += a[i*n+k] * b[k*n+j]; }\n"
    "long sieve(unsigned char *f, long n) { long k = 0; for (long i = 2; i < n; i++) if (!f[i]) { k++; for (long j = i * i; j < "
    "n; j += i) f[j] = 1; } return k; }\n"
    "struct s { int a; short b; char c; double d; }; struct s copy(struct s *p, int i) { struct s r = p[i]; r.a *= 3; r.b /= 7; "
    "r.c %= 5; r.d += i; return r; }\n"
    "int table(int x) { switch (x) { case 0: return 5; case 1: return 9; case 2: return 77; case 3: return -4; case 4: return 8; "
    "case 5: return 1; } return x % 10; }\n"
    "_Atomic int counter; int count(void) { return counter++; }\n"
    "long divide(long a, long b, int c, unsigned d) { return a / b + c % 13 + d / 7; }\n"
    "float32x4_t lanes(float32x4_t a, float32x4_t b, float32x2_t c) { return vfmaq_lane_f32(a, b, c, 1); }\n"
    "uint8x16_t shuffle(uint8x16_t a, uint8x16_t b) { return vextq_u8(vqtbl1q_u8(a, b), vzip1q_u8(a, b), 3); }\n"
    "int16x8_t narrow(int32x4_t a, int32x4_t b) { return vcombine_s16(vqmovn_s32(a), vshrn_n_s32(b, 5)); }\n"
    "void deinterleave(uint8_t *o, const uint8_t *p) { uint8x16x3_t v = vld3q_u8(p); vst1q_u8(o, vaddq_u8(v.val[0], v.val[2])); "
    "}\n";

static void test_compiled(void)
{
    static const char *const flags[] = {"-O0 -fPIC -shared -nostdlib",
                                        "-O2 -static",
                                        "-O3 -fPIC -shared -nostdlib",
                                        "-Ofast -mcpu=cortex-a76 -fPIC -shared -nostdlib",
                                        "-O3 -march=armv8.4-a+fp16+dotprod -fPIC -shared -nostdlib",
                                        "-Os -fPIC -mbranch-protection=standard -shared -nostdlib"};
    char folder[] = "/tmp/orchard_a64_XXXXXX", path[64], command[512];
    if (!have(OBJDUMP) || !have(COMPILER)) {
        suite_skip("the AArch64 cross compiler and binutils are not installed");
        return;
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/p.c", folder);
    FILE *out = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fputs(program, out);
    fclose(out);
    struct tally tally = {0, 0};
    for (size_t i = 0; i < ARRAY_COUNT(flags); i++) {
        snprintf(command, sizeof command, COMPILER " %s -w %s -o %s/p -lm && " OBJDUMP " -d %s/p", flags[i], path, folder,
                 folder);
        compare_output(command, &tally);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0, "%s", command);
    printf("  %u lines of compiled code, %u differ\n", tally.lines, tally.different);
    CHECK(tally.lines > 2000 && tally.different == 0, "%u of %u lines differ", tally.different, tally.lines);
}

static void test_every_form(void)
{
    char path[] = "/tmp/orchard_a64_XXXXXX", command[256];
    if (!have(OBJDUMP)) {
        suite_skip("AArch64 binutils are not installed");
        return;
    }
    const int file = mkstemp(path);
    CU_ASSERT_FATAL(file >= 0);
    FILE *out = fdopen(file, "wb");
    uint64_t random = 9;
    for (unsigned form = A64_AMX + 1; form < A64_FORM_COUNT; form++)
        for (unsigned i = 0; i < 40; i++) {
            struct a64_insn insn;
            const uint32_t word = a64_rows[form].bits | ((uint32_t)suite_random(&random) & ~a64_rows[form].mask);
            a64_decode(word, &insn);
            if (insn.form == form)
                fwrite(&word, 4, 1, out);
        }
    fclose(out);
    struct tally tally = {0, 0};
    snprintf(command, sizeof command, OBJDUMP " -D -z -b binary -m aarch64 %s", path);
    compare_output(command, &tally);
    unlink(path);
    printf("  %u random words, %u differ\n", tally.lines, tally.different);
    CHECK(tally.lines > 10000 && tally.different == 0, "%u of %u words differ", tally.different, tally.lines);
}

static const struct suite_test tests[] = {
    {"compiled programs read as in objdump", test_compiled},
    {"random words of every form read as in objdump", test_every_form},
};
SUITE_MAIN("a64_objdump", tests)
