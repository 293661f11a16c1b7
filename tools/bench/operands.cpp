#include "operands.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "parity/buffer.h"
#include "parity/number.h"

namespace hipops::bench {
namespace {

using parity::expect_success;

constexpr int64_t kPatternBytes = int64_t{4} << 20;

// 16-bit words. In bf16, and in the upper half of f32 and f64, their exponent is near 0. In f16 they are 1.5 to 2.25.
std::vector<uint16_t> pattern() {
  std::mt19937 random(1);
  std::vector<uint16_t> bits(static_cast<size_t>(kPatternBytes / 2));
  for (uint16_t& value : bits) {
    const uint32_t draw = static_cast<uint32_t>(random());
    value = static_cast<uint16_t>((draw & 0x8000) | (0x3e00 + (draw & 0x7fff) % 0x280));
  }
  return bits;
}

// The largest value of the type is the sentinel index, so it is not used.
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
      std::memcpy(out, &index, bytes);  // little-endian, like every supported host
  }
  return indices;
}

// The view of contiguous memory with the slice and the permutation.
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

// The bits of the dimensions that are reduced.
double dims_of(const Workload& work) {
  double dims = 0;
  for (size_t d = 0; d < work.size.size(); ++d)
    if (work.size[d] != work.shape[d]) dims += static_cast<double>(1 << d);
  return dims;
}

// A number for each row, for each group of columns, or for the tensor.
std::vector<int64_t> scales_of(const Workload& work) {
  std::vector<int64_t> shape = input_shape(work);
  const auto group = work.params.find("group");
  if (group != work.params.end() && group->second == HIPOPS_WHOLE_TENSOR) return {};
  shape.back() = group == work.params.end() ? 1 : shape.back() / static_cast<int64_t>(group->second);
  return shape;
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

Operands::Operands(const Device& device, const Workload& work) : device_(device) {
  const parity::OpEntry& op = op_named(work.op);
  arguments_ = parity::usual_arguments(op);
  arguments_.add_param("dim", work.dim);
  for (const auto& [name, value] : work.params) arguments_.add_param(name, value);
  if (op.bench.reduces) arguments_.add_param("dims", dims_of(work));
  arguments_.add_param("k", static_cast<double>(output_shape(work).back()));
  arguments_.set_stream(device.stream);
  arguments_.add_tensor("x", view_of(work, numbers(element_count(work.shape), work.dtype)));
  for (const parity::TensorSpec& output : op.outputs)
    if (output.role == parity::Role::kData || output.role == parity::Role::kResult) add_numbers(output.name, work.dtype, output_shape(work));
    else if (output.role == parity::Role::kQuantised)
      add_numbers(output.name, HIPOPS_F8_E4M3FN, output_shape(work));
    else if (output.role == parity::Role::kScalar && !output.optional)
      add_numbers(output.name, parity::scalar_dtype(work.dtype), output.shape ? shape_of(work, output) : scales_of(work));
    else if (output.role == parity::Role::kIndex)
      add_numbers(output.name, work.index, output_shape(work));
    else if (output.role == parity::Role::kWeight)
      add_numbers(output.name, work.dtype, shape_of(work, output));
  for (const parity::TensorSpec& input : op.inputs) {
    if (arguments_[input.name] != nullptr || input.role == parity::Role::kReport) continue;
    if (input.role == parity::Role::kScalar && input.optional) continue;
    if (input.role != parity::Role::kIndex)
      add_numbers(input.name, input.role == parity::Role::kScalar ? parity::scalar_dtype(work.dtype) : work.dtype, shape_of(work, input));
    else if (!input.optional)
      arguments_.add_tensor(input.name, indices(work, shape_of(work, input)));
  }
  if (op.workspace_bytes != nullptr) add_workspace(op);
  call_ = op.bind(arguments_);
}

void* Operands::numbers(int64_t elements, hipops_dtype dtype) {
  memory_.push_back(std::make_unique<Memory>(device_, elements * dtype_bytes(dtype)));
  memory_.back()->fill_with_numbers();
  return memory_.back()->data();
}

void Operands::add_numbers(const char* name, hipops_dtype dtype, const std::vector<int64_t>& shape) {
  arguments_.add_tensor(name, contiguous(numbers(element_count(shape), dtype), dtype, shape));
}

// The index names rows of y if y is an input, or rows of x. An index that has x's shape and names rows of y usually is
// an expanded vector, so all elements of a row are equal.
hipops_tensor Operands::indices(const Workload& work, const std::vector<int64_t>& shape) {
  const std::vector<int64_t> in = input_shape(work);
  const size_t dim = static_cast<size_t>(work.dim);
  const bool writes = op_named(work.op).find_input("y") != nullptr;
  const int64_t end = writes ? output_shape(work)[dim] : in[dim];
  const int64_t count = element_count(shape);
  const bool expanded = writes && shape.size() == in.size();
  const int64_t repeats = expanded ? element_count({shape.begin() + work.dim + 1, shape.end()}) : 1;
  const std::vector<unsigned char> indices = random_indices(work.index, count / repeats, repeats, end);
  memory_.push_back(std::make_unique<Memory>(device_, static_cast<int64_t>(indices.size())));
  memory_.back()->copy_from_host(indices.data(), memory_.back()->bytes());
  return contiguous(memory_.back()->data(), work.index, shape);
}

void Operands::add_workspace(const parity::OpEntry& op) {
  int64_t bytes = 0;
  expect_success(op.workspace_bytes(arguments_, &bytes), std::string(op.name) + "'s workspace");
  if (bytes == 0) return;
  memory_.push_back(std::make_unique<Memory>(device_, bytes));
  arguments_.set_workspace(memory_.back()->data(), bytes);
}

}  // namespace hipops::bench
