# The NEON kernels, compiled for AArch64 ahead: `make neon-kernels` writes cpu_kernels_code.inc, which is checked in, so that a build
# needs no cross compiler. Where there is one, a suite compares what a compilation gives now.

NEON_DIR := units/cpu/kernels/native
# Compiled once for each type of elements, and once.
NEON_TYPED := $(addprefix $(NEON_DIR)/,gemm.c gemv.c elementwise.c rows.c reduce.c image.c attention.c attention_cache.c embedding.c rope.c conv.c conv_direct.c)
NEON_PLAIN := $(addprefix $(NEON_DIR)/,crew.c function.c gemm_half.c gemm_i8.c gemm_tile.c gemv_blocks.c)
NEON_TYPES := F32 F16 BF16
# The same for each size of elements in bits.
NEON_SIZED := $(NEON_DIR)/move.c
NEON_SIZES := 32 16 8
NEON_FLAGS := -std=gnu11 -O3 -march=armv8.4-a+fp16+dotprod -ffp-contract=off -ffreestanding -fno-builtin -fno-math-errno \
	-fno-stack-protector -fno-tree-loop-distribute-patterns -fno-pic -fno-asynchronous-unwind-tables -fno-ident -I. -Wall -Wextra -Werror
NEON_OBJ := $(foreach t,$(NEON_TYPES),$(NEON_TYPED:$(NEON_DIR)/%.c=$(O)/neon/%_$(t).o)) \
	$(foreach t,$(NEON_SIZES),$(NEON_SIZED:$(NEON_DIR)/%.c=$(O)/neon/%_$(t).o)) $(NEON_PLAIN:$(NEON_DIR)/%.c=$(O)/neon/%.o)
NEON_HEADERS := $(wildcard $(NEON_DIR)/*.h) units/kernel_function.h units/cpu/kernels/build.mk

define neon_typed
$(O)/neon/%_$(1).o: $(NEON_DIR)/%.c $(NEON_HEADERS)
	@mkdir -p $$(@D)
	$(CROSS)gcc $(NEON_FLAGS) -DELEMENT_$(1) -c $$< -o $$@
endef
$(foreach t,$(NEON_TYPES) $(NEON_SIZES),$(eval $(call neon_typed,$(t))))
$(NEON_PLAIN:$(NEON_DIR)/%.c=$(O)/neon/%.o): $(O)/neon/%.o: $(NEON_DIR)/%.c $(NEON_HEADERS)
	@mkdir -p $(@D)
	$(CROSS)gcc $(NEON_FLAGS) -c $< -o $@

# The first line names the compiler: another one gives other code.
$(O)/neon/cpu_kernels_code.inc: $(NEON_OBJ)
	$(CROSS)gcc -r -nostdlib $^ -o $(O)/neon/kernels.o
	$(CROSS)objcopy --strip-unneeded --remove-section=.comment --remove-section=.note.GNU-stack $(O)/neon/kernels.o
	(echo "/* $$($(CROSS)gcc --version | head -n 1) */"; \
	    od -An -v -w48 -tx8 $(O)/neon/kernels.o | sed 's/ \([0-9a-f]*\)/0x\1,/g') > $@

.PHONY: neon-kernels
neon-kernels: $(O)/neon/cpu_kernels_code.inc
	cp $< units/cpu/kernels/cpu_kernels_code.inc

# On a Mac the same sources run natively; elsewhere they are compiled for AArch64 up to a program for `orchard run`.
NEON_NATIVE := $(filter-out $(NEON_DIR)/crew.c,$(NEON_PLAIN)) $(NEON_DIR)/bench_neon.c
ifeq ($(shell uname -s),Darwin)
NEON_NATIVE_CC := clang -arch arm64
NEON_NATIVE_OUT := build/native/bench_neon
else
NEON_NATIVE_CC := $(CROSS)gcc -march=armv8.4-a+fp16+dotprod -static
NEON_NATIVE_OUT := $(O)/programs/bench_neon.elf
endif
NEON_NATIVE_FLAGS := -std=gnu11 -O3 -ffp-contract=off -fno-math-errno -Wall -Wextra -Werror -I.
.PHONY: native-neon
native: native-neon
native-neon:
	@mkdir -p $(O)/native/neon $(dir $(NEON_NATIVE_OUT))
	set -e; for t in $(NEON_TYPES); do for f in $(NEON_TYPED); do \
	    $(NEON_NATIVE_CC) $(NEON_NATIVE_FLAGS) -DELEMENT_$$t -c $$f -o $(O)/native/neon/$$(basename $$f .c)_$$t.o; done; done; \
	for t in $(NEON_SIZES); do for f in $(NEON_SIZED); do \
	    $(NEON_NATIVE_CC) $(NEON_NATIVE_FLAGS) -DELEMENT_$$t -c $$f -o $(O)/native/neon/$$(basename $$f .c)_$$t.o; done; done
	$(NEON_NATIVE_CC) $(NEON_NATIVE_FLAGS) $(NEON_NATIVE) $(O)/native/neon/*.o -lm -o $(NEON_NATIVE_OUT)
ifeq ($(shell uname -s),Darwin)
	$(NEON_NATIVE_OUT) > build/native/neon.csv
	@cat build/native/neon.csv
endif
