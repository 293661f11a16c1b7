//! Neural-network kernels for AMD GPUs, NVIDIA GPUs and the CPU: norms, softmax, rotary embedding, gather and scatter, upsampling and
//! strided copies, on views of memory that you own.
//!
//! ```
//! use hipops::{Backend, Stream, View, ViewMut};
//!
//! hipops::init(Backend::Cpu)?;
//! let x = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
//! let mut y = [0.0f32; 8];
//! hipops::rms_norm(&ViewMut::of(&mut y, &[2, 4])?, &View::of(&x, &[2, 4])?, None, 1e-5, 0, Stream::DEFAULT)?;
//! assert!((y[0] - 0.365148).abs() < 1e-5 && (y[7] - 1.212957).abs() < 1e-5);
//! # Ok::<(), hipops::Error>(())
//! ```
//!
//! The library is opened by the first call: the file that the environment variable `HIPOPS_LIBRARY` names, or else
//! `libhipops.so.0` as `dlopen` finds it. `hipops.h` is the manual of what the ops do; each function here names its own.
//!
//! **What is safe.** [`View::of`] takes a slice and checks that the view lies in it; it works with the CPU backend alone, whose calls
//! are done when they return. Views of device memory are made by [`View::from_raw`], which is `unsafe`: you promise that the memory is
//! there until the stream is past each call that uses it. The ops themselves are then safe, as the library checks the rest.
#![deny(missing_docs)]

use hipops_sys as sys;
use std::ffi::{CStr, CString};
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::c_void;

pub use sys::{
    hipops_index_report, HIPOPS_DETERMINISTIC, HIPOPS_INDEX_REPORT_INIT, HIPOPS_ROUND_BEFORE_WEIGHT, HIPOPS_ROUND_SUM,
    HIPOPS_WEIGHT_PLUS_ONE,
};

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// A pointer, shape, stride, scalar or setting that cannot be right.
    InvalidArgument,
    /// A valid dtype that this op, or this pair of tensors, does not take.
    UnsupportedDtype,
    /// Valid strides that this op does not take.
    UnsupportedLayout,
    /// The backend asked for is not there.
    NoDevice,
    /// The library has no kernels for this device, or for this op.
    NoCodeObject,
    /// The GPU runtime refused a call: see [`Error::runtime_error`].
    RuntimeError,
    /// Out of host memory, or a defect of hipops.
    InternalError,
    /// The library was not found, or is not one.
    NotLoaded,
    /// A status that a later version of the library has.
    Other(i32),
}

/// A call's failure, with the library's own words, as `rms_norm: weight.shape[0] is 4095, expected 4096 (x.shape[1])`.
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
    /// What kind of failure it is.
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

/// What every call returns.
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
    // SAFETY: both may be called at any time. The string is the thread's until its next failure, and is copied here.
    let (message, runtime_error) = unsafe { (CStr::from_ptr((api.hipops_last_error)()), (api.hipops_last_runtime_error)()) };
    Err(Error { status: kind, message: message.to_string_lossy().into_owned(), runtime_error })
}

// A call of a C function.
macro_rules! call {
    ($name:ident($($argument:expr),*)) => {{
        let api = sys::api()?;
        // SAFETY: views are of memory that is there; the library checks all else.
        check(api, unsafe { (api.$name)($($argument),*) })
    }};
}

/// Which runtime executes the kernels: one in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Backend {
    /// The first of HIP, CUDA and the CPU that has a device; or what `HIPOPS_BACKEND` names.
    Auto = sys::HIPOPS_BACKEND_AUTO,
    /// AMD GPUs.
    Hip = sys::HIPOPS_BACKEND_HIP,
    /// NVIDIA GPUs.
    Cuda = sys::HIPOPS_BACKEND_CUDA,
    /// Host memory; slow, and there to check numbers.
    Cpu = sys::HIPOPS_BACKEND_CPU,
}

/// Chooses the backend; else the first op does. (`hipops_init`)
pub fn init(backend: Backend) -> Result<()> {
    let api = sys::api()?;
    // SAFETY: takes any value.
    check(api, unsafe { (api.hipops_init)(backend as i32) })
}

