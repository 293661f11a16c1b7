// hipops-bench: its reading of shapes, its numbers of bytes, its protocol on a device that only counts, its sweep, and
// the program on the CPU.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "catch.h"
#include "run.h"
#include "parity/buffer.h"
#include "report.h"
#include "table.h"

using namespace hipops;
using namespace hipops::bench;
using namespace hipops_test;

namespace {

using Sizes = std::vector<int64_t>;

Workload work_of(const std::string& op, hipops_dtype dtype, const std::string& shape, int dim = 0,
                 std::vector<int> order = {}) {
  Workload work;
  work.op = op;
  work.dtype = dtype;
  work.dim = dim;
  work.order = std::move(order);
  const std::string problem = parse_shape(shape, &work);
  INFO(problem);
  REQUIRE(problem == "");
  return work;
}

Run run_bench(const std::string& arguments, const std::string& environment = "") {
  return run_command(environment + " " HIPOPS_BENCH " " + arguments);
}

class JsonFile {
 public:
  JsonFile() : path_(std::filesystem::temp_directory_path() / ("test_bench." + std::to_string(getpid()) + ".json")) {}
  ~JsonFile() { std::filesystem::remove(path_); }
  std::string option() const { return " --json " + path_.string(); }
  nlohmann::json read() const { return nlohmann::json::parse(std::ifstream(path_)); }

 private:
  std::filesystem::path path_;
};

// A device that runs nothing: each event is recorded at a time that the test sets.
class CountingTools final : public DeviceTools {
 public:
  explicit CountingTools(std::vector<float> durations) : durations_(std::move(durations)) {}

  std::string driver() const override { return "counting"; }
  hipops_status create_stream(void**) override { return HIPOPS_SUCCESS; }
  hipops_status destroy_stream(void*) override { return HIPOPS_SUCCESS; }
  hipops_status synchronize(void*) override { return HIPOPS_SUCCESS; }
  hipops_status copy_on_device(void*, const void*, size_t, void*) override { return HIPOPS_SUCCESS; }
  hipops_status fill(void*, uint32_t, size_t words, void*) override {
    filled_bytes.push_back(4 * words);
    return HIPOPS_SUCCESS;
  }
  hipops_status create_event(void** event) override {
    *event = this;
    ++events;
    return HIPOPS_SUCCESS;
  }
  hipops_status destroy_event(void*) override {
    --events;
    return HIPOPS_SUCCESS;
  }
  hipops_status record(void*, void*) override { return HIPOPS_SUCCESS; }
  hipops_status milliseconds(void*, void*, float* elapsed) override {
    *elapsed = durations_[reads++ % durations_.size()];
    return HIPOPS_SUCCESS;
  }
  bool has_graphs() const override { return true; }
  hipops_status begin_capture(void*) override {
    capturing = true;
    return HIPOPS_SUCCESS;
  }
  hipops_status end_capture(void*, void** graph) override {
    capturing = false;
    ++graphs;
    *graph = this;
    return HIPOPS_SUCCESS;
  }
  hipops_status replay(void*, void*) override {
    ++replays;
    return HIPOPS_SUCCESS;
  }
  hipops_status destroy_graph(void*) override {
    --graphs;
    return HIPOPS_SUCCESS;
  }
  hipops_status kernels(void*, std::vector<KernelLaunch>* launches) override {
    launches->resize(2);
    return HIPOPS_SUCCESS;
  }
  int launch(const KernelLaunch&, void*) override {
    ++launches;
    return 0;
  }

  std::vector<size_t> filled_bytes;
  int events = 0, graphs = 0, replays = 0, launches = 0;
  size_t reads = 0;
  bool capturing = false;

