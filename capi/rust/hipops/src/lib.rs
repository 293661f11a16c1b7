//! Neural-network kernels for AMD GPUs, NVIDIA GPUs and the CPU: norms, softmax, rotary embedding, gather and scatter, upsampling
//! and strided copies, on views of memory that you own.
//!
//! ```
//! use hipops::{Backend, Stream, View, ViewMut};
//!
//! hipops::init(Backend::Cpu)?;
//! let x = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
//! let mut y = [0.0f32; 8];
//! hipops::rms_norm(&ViewMut::of(&mut y, &[2, 4])?, None, &View::of(&x, &[2, 4])?, None, 1e-5, 0, Stream::DEFAULT)?;
//! assert!((y[0] - 0.365148).abs() < 1e-5 && (y[7] - 1.212957).abs() < 1e-5);
//! # Ok::<(), hipops::Error>(())
//! ```
//!
//! The first call opens the library: the file that the environment variable `HIPOPS_LIBRARY` names, or `libhipops.so.0` as `dlopen`
//! finds it. `hipops.h` is the manual of the ops. Each function here names its C function.
//!
//! **Safety.** [`View::of`] makes a view of a slice and checks that the slice holds all its elements. It works only with the CPU
//! backend, whose calls have finished when they return. [`View::from_raw`] makes a view of device memory and is `unsafe`: you
//! promise that the memory is valid until the stream has finished each call that uses it. The ops themselves are then safe, because
//! the library checks the rest.
#![deny(missing_docs)]

use hipops_sys as sys;
use std::ffi::{CStr, CString};
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::c_void;

pub use sys::{
    hipops_index_report, HIPOPS_BATCH_INVARIANT, HIPOPS_DESCENDING, HIPOPS_DETERMINISTIC, HIPOPS_FNUZ_240,
    HIPOPS_INDEX_REPORT_INIT, HIPOPS_MASKED_ROW_ZERO, HIPOPS_RENORMALIZE, HIPOPS_ROUND_BEFORE_WEIGHT, HIPOPS_ROUND_SUM,
    HIPOPS_SIGMOID, HIPOPS_SMALLEST, HIPOPS_SORTED, HIPOPS_UP_PLUS_ONE, HIPOPS_WEIGHT_PLUS_ONE, HIPOPS_WINDOW_INDICES,
};

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// A pointer, shape, stride, scalar or setting that is not valid.
    InvalidArgument,
    /// A valid dtype that this op, or this pair of tensors, does not support.
    UnsupportedDtype,
    /// Valid strides that this op does not support.
    UnsupportedLayout,
    /// The backend is not available.
    NoDevice,
    /// The library has no kernels for this device, or for this op.
    NoCodeObject,
    /// The GPU runtime refused a call: see [`Error::runtime_error`].
    RuntimeError,
    /// Out of host memory, or a defect of hipops.
    InternalError,
    /// The library was not found, or the file is no library.
    NotLoaded,
    /// A status of a later version of the library.
    Other(i32),
}

/// A failed call, with the library's message, for example `rms_norm: weight.shape[0] is 4095, expected 4096 (x.shape[1])`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    status: Status,
    message: String,
    runtime_error: i32,
}

impl Error {
    fn new(status: Status, message: impl Into<String>) -> Error {
        Error { status, message: message.into(), runtime_error: 0 }
    }
    /// The kind of the failure.
    pub fn status(&self) -> Status {
        self.status
    }
    /// The GPU runtime's own code (a `hipError_t` or `CUresult`), or 0.
    pub fn runtime_error(&self) -> i32 {
        self.runtime_error
    }
}
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
impl std::error::Error for Error {}
impl From<sys::LoadError> for Error {
    fn from(error: sys::LoadError) -> Error {
        Error::new(Status::NotLoaded, format!("hipops cannot be loaded: {error} (HIPOPS_LIBRARY may name its file)"))
    }
}

/// The result of every call.
pub type Result<T> = std::result::Result<T, Error>;

fn check(api: &sys::Api, status: sys::hipops_status) -> Result<()> {
    let kind = match status {
        sys::HIPOPS_SUCCESS => return Ok(()),
        sys::HIPOPS_INVALID_ARGUMENT => Status::InvalidArgument,
        sys::HIPOPS_UNSUPPORTED_DTYPE => Status::UnsupportedDtype,
        sys::HIPOPS_UNSUPPORTED_LAYOUT => Status::UnsupportedLayout,
        sys::HIPOPS_NO_DEVICE => Status::NoDevice,
        sys::HIPOPS_NO_CODE_OBJECT => Status::NoCodeObject,
        sys::HIPOPS_RUNTIME_ERROR => Status::RuntimeError,
        sys::HIPOPS_INTERNAL_ERROR => Status::InternalError,
        other => Status::Other(other),
    };
    // SAFETY: both may be called at any time. The string is valid until the thread's next failure, and is copied here.
    let (message, runtime_error) = unsafe { (CStr::from_ptr((api.hipops_last_error)()), (api.hipops_last_runtime_error)()) };
    Err(Error { status: kind, message: message.to_string_lossy().into_owned(), runtime_error })
}

// Calls a C function.
macro_rules! call {
    ($name:ident($($argument:expr),*)) => {{
        let api = sys::api()?;
        // SAFETY: the memory of views is valid; the library checks the rest.
        check(api, unsafe { (api.$name)($($argument),*) })
    }};
}
// Calls a C function whose last argument is for a number of bytes.
macro_rules! bytes_from {
    ($name:ident($($argument:expr),*)) => {{
        let mut bytes = 0;
        call!($name($($argument),*, &mut bytes))?;
        Ok(bytes as usize)
    }};
}

/// The runtime that executes the kernels. A process has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Backend {
    /// The backend that `HIPOPS_BACKEND` names, or the first of HIP, CUDA and the CPU that has a device.
    Auto = sys::HIPOPS_BACKEND_AUTO,
    /// AMD GPUs.
    Hip = sys::HIPOPS_BACKEND_HIP,
    /// NVIDIA GPUs.
    Cuda = sys::HIPOPS_BACKEND_CUDA,
    /// Host memory. It is slow, and meant for checking numbers.
    Cpu = sys::HIPOPS_BACKEND_CPU,
}

