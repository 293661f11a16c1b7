// HIPOPS_BATCH_INVARIANT: a row has the same bits alone and among others, at every place. Without the flag some row of each
// op differs, so the comparison finds such a difference. Three ops have no such row: dynamic_quantize, whose maximum is exact,
// and the backward passes of norms, whose plans are the same.
#include <cmath>
#include <set>

#include "op_tester.h"
#include "parity/ops.h"

using namespace hipops;
using namespace hipops_test;
using parity::Arguments;
using parity::OpEntry;
using parity::Role;
using parity::TensorSpec;

namespace {

constexpr uint32_t kInvariant = HIPOPS_BATCH_INVARIANT;

// Rows [first, first + count) of a tensor.
hipops_tensor rows_of(const HostTensor& t, int64_t first, int64_t count) {
  hipops_tensor view = t.view;
  view.data = static_cast<char*>(view.data) + first * view.stride[0] * static_cast<int64_t>(parity::dtype_size(view.dtype));
  view.shape[0] = count;
  return view;
}

struct Batch {
  int64_t rows, cols, shift, gap;  // gap: elements between rows
};

// An op's tensors, and its results for some of the rows. Row i of each tensor equals row rows - 1 - i.
class RowCall {
 public:
  RowCall(const OpEntry& op, hipops_dtype dtype, const Batch& batch, uint32_t flags) : op_(op), rows_(batch.rows), cols_(batch.cols) {
    for (const auto* specs : {&op.inputs, &op.outputs})
      for (const TensorSpec& spec : *specs) {
        const bool is_index = spec.role == Role::kIndex, is_scalar = spec.role == Role::kScalar || is_index, has_rows = spec.role != Role::kWeight;
        const bool is_sum = specs == &op.outputs && !has_rows;  // over all rows
        if (spec.role == Role::kReport || (spec.optional && (is_scalar || is_sum))) continue;
        const int64_t cols = is_scalar ? 1 : cols_;
        const hipops_dtype of_scalar = parity::scalar_dtype(dtype);
        const hipops_dtype own = is_index ? HIPOPS_I32 : is_scalar ? of_scalar : spec.role == Role::kQuantised ? HIPOPS_I8 : dtype;
        HostTensor t(own, has_rows ? Sizes{rows_, cols} : Sizes{cols},
                     has_rows ? Sizes{cols + batch.gap, 1} : Sizes{1}, batch.shift);
        if (specs == &op.inputs) fill(t, has_rows);
        (specs == &op.inputs ? inputs_ : outputs_).emplace_back(spec.name, std::move(t));
      }
    arguments_ = parity::usual_arguments(op);
    arguments_.add_param("flags", flags);
  }

  // The bits of all outputs, row by row.
  std::vector<std::vector<uint64_t>> run(int64_t first, int64_t count) {
    for (auto* all : {&inputs_, &outputs_})
      for (auto& [name, t] : *all) arguments_.add_tensor(name, t.view.rank == 2 ? rows_of(t, first, count) : t.view);
    int64_t bytes = 0;
    if (op_.workspace_bytes) expect_success(op_.workspace_bytes(arguments_, &bytes));
    Workspace workspace(bytes);
    arguments_.set_workspace(workspace.data(), bytes);
    expect_success(op_.call(arguments_));
    EXPECT(workspace.guards_are_whole());
    std::vector<std::vector<uint64_t>> bits(static_cast<size_t>(count));
    for (int64_t r = 0; r < count; ++r)
      for (auto& [name, t] : outputs_)
        for (int64_t cols = t.view.shape[1], c = 0; c < cols; ++c)
          bits[static_cast<size_t>(r)].push_back(t.bits((first + r) * cols + c));
    return bits;
  }

 private:
  // One row in eight is so large, and one so small, that its squares leave f32's range.
  void fill(HostTensor& t, bool has_rows) {
    const int64_t cols = t.view.shape[t.view.rank - 1];
    t.randomize(t.view.rank + 1, -1, 3);
    for (int64_t r = 0; has_rows && r < rows_; ++r) {
      const int64_t from = std::min(r, rows_ - 1 - r);
      const double scale = t.view.dtype == HIPOPS_F16 ? 1 : from % 8 == 3 ? 1e30 : from % 8 == 5 ? 1e-30 : 1;
      for (int64_t c = 0; c < cols; ++c)
        if (r == from) t.set(r * cols + c, t.get(r * cols + c) * scale);
        else t.set_bits(r * cols + c, t.bits(from * cols + c));
    }
  }