/// The backend in use; `Auto` if none is yet. (`hipops_backend_in_use`)
pub fn backend_in_use() -> Result<Backend> {
    // SAFETY: may be called at any time.
    Ok(match unsafe { (sys::api()?.hipops_backend_in_use)() } {
        sys::HIPOPS_BACKEND_HIP => Backend::Hip,
        sys::HIPOPS_BACKEND_CUDA => Backend::Cuda,
        sys::HIPOPS_BACKEND_CPU => Backend::Cpu,
        _ => Backend::Auto,
    })
}

/// Loads an op's kernels, as `rms_norm`, or those of all, for the current device, so that no later call has to. (`hipops_prepare`)
pub fn prepare(op: Option<&str>) -> Result<()> {
    let name = op
        .map(|op| CString::new(op).map_err(|_| Error::new(Status::InvalidArgument, format!("'{op}' has a zero byte"))))
        .transpose()?;
    call!(hipops_prepare(name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr())))
}

/// Whether an op, as `rms_norm`, takes a dtype, with this one of its weights, tables or index. (`hipops_supports`)
pub fn supports(op: &str, dtype: DType, second: Option<DType>) -> Result<bool> {
    let api = sys::api()?;
    let Ok(name) = CString::new(op) else { return Ok(false) };
    // SAFETY: `name` is a C string.
    Ok(unsafe { (api.hipops_supports)(name.as_ptr(), dtype as i32, second.map_or(sys::HIPOPS_NONE, |dtype| dtype as i32)) } == 1)
}

/// The library's version, as `0.2.0`. (`hipops_version`)
pub fn version() -> Result<&'static str> {
    // SAFETY: returns a string that lives as long as the process.
    Ok(unsafe { CStr::from_ptr((sys::api()?.hipops_version)()) }.to_str().unwrap_or(""))
}

/// What an element is.
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
}

/// A type whose values are elements.
///
/// # Safety
/// Values have the size and the bits of `DTYPE`'s elements, and any bits are a value.
pub unsafe trait Element: Copy {
    /// Its dtype.
    const DTYPE: DType;
}
macro_rules! elements {
    ($($type:ty: $dtype:ident),*) => { $(
        // SAFETY: numbers of this size, of which all bits are values.
        unsafe impl Element for $type { const DTYPE: DType = DType::$dtype; }
    )* };
}
elements!(f32: F32, f64: F64, u8: U8, i8: I8, i16: I16, u16: U16, i32: I32, u32: U32, i64: I64, u64: U64);

/// A view of memory that ops read. It does not outlive its memory:
///
/// ```compile_fail
/// let view = { let x = [1.0f32]; hipops::View::of(&x, &[1]) };
/// println!("{view:?}");
/// ```
///
/// Make it in the thread that uses it, as it may be the input of what that thread writes:
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

/// A view of memory that ops write; it is one that they read, too, so that ops work in place.
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