/// Chooses the backend. Otherwise the first op chooses it. (`hipops_init`)
pub fn init(backend: Backend) -> Result<()> {
    let api = sys::api()?;
    // SAFETY: any value is allowed.
    check(api, unsafe { (api.hipops_init)(backend as i32) })
}

/// The backend in use, or `Auto` if none has been chosen yet. (`hipops_backend_in_use`)
pub fn backend_in_use() -> Result<Backend> {
    // SAFETY: may be called at any time.
    Ok(match unsafe { (sys::api()?.hipops_backend_in_use)() } {
        sys::HIPOPS_BACKEND_HIP => Backend::Hip,
        sys::HIPOPS_BACKEND_CUDA => Backend::Cuda,
        sys::HIPOPS_BACKEND_CPU => Backend::Cpu,
        _ => Backend::Auto,
    })
}

/// Loads the kernels of `op`, or of all ops, for the current device, so that no later call has to load them. (`hipops_prepare`)
pub fn prepare(op: Option<&str>) -> Result<()> {
    let name = op
        .map(|op| CString::new(op).map_err(|_| Error::new(Status::InvalidArgument, format!("'{op}' has a zero byte"))))
        .transpose()?;
    call!(hipops_prepare(name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr())))
}

/// True if `op` supports `dtype` together with `second`, the dtype of its weights, tables or index. (`hipops_supports`)
pub fn supports(op: &str, dtype: DType, second: Option<DType>) -> Result<bool> {
    let api = sys::api()?;
    let Ok(name) = CString::new(op) else { return Ok(false) };
    // SAFETY: `name` is a C string.
    Ok(unsafe { (api.hipops_supports)(name.as_ptr(), dtype as i32, second.map_or(sys::HIPOPS_NONE, |dtype| dtype as i32)) } == 1)
}

/// The library's version, for example `0.2.0`. (`hipops_version`)
pub fn version() -> Result<&'static str> {
    // SAFETY: returns a string that lives as long as the process.
    Ok(unsafe { CStr::from_ptr((sys::api()?.hipops_version)()) }.to_str().unwrap_or(""))
}

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum DType {
    /// `f32`
    F32 = sys::HIPOPS_F32,
    /// IEEE binary16
    F16 = sys::HIPOPS_F16,
    /// bfloat16
    BF16 = sys::HIPOPS_BF16,
    /// `f64`
    F64 = sys::HIPOPS_F64,
    /// `u8`
    U8 = sys::HIPOPS_U8,
    /// `i8`
    I8 = sys::HIPOPS_I8,
    /// `i16`
    I16 = sys::HIPOPS_I16,
    /// `u16`
    U16 = sys::HIPOPS_U16,
    /// `i32`
    I32 = sys::HIPOPS_I32,
    /// `u32`
    U32 = sys::HIPOPS_U32,
    /// `i64`
    I64 = sys::HIPOPS_I64,
    /// `u64`
    U64 = sys::HIPOPS_U64,
    /// OCP E4M3, without infinities
    F8E4M3FN = sys::HIPOPS_F8_E4M3FN,
    /// E4M3 of CDNA 3, without infinities and -0
    F8E4M3FNUZ = sys::HIPOPS_F8_E4M3FNUZ,
    /// OCP E5M2
    F8E5M2 = sys::HIPOPS_F8_E5M2,
    /// E5M2 of CDNA 3, without infinities and -0
    F8E5M2FNUZ = sys::HIPOPS_F8_E5M2FNUZ,
}

/// A type whose values are elements.
///
/// # Safety
/// Values have the size and the bits of `DTYPE`'s elements, and any bits are a valid value.
pub unsafe trait Element: Copy {
    /// Its dtype.
    const DTYPE: DType;
}
macro_rules! elements {
    ($($type:ty: $dtype:ident),*) => { $(
        // SAFETY: numbers of this size, for which any bits are a valid value.
        unsafe impl Element for $type { const DTYPE: DType = DType::$dtype; }
    )* };
}
elements!(f32: F32, f64: F64, u8: U8, i8: I8, i16: I16, u16: U16, i32: I32, u32: U32, i64: I64, u64: U64);

/// A view of memory that ops read. It cannot outlive its memory:
///
/// ```compile_fail
/// let view = { let x = [1.0f32]; hipops::View::of(&x, &[1]) };
/// println!("{view:?}");
/// ```
///
/// It cannot be sent to another thread, because it may share its memory with a [`ViewMut`] in which its own thread writes:
///
/// ```compile_fail
/// let x = [1.0f32];
/// let view = hipops::View::of(&x, &[1]);
/// std::thread::scope(|scope| { scope.spawn(|| println!("{view:?}")); });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    raw: sys::hipops_tensor,
    memory: PhantomData<&'a [u8]>,
}

/// A view of memory that ops write. Ops can also read it, so that they work in place.
#[derive(Debug)]
pub struct ViewMut<'a> {
    view: View<'a>,
    memory: PhantomData<&'a mut [u8]>,
}

fn tensor(data: *mut c_void, dtype: DType, shape: &[usize], stride: Option<&[isize]>) -> Result<sys::hipops_tensor> {
    let invalid = |message: String| Error::new(Status::InvalidArgument, message);
    if shape.len() > sys::HIPOPS_MAX_RANK as usize {
        return Err(invalid(format!("a view of {} dimensions, expected at most {}", shape.len(), sys::HIPOPS_MAX_RANK)));
    }
    if stride.map_or(shape.len(), <[isize]>::len) != shape.len() {
        return Err(invalid(format!(
            "a view with {} strides, expected {} (its rank)",
            stride.map_or(0, <[isize]>::len),
            shape.len()
        )));
    }
    let mut raw = sys::hipops_tensor { data, dtype: dtype as i32, rank: shape.len() as i32, shape: [0; 8], stride: [0; 8] };
    let mut step = 1i64;
    for d in (0..shape.len()).rev() {
        raw.shape[d] = i64::try_from(shape[d]).map_err(|_| invalid(format!("a view of size {}", shape[d])))?;
        raw.stride[d] = stride.map_or(step, |stride| stride[d] as i64);
        step = step.wrapping_mul(raw.shape[d].max(1));
    }
    Ok(raw)
}

