//! Compares each op on candle's CPU device with plain loops.
use candle_core::{CpuStorage, CustomOp1, DType, Device, Layout, Result, Shape, Tensor, Var};
use hipops_candle::{
    sort, topk, ArgSort, ArgTopK, CrossEntropy, Gather, IndexAdd, IndexSelect, LayerNorm, Nearest, RmsNorm, Rope, RopeI, RopeThd,
    ScatterAdd, Softmax, UpsampleNearest2d, HIPOPS_DETERMINISTIC, HIPOPS_SMALLEST, HIPOPS_SORTED, HIPOPS_WEIGHT_PLUS_ONE,
};
use std::cmp::Ordering::Equal;

// 0, 0.5, -1, 1.5, -2, ..
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| if i % 2 == 0 { -0.5 } else { 0.5 } * i as f32).collect()
}
fn tensor(values: &[f32], shape: impl Into<Shape>) -> Tensor {
    Tensor::from_vec(values.to_vec(), shape.into().dims().to_vec(), &Device::Cpu).unwrap()
}
fn index(values: &[i64], shape: impl Into<Shape>) -> Tensor {
    Tensor::from_vec(values.to_vec(), shape.into().dims().to_vec(), &Device::Cpu).unwrap()
}
fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}
fn close(got: &Tensor, expected: &[f32]) {
    let got = values(got);
    assert_eq!(got.len(), expected.len());
    for (i, (a, b)) in got.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "element {i} is {a}, expected {b}");
    }
}
fn says<T>(result: Result<T>, words: &str) {
    let Err(error) = result else { panic!("no error, expected '{words}'") };
    let said = error.to_string();
    assert!(said.contains(words), "{said}, expected '{words}'");
}

fn rows_of(values: &[f32], length: usize, row: impl Fn(&[f32]) -> Vec<f32>) -> Vec<f32> {
    values.chunks(length).flat_map(row).collect()
}
fn rms(row: &[f32], weight: impl Fn(usize) -> f32) -> Vec<f32> {
    let scale = 1.0 / (row.iter().map(|x| x * x).sum::<f32>() / row.len() as f32 + 1e-5).sqrt();
    row.iter().enumerate().map(|(i, x)| x * scale * weight(i)).collect()
}
fn layer(row: &[f32], weight: impl Fn(usize) -> f32, bias: impl Fn(usize) -> f32) -> Vec<f32> {
    let mean = row.iter().sum::<f32>() / row.len() as f32;
    let scale = 1.0 / (row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / row.len() as f32 + 1e-5).sqrt();
    row.iter().enumerate().map(|(i, x)| (x - mean) * scale * weight(i) + bias(i)).collect()
}
fn soft(row: &[f32]) -> Vec<f32> {
    let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = row.iter().map(|x| (x - most).exp()).sum();
    row.iter().map(|x| (x - most).exp() / sum).collect()
}

// The same 3 rows of 5: contiguous, transposed, and inside of a larger tensor.
fn views() -> Vec<Tensor> {
    let x = numbers(15);
    let columns: Vec<f32> = (0..15).map(|i| x[i % 3 * 5 + i / 3]).collect();
    let mut inside = vec![9.0; 4 * 8];
    for (i, value) in x.iter().enumerate() {
        inside[(1 + i / 5) * 8 + 2 + i % 5] = *value;
    }
    let inside = tensor(&inside, (4, 8)).narrow(0, 1, 3).unwrap().narrow(1, 2, 5).unwrap();
    vec![tensor(&x, (3, 5)), tensor(&columns, (5, 3)).t().unwrap(), inside]
}

