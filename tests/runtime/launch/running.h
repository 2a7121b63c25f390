#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/folder.h"

namespace stepwright::testing {

/// Returns the bytes of a file; empty: it cannot be read.
std::string text_of(const std::filesystem::path& path);

/// A running `stepwright train`, the leader of its own process group.
class Running {
 public:
  /// Starts the command. `options` follow the plan; without --data or --hold it trains on the
  /// tests' text. `environment`: NAME=VALUE, added to this process's environment.
  Running(const Folder& folder, const std::string& plan, const std::vector<std::string>& options,
          const std::vector<std::string>& environment = {});
  ~Running() { kill_all(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void kill_all();
  /// Returns the exit code; -1: a signal ended it, which also happens if the run lasts longer than
  /// `most`.
  int wait(std::chrono::seconds most = std::chrono::minutes(5));
  [[nodiscard]] std::string errors() const { return text_of(errors_); }
  /// Waits until a text appears on standard error, at most five minutes.
  void await(const std::string& text) const;
  /// Returns the started process: the launcher, or a rank if the environment is that of a launcher.
  [[nodiscard]] pid_t process() const { return id_; }
  /// Returns the process of a rank that this run started; 0: there is none.
  [[nodiscard]] pid_t rank(int which) const;

 private:
  static inline int count = 0;
  std::filesystem::path errors_;
  pid_t id_ = 0;
};

}  // namespace stepwright::testing
