/* hipops: neural-network kernels for AMD GPUs (and NVIDIA GPUs, and the CPU) behind a thin C ABI.
 *
 * This header is the manual. It is C99, includes nothing but <stdint.h>, and names no type of any GPU runtime. The
 * library is for Linux.
 *
 * Conventions that hold for every op:
 *   - A tensor is a view: a pointer, a dtype, a shape and strides, none of which the library keeps: a hipops_tensor may
 *     go when the call returns, the memory that it names when the stream is past the call. That memory belongs to the
 *     caller, on the device of the backend in use: HIP memory, CUDA memory, or host memory for the CPU backend.
 *   - Outputs come first, then inputs, then scalars, then the stream. Optional tensors may be NULL.
 *   - Everything that can be checked is checked before anything is launched. When an argument is refused, nothing was
 *     launched and nothing was written; hipops_last_error() names the argument, what it was, and what was expected. Only
 *     where the runtime refuses a later launch of a call that makes several (HIPOPS_RUNTIME_ERROR), or host memory ends
 *     amid a launch on the CPU (HIPOPS_INTERNAL_ERROR), may outputs and workspace be written in part. The check
 *     for overlap gives up after 10000 steps, which only views of many interleaved dimensions take, and lets them pass.
 *   - `stream` is a hipStream_t or a CUstream of the calling thread's current device; NULL is the runtime's default
 *     stream. The CPU backend does not look at it. A thread without a CUDA context gets the primary one of device 0, as
 *     from the CUDA runtime: for another device make its context current first. A call launches on the stream and
 *     returns: it never synchronises, can be captured in a graph, and allocates nothing (the CPU backend does), but for
 *     the kernels that an op's first call on a device loads (hipops_prepare does that ahead). Those are kept: a device
 *     that is reset (hipDeviceReset, cuDevicePrimaryCtxReset) is of no use to hipops any more in that process.
 *   - Strides are the caller's to set, of contiguous tensors too (hipops_contiguous does it). In an input a stride of 0
 *     repeats an element along the dimension: that is a broadcast, as of a row to [rows, columns] with the strides
 *     {0, 1}, or of a single element with {0, 0}. So an input whose strides were left at 0 is read as one element
 *     throughout, without an error. An output with such strides is refused.
 *   - Any stride is honoured. Fastest are tensors whose last dimension is contiguous and whose rows begin and end at
 *     multiples of 16 bytes. An output's strides must nest: sorted by size, each exceeds the largest offset that the
 *     smaller ones reach. No kernel writes past the elements that the view names, or
 *     reads past them, but for the rest of the aligned 4 bytes that one lies in (NVIDIA, f16 and bf16).
 *   - A workspace is device memory at a multiple of 256 bytes; no workspace is NULL and 0 bytes. What it holds before does
 *     not matter; calls that may run at the same time must not share one, nor calls that two threads make at the same
 *     time, on one stream either: a call may be several launches, between which another's may come.
 *   - Tensors without elements are valid: the call succeeds and does nothing.
 *   - Every function may be called from any thread. None throws.
 *   - The library does nothing when it is loaded, and stays loaded after dlclose, as GPU runtimes read from it. It is
 *     not to be called by constructors of a library that is being loaded: the first calls load libraries themselves.
 *   - In the child of a fork the CPU backend goes on. A GPU backend that was in use does not, nor one of any kind that
 *     another thread was about to choose: calls there return HIPOPS_NO_DEVICE. Fork before the first use, or exec.
 */
#ifndef HIPOPS_HIPOPS_H
#define HIPOPS_HIPOPS_H

#include <stdint.h>

#define HIPOPS_VERSION_MAJOR 0
#define HIPOPS_VERSION_MINOR 2
#define HIPOPS_VERSION_PATCH 0

#if defined(HIPOPS_STATIC)
#define HIPOPS_API
#else
#define HIPOPS_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------------------------------------------------ */

