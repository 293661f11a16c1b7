// HIPOPS_<OP>_KERNELS(HIPOPS_KERNEL_NAME) is the list of the op's kernel names.
#pragma once

#define HIPOPS_KERNEL_NAME(name, ...) #name,
