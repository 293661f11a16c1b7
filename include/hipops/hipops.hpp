// hipops for C++17: a constructor for tensors, and a function for each op. hipops.h is the manual of the ops.
//
// A failure throws hipops::error. If HIPOPS_RETURNS_STATUS is defined before the header is included, or if exceptions
// are off, each function returns its hipops_status instead. Files of one program may choose differently. But inline
// code that calls these functions must see the same choice in every file that includes it.
#ifndef HIPOPS_HIPOPS_HPP
#define HIPOPS_HIPOPS_HPP

#include <hipops/hipops.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>

#if !defined(__cpp_exceptions) && !defined(HIPOPS_RETURNS_STATUS)
#define HIPOPS_RETURNS_STATUS
#endif

namespace hipops {

// A failed call. what() is the library's message, as "rms_norm: weight.shape[0] is 4095, expected 4096 (x.shape[1])".
class error : public std::runtime_error {
 public:
  explicit error(hipops_status status)
      : std::runtime_error(hipops_last_error()), status_(status), runtime_error_(hipops_last_runtime_error()) {}

  hipops_status status() const noexcept { return status_; }
  int32_t runtime_error() const noexcept { return runtime_error_; }  // the GPU runtime's own code, or 0

 private:
  hipops_status status_;
  int32_t runtime_error_;
};

namespace detail {
template <class T>
constexpr hipops_dtype integer_dtype() {
  if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool> || std::is_volatile_v<T>) return HIPOPS_NONE;
  else if constexpr (sizeof(T) == 1) return std::is_signed_v<T> ? HIPOPS_I8 : HIPOPS_U8;
  else if constexpr (sizeof(T) == 2) return std::is_signed_v<T> ? HIPOPS_I16 : HIPOPS_U16;
  else if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? HIPOPS_I32 : HIPOPS_U32;
  else if constexpr (sizeof(T) == 8) return std::is_signed_v<T> ? HIPOPS_I64 : HIPOPS_U64;
  else return HIPOPS_NONE;
}
}  // namespace detail
// The dtype of a C++ type; HIPOPS_NONE for types without one, such as bool and __int128. For an f16 or bf16 type of
// your own, write this outside of any namespace:
//   template <> inline constexpr hipops_dtype hipops::dtype_of<my_half> = HIPOPS_F16;
template <class T> inline constexpr hipops_dtype dtype_of = detail::integer_dtype<T>();
template <class T> inline constexpr hipops_dtype dtype_of<const T> = dtype_of<T>;
template <> inline constexpr hipops_dtype dtype_of<float> = HIPOPS_F32;
template <> inline constexpr hipops_dtype dtype_of<double> = HIPOPS_F64;

namespace detail {
template <class T>
constexpr hipops_dtype known_dtype() {
  static_assert(dtype_of<T> != HIPOPS_NONE, "hipops::dtype_of knows no dtype of this type: name one");
  return dtype_of<T>;
}

// Null strides mean a contiguous tensor.
inline hipops_tensor view(void* memory, hipops_dtype of, int32_t dimensions, const int64_t* sizes,
                          const int64_t* strides) {
  if (dimensions < 0 || dimensions > HIPOPS_MAX_RANK) return {memory, of, dimensions, {}, {}};
  hipops_tensor t = hipops_contiguous(memory, of, dimensions, sizes);
  if (strides) std::copy(strides, strides + dimensions, t.stride);
  return t;
}
inline hipops_tensor view(void* memory, hipops_dtype of, std::initializer_list<int64_t> sizes,
                          std::initializer_list<int64_t> strides) {
  const auto dimensions = static_cast<int32_t>(sizes.size());
  if (strides.size() == 0) return view(memory, of, dimensions, sizes.begin(), nullptr);
  return view(memory, of, strides.size() == sizes.size() ? dimensions : -1, sizes.begin(), strides.begin());
}
}  // namespace detail