/* What a call reports. Values are fixed for good; later versions may add some. */
typedef enum hipops_status {
  HIPOPS_SUCCESS = 0,
  HIPOPS_INVALID_ARGUMENT = 1,   /* a pointer, shape, stride, scalar or setting that cannot be right */
  HIPOPS_UNSUPPORTED_DTYPE = 2,  /* a valid dtype that this op, or this pair of tensors, does not take */
  HIPOPS_UNSUPPORTED_LAYOUT = 3, /* valid strides that this op does not take */
  HIPOPS_NO_DEVICE = 4,          /* the backend asked for is not there: no runtime library, one too old, or no device */
  HIPOPS_NO_CODE_OBJECT = 5, /* the library has no kernels for this device, or for this op; the message says which */
  HIPOPS_RUNTIME_ERROR = 6,  /* the GPU runtime refused a call: see hipops_last_runtime_error() */
  HIPOPS_INTERNAL_ERROR = 7, /* out of host memory, or a defect of hipops */
  HIPOPS_STATUS_INT32 = 0x7fffffff /* makes the enum 32 bits wide everywhere; never returned */
} hipops_status;

/* The constant's name, as "HIPOPS_INVALID_ARGUMENT"; "unknown hipops_status" for any other value. Never NULL. */
HIPOPS_API const char* hipops_status_string(hipops_status status);

/* Why the calling thread's most recent failed call failed, as
 * "rms_norm: weight.shape[0] is 4095, expected 4096 (x.shape[1])". Empty before the first failure. A call that succeeds
 * leaves it alone. Valid until the thread's next failure. */
HIPOPS_API const char* hipops_last_error(void);

/* The GPU runtime's own error code (a hipError_t or CUresult) of the calling thread's most recent failed call, or 0
 * where the runtime was not the one to refuse. */
HIPOPS_API int32_t hipops_last_runtime_error(void);

/* ---- Backends ---------------------------------------------------------------------------------------------------- */

/* Which runtime executes the kernels. One per process, chosen at first use and kept. */
typedef enum hipops_backend {
  HIPOPS_BACKEND_AUTO = 0, /* the first of hip, cuda, cpu that has a device, of hip and cuda first the one whose runtime
                            * the process has loaded already; not cpu where a GPU's runtime is there
                            * and fails, is too old, or is named (HIPOPS_HIP_LIBRARY, HIPOPS_CUDA_LIBRARY) and cannot be
                            * loaded: pointers may be a device's. One that says that there is no device, or that its
                            * driver is not one for it, or that lacks a library that it needs, has none */
  HIPOPS_BACKEND_HIP = 1,  /* AMD GPUs, through libamdhip64, found at run time */
  HIPOPS_BACKEND_CUDA = 2, /* NVIDIA GPUs, through libcuda, found at run time */
  HIPOPS_BACKEND_CPU = 3,  /* the same kernels on host memory; a call returns when the work is done. It computes by the
                            * calling thread's rounding mode and treatment of denormals */
  HIPOPS_BACKEND_INT32 = 0x7fffffff
} hipops_backend;

/* Chooses the backend. Optional: the first op does it, by the environment variable HIPOPS_BACKEND (auto, hip, cuda,
 * cpu) or else automatically. An explicit choice here overrules the environment. Calling it again with the backend
 * in use, or with AUTO, is success; with another one, HIPOPS_INVALID_ARGUMENT. After a failure it may be tried
 * again. */
HIPOPS_API hipops_status hipops_init(hipops_backend backend);

/* The backend in use, or HIPOPS_BACKEND_AUTO when none has been chosen yet. */
HIPOPS_API hipops_backend hipops_backend_in_use(void);

/* Loads an op's kernels (`op` as "rms_norm"), or those of all ops there are where `op` is NULL, for the calling
 * thread's current device, so that no later launch has to. Loading is otherwise done by the first call of the op on a
 * device. The file that HIPOPS_TUNING_FILE names is read then, too, once for each device (docs/guide/tune.md). */
HIPOPS_API hipops_status hipops_prepare(const char* op);

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

#define HIPOPS_MAX_RANK 8 /* dimensions that a tensor may have */