#[test]
fn norms_and_softmax() -> Result<()> {
    let (x, w, b) = (numbers(15), [1.0, 2.0, -1.0, 0.5, 3.0], [0.0, 1.0, 2.0, 3.0, 4.0]);
    let (weight, bias) = (tensor(&w, 5), tensor(&b, 5));
    let (rms_norm, layer_norm) = (RmsNorm { eps: 1e-5, flags: 0 }, LayerNorm { eps: 1e-5 });
    for view in views() {
        close(&view.apply_op1_no_bwd(&rms_norm)?, &rows_of(&x, 5, |row| rms(row, |_| 1.0)));
        close(&view.apply_op2_no_bwd(&weight, &rms_norm)?, &rows_of(&x, 5, |row| rms(row, |i| w[i])));
        let plus_one = RmsNorm { flags: HIPOPS_WEIGHT_PLUS_ONE, ..rms_norm };
        close(&view.apply_op2(&weight, plus_one)?, &rows_of(&x, 5, |row| rms(row, |i| 1.0 + w[i])));
        close(&view.apply_op1_no_bwd(&layer_norm)?, &rows_of(&x, 5, |row| layer(row, |_| 1.0, |_| 0.0)));
        close(&view.apply_op2_no_bwd(&weight, &layer_norm)?, &rows_of(&x, 5, |row| layer(row, |i| w[i], |_| 0.0)));
        let expected = rows_of(&x, 5, |row| layer(row, |i| w[i], |i| b[i]));
        close(&view.apply_op3_no_bwd(&weight, &bias, &layer_norm)?, &expected);
        close(&view.apply_op1_no_bwd(&Softmax)?, &rows_of(&x, 5, soft));
    }
    let row = tensor(&x[..5], 5).broadcast_as((3, 5))?;
    close(&row.apply_op1_no_bwd(&Softmax)?, &soft(&x[..5]).repeat(3));
    Ok(())
}

#[test]
fn in_place() -> Result<()> {
    let (x, w) = (numbers(15), [1.0, 2.0, -1.0, 0.5, 3.0]);
    let weight = tensor(&w, 5);
    let (rms_norm, layer_norm) = (RmsNorm { eps: 1e-5, flags: 0 }, LayerNorm { eps: 1e-5 });
    for view in views() {
        view.inplace_op2(&weight, &rms_norm)?;
        close(&view, &rows_of(&x, 5, |row| rms(row, |i| w[i])));
    }
    for view in views() {
        view.inplace_op3(&weight, &tensor(&w, 5), &layer_norm)?;
        close(&view, &rows_of(&x, 5, |row| layer(row, |i| w[i], |i| w[i])));
    }
    for view in views() {
        view.inplace_op1(&Softmax)?;
        close(&view, &rows_of(&x, 5, soft));
    }
    // Elements around a view keep their value.
    let whole = tensor(&x, (3, 5));
    whole.narrow(1, 1, 3)?.inplace_op1(&rms_norm)?;
    let mut expected = x.clone();
    for row in expected.chunks_mut(5) {
        let middle = rms(&row[1..4], |_| 1.0);
        row[1..4].copy_from_slice(&middle);
    }
    close(&whole, &expected);
    says(tensor(&[1.0, 2.0], 2).broadcast_as((3, 2))?.inplace_op1(&Softmax), "y.stride[0] is 0");
    Ok(())
}

#[test]
fn losses() -> Result<()> {
    let (x, target) = (numbers(15), index(&[2, -100, 4], 3));
    let op = CrossEntropy { label_smoothing: 0.2, z_loss: 0.1, ..Default::default() };
    let row = |row: &[f32], at: usize| {
        let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let lse = most + row.iter().map(|x| (x - most).exp()).sum::<f32>().ln();
        0.8 * (lse - row[at]) + 0.2 * (lse - row.iter().sum::<f32>() / 5.0) + 0.1 * lse * lse
    };
    let (first, second, third) = (row(&x[..5], 2), row(&x[5..10], 3), row(&x[10..], 4));
    for view in views() {
        close(&view.apply_op2_no_bwd(&target, &op)?, &[first, 0.0, third]);
        // A target out of range leaves its row out, too.
        close(&view.apply_op2_no_bwd(&index(&[7, 3, 4], 3), &CrossEntropy { ignore_index: 4, ..op })?, &[0.0, second, 0.0]);
    }
    let low = tensor(&x, (3, 5)).to_dtype(DType::BF16)?;
    let loss = low.apply_op2_no_bwd(&target, &op)?;
    assert_eq!((loss.dtype(), loss.dims()), (DType::F32, &[3][..]));
    close(&loss, &[first, 0.0, third]); // numbers() has no bits that bf16 lacks
    says(low.apply_op2_no_bwd(&index(&[1, 2], 2), &op), "cross_entropy: target.shape[0] is 2, expected 3 (x.shape[0])");
    says(low.apply_op2_no_bwd(&target, &CrossEntropy { label_smoothing: 2.0, ..op }), "cross_entropy: label_smoothing is 2");
    Ok(())
}

