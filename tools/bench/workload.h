// A row of the benchmark: an op, its tensors, and the bytes that it must move.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "parity/ops.h"

namespace hipops::bench {

struct Slice {
  int64_t begin = 0, end = 0;
};

struct Workload {
  std::string name;  // such as "rms_norm/bf16/8192x8192"
  std::string op;
  hipops_dtype dtype = HIPOPS_NONE;
  std::vector<int64_t> shape;  // of x, or of the memory that strided_copy's x is a view of
  std::vector<Slice> slice;    // strided_copy: x's part of each dimension; empty: all
  std::vector<int> order;      // strided_copy: dimension d of x is order[d] of the memory; empty: memory order
  // After "->": y's resized dimensions; of an op with an index: y's size along dim; of a reduction: y's sizes.
  std::vector<int64_t> size;
  int dim = 0;                 // for ops with an index
  hipops_dtype index = HIPOPS_I64;
  std::map<std::string, double> params;  // that differ from the usual values of the op's table
};

// Reads "8x4096", "262144x256->16384", "8x256x128x128->256x256" or "16384x12288[:,4096:8192]" into shape, slice and
// size. Returns "" or the error.
std::string parse_shape(const std::string& text, Workload* work);

// Throws std::logic_error for an unknown name.
const parity::OpEntry& op_named(const std::string& name);
bool has_index(const std::string& op);

// Returns "", or why the op refuses these tensors.
std::string check(const Workload& work);

// "rms_norm/bf16/8192x8192", and all settings that differ from the default.
std::string default_name(const Workload& work, const std::string& shape);

// These need a workload that check() has accepted.
std::vector<int64_t> input_shape(const Workload& work);  // of the view x
std::vector<int64_t> output_shape(const Workload& work);
std::vector<int64_t> shape_of(const Workload& work, const parity::TensorSpec& input);

// The bytes of x, y and the index that the op must move once. An indexed tensor counts only the elements that the index
// names. Weights and tables do not count.
int64_t bytes_moved(const Workload& work);

int64_t element_count(const std::vector<int64_t>& shape);
int64_t dtype_bytes(hipops_dtype dtype);

}  // namespace hipops::bench
