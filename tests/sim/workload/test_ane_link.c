/* Programs of the Neural Engine linked to one: which tensors stay in tile memory, which programs need no descriptors. Programs
 * here are one descriptor each, with tensors of whole rows. */
#include "sim/workload/ane/ane_link.h"
#include "tests/support/suite.h"

#include <string.h>

enum { ROOM = 2 << 20, BAR_OUT = 4, BAR_IN = 5, BAR_SECOND = 6, ROW = 64 };

struct small_program {
    struct ane_task task;
    struct ane_program program;
};

/* result = f(source, second): `second` 0 = there is none. Sizes in KiB. */
static struct ane_program *program_of(struct small_program *p, unsigned source, unsigned second, unsigned result)
{
    const struct ane_operand there = {.place = ANE_PLACE_DRAM, .format = ANE_F16, .row = ROW, .interleave = 1};
    *p = (struct small_program){.task = {.engine = ANE_ENGINE_NE,
                                         .width_in = ROW / 2,
                                         .height_in = 16 * source,
                                         .channels_in = 1,
                                         .width_out = ROW / 2,
                                         .height_out = 16 * result,
                                         .channels_out = 1,
                                         .tile_height = 4}};
    p->task.source = p->task.result = there;
    p->task.source.bar = BAR_IN;
    p->task.result.bar = BAR_OUT;
    p->program = (struct ane_program){.task = &p->task, .count = 1};
    p->program.port[BAR_IN] = (struct ane_port){.kind = ANE_PORT_INPUT, .bytes = 1024 * source};
    p->program.port[BAR_OUT] = (struct ane_port){.kind = ANE_PORT_OUTPUT, .bytes = 1024 * result};
    if (second) {
        p->task.second = there;
        p->task.second.bar = BAR_SECOND;
        p->program.port[BAR_SECOND] = (struct ane_port){.kind = ANE_PORT_INPUT, .bytes = 1024 * second};
    }
    return &p->program;
}

static void add(struct ane_linker *l, enum ane_link_kind kind, const struct ane_program *p, int32_t in, int32_t second,
                int32_t out)
{
    int32_t tensor[ANE_BARS];
    for (unsigned bar = 0; bar < ANE_BARS; bar++)
        tensor[bar] = ANE_LINK_NONE;
    tensor[BAR_IN] = in;
    tensor[BAR_SECOND] = second;
    tensor[BAR_OUT] = out;
    CHECK(ane_linker_add(l, kind, p, tensor), "added");
}

/* 0 -> 1 -> 2 -> 3, of which 3 is read elsewhere: 1 and 2 never leave, and come in one tile. */
static void test_chain(void)
{
    struct small_program p;
    struct ane_linker *const l = ane_linker_create(ROOM);
    struct ane_linked linked;
    program_of(&p, 256, 0, 256);
    for (int32_t k = 0; k < 3; k++)
        add(l, ANE_LINK_PROGRAM, &p.program, k, ANE_LINK_NONE, k + 1);
    CHECK(ane_linker_keep(l, 3) && ane_linker_finish(l, &linked), "linked");
    CHECK(linked.count == 3 && linked.tensors == 3 && linked.tensors_inside == 2 && linked.bytes_inside == 512 << 10,
          "%zu of %zu", linked.tensors_inside, linked.tensors);
    CHECK(!linked.inside[0] && linked.inside[1] && linked.inside[2] && !linked.inside[3], "which");
    CHECK(linked.task[0].source.place == ANE_PLACE_DRAM && linked.task[0].result.place == ANE_PLACE_L2 &&
              linked.task[1].source.place == ANE_PLACE_L2 && linked.task[1].result.place == ANE_PLACE_L2 &&
              linked.task[2].source.place == ANE_PLACE_L2 && linked.task[2].result.place == ANE_PLACE_DRAM,
          "places");
    CHECK(linked.task[0].tile_height == 4 && linked.task[1].tile_height == linked.task[1].height_out, "tiles");
    ane_linked_free(&linked);
    ane_linker_free(l);
}

/* A tensor that is needed for long does not keep shorter ones out; what has no room lies in memory. */
static void test_room(void)
{
    struct small_program small, large, join;
    struct ane_linker *const l = ane_linker_create(ROOM);
    struct ane_linked linked;
    program_of(&large, 64, 0, 1500);
    program_of(&small, 1500, 0, 600);
    program_of(&join, 600, 1500, 64);
    add(l, ANE_LINK_PROGRAM, &large.program, 0, ANE_LINK_NONE, 1);
    add(l, ANE_LINK_PROGRAM, &small.program, 1, ANE_LINK_NONE, 2);
    program_of(&small, 600, 0, 600);
    add(l, ANE_LINK_PROGRAM, &small.program, 2, ANE_LINK_NONE, 3);
    add(l, ANE_LINK_PROGRAM, &join.program, 3, 1, 4);
    CHECK(ane_linker_keep(l, 4) && ane_linker_finish(l, &linked), "linked");
    CHECK(!linked.inside[1] && linked.inside[2] && linked.inside[3], "%d %d %d", linked.inside[1], linked.inside[2],
          linked.inside[3]);
    ane_linked_free(&linked);
    ane_linker_free(l);
}

