// hipops-inspect: its figures for short pieces of machine code in the form of llvm-objdump, its number of waves, and its budgets.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

#include "catch.h"
#include "run.h"
#include "runtime/fake_code_object.h"
#include "inspect/budgets.h"
#include "inspect/control_flow.h"
#include "inspect/inspection.h"
#include "inspect/occupancy.h"
#include "runtime/runtime.h"

using namespace hipops;
using namespace hipops::inspect;
using namespace hipops_test;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The message of the exception, or "".
std::string words_of(const std::function<void()>& body) {
  try {
    body();
    return "";
  } catch (const std::exception& problem) {
    return problem.what();
  }
}

Functions parse(const std::string& text) {
  std::istringstream stream(text);
  return parse_disassembly(stream);
}

// CDNA. for (i...; i < n; i += step) y[i] = x[i] * x[i + 1000]: two loads of 4 bytes, one store.
const char* const kLoopGfx942 = R"(
loop.co:	file format elf64-amdgpu

Disassembly of section .text:

0000000000001600 <loop>:
	s_load_dwordx2 s[4:5], s[0:1], 0x10                        // 000000001600: C0060100 00000010
	s_waitcnt lgkmcnt(0)                                       // 000000001608: BF8CC07F
	v_cmp_gt_i32_e32 vcc, s4, v0                               // 00000000160C: 7D880004
	s_and_saveexec_b64 s[2:3], vcc                             // 000000001610: BE82206A
	s_cbranch_execz 28                                         // 000000001614: BF88001C <loop+0x88>
	s_load_dwordx4 s[0:3], s[0:1], 0x0                         // 000000001618: C00A0000 00000000
	s_ashr_i32 s7, s5, 31                                      // 000000001620: 90079F05
	s_mov_b32 s6, s5                                           // 000000001624: BE860005
	v_lshlrev_b32_e32 v2, 2, v0                                // 000000001628: 24040082
	v_mov_b32_e32 v3, 0                                        // 00000000162C: 7E060280
	s_lshl_b64 s[6:7], s[6:7], 2                               // 000000001630: 8E868206
	s_mov_b64 s[8:9], 0                                        // 000000001634: BE880180
	s_waitcnt lgkmcnt(0)                                       // 000000001638: BF8CC07F
	v_lshl_add_u64 v[4:5], s[2:3], 0, v[2:3]                   // 00000000163C: D2080004 04090002
	global_load_dword v1, v[4:5], off                          // 000000001644: DC508000 017F0004
	global_load_dword v6, v[4:5], off offset:4000              // 00000000164C: DC508FA0 067F0004
	v_add_u32_e32 v0, s5, v0                                   // 000000001654: 68000005
	v_cmp_le_i32_e32 vcc, s4, v0                               // 000000001658: 7D860004
	v_lshl_add_u64 v[4:5], s[0:1], 0, v[2:3]                   // 00000000165C: D2080004 04090000
	v_lshl_add_u64 v[2:3], v[2:3], 0, s[6:7]                   // 000000001664: D2080002 00190102
	s_or_b64 s[8:9], vcc, s[8:9]                               // 00000000166C: 8788086A
	s_waitcnt vmcnt(0)                                         // 000000001670: BF8C0F70
	v_mul_f32_e32 v1, v1, v6                                   // 000000001674: 0A020D01
	global_store_dword v[4:5], v1, off                         // 000000001678: DC708000 007F0104
	s_andn2_b64 exec, exec, s[8:9]                             // 000000001680: 89FE087E
	s_cbranch_execnz 65516                                     // 000000001684: BF89FFEC <loop+0x38>
	s_endpgm                                                   // 000000001688: BF810000
	s_nop 0                                                    // 00000000168C: BF800000
)";

