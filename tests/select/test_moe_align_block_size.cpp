// hipops_moe_align_block_size: the arguments that it refuses, and results that do not depend on the grid.
#include "op_call.h"
#include "parity/temporary_options.h"

using namespace hipops_test;

TEST_CASE("moe_align_block_size refuses other shapes, dtypes and numbers", "[moe_align_block_size]") {
  check_calls([] {
    check_every_tensor("moe_align_block_size");
    const auto refuses = [](hipops_status status, const std::string& message, auto spoil, hipops_dtype dtype = HIPOPS_I32) {
      OpCall call("moe_align_block_size", dtype);
      spoil(call);
      call.refused(status, message);
    };
    const auto invalid = [&](const std::string& message, auto spoil) { refuses(HIPOPS_INVALID_ARGUMENT, message, spoil); };
    for (const int64_t experts : {0, -1, 1025})
      invalid("experts is " + std::to_string(experts) + ", expected 1 to 1024", [=](OpCall& c) { c.params["experts"] = static_cast<double>(experts); });
    for (const int64_t size : {0, -1, 65537})
      invalid("block_size is " + std::to_string(size) + ", expected 1 to 65536", [=](OpCall& c) { c.params["block_size"] = static_cast<double>(size); });
    invalid("sorted_ids.shape[0] is 31, expected 32 or more", [](OpCall& c) { c["sorted_ids"].shape[0] = 31; });
    invalid("sorted_ids.shape[0] is 32, expected 56 or more", [](OpCall& c) { c.params["experts"] = 8, c.params["block_size"] = 4; });
    invalid("expert_ids.shape[0] is 7, expected 8 or more", [](OpCall& c) {
      c.params["block_size"] = 5;
      c.set_shape("sorted_ids", {36});
      c["expert_ids"].shape[0] = 7;
    });
    invalid("count.shape[0] is 0, expected 1 or more", [](OpCall& c) { c["count"].shape[0] = 0; });
    invalid("expert_map.shape[0] is 1, expected 2 (experts)", [](OpCall& c) { c.params["experts"] = 2; });
    invalid("x.rank is 1, expected 2", [](OpCall& c) { c["x"].rank = 1; });
    invalid("sorted_ids.rank is 2, expected 1", [](OpCall& c) { c.set_shape("sorted_ids", {1, 32}); });
    invalid("x has 2147483648 elements, expected at most 2147483647", [](OpCall& c) { c.set_shape("x", {int64_t{1} << 28, 8}); });
    invalid("block_size is 65536, expected total + min(total, experts) * (block_size - 1) of at most 2147483647, total being 2147483647 "
            "and experts 1", [](OpCall& c) {
              c.set_shape("x", {INT32_MAX, 1}), c.params["experts"] = 1, c.params["block_size"] = 65536;
            });
    invalid("sorted_ids.shape[0] is 2147483648, expected at most 2147483647", [](OpCall& c) { c.set_shape("sorted_ids", {int64_t{1} << 31}); });
    for (const char* name : {"sorted_ids", "expert_ids", "count", "expert_map"})
      refuses(HIPOPS_UNSUPPORTED_DTYPE, std::string(name) + ".dtype is u32, expected i32", [=](OpCall& c) { c[name].dtype = HIPOPS_U32; });
    for (const hipops_dtype dtype : {HIPOPS_F32, HIPOPS_I16})
      refuses(HIPOPS_UNSUPPORTED_DTYPE, std::string("x.dtype is ") + hipops::parity::dtype_name(dtype) + ", expected i32, u32 or i64",
              [](OpCall&) {}, dtype);
    OpCall call("moe_align_block_size");
    call["expert_ids"].data = call.data("sorted_ids") + 8;
    call.invalid("expert_ids overlaps sorted_ids, expected separate memory");
  });
}

TEST_CASE("moe_align_block_size gives the same results for any grid", "[moe_align_block_size]") {
  on_cpu([] {
    constexpr int64_t kTokens = 4000, kOfToken = 6, kExperts = 70, kSize = 8, kPlaces = kTokens * kOfToken + kExperts * (kSize - 1);
    HostTensor x(HIPOPS_I32, {kTokens, kOfToken});
    for (int64_t i = 0; i < x.count(); ++i) x.set(i, static_cast<double>(i * 7919 % 1009 % 71));
    const auto aligned = [&] {
      HostTensor sorted(HIPOPS_I32, {kPlaces}), of_blocks(HIPOPS_I32, {(kPlaces + kSize - 1) / kSize}), count(HIPOPS_I32, {1});
      expect_success(hipops_moe_align_block_size(&sorted.view, &of_blocks.view, &count.view, &x.view, nullptr, kExperts, kSize, nullptr));
      std::vector<double> all = {count.get(0)};
      for (const HostTensor* t : {&sorted, &of_blocks})
        for (int64_t i = 0; i < t->count(); ++i) all.push_back(t->get(i));
      return all;
    };
    const std::vector<double> all = aligned();
    for (const int64_t blocks : {1, 3, 7}) {
      hipops::TemporaryOptions temporary;
      temporary.options.most_blocks = blocks;
      EXPECT(aligned() == all);
    }
  });
}
