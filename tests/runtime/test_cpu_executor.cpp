// The CPU executor with kernels written by hand: each work-item is a call of `run`. A child process provokes each
// defect; the test checks that it dies by SIGABRT, and its message.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "child.h"
#include "device/core/cpu.h"
#include "hipops/hipops.h"
#include "runtime/cpu/executor.h"
#include "runtime/cpu/race.h"
#include "runtime/cpu/sanitizer.h"
#include "runtime/cpu/stack.h"

namespace {

using hipops::CpuKernel;
using hipops::cpu::Executor;
using hipops::cpu::Settings;

#define HERE (hipops::cpu::Site{__FILE__, __LINE__})

using Body = std::function<void()>;

// A kernel whose argument is the function to call.
const CpuKernel kCall = {"test_kernel", [](const void* args) { (*static_cast<const Body*>(args))(); }};

hipops_status run(uint32_t grid, uint32_t block, const Settings& settings, const Body& body) {
  return Executor(settings).launch(kCall, &body, grid, block);
}

Settings settings_of(uint32_t wave, uint32_t threads = 1, uint64_t seed = 0) {
  Settings settings;
  settings.wave = wave;
  settings.threads = threads;
  settings.seed = seed;
  return settings;
}

Settings with_race_check() {
  Settings settings;
  settings.race = true;
  return settings;
}

uint32_t thread_index() { return hipops::cpu::thread_index(); }
uint32_t block_index() { return hipops::cpu::block_index(); }

uint32_t lanes_of_wave(uint32_t wave, uint32_t block) {
  const uint32_t first = thread_index() / wave * wave;
  return std::min(wave, block - first);
}

Death death_of(uint32_t grid, uint32_t block, const Settings& settings, const Body& body) {
  return in_child([&] { return run(grid, block, settings, body) == HIPOPS_SUCCESS ? 0 : 1; });
}

std::string at_line(int line) { return std::string(__FILE__) + ":" + std::to_string(line); }

// Pieces of shared memory by number.
void* piece(int number, size_t bytes, size_t align) {
  static const char keys[4] = {};
  return hipops::cpu::shared_memory(&keys[number], bytes, align);
}

float* shared_floats(size_t count) {
  return static_cast<float*>(piece(0, count * sizeof(float), alignof(float)));
}

void note(const float* at, bool write, hipops::cpu::Site site) {
  hipops::cpu::shared_access(at, at, sizeof *at, write, site);
}

// Sums over the wave by a butterfly; lanes without a partner keep their value.
uint64_t butterfly(uint64_t value, uint32_t wave, uint32_t block) {
  const uint32_t lane = thread_index() % wave, size = lanes_of_wave(wave, block);
  for (uint32_t half = 1; half < wave; half *= 2) {
    const bool paired = (lane ^ half) < size;
    uint64_t other = value;
    hipops::cpu::exchange(&other, sizeof other, paired ? lane ^ half : lane, wave, HERE);
    if (paired) value += other;
  }
  return value;
}

// ---- Valid kernels.

TEST_CASE("cpu executor: every work-item of every block runs exactly once") {
  for (uint64_t seed : {0, 1, 2}) {
    for (uint32_t threads : {1, 4}) {
      for (uint32_t block : {1u, 31u, 64u, 257u, 1024u}) {
        for (uint32_t grid : {1u, 2u, 37u}) {
          std::unique_ptr<std::atomic<int>[]> seen(new std::atomic<int>[size_t{grid} * block]());
          const hipops_status status = run(grid, block, settings_of(32, threads, seed),
                                           [&] { seen[size_t{block_index()} * block + thread_index()].fetch_add(1); });
          REQUIRE(status == HIPOPS_SUCCESS);
          CHECK(std::all_of(&seen[0], &seen[size_t{grid} * block], [](const std::atomic<int>& n) { return n == 1; }));
        }
      }
    }
  }
}

TEST_CASE("cpu executor: in order without a seed, shuffled and repeatable with one") {
  const auto order = [](uint64_t seed) {
    std::vector<uint32_t> seen;
    run(5, 40, settings_of(32, 1, seed), [&] {
      seen.push_back(block_index() * 40 + thread_index());
      hipops::cpu::barrier(HERE);
      seen.push_back(block_index() * 40 + thread_index());
    });
    return seen;
  };
  std::vector<uint32_t> sequential;
  for (uint32_t block = 0; block < 5; ++block) {
    for (int phase = 0; phase < 2; ++phase) {
      for (uint32_t lane = 0; lane < 40; ++lane) sequential.push_back(block * 40 + lane);
    }
  }
  CHECK(order(0) == sequential);
  CHECK(order(7) == order(7));
  CHECK(order(7) != sequential);
  CHECK(order(7) != order(8));
  const std::vector<uint32_t> shuffled = order(7);
  std::vector<uint32_t> blocks;
  for (size_t i = 0; i < shuffled.size(); i += 80) blocks.push_back(shuffled[i] / 40);
  CHECK(blocks != std::vector<uint32_t>{0, 1, 2, 3, 4});
}

TEST_CASE("cpu executor: a barrier orders the phases of a block") {
  for (uint64_t seed : {0, 5}) {
    for (uint32_t block : {1u, 33u, 256u}) {
      const uint32_t grid = 16;
      std::vector<int> wrong(grid), done(grid);
      run(grid, block, settings_of(32, 3, seed), [&] {
        float* values = shared_floats(block);
        for (int phase = 0; phase < 4; ++phase) {
          values[thread_index()] = static_cast<float>(phase * 1000) + static_cast<float>(thread_index());
          hipops::cpu::barrier(HERE);
          const uint32_t other = (thread_index() * 7 + 3) % block;
          if (values[other] != static_cast<float>(phase * 1000) + static_cast<float>(other)) ++wrong[block_index()];
          hipops::cpu::barrier(HERE);
        }
        ++done[block_index()];
      });
      CHECK(wrong == std::vector<int>(grid, 0));
      CHECK(done == std::vector<int>(grid, static_cast<int>(block)));
    }
  }
}

TEST_CASE("cpu executor: exchanges add up a wave, a short last one too") {
  for (uint32_t wave : {32u, 64u}) {
    for (uint32_t block : {wave, 1u, 4 * wave, 2 * wave + wave / 2, wave + 1}) {
      for (uint64_t seed : {0, 3}) {
        const uint32_t grid = 9;
        std::vector<uint64_t> sums(size_t{grid} * block);
        const hipops_status status = run(grid, block, settings_of(wave, 2, seed), [&] {
          const uint64_t value = uint64_t{1} << 40 | (block_index() * 5000 + thread_index());
          sums[size_t{block_index()} * block + thread_index()] = butterfly(value, wave, block);
        });
        REQUIRE(status == HIPOPS_SUCCESS);
        for (uint32_t i = 0; i < grid * block; ++i) {
          const uint32_t lane = i % block, first = lane / wave * wave, size = std::min(wave, block - first);
          if ((size & (size - 1)) != 0) continue;  // a butterfly needs a power of two
          uint64_t expected = 0;
          for (uint32_t k = first; k < first + size; ++k) expected += uint64_t{1} << 40 | (i / block * 5000 + k);
          REQUIRE(sums[i] == expected);
        }
      }
    }
  }
}

template <size_t Bytes>
void check_rotation() {
  constexpr uint32_t block = 50;
  std::vector<std::array<unsigned char, Bytes>> got(block);
  run(1, block, settings_of(32), [&] {
    std::array<unsigned char, Bytes> value;
    for (size_t i = 0; i < Bytes; ++i) value[i] = static_cast<unsigned char>(thread_index() * 3 + i);
    const uint32_t source = (thread_index() % 32 + 1) % lanes_of_wave(32, block);
    hipops::cpu::exchange(value.data(), Bytes, source, 32, HERE);
    got[thread_index()] = value;
  });
  for (uint32_t i = 0; i < block; ++i) {
    const uint32_t first = i / 32 * 32, source = first + (i - first + 1) % std::min(32u, block - first);
    for (size_t k = 0; k < Bytes; ++k) REQUIRE(got[i][k] == static_cast<unsigned char>(source * 3 + k));
  }
}

TEST_CASE("cpu executor: an exchange carries 1 to 32 bytes from any lane") {
  check_rotation<1>();
  check_rotation<2>();
  check_rotation<4>();
  check_rotation<8>();
  check_rotation<12>();
  check_rotation<16>();
  check_rotation<24>();
  check_rotation<32>();
}

TEST_CASE("cpu executor: a ballot returns the predicates of all lanes of a wave, also of a short last wave") {
  const auto holds = [](uint32_t lane) { return lane % 3 == 0 || lane == 31 || lane == 63 || lane == 70; };
  for (const uint32_t wave : {32u, 64u}) {
    const uint32_t block = 2 * wave + 8;
    std::vector<uint64_t> got(block);
    run(1, block, settings_of(wave), [&] {
      got[thread_index()] = hipops::cpu::ballot(holds(thread_index()), wave, HERE);
    });
    for (uint32_t i = 0; i < block; ++i) {
      uint64_t expected = 0;
      for (uint32_t lane = i / wave * wave; lane < std::min(i / wave * wave + wave, block); ++lane)
        expected |= uint64_t{holds(lane)} << lane % wave;
      REQUIRE(got[i] == expected);
    }
  }
}

TEST_CASE("cpu executor: waves and blocks that wait differently often do not hold each other up") {
  std::vector<uint64_t> sums(6 * 128);
  run(6, 128, settings_of(32, 2), [&] {
    uint64_t value = thread_index();
    const uint32_t rounds = thread_index() / 32 + block_index();
    for (uint32_t i = 0; i < rounds; ++i) value = butterfly(value, 32, 128) % 1000;
    hipops::cpu::barrier(HERE);
    sums[block_index() * 128 + thread_index()] = value;
  });
  for (uint32_t i = 0; i < sums.size(); ++i) {
    const uint32_t lane = i % 128, wave = lane / 32, rounds = wave + i / 128;
    uint64_t expected = lane;
    for (uint32_t r = 0; r < rounds; ++r) expected = (r == 0 ? 32 * 32 * wave + 496 : 32 * expected) % 1000;
    REQUIRE(sums[i] == expected);
  }
}

TEST_CASE("cpu executor: launches from several threads at once") {
  std::vector<std::thread> callers;
  std::array<int, 4> failures = {};
  for (uint32_t caller = 0; caller < 4; ++caller) {
    callers.emplace_back([caller, &failures] {
      for (uint32_t round = 0; round < 20; ++round) {
        const uint32_t block = 32 * (caller + 1);
        std::vector<uint64_t> sums(7 * block);
        run(7, block, settings_of(32, 2, round % 2 * caller),
            [&] { sums[block_index() * block + thread_index()] = butterfly(caller + 1, 32, block); });
        for (uint64_t sum : sums) failures[caller] += sum != 32 * (caller + 1);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(failures == std::array<int, 4>{});
}

TEST_CASE("cpu executor: a work-item may launch, and then continues") {
  std::vector<uint32_t> seen(2 * 3);
  run(2, 3, settings_of(32), [&] {
    uint32_t inner = 0;
    hipops::cpu::barrier(HERE);
    run(4, 8, settings_of(64), [&] {
      hipops::cpu::barrier(HERE);
      inner += block_index() * 8 + thread_index();
    });
    hipops::cpu::barrier(HERE);
    seen[block_index() * 3 + thread_index()] = inner + block_index() * 3 + thread_index();
  });
  CHECK(seen == std::vector<uint32_t>{496, 497, 498, 499, 500, 501});
}

TEST_CASE("cpu executor: launch after launch, of any size, on the same stacks") {
  for (uint64_t seed : {0, 9}) {
    Executor executor(settings_of(32, 2, seed));
    for (uint32_t block : {40u, 1024u, 1u, 512u, 33u, 1024u}) {
      std::vector<uint64_t> sums(3 * block);
      const Body body = [&] {
        const uint64_t sum = butterfly(1, 32, block);
        hipops::cpu::barrier(HERE);
        sums[block_index() * block + thread_index()] = sum;
      };
      REQUIRE(executor.launch(kCall, &body, 3, block) == HIPOPS_SUCCESS);
      for (uint32_t i = 0; i < block / 32 * 32; ++i) REQUIRE(sums[2 * block + i] == 32);
    }
  }
}

// ---- Shared memory.

TEST_CASE("cpu executor: shared memory is the block's, and starts as NaN in each block") {
  const uint32_t grid = 12, block = 70;
  std::atomic<int> wrong{0};
  run(grid, block, settings_of(32, 2), [&] {
    float* a = shared_floats(block);
    double* b = static_cast<double*>(piece(1, 3 * sizeof(double), 64));
    wrong += !std::isnan(a[thread_index()]) || !std::isnan(b[2]);
    wrong +=
        reinterpret_cast<uintptr_t>(b) % 64 != 0 || reinterpret_cast<char*>(b) < reinterpret_cast<char*>(a + block);
    hipops::cpu::barrier(HERE);
    a[thread_index()] = static_cast<float>(thread_index() + block_index());
    if (thread_index() == 0) b[2] = block_index();
    hipops::cpu::barrier(HERE);
    wrong += a[block - 1 - thread_index()] != static_cast<float>(block - 1 - thread_index() + block_index());
    wrong += b[2] != block_index();
  });
  CHECK(wrong == 0);
}

TEST_CASE("cpu executor: all of shared memory can be had, and not a byte more") {
  CHECK(run(2, 2, settings_of(32), [] {
          char* all = static_cast<char*>(piece(1, 81920, 16));
          all[81919 - thread_index()] = 1;
        }) == HIPOPS_SUCCESS);
  const Death death = death_of(1, 2, settings_of(32), [] {
    piece(1, 60000, 16);
    piece(2, 21921, 1);
  });
  REQUIRE_DEATH(death, "test_kernel", "block 0", "21921 bytes of shared memory with 60000 in use", "81920");
}

TEST_CASE("cpu executor: work-items that disagree on shared memory are a defect") {
  const Death death = death_of(1, 8, settings_of(32), [] {
    piece(1, 64, 4);
    piece(2, thread_index() == 5 ? 128 : 64, 4);
  });
  REQUIRE_DEATH(death, "test_kernel", "a piece had 64 bytes", "work-item 5 makes it 128");
}

TEST_CASE("cpu executor: an alignment that cannot be is a defect") {
  REQUIRE_DEATH(death_of(1, 1, settings_of(32), [] { piece(1, 64, 24); }), "aligned to 24",
                "power of two");
}

// ---- Defects that would hang a GPU, or worse.

TEST_CASE("cpu executor: a work-item that ends while others wait at a barrier is a defect") {
  const int line = __LINE__ + 2;
  const Death death = death_of(3, 256, settings_of(32, 1, 0), [] {
    if (block_index() == 1 && (thread_index() < 32 || thread_index() == 40)) hipops::cpu::barrier(HERE);
  });
  REQUIRE_DEATH(death, "test_kernel", "block 1 of 3", "work-item 32 has ended", "0-31: wait at the barrier at ",
                at_line(line), "32: have ended", "33-255: have not started", "HIPOPS_CPU_SEED=0");
}

TEST_CASE("cpu executor: a barrier that others ended without is a defect") {
  const Death death = death_of(1, 64, settings_of(32), [] {
    if (thread_index() >= 32) hipops::cpu::barrier(HERE);
  });
  REQUIRE_DEATH(death, "work-item 32 reaches the barrier", "0-31: have ended", "32: is running");
}

TEST_CASE("cpu executor: a barrier in half of a wave is a defect") {
  const int line = __LINE__ + 4;
  const Death death = death_of(1, 64, settings_of(64), [] {
    int value = 0;
    if (thread_index() % 2 == 0) {
      hipops::cpu::barrier(HERE);
    } else {
      hipops::cpu::exchange(&value, sizeof value, 0, 64, HERE);
    }
  });
  REQUIRE_DEATH(death, "work-item 1 reaches an exchange of 4 bytes", "0: wait at the barrier at ", at_line(line));
}

TEST_CASE("cpu executor: a barrier while others of the wave exchange is a defect, in any order") {
  for (uint64_t seed : {0, 1, 2, 3}) {
    const Death death = death_of(1, 64, settings_of(64, 1, seed), [] {
      int value = 0;
      if (thread_index() == 63) hipops::cpu::barrier(HERE);
      hipops::cpu::exchange(&value, sizeof value, 0, 64, HERE);
    });
    const std::string seeded = "HIPOPS_CPU_SEED=" + std::to_string(seed);
    REQUIRE_DEATH(death, "test_kernel", seeded, "of its wave wait");
  }
}

TEST_CASE("cpu executor: two different barriers are a defect") {
  const Death death = death_of(1, 64, settings_of(32), [] {
    if (thread_index() < 32) {
      hipops::cpu::barrier(HERE);
    } else {
      hipops::cpu::barrier(HERE);
    }
  });
  REQUIRE_DEATH(death, "work-item 32 reaches the barrier", "others of its block wait at another barrier",
                "0-31: wait at");
}

TEST_CASE("cpu executor: exchanges at different places, or of different sizes or kinds, are a defect") {
  const Death places = death_of(1, 96, settings_of(32), [] {
    int value = 0;
    if (thread_index() == 40) {
      hipops::cpu::exchange(&value, sizeof value, 0, 32, HERE);
    } else {
      hipops::cpu::exchange(&value, sizeof value, 0, 32, HERE);
    }
  });
  REQUIRE_DEATH(places, "work-item 40 reaches an exchange of 4 bytes", "wait for something else",
                "32-39: wait at an exchange");
  const Death sizes = death_of(1, 32, settings_of(32), [] {
    double value = 0;
    hipops::cpu::exchange(&value, thread_index() == 31 ? 8 : 4, 0, 32, HERE);
  });
  REQUIRE_DEATH(sizes, "work-item 31 reaches an exchange of 8 bytes", "0-30: wait at an exchange of 4 bytes");
  const Death ballot = death_of(1, 32, settings_of(32), [] {
    double value = 0;
    if (thread_index() == 31) {
      hipops::cpu::exchange(&value, sizeof value, 0, 32, HERE);
    } else {
      hipops::cpu::ballot(true, 32, HERE);
    }
  });
  REQUIRE_DEATH(ballot, "work-item 31 reaches an exchange of 8 bytes", "0-30: wait at a ballot at ");
}

TEST_CASE("cpu executor: the same place by two copies of the file's name is no defect") {
  static const char first[] = "same.hip", second[] = "same.hip";
  CHECK(run(1, 32, settings_of(32), [] {
          hipops::cpu::barrier({thread_index() % 2 == 0 ? first : second, 7});
        }) == HIPOPS_SUCCESS);
}

TEST_CASE("cpu executor: an exchange that lanes ended without is a defect") {
  const Death before = death_of(1, 64, settings_of(32), [] {
    int value = 0;
    if (thread_index() != 3) hipops::cpu::exchange(&value, sizeof value, 0, 32, HERE);
  });
  REQUIRE_DEATH(before, "work-item 3 has ended, while others of its wave wait at an exchange", "0-2: wait at",
                "3: have ended");
  const Death after = death_of(1, 64, settings_of(32), [] {
    int value = 0;
    if (thread_index() != 0) hipops::cpu::exchange(&value, sizeof value, 0, 32, HERE);
  });
  REQUIRE_DEATH(after, "work-item 1 reaches an exchange", "ended without", "0: have ended");
}

TEST_CASE("cpu executor: a source that is not in the wave is a defect") {
  const Death past = death_of(1, 32, settings_of(32), [] {
    int value = 0;
    hipops::cpu::exchange(&value, sizeof value, 32, 32, HERE);
  });
  REQUIRE_DEATH(past, "test_kernel", "source lane 32", "has lanes 0-31");
  const Death short_wave = death_of(1, 40, settings_of(32), [] {
    int value = 0;
    hipops::cpu::exchange(&value, sizeof value, (thread_index() % 32) ^ 8, 32, HERE);
  });
  REQUIRE_DEATH(short_wave, "source lane 8", "work-items 32-39, has lanes 0-7");
}

TEST_CASE("cpu executor: an exchange in another wave size, or of more than 32 bytes, is a defect") {
  const Death wave = death_of(1, 64, settings_of(32), [] {
    int value = 0;
    hipops::cpu::exchange(&value, sizeof value, 0, 64, HERE);
  });
  REQUIRE_DEATH(wave, "in waves of 64, and the wave is 32");
  const Death bytes = death_of(1, 64, settings_of(32), [] {
    char value[33] = {};
    hipops::cpu::exchange(value, sizeof value, 0, 32, HERE);
  });
  REQUIRE_DEATH(bytes, "an exchange of 33 bytes", "at most 32");
}

TEST_CASE("cpu executor: one report where several threads have one") {
  const Death death = death_of(64, 64, settings_of(32, 4), [] {
    if (thread_index() < 32) hipops::cpu::barrier(HERE);
  });
  REQUIRE_DEATH(death, "work-item 32 has ended");
  CHECK(death.words.find("hipops: defect") == death.words.rfind("hipops: defect"));
}

// ---- Races.

TEST_CASE("cpu executor: two writers of one byte are a race") {
  const int line = __LINE__ + 4;
  const Death death = death_of(2, 64, with_race_check(), [] {
    float* values = shared_floats(64);
    float* at = values + (block_index() == 1 && thread_index() == 9 ? 5 : thread_index());
    note(at, true, HERE);
    *at = 1;
  });
  REQUIRE_DEATH(death, "test_kernel", "block 1 of 2", "race at byte 20 of shared memory", "work-item 5 writes it at ",
                "work-item 9 writes it at ", at_line(line), "no barrier or exchange");
}

TEST_CASE("cpu executor: accesses that share a part of their bytes race") {
  const Death death = death_of(1, 2, with_race_check(), [] {
    char* values = static_cast<char*>(piece(1, 16, 8));
    hipops::cpu::shared_access(values, values + 3 * thread_index(), 4, true, HERE);
  });
  REQUIRE_DEATH(death, "race at byte 3");
}

// Lanes write their own value and read a partner's, in either order, with nothing, an exchange or a barrier between.
enum class Between { kNothing, kExchange, kBarrier };

Body partners(Between between, uint32_t distance, bool read_first) {
  return [=] {
    float* values = shared_floats(64);
    float *own = values + thread_index(), *other = values + (thread_index() ^ distance);
    note(read_first ? other : own, !read_first, HERE);
    int ignored = 0;
    if (between == Between::kExchange) hipops::cpu::exchange(&ignored, sizeof ignored, 0, 32, HERE);
    if (between == Between::kBarrier) hipops::cpu::barrier(HERE);
    note(read_first ? own : other, read_first, HERE);
  };
}

TEST_CASE("cpu executor: only a barrier orders accesses of two waves, and an exchange is enough within one") {
  for (bool read_first : {false, true}) {
    for (uint64_t seed : {0, 4}) {
      Settings settings = with_race_check();
      settings.seed = seed;
      REQUIRE_DEATH(death_of(1, 64, settings, partners(Between::kNothing, 32, read_first)), "race at byte", "reads",
                    "writes", "no barrier lies");
      REQUIRE_DEATH(death_of(1, 64, settings, partners(Between::kExchange, 32, read_first)), "race at byte");
      REQUIRE_SURVIVES(death_of(9, 64, settings, partners(Between::kBarrier, 32, read_first)));
      REQUIRE_DEATH(death_of(1, 64, settings, partners(Between::kNothing, 1, read_first)), "race at byte",
                    "no barrier or exchange");
      REQUIRE_SURVIVES(death_of(9, 64, settings, partners(Between::kExchange, 1, read_first)));
      REQUIRE_SURVIVES(death_of(9, 64, settings, partners(Between::kBarrier, 1, read_first)));
    }
  }
}

// All accesses since the last barrier, as a plain list.
struct Accessed {
  hipops::cpu::Access access;
  size_t offset, bytes;
};

// The first byte of `now` that races with something before it, or -1.
int64_t first_race(const std::vector<Accessed>& before, const Accessed& now) {
  for (size_t i = now.offset; i < now.offset + now.bytes; ++i) {
    for (const Accessed& b : before) {
      const bool ordered = b.access.lane == now.access.lane ||
                           (b.access.wave == now.access.wave && b.access.wave_epoch < now.access.wave_epoch);
      const bool is_common = b.offset <= i && i < b.offset + b.bytes;
      if (is_common && !ordered && (b.access.write || now.access.write)) return static_cast<int64_t>(i);
    }
  }
  return -1;
}

TEST_CASE("cpu executor: the race check finds the races that a list of all accesses shows") {
  std::mt19937 random(1);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  int races = 0, races_of_part = 0;
  hipops::cpu::RaceCheck check;
  for (int sequence = 0; sequence < 20000; ++sequence) {
    check.start_block();
    std::vector<Accessed> before;
    uint32_t wave_epochs[2] = {};
    for (int step = 0; step < 16; ++step) {
      if (below(16) == 0) {
        check.passed_barrier();
        before.clear();
      }
      if (below(3) == 0) ++wave_epochs[below(2)];
      Accessed now = {};
      now.bytes = size_t{1} << below(5);
      now.offset = below(4) == 0 ? below(16) : below(32 / uint32_t(now.bytes)) * now.bytes;
      now.access.lane = static_cast<uint16_t>(below(4) * 16);
      now.access.wave = static_cast<uint8_t>(now.access.lane / 32);
      now.access.wave_epoch = wave_epochs[now.access.wave];
      now.access.write = below(3) == 0;
      const int64_t expected = first_race(before, now);
      size_t at = 0;
      const hipops::cpu::Access* earlier = check.check(now.access, now.offset, now.bytes, &at);
      REQUIRE((earlier != nullptr) == (expected >= 0));
      if (earlier != nullptr) {
        REQUIRE(at == static_cast<size_t>(expected));
        ++races;
        races_of_part += at > now.offset;
        break;
      }
      before.push_back(now);
    }
  }
  CHECK(races > 1000);
  CHECK(races_of_part > 100);
}

TEST_CASE("cpu executor: a new block starts without accesses") {
  REQUIRE_SURVIVES(death_of(8, 3, with_race_check(), [] {
    float* values = shared_floats(1);
    if (thread_index() == block_index() % 3) note(values, true, HERE);
  }));
}

TEST_CASE("cpu executor: an access outside of shared memory is a defect") {
  const Death none = death_of(1, 1, with_race_check(), [] {
    float* values = shared_floats(4);
    note(values + 4, false, HERE);
  });
  REQUIRE_DEATH(none, "test_kernel", "reads 4 bytes outside", "the block's shared memory");
}

TEST_CASE("cpu executor: an access past an array's end is a defect, where the next array begins, too") {
  for (const int64_t i : {4, -1}) {
    const Death death = death_of(1, 1, with_race_check(), [i] {
      shared_floats(1);
      float* values = static_cast<float*>(piece(1, 16, 4));
      piece(2, 16, 4);
      hipops::cpu::shared_access(values, values + i, 4, true, HERE);
    });
    REQUIRE_DEATH(death, "test_kernel", "writes 4 bytes outside", "its array's 16 bytes of shared memory");
  }
}

TEST_CASE("cpu executor: a launch has the shared memory of its shape, the same for every request") {
  const auto launched = [](size_t bytes) {
    return in_child([bytes] {
      const Body body = [bytes] {
        float* values = static_cast<float*>(hipops::cpu::launch_shared_memory(16));
        if (hipops::cpu::launch_shared_memory(bytes) != values) std::abort();
        hipops::cpu::shared_access(values, values + 7, 4, true, HERE);
      };
      return Executor(with_race_check()).launch(kCall, &body, 2, 1, 32) == HIPOPS_SUCCESS ? 0 : 1;
    });
  };
  REQUIRE_SURVIVES(launched(32));
  REQUIRE_DEATH(launched(33), "work-item 0 has 33 bytes of shared memory from the launch", "brings 32");
}

TEST_CASE("cpu executor: without the race check a race passes") {
  CHECK(run(1, 64, settings_of(32), [] { note(shared_floats(1), true, HERE); }) == HIPOPS_SUCCESS);
}

// ---- Launches that are refused, and memory that runs out.

TEST_CASE("cpu executor: a launch that every GPU refuses is refused") {
  int runs = 0;
  const Body count = [&] { ++runs; };
  CHECK(run(0, 32, settings_of(32), count) == HIPOPS_INVALID_ARGUMENT);
  CHECK(run(1, 0, settings_of(32), count) == HIPOPS_INVALID_ARGUMENT);
  CHECK(run(1, 1025, settings_of(32), count) == HIPOPS_INVALID_ARGUMENT);
  CHECK(std::string(hipops_last_error()).find("1025") != std::string::npos);
  CHECK(run(1u << 23, 512, settings_of(32), count) == HIPOPS_INVALID_ARGUMENT);
  CHECK(runs == 0);
}

// The sanitizers need their own address space and memory.
#if !defined(HIPOPS_CPU_ASAN) && !defined(HIPOPS_CPU_TSAN)
bool reports_memory(hipops_status status) {
  return status == HIPOPS_INTERNAL_ERROR && std::strstr(hipops_last_error(), "out of host memory") != nullptr;
}

size_t data_bytes() {  // the bytes that RLIMIT_DATA counts
  std::FILE* file = std::fopen("/proc/self/status", "re");
  char line[256];
  size_t kib = 0;
  while (std::fgets(line, sizeof line, file) != nullptr && std::sscanf(line, "VmData: %zu kB", &kib) != 1) {
  }
  std::fclose(file);
  return kib << 10;
}

TEST_CASE("cpu executor: too little memory for the stacks is a status") {
  for (size_t stacks : {0, 1, 20}) {
    const Death death = in_child([&] {
      const rlimit little = {data_bytes() + (stacks << 16) + 32768, RLIM_INFINITY};
      setrlimit(RLIMIT_DATA, &little);
      const hipops_status status = run(2, 256, settings_of(32), [] { hipops::cpu::barrier(HERE); });
      if (!reports_memory(status)) return 1;
      // A kernel without barriers needs one stack, and runs after the failed launch.
      return run(2, 256, settings_of(32), [] {}) == (stacks > 0 ? HIPOPS_SUCCESS : HIPOPS_INTERNAL_ERROR) ? 0 : 2;
    });
    INFO(stacks);
    REQUIRE_SURVIVES(death);
  }
}

size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<size_t>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

TEST_CASE("cpu executor: stacks of many launches leave a process most of its mappings") {
  using hipops::cpu::Stacks;
  constexpr uint32_t kStacks = 8192;
  const size_t before = mappings();
  {
    std::vector<std::unique_ptr<Stacks>> all;
    for (int i = 0; i < 4; ++i) {
      all.push_back(Stacks::make(kStacks));
      for (uint32_t n = 0; n < kStacks; ++n) {
        char* const stack = all.back()->open(n);
        REQUIRE(stack != nullptr);
        if (n % 512 == 0) stack[0] = stack[Stacks::bytes() - 1] = 1;
      }
      CHECK(mappings() - before > kStacks);
      CHECK(mappings() - before < 26000);
    }
  }
  CHECK(mappings() <= before + 8);
  const auto again = Stacks::make(16);
  for (uint32_t n = 0; n < 16; ++n) REQUIRE(again->open(n) != nullptr);
  CHECK(mappings() >= before + 30);  // with guards
}

TEST_CASE("cpu executor: too little memory for a block's shared memory is a status") {
  const Death death = in_child([] {
    int runs = 0;
    const hipops_status status = run(4, 8, settings_of(32), [&] {
      ++runs;
      hipops::cpu::barrier(HERE);
      if (thread_index() != 5) return;
      const rlimit none = {1, RLIM_INFINITY};  // Linux ignores a limit of 0
      setrlimit(RLIMIT_DATA, &none);
      void* volatile taken = nullptr;  // prevents compilers from removing the calls
      do taken = std::malloc(4096);
      while (taken != nullptr);
      hipops::cpu::shared_memory(&runs, 64, 16);
    });
    const rlimit any = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_DATA, &any);
    if (!reports_memory(status)) return 1;
    if (runs != 8) return 2;  // the first block, and no other
    return run(4, 8, settings_of(32), [] { hipops::cpu::barrier(HERE); }) == HIPOPS_SUCCESS ? 0 : 3;
  });
  REQUIRE_SURVIVES(death);
}
#endif

// Reads every page below the caller's frame. The sanitizers check frames, not the bytes below them.
__attribute__((noinline, no_sanitize("address"), no_sanitize("thread"))) void walk_down(size_t bytes) {
  const volatile char* here = static_cast<const char*>(__builtin_frame_address(0));
  for (size_t i = 0; i < bytes; i += 512) (void)*(here - i);
}

TEST_CASE("cpu executor: helper threads receive only signals of their own faults") {
  const auto mask = [] {
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, nullptr, &now);
    return std::pair{sigismember(&now, SIGUSR1), sigismember(&now, SIGSEGV)};
  };
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> of_caller{0}, of_helpers{0}, wrong{0};
  const Body body = [&] {
    if (thread_index() != 0) return;
    const bool is_caller = std::this_thread::get_id() == caller;
    if (mask() == std::pair{is_caller ? 0 : 1, 0}) ++(is_caller ? of_caller : of_helpers);
    else ++wrong;
    while (wrong == 0 && (of_caller == 0 || of_helpers == 0)) std::this_thread::yield();  // until another thread runs a block
  };
  REQUIRE(run(64, 256, settings_of(32, 2), body) == HIPOPS_SUCCESS);
  CHECK(wrong == 0);
  CHECK(of_caller + of_helpers == 64);
  CHECK(mask() == std::pair{0, 0});
}

TEST_CASE("cpu executor: a work-item that runs off its stack faults at the guard page") {
  const Death death = in_child([] {
    std::vector<char> room(1 << 16);
    stack_t other = {};
    other.ss_sp = room.data();
    other.ss_size = room.size();
    struct sigaction action = {};
    action.sa_handler = [](int) { _exit(42); };
    action.sa_flags = SA_ONSTACK;
    sigaltstack(&other, nullptr);
    sigaction(SIGSEGV, &action, nullptr);
    run(1, 4, settings_of(32), [] {
      hipops::cpu::barrier(HERE);
      walk_down(size_t{512} << 10);
    });
    return 0;
  });
  INFO(death.words);
  CHECK(death.exit_code == 42);
}

}  // namespace
