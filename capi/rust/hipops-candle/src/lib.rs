//! hipops' kernels as custom ops of [candle](candle_core), on candle's own storages, with any strides.
//!
//! ```
//! use candle_core::{Device, Tensor};
//! use hipops_candle::RmsNorm;
//!
//! let x = Tensor::from_vec(vec![1f32, 2., 3., 4., 5., 6., 7., 8.], (2, 4), &Device::Cpu)?;
//! let weight = Tensor::from_vec(vec![1f32, 1., 1., 2.], 4, &Device::Cpu)?;
//! let y = x.apply_op2_no_bwd(&weight, &RmsNorm { eps: 1e-5, flags: 0 })?;
//! assert!((y.flatten_all()?.to_vec1::<f32>()?[7] - 2.425914).abs() < 1e-5);
//! # Ok::<(), candle_core::Error>(())
//! ```
//!
//! **This crate is written for the API of candle-core 0.11.0. The tests of hipops do not compile it with candle-core**, because
//! they have no network. `cargo test` in this crate's folder compiles it, and compares each op on candle's CPU device with plain
//! loops.
//!
//! **Views** are passed with their strides and offset; nothing is made contiguous. A result is contiguous and has the first
//! tensor's dtype; columns are u32. bf16 and f16 are candle's types.
//!
//! **Backends.** A process has one backend of hipops. A tensor on [`Device::Cpu`](candle_core::Device::Cpu) uses hipops' CPU
//! backend. A tensor on a CUDA device (feature `cuda`) uses the CUDA backend, on the device's stream. The first op chooses the
//! backend, unless `hipops::init` did. After that an op on a tensor of another device returns an error with hipops' message. candle
//! has no HIP device.
//!
//! **Errors** are candle's, with hipops' message, for example `rms_norm: weight.shape[0] is 3, expected 4 (x.shape[1])`.
//!
//! **Gradients.** `apply_op1`, `apply_op2` and `apply_op3` add an op to candle's graph. The backward pass returns an error for
//! [`ArgSort`], [`ArgTopK`] and [`UpsampleNearest2d`], for a cos, sin, index or target that depends on a variable, and for a
//! second derivative. candle's own ops compute the gradients of [`LayerNorm`] and [`Softmax`], in f32 or f64. hipops computes the others,
//! with the same bits on every run. `apply_op1_no_bwd`, `apply_op2_no_bwd`, `apply_op3_no_bwd` and the ops in place add nothing to
//! the graph, so they are for tensors that need no gradient.
//!
//! **In place**: `inplace_op1`, `inplace_op2` and `inplace_op3` overwrite the first tensor, and each tensor that shares its
//! storage. candle locks that storage, so no other tensor of the call may share it.
//!
//! `hipops.h` defines names, formulas and dtypes. An index that is out of range is no error: `hipops.h` describes the result.
#![deny(missing_docs)]

use candle_core::backend::BackendDevice;
use candle_core::op::BackpropOp;
use candle_core::{
    CpuStorage, CustomOp1, CustomOp2, CustomOp3, DType, Error, InplaceOp1, InplaceOp2, InplaceOp3, Layout, Result, Shape, Tensor, D,
};
use hipops::{Report, View, ViewMut};

pub use hipops::{
    Nearest, HIPOPS_DETERMINISTIC, HIPOPS_ROUND_BEFORE_WEIGHT, HIPOPS_SMALLEST, HIPOPS_SORTED, HIPOPS_WEIGHT_PLUS_ONE,
};

#[cfg(feature = "cuda")]
use candle_core::{CudaStorage, Device};

mod memory;
use memory::{Call, Memory};

