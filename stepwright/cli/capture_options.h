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

/// The options of a capture that `capture`, `import --capture` and `check --capture` share.
class CaptureOptions {
 public:
  /// Adds the options to a command. They need `captures`, its flag; null: it always captures.
  void add_to(CLI::App& command, CLI::Option* captures = nullptr);

  /// Says that the script will run, asks a person who can answer, and runs it with stand-ins for
  /// its launchers. `nodes`: of the job; nullopt: the script says. Fails as `capture::capture`,
  /// with `kInput` if the person says no, and with `kRuntime` if a signal interrupted the capture.
  [[nodiscard]] capture::Captured capture(const std::vector<std::string>& command,
                                          std::optional<std::int64_t> nodes,
                                          const Console& console) const;

 private:
  std::optional<std::int64_t> devices_per_node_;
  bool only_launchers_ = false;
  double timeout_s_ = 300;
};

}  // namespace stepwright::cli
