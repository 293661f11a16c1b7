//! hipops from Rust, without any crate: the norms, softmax and rotary embeddings of candle-nn.
//!
//!     rustc -O docs/examples/hipops.rs && ./hipops build/release/lib/libhipops.so.0 cases.txt
//!
//! `mod ffi` is hipops.h, `Hipops` a safe wrapper whose calls return `Result`, and `main` holds its numbers to golden
//! cases (tests/examples/golden_lines.py writes them).

use std::fmt;
use std::os::raw::{c_char, c_void};

mod ffi {
    use super::*;

    pub const F32: i32 = 1;
    pub const BACKEND_CPU: i32 = 3;

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Tensor {
        pub data: *mut c_void,
        pub dtype: i32,
        pub rank: i32,
        pub shape: [i64; 8],
        pub stride: [i64; 8],
    }

    pub type T = *const Tensor;
    pub type Stream = *mut c_void;
    pub type Init = unsafe extern "C" fn(i32) -> i32;
    pub type LastError = unsafe extern "C" fn() -> *const c_char;
    pub type LayerNorm = unsafe extern "C" fn(T, T, T, T, f64, Stream) -> i32;
    pub type RmsNorm = unsafe extern "C" fn(T, T, T, f64, Stream) -> i32;
    pub type Softmax = unsafe extern "C" fn(T, T, Stream) -> i32;
    pub type Rope = unsafe extern "C" fn(T, T, T, T, T, Stream) -> i32;

    #[link(name = "dl")]
    extern "C" {
        pub fn dlopen(path: *const c_char, flags: i32) -> *mut c_void;
        pub fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
        pub fn dlerror() -> *const c_char;
    }
    pub const RTLD_NOW: i32 = 2;
}

/// A status other than success, or what the loader said; with the library's own words.
#[derive(Debug)]
pub struct Error {
    pub status: i32,
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} (status {})", self.message, self.status)
    }
}

impl std::error::Error for Error {}

type Result<T> = std::result::Result<T, Error>;

fn error(message: impl Into<String>) -> Error {
    Error { status: -1, message: message.into() }
}

unsafe fn text(words: *const c_char) -> String {
    std::ffi::CStr::from_ptr(words).to_string_lossy().into_owned()
}

/// A contiguous f32 tensor in host memory. An engine has its own, with a device pointer and strides.
#[derive(Clone)]
pub struct Tensor {
    pub elements: Vec<f32>,
    pub shape: Vec<usize>,
}

impl Tensor {
    fn like(other: &Tensor) -> Tensor {
        Tensor { elements: vec![0.0; other.elements.len()], shape: other.shape.clone() }
    }

    /// What the library sees. The pointer is as good as `self` is: callers keep both for the call alone.
    fn view(&self, data: *mut f32) -> Result<ffi::Tensor> {
        if self.shape.len() > 8 || self.shape.iter().product::<usize>() != self.elements.len() {
            return Err(error(format!("a tensor of shape {:?} with {} elements", self.shape, self.elements.len())));
        }
        let (mut shape, mut stride) = ([0; 8], [0; 8]);
        let mut step = 1;
        for (i, &extent) in self.shape.iter().enumerate().rev() {
            shape[i] = extent as i64;
            stride[i] = step;
            step *= extent as i64;
        }
        Ok(ffi::Tensor { data: data as *mut c_void, dtype: ffi::F32, rank: self.shape.len() as i32, shape, stride })
    }

    fn input(&self) -> Result<ffi::Tensor> {
        self.view(self.elements.as_ptr() as *mut f32)
    }

    fn output(&mut self) -> Result<ffi::Tensor> {
        let data = self.elements.as_mut_ptr();
        self.view(data)
    }
}

#[derive(Clone, Copy)]
pub enum Rotary {
    Interleaved, // candle_nn::rotary_emb::rope_i
    Halves,      // candle_nn::rotary_emb::rope
    HalvesThd,   // candle_nn::rotary_emb::rope_thd
}

pub struct Hipops {
    last_error: ffi::LastError,
    layer_norm: ffi::LayerNorm,
    rms_norm: ffi::RmsNorm,
    softmax: ffi::Softmax,
    rope: [ffi::Rope; 3], // by Rotary
}

impl Hipops {
    /// Loads the library, for good, and chooses the CPU backend; an engine on a GPU asks for its own.
    pub fn open(path: &str) -> Result<Hipops> {
        let path = std::ffi::CString::new(path).map_err(|_| error("a path with a null in it"))?;
        // Safe: the types in `ffi` are those of hipops.h for these names.
        unsafe {
            let library = ffi::dlopen(path.as_ptr(), ffi::RTLD_NOW);
            if library.is_null() {
                return Err(error(text(ffi::dlerror())));
            }
            macro_rules! find {
                ($name:literal as $type:ty) => {{
                    let address = ffi::dlsym(library, concat!("hipops_", $name, "\0").as_ptr() as *const c_char);
                    if address.is_null() {
                        return Err(error(text(ffi::dlerror())));
                    }
                    std::mem::transmute::<*mut c_void, $type>(address)
                }};
            }
            let hipops = Hipops {
                last_error: find!("last_error" as ffi::LastError),
                layer_norm: find!("layer_norm" as ffi::LayerNorm),
                rms_norm: find!("rms_norm" as ffi::RmsNorm),
                softmax: find!("softmax" as ffi::Softmax),
                rope: [find!("rope_i" as ffi::Rope), find!("rope" as ffi::Rope), find!("rope_thd" as ffi::Rope)],
            };
            hipops.check(find!("init" as ffi::Init)(ffi::BACKEND_CPU))?;
            Ok(hipops)
        }
    }