/* What an element is. Values are fixed for good; later versions may add some. */
typedef enum hipops_dtype {
  HIPOPS_NONE = 0, /* no dtype: for hipops_supports */
  HIPOPS_F32 = 1,
  HIPOPS_F16 = 2,  /* IEEE binary16 */
  HIPOPS_BF16 = 3, /* bfloat16 */
  HIPOPS_F64 = 4,
  HIPOPS_U8 = 5,
  HIPOPS_I8 = 6,
  HIPOPS_I16 = 7,
  HIPOPS_U16 = 8,
  HIPOPS_I32 = 9,
  HIPOPS_U32 = 10,
  HIPOPS_I64 = 11,
  HIPOPS_U64 = 12,
  HIPOPS_DTYPE_INT32 = 0x7fffffff
} hipops_dtype;

/* A view of memory. Element (i0, i1, ...) is at data + (i0 * stride[0] + i1 * stride[1] + ...) elements. Entries of
 * shape and stride from `rank` on are not read. */
typedef struct hipops_tensor {
  void* data; /* element (0, 0, ...), aligned to the element; may be NULL where there are no elements */
  hipops_dtype dtype;              /* of the elements */
  int32_t rank;                    /* 0 to HIPOPS_MAX_RANK */
  int64_t shape[HIPOPS_MAX_RANK];  /* each >= 0 */
  int64_t stride[HIPOPS_MAX_RANK]; /* in elements, any sign; where shape is 1 or 0, not looked at. An output's nest:
                                      see above */
} hipops_tensor;

/* The view of a contiguous tensor, the last dimension fastest. It is in this header alone: the library has no such
 * symbol. */
static inline hipops_tensor hipops_contiguous(void* data, hipops_dtype dtype, int32_t rank, const int64_t* shape) {
  hipops_tensor t;
  int64_t step = 1;
  int32_t d;
  t.data = data;
  t.dtype = dtype;
  t.rank = rank;
  for (d = 0; d < HIPOPS_MAX_RANK; ++d) t.shape[d] = d < rank ? shape[d] : 0;
  for (d = HIPOPS_MAX_RANK; d-- > 0;) {
    t.stride[d] = d < rank ? step : 0;
    if (d < rank && t.shape[d] > 1) step = (int64_t)((uint64_t)step * (uint64_t)t.shape[d]);
  }
  return t;
}

/* ---- Normalisation and softmax ------------------------------------------------------------------------------------
 *
 * All work on the last dimension of x and take rank 1 to 8, f32, f16, bf16 and, but for the fused one, f64. y has x's
 * shape and dtype, and may be x itself (the same pointer and strides); any other overlap of y with an input is refused.
 * weight and bias are 1-D, of the length of the last dimension, in x's dtype or f32, both in the same one. f16 and bf16
 * are computed in f32, f64 in f64, and rounded once, to nearest even, unless a flag says otherwise. Finite rows may be
 * of any size (of f32 and f64, layer_norm knows the mean of denormal numbers to the least number). The same call gives
 * the same bits on every run on one device; the last bit of a row may depend on how x, y and the weights lie to
 * multiples of 16 bytes and on their strides, on how many rows there are, and on whether y is x. */

/* y = (x - mean(x)) / sqrt(var(x) + eps) * weight + bias, var being the mean of (x - mean)^2.
 * weight and bias may each be NULL (ones, zeros). eps is finite and >= 0. For f32, f16 and bf16 it
 * is rounded to f32, and is 0 or from 2^-149 to f32's largest number. */
HIPOPS_API hipops_status hipops_layer_norm(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* weight,
                                           const hipops_tensor* bias, double eps, void* stream);

/* Flags of norms, in any combination. */
#define HIPOPS_ROUND_SUM 2u           /* the norm is of x + residual as residual_out has it, rounded to its dtype */
#define HIPOPS_WEIGHT_PLUS_ONE 4u     /* 1 + weight in place of weight, where there is one, as Gemma has it */
#define HIPOPS_ROUND_BEFORE_WEIGHT 8u /* what is normalized is rounded to y's dtype, and the product again, as
                                       * transformers' Llama has it */

