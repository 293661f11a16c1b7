// Tables of hipops-tune: the plans that follow from them, and the one line on stderr for a table that cannot be used.
#include "policy/policy.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "catch.h"
#include "child.h"
#include "ops.h"
#include "parity/golden_files.h"
#include "parity/run_case.h"
#include "tune/cells.h"
#include "tune/table.h"

using namespace hipops;

namespace {

DeviceFacts device_of(int units, int largest_cluster) {
  DeviceFacts device;
  device.units = units;
  device.largest_cluster = largest_cluster;
  device.name = "a card";
  device.target = "sm_90";
  return device;
}

Op* op_named(const std::string& name) {
  for (int i = 0; i < op_count; ++i)
    if (name == all_ops[i]->name) return all_ops[i];
  return nullptr;
}

const std::string kTable =
    R"({"schema": 1, "target": "sm_90", "measured": {"device": "a card"}, "rows": [
      {"op": "softmax", "bytes": 2, "layout": "aligned", "vectors": [512, 4096], "rows_per_unit": [1, 8],
       "kernels": [["aligned_512x2", "aligned_512x4"], ["aligned_cluster:8", "aligned_cluster:4"]]}]})";

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = kTable;
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// The error or the complaint of read_policy.
std::string answer(const std::string& text, int largest_cluster = 16) {
  Policy policy;
  const std::string problem = read_policy(text, device_of(132, largest_cluster), &policy);
  return problem.empty() ? policy.complaint : problem;
}

class File {
 public:
  explicit File(const std::string& text) : path_(std::filesystem::temp_directory_path() / ("test_policy." + std::to_string(getpid()))) {
    std::ofstream(path_) << text;
  }
  ~File() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  const std::filesystem::path path_;
};

// Runs softmax's smoke cases with a tuning file. The result has the text of stderr.
Death softmax_with(const std::string& path) {
  return in_child([&] {
    setenv("HIPOPS_TUNING_FILE", path.c_str(), 1);
    Runtime* opened = nullptr;
    if (hipops_init(HIPOPS_BACKEND_CPU) != HIPOPS_SUCCESS || runtime(&opened) != HIPOPS_SUCCESS) return 2;
    int failed = 0;
    for (const parity::GoldenFile& file : parity::load_golden(parity::golden_directory(""), "softmax", "smoke", parity::all_ops()))
      for (const parity::Case& test : file.cases) {
        const parity::OpEntry& op = *parity::find_op(parity::all_ops(), "softmax");
        failed += run_case(*opened, op, test, parity::Guard::kZones).verdict != parity::CaseResult::Verdict::kPassed;
      }
    return failed == 0 ? 0 : 1;
  });
}

}  // namespace

TEST_CASE("a table chooses by the first bounds that a problem does not exceed, and chooses nothing past the last bounds", "[policy]") {
  Policy policy;
  const DeviceFacts device = device_of(100, 16);
  REQUIRE(read_policy(kTable, device, &policy) == "");
  CHECK(policy.complaint == "");
  CHECK(policy.rows.size() == 2);  // f16 and bf16
  const Op& op = *op_named("softmax");
  const auto choice = [&](hipops_dtype dtype, int64_t rows, int64_t cols) -> std::string {
    const RowChoice* found = policy.find(op, {dtype, RowLayout::aligned, rows, cols, true}, device);
    return found ? op.kernel_names[found->kernel] + (":" + std::to_string(found->cluster)) : "none";
  };
  CHECK(choice(HIPOPS_BF16, 100, 4096) == "softmax_bf16_aligned_512x2:1");
  CHECK(choice(HIPOPS_BF16, 101, 4096) == "softmax_bf16_aligned_512x4:1");
  CHECK(choice(HIPOPS_F16, 100, 4097) == "softmax_f16_aligned_cluster:8");
  CHECK(choice(HIPOPS_F16, 800, 32768) == "softmax_f16_aligned_cluster:4");
  CHECK(choice(HIPOPS_F16, 801, 32768) == "none");
  CHECK(choice(HIPOPS_F16, 800, 32769) == "none");
  CHECK(choice(HIPOPS_F32, 100, 4096) == "none");
  CHECK(policy.find(op, {HIPOPS_BF16, RowLayout::unaligned, 100, 4096, true}, device) == nullptr);
  CHECK(policy.find(*op_named("rms_norm"), {HIPOPS_BF16, RowLayout::aligned, 100, 4096, true}, device) == nullptr);
}

