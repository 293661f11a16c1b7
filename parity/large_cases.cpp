#include "parity/large_cases.h"

#include <new>
#include <set>

namespace hipops::parity::large {

std::vector<LargeCase> large_cases(int64_t scale) {
  const int64_t giant = (int64_t{1} << 31) / scale;
  std::vector<LargeCase> cases;
  std::set<decltype(OpEntry::large_cases)> added = {nullptr};
  for (const OpEntry& op : all_ops())
    if (added.insert(op.large_cases).second) op.large_cases(giant, &cases);
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
