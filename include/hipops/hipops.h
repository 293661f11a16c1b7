/* hipops: neural-network kernels for AMD GPUs (and NVIDIA GPUs, and the CPU) behind a thin C ABI.
 *
 * This header is the manual. It is C99, includes nothing but <stdint.h>, and names no type of any GPU runtime. The
 * library is for Linux.
 *
 * Conventions that hold for every op:
 *   - A tensor is a view: a pointer, a dtype, a shape and strides. The library keeps none of them. A hipops_tensor may
 *     be destroyed when the call returns, and its memory may be freed when the stream has finished the call. The memory
 *     belongs to the caller and is on the device of the backend in use: HIP memory, CUDA memory, or host memory for the
 *     CPU backend.
 *   - Outputs come first, then inputs, then scalars, then the stream. Optional tensors may be NULL.
 *   - Everything that can be checked is checked before anything is launched. When an argument is refused, nothing was
 *     launched and nothing was written. hipops_last_error() then names the argument, its value, and the expected value.
 *     Outputs and the workspace may be partly written in two cases only: the runtime refuses a later launch of a call
 *     that makes several (HIPOPS_RUNTIME_ERROR), or host memory runs out during a launch on the CPU
 *     (HIPOPS_INTERNAL_ERROR). The check for overlap stops after 10000 steps and then accepts the tensors. Only views
 *     with many interleaved dimensions need so long a search.
 *   - `stream` is a hipStream_t or a CUstream of the calling thread's current device. NULL is the runtime's default
 *     stream. The CPU backend ignores it. A thread without a CUDA context gets the primary context of device 0, as with
 *     the CUDA runtime. For another device make its context current first.
 *   - A call launches on the stream and returns. It never synchronises, and it can be captured in a graph. It allocates
 *     nothing, with two exceptions: the CPU backend allocates, and an op's first call on a device loads its kernels
 *     (hipops_prepare does that ahead). Loaded kernels are kept. After a reset of a device (hipDeviceReset,
 *     cuDevicePrimaryCtxReset), hipops cannot use that device again in the same process.
 *   - The caller must set the strides, even of a contiguous tensor (hipops_contiguous sets them). In an input a stride
 *     of 0 repeats an element along the dimension: a broadcast. For example, the strides {0, 1} broadcast a row to
 *     [rows, columns], and {0, 0} broadcast a single element. So an input whose strides were left at 0 is read as one
 *     element throughout, without an error. An output with such strides is refused.
 *   - Any stride is honoured. Tensors are fastest if their last dimension is contiguous and their rows begin and end at
 *     multiples of 16 bytes. An output's strides must nest: with the dimensions sorted by stride, each stride exceeds
 *     the largest offset that the dimensions with smaller strides reach. No kernel writes past the elements that the
 *     view names. None reads past them, with one exception: on NVIDIA, for f16 and bf16, a kernel may read the rest of
 *     the aligned 4 bytes around an element.
 *   - A workspace is device memory at a multiple of 256 bytes. "No workspace" is NULL and 0 bytes. Its contents before
 *     the call do not matter. Calls that may run at the same time must not use the same workspace. Calls that two
 *     threads make at the same time must not either, even on one stream: a call may be several launches, and launches
 *     of the other call may come between them.
 *   - Tensors without elements are valid: the call checks its arguments, succeeds and does nothing.
 *   - Every function may be called from any thread. None throws.
 *   - The library does nothing when it is loaded. It stays loaded after dlclose, because GPU runtimes read from it. A
 *     constructor of a library that is being loaded must not call it, because the first calls load other libraries.
 *   - In the child of a fork the CPU backend still works. A GPU backend that was in use does not, and neither does any
 *     backend that another thread was about to choose: calls there return HIPOPS_NO_DEVICE. Fork before the first use,
 *     or exec.
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

/* The result of a call. A value never changes its meaning. Later versions may add values. */
typedef enum hipops_status {
  HIPOPS_SUCCESS = 0,
  HIPOPS_INVALID_ARGUMENT = 1,   /* a pointer, shape, stride, scalar or setting that is not valid */
  HIPOPS_UNSUPPORTED_DTYPE = 2,  /* a valid dtype that this op, or this pair of tensors, does not support */
  HIPOPS_UNSUPPORTED_LAYOUT = 3, /* valid strides that this op does not support */
  HIPOPS_NO_DEVICE = 4,          /* the backend is not available: no runtime library, an old one, or no device */
  HIPOPS_NO_CODE_OBJECT = 5, /* the library has no kernels for this device, or for this op: see the message */
  HIPOPS_RUNTIME_ERROR = 6,  /* the GPU runtime refused a call: see hipops_last_runtime_error() */
  HIPOPS_INTERNAL_ERROR = 7, /* out of host memory, or a defect of hipops */
  HIPOPS_STATUS_INT32 = 0x7fffffff /* makes the enum 32 bits wide with every compiler; never returned */
} hipops_status;

/* The constant's name, for example "HIPOPS_INVALID_ARGUMENT", or "unknown hipops_status" for any other value. Never
 * NULL. */
HIPOPS_API const char* hipops_status_string(hipops_status status);

/* The reason why the calling thread's most recent failed call failed, for example
 * "rms_norm: weight.shape[0] is 4095, expected 4096 (x.shape[1])". Empty before the first failure. A call that succeeds
 * does not change it. Valid until the thread's next failure. */
HIPOPS_API const char* hipops_last_error(void);

/* The GPU runtime's own error code (a hipError_t or CUresult) of the calling thread's most recent failed call. It is 0
 * if the runtime did not cause the failure. */
HIPOPS_API int32_t hipops_last_runtime_error(void);

/* ---- Backends ---------------------------------------------------------------------------------------------------- */

/* The runtime that executes the kernels. A process has one. The first use chooses it, and it does not change. */
typedef enum hipops_backend {
  HIPOPS_BACKEND_AUTO = 0, /* The first backend with a device, in the order hip, cuda, cpu. If the process has already
                            * loaded the runtime of hip or cuda, that backend comes first. cpu is not chosen if a
                            * GPU's runtime is present but fails, is too old, or is named (HIPOPS_HIP_LIBRARY,
                            * HIPOPS_CUDA_LIBRARY) and cannot be loaded: the caller may have pointers to a device's
                            * memory. A runtime has no device if it reports that, or reports that its driver does
                            * not fit, or lacks a library that it needs */
  HIPOPS_BACKEND_HIP = 1,  /* AMD GPUs, through libamdhip64, found at run time */
  HIPOPS_BACKEND_CUDA = 2, /* NVIDIA GPUs, through libcuda, found at run time */
  HIPOPS_BACKEND_CPU = 3,  /* the same kernels on host memory; a call returns when the work is done. It uses the calling
                            * thread's rounding mode and treatment of denormals */
  HIPOPS_BACKEND_INT32 = 0x7fffffff
} hipops_backend;

/* Chooses the backend. Optional: otherwise the first op chooses it, from the environment variable HIPOPS_BACKEND (auto,
 * hip, cuda, cpu) or, if that is not set, automatically. An explicit choice here overrules the environment. A second
 * call succeeds with AUTO or the backend in use, and returns HIPOPS_INVALID_ARGUMENT with another backend. After a
 * failure the caller may try again. */
HIPOPS_API hipops_status hipops_init(hipops_backend backend);

/* The backend in use, or HIPOPS_BACKEND_AUTO if none has been chosen yet. */
HIPOPS_API hipops_backend hipops_backend_in_use(void);

/* Loads the kernels of `op` (for example "rms_norm"), or of all ops if `op` is NULL, for the calling thread's current
 * device. No later launch then has to load them. Otherwise the first call of the op on a device loads its kernels. The
 * load also reads the file that HIPOPS_TUNING_FILE names, once for each device (docs/guide/tune.md). */
HIPOPS_API hipops_status hipops_prepare(const char* op);

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

