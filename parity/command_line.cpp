#include "parity/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "hipops/hipops.h"
#include "parity/program.h"

namespace hipops::parity {
namespace {

// CLI11's formatter adds "Excludes: --json --junit" to the name of an option.
class PlainFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = option->get_option_text();
    return text.empty() ? "" : " " + text;
  }
};

// CLI11 ignores an empty argument.
std::string empty_argument(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.empty()) return "empty argument: " + (i > 1 ? argv[i - 1] + std::string(" ''") : "''");
    if (word.compare(0, 2, "--") == 0 && word.find('=') == word.size() - 1) return "empty argument: " + word;
  }
  return "";
}

// If an option has no value, CLI11 reads the next option as the value.
std::string is_value(const std::string& text) {
  return text.compare(0, 2, "--") == 0 ? "expected a value, not " + text : "";
}

}  // namespace

bool parse_command_line(CLI::App* app, int argc, char** argv, int* exit_code) {
  *exit_code = kExitUsage;
  app->set_version_flag("--version", std::string("hipops ") + hipops_version());
  app->formatter(std::make_shared<PlainFormatter>());
  app->allow_extras();  // CLI11 would name extra arguments in reverse order
  for (CLI::Option* option : app->get_options()) option->check(is_value);
  std::string problem = empty_argument(argc, argv);
  try {
    if (problem.empty()) app->parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help
    *exit_code = app->exit(success);
    return false;
  } catch (const CLI::ParseError& error) {
    problem = error.what();
  }
  std::vector<std::string> strays = app->remaining();
  strays.erase(std::remove(strays.begin(), strays.end(), "--"), strays.end());
  if (!strays.empty()) problem = "unexpected argument " + strays.front();
  if (problem.empty()) return true;
  const std::string name = app->get_name();
  std::fprintf(stderr, "%s: %s (see %s --help)\n", name.c_str(), problem.c_str(), name.c_str());
  return false;
}

}  // namespace hipops::parity