// x [b, h, t, d] or, if `thd`, [b, t, h, d]; the row of cos and sin of token t is rows[t].
fn rotated(x: &[f32], dims: [usize; 4], angles: &[f32], rows: &[usize], thd: bool, neighbours: bool) -> Vec<f32> {
    let (d, mut y) = (dims[3], x.to_vec());
    for (r, row) in y.chunks_mut(d).enumerate() {
        let t = if thd { r / dims[2] % dims[1] } else { r % dims[2] };
        for k in 0..d / 2 {
            let (sin, cos) = angles[rows[t] * (d / 2) + k].sin_cos();
            let (i, j) = if neighbours { (2 * k, 2 * k + 1) } else { (k, k + d / 2) };
            let (a, b) = (row[i], row[j]);
            (row[i], row[j]) = (a * cos - b * sin, a * sin + b * cos);
        }
    }
    y
}

#[test]
fn rotations() -> Result<()> {
    let dims = [1, 2, 3, 4];
    let (x, angles) = (numbers(24), [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]);
    let table = |f: fn(f32) -> f32| tensor(&angles.map(f), (4, 2));
    let (cos, sin) = (table(f32::cos), table(f32::sin));
    let input = tensor(&x, (1, 2, 3, 4));
    let last = index(&[3, 1, 0], 3);
    let in_order = [0, 1, 2, 3];
    close(&input.apply_op3_no_bwd(&cos, &sin, &Rope::default())?, &rotated(&x, dims, &angles, &in_order, false, false));
    close(&input.apply_op3_no_bwd(&cos, &sin, &RopeI::default())?, &rotated(&x, dims, &angles, &in_order, false, true));
    close(&input.apply_op3_no_bwd(&cos, &sin, &RopeThd::default())?, &rotated(&x, dims, &angles, &in_order, true, false));
    let at = Rope { positions: Some(last.clone()) };
    close(&input.apply_op3_no_bwd(&cos, &sin, &at)?, &rotated(&x, dims, &angles, &[3, 1, 0], false, false));
    input.inplace_op3(&cos, &sin, &RopeI { positions: Some(last) })?;
    close(&input, &rotated(&x, dims, &angles, &[3, 1, 0], false, true));
    says(input.apply_op3_no_bwd(&cos, &tensor(&angles, (2, 4)), &Rope::default()), "sin.shape[0] is 2, expected 4");
    let wrong = Rope { positions: Some(tensor(&[0.0; 3], 3)) };
    says(input.apply_op3_no_bwd(&cos, &sin, &wrong), "positions");
    Ok(())
}

#[test]
fn by_an_index() -> Result<()> {
    let x = numbers(15);
    for view in views() {
        let rows = view.apply_op2_no_bwd(&index(&[2, 0, 7], 3), &IndexSelect { dim: 0 })?;
        close(&rows, &[&x[10..], &x[..5], &[0.0; 5]].concat());
        let columns = view.apply_op2_no_bwd(&index(&[4, 4], 2), &IndexSelect { dim: 1 })?;
        close(&columns, &[x[4], x[4], x[9], x[9], x[14], x[14]]);
        let picked = view.apply_op2_no_bwd(&index(&[1, 0, 4, 4], (2, 2)), &Gather { dim: 1 })?;
        close(&picked, &[x[1], x[0], x[9], x[9]]);
    }
    let y = tensor(&[1.0; 10], (5, 2)).t()?;
    let added = y.apply_op3_no_bwd(&index(&[1, 1, 9], 3), &tensor(&x, (3, 5)), &IndexAdd { dim: 0 })?;
    let sums: Vec<f32> = (0..10).map(|i| if i < 5 { 1.0 } else { 1.0 + x[i - 5] + x[i] }).collect();
    close(&added, &sums);
    close(&y, &[1.0; 10]);
    y.inplace_op3(&index(&[1, 1, 9], 3), &tensor(&x, (3, 5)), &IndexAdd { dim: 0 })?;
    close(&y, &sums);
    for flags in [0, HIPOPS_DETERMINISTIC] {
        let y = tensor(&[1.0; 6], (2, 3));
        let (to, op) = (index(&[2, 2, 0, 1], (2, 2)), ScatterAdd { dim: 1, flags });
        let source = tensor(&[1.0, 2.0, 4.0, 8.0], (2, 2));
        close(&y.apply_op3_no_bwd(&to, &source, &op)?, &[1.0, 1.0, 4.0, 5.0, 9.0, 1.0]);
        close(&y, &[1.0; 6]);
        y.inplace_op3(&to, &source, &op)?;
        close(&y, &[1.0, 1.0, 4.0, 5.0, 9.0, 1.0]);
    }
    Ok(())
}