// RDNA 4, the same.
const char* const kLoopGfx1201 = R"(
0000000000001600 <loop>:
	s_load_b64 s[2:3], s[0:1], 0x10                            // 000000001600: F4002080 F8000010
	s_mov_b32 s4, exec_lo                                      // 000000001608: BE84007E
	s_wait_kmcnt 0x0                                           // 00000000160C: BFC70000
	v_cmpx_gt_i32_e64 s2, v0                                   // 000000001610: D4C4007E 00020002
	s_cbranch_execz 33                                         // 000000001618: BFA50021 <loop+0xa0>
	s_load_b128 s[4:7], s[0:1], 0x0                            // 00000000161C: F4004100 F8000000
	v_dual_mov_b32 v2, 0 :: v_dual_lshlrev_b32 v1, 2, v0       // 000000001624: CA220080 02000082
	s_ashr_i32 s1, s3, 31                                      // 00000000162C: 86019F03
	s_mov_b32 s0, s3                                           // 000000001630: BE800003
	s_delay_alu instid0(SALU_CYCLE_1)                          // 000000001634: BF870009
	s_lshl_b64 s[8:9], s[0:1], 2                               // 000000001638: 84888200
	s_mov_b32 s1, 0                                            // 00000000163C: BE810080
	s_wait_kmcnt 0x0                                           // 000000001640: BFC70000
	v_add_co_u32 v3, vcc_lo, s6, v1                            // 000000001644: D7006A03 00020206
	s_wait_alu depctr_va_vcc(0)                                // 00000000164C: BF88FF9D
	v_add_co_ci_u32_e64 v4, null, s7, v2, vcc_lo               // 000000001650: D5207C04 01AA0407
	s_clause 0x1                                               // 000000001658: BF850001
	global_load_b32 v5, v[3:4], off                            // 00000000165C: EE05007C 00000005 00000003
	global_load_b32 v6, v[3:4], off offset:4000                // 000000001668: EE05007C 00000006 000FA003
	v_add_nc_u32_e32 v0, s3, v0                                // 000000001674: 4A000003
	s_wait_loadcnt 0x0                                         // 000000001678: BFC00000
	v_mul_f32_e32 v5, v5, v6                                   // 00000000167C: 100A0D05
	v_cmp_le_i32_e64 s0, s2, v0                                // 000000001680: D4430000 00020002
	global_store_b32 v[3:4], v5, off                           // 000000001688: EE06807C 02800000 00000003
	s_or_b32 s1, s0, s1                                        // 000000001694: 8C010100
	s_and_not1_b32 exec_lo, exec_lo, s1                        // 000000001698: 917E017E
	s_cbranch_execnz 65513                                     // 00000000169C: BFA6FFE9 <loop+0x44>
	s_endpgm                                                   // 0000000016A0: BFB00000
	s_code_end                                                 // 0000000016A4: BF9F0000
)";

// The output of a disassembler for one instruction a line, of four bytes each, from address 0 on.
std::string code_of(const std::string& lines) {
  std::istringstream stream(lines);
  std::string text = "0000000000000000 <k>:\n";
  unsigned address = 0;
  for (std::string line; std::getline(stream, line); address += 4) {
    char place[32];
    std::snprintf(place, sizeof place, " // %012X: 0\n", address);
    text += "\t" + line + place;
  }
  return text;
}

MachineCode figures(const std::string& lines, const std::string& target = "gfx942") {
  return machine_code(parse(code_of(lines)).at("k"), target);
}

Kernel kernel_with(uint64_t vgprs, uint64_t wave, uint64_t block, uint64_t lds = 0, uint64_t sgprs = 32) {
  Kernel kernel;
  kernel.name = "softmax_f32_aligned_8x2";
  kernel.vgprs = vgprs;
  kernel.sgprs = sgprs;
  kernel.wave = wave;
  kernel.largest_block = block;
  kernel.lds_bytes = lds;
  return kernel;
}

double waves(const std::string& target, uint64_t vgprs, uint64_t wave, uint64_t block, uint64_t lds = 0,
             uint64_t sgprs = 32) {
  return occupancy(kernel_with(vgprs, wave, block, lds, sgprs), hardware_of(target)).waves_per_simd;
}

}  // namespace

// ---- Reading

TEST_CASE("instructions, their operands, addresses and branches are read", "[disassembly]") {
  const Functions functions = parse(kLoopGfx942);
  REQUIRE(functions.size() == 1);
  const Code& code = functions.at("loop");
  REQUIRE(code.size() == 28);
  CHECK(code[0].address == 0x1600);
  CHECK(code[0].mnemonic == "s_load_dwordx2");
  CHECK(code[0].operands == "s[4:5], s[0:1], 0x10");
  CHECK_FALSE(code[0].target);
  CHECK(code[4].target == uint64_t{0x1688});
  CHECK(code[25].target == uint64_t{0x1638});  // back
  CHECK(code[26].operands == "");
}

TEST_CASE("functions are separated, and other lines ignored", "[disassembly]") {
  const Functions functions =
      parse("<a>:\n\ts_nop 0 // 0010: 0\n\n\t...\n<b<int>>:\n\ts_endpgm // 0020: 0\nnoise // x\n");
  REQUIRE(functions.size() == 2);
  CHECK(functions.at("a").size() == 1);
  CHECK(functions.at("b<int>").at(0).address == 0x20);
  CHECK(parse("").empty());
}

TEST_CASE("a branch without a distance, or out of the function, is refused", "[disassembly]") {
  CHECK_THROWS_AS(parse(code_of("s_branch somewhere")), DisassemblyError);
  CHECK_THROWS_AS(figures("s_branch 5\ns_endpgm"), DisassemblyError);
}

TEST_CASE("a missing disassembler is an error with advice", "[disassembly]") {
  CHECK(find_objdump("mine") == "mine");
  CHECK(contains(words_of([] { disassemble("/nowhere/llvm-objdump", "x"); }), "--objdump"));
  CHECK_THROWS_AS(disassemble("/bin/false", "x"), DisassemblyError);
  CHECK_THROWS_AS(disassemble("/bin/true", "x"), DisassemblyError);  // shows no code
}

// ---- Loops

