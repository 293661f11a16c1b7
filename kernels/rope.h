// The contract between rope.hip and its launcher; the arguments are RopeArgs.
#pragma once

#include "device/move/rope_contract.h"

#define HIPOPS_ROPE_KERNELS(X) HIPOPS_ROPES_KERNELS(X, rope)