TEST_CASE("a table may leave rows to the default policy", "[policy]") {
  Policy policy;
  const DeviceFacts device = device_of(100, 16);
  REQUIRE(read_policy(replaced("aligned_512x4", "default"), device, &policy) == "");
  CHECK(policy.complaint == "");
  const Op& op = *op_named("softmax");
  CHECK(policy.find(op, {HIPOPS_BF16, RowLayout::aligned, 100, 4096, true}, device) != nullptr);
  CHECK(policy.find(op, {HIPOPS_BF16, RowLayout::aligned, 101, 4096, true}, device) == nullptr);
}

TEST_CASE("a table that cannot be used is refused with the reason", "[policy]") {
  CHECK(answer("").find("parse error") != std::string::npos);
  CHECK(answer("[1, 2]") == "it is not a table of hipops-tune");
  CHECK(answer("{}") == "it is not a table of hipops-tune");
  CHECK(answer(replaced("\"schema\": 1", "\"schema\": 7")) == "its schema is 7, expected 1: hipops-tune writes it again");
  CHECK(answer(replaced("sm_90", "gfx942")) == "it is for gfx942 (a card), and the device is sm_90 (a card)");
  CHECK(answer(replaced("\"aligned\"", "\"round\"")) == "layout is \"round\", expected aligned, unaligned, strided or packed");
  CHECK(answer(replaced("512, 4096", "4096, 512")) == "vectors are not ascending numbers");
  CHECK(answer(replaced("[1, 8]", "[]")) == "rows_per_unit are not ascending numbers");
  CHECK(answer(replaced("[512, 4096]", "[512]")).find("kernels are not a list") == 0);
  CHECK(answer(replaced("[512, 4096]", "\"512\"")).find("type must be array") != std::string::npos);
  CHECK(answer(replaced("\"bytes\": 2, ", "")).find("key 'bytes' not found") != std::string::npos);
  for (const char* bytes : {"3", "2.5", "true", "4294967298", "1e300", "-2", "\"2\""})
    CHECK(answer(replaced("\"bytes\": 2", std::string("\"bytes\": ") + bytes)) == "bytes of an entry are not 2, 4 or 8");
  const std::string deep(100000, '['), end(100000, ']');
  CHECK(answer("{\"schema\": " + deep + end + "}") == "its schema is no number, expected 1: hipops-tune writes it again");
  CHECK(answer(replaced("[1, 8]", deep + end)).find("type must be ") != std::string::npos);
  CHECK(answer(R"({"schema": 1, "target": "sm_90", "measured": {"device": "x"}, "rows": []})") == "no entry of it can be used");
}

