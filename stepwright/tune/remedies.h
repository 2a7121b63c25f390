#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/remedy_kind.h"
#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// A change of a plan or its job that lets the plan fit in memory.
struct MemoryRemedy {
  plan::MemoryRemedyKind kind{};
  /// All fields that the remedy changes, written as for `predict --set` (FIELD=VALUE): first the
  /// fields of its kind of remedy, then other fields that the change needs.
  std::vector<std::string> set;
  plan::PlannedJob changed;
  double step_time_s = 0;
  double peak_memory_bytes = 0;
  double p_fits = 1;
};

/// Options of the search for changes that let a plan fit in memory.
struct MemoryRemedySearchOptions {
  /// The framework or variant that the job's files were read from, if it is a trainer built on the
  /// job's framework. Remedies may also use the trainer's chunked losses.
  plan::TrainingFramework trainer;
  /// A finished search of the plan's job, whose best plan is offered as one of the changes; null:
  /// none was made. If even its best plan does not fit, a new search is made for each kind of
  /// remedy that uses host memory or more nodes.
  const TuneResult* searched = nullptr;
  int threads = 0;  ///< Number of threads; 0: one per processor.
};

/// Finds changes that let a legal plan fit in memory: for each kind of remedy the fastest change
/// that the framework runs, in the order of kinds. A change that is not enough is tried again with
/// full recomputation, then also with micro-batches of one sequence. Dimensions that the job's
/// `search` lists stay. Empty if the plan fits or nothing helps.
std::vector<MemoryRemedy> find_memory_remedies(const plan::PlannedJob& planned,
                                               const MemoryRemedySearchOptions& search);

/// Returns the name of a kind of memory remedy in words: "the optimizer on the hosts".
std::string_view memory_remedy_name(plan::MemoryRemedyKind kind);

/// Returns the changes that let a plan fit in memory as a sentence for users; empty without
/// remedies.
std::string memory_remedies_text(const std::vector<MemoryRemedy>& remedies);

}  // namespace stepwright::tune