// A view of a slice, which must hold all elements of the view. `offset` is the position of the first element.
fn of_slice(
    data: *mut c_void,
    dtype: DType,
    length: usize,
    size: usize,
    shape: &[usize],
    stride: Option<&[isize]>,
    offset: usize,
) -> Result<sys::hipops_tensor> {
    if backend_in_use()? == Backend::Auto {
        init(Backend::Auto)?;
    }
    match backend_in_use()? {
        Backend::Cpu => {}
        other => {
            let message =
                format!("a view of a slice with the backend {other:?}, expected Cpu: call hipops::init, or View::from_raw");
            return Err(Error::new(Status::InvalidArgument, message));
        }
    }
    let mut raw = tensor(data, dtype, shape, stride)?;
    let (mut low, mut high) = (offset as i128, offset as i128);
    for d in 0..shape.len() {
        let span = i128::from(raw.stride[d]) * (i128::from(raw.shape[d]) - 1);
        if span < 0 {
            low = low.saturating_add(span)
        } else {
            high = high.saturating_add(span)
        }
    }
    if !shape.contains(&0) && (low < 0 || high >= length as i128) {
        let message = format!(
            "a view of the elements {low} to {high} of a slice, expected 0 to {} (its length is {length})",
            length as i128 - 1
        );
        return Err(Error::new(Status::InvalidArgument, message));
    }
    if !shape.contains(&0) {
        // SAFETY: the offset is in the slice, as it is between low and high.
        raw.data = unsafe { data.cast::<u8>().add(offset * size) }.cast();
    }
    Ok(raw)
}

fn bits(dtype: DType) -> Result<DType> {
    match dtype {
        DType::F16 | DType::BF16 => Ok(dtype),
        other => Err(Error::new(Status::InvalidArgument, format!("a view of the bits of {other:?}, expected F16 or BF16"))),
    }
}

impl<'a> View<'a> {
    /// A contiguous view of a slice. CPU backend only.
    pub fn of<T: Element>(memory: &'a [T], shape: &[usize]) -> Result<View<'a>> {
        View::strided(memory, 0, shape, None)
    }
    /// A view of a slice that starts at element `offset`, with strides in elements. CPU backend only.
    pub fn strided<T: Element>(memory: &'a [T], offset: usize, shape: &[usize], stride: Option<&[isize]>) -> Result<View<'a>> {
        let data = memory.as_ptr().cast::<c_void>().cast_mut();
        let raw = of_slice(data, T::DTYPE, memory.len(), std::mem::size_of::<T>(), shape, stride, offset)?;
        Ok(View { raw, memory: PhantomData })
    }
    /// Like [`View::strided`], but a view of the bits of f16 or bf16 elements. CPU backend only.
    pub fn of_bits(memory: &'a [u16], dtype: DType, offset: usize, shape: &[usize], stride: Option<&[isize]>) -> Result<View<'a>> {
        let raw = of_slice(memory.as_ptr().cast_mut().cast(), bits(dtype)?, memory.len(), 2, shape, stride, offset)?;
        Ok(View { raw, memory: PhantomData })
    }
    /// A view of the backend's memory. Without strides it is contiguous.
    ///
    /// # Safety
    /// The backend in use can read all elements of the view. The memory stays valid for `'a`, and until the stream has finished
    /// each call that gets the view.
    pub unsafe fn from_raw<T>(data: *const T, dtype: DType, shape: &[usize], stride: Option<&[isize]>) -> Result<View<'a>> {
        Ok(View { raw: tensor(data.cast_mut().cast(), dtype, shape, stride)?, memory: PhantomData })
    }
}

impl<'a> ViewMut<'a> {
    /// A contiguous view of a slice. CPU backend only.
    pub fn of<T: Element>(memory: &'a mut [T], shape: &[usize]) -> Result<ViewMut<'a>> {
        ViewMut::strided(memory, 0, shape, None)
    }
    /// A view of a slice that starts at element `offset`, with strides in elements. CPU backend only.
    pub fn strided<T: Element>(
        memory: &'a mut [T],
        offset: usize,
        shape: &[usize],
        stride: Option<&[isize]>,
    ) -> Result<ViewMut<'a>> {
        let (data, length) = (memory.as_mut_ptr().cast(), memory.len());
        let raw = of_slice(data, T::DTYPE, length, std::mem::size_of::<T>(), shape, stride, offset)?;
        Ok(ViewMut { view: View { raw, memory: PhantomData }, memory: PhantomData })
    }
    /// Like [`ViewMut::strided`], but a view of the bits of f16 or bf16 elements. CPU backend only.
    pub fn of_bits(
        memory: &'a mut [u16],
        dtype: DType,
        offset: usize,
        shape: &[usize],
        stride: Option<&[isize]>,
    ) -> Result<ViewMut<'a>> {
        let raw = of_slice(memory.as_mut_ptr().cast(), bits(dtype)?, memory.len(), 2, shape, stride, offset)?;
        Ok(ViewMut { view: View { raw, memory: PhantomData }, memory: PhantomData })
    }
    /// A view of the backend's memory. Without strides it is contiguous.
    ///
    /// # Safety
    /// The same as for [`View::from_raw`], and the backend can write the elements. Nothing apart from the call uses them until the
    /// stream has finished the call. Calls that get this view are on one stream, or you order them.
    pub unsafe fn from_raw<T>(data: *mut T, dtype: DType, shape: &[usize], stride: Option<&[isize]>) -> Result<ViewMut<'a>> {
        Ok(ViewMut { view: View { raw: tensor(data.cast(), dtype, shape, stride)?, memory: PhantomData }, memory: PhantomData })
    }
    /// The same memory as an input: `softmax(&y, y.as_view(), ..)` works in place.
    pub fn as_view(&self) -> &View<'a> {
        &self.view
    }
}

/// A queue of work on a device: a `hipStream_t` or a `CUstream`.
#[derive(Clone, Copy, Debug)]
pub struct Stream(*mut c_void);
impl Stream {
    /// The runtime's default stream. The CPU backend supports no other stream.
    pub const DEFAULT: Stream = Stream(std::ptr::null_mut());
    /// A stream of the runtime.
    ///
    /// # Safety
    /// It is a stream of the current device of each thread that makes a call with it. It exists until the last such call.
    pub unsafe fn from_raw(stream: *mut c_void) -> Stream {
        Stream(stream)
    }
}

