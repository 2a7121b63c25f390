#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/tune/remedies.h"

namespace stepwright::check {

/// A change that lets a job fit in memory, and how to make it in the job's framework.
struct MemoryRemedyWithFlags {
  tune::MemoryRemedy remedy;
  /// How to make the change that lets the job fit: lines to add to the framework's files; if
  /// unknown, the framework's name of the setting; if that is unknown too, the changed plan fields.
  std::vector<std::string> words;
};

/// Returns the target of `export --to` whose files start plans of a framework; empty: there is
/// none.
std::string_view export_target_of_framework(const plan::TrainingFramework& framework);

/// Finds changes that let a legal plan fit in memory, each with the lines of the framework's files
/// that make it. `target`: export target whose configuration language is used; empty: that of the
/// job's framework.
std::vector<MemoryRemedyWithFlags> find_memory_remedies_with_flags(
    const plan::PlannedJob& planned, std::string_view target = {},
    const tune::TuneResult* searched = nullptr, int threads = 0);

/// Returns changes that let a plan fit in memory as a JSON list. Each entry has the change (`kind`,
/// plan fields `set`), how to make it (`words`), and the changed plan's step time, peak memory and
/// probability of fitting (`step_time_s`, `peak_memory_bytes`, `p_fits`).
nlohmann::ordered_json memory_remedies_json(const std::vector<MemoryRemedyWithFlags>& remedies);

/// Returns a sentence for the user that lists changes which let a plan fit in memory; empty: there
/// are none.
std::string memory_remedies_sentence(const std::vector<MemoryRemedyWithFlags>& remedies);

}  // namespace stepwright::check
