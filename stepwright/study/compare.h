#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::study {

/// The plan that one search method chooses for a job, with the cost of the search. All methods use
/// Stepwright's cost model.
struct SearchMethodChoice {
  std::string by;
  /// The plan that the method chose; nullopt: it found no plan that fits in memory.
  std::optional<plan::Plan> plan;
  double step_time_s = 0;  ///< Simulated step time of the chosen plan, in seconds.
  /// Number of plans (for Alpa's method, plans and candidate stages) whose time was computed.
  std::int64_t evaluated = 0;
  double seconds = 0;  ///< Wall-clock seconds that the search method took.
};

/// The plans that three search methods choose for one job: `tune`, the rule of thumb of
/// Megatron-LM's papers, and a two-level search like Alpa's.
struct SearchMethodComparison {
  plan::Job job;
  std::vector<SearchMethodChoice> choices;
};
SearchMethodComparison compare_searches(const plan::Job& job);

/// Returns the JSON document that `stepwright study search --json` prints (docs/formats.md,
/// "Study").
nlohmann::ordered_json search_comparison_json(const SearchMethodComparison& comparison);

}  // namespace stepwright::study
