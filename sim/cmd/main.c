/* The command line: one table of verbs, one parse of all options, one place that prints errors. */
#include "sim/api/api.h"
#include "sim/workload/cpu/program_args.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const struct cmd_verb verbs[] = {
    {{"run", "KERNEL:SHAPE [options]\nFILE [options]\nA + B [+ C] [options]",
      "simulates a program or kernel on one chip or several",
      "KERNEL:SHAPE is a kernel of the library (see orchard kernels); FILE is an AArch64 ELF executable or object, AMX words\n"
      "included, the description of a GPU launch (abi.json, or the folder that holds it), or a Neural Engine program (.hwx, "
      ".anec, raw\n"
      "descriptors; gzip too). The answer is recorded in the performance database; an equal run is found there instead of "
      "simulated again.\n"
      "With + workloads run at the same time; each has options of its own in [ ] behind it: unit precision mode detail cores "
      "core entry\n"
      "home repeat cold, priority=N and weight=X at what they share, start=SECONDS. Programs of the CPU get cores of their own.",
      "orchard run gemm:1024x1024x1024 --unit amx --chip m1,m2-max\norchard run program.elf --chip m1 --explain\n"
      "orchard run kernels.o --entry saxpy --args 1024 --args 2.0f --args f32:1024:rand:1 --args f32:1024:rand:2\n"
      "orchard run kernels/agx/mandelbrot --chip m2-max --explain\n"
      "orchard run 'stream-triad:64M[unit=gpu]' + 'stream-triad:64M[unit=cpu,cores=4]' --chip m1",
      cmd_run_options},
     cmd_run},
    {{"build", "KERNEL:SHAPE --unit ane -o OUT", "writes a kernel as a program of a unit",
      "OUT.hwx is a container like those of Apple's compiler, other names get bare descriptors with coefficients behind; run "
      "and\n"
      "isa disasm ane take both. Constants are generated unless --input names a file.",
      "orchard build conv2d:n=1,c=64,h=56,w=56,k=64,r=3,s=3,pad=1 --unit ane -o conv.hwx", cmd_build_options},
     cmd_build},
    {{"sweep", "WORKLOAD[,WORKLOAD...] -L KEY=a,b,c [-L KEY=lo:hi:N ...]\nSPEC.json", "the same question at many settings",
      "KEY is a characteristic or unit parameter of the chip (orchard chips show ID), or chip, unit, precision, detail, cores, "
      "memory,\n"
      "device, policy, ambient, power-mode, power-cap, duration. Lists and lo:hi:N (lo:hi:Nlog) make a grid; --lhs N and "
      "--random N\n"
      "spread N points over ranges. Answers go to the database as they come: the same command goes on where it was stopped.\n"
      "Points between simulated ones are interpolated when leaving simulated ones out shows that this is within --tolerance.",
      "orchard sweep gemm:512x512x512 --unit gpu -L chip=m1,m2,m3 -L gpu_cores=8,10,16\n"
      "orchard sweep gemm:512x512x512 --unit gpu --chip m2 --lhs 200 -L gpu_max_mhz=800:1600 -L memory_peak_GBps=60:200\n"
      "orchard sweep spec.json --shard 0/8 --db shard-0.db",
      cmd_sweep_options},
     cmd_sweep},
    {{"whatif", "WORKLOAD --goal 'FIELD<NUMBER' --vary KEY=lo:hi [--vary ...]", "what would have to change to reach a goal",
      "Looks for the least change of each key alone, then of all together; every answer printed was simulated. FIELD is a number "
      "of the\n"
      "run document (seconds, joules, gflops, utilisation.dram, counters.NAME ...). Exit 1 when the goal is not reached within "
      "the ranges.",
      "orchard whatif gemm:512x512x512 --unit gpu --chip m2 --goal 'seconds<2.5e-4' --vary gpu_max_mhz=1000:2000 --vary "
      "gpu_cores=8:20",
      cmd_whatif_options},
     cmd_whatif},
    {{"explain", "[RUN]", "why a recorded run took as long as it did",
      "RUN is the number of a run, the beginning of its uid, or last (default).", "orchard explain\norchard explain 12", NULL},
     cmd_explain},
    {{"compare", "RUN RUN", "two recorded runs beside each other",
      "Every number that differs with its ratio, whether the intervals overlap, which reasons grew, and which values of the "
      "chips differ.",
      "orchard compare 12 13\norchard compare 12 last --json", NULL},
     cmd_compare},
    {{"report",
      "[RUN...] [-o FILE.html]\n--sweep ID [-o FILE.html]\n--validation [VERSION|FILE] [-o FILE.html]\n"
      "--regression [BASELINE] [-o FILE.html]",
      "one self-contained HTML page to look at",
      "Charts with a table under each, nothing loaded from anywhere. RUN is a number, the beginning of a uid, or last "
      "(default);\n"
      "several runs are shown side by side. --figure writes one picture as SVG instead. --regression measures the chips anew.",
      "orchard report -o run.html\norchard report 12 13 -o both.html\norchard report 12 --figure Roofline -o roofline.svg\n"
      "orchard report --sweep last -o sweep.html\norchard report --validation -o accuracy.html\n"
      "orchard report --regression default --chip m1 -o moved.html",
      cmd_report_options},
     cmd_report},
    {{"kernel", "check DIR [NAME...]", "GPU kernels against their expected results",
      "DIR holds a folder per kernel with abi.json, machine code, inputs and expected outputs. Outputs are compared by each\n"
      "description's rule, dynamic instruction counts exactly.",
      "orchard kernel check kernels/agx\norchard kernel check kernels/agx sgemm_tiled histogram", cmd_kernel_options},
     cmd_kernel},
    {{"kernels", "[list]\nshow NAME", "the kernel library", "Names, shapes, element types and units.",
      "orchard kernels\norchard kernels show gemm", NULL},
     cmd_kernels},
    {{"validate", "FILE.csv... [--group-by COLS] [--jobs N]\n--history [FILE]\nFILE.csv... --dump ID [-o OUT]",
      "scores the model against published measurements",
      "Each row becomes the microbenchmark program it describes and is run on the simulated chip. Rows whose value a parameter\n"
      "was taken from are scored apart as fitted; rows that cannot be modelled are listed with the reason. Measurements,\n"
      "predictions and scores are recorded with the version of the model; --history shows how scores went.",
      "orchard validate amx-timing.csv --group-by chip\norchard validate amx-timing.csv --dump amx-timing:20 -o row.elf",
      cmd_validate_options},
     cmd_validate},
    {{"tune", "KERNEL:SHAPE [options]\n--choices", "the best of a kernel's variants on a chip, kept as a named set",
      "Times every variant (tiles, splits, methods, blocks, units, cores) of the kernel; the best one's results are compared "
      "with those\n"
      "of the library's own rule. Runs use the set only with --fitted NAME.",
      "orchard tune gemm:512x512x512 --chip m1 --unit gpu\norchard tune conv2d:c=64,h=28,w=28,k=64,pad=1 --unit gpu --precision "
      "f16 --save conv\n"
      "orchard run gemm:512x512x512 --unit gpu --fitted tuned-gemm-m1_4p4e_8g",
      cmd_tune_options},
     cmd_tune},
    {{"calibrate", "FILE.csv --vary KEY [--vary KEY...] [options]\n--keys [--chip ID]",
      "moves guessed parameters until measurements are predicted better",
      "Least squares on the logarithm of predicted over measured, within what is known of each parameter (three standard "
      "deviations);\n"
      "only guesses and inferred values may be varied. Refuses, by name, parameters that the rows do not tell apart. Errors are "
      "given in\n"
      "and out of the folds of a cross-validation. --chip fits rows of those chips only. Runs use the result only with --fitted "
      "NAME.",
      "orchard calibrate amx-timing.csv --vary amx.array_f32_cycles --vary amx.z_latency_cycles --max 60\n"
      "orchard calibrate --keys --chip m1-max\norchard run gemm:512x512x512 --chip m1-max --fitted calibrated-amx-timing",
      cmd_calibrate_options},
     cmd_calibrate},
    {{"regress", "record [NAME] [-o FILE]\ncheck [NAME|FILE]\n--list", "what the simulated chips do, recorded and compared",
      "Measures characteristics (peaks, latencies, bandwidths, kernels, energies, temperatures) of all chips, or of those of "
      "--chip, by\n"
      "running microbenchmarks and kernels. check compares with a baseline: what moved by more than its tolerance, and which "
      "value of\n"
      "the chip or version of the model did it. The baseline `default` comes with orchard until another is recorded.",
      "orchard regress check\norchard regress record before-my-change\norchard regress check before-my-change --only gpu. --chip "
      "m1,m3-max",
      cmd_regress_options},
     cmd_regress},
    {{"chips", "[list]\nshow ID\ndiff A B", "the chips and what is known about them",
      "list has one row per chip; show prints every value with unit, kind, source, uncertainty and origin;\n"
      "diff prints the keys whose values differ. --set shows what a supposed value changes.",
      "orchard chips\norchard chips show m1-max\norchard chips diff m1 m2 --json", NULL},
     cmd_chips},
    {{"capabilities", "--chip ID[,ID...]", "what the units of a chip can do, and their computed peaks",
      "Precisions, instructions, limits and peaks per unit with the formula, and what is not modelled.",
      "orchard capabilities --chip m2-pro\norchard capabilities --chip m1,m3 --json", NULL},
     cmd_capabilities},
    {{"isa", "disasm FAMILY FILE\nasm FAMILY FILE -o OUT\ntable FAMILY\ncheck FAMILY FILE...",
      "disassembler, assembler, instruction tables, golden vectors",
      "FAMILY is a64, amx, agx or ane. disasm reads ELF files and raw code, for agx also abi.json, for ane program files;\n"
      "asm (amx, agx, ane) writes raw code or a program; table prints the instruction table as Markdown; check runs golden\n"
      "vectors, for ane program files against the operation that they implement, plain or gzip.",
      "orchard isa disasm a64 program.elf\norchard isa asm amx loop.s -o loop.bin\n"
      "orchard isa table amx\norchard isa check amx vectors/*.gz\norchard isa check ane programs/*.hwx",
      cmd_isa_options},
     cmd_isa},
    {{"thermal", "check DIR [NAME...]\nsolve CASE", "the thermal models of a die in its package",
      "A case is a folder: floorplan.flp, params.txt and power.ptrace as HotSpot reads them. check compares with the expected\n"
      "temperatures in it (block steady 1e-4 K, block trace 0.01 K, grid 0.1 K); solve prints temperatures.",
      "orchard thermal check vectors/thermal\norchard thermal solve vectors/thermal/m1like", NULL},
     cmd_thermal},
    {{"db", "init|info|check\nsql QUERY\nexport TABLE\nprune\nmerge SHARD...",
      "the performance database: every run, in one SQLite file",
      "init makes the file or brings it up to date; info counts; sql runs one reading query (tables and views have\n"
      "names that explain themselves: orchard db info); check examines everything; export writes a table or view\n"
      "as CSV or JSON lines; prune removes old or failed runs; merge adds what other files have, any order, any\n"
      "number of times.",
      "orchard db sql 'SELECT * FROM v_run_summary'\norchard db export v_op_time -o ops.csv\n"
      "orchard db merge shard-*.db",
      cmd_db_options},
     cmd_db},
    {{"trace",
      "record WORKLOAD -o T [run options]\ninfo T\ncheck T...\nprint T\nconvert T -o OUT\nreplay T --chip ID\nimport --format "
      "pytorch-profiler|onnxruntime-profile FILE -o T",
      "what happened, on disk: record, look, replay on another chip, import",
      "record runs a workload (as orchard run does, A + B too) and writes the event stream; info says what is in a trace, check "
      "reads\n"
      "all of it, print shows records as JSON lines, convert turns the binary form into JSON lines and back. replay asks what "
      "the\n"
      "recorded launches would do elsewhere; orchard run T is the same. import reads a profile with shapes: operators become "
      "launches of\n"
      "kernels, what has none an estimate by its bytes, and the share of each is printed. The format is described in "
      "traces/README.md.",
      "orchard trace record gemm:512x512x512 --unit gpu --chip m1 -o gemm.trace\norchard trace replay gemm.trace --chip m3-max\n"
      "orchard trace print gemm.trace --from 0 --count 10",
      cmd_trace_options},
     cmd_trace},
    {{"doctor", "", "checks the installation", "Compiler, host instruction sets, library versions, data folder, database.",
      "orchard doctor", NULL},
     cmd_doctor},
    {{0}, NULL},
};

