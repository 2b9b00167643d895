/* Parameters of units, from list to struct: every row of a unit's list is a key of the chip database with its unit and text, and
 * setting that key sets the member of the struct; no member is left that nothing sets. */
#include "tests/sim/chip/params_rows.h"
#include "tests/sim/chip_example.h"

#include <math.h>
#include <stdlib.h>

/* Keys whose values sim/chip works into members: the member changes, whatever to. */
/* clang-format off */
#define WORKED_OUT(X) \
    X("dies", "1", mem.dies) X("dies", "1", mem.cluster[P_CLUSTER + 2].die) X("dies", "1", mem.cluster[E_CLUSTER + 1].die) \
    X("dies", "1", mem.cluster_count) X("slc_MB", "48", mem.slc.kib) \
    X("memory_peak_GBps", "500", mem.dram_peak_gbps) X("dram.channels", "32", mem.dram_channels) \
    X("memory_type", "LPDDR4X-4266", mem.dram_timing.banks) X("dram.density", "32", mem.dram_timing.refresh_bank) \
    X("mem.placement", "remote", mem.die_policy) X("mem.placement", "remote", mem.home_die) \
    X("cpu_p.clock_ghz", "2.5", mem.cluster[P_CLUSTER].clock_ghz) X("cpu_e.clock_ghz", "1.5", mem.cluster[E_CLUSTER].clock_ghz) \
    X("l2_MB_per_p_cluster", "20", mem.cluster[P_CLUSTER].l2.kib) X("l2_MB_per_e_cluster", "20", mem.cluster[E_CLUSTER].l2.kib) \
    X("gpu.clock_ghz", "1", mem.cluster[GPU_CLUSTER].clock_ghz) X("gpu.l2_kib", "512", mem.cluster[GPU_CLUSTER].l2.kib) \
    X("gpu.l2_port_bytes_per_cycle", "10", mem.cluster[GPU_CLUSTER].l2.bytes_per_cycle) \
    X("gpu.l2_outstanding", "3", mem.cluster[GPU_CLUSTER].l2_outstanding) \
    X("gpu.fabric_bytes_per_cycle", "3", mem.cluster[GPU_CLUSTER].fabric_gbps) \
    X("l1d_kB_p", "96", core_p.l1.kib) X("l1d_kB_e", "96", core_e.l1.kib) \
    X("gpu.l1_bytes_per_cycle", "32", gpu_port.l1.bytes_per_cycle) \
    X("ane.l2_bytes", "1000000", ane_limits.l2_bytes) X("family", "M2", ane_limits.generation) \
    X("memory_options_GB", "[512]", pool.capacity_bytes)
/* Members that no key sets: who opens a port or asks for a struct knows them. */
#define NOT_OF_A_CHIP(X) \
    X(core_p.cluster) X(core_p.fill_bytes) X(core_p.clock_ghz) X(core_p.fabric_gbps) X(core_p.die) X(core_p.write_through) \
    X(cpu_p.port_count[CPU_PORTS_NONE]) X(mem.slc.latency_cycles) X(mem.slc.bytes_per_cycle)
/* clang-format on */

/* ---- tests ---- */

static void test_rows_are_keys(void)
{
    list_rows();
    for (size_t i = 0; i < row_count; i++) {
        const struct chip_key *key = chip_key_find(rows[i].key);
        CHECK(key != NULL, "%s", rows[i].key);
        if (!key)
            continue;
        CHECK(strcmp(key->unit, rows[i].unit) == 0, "%s: %s", key->name, key->unit);
        CHECK(strcmp(key->text, rows[i].text) == 0, "%s: %s", key->name, key->text);
        CHECK(key->type == CHIP_TEXT || key->lowest < key->highest, "%s: %g to %g", key->name, key->lowest, key->highest);
    }
}

/* Every key has a text and, when it is a number, a unit; no two have the same name. */
static void test_keys_are_unique(void)
{
    for (size_t i = 0; i < chip_key_count(); i++) {
        const struct chip_key *key = chip_key_at(i);
        CHECK(key->name[0] && key->text[0], "key %zu: '%s'", i, key->name);
        CHECK(key->unit[0] || key->type == CHIP_TEXT || key->type == CHIP_TABLE || key->type == CHIP_MAP, "%s", key->name);
        CHECK(chip_key_find(key->name) == key, "%s is there twice", key->name);
    }
}

