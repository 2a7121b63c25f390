#include "stepwright/launch_scripts/capture_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "stepwright/core/utf8.h"

namespace stepwright::launch_scripts {
namespace {

/// A file name as a shell reads it back.
std::string quoted(std::string_view name) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_./+-").find(c) != std::string_view::npos;
  };
  const std::string text = printable(name);
  if (std::ranges::all_of(text, plain)) return text;
  std::string inner;
  for (const char c : text) inner += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return fmt::format("'{}'", inner);
}

}  // namespace

std::string capture_advice(std::string_view construct, std::uint32_t line,
                           std::string_view script) {
  if (script.ends_with(".py")) return "";
  return fmt::format(
      ". A shell decides {} in line {}: `stepwright import --capture -- bash {}` runs the script "
      "with stand-ins for its launchers",
      printable(construct), line, quoted(script));
}

std::string command_start_advice(std::string_view call, std::string_view started) {
  // slime's helper ends processes by their names before it starts its own.
  const bool careful = call.ends_with("execute_train") || call.ends_with("exec_command");
  return fmt::format(
      ". `stepwright import --capture{} -- {} {}{}` runs it with stand-ins for its launchers",
      careful ? " --only-launchers" : "", started.ends_with(".py") ? "python3" : "bash",
      quoted(started), started.ends_with(".py") ? " ..." : "");
}

std::string live_object_advice(std::string_view expression, std::uint32_t line) {
  return fmt::format(
      ". Python decides {} in line {}: `stepwright.check(CONFIGURATION)` in the program itself "
      "reads the object (docs/python.md)",
      printable(expression), line);
}

}  // namespace stepwright::launch_scripts
