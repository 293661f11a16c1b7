#include "inspect/inspection.h"

#include <fnmatch.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "inspect/occupancy.h"
#include "ops.h"
#include "parity/terminal.h"
#include "runtime/bundle.h"

namespace hipops::inspect {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Widths& widths) {
  Json json = Json::object();
  for (auto width = widths.rbegin(); width != widths.rend(); ++width)
    json[std::to_string(width->first)] = width->second;
  return json;
}

void add(const Widths& more, Widths* widths) {
  for (const auto& [bytes, count] : more) (*widths)[bytes] += count;
}

std::string hex(uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, number);
  return text;
}

// The bytes that a lane has requested at its first wait, in the loop with the fewest. Loops without loads do not count.
Loads least_before_wait(const MachineCode& code) {
  Loads least;
  for (const HotLoop& loop : code.hot) {
    const Loads& loads = loop.before_wait;
    if (loads.count > 0 && (least.count == 0 || loads.bytes < least.bytes)) least = loads;
  }
  return least;
}

// The same in the loop with the most.
Loads most_before_wait(const MachineCode& code) {
  Loads most;
  for (const HotLoop& loop : code.hot)
    if (loop.before_wait.bytes > most.bytes) most = loop.before_wait;
  return most;
}

// The bytes that a lane prefetches, which are in flight while the loop stores, and the number of loops with the
// maximum.
unsigned most_at_store(const MachineCode& code) {
  unsigned most = 0;
  for (const HotLoop& loop : code.hot) most = std::max(most, loop.at_store.count);
  return most;
}
unsigned loops_with_at_store(const MachineCode& code, unsigned loads) {
  return static_cast<unsigned>(std::count_if(code.hot.begin(), code.hot.end(), [loads](const HotLoop& loop) {
    return loads > 0 && loop.at_store.count == loads;
  }));
}

// The op whose name begins the kernel's name. The longest match, because both rope and rope_i are ops.
std::string op_of(const std::string& kernel) {
  std::string found;
  for (int i = 0; i < op_count; ++i) {
    const std::string name = all_ops[i]->name;
    if (kernel.rfind(name + "_", 0) == 0 && name.size() > found.size()) found = name;
  }
  return found;
}

bool selected(const std::string& filter, const std::string& name) { return filter.empty() || filter == name; }

class Inspector {
 public:
  explicit Inspector(const Selection& selection) : selection_(selection) {}

  void inspect(const unsigned char* bytes, size_t size) {
    if (!is_bundle(bytes, size)) return inspect_object(bytes, size);
    for (const BundleEntry& entry : read_bundle(bytes, size)) {
      if (!entry.target.empty() && selected(selection_.target, entry.target)) inspect_object(entry.bytes, entry.size);
    }
  }

  std::vector<Record> records() const { return records_; }

 private:
  bool is_selected(const Kernel& kernel) const {
    return selected(selection_.op, op_of(kernel.name)) &&
           (selection_.kernel.empty() || fnmatch(selection_.kernel.c_str(), kernel.name.c_str(), 0) == 0);
  }

  void inspect_object(const unsigned char* bytes, size_t size) {
    const CodeObject object = read_code_object(bytes, size);
    const auto& kernels = object.kernels;
    if (!selected(selection_.target, object.target) ||
        std::none_of(kernels.begin(), kernels.end(), [&](const Kernel& kernel) { return is_selected(kernel); }))
      return;
    const std::string objdump = find_objdump(selection_.objdump);
    const Functions functions = disassemble(objdump, bytes, size);
    for (const Kernel& kernel : kernels) {
      if (!is_selected(kernel)) continue;
      const auto code = functions.find(kernel.name);
      if (code == functions.end()) throw DisassemblyError(objdump + " shows no machine code of " + kernel.name);
      records_.push_back(
          record_of(op_of(kernel.name), object.target, kernel, machine_code(code->second, object.target)));
    }
  }

  const Selection& selection_;
  std::vector<Record> records_;
};

}  // namespace