 private:
  const std::vector<float> durations_;
};

struct CountingDevice {
  explicit CountingDevice(std::vector<float> durations) {
    REQUIRE(hipops_init(HIPOPS_BACKEND_CPU) == HIPOPS_SUCCESS);
    REQUIRE(runtime(&device.runtime) == HIPOPS_SUCCESS);
    auto made = std::make_unique<CountingTools>(std::move(durations));
    tools = made.get();
    device.tools = std::move(made);
  }
  Device device;
  CountingTools* tools;
};

bool is_near(double got, double expected) { return std::abs(got - expected) <= 1e-6 * std::abs(expected); }

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// The library finds none of this machine's GPUs.
const std::string kNoGpu = "HIPOPS_HIP_LIBRARY=none HIPOPS_CUDA_LIBRARY=none";

SweepRow sweep_row(int64_t bytes, double roof, double us) { return {{"softmax", HIPOPS_BF16, {4, 8}}, bytes, roof, us}; }

}  // namespace

TEST_CASE("shapes are read, and a wrong one is refused with the expected form", "[bench]") {
  Workload work;
  CHECK(parse_shape("16384x12288[:,4096:8192]", &work) == "");
  CHECK(work.shape == Sizes{16384, 12288});
  CHECK(input_shape(work) == Sizes{16384, 4096});
  work = {};
  CHECK(parse_shape("8x256x128x128->256x200", &work) == "");
  CHECK(work.size == Sizes{256, 200});
  work.op = "upsample_nearest2d";
  CHECK(output_shape(work) == Sizes{8, 256, 256, 200});
  work = work_of("strided_copy", HIPOPS_BF16, "4x5x6", 0, {2, 0, 1});
  CHECK(output_shape(work) == Sizes{6, 4, 5});
  for (const char* bad : {"", "4x", "x4", "0x4", "-4x4", "4x4->", "4x4[:", "4x4[:]", "4x4[:,2:5]", "4x4[:,3:3]",
                          "4.5x4", "4x4 ", "1x1x1x1x1x1x1x1x1", "1099511627776x2"}) {
    INFO(bad);
    Workload none;
    CHECK(parse_shape(bad, &none).find("\"" + std::string(bad) + "\"") != std::string::npos);
  }
}

TEST_CASE("a workload that the op refuses has a message", "[bench]") {
  const auto problem = [](const Workload& work) { return check(work); };
  CHECK(problem(work_of("rope", HIPOPS_F32, "4x4")) == "rope needs 4 dimensions, not 2");
  CHECK(problem(work_of("rope", HIPOPS_F32, "1x1x1x3")) == "rope needs an even last dimension, not 3");
  CHECK(problem(work_of("rms_norm", HIPOPS_U8, "4x4")) == "rms_norm does not support u8");
  CHECK(problem(work_of("rms_norm", HIPOPS_F32, "4x4->2")) == "rms_norm accepts no sizes after \"->\"");
  CHECK(problem(work_of("rms_norm", HIPOPS_F32, "4x4[:,:2]")) ==
        "a slice or a permutation is for strided_copy, not for rms_norm");
  CHECK(problem(work_of("gather", HIPOPS_F32, "4x4", 2)) == "dim is 2, expected 0 to 1");
  CHECK(problem(work_of("index_add", HIPOPS_F32, "4x4")) == "index_add needs \"->\" and y's size along dim");
  CHECK(problem(work_of("upsample_nearest2d", HIPOPS_F32, "1x1x4x4->8")) ==
        "upsample_nearest2d needs 2 sizes after \"->\", not 1");
  CHECK(problem(work_of("strided_copy", HIPOPS_F32, "4x4", 0, {0, 0})) ==
        "the permutation must have each of the dimensions 0 to 1 once");
  CHECK(problem(work_of("strided_copy", HIPOPS_U8, "4x4", 0, {1, 0})) == "");
}

