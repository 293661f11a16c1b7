//! The C functions of hipops. They are found when the program runs; nothing is linked.
//!
//! [`api`] opens the library once: the file that the environment variable `HIPOPS_LIBRARY` names, or `libhipops.so.0` as `dlopen`
//! finds it. `hipops.h` is the manual of the functions. The crate `hipops` has safe functions.
#![deny(missing_docs)]
#![allow(non_camel_case_types, clippy::too_many_arguments)]

use std::ffi::{CStr, CString, OsStr};
use std::fmt;
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

/// A view of memory: see `hipops.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipops_tensor {
    /// Element (0, 0, ...).
    pub data: *mut c_void,
    /// The type of the elements.
    pub dtype: hipops_dtype,
    /// 0 to 8.
    pub rank: i32,
    /// Each at least 0.
    pub shape: [i64; HIPOPS_MAX_RANK as usize],
    /// In elements.
    pub stride: [i64; HIPOPS_MAX_RANK as usize],
}

/// The number of indices that were out of range, and the first of them.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hipops_index_report {
    /// Their number.
    pub count: u64,
    /// The first such index's position in the index tensor.
    pub first: u64,
}

/// A report before the first call.
pub const HIPOPS_INDEX_REPORT_INIT: hipops_index_report = hipops_index_report { count: 0, first: u64::MAX };

/// The reason why the library could not be opened.
#[derive(Clone, Debug)]
pub struct LoadError(String);

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for LoadError {}

#[link(name = "dl")]
extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}
const RTLD_NOW: c_int = 2;

fn said(otherwise: &str) -> LoadError {
    // SAFETY: dlerror returns null or a string that is valid until the thread's next call of it.
    let message = unsafe { dlerror() };
    if message.is_null() {
        return LoadError(otherwise.to_string());
    }
    // SAFETY: see above.
    LoadError(unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned())
}

macro_rules! api {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        /// The library's functions.
        pub struct Api {
            $($(#[$doc])* pub $name: unsafe extern "C" fn($($argument: $type),*) -> $result,)*
        }

        impl Api {
            /// Opens the library at `path`, or the library that `dlopen` finds by this name. It stays loaded. A library of another
            /// minor version is refused, because its functions may differ.
            ///
            /// # Safety
            /// The file is hipops, or a library that may be loaded without harm.
            pub unsafe fn open(path: &OsStr) -> Result<Api, LoadError> {
                let name = CString::new(path.as_bytes()).map_err(|_| LoadError(format!("{path:?} has a zero byte")))?;
                // SAFETY: the name is a C string; the caller guarantees the file.
                let library = unsafe { dlopen(name.as_ptr(), RTLD_NOW) };
                if library.is_null() {
                    return Err(said(&path.to_string_lossy()));
                }
                let api = Api {
                    $($name: {
                        let symbol = concat!(stringify!($name), "\0");
                        // SAFETY: `symbol` is a C string, `library` is open.
                        let function = unsafe { dlsym(library, symbol.as_ptr().cast()) };
                        if function.is_null() {
                            return Err(said(stringify!($name)));
                        }
                        // SAFETY: the header has this declaration, and a test compares these declarations with the header.
                        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> $result>(function) }
                    },)*
                };
                // SAFETY: may be called at any time.
                let number = unsafe { (api.hipops_version_number)() };
                if number / 100 != 100 * HIPOPS_VERSION_MAJOR + HIPOPS_VERSION_MINOR {
                    let wanted = format!("{HIPOPS_VERSION_MAJOR}.{HIPOPS_VERSION_MINOR}");
                    return Err(LoadError(format!("{} is version {}.{}, expected {wanted}", path.to_string_lossy(), number / 10000, number / 100 % 100)));
                }
                Ok(api)
            }
        }
    };
}

include!("ffi.rs");

/// The library. The first call opens the file that `HIPOPS_LIBRARY` names, or `libhipops.so.0`. Later calls return the first call's
/// result.
pub fn api() -> Result<&'static Api, LoadError> {
    static API: OnceLock<Result<Api, LoadError>> = OnceLock::new();
    let path = || std::env::var_os("HIPOPS_LIBRARY").filter(|path| !path.is_empty());
    // SAFETY: the file is hipops, by its name or by the environment variable.
    API.get_or_init(|| unsafe { Api::open(&path().unwrap_or("libhipops.so.0".into())) }).as_ref().map_err(LoadError::clone)
}
