//! hipops as a candle `CustomOp`: rms_norm with its weight, on candle's own storage, with any strides. It takes
//! candle-core in Cargo.toml, and a build.rs of the program that links the library and tells where it is found when the
//! program starts. With the crate `pkg-config`:
//!
//!     for folder in pkg_config::probe_library("hipops").unwrap().link_paths {
//!         println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder.display());
//!     }
//!
//!     let y = x.apply_op2_no_bwd(&weight, &RmsNorm { eps: 1e-5 })?;
//!
//! On a GPU, `cuda_fwd` (or what a HIP backend calls it) is the same three steps: memory for y from the device, the
//! views with the storages' device pointers, and the call with the device's stream in place of null. A process has one
//! backend: where that is a GPU's, `cpu_fwd` fails, as it does below.

use std::ffi::CStr;
use std::os::raw::{c_char, c_void};

use candle_core::{bail, CpuStorage, CustomOp2, Layout, Result, Shape};

#[repr(C)]
struct View {
    data: *mut c_void,
    dtype: i32,
    rank: i32,
    shape: [i64; 8],
    stride: [i64; 8],
}

extern "C" {
    fn hipops_init(backend: i32) -> i32;
    fn hipops_rms_norm(y: *const View, x: *const View, weight: *const View, eps: f64, flags: u32, stream: *mut c_void) -> i32;
    fn hipops_last_error() -> *const c_char;
}

const F32: i32 = 1;
const BACKEND_CPU: i32 = 3;

fn checked(status: i32) -> Result<()> {
    if status != 0 {
        bail!("{}", unsafe { CStr::from_ptr(hipops_last_error()) }.to_string_lossy())
    }
    Ok(())
}

/// `start` is the storage's first element; a layout brings its own offset, and strides in elements, as hipops has them.
fn view(start: *const f32, layout: &Layout) -> Result<View> {
    if layout.dims().len() > 8 {
        bail!("hipops: a tensor of {} dimensions, expected 8 or fewer", layout.dims().len())
    }
    let (mut shape, mut stride) = ([0; 8], [0; 8]);
    for (i, (&extent, &step)) in layout.dims().iter().zip(layout.stride()).enumerate() {
        shape[i] = extent as i64;
        stride[i] = step as i64;
    }
    let data = unsafe { start.add(layout.start_offset()) } as *mut c_void;
    Ok(View { data, dtype: F32, rank: layout.dims().len() as i32, shape, stride })
}

pub struct RmsNorm {
    pub eps: f64,
}

impl CustomOp2 for RmsNorm {
    fn name(&self) -> &'static str {
        "hipops-rms-norm"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        weight: &CpuStorage,
        weight_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (x, weight) = match (x, weight) {
            (CpuStorage::F32(x), CpuStorage::F32(weight)) => (x, weight),
            _ => bail!("hipops-rms-norm: this example is for f32"),
        };
        // Else it would be a GPU's where there is one, which these pointers are not for.
        checked(unsafe { hipops_init(BACKEND_CPU) })?;
        let shape = x_layout.shape().clone();
        let mut y = vec![0f32; shape.elem_count()];
        let y_view = view(y.as_mut_ptr(), &Layout::contiguous(shape.clone()))?;
        let (x_view, weight_view) = (view(x.as_ptr(), x_layout)?, view(weight.as_ptr(), weight_layout)?);
        // Safe: the views are within storages that live until the call returns, when on the CPU the work is done.
        checked(unsafe { hipops_rms_norm(&y_view, &x_view, &weight_view, self.eps, 0, std::ptr::null_mut()) })?;
        Ok((CpuStorage::F32(y), shape))
    }
}