trait Op {
    fn name(&self) -> &'static str;
    /// The inputs' names in hipops.h. The last inputs may be missing.
    fn inputs(&self) -> &'static [&'static str];
    /// True if y starts as a copy of the first input, and the op adds to it.
    fn adds(&self) -> bool {
        false
    }
    /// Shapes and dtypes of the outputs. A call may leave out the last outputs. If hipops refuses the inputs, any shapes will do.
    fn outputs(&self, inputs: &[(&Layout, DType)]) -> Vec<(Shape, DType)> {
        vec![(inputs[0].0.shape().clone(), inputs[0].1)]
    }
    /// An additional input that candle's custom ops cannot pass.
    fn more(&self) -> Option<(&'static str, &Tensor)> {
        None
    }
    fn launch<S: Memory>(&self, call: &Call<'_, S>, y: &[ViewMut<'_>], inputs: &[View<'_>]) -> Result<()>;
    /// The inputs' gradients, for the gradient dy of the first output. The last may be left out.
    fn gradients(&self, _inputs: &[&Tensor], _y: &Tensor, _dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        Err(Error::BackwardNotSupported { op: self.name() })
    }
    /// Refuses an input that needs a gradient, if the op has none for it.
    fn constant(&self, inputs: &[&Tensor], number: usize) -> Result<()> {
        if inputs[number].track_op() {
            let (op, input) = (self.name(), self.inputs()[number]);
            return Err(Error::msg(format!("{op}: {input}: it depends on a variable, and the op has no gradient for it")));
        }
        Ok(())
    }
}

type Part<'a, S> = (&'a S, &'a Layout);

