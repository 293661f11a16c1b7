#include "inspect/budgets.h"

#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "inspect/report.h"

namespace hipops::inspect {
namespace {

using Json = nlohmann::json;

// ---- Reading

void only_keys(const Json& part, const std::string& where, const std::set<std::string>& keys) {
  if (!part.is_object()) throw BudgetsError(where + ": expected an object");
  for (const auto& entry : part.items()) {
    if (keys.count(entry.key()) == 0) throw BudgetsError(where + ": unknown key \"" + entry.key() + "\"");
  }
}

std::string text_at(const Json& part, const std::string& where, const char* key) {
  if (!part.contains(key) || !part.at(key).is_string() || part.at(key).get<std::string>().empty())
    throw BudgetsError(where + ": \"" + key + "\" is missing, as text");
  return part.at(key);
}

std::vector<std::string> texts_at(const Json& part, const std::string& where, const char* key) {
  if (!part.contains(key)) return {};
  try {
    return part.at(key).get<std::vector<std::string>>();
  } catch (const Json::exception&) {
    throw BudgetsError(where + ": \"" + key + "\" must be a list of texts");
  }
}

std::vector<unsigned> widths_of(const Json& list, const std::string& where) {
  const auto is_width = [](const Json& width) { return width.is_number_unsigned() && width > 0 && width <= 16; };
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), is_width))
    throw BudgetsError(where + ": widths must be a list of numbers of bytes, 1 to 16");
  return list.get<std::vector<unsigned>>();
}

// The parser keeps the last of equal keys. A file with two is a mistake.
class ExpectOneOfEach {
 public:
  bool operator()(int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key && !keys_.back().insert(parsed.get<std::string>()).second)
      throw BudgetsError("\"" + parsed.get<std::string>() + "\" twice in one object");
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

Scope scope_of(const Json& part, const std::string& where) {
  return {texts_at(part, where, "ops"), texts_at(part, where, "kernels"), texts_at(part, where, "targets")};
}

void read_limits(const Json& part, const std::string& where, const char* key, Limit::Kind kind,
                 std::vector<Limit>* limits) {
  if (!part.contains(key)) return;
  if (!part.at(key).is_object()) throw BudgetsError(where + ": \"" + key + "\" must name figures");
  for (const auto& entry : part.at(key).items()) {
    Limit limit;
    limit.figure = entry.key();
    limit.kind = kind;
    if (kind == Limit::Kind::kOnly) {
      limit.widths = widths_of(entry.value(), where);
    } else if (entry.value().is_number()) {
      limit.number = entry.value();
    } else {
      throw BudgetsError(where + ": the limit of \"" + limit.figure + "\" must be a number");
    }
    limits->push_back(limit);
  }
}

template <class Read>
void for_each_part(const Json& file, const char* key, Read read) {
  if (!file.contains(key)) return;
  if (!file.at(key).is_array()) throw BudgetsError(std::string("\"") + key + "\" must be a list");
  size_t i = 0;
  for (const Json& part : file.at(key)) read(part, std::string(key) + "[" + std::to_string(i++) + "]");
}

// ---- Checking

bool any_matches(const std::vector<std::string>& patterns, const std::string& name) {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
           return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
         });
}

std::string list_of(const std::vector<unsigned>& widths) {
  std::string text;
  for (const unsigned width : widths) text += (text.empty() ? "" : ", ") + std::to_string(width);
  return text;
}

const Record& figure_of(const Record& record, const std::string& name) {
  if (!record.contains(name)) throw BudgetsError("there is no figure \"" + name + "\"");
  return record.at(name);
}

// Empty if the limit holds. Otherwise the figure and the limit.
std::string breach(const Limit& limit, const Record& record, const std::vector<Exception>& exceptions) {
  const Record& figure = figure_of(record, limit.figure);
  if (limit.kind != Limit::Kind::kOnly) {
    if (!figure.is_number()) throw BudgetsError("\"" + limit.figure + "\" is no number");
    const double value = figure;
    const bool most = limit.kind == Limit::Kind::kMost;
    if (most ? value <= limit.number : value >= limit.number) return "";
    return number_text(value) + ", limit: at " + (most ? "most " : "least ") + number_text(limit.number);
  }
  if (!figure.is_object()) throw BudgetsError("\"" + limit.figure + "\" does not count by widths");
  std::vector<unsigned> allowed = limit.widths;
  for (const Exception& exception : exceptions) {
    if (exception.figure == limit.figure && exception.scope.covers(record))
      allowed.insert(allowed.end(), exception.widths.begin(), exception.widths.end());
  }
  const auto counts = [](const std::string& key) { return key.find_first_not_of("0123456789") == std::string::npos; };
  for (const auto& entry : figure.items())
    if (!counts(entry.key())) throw BudgetsError("\"" + limit.figure + "\" does not count by widths");
  const auto has = [](const std::vector<unsigned>& widths, const std::string& bytes) {
    return std::count(widths.begin(), widths.end(), std::stoul(bytes)) > 0;
  };
  bool has_limit = figure.empty(), all = true;
  for (const auto& entry : figure.items()) {
    has_limit = has_limit || has(limit.widths, entry.key());
    all = all && has(allowed, entry.key());
  }
  if (has_limit && all) return "";
  return widths_text(figure) + ", limit: " + list_of(limit.widths) + " bytes" +
         (allowed.size() > limit.widths.size() ? ", with some of " + list_of(allowed) : "");
}