/* y = x / sqrt(mean(x^2) + eps) * weight. weight may be NULL (ones). eps as layer_norm's. `flags` is 0, or
 * HIPOPS_WEIGHT_PLUS_ONE, HIPOPS_ROUND_BEFORE_WEIGHT, or both. */
HIPOPS_API hipops_status hipops_rms_norm(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* weight,
                                         double eps, uint32_t flags, void* stream);

/* With h = x + residual: residual_out = h, y = h / sqrt(mean(h^2) + eps) * weight. f32, f16 and bf16. residual has x's
 * shape and dtype, and so has residual_out, which may be NULL where h is not wanted. Each output may be exactly x or
 * residual, but not both the same one; any other overlap is refused. weight and eps as rms_norm's; `flags` is 0 or some
 * of the above. */
HIPOPS_API hipops_status hipops_fused_add_rms_norm(const hipops_tensor* y, const hipops_tensor* residual_out,
                                                   const hipops_tensor* x, const hipops_tensor* residual,
                                                   const hipops_tensor* weight, double eps, uint32_t flags, void* stream);

/* y = exp(x - max(x)) / sum(exp(x - max(x))). A row that is all -inf, or that holds a NaN or +inf, gives NaN. */
HIPOPS_API hipops_status hipops_softmax(const hipops_tensor* y, const hipops_tensor* x, void* stream);

/* ---- Rotary embedding ---------------------------------------------------------------------------------------------
 *
 * Rotates pairs of elements of x's last dimension, of length d, by angles whose cosines and sines the caller brings.
 * With r = 2 * (the last dimension of cos), r <= d, the first r elements are rotated and the others copied (partial
 * rotary). Of pair k, 0 <= k < r / 2, with the elements a and b:
 *     a' = a * cos[k] - b * sin[k]
 *     b' = a * sin[k] + b * cos[k]
 * cos and sin have the same shape, [s, r/2] or [b, s, r/2], and the same dtype, x's or f32. Row p of them is for
 * position p. Without `positions`, the position of token t is t, and s >= t's length; with it, the position is
 * positions[t] or positions[b, t] (i32 or i64, on the device), and s is the length of the table; a position outside
 * the table gives NaN in the r rotated elements, and reads nothing. f32, f16, bf16 and f64; 16-bit types are
 * computed in f32 and rounded once. y has x's shape and dtype, may be x itself, and overlaps nothing else. */

/* x [b, h, t, d]; pair k is elements 2k and 2k + 1 (GPT-J's layout, "interleaved"). */
HIPOPS_API hipops_status hipops_rope_i(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* cos,
                                       const hipops_tensor* sin, const hipops_tensor* positions, void* stream);

/* x [b, h, t, d]; pair k is elements k and k + r/2 (GPT-NeoX's and Llama's layout, "half-split"). */
HIPOPS_API hipops_status hipops_rope(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* cos,
                                     const hipops_tensor* sin, const hipops_tensor* positions, void* stream);

/* x [b, t, h, d]; pair k is elements k and k + r/2. */
HIPOPS_API hipops_status hipops_rope_thd(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* cos,
                                         const hipops_tensor* sin, const hipops_tensor* positions, void* stream);

/* ---- Ops with an index --------------------------------------------------------------------------------------------
 *
 * The index is u8, i16, i32, u32 or i64, in device memory. An index equal to its type's maximum is the sentinel, which
 * names nothing: gather and index_select write zero for it, scatter, scatter_add and index_add skip it. An index that is
 * negative or past the end does as the sentinel does, never touches memory outside of the tensors, and is counted in the
 * report, where the caller passes one. dim is 0 to rank - 1.
 *
 * gather, index_select and scatter move elements of any dtype, bit for bit; the adds take f32, f16, bf16, f64, i32,
 * i64, u32 and u8 (integers wrap around). */

/* In device memory (not in pinned host or managed memory, where a GPU's 64-bit minimum may not take effect), 8-byte
 * aligned, apart from the call's tensors and workspace. The caller sets it to
 * HIPOPS_INDEX_REPORT_INIT before; calls add to it. */