// Of a slice, which has to hold all elements that the view names; `offset` is where its first one is.
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
    /// Of a slice, contiguous. CPU backend only.
    pub fn of<T: Element>(memory: &'a [T], shape: &[usize]) -> Result<View<'a>> {
        View::strided(memory, 0, shape, None)
    }
    /// Of a slice, from element `offset` on, with strides in elements. CPU backend only.
    pub fn strided<T: Element>(memory: &'a [T], offset: usize, shape: &[usize], stride: Option<&[isize]>) -> Result<View<'a>> {
        let data = memory.as_ptr().cast::<c_void>().cast_mut();
        let raw = of_slice(data, T::DTYPE, memory.len(), std::mem::size_of::<T>(), shape, stride, offset)?;
        Ok(View { raw, memory: PhantomData })
    }
    /// Of the bits of f16 or bf16 elements, else as [`View::strided`]. CPU backend only.
    pub fn of_bits(memory: &'a [u16], dtype: DType, offset: usize, shape: &[usize], stride: Option<&[isize]>) -> Result<View<'a>> {
        let raw = of_slice(memory.as_ptr().cast_mut().cast(), bits(dtype)?, memory.len(), 2, shape, stride, offset)?;
        Ok(View { raw, memory: PhantomData })
    }
    /// Of the backend's memory; without strides: contiguous.
    ///
    /// # Safety
    /// All elements that the view names are in memory that the backend in use can read, for `'a` and until the stream is past
    /// each call that gets the view.
    pub unsafe fn from_raw<T>(data: *const T, dtype: DType, shape: &[usize], stride: Option<&[isize]>) -> Result<View<'a>> {
        Ok(View { raw: tensor(data.cast_mut().cast(), dtype, shape, stride)?, memory: PhantomData })
    }
}

impl<'a> ViewMut<'a> {
    /// Of a slice, contiguous. CPU backend only.
    pub fn of<T: Element>(memory: &'a mut [T], shape: &[usize]) -> Result<ViewMut<'a>> {
        ViewMut::strided(memory, 0, shape, None)
    }
    /// Of a slice, from element `offset` on, with strides in elements. CPU backend only.
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
    /// Of the bits of f16 or bf16 elements, else as [`ViewMut::strided`]. CPU backend only.
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
    /// Of the backend's memory; without strides: contiguous.
    ///
    /// # Safety
    /// As of [`View::from_raw`], to write, too. Nothing else uses these elements until the stream is past the call, and calls that
    /// get this view are on one stream, or ordered by you.
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
    /// The runtime's default stream. The CPU backend takes no other.
    pub const DEFAULT: Stream = Stream(std::ptr::null_mut());
    /// One of the runtime's.
    ///
    /// # Safety
    /// It is a stream of the current device of each thread that makes a call with it, and lives as long as it is used so.
    pub unsafe fn from_raw(stream: *mut c_void) -> Stream {
        Stream(stream)
    }
}

/// Memory that scatter, scatter_add and index_add may use while they run; without it they are slower.
#[derive(Debug)]
pub struct Workspace<'a> {
    data: *mut c_void,
    bytes: i64,
    memory: PhantomData<&'a mut [u8]>,
}
impl Workspace<'_> {
    /// None.
    pub const NONE: Workspace<'static> = Workspace { data: std::ptr::null_mut(), bytes: 0, memory: PhantomData };
    /// Of the backend's memory, at a multiple of 256 bytes.
    ///
    /// # Safety
    /// The memory is there, and nothing else uses it, until the stream is past the call.
    pub unsafe fn from_raw<'a>(data: *mut c_void, bytes: usize) -> Workspace<'a> {
        Workspace { data, bytes: i64::try_from(bytes).unwrap_or(i64::MAX), memory: PhantomData }
    }
    /// Of a slice that is 256 bytes longer than what the op wants. CPU backend only: with another one the op is refused.
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

/// Where calls count indices that are out of range.
#[derive(Debug)]
pub struct Report<'a>(*mut sys::hipops_index_report, PhantomData<&'a mut sys::hipops_index_report>);
impl<'r> Report<'r> {
    /// In the host's memory, set to `HIPOPS_INDEX_REPORT_INIT` before the first call. CPU backend only.
    pub fn of(report: &'r mut hipops_index_report) -> Result<Report<'r>> {
        if backend_in_use()? != Backend::Cpu {
            return Err(Error::new(
                Status::InvalidArgument,
                "a report in the host's memory, expected the backend Cpu: see Report::from_raw",
            ));
        }
        Ok(Report(report, PhantomData))
    }
    /// Nowhere.
    pub const NONE: Report<'static> = Report(std::ptr::null_mut(), PhantomData);
    /// In the backend's memory, which holds a `HIPOPS_INDEX_REPORT_INIT` before the first call.
    ///
    /// # Safety
    /// As of [`ViewMut::from_raw`].
    pub unsafe fn from_raw<'a>(report: *mut sys::hipops_index_report) -> Report<'a> {
        Report(report, PhantomData)
    }
}

/// How an element of upsampling's y finds its element of x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Nearest {
    /// PyTorch's `nearest`.
    PyTorch = sys::HIPOPS_NEAREST_PYTORCH,
    /// candle's.
    Candle = sys::HIPOPS_NEAREST_CANDLE,
    /// PyTorch's `nearest-exact`.
    Exact = sys::HIPOPS_NEAREST_EXACT,
}

fn raw(view: Option<&View<'_>>) -> *const sys::hipops_tensor {
    view.map_or(std::ptr::null(), |view| &view.raw)
}
fn raw_mut(view: Option<&ViewMut<'_>>) -> *const sys::hipops_tensor {
    raw(view.map(ViewMut::as_view))
}