/* Ctrl-C ends at once. What is committed to the database stays (SQLite WAL); nothing else needs to be put right. */
static void on_interrupt(int signal_number)
{
    static const char text[] = "\norchard: interrupted\n";
    (void)signal_number;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(ORCH_INTERRUPTED);
    _exit(ORCH_INTERRUPTED);
}

static const struct cmd_verb *find_verb(const char *name, struct orch_error *error)
{
    return (const struct cmd_verb *)(const void *)cli_verb_find(&verbs[0].help, sizeof verbs[0], name, error);
}

/* Common options, the verb, then both kinds of options and words in any order. */
static bool parse(struct cmd_context *context, int argc, char **argv, struct orch_error *error)
{
    const struct cli_option *tables[5] = {cli_common_options};
    int used = 0;
    if (!cli_parse(&context->args, tables, argc, argv, true, &used, error))
        return false;
    if (used < argc) {
        if (strcmp(argv[used], "help") == 0) {
            cli_args_free(&context->args);
            static char help[] = "--help";
            char *rest[2] = {help, used + 1 < argc ? argv[used + 1] : NULL};
            return parse(context, rest[1] ? 2 : 1, rest, error);
        }
        context->verb = find_verb(argv[used], error);
        if (!context->verb)
            return false;
        tables[1] = context->verb->help.options;
        if (!cli_parse(&context->args, tables, argc - used - 1, argv + used + 1, false, NULL, error))
            return orch_fail_in(error, "%s", context->verb->help.name);
    }
    return cli_common_read(&context->common, &context->args, isatty(STDOUT_FILENO), error);
}

static int run(struct cmd_context *context)
{
    if (context->common.version) {
        fprintf(context->out, "orchard " ORCHARD_VERSION "\n");
        return ORCH_OK;
    }
    if (!context->verb) {
        cli_print_overview(context->out, &verbs[0].help, sizeof verbs[0]);
        return ORCH_OK;
    }
    if (context->common.help) {
        cli_print_verb(context->out, &context->verb->help);
        if (context->verb->run == cmd_run)
            fprintf(context->out, "\nARGUMENTS OF FUNCTIONS (--args)\n%s", program_args_help());
        return ORCH_OK;
    }
    return context->verb->run(context, context->args.words, context->args.word);
}

int main(int argc, char **argv)
{
    struct cmd_context context = {.out = stdout, .err = stderr};
    struct orch_error error = {0};
    const struct sigaction interrupt = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &interrupt, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of the write, told in words */
    int code = parse(&context, argc - 1, argv + 1, &error) ? run(&context) : cmd_fail(&context, &error);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "orchard: standard output: %s\n", strerror(errno));
        code = code ? code : ORCH_USAGE;
    }
    chip_db_close(context.chip_db);
    cli_common_free(&context.common);
    cli_args_free(&context.args);
    return code;
}