TEST_CASE("bytes_moved counts the bytes that each op must move once", "[bench]") {
  const auto bytes = [](const std::string& op, hipops_dtype dtype, const std::string& shape, int dim = 0) {
    return bytes_moved(work_of(op, dtype, shape, dim));
  };
  for (const char* op : {"layer_norm", "rms_norm", "softmax"}) CHECK(bytes(op, HIPOPS_BF16, "32x100") == 2 * 3200 * 2);
  for (const char* op : {"rope", "rope_i", "rope_thd"}) CHECK(bytes(op, HIPOPS_F64, "2x3x4x10") == 2 * 240 * 8);
  CHECK(bytes("gather", HIPOPS_BF16, "50x100", 1) == 5000 * (2 + 8 + 2));
  CHECK(bytes("gather", HIPOPS_BF16, "50x100->7", 1) == 350 * (2 + 8 + 2));
  CHECK(bytes("index_select", HIPOPS_F32, "1000x20->30") == 2 * 600 * 4 + 30 * 8);
  CHECK(bytes("index_add", HIPOPS_BF16, "1000x20->30") == 20000 * 2 + 2 * 600 * 2 + 1000 * 8);
  CHECK(bytes("scatter_add", HIPOPS_F32, "1000x20->30") == 20000 * (4 + 8) + 2 * 600 * 4);
  CHECK(bytes("index_add", HIPOPS_BF16, "30x20->1000") == 600 * (2 + 2 * 2) + 30 * 8);
  CHECK(bytes("scatter_add", HIPOPS_F32, "30x20->1000") == 600 * (4 + 8 + 2 * 4));
  CHECK(bytes("scatter", HIPOPS_F32, "1000x20->30") == 20000 * (4 + 8) + 600 * 4);
  CHECK(bytes("scatter", HIPOPS_F32, "30x20->1000") == 600 * (4 + 8 + 4));
  CHECK(bytes("upsample_nearest1d", HIPOPS_F16, "2x3x4->9") == (24 + 54) * 2);
  CHECK(bytes("upsample_nearest2d", HIPOPS_F16, "2x3x4x5->8x10") == (120 + 480) * 2);
  CHECK(bytes("strided_copy", HIPOPS_F32, "10x30[:,5:9]") == 2 * 40 * 4);
  CHECK(bytes("topk", HIPOPS_F32, "10x30->5") == (300 + 50) * 4);
}

TEST_CASE("the rows of the table are valid, and each has a name of its own", "[bench]") {
  std::set<std::string> names, ops;
  for (const Workload& row : table()) {
    INFO(row.name);
    CHECK(check(row) == "");
    CHECK(names.insert(row.name).second);
    ops.insert(row.op);
  }
  CHECK(names.size() == 103);
  CHECK(ops.size() == 32);
  CHECK(names.count("rms_norm/bf16/262144x128") == 1);
  CHECK(names.count("upsample_nearest2d/bf16/8x256x128x128->256x256") == 1);
  CHECK(names.count("rope_thd/bf16/4x4096x32x128") == 1);
}

TEST_CASE("median", "[bench]") {
  CHECK(median({}) == 0);
  CHECK(median({7}) == 7);
  CHECK(median({9, 1, 5}) == 5);
  CHECK(median({4, 1, 9, 2}) == 3);
}

TEST_CASE("large rows are timed one by one, each after 256 MiB are written", "[bench]") {
  CountingDevice counting({0.004f, 0.001f, 0.009f});
  {
    Timer timer(counting.device, 3);
    int calls = 0;
    const Call call = [&] { return ++calls, HIPOPS_SUCCESS; };
    CHECK(is_near(timer.microseconds(call, kSmallBytes), 4));
    CHECK(calls == 3 + 3);
    CHECK(counting.tools->filled_bytes == std::vector<size_t>(3, size_t{256} << 20));
    CHECK(counting.tools->replays == 0);
  }
  CHECK(counting.tools->events == 0);
}

