# Guests: AArch64 programs that suites run. Without the cross compiler they are left out and their tests say so.
GUEST_CC := $(shell command -v $(CROSS)gcc 2>/dev/null)
GUEST_FLAGS := -std=gnu11 -I. -Wall -Wextra -Werror -mno-outline-atomics
GUEST_FREE := -ffreestanding -fno-builtin -nostdlib -static -fno-pie -no-pie -fno-stack-protector -fno-tree-loop-distribute-patterns
GUEST_OBJECT := -c -O2 -ffreestanding -ffp-contract=off -fno-stack-protector -fno-tree-loop-distribute-patterns
guest_integer_o2 := free_integer.c $(GUEST_FREE) -O2
guest_integer_plain := free_integer.c $(GUEST_FREE) -O2 -mgeneral-regs-only
guest_integer_o3 := free_integer.c $(GUEST_FREE) -O3 -Wl,-z,max-page-size=4096
guest_integer_os := free_integer.c $(GUEST_FREE) -Os -Wl,-z,noseparate-code,-z,max-page-size=4096
guest_integer_pie := free_integer.c -ffreestanding -fno-builtin -nostdlib -static-pie -fpie -fno-stack-protector -fno-tree-loop-distribute-patterns -O2
guest_float_o3 := free_float.c $(GUEST_FREE) -fno-math-errno -O3
guest_float_ofast := free_float.c $(GUEST_FREE) -fno-math-errno -Ofast
guest_float_f16 := free_float.c $(GUEST_FREE) -fno-math-errno -O3 -march=armv8.4-a+fp16+dotprod
guest_faults := free_faults.c $(GUEST_FREE) -O1
guest_text := libc_text.c -O2 -static -lm
guest_text_pie := libc_text.c -O2 -static-pie -fpie -lm
guest_memory := libc_memory.c -O2 -static
guest_memory_4k := libc_memory.c -O2 -static -Wl,-z,max-page-size=4096
guest_threads := libc_threads.c -O2 -static -pthread
guest_calls := libc_calls.c -O2 -static
guest_crypto := libc_crypto.c -O2 -static -march=armv8.2-a+crypto
guest_files := libc_files.c -O2 -static
guest_kernels := object_kernels.c $(GUEST_OBJECT) -fno-pie
guest_kernels_pic := object_kernels.c $(GUEST_OBJECT) -fPIC -fcommon
guest_kernels_large := object_kernels.c $(GUEST_OBJECT) -fno-pie -mcmodel=large -fcommon
guest_kernels_tiny := object_kernels.c $(GUEST_OBJECT) -fno-pie -mcmodel=tiny
guest_undefined := object_undefined.c $(GUEST_OBJECT) -fno-pie
guest_amx := object_amx.c $(GUEST_OBJECT) -fno-pie
guest_library1 := object_library.c $(GUEST_OBJECT) -fno-pie -fcommon -DGUEST_PART=1
guest_library2 := object_library.c $(GUEST_OBJECT) -fno-pie -fcommon -DGUEST_PART=2
guest_library3 := object_library.c $(GUEST_OBJECT) -fno-pie -fcommon -DGUEST_PART=3
guest_library4 := object_library.c $(GUEST_OBJECT) -fno-pie -DGUEST_PART=4
guest_relocations := object_relocations.S -c
guest_relocations_ld := object_relocations.S $(GUEST_FREE) -Wl,--no-warn-rwx-segments,-Ttext=0x10000000,--section-start=.rodata=0x10004000,--section-start=.data=0x10008000,-e,relocations,--build-id=none
GUEST_NAMES := integer_plain integer_o2 integer_o3 integer_os integer_pie float_o3 float_ofast float_f16 faults text text_pie memory memory_4k threads calls crypto files \
	kernels kernels_pic kernels_large kernels_tiny undefined amx relocations relocations_ld library1 library2 library3 library4
GUESTS := $(if $(GUEST_CC),$(GUEST_NAMES:%=$(O)/tests/guest/%.elf))
$(GUESTS): $(O)/tests/guest/%.elf: $(wildcard tests/guest/*.c tests/guest/*.h tests/guest/*.S) units/amx/kernels/amx_intrinsics.h tests/build.mk
	@mkdir -p $(@D)
	$(GUEST_CC) $(GUEST_FLAGS) tests/guest/$(firstword $(guest_$*)) $(wordlist 2,99,$(guest_$*)) -o $@

# What a suite includes decides what it is linked with and what must be built before it runs; a new suite needs no line here.
including = $(patsubst %.c,$(O)/%,$(shell grep -lE '^#include ["<]($1)' $(TEST_SRC) $(BENCH_SRC)))

# Suites that start the orchard binary.
$(call including,tests/support/cli_binary\.h): $(O)/tests/support/cli_binary.o | $(O)/orchard
$(O)/tests/sim/cmd/test_gpu_examples: | $(O)/orchard
# Suites of the command line's own files.
$(call including,sim/cmd/): $(filter-out $(O)/sim/cmd/main.o,$(CLI_OBJ))
# Suites that run guests. Unicorn (GPL) is linked to tests and benchmarks alone.
GUEST_SUITES := $(call including,tests/guest/host/|tests/sim/program_example\.h)
$(GUEST_SUITES): $(O)/tests/guest/host/guest_files.o $(O)/tests/guest/host/unicorn_machine.o | $(GUESTS)
$(GUEST_SUITES) $(call including,unicorn/): private LIBS += -lunicorn
# Kernels of the library as AArch64 programs.
$(O)/tests/sim/run/test_kernel_homes: | programs
LIBS_bench_gemm := -lopenblas
# The examples are built with the installed header alone and linked with the shared library.
$(O)/tests/sim/api/test_examples: | $(O)/liborchard.so
$(O)/tests/sim/api/test_examples.o: CFLAGS_ALL += -DTEST_MODE='"$(MODE)"' -DTEST_CC='"$(CC) $(filter -fsanitize%,$(OPT_$(MODE)))"'
$(O)/tests/sim/prove/test_regress_baseline.o: CFLAGS_ALL += -DTEST_MODE='"$(MODE)"'
# Tables of parameters and members (PARAMETERS.md, MEMBERS.md), written from the lists; the suite of that name compares them.
.PHONY: parameters
parameters: $(O)/tests/sim/chip/test_params_pages
	$< --write
# Comparison of the GPU compiler with another OpenCL: what its suites share.
OPENCL_SHARED := $(addprefix $(O)/tests/opencl/,opencl_case.o opencl_compare.o opencl_generate.o opencl_generate_expression.o opencl_native.o opencl_ways.o)
$(call including,tests/opencl/): $(OPENCL_SHARED)

# What a Mac is asked is compared with the simulated engine.
$(O)/tests/units/test_ane_probes: $(O)/units/ane/native/ane_probes.o
# NEON and AMX kernels as a compilation gives them now.
$(O)/tests/units/test_cpu_kernels_code: | $(if $(GUEST_CC),$(O)/neon/cpu_kernels_code.inc)
$(O)/tests/units/test_amx_kernels_code: | $(if $(GUEST_CC),$(O)/amx/amx_kernels_code.inc)
# Compiled kernels of frameworks (units/gpu/kernels/SET/NAME.inc), from their Metal sources; the suite of that name compares them.
.PHONY: framework-kernels
framework-kernels: $(O)/tests/sim/compile/test_framework_kernels
	$< --write
# Tables of characters (sim/language/unicode_tables.inc), from UnicodeData.txt; the suite of that name compares them.
.PHONY: unicode
unicode: $(O)/tests/sim/language/test_unicode
	$< --write
