// Limits for kernels' figures, from a file. docs/design/inspect.md describes it.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "inspect/inspection.h"

namespace hipops::inspect {

// Which kernels a part of the file is about. Empty lists: all.
struct Scope {
  std::vector<std::string> ops, kernels, targets;  // `kernels`: patterns

  bool covers(const Record& record) const;
};

// What one figure must be.
struct Limit {
  enum class Kind { kMost, kLeast, kOnly };
  std::string figure;
  Kind kind;
  double number = 0;            // kMost, kLeast
  std::vector<unsigned> widths;  // kOnly: of a figure that counts by widths; some of these, and no others
};

struct Rule {
  Scope scope;
  std::vector<Limit> limits;
};

// Widths that a rule's kOnly does not name, and that are right there.
struct Exception {
  Scope scope;
  std::string figure;
  std::vector<unsigned> widths;
};

// A limit that is known to be broken.
struct Known {
  Scope scope;
  std::string figure;
};

struct Budgets {
  std::vector<Rule> rules;
  std::vector<Exception> exceptions;
  std::vector<Known> known;
};

class BudgetsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws BudgetsError, which says what is wrong with the text.
Budgets parse_budgets(const std::string& text);

struct Verdict {
  size_t held = 0;                    // limits
  size_t known = 0;                   // limits that are broken, and known to be
  std::vector<std::string> problems;  // a line each: broken limits, and entries of the file that have become idle
};

// `whole`: all kernels of a target are among the records, so that a part of the file that covers none is a problem.
// Throws BudgetsError where a rule names a figure that there is not.
Verdict check(const Budgets& budgets, const std::vector<Record>& records, bool whole);

}  // namespace hipops::inspect