typedef struct hipops_index_report {
  uint64_t count; /* how many indices were out of range */
  uint64_t first; /* the row-major position in the index tensor of the first one; over several calls, the lowest */
} hipops_index_report;

/* A report before the first call: nothing was out of range. */
#define HIPOPS_INDEX_REPORT_INIT {0, UINT64_MAX}

/* Flags of scatter and scatter_add. */
#define HIPOPS_DETERMINISTIC 1u /* the result is what the sources in index order give, the same bits on every run */

/* y[i0, .., j, ..] = x[i0, .., index[i0, .., j, ..], ..], the index being along dim. y has the index's shape and x's
 * dtype; in the other dimensions that is no larger than x's. y overlaps nothing. */
HIPOPS_API hipops_status hipops_gather(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index,
                                       int32_t dim, hipops_index_report* report, void* stream);

/* y[.., j, ..] = x[.., index[j], ..], the index being 1-D and along dim. y has x's shape and dtype, but for the
 * index's length in dim. y overlaps nothing. */
HIPOPS_API hipops_status hipops_index_select(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index,
                                             int32_t dim, hipops_index_report* report, void* stream);

/* y[i0, .., index[i0, .., j, ..], ..] = x[i0, .., j, ..], in place in y: what no index names stays. The index has
 * x's shape; in the other dimensions that is no larger than y's. Where an index repeats, one of its sources is kept,
 * whichever; with HIPOPS_DETERMINISTIC the last one along dim. y overlaps nothing. workspace: device memory of at
 * least hipops_scatter_workspace_bytes, 256-byte aligned; NULL is slower where that is more than 0. */
HIPOPS_API hipops_status hipops_scatter(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index,
                                        int32_t dim, uint32_t flags, void* workspace, int64_t workspace_bytes,
                                        hipops_index_report* report, void* stream);

/* y[i0, .., index[i0, .., j, ..], ..] += x[i0, .., j, ..], in place in y; shapes as for scatter. Without
 * HIPOPS_DETERMINISTIC the order of the sums is any. With the workspace, f16 and bf16 are summed in f32 and rounded
 * once; without it each sum is rounded. With HIPOPS_DETERMINISTIC the sources are added along dim in order, and f16
 * and bf16 need the workspace, unless its size is 0. Other dtypes do without it; with it, rows that are added whole, by
 * one index each, are faster. On AMD GPUs y and the workspace are the device's own memory (hipMalloc): atomic
 * additions to pinned, managed or another device's memory are lost on some of them. */
HIPOPS_API hipops_status hipops_scatter_add(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index,
                                            int32_t dim, uint32_t flags, void* workspace, int64_t workspace_bytes,
                                            hipops_index_report* report, void* stream);

/* y[.., index[j], ..] += x[.., j, ..], in place in y, the index being 1-D and along dim. x has y's shape and dtype,
 * but for the index's length in dim. The sources of an element are added onto it in index order: f16 and bf16 in f32,
 * rounded once; f32 and f64 with each addition rounded; integers wrap around. The bits are the same on every run, with the
 * workspace and without, which is slower. y overlaps nothing. */
HIPOPS_API hipops_status hipops_index_add(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index,
                                          int32_t dim, void* workspace, int64_t workspace_bytes,
                                          hipops_index_report* report, void* stream);

/* Bytes of workspace for the same tensors (their data is not looked at), at most; the same checks as the op's. */
HIPOPS_API hipops_status hipops_scatter_workspace_bytes(const hipops_tensor* y, const hipops_tensor* x,
                                                        const hipops_tensor* index, int32_t dim, uint32_t flags,
                                                        int64_t* bytes);
/* The same for hipops_scatter_add. */
HIPOPS_API hipops_status hipops_scatter_add_workspace_bytes(const hipops_tensor* y, const hipops_tensor* x,
                                                            const hipops_tensor* index, int32_t dim, uint32_t flags,
                                                            int64_t* bytes);
