#include "fuzz/trial.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>

#include "fuzz/neighbours.h"
#include "fuzz/shrink.h"
#include "parity/other_ways.h"
#include "parity/random_case.h"
#include "parity/run_case.h"
#include "parity/terminal.h"
#include "runtime/runtime.h"

namespace hipops::fuzz {
namespace {

constexpr int kExitFailed = 1, kExitNoBackend = 2;  // of a child
constexpr unsigned kPatienceSeconds = 120;  // for one case

// The child's report, in shared memory: the parent can read it even if the child crashes.
struct Shared {
  uint64_t passed, rows, number, choices;
  uint64_t choice[4096];
  char text[8192];
  hipops_status status;  // of the backend
  bool beside_others;

  void note(uint64_t case_number, const std::vector<uint64_t>& used) {
    number = case_number;
    choices = std::min(used.size(), sizeof choice / sizeof choice[0]);
    std::copy(used.begin(), used.begin() + static_cast<ptrdiff_t>(choices), choice);
  }
  void say(const std::string& words) { std::snprintf(text, sizeof text, "%s", words.c_str()); }
};

class SharedMemory {
 public:
  SharedMemory() {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    shared_ = new (memory) Shared();
  }
  ~SharedMemory() { munmap(shared_, sizeof(Shared)); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  Shared* operator->() { return shared_; }
  Shared& operator*() { return *shared_; }

 private:
  Shared* shared_;
};

// Returns whether the case passed.
bool run(Runtime& runtime, const Setting& setting, uint64_t number, parity::Choices& choices, Shared& shared) {
  const parity::OpEntry& op = op_of(setting, number);
  const parity::Case test = parity::random_case(choices, op, setting.most_elements);
  const Plan plan = plan_of(setting, number);
  TemporaryOptions temporary;
  if (plan.as_many || plan.ordered) parity::set_other_ways(plan.as_many, plan.ordered, &temporary.options);
  shared.note(number, choices.used());
  alarm(kPatienceSeconds);
  const parity::CaseResult result = parity::run_case(runtime, op, test, setting.guard);
  std::string text;
  for (const std::string& reason : result.reasons) text += (text.empty() ? "" : "\n") + reason;
  if (result.verdict == parity::CaseResult::Verdict::kPassed) {
    if (op.by_rows) text = compare_beside_others(runtime, op, test, setting.guard, number, &shared.rows);
    if (text.empty()) return ++shared.passed, true;
    shared.beside_others = true;
  }
  shared.say(text);
  return false;
}

using Work = std::function<bool(Runtime& runtime, Shared& shared)>;

int child(const Setting& setting, const Work& work, Shared& shared) {
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
#if !defined(__SANITIZE_ADDRESS__)  // the sanitizer's report is better than a signal's name
  for (const int fault : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) std::signal(fault, SIG_DFL);
#endif
  try {
    Runtime* opened = nullptr;
    const DeviceFacts* facts = nullptr;
    hipops_status status = hipops_init(setting.backend);
    if (status == HIPOPS_SUCCESS) status = runtime(&opened);
    if (status == HIPOPS_SUCCESS) status = device_facts(&facts);
    if (status != HIPOPS_SUCCESS) {
      shared.status = status;
      shared.say(hipops_last_error());
      return kExitNoBackend;
    }
    shared.say(facts->name + " (" + facts->target + "), wave " + std::to_string(facts->wave_size));
    return work(*opened, shared) ? 0 : kExitFailed;
  } catch (const std::exception& problem) {
    shared.say(problem.what());
    return kExitFailed;
  }
}

Trial run_in_child(const Setting& setting, bool quiet, const Work& work) {
  SharedMemory shared;
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("no child process");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // the child ends with an interrupted parent
    if (quiet) {
      const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
      dup2(nowhere, STDERR_FILENO);
    }
    _exit(child(setting, work, *shared));
  }
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) throw std::runtime_error("the child process is lost");
  Trial trial;
  trial.passed = shared->passed;
  trial.rows = shared->rows;
  trial.number = shared->number;
  trial.choices.assign(shared->choice, shared->choice + shared->choices);
  trial.text = shared->text;
  trial.status = shared->status;
  trial.beside_others = shared->beside_others;
  if (WIFSIGNALED(status)) {
    trial.ending = Ending::kDied;
    trial.text = std::string("the process ended: ") + strsignal(WTERMSIG(status));
  } else if (WEXITSTATUS(status) == kExitNoBackend) {
    trial.ending = Ending::kNoBackend;
  } else if (WEXITSTATUS(status) != 0) {
    trial.ending = Ending::kFailed;
  }
  return trial;
}

bool has_failed(const Trial& trial) { return trial.ending == Ending::kFailed || trial.ending == Ending::kDied; }

}  // namespace

const parity::OpEntry& op_of(const Setting& setting, uint64_t number) {
  return setting.ops[number % setting.ops.size()];
}

Plan plan_of(const Setting& setting, uint64_t number) {
  const uint64_t turn = number / setting.ops.size();
  return {turn % 2 != 0, turn / 2 % 2 != 0};
}

Trial try_cases(const Setting& setting, uint64_t first, uint64_t count) {
  parity::Progress progress(count);
  const Trial trial = run_in_child(setting, false, [&](Runtime& runtime, Shared& shared) {
    for (uint64_t number = first; number < first + count; ++number) {
      progress.show(number - first, op_of(setting, number).name);
      parity::SeededChoices choices(setting.seed, number);
      if (!run(runtime, setting, number, choices, shared)) return false;
    }
    return true;
  });
  progress.clear();  // not in the child, which may crash
  return trial;
}

Trial try_choices(const Setting& setting, uint64_t number, const std::vector<uint64_t>& choices) {
  return run_in_child(setting, true, [&](Runtime& runtime, Shared& shared) {
    parity::GivenChoices given(choices);
    return run(runtime, setting, number, given, shared);
  });
}

Trial shrink_trial(const Setting& setting, Trial failed, int most_runs) {
  shrink(failed.choices, most_runs, [&](const std::vector<uint64_t>& choices) {
    Trial trial = try_choices(setting, failed.number, choices);
    if (!has_failed(trial)) return std::vector<uint64_t>{};
    failed.choices = trial.choices;
    failed.text = trial.text;
    failed.ending = trial.ending;
    return trial.choices;
  });
  return failed;
}

}  // namespace hipops::fuzz