std::string name_of(const Record& record) {
  return record.at("target").get<std::string>() + " " + record.at("kernel").get<std::string>();
}

template <class T>
std::string numbered(const char* list, const std::vector<T>& parts, const T& part) {
  return std::string(list) + "[" + std::to_string(&part - parts.data()) + "]";
}

// Whether a part without a kernel is a problem: its targets are among the records.
bool should_cover(const Scope& scope, const std::vector<Record>& records) {
  return std::any_of(records.begin(), records.end(), [&](const Record& record) {
    return any_matches(scope.targets, record.at("target"));
  });
}

}  // namespace

bool Scope::covers(const Record& record) const {
  const std::string op = record.at("op");
  return (ops.empty() || std::count(ops.begin(), ops.end(), op) > 0) && any_matches(kernels, record.at("kernel")) &&
         any_matches(targets, record.at("target"));
}

Budgets parse_budgets(const std::string& text) {
  Json file;
  try {
    file = Json::parse(text, ExpectOneOfEach(), true, true);  // with comments
  } catch (const Json::exception& problem) {
    throw BudgetsError(problem.what());
  }
  only_keys(file, "the file", {"rules", "exceptions", "known"});
  Budgets budgets;
  for_each_part(file, "rules", [&](const Json& part, const std::string& where) {
    only_keys(part, where, {"ops", "kernels", "targets", "reason", "most", "least", "only"});
    Rule rule{scope_of(part, where), {}};
    read_limits(part, where, "most", Limit::Kind::kMost, &rule.limits);
    read_limits(part, where, "least", Limit::Kind::kLeast, &rule.limits);
    read_limits(part, where, "only", Limit::Kind::kOnly, &rule.limits);
    if (rule.limits.empty()) throw BudgetsError(where + ": expected \"most\", \"least\" or \"only\"");
    budgets.rules.push_back(rule);
  });
  for_each_part(file, "exceptions", [&](const Json& part, const std::string& where) {
    only_keys(part, where, {"ops", "kernels", "targets", "reason", "figure", "widths"});
    text_at(part, where, "reason");
    if (!part.contains("widths")) throw BudgetsError(where + ": \"widths\" is missing");
    budgets.exceptions.push_back(
        {scope_of(part, where), text_at(part, where, "figure"), widths_of(part.at("widths"), where)});
  });
  for_each_part(file, "known", [&](const Json& part, const std::string& where) {
    only_keys(part, where, {"ops", "kernels", "targets", "reason", "figure"});
    text_at(part, where, "reason");
    budgets.known.push_back({scope_of(part, where), text_at(part, where, "figure")});
  });
  if (budgets.rules.empty()) throw BudgetsError("\"rules\" must have at least one entry");
  return budgets;
}

Verdict check(const Budgets& budgets, const std::vector<Record>& records, bool whole) {
  Verdict verdict;
  std::set<const void*> used;
  for (const Record& record : records) {
    std::set<std::string> broken;
    const auto is_known = [&](const std::string& figure) {
      return std::any_of(budgets.known.begin(), budgets.known.end(), [&](const Known& known) {
        return known.figure == figure && known.scope.covers(record);
      });
    };
    for (const Rule& rule : budgets.rules) {
      if (!rule.scope.covers(record)) continue;
      used.insert(&rule);
      for (const Limit& limit : rule.limits) {
        const std::string problem = breach(limit, record, budgets.exceptions);
        if (problem.empty()) {
          ++verdict.held;
          continue;
        }
        broken.insert(limit.figure);
        if (is_known(limit.figure)) {
          ++verdict.known;
        } else {
          verdict.problems.push_back(name_of(record) + ": " + limit.figure + " is " + problem);
        }
      }
    }
    for (const Exception& exception : budgets.exceptions) {
      if (exception.scope.covers(record)) used.insert(&exception);
    }
    for (const Known& known : budgets.known) {
      if (!known.scope.covers(record)) continue;
      used.insert(&known);
      if (broken.count(known.figure) > 0) continue;
      verdict.problems.push_back(name_of(record) + ": " + known.figure + " keeps its limit: remove it from " +
                                 numbered("known", budgets.known, known));
    }
  }
  if (!whole) return verdict;
  const auto idle = [&](const char* list, const auto& parts) {
    for (const auto& part : parts) {
      if (used.count(&part) == 0 && should_cover(part.scope, records))
        verdict.problems.push_back(numbered(list, parts, part) + " covers no kernel");
    }
  };
  idle("rules", budgets.rules);
  idle("exceptions", budgets.exceptions);
  idle("known", budgets.known);
  return verdict;
}

}  // namespace hipops::inspect