TEST_CASE("nested loops are detected", "[loops]") {
  const Code code = parse(code_of("s_mov_b32 s0, 0\n"        // 0
                                  "v_mov_b32 v0, v1\n"       // 4: the outer loop
                                  "v_mov_b32 v1, v2\n"       // 8: the inner one
                                  "s_cbranch_scc1 65534\n"   // c, to 8
                                  "s_cbranch_vccz 65532\n"   // 10, to 4
                                  "s_endpgm\n"               // 14
                                  "s_nop 0"))                // cannot be reached
                        .at("k");
  const ControlFlow flow = control_flow(code);
  REQUIRE(flow.blocks.size() == 5);
  REQUIRE(flow.loops.size() == 2);
  CHECK(flow.blocks[flow.loops[0].head].begin == 1);
  CHECK(flow.blocks[flow.loops[1].head].begin == 2);
  CHECK(flow.loops[0].has(flow.loops[1].head));
  CHECK_FALSE(flow.loops[1].has(flow.loops[0].head));
}

TEST_CASE("the loop with global memory in it is the hot one", "[loops]") {
  const MachineCode code = figures(
      "global_load_dword v9, v[0:1], off\n"       // before
      "global_load_dwordx4 v[2:5], v[0:1], off\n"  // 4: the hot loop
      "s_add_u32 s0, s0, 1\n"                      // 8: a loop in it, without memory
      "s_cbranch_scc1 65534\n"
      "s_waitcnt vmcnt(0)\n"
      "global_store_dwordx4 v[0:1], v[2:5], off\n"
      "s_cbranch_vccz 65530\n"
      "s_endpgm");
  REQUIRE(code.hot.size() == 1);
  CHECK(code.has_loop);
  CHECK(code.hot[0].address == 4);
  CHECK(code.hot[0].loads == Widths{{16, 1}});
  CHECK(code.hot[0].stores == Widths{{16, 1}});
  CHECK(code.loads == Widths{{4, 1}, {16, 1}});
}

TEST_CASE("without a loop the figures are about all the code", "[loops]") {
  const MachineCode code = figures("global_load_dwordx2 v[2:3], v[0:1], off\ns_endpgm");
  REQUIRE(code.hot.size() == 1);
  CHECK_FALSE(code.has_loop);
  CHECK(code.hot[0].loads == Widths{{8, 1}});
}

// ---- Figures

TEST_CASE("the same loop has the same figures on CDNA and on RDNA", "[figures]") {
  const std::string target = GENERATE(as<std::string>(), "gfx942", "gfx1201");
  const MachineCode code = machine_code(parse(target == "gfx942" ? kLoopGfx942 : kLoopGfx1201).at("loop"), target);
  REQUIRE(code.hot.size() == 1);
  CHECK(code.hot[0].loads == Widths{{4, 2}});
  CHECK(code.hot[0].stores == Widths{{4, 1}});
  CHECK(code.hot[0].before_wait.count == 2);
  CHECK(code.hot[0].before_wait.bytes == 8);
  CHECK(code.compare_swap_loops == 0);
  CHECK(code.atomics.empty());
}

TEST_CASE("widths are read from every form of a name", "[figures]") {
  const MachineCode code = figures(
      "global_load_ubyte v0, v[0:1], off\n"
      "global_load_d16_hi_u8 v0, v[0:1], off\n"
      "global_load_short_d16_hi v0, v[0:1], off\n"
      "global_load_u16 v0, v[0:1], off\n"
      "buffer_load_dword v0, off, s[0:3], 0\n"
      "global_load_dwordx3 v[0:2], v[0:1], off\n"
      "flat_load_b64 v[0:1], v[0:1]\n"
      "global_load_lds_dwordx4 v[0:1], off\n"
      "global_store_d16_hi_b16 v[0:1], v0, off\n"
      "scratch_load_dword v0, off, s0\n"
      "s_load_dwordx4 s[0:3], s[0:1], 0x0\n"
      "global_wb\n"
      "s_endpgm");
  CHECK(code.loads == Widths{{1, 2}, {2, 2}, {4, 1}, {8, 1}, {12, 1}, {16, 1}});
  CHECK(code.stores == Widths{{2, 1}});
  CHECK(code.flat == 1);
  CHECK_THROWS_AS(figures("global_load_wonder v0, v[0:1], off\ns_endpgm"), DisassemblyError);
}

