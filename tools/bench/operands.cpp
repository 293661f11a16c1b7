#include "operands.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>

#include "parity/buffer.h"

namespace hipops::bench {
namespace {

using parity::expect_success;

constexpr int64_t kPatternBytes = int64_t{4} << 20;
constexpr double kEps = 1e-5;

// Of 16 bits each. As bf16, and as the upper bits of f32 and f64: a sign and an exponent near 0. As f16: 1.5 to 2.25.
std::vector<uint16_t> pattern() {
  std::mt19937 random(1);
  std::vector<uint16_t> bits(static_cast<size_t>(kPatternBytes / 2));
  for (uint16_t& value : bits) {
    const uint32_t draw = static_cast<uint32_t>(random());
    value = static_cast<uint16_t>((draw & 0x8000) | (0x3e00 + (draw & 0x7fff) % 0x280));
  }
  return bits;
}

// The mark for "nothing here", the largest value, is left out.
int64_t most_indexed(hipops_dtype index) {
  switch (index) {
    case HIPOPS_U8:
      return 0xff;
    case HIPOPS_I16:
      return 0x7fff;
    case HIPOPS_I32:
      return 0x7fffffff;
    case HIPOPS_U32:
      return 0xffffffff;
    default:
      return INT64_MAX;
  }
}

// `count` random indices below `end`, each written `repeats` times.
std::vector<unsigned char> random_indices(hipops_dtype dtype, int64_t count, int64_t repeats, int64_t end) {
  const size_t bytes = static_cast<size_t>(dtype_bytes(dtype));
  const uint64_t choices = static_cast<uint64_t>(std::min(end, most_indexed(dtype)));
  std::vector<unsigned char> indices(static_cast<size_t>(count * repeats) * bytes);
  std::mt19937_64 random(2);
  unsigned char* out = indices.data();
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t index = random() % choices;
    for (int64_t r = 0; r < repeats; ++r, out += bytes)
      std::memcpy(out, &index, bytes);  // little-endian, as every host that this runs on
  }
  return indices;
}

// The view of contiguous memory that the slice and the permutation make.
hipops_tensor view_of(const Workload& work, void* data) {
  hipops_tensor whole = contiguous(data, work.dtype, work.shape), view = whole;
  int64_t offset = 0;
  for (int d = 0; d < whole.rank; ++d) {
    const size_t from =
        work.order.empty() ? static_cast<size_t>(d) : static_cast<size_t>(work.order[static_cast<size_t>(d)]);
    view.shape[d] = input_shape(work)[static_cast<size_t>(d)];
    view.stride[d] = whole.stride[from];
    if (!work.slice.empty()) offset += work.slice[from].begin * whole.stride[from];
  }
  view.data = static_cast<char*>(data) + offset * dtype_bytes(work.dtype);
  return view;
}

}  // namespace

Memory::Memory(const Device& device, int64_t bytes) : device_(device), bytes_(bytes) {
  expect_success(device.runtime->allocate(static_cast<size_t>(bytes), &data_),
                 "allocate " + std::to_string(bytes) + " bytes");
}

Memory::~Memory() { device_.runtime->release(data_); }

void Memory::copy_from_host(const void* source, int64_t bytes) {
  expect_success(device_.runtime->copy_to_device(data_, source, static_cast<size_t>(bytes)), "copy to the device");
}

void Memory::fill_with_numbers() {
  static const std::vector<uint16_t> bits = pattern();
  int64_t filled = std::min(bytes_, kPatternBytes);
  copy_from_host(bits.data(), filled);
  for (int64_t more; filled < bytes_; filled += more) {
    more = std::min(filled, bytes_ - filled);
    expect_success(device_.tools->copy_on_device(static_cast<char*>(data_) + filled, data_, static_cast<size_t>(more),
                                                 device_.stream),
                   "copy on the device");
  }
  expect_success(device_.tools->synchronize(device_.stream), "copy on the device");
}

void Memory::fill_with_words(uint32_t word) {
  expect_success(device_.tools->fill(data_, word, static_cast<size_t>(bytes_ / 4), device_.stream), "fill memory");
}

hipops_tensor contiguous(void* data, hipops_dtype dtype, const std::vector<int64_t>& shape) {
  hipops_tensor tensor = {data, dtype, static_cast<int32_t>(shape.size()), {}, {}};
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) {
    tensor.shape[d] = shape[d];
    tensor.stride[d] = stride;
  }
  return tensor;
}

Call row_call(const std::string& op, const hipops_tensor& y, const hipops_tensor& x, void* weight, void* bias,
              void* stream) {
  const hipops_tensor w = contiguous(weight, x.dtype, {x.shape[x.rank - 1]}),
                      b = contiguous(bias, x.dtype, {x.shape[x.rank - 1]});
  if (op == "layer_norm") return [=] { return hipops_layer_norm(&y, &x, &w, &b, kEps, stream); };
  if (op == "rms_norm") return [=] { return hipops_rms_norm(&y, &x, &w, kEps, 0, stream); };
  return [=] { return hipops_softmax(&y, &x, stream); };
}

Operands::Operands(const Device& device, const Workload& work) : device_(device) { bind(work); }