// The first `count` outputs.
fn forward<S: Memory>(op: &impl Op, inputs: &[Part<'_, S>], count: usize) -> Result<Vec<(S, Shape)>> {
    let (device, queue) = (inputs[0].0.device(), inputs[0].0.queue()?);
    let call = Call { name: op.name(), device, queue: &queue };
    let described: Vec<_> = inputs.iter().map(|(storage, layout)| (*layout, storage.dtype())).collect();
    let mut outputs = Vec::new();
    for (shape, dtype) in op.outputs(&described).into_iter().take(count) {
        // SAFETY: hipops writes each element. If it fails, the memory is dropped unread.
        outputs.push((unsafe { S::alloc(device, &shape, dtype) }?, shape));
    }
    with_views(op, &call, 0, inputs, |views| {
        let used = outputs.iter_mut().map(|(memory, shape)| call.output("y", memory, &Layout::contiguous(&*shape)));
        let (y, _held): (Vec<_>, Vec<_>) = used.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        if op.adds() {
            hipops::strided_copy(&y[0], &views[0], call.stream()).map_err(Error::wrap)?;
        }
        op.launch(&call, &y, views)
    })?;
    Ok(outputs)
}

// The one output of a custom op.
fn first<S: Memory>(op: &impl Op, inputs: &[Part<'_, S>]) -> Result<(S, Shape)> {
    Ok(forward(op, inputs, 1)?.remove(0))
}

// The first `count` outputs, as tensors that candle's graph does not know.
fn untracked(op: &impl Op, tensors: &[&Tensor], count: usize) -> Result<Vec<Tensor>> {
    fn on<S: Memory>(op: &impl Op, tensors: &[&Tensor], count: usize) -> Result<Vec<Tensor>> {
        let held: Vec<_> = tensors.iter().map(|tensor| tensor.storage_and_layout()).collect();
        let parts: Option<Vec<_>> = held.iter().map(|(storage, layout)| Some((S::of(storage)?, *layout))).collect();
        let parts = parts.ok_or_else(|| {
            Error::msg(format!("{}: {}: it is on a device that hipops does not support", op.name(), op.inputs()[0]))
        })?;
        let outputs = forward(op, &parts, count)?.into_iter();
        Ok(outputs.map(|(memory, shape)| Tensor::from_storage(memory.into_storage(), shape, BackpropOp::none(), false)).collect())
    }
    match tensors[0].device() {
        #[cfg(feature = "cuda")]
        Device::Cuda(_) => on::<CudaStorage>(op, tensors, count),
        _ => on::<CpuStorage>(op, tensors, count),
    }
}

fn in_place<S: Memory>(op: &impl Op, first: &mut S, layout: &Layout, others: &[Part<'_, S>]) -> Result<()> {
    let (device, queue) = (first.device().clone(), first.queue()?);
    let call = Call { name: op.name(), device: &device, queue: &queue };
    let (y, _held) = call.output(op.inputs()[0], first, layout)?;
    with_views(op, &call, 1, others, |views| {
        let all: Vec<View<'_>> = std::iter::once(y.as_view()).chain(views).copied().collect();
        op.launch(&call, std::slice::from_ref(&y), &all)
    })
}

// Calls `launch` with views of the op's inputs from number `from` on, and of the additional input.
fn with_views<S: Memory>(
    op: &impl Op,
    call: &Call<'_, S>,
    from: usize,
    inputs: &[Part<'_, S>],
    launch: impl FnOnce(&[View<'_>]) -> Result<()>,
) -> Result<()> {
    let more = op.more().map(|(name, tensor)| (name, tensor.storage_and_layout()));
    let mut parts: Vec<_> = op.inputs()[from..].iter().zip(inputs).map(|(&name, &part)| (name, part)).collect();
    if let Some((name, (storage, layout))) = &more {
        let storage = S::of(storage).filter(|storage| storage.device().location() == call.device.location());
        parts.push((name, (storage.ok_or_else(|| call.refused(name, "it is on another device than x"))?, layout)));
    }
    let used = parts.iter().map(|(name, (storage, layout))| call.input(name, storage, layout)).collect::<Result<Vec<_>>>()?;
    let (views, _held): (Vec<_>, Vec<_>) = used.into_iter().unzip();
    launch(&views)
}

macro_rules! custom_op {
    ($kind:ident for $op:ty, $($storage:ident $layout:ident),+) => {
        impl $kind for $op {
            fn name(&self) -> &'static str {
                Op::name(self)
            }
            fn cpu_fwd(&self, $($storage: &CpuStorage, $layout: &Layout),+) -> Result<(CpuStorage, Shape)> {
                first(self, &[$(($storage, $layout)),+])
            }
            #[cfg(feature = "cuda")]
            fn cuda_fwd(&self, $($storage: &CudaStorage, $layout: &Layout),+) -> Result<(CudaStorage, Shape)> {
                first(self, &[$(($storage, $layout)),+])
            }
            #[allow(unused_parens)] // around the type of one gradient
            fn bwd(&self, $($storage: &Tensor,)+ y: &Tensor, dy: &Tensor) -> Result<($(gradient!($storage)),+)> {
                if dy.track_op() {
                    return Err(Error::msg(format!("{}: it has no second derivative", Op::name(self))));
                }
                let mut gradients = Op::gradients(self, &[$($storage),+], y, dy)?.into_iter();
                Ok(($(gradient!(gradients.next() => $storage)),+))
            }
        }
    };
}
macro_rules! gradient {
    ($input:ident) => { Option<Tensor> };
    ($next:expr => $input:ident) => { $next.flatten() };
}
macro_rules! in_place_op {
    ($kind:ident for $op:ty, $y:ident $y_layout:ident $(, $storage:ident $layout:ident)*) => {
        impl $kind for $op {
            fn name(&self) -> &'static str {
                Op::name(self)
            }
            fn cpu_fwd(&self, $y: &mut CpuStorage, $y_layout: &Layout $(, $storage: &CpuStorage, $layout: &Layout)*) -> Result<()> {
                in_place(self, $y, $y_layout, &[$(($storage, $layout)),*])
            }
            #[cfg(feature = "cuda")]
            fn cuda_fwd(&self, $y: &mut CudaStorage, $y_layout: &Layout $(, $storage: &CudaStorage, $layout: &Layout)*) -> Result<()> {
                in_place(self, $y, $y_layout, &[$(($storage, $layout)),*])
            }
        }
    };
}

/// `hipops_rms_norm`: `CustomOp1` of x, `CustomOp2` of x and weight. Works in place in x, too.
#[derive(Clone, Copy, Debug)]
pub struct RmsNorm {
    /// Is added to the mean of the squares.
    pub eps: f64,
    /// 0, or [`HIPOPS_WEIGHT_PLUS_ONE`], [`HIPOPS_ROUND_BEFORE_WEIGHT`], or both.
    pub flags: u32,
}
impl Op for RmsNorm {
    fn name(&self) -> &'static str {
        "hipops_rms_norm"
    }
    fn inputs(&self) -> &'static [&'static str] {
        &["x", "weight"]
    }
    fn launch<S: Memory>(&self, call: &Call<'_, S>, y: &[ViewMut<'_>], inputs: &[View<'_>]) -> Result<()> {
        hipops::rms_norm(&y[0], None, &inputs[0], inputs.get(1), self.eps, self.flags, call.stream()).map_err(Error::wrap)
    }
    fn gradients(&self, inputs: &[&Tensor], _y: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let dw = inputs.get(1).is_some_and(|weight| weight.track_op());
        let gradients = untracked(&RmsNormBackward(*self), &[&[dy], inputs].concat(), 1 + usize::from(dw))?;
        Ok(gradients.into_iter().map(Some).collect())
    }
}
custom_op!(CustomOp1 for RmsNorm, s1 l1);
custom_op!(CustomOp2 for RmsNorm, s1 l1, s2 l2);
in_place_op!(InplaceOp1 for RmsNorm, s1 l1);
in_place_op!(InplaceOp2 for RmsNorm, s1 l1, s2 l2);

struct RmsNormBackward(RmsNorm);
impl Op for RmsNormBackward {
    fn name(&self) -> &'static str {
        "hipops_rms_norm_backward"
    }
    fn inputs(&self) -> &'static [&'static str] {
        &["dy", "x", "weight"]
    }
    fn outputs(&self, inputs: &[(&Layout, DType)]) -> Vec<(Shape, DType)> {
        inputs[1..].iter().map(|(layout, dtype)| (layout.shape().clone(), *dtype)).collect()
    }
    fn launch<S: Memory>(&self, call: &Call<'_, S>, y: &[ViewMut<'_>], inputs: &[View<'_>]) -> Result<()> {
        let (dx, dw, dy, x, weight) = (&y[0], y.get(1), &inputs[0], &inputs[1], inputs.get(2));
        let bytes = hipops::rms_norm_backward_workspace_bytes(dx, dw, dy, x, weight, None).map_err(Error::wrap)?;
        call.with_workspace(bytes, |workspace, stream| {
            hipops::rms_norm_backward(dx, dw, dy, x, weight, None, self.0.eps, self.0.flags, workspace, stream)
        })
    }
}

