#include "parity/large_cases.h"

#include <new>

namespace hipops::parity::large {

std::vector<LargeCase> large_cases(int64_t scale) {
  const int64_t giant = (int64_t{1} << 31) / scale;
  std::vector<LargeCase> cases;
  add_row_cases(giant, &cases);
  add_rope_cases(giant, &cases);
  add_take_cases(giant, &cases);
  add_scatter_cases(giant, &cases);
  add_index_add_cases(giant, &cases);
  add_upsample_cases(giant, &cases);
  add_copy_cases(giant, &cases);
  return cases;
}

CaseResult run_large_case(Runtime& runtime, Staging& staging, const LargeCase& test, int64_t scale, uint64_t seed) {
  Stage stage(runtime, staging, scale, seed);
  const auto end = [&](CaseResult::Verdict verdict, const std::string& reason) {
    stage.result().verdict = verdict;
    stage.result().reasons.push_back(reason);
  };
  try {
    test.run(stage);
  } catch (const MemoryShort& shortage) {
    end(CaseResult::Verdict::kSkipped, shortage.what());
  } catch (const std::bad_alloc&) {
    end(CaseResult::Verdict::kFailed, "out of host memory");
  } catch (const std::exception& problem) {
    end(CaseResult::Verdict::kFailed, problem.what());
  }
  return stage.result();
}

}  // namespace hipops::parity::large
