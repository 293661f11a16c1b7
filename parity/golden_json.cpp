#include "parity/golden_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "parity/golden.h"
#include "parity/number.h"

namespace hipops::parity::golden {
namespace {

constexpr int kMaxDepth = 16;     // a valid file needs 7: file, cases, case, inputs, tensor, values
constexpr size_t kMaxQuoted = 40;  // of an unknown name in a message

// The parser keeps the last of equal keys; a file with two equal keys is a mistake. The guard limits the depth before
// the parser builds an object.
class ParseGuard {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start) {
      if (depth >= kMaxDepth) throw Refusal{"nested deeper than " + std::to_string(kMaxDepth) + " levels"};
    }
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) throw Refusal{"field " + quote(key) + " twice in one object"};
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

void refuse(const std::string& field, const std::string& reason) { throw Refusal{field + ": " + reason}; }

std::string printable(const std::string& text, size_t most) {
  std::string safe;
  for (const char c : text.substr(0, most)) safe += c >= ' ' && c <= '~' ? c : '?';
  return safe + (text.size() > most ? "..." : "");
}

std::string quote(const std::string& text) { return "'" + printable(text, kMaxQuoted) + "'"; }

void expect_object(const Node& node) {
  if (!node.json.is_object()) refuse(node.path.empty() ? "top level" : node.path, "not an object");
}

void expect_array(const Node& node) {
  if (!node.json.is_array()) refuse(node.path, "not an array");
}

void expect_keys(const Node& node, const std::vector<std::string>& keys) {
  expect_object(node);
  for (const auto& item : node.json.items()) {
    if (std::find(keys.begin(), keys.end(), item.key()) == keys.end()) {
      refuse(node.path.empty() ? "top level" : node.path, "unknown field " + quote(item.key()));
    }
  }
}

std::string read_string(const Node& node) {
  if (!node.json.is_string()) refuse(node.path, "not a string");
  return node.json.get<std::string>();
}

int64_t read_int64(const Node& node) {
  if (!node.json.is_number_integer()) refuse(node.path, "not an integer");
  if (node.json.is_number_unsigned() && node.json.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) {
    refuse(node.path, "leaves int64");
  }
  return node.json.get<int64_t>();
}

double read_finite(const Node& node) {
  if (!node.json.is_number()) refuse(node.path, "not a number");
  const double value = node.json.get<double>();
  if (!std::isfinite(value)) refuse(node.path, "not finite");
  return value;
}

double read_not_negative(const Node& node) {
  const double value = read_finite(node);
  if (value < 0) refuse(node.path, "negative");
  return value;
}

double read_real(const Node& node) {
  if (node.json.is_number()) return node.json.get<double>();
  if (node.json.is_string()) {
    const std::string& name = node.json.get_ref<const std::string&>();
    if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (name == "inf") return std::numeric_limits<double>::infinity();
    if (name == "-inf") return -std::numeric_limits<double>::infinity();
  }
  refuse(node.path, "neither a number nor \"nan\", \"inf\", \"-inf\"");
}

uint64_t read_bits(const Node& node, hipops_dtype dtype) {
  uint64_t bits = 0;
  if (!is_float(dtype)) {
    if (!node.json.is_number_integer()) refuse(node.path, "not an integer");
    const bool fits = node.json.is_number_unsigned() ? encode_integer_exactly(dtype, node.json.get<uint64_t>(), &bits)
                                                     : encode_integer_exactly(dtype, node.json.get<int64_t>(), &bits);
    if (!fits) refuse(node.path, std::string("out of range for ") + dtype_name(dtype));
    return bits;
  }
  const double value = read_real(node);
  bits = encode(dtype, value);
  if (std::isnan(value) || decode(dtype, bits) == value) return bits;
  const char* what = std::fabs(value) > largest(dtype) ? "out of range for " : "not exactly representable in ";
  refuse(node.path, std::string(what) + dtype_name(dtype));
}

uint64_t read_seed(const Node& node) {
  if (!node.json.is_number_unsigned()) refuse(node.path, "not an integer of 0 to 2^64 - 1");
  return node.json.get<uint64_t>();
}

std::vector<int64_t> read_int64s(const Node& node, size_t most) {
  expect_array(node);
  if (node.json.size() > most) refuse(node.path, "more than " + std::to_string(most) + " entries");
  std::vector<int64_t> values;
  for (size_t i = 0; i < node.json.size(); ++i) values.push_back(read_int64(node.element(i)));
  return values;
}

void expect_length(const Node& node, int64_t length) {
  expect_array(node);
  if (node.json.size() == static_cast<uint64_t>(length)) return;
  refuse(node.path, std::to_string(node.json.size()) + " entries, expected " + std::to_string(length));
}

hipops_dtype read_dtype(const Node& node) {
  const std::string name = read_string(node);
  hipops_dtype dtype;
  if (!parse_dtype(name, &dtype)) refuse(node.path, "unknown dtype " + quote(name));
  return dtype;
}

Json parse(std::string_view text) {
  if (text.size() > kMaxGoldenBytes) throw Refusal{"larger than " + std::to_string(kMaxGoldenBytes >> 20) + " MiB"};
  try {
    ParseGuard guard;
    return Json::parse(text.begin(), text.end(),
                       [&](int depth, Json::parse_event_t event, Json& parsed) { return guard(depth, event, parsed); });
  } catch (const Json::exception& error) {
    throw Refusal{std::string("not JSON: ") + error.what()};
  }
}

}  // namespace hipops::parity::golden