// The dtype in which candle computes a gradient.
fn wide(tensor: &Tensor) -> DType {
    if tensor.dtype() == DType::F64 {
        DType::F64
    } else {
        DType::F32
    }
}

/// `hipops_layer_norm`: `CustomOp1` of x, `CustomOp2` of x and weight, `CustomOp3` of x, weight and bias. Works in place in
/// x, too.
#[derive(Clone, Copy, Debug)]
pub struct LayerNorm {
    /// Is added to the variance.
    pub eps: f64,
}
impl Op for LayerNorm {
    fn name(&self) -> &'static str {
        "hipops_layer_norm"
    }
    fn inputs(&self) -> &'static [&'static str] {
        &["x", "weight", "bias"]
    }
    fn launch<S: Memory>(&self, call: &Call<'_, S>, y: &[ViewMut<'_>], inputs: &[View<'_>]) -> Result<()> {
        hipops::layer_norm(&y[0], None, None, &inputs[0], inputs.get(1), inputs.get(2), self.eps, 0, call.stream())
            .map_err(Error::wrap)
    }
    fn gradients(&self, inputs: &[&Tensor], _y: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let (dtype, mean) = (wide(dy), |tensor: &Tensor| tensor.mean_keepdim(D::Minus1));
        let (x, dy) = (inputs[0].detach().to_dtype(dtype)?, dy.to_dtype(dtype)?);
        let x = x.broadcast_sub(&mean(&x)?)?;
        let rstd = (mean(&x.sqr()?)? + self.eps)?.sqrt()?.recip()?;
        let x = x.broadcast_mul(&rstd)?;
        let product = (&dy * &x)?;
        let g = inputs.get(1).map_or(Ok(dy.clone()), |weight| dy.broadcast_mul(&weight.detach().to_dtype(dtype)?))?;
        let dx = (g.broadcast_sub(&mean(&g)?)? - x.broadcast_mul(&mean(&(&g * &x)?)?)?)?.broadcast_mul(&rstd)?;
        let mut gradients = vec![Some(dx.to_dtype(inputs[0].dtype())?)];
        for (input, terms) in inputs[1..].iter().zip([product, dy]) {
            let sums = || terms.reshape(((), input.elem_count()))?.sum(0)?.to_dtype(input.dtype());
            gradients.push(input.track_op().then(sums).transpose()?);
        }
        Ok(gradients)
    }
}
custom_op!(CustomOp1 for LayerNorm, s1 l1);
custom_op!(CustomOp2 for LayerNorm, s1 l1, s2 l2);
custom_op!(CustomOp3 for LayerNorm, s1 l1, s2 l2, s3 l3);
in_place_op!(InplaceOp1 for LayerNorm, s1 l1);
in_place_op!(InplaceOp2 for LayerNorm, s1 l1, s2 l2);
in_place_op!(InplaceOp3 for LayerNorm, s1 l1, s2 l2, s3 l3);

