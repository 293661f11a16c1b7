// modes MODE LIBRARY: the library works with RTLD_LOCAL, RTLD_DEEPBIND and RTLD_GLOBAL.
#include <string>

#include "host.h"

int main(int argc, char** argv) {
  EXPECT(argc == 3);
  const std::string name = argv[1];
  const int mode = name == "local"      ? RTLD_NOW | RTLD_LOCAL
                   : name == "deepbind" ? RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND
                                        : RTLD_NOW | RTLD_GLOBAL;
  Library library(argv[2], mode);
  EXPECT((dlsym(RTLD_DEFAULT, "hipops_softmax") != nullptr) == (name == "global"));
  library.use();
  EXPECT(library.softmax(nullptr, nullptr, 0, nullptr) == HIPOPS_INVALID_ARGUMENT);
  EXPECT(std::strstr(library.last_error(), "softmax: ") == library.last_error());
}
