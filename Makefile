# orchard: make demo | test | bench | fuzz | install | deps | clean      MODE=opt|asan|ubsan|tsan
#
# Sources are found by folder: a new .c file under isa units power traces reports sim belongs to liborchard, a new
# tests/*/test_*.c is a suite of its own. Only sim/main.c and sim/cmd/ belong to the command line alone.

MODE ?= opt
PREFIX ?= /usr/local
CC = gcc
CROSS ?= aarch64-linux-gnu-
VERSION := 0.1.0

ifeq ($(MODE),opt)
O := build
else
O := build/$(MODE)
endif

OPT_opt := -O2 -g
OPT_asan := -O1 -g -fsanitize=address -fno-omit-frame-pointer
OPT_ubsan := -O1 -g -fsanitize=undefined -fno-sanitize-recover=all
OPT_tsan := -O1 -g -fsanitize=thread
ifeq ($(OPT_$(MODE)),)
$(error MODE is one of opt, asan, ubsan, tsan)
endif

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wcast-align=strict \
	-Wwrite-strings -Wundef -Wformat=2 -Wvla -Wnull-dereference -Wduplicated-cond -Wlogical-op -Wimplicit-fallthrough \
	-Wno-psabi # vector types never cross a library boundary
# Contraction off: where the hardware fuses, the code says fma.
CFLAGS_ALL := -std=gnu11 $(OPT_$(MODE)) $(WARNINGS) -ffp-contract=off -fno-math-errno -fvisibility=hidden -fPIC -pthread \
	-I. -MMD -MP -DORCHARD_VERSION='"$(VERSION)"' -DORCHARD_SOURCE_DIR='"$(CURDIR)"' -DORCHARD_DATA_DIR='"$(PREFIX)/share/orchard"' \
	$(CFLAGS)
LIBS := -lgsl -lgslcblas -ljson-c -lsqlite3 -lz -lm -pthread

# Kernels per host instruction set: the file name says which.
HOST := $(shell uname -m)
ifeq ($(HOST),x86_64)
FLAGS_avx2 := -mavx2 -mfma -mf16c
FLAGS_avx512 := -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx2 -mfma -mf16c
FLAGS_avx512fp16 := $(FLAGS_avx512) -mavx512fp16 -mavx512bf16
endif

LIB_SRC := $(sort $(filter-out sim/main.c $(wildcard sim/cmd/*.c),$(shell find isa units power traces reports sim -name '*.c' -not -path '*/native/*')))
CLI_SRC := $(sort sim/main.c $(wildcard sim/cmd/*.c))
TEST_SRC := $(sort $(wildcard tests/isa/test_*.c tests/units/test_*.c tests/sim/test_*.c tests/power/test_*.c))
BENCH_SRC := $(sort $(wildcard tests/bench/bench_*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
SUPPORT_SRC := tests/support/suite.c

LIB_OBJ := $(LIB_SRC:%.c=$(O)/%.o)
CLI_OBJ := $(CLI_SRC:%.c=$(O)/%.o)
TEST_BIN := $(TEST_SRC:tests/%.c=$(O)/tests/%)
BENCH_BIN := $(BENCH_SRC:tests/%.c=$(O)/tests/%)
FUZZ_SMOKE := $(FUZZ_SRC:tests/%.c=$(O)/tests/%_smoke)

.PHONY: all demo test bench fuzz install deps deps-test clean native check-style
all: $(O)/orchard $(O)/liborchard.a $(O)/liborchard.so

-include $(wildcard sim/build.mk tests/build.mk units/amx/kernels/build.mk)

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(FLAGS_$(lastword $(subst _, ,$(basename $(notdir $<))))) -c $< -o $@

$(O)/liborchard.a: $(LIB_OBJ)
	@rm -f $@
	ar rcs $@ $^

$(O)/liborchard.so: $(LIB_OBJ)
	$(CC) $(OPT_$(MODE)) -shared -Wl,-soname,liborchard.so.0 $^ -o $@ $(LIBS)

$(O)/orchard: $(CLI_OBJ) $(O)/liborchard.a
	$(CC) $(OPT_$(MODE)) $^ -o $@ $(LIBS)

$(O)/tests/support/runner: $(O)/tests/support/runner.o
	$(CC) $(OPT_$(MODE)) $^ -o $@

$(O)/tests/%: $(O)/tests/%.o $(SUPPORT_SRC:%.c=$(O)/%.o) $(O)/liborchard.a
	$(CC) $(OPT_$(MODE)) $^ -o $@ $(LIBS) -lcunit $(LIBS_$(notdir $@))

$(O)/tests/fuzz/%_smoke: $(O)/tests/fuzz/%.o $(O)/tests/support/fuzz_smoke.o $(O)/liborchard.a
	$(CC) $(OPT_$(MODE)) $^ -o $@ $(LIBS)

-include $(shell find $(O) -name '*.d' 2>/dev/null)

.SECONDARY:

clean:
	rm -rf build
