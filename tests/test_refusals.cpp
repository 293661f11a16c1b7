// The refusals of each op, its calls with tensors without elements, and its dtypes.
#include <cmath>
#include <limits>

#include "op_call.h"
#include "tensor/tensor.h"

using namespace hipops;
using namespace hipops_test;

namespace {

using Ops = std::vector<std::string>;

const Ops kFused = {"fused_add_rms_norm", "fused_add_layer_norm"}, kCentred = {"layer_norm", "fused_add_layer_norm"},
          kRowOps = {"layer_norm", "rms_norm", "fused_add_rms_norm", "fused_add_layer_norm", "softmax", "log_softmax", "softmax_ext"},
          kNorms = {"layer_norm", "rms_norm", "fused_add_rms_norm", "fused_add_layer_norm"}, kRopes = {"rope", "rope_i", "rope_thd"},
          kTakes = {"gather", "index_select"}, kScatters = {"scatter", "scatter_add"},
          kIndexOps = {"gather", "index_select", "scatter", "scatter_add", "index_add"},
          kUpsamples = {"upsample_nearest1d", "upsample_nearest2d"};

Ops operator+(Ops all, const Ops& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// Each of the ops refuses the call that `spoil` changes, with `message`. The function for the size of the workspace
// refuses it, too, unless the change is about memory.
template <class Spoil>
void refused(const Ops& ops, hipops_status status, const std::string& message, Spoil spoil,
             bool is_about_memory = false, hipops_dtype dtype = HIPOPS_F32) {
  for (const std::string& op : ops) {
    OpCall call(op, dtype);
    spoil(call);
    call.refused(status, message);
    if (call.entry().workspace_bytes && !is_about_memory) call.workspace_refused(status, message);
  }
}
template <class Spoil>
void invalid(const Ops& ops, const std::string& message, Spoil spoil) {
  refused(ops, HIPOPS_INVALID_ARGUMENT, message, spoil);
}
template <class Spoil>
void invalid_memory(const Ops& ops, const std::string& message, Spoil spoil) {
  refused(ops, HIPOPS_INVALID_ARGUMENT, message, spoil, true);
}
template <class Spoil>
void wrong_dtype(const Ops& ops, const std::string& message, Spoil spoil, hipops_dtype dtype = HIPOPS_F32) {
  refused(ops, HIPOPS_UNSUPPORTED_DTYPE, message, spoil, false, dtype);
}

const auto kAsIs = [](OpCall&) {};

void set_size(hipops_tensor& t, int d, int64_t size) { t.shape[d] = size; }

void check_rows() {
  invalid(kRowOps, "x.rank is 0, expected 1 to 8", [](OpCall& c) { c["x"].rank = c["y"].rank = 0; });
  invalid(kRowOps, "y.rank is 1, expected 2 (x.rank)", [](OpCall& c) { c["y"].rank = 1; });
  invalid(kRowOps, "y.shape[0] is 3, expected 4 (x.shape[0])", [](OpCall& c) { set_size(c["y"], 0, 3); });
  invalid(kRowOps, "y.shape[1] is 7, expected 8 (x.shape[1])", [](OpCall& c) { set_size(c["y"], 1, 7); });
  wrong_dtype(kRowOps, "y.dtype is f16, expected f32 (x.dtype)", [](OpCall& c) { c["y"].dtype = HIPOPS_F16; });
  wrong_dtype(
      kRowOps, "y.dtype is bf16, expected f16 (x.dtype)", [](OpCall& c) { c["y"].dtype = HIPOPS_BF16; }, HIPOPS_F16);
  for (int dtype = HIPOPS_U8; dtype <= HIPOPS_F8_E5M2FNUZ; ++dtype) {
    const auto type = static_cast<hipops_dtype>(dtype);
    const std::string message = std::string("x.dtype is ") + dtype_name(type) + ", expected f32, f16, bf16 or f64";
    wrong_dtype({"layer_norm", "rms_norm", "softmax", "log_softmax", "softmax_ext", "rope", "rope_i", "rope_thd"}, message, kAsIs, type);
  }
  wrong_dtype(kFused, "x.dtype is f64, expected f32, f16 or bf16", kAsIs, HIPOPS_F64);
  invalid(kRowOps, "y overlaps x, expected separate memory or exactly the same view", [](OpCall& c) {
    c["y"].data = c.data("x") + 3 * 8 * 4, c["y"].stride[0] = -8;  // the same memory, the rows backwards
  });

  for (const char* weight : {"weight", "bias"}) {
    const Ops ops = std::string(weight) == "bias" ? kCentred : kNorms;
    const std::string name = weight;
    for (int rank : {0, 2})
      invalid(ops, name + ".rank is " + std::to_string(rank) + ", expected 1",
              [&](OpCall& c) { c[name].rank = rank, c[name].shape[1] = c[name].stride[1] = 1; });
    for (int64_t size : {0, 1, 7, 9})
      invalid(ops, name + ".shape[0] is " + std::to_string(size) + ", expected 8 (x.shape[1])",
              [&](OpCall& c) { set_size(c[name], 0, size); });
    const std::pair<hipops_dtype, hipops_dtype> pairs[] = {
        {HIPOPS_BF16, HIPOPS_F16}, {HIPOPS_F16, HIPOPS_BF16}, {HIPOPS_BF16, HIPOPS_I16}, {HIPOPS_F32, HIPOPS_F16}};
    for (const auto& [dtype, other] : pairs)
      wrong_dtype(
          ops,
          name + ".dtype is " + dtype_name(other) + ", expected " + dtype_name(dtype) + " (x.dtype)" +
              (dtype == HIPOPS_F32 ? "" : " or f32"),
          [&, other = other](OpCall& c) { c[name].dtype = other; }, dtype);
  }
  wrong_dtype(
      kCentred, "bias.dtype is f32, expected bf16 (weight.dtype)",
      [](OpCall& c) { c["bias"] = view_of(1 << 20, HIPOPS_F32, {8}); }, HIPOPS_BF16);
  invalid(kCentred, "bias.shape[0] is 9, expected 8 (x.shape[1])",
          [](OpCall& c) { c.leave_out("weight"), set_size(c["bias"], 0, 9); });

  invalid(kFused, "residual.shape[1] is 7, expected 8 (x.shape[1])",
          [](OpCall& c) { set_size(c["residual"], 1, 7); });
  invalid(kFused, "residual_out.shape[0] is 3, expected 4 (x.shape[0])",
          [](OpCall& c) { set_size(c["residual_out"], 0, 3); });
  invalid(kFused, "residual_out overlaps y, expected separate memory",
          [](OpCall& c) { c["residual_out"] = c["y"]; });
  wrong_dtype(kFused, "residual.dtype is f16, expected f32 (x.dtype)",
              [](OpCall& c) { c["residual"].dtype = HIPOPS_F16; });

  for (const char* scalar : {"mean", "rstd"}) {
    const Ops ops = std::string(scalar) == "mean" ? kCentred : kNorms;
    const std::string name = scalar;
    for (int rank : {0, 3})
      invalid(ops, name + ".rank is " + std::to_string(rank) + ", expected 1 to 2",
              [&](OpCall& c) { c[name].rank = rank, c[name].shape[1] = c[name].shape[2] = 1; });
    invalid(ops, name + ".shape[0] is 3, expected 4 (x.shape[0])", [&](OpCall& c) { set_size(c[name], 0, 3); });
    invalid(ops, name + ".shape[1] is 2, expected 1, or one dimension less",
            [&](OpCall& c) { c[name].rank = 2, c[name].shape[1] = 2, c[name].stride[0] = 2, c[name].stride[1] = 1; });
    invalid(ops, name + " overlaps y, expected separate memory", [&](OpCall& c) { c[name].data = c["y"].data; });
    for (hipops_dtype dtype : {HIPOPS_F32, HIPOPS_BF16})
      wrong_dtype(
          ops, name + ".dtype is f16, expected f32 (x.dtype is " + dtype_name(dtype) + ")",
          [&](OpCall& c) { c[name].dtype = HIPOPS_F16; }, dtype);
  }
  invalid(kCentred, "mean overlaps rstd, expected separate memory", [](OpCall& c) { c["rstd"].data = c["mean"].data; });
  wrong_dtype(
      {"layer_norm", "rms_norm"}, "rstd.dtype is f32, expected f64 (x.dtype is f64)",
      [](OpCall& c) { c["rstd"].dtype = HIPOPS_F32; }, HIPOPS_F64);
  invalid({"layer_norm", "rms_norm"}, "x.shape[1] is 0, expected 1 or more with rstd", [](OpCall& c) {
    for (const char* tensor : {"mean", "weight", "bias"}) c.leave_out(tensor);
    for (const char* tensor : {"x", "y"}) c.set_shape(tensor, {4, 0});
  });

  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::pair<double, const char*> bad[] = {
      {std::nan(""), "nan"}, {infinity, "inf"}, {-infinity, "-inf"}, {-1e-5, "-1e-05"}, {-5e-324, "-4.94066e-324"}};
  for (const auto& [eps, text] : bad)
    invalid(kNorms, std::string("eps is ") + text + ", expected a finite number of 0 or more",
            [eps = eps](OpCall& c) { c.params["eps"] = eps; });
  for (const auto& [eps, text] : {std::pair{1e-46, "1e-46"}, {1e39, "1e+39"}})
    for (hipops_dtype dtype : {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16})
      refused(
          kNorms, HIPOPS_INVALID_ARGUMENT,
          std::string("eps is ") + text + ", expected 0, or 1.4013e-45 to 3.40282e+38, the range of f32 (x.dtype is " +
              dtype_name(dtype) + ")",
          [eps = eps](OpCall& c) { c.params["eps"] = eps; }, false, dtype);
  const std::pair<hipops_dtype, double> accepted[] = {
      {HIPOPS_F32, 0}, {HIPOPS_F32, 1.5e-45}, {HIPOPS_BF16, 3e38}, {HIPOPS_F64, 1e-46}, {HIPOPS_F64, 1e39}};
  for (const auto& [dtype, eps] : accepted) {
    OpCall call("rms_norm", dtype);
    for (const char* tensor : {"x", "y"}) call.set_shape(tensor, {0, 8});
    call.leave_out("rstd");
    call.params["eps"] = eps;
    call.succeeds();
  }
  for (const auto& [flags, text] : {std::pair{1u, "0x1"}, {0x20u, "0x20"}, {0x80000014u, "0x80000014"}}) {
    const auto set = [flags = flags](OpCall& c) { c.params["flags"] = flags; };
    const std::string unknown = std::string("flags is ") + text + ", expected 0 or some of ",
                      invariant = "HIPOPS_BATCH_INVARIANT (0x10)",
                      common = "HIPOPS_WEIGHT_PLUS_ONE (0x4), HIPOPS_ROUND_BEFORE_WEIGHT (0x8) and " + invariant;
    invalid({"rms_norm"}, unknown + common, set);
    invalid({"fused_add_rms_norm"}, unknown + "HIPOPS_ROUND_SUM (0x2), " + common, set);
    invalid({"fused_add_layer_norm"}, unknown + "HIPOPS_ROUND_SUM (0x2) and " + invariant, set);
    invalid({"layer_norm", "softmax", "log_softmax", "reduce"}, unknown + invariant, set);
  }
}

void check_ropes() {
  for (int rank : {3, 5})
    invalid(kRopes, "x.rank is " + std::to_string(rank) + ", expected 4",
            [rank](OpCall& c) { c["x"].rank = rank, c["x"].shape[4] = c["x"].stride[4] = 1; });
  invalid(kRopes, "y.rank is 3, expected 4 (x.rank)", [](OpCall& c) { c["y"].rank = 3; });
  invalid(kRopes, "y.shape[0] is 1, expected 2 (x.shape[0])", [](OpCall& c) { set_size(c["y"], 0, 1); });
  invalid(kRopes, "y.shape[3] is 7, expected 8 (x.shape[3])", [](OpCall& c) { set_size(c["y"], 3, 7); });
  invalid(kRopes, "cos.rank is 1, expected 2 to 3", [](OpCall& c) { c["cos"].rank = 1; });
  invalid(kRopes, "sin.rank is 1, expected 2 (cos.rank)", [](OpCall& c) { c["sin"].rank = 1; });
  invalid(kRopes, "sin.shape[0] is 4, expected 5 (cos.shape[0])", [](OpCall& c) { set_size(c["sin"], 0, 4); });
  invalid(kRopes, "sin.shape[1] is 3, expected 4 (cos.shape[1])", [](OpCall& c) { set_size(c["sin"], 1, 3); });
  for (int64_t half : {int64_t{5}, int64_t{1} << 62, INT64_MAX})  // 2 * half overflows 64 bits in the last two
    invalid(kRopes, "cos.shape[1] is " + std::to_string(half) + ", expected at most 4 (half of x.shape[3])",
            [half](OpCall& c) { set_size(c["cos"], 1, half), set_size(c["cos"], 0, 0); });
  invalid(kRopes, "cos.shape[0] is 1, expected 2 (x.shape[0])", [](OpCall& c) {
    for (const char* table : {"cos", "sin"})
      c[table].rank = 3, c[table].shape[0] = 1, c[table].shape[2] = c[table].stride[2] = 1;
  });
  invalid(kRopes, "positions.rank is 0, expected 1 to 2", [](OpCall& c) { c["positions"].rank = 0; });
  invalid(kRopes, "positions.rank is 3, expected 1 to 2",
          [](OpCall& c) { c["positions"].rank = 3, c["positions"].shape[2] = c["positions"].stride[2] = 1; });
  invalid(kRopes, "positions.shape[0] is 1, expected 2 (x.shape[0])",
          [](OpCall& c) { set_size(c["positions"], 0, 1); });
  for (const auto& [ops, tokens] : {std::pair{Ops{"rope", "rope_i"}, "x.shape[2]"}, {Ops{"rope_thd"}, "x.shape[1]"}}) {
    const std::string of_x = std::string(" (") + tokens + ")";
    invalid(ops, "cos.shape[0] is 3, expected at least 4" + of_x + " without positions",
            [](OpCall& c) { c.leave_out("positions"), c["cos"].shape[0] = c["sin"].shape[0] = 3; });
    invalid(ops, "positions.shape[1] is 3, expected 4" + of_x, [](OpCall& c) { set_size(c["positions"], 1, 3); });
    invalid(ops, "positions.shape[0] is 2, expected 4" + of_x, [](OpCall& c) { c["positions"].rank = 1; });
  }
  wrong_dtype(
      kRopes, "y.dtype is bf16, expected f16 (x.dtype)", [](OpCall& c) { c["y"].dtype = HIPOPS_BF16; }, HIPOPS_F16);
  wrong_dtype(
      kRopes, "cos.dtype is f16, expected bf16 (x.dtype) or f32", [](OpCall& c) { c["cos"].dtype = HIPOPS_F16; },
      HIPOPS_BF16);
  wrong_dtype(kRopes, "cos.dtype is f16, expected f32 (x.dtype)", [](OpCall& c) { c["cos"].dtype = HIPOPS_F16; });
  wrong_dtype(kRopes, "sin.dtype is f16, expected f32 (cos.dtype)", [](OpCall& c) { c["sin"].dtype = HIPOPS_F16; });
  for (hipops_dtype dtype : {HIPOPS_U8, HIPOPS_I16, HIPOPS_U32, HIPOPS_U64, HIPOPS_F32})
    wrong_dtype(kRopes, std::string("positions.dtype is ") + dtype_name(dtype) + ", expected i32 or i64",
                [dtype](OpCall& c) { c["positions"].dtype = dtype; });
  invalid(kRopes, "y overlaps x, expected separate memory or exactly the same view",
          [](OpCall& c) { c["x"].stride[1] = -c["x"].stride[1], c["y"].data = c["x"].data; });
}

void check_index_ops() {
  for (const auto& [ops, reference] : {std::pair{kTakes + kScatters, "x"}, {Ops{"index_add"}, "y"}}) {
    const std::string name = reference, other = name == "x" ? "y" : "x";
    invalid(ops, name + ".rank is 0, expected 1 to 8", [](OpCall& c) { c["x"].rank = c["y"].rank = 0; });
    wrong_dtype(ops, other + ".dtype is i32, expected f32 (" + name + ".dtype)",
                [&](OpCall& c) { c[other].dtype = HIPOPS_I32; });
    for (int32_t dim : {-1, 2, INT32_MIN, INT32_MAX})
      invalid(ops, "dim is " + std::to_string(dim) + ", expected 0 to 1 (" + name + ".rank is 2)",
              [dim](OpCall& c) { c.params["dim"] = dim; });
  }
  for (hipops_dtype dtype : {HIPOPS_F32, HIPOPS_I8, HIPOPS_U16, HIPOPS_U64})
    wrong_dtype(kIndexOps, "index.dtype is " + std::string(dtype_name(dtype)) + ", expected u8, i16, i32, u32 or i64",
                [dtype](OpCall& c) { c["index"].dtype = dtype, c["index"].data = c.data("x"); });
  for (hipops_dtype dtype : {HIPOPS_I8, HIPOPS_I16, HIPOPS_U16, HIPOPS_U64}) {
    const std::string message =
        ".dtype is " + std::string(dtype_name(dtype)) + ", expected f32, f16, bf16, f64, u8, i32, u32 or i64";
    wrong_dtype({"scatter_add"}, "x" + message, kAsIs, dtype);
    wrong_dtype({"index_add"}, "y" + message, kAsIs, dtype);
  }

  const auto size = [](const char* tensor, int d, int64_t size) {
    return [=](OpCall& c) { set_size(c[tensor], d, size); };
  };
  const auto rank = [](const char* tensor, int rank) {
    return [=](OpCall& c) { c[tensor].rank = rank, c[tensor].shape[1] = c[tensor].stride[1] = 1; };
  };
  const auto other_dim = [](OpCall& c) { c.params["dim"] = 1; };
  invalid({"gather", "scatter", "scatter_add"}, "index.rank is 1, expected 2 (x.rank)", rank("index", 1));
  invalid({"gather"}, "y.rank is 1, expected 2 (index.rank)", rank("y", 1));
  invalid({"gather"}, "y.shape[0] is 3, expected 2 (index.shape[0])", size("index", 0, 2));
  invalid({"gather"}, "y.shape[1] is 8, expected 7 (index.shape[1])", size("index", 1, 7));
  invalid({"gather"}, "index.shape[1] is 8, expected at most 7 (x.shape[1])", size("x", 1, 7));
  invalid({"gather"}, "index.shape[0] is 3, expected at most 2 (x.shape[0])",
          [](OpCall& c) { set_size(c["x"], 0, 2), c.params["dim"] = 1; });
  for (int r : {0, 2})
    invalid({"index_select", "index_add"}, "index.rank is " + std::to_string(r) + ", expected 1", rank("index", r));
  invalid({"index_select"}, "y.rank is 1, expected 2 (x.rank)", rank("y", 1));
  invalid({"index_select"}, "y.shape[0] is 3, expected 2 (index.shape[0])", size("index", 0, 2));
  invalid({"index_select"}, "y.shape[1] is 8, expected 7 (x.shape[1])", size("x", 1, 7));
  invalid({"index_select"}, "y.shape[0] is 3, expected 4 (x.shape[0])", other_dim);
  invalid(kScatters, "y.rank is 1, expected 2 (x.rank)", rank("y", 1));
  invalid(kScatters, "index.shape[0] is 4, expected 5 (x.shape[0])", size("index", 0, 4));
  invalid(kScatters, "index.shape[1] is 7, expected 8 (x.shape[1])", size("index", 1, 7));
  invalid(kScatters, "x.shape[1] is 8, expected at most 7 (y.shape[1])", size("y", 1, 7));
  invalid(kScatters, "x.shape[0] is 5, expected at most 4 (y.shape[0])", other_dim);
  invalid({"index_add"}, "x.rank is 1, expected 2 (y.rank)", rank("x", 1));
  invalid({"index_add"}, "x.shape[1] is 7, expected 8 (y.shape[1])", size("x", 1, 7));
  invalid({"index_add"}, "index.shape[0] is 299, expected 300 (x.shape[0])", size("index", 0, 299));
  invalid({"index_add"}, "x.shape[0] is 300, expected 4 (y.shape[0])", other_dim);
  for (const auto& [flags, text] : {std::pair{2u, "0x2"}, {0x80000001u, "0x80000001"}})
    invalid(kScatters, std::string("flags is ") + text + ", expected 0 or HIPOPS_DETERMINISTIC (0x1)",
            [flags = flags](OpCall& c) { c.params["flags"] = flags; });

  auto* odd = reinterpret_cast<hipops_index_report*>(uintptr_t{4100});
  invalid_memory(kIndexOps, "report is " + text_of(odd) + ", expected a multiple of 8",
                 [odd](OpCall& c) { c.report_pointer = odd; });
  for (uintptr_t past : {UINTPTR_MAX - 15, uintptr_t{INT64_MAX} - 7, uintptr_t{1} << 63}) {
    auto* report = reinterpret_cast<hipops_index_report*>(past);
    invalid_memory(kIndexOps, "report is " + text_of(report) + ", from where 16 bytes reach outside the address space",
                   [report](OpCall& c) { c.report_pointer = report; });
  }
  for (const char* tensor : {"y", "x", "index"})
    invalid_memory(kTakes + kScatters, std::string("report overlaps ") + tensor + ", expected separate memory",
                   [tensor](OpCall& c) { c.report_pointer = report_in(c.memory(tensor)); });
}

// A call that needs a workspace.
struct WorkspaceCase {
  const char* op;
  hipops_dtype dtype;
  uint32_t flags;
};

void check_workspaces() {
  alignas(256) static char memory[1 << 14];
  for (const WorkspaceCase& w : {WorkspaceCase{"scatter", HIPOPS_F32, HIPOPS_DETERMINISTIC},
                                 {"scatter", HIPOPS_U8, HIPOPS_DETERMINISTIC},
                                 {"scatter_add", HIPOPS_F16, 0},
                                 {"scatter_add", HIPOPS_BF16, 0},
                                 {"index_add", HIPOPS_F32, 0}}) {
    int64_t needed = 0;
    const auto make_valid = [&](OpCall& call) {
      if (w.flags) call.params["flags"] = w.flags;
      call.workspace = memory, call.workspace_bytes = needed;
    };
    OpCall question(w.op, w.dtype);
    make_valid(question);
    EXPECT_EQUAL(question.ask_workspace(&needed), HIPOPS_SUCCESS);
    EXPECT(needed > 0 && needed <= static_cast<int64_t>(sizeof memory));
    const auto refuses = [&](auto spoil, const std::string& message) {
      OpCall call(w.op, w.dtype);
      make_valid(call);
      spoil(call);
      call.invalid(message);
    };
    for (int64_t bytes : {needed - 1, int64_t{0}, int64_t{-1}, INT64_MIN})
      refuses([&](OpCall& c) { c.workspace_bytes = bytes; }, "workspace_bytes is " + std::to_string(bytes) +
                                                                 ", expected " + std::to_string(needed) +
                                                                 " or more (hipops_" + w.op + "_workspace_bytes)");
    for (int64_t bytes : {needed, int64_t{1}, int64_t{-1}})
      refuses(
          [&](OpCall& c) { c.workspace = nullptr, c.workspace_bytes = bytes; },
          "workspace is NULL, expected memory of workspace_bytes, " + std::to_string(bytes) + ", or workspace_bytes 0");
    for (int shift : {1, 16, 128})
      refuses([&](OpCall& c) { c.workspace = memory + shift; },
              "workspace is " + text_of(memory + shift) + ", expected a multiple of 256");
    char* const last = reinterpret_cast<char*>(uintptr_t{INT64_MAX} - 255);
    if (needed > 256)
      refuses([&](OpCall& c) { c.workspace = last; }, "workspace is " + text_of(last) + ", from where " +
                                                          std::to_string(needed) +
                                                          " bytes reach outside the address space");
    for (const char* tensor : {"y", "x", "index"})
      refuses([&](OpCall& c) { c[tensor].data = memory + needed - 8; },
              std::string("workspace overlaps ") + tensor + ", expected separate memory");
    refuses([&](OpCall& c) { c.report_pointer = reinterpret_cast<hipops_index_report*>(memory + needed - 8); },
            "report overlaps workspace, expected separate memory");
    EXPECT_EQUAL(question.ask_workspace(nullptr), HIPOPS_INVALID_ARGUMENT);
    EXPECT_EQUAL(std::string(hipops_last_error()),
                 std::string(w.op) + ": bytes is NULL, expected memory for an int64_t");
  }
}

void check_upsamples() {
  invalid({"upsample_nearest1d"}, "x.rank is 2, expected 3", [](OpCall& c) { c["x"].rank = 2; });
  invalid({"upsample_nearest2d"}, "x.rank is 2, expected 4", [](OpCall& c) { c["x"].rank = 2; });
  invalid(kUpsamples, "y.shape[0] is 1, expected 2 (x.shape[0])", [](OpCall& c) { set_size(c["y"], 0, 1); });
  invalid(kUpsamples, "y.shape[1] is 2, expected 3 (x.shape[1])", [](OpCall& c) { set_size(c["y"], 1, 2); });
  wrong_dtype(kUpsamples, "y.dtype is i32, expected f32 (x.dtype)", [](OpCall& c) { c["y"].dtype = HIPOPS_I32; });
  invalid(kUpsamples, "x.shape[2] is 0, expected 1 or more (y.shape[2] is 7)",
          [](OpCall& c) { set_size(c["x"], 2, 0); });
  invalid({"upsample_nearest2d"}, "x.shape[3] is 0, expected 1 or more (y.shape[3] is 9)",
          [](OpCall& c) { set_size(c["x"], 3, 0); });
  for (int rule : {3, 99, INT32_MAX})
    invalid(kUpsamples, "rule is " + std::to_string(rule) + ", expected a hipops_nearest from 0 to 2",
            [rule](OpCall& c) { c.params["rule"] = rule; });

  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [op, scale] : {std::pair{"upsample_nearest1d", "scale"},
                                  {"upsample_nearest2d", "scale_h"},
                                  {"upsample_nearest2d", "scale_w"}}) {
    const auto refuses = [op = op, scale = scale](double value, const std::string& text, const std::string& expected,
                                                  int rule = 0) {
      invalid({op}, std::string(scale) + " is " + text + ", expected " + expected,
              [=](OpCall& c) { c.params[scale] = value, c.params["rule"] = rule; });
    };
    const std::pair<double, const char*> bad[] = {
        {-1, "-1"}, {-1e-300, "-1e-300"}, {infinity, "inf"}, {-infinity, "-inf"}, {std::nan(""), "nan"}};
    for (const auto& [value, text] : bad) refuses(value, text, "a finite number of 0 or more");
    const std::string finite = "0 or a number whose reciprocal is finite in ";
    refuses(1e-39, "1e-39", finite + "f32");
    for (int rule : {HIPOPS_NEAREST_PYTORCH, HIPOPS_NEAREST_EXACT})
      refuses(5e-324, "4.94066e-324", finite + "f32", rule);
    refuses(5e-324, "4.94066e-324", finite + "f64", HIPOPS_NEAREST_CANDLE);
  }
}

void check_copies() {
  invalid({"strided_copy"}, "y.rank is 1, expected 2 (x.rank)", [](OpCall& c) { c["y"].rank = 1; });
  invalid({"strided_copy"}, "y.shape[0] is 3, expected 4 (x.shape[0])", [](OpCall& c) { set_size(c["y"], 0, 3); });
  invalid({"strided_copy"}, "y.shape[1] is 7, expected 8 (x.shape[1])", [](OpCall& c) { set_size(c["y"], 1, 7); });
  wrong_dtype({"strided_copy"}, "y.dtype is i32, expected f32 (x.dtype)", [](OpCall& c) { c["y"].dtype = HIPOPS_I32; });
  invalid({"strided_copy"}, "y overlaps x, expected separate memory", [](OpCall& c) { c["y"].data = c.data("x"); });
  invalid({"strided_copy"}, "y overlaps x, expected separate memory",
          [](OpCall& c) {  // one element of x, at each place of y
            c["x"].data = c.data("y") + 64, c["x"].stride[0] = c["x"].stride[1] = 0;
          });
}

// The call without elements, memory or valid strides succeeds, and chooses no runtime.
void check_empty(const Ops& ops, const std::map<std::string, Sizes>& shapes) {
  for (const std::string& op : ops)
    for (hipops_dtype dtype : {HIPOPS_F32, HIPOPS_BF16}) {
      OpCall call(op, dtype);
      for (const char* other : {"mean", "rstd", "mask", "alibi_slopes", "sinks"}) call.leave_out(other);
      for (const auto& [tensor, shape] : shapes)
        if (call.has(tensor)) call.set_shape(tensor, shape);
      call.succeeds();
      EXPECT(call.report.count == 0 && call.report.first == UINT64_MAX);
      EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
    }
}

Sizes tokens_first(const Sizes& s) { return {s[0], s[2], s[1], s[3]}; }

}  // namespace

