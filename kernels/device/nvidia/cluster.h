// Clusters: neighbouring blocks that run together and can access each other's shared memory (NVIDIA, sm_90 on), so they
// can share a row. On other GPUs each block is a cluster by itself, and may be larger instead.
#pragma once

#include "device/core/reduce.h"
#include "device/core/launch_contract.h"

namespace hipops {
namespace {

// Whether kernels may be persistent, and prefetch rows: see DeviceNumbers.
constexpr bool may_prefetch_rows = !on_amd;

// The number of a cluster's blocks that one larger block replaces.
constexpr int blocks_in_one = on_nvidia || few_registers ? 1 : kBlocksInOne;

#if defined(HIPOPS_NVIDIA) && __CUDA_ARCH__ >= 900

constexpr bool has_clusters = true;
HIPOPS_FN uint32_t cluster_size() {
  uint32_t size;
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
  return size;
}
HIPOPS_FN uint32_t cluster_rank() {  // of the block in its cluster
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(rank));
  return rank;
}
HIPOPS_FN uint32_t cluster_index() {
  uint32_t index;
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(index));
  return index;
}

// Slots in which every wave of a cluster leaves a value in every block. An mbarrier counts arrivals. The cluster's own
// barrier (barrier.cluster) would make each block wait for its stores to global memory, and discard its L1.
template <class Largest, int Waves>
class Mailbox {
 public:
  explicit HIPOPS_METHOD Mailbox(int waves)
      : slots_(storage()), arrived_(counters()), values_(uint32_t(waves) * cluster_size()) {
    if (cluster_size() == 1) return;
    if (thread_index() < kSets)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&arrived_[thread_index()])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;\n\tbarrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  }

  // Sends v, which all lanes of a wave hold, to all blocks, and waits for the values of all waves. All work-items of
  // the cluster call it. Returns the first slot.
  template <class T>
  HIPOPS_METHOD int exchange(const T& v) {
    // A block that has not begun cannot receive.
    if (uses_ == 0) asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    // Two sets of slots alternate. A wave that sends to a set again has received values from all waves in between, and
    // each wave had read the set before it sent.
    const uint32_t set = uses_ % kSets, parity = uses_ / kSets % 2, first = set * kSlots;
    ++uses_;
    const uint32_t slot = address(&slots_[first + wave_index() * cluster_size() + cluster_rank()]);
    const uint32_t counter = address(&arrived_[set]);
    if (lane_index() < cluster_size()) send(in_block(slot), in_block(counter), v);
    if (thread_index() == 0)
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(counter),
                   "r"(values_ * uint32_t(sizeof(T)))
                   : "memory");
    asm volatile(
        "{\n\t.reg .pred here;\nagain%=:\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 here, [%0], %1;\n\t@!here bra again%=;\n\t}" ::"r"(counter),
        "r"(parity)
        : "memory");
    return int(first);
  }

  // Reduces f(v) over all waves; callable several times until the next exchange. Every work-item gets the same bits.
  template <class T, class F, class Op>
  HIPOPS_METHOD auto fold(int first, F f, Op op) const {
    auto all = Op::template identity<decltype(f(T()))>();
    const auto fold_batch = [&](uint32_t from) {
#pragma unroll
      for (uint32_t i = 0; i < kBatch; i += wave_size) {
        const uint32_t value = from + i + lane_index();
        if (value < values_) all = op(all, f(slots_[uint32_t(first) + value].template as<T>()));
      }
    };
    fold_batch(0);
    if (values_ > kBatch) fold_batch(kBatch);
    return wave_reduce<wave_size>(all, op);
  }

 private:
  static constexpr uint32_t kSets = 2, kBatch = kPortableCluster * Waves, kSlots = 2 * kBatch;
  static_assert(kLargestCluster == 2 * kPortableCluster, "fold() handles two batches");
  using Slot = ReduceSlot<Largest>;

  template <class T>
  static HIPOPS_METHOD uint32_t address(T* at) { return uint32_t(__cvta_generic_to_shared(at)); }

  // The same place in the shared memory of the block that this lane sends to.
  static HIPOPS_METHOD uint32_t in_block(uint32_t own) {
    uint32_t there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(lane_index()));
    return there;
  }

  template <class T>
  static HIPOPS_METHOD void send(uint32_t slot, uint32_t counter, const T& v) {
    static_assert(sizeof(T) % 4 == 0 && sizeof(T) <= 16, "st.async sends 4, 8 or 16 bytes");
    if constexpr (sizeof(T) == 12) {
      struct Pieces { uint32_t word[3]; };
      const Pieces pieces = bit_cast<Pieces>(v);
#pragma unroll
      for (int i = 0; i < 3; ++i) send(slot + 4 * i, counter, pieces.word[i]);
    } else if constexpr (sizeof(T) == 4) {
      asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(slot),
                   "r"(bit_cast<uint32_t>(v)), "r"(counter)
                   : "memory");
    } else if constexpr (sizeof(T) == 8) {
      asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(slot),
                   "l"(bit_cast<uint64_t>(v)), "r"(counter)
                   : "memory");
    } else {
      struct Halves { uint64_t half[2]; };
      const Halves halves = bit_cast<Halves>(v);
      asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];"
                   ::"r"(slot), "l"(halves.half[0]), "l"(halves.half[1]), "r"(counter)
                   : "memory");
    }
  }

  static HIPOPS_METHOD Shared<Slot> storage() {
    HIPOPS_SHARED(Slot, slots, kSets * kSlots);
    return slots;
  }
  static HIPOPS_METHOD Shared<uint64_t> counters() {
    HIPOPS_SHARED(uint64_t, arrived, kSets);
    return arrived;
  }

  Shared<Slot> slots_;
  Shared<uint64_t> arrived_;
  uint32_t values_;
  uint32_t uses_ = 0;
};