#[test]
fn upsampling() -> Result<()> {
    let (x, op) = (numbers(12), UpsampleNearest2d { height: 3, width: 6, rule: Nearest::Candle });
    let mut expected = vec![];
    for (plane, i, j) in (0..2).flat_map(|plane| (0..3).flat_map(move |i| (0..6).map(move |j| (plane, i, j)))) {
        expected.push(x[plane * 6 + i * 2 / 3 * 3 + j / 2]);
    }
    let y = tensor(&x, (1, 2, 2, 3)).apply_op1_no_bwd(&op)?;
    assert_eq!(y.dims(), [1, 2, 3, 6]);
    close(&y, &expected);
    Ok(())
}

// Columns of a row in order. Equal elements stay in order, and a NaN is greater than all numbers.
fn in_order(row: &[f32], descending: bool) -> Vec<u32> {
    let mut columns: Vec<u32> = (0..row.len() as u32).collect();
    let of = |column: u32| row[column as usize] + 0.0;
    let order = |a: u32, b: u32| of(a).is_nan().cmp(&of(b).is_nan()).then(of(a).partial_cmp(&of(b)).unwrap_or(Equal));
    columns.sort_by(|&a, &b| if descending { order(b, a) } else { order(a, b) });
    columns
}
fn columns_of(tensor: &Tensor) -> Vec<u32> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}
fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn selection() -> Result<()> {
    let pick = |row: &[f32], columns: &[u32]| -> Vec<f32> { columns.iter().map(|&column| row[column as usize]).collect() };
    let x = numbers(15);
    for (view, descending) in views().into_iter().flat_map(|view| [(view.clone(), false), (view, true)]) {
        let expected: Vec<u32> = x.chunks(5).flat_map(|row| in_order(row, descending)).collect();
        let ordered = rows_of(&x, 5, |row| pick(row, &in_order(row, descending)));
        assert_eq!(columns_of(&view.apply_op1_no_bwd(&ArgSort { descending })?), expected);
        let (y, columns) = sort(&view, descending)?;
        assert_eq!((values(&y), columns_of(&columns), columns.dims()), (ordered, expected, &[3, 5][..]));
        let first: Vec<u32> = x.chunks(5).flat_map(|row| in_order(row, descending)[..2].to_vec()).collect();
        let flags = HIPOPS_SORTED | if descending { 0 } else { HIPOPS_SMALLEST };
        assert_eq!(columns_of(&view.apply_op1_no_bwd(&ArgTopK { k: 2, flags })?), first);
        let (y, columns) = topk(&view, 2)?;
        let greatest = |row: &[f32]| pick(row, &in_order(row, true)[..2]);
        assert_eq!((values(&y), y.dims(), columns.dims()), (rows_of(&x, 5, greatest), &[3, 2][..], &[3, 2][..]));
    }
    // Ties, signed zeros, NaN and infinities; then a row that needs a workspace.
    let few = vec![1.0, f32::NAN, -0.0, 0.0, f32::INFINITY, 1.0, f32::NEG_INFINITY, f32::NAN];
    let many: Vec<f32> = (0..5000).map(|i| ((i * 7919) % 1009) as f32 - 500.0).collect();
    for x in [few, many] {
        for descending in [false, true] {
            let (y, columns) = sort(&tensor(&x, x.len()), descending)?;
            let expected = in_order(&x, descending);
            assert_eq!((columns_of(&columns), bits(&values(&y))), (expected.clone(), bits(&pick(&x, &expected))));
        }
        let (y, columns) = topk(&tensor(&x, x.len()), 4)?;
        let expected = in_order(&x, true)[..4].to_vec();
        assert_eq!((columns_of(&columns), bits(&values(&y))), (expected.clone(), bits(&pick(&x, &expected))));
    }
    let half = tensor(&[1.0, 3.0, 2.0], 3).to_dtype(DType::F16)?;
    let (y, columns) = topk(&half, 1)?;
    assert_eq!((y.dtype(), values(&y.to_dtype(DType::F32)?), columns_of(&columns)), (DType::F16, vec![3.0], vec![1]));
    let (y, columns) = sort(&Tensor::from_vec(vec![3u8, 1, 2], 3, &Device::Cpu)?, false)?;
    assert_eq!((y.to_vec1::<u8>()?, columns_of(&columns)), (vec![1, 2, 3], vec![1, 2, 0]));
    assert_eq!(sort(&tensor(&[], (0, 4)), true)?.0.dims(), [0, 4]);
    says(topk(&half, 4), "topk: k is 4, expected");
    says(topk(&half, usize::MAX), "topk: k is");
    says(topk(&half, 0), "topk: k is 0, expected");
    says(sort(&tensor(&[1.0], ()), true), "sort: x");
    says(topk(&Tensor::from_vec(vec![3u8], 1, &Device::Cpu)?, 1), "topk: x");
    says(sort(&half.to_dtype(DType::F8E4M3)?, true), "hipops_sort: x: hipops has no dtype f8e4m3");
    Ok(())
}

