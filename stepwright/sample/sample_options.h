#pragma once

#include <string>
#include <vector>

#include "stepwright/core/dtype.h"
#include "stepwright/core/named.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the name that CLI11 gave itself
class App;
}

namespace stepwright::sample {

/// The kinds of measurements of `stepwright sample`.
enum class SampleKind : std::uint8_t { kOperators, kMessages, kOverlap };
inline constexpr Named<SampleKind> kSampleKindNames[] = {{SampleKind::kOperators, "operators"},
                                                         {SampleKind::kMessages, "collectives"},
                                                         {SampleKind::kOverlap, "overlap"}};

/// The options of `stepwright sample`.
struct SampleOptions {
  std::string kind;    ///< Kind of measurement, a word of `kSampleKindNames`.
  std::string output;  ///< Path of the table to write.
  /// Processes to start; 0: one for each core, or as many as the launcher started.
  std::int64_t ranks = 0;
  double scale = 1;         ///< For collectives: scale of the held runs for which they are timed.
  double pace = 1;          ///< For operators: pace of the training runs for which they are timed.
  bool world_only = false;  ///< True: time only collectives of all ranks.
  /// Bytes of the longest collective; 0: sizes grow as long as messages are short.
  std::int64_t most_bytes = 0;
  std::vector<std::string> messages;  ///< Collectives to time (`parse_message_option`); empty: all.
  std::string dtype = "fp32";         ///< Element type of the sampled operators.
  double timeout_s = 60;
};

/// Adds the options to a command; `stepwright` and `stepwright-rank` have the same ones.
void add_sample_flags(CLI::App& app, SampleOptions& options);

/// Checks the options. Fails with `kInput`, naming the option.
void check_sample_options(const SampleOptions& options);

/// Returns the command-line arguments that pass these options to a rank.
std::vector<std::string> sample_arguments(const SampleOptions& options);

}  // namespace stepwright::sample