/* Keys of units come from their lists alone. */
static void test_no_other_keys(void)
{
    static const char *const prefixes[] = {"amx.", "amx_e.", "cpu_p.", "cpu_e.", "gpu.", "ane.", "mem.", "dram.", "gpu_control."};
#define MEM(name, ...)  "mem." #name,
#define DRAM(name, ...) "dram." #name,
#define GPU(name, ...)  "gpu." #name,
    static const char *const others[] = {MEM_SHARED_PARAMS(PARAM_NONE, PARAM_NONE, PARAM_NONE, MEM)
                                             MEM_DRAM_PARAMS(PARAM_NONE, DRAM) MEM_GPU_PARAMS(PARAM_NONE, PARAM_NONE, GPU)};
#undef MEM
#undef DRAM
#undef GPU
    list_rows();
    for (size_t i = 0; i < chip_key_count(); i++) {
        const char *name = chip_key_at(i)->name;
        bool of_unit = false, known = false;
        for (size_t p = 0; p < ARRAY_COUNT(prefixes); p++)
            of_unit |= strncmp(name, prefixes[p], strlen(prefixes[p])) == 0;
        for (size_t k = 0; k < ARRAY_COUNT(others); k++)
            known |= strcmp(name, others[k]) == 0;
        for (size_t k = 0; k < row_count; k++)
            known |= strcmp(name, rows[k].key) == 0;
        CHECK(!of_unit || known, "%s is in no unit's list", name);
    }
}

static double value_at(const struct filled *f, const struct row *row)
{
    const void *at = (const char *)f + row->offset;
    switch (row->type) {
    case IS_COUNT: return *(const uint32_t *)at;
    case IS_QUANTITY: return *(const double *)at;
    case IS_SWITCH: return *(const bool *)at;
    case IS_CHOICE: return *(const uint8_t *)at;
    }
    return NAN;
}

/* Another value that the key may have. */
static double other_value(const struct chip_key *key, double now)
{
    const double more = now + fmax(now / 4, 0.01 * (key->highest - now)), less = now - (now - key->lowest) / 4;
    const double other = more <= key->highest && more != now ? more : less;
    const double whole = more <= key->highest ? ceil(other) : floor(other);
    return key->type == CHIP_INT ? fmin(fmax(whole != now ? whole : now - 1, key->lowest), key->highest) : other;
}

static bool fill_with(const struct chip_base *base, const char *key, const char *value, struct filled *f)
{
    char text[128];
    const char *const set = text;
    const struct chip_overrides overrides = {&set, 1};
    struct orch_error error = {0};
    snprintf(text, sizeof text, "%s=%s", key, value);
    struct chip *chip = chip_open_on(base, &overrides, &error);
    const bool ok = chip && fill(chip, f, &error);
    CHECK(ok, "%s: %s", text, error.text);
    chip_close(chip);
    return ok;
}

struct bench {
    struct chip_db *db;
    struct chip_base *base;
    struct filled now;
};

static bool open_bench(struct bench *b)
{
    struct orch_error error = {0};
    b->db = example_chips();
    b->base = b->db ? chip_base_open(b->db, CHIP, &error) : NULL;
    struct chip *chip = b->base ? chip_open_on(b->base, NULL, &error) : NULL;
    const bool ok = chip && fill(chip, &b->now, &error);
    CHECK(ok && b->now.mem.cluster_count == CLUSTERS, "%s", error.text);
    chip_close(chip);
    return ok;
}

static void close_bench(struct bench *b)
{
    chip_base_close(b->base);
    chip_db_close(b->db);
}

static void test_every_key_sets_its_member(void)
{
    struct bench b;
    struct filled then;
    list_rows();
    for (size_t i = open_bench(&b) ? 0 : row_count; i < row_count; i++) {
        const struct row *row = &rows[i];
        const struct chip_key *key = chip_key_find(row->key);
        const double now = value_at(&b.now, row);
        char text[32];
        double wanted = now == CPU_PORTS_SIMD_DIV ? CPU_PORTS_NONE : CPU_PORTS_SIMD_DIV;
        if (!key)
            continue;
        if (row->type == IS_CHOICE) {
            snprintf(text, sizeof text, "%s", wanted == CPU_PORTS_NONE ? "none" : "simd_div");
        } else {
            snprintf(text, sizeof text, "%.17g", other_value(key, now));
            wanted = row->type == IS_COUNT ? floor(strtod(text, NULL)) : strtod(text, NULL);
        }
        if (fill_with(b.base, row->key, text, &then))
            CHECK(value_at(&then, row) == wanted && wanted != now, "%s=%s: %g, was %g", row->key, text, value_at(&then, row),
                  now);
    }
    close_bench(&b);
}

