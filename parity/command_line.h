// Reads the command lines of the tools. The message for a wrong one is the program's name, then CLI11's sentence.
// hipops-inspect is linked with this file, and without the rest of parity.
#pragma once

namespace CLI {
class App;
}

namespace hipops::parity {

// Reads a command line, and adds --version to it. Returns true if the program goes on: *exit_code is then the one for
// bad usage, which a later check of the options may need. Returns false if the program must end with *exit_code;
// messages are printed then. Refuses an empty argument, which often comes from a variable that is not set.
bool parse_command_line(CLI::App* app, int argc, char** argv, int* exit_code);

}  // namespace hipops::parity