  const OpEntry& op_;
  int64_t rows_, cols_;
  std::vector<std::pair<const char*, HostTensor>> inputs_, outputs_;
  Arguments arguments_;
};

// How many rows have other bits alone, in a part of the rows, or at another place.
int differing_rows(const OpEntry& op, hipops_dtype dtype, const Batch& batch, uint32_t flags) {
  RowCall call(op, dtype, batch, flags);
  const auto all = call.run(0, batch.rows);
  int differing = 0;
  for (int64_t r = 0; r < batch.rows; ++r) differing += all[size_t(r)] != all[size_t(batch.rows - 1 - r)];
  for (const int64_t count : {int64_t{1}, int64_t{2}, batch.rows / 2 + 1})
    for (const int64_t first : std::set<int64_t>{0, 1, 3, batch.rows - count}) {
      if (first + count > batch.rows) continue;
      const auto some = call.run(first, count);
      for (int64_t r = 0; r < count; ++r) differing += some[size_t(r)] != all[size_t(first + r)];
    }
  return differing;
}

// The flag has no effect on topk, whose results are exact, and on topk_softmax, whose test compares tokens.
bool has_flag(const OpEntry& op) {
  if (std::string(op.name).rfind("topk", 0) == 0) return false;
  for (const parity::ParamSpec& param : op.params)
    if (param.name == std::string("flags"))
      return std::count(param.values.begin(), param.values.end(), kInvariant) != 0;
  return false;
}

std::string text_of(const Batch& b) {
  return std::to_string(b.rows) + " rows of " + std::to_string(b.cols) + ", " + std::to_string(b.shift) +
         " elements past an aligned address, " + std::to_string(b.gap) + " elements apart";
}

// Rows of every layout and body of the CPU's plans.
const Batch kBatches[] = {{140, 1, 0, 0},  {140, 4, 0, 0},   {140, 4, 0, 4},   {140, 7, 0, 0},  {140, 7, 0, 3},
                          {140, 8, 0, 8},  {20, 33, 0, 0},   {20, 64, 0, 0},   {12, 129, 0, 0}, {12, 512, 0, 0},
                          {12, 512, 0, 16}, {12, 1000, 1, 0}, {9, 1024, 0, 0},  {9, 4096, 0, 0}, {9, 5001, 0, 0},
                          {5, 20000, 0, 0}, {5, 40001, 0, 0}};

// Reductions of the last dimension, or of the first one, whose results are columns. Results i and
// results - 1 - i are of equal elements.
struct Reduced {
  int64_t results, length;
  bool is_columns;
};
std::vector<uint64_t> reduced(const HostTensor& x, hipops_reduction reduction, bool is_columns, int64_t first, int64_t count,
                              uint32_t flags, bool has_workspace) {
  hipops_tensor from = x.view;
  const int of_results = is_columns ? 1 : 0;
  from.data = static_cast<char*>(from.data) + first * from.stride[of_results] * static_cast<int64_t>(parity::dtype_size(from.dtype));
  from.shape[of_results] = count;
  const bool is_position = reduction >= HIPOPS_REDUCE_ARGMAX;
  HostTensor y(is_position ? HIPOPS_I64 : from.dtype == HIPOPS_F64 ? HIPOPS_F64 : HIPOPS_F32, {count});
  const uint32_t dims = is_columns ? 1 : 2;
  int64_t bytes = 0;
  expect_success(hipops_reduce_workspace_bytes(&y.view, &from, reduction, dims, flags, &bytes));
  if (!has_workspace) bytes = 0;
  Workspace workspace(bytes);
  expect_success(hipops_reduce(&y.view, &from, reduction, dims, flags, bytes ? workspace.data() : nullptr, bytes, nullptr));
  return all_bits(y);
}
int differing_results(const HostTensor& x, hipops_reduction reduction, const Reduced& r, uint32_t flags) {
  const std::vector<uint64_t> all = reduced(x, reduction, r.is_columns, 0, r.results, flags, true);
  int differing = 0;
  for (int64_t i = 0; i < r.results; ++i) differing += all[size_t(i)] != all[size_t(r.results - 1 - i)];
  for (const int64_t count : {int64_t{1}, int64_t{3}, r.results / 2 + 1})
    for (const int64_t first : std::set<int64_t>{0, 1, r.results - count})
      for (const bool has_workspace : {false, true}) {
        const std::vector<uint64_t> some = reduced(x, reduction, r.is_columns, first, count, flags, has_workspace);
        for (int64_t i = 0; i < count; ++i) differing += some[size_t(i)] != all[size_t(first + i)];
      }
  return differing;
}

}  // namespace

