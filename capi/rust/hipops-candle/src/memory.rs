//! Makes hipops' views of candle's storages.
use candle_core::backend::{BackendDevice, BackendStorage};
use candle_core::cpu_backend::CpuDevice;
use candle_core::{CpuStorage, DType, Error, Layout, Result, Shape, Storage};
use hipops::{Backend, Stream, View, ViewMut, Workspace};

/// A storage in the memory of a backend that hipops supports.
pub trait Memory: BackendStorage {
    /// The queue of the calls.
    type Queue;
    /// A guard that lives until a call that uses the storage is launched.
    type Held<'a>
    where
        Self: 'a;

    /// The device's queue. Also chooses the backend.
    fn queue(&self) -> Result<Self::Queue>;
    /// The queue as hipops' stream.
    fn stream(queue: &Self::Queue) -> Stream;
    /// Allocates memory of a device.
    ///
    /// # Safety
    /// Each element is written before it is read.
    unsafe fn alloc(device: &Self::Device, shape: &Shape, dtype: DType) -> Result<Self>;
    /// The storage of a tensor, if it is of this kind.
    fn of(storage: &Storage) -> Option<&Self>;
    /// The storage of a new tensor.
    fn into_storage(self) -> Storage;
    /// The first element, for reading, and the number of elements, which is 0 for a dtype that hipops lacks.
    fn read<'a>(&'a self, queue: &'a Self::Queue) -> (*const u8, usize, Self::Held<'a>);
    /// The same for writing.
    fn write<'a>(&'a mut self, queue: &'a Self::Queue) -> (*mut u8, usize, Self::Held<'a>);
}

// Evaluates `$known` for the variants whose elements hipops supports, and `$unknown` for the others.
macro_rules! elements {
    ($storage:expr, $kind:ident, $memory:ident => $known:expr, $unknown:expr) => {
        match $storage {
            $kind::U8($memory) => $known,
            $kind::U32($memory) => $known,
            $kind::I16($memory) => $known,
            $kind::I32($memory) => $known,
            $kind::I64($memory) => $known,
            $kind::BF16($memory) => $known,
            $kind::F16($memory) => $known,
            $kind::F32($memory) => $known,
            $kind::F64($memory) => $known,
            _ => $unknown,
        }
    };
}

impl Memory for CpuStorage {
    type Queue = ();
    type Held<'a> = ();

    fn queue(&self) -> Result<()> {
        hipops::init(Backend::Cpu).map_err(Error::wrap)
    }
    fn stream(_: &()) -> Stream {
        Stream::DEFAULT
    }
    unsafe fn alloc(device: &CpuDevice, shape: &Shape, dtype: DType) -> Result<CpuStorage> {
        // SAFETY: the caller guarantees it.
        unsafe { device.alloc_uninit(shape, dtype) }
    }
    fn of(storage: &Storage) -> Option<&CpuStorage> {
        match storage {
            Storage::Cpu(storage) => Some(storage),
            _ => None,
        }
    }
    fn into_storage(self) -> Storage {
        Storage::Cpu(self)
    }
    fn read<'a>(&'a self, _: &'a ()) -> (*const u8, usize, ()) {
        elements!(self, CpuStorage, memory => (memory.as_ptr().cast(), memory.len(), ()), (std::ptr::null(), 0, ()))
    }
    fn write<'a>(&'a mut self, _: &'a ()) -> (*mut u8, usize, ()) {
        elements!(self, CpuStorage, memory => (memory.as_mut_ptr().cast(), memory.len(), ()), (std::ptr::null_mut(), 0, ()))
    }
}

#[cfg(feature = "cuda")]
mod cuda {
    use super::*;
    use candle_core::cuda_backend::cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut, SyncOnDrop};
    use candle_core::cuda_backend::{CudaStorageSlice, WrapErr};
    use candle_core::{CudaDevice, CudaStorage};
    use std::sync::Arc;

    impl Memory for CudaStorage {
        type Queue = Arc<CudaStream>;
        /// Makes the device's other streams wait for the call, if cudarc tracks them.
        type Held<'a> = Option<SyncOnDrop<'a>>;

        fn queue(&self) -> Result<Arc<CudaStream>> {
            let stream = self.device.cuda_stream();
            // hipops launches in the thread's current context.
            stream.context().bind_to_thread().w()?;
            hipops::init(Backend::Cuda).map_err(Error::wrap)?;
            Ok(stream)
        }
        fn stream(queue: &Arc<CudaStream>) -> Stream {
            // SAFETY: it belongs to the context that `queue` made current, and `queue` keeps it alive.
            unsafe { Stream::from_raw(queue.cu_stream().cast()) }
        }
        unsafe fn alloc(device: &CudaDevice, shape: &Shape, dtype: DType) -> Result<CudaStorage> {
            // SAFETY: the caller guarantees it.
            unsafe { device.alloc_uninit(shape, dtype) }
        }
        fn of(storage: &Storage) -> Option<&CudaStorage> {
            match storage {
                Storage::Cuda(storage) => Some(storage),
                _ => None,
            }
        }
        fn into_storage(self) -> Storage {
            Storage::Cuda(self)
        }
        fn read<'a>(&'a self, queue: &'a Arc<CudaStream>) -> (*const u8, usize, Self::Held<'a>) {
            elements!(&self.slice, CudaStorageSlice, memory => {
                let (pointer, held) = memory.device_ptr(queue);
                (pointer as usize as *const u8, memory.len(), Some(held))
            }, (std::ptr::null(), 0, None))
        }
        fn write<'a>(&'a mut self, queue: &'a Arc<CudaStream>) -> (*mut u8, usize, Self::Held<'a>) {
            elements!(&mut self.slice, CudaStorageSlice, memory => {
                let length = memory.len();
                let (pointer, held) = memory.device_ptr_mut(queue);
                (pointer as usize as *mut u8, length, Some(held))
            }, (std::ptr::null_mut(), 0, None))
        }
    }
}

