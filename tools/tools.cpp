// All the tools in one program, which is what is installed: each carries the library with the code objects, so that
// six would be six times 21 MB. It is the tool by whose name it is called; hipops-parity and the others are links.
// The Python wheel's library has them by hipops_tools_main (capi/python).
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
