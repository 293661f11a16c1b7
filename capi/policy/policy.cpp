#include "policy/policy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "ops.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

using Json = nlohmann::json;

constexpr const char* kVariable = "HIPOPS_TUNING_FILE";
constexpr int kSchema = 1;
constexpr off_t kMostBytes = off_t{1} << 22;  // of a file

std::atomic<const Policy*> known[kMaxDevices] = {};
std::atomic<bool> has_complained{false};
std::atomic<const PlanOptions*> replaced_options{nullptr};

size_t place_among(const std::vector<double>& bounds, double value) {
  return static_cast<size_t>(std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin());
}

// ---- From JSON. An error in a file is thrown as a Json::exception or a std::runtime_error.

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

// Parses for example "aligned_512x2" or "aligned_cluster:4". False if the library or the device has no such kernel.
bool parse_choice(const std::string& text, const RowTable& table, const DeviceFacts& device, RowChoice* choice) {
  const size_t colon = std::min(text.find(':'), text.size());
  if (text == "default") {
    *choice = kDefaultChoice;
    return true;
  }
  const std::string kernel = std::string(table.op->name) + "_" + dtype_name(table.dtype) + "_" + text.substr(0, colon);
  const auto names = table.op->kernel_names;
  choice->kernel = static_cast<int>(std::find(names, names + table.op->kernel_count, kernel) - names);
  if (choice->kernel == table.op->kernel_count) return false;
  const RowBody body = row_kernels_of(*table.op)->kernel[choice->kernel].body;
  if (body == RowBody::merged || (colon < text.size() && body != RowBody::cluster)) return false;
  choice->cluster = 1;
  if (colon == text.size()) return true;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, choice->cluster);
  const int cluster = choice->cluster;
  return error == std::errc() && stop == end && cluster >= 1 && cluster <= device.largest_cluster && (cluster & (cluster - 1)) == 0;
}

// Returns the reason to leave the entry out, or "".
std::string read_rows(const Json& entry, const DeviceFacts& device, Policy* policy) {
  const std::string name = entry.at("op");
  const Json& bytes = entry.at("bytes");
  if (bytes != 2 && bytes != 4 && bytes != 8) wrong("bytes of an entry are not 2, 4 or 8");
  const auto choices = entry.at("kernels").get<std::vector<std::vector<std::string>>>();
  RowTable table = {nullptr, HIPOPS_NONE, layout_of(entry.at("layout")), bounds_of(entry, "vectors"),
                    bounds_of(entry, "rows_per_unit"), {}};
  const auto has_all = [&](const auto& list) { return list.size() == table.rows_per_unit.size(); };
  if (choices.size() != table.vectors.size() || !std::all_of(choices.begin(), choices.end(), has_all))
    wrong("kernels are not a list for each of vectors, of one for each of rows_per_unit");
  for (int i = 0; i < op_count; ++i)
    if (name == all_ops[i]->name && row_kernels_of(*all_ops[i])) table.op = all_ops[i];
  if (!table.op) return "there is no row op \"" + name + "\"";
  std::vector<RowTable> of_dtypes;
  for (const hipops_dtype dtype : {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64}) {
    if (bytes != dtype_bytes(dtype)) continue;
    RowTable& own = of_dtypes.emplace_back(table);
    own.dtype = dtype;
    for (const auto& list : choices)
      for (const std::string& text : list)
        if (!parse_choice(text, own, device, &own.choices.emplace_back()))
          return name + " has no kernel \"" + text + "\" for " + dtype_name(dtype) + " on this device";
  }
  policy->rows.insert(policy->rows.end(), of_dtypes.begin(), of_dtypes.end());
  return "";
}

void read(const Json& json, const DeviceFacts& device, Policy* policy) {
  if (!json.is_object() || !json.contains("schema")) wrong("it is not a table of hipops-tune");
  const Json& schema = json["schema"];
  if (schema != kSchema)
    wrong("its schema is " + (schema.is_number() ? schema.dump() : "no number") + ", expected " + std::to_string(kSchema) +
          ": hipops-tune writes it again");
  const std::string target = json.at("target"), measured_on = json.at("measured").at("device");
  if (target != device.target)
    wrong("it is for " + target + " (" + measured_on + "), and the device is " + device.target + " (" + device.name + ")");
  std::string first;
  int left_out = 0;
  for (const Json& entry : json.at("rows")) {
    const std::string why = read_rows(entry, device, policy);
    if (!why.empty() && left_out++ == 0) first = why;
  }
  if (policy->rows.empty()) wrong("no entry of it can be used" + (first.empty() ? "" : ": " + first));
  if (left_out > 0) policy->complaint = std::to_string(left_out) + " of its entries are left out, as " + first;
  policy->origin = "measured on " + measured_on;
}