TEST_CASE("small rows are timed as a 50th of a graph's replay", "[bench]") {
  CountingDevice counting({0.5f, 0.1f, 0.2f, 0.9f});
  Timer timer(counting.device, 3);
  int captured = 0;
  const Call call = [&] { return captured += counting.tools->capturing, HIPOPS_SUCCESS; };
  CHECK(is_near(timer.microseconds(call, kSmallBytes - 1), 200.0 / 50));  // the first replay only warms up
  CHECK(captured == 50);
  CHECK(counting.tools->replays == 4);
  CHECK(counting.tools->graphs == 0);
  CHECK(counting.tools->filled_bytes.empty());
  timer.warm(call);  // any row is timed in a graph for a warm L2
  CHECK(captured == 100);
}

TEST_CASE("an op that hipops-bench does not know is no other op", "[bench]") {
  CountingDevice counting({1});
  Workload work = work_of("softmax", HIPOPS_F32, "4x4");
  work.op = "conv";
  CHECK_THROWS_WITH(Operands(counting.device, work), "hipops-bench does not know conv");
}

TEST_CASE("a failing call ends the timing with its message", "[bench]") {
  CountingDevice counting({1});
  Timer timer(counting.device, 3);
  const Call call = [] { return hipops_softmax(nullptr, nullptr, 0, nullptr); };
  CHECK_THROWS_AS(timer.microseconds(call, 1), parity::RuntimeFailure);
}

TEST_CASE("the host's time has the driver's own launches beside it", "[bench]") {
  CountingDevice counting({1});
  Timer timer(counting.device, 3);
  int calls = 0;
  const HostTime time = timer.host([&] { return ++calls, HIPOPS_SUCCESS; }, 2000);
  CHECK(calls == 2000 + 2);  // one to warm up, one captured
  CHECK(counting.tools->launches == 2 * 2000);
  CHECK(time.launches == 2);
  CHECK(is_near(HostTime{3, 2, 4}.over_a_launch(), 0.25));
  CHECK(counting.tools->graphs == 0);
}

TEST_CASE("the sweep's shapes reach from 1 to 2^18, with all kinds of lengths", "[bench]") {
  for (const int64_t bytes : {2, 8}) {
    std::set<std::pair<int64_t, int64_t>> shapes;
    for (const SweepShape& s : sweep_shapes(bytes)) {
      CHECK(shapes.insert({s.rows, s.cols}).second);
      CHECK((s.rows >= 1 && s.cols >= 1 && s.rows <= 1 << 18 && s.cols <= 1 << 18));
      CHECK(2 * s.rows * s.cols * bytes <= kSweepBytes);
    }
    for (const int64_t size :
         {1, 2, 3, 7, 9, 96, 97, 127, 129, 1280, 1600, 2880, 3001, 3584, 7168, 50257, 65535, 131072, 131073, 196608, 1 << 18})
      CHECK(shapes.count({1, size}) == 1);
    for (const int64_t rows : {1, 2, 37, 1000, 131071, 1 << 18}) CHECK(shapes.count({rows, 64}) == 1);
    for (int k = 0; k <= 18; ++k) CHECK(shapes.count({1, int64_t{1} << k}) == 1);
  }
  CHECK(sweep_jobs({"softmax", "rms_norm"}, {HIPOPS_F64}).size() == 2 * sweep_shapes(8).size());
}

TEST_CASE("a sweep's findings: slow where much moves", "[bench]") {
  const int64_t much = kSweepLargeBytes + 1;
  CHECK(sweep_row(much, 74, 100).is_slow());
  CHECK_FALSE(sweep_row(much, 76, 100).is_slow());
  CHECK_FALSE(sweep_row(kSweepLargeBytes, 10, 100).is_slow());
  const std::string text = sweep_text({sweep_row(much, 74, 100), sweep_row(much, 99, 100)}, false);
  CHECK(text.find("2 shapes; least share where more than 32 MiB move: 74.0 %") == 0);
  CHECK(text.find("share): 1\nsoftmax/bf16/4x8") != std::string::npos);
}

