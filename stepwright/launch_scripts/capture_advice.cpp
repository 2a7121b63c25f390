#include "stepwright/launch_scripts/capture_advice.h"

#include <fmt/format.h>

#include "stepwright/core/quoting.h"
#include "stepwright/core/utf8.h"

namespace stepwright::launch_scripts {
std::string script_capture_advice(std::string_view construct, std::uint32_t line,
                                  std::string_view script) {
  // A Python program has advice of its own, and no shell runs a manifest.
  for (const std::string_view ending : {".py", ".yaml", ".yml"}) {
    if (script.ends_with(ending)) return "";
  }
  return fmt::format(
      ". Only a shell knows {} in line {}: `stepwright import --capture -- bash {}` runs the "
      "script with stand-ins for its launchers",
      one_line_printable_text(construct), line, quoted_for_shell(script));
}

std::string started_command_capture_advice(std::string_view call, std::string_view started) {
  // slime's helper kills processes by name before it starts its own.
  const bool careful = call.ends_with("execute_train") || call.ends_with("exec_command");
  return fmt::format(
      ". `stepwright import --capture{} -- {} {}{}` runs it with stand-ins for its launchers",
      careful ? " --only-launchers" : "", started.ends_with(".py") ? "python3" : "bash",
      quoted_for_shell(started), started.ends_with(".py") ? " ..." : "");
}

std::string computed_configuration_advice(std::string_view expression, std::uint32_t line) {
  return fmt::format(
      ". Only Python knows {} in line {}: to read the object, call "
      "`stepwright.check(CONFIGURATION)` in the program itself (docs/python.md)",
      one_line_printable_text(expression), line);
}

}  // namespace stepwright::launch_scripts
