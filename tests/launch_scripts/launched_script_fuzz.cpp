#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/launch_scripts/python/config.h"
#include "stepwright/launch_scripts/python/launcher.h"

using namespace stepwright;  // NOLINT(google-build-using-namespace)

namespace {

std::string script_of(const launch_scripts::SourceFile& program,
                      const launch_scripts::SourceFile& other) {
  const std::string settings[] = {"given=8"};
  const auto script = launch_scripts::launched_script(program, settings, {&other, 1});
  return script ? script->text : "";
}

}  // namespace

/// Any text is followed as a program that starts a command, and as a recipe, or refused with a
/// reason; behind "#####" stands a file that it may import. The same text is read the same again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t half = text.find("#####");
  const std::string_view rest = half == std::string_view::npos ? "" : text.substr(half);
  const launch_scripts::SourceFile program{
      "run.py", "import subprocess\n" + std::string(text.substr(0, half))};
  const launch_scripts::SourceFile other{"other.py", std::string(rest)};
  const launch_scripts::PythonText texts[] = {{program.text, program.name},
                                              {other.text, other.name}};
  try {
    if (script_of(program, other) != script_of(program, other)) std::abort();
  } catch (const Error& error) {
    if (*error.what() == '\0') std::abort();
  }
  try {
    launch_scripts::read_python_config(texts, {.root = "Config", .known = {}}, "");
  } catch (const Error& error) {
    if (*error.what() == '\0') std::abort();
  }
  return 0;
}