TEST_CASE("every op refuses a tensor that is none, and memory that is not its own", "[refusals]") {
  for (const parity::OpEntry& op : parity::all_ops())
    if (std::string(op.name) != "copy2d") {  // it has pointers instead of tensors, and its test is in test_strided_copy
      INFO(op.name);
      check_calls([&] { check_every_tensor(op.name); });
    }
}

TEST_CASE("row ops refuse shapes, dtypes, eps and flags that are not theirs", "[refusals]") { check_calls(check_rows); }

TEST_CASE("rope refuses shapes and dtypes that are not its own", "[refusals]") { check_calls(check_ropes); }

TEST_CASE("backward passes of norms refuse tensors of other shapes, and dw without a weight or workspace", "[refusals]") {
  check_calls([] {
    const Ops op = {"rms_norm_backward", "layer_norm_backward"}, of_layer = {"layer_norm_backward"};
    invalid(op, "x.rank is 0, expected 1 to 8", [](OpCall& c) { c["x"].rank = c["dx"].rank = c["dy"].rank = 0; });
    for (const char* like : {"dx", "dy"}) {
      const std::string name = like;
      invalid(op, name + ".rank is 1, expected 2 (x.rank)", [&](OpCall& c) { c[name].rank = 1; });
      invalid(op, name + ".shape[1] is 7, expected 8 (x.shape[1])", [&](OpCall& c) { set_size(c[name], 1, 7); });
      wrong_dtype(op, name + ".dtype is f16, expected f32 (x.dtype)", [&](OpCall& c) { c[name].dtype = HIPOPS_F16; });
    }
    for (const char* column : {"weight", "dw", "db"}) {
      const std::string name = column;
      const Ops& some = name == "db" ? of_layer : op;
      invalid(some, name + ".rank is 2, expected 1", [&](OpCall& c) { c[name].rank = 2, c[name].shape[1] = c[name].stride[1] = 1; });
      invalid(some, name + ".shape[0] is 9, expected 8 (x.shape[1])", [&](OpCall& c) { set_size(c[name], 0, 9); });
      wrong_dtype(some, name + ".dtype is f16, expected f32 (x.dtype)", [&](OpCall& c) { c[name].dtype = HIPOPS_F16; });
    }
    for (const auto& [ops, sum] : {std::pair{op, "dw"}, {of_layer, "db"}})
      wrong_dtype(
          ops, std::string(sum) + ".dtype is f32, expected bf16 (weight.dtype)",
          [name = sum](OpCall& c) { c[name] = view_of(1 << 20, HIPOPS_F32, {8}); }, HIPOPS_BF16);
    invalid(op, "dw is a tensor, expected NULL (weight is NULL)", [](OpCall& c) { c.leave_out("weight"); });
    invalid(op, "rstd.shape[0] is 3, expected 4 (x.shape[0])", [](OpCall& c) { set_size(c["rstd"], 0, 3); });
    invalid(op, "rstd.shape[1] is 2, expected 1, or one dimension less",
            [](OpCall& c) { c["rstd"].rank = 2, c["rstd"].shape[1] = 2, c["rstd"].stride[1] = 1; });
    wrong_dtype(
        op, "rstd.dtype is f32, expected f64 (x.dtype is f64)", [](OpCall& c) { c["rstd"].dtype = HIPOPS_F32; }, HIPOPS_F64);
    invalid_memory(op, "dw overlaps dx, expected separate memory", [](OpCall& c) { c["dw"].data = c["dx"].data; });
    invalid_memory(of_layer, "db overlaps dw, expected separate memory", [](OpCall& c) { c["db"].data = c["dw"].data; });
    invalid(of_layer, "mean.shape[0] is 3, expected 4 (x.shape[0])", [](OpCall& c) { set_size(c["mean"], 0, 3); });
    invalid_memory(op, "eps is -1, expected a finite number of 0 or more", [](OpCall& c) { c.params["eps"] = -1; });
    const Ops of_rms = {"rms_norm_backward"};
    invalid_memory(of_rms, "flags is 0x2, expected 0 or some of HIPOPS_WEIGHT_PLUS_ONE (0x4), HIPOPS_ROUND_BEFORE_WEIGHT (0x8) and "
                   "HIPOPS_BATCH_INVARIANT (0x10)",
                   [](OpCall& c) { c.params["flags"] = HIPOPS_ROUND_SUM; });
    invalid_memory(of_layer, "flags is 0x4, expected 0 or some of HIPOPS_BATCH_INVARIANT (0x10)",
                   [](OpCall& c) { c.params["flags"] = HIPOPS_WEIGHT_PLUS_ONE; });
    invalid_memory(of_rms, "workspace is NULL, expected 32 bytes for dw (hipops_rms_norm_backward_workspace_bytes)", kAsIs);
    invalid_memory(of_layer, "workspace is NULL, expected 64 bytes for db (hipops_layer_norm_backward_workspace_bytes)",
                   [](OpCall& c) { c.leave_out("dw"); });
    for (const auto& [name, needed] : {std::pair{"rms_norm_backward", 32}, {"layer_norm_backward", 64}}) {
      OpCall call(name);
      int64_t bytes = -1;
      EXPECT_EQUAL(call.ask_workspace(&bytes), HIPOPS_SUCCESS);
      EXPECT_EQUAL(bytes, needed);
      for (const char* sum : {"dw", "db"}) call.leave_out(sum);
      EXPECT_EQUAL(call.ask_workspace(&bytes), HIPOPS_SUCCESS);
      EXPECT_EQUAL(bytes, 0);
      for (const Sizes& shape : {Sizes{0, 8}, {3, 0, 8}}) {
        for (const char* tensor : {"dx", "dy", "x"}) call.set_shape(tensor, shape);
        for (const char* scalar : {"mean", "rstd"}) call.leave_out(scalar);
        call.succeeds();
      }
    }
  });
}

