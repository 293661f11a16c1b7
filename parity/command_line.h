// How the tools read their command lines, and what they say of one that is wrong: the program's name, the option as it
// was given, what was expected. hipops-inspect has it without the rest of parity.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hipops::parity {

// Reads a command line, of which --version is a part. True: go on; *exit_code is that of bad usage, should the options
// not go together. False: *exit_code says how the program ends; what there is to say has been printed. An empty
// argument, as of a variable that is not set, is refused.
bool parse_command_line(CLI::App* app, int argc, char** argv, int* exit_code);

// Validators for CLI11: "", or what is wrong, to be read after the option's name. A number that 64 bits have without a
// sign, and one but 0.
std::string is_number(const std::string& text);
std::string is_count(const std::string& text);
std::string is_file(const std::string& text);

using Validator = std::function<std::string(const std::string& text)>;
Validator one_of(std::vector<std::string> names);
Validator within(int64_t least, int64_t most);  // a whole number

// `is "12", expected ` and so on.
std::string is_not(const std::string& text, const std::string& expected);

}  // namespace hipops::parity
