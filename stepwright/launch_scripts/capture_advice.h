#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stepwright::launch_scripts {

/// Returns the sentence that ends a message about a script that reading alone does not settle: it
/// names the construct, its line and the command that captures the script, and begins with ". ".
/// `script` is the file that a person starts. Empty for a file of Python, of which no shell decides
/// anything.
std::string capture_advice(std::string_view construct, std::uint32_t line, std::string_view script);

/// Returns the sentence that ends a message about a program of Python that starts a command with
/// `call`: it names the command that captures what a person starts, the program (`*.py`) or a
/// script that goes on with it, and begins with ". ".
std::string command_start_advice(std::string_view call, std::string_view started);

/// Returns the sentence that ends a message about a configuration that Python computes: it names
/// the expression, its line and the call that reads the object, and begins with ". ".
std::string live_object_advice(std::string_view expression, std::uint32_t line);

}  // namespace stepwright::launch_scripts
