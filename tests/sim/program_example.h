/* Runs guests on orchard's core and on Unicorn's from the same start, and compares how they end. */
#ifndef ORCHARD_TESTS_SIM_PROGRAM_EXAMPLE_H
#define ORCHARD_TESTS_SIM_PROGRAM_EXAMPLE_H

#include "sim/workload/cpu/program.h"
#include "tests/guest/host/guest_files.h"
#include "tests/guest/host/unicorn_machine.h"
#include "tests/support/suite.h"
#include "units/amx/amx_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUEST_SPACE_BYTES (UINT64_C(1) << 29) /* small, so that comparing all of it is quick */
#define GUEST_BUDGET      UINT64_C(400000000)

static inline bool guest_amx_execute(void *context, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    return amx_core_execute(context, op, operand, fault);
}

static inline void guest_amx_finish(void *context)
{
    amx_core_finish(context);
}

/* One run of one program on one of the two cores. */
struct guest_run {
    struct program *program;
    struct amx_core *amx;
    enum cpu_stop stop;
    int exit_code;
    struct unit_fault fault;
};

static inline struct program *guest_open(const char *guest, const struct program_options *options, struct orch_error *error)
{
    size_t size = 0;
    uint8_t *file = guest_read(guest, &size);
    if (!file) {
        suite_skip("the guests are not built: aarch64-linux-gnu-gcc is not installed");
        return NULL;
    }
    struct program_options o = *options;
    o.path = guest;
    o.space_bytes = o.space_bytes ? o.space_bytes : GUEST_SPACE_BYTES;
    struct program *p = program_open(file, size, &o, error);
    free(file); /* the program keeps a copy */
    return p;
}

static inline bool guest_start(struct guest_run *o, const char *guest, const struct program_options *options)
{
    struct orch_error error = {0};
    memset(o, 0, sizeof *o);
    o->program = guest_open(guest, options, &error);
    CHECK(o->program || !error.text[0], "%s", error.text);
    if (!o->program)
        return false;
    o->amx = amx_core_create(AMX_GEN_M1, program_space(o->program), AMX_PATH_FAST);
    const struct cpu_coprocessor hook = {guest_amx_execute, guest_amx_finish, o->amx};
    cpu_core_set_coprocessor(program_core(o->program), &hook);
    return true;
}

static inline void guest_finish(struct guest_run *o)
{
    amx_core_free(o->amx);
    program_close(o->program);
}

static inline bool guest_run_ours(struct guest_run *o, const char *guest, const struct program_options *options)
{
    if (!guest_start(o, guest, options))
        return false;
    o->stop = cpu_core_run(program_core(o->program), GUEST_BUDGET, NULL, &o->fault);
    o->exit_code = cpu_core_exit_code(program_core(o->program));
    amx_core_finish(o->amx);
    return true;
}

static inline bool guest_run_unicorn(struct guest_run *o, const char *guest, const struct program_options *options)
{
    if (!guest_start(o, guest, options))
        return false;
    struct cpu_linux *linux_system = cpu_linux_create(program_space(o->program), program_linux(o->program), NULL, 0);
    const struct cpu_coprocessor hook = {guest_amx_execute, guest_amx_finish, o->amx};
    const struct machine m = {.space = program_space(o->program),
                              .core = program_core(o->program),
                              .system = cpu_linux_hook(linux_system),
                              .coprocessor = &hook,
                              .timeout_us = 60000000};
    o->stop = machine_run(&m, &o->exit_code, &o->fault);
    cpu_linux_free(linux_system);
    amx_core_finish(o->amx);
    return true;
}

static inline unsigned guest_prot_at(const struct mem_space *space, uint64_t addr)
{
    unsigned prot = 0;
    for (unsigned bit = MEM_READ; bit <= MEM_EXEC; bit <<= 1)
        prot |= mem_at(space, addr, 1, bit) ? bit : 0;
    return prot;
}

