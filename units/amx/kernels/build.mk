# The AMX kernels as AArch64 programs: build/programs/*.elf (with the cross compiler) and, on a Mac, `make native`.

KERNEL_DIR := units/amx/kernels
KERNEL_SRC := $(addprefix $(KERNEL_DIR)/,gemm.c gemm_multiply.c gemm_tile.c gemm_turn.c gemm_pack.c gemv.c native/freestanding.c native/blocks.c)
PROGRAMS := $(O)/programs/demo_sgemm.elf $(O)/programs/amx_kernels.elf
CROSS_CC := $(shell command -v $(CROSS)gcc 2>/dev/null)
CROSS_FLAGS := -std=gnu11 -O3 -march=armv8.4-a+fp16+dotprod -ffp-contract=off -ffreestanding -fno-builtin \
	-fno-tree-loop-distribute-patterns -fno-stack-protector -fno-pie -no-pie -static -nostdlib -Wall -Wextra -Werror -I. \
	-Wl,-z,max-page-size=16384 -Wl,--build-id=none

.PHONY: programs
programs: $(PROGRAMS)

ifneq ($(CROSS_CC),)
$(O)/programs/demo_sgemm.elf: $(KERNEL_DIR)/native/demo_sgemm.c $(KERNEL_SRC) $(wildcard $(KERNEL_DIR)/*.h $(KERNEL_DIR)/native/*.h)
	@mkdir -p $(@D)
	$(CROSS_CC) $(CROSS_FLAGS) $(filter %.c,$^) -o $@

$(O)/programs/amx_kernels.elf: $(KERNEL_DIR)/native/entry_gemm.c $(KERNEL_SRC) $(wildcard $(KERNEL_DIR)/*.h $(KERNEL_DIR)/native/*.h)
	@mkdir -p $(@D)
	$(CROSS_CC) $(CROSS_FLAGS) $(filter %.c,$^) -o $@
else
$(PROGRAMS):
	@echo "orchard: $(CROSS)gcc is missing: run make deps" >&2; false
endif

# On a Mac: the microbenchmarks and the gemm kernels, native; writes build/native/amx.csv for `orchard validate`. Elsewhere:
# the same sources cross-compiled, up to the timer of the operating system, to run under orchard.
NATIVE_SRC := $(KERNEL_DIR)/native/bench_native.c $(addprefix $(KERNEL_DIR)/,gemm.c gemm_multiply.c gemm_tile.c gemm_turn.c gemm_pack.c gemv.c)
NATIVE_FLAGS := -std=gnu11 -O3 -ffp-contract=off -Wall -Wextra -Werror -I.
# The probes of the Neural Engine's adder run there, too; elsewhere a table says what each rule would make of them.
PROBES := units/ane/native
ifeq ($(shell uname -s),Darwin)
native:
	@mkdir -p build/native
	clang -std=gnu11 -O2 -Wall -I. -fobjc-arc $(PROBES)/ane_probes.c $(PROBES)/probe_run.m -framework Foundation -framework CoreML \
	    -o build/native/ane_probes
	build/native/ane_probes
	clang $(NATIVE_FLAGS) -arch arm64 $(NATIVE_SRC) -o build/native/bench_native
	build/native/bench_native "$$(sysctl -n machdep.cpu.brand_string | sed 's/Apple //')" > build/native/amx.csv
	@echo "build/native/amx.csv: score it with orchard validate"
else
native: $(O)/programs/bench_native.elf $(O)/native/probe_table
$(O)/native/probe_table: $(PROBES)/ane_probes.c $(PROBES)/probe_table.c $(PROBES)/ane_probes.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -Wall -Wextra -Werror -I. $(filter %.c,$^) -lm -o $@
$(O)/programs/bench_native.elf: $(NATIVE_SRC) $(wildcard $(KERNEL_DIR)/*.h)
	@mkdir -p $(@D)
	$(CROSS)gcc $(NATIVE_FLAGS) -march=armv8.4-a+fp16+dotprod -static $(NATIVE_SRC) -o $@
endif

# Kernels that are rows (amx_kernels.h), compiled for AArch64 ahead like the NEON library: `make amx-kernels` writes
# amx_kernels_code.inc, which is checked in. AMX words are those of M1.
AMX_DIR := $(KERNEL_DIR)/native
AMX_TYPED := $(addprefix $(AMX_DIR)/,line_elementwise.c line_rows.c line_conv.c line_winograd.c line_attention.c)
AMX_PLAIN := $(AMX_DIR)/line_function.c $(AMX_DIR)/products.c $(AMX_DIR)/requantise.c $(AMX_DIR)/bias.c $(AMX_DIR)/blocks.c \
	$(addprefix $(KERNEL_DIR)/,gemm.c gemm_multiply.c gemm_tile.c gemm_turn.c gemm_pack.c) units/cpu/kernels/native/crew.c
AMX_TYPES := F32 F16 BF16
AMX_OPT := -O2
AMX_HEADERS := $(wildcard $(KERNEL_DIR)/*.h $(AMX_DIR)/*.h units/cpu/kernels/native/*.h) units/kernel_function.h \
	$(KERNEL_DIR)/build.mk units/routines/build.mk
$(eval $(call compiled_kernels,amx,AMX,$(KERNEL_DIR)/amx_kernels_code.inc))
