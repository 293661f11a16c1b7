// HIPOPS_<OP>_KERNELS(HIPOPS_KERNEL_NAME) is the list of the op's kernel names.
#pragma once

#define HIPOPS_KERNEL_NAME(name, ...) #name,

// The same for the dtype of each kernel, if that is all that follows its name.
#define HIPOPS_KERNEL_DTYPE(name, T) T,
