#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/launch_scripts/python/command_start.h"
#include "stepwright/launch_scripts/python/config.h"

using namespace stepwright;  // NOLINT(google-build-using-namespace)

/// Any text is interpreted as a recipe or refused with a reason, and searched for a call that
/// starts a command; the text after "#####" is a file that it may import.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t half = text.find("#####");
  const launch_scripts::SourceFile program{"run.py", text.substr(0, half)};
  const launch_scripts::SourceFile other{"other.py",
                                         half == std::string::npos ? "" : text.substr(half)};
  const launch_scripts::PythonFileText texts[] = {{program.text, program.name},
                                                  {other.text, other.name}};
  const auto start = launch_scripts::first_python_command_start(program);
  if (start && (start->call.empty() || start->line == 0)) std::abort();
  try {
    launch_scripts::read_python_config(texts, {.root = "Config", .known = {}}, "");
  } catch (const Error& error) {
    if (*error.what() == '\0') std::abort();
  }
  return 0;
}
