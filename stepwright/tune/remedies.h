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
  /// All that it changes, FIELD=VALUE as `predict --set` takes them; first what gives it its kind,
  /// then what that needs beside it.
  std::vector<std::string> set;
  plan::PlannedJob changed;
  double step_time_s = 0;
  double peak_memory_bytes = 0;
  double p_fits = 1;
};

/// Options of a search for remedies.
struct RemedySearch {
  /// The framework or variant whose files say the job, where that is another one than the job's: a
  /// trainer on top of it. Its losses count, too.
  plan::Framework trainer;
  /// The search of the plan's job, whose best plan is another split; null: none was made. Where
  /// its best plan does not fit, each kind that the host or more nodes help with is searched anew.
  const TuneResult* searched = nullptr;
  int threads = 0;  ///< 0: one per processor.
};

/// Finds changes that let a legal plan fit: of each kind the fastest change that its framework
/// runs, in the order of kinds. A change that is not enough alone is tried with full recomputation,
/// then with micro-batches of one sequence, too. Dimensions that the job's `search` lists stay as
/// they are listed. Empty where the plan fits or nothing of this helps.
std::vector<Remedy> remedies(const plan::PlannedJob& planned, const RemedySearch& search);

/// Returns the words of a kind of remedy: "the optimizer on the hosts".
std::string_view remedy_name(plan::RemedyKind kind);

/// A sentence for people; empty without remedies.
std::string remedies_text(const std::vector<Remedy>& remedies);

}  // namespace stepwright::tune
