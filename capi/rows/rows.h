// What the launchers of layer_norm, rms_norm and softmax share: the checks of x and y, and the choice of a variant.
#pragma once

#include <atomic>
#include <cstdint>

#include "count_as_many.h"
#include "device/rows/row_contract.h"
#include "hipops/hipops.h"
#include "runtime/runtime.h"

namespace hipops {

// One kernel of a row op's list. Kernel i of an op is row_variants[i], for all of them; steps of split rows and
// an op's own kernels come after these.
struct RowVariant {
  hipops_dtype dtype;
  int threads, vectors, block;
  RowAccess access;
  bool streaming, clustered;
  int length;       // elements of a vector
  int64_t longest;  // columns that a row may have; clustered: of a cluster of one
};
constexpr int kRowVariants = 40 + 2 * 41 + 30;
constexpr int kRowKernels = kRowVariants + 3 * kSplitSteps + kLargeSplitSteps;  // the steps of split rows follow the variants
extern const RowVariant row_variants[kRowVariants];

// The check that all three begin with: y and x are tensors of one shape and float dtype, of rank 1 or more, y apart
// from x or the same view.
hipops_status check_rows(const char* op, const hipops_tensor* y, const hipops_tensor* x);

// A vector of weights, when there is one: 1-D, as long as a row, in x's dtype or f32, apart from y.
hipops_status check_weights(const char* op, const char* name, const hipops_tensor* weights, const hipops_tensor& x,
                            const hipops_tensor& y);

// A number that what x is computed in has: f32, for 16 bits too, or f64.
hipops_status check_eps(const char* op, double eps, const hipops_tensor& x);

// The rows of y and x, collapsed; row_step is left to the plan.
RowGeometry row_geometry(const hipops_tensor& y, const hipops_tensor& x);

struct RowPlan {
  int kernel;
  uint32_t grid, block;
  int64_t row_step;
  uint32_t cluster = 1;        // blocks that share a row
  int32_t rows_per_block = 1;  // at a time
  uint32_t shared_bytes = 0;   // for weights, queued rows or tails
  int32_t rows_ahead = 0;      // queued
  bool few = false;            // rows_are_few
  bool weights_kept = false;   // weights_are_kept
};

// Columns that rows of the dtype may have to be staged.
int64_t longest_staged(hipops_dtype dtype);

// Rows of so many that a block of a staged variant has room for.
int64_t most_stage_rows(const RowVariant& v, int64_t cols);

// The best access that rows and weights (NULL: none) allow.
RowAccess row_access(const hipops_tensor& y, const hipops_tensor& x, const RowGeometry& geometry,
                     const hipops_tensor* weight = nullptr, const hipops_tensor* bias = nullptr);

// How often an op's blocks of a variant go round, each time for a row, or as many as share a block.
enum class RowRounds {
  one,      // once, or, where lanes idle, several times
  one_or_early,  // once; few rows by a kernel of the op's own: early_kernel
  several,  // of large launches: where what a block does only once is much of what it does
  one_or_ahead,  // once; but many rows that leave a unit few blocks are better in a clustered variant's, which take the
                 // next row ahead: is_better_ahead
  one_or_in_eight,  // of clustered variants: as those go; few rows take them, too, that would have over 13 waves of one
                    // block, and kernels of the op's own those that eight blocks of it don't hold: tailed_kernel, full_kernel
  ahead,    // as often as it takes for blocks that all run at a time: the next row is on its way while one is worked on
  // Those from here on have weights beside the rows (most_blocks).
  ahead_beside_weights,  // the same, where weights may take some of the registers
  queued,   // the same, and a kernel of the op's own takes rows for which registers would be left, queued_kernel, and
            // another one very many rows: passing_kernel
  weights_aside,  // the same, but for a kernel with weights in shared memory, which takes many of them: aside_kernel
  queued_at_use,  // as queued, with weights in f32, which find no registers: more of such rows pass
};
using RoundsOf = RowRounds (*)(const RowVariant& v);  // NULL: one
RowRounds layer_norm_rounds(const RowVariant& v);
RowRounds layer_norm_rounds_at_use(const RowVariant& v);  // with weights in f32, of rows of 16 bits
RowRounds rms_norm_rounds(const RowVariant& v);
RowRounds softmax_rounds(const RowVariant& v);

// The variant for rows that allow this access, where there is to be room for `weights` vectors of them.
RowPlan plan_rows(hipops_dtype dtype, const RowGeometry& geometry, RowAccess access, const DeviceNumbers& device,
                  RoundsOf rounds_of = nullptr, int weights = 0);

// Whether rows of x that are row_step apart lie alike to multiples of 16 bytes.
bool are_alike(int64_t row_step, const RowGeometry& g, hipops_dtype dtype);

// An op's own kernels follow those that all row ops have.
int full_kernel(hipops_dtype dtype);     // f16, bf16: of softmax
int queued_kernel(hipops_dtype dtype);   // f16, bf16
int passing_kernel(hipops_dtype dtype);  // f16, bf16
int aside_kernel(hipops_dtype dtype);    // f32, f16, bf16
constexpr int kOwnKernels = 8;           // of layer_norm
constexpr int early_kernel = kRowKernels + kOwnKernels - 1;  // f32
constexpr int tailed_kernel = kRowKernels, kTailedBlock = 512, kTailedVectors = 8;  // of softmax, in f32
constexpr int kFullVectors = kTailedVectors + 1, kOwnSoftmaxKernels = 3;

// Whether rows are split over blocks, where `plan` is what to do if not: those that a variant would stream, if there
// are too few for the device or it would not find them in a cache again. Steps leave their results in y, so x is apart.
bool splits_rows(hipops_dtype dtype, const RowGeometry& geometry, const RowPlan& plan, bool in_place,
                 const DeviceNumbers& device);

// A step of it; kernel, grid, block and row_step.
RowPlan plan_split_step(hipops_dtype dtype, const RowGeometry& geometry, SplitStep step);

// The tiles of each row then.
int64_t split_tiles(hipops_dtype dtype, int64_t cols);

// The most shared memory that plan_rows asks for with a kernel: see Op::most_shared. Of those that all ops have, and of
// layer_norm's.
int64_t row_kernel_shared(int kernel, uint32_t block);
int64_t layer_norm_kernel_shared(int kernel, uint32_t block);

// Op::off_amd
bool layer_norm_kernel_is_off_amd(int kernel);
bool softmax_kernel_is_off_amd(int kernel);

// The variants that may serve an op's rows, in the order of the list. For tools and tests.
struct RowCandidates {
  int chosen = 0;  // the launcher's kernel (of split rows the one that would stream them),
  int like = 0;    // and the variant of the list that it is, or, where it is the op's own, stands for
  int count = 0;
  int kernel[kRowVariants] = {};
};
RowCandidates row_candidates(const DeviceNumbers& device, const hipops_tensor& y, const hipops_tensor& x,
                             RoundsOf rounds_of, int weights);

// For tools alone: while this is not negative, plan_rows takes the kernel that it names, which must be a candidate.
extern std::atomic<int> forced_row_kernel;

// A call of a row op, checked.
struct RowCall {
  hipops_dtype dtype;
  RowAccess access;
  RoundsOf rounds_of;
  int weights;    // vectors of them in dtype for which there is to be room
  bool in_place;  // y is x
};

// How many of the last rows are left to late blocks, a round each, which come as those of the plan end: memory serves some
// units better than others, and some of those blocks would have a row more.
int64_t late_rows(const RowPlan& plan, const RowGeometry& geometry, const RowCall& call, const DeviceNumbers& device);

// Plans, tells the geometry, which is part of `args`, and launches.
hipops_status launch_rows(Op& op, const RowCall& call, RowGeometry* geometry, const void* args, size_t bytes,
                          void* stream);

NormTerms<float> norm_terms(double eps, int64_t cols);
OtherNormTerms other_norm_terms(double eps, int64_t cols);
// Of a norm's args.
template <class Args>
void set_norm_terms(double eps, int64_t cols, Args* args) {
  args->terms = norm_terms(eps, cols);
  args->other_terms = other_norm_terms(eps, cols);
}

}  // namespace hipops
