/* System calls with any numbers and arguments, as a program could make them: none may reach memory or files of the host. The
 * input is a list of calls; arguments are small numbers, addresses of a mapped page, or anything. The address sanitizer watches.
 */
#include "units/cpu/cpu_sandbox.h"
#include "units/cpu/cpu_system.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DATA = 0x100000, DATA_BYTES = 0x8000, CALLS_MOST = 64 };

struct input {
    const uint8_t *at, *end;
};

static uint8_t next(struct input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static uint64_t argument(struct input *in)
{
    const uint8_t how = next(in), value = next(in);
    uint64_t any = 0;
    switch (how % 8) {
    case 0: return value;
    case 1:
    case 2:
    case 3: return DATA + (uint64_t)value * 16;
    case 4: return (uint64_t)0 - value;
    case 5: return DATA + DATA_BYTES - value;
    case 6: return UINT64_C(1) << (value & 63);
    default:
        for (int i = 0; i < 8; i++)
            any = any << 8 | next(in);
        return any;
    }
}

static bool swallow(void *context, int fd, const void *bytes, size_t count)
{
    uint8_t *last = context;
    if (count)
        *last = ((const uint8_t *)bytes)[count - 1];
    return fd == 1 || fd == 2;
}

static void make_calls(struct mem_space *space, struct cpu_core *core, struct cpu_linux *l, struct input *in)
{
    size_t known;
    const struct cpu_linux_call_row *const row = cpu_linux_calls(&known);
    const struct cpu_system *const hook = cpu_linux_hook(l);
    for (int i = 0; i < CALLS_MOST && in->at < in->end; i++) {
        struct unit_fault fault = {0};
        int exit_code = 0;
        const unsigned low = next(in), number = low | (next(in) & 1u) << 8; /* there are more calls than a byte counts */
        cpu_core_set_x(core, 8, number < known ? row[number].number : number);
        for (unsigned k = 0; k < 6; k++)
            cpu_core_set_x(core, k, argument(in));
        if (!hook->call(hook->context, core, &exit_code, &fault))
            return;
        if (cpu_linux_alive(l) > 1)
            return; /* what follows would need somebody who runs threads */
    }
    (void)space;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char paths[] = "/\0/dev/zero\0../../etc/passwd\0/proc/self/exe\0x\0";
    static const char input[] = "standard input";
    struct input in = {data, data + size};
    uint8_t last = 0;
    struct mem_space *space = mem_space_create(UINT64_C(1) << 26);
    struct cpu_core *core = space ? cpu_core_create(space) : NULL;
    const struct cpu_linux_params params = {.heap_start = 0x200000,
                                            .map_top = 0x3e00000,
                                            .page_bytes = 4096,
                                            .cores = 4,
                                            .input = input,
                                            .input_bytes = sizeof input};
    struct cpu_linux *l = core ? cpu_linux_create(space, &params, NULL, 0) : NULL;
    if (l && mem_space_map(space, DATA, DATA_BYTES, MEM_READ | MEM_WRITE)) {
        const struct cpu_host host = {swallow, &last};
        space->limit_bytes = UINT64_C(1) << 25;
        memcpy(space->host + DATA, paths, sizeof paths);
        for (size_t i = 0; i < size && i < DATA_BYTES - 256; i++)
            space->host[DATA + 256 + i] = data[i];
        cpu_core_set_host(core, &host);
        cpu_core_set_x(core, 31, DATA + DATA_BYTES);
        make_calls(space, core, l, &in);
    }
    cpu_linux_free(l);
    cpu_core_free(core);
    mem_space_free(space);
    return 0;
}
