//! hipops from Rust, without any crate: the norms, softmax and rotary embeddings of candle-nn.
//!
//!     rustc -O docs/examples/hipops.rs -C link-arg=-Wl,-rpath,$PWD/build/release/lib && ./hipops
//!
//! `-rpath` tells the program where the library is. Installed, that is `$(pkg-config --variable=libdir hipops)`. A path
//! to the library as the first argument does without.
//!
//! `mod ffi` is hipops.h, `Hipops` a safe wrapper whose calls return `Result`, and `main` holds its numbers to plain
//! loops in f64.

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
    pub type LayerNorm = unsafe extern "C" fn(T, T, T, T, T, T, f64, u32, Stream) -> i32;
    pub type RmsNorm = unsafe extern "C" fn(T, T, T, T, f64, u32, Stream) -> i32;
    pub type Softmax = unsafe extern "C" fn(T, T, u32, Stream) -> i32;
    pub type Rope = unsafe extern "C" fn(T, T, T, T, T, Stream) -> i32;

    #[link(name = "dl")]
    extern "C" {
        pub fn dlopen(path: *const c_char, flags: i32) -> *mut c_void;
        pub fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
        pub fn dlerror() -> *const c_char;
    }
    pub const RTLD_NOW: i32 = 2;
    pub const NONE: T = std::ptr::null();
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
        self.into_new(x, |y, x| unsafe { (self.layer_norm)(y, ffi::NONE, ffi::NONE, x, pointer(&weight), pointer(&bias), eps, 0, stream()) })
    }

    pub fn rms_norm(&self, x: &Tensor, weight: Option<&Tensor>, eps: f64) -> Result<Tensor> {
        let weight = optional(weight)?;
        self.into_new(x, |y, x| unsafe { (self.rms_norm)(y, ffi::NONE, x, pointer(&weight), eps, 0, stream()) })
    }

    pub fn softmax(&self, x: &Tensor) -> Result<Tensor> {
        self.into_new(x, |y, x| unsafe { (self.softmax)(y, x, 0, stream()) })
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

// ---- Numbers to try it on, and plain loops in f64 that say what is right

const EPS: f64 = 1e-5;

/// A tensor of numbers between -1 and 1 that are all different.
fn wave(shape: &[usize], step: f32) -> Tensor {
    let count = shape.iter().product::<usize>();
    Tensor { elements: (0..count).map(|i| (i as f32 * step).sin()).collect(), shape: shape.to_vec() }
}

fn rows(x: &Tensor) -> impl Iterator<Item = Vec<f64>> + '_ {
    x.elements.chunks(x.shape[x.shape.len() - 1]).map(|row| row.iter().map(|&v| f64::from(v)).collect())
}

fn mean(row: &[f64]) -> f64 {
    row.iter().sum::<f64>() / row.len() as f64
}

fn normed(row: &[f64], weight: &Tensor) -> Vec<f64> {
    let squares: Vec<f64> = row.iter().map(|v| v * v).collect();
    let scale = 1.0 / (mean(&squares) + EPS).sqrt();
    row.iter().zip(&weight.elements).map(|(v, &w)| v * scale * f64::from(w)).collect()
}

fn centred(row: &[f64]) -> Vec<f64> {
    let mean = mean(row);
    row.iter().map(|v| v - mean).collect()
}

