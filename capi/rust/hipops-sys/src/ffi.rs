// The declarations of hipops.h. tools/ffi.py generates them; a test compares them with the header.

/// `hipops_status` of hipops.h.
pub type hipops_status = i32;
/// `hipops_backend` of hipops.h.
pub type hipops_backend = i32;
/// `hipops_dtype` of hipops.h.
pub type hipops_dtype = i32;
/// `hipops_nearest` of hipops.h.
pub type hipops_nearest = i32;
/// `hipops_activation_kind` of hipops.h.
pub type hipops_activation_kind = i32;
/// `hipops_reduction` of hipops.h.
pub type hipops_reduction = i32;
/// A value of [`hipops_status`].
pub const HIPOPS_SUCCESS: hipops_status = 0;
/// A value of [`hipops_status`].
pub const HIPOPS_INVALID_ARGUMENT: hipops_status = 1;
/// A value of [`hipops_status`].
pub const HIPOPS_UNSUPPORTED_DTYPE: hipops_status = 2;
/// A value of [`hipops_status`].
pub const HIPOPS_UNSUPPORTED_LAYOUT: hipops_status = 3;
/// A value of [`hipops_status`].
pub const HIPOPS_NO_DEVICE: hipops_status = 4;
/// A value of [`hipops_status`].
pub const HIPOPS_NO_CODE_OBJECT: hipops_status = 5;
/// A value of [`hipops_status`].
pub const HIPOPS_RUNTIME_ERROR: hipops_status = 6;
/// A value of [`hipops_status`].
pub const HIPOPS_INTERNAL_ERROR: hipops_status = 7;
/// A value of [`hipops_backend`].
pub const HIPOPS_BACKEND_AUTO: hipops_backend = 0;
/// A value of [`hipops_backend`].
pub const HIPOPS_BACKEND_HIP: hipops_backend = 1;
/// A value of [`hipops_backend`].
pub const HIPOPS_BACKEND_CUDA: hipops_backend = 2;
/// A value of [`hipops_backend`].
pub const HIPOPS_BACKEND_CPU: hipops_backend = 3;
/// A value of [`hipops_dtype`].
pub const HIPOPS_NONE: hipops_dtype = 0;
/// A value of [`hipops_dtype`].
pub const HIPOPS_F32: hipops_dtype = 1;
/// A value of [`hipops_dtype`].
pub const HIPOPS_F16: hipops_dtype = 2;
/// A value of [`hipops_dtype`].
pub const HIPOPS_BF16: hipops_dtype = 3;
/// A value of [`hipops_dtype`].
pub const HIPOPS_F64: hipops_dtype = 4;
/// A value of [`hipops_dtype`].
pub const HIPOPS_U8: hipops_dtype = 5;
/// A value of [`hipops_dtype`].
pub const HIPOPS_I8: hipops_dtype = 6;
/// A value of [`hipops_dtype`].
pub const HIPOPS_I16: hipops_dtype = 7;
/// A value of [`hipops_dtype`].
pub const HIPOPS_U16: hipops_dtype = 8;
/// A value of [`hipops_dtype`].
pub const HIPOPS_I32: hipops_dtype = 9;
/// A value of [`hipops_dtype`].
pub const HIPOPS_U32: hipops_dtype = 10;
/// A value of [`hipops_dtype`].
pub const HIPOPS_I64: hipops_dtype = 11;
/// A value of [`hipops_dtype`].
pub const HIPOPS_U64: hipops_dtype = 12;
/// A value of [`hipops_dtype`].
pub const HIPOPS_F8_E4M3FN: hipops_dtype = 13;
/// A value of [`hipops_dtype`].
pub const HIPOPS_F8_E4M3FNUZ: hipops_dtype = 14;
/// A value of [`hipops_dtype`].
pub const HIPOPS_F8_E5M2: hipops_dtype = 15;
/// A value of [`hipops_dtype`].
pub const HIPOPS_F8_E5M2FNUZ: hipops_dtype = 16;
/// A value of [`hipops_nearest`].
pub const HIPOPS_NEAREST_PYTORCH: hipops_nearest = 0;
/// A value of [`hipops_nearest`].
pub const HIPOPS_NEAREST_CANDLE: hipops_nearest = 1;
/// A value of [`hipops_nearest`].
pub const HIPOPS_NEAREST_EXACT: hipops_nearest = 2;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_IDENTITY: hipops_activation_kind = 0;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_RELU: hipops_activation_kind = 1;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_RELU_SQUARED: hipops_activation_kind = 2;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_LEAKY_RELU: hipops_activation_kind = 3;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_ABS: hipops_activation_kind = 4;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_NEG: hipops_activation_kind = 5;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_SQR: hipops_activation_kind = 6;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_SIGMOID: hipops_activation_kind = 7;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_SILU: hipops_activation_kind = 8;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_SWISH: hipops_activation_kind = 9;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_QUICK_GELU: hipops_activation_kind = 10;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_GELU_TANH: hipops_activation_kind = 11;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_GELU: hipops_activation_kind = 12;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_TANH: hipops_activation_kind = 13;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_ELU: hipops_activation_kind = 14;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_SOFTPLUS: hipops_activation_kind = 15;
/// A value of [`hipops_activation_kind`].
pub const HIPOPS_ACTIVATION_EXP: hipops_activation_kind = 16;
/// A value of [`hipops_reduction`].
pub const HIPOPS_REDUCE_SUM: hipops_reduction = 0;
/// A value of [`hipops_reduction`].
pub const HIPOPS_REDUCE_MEAN: hipops_reduction = 1;
/// A value of [`hipops_reduction`].
pub const HIPOPS_REDUCE_MAX: hipops_reduction = 2;
/// A value of [`hipops_reduction`].
pub const HIPOPS_REDUCE_MIN: hipops_reduction = 3;
/// A value of [`hipops_reduction`].
pub const HIPOPS_REDUCE_LOGSUMEXP: hipops_reduction = 4;
/// A value of [`hipops_reduction`].
pub const HIPOPS_REDUCE_ARGMAX: hipops_reduction = 5;
/// A value of [`hipops_reduction`].
pub const HIPOPS_REDUCE_ARGMIN: hipops_reduction = 6;
/// `HIPOPS_VERSION_MAJOR` of hipops.h.
pub const HIPOPS_VERSION_MAJOR: i32 = 0;
/// `HIPOPS_VERSION_MINOR` of hipops.h.
pub const HIPOPS_VERSION_MINOR: i32 = 2;
/// `HIPOPS_VERSION_PATCH` of hipops.h.
pub const HIPOPS_VERSION_PATCH: i32 = 0;
/// `HIPOPS_MAX_RANK` of hipops.h.
pub const HIPOPS_MAX_RANK: i32 = 8;
/// `HIPOPS_WHOLE_TENSOR` of hipops.h.
pub const HIPOPS_WHOLE_TENSOR: i32 = -1;
/// A flag.
pub const HIPOPS_BATCH_INVARIANT: u32 = 16;
/// A flag.
pub const HIPOPS_ROUND_SUM: u32 = 2;
/// A flag.
pub const HIPOPS_WEIGHT_PLUS_ONE: u32 = 4;
/// A flag.
pub const HIPOPS_ROUND_BEFORE_WEIGHT: u32 = 8;
/// A flag.
pub const HIPOPS_MASKED_ROW_ZERO: u32 = 32;
/// A flag.
pub const HIPOPS_DETERMINISTIC: u32 = 1;
/// A flag.
pub const HIPOPS_UP_PLUS_ONE: u32 = 64;
/// A flag.
pub const HIPOPS_FNUZ_240: u32 = 128;
/// A flag.
pub const HIPOPS_SMALLEST: u32 = 256;
/// A flag.
pub const HIPOPS_SORTED: u32 = 512;
/// A flag.
pub const HIPOPS_WINDOW_INDICES: u32 = 1024;
/// A flag.
pub const HIPOPS_DESCENDING: u32 = 2048;
/// A flag.
pub const HIPOPS_SIGMOID: u32 = 4096;
/// A flag.
pub const HIPOPS_RENORMALIZE: u32 = 8192;

