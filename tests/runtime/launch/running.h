#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/folder.h"

namespace stepwright::testing {

/// The bytes of a file; empty where it cannot be read.
std::string text_of(const std::filesystem::path& path);

/// A run of `stepwright train` under way, leader of its own process group.
class Running {
 public:
  /// `options` follow the plan; without --data or --hold among them it trains on the tests' text.
  /// `environment`: NAME=VALUE, beside this process's own.
  Running(const Folder& folder, const std::string& plan, const std::vector<std::string>& options,
          const std::vector<std::string>& environment = {});
  ~Running() { kill_all(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void kill_all();
  /// The exit code; -1: a signal ended it, as it does where the run lasts longer than `most`.
  int wait(std::chrono::seconds most = std::chrono::minutes(5));
  [[nodiscard]] std::string errors() const { return text_of(errors_); }
  /// Waits until a text was written to standard error, at most five minutes.
  void await(const std::string& text) const;
  /// The process that was started: the launcher, or a rank where a launcher is in the environment.
  [[nodiscard]] pid_t process() const { return id_; }
  /// The process of a rank that this run started; 0: there is none.
  [[nodiscard]] pid_t rank(int which) const;

 private:
  static inline int count = 0;
  std::filesystem::path errors_;
  pid_t id_ = 0;
};

}  // namespace stepwright::testing