TEST_CASE("index ops refuse a wrong index, dimension or report", "[refusals]") { check_calls(check_index_ops); }

TEST_CASE("a workspace that is short, misaligned or shared is refused", "[refusals]") { check_calls(check_workspaces); }

TEST_CASE("upsampling refuses a wrong shape, rule or scale", "[refusals]") { check_calls(check_upsamples); }

TEST_CASE("strided_copy refuses other shapes and shared memory", "[refusals]") { check_calls(check_copies); }

TEST_CASE("a call without elements succeeds without memory", "[refusals]") {
  check_calls([] {
    for (const Sizes& shape : {Sizes{0, 8}, {3, 0, 8}, {int64_t{1} << 62, 0, 8}, {2, 2, 2, 2, 2, 2, 0, 8}})
      check_empty(kRowOps + Ops{"strided_copy"},
                  {{"x", shape}, {"y", shape}, {"residual", shape}, {"residual_out", shape}});
    for (const Sizes& shape : {Sizes{0}, {4, 0}, {INT64_MAX, 64, 0}})
      check_empty(
          kRowOps + Ops{"strided_copy"},
          {{"x", shape}, {"y", shape}, {"residual", shape}, {"residual_out", shape}, {"weight", {0}}, {"bias", {0}}});
    for (const Sizes& s : {Sizes{0, 3, 4, 8}, {2, 0, 4, 8}, {2, 3, 0, 8}, {2, 3, 4, 0}})
      for (const Sizes& positions : {Sizes{s[2]}, Sizes{s[0], s[2]}})
        for (const bool thd : {false, true}) {
          const Sizes shape = thd ? tokens_first(s) : s, table = {0, s[3] / 2};
          OpCall call(thd ? "rope_thd" : "rope");
          for (const char* tensor : {"x", "y"}) call.set_shape(tensor, shape);
          for (const char* tensor : {"cos", "sin"}) call.set_shape(tensor, table);
          call.set_shape("positions", positions);
          call.succeeds();
        }
    for (const Sizes& shape : {Sizes{0}, {5, 0}, {2, 0, 3}}) {
      check_empty({"gather", "scatter", "scatter_add"}, {{"x", shape}, {"y", shape}, {"index", shape}});
      check_empty({"index_select", "index_add"}, {{"x", shape}, {"y", shape}, {"index", {shape[0]}}});
    }
    check_empty({"topk"}, {{"x", {0, 8}}, {"values", {0, 8}}, {"indices", {0, 8}}, {"lengths", {0}}, {"row_begin", {0}}});
    check_empty({"topk_softmax"}, {{"x", {0, 8}}, {"weights", {0, 8}}, {"ids", {0, 8}}, {"token_expert", {0, 8}}});
    check_empty({"apply_penalties"}, {{"x", {0, 8}}, {"y", {0, 8}}, {"prompt", {0, 8}}, {"counts", {0, 8}}, {"repetition", {0}}, {"frequency", {0}}, {"presence", {0}}});
    check_empty({"sample"}, {{"x", {0, 8}}, {"tokens", {0}}, {"uniform", {0}}, {"temperature", {0}}, {"top_k", {0}}, {"top_p", {0}}, {"min_p", {0}}});
    for (const Sizes& y : {Sizes{0, 3, 5, 5}, {3, 0, 5, 5}, {3, 2, 0, 0}})
      for (int64_t from : {0, 4}) {
        check_empty({"upsample_nearest1d"}, {{"y", {y[0], y[1], y[2]}}, {"x", {y[0], y[1], from}}});
        check_empty({"upsample_nearest2d"}, {{"y", y}, {"x", {y[0], y[1], from, from}}});
      }
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  });
}

TEST_CASE("a call that succeeds leaves the last failure as it was", "[refusals]") {
  on_cpu([] {
    for (const parity::OpEntry& op : parity::all_ops())
      if (std::string(op.name) != "copy2d" && parity::is_built(op)) {
        OpCall call(op.name);
        for (const char* sum : {"dw", "db"}) call.leave_out(sum);  // which needs a workspace
        call.succeeds();
      }
  });
}