#define HIPOPS_MAX_RANK 8 /* dimensions that a tensor may have */

/* The type of an element. A value never changes its meaning. Later versions may add values. The 8-bit floats may be moved
 * and quantised to. Other ops refuse them. */
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
  HIPOPS_F8_E4M3FN = 13,   /* OCP E4M3: no infinity, the largest number is 448 */
  HIPOPS_F8_E4M3FNUZ = 14, /* of CDNA 3: no infinity, no -0, 0x80 is NaN, the largest number is 240 */
  HIPOPS_F8_E5M2 = 15,     /* OCP E5M2: has infinities, the largest number is 57344 */
  HIPOPS_F8_E5M2FNUZ = 16, /* of CDNA 3: no infinity, no -0, 0x80 is NaN, the largest number is 57344 */
  HIPOPS_DTYPE_INT32 = 0x7fffffff
} hipops_dtype;

/* A view of memory. Element (i0, i1, ...) is at data + (i0 * stride[0] + i1 * stride[1] + ...) elements. The entries of
 * shape and stride at `rank` and above are not read. */
typedef struct hipops_tensor {
  void* data; /* element (0, 0, ...), aligned to the element; may be NULL if there are no elements */
  hipops_dtype dtype;              /* of the elements */
  int32_t rank;                    /* 0 to HIPOPS_MAX_RANK */
  int64_t shape[HIPOPS_MAX_RANK];  /* each >= 0 */
  int64_t stride[HIPOPS_MAX_RANK]; /* in elements, any sign; ignored where shape is 1 or 0. An output's strides nest:
                                      see above */
} hipops_tensor;

/* The view of a contiguous tensor, the last dimension fastest. The function is in this header only: the library has no
 * such symbol. */
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
 * All work on the last dimension of x. They support rank 1 to 8, and f32, f16, bf16 and f64 (the fused ops: not f64). y
 * has x's shape and dtype, and may be x itself (the same pointer and strides). Any other overlap of y with an input is
 * refused. weight and bias are 1-D and as long as the last dimension. Both are in x's dtype, or both in f32.
 *
 * f16 and bf16 are computed in f32, f64 in f64. The result is rounded once, to nearest even, unless a flag changes
 * that. Finite elements may have any magnitude. One limit: in f32 and f64, layer_norm's mean of denormal numbers is
 * exact only to the smallest denormal number.
 *
 * The norms also return the statistics of each row, which a backward pass needs: mean(x), and rstd, the factor before the
 * weight. Each is optional (NULL). Its dtype is f32, or f64 if x is f64. Its shape is x's without the last dimension, or
 * with 1 in its place. It overlaps no other tensor. With statistics, the last dimension of x must not be 0.
 *
 * The same call gives the same bits on every run on one device. The last bit of a row may depend on the number of rows,
 * on the strides, and on whether y is x. It may also depend on the alignment of x, y and the weights to 16 bytes. A flag
 * of all these ops, and of reduce, removes that:
 *
 * HIPOPS_BATCH_INVARIANT: on one device the bits of a row depend on its elements, the weights, the dtypes, and one more
 * property of the call. The rows of a call are whole if in every tensor each row begins at a multiple of 16 bytes and has a
 * multiple of 16 bytes. The same holds for the weights. Rows that are not whole are computed in another order, and more
 * slowly. Few rows are slower than without the flag. A table of hipops-tune has no effect. */
#define HIPOPS_BATCH_INVARIANT 16u

/* y = (x - mean(x)) * rstd * weight + bias, where rstd = 1 / sqrt(var(x) + eps), and var is the mean of (x - mean)^2. A
 * NULL weight means 1, and a NULL bias means 0. eps is finite and >= 0. For f32, f16 and bf16 it is rounded to f32, and
 * must be 0 or in the range from 2^-149 to f32's largest number. `flags` is 0 or HIPOPS_BATCH_INVARIANT. */
HIPOPS_API hipops_status hipops_layer_norm(const hipops_tensor* y, const hipops_tensor* mean, const hipops_tensor* rstd,
                                           const hipops_tensor* x, const hipops_tensor* weight,
                                           const hipops_tensor* bias, double eps, uint32_t flags, void* stream);

/* Flags of norms, in any combination. */
#define HIPOPS_ROUND_SUM 2u           /* first rounds x + residual to residual_out's dtype, then computes its norm */
#define HIPOPS_WEIGHT_PLUS_ONE 4u     /* if there is a weight, 1 + weight replaces it: Gemma's norm */
#define HIPOPS_ROUND_BEFORE_WEIGHT 8u /* rounds the normalized x to y's dtype, and its product with the weight
                                       * again: the norm of Llama in transformers */

/* y = x * rstd * weight, where rstd = 1 / sqrt(mean(x^2) + eps). A NULL weight means 1. eps has the same limits as in
 * layer_norm. `flags` is 0 or any combination of HIPOPS_WEIGHT_PLUS_ONE, HIPOPS_ROUND_BEFORE_WEIGHT and
 * HIPOPS_BATCH_INVARIANT. */
HIPOPS_API hipops_status hipops_rms_norm(const hipops_tensor* y, const hipops_tensor* rstd, const hipops_tensor* x,
                                         const hipops_tensor* weight, double eps, uint32_t flags, void* stream);

/* With h = x + residual: residual_out = h, y = h * rstd * weight, where rstd = 1 / sqrt(mean(h^2) + eps). The op supports
 * f32, f16 and bf16. residual and residual_out have x's shape and dtype. residual_out may be NULL: h is then not stored.
 * y and residual_out may each be exactly x or exactly residual, but not the same tensor. Any other overlap is refused.
 * weight and eps have the same limits as in rms_norm. `flags` is 0 or any combination of HIPOPS_BATCH_INVARIANT and the
 * flags of norms. */
HIPOPS_API hipops_status hipops_fused_add_rms_norm(const hipops_tensor* y, const hipops_tensor* residual_out,
                                                   const hipops_tensor* rstd, const hipops_tensor* x,
                                                   const hipops_tensor* residual, const hipops_tensor* weight,
                                                   double eps, uint32_t flags, void* stream);

/* With h = x + residual: residual_out = h, y = (h - mean(h)) * rstd * weight + bias, where rstd = 1 / sqrt(var(h) + eps).
 * Tensors, dtypes and overlap are as in fused_add_rms_norm; weight, bias, mean, rstd and eps as in layer_norm. `flags` is
 * 0 or any combination of HIPOPS_ROUND_SUM and HIPOPS_BATCH_INVARIANT. */
HIPOPS_API hipops_status hipops_fused_add_layer_norm(const hipops_tensor* y, const hipops_tensor* residual_out,
                                                     const hipops_tensor* mean, const hipops_tensor* rstd,
                                                     const hipops_tensor* x, const hipops_tensor* residual,
                                                     const hipops_tensor* weight, const hipops_tensor* bias, double eps,
                                                     uint32_t flags, void* stream);

/* The gradients of y = rms_norm(x, weight), for the gradient dy of y. With rstd = 1 / sqrt(mean(x^2) + eps), and with
 * g = dy * weight:
 *     dx = rstd * (g - x * rstd * mean(g * x) * rstd)
 *     dw = the sum of dy * x * rstd over all rows
 * dx, dy and x have one shape and one dtype. dx may be exactly dy or exactly x. dw may be NULL; otherwise there is a weight,
 * dw has its shape and dtype, and overlaps nothing. A NULL weight means 1. eps has the same limits as in layer_norm.
 * rstd is the output of rms_norm, or NULL: then it is computed from x, and x must be in the range below. With rstd, eps is
 * not used. `flags` is the flags of the call of rms_norm. HIPOPS_ROUND_BEFORE_WEIGHT: the terms of dw have x * rstd as
 * rms_norm rounded it. A rounding has the derivative 1.
 * HIPOPS_BATCH_INVARIANT changes nothing: dw depends on all rows, and dx has that property without the flag. The bits of dx
 * also depend on whether the elements of each row, and of the weights, are side by side in all tensors.
 *
 * dw is summed in f32 (f64 in f64), in an order that shapes, strides and alignment determine, and rounded once. The same
 * call gives the same bits on every run on one device. A zero of dw is +0. Without rows dw is 0.
 *
 * Range: sums over a row are not scaled. For f32 and bf16, the sums of x^2 and of |dy * weight * x| must be below f32's
 * largest number, and mean(x^2) + eps must be above 2^-126. With rstd the sum of x^2 has no limit. For f64 the limits are
 * the same with its numbers. f16 has no limits if weight is f16.
 *
 * x.shape[last] is at most 2^31 - 2^20. workspace: device memory of at least hipops_rms_norm_backward_workspace_bytes,
 * 256-byte aligned. If that is 0, it may be NULL. */