#[test]
fn dtypes() -> Result<()> {
    let (x, w) = (numbers(8), tensor(&[1.0, 1.0, 2.0, 2.0], 4));
    for (dtype, ulp) in [(DType::BF16, 1.0 / 128.0), (DType::F16, 1.0 / 1024.0), (DType::F64, 1e-6)] {
        let (input, op) = (tensor(&x, (2, 4)).to_dtype(dtype)?, RmsNorm { eps: 1e-5, flags: 0 });
        let expected = rows_of(&x, 4, |row| rms(row, |i| if i < 2 { 1.0 } else { 2.0 }));
        for weight in [w.to_dtype(dtype)?, w.clone()] {
            let y = input.apply_op2_no_bwd(&weight, &op)?;
            assert_eq!(y.dtype(), dtype);
            for (a, b) in values(&y.to_dtype(DType::F32)?).iter().zip(&expected) {
                assert!((a - b).abs() <= ulp * b.abs(), "{dtype:?}: {a}, expected {b}");
            }
        }
        // Each addition of half an ulp to 1 is lost, but not their sum. 16-bit types need a workspace to keep it.
        let (y, half) = (tensor(&[1.0; 64], (1, 64)).to_dtype(dtype)?, ulp / 2.0);
        let sources = tensor(&[half; 128], (2, 64)).to_dtype(dtype)?;
        let sums = y.apply_op3_no_bwd(&index(&[0, 0], 2), &sources, &IndexAdd { dim: 0 })?;
        close(&sums.to_dtype(DType::F32)?, &[1.0 + ulp; 64]);
        for flags in [0, HIPOPS_DETERMINISTIC] {
            let sums = y.apply_op3_no_bwd(&index(&[0; 128], (2, 64)), &sources, &ScatterAdd { dim: 0, flags })?;
            close(&sums.to_dtype(DType::F32)?, &[1.0 + ulp; 64]);
        }
    }
    let bytes = Tensor::from_vec(vec![1u8, 2, 3], 3, &Device::Cpu)?;
    let picked = bytes.apply_op2_no_bwd(&Tensor::from_vec(vec![2u32, 0], 2, &Device::Cpu)?, &IndexSelect { dim: 0 })?;
    assert_eq!(picked.to_vec1::<u8>()?, [3, 1]);
    says(bytes.apply_op1_no_bwd(&Softmax), "softmax: x");
    let eight = tensor(&x, 8).to_dtype(DType::F8E4M3)?;
    says(eight.apply_op1_no_bwd(&Softmax), "hipops_softmax: x: hipops has no dtype f8e4m3");
    Ok(())
}

type Function<'a> = dyn Fn(&[Tensor]) -> Result<Tensor> + 'a;

// The gradients of the sum of f's elements, each with a weight of its own, for the variables.
fn gradients(variables: &[Tensor], f: &Function<'_>) -> Result<Vec<Tensor>> {
    let variables = variables.iter().map(Var::from_tensor).collect::<Result<Vec<_>>>()?;
    let tensors: Vec<Tensor> = variables.iter().map(|variable| variable.as_tensor().clone()).collect();
    let y = f(&tensors)?;
    let weights = tensor(&numbers(y.elem_count()), y.dims()).affine(0.1, 0.7)?.to_dtype(y.dtype())?;
    let mut gradients = (y * weights)?.sum_all()?.backward()?;
    Ok(variables.iter().map(|variable| gradients.remove(variable).expect("no gradient")).collect())
}

