#pragma once

#include <string>

#include "stepwright/answers/tune_answer.h"

namespace stepwright::cli {

/// How much detail `stepwright tune` prints.
struct TuneOutputDetail {
  /// True: list the next-best plans and why they lost, even if they are similar to each other;
  /// false: list one alternative for each kind of plan.
  bool plain_list = false;
  /// True: also print the best trade-offs of step time against memory, the gain from more memory,
  /// the nearest plan of every framework, and why frameworks refuse plans.
  bool verbose = false;
};

/// Returns the text of `stepwright tune`: the best plan with its prediction, where its step loses
/// time, alternatives with advantages and disadvantages, the frameworks that run it, and a summary
/// of the search; then, if asked for, the user's own plan, the whole training run and the sweep.
std::string tune_text(const answers::TuneAnswer& answer, const TuneOutputDetail& detail);

/// Returns one line about the progress of a plan search; the overload: about that of `tune`.
std::string search_progress_text(const tune::TuneProgress& progress);
std::string search_progress_text(const answers::TuneAnswerProgress& progress);

}  // namespace stepwright::cli
