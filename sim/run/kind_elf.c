/* Kind "elf": an AArch64 executable, or a function of an object. AMX words in it run on the core's AMX block. */
#include "sim/base/checksum.h"
#include "sim/run/run_internal.h"
#include "sim/run/run_programs.h"

#include <stdio.h>
#include <string.h>

static bool recognise(const struct run_file *file)
{
    return file->size >= 4 && memcmp(file->bytes, "\177ELF", 4) == 0;
}

static bool open_workload(struct run *run, struct orch_error *error)
{
    const char *const slash = strrchr(run->file.path, '/');
    (void)error; /* what is wrong inside is told when the program is loaded */
    snprintf(run->program_name, sizeof run->program_name, "%.200s", slash ? slash + 1 : run->file.path);
    return true;
}

static bool check(const struct run *run, struct orch_error *error)
{
    return run_check_cpu_options(run, error);
}

static uint64_t hash(const struct run *run)
{
    return checksum_add(CHECKSUM_START, run->file.bytes, run->file.size);
}

/* The user's file as it is. */
static bool programs(const struct run *run, struct run_programs *programs, struct orch_error *error)
{
    (void)run;
    (void)programs;
    (void)error;
    return true;
}

const struct run_kind run_kind_elf = {
    .name = "elf",
    .program_kind = "elf",
    .part = PART_CPU,
    .may_sample = true,
    .recognise = recognise,
    .open = open_workload,
    .check = check,
    .hash = hash,
    .work = run_work_by_stalls,
    .programs = programs,
    .time_in = run_programs,
    .account = run_account,
    .energy = run_energy_of_cores,
    .explain = NULL,
};
