#include "stepwright/step/document_sizes.h"

#include <algorithm>
#include <cmath>

#include "stepwright/core/divide_up.h"

namespace stepwright::step {
namespace {

/// Each document is padded to a multiple of this number of tokens.
std::int64_t document_multiple(std::int64_t context) { return context > 1 ? 2 * context : 1; }

std::int64_t filled_up(std::int64_t tokens, std::int64_t multiple) {
  return ceil_divide(tokens, multiple) * multiple;
}

/// Number of sequences whose longest one sets a micro-batch's length; 1 if sequences are sorted by
/// length, as they are then equally long.
std::int64_t compared(const packing::Packing& packing, const plan::Plan& plan) {
  return packing.kind == packing::PackingKind::kSorted ? 1 : plan.micro_batch;
}

/// Share of a sequence's documents that still fit when each is padded.
double room_share(const packing::PackingStatistics& packs, std::int64_t context) {
  return 1 / packing::document_padding_factor(packs.documents, document_multiple(context));
}

/// Largest context-parallel degree that the sequence length and the cluster allow.
std::int64_t largest_context(const plan::Job& job) {
  return std::min(job.cluster.devices(), std::max<std::int64_t>(1, job.length / 2));
}

bool is_packed(const plan::Job& job) {
  return job.documents && job.documents->packing.kind != packing::PackingKind::kNone;
}

/// True if sequences are not padded: a micro-batch concatenates them.
bool is_unfilled(const plan::Job& job) {
  return job.documents && job.documents->packing.pad_to == packing::PaddingTarget::kNone;
}

/// Standard deviations above the mean at which the largest micro-batch of a run is assumed: one
/// micro-batch in 740 is larger.
constexpr double kLargestDeviations = 3;

/// Tokens per sequence of a micro-batch without padding: of the mean micro-batch, or of the
/// largest, which has at least the longest sequence.
double unfilled_length(const plan::Job& job, const plan::Plan& plan,
                       RepresentativeMicroBatch size) {
  const packing::PackingStatistics& packs = job.documents->packs;
  const double mean = packing::total_tokens(
      mean_masked_documents_by_length(job, plan, RepresentativeMicroBatch::kMean));
  if (size == RepresentativeMicroBatch::kMean) return mean;
  const auto sequences = static_cast<double>(compared(job.documents->packing, plan));
  const double deviation = std::sqrt(packs.tokens.variance / sequences);
  const auto longest = static_cast<double>(packs.fills.back().length);
  return std::max(mean + kLargestDeviations * deviation, mean + (longest - mean) / sequences);
}

}  // namespace

std::int64_t padded_sequence_tokens(const plan::Job& job, const plan::Plan& plan,
                                    RepresentativeMicroBatch size) {
  const bool unfilled = is_unfilled(job);
  const bool largest = size == RepresentativeMicroBatch::kLargest;
  if (!has_unequal_lengths(job) || (largest && !unfilled)) return job.length;
  const packing::PackingStatistics& packs = job.documents->packs;
  if (size == RepresentativeMicroBatch::kLeast) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(packs.tokens.mean));
  }
  const std::int64_t multiple = document_multiple(plan.parallel.context) * plan.parallel.tensor;
  const double tokens = unfilled ? unfilled_length(job, plan, size)
                                 : packing::total_tokens(packing::longest_sequence_distribution(
                                       packs.fills, compared(job.documents->packing, plan)));
  return std::min(job.length, filled_up(static_cast<std::int64_t>(std::ceil(tokens)), multiple));
}

bool has_unequal_lengths(const plan::Job& job) {
  return job.documents && job.documents->packing.pad_to != packing::PaddingTarget::kLength;
}

packing::LengthHistogram mean_masked_documents_by_length(const plan::Job& job,
                                                         const plan::Plan& plan,
                                                         RepresentativeMicroBatch size) {
  if (!is_packed(job) && !is_unfilled(job)) return {};
  const packing::PackingStatistics& packs = job.documents->packs;
  const bool least = size == RepresentativeMicroBatch::kLeast;
  const std::int64_t context = least ? largest_context(job) : plan.parallel.context;
  const double share = is_unfilled(job) ? 1 : room_share(packs, context);
  packing::LengthHistogram documents = packs.documents;
  const std::int64_t multiple = least ? 1 : document_multiple(plan.parallel.context);
  for (packing::DocumentLengthCount& each : documents) {
    each.length = filled_up(each.length, multiple);
    each.count *= share;
  }
  return documents;
}

packing::LengthHistogram mean_documents_by_length(const plan::Job& job, const plan::Plan& plan) {
  if (!job.documents) return {{job.length, 1}};
  packing::LengthHistogram documents = job.documents->packs.documents;
  const bool fills = is_packed(job) && !is_unfilled(job);
  const double share = fills ? room_share(job.documents->packs, plan.parallel.context) : 1;
  for (packing::DocumentLengthCount& each : documents) each.count *= share;
  return documents;
}

double trained_data_tokens_per_step(const plan::Job& job) {
  if (!job.documents) return job.tokens();
  return static_cast<double>(job.sequences) * job.documents->packs.tokens.mean;
}

StepTokens step_tokens(const plan::Job& job, const plan::Plan& plan) {
  const auto sequences = static_cast<double>(job.sequences);
  StepTokens tokens;
  tokens.slots = sequences * static_cast<double>(padded_sequence_tokens(
                                 job, plan, RepresentativeMicroBatch::kMean));
  tokens.of_documents = sequences * packing::total_tokens(mean_documents_by_length(job, plan));
  return tokens;
}

}  // namespace stepwright::step