/// Memory that an op uses while it runs. Most ops are slower without it; sort of long rows, and sorted topk with large k, need it.
#[derive(Debug)]
pub struct Workspace<'a> {
    data: *mut c_void,
    bytes: i64,
    memory: PhantomData<&'a mut [u8]>,
}
impl Workspace<'_> {
    /// No workspace.
    pub const NONE: Workspace<'static> = Workspace { data: std::ptr::null_mut(), bytes: 0, memory: PhantomData };
    /// A workspace in the backend's memory, at a multiple of 256 bytes.
    ///
    /// # Safety
    /// The memory is valid, and nothing apart from the call uses it, until the stream has finished the call.
    pub unsafe fn from_raw<'a>(data: *mut c_void, bytes: usize) -> Workspace<'a> {
        Workspace { data, bytes: i64::try_from(bytes).unwrap_or(i64::MAX), memory: PhantomData }
    }
    /// A workspace in a slice that is 256 bytes longer than the op needs. CPU backend only: other backends are refused.
    pub fn of(memory: &mut [u8]) -> Result<Workspace<'_>> {
        if backend_in_use()? != Backend::Cpu {
            return Err(Error::new(
                Status::InvalidArgument,
                "a workspace of a slice, expected the backend Cpu: see Workspace::from_raw",
            ));
        }
        let skipped = memory.as_ptr().align_offset(256);
        if memory.len() <= skipped {
            return Ok(Workspace::NONE);
        }
        let aligned = &mut memory[skipped..];
        Ok(Workspace { data: aligned.as_mut_ptr().cast(), bytes: aligned.len() as i64, memory: PhantomData })
    }
}

/// The memory in which calls count indices that are out of range.
#[derive(Debug)]
pub struct Report<'a>(*mut sys::hipops_index_report, PhantomData<&'a mut sys::hipops_index_report>);
impl<'r> Report<'r> {
    /// A report in host memory. Set it to `HIPOPS_INDEX_REPORT_INIT` before the first call. CPU backend only.
    pub fn of(report: &'r mut hipops_index_report) -> Result<Report<'r>> {
        if backend_in_use()? != Backend::Cpu {
            return Err(Error::new(
                Status::InvalidArgument,
                "a report in the host's memory, expected the backend Cpu: see Report::from_raw",
            ));
        }
        Ok(Report(report, PhantomData))
    }
    /// No report: nothing is counted.
    pub const NONE: Report<'static> = Report(std::ptr::null_mut(), PhantomData);
    /// A report in the backend's memory. Copy `HIPOPS_INDEX_REPORT_INIT` into it before the first call.
    ///
    /// # Safety
    /// The same as for [`ViewMut::from_raw`].
    pub unsafe fn from_raw<'a>(report: *mut sys::hipops_index_report) -> Report<'a> {
        Report(report, PhantomData)
    }
}

/// The rule that selects the element of x for each element of y in upsampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Nearest {
    /// PyTorch's `nearest`.
    PyTorch = sys::HIPOPS_NEAREST_PYTORCH,
    /// candle's rule.
    Candle = sys::HIPOPS_NEAREST_CANDLE,
    /// PyTorch's `nearest-exact`.
    Exact = sys::HIPOPS_NEAREST_EXACT,
}

/// The kind of an activation. The formulas are in hipops.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum Activation {
    Identity = sys::HIPOPS_ACTIVATION_IDENTITY,
    Relu = sys::HIPOPS_ACTIVATION_RELU,
    ReluSquared = sys::HIPOPS_ACTIVATION_RELU_SQUARED,
    LeakyRelu = sys::HIPOPS_ACTIVATION_LEAKY_RELU,
    Abs = sys::HIPOPS_ACTIVATION_ABS,
    Neg = sys::HIPOPS_ACTIVATION_NEG,
    Sqr = sys::HIPOPS_ACTIVATION_SQR,
    Sigmoid = sys::HIPOPS_ACTIVATION_SIGMOID,
    Silu = sys::HIPOPS_ACTIVATION_SILU,
    Swish = sys::HIPOPS_ACTIVATION_SWISH,
    QuickGelu = sys::HIPOPS_ACTIVATION_QUICK_GELU,
    GeluTanh = sys::HIPOPS_ACTIVATION_GELU_TANH,
    Gelu = sys::HIPOPS_ACTIVATION_GELU,
    Tanh = sys::HIPOPS_ACTIVATION_TANH,
    Elu = sys::HIPOPS_ACTIVATION_ELU,
    Softplus = sys::HIPOPS_ACTIVATION_SOFTPLUS,
    Exp = sys::HIPOPS_ACTIVATION_EXP,
}

/// The result that [`reduce`] computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Reduction {
    /// The sum.
    Sum = sys::HIPOPS_REDUCE_SUM,
    /// The mean.
    Mean = sys::HIPOPS_REDUCE_MEAN,
    /// The greatest element.
    Max = sys::HIPOPS_REDUCE_MAX,
    /// The least element.
    Min = sys::HIPOPS_REDUCE_MIN,
    /// The logarithm of the sum of exponentials.
    LogSumExp = sys::HIPOPS_REDUCE_LOGSUMEXP,
    /// The position of the greatest element.
    ArgMax = sys::HIPOPS_REDUCE_ARGMAX,
    /// The position of the least element.
    ArgMin = sys::HIPOPS_REDUCE_ARGMIN,
}

fn raw(view: Option<&View<'_>>) -> *const sys::hipops_tensor {
    view.map_or(std::ptr::null(), |view| &view.raw)
}
fn raw_mut(view: Option<&ViewMut<'_>>) -> *const sys::hipops_tensor {
    raw(view.map(ViewMut::as_view))
}

