# Kernels of cores, compiled for AArch64 ahead: `make NAME-kernels` writes their code as words to a file that is checked in, so that
# a build needs no cross compiler. Where there is one, a suite compares what a compilation gives now.
#
# compiled_kernels NAME,PREFIX,FILE: PREFIX_TYPED is compiled for each type of PREFIX_TYPES (ELEMENT_F32 ...), PREFIX_SIZED for each of
# PREFIX_SIZES, PREFIX_ORDERED for each of PREFIX_ORDERED_TYPES, PREFIX_PLAIN once; with PREFIX_OPT, again when PREFIX_HEADERS change.

ROUTINE_FLAGS := -std=gnu11 -march=armv8.4-a+fp16+dotprod -ffp-contract=off -ffreestanding -fno-builtin -fno-math-errno \
	-fno-stack-protector -fno-tree-loop-distribute-patterns -fno-pic -fno-asynchronous-unwind-tables -fno-ident -I. -Wall -Wextra -Werror

routine_object = $(O)/$(1)/$(basename $(notdir $(2)))$(3).o
# NAME,PREFIX,SOURCE,SUFFIX,FLAGS
define compiled_object
$(call routine_object,$(1),$(3),$(4)): $(3) $$($(2)_HEADERS)
	@mkdir -p $$(@D)
	$(CROSS)gcc $$($(2)_OPT) $(ROUTINE_FLAGS) $(5) -c $$< -o $$@
$(2)_OBJ += $(call routine_object,$(1),$(3),$(4))
endef

# The first line of the code names the compiler: another one gives other code.
define compiled_kernels
$(foreach t,$($(2)_TYPES),$(foreach s,$($(2)_TYPED),$(eval $(call compiled_object,$(1),$(2),$(s),_$(t),-DELEMENT_$(t)))))
$(foreach t,$($(2)_SIZES),$(foreach s,$($(2)_SIZED),$(eval $(call compiled_object,$(1),$(2),$(s),_$(t),-DELEMENT_$(t)))))
$(foreach t,$($(2)_ORDERED_TYPES),$(foreach s,$($(2)_ORDERED),$(eval $(call compiled_object,$(1),$(2),$(s),_$(t),-DELEMENT_$(t)))))
$(foreach s,$($(2)_PLAIN),$(eval $(call compiled_object,$(1),$(2),$(s))))
$(O)/$(1)/$(notdir $(3)): $$($(2)_OBJ)
	$(CROSS)gcc -r -nostdlib $$^ -o $(O)/$(1)/kernels.o
	$(CROSS)objcopy --strip-unneeded --remove-section=.comment --remove-section=.note.GNU-stack $(O)/$(1)/kernels.o
	(echo "/* $$$$($(CROSS)gcc --version | head -n 1) */"; \
	    od -An -v -w48 -tx8 $(O)/$(1)/kernels.o | sed 's/ \([0-9a-f]*\)/0x\1,/g') > $$@

.PHONY: $(1)-kernels
$(1)-kernels: $(O)/$(1)/$(notdir $(3))
	cp $$< $(3)
endef
