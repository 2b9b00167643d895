/* Runs a libFuzzer target without libFuzzer: a bounded number of deterministic random and mutated inputs.
 *
 *     fuzz_NAME_smoke [iterations [seed file ...]]        iterations: 20000 unless given
 *
 * A third of the inputs are random bytes, the others are mutations of the seeds or of earlier inputs. A target reports a fault by
 * crashing or aborting, so the closing line is printed only when all went well.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 4096, SEED_MAX = 65536, POOL = 64, DEFAULT_ITERATIONS = 20000 };

struct input {
    uint8_t *bytes; /* exactly `size` bytes, so that a sanitizer sees reads beyond them */
    size_t size;
};

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static size_t random_below(uint64_t *state, size_t limit)
{
    return limit ? (size_t)(random_next(state) % limit) : 0;
}

static struct input input_of(const uint8_t *bytes, size_t size)
{
    struct input input = {malloc(size ? size : 1), size};
    if (!input.bytes) {
        fprintf(stderr, "fuzz_smoke: out of memory\n");
        exit(70);
    }
    if (size)
        memcpy(input.bytes, bytes, size);
    return input;
}

static struct input read_seed(const char *path)
{
    static uint8_t bytes[SEED_MAX];
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "fuzz_smoke: %s cannot be opened\n", path);
        exit(2);
    }
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return input_of(bytes, size);
}

/* Most inputs are short, because most parsers decide early. */
static size_t random_bytes(uint64_t *state, uint8_t *bytes)
{
    const size_t size = random_below(state, random_next(state) & 7 ? 96 : INPUT_MAX);
    const int printable = random_next(state) & 1;
    for (size_t i = 0; i < size; i++)
        bytes[i] = printable ? (uint8_t)(' ' + random_below(state, 95)) : (uint8_t)random_next(state);
    return size;
}

static size_t erase(uint64_t *state, uint8_t *bytes, size_t size)
{
    const size_t at = random_below(state, size), gone = 1 + random_below(state, size - at);
    memmove(bytes + at, bytes + at + gone, size - at - gone);
    return size - gone;
}

/* Copies a piece of the input to another place, which makes the input longer. */
static size_t repeat(uint64_t *state, uint8_t *bytes, size_t size)
{
    uint8_t piece[64];
    const size_t from = random_below(state, size), to = random_below(state, size + 1);
    size_t length = 1 + random_below(state, sizeof piece);
    if (length > size - from)
        length = size - from;
    if (size + length > SEED_MAX)
        return size;
    memcpy(piece, bytes + from, length);
    memmove(bytes + to + length, bytes + to, size - to);
    memcpy(bytes + to, piece, length);
    return size + length;
}

static size_t mutate_once(uint64_t *state, uint8_t *bytes, size_t size)
{
    static const uint8_t telling[] = {0, 1, 0x7f, 0x80, 0xff, '\n', ' ', '{', '}', '"', '0', '9', '-', '='};
    if (size == 0)
        return random_bytes(state, bytes);
    const size_t at = random_below(state, size);
    switch (random_next(state) % 5) {
    case 0: bytes[at] ^= (uint8_t)(1u << random_below(state, 8)); return size;
    case 1: bytes[at] = telling[random_below(state, sizeof telling)]; return size;
    case 2: return erase(state, bytes, size);
    case 3: return repeat(state, bytes, size);
    default: bytes[at] = (uint8_t)random_next(state); return size;
    }
}

static size_t next_input(uint64_t *state, const struct input *pool, size_t count, uint8_t *bytes)
{
    if (count == 0 || random_next(state) % 3 == 0)
        return random_bytes(state, bytes);
    const struct input *base = &pool[random_below(state, count)];
    size_t size = base->size;
    if (size)
        memcpy(bytes, base->bytes, size);
    for (size_t left = 1 + random_below(state, 4); left; left--)
        size = mutate_once(state, bytes, size);
    return size;
}

/* Keeps some of the inputs that were not seeds, as a base of later mutations. */
static void keep(uint64_t *state, struct input *pool, size_t seeds, size_t *count, struct input input)
{
    if (random_next(state) % 16 != 0 || seeds == POOL) {
        free(input.bytes);
    } else if (*count < POOL) {
        pool[(*count)++] = input;
    } else {
        struct input *old = &pool[seeds + random_below(state, POOL - seeds)];
        free(old->bytes);
        *old = input;
    }
}

/* "/path/fuzz_amx_asm_smoke" -> "amx_asm" */
static void print_closing(const char *program)
{
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    if (strncmp(name, "fuzz_", 5) == 0)
        name += 5;
    const char *end = strstr(name, "_smoke");
    printf("suite fuzz_%.*s: 1 passed, 0 failed, 0 skipped\n", (int)(end ? end - name : (long)strlen(name)), name);
}

int main(int argc, char **argv)
{
    static uint8_t bytes[SEED_MAX];
    struct input pool[POOL];
    size_t count = 0;
    uint64_t state = 1;
    const unsigned long iterations = argc > 1 ? strtoul(argv[1], NULL, 10) : DEFAULT_ITERATIONS;
    if (iterations == 0) {
        fprintf(stderr, "usage: %s [iterations [seed file ...]]\n", argv[0]);
        return 2;
    }
    for (int i = 2; i < argc && count < POOL; i++)
        pool[count++] = read_seed(argv[i]);
    const size_t seeds = count;
    for (size_t i = 0; i < seeds; i++)
        LLVMFuzzerTestOneInput(pool[i].bytes, pool[i].size);
    for (unsigned long i = 0; i < iterations; i++) {
        const struct input input = input_of(bytes, next_input(&state, pool, count, bytes));
        LLVMFuzzerTestOneInput(input.bytes, input.size);
        keep(&state, pool, seeds, &count, input);
    }
    for (size_t i = 0; i < count; i++)
        free(pool[i].bytes);
    print_closing(argv[0]);
    return 0;
}
