#include "inspect/options.h"

#include <CLI/CLI.hpp>

#include "hipops/hipops.h"
#include "parity/command_line.h"
#include "parity/program.h"

namespace hipops::inspect {
namespace {

void declare(CLI::App* app, Options* options) {
  Selection& selection = options->selection;
  app->add_option("FILE", selection.files, "code objects (.co) or bundles (.hipfb); default: the library's")
      ->check(CLI::ExistingFile)
      ->option_text("...");
  app->add_option("--op", selection.op, "only this op, as softmax")
      ->check(CLI::IsMember(parity::library_ops()))
      ->option_text("OP");
  app->add_option("--target", selection.target, "only this target, as gfx942 or gfx11-generic")->option_text("TARGET");
  app->add_option("--kernel", selection.kernel, "only kernels whose name matches this pattern (*, ?, [...])")
      ->option_text("PATTERN");
  app->add_option("--json", options->json, "write all figures to this file; -: to stdout, and the table to\nstderr")->option_text("FILE");
  app->add_option("--check", options->check, "instead of a table: the broken budgets of this file")
      ->option_text("FILE");
  app->add_option("--objdump", selection.objdump,
                  "the llvm-objdump to use (also: HIPOPS_OBJDUMP); default: the\nllvm-objdump of the build's compiler")
      ->option_text("PROGRAM");
  app->footer(
      "Columns:\n"
      "registers; bytes of LDS and of scratch; waves a SIMD, and their limit. Of the hot loops, or,\n"
      "without a loop, of all the code: loads and stores of global memory (16x4: four of 16 bytes); loads and their\n"
      "bytes for a lane before the first wait, and the bytes for a CU with all its waves; integer divisions and\n"
      "64-bit multiplies. Of all the code: instructions between lanes, atomics on global memory.\n"
      "See docs/design/inspect.md.\n"
      "\n"
      "Examples:\n"
      "  hipops-inspect --op softmax --target gfx942 --kernel '*_bf16_aligned_*'\n"
      "  hipops-inspect --check budgets.json\n"
      "  hipops-inspect rope.co --json rope.json\n"
      "\n"
      "Exit status:\n"
      "  0   good\n"
      "  1   a budget is broken\n"
      "  2   bad usage, or a file that cannot be read, disassembled or written");
}

}  // namespace

bool parse_options(int argc, char** argv, Options* options, int* exit_code) {
  CLI::App app("Prints figures of the machine code of AMD kernels.", "hipops-inspect");
  declare(&app, options);
  return parity::parse_command_line(&app, argc, argv, exit_code);
}

}  // namespace hipops::inspect