static inline void guest_compare_memory(const char *guest, const struct guest_run *a, const struct guest_run *b)
{
    const struct mem_space *x = program_space(a->program), *y = program_space(b->program);
    unsigned mapped = 0, shown = 0;
    for (uint64_t page = 0; page < x->bytes; page += MEM_PAGE_BYTES) {
        const unsigned prot = guest_prot_at(x, page);
        CHECK(prot == guest_prot_at(y, page), "%s: page 0x%lx has permissions %u and %u", guest, (unsigned long)page, prot,
              guest_prot_at(y, page));
        mapped += prot != 0;
        if (!prot || !guest_prot_at(y, page) || memcmp(x->host + page, y->host + page, MEM_PAGE_BYTES) == 0)
            continue;
        for (uint64_t at = page; at < page + MEM_PAGE_BYTES && shown < 8; at++)
            if (x->host[at] != y->host[at]) {
                char place[200];
                shown++;
                CHECK(0, "%s: byte 0x%lx %s is %02x, Unicorn has %02x", guest, (unsigned long)at,
                      program_place(a->program, at, place, sizeof place), x->host[at], y->host[at]);
            }
    }
    CHECK(mapped > 4, "%s: %u pages", guest, mapped);
}

static inline void guest_compare_registers(const char *guest, const struct guest_run *a, const struct guest_run *b)
{
    const struct cpu_core *x = program_core(a->program), *y = program_core(b->program);
    for (unsigned i = 0; i < 32; i++) {
        uint8_t v[16], w[16];
        CHECK(cpu_core_x(x, i) == cpu_core_x(y, i), "%s: x%u is 0x%lx, Unicorn has 0x%lx", guest, i,
              (unsigned long)cpu_core_x(x, i), (unsigned long)cpu_core_x(y, i));
        cpu_core_v(x, i, v);
        cpu_core_v(y, i, w);
        CHECK(memcmp(v, w, sizeof v) == 0, "%s: v%u differs", guest, i);
    }
}

static inline void guest_compare_text(const char *guest, const struct guest_run *a, const struct guest_run *b)
{
    for (int fd = 1; fd <= 2; fd++) {
        size_t n = 0, m = 0;
        const char *x = program_text(a->program, fd, &n), *y = program_text(b->program, fd, &m);
        CHECK(n == m && memcmp(x, y, n) == 0, "%s: descriptor %d: '%.*s', Unicorn has '%.*s'", guest, fd, (int)n, x, (int)m, y);
    }
}

/* Runs a guest on both and compares everything. The caller finishes our run. False: skipped. */
static inline bool guest_run_both(struct guest_run *ours, const char *guest, const struct program_options *options)
{
    struct guest_run other;
    if (!guest_run_ours(ours, guest, options))
        return false;
    if (!guest_run_unicorn(&other, guest, options)) {
        guest_finish(ours);
        return false;
    }
    CHECK(ours->stop == other.stop, "%s: stop %d (fault %d at 0x%lx: %s), Unicorn %d (fault %d at 0x%lx)", guest, ours->stop,
          ours->fault.kind, (unsigned long)ours->fault.pc, ours->fault.text, other.stop, other.fault.kind,
          (unsigned long)other.fault.pc);
    CHECK(ours->exit_code == other.exit_code, "%s: exit code %d, Unicorn %d", guest, ours->exit_code, other.exit_code);
    guest_compare_text(guest, ours, &other);
    if (ours->stop == other.stop) { /* otherwise the failed check above says enough */
        guest_compare_registers(guest, ours, &other);
        guest_compare_memory(guest, ours, &other);
    }
    guest_finish(&other);
    return true;
}

static inline void guest_expect_text(const struct guest_run *o, const char *guest, const char *expected)
{
    size_t n = 0;
    const char *text = program_text(o->program, 1, &n);
    char *copy = strndup(text, n);
    CHECK(copy && strstr(copy, expected), "%s: no '%s' in '%s'", guest, expected, copy ? copy : "");
    free(copy);
}

#endif