HIPOPS_API hipops_status hipops_rms_norm_backward(const hipops_tensor* dx, const hipops_tensor* dw,
                                                  const hipops_tensor* dy, const hipops_tensor* x,
                                                  const hipops_tensor* weight, const hipops_tensor* rstd, double eps,
                                                  uint32_t flags, void* workspace, int64_t workspace_bytes, void* stream);

/* Sets *bytes to the most bytes of workspace that hipops_rms_norm_backward needs for these tensors, at any address. Without dw
 * it is 0 for rows of up to 16 KiB without gaps, and of up to 2048 elements with gaps. Makes the same checks, except the
 * checks of addresses. */
HIPOPS_API hipops_status hipops_rms_norm_backward_workspace_bytes(const hipops_tensor* dx, const hipops_tensor* dw,
                                                                  const hipops_tensor* dy, const hipops_tensor* x,
                                                                  const hipops_tensor* weight, const hipops_tensor* rstd,
                                                                  int64_t* bytes);

/* y = exp(x - max(x)) / sum(exp(x - max(x))). A row of -inf only, or with a NaN or +inf, gives NaN. `flags` is
 * 0 or HIPOPS_BATCH_INVARIANT. */
HIPOPS_API hipops_status hipops_softmax(const hipops_tensor* y, const hipops_tensor* x, uint32_t flags, void* stream);

/* y = x - max(x) - log(sum(exp(x - max(x)))). A row that is all -inf, or that holds a NaN or +inf, gives NaN. `flags` is
 * 0 or HIPOPS_BATCH_INVARIANT. */
HIPOPS_API hipops_status hipops_log_softmax(const hipops_tensor* y, const hipops_tensor* x, uint32_t flags, void* stream);

/* A flag of row ops: a row whose elements are all masked gives 0, not NaN. */
#define HIPOPS_MASKED_ROW_ZERO 32u

/* y = softmax(x * scale + slope * mask), for the scores of attention. The op supports f32, f16 and bf16.
 *
 * mask may be NULL: then 0. It has x's shape; strides of 0 broadcast it, over heads for example. Its dtype is f32, x's, or
 * u8 for booleans: a byte of 0 means -inf, and any other byte means 0. So false masks an element, as in PyTorch's
 * scaled_dot_product_attention. An element whose mask is -inf is masked for all values of x and the slope: its result is 0.
 *
 * alibi_slopes and sinks are f32, and may be NULL. Both have x's shape without the last dimension, or with 1 in its place.
 * For one number a head, a stride of 0 repeats it over batches and queries. A NULL slope means 1; slopes without a mask
 * are refused. A sink is one more element of a row's maximum and sum, without a result: exp(sink) is added to the sum.
 *
 * If all elements of a row are -inf and its sink is -inf or NULL, its results are NaN, or 0 with HIPOPS_MASKED_ROW_ZERO.
 * A row with +inf or a NaN that is not masked gives NaN. `scale` is finite in f32. mask, alibi_slopes and sinks must not
 * overlap y. `flags` is 0 or any combination of HIPOPS_MASKED_ROW_ZERO and HIPOPS_BATCH_INVARIANT. Whole rows of a u8 mask
 * begin at multiples of 8 bytes, or 4 if x is f32. */
HIPOPS_API hipops_status hipops_softmax_ext(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* mask,
                                            const hipops_tensor* alibi_slopes, const hipops_tensor* sinks, double scale,
                                            uint32_t flags, void* stream);

/* ---- Reductions ----------------------------------------------------------------------------------------------------
 *
 * y = the reduction of x over the dimensions whose bits `dims` has: bit d for dimension d. dims = 1 << (x.rank - 1) is
 * the last dimension, (1 << x.rank) - 1 are all. y has x's shape without these dimensions, or with size 1 there. x has
 * rank 0 to 8, and is f32, f16, bf16 or f64. y has x's dtype, or f32 where x is f16 or bf16. y overlaps nothing.
 *
 * For argmax and argmin, y is i64, i32 or u32. A position is row-major among the reduced dimensions of x. If several
 * elements are equal, the first is the result. A NaN comes before all numbers, in argmin too.
 *
 * f16 and bf16 are computed in f32, f64 in f64. The result is rounded once, to nearest even, and a zero is +0. The same
 * call gives the same bits on every run on one device. A sum is a tree that shapes, strides and x's alignment to 16
 * bytes determine. If the last dimension is reduced and contiguous, its results do not depend on the workspace. Without
 * the workspace a call with few results and many elements is slower.
 *
 * `flags` is 0 or HIPOPS_BATCH_INVARIANT. With it the bits of a result on one device depend on its elements, the dtypes,
 * and the sizes and strides of the reduced dimensions. One more property of the call matters. Its rows are whole if the
 * last dimension is reduced and contiguous, and if each row begins at a multiple of 16 bytes and has a multiple of 16
 * bytes. Results of other calls have no parts, so few results of many elements are slow.
 *
 * hipops_prepare and hipops_supports know the kernels by the name "reduce". */

typedef enum hipops_reduction {
  HIPOPS_REDUCE_SUM = 0,       /* of no elements: 0 */
  HIPOPS_REDUCE_MEAN = 1,      /* the sum divided by the number of elements; of no elements: NaN */
  HIPOPS_REDUCE_MAX = 2,       /* the greatest element, or NaN if there is a NaN; no elements are refused */
  HIPOPS_REDUCE_MIN = 3,       /* the least element, or NaN if there is a NaN; no elements are refused */
  HIPOPS_REDUCE_LOGSUMEXP = 4, /* log(sum(exp(x))), where no sum overflows; of no elements, or of -inf only: -inf */
  HIPOPS_REDUCE_ARGMAX = 5,    /* the position of the greatest element; no elements are refused */
  HIPOPS_REDUCE_ARGMIN = 6,    /* the position of the least element; no elements are refused */
  HIPOPS_REDUCE_INT32 = 0x7fffffff
} hipops_reduction;

/* workspace: device memory of at least hipops_reduce_workspace_bytes, 256-byte aligned, or NULL. */
HIPOPS_API hipops_status hipops_reduce(const hipops_tensor* y, const hipops_tensor* x, hipops_reduction reduction,
                                       uint32_t dims, uint32_t flags, void* workspace, int64_t workspace_bytes,
                                       void* stream);

/* Sets *bytes to the most bytes of workspace that hipops_reduce needs for these tensors, at any address. Makes the same
 * checks, except the checks of addresses. */
HIPOPS_API hipops_status hipops_reduce_workspace_bytes(const hipops_tensor* y, const hipops_tensor* x,
                                                       hipops_reduction reduction, uint32_t dims, uint32_t flags,
                                                       int64_t* bytes);

/* ---- Gradients of softmax -------------------------------------------------------------------------------------------
 *
 * dy is the gradient of a result y, dx the gradient of its x; the order is ATen's (_softmax_backward_data). All have one
 * shape, rank 1 to 8, any strides, and one dtype: f32, f16, bf16 or f64. dx may be exactly dy or exactly y, and otherwise
 * overlaps neither. Rows are computed in f32 (f64 in f64) and rounded once. The sums over a row of |dy * y|, and for
 * log_softmax of |dy|, must be below the largest number of that type. `flags` is 0 or HIPOPS_BATCH_INVARIANT. */