TEST_CASE("columns keep apart, however large the figures", "[bench]") {
  for (const double us : {0.01, 6893.69, 1018218.44, 691018218.44, 8.5e12, 1e300}) {
    Figure figure = {{}, INT64_MAX / 2, us, us * 7, us, HostTime{us, us / 3, 1000000}};
    figure.work.name = std::string(60, 'n');
    const std::string row = table_row(figure);
    INFO(row);
    const std::vector<std::string> words = words_of(row);
    REQUIRE(words.size() == 12);
    for (const size_t time : {3, 4, 7, 8, 9, 11}) {
      size_t used = 0;
      CHECK(std::stod(words[time], &used) >= 0);
      CHECK(used == words[time].size());
      CHECK(words[time].size() <= 9);
    }
    CHECK(words[2] == "MiB");
    CHECK(words[5] == "14.3");
    CHECK(words[6] == "%");
    CHECK(words[10] == "1000000");
    SweepRow swept = sweep_row(INT64_MAX / 2, us, us * 7);
    swept.job.shape = {INT64_MAX, INT64_MAX};
    const std::string text = sweep_text({swept}, false);
    INFO(text);
    size_t lines = 0;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      if (line.rfind("softmax/", 0) != 0) continue;
      ++lines;
      CHECK(words_of(line).size() == 7);
    }
    CHECK(lines == 1);
  }
  const auto shown = [](double us) {
    Figure figure;
    figure.work.name = "n";
    figure.roof = figure.hipops = us;
    return words_of(table_row(figure))[3];
  };
  CHECK(shown(12.345) == "12.35");
  CHECK(shown(999999.99) == "999999.99");
  CHECK(shown(999999.996) == "1000000");
  CHECK(shown(691018218.44) == "691018218");
}

TEST_CASE("hipops-bench times a tiny row of every op on the CPU, and writes it", "[bench]") {
  const std::pair<const char*, const char*> rows[] = {{"layer_norm", "4x64"},
                                                      {"rms_norm", "4x64 3x50"},
                                                      {"softmax", "4x64"},
                                                      {"rope", "1x2x3x8"},
                                                      {"rope_i", "1x2x3x8"},
                                                      {"rope_thd", "1x2x3x8"},
                                                      {"gather", "6x8"},
                                                      {"index_select", "'6x8->3'"},
                                                      {"index_add", "'6x8->3'"},
                                                      {"scatter", "'6x8->9'"},
                                                      {"scatter_add", "'6x8->3'"},
                                                      {"upsample_nearest1d", "'1x2x4->8'"},
                                                      {"upsample_nearest2d", "'1x2x4x4->8x8'"},
                                                      {"strided_copy", "'6x8[:,2:5]'"}};
  for (const auto& [op, shapes] : rows) {
    const JsonFile file;
    const Run outcome = run_bench(std::string("--backend cpu --repeats 1 --warm --dtype f32 --op ") + op +
                                      " --shape " + shapes + file.option());
    INFO(outcome.words);
    REQUIRE(outcome.exit_code == 0);
    CHECK(outcome.prints("backend  cpu"));
    CHECK(outcome.prints("build    hipops "));
    CHECK(outcome.prints(std::string(op) + "/f32/"));
    const nlohmann::json json = file.read();
    CHECK(json["header"]["backend"] == "cpu");
    CHECK(json["rows"].size() == (std::string(op) == "rms_norm" ? 2 : 1));
    for (const nlohmann::json& row : json["rows"]) {
      CHECK(row["op"] == op);
      CHECK(row["bytes"] > 0);
      CHECK(row["roof_us"] > 0);
      CHECK(row["hipops_us"] > 0);
      CHECK(row["warm_us"] > 0);
      CHECK(is_near(row["share"], row["roof_us"].get<double>() / row["hipops_us"].get<double>()));
    }
  }
}

TEST_CASE("hipops-bench sweeps on the CPU", "[bench]") {
  const JsonFile file;
  const Run outcome =
      run_bench("--backend cpu --sweep --repeats 1 --dtype f32 --match 'rms_norm/*/1x12[789]'" + file.option());
  INFO(outcome.words);
  REQUIRE(outcome.exit_code == 0);  // all shapes are too small to count as slow
  CHECK(outcome.prints("3 shapes"));
  const nlohmann::json json = file.read();
  REQUIRE(json["sweep"].size() == 3);
  for (const nlohmann::json& row : json["sweep"]) CHECK(row["hipops_us"] > 0);
}

