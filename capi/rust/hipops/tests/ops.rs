//! Each op on the CPU backend, and the error of each kind of mistake.
use hipops::{Backend, DType, Nearest, Report, Status, Stream, View, ViewMut, Workspace};

const STREAM: Stream = Stream::DEFAULT;

fn x() -> Vec<f32> {
    hipops::init(Backend::Cpu).unwrap();
    (1..=8).map(|i| i as f32).collect()
}
fn close(a: f32, b: f32) {
    assert!((a - b).abs() < 1e-5, "{a}, expected {b}");
}

#[test]
fn norms_and_softmax() {
    let (x, mut y, mut sum) = (x(), [0.0f32; 8], [0.0f32; 8]);
    let input = View::of(&x, &[2, 4]).unwrap();
    let weight = View::of(&x[..4], &[4]).unwrap();
    hipops::rms_norm(&ViewMut::of(&mut y, &[2, 4]).unwrap(), None, &input, None, 1e-5, 0, STREAM).unwrap();
    close(y[0], 0.365148);
    close(y[7], 1.212957);
    hipops::rms_norm(
        &ViewMut::of(&mut y, &[2, 4]).unwrap(),
        None,
        &input,
        Some(&weight),
        1e-5,
        hipops::HIPOPS_WEIGHT_PLUS_ONE,
        STREAM,
    )
    .unwrap();
    close(y[0], 2.0 * 0.365148);
    hipops::layer_norm(&ViewMut::of(&mut y, &[2, 4]).unwrap(), None, None, &input, None, Some(&weight), 0.0, 0, STREAM).unwrap();
    close(y[0] + y[3], 5.0);
    let (out, residual) = (ViewMut::of(&mut y, &[2, 4]).unwrap(), ViewMut::of(&mut sum, &[2, 4]).unwrap());
    hipops::fused_add_rms_norm(&out, Some(&residual), None, &input, &input, None, 1e-5, 0, STREAM).unwrap();
    assert_eq!(sum[7], 16.0);
    let out = ViewMut::of(&mut y, &[2, 4]).unwrap();
    hipops::activation_and_mul(&out, &input, &input, hipops::Activation::Relu, 0.0, 0.0, 0, STREAM).unwrap();
    assert_eq!(y[7], 64.0);
    let (mut codes, scale) = ([0i8; 8], [0.5f32]);
    hipops::static_quantize(&ViewMut::of(&mut codes, &[2, 4]).unwrap(), &input, &View::of(&scale, &[]).unwrap(), STREAM).unwrap();
    assert_eq!(codes[7], 16);
    let (mut codes, mut scales) = ([0i8; 8], [0.0f32; 2]);
    let (q, of_rows) = (ViewMut::of(&mut codes, &[2, 4]).unwrap(), ViewMut::of(&mut scales, &[2]).unwrap());
    hipops::dynamic_quantize(&q, &of_rows, &input, None, 0, 0, Workspace::NONE, STREAM).unwrap();
    assert_eq!((codes[3], codes[7], scales[1]), (127, 127, 8.0 / 127.0));
    let (q, one) = (ViewMut::of(&mut codes, &[2, 4]).unwrap(), ViewMut::of(&mut scales[..1], &[]).unwrap());
    assert_eq!(hipops::dynamic_quantize_workspace_bytes(&q, &one, &input, None, hipops::WHOLE_TENSOR, 0).unwrap(), 0);
    hipops::dynamic_quantize(&q, &one, &input, None, hipops::WHOLE_TENSOR, 0, Workspace::NONE, STREAM).unwrap();
    assert_eq!((codes[3], codes[7], scales[0]), (64, 127, 8.0 / 127.0));
    let (mut best, mut columns) = (vec![0f32; 4], vec![0i64; 4]);
    let (values, indices) = (ViewMut::of(&mut best, &[2, 2]).unwrap(), ViewMut::of(&mut columns, &[2, 2]).unwrap());
    assert_eq!(hipops::topk_workspace_bytes(Some(&values), &indices, &input, None, None, 2, hipops::HIPOPS_SORTED).unwrap(), 0);
    hipops::topk(Some(&values), &indices, &input, None, None, 2, hipops::HIPOPS_SORTED, Workspace::NONE, STREAM).unwrap();
    assert_eq!((best[0], &columns[..]), (x[3], &[3, 2, 3, 2][..]));
    let mut z = x.clone();
    let place = ViewMut::of(&mut z, &[2, 4]).unwrap();
    hipops::softmax(&place, place.as_view(), 0, STREAM).unwrap();
    close(z[..4].iter().sum(), 1.0);
}

