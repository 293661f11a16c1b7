// How the tools read their command lines, and what they say of one that is wrong: the program's name, then CLI11's own
// sentence. hipops-inspect has it without the rest of parity.
#pragma once

namespace CLI {
class App;
}

namespace hipops::parity {

// Reads a command line, of which --version is a part. True: go on; *exit_code is that of bad usage, should the options
// not go together. False: *exit_code says how the program ends; what there is to say has been printed. An empty
// argument, as of a variable that is not set, is refused.
bool parse_command_line(CLI::App* app, int argc, char** argv, int* exit_code);

}  // namespace hipops::parity
