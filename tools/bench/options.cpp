#include "options.h"

#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <stdexcept>

#include "parity/command_line.h"
#include "parity/number.h"
#include "parity/ops.h"
#include "parity/options.h"
#include "runtime/runtime.h"
#include "table.h"

namespace hipops::bench {
namespace {

hipops_dtype dtype_of(const std::string& name) {
  hipops_dtype dtype = HIPOPS_NONE;
  parity::parse_dtype(name, &dtype);
  return dtype;
}

bool is_among(const std::string& name, const std::vector<std::string>& names) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

// "layer_norm, rms_norm and softmax"
std::string named(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

bool matches(const std::string& name, const Options& o) {
  return o.match.empty() || fnmatch(o.match.c_str(), name.c_str(), 0) == 0;
}

void declare(CLI::App* app, Options* o) {
  app->add_option("--backend", o->backend, "auto (without this: a GPU, of hip or cuda), cpu, hip or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "hip", "cuda"}))
      ->option_text("BACKEND");
  app->add_option("--op", o->ops, "only these ops, as rms_norm; with --shape its op")
      ->check(CLI::IsMember(parity::library_ops()))
      ->option_text("OP...");
  app->add_option("--dtype", o->dtypes, "only these dtypes, as bf16; with --shape its dtype")
      ->check(CLI::IsMember(parity::dtype_names()))
      ->option_text("DTYPE...");
  CLI::Option* shape = app->add_option("--shape", o->shapes,
                                       "instead of the table's rows, rows of these shapes: 16384x4096;\n"
                                       "'262144x256->16384' where y's size along --dim is another, or after\n"
                                       "upsampling; '16384x12288[:,4096:8192]' for a strided_copy of a slice")
                           ->option_text("SHAPE...");
  app->add_option("--dim", o->dim, "with --shape: dimension of the ops with an index (0)")
      ->needs(shape)
      ->option_text("N");
  app->add_option("--index", o->index, "with --shape: dtype of the index (i64)")
      ->needs(shape)
      ->check(CLI::IsMember({"u8", "i16", "i32", "u32", "i64"}))
      ->option_text("DTYPE");
  app->add_option("--permute", o->permute,
                  "with --shape: strided_copy's x is the memory with its dimensions\nin this order, as 0,2,1,3")
      ->needs(shape)
      ->delimiter(',')
      ->option_text("ORDER");
  app->add_option("--match", o->match, "only rows whose name matches this pattern (*, ?, [...])")
      ->option_text("PATTERN");
  app->add_option("--repeats", o->repeats, "timed calls; the median counts (15; in a sweep 5)")
      ->check(CLI::Range(1, 10000))
      ->option_text("N");
  CLI::Option* warm = app->add_flag("--warm", o->warm, "also the time with what fits left in the L2 cache");
  CLI::Option* host = app->add_flag("--host", o->host,
                                    "also the host's time for one call, beside the driver's own launch\nof the same "
                                    "kernels");
  app->add_flag("--sweep", o->sweep,
                "instead: " + named(sweep_ops()) + " over rows and columns\nfrom 1 to 2^18; not with --shape, --warm, --host")
      ->excludes(shape)
      ->excludes(warm)
      ->excludes(host);
  CLI::Option* list = app->add_flag("--list", o->list, "list the rows and run none; not with --json");
  app->add_option("--json", o->json, "write all figures to this file; -: to stdout, and the table to\nstderr")
      ->excludes(list)
      ->option_text("FILE");
  app->footer(
      "The roof is the fastest plain copy of the same number of bytes, half read and half written, in\n"
      "the same run. The cpu backend is for checking numbers: it is timed only with --backend cpu.\n"
      "\n"
      "Examples:\n"
      "  hipops-bench --backend hip\n"
      "  hipops-bench --op rms_norm --dtype bf16 --shape 37x2880 --warm --host\n"
      "  hipops-bench --sweep --dtype bf16 f32 --json sweep.json\n"
      "  hipops-bench --backend hip --json - | jq '.rows[] | .name, .share'\n"
      "\n"
      "Exit status:\n"
      "  0   done\n"
      "  1   a failure, or a sweep that found a shape under 75 % of the roof\n"
      "  2   bad usage, a wrong setting, or a file that cannot be written\n"
      "  77  the backend of --backend is missing, or there is no GPU; hipops-info prints the reason");
}

Workload row_of(const Options& o, const std::string& shape) {
  Workload work;
  work.op = o.ops[0];
  work.dtype = dtype_of(o.dtypes[0]);
  if (!o.index.empty()) work.index = dtype_of(o.index);
  work.dim = o.dim.value_or(0);
  work.order = o.permute;
  std::string problem = parse_shape(shape, &work);
  if (problem.empty() && (o.dim || !o.index.empty()) && !has_index(work.op))
    problem = "--dim and --index are for the ops with an index, not for " + work.op;
  if (problem.empty()) problem = check(work);
  if (!problem.empty()) throw std::invalid_argument("--shape " + shape + ": " + problem);
  work.name = default_name(work, shape);
  return work;
}

// Refuses ops that this build does not have.
void expect_built(const std::vector<std::string>& ops) {
  for (const std::string& op : ops)
    if (!find_image(op.c_str())) throw std::invalid_argument(parity::not_built(op));
}

}  // namespace

bool parse_options(int argc, char** argv, Options* options, int* exit_code) {
  CLI::App app("Times hipops beside a plain copy of the same bytes.", "hipops-bench");
  declare(&app, options);
  return parity::parse_command_line(&app, argc, argv, exit_code);
}

std::vector<Workload> selected(const Options& o) {
  std::vector<Workload> rows;
  expect_built(o.ops);
  if (!o.shapes.empty() && (o.ops.size() != 1 || o.dtypes.size() != 1))
    throw std::invalid_argument("--shape needs one --op and one --dtype");
  for (const std::string& shape : o.shapes) rows.push_back(row_of(o, shape));
  if (o.shapes.empty()) rows = table();
  std::vector<Workload> kept;
  for (const Workload& row : rows)
    if (find_image(row.op.c_str()) && is_among(row.op, o.ops) && is_among(parity::dtype_name(row.dtype), o.dtypes) &&
        matches(row.name, o))
      kept.push_back(row);
  if (kept.empty()) throw std::invalid_argument("no row of the table is selected; --list shows them");
  return kept;
}

std::vector<SweepJob> selected_jobs(const Options& o) {
  expect_built(o.ops);
  std::vector<std::string> ops;
  for (const std::string& op : sweep_ops())
    if (find_image(op.c_str()) && is_among(op, o.ops)) ops.push_back(op);
  std::vector<hipops_dtype> dtypes;
  for (const char* dtype : {"bf16", "f16", "f32", "f64"})
    if (is_among(dtype, o.dtypes)) dtypes.push_back(dtype_of(dtype));
  std::vector<SweepJob> kept;
  for (const SweepJob& job : sweep_jobs(ops, dtypes))
    if (matches(job.name(), o)) kept.push_back(job);
  if (kept.empty())
    throw std::invalid_argument(
        "no shape of the sweep is selected: it has " + named(sweep_ops()) +
        " of bf16, f16, f32 and f64; --list shows them");
  return kept;
}

}  // namespace hipops::bench
