#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/remedy_kind.h"
#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// A change of a plan or its job that lets it fit.
struct Remedy {
  plan::RemedyKind kind{};
  /// All fields that the remedy changes, FIELD=VALUE as `predict --set` takes them: first the
  /// fields that define its kind, then the other fields that it needs.
  std::vector<std::string> set;
  plan::PlannedJob changed;
  double step_time_s = 0;
  double peak_memory_bytes = 0;
  double p_fits = 1;
};

/// Options of a search for remedies.
struct RemedySearch {
  /// The framework or variant that the job's files were read from, where it differs from the job's
  /// framework: a trainer built on top of it. The trainer's chunked losses count, too.
  plan::Framework trainer;
  /// The search of the plan's job; its best plan is offered as another split. null: no search was
  /// made. Where its best plan does not fit, each kind of remedy that the host or more nodes help
  /// with is searched anew.
  const TuneResult* searched = nullptr;
  int threads = 0;  ///< Threads of searches; 0: one per processor.
};

/// Finds changes that let a legal plan fit: of each kind of remedy the fastest change that the
/// framework runs, in the order of kinds. A change that is not enough alone is tried with full
/// recomputation, then also with micro-batches of one sequence. Dimensions that the job's `search`
/// lists are not changed. Empty where the plan fits or no remedy helps.
std::vector<Remedy> remedies(const plan::PlannedJob& planned, const RemedySearch& search);

/// Returns the name of a kind of remedy, in words: "the optimizer on the hosts".
std::string_view remedy_name(plan::RemedyKind kind);

/// Returns the remedies as a sentence for people; empty without remedies.
std::string remedies_text(const std::vector<Remedy>& remedies);

}  // namespace stepwright::tune
