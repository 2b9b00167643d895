#include "isa/array_count.h"
#include "sim/chip/chip_peaks.h"
#include "sim/chip/chip_units.h"
#include "tests/sim/chip_example.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Every chip, experimental ones included, must be complete enough to run programs on CPU and AMX. */
static void test_all_chips_fill_all_units(void)
{
    struct chip_db *db = example_chips();
    for (size_t i = 0; i < chip_db_count(db); i++) {
        struct chip *chip = example_chip(db, chip_db_id(db, i), NULL);
        struct orch_error error = {0};
        struct mem_params mem;
        struct chip_clusters clusters;
        CHECK(chip_mem_params(chip, NULL, &mem, &error), "%s", error.text);
        CHECK(chip_clusters(chip, &clusters, &error) && clusters.count == mem.cluster_count, "%s", error.text);
        for (unsigned c = 0; c < clusters.count; c++) {
            const enum chip_core kind = clusters.cluster[c].kind;
            struct amx_params amx;
            struct cpu_params cpu;
            struct mem_port_params core_port, amx_port;
            CHECK(chip_amx_params(chip, kind, 1, &amx, &error), "%s", error.text);
            CHECK(chip_cpu_params(chip, kind, 1, &cpu, &error), "%s", error.text);
            CHECK(chip_core_port(chip, c, &core_port, &error), "%s", error.text);
            CHECK(chip_amx_port(chip, c, &amx_port, &error), "%s", error.text);
            CHECK(amx.clock_ghz > 1 && cpu.clock_ghz > 1 && amx.clock_ghz <= cpu.clock_ghz * 1.001, "%s cluster %u: %g, %g",
                  chip_id(chip), c, amx.clock_ghz, cpu.clock_ghz);
            CHECK(core_port.l1.kib >= 64 && amx_port.l1.kib == 0 && core_port.cluster == c, "%s cluster %u", chip_id(chip), c);
            CHECK(mem.cluster[c].l2.kib >= 4096 && mem.cluster[c].die == clusters.cluster[c].die, "%s cluster %u", chip_id(chip),
                  c);
        }
        chip_close(chip);
    }
    chip_db_close(db);
}

/* Every chip, with the values it takes over from others. Nobody published the L2s of M2 Ultra and M3. */
static void test_all_chips_have_a_gpu(void)
{
    struct chip_db *db = example_chips();
    for (size_t i = 0; i < chip_db_count(db); i++) {
        struct chip *chip = example_chip(db, chip_db_id(db, i), NULL);
        struct orch_error error = {0};
        struct gpu_params gpu;
        struct mem_params mem;
        enum gpu_generation generation;
        unsigned first = 0;
        const bool known = chip_gpu_params(chip, &gpu, &error);
        CHECK(known || (chip_experimental(chip) && error.exit_code == ORCH_UNMODELLED), "%s", error.text);
        if (!known) {
            chip_close(chip);
            continue;
        }
        CHECK(chip_gpu_generation(chip, &generation, &error), "%s", error.text);
        CHECK(chip_mem_params(chip, NULL, &mem, &error), "%s", error.text);
        const unsigned cpu_clusters = mem.cluster_count;
        CHECK(chip_gpu_memory(chip, &mem, &first, &error), "%s", error.text);
        CHECK(first == cpu_clusters && mem.cluster_count == cpu_clusters + mem.dies, "%s", chip_id(chip));
        CHECK(gpu.separate_pipes == (generation == GPU_G15), "%s", chip_id(chip));
        struct mem_system *system = mem_system_create(&mem);
        CU_ASSERT_PTR_NOT_NULL_FATAL(system);
        struct mem_port *ports[256];
        unsigned on_last_die = 0;
        for (unsigned core = 0; core < gpu.cores; core++) {
            struct mem_port_params port;
            CHECK(chip_gpu_port(chip, first, core, &port, &error), "%s", error.text);
            on_last_die += port.cluster == first + mem.dies - 1;
            ports[core] = mem_port_open(system, &port, NULL);
            CHECK(ports[core] != NULL, "%s core %u", chip_id(chip), core);
        }
        CHECK(on_last_die == gpu.cores / mem.dies, "%s: %u", chip_id(chip), on_last_die);
        struct gpu_timing *timing = gpu_timing_create(&gpu, ports);
        CHECK(timing != NULL, "%s", chip_id(chip));
        gpu_timing_free(timing);
        mem_system_free(system);
        chip_close(chip);
    }
    chip_db_close(db);
}