api! {
    /// `hipops_status_string` of hipops.h.
    fn hipops_status_string(status: hipops_status) -> *const c_char;
    /// `hipops_last_error` of hipops.h.
    fn hipops_last_error() -> *const c_char;
    /// `hipops_last_runtime_error` of hipops.h.
    fn hipops_last_runtime_error() -> i32;
    /// `hipops_init` of hipops.h.
    fn hipops_init(backend: hipops_backend) -> hipops_status;
    /// `hipops_backend_in_use` of hipops.h.
    fn hipops_backend_in_use() -> hipops_backend;
    /// `hipops_prepare` of hipops.h.
    fn hipops_prepare(op: *const c_char) -> hipops_status;
    /// `hipops_layer_norm` of hipops.h.
    fn hipops_layer_norm(y: *const hipops_tensor, mean: *const hipops_tensor, rstd: *const hipops_tensor, x: *const hipops_tensor, weight: *const hipops_tensor, bias: *const hipops_tensor, eps: f64, flags: u32, stream: *mut c_void) -> hipops_status;
    /// `hipops_rms_norm` of hipops.h.
    fn hipops_rms_norm(y: *const hipops_tensor, rstd: *const hipops_tensor, x: *const hipops_tensor, weight: *const hipops_tensor, eps: f64, flags: u32, stream: *mut c_void) -> hipops_status;
    /// `hipops_fused_add_rms_norm` of hipops.h.
    fn hipops_fused_add_rms_norm(y: *const hipops_tensor, residual_out: *const hipops_tensor, rstd: *const hipops_tensor, x: *const hipops_tensor, residual: *const hipops_tensor, weight: *const hipops_tensor, eps: f64, flags: u32, stream: *mut c_void) -> hipops_status;
    /// `hipops_fused_add_layer_norm` of hipops.h.
    fn hipops_fused_add_layer_norm(y: *const hipops_tensor, residual_out: *const hipops_tensor, mean: *const hipops_tensor, rstd: *const hipops_tensor, x: *const hipops_tensor, residual: *const hipops_tensor, weight: *const hipops_tensor, bias: *const hipops_tensor, eps: f64, flags: u32, stream: *mut c_void) -> hipops_status;
    /// `hipops_rms_norm_backward` of hipops.h.
    fn hipops_rms_norm_backward(dx: *const hipops_tensor, dw: *const hipops_tensor, dy: *const hipops_tensor, x: *const hipops_tensor, weight: *const hipops_tensor, rstd: *const hipops_tensor, eps: f64, flags: u32, workspace: *mut c_void, workspace_bytes: i64, stream: *mut c_void) -> hipops_status;
    /// `hipops_rms_norm_backward_workspace_bytes` of hipops.h.
    fn hipops_rms_norm_backward_workspace_bytes(dx: *const hipops_tensor, dw: *const hipops_tensor, dy: *const hipops_tensor, x: *const hipops_tensor, weight: *const hipops_tensor, rstd: *const hipops_tensor, bytes: *mut i64) -> hipops_status;
    /// `hipops_softmax` of hipops.h.
    fn hipops_softmax(y: *const hipops_tensor, x: *const hipops_tensor, flags: u32, stream: *mut c_void) -> hipops_status;
    /// `hipops_log_softmax` of hipops.h.
    fn hipops_log_softmax(y: *const hipops_tensor, x: *const hipops_tensor, flags: u32, stream: *mut c_void) -> hipops_status;
    /// `hipops_softmax_ext` of hipops.h.
    fn hipops_softmax_ext(y: *const hipops_tensor, x: *const hipops_tensor, mask: *const hipops_tensor, alibi_slopes: *const hipops_tensor, sinks: *const hipops_tensor, scale: f64, flags: u32, stream: *mut c_void) -> hipops_status;
    /// `hipops_reduce` of hipops.h.
    fn hipops_reduce(y: *const hipops_tensor, x: *const hipops_tensor, reduction: hipops_reduction, dims: u32, flags: u32, workspace: *mut c_void, workspace_bytes: i64, stream: *mut c_void) -> hipops_status;
    /// `hipops_reduce_workspace_bytes` of hipops.h.
    fn hipops_reduce_workspace_bytes(y: *const hipops_tensor, x: *const hipops_tensor, reduction: hipops_reduction, dims: u32, flags: u32, bytes: *mut i64) -> hipops_status;
    /// `hipops_softmax_backward` of hipops.h.
    fn hipops_softmax_backward(dx: *const hipops_tensor, dy: *const hipops_tensor, y: *const hipops_tensor, scale: f64, flags: u32, stream: *mut c_void) -> hipops_status;
    /// `hipops_log_softmax_backward` of hipops.h.
    fn hipops_log_softmax_backward(dx: *const hipops_tensor, dy: *const hipops_tensor, y: *const hipops_tensor, flags: u32, stream: *mut c_void) -> hipops_status;
    /// `hipops_layer_norm_backward` of hipops.h.
    fn hipops_layer_norm_backward(dx: *const hipops_tensor, dw: *const hipops_tensor, db: *const hipops_tensor, dy: *const hipops_tensor, x: *const hipops_tensor, weight: *const hipops_tensor, mean: *const hipops_tensor, rstd: *const hipops_tensor, eps: f64, flags: u32, workspace: *mut c_void, workspace_bytes: i64, stream: *mut c_void) -> hipops_status;
    /// `hipops_layer_norm_backward_workspace_bytes` of hipops.h.
    fn hipops_layer_norm_backward_workspace_bytes(dx: *const hipops_tensor, dw: *const hipops_tensor, db: *const hipops_tensor, dy: *const hipops_tensor, x: *const hipops_tensor, weight: *const hipops_tensor, mean: *const hipops_tensor, rstd: *const hipops_tensor, bytes: *mut i64) -> hipops_status;
    /// `hipops_rope_i` of hipops.h.
    fn hipops_rope_i(y: *const hipops_tensor, x: *const hipops_tensor, cos: *const hipops_tensor, sin: *const hipops_tensor, positions: *const hipops_tensor, stream: *mut c_void) -> hipops_status;
    /// `hipops_rope` of hipops.h.
    fn hipops_rope(y: *const hipops_tensor, x: *const hipops_tensor, cos: *const hipops_tensor, sin: *const hipops_tensor, positions: *const hipops_tensor, stream: *mut c_void) -> hipops_status;
    /// `hipops_rope_thd` of hipops.h.
    fn hipops_rope_thd(y: *const hipops_tensor, x: *const hipops_tensor, cos: *const hipops_tensor, sin: *const hipops_tensor, positions: *const hipops_tensor, stream: *mut c_void) -> hipops_status;
    /// `hipops_gather` of hipops.h.
    fn hipops_gather(y: *const hipops_tensor, x: *const hipops_tensor, index: *const hipops_tensor, dim: i32, report: *mut hipops_index_report, stream: *mut c_void) -> hipops_status;
    /// `hipops_index_select` of hipops.h.
    fn hipops_index_select(y: *const hipops_tensor, x: *const hipops_tensor, index: *const hipops_tensor, dim: i32, report: *mut hipops_index_report, stream: *mut c_void) -> hipops_status;
    /// `hipops_scatter` of hipops.h.
    fn hipops_scatter(y: *const hipops_tensor, x: *const hipops_tensor, index: *const hipops_tensor, dim: i32, flags: u32, workspace: *mut c_void, workspace_bytes: i64, report: *mut hipops_index_report, stream: *mut c_void) -> hipops_status;
    /// `hipops_scatter_add` of hipops.h.
    fn hipops_scatter_add(y: *const hipops_tensor, x: *const hipops_tensor, index: *const hipops_tensor, dim: i32, flags: u32, workspace: *mut c_void, workspace_bytes: i64, report: *mut hipops_index_report, stream: *mut c_void) -> hipops_status;
    /// `hipops_index_add` of hipops.h.
    fn hipops_index_add(y: *const hipops_tensor, x: *const hipops_tensor, index: *const hipops_tensor, dim: i32, workspace: *mut c_void, workspace_bytes: i64, report: *mut hipops_index_report, stream: *mut c_void) -> hipops_status;
    /// `hipops_scatter_workspace_bytes` of hipops.h.
    fn hipops_scatter_workspace_bytes(y: *const hipops_tensor, x: *const hipops_tensor, index: *const hipops_tensor, dim: i32, flags: u32, bytes: *mut i64) -> hipops_status;
    /// `hipops_scatter_add_workspace_bytes` of hipops.h.
    fn hipops_scatter_add_workspace_bytes(y: *const hipops_tensor, x: *const hipops_tensor, index: *const hipops_tensor, dim: i32, flags: u32, bytes: *mut i64) -> hipops_status;
    /// `hipops_index_add_workspace_bytes` of hipops.h.
    fn hipops_index_add_workspace_bytes(y: *const hipops_tensor, x: *const hipops_tensor, index: *const hipops_tensor, dim: i32, bytes: *mut i64) -> hipops_status;
    /// `hipops_cross_entropy` of hipops.h.
    fn hipops_cross_entropy(loss: *const hipops_tensor, lse: *const hipops_tensor, dx: *const hipops_tensor, x: *const hipops_tensor, target: *const hipops_tensor, dloss: *const hipops_tensor, ignore_index: i64, label_smoothing: f64, z_loss: f64, flags: u32, report: *mut hipops_index_report, stream: *mut c_void) -> hipops_status;
    /// `hipops_upsample_nearest1d` of hipops.h.
    fn hipops_upsample_nearest1d(y: *const hipops_tensor, x: *const hipops_tensor, rule: hipops_nearest, scale: f64, stream: *mut c_void) -> hipops_status;
    /// `hipops_upsample_nearest2d` of hipops.h.
    fn hipops_upsample_nearest2d(y: *const hipops_tensor, x: *const hipops_tensor, rule: hipops_nearest, scale_h: f64, scale_w: f64, stream: *mut c_void) -> hipops_status;
    /// `hipops_strided_copy` of hipops.h.
    fn hipops_strided_copy(y: *const hipops_tensor, x: *const hipops_tensor, stream: *mut c_void) -> hipops_status;
    /// `hipops_copy2d` of hipops.h.
    fn hipops_copy2d(y: *mut c_void, x: *const c_void, dtype: hipops_dtype, rows: i64, cols: i64, y_stride: i64, x_stride: i64, stream: *mut c_void) -> hipops_status;
    /// `hipops_activation` of hipops.h.
    fn hipops_activation(y: *const hipops_tensor, x: *const hipops_tensor, kind: hipops_activation_kind, alpha: f64, stream: *mut c_void) -> hipops_status;
    /// `hipops_activation_and_mul` of hipops.h.
    fn hipops_activation_and_mul(y: *const hipops_tensor, x: *const hipops_tensor, up: *const hipops_tensor, kind: hipops_activation_kind, limit: f64, alpha: f64, flags: u32, stream: *mut c_void) -> hipops_status;
    /// `hipops_activation_backward` of hipops.h.
    fn hipops_activation_backward(dx: *const hipops_tensor, dy: *const hipops_tensor, x: *const hipops_tensor, kind: hipops_activation_kind, alpha: f64, stream: *mut c_void) -> hipops_status;
    /// `hipops_activation_and_mul_backward` of hipops.h.
    fn hipops_activation_and_mul_backward(dx: *const hipops_tensor, dup: *const hipops_tensor, dy: *const hipops_tensor, x: *const hipops_tensor, up: *const hipops_tensor, kind: hipops_activation_kind, limit: f64, alpha: f64, flags: u32, stream: *mut c_void) -> hipops_status;
    /// `hipops_static_quantize` of hipops.h.
    fn hipops_static_quantize(q: *const hipops_tensor, x: *const hipops_tensor, scale: *const hipops_tensor, stream: *mut c_void) -> hipops_status;
    /// `hipops_dynamic_quantize` of hipops.h.
    fn hipops_dynamic_quantize(q: *const hipops_tensor, scale: *const hipops_tensor, x: *const hipops_tensor, scale_ub: *const hipops_tensor, group: i64, flags: u32, workspace: *mut c_void, workspace_bytes: i64, stream: *mut c_void) -> hipops_status;
    /// `hipops_dynamic_quantize_workspace_bytes` of hipops.h.
    fn hipops_dynamic_quantize_workspace_bytes(q: *const hipops_tensor, scale: *const hipops_tensor, x: *const hipops_tensor, scale_ub: *const hipops_tensor, group: i64, flags: u32, bytes: *mut i64) -> hipops_status;
    /// `hipops_topk` of hipops.h.
    fn hipops_topk(values: *const hipops_tensor, indices: *const hipops_tensor, x: *const hipops_tensor, lengths: *const hipops_tensor, row_begin: *const hipops_tensor, k: i64, flags: u32, workspace: *mut c_void, workspace_bytes: i64, stream: *mut c_void) -> hipops_status;
    /// `hipops_topk_workspace_bytes` of hipops.h.
    fn hipops_topk_workspace_bytes(values: *const hipops_tensor, indices: *const hipops_tensor, x: *const hipops_tensor, lengths: *const hipops_tensor, row_begin: *const hipops_tensor, k: i64, flags: u32, bytes: *mut i64) -> hipops_status;
    /// `hipops_cumsum` of hipops.h.
    fn hipops_cumsum(y: *const hipops_tensor, x: *const hipops_tensor, dim: i32, workspace: *mut c_void, workspace_bytes: i64, stream: *mut c_void) -> hipops_status;
    /// `hipops_cumsum_workspace_bytes` of hipops.h.
    fn hipops_cumsum_workspace_bytes(y: *const hipops_tensor, x: *const hipops_tensor, dim: i32, bytes: *mut i64) -> hipops_status;
    /// `hipops_sort` of hipops.h.
    fn hipops_sort(values: *const hipops_tensor, indices: *const hipops_tensor, x: *const hipops_tensor, flags: u32, workspace: *mut c_void, workspace_bytes: i64, stream: *mut c_void) -> hipops_status;
    /// `hipops_sort_workspace_bytes` of hipops.h.
    fn hipops_sort_workspace_bytes(values: *const hipops_tensor, indices: *const hipops_tensor, x: *const hipops_tensor, flags: u32, bytes: *mut i64) -> hipops_status;
    /// `hipops_topk_softmax` of hipops.h.
    fn hipops_topk_softmax(weights: *const hipops_tensor, ids: *const hipops_tensor, token_expert: *const hipops_tensor, x: *const hipops_tensor, bias: *const hipops_tensor, k: i64, groups: i64, topk_groups: i64, scale: f64, flags: u32, stream: *mut c_void) -> hipops_status;
    /// `hipops_moe_align_block_size` of hipops.h.
    fn hipops_moe_align_block_size(sorted_ids: *const hipops_tensor, expert_ids: *const hipops_tensor, count: *const hipops_tensor, x: *const hipops_tensor, expert_map: *const hipops_tensor, experts: i64, block_size: i64, stream: *mut c_void) -> hipops_status;
    /// `hipops_sample` of hipops.h.
    fn hipops_sample(tokens: *const hipops_tensor, x: *const hipops_tensor, uniform: *const hipops_tensor, temperature: *const hipops_tensor, top_k: *const hipops_tensor, top_p: *const hipops_tensor, min_p: *const hipops_tensor, stream: *mut c_void) -> hipops_status;
    /// `hipops_apply_penalties` of hipops.h.
    fn hipops_apply_penalties(y: *const hipops_tensor, x: *const hipops_tensor, prompt: *const hipops_tensor, counts: *const hipops_tensor, repetition: *const hipops_tensor, frequency: *const hipops_tensor, presence: *const hipops_tensor, stream: *mut c_void) -> hipops_status;
    /// `hipops_version` of hipops.h.
    fn hipops_version() -> *const c_char;
    /// `hipops_version_number` of hipops.h.
    fn hipops_version_number() -> i32;
    /// `hipops_build_info` of hipops.h.
    fn hipops_build_info() -> *const c_char;
    /// `hipops_supports` of hipops.h.
    fn hipops_supports(op: *const c_char, dtype: hipops_dtype, second: hipops_dtype) -> i32;
}