Record record_of(const std::string& op, const std::string& target, const Kernel& kernel, const MachineCode& code) {
  const Occupancy waves = occupancy(kernel, hardware_of(target));
  const Loads before_wait = least_before_wait(code);
  const unsigned prefetched = most_at_store(code);
  Widths loads, stores;
  unsigned divisions = 0, wide_multiplies = 0;
  Json loops = Json::array();
  for (const HotLoop& loop : code.hot) {
    add(loop.loads, &loads);
    add(loop.stores, &stores);
    divisions += loop.divisions;
    wide_multiplies += loop.wide_multiplies;
    loops.push_back({{"address", loop.address},
                     {"loads", json_of(loop.loads)},
                     {"stores", json_of(loop.stores)},
                     {"loads_before_wait", loop.before_wait.count},
                     {"bytes_before_wait", loop.before_wait.bytes},
                     {"most_loads_under_way", loop.most_under_way.count},
                     {"most_bytes_under_way", loop.most_under_way.bytes},
                     {"loads_at_store", loop.at_store.count},
                     {"divisions", loop.divisions},
                     {"wide_multiplies", loop.wide_multiplies}});
  }
  Json atomics = Json::object();
  for (const auto& [mnemonic, count] : code.atomics) atomics[mnemonic] = count;
  return {{"op", op},
          {"target", target},
          {"kernel", kernel.name},
          {"block", kernel.largest_block},
          {"wave", kernel.wave},
          {"vgprs", kernel.vgprs},
          {"agprs", kernel.agprs.value_or(0)},
          {"sgprs", kernel.sgprs},
          {"lds_bytes", kernel.lds_bytes},
          {"scratch_bytes", kernel.scratch_bytes},
          {"spills", kernel.vgpr_spills + kernel.sgpr_spills},
          {"instructions", code.instructions},
          {"code", hex(code.hash)},
          {"waves_per_simd", waves.waves_per_simd},
          {"waves_limit", waves.limit},
          {"loads", json_of(code.loads)},
          {"stores", json_of(code.stores)},
          {"has_loop", code.has_loop},
          {"hot_loads", json_of(loads)},
          {"hot_stores", json_of(stores)},
          {"loads_before_wait", before_wait.count},
          {"bytes_before_wait", before_wait.bytes},
          {"most_bytes_before_wait", most_before_wait(code).bytes},
          {"loads_at_store", prefetched},
          {"prefetching_loops", loops_with_at_store(code, prefetched)},
          {"bytes_in_flight", std::lround(waves.waves_per_unit * static_cast<double>(kernel.wave * before_wait.bytes))},
          {"scalar_trips", code.scalar_trips.least},
          {"most_scalar_trips", code.scalar_trips.most},
          {"dpp", code.dpp},
          {"permlane", code.permlane},
          {"readlane", code.readlane},
          {"bpermute", code.bpermute},
          {"swizzle", code.swizzle},
          {"atomics", atomics},
          {"compare_swap_loops", code.compare_swap_loops},
          {"divisions", divisions},
          {"wide_multiplies", wide_multiplies},
          {"zero_addends", code.zero_addends},
          {"flat", code.flat},
          {"lds_accesses", code.lds},
          {"barriers", code.barriers},
          {"hot_loops", loops}};
}

std::vector<Record> inspect(const Selection& selection) {
  Inspector inspector(selection);
  for (const std::string& path : selection.files) {
    const auto bytes = read_file(path);
    try {
      inspector.inspect(bytes.data(), bytes.size());
    } catch (const CodeObjectError& problem) {
      throw CodeObjectError(path + ": " + problem.what());
    }
  }
  parity::Progress progress(static_cast<size_t>(image_count));
  for (int i = 0; selection.files.empty() && i < image_count; ++i) {
    const Image& image = all_images[i];
    if (image.hip_bundle == nullptr || !selected(selection.op, image.op)) continue;
    progress.show(static_cast<size_t>(i), image.op);
    Bundle bundle;
    if (open_bundle(image, &bundle) != HIPOPS_SUCCESS) throw CodeObjectError(hipops_last_error());
    inspector.inspect(bundle.bytes, bundle.size);
  }
  progress.clear();
  return inspector.records();
}

}  // namespace hipops::inspect