/* dx = y * (dy - sum(dy * y)) * scale: the gradient of y = softmax(x), and with its `scale` of softmax_ext. There, y is 0
 * where x is masked, and so is dx; sinks change y alone. `scale` is finite in f32 (f64: finite). A NaN or an infinity in a
 * row of dy or y makes the row's dx NaN. */
HIPOPS_API hipops_status hipops_softmax_backward(const hipops_tensor* dx, const hipops_tensor* dy, const hipops_tensor* y,
                                                 double scale, uint32_t flags, void* stream);

/* dx = dy - exp(y) * sum(dy): the gradient of y = log_softmax(x), so y is at most 0. dx is dy where y is -inf. A NaN or an
 * infinity in a row of dy makes the row's dx NaN or infinite; a NaN of y makes its own dx NaN. */
HIPOPS_API hipops_status hipops_log_softmax_backward(const hipops_tensor* dx, const hipops_tensor* dy, const hipops_tensor* y,
                                                     uint32_t flags, void* stream);

/* The gradients of y = layer_norm(x, weight, bias), for the gradient dy of y. With n = (x - mean) * rstd, where
 * mean = mean(x) and rstd = 1 / sqrt(var(x) + eps), and with g = dy * weight:
 *     dx = rstd * (g - mean(g) - n * mean(g * n))
 *     dw = the sum of dy * n over all rows
 *     db = the sum of dy over all rows.
 * dx, dy and x have one shape and one dtype. dx may be exactly dy or exactly x. A NULL weight means 1. dw and db may each be
 * NULL, and are [n] in x's dtype or f32, as the weight is; dw needs a weight. They overlap nothing. eps has the same limits
 * as in layer_norm. mean and rstd are the outputs of layer_norm; each may be NULL: then it is computed from x.
 * `flags` is 0 or HIPOPS_BATCH_INVARIANT, which changes nothing: dx has that property as in rms_norm_backward.
 *
 * The order of dw and db, the workspace and the largest x.shape[last] are as in rms_norm_backward. So is the range, with
 * (x - mean)^2 instead of x^2. The sums of |g| and of |x| must be in range, too. The formula: PyTorch's
 * native_layer_norm_backward. */
HIPOPS_API hipops_status hipops_layer_norm_backward(const hipops_tensor* dx, const hipops_tensor* dw, const hipops_tensor* db,
                                                    const hipops_tensor* dy, const hipops_tensor* x,
                                                    const hipops_tensor* weight, const hipops_tensor* mean,
                                                    const hipops_tensor* rstd, double eps, uint32_t flags, void* workspace,
                                                    int64_t workspace_bytes, void* stream);

/* Sets *bytes to the most bytes of workspace that hipops_layer_norm_backward needs for these tensors, at any address. Without
 * dw and db it is 0 for rows of up to 16 KiB without gaps, and of up to 2048 elements with gaps. Makes the same checks, except
 * the checks of addresses. */
HIPOPS_API hipops_status hipops_layer_norm_backward_workspace_bytes(const hipops_tensor* dx, const hipops_tensor* dw,
                                                                    const hipops_tensor* db, const hipops_tensor* dy,
                                                                    const hipops_tensor* x, const hipops_tensor* weight,
                                                                    const hipops_tensor* mean, const hipops_tensor* rstd,
                                                                    int64_t* bytes);

/* ---- Rotary embedding ---------------------------------------------------------------------------------------------
 *
 * Rotates pairs of elements of x's last dimension, of length d, by angles. The caller passes the cosines and sines.
 * r = 2 * (the last dimension of cos), and r <= d. The first r elements are rotated, and the others are copied (partial
 * rotary). The pair k, 0 <= k < r / 2, has the elements a and b:
 *     a' = a * cos[k] - b * sin[k]
 *     b' = a * sin[k] + b * cos[k]
 * cos and sin have the same shape, [s, r/2] or [b, s, r/2]. They have the same dtype, x's or f32. Their row p is for
 * position p. Without `positions`, token t has position t, and s >= t's length. With `positions`, token t has position
 * positions[t] or positions[b, t], and s is the length of the table. `positions` is i32 or i64, on the device. A
 * position outside the table gives NaN in the r rotated elements, and the kernel reads no memory for it. The ops
 * support f32, f16, bf16 and f64. 16-bit types are computed in f32 and rounded once. y has x's shape and dtype. It may
 * be x itself. Any other overlap of y is refused. */

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
 * The index is u8, i16, i32, u32 or i64, in device memory. The maximum of the index's type is the sentinel, which names
 * no element: gather and index_select write zero for it, and scatter, scatter_add and index_add skip it. An index that
 * is negative or past the end is handled like the sentinel and never touches memory outside of the tensors. If the
 * caller passes a report, such indices are counted in it. dim is 0 to rank - 1.
 *
 * gather, index_select and scatter move elements of any dtype, bit for bit. scatter_add and index_add support f32, f16,
 * bf16, f64, i32, i64, u32 and u8 (integers wrap around).
 *
 * The order of a sum, in index_add, and in scatter_add with HIPOPS_DETERMINISTIC:
 *   - The sources of an element of y are cut into chunks of 128, in index order. The sum of the first chunk starts from
 *     y's element, the sum of each other chunk from +0. A chunk's sources are added one after another.
 *   - The sums of chunks are cut into groups of 128, in order. A group's first sum is the start, and the other sums are
 *     added one after another. The same is done with the sums of groups, until one sum is left.
 *   - f16 and bf16 are summed in f32 and rounded once, at the end. f32 and f64 round each addition.
 * With up to 128 sources this is a plain loop. The bits are the same on every run and every device, with the workspace
 * and without it, except the bits of a NaN. */

/* A report of indices out of range. It is in device memory, but not in pinned host or managed memory, where a GPU's
 * 64-bit minimum may have no effect. It is 8-byte aligned, and overlaps neither the call's tensors nor its workspace.
 * The caller sets it to HIPOPS_INDEX_REPORT_INIT before, and calls add to it. */
typedef struct hipops_index_report {
  uint64_t count; /* the number of indices that were out of range */
  uint64_t first; /* the first such index's row-major position in the index tensor; of several calls, the lowest */
} hipops_index_report;

/* A report before the first call: no index was out of range. */
#define HIPOPS_INDEX_REPORT_INIT {0, UINT64_MAX}

/* Flags of scatter and scatter_add. */
#define HIPOPS_DETERMINISTIC 1u /* scatter: the last source stays. scatter_add: the order of a sum. The same bits on
                                   every run */

/* y[i0, .., j, ..] = x[i0, .., index[i0, .., j, ..], ..], the index being along dim. y has the index's shape and x's
 * dtype. In dimensions other than dim the index is no larger than x. y overlaps nothing. */
HIPOPS_API hipops_status hipops_gather(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index,
                                       int32_t dim, hipops_index_report* report, void* stream);

/* y[.., j, ..] = x[.., index[j], ..], the index being 1-D and along dim. y has x's dtype and x's shape, except
 * for dim, where it has the index's length. y overlaps nothing. */
HIPOPS_API hipops_status hipops_index_select(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index,
                                             int32_t dim, hipops_index_report* report, void* stream);

/* y[i0, .., index[i0, .., j, ..], ..] = x[i0, .., j, ..], in place in y: elements that no index names keep their value.
 * The index has x's shape. In dimensions other than dim it is no larger than y. If an index repeats, y gets any one of
 * its sources, or, with HIPOPS_DETERMINISTIC, the last source along dim. y overlaps nothing. workspace: device memory
 * of at least hipops_scatter_workspace_bytes, 256-byte aligned. NULL is slower if that size is more than 0. */