/// `hipops_softmax`, over the last dimension: `CustomOp1` of x. Works in place, too.
#[derive(Clone, Copy, Debug)]
pub struct Softmax;
impl Op for Softmax {
    fn name(&self) -> &'static str {
        "hipops_softmax"
    }
    fn inputs(&self) -> &'static [&'static str] {
        &["x"]
    }
    fn launch<S: Memory>(&self, call: &Call<'_, S>, y: &[ViewMut<'_>], inputs: &[View<'_>]) -> Result<()> {
        hipops::softmax(&y[0], &inputs[0], 0, call.stream()).map_err(Error::wrap)
    }
    fn gradients(&self, _inputs: &[&Tensor], y: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let (y, wide_dy) = (y.detach().to_dtype(wide(dy))?, dy.to_dtype(wide(dy))?);
        let sums = (&wide_dy * &y)?.sum_keepdim(D::Minus1)?;
        Ok(vec![Some((wide_dy.broadcast_sub(&sums)? * y)?.to_dtype(dy.dtype())?)])
    }
}
custom_op!(CustomOp1 for Softmax, s1 l1);
in_place_op!(InplaceOp1 for Softmax, s1 l1);

/// `hipops_cross_entropy`, of the logits x \[..., classes\] for the classes in target, which are i64 or i32: `CustomOp2` of x and
/// target. The result is each row's loss, in f32, or in f64 if x is f64.
#[derive(Clone, Copy, Debug)]
pub struct CrossEntropy {
    /// A row with this target is left out. Its loss and its gradient are 0.
    pub ignore_index: i64,
    /// 0 to 1.
    pub label_smoothing: f64,
    /// The factor of the square of log(sum(exp(x))) in the loss. 0 or more.
    pub z_loss: f64,
}
impl Default for CrossEntropy {
    fn default() -> Self {
        Self { ignore_index: -100, label_smoothing: 0.0, z_loss: 0.0 }
    }
}
impl Op for CrossEntropy {
    fn name(&self) -> &'static str {
        "hipops_cross_entropy"
    }
    fn inputs(&self) -> &'static [&'static str] {
        &["x", "target", "dloss"]
    }
    fn outputs(&self, inputs: &[(&Layout, DType)]) -> Vec<(Shape, DType)> {
        let dtype = if inputs[0].1 == DType::F64 { DType::F64 } else { DType::F32 };
        vec![(inputs[1].0.shape().clone(), dtype), (inputs[0].0.shape().clone(), inputs[0].1)]
    }
    fn launch<S: Memory>(&self, call: &Call<'_, S>, y: &[ViewMut<'_>], inputs: &[View<'_>]) -> Result<()> {
        let Self { ignore_index, label_smoothing, z_loss } = *self;
        let (x, target, dloss) = (&inputs[0], &inputs[1], inputs.get(2));
        hipops::cross_entropy(
            &y[0],
            None,
            y.get(1),
            x,
            target,
            dloss,
            ignore_index,
            label_smoothing,
            z_loss,
            0,
            Report::NONE,
            call.stream(),
        )
        .map_err(Error::wrap)
    }
    fn gradients(&self, inputs: &[&Tensor], _y: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        self.constant(inputs, 1)?;
        Ok(vec![untracked(self, &[inputs[0], inputs[1], dy], 2)?.pop()])
    }
}
custom_op!(CustomOp2 for CrossEntropy, s1 l1, s2 l2);