/* dougallj/applecpu: four SIMD pipes with FMA of 4 cycles on Firestorm, two on Icestorm. */
static void test_cpu_params(void)
{
    struct chip_db *db = example_chips();
    struct chip *chip = example_chip(db, "m1", NULL);
    struct cpu_params p, e;
    CU_ASSERT_TRUE_FATAL(chip_cpu_params(chip, CHIP_P_CORE, 1, &p, NULL));
    CU_ASSERT_TRUE_FATAL(chip_cpu_params(chip, CHIP_E_CORE, 1, &e, NULL));
    CU_ASSERT_EQUAL(p.dispatch_width, 8);
    CU_ASSERT_EQUAL(p.port_count[CPU_PORTS_SIMD], 4);
    CU_ASSERT_EQUAL(e.port_count[CPU_PORTS_SIMD], 2);
    CU_ASSERT_EQUAL(p.cls[A64_C_FP_FMA].latency_cycles, 4);
    CU_ASSERT_EQUAL(p.cls[A64_C_FP_FMA].ports, CPU_PORTS_SIMD);
    CU_ASSERT_EQUAL(p.cls[A64_C_STORE].ports, CPU_PORTS_STORE);
    CU_ASSERT_DOUBLE_EQUAL(p.clock_ghz, 3.204, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(e.clock_ghz, 2.064, 1e-9);
    CU_ASSERT_TRUE(chip_cpu_params(chip, CHIP_P_CORE, 4, &p, NULL));
    CU_ASSERT_DOUBLE_EQUAL(p.clock_ghz, 2.988, 1e-9);
    chip_close(chip);
    chip_db_close(db);
}

/* The keys of instruction classes have the names of isa/a64. */
static void test_class_names(void)
{
    for (unsigned c = 0; c < A64_CLASS_COUNT; c++) {
        char key[64];
        snprintf(key, sizeof key, "cpu_p.%s.latency_cycles", a64_class_name((enum a64_class)c));
        CHECK(chip_key_find(key) != NULL, "%s", key);
    }
}

/* corsix/amx: 1.38 ns per dependent instruction with one core, 1.50 ns with four; each then takes 4 cycles. */
static void test_amx_params(void)
{
    struct chip_db *db = example_chips();
    struct chip *chip = example_chip(db, "m1-max", NULL);
    struct amx_params one, four;
    CU_ASSERT_TRUE_FATAL(chip_amx_params(chip, CHIP_P_CORE, 1, &one, NULL));
    CU_ASSERT_TRUE_FATAL(chip_amx_params(chip, CHIP_P_CORE, 4, &four, NULL));
    CU_ASSERT_DOUBLE_EQUAL(one.z_latency_cycles / one.clock_ghz, 1.38, 0.02);
    CU_ASSERT_DOUBLE_EQUAL(four.z_latency_cycles / four.clock_ghz, 1.50, 0.02);
    CU_ASSERT_EQUAL(one.array_f64_cycles, 1);
    CU_ASSERT_EQUAL(one.array_f16_cycles, 2);
    CU_ASSERT_EQUAL(one.array_f16_f32_cycles, 4);
    chip_close(chip);
    chip_db_close(db);
}

static void test_ultra_is_two_dies(void)
{
    struct chip_db *db = example_chips();
    struct chip *ultra = example_chip(db, "m2-ultra", NULL), *max = example_chip(db, "m2-max", NULL);
    struct mem_params u, m;
    struct chip_clusters clusters;
    CU_ASSERT_TRUE_FATAL(chip_mem_params(ultra, NULL, &u, NULL));
    CU_ASSERT_TRUE_FATAL(chip_mem_params(max, NULL, &m, NULL));
    CU_ASSERT_TRUE_FATAL(chip_clusters(ultra, &clusters, NULL));
    CU_ASSERT_EQUAL(u.dies, 2);
    CU_ASSERT_EQUAL(m.dies, 1);
    CU_ASSERT_DOUBLE_EQUAL(u.dram_peak_gbps, m.dram_peak_gbps, 1e-9);
    CU_ASSERT_EQUAL(u.dram_channels, 32);
    CU_ASSERT_EQUAL(u.slc.kib, m.slc.kib);
    CU_ASSERT_EQUAL(clusters.count, 6);
    static const unsigned dies[] = {0, 0, 1, 1, 0, 1};
    for (unsigned i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(clusters.cluster[i].die, dies[i]);
    CU_ASSERT_EQUAL(clusters.cluster[3].kind, CHIP_P_CORE);
    CU_ASSERT_EQUAL(clusters.cluster[4].kind, CHIP_E_CORE);
    CU_ASSERT_DOUBLE_EQUAL(u.die_link_gbps, 1250, 1e-9);
    chip_close(ultra);
    chip_close(max);
    chip_db_close(db);
}

static void test_overrides_reach_the_units(void)
{
    struct chip_db *db = example_chips();
    struct chip *chip = example_chip(db, "m1", "amx.z_latency_cycles=7");
    struct amx_params p, e;
    CU_ASSERT_TRUE(chip_amx_params(chip, CHIP_P_CORE, 1, &p, NULL) && chip_amx_params(chip, CHIP_E_CORE, 1, &e, NULL));
    CU_ASSERT_EQUAL(p.z_latency_cycles, 7);
    CU_ASSERT_NOT_EQUAL(e.z_latency_cycles, 7);
    chip_close(chip);
    chip = example_chip(db, "m1", "memory_peak_GBps=200");
    struct mem_params mem;
    CU_ASSERT_TRUE(chip_mem_params(chip, NULL, &mem, NULL));
    CU_ASSERT_EQUAL(mem.dram_peak_gbps, 200);
    chip_close(chip);
    chip = example_chip(db, "m1", "cpu_p.fp_fma.ports=sidm");
    struct cpu_params cpu;
    struct orch_error error = {0};
    CU_ASSERT_FALSE(chip_cpu_params(chip, CHIP_P_CORE, 1, &cpu, &error));
    CHECK(strstr(error.text, "cpu_p.fp_fma.ports") && error.exit_code == ORCH_USAGE, "%s", error.text);
    chip_close(chip);
    chip_db_close(db);
}

static void test_generation(void)
{
    static const struct {
        const char *alias;
        enum amx_gen gen;
    } rows[] = {{"m1-ultra", AMX_GEN_M1}, {"m2", AMX_GEN_M2}, {"m3-pro", AMX_GEN_M3}, {"m4", AMX_GEN_M4}};
    struct chip_db *db = example_chips();
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct chip *chip = example_chip(db, rows[i].alias, NULL);
        enum amx_gen gen = AMX_GEN_M1;
        CU_ASSERT_TRUE(chip_amx_gen(chip, &gen, NULL));
        CU_ASSERT_EQUAL(gen, rows[i].gen);
        chip_close(chip);
    }
    chip_db_close(db);
}

static const struct chip_peak *find_peak(const struct chip_peaks *peaks, const char *unit, const char *precision)
{
    for (unsigned i = 0; i < peaks->count; i++)
        if (strcmp(peaks->peak[i].unit, unit) == 0 && strcmp(peaks->peak[i].precision, precision) == 0)
            return &peaks->peak[i];
    CHECK(0, "no peak %s %s", unit, precision);
    return NULL;
}

/* The best measured figures must lie below the computed peak and not far from it. clpeak on M1 Pro reaches 828 GFLOPS f32 on all
 * ten cores; Accelerate on M1 Max 2746 f32 and 700 f64 (philipturner/amx-benchmarks, which does not say whether threads used the
 * E block); metal-benchmarks 10.4 TFLOPS on the M1 Max GPU; FluidX3D moves 362 GB/s there. The GPU has no f64, the Neural Engine
 * no f32. */
static void test_peaks_bound_measurements(void)
{
    static const struct {
        const char *chip, *unit, *precision;
        double measured, least_share;
    } rows[] = {
        {"m1-pro", "cpu", "f32", 828e9, 0.97}, {"m1-pro", "cpu", "f16", 1645e9, 0.97},  {"m1-max", "amx", "f32", 2746e9, 0.75},
        {"m1-max", "amx", "f64", 700e9, 0.75}, {"m1-max", "gpu", "f32", 10.4e12, 0.95}, {"m1-max", "dram", "stream", 362e9, 0.9},
    };
    struct chip_db *db = example_chips();
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct chip *chip = example_chip(db, rows[i].chip, NULL);
        struct chip_peaks peaks;
        chip_peaks(chip, &peaks);
        const struct chip_peak *peak = find_peak(&peaks, rows[i].unit, rows[i].precision);
        const double share = peak ? rows[i].measured / peak->value : 0;
        CHECK(share <= 1 && share >= rows[i].least_share, "%s %s %s: %g of %s", rows[i].chip, rows[i].unit, rows[i].precision,
              share, peak ? peak->formula : "");
        CU_ASSERT_FALSE(find_peak(&peaks, "gpu", "f64")->supported);
        CU_ASSERT_FALSE(find_peak(&peaks, "ane", "f32")->supported);
        CU_ASSERT_FALSE(find_peak(&peaks, "amx", "bf16")->supported);
        chip_close(chip);
    }
    chip_db_close(db);
}

static const struct suite_test tests[] = {
    {"all chips fill all unit parameters", test_all_chips_fill_all_units},
    {"all chips have a GPU that can be built", test_all_chips_have_a_gpu},
    {"CPU parameters are those of applecpu", test_cpu_params},
    {"instruction classes have keys of the same name", test_class_names},
    {"AMX clocks give the measured dependent times", test_amx_params},
    {"an Ultra is two Max dies", test_ultra_is_two_dies},
    {"overrides reach the units", test_overrides_reach_the_units},
    {"each chip belongs to a generation", test_generation},
    {"peaks lie above measurements", test_peaks_bound_measurements},
};
SUITE_MAIN("chip_units", tests)