/// `hipops_layer_norm`
#[allow(clippy::too_many_arguments)]
pub fn layer_norm(
    y: &ViewMut<'_>,
    mean: Option<&ViewMut<'_>>,
    rstd: Option<&ViewMut<'_>>,
    x: &View<'_>,
    weight: Option<&View<'_>>,
    bias: Option<&View<'_>>,
    eps: f64,
    flags: u32,
    stream: Stream,
) -> Result<()> {
    call!(hipops_layer_norm(&y.view.raw, raw_mut(mean), raw_mut(rstd), &x.raw, raw(weight), raw(bias), eps, flags, stream.0))
}
/// `hipops_rms_norm`
pub fn rms_norm(
    y: &ViewMut<'_>,
    rstd: Option<&ViewMut<'_>>,
    x: &View<'_>,
    weight: Option<&View<'_>>,
    eps: f64,
    flags: u32,
    stream: Stream,
) -> Result<()> {
    call!(hipops_rms_norm(&y.view.raw, raw_mut(rstd), &x.raw, raw(weight), eps, flags, stream.0))
}
/// `hipops_fused_add_rms_norm`
#[allow(clippy::too_many_arguments)]
pub fn fused_add_rms_norm(
    y: &ViewMut<'_>,
    residual_out: Option<&ViewMut<'_>>,
    rstd: Option<&ViewMut<'_>>,
    x: &View<'_>,
    residual: &View<'_>,
    weight: Option<&View<'_>>,
    eps: f64,
    flags: u32,
    stream: Stream,
) -> Result<()> {
    let (residual_out, rstd) = (raw_mut(residual_out), raw_mut(rstd));
    call!(hipops_fused_add_rms_norm(&y.view.raw, residual_out, rstd, &x.raw, &residual.raw, raw(weight), eps, flags, stream.0))
}
/// `hipops_fused_add_layer_norm`
#[allow(clippy::too_many_arguments)]
pub fn fused_add_layer_norm(
    y: &ViewMut<'_>,
    residual_out: Option<&ViewMut<'_>>,
    mean: Option<&ViewMut<'_>>,
    rstd: Option<&ViewMut<'_>>,
    x: &View<'_>,
    residual: &View<'_>,
    weight: Option<&View<'_>>,
    bias: Option<&View<'_>>,
    eps: f64,
    flags: u32,
    stream: Stream,
) -> Result<()> {
    let (out, mean, rstd, weight, bias) = (raw_mut(residual_out), raw_mut(mean), raw_mut(rstd), raw(weight), raw(bias));
    call!(hipops_fused_add_layer_norm(&y.view.raw, out, mean, rstd, &x.raw, &residual.raw, weight, bias, eps, flags, stream.0))
}
/// `hipops_softmax`
pub fn softmax(y: &ViewMut<'_>, x: &View<'_>, flags: u32, stream: Stream) -> Result<()> {
    call!(hipops_softmax(&y.view.raw, &x.raw, flags, stream.0))
}
/// `hipops_rope`
pub fn rope(
    y: &ViewMut<'_>,
    x: &View<'_>,
    cos: &View<'_>,
    sin: &View<'_>,
    positions: Option<&View<'_>>,
    stream: Stream,
) -> Result<()> {
    call!(hipops_rope(&y.view.raw, &x.raw, &cos.raw, &sin.raw, raw(positions), stream.0))
}
/// `hipops_rope_i`
pub fn rope_i(
    y: &ViewMut<'_>,
    x: &View<'_>,
    cos: &View<'_>,
    sin: &View<'_>,
    positions: Option<&View<'_>>,
    stream: Stream,
) -> Result<()> {
    call!(hipops_rope_i(&y.view.raw, &x.raw, &cos.raw, &sin.raw, raw(positions), stream.0))
}
/// `hipops_rope_thd`
pub fn rope_thd(
    y: &ViewMut<'_>,
    x: &View<'_>,
    cos: &View<'_>,
    sin: &View<'_>,
    positions: Option<&View<'_>>,
    stream: Stream,
) -> Result<()> {
    call!(hipops_rope_thd(&y.view.raw, &x.raw, &cos.raw, &sin.raw, raw(positions), stream.0))
}
/// `hipops_gather`
pub fn gather(y: &ViewMut<'_>, x: &View<'_>, index: &View<'_>, dim: i32, report: Report<'_>, stream: Stream) -> Result<()> {
    call!(hipops_gather(&y.view.raw, &x.raw, &index.raw, dim, report.0, stream.0))
}
/// `hipops_index_select`
pub fn index_select(y: &ViewMut<'_>, x: &View<'_>, index: &View<'_>, dim: i32, report: Report<'_>, stream: Stream) -> Result<()> {
    call!(hipops_index_select(&y.view.raw, &x.raw, &index.raw, dim, report.0, stream.0))
}
/// `hipops_scatter`
#[allow(clippy::too_many_arguments)]
pub fn scatter(
    y: &ViewMut<'_>,
    x: &View<'_>,
    index: &View<'_>,
    dim: i32,
    flags: u32,
    workspace: Workspace<'_>,
    report: Report<'_>,
    stream: Stream,
) -> Result<()> {
    call!(hipops_scatter(&y.view.raw, &x.raw, &index.raw, dim, flags, workspace.data, workspace.bytes, report.0, stream.0))
}
/// `hipops_scatter_add`
#[allow(clippy::too_many_arguments)]
pub fn scatter_add(
    y: &ViewMut<'_>,
    x: &View<'_>,
    index: &View<'_>,
    dim: i32,
    flags: u32,
    workspace: Workspace<'_>,
    report: Report<'_>,
    stream: Stream,
) -> Result<()> {
    call!(hipops_scatter_add(&y.view.raw, &x.raw, &index.raw, dim, flags, workspace.data, workspace.bytes, report.0, stream.0))
}
/// `hipops_index_add`
pub fn index_add(
    y: &ViewMut<'_>,
    x: &View<'_>,
    index: &View<'_>,
    dim: i32,
    workspace: Workspace<'_>,
    report: Report<'_>,
    stream: Stream,
) -> Result<()> {
    call!(hipops_index_add(&y.view.raw, &x.raw, &index.raw, dim, workspace.data, workspace.bytes, report.0, stream.0))
}
/// The bytes of workspace for scatter. (`hipops_scatter_workspace_bytes`)
pub fn scatter_workspace_bytes(y: &ViewMut<'_>, x: &View<'_>, index: &View<'_>, dim: i32, flags: u32) -> Result<usize> {
    bytes_from!(hipops_scatter_workspace_bytes(&y.view.raw, &x.raw, &index.raw, dim, flags))
}
/// The bytes of workspace for scatter_add. (`hipops_scatter_add_workspace_bytes`)
pub fn scatter_add_workspace_bytes(y: &ViewMut<'_>, x: &View<'_>, index: &View<'_>, dim: i32, flags: u32) -> Result<usize> {
    bytes_from!(hipops_scatter_add_workspace_bytes(&y.view.raw, &x.raw, &index.raw, dim, flags))
}
/// The bytes of workspace for index_add. (`hipops_index_add_workspace_bytes`)
pub fn index_add_workspace_bytes(y: &ViewMut<'_>, x: &View<'_>, index: &View<'_>, dim: i32) -> Result<usize> {
    bytes_from!(hipops_index_add_workspace_bytes(&y.view.raw, &x.raw, &index.raw, dim))
}
/// `hipops_reduce`: over the dimensions whose bits `dims` has.
pub fn reduce(
    y: &ViewMut<'_>,
    x: &View<'_>,
    reduction: Reduction,
    dims: u32,
    flags: u32,
    workspace: Workspace<'_>,
    stream: Stream,
) -> Result<()> {
    call!(hipops_reduce(&y.view.raw, &x.raw, reduction as i32, dims, flags, workspace.data, workspace.bytes, stream.0))
}
/// The bytes of workspace for reduce. (`hipops_reduce_workspace_bytes`)
pub fn reduce_workspace_bytes(y: &ViewMut<'_>, x: &View<'_>, reduction: Reduction, dims: u32, flags: u32) -> Result<usize> {
    bytes_from!(hipops_reduce_workspace_bytes(&y.view.raw, &x.raw, reduction as i32, dims, flags))
}
/// `hipops_rms_norm_backward`: the workspace is for `dw` and for long rows.
#[allow(clippy::too_many_arguments)]
pub fn rms_norm_backward(
    dx: &ViewMut<'_>,
    dw: Option<&ViewMut<'_>>,
    dy: &View<'_>,
    x: &View<'_>,
    weight: Option<&View<'_>>,
    rstd: Option<&View<'_>>,
    eps: f64,
    flags: u32,
    workspace: Workspace<'_>,
    stream: Stream,
) -> Result<()> {
    let (dw, weight, rstd, memory) = (raw_mut(dw), raw(weight), raw(rstd), workspace.data);
    call!(hipops_rms_norm_backward(&dx.view.raw, dw, &dy.raw, &x.raw, weight, rstd, eps, flags, memory, workspace.bytes, stream.0))
}
/// The bytes of workspace for rms_norm_backward. (`hipops_rms_norm_backward_workspace_bytes`)
pub fn rms_norm_backward_workspace_bytes(
    dx: &ViewMut<'_>,
    dw: Option<&ViewMut<'_>>,
    dy: &View<'_>,
    x: &View<'_>,
    weight: Option<&View<'_>>,
    rstd: Option<&View<'_>>,
) -> Result<usize> {
    let (dw, weight, rstd) = (raw_mut(dw), raw(weight), raw(rstd));
    bytes_from!(hipops_rms_norm_backward_workspace_bytes(&dx.view.raw, dw, &dy.raw, &x.raw, weight, rstd))
}
/// `hipops_upsample_nearest1d`
pub fn upsample_nearest1d(y: &ViewMut<'_>, x: &View<'_>, rule: Nearest, scale: f64, stream: Stream) -> Result<()> {
    call!(hipops_upsample_nearest1d(&y.view.raw, &x.raw, rule as i32, scale, stream.0))
}
/// `hipops_upsample_nearest2d`
pub fn upsample_nearest2d(y: &ViewMut<'_>, x: &View<'_>, rule: Nearest, scale_h: f64, scale_w: f64, stream: Stream) -> Result<()> {
    call!(hipops_upsample_nearest2d(&y.view.raw, &x.raw, rule as i32, scale_h, scale_w, stream.0))
}
/// `hipops_copy2d`: copies rows of `cols` elements, whose starts are `y_stride` and `x_stride` elements apart.
///
/// # Safety
/// The same as for [`ViewMut::from_raw`] and [`View::from_raw`], for all rows.
#[allow(clippy::too_many_arguments)]
pub unsafe fn copy2d(
    y: *mut c_void,
    x: *const c_void,
    dtype: DType,
    rows: i64,
    cols: i64,
    y_stride: i64,
    x_stride: i64,
    stream: Stream,
) -> Result<()> {
    call!(hipops_copy2d(y, x, dtype as i32, rows, cols, y_stride, x_stride, stream.0))
}
/// `hipops_activation`
pub fn activation(y: &ViewMut<'_>, x: &View<'_>, kind: Activation, alpha: f64, stream: Stream) -> Result<()> {
    call!(hipops_activation(&y.view.raw, &x.raw, kind as i32, alpha, stream.0))
}
/// `hipops_activation_and_mul`
#[allow(clippy::too_many_arguments)]
pub fn activation_and_mul(
    y: &ViewMut<'_>,
    x: &View<'_>,
    up: &View<'_>,
    kind: Activation,
    limit: f64,
    alpha: f64,
    flags: u32,
    stream: Stream,
) -> Result<()> {
    call!(hipops_activation_and_mul(&y.view.raw, &x.raw, &up.raw, kind as i32, limit, alpha, flags, stream.0))
}
/// `hipops_log_softmax`
pub fn log_softmax(y: &ViewMut<'_>, x: &View<'_>, flags: u32, stream: Stream) -> Result<()> {
    call!(hipops_log_softmax(&y.view.raw, &x.raw, flags, stream.0))
}
/// `hipops_softmax_ext`
#[allow(clippy::too_many_arguments)]
pub fn softmax_ext(
    y: &ViewMut<'_>,
    x: &View<'_>,
    mask: Option<&View<'_>>,
    alibi_slopes: Option<&View<'_>>,
    sinks: Option<&View<'_>>,
    scale: f64,
    flags: u32,
    stream: Stream,
) -> Result<()> {
    let (mask, slopes, sinks) = (raw(mask), raw(alibi_slopes), raw(sinks));
    call!(hipops_softmax_ext(&y.view.raw, &x.raw, mask, slopes, sinks, scale, flags, stream.0))
}
/// `hipops_static_quantize`
pub fn static_quantize(q: &ViewMut<'_>, x: &View<'_>, scale: &View<'_>, stream: Stream) -> Result<()> {
    call!(hipops_static_quantize(&q.view.raw, &x.raw, &scale.raw, stream.0))
}

