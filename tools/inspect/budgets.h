// Limits for kernels' figures, from a file. docs/design/inspect.md describes it.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "inspect/inspection.h"

namespace hipops::inspect {

// The kernels of a part of the file. An empty list means all.
struct Scope {
  std::vector<std::string> ops, kernels, targets;  // `kernels`: patterns

  bool covers(const Record& record) const;
};

// The limit of one figure.
struct Limit {
  enum class Kind { kMost, kLeast, kOnly };
  std::string figure;
  Kind kind;
  double number = 0;            // kMost, kLeast
  std::vector<unsigned> widths;  // kOnly: the allowed widths of a figure that counts by widths
};

struct Rule {
  Scope scope;
  std::vector<Limit> limits;
};

// Widths that are allowed for some kernels, in addition to a rule's kOnly.
struct Exception {
  Scope scope;
  std::string figure;
  std::vector<unsigned> widths;
};

// A known broken limit.
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

// Throws BudgetsError with the error in the text.
Budgets parse_budgets(const std::string& text);

struct Verdict {
  size_t held = 0;                    // limits
  size_t known = 0;                   // known broken limits
  std::vector<std::string> problems;  // a line for each broken limit, and for each entry of the file without use
};

// `whole`: the records have all kernels of a target, so that a part of the file without a kernel is a problem. Throws
// BudgetsError if a rule names an unknown figure.
Verdict check(const Budgets& budgets, const std::vector<Record>& records, bool whole);

}  // namespace hipops::inspect
