/* Shared by the files that read AGX vectors only. */
#ifndef ORCHARD_SIM_PROVE_CHECK_AGX_VECTORS_INTERNAL_H
#define ORCHARD_SIM_PROVE_CHECK_AGX_VECTORS_INTERNAL_H

#include "sim/prove/check/agx_vectors.h"
#include "sim/prove/check/vector_file.h"

struct agx_exec_bench; /* memory, program and threadgroup of execution vectors */

struct agx_checker {
    struct vector_file in;
    enum check_agx_path path;
    struct check_report *report;
    struct agx_exec_bench *bench;
};

/* Checks the current line; false when it is malformed. */
typedef bool agx_check_line(struct agx_checker *checker);
agx_check_line agx_check_encode, agx_check_compiler_word, agx_check_mesa_word;
agx_check_line agx_check_exec_single, agx_check_exec_program, agx_check_exec_load;

struct agx_exec_bench *agx_exec_bench_create(void);
void agx_exec_bench_free(struct agx_exec_bench *bench);

#endif
