// Calls that must not compile. CASE selects one, and CASE 0 is valid. abi.cmake has the compiler's message for each.
#include <hipops/hipops.hpp>

void call(float* y, const float* x, std::byte* bytes, volatile float* port);
void call(float* y, const float* x, std::byte* bytes, volatile float* port) {
  using namespace hipops;
  static_cast<void>(bytes), static_cast<void>(port);
  const const_tensor in(x, {2, 4});
  const tensor out(y, {2, 4});
  softmax(out, in);
#if CASE == 1
  const_tensor(bytes, {8});
#elif CASE == 2
  tensor(port, {8});
#elif CASE == 3
  __extension__ typedef __int128 Wide;
  tensor(static_cast<Wide*>(nullptr), {8});
#elif CASE == 4
  softmax(in, out);
#elif CASE == 5
  softmax(tensor(x, {2, 4}), in);
#elif CASE == 6
  softmax({static_cast<const void*>(x), HIPOPS_F32, {2, 4}}, in);
#elif CASE == 7
  fused_add_rms_norm(out, in, nullptr, in, in, nullptr, 1e-5);
#endif
}