macro_rules! rope {
    ($op:ident, $function:ident, $name:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Debug, Default)]
        pub struct $op {
            /// Each token's row of cos and sin, i32 or i64, on x's device. Without it token t has row t.
            pub positions: Option<Tensor>,
        }
        impl Op for $op {
            fn name(&self) -> &'static str {
                $name
            }
            fn inputs(&self) -> &'static [&'static str] {
                &["x", "cos", "sin"]
            }
            fn more(&self) -> Option<(&'static str, &Tensor)> {
                self.positions.as_ref().map(|tensor| ("positions", tensor))
            }
            fn launch<S: Memory>(&self, call: &Call<'_, S>, y: &[ViewMut<'_>], inputs: &[View<'_>]) -> Result<()> {
                hipops::$function(&y[0], &inputs[0], &inputs[1], &inputs[2], inputs.get(3), call.stream()).map_err(Error::wrap)
            }
            fn gradients(&self, inputs: &[&Tensor], _y: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
                self.constant(inputs, 1)?;
                self.constant(inputs, 2)?;
                Ok(vec![Some(dy.apply_op3_no_bwd(inputs[1], &inputs[2].neg()?, self)?)])
            }
        }
        custom_op!(CustomOp3 for $op, s1 l1, s2 l2, s3 l3);
        in_place_op!(InplaceOp3 for $op, s1 l1, s2 l2, s3 l3);
    };
}
rope!(
    Rope,
    rope,
    "hipops_rope",
    "`hipops_rope`, of halves of x's rows, x being \\[b, h, t, d\\]: `CustomOp3` of x, cos and sin; in place in x, too."
);
rope!(
    RopeI,
    rope_i,
    "hipops_rope_i",
    "`hipops_rope_i`, of neighbours, x being \\[b, h, t, d\\]: `CustomOp3` of x, cos and sin; in place in x, too."
);
rope!(
    RopeThd,
    rope_thd,
    "hipops_rope_thd",
    "`hipops_rope_thd`, of halves of x's rows, x being \\[b, t, h, d\\]: `CustomOp3` of x, cos and sin; in place in x, too."
);

// A dimension that is too large becomes one that hipops refuses.
fn dimension(dim: usize) -> i32 {
    i32::try_from(dim).unwrap_or(i32::MAX)
}

/// `hipops_index_select`: `CustomOp2` of x and a 1-D index.
#[derive(Clone, Copy, Debug)]
pub struct IndexSelect {
    /// The dimension along which the index selects.
    pub dim: usize,
}
impl Op for IndexSelect {
    fn name(&self) -> &'static str {
        "hipops_index_select"
    }
    fn inputs(&self) -> &'static [&'static str] {
        &["x", "index"]
    }
    fn outputs(&self, inputs: &[(&Layout, DType)]) -> Vec<(Shape, DType)> {
        let mut dims = inputs[0].0.dims().to_vec();
        if let (Some(size), [length]) = (dims.get_mut(self.dim), inputs[1].0.dims()) {
            *size = *length;
        }
        vec![(Shape::from(dims), inputs[0].1)]
    }
    fn launch<S: Memory>(&self, call: &Call<'_, S>, y: &[ViewMut<'_>], inputs: &[View<'_>]) -> Result<()> {
        hipops::index_select(&y[0], &inputs[0], &inputs[1], dimension(self.dim), Report::NONE, call.stream()).map_err(Error::wrap)
    }
    fn gradients(&self, inputs: &[&Tensor], _y: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        self.constant(inputs, 1)?;
        let dx = inputs[0].zeros_like()?;
        dx.inplace_op3(inputs[1], dy, &IndexAdd { dim: self.dim })?;
        Ok(vec![Some(dx)])
    }
}
custom_op!(CustomOp2 for IndexSelect, s1 l1, s2 l2);

/// `hipops_gather`: `CustomOp2` of x and index.
#[derive(Clone, Copy, Debug)]
pub struct Gather {
    /// The dimension along which the index selects.
    pub dim: usize,
}
impl Op for Gather {
    fn name(&self) -> &'static str {
        "hipops_gather"
    }
    fn inputs(&self) -> &'static [&'static str] {
        &["x", "index"]
    }
    fn outputs(&self, inputs: &[(&Layout, DType)]) -> Vec<(Shape, DType)> {
        vec![(inputs[1].0.shape().clone(), inputs[0].1)]
    }
    fn launch<S: Memory>(&self, call: &Call<'_, S>, y: &[ViewMut<'_>], inputs: &[View<'_>]) -> Result<()> {
        hipops::gather(&y[0], &inputs[0], &inputs[1], dimension(self.dim), Report::NONE, call.stream()).map_err(Error::wrap)
    }
    fn gradients(&self, inputs: &[&Tensor], _y: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        self.constant(inputs, 1)?;
        let dx = inputs[0].zeros_like()?;
        dx.inplace_op3(inputs[1], dy, &ScatterAdd { dim: self.dim, flags: HIPOPS_DETERMINISTIC })?;
        Ok(vec![Some(dx)])
    }
}
custom_op!(CustomOp2 for Gather, s1 l1, s2 l2);