// Compares f's gradients with differences of its values, in f64.
fn differences(shapes: &[&[usize]], f: impl Fn(&[Tensor]) -> Result<Tensor>) -> Result<()> {
    let variables: Vec<Vec<f64>> = (shapes.iter().enumerate())
        .map(|(k, shape)| (0..shape.iter().product()).map(|i| ((1 + i + 5 * k) as f64 * 1.7).sin()).collect())
        .collect();
    let tensors = |variables: &[Vec<f64>]| -> Result<Vec<Tensor>> {
        variables.iter().zip(shapes).map(|(x, shape)| Tensor::from_vec(x.clone(), *shape, &Device::Cpu)).collect()
    };
    let loss = |variables: &[Vec<f64>]| -> Result<f64> {
        let y = f(&tensors(variables)?)?;
        let weights = tensor(&numbers(y.elem_count()), y.dims()).affine(0.1, 0.7)?.to_dtype(DType::F64)?;
        (y * weights)?.sum_all()?.to_scalar()
    };
    for (k, got) in gradients(&tensors(&variables)?, &f)?.iter().enumerate() {
        assert_eq!((got.dims(), got.dtype()), (shapes[k], DType::F64));
        for (i, got) in got.flatten_all()?.to_vec1::<f64>()?.into_iter().enumerate() {
            let moved = |by: f64| {
                let mut variables = variables.clone();
                variables[k][i] += by;
                loss(&variables)
            };
            let expected = (moved(1e-5)? - moved(-1e-5)?) / 2e-5;
            assert!((got - expected).abs() < 1e-7 * expected.abs().max(1.0), "variable {k}, {i}: {got}, expected {expected}");
        }
    }
    Ok(())
}

#[test]
fn backward() -> Result<()> {
    let rms_norm = RmsNorm { eps: 1e-5, flags: 0 };
    let plus_one = RmsNorm { flags: HIPOPS_WEIGHT_PLUS_ONE, ..rms_norm };
    let layer_norm = LayerNorm { eps: 1e-5 };
    differences(&[&[2, 3, 4]], |v| v[0].apply_op1(rms_norm))?;
    differences(&[&[4, 3], &[4]], |v| v[0].t()?.apply_op2(&v[1], plus_one)?.t())?;
    differences(&[&[4, 9]], |v| v[0].narrow(1, 2, 5)?.apply_op1(layer_norm))?;
    differences(&[&[5], &[5]], |v| v[0].apply_op2(&v[1], layer_norm))?;
    differences(&[&[2, 2, 5], &[5], &[5]], |v| v[0].transpose(0, 1)?.apply_op3(&v[1], &v[2], layer_norm))?;
    differences(&[&[3, 4]], |v| v[0].apply_op1(Softmax)?.apply_op1(Softmax))?;
    differences(&[&[4]], |v| v[0].broadcast_as((2, 4))?.apply_op1(Softmax))?;
    let target = index(&[2, -100, 0], 3);
    for op in [
        CrossEntropy::default(),
        CrossEntropy { label_smoothing: 0.2, ..Default::default() },
        CrossEntropy { ignore_index: 2, label_smoothing: 0.1, z_loss: 0.3 },
    ] {
        differences(&[&[3, 5]], |v| v[0].apply_op2(&target, op))?;
        differences(&[&[5, 3]], |v| v[0].t()?.apply_op2(&target, op)?.sum_all())?;
    }
    // A weight without a gradient, and a gradient that is one number for all elements.
    differences(&[&[3, 4]], |v| v[0].apply_op2(&v[0].detach().ones_like()?.get(0)?, rms_norm)?.sum_all())?;

    let angles = Tensor::from_vec((0..8).map(|i| f64::from(i) * 0.1).collect(), (4, 2), &Device::Cpu)?;
    let (cos, sin, positions) = (angles.cos()?, angles.sin()?, Some(index(&[3, 1, 0], 3)));
    differences(&[&[1, 2, 3, 6]], |v| v[0].apply_op3(&cos, &sin, Rope { positions: positions.clone() }))?;
    differences(&[&[1, 2, 3, 4]], |v| v[0].apply_op3(&cos, &sin, RopeI { positions: positions.clone() }))?;
    differences(&[&[1, 3, 2, 4]], |v| v[0].apply_op3(&cos, &sin, RopeThd::default()))?;

    let (rows, columns) = (index(&[2, 0, 2, 7], 4), index(&[1, 1, 4, 0, 9, 2], (2, 3)));
    differences(&[&[3, 5]], |v| v[0].apply_op2(&rows, IndexSelect { dim: 0 }))?;
    differences(&[&[5, 3]], |v| v[0].t()?.apply_op2(&columns, Gather { dim: 1 }))?;
    differences(&[&[3, 5], &[4, 5]], |v| v[0].apply_op3(&rows, &v[1], IndexAdd { dim: 0 }))?;
    for flags in [0, HIPOPS_DETERMINISTIC] {
        differences(&[&[3, 5], &[2, 3]], |v| v[0].apply_op3(&columns, &v[1], ScatterAdd { dim: 1, flags }))?;
    }
    differences(&[&[3, 5]], |v| Ok(sort(&v[0], true)?.0))?;
    differences(&[&[3, 4], &[4]], |v| v[0].apply_op2(&v[1], rms_norm)?.apply_op1(Softmax)?.mul(&v[0]))?;

    // hipops_topk has no f64.
    let x = tensor(&[1.0, 5.0, 2.0, 3.0, 4.0, 0.0], (3, 2));
    let selected = gradients(&[x], &|v| Ok(topk(&v[0].t()?, 2)?.0))?;
    close(&selected[0], &[0.0, 0.6, 0.75, 0.85, 0.7, 0.0]);
    // Without rows the gradient of a weight is 0.
    let none = [tensor(&[], (0, 4)), tensor(&[1.0; 4], 4)];
    for found in
        [gradients(&none, &|v| v[0].apply_op2(&v[1], rms_norm))?, gradients(&none, &|v| v[0].apply_op2(&v[1], layer_norm))?]
    {
        assert_eq!((found[0].dims(), values(&found[1])), (&[0, 4][..], vec![0.0; 4]));
    }
    Ok(())
}

