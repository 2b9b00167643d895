# The NEON kernels: `make neon-kernels` (units/routines/build.mk) writes cpu_kernels_code.inc.

NEON_DIR := units/cpu/kernels/native
# Compiled once for each type of elements, and once.
NEON_TYPED := $(addprefix $(NEON_DIR)/,gemm.c gemv.c elementwise.c rows.c reduce.c image.c attention.c attention_cache.c embedding.c rope.c conv.c conv_direct.c conv_winograd.c gemm_dots.c convert.c compare.c topk.c)
NEON_PLAIN := $(addprefix $(NEON_DIR)/,crew.c function.c conv_i8.c gemm_double.c gemm_half.c gemm_i8.c gemm_tile.c gemv_blocks.c gemm_blocks.c attention_cached.c integer.c nms.c)
NEON_TYPES := F32 F16 BF16
# The same for each size of elements in bits.
NEON_SIZED := $(NEON_DIR)/move.c
NEON_SIZES := 32 16 8
# For each type whose elements have an order.
NEON_ORDERED := $(addprefix $(NEON_DIR)/,order.c scan.c)
NEON_ORDERED_TYPES := F32 F16 BF16 I32 U32
NEON_OPT := -O3
NEON_HEADERS := $(wildcard $(NEON_DIR)/*.h) units/kernel_function.h units/cpu/kernels/build.mk units/routines/build.mk
$(eval $(call compiled_kernels,neon,NEON,units/cpu/kernels/cpu_kernels_code.inc))

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
	for t in $(NEON_ORDERED_TYPES); do for f in $(NEON_ORDERED); do \
	    $(NEON_NATIVE_CC) $(NEON_NATIVE_FLAGS) -DELEMENT_$$t -c $$f -o $(O)/native/neon/$$(basename $$f .c)_$$t.o; done; done; \
	for t in $(NEON_SIZES); do for f in $(NEON_SIZED); do \
	    $(NEON_NATIVE_CC) $(NEON_NATIVE_FLAGS) -DELEMENT_$$t -c $$f -o $(O)/native/neon/$$(basename $$f .c)_$$t.o; done; done
	$(NEON_NATIVE_CC) $(NEON_NATIVE_FLAGS) $(NEON_NATIVE) $(O)/native/neon/*.o -lm -o $(NEON_NATIVE_OUT)
ifeq ($(shell uname -s),Darwin)
	$(NEON_NATIVE_OUT) > build/native/neon.csv
	@cat build/native/neon.csv
endif
