// hipops_dlpack.h on tensors made by hand. tests/dlpack/dlpack.py has tensors of NumPy and PyTorch.
#include "catch.h"
#include "hipops/hipops_dlpack.h"

namespace {

int64_t extents[9] = {2, 3, 4, 1, 1, 1, 1, 1, 1};

DLTensor dl_tensor(uint8_t code, uint8_t bits, uint16_t lanes = 1) {
  DLTensor tensor = {};
  tensor.data = extents;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = 3;
  tensor.dtype = {code, bits, lanes};
  tensor.shape = extents;
  return tensor;
}

hipops_status convert(const DLTensor& from, hipops_tensor* to = nullptr, hipops_backend backend = HIPOPS_BACKEND_CPU) {
  hipops_tensor unused;
  return hipops_from_dlpack(&from, backend, to ? to : &unused);
}

}  // namespace

TEST_CASE("every dtype has its DLPack type, and no other one has", "[dlpack]") {
  const struct {
    uint8_t code, bits;
    hipops_dtype dtype;
  } pairs[] = {{kDLFloat, 32, HIPOPS_F32}, {kDLFloat, 16, HIPOPS_F16}, {kDLBfloat, 16, HIPOPS_BF16},
               {kDLFloat, 64, HIPOPS_F64}, {kDLUInt, 8, HIPOPS_U8},    {kDLInt, 8, HIPOPS_I8},
               {kDLInt, 16, HIPOPS_I16},   {kDLUInt, 16, HIPOPS_U16},  {kDLInt, 32, HIPOPS_I32},
               {kDLUInt, 32, HIPOPS_U32},  {kDLInt, 64, HIPOPS_I64},   {kDLUInt, 64, HIPOPS_U64},
               {10, 8, HIPOPS_F8_E4M3FN},   {11, 8, HIPOPS_F8_E4M3FNUZ},
               {12, 8, HIPOPS_F8_E5M2},     {13, 8, HIPOPS_F8_E5M2FNUZ}};
  for (int code = 0; code < 20; ++code)
    for (int bits : {0, 1, 4, 8, 16, 32, 64, 128}) {
      hipops_dtype expected = HIPOPS_NONE;
      for (const auto& pair : pairs)
        if (pair.code == code && pair.bits == bits) expected = pair.dtype;
      INFO(code << " of " << bits << " bits");
      hipops_tensor to = {};
      const DLTensor from = dl_tensor(static_cast<uint8_t>(code), static_cast<uint8_t>(bits));
      CHECK(convert(from, &to) == (expected == HIPOPS_NONE ? HIPOPS_UNSUPPORTED_DTYPE : HIPOPS_SUCCESS));
      CHECK(to.dtype == expected);
    }
  CHECK(convert(dl_tensor(kDLFloat, 32, 4)) == HIPOPS_UNSUPPORTED_DTYPE);
}

TEST_CASE("a view has the tensor's memory, shape and strides", "[dlpack]") {
  DLTensor from = dl_tensor(kDLFloat, 32);
  hipops_tensor to = {};
  from.byte_offset = 8;
  REQUIRE(convert(from, &to) == HIPOPS_SUCCESS);
  CHECK(to.data == reinterpret_cast<char*>(extents) + 8);
  CHECK(to.rank == 3);
  for (int i = 0; i < 3; ++i) CHECK(to.shape[i] == extents[i]);
  const int64_t compact[] = {12, 4, 1};
  for (int i = 0; i < 3; ++i) CHECK(to.stride[i] == compact[i]);

  int64_t strides[] = {-1, 0, 7};
  from.strides = strides;
  REQUIRE(convert(from, &to) == HIPOPS_SUCCESS);
  for (int i = 0; i < 3; ++i) CHECK(to.stride[i] == strides[i]);

  from.data = nullptr;
  from.ndim = 0;
  REQUIRE(convert(from, &to) == HIPOPS_SUCCESS);
  CHECK(to.data == nullptr);
  CHECK(to.rank == 0);
}

TEST_CASE("a DLPack tensor that cannot be a view is refused, and the view is not changed", "[dlpack]") {
  DLTensor from = dl_tensor(kDLFloat, 32);
  hipops_tensor to = {};
  from.ndim = 9;
  CHECK(convert(from, &to) == HIPOPS_INVALID_ARGUMENT);
  from.ndim = 3;
  from.shape = nullptr;
  CHECK(convert(from, &to) == HIPOPS_INVALID_ARGUMENT);
  CHECK(hipops_from_dlpack(nullptr, HIPOPS_BACKEND_CPU, &to) == HIPOPS_INVALID_ARGUMENT);
  CHECK(hipops_from_dlpack(&from, HIPOPS_BACKEND_CPU, nullptr) == HIPOPS_INVALID_ARGUMENT);
  CHECK(to.data == nullptr);
}

TEST_CASE("memory is for the backends that can use it", "[dlpack]") {
  const struct {
    int device;
    bool hip, cuda, cpu;
  } kinds[] = {{kDLCPU, false, false, true}, {kDLROCM, true, false, false}, {kDLCUDA, true, true, false},
               {kDLCUDAHost, true, true, true}, {11, true, false, true}, {13, true, true, false},
               {kDLMetal, false, false, false}};
  for (const auto& kind : kinds) {
    INFO(kind.device);
    DLTensor from = dl_tensor(kDLFloat, 32);
    from.device.device_type = static_cast<DLDeviceType>(kind.device);
    CHECK((convert(from, nullptr, HIPOPS_BACKEND_HIP) == HIPOPS_SUCCESS) == kind.hip);
    CHECK((convert(from, nullptr, HIPOPS_BACKEND_CUDA) == HIPOPS_SUCCESS) == kind.cuda);
    CHECK((convert(from, nullptr, HIPOPS_BACKEND_CPU) == HIPOPS_SUCCESS) == kind.cpu);
    CHECK(convert(from, nullptr, HIPOPS_BACKEND_AUTO) == HIPOPS_SUCCESS);
  }
}