TEST_CASE("a load is in flight until a wait for it", "[figures]") {
  const std::string load = "global_load_dwordx4 v[0:3], v[0:1], off\n", store = "global_store_dword v[0:1], v2, off\n";
  const auto first = [](const std::string& lines, const std::string& target) {
    return figures(lines + "s_endpgm", target).hot.at(0);
  };
  SECTION("a wait for the first of them is a wait") {
    const HotLoop hot = first(load + load + "s_waitcnt vmcnt(1)\n" + load + load, "gfx942");
    CHECK(hot.before_wait.count == 2);
    CHECK(hot.before_wait.bytes == 32);
    CHECK(hot.most_under_way.count == 3);
  }
  SECTION("a wait for something else is none") {
    CHECK(first(load + "s_waitcnt lgkmcnt(0)\n" + load, "gfx942").before_wait.count == 2);
    CHECK(first(load + "s_wait_kmcnt 0x0\ns_wait_storecnt 0x0\n" + load, "gfx1201").before_wait.count == 2);
    CHECK(first(load + "s_waitcnt_vscnt null, 0x0\n" + load, "gfx1100").before_wait.count == 2);
    CHECK(first(load + "s_waitcnt vmcnt(1)\n" + load, "gfx942").before_wait.count == 2);
  }
  SECTION("on CDNA stores are counted too") {
    const std::string lines = store + load + load + "s_waitcnt vmcnt(2) lgkmcnt(0)\n" + load;
    CHECK(first(lines, "gfx942").before_wait.count == 3);
    CHECK(first(load + store + store + "s_waitcnt vmcnt(2)\n" + load, "gfx942").before_wait.count == 1);
    CHECK(first(load + store + store + "s_waitcnt vmcnt(2)\n" + load, "gfx1100").before_wait.count == 2);
  }
  SECTION("gfx12 has waits of its own") {
    CHECK(first(load + load + "s_wait_loadcnt 0x1\n" + load, "gfx1201").before_wait.count == 2);
    CHECK(first(load + load + "s_wait_loadcnt_dscnt 0x100\n" + load, "gfx1201").before_wait.count == 2);
    CHECK(first(load + load + "s_wait_loadcnt_dscnt 0x200\n" + load, "gfx1201").before_wait.count == 3);
  }
  SECTION("the path with more loads counts") {
    const std::string lines = load + "s_cbranch_vccz 2\n" + load + load + load + "s_waitcnt vmcnt(0)\n";
    CHECK(first(lines, "gfx942").before_wait.count == 4);
  }
}

TEST_CASE("waits for scalar loads are counted up to the first load", "[figures]") {
  const std::string ask = "s_load_dwordx2 s[0:1], s[0:1], 0x0\n", load = "global_load_dword v0, v[0:1], off\n";
  const auto trips = [](const std::string& lines, const std::string& target) {
    return figures(lines + "s_endpgm", target).scalar_trips;
  };
  for (const auto& [target, wait] : {std::pair<const char*, std::string>{"gfx942", "s_waitcnt lgkmcnt(0)\n"},
                                     {"gfx1100", "s_waitcnt lgkmcnt(0)\n"},
                                     {"gfx1201", "s_wait_kmcnt 0x0\n"}}) {
    CHECK(trips(load, target).most == 0);
    CHECK(trips(ask + ask + wait + load + ask + wait, target).most == 1);  // loads together, and a load after the first vector load
    CHECK(trips(ask + wait + wait + ask + wait + load, target).most == 2);  // a wait for nothing is none
    CHECK(trips(ask + wait + "global_store_dword v[0:1], v2, off\n", target).most == 0);
    const Trips two_ways = trips(ask + wait + "s_cbranch_scc0 3\n" + ask + wait + load, target);
    CHECK(two_ways.least == 2);
    const Trips some = trips(ask + "s_cbranch_scc0 2\n" + wait + ask + wait + load, target);
    CHECK(some.least == 1);
    CHECK(some.most == 2);
  }
}

TEST_CASE("the same instructions have the same hash at any address", "[figures]") {
  const std::string lines = "s_mov_b32 s0, 1\ns_cbranch_scc1 65534\ns_endpgm";
  const MachineCode code = figures(lines);
  CHECK(code.instructions == 3);
  std::string moved = code_of(lines);
  for (size_t at = 0; (at = moved.find("// 0000", at)) != std::string::npos; ++at) moved.replace(at, 7, "// 0001");
  CHECK(machine_code(parse(moved).at("k"), "gfx942").hash == code.hash);
  CHECK(figures("s_mov_b32 s0, 2\ns_cbranch_scc1 65534\ns_endpgm").hash != code.hash);
  CHECK(figures("s_mov_b32 s0, 1\ns_endpgm").hash != code.hash);
}

TEST_CASE("a loop's prefetches are in flight while it stores", "[figures]") {
  const auto at_store = [](const std::string& wait, const char* target) {
    const MachineCode code = figures("global_load_dwordx4 v[2:5], v[0:1], off\n"  // the loop
                                     "global_load_dwordx4 v[6:9], v[0:1], off\n" +
                                         wait +
                                         "s_barrier\n"
                                         "global_store_dwordx4 v[0:1], v[10:13], off\n"
                                         "s_waitcnt vmcnt(1)\n"
                                         "global_store_dwordx4 v[0:1], v[10:13], off\n"
                                         "s_cbranch_scc1 65528\n"
                                         "s_endpgm",
                                     target);
    REQUIRE(code.hot.size() == 1);
    return code.hot[0].at_store.count;
  };
  for (const char* target : {"gfx942", "gfx1100"}) {
    CHECK(at_store("s_nop 0\n", target) == 2);
    CHECK(at_store("s_waitcnt vmcnt(1)\n", target) == 1);
    CHECK(at_store("s_waitcnt vmcnt(0)\n", target) == 0);
  }
}

