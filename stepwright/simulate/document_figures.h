#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/simulate/prediction.h"

namespace stepwright::simulate {

/// What is said of a step of documents beside what is said of any step.
struct DocumentFigures {
  double efficiency = 0;       ///< Tokens of documents over those computed, padding included.
  double per_sequence = 0;     ///< Documents in a sequence, in the mean.
  double mean_length = 0;      ///< Tokens of a document.
  double sequence_length = 0;  ///< Tokens of a sequence of the mean micro-batch, padding included.
  double too_long = 0;         ///< Share of the data's documents that were split or dropped.
  double tokens = 0;           ///< Of the documents of a step.
  double tokens_per_s = 0;     ///< Of documents.
  double even_step_s = 0;      ///< Were all micro-batches the mean one.
  Uneven uneven;               ///< What they add, and how steps vary.
};

/// Of a prediction whose job has documents.
DocumentFigures document_figures(const Prediction& prediction);

/// The same plan with another packing.
struct PackingGain {
  std::string set;  ///< As `--set` takes it.
  double step_time_s = 0;
  double tokens_per_s = 0;  ///< Of documents.
  double gain = 0;          ///< Of those tokens in a second over the plan's own, less one.
};
/// What each other kind of packing, padding to the longest and balancing by cost would gain or
/// lose, best first. Predicts each: some ten milliseconds.
std::vector<PackingGain> packing_gains(const Prediction& prediction);

/// What choosing the context degree anew for each micro-batch would do (dynamic context
/// parallelism, Megatron-LM #5679).
struct DynamicContext {
  double tokens_per_s = 0;  ///< Of documents.
  double gain = 0;          ///< Of those over the plan's own, less one.
};
/// Documents short enough for one rank are packed for one rank each, the others as they are
/// planned. Nothing where the plan does not cut packed sequences, and where Megatron does not run
/// it: degrees that are no powers of two, experts, latent attention, parameters that are spread.
std::optional<DynamicContext> dynamic_context(const Prediction& prediction);

/// `documents` of `stepwright predict --json` (docs/formats.md, "Prediction").
nlohmann::ordered_json documents_json(const Prediction& prediction);

}  // namespace stepwright::simulate
