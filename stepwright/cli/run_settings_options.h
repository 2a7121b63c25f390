#pragma once

#include <functional>
#include <map>
#include <string>

namespace CLI {
class App;
}

namespace stepwright::cli {

/// An option for each key of a job's `run`: `--restart` for `restart`.
class RunSettingsOptions {
 public:
  explicit RunSettingsOptions(CLI::App& command);

  /// The words of the options, by key; empty: not given.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& words() const {
    return words_;
  }

 private:
  std::map<std::string, std::string, std::less<>> words_;
};

}  // namespace stepwright::cli
