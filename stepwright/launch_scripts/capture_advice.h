#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stepwright::launch_scripts {

/// Returns a sentence, beginning with ". ", for the end of an error about a script that cannot be
/// understood without running it. The sentence names the construct, its line and the command that
/// captures the script. `script` is the file that a person starts; for a Python file or a manifest
/// the result is empty, since no shell runs it.
std::string script_capture_advice(std::string_view construct, std::uint32_t line,
                                  std::string_view script);

/// Returns a sentence, beginning with ". ", for the end of an error about a Python program that
/// starts a command with `call`. The sentence names the command that captures `started`: the
/// program (`*.py`) or a script that runs it.
std::string started_command_capture_advice(std::string_view call, std::string_view started);

/// Returns a sentence, beginning with ". ", for the end of an error about a configuration that
/// Python code computes. The sentence names the expression, its line and the call that reads the
/// finished object.
std::string computed_configuration_advice(std::string_view expression, std::uint32_t line);

}  // namespace stepwright::launch_scripts