#[test]
fn backward_of_each_dtype() -> Result<()> {
    let ops: [&Function<'_>; 4] = [
        &|v| v[0].apply_op2(&v[1], RmsNorm { eps: 1e-5, flags: 0 }),
        &|v| v[0].apply_op3(&v[1], &v[1], LayerNorm { eps: 1e-5 }),
        &|v| v[0].mul(&v[1].broadcast_as((3, 40))?)?.apply_op1(Softmax),
        &|v| v[0].apply_op2(&index(&[1, 1, 0, 2], 4), IndexSelect { dim: 0 })?.broadcast_mul(&v[1]),
    ];
    let wave = |count: usize, step: f32| -> Vec<f32> { (0..count).map(|i| (i as f32 * step).sin()).collect() };
    for (dtype, ulp) in [(DType::F32, 1e-6), (DType::F16, 1.0 / 1024.0), (DType::BF16, 1.0 / 128.0)] {
        // The mean is far from 0, so a mean in 16 bits would be wrong.
        let x = (tensor(&wave(120, 0.7), (3, 40)) + 30.0)?;
        let rounded = [x.to_dtype(dtype)?, tensor(&wave(40, 1.3), 40).to_dtype(dtype)?];
        let exact = rounded.each_ref().map(|variable| variable.to_dtype(DType::F64).unwrap());
        for (k, op) in ops.iter().enumerate() {
            for (got, expected) in gradients(&rounded, op)?.iter().zip(gradients(&exact, op)?) {
                assert_eq!(got.dtype(), dtype);
                let expected = values(&expected.to_dtype(DType::F32)?);
                let most = expected.iter().fold(0f32, |most, value| most.max(value.abs()));
                for (a, b) in values(&got.to_dtype(DType::F32)?).iter().zip(expected) {
                    assert!((a - b).abs() <= 4.0 * ulp * most, "op {k}, {dtype:?}: {a}, expected {b}, of up to {most}");
                }
            }
        }
    }
    // A sum of gradients that a 16-bit type would lose is kept.
    let x = Var::from_tensor(&tensor(&[1.0], (1, 1)).to_dtype(DType::BF16)?)?;
    let y = x.apply_op2(&index(&[0; 1000], 1000), IndexSelect { dim: 0 })?;
    let sum = y.sum_all()?.backward()?.remove(&x).expect("no gradient");
    close(&sum.to_dtype(DType::F32)?, &[1000.0]);
    // The weight may be f32 while x has 16 bits.
    let x = Var::from_tensor(&tensor(&wave(8, 0.7), (2, 4)).to_dtype(DType::F16)?)?;
    for op in [0, 1] {
        let weight = Var::from_tensor(&tensor(&wave(4, 1.3), 4))?;
        let y = match op {
            0 => x.apply_op2(&weight, RmsNorm { eps: 1e-5, flags: 0 })?,
            _ => x.apply_op2(&weight, LayerNorm { eps: 1e-5 })?,
        };
        let mut gradients = y.sum_all()?.backward()?;
        assert_eq!(gradients.remove(&weight).expect("no gradient").dtype(), DType::F32);
        assert_eq!(gradients.remove(&x).expect("no gradient").dtype(), DType::F16);
    }
    Ok(())
}

