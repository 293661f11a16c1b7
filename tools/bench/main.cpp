// hipops-bench: times ops and a plain copy of the same bytes, on the backend in use.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "device.h"
#include "options.h"
#include "parity/buffer.h"
#include "parity/options.h"
#include "parity/terminal.h"
#include "report.h"

namespace hipops::bench {
namespace {

constexpr int kRepeats = 15;
constexpr int kSweepRepeats = 5;
constexpr int kHostCalls = 2000;

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

int complain(const std::string& text, int exit_code) {
  std::fprintf(stderr, "hipops-bench: %s\n", text.c_str());
  return exit_code;
}

Figure measure(const Options& options, const Device& device, Timer& timer, const Workload& work) {
  Figure figure = {work, bytes_moved(work), 0, 0, {}, {}};
  figure.roof = timer.roof(figure.bytes);
  const Operands operands(device, work);
  figure.hipops = timer.microseconds(operands.call(), figure.bytes);
  if (options.warm) figure.warm = timer.warm(operands.call());
  if (options.host) figure.host = timer.host(operands.call(), kHostCalls);
  return figure;
}

// A row that fails does not stop the others.
int run_rows(const Options& options, const std::vector<Workload>& rows, const Device& device, const RunInfo& info,
             parity::OutputFile* json) {
  Timer timer(device, options.repeats ? options.repeats : kRepeats);
  parity::Progress progress(rows.size());
  std::vector<Figure> figures;
  print(table_heading(options.warm, options.host, parity::colours_wanted()));
  for (size_t i = 0; i < rows.size(); ++i) {
    progress.show(i, rows[i].name);
    try {
      figures.push_back(measure(options, device, timer, rows[i]));
      progress.clear();
      print(table_row(figures.back()));
    } catch (const std::exception& failure) {  // the device or the host is out of memory
      progress.clear();
      complain(rows[i].name + ": " + failure.what(), 0);
    }
  }
  const bool written = json->write(to_json(info, figures));
  if (figures.size() != rows.size()) return parity::kExitMismatch;
  return written ? parity::kExitPassed : parity::kExitUsage;
}

int run_sweep(const Options& options, const std::vector<SweepJob>& jobs, const Device& device, const RunInfo& info,
              parity::OutputFile* json) {
  Timer timer(device, options.repeats ? options.repeats : kSweepRepeats);
  parity::Progress progress(jobs.size());
  const std::vector<SweepRow> rows =
      sweep(device, timer, jobs, [&](size_t done, const std::string& label) { progress.show(done, label); });
  progress.clear();
  print(sweep_text(rows, parity::colours_wanted()));
  const bool written = json->write(to_json(info, rows));
  if (std::any_of(rows.begin(), rows.end(), [](const SweepRow& row) { return row.is_slow(); })) return parity::kExitMismatch;
  return written ? parity::kExitPassed : parity::kExitUsage;
}

int main_or_throw(int argc, char** argv) {
  Options options;
  int exit_code;
  if (!parse_options(argc, argv, &options, &exit_code)) return exit_code;
  const std::vector<SweepJob> jobs = options.sweep ? selected_jobs(options) : std::vector<SweepJob>();
  const std::vector<Workload> rows = options.sweep ? std::vector<Workload>() : selected(options);
  if (options.list) {
    for (const SweepJob& job : jobs) print(job.name() + "\n");
    for (const Workload& row : rows) print(row.name + "\n");
    return parity::kExitPassed;
  }
  Device device;
  RunInfo info;
  constexpr const char* kWhyNoCpu =
      "the cpu backend is for checking numbers, not for speed; --backend cpu times it all the same";
  if (!open_device("hipops-bench", kWhyNoCpu, options.backend, &device, &info, &exit_code)) return exit_code;
  if (options.host && !device.tools->has_graphs())
    return complain("--host is not for the " + info.backend + " backend: its driver has no launch of its own",
                    parity::kExitUsage);
  parity::OutputFile json(options.json);
  print(header_text(info, parity::colours_wanted()));
  exit_code = options.sweep ? run_sweep(options, jobs, device, info, &json)
                            : run_rows(options, rows, device, info, &json);
  device.tools->destroy_stream(device.stream);
  return exit_code;
}

}  // namespace
}  // namespace hipops::bench

int main(int argc, char** argv) {
  using namespace hipops;
  try {
    return parity::after_printing(bench::main_or_throw(argc, argv));
  } catch (const std::invalid_argument& error) {
    return bench::complain(error.what(), parity::kExitUsage);
  } catch (const std::exception& error) {
    return bench::complain(error.what(), parity::kExitMismatch);
  }
}
