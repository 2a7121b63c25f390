#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/simulate/prediction.h"

namespace stepwright::simulate {

/// Figures of a predicted step whose training data are documents (sequences of unequal length,
/// packed or padded), in addition to the figures of any step.
struct DocumentStepMetrics {
  double efficiency = 0;    ///< Tokens of documents over all tokens computed (padding included).
  double per_sequence = 0;  ///< Mean number of documents in a packed sequence.
  double mean_length = 0;   ///< Mean number of tokens in a document.
  /// Tokens of a sequence in the mean micro-batch, padding included.
  double padded_sequence_tokens = 0;
  /// Share of the documents in the data that were split or dropped because they are too long.
  double too_long = 0;
  double tokens = 0;  ///< Number of document tokens in a step, without padding.
  /// Number of document tokens that are trained per second, without padding.
  double tokens_per_s = 0;
  /// Seconds that the step would take if all micro-batches had the mean amount of work.
  double even_step_s = 0;
  /// Effects of micro-batches of unequal work: seconds that they add to the step, and how much step
  /// times vary.
  UnevenMicroBatchWaits uneven;
};

/// Returns the document figures (padding, tokens of documents per second) of a prediction whose job
/// has documents.
DocumentStepMetrics document_step_metrics(const PlanPrediction& prediction);

/// The predicted speed of a plan if its documents were packed in another way.
struct DocumentPackingGain {
  /// Job field and value that set this packing, written as for the option `--set`.
  std::string set;
  double step_time_s = 0;
  double tokens_per_s = 0;  ///< Tokens of documents per second with this packing, without padding.
  /// Gain in tokens of documents per second over the plan's own packing, as a share: 0.05 is 5 %
  /// more.
  double gain = 0;
};
/// Predicts the gain or loss of every other way to pack the plan's documents, including padding to
/// the longest document and balancing by cost; best first. Each way takes about ten milliseconds.
std::vector<DocumentPackingGain> document_packing_gains(const PlanPrediction& prediction);

/// Gain from choosing the context-parallel degree anew for each micro-batch (dynamic context
/// parallelism, Megatron-LM #5679).
struct DynamicContextParallelGain {
  double tokens_per_s = 0;  ///< Tokens of documents per second with dynamic context parallelism.
  /// Gain in tokens of documents per second over the plan without dynamic context parallelism, as a
  /// share: 0.05 is 5 % more.
  double gain = 0;
};
/// Predicts the gain of dynamic context parallelism: documents that fit on one rank are computed by
/// one rank each, the others as planned. nullopt if the plan does not cut packed sequences over
/// context ranks, or uses what Megatron does not run with it: degrees that are no powers of two,
/// experts, latent attention, sharded parameters.
std::optional<DynamicContextParallelGain> dynamic_context_parallel_gain(
    const PlanPrediction& prediction);

/// Returns the JSON value of the key `documents` in the output of `stepwright predict --json`
/// (docs/formats.md, "Prediction").
nlohmann::ordered_json document_metrics_json(const PlanPrediction& prediction);

}  // namespace stepwright::simulate
