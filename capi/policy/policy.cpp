#include "policy/policy.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "ops.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

using Json = nlohmann::json;

constexpr const char* kVariable = "HIPOPS_TUNING_FILE";
constexpr int kSchema = 1;
constexpr size_t kMostBytes = size_t{1} << 22;  // of a file

std::atomic<const Policy*> known[kMaxDevices] = {};
std::atomic<const Policy*> given{nullptr};
std::atomic<bool> has_complained{false};

size_t place_among(const std::vector<double>& bounds, double value) {
  const auto at = std::lower_bound(bounds.begin(), bounds.end(), value);
  return static_cast<size_t>(std::min(at, std::prev(bounds.end())) - bounds.begin());
}

// ---- From JSON. What is wrong with a file is thrown as a Json::exception or a std::runtime_error.

[[noreturn]] void wrong(const std::string& what) { throw std::runtime_error(what); }

RowLayout layout_of(const std::string& name) {
  if (name == "aligned") return RowLayout::aligned;
  if (name == "unaligned") return RowLayout::unaligned;
  if (name == "strided") return RowLayout::strided;
  if (name == "packed") return RowLayout::packed;
  wrong("layout is \"" + name + "\", expected aligned, unaligned, strided or packed");
}

std::vector<double> bounds_of(const Json& entry, const char* name) {
  const auto bounds = entry.at(name).get<std::vector<double>>();
  const auto rises_to = [](double a, double b) { return !(a < b); };
  if (bounds.empty() || std::adjacent_find(bounds.begin(), bounds.end(), rises_to) != bounds.end())
    wrong(std::string(name) + " are not ascending numbers");
  return bounds;
}

// "aligned_512x2", or "aligned_cluster:4". False where the library or the device has no such kernel.
bool parse_choice(const std::string& text, const RowTable& table, const DeviceFacts& device, RowChoice* choice) {
  const size_t colon = text.find(':');
  const std::string kernel = std::string(table.op->name) + "_" + dtype_name(table.dtype) + "_" + text.substr(0, colon);
  const auto names = table.op->kernel_names;
  const auto at = std::find(names, names + table.op->kernel_count, kernel);
  choice->kernel = static_cast<int>(at - names);
  choice->cluster = colon == std::string::npos ? 1 : std::atoi(text.c_str() + colon + 1);
  const int cluster = choice->cluster;
  return choice->kernel < table.op->kernel_count && cluster >= 1 && cluster <= device.largest_cluster && (cluster & (cluster - 1)) == 0;
}

void read_rows(const Json& entry, const DeviceFacts& device, Policy* policy, std::string* left_out) {
  const std::string name = entry.at("op");
  const int bytes = entry.at("bytes");
  const auto choices = entry.at("kernels").get<std::vector<std::vector<std::string>>>();
  RowTable table = {nullptr, HIPOPS_NONE, layout_of(entry.at("layout")), bounds_of(entry, "vectors"),
                    bounds_of(entry, "rows_per_unit"), {}};
  const auto has_all = [&](const auto& list) { return list.size() == table.rows_per_unit.size(); };
  if (choices.size() != table.vectors.size() || !std::all_of(choices.begin(), choices.end(), has_all))
    wrong("kernels are not a list for each of vectors, of one for each of rows_per_unit");
  for (int i = 0; i < op_count; ++i)
    if (name == all_ops[i]->name && all_ops[i]->rows) table.op = all_ops[i];
  if (!table.op) *left_out = "there is no row op \"" + name + "\"";
  for (const hipops_dtype dtype : {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64}) {
    if (!table.op || dtype_bytes(dtype) != bytes) continue;
    table.dtype = dtype;
    table.choices.clear();
    bool all_there = true;
    for (const auto& list : choices)
      for (const std::string& text : list) {
        const bool is_there = parse_choice(text, table, device, &table.choices.emplace_back());
        if (!is_there) *left_out = name + " has no kernel \"" + text + "\" for " + dtype_name(dtype) + " on this device";
        all_there = all_there && is_there;
      }
    if (all_there) policy->rows.push_back(table);
  }
}

void read(const Json& json, const DeviceFacts& device, Policy* policy, std::string* left_out) {
  if (!json.is_object() || !json.contains("schema")) wrong("it is not a table of hipops-tune");
  if (json["schema"] != kSchema)
    wrong("its schema is " + json["schema"].dump() + ", expected " + std::to_string(kSchema) + ": hipops-tune writes it anew");
  const std::string target = json.at("target"), measured_on = json.at("measured").at("device");
  if (target != device.target)
    wrong("it is for " + target + " (" + measured_on + "), and the device is " + device.target + " (" + device.name + ")");
  for (const Json& entry : json.at("rows")) read_rows(entry, device, policy, left_out);
  policy->origin = "measured on " + measured_on;
}

void complain(const char* path, const std::string& what, const char* then) {
  if (!has_complained.exchange(true)) std::fprintf(stderr, "hipops: %s=%s: %s; %s\n", kVariable, path, what.c_str(), then);
}

// The file's text; empty where there is none.
std::string contents(const char* path) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path, "re"), close);
  std::string text(file ? kMostBytes : 0, '\0');
  text.resize(file ? std::fread(text.data(), 1, text.size(), file.get()) : 0);
  return text;
}

}  // namespace

const RowChoice* Policy::find(const Op& op, const RowProblem& problem, const DeviceNumbers& device) const {
  for (const RowTable& table : rows) {
    if (table.op != &op || table.dtype != problem.dtype || table.layout != problem.layout) continue;
    const int64_t vectors = (problem.cols * dtype_bytes(problem.dtype) + kWideAccess - 1) / kWideAccess;
    const size_t column = place_among(table.vectors, static_cast<double>(vectors));
    const double rows_per_unit = static_cast<double>(problem.rows) / device.units;
    return &table.choices[column * table.rows_per_unit.size() + place_among(table.rows_per_unit, rows_per_unit)];
  }
  return nullptr;
}

std::string read_policy(const std::string& text, const DeviceFacts& device, Policy* policy, std::string* left_out) {
  try {
    read(Json::parse(text), device, policy, left_out);
    return "";
  } catch (const std::exception& problem) {
    return problem.what();
  }
}

std::unique_ptr<Policy> read_policy_of(const DeviceFacts& device) {
  const char* path = secure_getenv(kVariable);
  if (!path || !*path) return std::make_unique<Policy>();
  auto policy = std::make_unique<Policy>();
  const std::string text = contents(path);
  std::string left_out, problem = "it is no file that can be read, or empty";
  if (!text.empty()) problem = read_policy(text, device, policy.get(), &left_out);
  if (!problem.empty()) {
    complain(path, problem, "the default policy is used");
    return std::make_unique<Policy>();
  }
  if (!left_out.empty()) complain(path, left_out, "the default policy is used for it");
  policy->origin = std::string(path) + ", " + policy->origin;
  return policy;
}

const Policy* policy_of(const DeviceFacts& device) {
  if (const Policy* policy = given.load(std::memory_order_acquire)) return policy;
  std::atomic<const Policy*>& place = known[device.ordinal];
  if (const Policy* policy = place.load(std::memory_order_acquire)) return policy;
  try {
    std::unique_ptr<Policy> read = read_policy_of(device);
    const Policy* before = nullptr;
    return place.compare_exchange_strong(before, read.get()) ? read.release() : before;
  } catch (const std::exception&) {
    return nullptr;
  }
}

const Policy* use_policy(const Policy* policy) { return given.exchange(policy, std::memory_order_acq_rel); }

}  // namespace hipops
