// Runs the selftest kernels for one code object and compares with the same functions compiled for the host.
//   selftest ops FILE.co      every OP of ops.h, one row a lane (ops.hip)
//   selftest uniform FILE.co  the same, one row a workgroup (uniform.hip)
//   selftest shapes FILE.co   the kernels of shapes.hip: cross-lane, LDS, atomics, launches
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "emu.h"
#define HD
#include "ops.h"

// The host's own float-to-bfloat16 instruction flushes denormals, so it is turned off and this is used.
extern "C" __bf16 __truncsfbf2(float f) {
  uint32_t x = as<uint32_t>(f);
  return as<__bf16>(uint16_t((x & 0x7fffffff) > 0x7f800000 ? x >> 16 | 0x40 : (x + 0x7fff + (x >> 16 & 1)) >> 16));
}

static int passed = 0, failed = 0;
static bool uniform = false;
static std::string target;
static void result(const std::string& name, bool ok, const std::string& why = "") {
  ok ? ++passed : ++failed;
  if (!ok) printf("FAIL %s %s: %s\n", target.c_str(), name.c_str(), why.c_str());
}

static std::shared_ptr<amdemu::CodeObject> co;
template <class... A> static amdemu::LaunchStats launch(const char* kernel, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, uint32_t lds, A... a) {
  std::vector<char> k;
  auto put = [&](auto v) { while (k.size() % alignof(decltype(v))) k.push_back(0); const char* p = reinterpret_cast<const char*>(&v); k.insert(k.end(), p, p + sizeof v); };
  (put(a), ...);
  uint32_t g[3] = {gx, gy, gz}, b[3] = {bx, by, bz};
  return co->launch(kernel, g, b, lds, k.data(), k.size());
}

// Distance in units of the last place; equal and both-NaN count as 0.
template <class F, class U> static double ulps(F a, F b) {
  if (a != a && b != b) return 0;
  U x, y;
  memcpy(&x, &a, sizeof x);
  memcpy(&y, &b, sizeof y);
  if (x == y) return 0;
  if (a != a || b != b) return 1e30;
  auto order = [](U v) -> __int128 { U top = U(1) << (sizeof(U) * 8 - 1); return v & top ? -__int128(v & ~top) : __int128(v); };
  __int128 d = order(x) - order(y);
  return d == 0 ? 0.5 : std::fabs(double(d));   // 0.5: zeros of different sign
}
static double distance(float a, float b) { return ulps<float, uint32_t>(a, b); }
static double distance(double a, double b) { return ulps<double, uint64_t>(a, b); }
static double distance(_Float16 a, _Float16 b) { return ulps<_Float16, uint16_t>(a, b); }
static double distance(__bf16 a, __bf16 b) { return ulps<__bf16, uint16_t>(a, b); }
static double distance(h2 a, h2 b) { return std::max(distance(a.x, b.x), distance(a.y, b.y)); }
static double distance(b2 a, b2 b) { return std::max(distance(a.x, b.x), distance(a.y, b.y)); }
static double distance(f2 a, f2 b) { return std::max(distance(a.x, b.x), distance(a.y, b.y)); }
template <class T> static double distance(T a, T b) { return a == b ? 0 : 1e30; }

