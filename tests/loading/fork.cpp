// fork LIBRARY: the child of a fork can use the library if the parent has not used it, and on the CPU in any case.
// After the choice of a GPU backend the child gets a status and a message, and the parent continues.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "host.h"

namespace {

constexpr int kForks = 200;

// A child that hangs is ended, and fails.
template <class Body>
void in_fork(Body body) {
  const pid_t child = fork();
  EXPECT(child >= 0);
  if (child == 0) {
    alarm(20);
    body();
    _exit(0);
  }
  int status = 0;
  EXPECT(waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) std::fprintf(stderr, "the child was ended by signal %d\n", WTERMSIG(status));
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void expect_refused(const Library& library) {
  const hipops_status status = library.prepare(nullptr);
  std::fprintf(stderr, "in the child: %s\n", library.last_error());
  EXPECT(status == HIPOPS_NO_DEVICE);
  EXPECT(std::strstr(library.last_error(), "this process was forked after the ") == library.last_error());
  float data[4] = {1, 1, 1, 1};
  hipops_tensor t = {data, HIPOPS_F32, 1, {4}, {1}};
  EXPECT(library.softmax(&t, &t, 0, nullptr) == HIPOPS_NO_DEVICE);
}

void use_again(const Library& library) {
  EXPECT(library.init(HIPOPS_BACKEND_CPU) == HIPOPS_SUCCESS);
  library.use();
}

// Other threads choose and launch all the time. So some forks happen while these threads hold locks that the child
// needs.
void fork_amid_calls(const Library& library) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (!stop) use_again(library);
    });
  threads.emplace_back([&] {
    while (!stop) library.init(HIPOPS_BACKEND_CPU);
  });
  for (int i = 0; i < kForks; ++i) in_fork([&] { use_again(library); });
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  Library library(argv[1], RTLD_NOW | RTLD_LOCAL);
  in_fork([&] { library.use(); });
  library.use();
  if (library.backend_in_use() == HIPOPS_BACKEND_CPU) {
    in_fork([&] { library.use(); });
    fork_amid_calls(library);
  } else {
    in_fork([&] { expect_refused(library); });
  }
  library.use();
}