HIPOPS_API hipops_status hipops_scatter(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index,
                                        int32_t dim, uint32_t flags, void* workspace, int64_t workspace_bytes,
                                        hipops_index_report* report, void* stream);

/* y[i0, .., index[i0, .., j, ..], ..] += x[i0, .., j, ..], in place in y. The shapes are as in scatter.
 *   - Without HIPOPS_DETERMINISTIC the sources are added in any order. With the workspace, f16 and bf16 are summed in
 *     f32 and rounded once. Without it each of their sums is rounded.
 *   - With HIPOPS_DETERMINISTIC the sources are added in the order of a sum (above), with the workspace and without it.
 *   - With the workspace, adding is faster where one index holds for a whole row, and for f16 and bf16 with
 *     HIPOPS_DETERMINISTIC.
 *   - On AMD GPUs y and the workspace must be the device's own memory (hipMalloc): some GPUs lose atomic additions to
 *     pinned or managed memory, or to another device's memory. */
HIPOPS_API hipops_status hipops_scatter_add(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index,
                                            int32_t dim, uint32_t flags, void* workspace, int64_t workspace_bytes,
                                            hipops_index_report* report, void* stream);

/* y[.., index[j], ..] += x[.., j, ..], in place in y, the index being 1-D and along dim. x has y's dtype and y's shape,
 * except for dim, where it has the index's length. The sources are added in the order of a sum (above). y overlaps
 * nothing. workspace: device memory of at least hipops_index_add_workspace_bytes, 256-byte aligned: at most 20.1 bytes an
 * index and 21 KiB for the sort, and sums and counters (docs/ops/index_add.md). NULL is slower for many indices. */
HIPOPS_API hipops_status hipops_index_add(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index,
                                          int32_t dim, void* workspace, int64_t workspace_bytes,
                                          hipops_index_report* report, void* stream);

/* Sets *bytes to the most bytes of workspace that the op needs for these tensors. A call may use less, or none. Makes the
 * same checks as the op, except the checks of addresses. */
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

/* ---- Cross-entropy --------------------------------------------------------------------------------------------------
 *
 * The loss of each row of x, logits of `classes` classes, for the row's target, and its gradient in the same pass. With
 * lse = log(sum(exp(x))) and s = label_smoothing:
 *     loss = (1 - s) * (lse - x[target]) + s * (lse - mean(x)) + z_loss * lse^2
 *     dx = dloss * (exp(x - lse) * (1 + 2 * z_loss * lse) - s / classes - (1 - s at the target, otherwise 0)).
 * x is [.., classes], rank 1 to 8, any strides; f32, f16, bf16 or f64. dx has x's shape and dtype, and may be exactly x. The
 * others have x's shape without the last dimension, or with 1 there. target is i32 or i64. loss, lse and dloss are f32 (f64 if
 * x is f64). lse and dx may be NULL. A NULL dloss means 1; for the mean of losses pass 1 / (the number of rows that count),
 * with strides of 0. dloss needs dx. Other overlaps of outputs are refused.
 *
 * A row whose target is ignore_index is left out: its loss and its dx are 0, for any x. So is a row whose target is negative
 * or past the last class; no memory is touched for such a target. If the caller passes a report, such targets are counted in
 * it, by their position in `target`. label_smoothing is 0 to 1. z_loss is 0 or more, in the range of f32 (Liger's
 * lse_square_scale). The meaning of the others: PyTorch's cross_entropy with reduction="none".
 *
 * Rows are computed in f32 (f64 in f64), and dx is rounded once. A row that has a NaN or +inf, or only -inf, has a loss and a
 * dx of NaN. `flags` is 0 or HIPOPS_BATCH_INVARIANT. hipops_supports: `second` is target's dtype, or HIPOPS_NONE. */
HIPOPS_API hipops_status hipops_cross_entropy(const hipops_tensor* loss, const hipops_tensor* lse, const hipops_tensor* dx,
                                              const hipops_tensor* x, const hipops_tensor* target,
                                              const hipops_tensor* dloss, int64_t ignore_index, double label_smoothing,
                                              double z_loss, uint32_t flags, hipops_index_report* report, void* stream);

/* ---- Upsampling ----------------------------------------------------------------------------------------------------
 *
 * Nearest neighbour, to any size, up or down: y[.., i, ..] = x[.., source(i), ..], for elements of any dtype, bit for
 * bit. Sizes of 0 in the resized dimensions are refused unless y is empty. `scale` is y's size divided by x's size, as
 * the caller defines it (PyTorch's scale_factor, with recompute_scale_factor off). 0 means the quotient of the sizes.
 * `scale` must be finite, and so must be 1 / scale in the rule's type. A source past x's end is replaced by x's last
 * element. */

/* The rule that gives source(i). The rules of PyTorch and candle differ in places. */
typedef enum hipops_nearest {
  HIPOPS_NEAREST_PYTORCH = 0, /* floor(i * ratio), ratio = x's size / y's size or 1 / scale, both in f32. Without a
                                 scale: i if the sizes are equal, i / 2 if y's size is twice x's */
  HIPOPS_NEAREST_CANDLE = 1,  /* floor(i * ratio), in f64 */
  HIPOPS_NEAREST_EXACT = 2,   /* floor((i + 0.5) * ratio), in f32: PyTorch's nearest-exact */
  HIPOPS_NEAREST_INT32 = 0x7fffffff
} hipops_nearest;

/* x [n, c, l], y [n, c, l']. */
HIPOPS_API hipops_status hipops_upsample_nearest1d(const hipops_tensor* y, const hipops_tensor* x, hipops_nearest rule,
                                                   double scale, void* stream);

/* x [n, c, h, w], y [n, c, h', w']; any strides, channels-last included. With HIPOPS_NEAREST_PYTORCH and
 * HIPOPS_NEAREST_EXACT a dimension that keeps its size is copied and its scale is ignored, as in PyTorch's GPU kernels.
 * hipops_upsample_nearest1d, and HIPOPS_NEAREST_CANDLE, always use the scale. */
HIPOPS_API hipops_status hipops_upsample_nearest2d(const hipops_tensor* y, const hipops_tensor* x, hipops_nearest rule,
                                                   double scale_h, double scale_w, void* stream);

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

/* y = x, of the same shape and dtype, and of rank 0 to 8. Any strides, in x also 0 and negative. y overlaps nothing. */
HIPOPS_API hipops_status hipops_strided_copy(const hipops_tensor* y, const hipops_tensor* x, void* stream);

/* Copies `rows` rows of `cols` elements between pitched buffers. The starts of the rows are `y_stride` and `x_stride`
 * elements apart. y_stride >= cols. x_stride may be any number. With a single row both are ignored. y overlaps nothing.
 * hipops_prepare and hipops_supports know these kernels by the name "strided_copy". */
HIPOPS_API hipops_status hipops_copy2d(void* y, const void* x, hipops_dtype dtype, int64_t rows, int64_t cols,
                                       int64_t y_stride, int64_t x_stride, void* stream);

/* ---- Activations ---------------------------------------------------------------------------------------------------
 *
 * Element by element, of any rank from 0 to 8 and any strides, for f32, f16 and bf16. They are computed in f32, and the
 * result is rounded once. NaN gives NaN. y has x's shape and dtype. */

