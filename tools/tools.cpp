// The installed program with all tools. Each tool contains the library with the code objects, so six programs would be
// six times 21 MB. The program's name selects the tool, and hipops-parity and the others are links. The Python wheel's
// library calls hipops_tools_main (capi/python).
#include <cstdio>
#include <cstring>

extern "C" {
int parity_main(int argc, char** argv);
int bench_main(int argc, char** argv);
int tune_main(int argc, char** argv);
int inspect_main(int argc, char** argv);
int info_main(int argc, char** argv);
int fuzz_main(int argc, char** argv);
__attribute__((visibility("default"))) int hipops_tools_main(int argc, char** argv);
}

int hipops_tools_main(int argc, char** argv) {
  const struct {
    const char* name;
    int (*main)(int argc, char** argv);
  } tools[] = {{"hipops-parity", parity_main},
               {"hipops-bench", bench_main},
               {"hipops-tune", tune_main},
               {"hipops-inspect", inspect_main},
               {"hipops-info", info_main},
               {"hipops-fuzz", fuzz_main}};
  const char* slash = std::strrchr(argv[0], '/');
  const char* name = slash ? slash + 1 : argv[0];
  for (const auto& tool : tools)
    if (!std::strcmp(name, tool.name)) return tool.main(argc, argv);
  std::fprintf(stderr, "%s: expected one of these names:", name);
  for (const auto& tool : tools) std::fprintf(stderr, " %s", tool.name);
  std::fputs("\n", stderr);
  return 2;
}

int main(int argc, char** argv) { return hipops_tools_main(argc, argv); }
