// hipops-tune: measures the fastest kernels on this device, and writes the table for HIPOPS_TUNING_FILE.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>

#include "device.h"
#include "parity/command_line.h"
#include "parity/program.h"
#include "parity/terminal.h"
#include "timer.h"
#include "tune/table.h"

namespace hipops::tune {
namespace {

constexpr int kRepeats = 5;

struct Options {
  std::string backend = "auto", output, match = "*";
  uint64_t most_bytes = uint64_t{256} << 20;
};

bool parse_options(int argc, char** argv, Options* o, int* exit_code) {
  CLI::App app("Measures the fastest kernels of the row ops on this device, and writes a table of them.", "hipops-tune");
  app.add_option("--output", o->output, "the table's file; -: stdout")->required()->option_text("FILE");
  app.add_option("--backend", o->backend, "auto (without this: a GPU, of hip or cuda), cpu, hip or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "hip", "cuda"}))
      ->option_text("BACKEND");
  app.add_option("--match", o->match,
                 "only rows whose OP/DTYPE/LAYOUT matches this pattern, as 'softmax/*'\n"
                 "or 'rms_norm/bf16/aligned' (bf16 includes f16); others use\n"
                 "the default policy")
      ->option_text("PATTERN");
  app.add_option("--most", o->most_bytes, "the largest tensor that is measured, as 64MiB (256MiB)")
      ->transform(CLI::AsSizeValue(false))
      ->option_text("SIZE");
  app.footer(
      "Run nothing else on the device. A GPU needs some minutes, and a CPU\n"
      "hours. The table of a CPU is of no use for a GPU.\n"
      "\n"
      "Examples:\n"
      "  hipops-tune --output gfx942.json\n"
      "  HIPOPS_TUNING_FILE=gfx942.json hipops-info\n"
      "\n"
      "Exit status:\n"
      "  0   done\n"
      "  1   a failure\n"
      "  2   bad usage, a wrong setting, or a file that cannot be written\n"
      "  77  the backend of --backend is missing, or there is no GPU, without --backend");
  return parity::parse_command_line(&app, argc, argv, exit_code);
}

// A cell serves all rows between its bounds and the bounds before. A choice replaces the default if it is faster for
// the longest and the most rows of the cell, and not slower for the shortest and the fewest.
Cell measured_cell(const bench::Device& device, bench::Timer& timer, const Group& group, const DeviceFacts& facts,
                   const RowProblem& problem, double vectors_before, int64_t rows_before) {
  Cell cell = measure(device, timer, group, problem, facts);
  if (same(cell.kept, cell.by_default)) return cell;
  const RowProblem least = least_of(group, vectors_before, rows_before);
  RowProblem shortest = problem, fewest = problem;
  shortest.cols = least.cols;
  fewest.rows = least.rows;
  for (const RowProblem& lower : {shortest, fewest})
    if (!is_as_fast(cell.kept, device, timer, group, lower, facts))
      return {cell.by_default, cell.by_default, cell.default_us, cell.default_us};
  return cell;
}

// Leaves out lengths if one row is too large. A cell with too many rows keeps the default. A cell with the same number
// of rows as the cell before keeps the same choice.
Result measured(const bench::Device& device, bench::Timer& timer, const Group& group, const DeviceFacts& facts,
                int64_t most_bytes, const std::function<void(size_t)>& progress) {
  Result result = {group, {}};
  result.group.vectors.clear();
  double vectors_before = 0;
  for (const double vectors : group.vectors) {
    int64_t rows = 0;
    for (const double rows_per_unit : group.rows_per_unit) {
      progress(result.cells.size());
      const RowProblem problem = problem_of(group, vectors, rows_per_unit, facts);
      const bool is_small = tensor_bytes(problem) <= most_bytes;
      if (rows == 0 && !is_small) return result;
      if (!is_small) {
        const RowChoice by_default = choose_rows_by_default({}, *row_kernels_of(*group.op), problem, facts);
        result.cells.push_back({by_default, by_default});
      } else if (problem.rows > rows) {
        result.cells.push_back(measured_cell(device, timer, group, facts, problem, vectors_before, rows));
      } else {
        const Cell before = result.cells.back();
        result.cells.push_back({before.by_default, before.kept});
      }
      rows = problem.rows;
    }
    result.group.vectors.push_back(vectors);
    vectors_before = vectors;
  }
  return result;
}

int run(int argc, char** argv) {
  Options options;
  int exit_code;
  if (!parse_options(argc, argv, &options, &exit_code)) return exit_code;
  if (groups("*").empty()) throw std::invalid_argument("this build has no row ops");
  const std::vector<Group> all = groups(options.match);
  if (all.empty())
    throw std::invalid_argument("--match " + options.match + " matches none of the rows, as " + name_of(groups("*").front()) +
                                " (bf16 stands for f16, too)");
  if (options.most_bytes == 0 || options.most_bytes > INT64_MAX) throw std::invalid_argument("--most is no size, as 64MiB");
  bench::Device device;
  bench::RunInfo info;
  // The fastest kernels of a CPU have no meaning for a GPU, so hipops-tune does not suggest the CPU to a user without a
  // GPU.
  if (!bench::open_device("hipops-tune", "a table of the cpu backend serves no GPU", options.backend, &device, &info, &exit_code))
    return exit_code;
  parity::OutputFile output(options.output);
  const DeviceFacts* facts = nullptr;
  if (device_facts(&facts) != HIPOPS_SUCCESS) throw std::runtime_error(hipops_last_error());
  bench::Timer timer(device, kRepeats);
  const auto cells_of = [](const Group& group) { return group.vectors.size() * group.rows_per_unit.size(); };
  size_t cells = 0, done = 0;
  for (const Group& group : all) cells += cells_of(group);
  parity::Progress progress(cells);
  std::vector<Result> results;
  for (const Group& group : all) {
    const Result result = measured(device, timer, group, *facts, static_cast<int64_t>(options.most_bytes),
                                   [&](size_t of_group) { progress.show(done + of_group, name_of(group)); });
    if (!result.cells.empty()) results.push_back(result);
    done += cells_of(group);
  }
  progress.clear();
  std::fputs(summary_text(results).c_str(), stdout);
  device.tools->destroy_stream(device.stream);
  return output.write(table_text(info, *facts, results)) ? parity::kExitPassed : parity::kExitUsage;
}

}  // namespace
}  // namespace hipops::tune

int main(int argc, char** argv) {
  using namespace hipops;
  try {
    return parity::after_printing(tune::run(argc, argv));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "hipops-tune: %s\n", error.what());
    return parity::kExitUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hipops-tune: %s\n", error.what());
    return parity::kExitMismatch;
  }
}