TEST_CASE("sums with +0 that lose a zero's sign are counted", "[figures]") {
  CHECK(figures("v_fma_mixlo_f16 v20, v28, v20, 0\n"
                "v_fma_mixhi_f16 v1, v1, v4, 0 op_sel_hi:[1,0,0]\n"
                "v_fma_mixlo_bf16 v1, v1, v4, 0 neg_lo:[1,0,0]\n"
                "v_fma_mixlo_f16 v20, v28, v20, 0 neg_lo:[0,0,1]\n"
                "v_fma_mixlo_f16 v20, v28, v20, 0 neg_lo:[1,0,1]\n"
                "v_fma_mixlo_f16 v20, v28, 0, v20\n"
                "v_fma_mix_f32 v20, v28, v20, v0\n"
                "v_fma_f32 v20, v28, v20, v0\n"
                "s_endpgm")
            .zero_addends == 3);
}

TEST_CASE("exchanges between lanes are counted by their kind", "[figures]") {
  const MachineCode code = figures(
      "v_add_f32_dpp v0, v0, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1\n"
      "v_mov_b32_dpp v0, v1 row_half_mirror row_mask:0xf bank_mask:0xf\n"
      "v_permlanex16_b32 v0, v1, s0, s1\n"
      "v_permlane32_swap_b32_e32 v0, v1\n"
      "v_readlane_b32 s0, v0, 16\n"
      "v_readfirstlane_b32 s0, v0\n"
      "ds_bpermute_b32 v0, v1, v2\n"
      "ds_swizzle_b32 v0, v1 offset:swizzle(BROADCAST,32,0)\n"
      "ds_read_b32 v0, v1\n"
      "s_barrier\n"
      "s_endpgm");
  CHECK(code.dpp == 2);
  CHECK(code.permlane == 2);
  CHECK(code.readlane == 1);
  CHECK(code.bpermute == 1);
  CHECK(code.swizzle == 1);
  CHECK(code.lds == 1);
  CHECK(code.barriers == 1);
}

TEST_CASE("divisions, and multiplications to 64 bits, are counted in the hot loop", "[figures]") {
  const MachineCode code = figures(
      "v_rcp_iflag_f32_e32 v0, v0\n"              // before it
      "global_load_dword v0, v[0:1], off\n"        // 4
      "v_rcp_iflag_f32_e32 v0, v0\n"
      "v_mul_f32_e32 v0, 0x5f7ffffc, v0\n"
      "v_mad_u64_u32 v[0:1], s[0:1], v2, v3, 0\n"
      "v_mad_co_u64_u32 v[0:1], null, v2, v3, 0\n"
      "v_mul_hi_u32 v0, v1, v2\n"
      "s_cbranch_scc1 65529\n"
      "s_endpgm");
  CHECK(code.hot.at(0).divisions == 2);
  CHECK(code.hot.at(0).wide_multiplies == 2);
}

// The code that clang makes for an atomic add on a target without the instruction.
const char* const kCompareSwapLoop =
    "global_load_dword v3, v[0:1], off\n"
    "s_waitcnt vmcnt(0)\n"
    "v_add_f32_e32 v2, v3, v4\n"                                      // 8
    "global_atomic_cmpswap v2, v[0:1], v[2:3], off glc\n"
    "s_waitcnt vmcnt(0)\n"
    "v_cmp_eq_u32_e32 vcc, v2, v3\n"
    "s_or_b64 s[0:1], vcc, s[0:1]\n"
    "v_mov_b32_e32 v3, v2\n"
    "s_andn2_b64 exec, exec, s[0:1]\n"
    "s_cbranch_execnz 65528\n"                                        // to 8
    "s_endpgm";

TEST_CASE("a compare-and-swap loop is distinguished from an atomic add", "[figures]") {
  const MachineCode loop = figures(kCompareSwapLoop);
  CHECK(loop.compare_swap_loops == 1);
  CHECK(loop.atomics == std::map<std::string, unsigned>{{"global_atomic_cmpswap", 1}});
  CHECK_FALSE(loop.has_loop);  // it is no loop over data

  const MachineCode add = figures(
      "global_load_dword v2, v[0:1], off\n"
      "s_waitcnt vmcnt(0)\n"
      "global_atomic_add_f32 v[0:1], v2, off\n"
      "s_cbranch_scc1 65532\n"
      "s_endpgm");
  CHECK(add.compare_swap_loops == 0);
  CHECK(add.atomics == std::map<std::string, unsigned>{{"global_atomic_add_f32", 1}});

  CHECK(figures("global_atomic_cmpswap v2, v[0:1], v[2:3], off glc\ns_endpgm").compare_swap_loops == 0);
  CHECK(figures("global_atomic_cmpswap_b64 v[2:3], v[0:1], v[2:5], off th:TH_ATOMIC_RETURN\ns_cbranch_execnz 65534\n"
                "s_endpgm", "gfx1201").compare_swap_loops == 1);
  CHECK(figures("ds_cmpst_rtn_b32 v0, v1, v2, v3\ns_cbranch_execnz 65534\ns_endpgm").compare_swap_loops == 1);
  CHECK(figures("ds_cmpstore_rtn_b32 v0, v1, v2, v3\ns_cbranch_execnz 65534\ns_endpgm").compare_swap_loops == 1);
}

