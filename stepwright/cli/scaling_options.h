#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/study/scaling.h"

namespace stepwright::cli {

/// Options of `stepwright study collectives`, which compares collectives on growing numbers of
/// nodes.
class CollectiveStudyOptions {
 public:
  void add_options_to_command(CLI::App& app);

  /// Returns the names of the options of `study collectives`, so that other studies can refuse
  /// them.
  [[nodiscard]] static std::span<const char* const> collectives_study_option_names();

  /// Returns the parameters of a collectives study that the options describe. `cluster`: name of a
  /// profile, or a cluster file. Fails with `kInput`, naming the option.
  [[nodiscard]] study::CollectiveScalingSettings scaling_settings_from_options(
      const std::string& cluster) const;

 private:
  std::vector<std::int64_t> nodes_;
  std::vector<std::string> payloads_;
  std::vector<std::string> operations_;
  std::vector<std::string> schedules_;
  double message_s_ = collective::kDefaultMessageStartSeconds;
  std::int64_t play_ranks_ = 0;
  bool every_rank_ = false;
};

/// Reads a number of bytes from an option's text: `1e9`, `64MB` or `1GiB`. Fails with `kInput`.
double read_byte_count(const std::string& word);

}  // namespace stepwright::cli
