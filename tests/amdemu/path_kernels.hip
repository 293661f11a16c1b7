// Kernels whose longest chain of accesses is known by hand (test_path.py). in[i] is i + 64.
#define KERNEL extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, 256))) void
#define TID __builtin_amdgcn_workitem_id_x()
#define SHARED __attribute__((shared))
#define ROLLED _Pragma("clang loop unroll(disable)")

// Each load has the address from the one before.
static __attribute__((device)) inline unsigned chain(const unsigned* in, unsigned at, int n) {
  ROLLED for (int k = 0; k < n; ++k) at = in[at];
  return at;
}
KERNEL dependent(const unsigned* in, unsigned* out, int n) { out[TID] = chain(in, TID, n); }

KERNEL independent(const unsigned* in, unsigned* out) {   // eight loads before the first wait
  const unsigned* p = in + TID;
  unsigned a = p[0], b = p[256], c = p[512], d = p[768], e = p[1024], f = p[1280], g = p[1536], h = p[1792];
  __builtin_amdgcn_sched_barrier(0);
  out[TID] = a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}

KERNEL scalar(const __attribute__((address_space(4))) unsigned* in, unsigned* out, int n) {
  unsigned at = 0;
  ROLLED for (int k = 0; k < n; ++k) at = in[at];
  out[TID] = at;
}

KERNEL lds(const unsigned* in, unsigned* out, int n) {
  SHARED static unsigned a[256];
  volatile __attribute__((address_space(3))) unsigned* t = (volatile __attribute__((address_space(3))) unsigned*)a;
  t[TID] = TID;
  unsigned at = TID;
  ROLLED for (int k = 0; k < n; ++k) at = t[at];
  out[TID] = at;
}

// The first wave loads before the barrier, and the last wave behind it: the chain has the loads of both.
KERNEL handed_over(const unsigned* in, unsigned* out, int before, int behind) {
  unsigned at = TID, wave = __builtin_amdgcn_readfirstlane(TID >> 6);
  if (wave == 0) at = chain(in, at, before);
  __builtin_amdgcn_s_barrier();
  if (wave == 3) at = chain(in + (1 << 16), at, behind);
  out[TID] = at;
}

// Two loads; a scalar load is waited for between them. The last load waits for the first one alone, or for both.
#ifdef __GFX12__
#define WAIT(n) "s_wait_loadcnt " #n "\n"
#define WAIT_FOR_SCALARS "s_wait_kmcnt 0\n"
#else
#define WAIT(n) "s_waitcnt vmcnt(" #n ")\n"
#define WAIT_FOR_SCALARS "s_waitcnt lgkmcnt(0)\n"
#endif
#define THREE_LOADS(n)                                                                                                    \
  unsigned first, second, third, scalar;                                                                                  \
  asm volatile("global_load_dword %0, %4, off\n s_load_dword %3, %5, 0x0\n" WAIT_FOR_SCALARS                              \
               "global_load_dword %1, %4, off offset:1024\n" WAIT(n) "global_load_dword %2, %4, off offset:512\n" WAIT(0) \
               : "=&v"(first), "=&v"(second), "=&v"(third), "=&s"(scalar) : "v"(in + TID), "s"(in));                      \
  out[TID] = first + second + third + scalar;
KERNEL waits_for_one(const unsigned* in, unsigned* out) { THREE_LOADS(1) }
KERNEL waits_for_all(const unsigned* in, unsigned* out) { THREE_LOADS(0) }

#ifdef __GFX12__
#define WAIT_FOR_STORES "s_wait_storecnt 0"
#elif defined(__GFX10__) || defined(__GFX11__)
#define WAIT_FOR_STORES "s_waitcnt_vscnt null, 0x0"
#else
#define WAIT_FOR_STORES "s_waitcnt vmcnt(0)"
#endif
KERNEL stores_first(const unsigned* in, unsigned* out) {   // and waits for that before it loads
  out[TID + 256] = 1;
  asm volatile(WAIT_FOR_STORES ::: "memory");
  out[TID] = in[TID];
}