#[test]
fn no_gradient() -> Result<()> {
    let x = Var::from_tensor(&tensor(&numbers(24), (1, 2, 3, 4)))?;
    let upsampled = x.apply_op1(UpsampleNearest2d { height: 3, width: 6, rule: Nearest::Candle })?;
    says(upsampled.sum_all()?.backward(), "backward is not supported for hipops_upsample_nearest2d");
    let table = Var::from_tensor(&tensor(&[1.0; 6], (3, 2)))?;
    let (cos, sin) =
        (x.apply_op3(&table, &table.detach(), Rope::default())?, x.apply_op3(&table.detach(), &table, Rope::default())?);
    says(cos.sum_all()?.backward(), "hipops_rope: cos: it depends on a variable");
    says(sin.sum_all()?.backward(), "hipops_rope: sin: it depends on a variable");
    let row = Var::from_tensor(&tensor(&numbers(4), 4))?;
    let columns = row.apply_op1(ArgSort { descending: true })?;
    let (selected, gathered) = (row.apply_op2(&columns, IndexSelect { dim: 0 })?, row.apply_op2(&columns, Gather { dim: 0 })?);
    says(selected.sum_all()?.backward(), "hipops_index_select: index: it depends on a variable");
    says(gathered.sum_all()?.backward(), "hipops_gather: index: it depends on a variable");
    let added = row.apply_op3(&columns, &row, IndexAdd { dim: 0 })?;
    says(added.sum_all()?.backward(), "hipops_index_add: index: it depends on a variable");
    let added = row.apply_op3(&columns, &row, ScatterAdd { dim: 0, flags: 0 })?;
    says(added.sum_all()?.backward(), "hipops_scatter_add: index: it depends on a variable");
    let loss = row.broadcast_as((4, 4))?.apply_op2(&columns.to_dtype(DType::I64)?, CrossEntropy::default())?;
    says(loss.sum_all()?.backward(), "hipops_cross_entropy: target: it depends on a variable");
    // Columns of sort depend on no variable.
    let (y, columns) = sort(&row, true)?;
    assert!(y.track_op() && !columns.track_op());
    says(CustomOp1::bwd(&Softmax, &row, &row, &row), "hipops_softmax: it has no second derivative");
    Ok(())
}

#[test]
fn mistakes() -> Result<()> {
    let x = tensor(&numbers(8), (2, 4));
    let op = RmsNorm { eps: 1e-5, flags: 0 };
    says(x.apply_op2_no_bwd(&tensor(&[1.0; 3], 3), &op), "rms_norm: weight.shape[0] is 3, expected 4 (x.shape[1])");
    says(x.apply_op1_no_bwd(&RmsNorm { eps: -1.0, ..op }), "rms_norm: eps");
    says(x.apply_op2_no_bwd(&index(&[0], 1), &IndexSelect { dim: 2 }), "index_select: dim is 2");
    says(x.apply_op2_no_bwd(&index(&[0], (1, 1)), &IndexSelect { dim: 0 }), "index_select: index");
    says(x.apply_op2_no_bwd(&index(&[0], 1), &Gather { dim: 0 }), "gather: ");
    says(x.apply_op1_no_bwd(&UpsampleNearest2d { height: 1, width: 1, rule: Nearest::Exact }), "upsample_nearest2d: ");
    says(tensor(&[1.0], vec![1; 9]).apply_op1_no_bwd(&Softmax), "9 dimensions, expected at most 8");
    let outside = Layout::new(Shape::from((2, 4)), vec![4, 1], 1);
    let refused = CustomOp1::cpu_fwd(&Softmax, &CpuStorage::F32(numbers(8)), &outside);
    says(refused, "hipops_softmax: x: its layout reaches element 8 of a storage of 8");
    assert_eq!(tensor(&[], (0, 4)).apply_op1_no_bwd(&Softmax)?.dims(), [0, 4]);
    Ok(())
}
