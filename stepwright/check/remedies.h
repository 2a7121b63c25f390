#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/tune/remedies.h"

namespace stepwright::check {

/// A change that lets a job fit in memory, and how to make it in the job's framework.
struct RemedyWithFlags {
  tune::Remedy remedy;
  /// Lines to add to the framework's files; if no files can be written for it, the framework's
  /// setting for this kind of change; if that is not known, `remedy.set`.
  std::vector<std::string> words;
};

/// Returns the export target (`export --to`) that starts plans of a framework; empty: there is
/// none.
std::string_view export_target_of(const plan::Framework& framework);

/// Finds changes that let a legal plan fit in memory (`tune::remedies`). `target`: export target in
/// whose words they are given; empty: that of the job's framework.
std::vector<RemedyWithFlags> find_remedies_with_flags(const plan::PlannedJob& planned,
                                                      std::string_view target = {},
                                                      const tune::TuneResult* searched = nullptr,
                                                      int threads = 0);

/// Returns the changes as answers list them: [{`kind`, `set`, `words`, `step_time_s`,
/// `peak_memory_bytes`, `p_fits`}].
nlohmann::ordered_json remedies_json(const std::vector<RemedyWithFlags>& remedies);

/// Returns a sentence about the changes, for people; empty: there are none.
std::string remedies_sentence(const std::vector<RemedyWithFlags>& remedies);

}  // namespace stepwright::check
