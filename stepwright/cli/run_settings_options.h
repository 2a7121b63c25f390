#pragma once

#include <functional>
#include <map>
#include <string>

namespace CLI {
class App;
}

namespace stepwright::cli {

/// One command-line option for each key of a job's `run`: `--spare-nodes` for `spare_nodes`.
class RunSettingsOptions {
 public:
  explicit RunSettingsOptions(CLI::App& command);

  /// Returns the options' values by key; empty: not given.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& words() const {
    return words_;
  }

 private:
  std::map<std::string, std::string, std::less<>> words_;
};

}  // namespace stepwright::cli
