#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/launch_scripts/shell/script.h"

using namespace stepwright;  // NOLINT(google-build-using-namespace)

/// Any text is read as a script or refused with a reason; the text after "#####" is a second script
/// that the first may call. Reading the same text again gives the same result.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t half = text.find("#####");
  const launch_scripts::ShellSource sources[] = {
      {"main.sh", text.substr(0, half)},
      {"inner.sh", half == std::string_view::npos ? std::string_view() : text.substr(half)}};
  const launch_scripts::ShellAssumptions given{.variables = {{"GIVEN", "8"}}};
  try {
    const std::size_t commands = launch_scripts::read_shell_scripts(sources, given).commands.size();
    if (launch_scripts::read_shell_scripts(sources, given).commands.size() != commands)
      std::abort();
  } catch (const Error& error) {
    if (*error.what() == '\0') std::abort();
  }
  return 0;
}