#[test]
fn sixteen_bits() {
    x();
    let (one, mut y) = ([0x3f80u16; 4], [0u16; 4]); // bf16
    let input = View::of_bits(&one, DType::BF16, 0, &[1, 4], None).unwrap();
    hipops::rms_norm(&ViewMut::of_bits(&mut y, DType::BF16, 0, &[1, 4], None).unwrap(), None, &input, None, 0.0, 0, STREAM)
        .unwrap();
    assert_eq!(y, one);
}

#[test]
fn rotations_by_no_angle() {
    let (x, mut y) = (x(), [0.0f32; 8]);
    let (cos, sin) = ([1.0f32; 2], [0.0f32; 2]);
    let (cos, sin) = (View::of(&cos, &[1, 2]).unwrap(), View::of(&sin, &[1, 2]).unwrap());
    for rope in [hipops::rope, hipops::rope_i] {
        rope(&ViewMut::of(&mut y, &[1, 2, 1, 4]).unwrap(), &View::of(&x, &[1, 2, 1, 4]).unwrap(), &cos, &sin, None, STREAM)
            .unwrap();
        assert_eq!(x, y);
    }
    let first = [0i64];
    let positions = View::of(&first, &[1]).unwrap();
    let (out, heads) = (ViewMut::of(&mut y, &[1, 1, 2, 4]).unwrap(), View::of(&x, &[1, 1, 2, 4]).unwrap());
    hipops::rope_thd(&out, &heads, &cos, &sin, Some(&positions), STREAM).unwrap();
}

#[test]
fn by_an_index() {
    let (x, mut y) = (x(), [0.0f32; 8]);
    let (rows, columns) = ([1i64, 1], [3i64, 9]);
    let input = View::of(&x, &[2, 4]).unwrap();
    let index = View::of(&rows, &[2]).unwrap();
    hipops::index_select(&ViewMut::of(&mut y, &[2, 4]).unwrap(), &input, &index, 0, Report::NONE, STREAM).unwrap();
    assert_eq!(y[..2], [5.0, 6.0]);
    let mut report = hipops::HIPOPS_INDEX_REPORT_INIT;
    let counted = Report::of(&mut report).unwrap();
    let (out, index) = (ViewMut::of(&mut y[..2], &[1, 2]).unwrap(), View::of(&columns, &[1, 2]).unwrap());
    hipops::gather(&out, &input, &index, 1, counted, STREAM).unwrap();
    assert_eq!((y[0], y[1], report.count, report.first), (4.0, 0.0, 1, 1));

    let mut y = [0.0f32; 8];
    let (out, index) = (ViewMut::of(&mut y, &[2, 4]).unwrap(), View::of(&rows, &[2]).unwrap());
    let bytes = hipops::index_add_workspace_bytes(&out, &input, &index, 0).unwrap();
    let mut memory = vec![0u8; bytes + 256];
    let workspace = Workspace::of(&mut memory).unwrap();
    hipops::index_add(&out, &input, &index, 0, workspace, Report::NONE, STREAM).unwrap();
    assert_eq!(y[4..], [6.0, 8.0, 10.0, 12.0]);
    let (out, two) = (ViewMut::of(&mut y[..4], &[1, 4]).unwrap(), View::of(&x[..2], &[1, 2]).unwrap());
    let columns = [3i64, 0];
    let index = View::of(&columns, &[1, 2]).unwrap();
    hipops::scatter_workspace_bytes(&out, &two, &index, 1, 0).unwrap();
    hipops::scatter_add_workspace_bytes(&out, &two, &index, 1, 0).unwrap();
    hipops::scatter(&out, &two, &index, 1, hipops::HIPOPS_DETERMINISTIC, Workspace::NONE, Report::NONE, STREAM).unwrap();
    hipops::scatter_add(&out, &two, &index, 1, 0, Workspace::NONE, Report::NONE, STREAM).unwrap();
    assert_eq!(y[..4], [4.0, 0.0, 0.0, 2.0]);
}