TEST_CASE("hipops-bench lists the table's rows", "[bench]") {
  CHECK(run_bench("--list --match 'softmax/f32/*'").words == "softmax/f32/16384x4096\nsoftmax/f32/8192x8192\n");
  CHECK(run_bench("--list --op index_add --dtype f32").words == "index_add/f32/262144x256->16384\n");
}

TEST_CASE("hipops-bench refuses bad usage with a word on it", "[bench]") {
  const std::pair<const char*, const char*> refused[] = {
      {"--frobnicate", "--frobnicate"},
      {"--op relu", "relu"},
      {"--backend tpu", "tpu"},
      {"--shape 4x4", "--shape needs one --op and one --dtype"},
      {"--op softmax --dtype f32 --shape 4x", "--shape 4x: \"4x\", expected sizes as"},
      {"--op rope --dtype f32 --shape 4x4", "rope needs 4 dimensions"},
      {"--op softmax --dtype f32 --shape 4x4 --dim 1", "--dim and --index are for the ops with an index"},
      {"--op rope --dtype f32 --shape 4x4x4x4 --index u8", "--dim and --index are for the ops with an index"},
      {"--match nothing", "no row of the table is selected"},
      {"--sweep --op gather", "layer_norm, rms_norm, softmax, log_softmax and softmax_ext"},
      {"--sweep --op softmax --dtype f32 --shape 4x4", "--shape excludes --sweep"},
      {"--sweep --host", "--host excludes --sweep"},
      {"--dim 1", "--dim requires --shape"},
      {"--backend cpu --host", "--host is not for the cpu backend"},
      {"--repeats 0", "--repeats"},
  };
  for (const auto& [arguments, words] : refused) {
    const Run outcome = run_bench(arguments);
    INFO(arguments << ": " << outcome.words);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.prints(words));
  }
}

TEST_CASE("without a GPU hipops-bench stops at once, unless --backend names the CPU", "[bench]") {
  const std::string row = "--op softmax --dtype f32 --shape 4x4 --repeats 1";
  for (const std::string automatic : {"HIPOPS_BACKEND= ", "HIPOPS_BACKEND=auto "}) {
    for (const std::string& arguments : {row, row + " --host --backend auto", std::string("--sweep"), std::string()}) {
      const Run outcome = run_bench(arguments, automatic + kNoGpu);
      INFO(outcome.words);
      CHECK(outcome.exit_code == 77);
      CHECK(outcome.words ==
            "hipops-bench: no GPU was found, and the cpu backend is for checking numbers, not for speed; --backend cpu "
            "times it all the same\n"
            "hip: HIPOPS_HIP_LIBRARY is \"none\"\n"
            "cuda: HIPOPS_CUDA_LIBRARY is \"none\"\n");
    }
  }
  CHECK(run_bench(row + " --backend cpu", kNoGpu).exit_code == 0);
  CHECK(run_bench(row, kNoGpu + " HIPOPS_BACKEND=cpu").exit_code == 0);
  CHECK(run_bench("--list", kNoGpu).exit_code == 0);
}

TEST_CASE("hipops-bench ends with 77 if the device is missing, or the runtime is too old", "[bench]") {
  const Run missing = run_bench("--backend cuda", "HIPOPS_CUDA_LIBRARY=/nonexistent/libcuda.so.1");
  CHECK(missing.exit_code == 77);
  CHECK(missing.prints("/nonexistent/libcuda.so.1"));
  const Run old = run_bench("--backend hip", "HIPOPS_HIP_LIBRARY=" HIPOPS_STANDIN);
  CHECK(old.exit_code == 77);
  CHECK(old.prints("hipStreamCreateWithFlags"));
}
