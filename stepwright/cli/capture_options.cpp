#include "stepwright/cli/capture_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <istream>
#include <ostream>

#include "stepwright/capture/capture.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cluster/description.h"
#include "stepwright/core/error.h"
#include "stepwright/core/quoting.h"
#include "stepwright/core/utf8.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {
namespace {

constexpr double kMostSeconds = 86'400;

/// Asks whether to continue; if nobody can be asked, only informs.
void ask(const std::string& command, bool only_launchers, const Console& console) {
  const std::string what = fmt::format(
      "{} runs on this machine now; its launchers are replaced, {} (docs/capture.md)", command,
      only_launchers ? "commands that write, fetch or delete do nothing"
                     : "all its other commands really run");
  if (console.keyboard == nullptr || console.terminal == nullptr) {
    console.log.info(what);
    return;
  }
  *console.terminal << terminal_safe_text(what) << ". Go on? [y/N] " << std::flush;
  std::string answer;
  std::getline(*console.keyboard, answer);
  if (answer != "y" && answer != "Y" && answer != "yes") fail_input("nothing was run");
}

}  // namespace

void ScriptCaptureOptions::add_options_to_command(CLI::App& command, CLI::Option* captures) {
  CLI::Option* all[] = {
      command
          .add_option("--gpus-per-node", devices_per_node_,
                      "Number of GPUs of a node of the captured job; overrides the script")
          ->check(runtime::whole_number_validator(1, cluster::kMaxDevicesPerNode)),
      command.add_flag("--only-launchers", only_launchers_,
                       "Commands of the captured script that write, fetch or delete do nothing"),
      command
          .add_option("--timeout", timeout_s_, "Seconds after which the captured script is ended")
          ->check(runtime::number_range_validator({.low = 1, .high = kMostSeconds}))
          ->capture_default_str()};
  for (CLI::Option* option : all) {
    if (captures != nullptr) option->needs(captures);
  }
}

capture::ScriptCaptureResult ScriptCaptureOptions::capture_launch_script(
    const std::vector<std::string>& command, std::optional<std::int64_t> nodes,
    const Console& console) const {
  ask(quoted_for_shell(command), only_launchers_, console);
  capture::ScriptCaptureResult captured = capture::capture_launch_script(
      {.command = command,
       .nodes = nodes,
       .devices_per_node = devices_per_node_,
       .only_launchers = only_launchers_,
       .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(
           std::chrono::duration<double>(timeout_s_)),
       .program = console.stand_in});
  if (captured.interrupted_by != 0) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("interrupted by signal {}", captured.interrupted_by));
  }
  for (const std::string& note : captured.notes) console.log.warn(note);
  return captured;
}

}  // namespace stepwright::cli
