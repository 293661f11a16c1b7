#include "parity/command_line.h"

#include <errno.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hipops/hipops.h"
#include "parity/program.h"

namespace hipops::parity {
namespace {

using Words = std::vector<std::string>;

// CLI11's own adds "Excludes: --json --junit" to the name of an option.
class PlainFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = option->get_option_text();
    return text.empty() ? "" : " " + text;
  }
};

// A number may be negative, and "-" a file.
bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word != "--" && (word[1] < '0' || word[1] > '9');
}

std::string name_in(const std::string& word) { return word.substr(0, word.find('=')); }

bool has_value(const std::string& word) { return word.find('=') != std::string::npos; }

// CLI11 takes an empty argument as if it were not there.
std::string empty_argument(const Words& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string name = name_in(words[i]);
    if (is_option(words[i]) && words[i] == name + "=") return name + " is empty, expected a value";
    if (!words[i].empty()) continue;
    const bool of_option = i > 0 && is_option(words[i - 1]);
    return (of_option ? words[i - 1] : "argument " + std::to_string(i + 1)) + " is empty, expected a value";
  }
  return "";
}

// An option that there is not, or one without its value, for which CLI11 would take the next option.
std::string wrong_option(const CLI::App& app, const Words& words) {
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (!is_option(words[i])) continue;
    const CLI::Option* option = app.get_option_no_throw(name_in(words[i]));
    if (option == nullptr) return "unknown option " + name_in(words[i]);
    const bool takes_value = option->get_items_expected_max() > 0;
    if (!takes_value && has_value(words[i])) return name_in(words[i]) + " takes no value";
    if (!takes_value || has_value(words[i])) continue;
    if (++i == words.size() || words[i].compare(0, 2, "--") == 0) return words[i - 1] + " needs a value";
  }
  return "";
}

// What CLI11 has left over.
std::string stray(const Words& rest) {
  for (const std::string& word : rest)
    if (word != "--") return "unexpected argument " + word;
  return "";
}

// Where the option stands on the command line; behind all where it does not.
size_t place_of(const CLI::Option* option, const Words& words) {
  const auto is_it = [&](const std::string& word) { return name_in(word) == option->get_name(); };
  return static_cast<size_t>(std::find_if(words.begin(), words.end(), is_it) - words.begin());
}

std::string apart(const CLI::App& app, const Words& words) {
  const CLI::Option *first = nullptr, *second = nullptr;
  for (const CLI::Option* option : app.get_options()) {
    for (const CLI::Option* other : option->get_excludes()) {
      const bool before = place_of(option, words) < place_of(other, words);
      if (option->count() == 0 || other->count() == 0 || !before) continue;
      if (first != nullptr && place_of(first, words) <= place_of(option, words)) continue;
      first = option;
      second = other;
    }
  }
  return first == nullptr ? "" : first->get_name() + " and " + second->get_name() + " do not go together";
}

std::string needing(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    for (const CLI::Option* needed : option->get_needs())
      if (option->count() > 0 && needed->count() == 0) return option->get_name() + " needs " + needed->get_name();
  return "";
}

std::string repeated(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const int most = option->get_items_expected_max();
    if (most == 1 && option->count() > 1)
      return option->get_name() + " is given " + std::to_string(option->count()) + " times, expected once";
  }
  return "";
}

// "--wave: is ..." as CLI11 puts what a validator says.
std::string refused(std::string text) {
  const size_t at = text.find(": is ");
  return at == std::string::npos ? text : text.erase(at, 1);
}

// The same of every release of CLI11, whose words differ.
std::string problem_of(const CLI::App& app, const Words& words, const CLI::ParseError& error) {
  const std::string found = error.get_name() == "ExcludesError"      ? apart(app, words)
                            : error.get_name() == "RequiresError"    ? needing(app)
                            : error.get_name() == "ArgumentMismatch" ? repeated(app)
                                                                     : "";
  return found.empty() ? refused(error.what()) : found;
}

bool complain(const CLI::App& app, const std::string& problem) {
  const std::string name = app.get_name();
  std::fprintf(stderr, "%s: %s (see %s --help)\n", name.c_str(), problem.c_str(), name.c_str());
  return false;
}

}  // namespace

bool parse_command_line(CLI::App* app, int argc, char** argv, int* exit_code) {
  *exit_code = kExitUsage;
  const Words words(argv + 1, argv + argc);
  app->set_version_flag("--version", std::string("hipops ") + hipops_version());
  app->formatter(std::make_shared<PlainFormatter>());
  app->allow_extras();  // CLI11 would name them from the last to the first
  std::string problem = empty_argument(words);
  if (problem.empty()) problem = wrong_option(*app, words);
  if (!problem.empty()) return complain(*app, problem);
  try {
    app->parse(argc, argv);
  } catch (const CLI::Success& wanted) {  // --help
    app->exit(wanted);
    *exit_code = kExitPassed;
    return false;
  } catch (const CLI::ParseError& error) {
    return complain(*app, problem_of(*app, words, error));
  }
  problem = stray(app->remaining());
  return problem.empty() || complain(*app, problem);
}

std::string is_not(const std::string& text, const std::string& expected) {
  return "is \"" + text + "\", expected " + expected;
}

std::string is_number(const std::string& text) {
  errno = 0;
  const uint64_t number = std::strtoull(text.c_str(), nullptr, 10);
  // CLI11 would read "010" as 8.
  const bool plain = errno == 0 && std::to_string(number) == text;
  return plain ? "" : is_not(text, "a whole number from 0 to 2^64 - 1");
}

std::string is_count(const std::string& text) {
  return text != "0" && is_number(text).empty() ? "" : is_not(text, "a whole number from 1 to 2^64 - 1");
}

std::string is_file(const std::string& text) {
  struct stat facts;
  if (stat(text.c_str(), &facts) != 0) return is_not(text, "a file: ") + std::strerror(errno);
  return S_ISDIR(facts.st_mode) ? is_not(text, "a file: it is a folder") : "";
}

Validator one_of(std::vector<std::string> names) {
  return [names = std::move(names)](const std::string& text) {
    if (std::find(names.begin(), names.end(), text) != names.end()) return std::string();
    std::string expected = "one of ";
    for (const std::string& name : names) expected += (&name == &names.front() ? "" : ", ") + name;
    return is_not(text, expected);
  };
}

Validator within(int64_t least, int64_t most) {
  return [least, most](const std::string& text) {
    errno = 0;
    const int64_t number = std::strtoll(text.c_str(), nullptr, 10);
    const bool plain = errno == 0 && std::to_string(number) == text;
    if (plain && number >= least && number <= most) return std::string();
    return is_not(text, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  };
}

}  // namespace hipops::parity
