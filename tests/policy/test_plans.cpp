// A plan is a pure function: the same problem, device and options give the same plan, also while other threads plan.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <thread>

#include "index/plan.h"
#include "move/copy_plan.h"
#include "move/rope_common.h"
#include "move/scatter_plan.h"
#include "move/take.h"
#include "move/upsample.h"
#include "op_tester.h"
#include "parity/temporary_options.h"
#include "policy/policy.h"
#include "runtime/cpu/sanitizer.h"

using namespace hipops;
using namespace hipops_test;

namespace {

// Numbers of a plan.
using Figures = std::vector<int64_t>;
using Planner = void (*)(const PlanOptions& options, Random& random, Figures* figures);

constexpr int kProblems = 200;  // of an op

template <class T, size_t n>
T any(Random& random, const T (&of)[n]) {
  return of[static_cast<size_t>(pick(random, 0, n - 1))];
}

DeviceFacts device_for_plans() {
  DeviceFacts device;
  device.units = 132;
  device.launch_shared_bytes = 100 << 10;
  device.prefetches_rows = device.adds_vectors = true;
  return device;
}

// A shape of rank 1 to 4, with a few elements to some millions.
Sizes any_shape(Random& random) {
  constexpr int64_t kSizes[] = {1, 2, 3, 8, 17, 64, 100, 256, 1024};
  Sizes shape(static_cast<size_t>(pick(random, 1, 4)));
  int64_t elements = 1;
  for (int64_t& size : shape) {
    size = any(random, kSizes);
    if (elements * size > 1 << 22) size = 1;
    elements *= size;
  }
  return shape;
}

hipops_tensor any_view(Random& random, hipops_dtype dtype, const Sizes& shape, uintptr_t address) {
  const Sizes strides = pick(random, 0, 1) ? nested_strides(random, shape) : contiguous(shape);
  return view_of(address, dtype, shape, strides);
}

constexpr uintptr_t kY = uintptr_t{1} << 44, kX = uintptr_t{1} << 45, kIndex = uintptr_t{1} << 46;

void plan_copies(const PlanOptions& options, Random& random, Figures* figures) {
  const Sizes shape = any_shape(random);
  const hipops_dtype dtype = any(random, kMoved);
  const CopyPlan plan = plan_copy(options, any_view(random, dtype, shape, kY), any_view(random, dtype, shape, kX));
  figures->insert(figures->end(), {plan.kernel, plan.grid, plan.block, plan.args.walk.count, plan.args.step,
                                   plan.args.rows.count, plan.args.rows.pieces, plan.args.squares.tiles,
                                   plan.args.rows.lane_bits});
}

void plan_takes(const PlanOptions& options, Random& random, Figures* figures) {
  const Sizes shape = any_shape(random);
  const auto dim = static_cast<int32_t>(pick(random, 0, static_cast<int64_t>(shape.size()) - 1));
  Sizes from = shape;
  from[static_cast<size_t>(dim)] = pick(random, 1, 5000);
  const hipops_dtype dtype = any(random, kMoved);
  const hipops_tensor y = any_view(random, dtype, shape, kY), x = any_view(random, dtype, from, kX);
  const hipops_tensor index = view_of(kIndex, HIPOPS_I64, shape);
  int64_t step[HIPOPS_MAX_RANK] = {};
  if (pick(random, 0, 1)) step[dim] = 1;  // index_select
  else std::copy_n(index.stride, HIPOPS_MAX_RANK, step);
  const TakePlan plan = plan_take(options, device_for_plans(), y, x, index, step, dim, nullptr);
  figures->insert(figures->end(), {plan.kernel, plan.grid, plan.block, plan.shared_bytes, plan.args.walk.count,
                                   plan.args.step, plan.args.rows.count, plan.args.rows.pieces,
                                   plan.args.staged.group});
}

template <int resized>
void plan_upsamples(const PlanOptions& options, Random& random, Figures* figures) {
  Sizes from = {pick(random, 1, 4), pick(random, 1, 8)}, to = from;
  for (int d = 0; d < resized; ++d) {
    from.push_back(pick(random, 1, 200));
    to.push_back(from.back() * pick(random, 1, 6) + pick(random, 0, 1));
  }
  const hipops_dtype dtype = any(random, kMoved);
  const Scale scales[] = {{"scale_h", 0}, {"scale_w", 0}};
  const UpsamplePlan plan = plan_upsample(options, any_view(random, dtype, to, kY), any_view(random, dtype, from, kX),
                                          resized, HIPOPS_NEAREST_PYTORCH, scales);
  figures->insert(figures->end(), {plan.kernel, plan.grid, plan.block, plan.args.count, plan.args.step,
                                   plan.args.periods.count, plan.args.tiles.rows, plan.args.rounds});
}

void plan_ropes(const PlanOptions& options, Random& random, Figures* figures) {
  constexpr RopeDims kDims[] = {kHeadsThenTokens, kTokensThenHeads, kNeighbours};
  const RopeDims dims = any(random, kDims);
  const hipops_dtype dtype = any(random, kFloats);
  const int64_t half = pick(random, 1, 64), tokens = pick(random, 1, 300), heads = pick(random, 1, 32);
  const Sizes shape = dims.heads == 1 ? Sizes{2, heads, tokens, 2 * half} : Sizes{2, tokens, heads, 2 * half};
  const hipops_tensor y = any_view(random, dtype, shape, kY), x = any_view(random, dtype, shape, kX);
  const hipops_tensor table = view_of(kIndex, dtype, {tokens, half});
  const RopeTensors tensors = {&y, &x, &table, &table, nullptr};
  const int kernel = choose_rope(dims, tensors);
  const RopePlan plan = plan_rope(options, kernel, dims, tensors);
  figures->insert(figures->end(), {kernel, plan.grid, plan.block, plan.args.count, plan.args.step});
}

void note(const ScatterPlan& plan, Figures* figures) {
  for (int i = 0; i < plan.count; ++i)
    figures->insert(figures->end(), {plan.launch[i].kernel, plan.launch[i].grid, plan.launch[i].geometry.step,
                                     plan.launch[i].geometry.walk.count});
}

void plan_scatters(const PlanOptions& options, Random& random, Figures* figures) {
  const Sizes shape = any_shape(random);
  const auto dim = static_cast<int32_t>(pick(random, 0, static_cast<int64_t>(shape.size()) - 1));
  constexpr hipops_dtype kAdded[] = {HIPOPS_F32, HIPOPS_BF16, HIPOPS_F64, HIPOPS_U8};
  const hipops_dtype dtype = any(random, kAdded);
  const hipops_tensor y = view_of(kY, dtype, shape), x = any_view(random, dtype, shape, kX);
  const hipops_tensor index = any_view(random, HIPOPS_I32, shape, kIndex);
  const uint32_t flags = pick(random, 0, 1) ? HIPOPS_DETERMINISTIC : 0;
  const bool with_workspace = pick(random, 0, 1);
  note(plan_scatter(options, {"scatter", &y, &x, &index, dim}, flags, with_workspace), figures);
  const ScatterTensors add = {"scatter_add", &y, &x, &index, dim};
  note(plan_scatter_add(options, add, flags, with_workspace, choose_atomics(options, device_for_plans())), figures);
  const ScatterRows rows = plan_scatter_rows(add, flags);
  figures->insert(figures->end(), {rows.is_index_add, rows.compares, rows.sort.bytes, rows.sort_at});
}

void plan_sums(const PlanOptions& options, Random& random, Figures* figures) {
  constexpr int64_t kIndices[] = {5, 200, 3000, 70000, 2000000}, kColumns[] = {1, 24, 256};
  const int64_t rows = pick(random, 1, 1 << 20), columns = any(random, kColumns), indices = any(random, kIndices);
  const hipops_dtype dtype = any(random, kFloats);
  const hipops_tensor y = view_of(kY, dtype, {rows, columns}), x = view_of(kX, dtype, {indices, columns});
  const hipops_tensor index = view_of(kIndex, HIPOPS_I64, {indices});
  const SumsProblem problem = describe_sums({&y, &x, &index, 0});
  const DeviceFacts device = device_for_plans();
  const SumsChoice choice = choose_sums(options, problem, plan_sort(problem), device, pick(random, 0, 1));
  const SumsPlan plan = resolve(choice, problem, plan_sort(problem), device);
  const auto& s = plan.sorted;
  figures->insert(figures->end(), {int64_t(choice.way), plan.kernel, plan.vector, plan.few.parts, plan.few.grid,
                                   plan.scan.parts, plan.scan.lane_bits, s.join, s.portion, s.joined_parts, s.sum_parts});
}

// Plans of each row op.
void plan_row_ops(const PlanOptions& options, Random& random, Figures* figures) {
  constexpr RowLayout kLayouts[] = {RowLayout::aligned, RowLayout::unaligned, RowLayout::strided};
  constexpr int64_t kRows[] = {1, 7, 300, 100000}, kColumns[] = {64, 1024, 8192, 60000, 1 << 20};
  const RowProblem problem = {any(random, kFloats), any(random, kLayouts), any(random, kRows), any(random, kColumns),
                              pick(random, 0, 1) != 0};
  for (int i = 0; i < op_count; ++i) {
    RowLaunch plan = {};
    const RowKernels* kernels = row_kernels_of(*all_ops[i]);
    const auto is_of_dtype = [&](const RowKernel& kernel) { return kernel.dtype == problem.dtype; };
    if (!kernels || std::none_of(kernels->kernel, kernels->kernel + kernels->count, is_of_dtype)) continue;
    if (plan_rows(options, *all_ops[i], problem, device_for_plans(), &plan) != HIPOPS_SUCCESS) figures->push_back(-1);
    figures->insert(figures->end(), {plan.kernel, plan.block, plan.cluster, plan.lanes, plan.grid, plan.row_step,
                                     plan.per_block, plan.spans});
  }
}

// Options by the name of their change.
std::map<std::string, PlanOptions> all_options(const Policy& policy) {
  std::map<std::string, PlanOptions> all;
  all["none"];
  all["small_apart"].small_apart = false;
  all["most_blocks"].most_blocks = 3;
  all["sums"].sums = {false, false};
  all["policy"].policy = &policy;
  return all;
}

// Unaligned rows of every op and dtype are streamed.
Policy streaming() {
  Policy policy;
  for (int i = 0; i < op_count; ++i) {
    const RowKernels* kernels = row_kernels_of(*all_ops[i]);
    for (int k = 0; kernels && k < kernels->count; ++k)
      if (kernels->kernel[k].layout == RowLayout::unaligned && kernels->kernel[k].body == RowBody::streamed)
        policy.rows.push_back(
            {all_ops[i], kernels->kernel[k].dtype, RowLayout::unaligned, {INFINITY}, {INFINITY}, {{k, 1}}});
  }
  return policy;
}

constexpr Planner kPlanners[] = {plan_row_ops,      plan_copies, plan_takes,    plan_upsamples<1>,
                                 plan_upsamples<2>, plan_ropes,  plan_scatters, plan_sums};

Figures plans_of(Planner planner, const PlanOptions& options) {
  Figures figures;
  Random random(7);
  for (int i = 0; i < kProblems; ++i) planner(options, random, &figures);
  return figures;
}

struct Planned {
  PlanOptions options;
  Figures alone;  // planned by one thread
};

}  // namespace

