/* Makes a hipops_tensor of a DLPack tensor: a view of the same memory. NumPy, PyTorch, JAX, TVM and others export such
 * tensors.
 *
 *   DLManagedTensor* managed = ...;
 *   hipops_tensor x;
 *   if (hipops_from_dlpack(&managed->dl_tensor, HIPOPS_BACKEND_HIP, &x) == HIPOPS_SUCCESS) ...
 *
 * Header-only and C99. It calls no function of the library, so a program that loads the library by dlopen can use it.
 * It needs DLPack's own header, version 0.5 or later. If none was included before, it includes <dlpack/dlpack.h>. */
#ifndef HIPOPS_HIPOPS_DLPACK_H
#define HIPOPS_HIPOPS_DLPACK_H

#if !defined(DLPACK_VERSION) && !defined(DLPACK_MAJOR_VERSION)
#include <dlpack/dlpack.h>
#endif

#include "hipops.h"

/* HIPOPS_NONE for a type that hipops does not support: complex, bool, other floats of 8 bits, vectors (lanes other than 1). */
static inline hipops_dtype hipops_dtype_from_dlpack(DLDataType type) {
  const int log = type.bits == 8 ? 0 : type.bits == 16 ? 1 : type.bits == 32 ? 2 : type.bits == 64 ? 3 : -1;
  static const hipops_dtype kInt[] = {HIPOPS_I8, HIPOPS_I16, HIPOPS_I32, HIPOPS_I64};
  static const hipops_dtype kUInt[] = {HIPOPS_U8, HIPOPS_U16, HIPOPS_U32, HIPOPS_U64};
  /* By code, from 10 on, which DLPack has since 1.1. */
  static const hipops_dtype kFloat8[] = {HIPOPS_F8_E4M3FN, HIPOPS_F8_E4M3FNUZ, HIPOPS_F8_E5M2, HIPOPS_F8_E5M2FNUZ};
  static const hipops_dtype kFloat[] = {HIPOPS_NONE, HIPOPS_F16, HIPOPS_F32, HIPOPS_F64};
  if (type.lanes != 1 || log < 0) return HIPOPS_NONE;
  if (type.code == kDLInt) return kInt[log];
  if (type.code == kDLUInt) return kUInt[log];
  if (type.code == kDLFloat) return kFloat[log];
  if (type.code >= 10 && type.code <= 13 && log == 0) return kFloat8[type.code - 10];
  return type.code == kDLBfloat && type.bits == 16 ? HIPOPS_BF16 : HIPOPS_NONE;
}

/* 1 if kernels of the backend may read and write memory of this kind. HIPOPS_BACKEND_AUTO accepts every kind. PyTorch
 * for ROCm labels its memory kDLROCM, or, in some releases, kDLCUDA. */
static inline int hipops_takes_dlpack_device(hipops_backend backend, DLDevice device) {
  const int cuda = device.device_type == kDLCUDA || device.device_type == kDLCUDAHost || device.device_type == 13;
  const int rocm = device.device_type == kDLROCM || device.device_type == 11; /* kDLROCMHost; 13: kDLCUDAManaged */
  if (backend == HIPOPS_BACKEND_HIP) return rocm || cuda;
  if (backend == HIPOPS_BACKEND_CUDA) return cuda;
  return backend == HIPOPS_BACKEND_AUTO || device.device_type == kDLCPU || device.device_type == kDLCUDAHost ||
         device.device_type == 11;
}

/* Makes `to` a view of `from`'s memory, which the caller keeps alive. `backend` is the backend that will use it. A
 * failure changes neither `to` nor hipops_last_error():
 *   HIPOPS_INVALID_ARGUMENT    more than HIPOPS_MAX_RANK dimensions, or a NULL (dimensions without sizes, too)
 *   HIPOPS_UNSUPPORTED_DTYPE   see hipops_dtype_from_dlpack
 *   HIPOPS_NO_DEVICE           memory that the backend cannot use */
static inline hipops_status hipops_from_dlpack(const DLTensor* from, hipops_backend backend, hipops_tensor* to) {
  hipops_tensor view = {(void*)0, HIPOPS_NONE, 0, {0}, {0}};
  uint64_t step = 1; /* may wrap if sizes are large and `from` has strides: it is then unused */
  int i;
  if (!from || !to || from->ndim < 0 || from->ndim > HIPOPS_MAX_RANK) return HIPOPS_INVALID_ARGUMENT;
  if (from->ndim > 0 && !from->shape) return HIPOPS_INVALID_ARGUMENT;
  if (!hipops_takes_dlpack_device(backend, from->device)) return HIPOPS_NO_DEVICE;
  view.dtype = hipops_dtype_from_dlpack(from->dtype);
  if (view.dtype == HIPOPS_NONE) return HIPOPS_UNSUPPORTED_DTYPE;
  view.data = from->data ? (char*)from->data + from->byte_offset : (void*)0;
  view.rank = (int32_t)from->ndim;
  for (i = from->ndim - 1; i >= 0; --i) {
    view.shape[i] = from->shape[i];
    view.stride[i] = from->strides ? from->strides[i] : (int64_t)step; /* NULL: compact, row-major */
    step *= (uint64_t)from->shape[i];
  }
  *to = view;
  return HIPOPS_SUCCESS;
}

#endif /* HIPOPS_HIPOPS_DLPACK_H */
