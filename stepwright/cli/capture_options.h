#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/capture/captured.h"
#include "stepwright/cli/command.h"

namespace CLI {
class Option;
}

namespace stepwright::cli {

/// Options for capturing a launch script (running it with stand-ins for its launchers to learn what
/// it starts), shared by `capture`, `import --capture` and `check --capture`.
class ScriptCaptureOptions {
 public:
  /// Adds the options of capturing to a command. `captures`: flag of the command without which
  /// these options are refused; null: the command always captures.
  void add_options_to_command(CLI::App& command, CLI::Option* captures = nullptr);

  /// Captures a launch script: announces it, asks for consent if a person can answer, and runs it
  /// with stand-ins for its launchers. `nodes`: number of nodes of the job; nullopt: the script
  /// decides. Fails as `capture::capture_launch_script`, with `kInput` if the person refuses, with
  /// `kRuntime` if a signal interrupted the capture.
  [[nodiscard]] capture::ScriptCaptureResult capture_launch_script(
      const std::vector<std::string>& command, std::optional<std::int64_t> nodes,
      const Console& console) const;

 private:
  std::optional<std::int64_t> devices_per_node_;
  bool only_launchers_ = false;
  double timeout_s_ = 300;
};

}  // namespace stepwright::cli