/// The group of [`dynamic_quantize`] with one scale for all elements.
pub const WHOLE_TENSOR: i64 = sys::HIPOPS_WHOLE_TENSOR as i64;

/// `hipops_dynamic_quantize`
#[allow(clippy::too_many_arguments)]
pub fn dynamic_quantize(
    q: &ViewMut<'_>,
    scale: &ViewMut<'_>,
    x: &View<'_>,
    scale_ub: Option<&View<'_>>,
    group: i64,
    flags: u32,
    workspace: Workspace<'_>,
    stream: Stream,
) -> Result<()> {
    let scale_ub = raw(scale_ub);
    call!(hipops_dynamic_quantize(
        &q.view.raw,
        &scale.view.raw,
        &x.raw,
        scale_ub,
        group,
        flags,
        workspace.data,
        workspace.bytes,
        stream.0
    ))
}
/// The bytes of workspace for dynamic_quantize. (`hipops_dynamic_quantize_workspace_bytes`)
pub fn dynamic_quantize_workspace_bytes(
    q: &ViewMut<'_>,
    scale: &ViewMut<'_>,
    x: &View<'_>,
    scale_ub: Option<&View<'_>>,
    group: i64,
    flags: u32,
) -> Result<usize> {
    let (q, scale) = (&q.view.raw, &scale.view.raw);
    bytes_from!(hipops_dynamic_quantize_workspace_bytes(q, scale, &x.raw, raw(scale_ub), group, flags))
}