// ---- Occupancy: the numbers that llc 22 prints for kernels with these registers, with blocks of one wave.
TEST_CASE("registers limit the number of waves", "[occupancy]") {
  struct Row {
    const char* target;
    uint64_t vgprs;
    double waves;
  };
  const Row rows[] = {
      {"gfx906", 24, 10},  {"gfx906", 25, 9},    {"gfx906", 128, 2},         {"gfx9-generic", 65, 3},
      {"gfx90a", 64, 8},   {"gfx90a", 65, 7},    {"gfx90a:xnack+", 129, 3},  {"gfx90a", 256, 2},
      {"gfx942", 72, 7},   {"gfx942", 73, 6},    {"gfx950", 96, 5},          {"gfx9-4-generic", 97, 4},
      {"gfx1010", 65, 14}, {"gfx1010", 129, 7},  {"gfx1030", 64, 16},        {"gfx1030", 65, 12},
      {"gfx1030", 97, 9},  {"gfx1030", 169, 5},  {"gfx10-3-generic", 84, 10}, {"gfx1100", 96, 16},
      {"gfx1100", 97, 12}, {"gfx1100", 169, 8},  {"gfx1151", 240, 6},        {"gfx1102", 96, 10},
      {"gfx1150", 65, 12}, {"gfx11-generic", 97, 9}, {"gfx1200", 97, 12},    {"gfx1201", 193, 7},
      {"gfx12-generic", 256, 5}};
  for (const Row& row : rows) {
    INFO(row.target << " with " << row.vgprs);
    const uint64_t wave = hardware_of(row.target).units == 1 ? 64 : 32;
    CHECK(waves(row.target, row.vgprs, wave, wave) == row.waves);
  }
  CHECK(waves("gfx942", 32, 64, 64, 0, 106) == 7);  // scalar registers
  CHECK(waves("gfx942", 32, 64, 64, 0, 100) == 8);
  CHECK(waves("gfx906", 24, 64, 64, 0, 88) == 9);
  CHECK(waves("gfx1100", 96, 64, 64) == 8);         // twice as wide
  CHECK_THROWS_AS(hardware_of("gfx803"), UnknownTarget);
  CHECK_THROWS_AS(hardware_of("sm_90"), UnknownTarget);
}

TEST_CASE("blocks and shared memory limit the number of waves", "[occupancy]") {
  const auto limit = [](const std::string& target, const Kernel& kernel) {
    return occupancy(kernel, hardware_of(target)).limit;
  };
  CHECK(waves("gfx942", 32, 64, 1024) == 8);
  CHECK(waves("gfx942", 72, 64, 1024) == 4);               // 7 a SIMD are 28: one block of 16 waves
  CHECK(waves("gfx942", 32, 64, 256, 16 * 1024) == 4);     // 4 blocks in 64 KiB
  CHECK(waves("gfx942", 32, 64, 256, 16 * 1024 + 1) == 3);
  CHECK(waves("gfx950", 32, 64, 256, 20 * 1024) == 8);     // of 160 KiB
  CHECK(waves("gfx1100", 32, 32, 256, 64 * 1024) == 4);    // 2 blocks in the 128 KiB of a pair of CUs
  CHECK(waves("gfx942", 32, 64, 192) == 7.5);              // 10 blocks of 3 waves
  CHECK(limit("gfx942", kernel_with(32, 64, 256)) == "none");
  CHECK(limit("gfx942", kernel_with(128, 64, 256)) == "vgprs");
  CHECK(limit("gfx942", kernel_with(32, 64, 256, 32768)) == "lds");
  CHECK(limit("gfx942", kernel_with(32, 64, 64, 0, 106)) == "sgprs");
  CHECK(limit("gfx942", kernel_with(32, 64, 192)) == "block");
  const Occupancy pair = occupancy(kernel_with(64, 32, 256), hardware_of("gfx1201"));
  CHECK(pair.waves_per_unit == 2 * pair.waves_per_simd);
}

TEST_CASE("bytes in flight are the sum over all waves of a compute unit", "[figures]") {
  const auto in_flight = [](const char* text, const std::string& target, uint64_t wave) {
    const MachineCode code = machine_code(parse(text).at("loop"), target);
    return record_of("softmax", target, kernel_with(64, wave, 256), code).at("bytes_in_flight").get<int64_t>();
  };
  CHECK(in_flight(kLoopGfx942, "gfx942", 64) == 4 * 8 * 64 * 8);
  CHECK(in_flight(kLoopGfx1201, "gfx1201", 32) == 2 * 16 * 32 * 8);
}

// ---- Budgets

namespace {

Record record(const std::string& target = "gfx942") {
  return {{"op", "softmax"},      {"target", target}, {"kernel", "softmax_f32_aligned_8x2"}, {"spills", 0},
          {"bytes_in_flight", 9}, {"hot_loads", {{"16", 2}, {"8", 1}}}, {"waves_limit", "none"}};
}

Verdict check_one(const std::string& budgets, bool whole = false) {
  return check(parse_budgets(budgets), {record()}, whole);
}

}  // namespace

