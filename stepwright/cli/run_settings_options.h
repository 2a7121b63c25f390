#pragma once

#include <functional>
#include <map>
#include <string>

namespace CLI {
class App;
}

namespace stepwright::cli {

/// Command-line options for the keys of a job's `run` section, one for each key: `--spare-nodes`
/// for `spare_nodes`.
class RunSettingsOptions {
 public:
  explicit RunSettingsOptions(CLI::App& command);

  /// Returns the value of each option that was given, by its key in the job; an empty text: not
  /// given.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& given_option_values() const {
    return words_;
  }

 private:
  std::map<std::string, std::string, std::less<>> words_;
};

}  // namespace stepwright::cli