/* act(x). alpha is finite; kinds whose formula has no alpha ignore it. */
typedef enum hipops_activation_kind {
  HIPOPS_ACTIVATION_IDENTITY = 0,       /* x */
  HIPOPS_ACTIVATION_RELU = 1,           /* max(x, 0) */
  HIPOPS_ACTIVATION_RELU_SQUARED = 2,   /* max(x, 0)^2 */
  HIPOPS_ACTIVATION_LEAKY_RELU = 3,     /* x where x > 0, otherwise alpha * x */
  HIPOPS_ACTIVATION_ABS = 4,
  HIPOPS_ACTIVATION_NEG = 5,
  HIPOPS_ACTIVATION_SQR = 6,            /* x^2 */
  HIPOPS_ACTIVATION_SIGMOID = 7,        /* 1 / (1 + exp(-x)) */
  HIPOPS_ACTIVATION_SILU = 8,           /* x * sigmoid(x) */
  HIPOPS_ACTIVATION_SWISH = 9,          /* x * sigmoid(alpha * x) */
  HIPOPS_ACTIVATION_QUICK_GELU = 10,    /* x * sigmoid(1.702 * x) */
  HIPOPS_ACTIVATION_GELU_TANH = 11,     /* 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) */
  HIPOPS_ACTIVATION_GELU = 12,          /* 0.5 * x * (1 + erf(x / sqrt(2))) */
  HIPOPS_ACTIVATION_TANH = 13,
  HIPOPS_ACTIVATION_ELU = 14,           /* x where x >= 0, otherwise alpha * (exp(x) - 1) */
  HIPOPS_ACTIVATION_SOFTPLUS = 15,      /* log(1 + exp(x)) */
  HIPOPS_ACTIVATION_EXP = 16,
  HIPOPS_ACTIVATION_INT32 = 0x7fffffff
} hipops_activation_kind;

/* y = act(x). y may be x itself. Any other overlap is refused. */
HIPOPS_API hipops_status hipops_activation(const hipops_tensor* y, const hipops_tensor* x, hipops_activation_kind kind,
                                           double alpha, void* stream);

/* A flag of activation_and_mul. */
#define HIPOPS_UP_PLUS_ONE 64u /* 1 + up replaces up */

/* y = act(x) * up: the gated activation of an MLP. x is the gate. x and up may be halves of one tensor, interleaved in
 * it, or apart. up has x's shape and dtype. y may be exactly x or exactly up. Any other overlap of y is refused. With a
 * `limit` > 0, x is first replaced by min(x, limit), and up by max(-limit, min(up, limit)). 0 means no limit. `flags` is
 * 0 or HIPOPS_UP_PLUS_ONE. The activation of gpt-oss is SWISH with alpha 1.702, limit 7 and HIPOPS_UP_PLUS_ONE. */
HIPOPS_API hipops_status hipops_activation_and_mul(const hipops_tensor* y, const hipops_tensor* x,
                                                   const hipops_tensor* up, hipops_activation_kind kind, double limit,
                                                   double alpha, uint32_t flags, void* stream);

/* dx = dy * act'(x): the gradient of x, for the gradient dy of y = act(x). kind and alpha are activation's. act' is PyTorch's
 * also at 0: 0 of RELU, RELU_SQUARED and ABS, alpha of LEAKY_RELU and ELU. RELU and RELU_SQUARED give
 * 0 for x <= 0 and any dy. At an infinite x, SILU, SWISH, QUICK_GELU, GELU and GELU_TANH have the limit of act': 0 or 1. A NaN of
 * x gives NaN, except where act' depends on x's sign alone. dx and dy have x's shape and dtype. dx may be exactly dy or exactly
 * x. Any other overlap is refused. */
HIPOPS_API hipops_status hipops_activation_backward(const hipops_tensor* dx, const hipops_tensor* dy, const hipops_tensor* x,
                                                    hipops_activation_kind kind, double alpha, void* stream);

/* dx = dy * act'(x) * up and dup = dy * act(x): the gradients of x and up, for the gradient dy of y = act(x) * up. kind, limit,
 * alpha and flags are activation_and_mul's. With a limit, dx is 0 unless x < limit, and dup is 0 unless |up| < limit. One of dx
 * and dup may be NULL. All tensors have x's shape and dtype. dx and dup may be halves of one tensor, interleaved in it, or
 * apart. Each may be exactly dy, x or up. Any other overlap is refused. */
HIPOPS_API hipops_status hipops_activation_and_mul_backward(const hipops_tensor* dx, const hipops_tensor* dup,
                                                            const hipops_tensor* dy, const hipops_tensor* x,
                                                            const hipops_tensor* up, hipops_activation_kind kind,
                                                            double limit, double alpha, uint32_t flags, void* stream);

/* ---- Quantisation ------------------------------------------------------------------------------------------------
 *
 * q has x's shape and is i8 or an 8-bit float. x is f32, f16 or bf16, of any strides. An element of q is x / scale, rounded
 * to f32, and then to q's type, to nearest even. Numbers past the largest number of q's type, and infinities, become that
 * number (i8: -128 or 127). NaN becomes 0x7f, or 0x80 in the fnuz types, or 0 in i8. -0 stays -0, but the fnuz types have
 * only 0. q overlaps nothing. */

/* q = x / scale. scale is f32: one number in a tensor of any rank, or a tensor of x's shape, in which strides of 0 repeat
 * a scale. For a scale for each group of columns, pass q and x as views [rows, groups, columns of a group]. */
HIPOPS_API hipops_status hipops_static_quantize(const hipops_tensor* q, const hipops_tensor* x, const hipops_tensor* scale,
                                                void* stream);

/* A flag of dynamic_quantize. */
#define HIPOPS_FNUZ_240 128u /* f8_e4m3fnuz: max|x| is scaled to 240, its largest number, and not to 224. Other types ignore
                               * it */

/* A group of dynamic_quantize: one scale for all elements. */
#define HIPOPS_WHOLE_TENSOR (-1)

/* scale = max|x| / most of each row (`group` 0), of each `group` neighbouring columns of a row, or of all of x (`group`
 * HIPOPS_WHOLE_TENSOR), and q = x / scale. `most` is 448 for f8_e4m3fn, 224 for f8_e4m3fnuz (as in vLLM), 57344 for f8_e5m2 and
 * f8_e5m2fnuz, and 127 for i8. scale_ub is NULL or one number in f32, which bounds max|x|. A scale is 1 / (512 * most) or more,
 * in i8 2^-23 or more, so that a row of zeros has a scale. A NaN makes its scale, and all q of that scale, NaN. An infinity
 * without a bound makes the scale infinite.
 *
 * `group` divides the last size of x. scale is f32, of any strides. For rows it has x's shape without the last dimension, or
 * with 1 there. For groups it has x's shape with the number of groups as the last size. For all of x it is one number, of any
 * rank. x has rank 1 to 8, with groups to 7, and for one scale 0 to 8. For rows the last size of x must not be 0, and for one
 * scale no size. The bits are the same on every device, and for any number of rows. `flags` is 0 or any combination of
 * HIPOPS_FNUZ_240 and HIPOPS_BATCH_INVARIANT, which has no effect here.
 *
 * workspace: device memory of at least hipops_dynamic_quantize_workspace_bytes, 256-byte aligned, or NULL. Without it one block
 * computes the scale of a contiguous x, which is slower. Rows and groups need none. */
HIPOPS_API hipops_status hipops_dynamic_quantize(const hipops_tensor* q, const hipops_tensor* scale, const hipops_tensor* x,
                                                 const hipops_tensor* scale_ub, int64_t group, uint32_t flags,
                                                 void* workspace, int64_t workspace_bytes, void* stream);

/* Sets *bytes to the most bytes of workspace that hipops_dynamic_quantize needs for these tensors, at any address. Makes the
 * same checks, except the checks of addresses. */
HIPOPS_API hipops_status hipops_dynamic_quantize_workspace_bytes(const hipops_tensor* q, const hipops_tensor* scale,
                                                                 const hipops_tensor* x, const hipops_tensor* scale_ub,
                                                                 int64_t group, uint32_t flags, int64_t* bytes);

/* ---- Selection ----------------------------------------------------------------------------------------------------
 *
 * The greatest or least elements of each row, a row being the last dimension. Equal elements are in the order of their
 * columns, and -0 equals +0. A NaN is greater than all numbers, and all NaNs are equal. The same call gives the same bits
 * on every run and every device, for any number of rows, and with or without a workspace. */