void* Operands::numbers(int64_t elements, hipops_dtype dtype) {
  memory_.push_back(std::make_unique<Memory>(device_, elements * dtype_bytes(dtype)));
  memory_.back()->fill_with_numbers();
  return memory_.back()->data();
}

// Along dim; the adds' is the usual one that is expanded: the same for the elements of a row.
hipops_tensor Operands::index_of(const Workload& work) {
  const std::vector<int64_t> shape = index_shape(work);
  if (shape.empty()) return {};
  const bool writes = work.op == "scatter" || work.op == "scatter_add";
  const size_t dim = static_cast<size_t>(work.dim);
  const int64_t end =
      work.op == "gather" || work.op == "index_select" ? input_shape(work)[dim] : output_shape(work)[dim];
  const int64_t count = element_count(shape);
  const int64_t repeats = writes ? element_count({shape.begin() + work.dim + 1, shape.end()}) : 1;
  const std::vector<unsigned char> indices = random_indices(work.index, count / repeats, repeats, end);
  memory_.push_back(std::make_unique<Memory>(device_, static_cast<int64_t>(indices.size())));
  memory_.back()->copy_from_host(indices.data(), memory_.back()->bytes());
  return contiguous(memory_.back()->data(), work.index, shape);
}

void Operands::bind(const Workload& work) {
  const std::vector<int64_t> out = output_shape(work);
  const hipops_tensor x = view_of(work, numbers(element_count(work.shape), work.dtype));
  const hipops_tensor y = contiguous(numbers(element_count(out), work.dtype), work.dtype, out);
  const hipops_tensor index = index_of(work);
  void* const stream = device_.stream;
  const int dim = work.dim;
  if (is_row_op(work.op)) {
    void* const weight = numbers(out.back(), work.dtype);
    void* const bias = numbers(out.back(), work.dtype);
    call_ = row_call(work.op, y, x, weight, bias, stream);
  } else if (work.op == "fused_add_rms_norm") {
    const hipops_tensor residual = contiguous(numbers(element_count(out), work.dtype), work.dtype, out);
    const hipops_tensor sums = contiguous(numbers(element_count(out), work.dtype), work.dtype, out);
    const hipops_tensor weight = contiguous(numbers(out.back(), work.dtype), work.dtype, {out.back()});
    call_ = [=] { return hipops_fused_add_rms_norm(&y, &sums, &x, &residual, &weight, kEps, 0, stream); };
  } else if (is_rope(work.op)) {
    const std::vector<int64_t> angles = {out[work.op == "rope_thd" ? 1 : 2], out[3] / 2};
    const hipops_tensor cos = contiguous(numbers(element_count(angles), work.dtype), work.dtype, angles);
    const hipops_tensor sin = contiguous(numbers(element_count(angles), work.dtype), work.dtype, angles);
    const auto function = work.op == "rope" ? hipops_rope : work.op == "rope_i" ? hipops_rope_i : hipops_rope_thd;
    call_ = [=] { return function(&y, &x, &cos, &sin, nullptr, stream); };
  } else if (work.op == "gather") {
    call_ = [=] { return hipops_gather(&y, &x, &index, dim, nullptr, stream); };
  } else if (work.op == "index_select") {
    call_ = [=] { return hipops_index_select(&y, &x, &index, dim, nullptr, stream); };
  } else if (work.op == "upsample_nearest1d") {
    call_ = [=] { return hipops_upsample_nearest1d(&y, &x, HIPOPS_NEAREST_PYTORCH, 0, stream); };
  } else if (work.op == "upsample_nearest2d") {
    call_ = [=] { return hipops_upsample_nearest2d(&y, &x, HIPOPS_NEAREST_PYTORCH, 0, 0, stream); };
  } else if (work.op == "strided_copy") {
    call_ = [=] { return hipops_strided_copy(&y, &x, stream); };
  } else if (work.op == "index_add" || work.op == "scatter" || work.op == "scatter_add") {
    bind_adds(work, y, x, index);
  } else {
    throw std::logic_error("hipops-bench does not know " + work.op);
  }
}

// With the workspace that they ask for.
void Operands::bind_adds(const Workload& work, const hipops_tensor& y, const hipops_tensor& x,
                         const hipops_tensor& index) {
  const int dim = work.dim;
  const bool by_vector = work.op == "index_add";
  const auto size_of = work.op == "scatter" ? hipops_scatter_workspace_bytes : hipops_scatter_add_workspace_bytes;
  int64_t bytes = 0;
  expect_success(by_vector ? hipops_index_add_workspace_bytes(&y, &x, &index, dim, &bytes)
                           : size_of(&y, &x, &index, dim, 0, &bytes),
                 work.op + "'s workspace");
  void* space = nullptr;
  if (bytes > 0) {
    memory_.push_back(std::make_unique<Memory>(device_, bytes));
    space = memory_.back()->data();
  }
  void* const stream = device_.stream;
  if (by_vector) {
    call_ = [=] { return hipops_index_add(&y, &x, &index, dim, space, bytes, nullptr, stream); };
    return;
  }
  const auto function = work.op == "scatter" ? hipops_scatter : hipops_scatter_add;
  call_ = [=] { return function(&y, &x, &index, dim, 0, space, bytes, nullptr, stream); };
}

}  // namespace hipops::bench