// Makes the text of a file safe to print as one line on a terminal.
std::string in_a_line(std::string text) {
  constexpr size_t kMost = 300;
  if (text.size() > kMost) text = text.substr(0, kMost) + " ...";
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  return text;
}

// Returns the error of the file, or "".
std::string read_text(const char* path, std::string* text) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must not be waited for
  if (file < 0) return std::string("it cannot be opened: ") + std::strerror(errno);
  struct stat about = {};
  std::string problem;
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) problem = "it is not a regular file";
  else if (about.st_size > kMostBytes) problem = "it is larger than 4 MiB";
  else text->resize(static_cast<size_t>(about.st_size));
  size_t got = 0;
  while (problem.empty() && got < text->size()) {
    const ssize_t more = ::read(file, text->data() + got, text->size() - got);
    if (more < 0) problem = std::string("it cannot be read: ") + std::strerror(errno);
    if (more <= 0) break;
    got += static_cast<size_t>(more);
  }
  text->resize(got);
  close(file);
  return problem;
}

}  // namespace

const RowChoice* Policy::find(const Op& op, const RowProblem& problem, const DeviceNumbers& device) const {
  for (const RowTable& table : rows) {
    if (table.op != &op || table.dtype != problem.dtype || table.layout != problem.layout) continue;
    const int64_t vectors = (problem.cols * dtype_bytes(problem.dtype) + kWideAccess - 1) / kWideAccess;
    const double rows_per_unit = static_cast<double>(problem.rows) / device.units;
    if (static_cast<double>(vectors) > table.vectors.back() || rows_per_unit > table.rows_per_unit.back()) return nullptr;
    const size_t column = place_among(table.vectors, static_cast<double>(vectors));
    const RowChoice& choice = table.choices[column * table.rows_per_unit.size() + place_among(table.rows_per_unit, rows_per_unit)];
    return choice.kernel == kDefaultChoice.kernel ? nullptr : &choice;
  }
  return nullptr;
}

std::string read_policy(const std::string& text, const DeviceFacts& device, Policy* policy) {
  try {
    read(Json::parse(text), device, policy);
    return "";
  } catch (const std::exception& problem) {
    return problem.what();
  }
}

std::unique_ptr<Policy> read_policy_of(const DeviceFacts& device) {
  auto policy = std::make_unique<Policy>();
  const char* path = secure_getenv(kVariable);
  if (!path || !*path) return policy;
  std::string text, problem = read_text(path, &text);
  if (problem.empty()) problem = read_policy(text, device, policy.get());
  if (!problem.empty()) {
    policy = std::make_unique<Policy>();
    policy->complaint = problem;
  } else {
    policy->origin = in_a_line(path + (", " + policy->origin));
  }
  if (!policy->complaint.empty())
    policy->complaint = in_a_line(std::string(kVariable) + "=" + path) + ": " + in_a_line(policy->complaint) + "; the default policy is used" +
                        (problem.empty() ? " for them" : "");
  return policy;
}

const Policy* policy_of(const DeviceFacts& device) {
  std::atomic<const Policy*>& place = known[device.ordinal];
  if (const Policy* policy = place.load(std::memory_order_acquire)) return policy;
  try {
    std::unique_ptr<Policy> read = read_policy_of(device);
    const Policy* before = nullptr;
    if (!place.compare_exchange_strong(before, read.get())) return before;
    if (!read->complaint.empty() && !has_complained.exchange(true)) std::fprintf(stderr, "hipops: %s\n", read->complaint.c_str());
    return read.release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

PlanOptions plan_options() {
  const PlanOptions* options = replaced_options.load(std::memory_order_acquire);
  return options ? *options : PlanOptions{};
}

PlanOptions plan_options(const DeviceFacts& device) {
  PlanOptions options = plan_options();
  if (!options.policy) options.policy = policy_of(device);
  return options;
}

const PlanOptions* replace_plan_options(const PlanOptions* options) { return replaced_options.exchange(options); }

}  // namespace hipops