TEST_CASE("threads that plan with different options at once get the plans of their own options", "[plans]") {
#if defined(HIPOPS_CPU_TSAN)
  constexpr int kRounds = 10;  // ThreadSanitizer sees a race without a wrong plan
#else
  constexpr int kRounds = 1000;
#endif
  const Policy policy = streaming();
  std::map<std::string, int> changed;  // planners that each option changes
  std::atomic<int> differ{0};
  for (const Planner planner : kPlanners) {
    std::map<std::string, Planned> all;
    for (const auto& [name, options] : all_options(policy)) all[name] = {options, plans_of(planner, options)};
    for (const auto& [name, planned] : all) changed[name] += planned.alone != all["none"].alone;
    std::vector<std::thread> threads;
    std::atomic<size_t> begun{0};
    for (const auto& each : all)
      threads.emplace_back([&, planned = &each.second] {
        for (++begun; begun < all.size();) std::this_thread::yield();
        for (int round = 0; round < kRounds; ++round)
          if (plans_of(planner, planned->options) != planned->alone) ++differ;
      });
    for (std::thread& thread : threads) thread.join();
  }
  CHECK(differ == 0);
  CHECK(changed["none"] == 0);
  for (const char* name : {"small_apart", "most_blocks", "sums", "policy"}) {
    INFO(name);
    CHECK(changed[name] > 0);
  }
}

