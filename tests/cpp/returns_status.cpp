// hipops.hpp without exceptions: it is compiled with -fno-exceptions, and linked with a file that has them.
#include <hipops/hipops.hpp>

#include <cstring>

bool returns_status();
bool returns_status() {
  using hipops::tensor;
  float x[8] = {1, 2}, y[8];
  const tensor in(x, {2, 4}), out(y, {2, 4});
  if (hipops::softmax(out, in) != HIPOPS_SUCCESS) return false;
  if (hipops::softmax(out, tensor(x, {4, 2})) != HIPOPS_INVALID_ARGUMENT) return false;
  if (!std::strstr(hipops_last_error(), "softmax: y.shape[0] is 2, expected 4")) return false;
  // The op refuses a tensor that is none.
  for (const tensor& wrong : {tensor(x, {2, 4}, {1}), tensor(x, {1, 1, 1, 1, 1, 1, 1, 1, 1})}) {
    if (hipops::softmax(out, wrong) != HIPOPS_INVALID_ARGUMENT) return false;
    if (!std::strstr(hipops_last_error(), "softmax: x.rank is ")) return false;
  }
  int64_t bytes = -1, row = 1;
  const tensor index(&row, {1});
  if (hipops::index_add_workspace(out, tensor(x, {1, 4}), index, 0, &bytes) != HIPOPS_SUCCESS || bytes < 0) return false;
  if (hipops::index_add_workspace(out, in, index, 2, &bytes) != HIPOPS_INVALID_ARGUMENT) return false;
  return true;
}
