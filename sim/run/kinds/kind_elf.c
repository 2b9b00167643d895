/* Kind "elf": an AArch64 executable, or a function of an object. AMX words in it run on the core's AMX block. */
#include "sim/base/checksum.h"
#include "sim/run/run_internal.h"
#include "sim/run/cpu/run_programs.h"
#include "sim/workload/cpu/program_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool recognise(const struct run_file *file)
{
    return (file->size >= 4 && memcmp(file->bytes, "\177ELF", 4) == 0) || program_is_archive(file->bytes, file->size);
}

/* Joins the file with those that it is to be linked with, and puts the result in its place. */
static bool link_files(struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    struct run_file *const other = calloc(q->link_count + 1, sizeof *other);
    struct program_link_file *const file = calloc(q->link_count + 1, sizeof *file);
    bool ok = (other && file) || orch_no_memory(error);
    size_t size = 0;
    if (ok)
        file[0] = (struct program_link_file){run->file.path, run->file.bytes, run->file.size};
    for (size_t i = 0; ok && i < q->link_count; i++) {
        ok = run_file_read(q->link[i], &other[i], error) &&
             (!other[i].is_folder || orch_fail(error, ORCH_USAGE, ORCH_OPTION("link") " %s: a folder", q->link[i]));
        file[i + 1] = (struct program_link_file){q->link[i], other[i].bytes, other[i].size};
    }
    uint8_t *const joined = ok ? program_link(file, q->link_count + 1, q->entry, &size, error) : NULL;
    for (size_t i = 0; other && i < q->link_count; i++)
        free(other[i].bytes);
    free(other);
    free(file);
    if (!joined)
        return false;
    free(run->file.bytes);
    run->file.bytes = joined;
    run->file.size = size;
    return true;
}

/* What is wrong inside is told when the program is loaded. */
static bool open_workload(struct run *run, struct orch_error *error)
{
    const char *const slash = strrchr(run->file.path, '/');
    snprintf(run->program_name, sizeof run->program_name, "%.200s", slash ? slash + 1 : run->file.path);
    return (!run->request->link_count && !program_needs_link(run->file.bytes, run->file.size)) || link_files(run, error);
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