/* Flags of topk, in any combination. */
#define HIPOPS_SMALLEST 256u        /* the least elements, not the greatest. A NaN is then selected last */
#define HIPOPS_SORTED 512u          /* from the greatest element to the least, with HIPOPS_SMALLEST from the least to the
                                     * greatest. Without the flag: in the order of columns */
#define HIPOPS_WINDOW_INDICES 1024u /* indices count from row_begin. Otherwise they are columns of x */

/* values = the k greatest elements of each row, indices = their columns. x is f32, f16 or bf16, of rank 1 to 8, and has up
 * to 2^32 - 2 columns. k is 1 to 65536, and at most the number of columns. indices has x's shape with k as the last size, and
 * is i64, i32 or u32. values has the shape of indices and x's dtype, and may be NULL. Values are x's elements, bit for bit.
 *
 * lengths and row_begin may be NULL. They are i32 or i64, and have x's shape without the last dimension, or with 1 there. A
 * row's elements are then the `lengths` columns from row_begin on. A row_begin that is negative or past the end is replaced by
 * 0 or the number of columns. A negative length is replaced by 0, and a length past the row's end by the columns that are left.
 * A row with fewer than k elements is filled with index -1 (u32: 2^32 - 1) and value -inf, with HIPOPS_SMALLEST +inf.
 *
 * `flags` is 0 or any combination of the flags of topk and HIPOPS_BATCH_INVARIANT, which has no effect here. The outputs
 * overlap nothing.
 *
 * workspace: device memory of at least hipops_topk_workspace_bytes, 256-byte aligned. With k above 2048 and HIPOPS_SORTED it
 * must be there. Otherwise it may be NULL, and few long rows are then slower. */
HIPOPS_API hipops_status hipops_topk(const hipops_tensor* values, const hipops_tensor* indices, const hipops_tensor* x,
                                     const hipops_tensor* lengths, const hipops_tensor* row_begin, int64_t k,
                                     uint32_t flags, void* workspace, int64_t workspace_bytes, void* stream);

/* Sets *bytes to the most bytes of workspace that hipops_topk needs for these tensors, at any address. Makes the same checks,
 * except the checks of addresses. */
HIPOPS_API hipops_status hipops_topk_workspace_bytes(const hipops_tensor* values, const hipops_tensor* indices,
                                                     const hipops_tensor* x, const hipops_tensor* lengths,
                                                     const hipops_tensor* row_begin, int64_t k, uint32_t flags,
                                                     int64_t* bytes);

/* ---- Cumulative sums ---------------------------------------------------------------------------------------------
 *
 * y[.., i, ..] = x[.., 0, ..] + .. + x[.., i, ..] along dimension `dim`, 0 <= dim < x.rank. x: rank 1 to 8; f32, f16, bf16,
 * f64, u8, i32, u32 or i64. y has x's shape. Its dtype is x's, or i64 if x has integers. y may be x itself.
 *
 * f32, f16 and bf16 are summed in f32, f64 in f64, and each result is rounded once. Integers wrap. A line is all of `dim`
 * at one place of the other dimensions. The order of its sums follows from the line's length, from strides, and from
 * alignment to 16 bytes. So the results have the same bits on every run, for any number of other lines, and with or
 * without a workspace, except the payload of a NaN.
 * - Contiguous lines: elements of 16 bytes are added one after another, then the sums of 32 lanes as a tree, then the
 *   sums of up to eight such trees. Other lines: eight elements are added one after another.
 * - Further sums have twice the digits. A line is divided into chunks, from its length alone. The results of a chunk are
 *   the sums inside it, each added to the sum of all chunks before. The sums of 32 chunks are added first, then these.
 * If sums of neighbours leave the range of f32 (f64: of f64), later results of the line may be infinite or NaN. A zero is
 * +0, unless it is rounded from a negative number.
 *
 * workspace: device memory of at least hipops_cumsum_workspace_bytes, 256-byte aligned, or NULL. Without it, lines that
 * are few and long are slower. */
HIPOPS_API hipops_status hipops_cumsum(const hipops_tensor* y, const hipops_tensor* x, int32_t dim, void* workspace,
                                       int64_t workspace_bytes, void* stream);

/* Sets *bytes to the most bytes of workspace that hipops_cumsum needs for these tensors, at any address. Makes the same
 * checks, except the checks of addresses. */
HIPOPS_API hipops_status hipops_cumsum_workspace_bytes(const hipops_tensor* y, const hipops_tensor* x, int32_t dim,
                                                       int64_t* bytes);

/* ---- Sorting ------------------------------------------------------------------------------------------------------ */

#define HIPOPS_DESCENDING 2048u /* from the greatest element to the least */

/* Sorts each row of x, a row being the last dimension: values = its elements in order, indices = their columns in x. Either
 * output may be NULL, so a call with indices alone is an argsort. The sort is stable, in both orders: equal elements stay in
 * the order of their columns. -0 equals +0. A NaN is greater than all numbers, and all NaNs are equal.
 *
 * x: rank 1 to 8, up to 2^32 - 1 columns; f32, f16, bf16, f64, u8, i32, u32 or i64. Both outputs have x's shape. values has
 * x's dtype, and x's elements bit for bit. indices is i64, i32 or u32. An output overlaps neither x nor the other output.
 * The same call gives the same bits on every run and every device, for any number of rows.
 *
 * `flags` is 0, HIPOPS_DESCENDING, or also HIPOPS_BATCH_INVARIANT, which has no effect here.
 *
 * workspace: device memory of at least hipops_sort_workspace_bytes, 256-byte aligned. The size is 0 for rows of up to 4096
 * columns. Longer rows need the workspace. */
HIPOPS_API hipops_status hipops_sort(const hipops_tensor* values, const hipops_tensor* indices, const hipops_tensor* x,
                                     uint32_t flags, void* workspace, int64_t workspace_bytes, void* stream);

/* Sets *bytes to the bytes of workspace that hipops_sort needs for these tensors, at any address. Makes the same checks,
 * except the checks of addresses. */
HIPOPS_API hipops_status hipops_sort_workspace_bytes(const hipops_tensor* values, const hipops_tensor* indices,
                                                     const hipops_tensor* x, uint32_t flags, int64_t* bytes);

/* ---- Routing of tokens to experts --------------------------------------------------------------------------------- */

/* Flags of topk_softmax. */
#define HIPOPS_SIGMOID 4096u     /* scores are sigmoid(x), not softmax(x) */
#define HIPOPS_RENORMALIZE 8192u /* weights are divided by the sum of the token's k weights */

/* For each token: ids = its k best experts, from the best on, and weights = their scores. It is vLLM's topk_softmax,
 * topk_sigmoid and grouped_topk.
 *
 * x: the logits, [tokens, experts], f32, f16 or bf16; 1 to 1024 experts. weights, ids: [tokens, k]. weights is f32, ids is
 * i32, u32 or i64. bias: [experts], f32, or NULL. The outputs overlap nothing.
 *
 *   score   softmax(x) over all experts of the token, or sigmoid(x) = 1 / (1 + exp(-x)), in f32
 *   choice  x, or score + bias in f32. The k experts with the greatest choice are chosen. Without a bias that is the order
 *           of the exact scores, even where scores round to one number
 *   weight  the score, without the bias. HIPOPS_RENORMALIZE: divided by the sum of the k scores, which for softmax is the
 *           softmax over the k chosen logits. If the sum is 0, weights are 0. Then multiplied by `scale`
 *
 * groups > 1: experts are `groups` groups of neighbours. groups is up to 32 and divides the number of experts. Experts of the
 * topk_groups best groups can be chosen, and k is at most their number. Without a bias a group is as good as its best expert.
 * With a bias groups are compared by the sum of their two best choices, in f32, or by their only expert. groups 0 or 1: no
 * groups, and topk_groups is not read.
 *
 * The lowest of equal experts is chosen, and the lowest of equal groups. -0 equals +0. A NaN is greater than all numbers, and
 * all NaNs are equal. So ids are k different experts for any x. softmax: if a logit of the token is NaN or +inf, or all logits
 * (with HIPOPS_RENORMALIZE: of chosen experts) are -inf, its weights are NaN. sigmoid: the weight of a NaN is NaN, and with
 * HIPOPS_RENORMALIZE all weights of its token are.
 *
 * token_expert: [tokens, k], i32, u32 or i64, or NULL. token_expert[t, i] = i * tokens + t, vLLM's token_expert_indices.
 *
 * `flags` is 0 or any combination of HIPOPS_SIGMOID, HIPOPS_RENORMALIZE and HIPOPS_BATCH_INVARIANT, which has no effect here:
 * a token has the same bits on every run, and next to any other tokens. Weights are within 8 ULP of exact weights, unless
 * HIPOPS_RENORMALIZE divides sigmoids below 2^-126, or `scale` multiplies scores below 2^-126: these have fewer digits. */