TEST_CASE("calls have the options of the newest TemporaryOptions", "[plans]") {
  CHECK(plan_options().most_blocks == INT64_MAX);
  {
    TemporaryOptions outer;
    outer.options.most_blocks = 5;
    CHECK(plan_options().most_blocks == 5);
    {
      TemporaryOptions inner;
      CHECK(plan_options().most_blocks == 5);
      inner.options.small_apart = false;
      CHECK(!plan_options().small_apart);
    }
    CHECK(plan_options().small_apart);
  }
  CHECK(plan_options().most_blocks == INT64_MAX);
}

TEST_CASE("a grid has no more than most_blocks, and a launch less than 2^32 work-items", "[plans]") {
  PlanOptions options;
  CHECK(options.grid_for(1, 256) == 1);
  CHECK(options.grid_for(257, 256) == 2);
  CHECK(options.grid_for(int64_t{1} << 40, 256) == (uint32_t{1} << 24) - 1);
  options.most_blocks = 2;
  CHECK(options.grid_for(1, 256) == 1);
  CHECK(options.grid_for(1000, 256) == 2);
}

TEST_CASE("a block of a sorted sum numbers its part of the longest rows in 31 bits", "[plans]") {
  for (const int64_t indices : {257, 3000, 300000})
    for (const int64_t columns : {int64_t{1} << 24, int64_t{1} << 28, int64_t{1} << 30}) {
      const hipops_tensor y = view_of(kY, HIPOPS_BF16, {5, columns}), x = view_of(kX, HIPOPS_BF16, {indices, columns}, {0, 1});
      const hipops_tensor index = view_of(kIndex, HIPOPS_I64, {indices});
      const SumsProblem problem = describe_sums({&y, &x, &index, 0});
      const SumsPlan plan = resolve({SumsWay::sorted, 0}, problem, plan_sort(problem), device_for_plans());
      CHECK(columns / plan.vector <= plan.sorted.sum_parts * kMostPartVectors);
      CHECK(columns / plan.vector <= plan.sorted.joined_parts * kMostPartVectors);
    }
}

TEST_CASE("scatter_add adds vectors on a device that has such additions, if y is large", "[plans]") {
  DeviceNumbers device;
  PlanOptions options;
  CHECK(choose_atomics(options, device).vectors_from == INT64_MAX);
  device.adds_vectors = true;
  CHECK(choose_atomics(options, device).vectors_from == 1 << 16);
  options.small_apart = false;
  CHECK(choose_atomics(options, device).vectors_from == 0);
}
