// HIPOPS_<OP>_KERNELS(HIPOPS_KERNEL_NAME) is the list of the op's kernel names.
#pragma once

#define HIPOPS_KERNEL_NAME(name, ...) #name,

// The dtypes of a list whose kernels have a name and a dtype.
#define HIPOPS_KERNEL_DTYPE(name, T) T,
