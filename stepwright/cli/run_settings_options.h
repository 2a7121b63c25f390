#pragma once

#include <map>
#include <string>
#include <string_view>

#include "stepwright/plan/run_settings.h"

namespace CLI {
class App;
}

namespace stepwright::cli {

/// An option for each key of a job's `run`: `--restart` for `restart`.
class RunSettingsOptions {
 public:
  explicit RunSettingsOptions(CLI::App& command);

  /// What a job states, with what the options say in its place. Fails with `kInput`, naming the
  /// option.
  [[nodiscard]] plan::RunSettings over(const plan::RunSettings& stated) const;

 private:
  std::map<std::string_view, std::string> given_;  ///< By key.
};

}  // namespace stepwright::cli