HIPOPS_API hipops_status hipops_topk_softmax(const hipops_tensor* weights, const hipops_tensor* ids,
                                             const hipops_tensor* token_expert, const hipops_tensor* x,
                                             const hipops_tensor* bias, int64_t k, int64_t groups, int64_t topk_groups,
                                             double scale, uint32_t flags, void* stream);

/* Orders the ids of a routing by expert, and pads each expert to blocks: vLLM's moe_align_block_size, where
 * ignore_invalid_experts is true. x: ids of experts, [tokens, k], i32, u32 or i64. x[t, j] has position t * k + j, and
 * total = tokens * k. experts: 1 to 1024. block_size: 1 to 65536. sorted_ids has up to 2^31 - 1 elements, so total +
 * min(total, experts) * (block_size - 1) may not be more. All other tensors are i32 vectors of any stride.
 *
 * expert_map: [experts], or NULL. The number of an expert on this device, or a negative number if it is elsewhere. Ids that are
 * out of range, or of experts elsewhere, are left out.
 *
 * sorted_ids: the positions of each expert's ids in ascending order, expert after expert. Behind its ids an expert has
 * padding up to a multiple of block_size: the number `total`. An expert without ids has no block. All elements behind the
 * last block are `total`, too. sorted_ids has total + min(total, experts) * (block_size - 1) elements or more.
 * expert_ids: the expert of each block, which is expert_map[expert] if there is a map. Elements behind the last block are -1.
 * It has that number of elements divided by block_size, rounded up, or more.
 * count: [1], the number of elements of sorted_ids up to the last block's end, a multiple of block_size.
 *
 * Ids may be equal, also within a token. The outputs overlap nothing. The same call gives the same bits on every run and
 * every device. No workspace. */
HIPOPS_API hipops_status hipops_moe_align_block_size(const hipops_tensor* sorted_ids, const hipops_tensor* expert_ids,
                                                     const hipops_tensor* count, const hipops_tensor* x,
                                                     const hipops_tensor* expert_map, int64_t experts,
                                                     int64_t block_size, void* stream);

/* ---- Sampling ------------------------------------------------------------------------------------------------------ */

/* tokens[r] = a token of row r, drawn by uniform[r].
 *
 * x: the logits, [rows, vocabulary], f32, f16 or bf16, at least one token. All other tensors are vectors of [rows], of any
 * stride: a stride of 0 is one number for all rows. tokens is i32 or i64, uniform is f32. temperature, top_p and min_p are f32,
 * top_k is i32 or i64, and each of them may be NULL. tokens overlaps nothing.
 *
 * A row has these steps. Each works on the tokens that the steps before have left:
 *   temperature  weight = exp((x - the greatest x) / temperature). NULL: 1. If it is 0, negative or NaN, the token is the first
 *                with the greatest x, and the row's other numbers have no effect.
 *   top_k        the k tokens with the greatest x are left. 0 or less, or NULL: all
 *   top_p        the fewest tokens with the greatest x are left whose weights sum to top_p * the sum of the weights before, or more.
 *                One token is always left. 1 or more, NaN or NULL: all
 *   min_p        tokens with weight >= min_p * the greatest weight are left. Above 1 it is 1. 0 or less, NaN or NULL: all
 *   uniform      sums of weights are formed in the order of the vocabulary. The token is the first whose sum is above
 *                uniform * the last sum. uniform is in [0, 1): below 0 or NaN it is 0, and from 1 on it is 1 - 2^-24
 * Of tokens with equal x, top_k and top_p leave the first.
 *
 * -inf has weight 0. If some x are +inf, these have equal weights, and all others have weight 0. If a row has a NaN, or if all
 * its x are -inf, its token is -1. -0 equals +0.
 *
 * Weights are integers: 2^31 is the greatest, and they are rounded, so weights below 2^-32 of the greatest are 0. Each weight is
 * within 1, or a factor of 1 + 2^-18, of the exact one. All devices round the operations that compute a weight in the same way.
 * So the same call gives the same tokens on every run, on every device, and next to any other rows. No workspace. */
HIPOPS_API hipops_status hipops_sample(const hipops_tensor* tokens, const hipops_tensor* x, const hipops_tensor* uniform,
                                       const hipops_tensor* temperature, const hipops_tensor* top_k,
                                       const hipops_tensor* top_p, const hipops_tensor* min_p, void* stream);

/* y = the logits x, lowered for tokens that occur in the prompt or in the output. It is vLLM's apply_penalties:
 *
 *   repetition   if the token occurs in the prompt or in the output: x / repetition if x > 0, otherwise x * repetition
 *   frequency    if it occurs in the output: then x - frequency * the number of times
 *   presence     if it occurs in the output: then x - presence
 *
 * x, y: [rows, vocabulary], f32, f16 or bf16, any strides. y is x itself, or apart from it. All other tensors are inputs that may
 * be NULL and that do not overlap y. prompt: [rows, vocabulary], u8; a token with another value than 0 occurs in the prompt.
 * counts: [rows, vocabulary], i32; how often a token occurs in the output; below 0 is 0. NULL: no token occurs there.
 * repetition, frequency, presence: [rows], f32. NULL: 1, 0, 0. A stride of 0 is one number for all rows.
 *
 * Each division, product and difference is rounded to f32, and the last result to x's dtype. So the same call gives the same
 * bits on every run, on every device, and next to any other rows. A token that does not occur keeps its bits, for any
 * numbers of its row. NaN stays NaN. All numbers are valid: the formula holds for a repetition of 0 and below 0, too. No
 * workspace. */
HIPOPS_API hipops_status hipops_apply_penalties(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* prompt,
                                                const hipops_tensor* counts, const hipops_tensor* repetition,
                                                const hipops_tensor* frequency, const hipops_tensor* presence, void* stream);

/* ---- About this library ------------------------------------------------------------------------------------------ */

/* The version as "0.2.0". Before 1.0 a minor version may change the ABI. The SONAME then changes too. */
HIPOPS_API const char* hipops_version(void);

/* The version as 10000 * major + 100 * minor + patch. */
HIPOPS_API int32_t hipops_version_number(void);

/* How the library was built: version, compiler, AMD targets, CUDA architectures, CPU runtime. One line each. */
HIPOPS_API const char* hipops_build_info(void);

/* 1 if `op` (for example "rms_norm") supports x in `dtype` together with `second`, the dtype of its weights, tables, mask
 * or index. If `second` is HIPOPS_NONE: 1 if the op supports x in `dtype` at all. Otherwise 0. An unknown op, or an
 * op that this build does not contain, gives 0. */
HIPOPS_API int32_t hipops_supports(const char* op, hipops_dtype dtype, hipops_dtype second);

#ifdef __cplusplus
}
#endif

#endif /* HIPOPS_HIPOPS_H */