// All-reduces over the cluster: in each wave, then over the results of all waves, in every wave. See Reduce.
template <class Largest, int Threads>
class ClusterReduce {
 public:
  explicit HIPOPS_METHOD ClusterReduce(int threads) : in_block_(threads), waves_(threads / wave_size) {}

  template <class T, class Op>
  HIPOPS_METHOD T operator()(T v, Op op) {
    if (cluster_size() == 1) return in_block_(v, op);
    return waves_.template fold<T>(waves_.exchange(wave_reduce<wave_size>(v, op)), Identity(), op);
  }
  template <class T>
  HIPOPS_METHOD int exchange(const T& v) { return cluster_size() == 1 ? in_block_.exchange(v) : waves_.exchange(v); }
  template <class T, class F, class Op>
  HIPOPS_METHOD auto fold(int first, F f, Op op) const {
    return cluster_size() == 1 ? in_block_.template fold<T>(first, f, op) : waves_.template fold<T>(first, f, op);
  }

 private:
  Reduce<Largest, Threads> in_block_;
  Mailbox<Largest, Threads / wave_size> waves_;
};

// The same shared memory of the cluster's first block. Its users wait for the cluster before it ends.
template <class T>
HIPOPS_FN Shared<T> of_first_block(const Shared<T>& own) {
  uint64_t there;
  asm("mapa.u64 %0, %1, 0;" : "=l"(there) : "l"(&own[0]));
  return Shared<T>(reinterpret_cast<T*>(there));
}
HIPOPS_FN void cluster_barrier() {
  if (cluster_size() == 1) return barrier();
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

#else

constexpr bool has_clusters = false;
template <class T>
HIPOPS_FN const Shared<T>& of_first_block(const Shared<T>& own) { return own; }
HIPOPS_FN void cluster_barrier() { barrier(); }
HIPOPS_FN uint32_t cluster_size() { return 1; }
HIPOPS_FN uint32_t cluster_rank() { return 0; }
HIPOPS_FN uint32_t cluster_index() { return block_index(); }

template <class Largest, int Threads>
using ClusterReduce = Reduce<Largest, blocks_in_one * Threads>;

#endif

}  // namespace
}  // namespace hipops
