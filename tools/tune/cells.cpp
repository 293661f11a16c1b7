#include "tune/cells.h"

#include <fnmatch.h>

#include <algorithm>

#include "ops.h"
#include "parity/number.h"
#include "tensor/strided.h"

namespace hipops::tune {
namespace {

const std::vector<double> kRowsPerUnit = {0.01, 0.1, 0.5, 1, 2, 8, 64, 512, 4096};

// In vectors of 16 bytes. Short rows without gaps are packed, so that unaligned rows of up to 16 vectors have gaps, and
// use the choice of 32 vectors. Kernels handle strided rows by element.
std::vector<double> vectors_of(RowLayout layout) {
  if (layout == RowLayout::packed) return {1, 2, 4, 8, 16};
  if (layout == RowLayout::strided) return {2, 8, 16, 32, 128, 512, 4096};
  std::vector<double> all = {32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 262144};
  if (layout == RowLayout::aligned) all.insert(all.begin(), 8);
  return all;
}

bool takes_any(const RowKernels& kernels, hipops_dtype dtype, RowLayout layout) {
  return std::any_of(kernels.kernel, kernels.kernel + kernels.count,
                     [&](const RowKernel& k) { return k.dtype == dtype && (k.layout == layout || layout == RowLayout::aligned); });
}

}  // namespace

const char* layout_name(RowLayout layout) {
  constexpr const char* kNames[] = {"aligned", "unaligned", "strided", "packed"};
  return kNames[static_cast<int>(layout)];
}

std::string name_of(const Group& group) {
  return std::string(group.op->name) + "/" + parity::dtype_name(group.dtype) + "/" + layout_name(group.layout);
}

std::vector<Group> groups(const std::string& pattern) {
  std::vector<Group> all;
  for (int i = 0; i < op_count; ++i) {
    Op* op = all_ops[i];
    if (!row_kernels_of(*op) || !find_image(op->name)) continue;
    for (const hipops_dtype dtype : {HIPOPS_BF16, HIPOPS_F32, HIPOPS_F64})
      for (const RowLayout layout : {RowLayout::aligned, RowLayout::unaligned, RowLayout::strided, RowLayout::packed}) {
        const Group group = {op, dtype, layout, vectors_of(layout), kRowsPerUnit};
        const bool matches = fnmatch(pattern.c_str(), name_of(group).c_str(), 0) == 0;
        if (matches && takes_any(*row_kernels_of(*op), dtype, layout)) all.push_back(group);
      }
  }
  return all;
}

RowProblem problem_of(const Group& group, double vectors, double rows_per_unit, const DeviceNumbers& device) {
  const auto bytes = static_cast<int64_t>(parity::dtype_size(group.dtype));
  const bool is_whole = group.layout == RowLayout::aligned || group.layout == RowLayout::strided;
  const int64_t cols = static_cast<int64_t>(vectors) * kWideAccess / bytes - (is_whole ? 0 : 1);
  const auto rows = static_cast<int64_t>(rows_per_unit * device.units);
  return {group.dtype, group.layout, std::max<int64_t>(rows, 1), std::max<int64_t>(cols, 1), true};
}

RowProblem least_of(const Group& group, double vectors_before, int64_t rows_before) {
  const auto bytes = static_cast<int64_t>(parity::dtype_size(group.dtype)), of_vector = kWideAccess / bytes;
  int64_t cols = static_cast<int64_t>(vectors_before) * of_vector + 1;
  const bool is_whole = group.layout == RowLayout::aligned;
  if (is_whole) cols = std::max<int64_t>(static_cast<int64_t>(vectors_before) + 1, 2) * of_vector;
  if (group.layout == RowLayout::unaligned) cols = std::max(cols, 16 * of_vector + 1);  // shorter rows are packed
  return {group.dtype, group.layout, rows_before + 1, cols, true};
}

std::vector<RowChoice> candidates(const RowKernels& kernels, const RowProblem& problem, const DeviceNumbers& device) {
  std::vector<RowChoice> found;
  for (int i = 0; i < kernels.count; ++i)
    for (int cluster = 1; cluster <= kLargestCluster; cluster *= 2)
      if (takes(kernels, {i, cluster}, problem, device)) found.push_back({i, cluster});
  return found;
}

std::string choice_name(const Group& group, const RowChoice& choice) {
  const std::string prefix = std::string(group.op->name) + "_" + parity::dtype_name(group.dtype) + "_";
  const std::string kernel = std::string(group.op->kernel_names[choice.kernel]).substr(prefix.size());
  return choice.cluster == 1 ? kernel : kernel + ":" + std::to_string(choice.cluster);
}

}  // namespace hipops::tune