/// `hipops_layer_norm`
pub fn layer_norm(
    y: &ViewMut<'_>,
    x: &View<'_>,
    weight: Option<&View<'_>>,
    bias: Option<&View<'_>>,
    eps: f64,
    stream: Stream,
) -> Result<()> {
    call!(hipops_layer_norm(&y.view.raw, &x.raw, raw(weight), raw(bias), eps, stream.0))
}
/// `hipops_rms_norm`
pub fn rms_norm(y: &ViewMut<'_>, x: &View<'_>, weight: Option<&View<'_>>, eps: f64, flags: u32, stream: Stream) -> Result<()> {
    call!(hipops_rms_norm(&y.view.raw, &x.raw, raw(weight), eps, flags, stream.0))
}
/// `hipops_fused_add_rms_norm`
#[allow(clippy::too_many_arguments)]
pub fn fused_add_rms_norm(
    y: &ViewMut<'_>,
    residual_out: Option<&ViewMut<'_>>,
    x: &View<'_>,
    residual: &View<'_>,
    weight: Option<&View<'_>>,
    eps: f64,
    flags: u32,
    stream: Stream,
) -> Result<()> {
    call!(hipops_fused_add_rms_norm(&y.view.raw, raw_mut(residual_out), &x.raw, &residual.raw, raw(weight), eps, flags, stream.0))
}
/// `hipops_softmax`
pub fn softmax(y: &ViewMut<'_>, x: &View<'_>, stream: Stream) -> Result<()> {
    call!(hipops_softmax(&y.view.raw, &x.raw, stream.0))
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
/// The bytes of workspace that scatter wants. (`hipops_scatter_workspace_bytes`)
pub fn scatter_workspace_bytes(y: &ViewMut<'_>, x: &View<'_>, index: &View<'_>, dim: i32, flags: u32) -> Result<usize> {
    let mut bytes = 0;
    call!(hipops_scatter_workspace_bytes(&y.view.raw, &x.raw, &index.raw, dim, flags, &mut bytes))?;
    Ok(bytes as usize)
}
/// The bytes of workspace that scatter_add wants. (`hipops_scatter_add_workspace_bytes`)
pub fn scatter_add_workspace_bytes(y: &ViewMut<'_>, x: &View<'_>, index: &View<'_>, dim: i32, flags: u32) -> Result<usize> {
    let mut bytes = 0;
    call!(hipops_scatter_add_workspace_bytes(&y.view.raw, &x.raw, &index.raw, dim, flags, &mut bytes))?;
    Ok(bytes as usize)
}
/// The bytes of workspace that index_add wants. (`hipops_index_add_workspace_bytes`)
pub fn index_add_workspace_bytes(y: &ViewMut<'_>, x: &View<'_>, index: &View<'_>, dim: i32) -> Result<usize> {
    let mut bytes = 0;
    call!(hipops_index_add_workspace_bytes(&y.view.raw, &x.raw, &index.raw, dim, &mut bytes))?;
    Ok(bytes as usize)
}
/// `hipops_upsample_nearest1d`
pub fn upsample_nearest1d(y: &ViewMut<'_>, x: &View<'_>, rule: Nearest, scale: f64, stream: Stream) -> Result<()> {
    call!(hipops_upsample_nearest1d(&y.view.raw, &x.raw, rule as i32, scale, stream.0))
}
/// `hipops_upsample_nearest2d`
pub fn upsample_nearest2d(y: &ViewMut<'_>, x: &View<'_>, rule: Nearest, scale_h: f64, scale_w: f64, stream: Stream) -> Result<()> {
    call!(hipops_upsample_nearest2d(&y.view.raw, &x.raw, rule as i32, scale_h, scale_w, stream.0))
}
/// `hipops_copy2d`: rows of `cols` elements, `y_stride` and `x_stride` elements apart.
///
/// # Safety
/// As of [`ViewMut::from_raw`] and [`View::from_raw`], of these rows.
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
/// `hipops_strided_copy`
pub fn strided_copy(y: &ViewMut<'_>, x: &View<'_>, stream: Stream) -> Result<()> {
    call!(hipops_strided_copy(&y.view.raw, &x.raw, stream.0))
}
