#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/launchers/python_launcher.h"
#include "stepwright/framework_files/syntax/python_config.h"

using namespace stepwright;  // NOLINT(google-build-using-namespace)

namespace {

std::string script_of(const framework_files::SourceFile& program,
                      const framework_files::SourceFile& other) {
  const framework_files::Given given{.settings = {"given=8"}};
  const auto script = framework_files::launched_script(program, given, {&other, 1});
  return script ? script->text : "";
}

}  // namespace

/// Any text is followed as a program that starts a command, and as a recipe, or refused with a
/// reason; behind "#####" stands a file that it may import. The same text is read the same again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t half = text.find("#####");
  const std::string_view rest = half == std::string_view::npos ? "" : text.substr(half);
  const framework_files::SourceFile program{
      "run.py", "import subprocess\n" + std::string(text.substr(0, half))};
  const framework_files::SourceFile other{"other.py", std::string(rest)};
  const framework_files::PythonText texts[] = {{program.text, program.name},
                                               {other.text, other.name}};
  try {
    if (script_of(program, other) != script_of(program, other)) std::abort();
  } catch (const Error& error) {
    if (*error.what() == '\0') std::abort();
  }
  try {
    framework_files::read_python_config(texts, {.root = "Config", .known = {}}, "");
  } catch (const Error& error) {
    if (*error.what() == '\0') std::abort();
  }
  return 0;
}
