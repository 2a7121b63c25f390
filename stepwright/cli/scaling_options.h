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

  /// The names of these options: other studies have no use for them.
  [[nodiscard]] static std::span<const char* const> names();

  /// The setting for the profile of that name, or for the cluster file. Fails with `kInput`, naming
  /// the option.
  [[nodiscard]] study::ScalingSetting setting(const std::string& cluster) const;

 private:
  std::vector<std::int64_t> nodes_;
  std::vector<std::string> payloads_;
  std::vector<std::string> operations_;
  std::vector<std::string> schedules_;
  double message_s_ = collective::kMessageStart;
  std::int64_t play_ranks_ = 0;
  bool every_rank_ = false;
};

/// Bytes of `1e9`, `64MB` or `1GiB`; fails with `kInput`.
double read_size(const std::string& word);

}  // namespace stepwright::cli
