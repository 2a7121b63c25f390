#pragma once

#include <string>

#include "stepwright/answers/tune_answer.h"

namespace stepwright::cli {

/// How much `stepwright tune` prints.
struct TuneDetail {
  /// Whether the runners-up, whatever their families, and why they lost stand in place of the
  /// alternatives.
  bool plain_list = false;
  /// Whether the front of time against memory, the gain of more memory, the nearest plan of every
  /// framework and the refusals are told, too.
  bool verbose = false;
};

/// The text of `stepwright tune`: the best plan with its prediction, where the time goes, the
/// alternatives and what they win and lose, who runs it, and how the search went; then the person's
/// own plan, the training run and the sweep, where they were asked about.
std::string tune_text(const answers::TuneAnswer& answer, const TuneDetail& detail);

/// One line that says how far a search is, or an answer with a sweep.
std::string progress_text(const tune::TuneProgress& progress);
std::string progress_text(const answers::TuneAnswerProgress& progress);

}  // namespace stepwright::cli