static std::mt19937_64 rng(7);
static uint32_t r32() { return uint32_t(rng()); }
static float pick_float() {
  static const float special[] = {0.f, -0.f, 1.f, -1.f, INFINITY, -INFINITY, NAN, 1e-40f, -3e-39f, 1e38f, 3.4e38f, 1.17549435e-38f, 0.5f, 2.5f, 65504.f, 65519.f, 65520.f, 6e-8f, 1e-5f, 16777217.f};
  switch (r32() % 6) {
    case 0: return special[r32() % 20];
    case 1: return as<float>(r32());
    case 2: return float(int(r32() % 2001) - 1000) / 8;
    default: return (float(r32()) / 4294967296.f - 0.5f) * 200;
  }
}
static double pick_double() {
  static const double special[] = {0., -0., 1., -1., INFINITY, -INFINITY, NAN, 1e-310, 1e308, -1e-308, 4e-324, 2147483647., 4294967296., 1e18};
  switch (r32() % 6) {
    case 0: return special[r32() % 14];
    case 1: return as<double>(uint64_t(rng()));
    default: return (double(rng()) / 18446744073709551616. - 0.5) * 2000;
  }
}
static uint32_t pick_int() {
  static const uint32_t special[] = {0, 1, 2, 0xffffffff, 0x80000000, 0x7fffffff, 0xffff, 0x10000, 31, 32, 0xaaaaaaaa};
  switch (r32() % 4) { case 0: return special[r32() % 11]; case 1: return r32() % 200; default: return r32(); }
}
static In pick() {
  In i;
  i.a = pick_int(); i.b = pick_int(); i.c = pick_int(); i.d = pick_int();
  i.f = pick_float(); i.g = pick_float(); i.h = pick_float();
  i.s = (float(r32()) / 4294967296.f - 0.5f) * 50;
  i.x = pick_double(); i.y = pick_double(); i.z = pick_double();
  i.p = r32() % 4 ? rng() : pick_int(); i.q = r32() % 3 ? rng() : pick_int();
  auto half = [] { return r32() % 4 ? (_Float16)((float(r32()) / 4294967296.f - 0.5f) * 40) : as<_Float16>(uint16_t(r32())); };
  i.e0 = half(); i.e1 = half(); i.e2 = half(); i.e3 = half();
  i.t0 = (__bf16)pick_float(); i.t1 = (__bf16)pick_float();
  return i;
}

#define HOST(name, T, ulp, ...) static T host_##name(const In& I) { return (__VA_ARGS__); }
OPS(HOST)

template <class T> static void check_op(const char* name, double allowed, T (*host)(const In&), const std::vector<In>& in) {
  std::vector<T> out(in.size() + 1);
  memset(&out[0], 0x77, out.size() * sizeof(T));
  amdemu::register_memory(in.data(), in.size() * sizeof(In), "in");
  amdemu::register_memory(out.data(), in.size() * sizeof(T), "out");
  std::string why;
  try {
    uint32_t rows = uint32_t(in.size());
    launch((std::string("k_") + name).c_str(), uniform ? rows : (rows + 255) / 256, 1, 1, uniform ? 32 : 256, 1, 1, 0, in.data(), out.data(), int(in.size()));
    int bad = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      T want = host(in[i]);
      double d = distance(out[i], want);
      if (d <= allowed) continue;
      if (!bad++) {
        uint64_t x = 0, y = 0;
        memcpy(&x, &out[i], sizeof(T));
        memcpy(&y, &want, sizeof(T));
        char b[500];
        snprintf(b, sizeof b, "row %zu got %llx want %llx (%.3g ulp) a=%x b=%x c=%x f=%g g=%g h=%g s=%g x=%g y=%g p=%llx q=%llx e0=%g e1=%g e2=%g", i, (unsigned long long)x, (unsigned long long)y, d,
                 in[i].a, in[i].b, in[i].c, in[i].f, in[i].g, in[i].h, in[i].s, in[i].x, in[i].y, (unsigned long long)in[i].p, (unsigned long long)in[i].q, (float)in[i].e0, (float)in[i].e1, (float)in[i].e2);
        why = b;
      }
    }
    if (bad) why += ", " + std::to_string(bad) + " rows differ";
  } catch (const std::exception& e) {
    why = e.what();
  }
  amdemu::unregister_memory(in.data());
  amdemu::unregister_memory(out.data());
  result(name, why.empty(), why);
}

static void run_ops() {
  std::vector<In> in(1000);   // the last wave is partial
  for (In& i : in) i = pick();
#define CHECK(name, T, ulp, ...) check_op<T>(#name, ulp, host_##name, in);
  OPS(CHECK)
}

#include "shapes_host.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ifstream f(argv[2], std::ios::binary);
  std::vector<char> elf((std::istreambuf_iterator<char>(f)), {});
  try {
    co = amdemu::CodeObject::load(elf.data(), elf.size());
    target = co->target();
    std::string missing;
    for (auto& k : co->kernels())
      for (auto& u : co->unsupported(k.name)) missing += k.name + ": " + u + "; ";
    result(std::string(argv[1]) + " --check", missing.empty(), missing);
    uniform = !strcmp(argv[1], "uniform");
    if (!strcmp(argv[1], "shapes")) run_shapes(); else run_ops();
  } catch (const std::exception& e) {
    result("load", false, e.what());
  }
  printf("%s %s: %d passed, %d failed\n", target.c_str(), argv[1], passed, failed);
  return failed != 0;
}