// A view of memory that no op writes; it owns nothing. A view without strides is contiguous, the last dimension
// fastest. The op that gets an invalid view refuses it: one of more than 8 dimensions, or one with more or fewer
// strides than sizes, which has rank -1.
struct const_tensor : hipops_tensor {
  const_tensor(const hipops_tensor& t) : hipops_tensor(t) {}
  const_tensor(const void* memory, hipops_dtype of, std::initializer_list<int64_t> sizes,
               std::initializer_list<int64_t> strides = {})
      : hipops_tensor(detail::view(const_cast<void*>(memory), of, sizes, strides)) {}
  template <class T>
  const_tensor(const T* memory, std::initializer_list<int64_t> sizes, std::initializer_list<int64_t> strides = {})
      : hipops_tensor(detail::view(const_cast<T*>(memory), detail::known_dtype<T>(), sizes, strides)) {}
  // For a shape and strides that are known at run time only. Null strides mean a contiguous tensor.
  const_tensor(const void* memory, hipops_dtype of, int32_t dimensions, const int64_t* sizes,
               const int64_t* strides = nullptr)
      : hipops_tensor(detail::view(const_cast<void*>(memory), of, dimensions, sizes, strides)) {}
};

// A view of memory that an op may write, or read.
struct tensor : const_tensor {
  tensor(const hipops_tensor& t) : const_tensor(t) {}
  tensor(void* memory, hipops_dtype of, std::initializer_list<int64_t> sizes,
         std::initializer_list<int64_t> strides = {})
      : const_tensor(detail::view(memory, of, sizes, strides)) {}
  template <class T>
  tensor(T* memory, std::initializer_list<int64_t> sizes, std::initializer_list<int64_t> strides = {})
      : const_tensor(detail::view(memory, detail::known_dtype<T>(), sizes, strides)) {}
  tensor(void* memory, hipops_dtype of, int32_t dimensions, const int64_t* sizes, const int64_t* strides = nullptr)
      : const_tensor(detail::view(memory, of, dimensions, sizes, strides)) {}
  // Const memory cannot be an output. It is a const_tensor.
  tensor(const const_tensor&) = delete;
  tensor(const void*, hipops_dtype, std::initializer_list<int64_t>, std::initializer_list<int64_t> = {}) = delete;
  template <class T>
  tensor(const T*, std::initializer_list<int64_t>, std::initializer_list<int64_t> = {}) = delete;
  tensor(const void*, hipops_dtype, int32_t, const int64_t*, const int64_t* = nullptr) = delete;
};

// An input that may be left out (nullptr). It holds a copy of the view.
class optional_tensor {
 public:
  optional_tensor() noexcept {}
  optional_tensor(std::nullptr_t) noexcept {}
  optional_tensor(const hipops_tensor& t) noexcept : tensor_(t), is_there_(true) {}
  const hipops_tensor* get() const noexcept { return is_there_ ? &tensor_ : nullptr; }

 private:
  hipops_tensor tensor_{};
  bool is_there_ = false;
};

// An output that may be left out (nullptr).
struct optional_output : optional_tensor {
  optional_output(std::nullptr_t = nullptr) noexcept {}
  optional_output(const tensor& t) noexcept : optional_tensor(t) {}
  optional_output(const hipops_tensor& t) noexcept : optional_tensor(t) {}
  optional_output(const const_tensor&) = delete;
};

// Device memory that an op may use while it runs, at a multiple of 256 bytes. Without it some ops are slower.
struct workspace {
  void* data = nullptr;
  int64_t bytes = 0;
};