static void test_worked_out_members_change(void)
{
    struct bench b;
    struct filled then;
    if (open_bench(&b)) {
#define X(key, value, member)                                                                                                    \
    if (fill_with(b.base, key, value, &then))                                                                                    \
        CHECK(then.member != b.now.member, "%s=%s leaves %s", key, value, #member);
        WORKED_OUT(X)
#undef X
    }
    close_bench(&b);
}

/* Members that a row sets, that are worked out or that no chip has; of structs that are there several times, in one of them. */
static uint8_t reached[sizeof(struct filled)];

static void reach(size_t offset, size_t size)
{
    memset(reached + offset, 1, size);
}

/* What is reached in the second of two equal structs counts in the first. */
static void join(size_t first, size_t second, size_t size)
{
    for (size_t i = 0; i < size; i++)
        reached[first + i] |= reached[second + i];
}
#define JOIN(first, second)                                                                                                      \
    join(offsetof(struct filled, first), offsetof(struct filled, second), sizeof(((struct filled *)0)->first))

/* Bytes that nothing reaches must be padding: fewer than eight, in front of a border of eight. */
static void check_reached(const char *name, size_t offset, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        size_t end = i;
        while (end < size && !reached[offset + end])
            end++;
        CHECK(end - i < 8 && (end == i || end % 8 == 0 || end == size), "%s: nothing sets bytes %zu to %zu", name, i, end);
        i = end;
    }
}
#define CHECK_REACHED(member) check_reached(#member, offsetof(struct filled, member), sizeof(((struct filled *)0)->member))

static void test_every_member_is_reached(void)
{
    static const size_t sizes[] = {sizeof(uint32_t), sizeof(double), sizeof(bool), sizeof(uint8_t)}; /* by enum type */
    list_rows();
    for (size_t i = 0; i < row_count; i++)
        reach(rows[i].offset, sizes[rows[i].type]);
#define X(key, value, member) reach(offsetof(struct filled, member), sizeof(((struct filled *)0)->member));
    WORKED_OUT(X)
#undef X
    /* The standard fills all of it. */
    reach(offsetof(struct filled, mem.dram_timing), sizeof(struct dram_timing));
#define X(member) reach(offsetof(struct filled, member), sizeof(((struct filled *)0)->member));
    NOT_OF_A_CHIP(X)
#undef X
    JOIN(core_p, amx_port_p);
    JOIN(mem.cluster[P_CLUSTER], mem.cluster[GPU_CLUSTER]);
    JOIN(mem.cluster[P_CLUSTER], mem.cluster[P_CLUSTER + 2]);
    for (unsigned i = 1; i < CLUSTERS; i++)
        join(offsetof(struct filled, mem.cluster) + i * sizeof(struct mem_cluster_params), offsetof(struct filled, mem.cluster),
             sizeof(struct mem_cluster_params));
    CHECK_REACHED(amx_p);
    CHECK_REACHED(cpu_p);
    CHECK_REACHED(gpu);
    CHECK_REACHED(ane);
    CHECK_REACHED(ane_limits);
    CHECK_REACHED(ane_numeric);
    CHECK_REACHED(mem);
    CHECK_REACHED(core_p);
    CHECK_REACHED(pool);
    CHECK_REACHED(power);
    CHECK_REACHED(gpu_control);
}

static const struct suite_test tests[] = {
    {"rows of the lists are keys with unit and text", test_rows_are_keys},
    {"keys are unique", test_keys_are_unique},
    {"keys of units are in their lists", test_no_other_keys},
    {"every key sets its member", test_every_key_sets_its_member},
    {"members that are worked out change", test_worked_out_members_change},
    {"every member is reached", test_every_member_is_reached},
};
SUITE_MAIN("chip_params", tests)
