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

/// The options of a measurement.
struct SampleOptions {
  std::string kind;         ///< A word of `kSampleKindNames`.
  std::string output;       ///< Path of the table to write.
  std::int64_t ranks = 0;   ///< Processes to start; 0: one for each core, or as the launcher did.
  double scale = 1;         ///< Collectives: scale of the held runs that they are for.
  double pace = 1;          ///< Operators: pace of the runs that they are for.
  bool world_only = false;  ///< Collectives of all ranks only.
  std::int64_t most_bytes = 0;        ///< Longest collective; 0: goes on while they are short.
  std::vector<std::string> messages;  ///< Collectives to time (`asked_message`); empty: all.
  std::string dtype = "fp32";         ///< Type of sampled operators.
  double timeout_s = 60;
};

/// Adds the options to a command; `stepwright` and `stepwright-rank` take the same.
void add_sample_flags(CLI::App& app, SampleOptions& options);

/// Fails with `kInput`, naming the option.
void check_sample_options(const SampleOptions& options);

/// The arguments that give a rank these options.
std::vector<std::string> sample_arguments(const SampleOptions& options);

}  // namespace stepwright::sample
