#include "parity/threads_case.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <system_error>
#include <thread>

#include "parity/case_run.h"

namespace hipops::parity {
namespace {

constexpr size_t kThreadsOfCase = 4;

// A barrier for threads.
class Line {
 public:
  explicit Line(size_t threads) : missing_(threads) {}
  void wait() {
    for (--missing_; missing_ > 0;) std::this_thread::yield();
  }
  void go_without(size_t threads) { missing_ -= threads; }

 private:
  std::atomic<size_t> missing_;
};

class Stream {
 public:
  explicit Stream(Runtime& runtime) : runtime_(runtime) {
    expect_success(runtime.create_stream(&stream_), "creating a stream");
  }
  ~Stream() { runtime_.destroy_stream(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  void* get() const { return stream_; }

 private:
  Runtime& runtime_;
  void* stream_ = nullptr;
};

// Waits at the barrier even after a failure, because the other threads wait for it.
CaseResult run_one(Runtime& runtime, const ThreadCase& one, int device, Guard guard, Line* line) {
  CaseRun run(runtime, *one.op, *one.test, guard);
  std::unique_ptr<Stream> stream;
  const CaseResult ready = run.attempt([&] {
    expect_success(runtime.set_device(device), "choosing device " + std::to_string(device));
    stream = std::make_unique<Stream>(runtime);
    run.prepare();
  });
  line->wait();
  if (ready.verdict != CaseResult::Verdict::kPassed) return ready;
  return run.attempt([&] {
    run.call(stream->get());
    run.check();
  });
}

}  // namespace

CaseResult run_on_threads(Runtime& runtime, const std::vector<ThreadCase>& cases, Guard guard) {
  int devices = 1;
  if (runtime.device_count(&devices) != HIPOPS_SUCCESS) devices = 1;
  std::vector<CaseResult> results(cases.size());
  std::vector<std::thread> threads;
  Line line(cases.size());
  threads.reserve(cases.size());
  try {
    for (size_t i = 0; i < cases.size(); ++i)
      threads.emplace_back(
          [&, i] { results[i] = run_one(runtime, cases[i], static_cast<int>(i) % devices, guard, &line); });
  } catch (const std::system_error& problem) {
    line.go_without(cases.size() - threads.size());
    for (size_t i = threads.size(); i < cases.size(); ++i) {
      results[i].verdict = CaseResult::Verdict::kFailed;
      results[i].reasons = {std::string("there is no thread for it: ") + problem.what()};
    }
  }
  for (std::thread& thread : threads) thread.join();
  CaseResult result = results[0];
  result.reasons.clear();
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].verdict == CaseResult::Verdict::kPassed) continue;
    result.verdict = CaseResult::Verdict::kFailed;
    for (const std::string& reason : results[i].reasons)
      result.reasons.push_back("thread " + std::to_string(i + 1) + " (" + cases[i].op->name + " " +
                               cases[i].test->name + "): " + reason);
  }
  return result;
}

std::vector<ThreadCase> company_of(const std::vector<ThreadCase>& all, size_t index, int threads) {
  const size_t count = static_cast<size_t>(threads);
  const size_t groups = (count + kThreadsOfCase - 1) / kThreadsOfCase;
  std::vector<ThreadCase> company;
  for (size_t i = 0; i < count; ++i)
    company.push_back(all[(index + i / kThreadsOfCase * all.size() / groups) % all.size()]);
  return company;
}

}  // namespace hipops::parity