/// `hipops_index_add`: `CustomOp3` of y, a 1-D index and x. The result is y with x added. Works in place in y, too. The arguments
/// have the order of candle's `index_add`.
#[derive(Clone, Copy, Debug)]
pub struct IndexAdd {
    /// The dimension along which the index selects.
    pub dim: usize,
}
impl Op for IndexAdd {
    fn name(&self) -> &'static str {
        "hipops_index_add"
    }
    fn inputs(&self) -> &'static [&'static str] {
        &["y", "index", "x"]
    }
    fn adds(&self) -> bool {
        true
    }
    fn launch<S: Memory>(&self, call: &Call<'_, S>, y: &[ViewMut<'_>], inputs: &[View<'_>]) -> Result<()> {
        let (y, index, x, dim) = (&y[0], &inputs[1], &inputs[2], dimension(self.dim));
        let bytes = hipops::index_add_workspace_bytes(y, x, index, dim).map_err(Error::wrap)?;
        call.with_workspace(bytes, |workspace, stream| hipops::index_add(y, x, index, dim, workspace, Report::NONE, stream))
    }
    fn gradients(&self, inputs: &[&Tensor], _y: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        self.constant(inputs, 1)?;
        Ok(vec![Some(dy.clone()), None, Some(dy.apply_op2_no_bwd(inputs[1], &IndexSelect { dim: self.dim })?)])
    }
}
custom_op!(CustomOp3 for IndexAdd, s1 l1, s2 l2, s3 l3);
in_place_op!(InplaceOp3 for IndexAdd, s1 l1, s2 l2, s3 l3);

/// `hipops_scatter_add`: `CustomOp3` of y, index and x. The result is y with x added. Works in place in y, too. The arguments have
/// the order of candle's `scatter_add`.
#[derive(Clone, Copy, Debug)]
pub struct ScatterAdd {
    /// The dimension along which the index selects.
    pub dim: usize,
    /// 0, or [`HIPOPS_DETERMINISTIC`].
    pub flags: u32,
}
impl Op for ScatterAdd {
    fn name(&self) -> &'static str {
        "hipops_scatter_add"
    }
    fn inputs(&self) -> &'static [&'static str] {
        &["y", "index", "x"]
    }
    fn adds(&self) -> bool {
        true
    }
    fn launch<S: Memory>(&self, call: &Call<'_, S>, y: &[ViewMut<'_>], inputs: &[View<'_>]) -> Result<()> {
        let (y, index, x, dim, flags) = (&y[0], &inputs[1], &inputs[2], dimension(self.dim), self.flags);
        let bytes = hipops::scatter_add_workspace_bytes(y, x, index, dim, flags).map_err(Error::wrap)?;
        call.with_workspace(bytes, |workspace, stream| {
            hipops::scatter_add(y, x, index, dim, flags, workspace, Report::NONE, stream)
        })
    }
    fn gradients(&self, inputs: &[&Tensor], _y: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        self.constant(inputs, 1)?;
        Ok(vec![Some(dy.clone()), None, Some(dy.apply_op2_no_bwd(inputs[1], &Gather { dim: self.dim })?)])
    }
}
custom_op!(CustomOp3 for ScatterAdd, s1 l1, s2 l2, s3 l3);
in_place_op!(InplaceOp3 for ScatterAdd, s1 l1, s2 l2, s3 l3);

/// `hipops_upsample_nearest2d`: `CustomOp1` of x, which is \[n, c, h, w\].
#[derive(Clone, Copy, Debug)]
pub struct UpsampleNearest2d {
    /// The result's height.
    pub height: usize,
    /// The result's width.
    pub width: usize,
    /// The rule that selects elements of x. [`Nearest::Candle`] is the rule of candle's `upsample_nearest2d`.
    pub rule: Nearest,
}
impl Op for UpsampleNearest2d {
    fn name(&self) -> &'static str {
        "hipops_upsample_nearest2d"
    }
    fn inputs(&self) -> &'static [&'static str] {
        &["x"]
    }
    fn outputs(&self, inputs: &[(&Layout, DType)]) -> Vec<(Shape, DType)> {
        let mut dims = inputs[0].0.dims().to_vec();
        if let [.., height, width] = dims.as_mut_slice() {
            (*height, *width) = (self.height, self.width);
        }
        vec![(Shape::from(dims), inputs[0].1)]
    }
    fn launch<S: Memory>(&self, call: &Call<'_, S>, y: &[ViewMut<'_>], inputs: &[View<'_>]) -> Result<()> {
        hipops::upsample_nearest2d(&y[0], &inputs[0], self.rule, 0.0, 0.0, call.stream()).map_err(Error::wrap)
    }
}
custom_op!(CustomOp1 for UpsampleNearest2d, s1 l1);

