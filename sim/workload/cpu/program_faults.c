/* How a program ended that did not end well: where it stood, in names of the program. */
#include "sim/workload/cpu/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *program_place(const struct program *program, uint64_t pc, char *text, size_t size)
{
    const char *name;
    uint64_t offset;
    if (cpu_image_locate(program_image(program), pc, &name, &offset))
        snprintf(text, size, offset ? "%.100s+0x%" PRIx64 : "%.100s", name, offset);
    else if (size)
        text[0] = 0;
    return text;
}

/* A program that reached what nothing defines: the return address says from where. */
static bool explain_unresolved(const struct program *p, const struct unit_fault *fault, const char *name,
                               struct orch_error *error)
{
    const bool called = cpu_image_unresolved(program_image(p), fault->pc) != NULL;
    const uint64_t from = called ? cpu_core_x(program_core(p), 30) - 4 : fault->pc;
    char place[160], where[200] = "";
    program_place(p, from, place, sizeof place);
    if (place[0] || !called) /* who jumps there as the last thing it does has left no trace */
        snprintf(where, sizeof where, "at 0x%" PRIx64 "%s%s%s: ", from, place[0] ? " (" : "", place, place[0] ? ")" : "");
    return orch_fail(error, ORCH_FAULT,
                     "%s: %s%s %.100s, which nothing defines: add the object or archive that does (" ORCH_OPTION("link") ")",
                     program_path(p), where, called ? "calls" : "uses", name);
}

bool program_explain_fault(const struct program *program, const struct unit_fault *fault, struct orch_error *error)
{
    char place[160];
    const char *missing = cpu_image_unresolved(program_image(program), fault->pc);
    missing =
        missing || fault->kind != UNIT_FAULT_UNMAPPED ? missing : cpu_image_unresolved(program_image(program), fault->address);
    if (missing)
        return explain_unresolved(program, fault, missing, error);
    program_place(program, fault->pc, place, sizeof place);
    const bool overflow = fault->kind == UNIT_FAULT_UNMAPPED && program_below_stack(program, fault->address);
    return orch_fail(error, fault->kind == UNIT_FAULT_UNMODELLED ? ORCH_UNMODELLED : ORCH_FAULT,
                     "%s: at 0x%" PRIx64 "%s%s%s: %s%s", program_path(program), fault->pc, place[0] ? " (" : "", place,
                     place[0] ? ")" : "", fault->text, overflow ? ": the stack of 8 MiB is full (a recursion without end?)" : "");
}

bool program_explain_limit(const struct program *program, uint64_t instructions, uint64_t pc, struct orch_error *error)
{
    char place[160];
    program_place(program, pc, place, sizeof place);
    return orch_fail(error, ORCH_FAULT,
                     "%s: stopped after %" PRIu64 " instructions (" ORCH_OPTION("max-instructions") "): it stood at 0x%" PRIx64
                                                                                                    "%s%s%s",
                     program_path(program), instructions, pc, place[0] ? " (" : "", place, place[0] ? ")" : "");
}

bool program_explain_interrupt(const struct program *program, uint64_t instructions, uint64_t pc, struct orch_error *error)
{
    char place[160];
    program_place(program, pc, place, sizeof place);
    return orch_fail(error, ORCH_INTERRUPTED, "%s: interrupted after %" PRIu64 " instructions: it stood at 0x%" PRIx64 "%s%s%s",
                     program_path(program), instructions, pc, place[0] ? " (" : "", place, place[0] ? ")" : "");
}

/* The functions that called one another, innermost first, by the frame records of AAPCS64: "futex_wait < lock < main". */
static void name_callers(const struct program *p, const struct cpu_context *c, char *text, size_t size)
{
    enum { FRAMES_MOST = 6 };
    uint64_t pc = c->pc, record[2] = {c->x[29], 0};
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < FRAMES_MOST && used < size; i++) {
        const char *name;
        uint64_t offset;
        if (!cpu_image_locate(program_image(p), pc, &name, &offset))
            return;
        used += (size_t)snprintf(text + used, size - used, "%s%.40s", i ? " < " : "", name);
        const uint8_t *const host = mem_at(program_space(p), record[0], sizeof record, MEM_READ);
        if (!host)
            return;
        memcpy(record, host, sizeof record);
        pc = record[1] - 4;
    }
}

bool program_explain_deadlock(const struct program *program, struct orch_error *error)
{
    struct cpu_linux_waiter w;
    char text[700] = "";
    size_t used = 0;
    unsigned threads = 0;
    for (unsigned i = 0; cpu_linux_waiter(program_system(program), i, &w); i++) {
        char callers[240];
        if (!w.waits)
            continue;
        threads++;
        name_callers(program, w.context, callers, sizeof callers);
        if (used < sizeof text - 40)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s (%s)", used ? "; " : "", w.text, callers);
    }
    if (threads == 1)
        return orch_fail(error, ORCH_FAULT, "%.200s: deadlock: the only thread waits: %s", program_path(program), text);
    return orch_fail(error, ORCH_FAULT, "%.200s: deadlock, all %u threads wait: %s", program_path(program), threads, text);
}