#[test]
fn upsampling_and_copies() {
    let (x, mut y) = (x(), [0.0f32; 8]);
    hipops::upsample_nearest1d(
        &ViewMut::of(&mut y, &[1, 1, 8]).unwrap(),
        &View::of(&x[..4], &[1, 1, 4]).unwrap(),
        Nearest::PyTorch,
        0.0,
        STREAM,
    )
    .unwrap();
    assert_eq!(y[5..], [3.0, 4.0, 4.0]);
    let (out, input) = (ViewMut::of(&mut y, &[1, 1, 2, 4]).unwrap(), View::of(&x[..2], &[1, 1, 1, 2]).unwrap());
    hipops::upsample_nearest2d(&out, &input, Nearest::Candle, 0.0, 0.0, STREAM).unwrap();
    assert_eq!(y[2..5], [2.0, 2.0, 1.0]);
    let transposed = View::strided(&x, 0, &[4, 2], Some(&[1, 4])).unwrap();
    hipops::strided_copy(&ViewMut::of(&mut y, &[4, 2]).unwrap(), &transposed, STREAM).unwrap();
    assert_eq!(y[..3], [1.0, 5.0, 2.0]);
    let backward = View::strided(&x, 7, &[8], Some(&[-1])).unwrap();
    hipops::strided_copy(&ViewMut::of(&mut y, &[8]).unwrap(), &backward, STREAM).unwrap();
    assert_eq!(y[0], 8.0);
    // SAFETY: both have two rows of two elements.
    unsafe { hipops::copy2d(y.as_mut_ptr().cast(), x.as_ptr().cast(), DType::F32, 2, 2, 2, 4, STREAM) }.unwrap();
    assert_eq!(y[2], 5.0);
}

#[test]
fn mistakes() {
    let (x, mut y) = (x(), [0.0f32; 8]);
    let input = View::of(&x, &[2, 4]).unwrap();
    let out = ViewMut::of(&mut y, &[2, 4]).unwrap();
    let refused = hipops::rms_norm(&out, None, &input, Some(&View::of(&x, &[3]).unwrap()), 1e-5, 0, STREAM).unwrap_err();
    assert!(refused.to_string().contains("rms_norm: weight.shape[0] is 3, expected 4"), "{refused}");
    assert_eq!((refused.status(), refused.runtime_error()), (Status::InvalidArgument, 0));
    let bytes = [0u8; 8];
    let refused = hipops::softmax(&out, &View::of(&bytes, &[2, 4]).unwrap(), 0, STREAM).unwrap_err();
    assert_eq!(refused.status(), Status::UnsupportedDtype, "{refused}");

    for (view, message) in [
        (View::of(&x, &[3, 4]), "the elements 0 to 11 of a slice, expected 0 to 7"),
        (View::strided(&x, 8, &[1], None), "the elements 8 to 8"),
        (View::strided(&x, 3, &[5], Some(&[-1])), "the elements -1 to 3"),
        (View::strided(&x, 0, &[2], Some(&[isize::MAX])), "of a slice"),
        (View::strided(&x, 0, &[2, 2], Some(&[1])), "1 strides, expected 2"),
        (View::of(&x, &[1; 9]), "9 dimensions, expected at most 8"),
    ] {
        let refused = view.expect_err(message);
        assert!(refused.to_string().contains(message), "{refused}");
    }
    assert!(View::of(&x[..0], &[0, 4]).is_ok());
    for stride in [isize::MAX, isize::MIN] {
        for rank in 3..=8 {
            assert!(
                View::strided(&x, 0, &vec![i64::MAX as usize; rank], Some(&vec![stride; rank])).is_err(),
                "{rank} strides of {stride}"
            );
        }
    }
    assert!(View::of_bits(&[0], DType::F32, 0, &[1], None).is_err());
    let refused = hipops::init(Backend::Hip).unwrap_err();
    assert_eq!(refused.status(), Status::InvalidArgument, "{refused}");
}

#[test]
fn what_there_is() {
    x();
    hipops::prepare(Some("softmax")).unwrap();
    assert!(hipops::prepare(Some("sofmax")).is_err());
    assert!(hipops::supports("rms_norm", DType::BF16, Some(DType::F32)).unwrap());
    assert!(!hipops::supports("rms_norm", DType::U8, None).unwrap());
    assert_eq!(hipops::backend_in_use().unwrap(), Backend::Cpu);
    assert!(hipops::version().unwrap().starts_with("0."));
    // SAFETY: the file does not exist.
    let opened = unsafe { hipops_sys::Api::open("/nowhere/libhipops.so".as_ref()) };
    let Err(missing) = opened else { panic!("opened what is not there") };
    assert!(missing.to_string().contains("/nowhere/libhipops.so"), "{missing}");
}
