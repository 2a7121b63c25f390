#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/frameworks.h"
#include "stepwright/tune/more_memory.h"
#include "stepwright/tune/remedies.h"
#include "stepwright/tune/training_run.h"
#include "stepwright/tune/tune.h"
#include "stepwright/tune/two_strands.h"

namespace stepwright::cli {

/// The parts of an answer beside its plans.
struct TuneExtras {
  std::vector<tune::MemoryStep> more_memory;
  std::optional<tune::StrandsGain> strands;
  std::optional<tune::TrainingRun> run;  ///< What the person wants to train.
  std::vector<tune::FittingJob> remedies;
  std::vector<tune::FrameworkRun> frameworks;  ///< Of the best plan.
};

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
/// alternatives and what they win and lose, who runs it, and how the search went.
std::string tune_text(const tune::TuneResult& result, const simulate::Prediction& best,
                      const TuneExtras& extras, const TuneDetail& detail);

/// One line that says how far a search is.
std::string progress_text(const tune::TuneProgress& progress);

}  // namespace stepwright::cli