#if defined(HIPOPS_RETURNS_STATUS)
#define HIPOPS_CALL [[nodiscard]] inline hipops_status
inline namespace returns_status {
HIPOPS_CALL check(hipops_status status) { return status; }
#else
#define HIPOPS_CALL inline void
inline namespace throws {
HIPOPS_CALL check(hipops_status status) {
  if (status != HIPOPS_SUCCESS) throw error(status);
}
#endif

HIPOPS_CALL init(hipops_backend backend) { return check(hipops_init(backend)); }
HIPOPS_CALL prepare(const char* op = nullptr) { return check(hipops_prepare(op)); }

HIPOPS_CALL layer_norm(const tensor& y, const optional_output& mean, const optional_output& rstd, const const_tensor& x,
                       const optional_tensor& weight, const optional_tensor& bias, double eps, uint32_t flags = 0,
                       void* stream = nullptr) {
  return check(hipops_layer_norm(&y, mean.get(), rstd.get(), &x, weight.get(), bias.get(), eps, flags, stream));
}
HIPOPS_CALL rms_norm(const tensor& y, const optional_output& rstd, const const_tensor& x, const optional_tensor& weight,
                     double eps, uint32_t flags = 0, void* stream = nullptr) {
  return check(hipops_rms_norm(&y, rstd.get(), &x, weight.get(), eps, flags, stream));
}
HIPOPS_CALL fused_add_rms_norm(const tensor& y, const optional_output& residual_out, const optional_output& rstd,
                               const const_tensor& x, const const_tensor& residual, const optional_tensor& weight,
                               double eps, uint32_t flags = 0, void* stream = nullptr) {
  return check(hipops_fused_add_rms_norm(&y, residual_out.get(), rstd.get(), &x, &residual, weight.get(), eps, flags, stream));
}
HIPOPS_CALL fused_add_layer_norm(const tensor& y, const optional_output& residual_out, const optional_output& mean,
                                 const optional_output& rstd, const const_tensor& x, const const_tensor& residual,
                                 const optional_tensor& weight, const optional_tensor& bias, double eps,
                                 uint32_t flags = 0, void* stream = nullptr) {
  return check(hipops_fused_add_layer_norm(&y, residual_out.get(), mean.get(), rstd.get(), &x, &residual, weight.get(),
                                           bias.get(), eps, flags, stream));
}
HIPOPS_CALL softmax(const tensor& y, const const_tensor& x, uint32_t flags = 0, void* stream = nullptr) {
  return check(hipops_softmax(&y, &x, flags, stream));
}
HIPOPS_CALL log_softmax(const tensor& y, const const_tensor& x, uint32_t flags = 0, void* stream = nullptr) {
  return check(hipops_log_softmax(&y, &x, flags, stream));
}
HIPOPS_CALL softmax_ext(const tensor& y, const const_tensor& x, const optional_tensor& mask, const optional_tensor& alibi_slopes,
                        const optional_tensor& sinks, double scale = 1, uint32_t flags = 0, void* stream = nullptr) {
  return check(hipops_softmax_ext(&y, &x, mask.get(), alibi_slopes.get(), sinks.get(), scale, flags, stream));
}

HIPOPS_CALL rope(const tensor& y, const const_tensor& x, const const_tensor& cos, const const_tensor& sin,
                 const optional_tensor& positions = {}, void* stream = nullptr) {
  return check(hipops_rope(&y, &x, &cos, &sin, positions.get(), stream));
}
HIPOPS_CALL rope_i(const tensor& y, const const_tensor& x, const const_tensor& cos, const const_tensor& sin,
                   const optional_tensor& positions = {}, void* stream = nullptr) {
  return check(hipops_rope_i(&y, &x, &cos, &sin, positions.get(), stream));
}
HIPOPS_CALL rope_thd(const tensor& y, const const_tensor& x, const const_tensor& cos, const const_tensor& sin,
                     const optional_tensor& positions = {}, void* stream = nullptr) {
  return check(hipops_rope_thd(&y, &x, &cos, &sin, positions.get(), stream));
}

HIPOPS_CALL gather(const tensor& y, const const_tensor& x, const const_tensor& index, int32_t dim,
                   hipops_index_report* report = nullptr, void* stream = nullptr) {
  return check(hipops_gather(&y, &x, &index, dim, report, stream));
}
HIPOPS_CALL index_select(const tensor& y, const const_tensor& x, const const_tensor& index, int32_t dim,
                         hipops_index_report* report = nullptr, void* stream = nullptr) {
  return check(hipops_index_select(&y, &x, &index, dim, report, stream));
}
HIPOPS_CALL scatter(const tensor& y, const const_tensor& x, const const_tensor& index, int32_t dim, uint32_t flags = 0,
                    workspace w = {}, hipops_index_report* report = nullptr, void* stream = nullptr) {
  return check(hipops_scatter(&y, &x, &index, dim, flags, w.data, w.bytes, report, stream));
}
HIPOPS_CALL scatter_add(const tensor& y, const const_tensor& x, const const_tensor& index, int32_t dim,
                        uint32_t flags = 0, workspace w = {}, hipops_index_report* report = nullptr,
                        void* stream = nullptr) {
  return check(hipops_scatter_add(&y, &x, &index, dim, flags, w.data, w.bytes, report, stream));
}
HIPOPS_CALL index_add(const tensor& y, const const_tensor& x, const const_tensor& index, int32_t dim, workspace w = {},
                      hipops_index_report* report = nullptr, void* stream = nullptr) {
  return check(hipops_index_add(&y, &x, &index, dim, w.data, w.bytes, report, stream));
}
// The bytes of workspace for scatter, scatter_add and index_add. The functions return them, or, where a status is
// returned, store them to *bytes.
#if defined(HIPOPS_RETURNS_STATUS)
HIPOPS_CALL scatter_workspace(const tensor& y, const const_tensor& x, const const_tensor& index, int32_t dim,
                              uint32_t flags, int64_t* bytes) {
  return check(hipops_scatter_workspace_bytes(&y, &x, &index, dim, flags, bytes));
}
HIPOPS_CALL scatter_add_workspace(const tensor& y, const const_tensor& x, const const_tensor& index, int32_t dim,
                                  uint32_t flags, int64_t* bytes) {
  return check(hipops_scatter_add_workspace_bytes(&y, &x, &index, dim, flags, bytes));
}
HIPOPS_CALL index_add_workspace(const tensor& y, const const_tensor& x, const const_tensor& index, int32_t dim,
                                int64_t* bytes) {
  return check(hipops_index_add_workspace_bytes(&y, &x, &index, dim, bytes));
}
#else
[[nodiscard]] inline int64_t scatter_workspace(const tensor& y, const const_tensor& x, const const_tensor& index,
                                               int32_t dim, uint32_t flags = 0) {
  int64_t bytes = 0;
  check(hipops_scatter_workspace_bytes(&y, &x, &index, dim, flags, &bytes));
  return bytes;
}
[[nodiscard]] inline int64_t scatter_add_workspace(const tensor& y, const const_tensor& x, const const_tensor& index,
                                                   int32_t dim, uint32_t flags = 0) {
  int64_t bytes = 0;
  check(hipops_scatter_add_workspace_bytes(&y, &x, &index, dim, flags, &bytes));
  return bytes;
}
[[nodiscard]] inline int64_t index_add_workspace(const tensor& y, const const_tensor& x, const const_tensor& index,
                                                 int32_t dim) {
  int64_t bytes = 0;
  check(hipops_index_add_workspace_bytes(&y, &x, &index, dim, &bytes));
  return bytes;
}
#endif

HIPOPS_CALL upsample_nearest1d(const tensor& y, const const_tensor& x, hipops_nearest rule = HIPOPS_NEAREST_PYTORCH,
                               double scale = 0, void* stream = nullptr) {
  return check(hipops_upsample_nearest1d(&y, &x, rule, scale, stream));
}
HIPOPS_CALL upsample_nearest2d(const tensor& y, const const_tensor& x, hipops_nearest rule = HIPOPS_NEAREST_PYTORCH,
                               double scale_h = 0, double scale_w = 0, void* stream = nullptr) {
  return check(hipops_upsample_nearest2d(&y, &x, rule, scale_h, scale_w, stream));
}

HIPOPS_CALL activation(const tensor& y, const const_tensor& x, hipops_activation_kind kind, double alpha = 1,
                       void* stream = nullptr) {
  return check(hipops_activation(&y, &x, kind, alpha, stream));
}
HIPOPS_CALL activation_and_mul(const tensor& y, const const_tensor& x, const const_tensor& up,
                               hipops_activation_kind kind = HIPOPS_ACTIVATION_SILU, double limit = 0, double alpha = 1,
                               uint32_t flags = 0, void* stream = nullptr) {
  return check(hipops_activation_and_mul(&y, &x, &up, kind, limit, alpha, flags, stream));
}

// y = the reduction of x over the dimensions whose bits `dims` has.
HIPOPS_CALL reduce(const tensor& y, const const_tensor& x, hipops_reduction reduction, uint32_t dims, uint32_t flags = 0,
                   workspace w = {}, void* stream = nullptr) {
  return check(hipops_reduce(&y, &x, reduction, dims, flags, w.data, w.bytes, stream));
}
#if defined(HIPOPS_RETURNS_STATUS)
HIPOPS_CALL reduce_workspace(const tensor& y, const const_tensor& x, hipops_reduction reduction, uint32_t dims,
                             uint32_t flags, int64_t* bytes) {
  return check(hipops_reduce_workspace_bytes(&y, &x, reduction, dims, flags, bytes));
}
#else
[[nodiscard]] inline int64_t reduce_workspace(const tensor& y, const const_tensor& x, hipops_reduction reduction,
                                              uint32_t dims, uint32_t flags = 0) {
  int64_t bytes = 0;
  check(hipops_reduce_workspace_bytes(&y, &x, reduction, dims, flags, &bytes));
  return bytes;
}
#endif

HIPOPS_CALL static_quantize(const tensor& q, const const_tensor& x, const const_tensor& scale, void* stream = nullptr) {
  return check(hipops_static_quantize(&q, &x, &scale, stream));
}
// group: HIPOPS_WHOLE_TENSOR for one scale, which the workspace is for.
HIPOPS_CALL dynamic_quantize(const tensor& q, const tensor& scale, const const_tensor& x, const const_tensor* scale_ub = nullptr,
                             int64_t group = 0, uint32_t flags = 0, workspace w = {}, void* stream = nullptr) {
  return check(hipops_dynamic_quantize(&q, &scale, &x, scale_ub, group, flags, w.data, w.bytes, stream));
}
#if defined(HIPOPS_RETURNS_STATUS)
HIPOPS_CALL dynamic_quantize_workspace(const tensor& q, const tensor& scale, const const_tensor& x, const const_tensor* scale_ub,
                                       int64_t group, uint32_t flags, int64_t* bytes) {
  return check(hipops_dynamic_quantize_workspace_bytes(&q, &scale, &x, scale_ub, group, flags, bytes));
}
#else
[[nodiscard]] inline int64_t dynamic_quantize_workspace(const tensor& q, const tensor& scale, const const_tensor& x,
                                                        const const_tensor* scale_ub = nullptr,
                                                        int64_t group = HIPOPS_WHOLE_TENSOR, uint32_t flags = 0) {
  int64_t bytes = 0;
  check(hipops_dynamic_quantize_workspace_bytes(&q, &scale, &x, scale_ub, group, flags, &bytes));
  return bytes;
}
#endif
// The gradients of rms_norm. The workspace is for dw and for long rows.
HIPOPS_CALL rms_norm_backward(const tensor& dx, const optional_output& dw, const const_tensor& dy, const const_tensor& x,
                              const optional_tensor& weight, const optional_tensor& rstd, double eps, uint32_t flags = 0,
                              workspace w = {}, void* stream = nullptr) {
  return check(hipops_rms_norm_backward(&dx, dw.get(), &dy, &x, weight.get(), rstd.get(), eps, flags, w.data, w.bytes,
                                        stream));
}
#if defined(HIPOPS_RETURNS_STATUS)
HIPOPS_CALL rms_norm_backward_workspace(const tensor& dx, const optional_output& dw, const const_tensor& dy,
                                        const const_tensor& x, const optional_tensor& weight, const optional_tensor& rstd,
                                        int64_t* bytes) {
  return check(hipops_rms_norm_backward_workspace_bytes(&dx, dw.get(), &dy, &x, weight.get(), rstd.get(), bytes));
}
#else
[[nodiscard]] inline int64_t rms_norm_backward_workspace(const tensor& dx, const optional_output& dw,
                                                         const const_tensor& dy, const const_tensor& x,
                                                         const optional_tensor& weight, const optional_tensor& rstd) {
  int64_t bytes = 0;
  check(hipops_rms_norm_backward_workspace_bytes(&dx, dw.get(), &dy, &x, weight.get(), rstd.get(), &bytes));
  return bytes;
}
#endif

// The gradients of layer_norm. The workspace is for dw, db and long rows.
HIPOPS_CALL layer_norm_backward(const tensor& dx, const optional_output& dw, const optional_output& db,
                                const const_tensor& dy, const const_tensor& x, const optional_tensor& weight,
                                const optional_tensor& mean, const optional_tensor& rstd, double eps, uint32_t flags = 0,
                                workspace w = {}, void* stream = nullptr) {
  return check(hipops_layer_norm_backward(&dx, dw.get(), db.get(), &dy, &x, weight.get(), mean.get(), rstd.get(), eps,
                                          flags, w.data, w.bytes, stream));
}
#if defined(HIPOPS_RETURNS_STATUS)
HIPOPS_CALL layer_norm_backward_workspace(const tensor& dx, const optional_output& dw, const optional_output& db,
                                          const const_tensor& dy, const const_tensor& x,
                                          const optional_tensor& weight, const optional_tensor& mean,
                                          const optional_tensor& rstd, int64_t* bytes) {
  return check(hipops_layer_norm_backward_workspace_bytes(&dx, dw.get(), db.get(), &dy, &x, weight.get(), mean.get(),
                                                          rstd.get(), bytes));
}
#else
[[nodiscard]] inline int64_t layer_norm_backward_workspace(const tensor& dx, const optional_output& dw,
                                                           const optional_output& db, const const_tensor& dy,
                                                           const const_tensor& x,
                                                           const optional_tensor& weight, const optional_tensor& mean,
                                                           const optional_tensor& rstd) {
  int64_t bytes = 0;
  check(hipops_layer_norm_backward_workspace_bytes(&dx, dw.get(), db.get(), &dy, &x, weight.get(), mean.get(),
                                                   rstd.get(), &bytes));
  return bytes;
}
#endif
HIPOPS_CALL softmax_backward(const tensor& dx, const const_tensor& dy, const const_tensor& y, double scale = 1,
                             uint32_t flags = 0, void* stream = nullptr) {
  return check(hipops_softmax_backward(&dx, &dy, &y, scale, flags, stream));
}
HIPOPS_CALL log_softmax_backward(const tensor& dx, const const_tensor& dy, const const_tensor& y, uint32_t flags = 0,
                                 void* stream = nullptr) {
  return check(hipops_log_softmax_backward(&dx, &dy, &y, flags, stream));
}
// The loss of each row for its target, and the gradient of x.
HIPOPS_CALL cross_entropy(const tensor& loss, const optional_output& lse, const optional_output& dx, const const_tensor& x,
                          const const_tensor& target, const optional_tensor& dloss = nullptr, int64_t ignore_index = -100,
                          double label_smoothing = 0, double z_loss = 0, uint32_t flags = 0,
                          hipops_index_report* report = nullptr, void* stream = nullptr) {
  return check(hipops_cross_entropy(&loss, lse.get(), dx.get(), &x, &target, dloss.get(), ignore_index, label_smoothing, z_loss,
                                    flags, report, stream));
}

// The k greatest or least elements of rows. With k above 2048 and HIPOPS_SORTED, or for few long rows, pass a workspace.
HIPOPS_CALL topk(const optional_output& values, const tensor& indices, const const_tensor& x, int64_t k,
                 uint32_t flags = HIPOPS_SORTED, workspace w = {}, const optional_tensor& lengths = nullptr,
                 const optional_tensor& row_begin = nullptr, void* stream = nullptr) {
  return check(hipops_topk(values.get(), &indices, &x, lengths.get(), row_begin.get(), k, flags, w.data, w.bytes, stream));
}
#if defined(HIPOPS_RETURNS_STATUS)
HIPOPS_CALL topk_workspace(const optional_output& values, const tensor& indices, const const_tensor& x, int64_t k,
                           uint32_t flags, int64_t* bytes) {
  return check(hipops_topk_workspace_bytes(values.get(), &indices, &x, nullptr, nullptr, k, flags, bytes));
}
#else
[[nodiscard]] inline int64_t topk_workspace(const optional_output& values, const tensor& indices, const const_tensor& x,
                                            int64_t k, uint32_t flags = HIPOPS_SORTED) {
  int64_t bytes = 0;
  check(hipops_topk_workspace_bytes(values.get(), &indices, &x, nullptr, nullptr, k, flags, &bytes));
  return bytes;
}
#endif
// y = the sums of x from the beginning of dimension dim on.
HIPOPS_CALL cumsum(const tensor& y, const const_tensor& x, int32_t dim, workspace w = {}, void* stream = nullptr) {
  return check(hipops_cumsum(&y, &x, dim, w.data, w.bytes, stream));
}
#if defined(HIPOPS_RETURNS_STATUS)
HIPOPS_CALL cumsum_workspace(const tensor& y, const const_tensor& x, int32_t dim, int64_t* bytes) {
  return check(hipops_cumsum_workspace_bytes(&y, &x, dim, bytes));
}
#else
[[nodiscard]] inline int64_t cumsum_workspace(const tensor& y, const const_tensor& x, int32_t dim) {
  int64_t bytes = 0;
  check(hipops_cumsum_workspace_bytes(&y, &x, dim, &bytes));
  return bytes;
}
#endif

// weights, ids = the k best experts of each token, of the topk_groups best groups if there are groups. x: the logits.
HIPOPS_CALL topk_softmax(const tensor& weights, const tensor& ids, const const_tensor& x, int64_t k,
                         uint32_t flags = HIPOPS_RENORMALIZE, const optional_tensor& bias = nullptr, int64_t groups = 0,
                         int64_t topk_groups = 0, double scale = 1, const optional_output& token_expert = nullptr,
                         void* stream = nullptr) {
  return check(hipops_topk_softmax(&weights, &ids, token_expert.get(), &x, bias.get(), k, groups, topk_groups, scale, flags,
                                   stream));
}
// sorted_ids = positions in x by expert, each expert padded to blocks; expert_ids = the expert of each block.
HIPOPS_CALL moe_align_block_size(const tensor& sorted_ids, const tensor& expert_ids, const tensor& count, const const_tensor& x,
                                 int64_t experts, int64_t block_size, const optional_tensor& expert_map = nullptr,
                                 void* stream = nullptr) {
  return check(hipops_moe_align_block_size(&sorted_ids, &expert_ids, &count, &x, expert_map.get(), experts, block_size,
                                           stream));
}
// tokens = a token of each row of logits, drawn by the row's uniform number.
HIPOPS_CALL sample(const tensor& tokens, const const_tensor& x, const const_tensor& uniform,
                   const optional_tensor& temperature = nullptr, const optional_tensor& top_k = nullptr,
                   const optional_tensor& top_p = nullptr, const optional_tensor& min_p = nullptr, void* stream = nullptr) {
  return check(hipops_sample(&tokens, &x, &uniform, temperature.get(), top_k.get(), top_p.get(), min_p.get(), stream));
}
// y = logits, lowered for tokens of the prompt (u8, not 0) and of the output (i32, how often).
HIPOPS_CALL apply_penalties(const tensor& y, const const_tensor& x, const optional_tensor& prompt, const optional_tensor& counts,
                            const optional_tensor& repetition = nullptr, const optional_tensor& frequency = nullptr,
                            const optional_tensor& presence = nullptr, void* stream = nullptr) {
  return check(hipops_apply_penalties(&y, &x, prompt.get(), counts.get(), repetition.get(), frequency.get(), presence.get(),
                                      stream));
}
// values, indices = each row of x in order, and its columns. Either may be absent.
HIPOPS_CALL sort(const optional_output& values, const optional_output& indices, const const_tensor& x, uint32_t flags = 0,
                 workspace w = {}, void* stream = nullptr) {
  return check(hipops_sort(values.get(), indices.get(), &x, flags, w.data, w.bytes, stream));
}
#if defined(HIPOPS_RETURNS_STATUS)
HIPOPS_CALL sort_workspace(const optional_output& values, const optional_output& indices, const const_tensor& x,
                           uint32_t flags, int64_t* bytes) {
  return check(hipops_sort_workspace_bytes(values.get(), indices.get(), &x, flags, bytes));
}
#else
[[nodiscard]] inline int64_t sort_workspace(const optional_output& values, const optional_output& indices,
                                            const const_tensor& x, uint32_t flags = 0) {
  int64_t bytes = 0;
  check(hipops_sort_workspace_bytes(values.get(), indices.get(), &x, flags, &bytes));
  return bytes;
}
#endif
HIPOPS_CALL activation_backward(const tensor& dx, const const_tensor& dy, const const_tensor& x, hipops_activation_kind kind,
                                double alpha = 1, void* stream = nullptr) {
  return check(hipops_activation_backward(&dx, &dy, &x, kind, alpha, stream));
}
HIPOPS_CALL activation_and_mul_backward(const optional_output& dx, const optional_output& dup, const const_tensor& dy,
                                        const const_tensor& x, const const_tensor& up,
                                        hipops_activation_kind kind = HIPOPS_ACTIVATION_SILU, double limit = 0, double alpha = 1,
                                        uint32_t flags = 0, void* stream = nullptr) {
  return check(hipops_activation_and_mul_backward(dx.get(), dup.get(), &dy, &x, &up, kind, limit, alpha, flags, stream));
}

HIPOPS_CALL strided_copy(const tensor& y, const const_tensor& x, void* stream = nullptr) {
  return check(hipops_strided_copy(&y, &x, stream));
}
HIPOPS_CALL copy2d(void* y, const void* x, hipops_dtype dtype, int64_t rows, int64_t cols, int64_t y_stride,
                   int64_t x_stride, void* stream = nullptr) {
  return check(hipops_copy2d(y, x, dtype, rows, cols, y_stride, x_stride, stream));
}

}  // inline namespace
}  // namespace hipops

#undef HIPOPS_CALL

#endif  // HIPOPS_HIPOPS_HPP
