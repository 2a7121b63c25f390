#pragma once

#include <string>

#include "stepwright/answers/tune_answer.h"

namespace stepwright::cli {

/// Options for the amount of detail that `stepwright tune` prints.
struct TuneDetail {
  /// True: list the next-best plans, even if they are similar to each other, and why they lost,
  /// instead of one alternative for each kind of plan.
  bool plain_list = false;
  /// True: also print the front of time against memory, the gain from more memory, the nearest plan
  /// of every framework, and the refusals.
  bool verbose = false;
};

/// Returns the text of `stepwright tune`: the best plan with its prediction, the losses of its
/// step, the alternatives with their advantages and disadvantages, the frameworks that run it, and
/// a summary of the search; then, if asked for, the user's own plan, the training run and the
/// sweep.
std::string tune_text(const answers::TuneAnswer& answer, const TuneDetail& detail);

/// Returns one line about the progress of a search, or of an answer with a sweep.
std::string progress_text(const tune::TuneProgress& progress);
std::string progress_text(const answers::TuneAnswerProgress& progress);

}  // namespace stepwright::cli
