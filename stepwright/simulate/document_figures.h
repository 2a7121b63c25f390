#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/simulate/prediction.h"

namespace stepwright::simulate {

/// Figures of a step whose job has documents, in addition to the figures of any step.
struct DocumentFigures {
  double efficiency = 0;       ///< Tokens of documents over tokens computed, padding included.
  double per_sequence = 0;     ///< Mean number of documents in a sequence.
  double mean_length = 0;      ///< Mean tokens of a document.
  double sequence_length = 0;  ///< Tokens of a sequence in the mean micro-batch, padding included.
  double too_long = 0;         ///< Share of the data's documents that were split or dropped.
  double tokens = 0;           ///< Number of tokens of documents in a step, padding left out.
  double tokens_per_s = 0;     ///< Tokens of documents a second with this packing.
  double even_step_s = 0;      ///< Seconds of a step if all micro-batches were the mean one.
  /// Seconds that unequal micro-batches add, and how much step times vary.
  UnevenStepWaits uneven;
};

/// Returns the document figures of a prediction whose job has documents.
DocumentFigures document_figures(const Prediction& prediction);

/// The gain of a plan if its documents were packed in another way.
struct PackingGain {
  std::string set;  ///< The field that sets the packing, as `--set` takes it.
  double step_time_s = 0;
  double tokens_per_s = 0;  ///< Tokens of documents that a step computes, per second.
  /// Gain in tokens of documents a second: the ratio to the plan's own rate, less one.
  double gain = 0;
};
/// Predicts the gain or loss of each other kind of packing, of padding to the longest document and
/// of balancing by cost; best first. Takes some ten milliseconds for each.
std::vector<PackingGain> packing_gains(const Prediction& prediction);

/// Gain from choosing the context degree anew for each micro-batch (dynamic context parallelism,
/// Megatron-LM #5679).
struct DynamicContext {
  double tokens_per_s = 0;  ///< Tokens of documents a second with dynamic context parallelism.
  /// Gain in tokens of documents a second: the ratio to the plan's own rate, less one.
  double gain = 0;
};
/// Predicts the gain of dynamic context parallelism: documents short enough for one rank are packed
/// for one rank each, the others as planned. nullopt where the plan does not cut packed sequences
/// over context ranks, and where Megatron does not run it: degrees that are no powers of two,
/// experts, latent attention, sharded parameters.
std::optional<DynamicContext> dynamic_context(const Prediction& prediction);

/// Returns the key `documents` of the output of `stepwright predict --json` (docs/formats.md,
/// "Prediction").
nlohmann::ordered_json documents_json(const Prediction& prediction);

}  // namespace stepwright::simulate
