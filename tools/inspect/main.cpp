// hipops-inspect: figures of the machine code of AMD kernels, and a check of their budgets.
#include <cstdio>
#include <exception>
#include <iterator>

#include "inspect/budgets.h"
#include "inspect/options.h"
#include "inspect/report.h"
#include "parity/program.h"
#include "parity/terminal.h"
#include "runtime/runtime.h"

namespace hipops::inspect {
namespace {

Budgets read_budgets(const std::string& path) {
  const auto bytes = read_file(path);
  try {
    return parse_budgets({bytes.begin(), bytes.end()});
  } catch (const BudgetsError& problem) {
    throw BudgetsError(path + ": " + problem.what());
  }
}

// The names that could be selected.
std::string among(const Selection& selection) {
  std::string files;
  for (const std::string& file : selection.files) files += (files.empty() ? "of " : ", ") + file;
  if (!files.empty()) return files;
  return std::string("in the library; its targets: ") + (*hip_targets != '\0' ? hip_targets : "none");
}

// A check without any limit is an error.
int print(Verdict verdict) {
  if (verdict.held + verdict.known == 0 && verdict.problems.empty())
    verdict.problems.push_back("no limit covers the selected kernels");
  for (const std::string& problem : verdict.problems) std::printf("%s\n", problem.c_str());
  const std::string text = std::to_string(verdict.held) + " limits held, " + std::to_string(verdict.known) +
                           " broken as known, " + std::to_string(verdict.problems.size()) + " problems";
  const parity::Colour colour = verdict.problems.empty() ? parity::Colour::kGreen : parity::Colour::kRed;
  std::printf("%s\n", parity::paint(text, colour, parity::colours_wanted()).c_str());
  return verdict.problems.empty() ? kExitGood : kExitBroken;
}

int main_or_throw(int argc, char** argv) {
  Options options;
  int exit_code;
  if (!parse_options(argc, argv, &options, &exit_code)) return exit_code;
  const Budgets budgets = options.check.empty() ? Budgets() : read_budgets(options.check);
  parity::OutputFile json(options.json);
  const std::vector<Record> records = inspect(options.selection);
  if (records.empty()) throw std::runtime_error("no kernel selected " + among(options.selection));
  if (!json.write(to_json(records))) return kExitUsage;
  if (options.check.empty()) {
    std::fputs(table_text(records, parity::colours_wanted()).c_str(), stdout);
    return kExitGood;
  }
  const Selection& selection = options.selection;
  const bool whole = selection.files.empty() && selection.op.empty() && selection.kernel.empty();
  return print(check(budgets, records, whole));
}

}  // namespace
}  // namespace hipops::inspect

int main(int argc, char** argv) {
  try {
    return hipops::parity::after_printing(hipops::inspect::main_or_throw(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hipops-inspect: %s\n", error.what());
    return hipops::inspect::kExitUsage;
  }
}