/* At no program do the tensors that lie in tile memory take more than it holds, whatever the graph. */
static void test_never_too_much(void)
{
    enum { LINKS = 40, GRAPHS = 200 };
    uint64_t state = 3;
    for (unsigned graph = 0; graph < GRAPHS; graph++) {
        struct small_program p[LINKS];
        unsigned kib[LINKS + 1] = {100}, read[LINKS][2];
        struct ane_linker *const l = ane_linker_create(ROOM);
        struct ane_linked linked;
        for (unsigned k = 0; k < LINKS; k++) {
            const unsigned near = k < 6 ? k + 1 : 6;
            kib[k + 1] = 1 + (unsigned)(suite_random(&state) >> 54) * 2;
            read[k][0] = k - (unsigned)((suite_random(&state) >> 40) % near);
            read[k][1] = k - (unsigned)((suite_random(&state) >> 40) % near);
            program_of(&p[k], kib[read[k][0]], kib[read[k][1]], kib[k + 1]);
            add(l, ANE_LINK_PROGRAM, &p[k].program, (int32_t)read[k][0], (int32_t)read[k][1], (int32_t)k + 1);
        }
        CHECK(ane_linker_keep(l, LINKS) && ane_linker_finish(l, &linked), "linked");
        for (unsigned k = 0; k < LINKS; k++) {
            uint64_t lodged = 0;
            bool streams = false;
            for (unsigned t = 1; t <= LINKS; t++) {
                unsigned last = t - 1;
                for (unsigned other = t; other < LINKS; other++)
                    if (read[other][0] == t || read[other][1] == t)
                        last = other;
                lodged += linked.inside[t] && t - 1 <= k && k <= last ? (uint64_t)kib[t] << 10 : 0;
            }
            streams = !linked.inside[read[k][0]] || !linked.inside[read[k][1]] || !linked.inside[k + 1];
            CHECK(lodged <= (streams ? ROOM / 4 * 3 : ROOM), "graph %u, program %u: %llu bytes", graph, k,
                  (unsigned long long)lodged);
        }
        ane_linked_free(&linked);
        ane_linker_free(l);
    }
}

/* Two halves are written where the whole is read, and a rectifier is part of what writes its operand. */
static void test_spared(void)
{
    struct small_program half, join, whole;
    struct ane_linker *const l = ane_linker_create(ROOM);
    struct ane_linked linked;
    program_of(&half, 64, 0, 64);
    program_of(&join, 64, 64, 128);
    program_of(&whole, 128, 0, 128);
    add(l, ANE_LINK_PROGRAM, &half.program, 0, ANE_LINK_NONE, 1);
    add(l, ANE_LINK_PROGRAM, &half.program, 0, ANE_LINK_NONE, 2);
    add(l, ANE_LINK_JOIN, &join.program, 1, 2, 3);
    add(l, ANE_LINK_PROGRAM, &whole.program, 3, ANE_LINK_NONE, 4);
    add(l, ANE_LINK_RELU, &whole.program, 4, ANE_LINK_NONE, 5);
    add(l, ANE_LINK_PROGRAM, &whole.program, 5, ANE_LINK_NONE, 6);
    CHECK(ane_linker_keep(l, 6) && ane_linker_finish(l, &linked), "linked");
    CHECK(linked.spared == 2 && linked.count == 4 && linked.first[2] == linked.first[3] && linked.first[4] == linked.first[5],
          "%zu spared, %zu descriptors", linked.spared, linked.count);
    CHECK(linked.inside[1] && linked.inside[2] && linked.inside[3] && linked.inside[5], "where");
    ane_linked_free(&linked);
    ane_linker_free(l);
}

/* A network's input lies elsewhere than its join would, and who else reads a tensor wants it as it was. */
static void test_not_spared(void)
{
    struct small_program p, join;
    struct ane_linker *const l = ane_linker_create(ROOM);
    struct ane_linked linked;
    program_of(&p, 64, 0, 64);
    program_of(&join, 64, 64, 128);
    add(l, ANE_LINK_PROGRAM, &p.program, 0, ANE_LINK_NONE, 1);
    add(l, ANE_LINK_JOIN, &join.program, 0, 1, 2);
    add(l, ANE_LINK_RELU, &p.program, 1, ANE_LINK_NONE, 3);
    CHECK(ane_linker_keep(l, 2) && ane_linker_keep(l, 3) && ane_linker_finish(l, &linked), "linked");
    CHECK(linked.spared == 0 && linked.count == 3, "%zu spared", linked.spared);
    ane_linked_free(&linked);
    ane_linker_free(l);
}

static const struct suite_test tests[] = {
    {"a chain stays in tile memory", test_chain},        {"what has no room lies in memory", test_room},
    {"never more than there is", test_never_too_much},   {"joins and rectifiers are spared", test_spared},
    {"but not where others would see", test_not_spared},
};
SUITE_MAIN("ane link", tests)
