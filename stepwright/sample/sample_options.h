#pragma once

#include <string>
#include <vector>

#include "stepwright/core/dtype.h"
#include "stepwright/core/named.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the name that CLI11 gave itself
class App;
}

namespace stepwright::sample {

/// Kinds of measurements of the command `stepwright sample`: operators, messages (collectives), or
/// both at once.
enum class MeasurementKind : std::uint8_t { kOperators, kMessages, kOverlap };
inline constexpr Named<MeasurementKind> kSampleKindNames[] = {
    {MeasurementKind::kOperators, "operators"},
    {MeasurementKind::kMessages, "collectives"},
    {MeasurementKind::kOverlap, "overlap"}};

/// The options of the command `stepwright sample`, which times operators and messages on this
/// machine.
struct SampleCommandOptions {
  /// Kind of measurement: a word of `kSampleKindNames` (operators, collectives, overlap).
  std::string kind;
  std::string output;  ///< Path of the CSV table to write.
  /// Number of processes to start; 0: one for each core, or as many as the launcher started.
  std::int64_t ranks = 0;
  /// For collectives: factor by which the emulated training runs (`train --hold --scale`) that will
  /// use the measured times divide bytes.
  double scale = 1;
  /// For operators: factor by which the training runs (`train --pace`) that will use the measured
  /// times slow computations down.
  double pace = 1;
  /// True: time only collectives over all ranks; false: also over smaller groups.
  bool world_only = false;
  /// Largest size in bytes of a collective; 0: sizes grow until a message takes long.
  std::int64_t most_bytes = 0;
  /// Collectives to time, each as LIBRARY:OPERATION:NODESxRANKS:BYTES; empty: all.
  std::vector<std::string> messages;
  std::string dtype = "fp32";  ///< Number type of the operators to time.
  double timeout_s = 60;
};

/// Adds the options of `sample` to a command; the programs `stepwright` and `stepwright-rank` share
/// them.
void add_sample_command_options(CLI::App& app, SampleCommandOptions& options);

/// Checks the options of `sample`. Fails with `kInput`, naming the wrong option.
void check_sample_options(const SampleCommandOptions& options);

/// Returns the command-line arguments that pass the options of `sample` to a rank's process.
std::vector<std::string> sample_rank_arguments(const SampleCommandOptions& options);

}  // namespace stepwright::sample