/// A call of the op `name`.
pub struct Call<'q, S: Memory> {
    pub name: &'static str,
    pub device: &'q S::Device,
    pub queue: &'q S::Queue,
}

impl<S: Memory> Call<'_, S> {
    pub fn stream(&self) -> Stream {
        S::stream(self.queue)
    }

    /// A view of an input, and the guard that lives until the call is launched.
    pub fn input<'a>(&'a self, argument: &str, storage: &'a S, layout: &Layout) -> Result<(View<'a>, S::Held<'a>)> {
        let dtype = self.dtype(argument, storage)?;
        let (start, length, held) = storage.read(self.queue);
        let offset = self.offset(argument, layout, length)? * storage.dtype().size_in_bytes();
        // SAFETY: `offset` and all elements of the layout are in the storage, which exists until the call is launched. candle frees
        // a device's memory in the order of its stream.
        let view = unsafe { View::from_raw(start.wrapping_add(offset), dtype, layout.dims(), Some(&strides(layout))) };
        Ok((view.map_err(|error| self.refused(argument, error))?, held))
    }

    /// The same of an output.
    pub fn output<'a>(&'a self, argument: &str, storage: &'a mut S, layout: &Layout) -> Result<(ViewMut<'a>, S::Held<'a>)> {
        let (dtype, size) = (self.dtype(argument, storage)?, storage.dtype().size_in_bytes());
        let (start, length, held) = storage.write(self.queue);
        let offset = self.offset(argument, layout, length)? * size;
        // SAFETY: see `input`; and the storage is borrowed only for this call.
        let view = unsafe { ViewMut::from_raw(start.wrapping_add(offset), dtype, layout.dims(), Some(&strides(layout))) };
        Ok((view.map_err(|error| self.refused(argument, error))?, held))
    }

    /// Calls `launch` with `bytes` of workspace.
    pub fn with_workspace(&self, bytes: usize, launch: impl FnOnce(Workspace<'_>, Stream) -> hipops::Result<()>) -> Result<()> {
        if bytes == 0 {
            return launch(Workspace::NONE, self.stream()).map_err(Error::wrap);
        }
        // A workspace must be at a multiple of 256 bytes, which host memory may not be.
        // SAFETY: hipops reads only bytes that it has written there.
        let mut memory = unsafe { S::alloc(self.device, &Shape::from(bytes + 255), DType::U8) }?;
        let (start, _, _held) = memory.write(self.queue);
        let aligned = start.wrapping_add((start as usize).wrapping_neg() % 256);
        // SAFETY: the memory has `bytes` bytes from `aligned` on, and nothing apart from the call uses them.
        launch(unsafe { Workspace::from_raw(aligned.cast(), bytes) }, self.stream()).map_err(Error::wrap)
    }

    pub fn refused(&self, argument: &str, why: impl std::fmt::Display) -> Error {
        Error::msg(format!("{}: {argument}: {why}", self.name))
    }

    fn dtype(&self, argument: &str, storage: &S) -> Result<hipops::DType> {
        Ok(match storage.dtype() {
            DType::U8 => hipops::DType::U8,
            DType::U32 => hipops::DType::U32,
            DType::I16 => hipops::DType::I16,
            DType::I32 => hipops::DType::I32,
            DType::I64 => hipops::DType::I64,
            DType::BF16 => hipops::DType::BF16,
            DType::F16 => hipops::DType::F16,
            DType::F32 => hipops::DType::F32,
            DType::F64 => hipops::DType::F64,
            other => return Err(self.refused(argument, format_args!("hipops has no dtype {}", other.as_str()))),
        })
    }

    // The offset of the first element. cpu_fwd is a safe function and may get any layout, so one that leaves its storage is
    // refused.
    fn offset(&self, argument: &str, layout: &Layout, length: usize) -> Result<usize> {
        if layout.dims().contains(&0) {
            return Ok(0);
        }
        let mut last = layout.start_offset() as u128;
        for (&extent, &stride) in layout.dims().iter().zip(layout.stride()) {
            last = last.saturating_add((extent as u128 - 1) * stride as u128);
        }
        if layout.stride().len() != layout.dims().len() || last >= length as u128 {
            return Err(self.refused(argument, format_args!("its layout reaches element {last} of a storage of {length}")));
        }
        Ok(layout.start_offset())
    }
}

// The strides fit in an isize because all elements are in a storage. hipops ignores the stride of a dimension of size 1.
fn strides(layout: &Layout) -> Vec<isize> {
    layout.stride().iter().map(|&stride| stride as isize).collect()
}