TEST_CASE("an entry for another library or device is left out", "[policy]") {
  const std::string none = "no entry of it can be used: ";
  CHECK(answer(kTable) == "");
  CHECK(answer(replaced("softmax", "hardmax")) == none + "there is no row op \"hardmax\"");
  CHECK(answer(replaced("softmax", "gather")) == none + "there is no row op \"gather\"");
  CHECK(answer(replaced("512x2", "512x3")) == none + "softmax has no kernel \"aligned_512x3\" for f16 on this device");
  CHECK(answer(replaced("512x2", "512x2:1")) == none + "softmax has no kernel \"aligned_512x2:1\" for f16 on this device");
  CHECK(answer(replaced("aligned_512x2", "unaligned_merged")) == none + "softmax has no kernel \"unaligned_merged\" for f16 on this device");
  for (const char* cluster : {":0", ":3", ":32", ":-4", ":x", ":", ":4294967297", ":2x", ": 2"})
    CHECK(answer(replaced(":8", cluster)) == none + "softmax has no kernel \"aligned_cluster" + cluster + "\" for f16 on this device");
  CHECK(answer(kTable, 4) == none + "softmax has no kernel \"aligned_cluster:8\" for f16 on this device");
  Policy policy;
  const std::string entry = kTable.substr(kTable.find("{\"op\""), kTable.rfind("]}") - kTable.find("{\"op\""));
  std::string other = entry;
  other.replace(other.find("softmax"), 7, "hardmax");
  const std::string both = replaced("\"rows\": [", "\"rows\": [" + other + ", " + other + ", ");
  CHECK(read_policy(both, device_of(132, 16), &policy) == "");
  CHECK(policy.rows.size() == 2);
  CHECK(policy.complaint == "2 of its entries are left out, as there is no row op \"hardmax\"");
}

TEST_CASE("a damaged table is not used, and does no other harm", "[policy]") {
  const Op& op = *op_named("softmax");
  const auto try_text = [&](const std::string& text) {
    Policy policy;
    read_policy(text, device_of(132, 16), &policy);
    for (const RowTable& table : policy.rows)
      for (const RowChoice& choice : table.choices) {
        REQUIRE(choice.kernel >= 0);
        REQUIRE(choice.kernel < op.kernel_count);
      }
  };
  for (size_t at = 0; at < kTable.size(); ++at) {
    try_text(kTable.substr(0, at));
    for (const char other : {'0', '9', '"', '[', '}', '-', '\0', '\xff'}) {
      std::string text = kTable;
      text[at] = other;
      try_text(text);
    }
  }
}

TEST_CASE("the library reads the tables that hipops-tune writes", "[policy]") {
  const DeviceFacts device = device_of(132, 16);
  std::vector<tune::Result> results;
  for (const tune::Group& group : tune::groups("*/aligned")) {
    tune::Result result = {group, {}};
    for (const double vectors : group.vectors)
      for (const double rows : group.rows_per_unit) {
        const RowProblem problem = tune::problem_of(group, vectors, rows, device);
        const std::vector<RowChoice> choices = tune::candidates(*row_kernels_of(*group.op), problem, device);
        REQUIRE_FALSE(choices.empty());
        result.cells.push_back({choices.front(), choices.back()});
      }
    results.push_back(result);
  }
  Policy policy;
  REQUIRE(read_policy(tune::table_text({"cuda", "a card", "sm_90", "", "", ""}, device, results), device, &policy) == "");
  CHECK(policy.complaint == "");
  for (const tune::Result& result : results) {
    const tune::Group& group = result.group;
    size_t cell = 0;
    for (const double vectors : group.vectors)
      for (const double rows : group.rows_per_unit) {
        const RowProblem problem = tune::problem_of(group, vectors, rows, device);
        const RowChoice *found = policy.find(*group.op, problem, device), &kept = result.cells[cell].kept;
        const bool is_default = tune::same(kept, result.cells[cell++].by_default);
        INFO(tune::name_of(group) << ", " << vectors << " vectors, " << rows << " rows a unit");
        REQUIRE((found == nullptr) == is_default);
        if (is_default) continue;
        CHECK(found->kernel == kept.kernel);
        CHECK(found->cluster == kept.cluster);
      }
  }
}

