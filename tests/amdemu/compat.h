// Declares functions that the distribution's HIP headers call and a newer clang lacks.
typedef _Float16 hipc_h2 __attribute__((ext_vector_type(2)));
static inline __attribute__((device, always_inline)) _Float16 __llvm_amdgcn_rcp_f16(_Float16 x) { return __builtin_amdgcn_rcph(x); }
static inline __attribute__((device, always_inline)) hipc_h2 __llvm_amdgcn_rcp_2f16(hipc_h2 x) {
  return hipc_h2{_Float16(__builtin_amdgcn_rcph(x.x)), _Float16(__builtin_amdgcn_rcph(x.y))};
}
