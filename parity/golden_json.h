// A golden file's JSON and its parts, each with its path in the file. A reader throws if a part is malformed.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hipops/hipops.h"

namespace hipops::parity::golden {

using Json = nlohmann::json;

// Thrown while a file is read; read_golden adds the file and the case.
struct Refusal {
  std::string reason;
};

[[noreturn]] void refuse(const std::string& field, const std::string& reason);

// Text that may contain parts of the file, as one line of at most `most` printable ASCII characters.
std::string printable(const std::string& text, size_t most);
std::string quote(const std::string& text);

// An object or array of the file together with its path, such as "inputs.x.shape".
struct Node {
  const Json& json;
  std::string path;

  Node child(const std::string& key) const {
    const auto found = json.find(key);
    if (found == json.end()) refuse(below(key), "missing");
    return {*found, below(key)};
  }
  std::optional<Node> optional_child(const std::string& key) const {
    const auto found = json.find(key);
    if (found == json.end()) return std::nullopt;
    return Node{*found, below(key)};
  }
  Node element(size_t i) const { return {json[i], path + "[" + std::to_string(i) + "]"}; }
  std::string below(const std::string& key) const { return path.empty() ? key : path + "." + key; }
};

void expect_object(const Node& node);
void expect_array(const Node& node);
void expect_length(const Node& node, int64_t length);                       // an array
void expect_keys(const Node& node, const std::vector<std::string>& keys);  // an object with no other key

std::string read_string(const Node& node);
int64_t read_int64(const Node& node);
double read_finite(const Node& node);
double read_not_negative(const Node& node);
double read_real(const Node& node);  // a number or "nan", "inf", "-inf"
uint64_t read_seed(const Node& node);
std::vector<int64_t> read_int64s(const Node& node, size_t most);
hipops_dtype read_dtype(const Node& node);

// One value of an integer tensor, or of a float tensor that must be exact.
uint64_t read_bits(const Node& node, hipops_dtype dtype);

template <typename T, typename Read>
std::vector<T> read_list(const Node& node, int64_t length, Read read) {
  expect_length(node, length);
  std::vector<T> values;
  values.reserve(node.json.size());
  for (size_t i = 0; i < node.json.size(); ++i) values.push_back(read(node.element(i)));
  return values;
}

// Before it builds any object, refuses a text that is too long or too deep, or an object with two equal keys.
Json parse(std::string_view text);

}  // namespace hipops::parity::golden