TEST_CASE("HIPOPS_BATCH_INVARIANT: a row has the same bits alone and among others", "[rows]") {
  on_cpu([] {
    int ops = 0;
    for (const OpEntry& op : parity::all_ops()) {
      if (!has_flag(op) || op.bench.reduces || !parity::is_built(op)) continue;
      int without = 0;
      for (const hipops_dtype dtype : op.dtypes)
        for (const Batch& batch : kBatches) {
          if (dtype == HIPOPS_F16) continue;  // its plans are bf16's
          const int differing = differing_rows(op, dtype, batch, kInvariant);
          if (differing != 0)
            throw std::runtime_error(std::string(op.name) + ", " + parity::dtype_name(dtype) + ", " + text_of(batch) + ": " +
                                     std::to_string(differing) + " rows differ");
          if (dtype == HIPOPS_F32) without += differing_rows(op, dtype, batch, 0);
        }
      const bool never_differs = std::set<std::string>{"dynamic_quantize", "rms_norm_backward", "layer_norm_backward"}.count(op.name) != 0;
      if ((without == 0) != never_differs)
        throw std::runtime_error(std::string(op.name) + ": " + std::to_string(without) + " rows differ without the flag");
      ++ops;
    }
    EXPECT(ops > 0);
  });
}

TEST_CASE("HIPOPS_BATCH_INVARIANT: a reduction has the same bits alone and among others", "[reduce]") {
  if (!parity::is_built(*parity::find_op(parity::all_ops(), "reduce"))) return;
  on_cpu([] {
    const Reduced all[] = {{300, 5, false},  {300, 8, false},   {60, 33, false},  {60, 100, false}, {20, 1024, false}, {9, 5001, false},
                           {5, 20000, false}, {5, 40001, false}, {5, 80000, false}, {40, 300, true}, {257, 40, true},  {64, 3000, true}};
    int without = 0;
    for (const hipops_dtype dtype : {HIPOPS_F32, HIPOPS_BF16, HIPOPS_F64})
      for (const int64_t shift : {0, 1})
        for (const Reduced& r : all) {
          HostTensor x(dtype, r.is_columns ? Sizes{r.length, r.results} : Sizes{r.results, r.length}, {}, shift);
          x.randomize(3, -1, 2);
          const auto place = [&](int64_t result, int64_t i) { return r.is_columns ? i * r.results + result : result * r.length + i; };
          for (int64_t result = 0; result < r.results / 2; ++result)
            for (int64_t i = 0; i < r.length; ++i) x.set_bits(place(r.results - 1 - result, i), x.bits(place(result, i)));
          for (int kind = HIPOPS_REDUCE_SUM; kind <= HIPOPS_REDUCE_ARGMIN; ++kind) {
            const auto reduction = static_cast<hipops_reduction>(kind);
            const int differing = differing_results(x, reduction, r, kInvariant);
            if (differing != 0)
              throw std::runtime_error("reduction " + std::to_string(kind) + ", " + parity::dtype_name(dtype) + ", " +
                                       std::to_string(r.results) + (r.is_columns ? " columns of " : " rows of ") +
                                       std::to_string(r.length) + ": " + std::to_string(differing) + " results differ");
            if (dtype == HIPOPS_F32 && kind == HIPOPS_REDUCE_SUM) without += differing_results(x, reduction, r, 0);
          }
        }
    EXPECT(without > 0);
  });
}
