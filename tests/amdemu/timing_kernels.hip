// Kernels whose critical path and whose limit are known by hand (test_timing.py). in[i] is i + 64.
#define KERNEL extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, 256))) void
#define TID __builtin_amdgcn_workitem_id_x()
#define WG __builtin_amdgcn_workgroup_id_x()
#define SHARED __attribute__((shared))
#define ROLLED _Pragma("clang loop unroll(disable)")
typedef unsigned int u32x4 __attribute__((ext_vector_type(4)));

// Each load has the address from the one before, and a line of its own.
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

KERNEL adds(const unsigned* in, unsigned* out, int n) {   // eight dependent instructions a round
  unsigned x = TID;
  ROLLED for (int k = 0; k < n; ++k)
    asm volatile("v_xor_b32_e32 %0, 3, %0\n v_xor_b32_e32 %0, 3, %0\n v_xor_b32_e32 %0, 3, %0\n v_xor_b32_e32 %0, 3, %0\n"
                 "v_xor_b32_e32 %0, 3, %0\n v_xor_b32_e32 %0, 3, %0\n v_xor_b32_e32 %0, 3, %0\n v_xor_b32_e32 %0, 3, %0\n" : "+v"(x));
  out[TID] = x;
}

// The first wave loads before the barrier, the last one behind it: what is between is on the path of both.
KERNEL handed_over(const unsigned* in, unsigned* out, int before, int behind) {
  unsigned at = TID, wave = __builtin_amdgcn_readfirstlane(TID >> 6);
  if (wave == 0) at = chain(in, at, before);
  __builtin_amdgcn_s_barrier();
  if (wave == 3) at = chain(in + (1 << 16), at, behind);
  out[TID] = at;
}

// A load that is near and one that is far. What is done to the near one waits for it alone, or for both.
#ifdef __GFX12__
#define WAIT(n) "s_wait_loadcnt " #n "\n"
#else
#define WAIT(n) "s_waitcnt vmcnt(" #n ")\n"
#endif
#define NEAR_AND_FAR(n)                                                                                                        \
  unsigned near, far;                                                                                                          \
  asm volatile("global_load_dword %0, %2, off\n" WAIT(0) "global_load_dword %0, %2, off\n"                                     \
               "global_load_dword %1, %2, off offset:1024\n" WAIT(n) ".rept 100\n v_xor_b32_e32 %0, 3, %0\n .endr\n" WAIT(0)   \
               : "=&v"(near), "=&v"(far) : "v"(in + TID));                                                                     \
  out[TID] = near + far;
KERNEL waits_for_one(const unsigned* in, unsigned* out) { NEAR_AND_FAR(1) }
KERNEL waits_for_all(const unsigned* in, unsigned* out) { NEAR_AND_FAR(0) }

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

KERNEL nothing(const unsigned*, unsigned*) {}

KERNEL copies(const u32x4* in, u32x4* out) { unsigned i = WG * 256 + TID; out[i] = in[i]; }
KERNEL copies_few(const u32x4* in, u32x4* out) {   // so much LDS that one workgroup is there at a time
  SHARED static unsigned a[12288];
  a[TID] = TID;
  asm volatile("" ::"v"(a) : "memory");
  unsigned i = WG * 256 + TID;
  out[i] = in[i];
}
KERNEL copies_words(const unsigned* in, unsigned* out) {   // the same bytes by four times the instructions, each line in four
  unsigned i = WG * 1024 + 4 * TID;
  unsigned a = in[i], b = *(volatile const unsigned*)(in + i + 1), c = *(volatile const unsigned*)(in + i + 2), d = *(volatile const unsigned*)(in + i + 3);
  volatile unsigned* o = out + i;
  o[0] = a, o[1] = b, o[2] = c, o[3] = d;
}

// A 32 x ROW tile is written by rows and read by columns, again and again: with 32 words a row all lanes meet in one bank.
template <int ROW> static __attribute__((device)) inline void columns(unsigned* tile, unsigned* out, int n) {
  unsigned x = TID & 31, y = TID >> 5, sum = 0;
  volatile __attribute__((address_space(3))) unsigned* t = (volatile __attribute__((address_space(3))) unsigned*)tile;
  for (int k = 0; k < 4; ++k) t[(y + 8 * k) * ROW + x] = k;
  __builtin_amdgcn_s_barrier();
  ROLLED for (int k = 0; k < n; ++k) sum += t[x * ROW + y];
  out[WG * 256 + TID] = sum;
}
KERNEL columns32(const unsigned*, unsigned* out, int n) { SHARED static unsigned tile[32 * 32]; columns<32>(tile, out, n); }
KERNEL columns33(const unsigned*, unsigned* out, int n) { SHARED static unsigned tile[32 * 33]; columns<33>(tile, out, n); }

KERNEL exps(const float* in, float* out, int n) {
  unsigned i = WG * 256 + TID;
  float x = in[i], y = x + 1;
  ROLLED for (int k = 0; k < n; ++k)
    for (int j = 0; j < 8; ++j) x = __builtin_amdgcn_exp2f(x), y = __builtin_amdgcn_exp2f(y);
  out[i] = x + y;
}