/* The same for hipops_index_add. */
HIPOPS_API hipops_status hipops_index_add_workspace_bytes(const hipops_tensor* y, const hipops_tensor* x,
                                                          const hipops_tensor* index, int32_t dim, int64_t* bytes);

/* ---- Upsampling ----------------------------------------------------------------------------------------------------
 *
 * Nearest neighbour, to any size, up or down: y[.., i, ..] = x[.., source(i), ..], for elements of any dtype, bit for
 * bit. Sizes of 0 in the resized dimensions are refused unless y is empty. `scale` is y's size over x's as the caller
 * means it (PyTorch's scale_factor, with recompute_scale_factor off), or 0 for the quotient of the sizes; it is finite,
 * and so is 1 / scale in the rule's type. Where the source would be past x's end, it is x's last element. */

/* How an element of y finds its element of x; the rules of PyTorch and candle differ in places. */
typedef enum hipops_nearest {
  HIPOPS_NEAREST_PYTORCH = 0, /* floor(i * ratio), ratio = x's size / y's size or 1 / scale, both in f32; without a
                                 scale i where the sizes are equal, i / 2 where y's is twice x's */
  HIPOPS_NEAREST_CANDLE = 1,  /* floor(i * ratio), in f64 */
  HIPOPS_NEAREST_EXACT = 2,   /* floor((i + 0.5) * ratio), in f32: PyTorch's nearest-exact */
  HIPOPS_NEAREST_INT32 = 0x7fffffff
} hipops_nearest;

/* x [n, c, l], y [n, c, l']. */
HIPOPS_API hipops_status hipops_upsample_nearest1d(const hipops_tensor* y, const hipops_tensor* x, hipops_nearest rule,
                                                   double scale, void* stream);

/* x [n, c, h, w], y [n, c, h', w']; any strides, channels-last among them. By HIPOPS_NEAREST_PYTORCH and
 * HIPOPS_NEAREST_EXACT a dimension that keeps its size is copied, whatever its scale: as PyTorch's GPU kernels do. In
 * one dimension, and by HIPOPS_NEAREST_CANDLE, a scale always counts. */
HIPOPS_API hipops_status hipops_upsample_nearest2d(const hipops_tensor* y, const hipops_tensor* x, hipops_nearest rule,
                                                   double scale_h, double scale_w, void* stream);

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

/* y = x, for the same shape and dtype, rank 0 to 8, any strides: 0 and negative ones in x too. y overlaps nothing. */
HIPOPS_API hipops_status hipops_strided_copy(const hipops_tensor* y, const hipops_tensor* x, void* stream);

/* `rows` rows of `cols` elements of dtype, the rows `y_stride` and `x_stride` elements apart: a copy between pitched
 * buffers. y_stride >= cols; x_stride may be any; of a single row neither is looked at. y overlaps nothing. The kernels
 * are strided_copy's: it is that op which hipops_prepare and hipops_supports know. */
HIPOPS_API hipops_status hipops_copy2d(void* y, const void* x, hipops_dtype dtype, int64_t rows, int64_t cols,
                                       int64_t y_stride, int64_t x_stride, void* stream);

/* ---- About this library ------------------------------------------------------------------------------------------ */

/* The version as "0.2.0". Before 1.0 a minor version may change the ABI; the SONAME changes when it does. */
HIPOPS_API const char* hipops_version(void);

/* The version as 10000 * major + 100 * minor + patch. */
HIPOPS_API int32_t hipops_version_number(void);

/* How the library was built: version, compiler, AMD targets, CUDA architectures, CPU runtime. One line each. */
HIPOPS_API const char* hipops_build_info(void);

/* 1 if `op` (as "rms_norm") takes x's dtype with `second`: the dtype of its weights, its tables or its index; with
 * HIPOPS_NONE, whether it takes x's dtype at all. 0 otherwise, as for an unknown op, or one that this build was made
 * without. */
HIPOPS_API int32_t hipops_supports(const char* op, hipops_dtype dtype, hipops_dtype second);

#ifdef __cplusplus
}
#endif

#endif /* HIPOPS_HIPOPS_H */