fn softmaxed(row: &[f64]) -> Vec<f64> {
    let most = row.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = row.iter().map(|v| (v - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|p| p / sum).collect()
}

/// Each row turned by the angles of its position: pairs are neighbours, or an element of each half.
fn rotated(kind: Rotary, x: &Tensor, cos: &Tensor, sin: &Tensor) -> Vec<f64> {
    let (positions, pairs) = (cos.shape[0], cos.shape[1]);
    let heads = x.shape[2];
    let turn = |(r, row): (usize, Vec<f64>)| {
        let position = if let Rotary::HalvesThd = kind { r / heads } else { r } % positions;
        let mut y = row.clone();
        for i in 0..pairs {
            let (a, b) = if let Rotary::Interleaved = kind { (2 * i, 2 * i + 1) } else { (i, i + pairs) };
            let (c, s) = (cos.elements[position * pairs + i], sin.elements[position * pairs + i]);
            y[a] = row[a] * f64::from(c) - row[b] * f64::from(s);
            y[b] = row[a] * f64::from(s) + row[b] * f64::from(c);
        }
        y
    };
    rows(x).enumerate().flat_map(turn).collect()
}

fn expect_close(what: &str, y: &Tensor, right: &[f64]) -> Result<()> {
    let off = y.elements.iter().zip(right).map(|(&got, is)| (f64::from(got) - is).abs());
    let worst = off.fold(0.0, |most: f64, error| if error > most || error.is_nan() { error } else { most });
    println!("{}: at most {:.1e} from plain loops", what, worst);
    if right.len() == y.elements.len() && worst < 1e-6 {
        return Ok(());
    }
    Err(error(format!("{} is wrong", what)))
}

fn try_own_numbers(hipops: &Hipops) -> Result<()> {
    let x = wave(&[5, 80], 0.7);
    let (weight, bias) = (wave(&[80], 1.3), wave(&[80], 2.1));

    let right: Vec<f64> = rows(&x).flat_map(|row| normed(&row, &weight)).collect();
    expect_close("rms_norm", &hipops.rms_norm(&x, Some(&weight), EPS)?, &right)?;

    let biased = |row: Vec<f64>| -> Vec<f64> {
        normed(&centred(&row), &weight).iter().zip(&bias.elements).map(|(v, &b)| v + f64::from(b)).collect()
    };
    let right: Vec<f64> = rows(&x).flat_map(biased).collect();
    expect_close("layer_norm", &hipops.layer_norm(&x, Some(&weight), Some(&bias), EPS)?, &right)?;

    let right: Vec<f64> = rows(&x).flat_map(|row| softmaxed(&row)).collect();
    expect_close("softmax", &hipops.softmax(&x)?, &right)?;

    let angles = wave(&[6, 8], 0.9);
    let table = |f: fn(f32) -> f32| {
        let elements = angles.elements.iter().map(|&angle| f(angle)).collect();
        Tensor { elements, shape: angles.shape.clone() }
    };
    let (cos, sin) = (table(f32::cos), table(f32::sin));
    let (bhtd, bthd) = (wave(&[2, 3, 6, 16], 0.3), wave(&[2, 6, 3, 16], 0.3));
    let turns = |name, kind, x| expect_close(name, &hipops.rope(kind, x, &cos, &sin)?, &rotated(kind, x, &cos, &sin));
    turns("rope", Rotary::Halves, &bhtd)?;
    turns("rope_i", Rotary::Interleaved, &bhtd)?;
    turns("rope_thd", Rotary::HalvesThd, &bthd)?;

    let short = Tensor { elements: vec![1.0; 79], shape: vec![79] };
    match hipops.rms_norm(&x, Some(&short), EPS) {
        Ok(_) => Err(error("a weight that is too short was taken")),
        Err(mistake) => {
            println!("a mistake: {}", mistake);
            Ok(())
        }
    }
}

// ---- Golden cases from a file, of which the tests have one

#[derive(Default)]
struct Case {
    op: String,
    name: String,
    eps: f64,
    tensors: std::collections::HashMap<String, Tensor>,
    at: Vec<usize>,
    is: Vec<f64>,
    within: Vec<f64>,
}

fn number<T: std::str::FromStr>(word: &str) -> Result<T> {
    word.parse().map_err(|_| error(format!("'{}' is no number of the kind that is expected there", word)))
}

fn numbers<T: std::str::FromStr>(text: &str) -> Result<Vec<T>> {
    text.split_whitespace().map(number).collect()
}

/// A case begins with a line `case` and ends with a line `within`; see tests/examples/golden_lines.py.
fn read_cases(path: &str) -> Result<Vec<Case>> {
    let text = std::fs::read_to_string(path).map_err(|why| error(format!("{}: {}", path, why)))?;
    let (mut cases, mut case) = (Vec::new(), Case::default());
    for (i, line) in text.lines().enumerate() {
        let at_line = |mistake: Error| error(format!("{}:{}: {}", path, i + 1, mistake.message));
        let (key, rest) = line.split_once(' ').ok_or_else(|| at_line(error("a line of one word")))?;
        match key {
            "case" => match rest.split(' ').collect::<Vec<_>>()[..] {
                [op, name, eps] => {
                    let eps = number(eps).map_err(at_line)?;
                    case = Case { op: op.into(), name: name.into(), eps, ..Case::default() };
                }
                _ => return Err(at_line(error("expected: case <op> <name> <eps>"))),
            },
            "at" => case.at = numbers(rest).map_err(at_line)?,
            "is" => case.is = numbers(rest).map_err(at_line)?,
            "within" => {
                case.within = numbers(rest).map_err(at_line)?;
                if case.at.len() != case.is.len() || case.at.len() != case.within.len() {
                    return Err(at_line(error("as many numbers expected as behind at and is")));
                }
                cases.push(std::mem::take(&mut case));
            }
            tensor => {
                let (shape, elements) = rest.split_once(' ').ok_or_else(|| at_line(error("no elements")))?;
                let shape = numbers(&shape.replace('x', " ")).map_err(at_line)?;
                let elements = numbers(elements).map_err(at_line)?;
                case.tensors.insert(tensor.into(), Tensor { elements, shape });
            }
        }
    }
    if cases.is_empty() {
        return Err(error(format!("{}: no case in it", path)));
    }
    Ok(cases)
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

fn is_right(case: &Case, y: &Tensor) -> bool {
    let off = |i: usize| y.elements.get(case.at[i]).map(|&got| (f64::from(got) - case.is[i]).abs());
    (0..case.is.len()).all(|i| off(i).map_or(false, |off| off <= case.within[i]))
}

fn try_cases(hipops: &Hipops, cases: &[Case]) -> Result<()> {
    for case in cases {
        let named = |mistake: Error| error(format!("{} {}: {}", case.op, case.name, mistake));
        if !is_right(case, &run(hipops, case).map_err(named)?) {
            return Err(named(error("a wrong number")));
        }
    }
    println!("{} golden cases right", cases.len());
    Ok(())
}

const USAGE: &str = "usage: hipops [LIBRARY [CASES]]
  LIBRARY  path of libhipops.so.0; without it the loader looks for it, also in this program's rpath
  CASES    file of golden cases, which are computed, too";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let misused = |mistake: Error| -> ! {
        eprintln!("hipops: {}\n{}", mistake.message, USAGE);
        std::process::exit(2)
    };
    let (library, cases) = match &arguments[..] {
        [] => ("libhipops.so.0", None),
        [option, ..] if option.starts_with('-') => misused(error(format!("no option {}", option))),
        [library] => (library.as_str(), None),
        [library, cases] => (library.as_str(), Some(cases)),
        _ => misused(error(format!("{} arguments, expected at most 2", arguments.len()))),
    };
    let cases = cases.map_or(Ok(Vec::new()), |path| read_cases(path)).unwrap_or_else(|mistake| misused(mistake));
    let hipops = Hipops::open(library).unwrap_or_else(|mistake| misused(mistake));
    let mut done = try_own_numbers(&hipops);
    if done.is_ok() && !cases.is_empty() {
        done = try_cases(&hipops, &cases);
    }
    if let Err(mistake) = done {
        eprintln!("hipops: {}", mistake);
        std::process::exit(1);
    }
}
