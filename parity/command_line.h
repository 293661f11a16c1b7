// Reads the command lines of the tools. A usage error prints the program's name and CLI11's sentence. hipops-inspect is
// linked with this file, and without the rest of parity.
#pragma once

namespace CLI {
class App;
}

namespace hipops::parity {

// Reads a command line, and adds --version to it. Returns true if the program continues: *exit_code is then the code
// for bad usage, for later checks of the options. Returns false, after printing messages, if the program must end with
// *exit_code. Refuses an empty argument, which often comes from a variable that is not set.
bool parse_command_line(CLI::App* app, int argc, char** argv, int* exit_code);

}  // namespace hipops::parity
