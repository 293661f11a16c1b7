// Kernels with a race, and the same without it (test_races.py). Blocks of 128 threads: each half has waves of its own.
#define KERNEL extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(128, 128))) void
#define FN static __attribute__((device)) inline
#define LDS __attribute__((address_space(3)))
#define TID __builtin_amdgcn_workitem_id_x()
#define WG __builtin_amdgcn_workgroup_id_x()
#define SWAP(at, seen, v, scope) __hip_atomic_compare_exchange_weak(at, seen, v, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope)
typedef unsigned int u32;

FN void barrier(bool is_there) {
  if (!is_there) return;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
FN void device_fence() { __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent"); }
FN u32 add(u32* at, u32 v) { return __hip_atomic_fetch_add(at, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }

// ---- LDS: a thread of half `one` makes the first access, one of the other half the second; `apart`: a barrier is between.
enum What { Load, Store, Add, Swap };
template <What what> FN u32 access(LDS u32* at) {
  if (what == Load) return *(volatile LDS u32*)at;
  if (what == Store) *(volatile LDS u32*)at = TID;
  if (what == Add) __hip_atomic_fetch_add(at, TID, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  if (what == Swap) {
    u32 seen = *(volatile LDS u32*)at;  // the same instruction as of an atomic load
    while (!SWAP(at, &seen, seen + TID, __HIP_MEMORY_SCOPE_WORKGROUP)) {}
  }
  return 0;
}
template <What first, What second> FN void in_lds(LDS u32* word, u32* out, u32 one, u32 apart) {
  if (TID == 0) *word = 0;
  barrier(true);
  u32 got = 0;
  if (TID == 64 * one) got = access<first>(word);
  barrier(apart);
  if (TID == 64 * (1 - one)) got = access<second>(word);
  out[TID] = got;
}
#define IN_LDS(name, first, second)                            \
  KERNEL name(u32* out, u32 one, u32 apart) {                  \
    __attribute__((shared)) static u32 word;                   \
    in_lds<first, second>((LDS u32*)&word, out, one, apart);   \
  }
IN_LDS(lds_add_load, Add, Load)
IN_LDS(lds_add_store, Add, Store)
IN_LDS(lds_store_load, Store, Load)
IN_LDS(lds_store_store, Store, Store)
IN_LDS(lds_add_add, Add, Add)
IN_LDS(lds_load_load, Load, Load)
IN_LDS(lds_swap_store, Swap, Store)
IN_LDS(lds_swap_load, Swap, Load)
IN_LDS(lds_swap_add, Swap, Add)
IN_LDS(lds_swap_swap, Swap, Swap)

// ---- Memory: a block or a wave overwrites bytes that others load.
KERNEL overwrite(u32* data, u32* out, u32 writer) {  // one block loads, the other block stores
  if (WG == writer) data[TID] = TID;
  else out[TID] = data[TID];
}
KERNEL overwrite_bytes(unsigned char* data, u32* out, u32 writer) {
  if (WG == writer) data[TID] = TID;
  else out[TID] = data[TID];
}
KERNEL overwrite_uniform(u32* data, u32* out, u32 writer) {  // loaded by the scalar cache
  if (WG == writer) data[TID] = TID;
  else out[TID] = data[5];
}
KERNEL overwrite_atomically(u32* data, u32* out, u32 writer) {
  if (WG == writer) add(data + TID, 1);
  else out[TID] = data[TID];
}
KERNEL overwrite_own(u32* data, u32* out, u32 writer) {  // all blocks load it, and one of them overwrites it
  const u32 all = data[TID];
  out[WG * 128 + TID] = all;
  if (WG == writer) data[TID] = all + 1;
}
KERNEL overwrite_in_block(u32* data, u32* out, u32 writer) {  // waves of one block
  if (TID / 64 == writer) data[TID % 64] = TID;
  else out[TID] = data[TID % 64];
}

KERNEL swap_loops(u32* data, u32* out, u32) {  // the other waves have their turn between the load and the swap
  u32* const at = data + (TID & 1);
  u32 seen = *at;
  __builtin_amdgcn_s_sleep(1);
  while (!SWAP(at, &seen, seen + TID, __HIP_MEMORY_SCOPE_AGENT)) {}
}
KERNEL in_place(u32* data, u32* out, u32) {  // each block has its own
  u32* const at = data + WG * 128 + TID;
  const u32 v = *at;
  barrier(true);
  *at = v + 1;
}
// The last block overwrites the bytes that all blocks have loaded. `out` begins with zeros: the count of blocks is its last word.
template <bool fenced> FN void last_overwrites(u32* data, u32* out, u32 blocks) {
  __attribute__((shared)) static u32 before;
  const u32 v = data[TID];
  out[WG * 128 + TID] = v;
  if (fenced) device_fence();
  barrier(true);
  if (TID == 0) before = add(out + blocks * 128, 1);
  if (fenced) device_fence();
  barrier(true);
  if (before + 1 < blocks) return;
  data[TID] = v + 1;
}
KERNEL last_overwrites_in_order(u32* data, u32* out, u32 blocks) { last_overwrites<true>(data, out, blocks); }
KERNEL last_overwrites_without_fences(u32* data, u32* out, u32 blocks) { last_overwrites<false>(data, out, blocks); }
// A block waits for the other block's flag. The other block has then loaded the bytes that this block overwrites, or stored
// the bytes that this block loads.
FN void raise(u32* flag) {
  device_fence();
  barrier(true);
  if (TID == 0) add(flag, 1);
}
FN void wait_for(u32* flag) {
  if (TID == 0)
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) __builtin_amdgcn_s_sleep(1);
  device_fence();
  barrier(true);
}
KERNEL flag_then_overwrite(u32* data, u32* out, u32 writer) {
  if (WG != writer) {
    out[TID] = data[TID];
    raise(out + 128);
  } else {
    wait_for(out + 128);
    data[TID] = TID;
  }
}
KERNEL flag_then_load(u32* data, u32* out, u32 writer) {
  if (WG == writer) {
    data[TID] = TID;
    raise(out + 128);
  } else {
    wait_for(out + 128);
    out[TID] = data[TID];
  }
}
