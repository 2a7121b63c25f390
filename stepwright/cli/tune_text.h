#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/more_memory.h"
#include "stepwright/tune/tune.h"
#include "stepwright/tune/two_strands.h"

namespace stepwright {

/// What an answer tells besides its plans.
struct TuneExtras {
  std::vector<MemoryStep> more_memory;
  std::optional<StrandsGain> strands;
  std::optional<TrainingRun> run;  ///< What the person wants to train.
};

/// How much `stepwright tune` prints.
struct TuneDetail {
  /// In place of the alternatives the runners-up, whatever their families, and why they lost.
  bool plain_list = false;
  /// Also the front of time against memory, what more memory would gain, the nearest plan of every
  /// framework and what was refused.
  bool verbose = false;
};

/// What `stepwright tune` prints: the best plan with its prediction, where the time goes, the
/// alternatives and what they win and lose, who runs it, and how the search went.
std::string tune_text(const TuneResult& result, const Prediction& best, const TuneExtras& extras,
                      const TuneDetail& detail);

/// That no plan fits in memory, by how much the smallest does not, and what fills it.
std::string misfit_text(const TuneResult& result);

/// One line that says how far a search is.
std::string progress_text(const TuneProgress& progress);

}  // namespace stepwright