/// `hipops_sort`, the columns alone: `CustomOp1` of x, over the last dimension. The result is u32, as in candle's
/// `arg_sort_last_dim`. Equal elements stay in order.
#[derive(Clone, Copy, Debug)]
pub struct ArgSort {
    /// From the greatest element to the least.
    pub descending: bool,
}
impl Op for ArgSort {
    fn name(&self) -> &'static str {
        "hipops_sort"
    }
    fn inputs(&self) -> &'static [&'static str] {
        &["x"]
    }
    fn outputs(&self, inputs: &[(&Layout, DType)]) -> Vec<(Shape, DType)> {
        [DType::U32, inputs[0].1].map(|dtype| (inputs[0].0.shape().clone(), dtype)).into()
    }
    fn launch<S: Memory>(&self, call: &Call<'_, S>, y: &[ViewMut<'_>], inputs: &[View<'_>]) -> Result<()> {
        let (columns, values, x) = (Some(&y[0]), y.get(1), &inputs[0]);
        let flags = if self.descending { hipops::HIPOPS_DESCENDING } else { 0 };
        let bytes = hipops::sort_workspace_bytes(values, columns, x, flags).map_err(Error::wrap)?;
        call.with_workspace(bytes, |workspace, stream| hipops::sort(values, columns, x, flags, workspace, stream))
    }
}
custom_op!(CustomOp1 for ArgSort, s1 l1);

/// `hipops_topk`, the columns alone: `CustomOp1` of x, over the last dimension. The result is u32, and has k columns.
#[derive(Clone, Copy, Debug)]
pub struct ArgTopK {
    /// The number of elements of each row.
    pub k: usize,
    /// 0, or [`HIPOPS_SMALLEST`], [`HIPOPS_SORTED`], or both.
    pub flags: u32,
}
impl Op for ArgTopK {
    fn name(&self) -> &'static str {
        "hipops_topk"
    }
    fn inputs(&self) -> &'static [&'static str] {
        &["x"]
    }
    fn outputs(&self, inputs: &[(&Layout, DType)]) -> Vec<(Shape, DType)> {
        let mut dims = inputs[0].0.dims().to_vec();
        if let Some(columns) = dims.last_mut() {
            *columns = self.k.min(*columns); // hipops refuses a greater k
        }
        [DType::U32, inputs[0].1].map(|dtype| (Shape::from(&dims[..]), dtype)).into()
    }
    fn launch<S: Memory>(&self, call: &Call<'_, S>, y: &[ViewMut<'_>], inputs: &[View<'_>]) -> Result<()> {
        let (columns, values, x, k) = (&y[0], y.get(1), &inputs[0], i64::try_from(self.k).unwrap_or(i64::MAX));
        let bytes = hipops::topk_workspace_bytes(values, columns, x, None, None, k, self.flags).map_err(Error::wrap)?;
        call.with_workspace(bytes, |workspace, stream| {
            hipops::topk(values, columns, x, None, None, k, self.flags, workspace, stream)
        })
    }
}
custom_op!(CustomOp1 for ArgTopK, s1 l1);

/// x's rows in order, and the columns of their elements in x, by [`ArgSort`]. The values have a gradient.
pub fn sort(x: &Tensor, descending: bool) -> Result<(Tensor, Tensor)> {
    selected(x, &ArgSort { descending })
}

/// The k greatest elements of x's rows, the greatest first, and their columns, by [`ArgTopK`]. The values have a gradient.
pub fn topk(x: &Tensor, k: usize) -> Result<(Tensor, Tensor)> {
    selected(x, &ArgTopK { k, flags: HIPOPS_SORTED })
}

// One call gives both, but candle's graph knows only results of its own custom ops.
fn selected(x: &Tensor, op: &impl Op) -> Result<(Tensor, Tensor)> {
    let mut outputs = untracked(op, &[x], if x.track_op() { 1 } else { 2 })?;
    let columns = outputs.remove(0);
    let values = outputs.pop().map_or_else(|| x.apply_op2(&columns, Gather { dim: x.rank() - 1 }), Ok)?;
    Ok((values, columns))
}