TEST_CASE("a broken limit is reported with figure and limit", "[budgets]") {
  CHECK(check_one(R"({"rules": [{"most": {"spills": 0}, "least": {"bytes_in_flight": 9}}]})").held == 2);
  const Verdict most = check_one(R"({"rules": [{"most": {"bytes_in_flight": 8.5}}]})");
  REQUIRE(most.problems.size() == 1);
  CHECK(most.problems[0] == "gfx942 softmax_f32_aligned_8x2: bytes_in_flight is 9, limit: at most 8.5");
  const Verdict least = check_one(R"({"rules": [{"least": {"bytes_in_flight": 16384}}]})");
  REQUIRE(least.problems.size() == 1);
  CHECK(least.problems[0] == "gfx942 softmax_f32_aligned_8x2: bytes_in_flight is 9, limit: at least 16384");
}

TEST_CASE("a rule lists the allowed widths, with exceptions", "[budgets]") {
  const std::string rules = R"("rules": [{"only": {"hot_loads": [16]}}])";
  const Verdict broken = check_one("{" + rules + "}");
  REQUIRE(broken.problems.size() == 1);
  CHECK(broken.problems[0] == "gfx942 softmax_f32_aligned_8x2: hot_loads is 16x2 8x1, limit: 16 bytes");
  const auto with = [&](const std::string& scope, const std::string& widths) {
    return check_one("{" + rules + R"(, "exceptions": [{)" + scope + R"("figure": "hot_loads", "widths": )" + widths +
                     R"(, "reason": "because"}]})");
  };
  CHECK(with("", "[8]").problems.empty());
  CHECK(with("", "[4]").problems.size() == 1);
  CHECK(with(R"("ops": ["rope"], )", "[8]").problems.size() == 1);
  // The widths of the rule must occur.
  CHECK(check_one(R"({"rules": [{"only": {"hot_loads": [4]}}],
                      "exceptions": [{"figure": "hot_loads", "widths": [8, 16], "reason": "because"}]})")
            .problems.size() == 1);
}

TEST_CASE("rules cover the kernels they name", "[budgets]") {
  const auto broken = [](const std::string& scope) {
    return check_one("{\"rules\": [{" + scope + R"("most": {"bytes_in_flight": 0}}]})").problems.size();
  };
  CHECK(broken("") == 1);
  CHECK(broken(R"("ops": ["rope", "softmax"], "kernels": ["x", "*_aligned_*"], "targets": ["gfx94*"], )") == 1);
  CHECK(broken(R"("ops": ["soft"], )") == 0);
  CHECK(broken(R"("kernels": ["*_strided_*"], )") == 0);
  CHECK(broken(R"("targets": ["gfx90a"], )") == 0);
}

TEST_CASE("a limit in the list of known faults must be broken", "[budgets]") {
  const std::string known = R"("known": [{"figure": "bytes_in_flight", "reason": "later"}]})";
  const Verdict still = check_one(R"({"rules": [{"least": {"bytes_in_flight": 10}}], )" + known);
  CHECK(still.problems.empty());
  CHECK(still.known == 1);
  const Verdict no_more = check_one(R"({"rules": [{"least": {"bytes_in_flight": 9}}], )" + known);
  REQUIRE(no_more.problems.size() == 1);
  CHECK(no_more.problems[0] == "gfx942 softmax_f32_aligned_8x2: bytes_in_flight keeps its limit: remove it from known[0]");
}

TEST_CASE("a rule that covers no kernel of an existing target is a problem", "[budgets]") {
  const auto problems = [](const std::string& scope, bool whole) {
    return check_one("{\"rules\": [{" + scope + R"("most": {"spills": 0}}]})", whole).problems;
  };
  const std::string nobody = R"("kernels": ["gone_*"], )";
  CHECK(problems(nobody, true) == std::vector<std::string>{"rules[0] covers no kernel"});
  CHECK(problems(nobody, false).empty());
  CHECK(problems(nobody + R"("targets": ["gfx1201"], )", true).empty());
}

TEST_CASE("a wrong file is refused, with the place of the error", "[budgets]") {
  const auto refuses = [](const std::string& text, const std::string& part) {
    CHECK(contains(words_of([&] { parse_budgets(text); }), part));
  };
  refuses("{", "parse error");
  refuses("[]", "expected an object");
  refuses(R"({"rule": []})", "\"rule\"");
  refuses(R"({"rules": {}})", "\"rules\" must be a list");
  refuses("{}", "\"rules\" must have at least one entry");
  refuses(R"({"rules": []})", "\"rules\" must have at least one entry");
  refuses(R"({"rules": [{"most": {"vgprs": 1}, "most": {"vgprs": 999}}]})", "\"most\" twice in one object");
  for (const char* width : {"16.5", "true", "-16", "0", "17", "\"16\""})
    refuses(R"({"rules": [{"only": {"loads": [)" + std::string(width) + "]}}]}", "widths must be");
  refuses(R"({"rules": [{"ops": ["rope"]}]})", "rules[0]: expected \"most\"");
  refuses(R"({"rules": [{"most": {"spills": "0"}}]})", "\"spills\" must be a number");
  refuses(R"({"rules": [{"most": {"spills": 0}, "op": "rope"}]})", "unknown key \"op\"");
  refuses(R"({"rules": [{"most": {"spills": 0}, "ops": "rope"}]})", "\"ops\" must be a list");
  refuses(R"({"rules": [{"only": {"hot_loads": 16}}]})", "widths");
  refuses(R"({"exceptions": [{"figure": "hot_loads", "widths": [8]}]})", "\"reason\"");
  refuses(R"({"exceptions": [{"figure": "hot_loads", "reason": "x"}]})", "\"widths\"");
  refuses(R"({"known": [{"reason": "x"}]})", "\"figure\"");
  CHECK_THROWS_AS(check_one(R"({"rules": [{"most": {"speed": 0}}]})"), BudgetsError);
  CHECK_THROWS_AS(check_one(R"({"rules": [{"most": {"hot_loads": 0}}]})"), BudgetsError);
  CHECK_THROWS_AS(check_one(R"({"rules": [{"only": {"spills": [0]}}]})"), BudgetsError);
}