TEST_CASE("hipops-tune measures the rows for which it writes an entry", "[policy]") {
  for (const tune::Group& group : tune::groups("softmax/*"))
    for (const double vectors : group.vectors)
      for (const double rows_per_unit : group.rows_per_unit) {
        const RowProblem problem = tune::problem_of(group, vectors, rows_per_unit, device_of(132, 16));
        const hipops_tensor x = tune::rows_at(reinterpret_cast<char*>(uintptr_t{1} << 40), problem),
                            y = tune::rows_at(reinterpret_cast<char*>(uintptr_t{1} << 50), problem);
        RowStreams<2> streams;
        const RowProblem measured = describe_rows({&x, &y}, 1, nullptr, 0, 0, &streams);
        INFO(tune::name_of(group) << ", " << vectors << " vectors, " << problem.rows << " rows");
        for (const RowChoice& choice : tune::candidates(*row_kernels_of(*group.op), problem, device_of(132, 16))) {
          const Policy policy = tune::policy_of(group, choice);
          const RowChoice* found = policy.find(*group.op, problem, device_of(132, 16));
          REQUIRE(found != nullptr);
          CHECK(tune::same(*found, choice));
        }
        CHECK(measured.layout == problem.layout);
        CHECK(measured.rows == problem.rows);
        CHECK(measured.cols == problem.cols);
        CHECK(measured.may_split);
      }
}

TEST_CASE("the shortest rows of a cell have the layout of its entry", "[policy]") {
  for (const tune::Group& group : tune::groups("softmax/*")) {
    double before = 0;
    for (const double vectors : group.vectors) {
      const RowProblem problem = tune::least_of(group, before, 3);
      const hipops_tensor x = tune::rows_at(reinterpret_cast<char*>(uintptr_t{1} << 40), problem),
                          y = tune::rows_at(reinterpret_cast<char*>(uintptr_t{1} << 50), problem);
      RowStreams<2> streams;
      const RowProblem measured = describe_rows({&x, &y}, 1, nullptr, 0, 0, &streams);
      INFO(tune::name_of(group) << ", after " << before << " vectors: " << problem.cols << " columns");
      CHECK(measured.layout == problem.layout);
      CHECK(measured.rows == 4);
      before = vectors;
    }
  }
}

TEST_CASE("calls give right results with a good tuning file and with each damaged one, which gets one line", "[policy]") {
  const std::string good = std::string(HIPOPS_TABLES) + "/other_kernels.json";
  std::ifstream stream(good);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto with = [](const std::string& content) { return softmax_with(File(content).path()); };
  const auto lines = [](const Death& run) { return std::count(run.words.begin(), run.words.end(), '\n'); };
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    return other.replace(other.find(from), from.size(), to);
  };
  CHECK(softmax_with(good).exit_code == 0);
  CHECK(softmax_with(good).words == "");
  CHECK(with(changed("\"vectors\": [1000000000.0]", "\"vectors\": [1]")).words == "");
  const std::string pipe = (std::filesystem::temp_directory_path() / ("test_policy_pipe." + std::to_string(getpid()))).string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const std::pair<std::string, std::string> none[] = {{"/nowhere/table.json", "it cannot be opened: No such file or directory"},
                                                      {"/", "it is not a regular file"},
                                                      {"/dev/zero", "it is not a regular file"},
                                                      {pipe, "it is not a regular file"}};
  for (const auto& [path, why] : none) {
    const Death run = softmax_with(path);
    CHECK(run.exit_code == 0);
    CHECK(run.words == "hipops: HIPOPS_TUNING_FILE=" + path + ": " + why + "; the default policy is used\n");
  }
  std::filesystem::remove(pipe);
  for (const std::string& damaged : {text.substr(0, text.size() / 2), std::string("GIF89a"), changed("\"schema\": 1", "\"schema\": 2"),
                                     changed("\"cpu\"", "\"sm_90\""), changed("strided_stream", "strided_storm"),
                                     changed("\"strided_stream\"", "\"strided_stream:8\""), changed("softmax", "hardmax"), text + std::string(5 << 20, ' '), changed("\"cpu\"", "\"c\\n\\u001bpu\""),
                                     changed("strided_stream", std::string(100000, 'x')), std::string()}) {
    const Death run = with(damaged);
    INFO(run.words);
    CHECK(run.exit_code == 0);
    CHECK(lines(run) == 1);
    CHECK(run.words.size() < 700);
    CHECK(run.words.find('\033') == std::string::npos);
    CHECK(run.prints("hipops: HIPOPS_TUNING_FILE="));
    CHECK(run.prints("; the default policy is used"));
  }
}