/// `hipops_topk`: of the k greatest or least elements of rows, values and columns.
#[allow(clippy::too_many_arguments)]
pub fn topk(
    values: Option<&ViewMut<'_>>,
    indices: &ViewMut<'_>,
    x: &View<'_>,
    lengths: Option<&View<'_>>,
    row_begin: Option<&View<'_>>,
    k: i64,
    flags: u32,
    workspace: Workspace<'_>,
    stream: Stream,
) -> Result<()> {
    let (values, lengths, begin, memory) = (raw_mut(values), raw(lengths), raw(row_begin), workspace.data);
    call!(hipops_topk(values, &indices.view.raw, &x.raw, lengths, begin, k, flags, memory, workspace.bytes, stream.0))
}
/// The bytes of workspace for topk. (`hipops_topk_workspace_bytes`)
pub fn topk_workspace_bytes(
    values: Option<&ViewMut<'_>>,
    indices: &ViewMut<'_>,
    x: &View<'_>,
    lengths: Option<&View<'_>>,
    row_begin: Option<&View<'_>>,
    k: i64,
    flags: u32,
) -> Result<usize> {
    let (values, lengths, begin) = (raw_mut(values), raw(lengths), raw(row_begin));
    bytes_from!(hipops_topk_workspace_bytes(values, &indices.view.raw, &x.raw, lengths, begin, k, flags))
}
/// `hipops_cumsum`
pub fn cumsum(y: &ViewMut<'_>, x: &View<'_>, dim: i32, workspace: Workspace<'_>, stream: Stream) -> Result<()> {
    call!(hipops_cumsum(&y.view.raw, &x.raw, dim, workspace.data, workspace.bytes, stream.0))
}
/// The bytes of workspace for cumsum. (`hipops_cumsum_workspace_bytes`)
pub fn cumsum_workspace_bytes(y: &ViewMut<'_>, x: &View<'_>, dim: i32) -> Result<usize> {
    bytes_from!(hipops_cumsum_workspace_bytes(&y.view.raw, &x.raw, dim))
}
/// `hipops_sort`. Rows of more than 4096 columns need the workspace.
pub fn sort(
    values: Option<&ViewMut<'_>>,
    indices: Option<&ViewMut<'_>>,
    x: &View<'_>,
    flags: u32,
    workspace: Workspace<'_>,
    stream: Stream,
) -> Result<()> {
    call!(hipops_sort(raw_mut(values), raw_mut(indices), &x.raw, flags, workspace.data, workspace.bytes, stream.0))
}
/// The bytes of workspace for sort. (`hipops_sort_workspace_bytes`)
pub fn sort_workspace_bytes(
    values: Option<&ViewMut<'_>>,
    indices: Option<&ViewMut<'_>>,
    x: &View<'_>,
    flags: u32,
) -> Result<usize> {
    bytes_from!(hipops_sort_workspace_bytes(raw_mut(values), raw_mut(indices), &x.raw, flags))
}
/// `hipops_topk_softmax`: the k best experts of each token, and their weights. x has the logits. `groups` 0: no groups.
#[allow(clippy::too_many_arguments)]
pub fn topk_softmax(
    weights: &ViewMut<'_>,
    ids: &ViewMut<'_>,
    token_expert: Option<&ViewMut<'_>>,
    x: &View<'_>,
    bias: Option<&View<'_>>,
    k: i64,
    groups: i64,
    topk_groups: i64,
    scale: f64,
    flags: u32,
    stream: Stream,
) -> Result<()> {
    let (weights, ids, slots, bias) = (&weights.view.raw, &ids.view.raw, raw_mut(token_expert), raw(bias));
    call!(hipops_topk_softmax(weights, ids, slots, &x.raw, bias, k, groups, topk_groups, scale, flags, stream.0))
}
/// `hipops_moe_align_block_size`: positions in x by expert, each expert padded to blocks, and the expert of each block.
#[allow(clippy::too_many_arguments)]
pub fn moe_align_block_size(
    sorted_ids: &ViewMut<'_>,
    expert_ids: &ViewMut<'_>,
    count: &ViewMut<'_>,
    x: &View<'_>,
    expert_map: Option<&View<'_>>,
    experts: i64,
    block_size: i64,
    stream: Stream,
) -> Result<()> {
    let (sorted, of_blocks, count) = (&sorted_ids.view.raw, &expert_ids.view.raw, &count.view.raw);
    call!(hipops_moe_align_block_size(sorted, of_blocks, count, &x.raw, raw(expert_map), experts, block_size, stream.0))
}
/// `hipops_softmax_backward`
pub fn softmax_backward(dx: &ViewMut<'_>, dy: &View<'_>, y: &View<'_>, scale: f64, flags: u32, stream: Stream) -> Result<()> {
    call!(hipops_softmax_backward(&dx.view.raw, &dy.raw, &y.raw, scale, flags, stream.0))
}
/// `hipops_log_softmax_backward`
pub fn log_softmax_backward(dx: &ViewMut<'_>, dy: &View<'_>, y: &View<'_>, flags: u32, stream: Stream) -> Result<()> {
    call!(hipops_log_softmax_backward(&dx.view.raw, &dy.raw, &y.raw, flags, stream.0))
}
/// `hipops_layer_norm_backward`: the workspace is for `dw`, `db` and long rows.
#[allow(clippy::too_many_arguments)]
pub fn layer_norm_backward(
    dx: &ViewMut<'_>,
    dw: Option<&ViewMut<'_>>,
    db: Option<&ViewMut<'_>>,
    dy: &View<'_>,
    x: &View<'_>,
    weight: Option<&View<'_>>,
    mean: Option<&View<'_>>,
    rstd: Option<&View<'_>>,
    eps: f64,
    flags: u32,
    workspace: Workspace<'_>,
    stream: Stream,
) -> Result<()> {
    let (dx, dw, db, dy, x) = (&dx.view.raw, raw_mut(dw), raw_mut(db), &dy.raw, &x.raw);
    let (weight, mean, rstd, memory) = (raw(weight), raw(mean), raw(rstd), workspace.data);
    call!(hipops_layer_norm_backward(dx, dw, db, dy, x, weight, mean, rstd, eps, flags, memory, workspace.bytes, stream.0))
}
/// The bytes of workspace for layer_norm_backward. (`hipops_layer_norm_backward_workspace_bytes`)
#[allow(clippy::too_many_arguments)]
pub fn layer_norm_backward_workspace_bytes(
    dx: &ViewMut<'_>,
    dw: Option<&ViewMut<'_>>,
    db: Option<&ViewMut<'_>>,
    dy: &View<'_>,
    x: &View<'_>,
    weight: Option<&View<'_>>,
    mean: Option<&View<'_>>,
    rstd: Option<&View<'_>>,
) -> Result<usize> {
    let (dx, dw, db, dy, x) = (&dx.view.raw, raw_mut(dw), raw_mut(db), &dy.raw, &x.raw);
    let (weight, mean, rstd) = (raw(weight), raw(mean), raw(rstd));
    bytes_from!(hipops_layer_norm_backward_workspace_bytes(dx, dw, db, dy, x, weight, mean, rstd))
}
/// `hipops_cross_entropy`: the loss of each row for its target, and the gradient of x.
#[allow(clippy::too_many_arguments)]
pub fn cross_entropy(
    loss: &ViewMut<'_>,
    lse: Option<&ViewMut<'_>>,
    dx: Option<&ViewMut<'_>>,
    x: &View<'_>,
    target: &View<'_>,
    dloss: Option<&View<'_>>,
    ignore_index: i64,
    label_smoothing: f64,
    z_loss: f64,
    flags: u32,
    report: Report<'_>,
    stream: Stream,
) -> Result<()> {
    let (loss, lse, dx, x, target, dloss) = (&loss.view.raw, raw_mut(lse), raw_mut(dx), &x.raw, &target.raw, raw(dloss));
    call!(hipops_cross_entropy(loss, lse, dx, x, target, dloss, ignore_index, label_smoothing, z_loss, flags, report.0, stream.0))
}
/// `hipops_sample`: a token of each row of logits, drawn by the row's uniform number.
#[allow(clippy::too_many_arguments)]
pub fn sample(
    tokens: &ViewMut<'_>,
    x: &View<'_>,
    uniform: &View<'_>,
    temperature: Option<&View<'_>>,
    top_k: Option<&View<'_>>,
    top_p: Option<&View<'_>>,
    min_p: Option<&View<'_>>,
    stream: Stream,
) -> Result<()> {
    let (temperature, top_k, top_p, min_p) = (raw(temperature), raw(top_k), raw(top_p), raw(min_p));
    call!(hipops_sample(&tokens.view.raw, &x.raw, &uniform.raw, temperature, top_k, top_p, min_p, stream.0))
}
/// `hipops_apply_penalties`: logits, lowered for tokens of the prompt (u8, not 0) and of the output (i32, how often). In place if
/// `x` is `y.get()`
#[allow(clippy::too_many_arguments)]
pub fn apply_penalties(
    y: &ViewMut<'_>,
    x: &View<'_>,
    prompt: Option<&View<'_>>,
    counts: Option<&View<'_>>,
    repetition: Option<&View<'_>>,
    frequency: Option<&View<'_>>,
    presence: Option<&View<'_>>,
    stream: Stream,
) -> Result<()> {
    let (prompt, counts) = (raw(prompt), raw(counts));
    let (repetition, frequency, presence) = (raw(repetition), raw(frequency), raw(presence));
    call!(hipops_apply_penalties(&y.view.raw, &x.raw, prompt, counts, repetition, frequency, presence, stream.0))
}
/// `hipops_activation_backward`
pub fn activation_backward(
    dx: &ViewMut<'_>,
    dy: &View<'_>,
    x: &View<'_>,
    kind: Activation,
    alpha: f64,
    stream: Stream,
) -> Result<()> {
    call!(hipops_activation_backward(&dx.view.raw, &dy.raw, &x.raw, kind as i32, alpha, stream.0))
}
/// `hipops_activation_and_mul_backward`
#[allow(clippy::too_many_arguments)]
pub fn activation_and_mul_backward(
    dx: Option<&ViewMut<'_>>,
    dup: Option<&ViewMut<'_>>,
    dy: &View<'_>,
    x: &View<'_>,
    up: &View<'_>,
    kind: Activation,
    limit: f64,
    alpha: f64,
    flags: u32,
    stream: Stream,
) -> Result<()> {
    let (dx, dup, dy, x, up) = (raw_mut(dx), raw_mut(dup), &dy.raw, &x.raw, &up.raw);
    call!(hipops_activation_and_mul_backward(dx, dup, dy, x, up, kind as i32, limit, alpha, flags, stream.0))
}
/// `hipops_strided_copy`
pub fn strided_copy(y: &ViewMut<'_>, x: &View<'_>, stream: Stream) -> Result<()> {
    call!(hipops_strided_copy(&y.view.raw, &x.raw, stream.0))
}