// ---- The program
#if defined(HIPOPS_INSPECT)

namespace {

Run run(const std::string& arguments) { return run_command("'" HIPOPS_INSPECT "' " + arguments); }

std::string first_target() {
  const std::string all = hip_targets;
  return all.substr(0, all.find(' '));
}

// Some kernels of the library, few so that the test is fast.
std::string some() { return "--op rms_norm --target " + first_target() + " --kernel 'rms_norm_f32_aligned_*' "; }

Run check_with(const std::string& budgets) {
  const hipops_test::TemporaryFolder folder;
  folder.write("budgets.json", {budgets.begin(), budgets.end()});
  return run(some() + "--check '" + folder.path() + "/budgets.json'");
}

}  // namespace

TEST_CASE("--check ends with 0 if the budgets hold, otherwise with 1", "[program]") {
  const Run good = check_with(R"({"rules": [{"most": {"spills": 0, "scratch_bytes": 0}, "least": {"vgprs": 1}}]})");
  INFO(good.words);
  CHECK(good.exit_code == 0);
  CHECK(contains(good.words, "0 problems"));

  const Run broken = check_with(R"({"rules": [{"most": {"vgprs": 1}}]})");
  INFO(broken.words);
  CHECK(broken.exit_code == 1);
  CHECK(contains(broken.words, first_target() + " rms_norm_f32_aligned_32x4: vgprs is "));
  CHECK(contains(broken.words, "limit: at most 1"));

  const std::string known = R"("known": [{"figure": "vgprs", "reason": "x"}]})";
  CHECK(check_with(R"({"rules": [{"most": {"vgprs": 1}}], )" + known).exit_code == 0);
  CHECK(check_with(R"({"rules": [{"most": {"vgprs": 999}}], )" + known).exit_code == 1);
  const Run of_nothing = check_with(R"({"rules": [{"kernels": ["no_such*"], "most": {"vgprs": 1}}]})");
  CHECK(of_nothing.exit_code == 1);
  CHECK(of_nothing.words.find("no limit covers the selected kernels") != std::string::npos);
  CHECK(check_with(R"({"rules": 1})").exit_code == 2);
  CHECK(run(some() + "--check /nowhere.json").exit_code == 2);
}

TEST_CASE("the table and --json have the same kernels, embedded or in files", "[program]") {
  const hipops_test::TemporaryFolder folder;
  const std::string json = folder.path() + "/figures.json", objects = HIPOPS_CODE_OBJECTS;
  const std::string from = GENERATE_COPY(std::string(), "'" + objects + "/rms_norm.hipfb'",
                                         "'" + objects + "/" + first_target() + "/rms_norm.co'");
  const Run table = run(some() + from + " --json '" + json + "'");
  INFO(table.words);
  REQUIRE(table.exit_code == 0);
  CHECK(contains(table.words, "rms_norm " + first_target() + "\nkernel "));
  std::ifstream stream(json);
  const nlohmann::json all = nlohmann::json::parse(stream);
  REQUIRE_FALSE(all.at("kernels").empty());
  for (const auto& kernel : all.at("kernels")) {
    CHECK(kernel.at("op") == "rms_norm");
    CHECK(kernel.at("target") == first_target());
    CHECK(contains(table.words, kernel.at("kernel").get<std::string>() + " "));
    CHECK(kernel.at("vgprs") > 0);
    CHECK(kernel.at("hot_loads").contains("16"));
    CHECK(kernel.at("bytes_in_flight") > 0);
  }
}

TEST_CASE("an impossible request is reported, and ends with 2", "[program]") {
  const auto refuses = [](const std::string& arguments, const std::string& part) {
    const Run result = run(arguments);
    INFO(result.words);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.words, part));
  };
  refuses("--op nothing", "--op");
  refuses("--target gfx0", "no kernel selected");
  refuses(some() + "--objdump /nowhere/llvm-objdump", "--objdump");
  refuses("/nowhere.co", "/nowhere.co");
  refuses("/proc/self/exe", "no AMD code object");
  refuses("--check /proc", "cannot read /proc");
  const hipops_test::TemporaryFolder folder;
  folder.write("compressed.hipfb", {'C', 'C', 'O', 'B', 2, 0});
  refuses(folder.path() + "/compressed.hipfb", "it is a compressed offload bundle");
  const Run help = run("--help");
  CHECK(help.exit_code == 0);
  CHECK(contains(help.words, "Examples:"));
}

#endif