    fn check(&self, status: i32) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        Err(Error { status, message: unsafe { text((self.last_error)()) } })
    }

    pub fn layer_norm(&self, x: &Tensor, weight: Option<&Tensor>, bias: Option<&Tensor>, eps: f64) -> Result<Tensor> {
        let (weight, bias) = (optional(weight)?, optional(bias)?);
        self.into_new(x, |y, x| unsafe { (self.layer_norm)(y, x, pointer(&weight), pointer(&bias), eps, stream()) })
    }

    pub fn rms_norm(&self, x: &Tensor, weight: Option<&Tensor>, eps: f64) -> Result<Tensor> {
        let weight = optional(weight)?;
        self.into_new(x, |y, x| unsafe { (self.rms_norm)(y, x, pointer(&weight), eps, stream()) })
    }

    pub fn softmax(&self, x: &Tensor) -> Result<Tensor> {
        self.into_new(x, |y, x| unsafe { (self.softmax)(y, x, stream()) })
    }

    pub fn rope(&self, kind: Rotary, x: &Tensor, cos: &Tensor, sin: &Tensor) -> Result<Tensor> {
        let (cos, sin, call) = (cos.input()?, sin.input()?, self.rope[kind as usize]);
        self.into_new(x, |y, x| unsafe { call(y, x, &cos, &sin, std::ptr::null(), stream()) })
    }

    fn into_new(&self, x: &Tensor, call: impl Fn(ffi::T, ffi::T) -> i32) -> Result<Tensor> {
        let mut y = Tensor::like(x);
        self.check(call(&y.output()?, &x.input()?))?;
        Ok(y)
    }
}

fn optional(tensor: Option<&Tensor>) -> Result<Option<ffi::Tensor>> {
    tensor.map(Tensor::input).transpose()
}

fn pointer(tensor: &Option<ffi::Tensor>) -> ffi::T {
    tensor.as_ref().map_or(std::ptr::null(), |t| t as ffi::T)
}

/// The CPU backend has none; an engine passes its hipStream_t.
fn stream() -> ffi::Stream {
    std::ptr::null_mut()
}

// ---- The golden cases

#[derive(Default)]
struct Case {
    op: String,
    name: String,
    eps: f64,
    tensors: std::collections::HashMap<String, Tensor>,
    at: Vec<usize>,
    is: Vec<f64>,
}

fn numbers<T: std::str::FromStr>(text: &str) -> Vec<T> {
    text.split_whitespace().map(|word| word.parse().ok().expect("a number")).collect()
}

fn run(hipops: &Hipops, case: &Case) -> Result<Tensor> {
    let get = |name: &str| case.tensors.get(name);
    let x = get("x").ok_or_else(|| error("a case without x"))?;
    let rope = |kind| match (get("cos"), get("sin")) {
        (Some(cos), Some(sin)) => hipops.rope(kind, x, cos, sin),
        _ => Err(error("a case without cos or sin")),
    };
    match case.op.as_str() {
        "layer_norm" => hipops.layer_norm(x, get("weight"), get("bias"), case.eps),
        "rms_norm" => hipops.rms_norm(x, get("weight"), case.eps),
        "softmax" => hipops.softmax(x),
        "rope_i" => rope(Rotary::Interleaved),
        "rope" => rope(Rotary::Halves),
        "rope_thd" => rope(Rotary::HalvesThd),
        other => Err(error(format!("no op {}", other))),
    }
}

fn is_right(case: &Case, y: &Tensor, within: &[f64]) -> bool {
    (0..case.is.len()).all(|i| (f64::from(y.elements[case.at[i]]) - case.is[i]).abs() <= within[i])
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let hipops = Hipops::open(&arguments[1])?;
    let mut case = Case::default();
    let (mut right, mut wrong) = (0, 0);
    for line in std::fs::read_to_string(&arguments[2])?.lines() {
        let (key, rest) = line.split_once(' ').ok_or("a line of one word")?;
        match key {
            "case" => {
                let words: Vec<&str> = rest.split(' ').collect();
                case = Case { op: words[0].into(), name: words[1].into(), eps: words[2].parse()?, ..Case::default() };
            }
            "at" => case.at = numbers(rest),
            "is" => case.is = numbers(rest),
            "within" => {
                if is_right(&case, &run(&hipops, &case)?, &numbers(rest)) {
                    right += 1;
                } else {
                    wrong += 1;
                    eprintln!("{} {} is wrong", case.op, case.name);
                }
            }
            tensor => {
                let (shape, elements) = rest.split_once(' ').ok_or("a tensor without elements")?;
                let shape = numbers(&shape.replace('x', " "));
                case.tensors.insert(tensor.into(), Tensor { elements: numbers(elements), shape });
            }
        }
    }

    let x = Tensor { elements: vec![1.0; 8], shape: vec![2, 4] };
    let short = Tensor { elements: vec![1.0; 3], shape: vec![3] };
    match hipops.rms_norm(&x, Some(&short), 1e-5) {
        Ok(_) => return Err("a weight that is too short was taken".into()),
        Err(mistake) => println!("a mistake: {}", mistake),
    }
    println!("{} golden cases right, {} wrong", right, wrong);
    if wrong == 0 && right > 0 { Ok(()) } else { Err("not all are right".into()) }
}
