/* Sizes, offsets and values on which engines in other languages rely. A wrong number makes an array of negative length. */
#include <stddef.h>

#include "hipops/hipops.h"

#define ALWAYS(name, condition) typedef char always_##name[(condition) ? 1 : -1]

ALWAYS(size_of_tensor, sizeof(hipops_tensor) == 144);
ALWAYS(tensor_data, offsetof(hipops_tensor, data) == 0);
ALWAYS(tensor_dtype, offsetof(hipops_tensor, dtype) == 8);
ALWAYS(tensor_rank, offsetof(hipops_tensor, rank) == 12);
ALWAYS(tensor_shape, offsetof(hipops_tensor, shape) == 16);
ALWAYS(tensor_stride, offsetof(hipops_tensor, stride) == 80);
ALWAYS(size_of_status, sizeof(hipops_status) == 4);
ALWAYS(size_of_backend, sizeof(hipops_backend) == 4);
ALWAYS(size_of_dtype, sizeof(hipops_dtype) == 4);
ALWAYS(size_of_nearest, sizeof(hipops_nearest) == 4);
ALWAYS(size_of_report, sizeof(hipops_index_report) == 16);
ALWAYS(report_count, offsetof(hipops_index_report, count) == 0);
ALWAYS(report_first, offsetof(hipops_index_report, first) == 8);

ALWAYS(statuses, HIPOPS_SUCCESS == 0 && HIPOPS_INVALID_ARGUMENT == 1 && HIPOPS_UNSUPPORTED_DTYPE == 2 &&
                     HIPOPS_UNSUPPORTED_LAYOUT == 3 && HIPOPS_NO_DEVICE == 4 && HIPOPS_NO_CODE_OBJECT == 5 &&
                     HIPOPS_RUNTIME_ERROR == 6 && HIPOPS_INTERNAL_ERROR == 7);
ALWAYS(backends,
       HIPOPS_BACKEND_AUTO == 0 && HIPOPS_BACKEND_HIP == 1 && HIPOPS_BACKEND_CUDA == 2 && HIPOPS_BACKEND_CPU == 3);
ALWAYS(dtypes, HIPOPS_NONE == 0 && HIPOPS_F32 == 1 && HIPOPS_F16 == 2 && HIPOPS_BF16 == 3 && HIPOPS_F64 == 4 &&
                   HIPOPS_U8 == 5 && HIPOPS_I8 == 6 && HIPOPS_I16 == 7 && HIPOPS_U16 == 8 && HIPOPS_I32 == 9 &&
                   HIPOPS_U32 == 10 && HIPOPS_I64 == 11 && HIPOPS_U64 == 12 && HIPOPS_F8_E4M3FN == 13 &&
                   HIPOPS_F8_E4M3FNUZ == 14 && HIPOPS_F8_E5M2 == 15 && HIPOPS_F8_E5M2FNUZ == 16);
ALWAYS(rules, HIPOPS_NEAREST_PYTORCH == 0 && HIPOPS_NEAREST_CANDLE == 1 && HIPOPS_NEAREST_EXACT == 2);
ALWAYS(flags, HIPOPS_DETERMINISTIC == 1);
ALWAYS(max_rank, HIPOPS_MAX_RANK == 8);
