#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/study/scaling.h"

namespace stepwright::cli {

/// The options of `stepwright study collectives`.
class ScalingOptions {
 public:
  void add_to(CLI::App& app);

  /// Returns the names of these options, so that other studies can refuse them.
  [[nodiscard]] static std::span<const char* const> names();

  /// Returns the setting of the study for a cluster: a profile's name or a cluster file. Fails with
  /// `kInput`, naming the option.
  [[nodiscard]] study::ScalingSetting setting(const std::string& cluster) const;

 private:
  std::vector<std::int64_t> nodes_;
  std::vector<std::string> payloads_;
  std::vector<std::string> operations_;
  std::vector<std::string> schedules_;
  double message_s_ = collective::kMessageStartSeconds;
  std::int64_t play_ranks_ = 0;
  bool every_rank_ = false;
};

/// Reads a size in bytes from `1e9`, `64MB` or `1GiB`; fails with `kInput`.
double read_size(const std::string& word);

}  // namespace stepwright::cli
