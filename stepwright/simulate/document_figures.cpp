#include "stepwright/simulate/document_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "stepwright/plan/canonical.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/step/document_sizes.h"

namespace stepwright::simulate {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the packings that differ from `own` in one choice, each with the field that sets it.
std::vector<std::pair<std::string, packing::Packing>> neighbours_of(const packing::Packing& own) {
  std::vector<std::pair<std::string, packing::Packing>> others;
  const auto add = [&](std::string_view key, std::string_view word, const packing::Packing& other) {
    if (!(other == own)) others.emplace_back(fmt::format("batch.packing.{}={}", key, word), other);
  };
  for (const auto& [kind, word] : packing::kPackingKindNames) {
    packing::Packing other = own;
    other.kind = kind;
    add("kind", word, other);
  }
  if (own.kind == packing::PackingKind::kFirstFit) {
    packing::Packing other = own;
    other.order = packing::PackingOrder::kLongestFirst;
    add("order", name_of(packing::kPackingOrderNames, other.order), other);
    other = own;
    other.group = 0;
    add("group", "0", other);
  }
  packing::Packing masked = own;
  masked.masks = true;
  add("masks", "true", masked);
  for (const auto& [pad_to, word] : packing::kPaddingTargetNames) {
    packing::Packing other = own;
    other.pad_to = pad_to;
    add("pad_to", word, other);
  }
  for (const auto& [balance, word] : packing::kSequenceDealingNames) {
    packing::Packing other = own;
    other.balance = balance;
    add("balance", word, other);
  }
  return others;
}

plan::PlannedJob repacked(plan::PlannedJob planned, const packing::Packing& packing) {
  plan::PackedDocumentBatch& documents = *planned.job.documents;
  documents.packing = packing;
  documents.packs =
      packing::packed_sequence_statistics(documents.lengths, packing, planned.job.length);
  return planned;
}

/// Returns the plan for documents of these lengths only, with `fewer` times fewer context ranks.
plan::PlannedJob on_ranks(plan::PlannedJob planned, packing::LengthHistogram lengths,
                          std::int64_t fewer) {
  plan::Job& job = planned.job;
  planned.plan.parallel.context /= fewer;
  planned.plan.parallel.data *= fewer;
  job.length /= fewer;
  job.sequences *= fewer;
  job.documents->lengths = std::move(lengths);
  return repacked(std::move(planned), job.documents->packing);
}

bool is_power_of_two(std::int64_t n) { return (n & (n - 1)) == 0; }

bool can_choose_context(const plan::Job& job, const plan::Plan& plan) {
  const plan::ParallelismDegrees& size = plan.parallel;
  return job.documents->packing.kind != packing::PackingKind::kNone &&
         job.documents->packing.masks && size.context > 1 &&
         is_power_of_two(size.context * size.data) && !job.model.experts && !job.model.latent &&
         plan::canonical_sharding(job, plan).parameters == plan::StateShardingScope::kNone;
}

}  // namespace

DocumentStepMetrics document_step_metrics(const PlanPrediction& prediction) {
  const auto& [job, plan] = prediction.planned;
  const packing::PackingStatistics& packs = job.documents->packs;
  const step::StepTokens tokens = step::step_tokens(job, plan);
  const double step_s = prediction.step_time_s();
  const packing::LengthHistogram documents = step::mean_documents_by_length(job, plan);
  return {
      .efficiency = tokens.of_documents / tokens.slots,
      .per_sequence = packing::total_document_count(documents),
      .mean_length = packing::total_tokens(documents) / packing::total_document_count(documents),
      .padded_sequence_tokens = static_cast<double>(
          step::padded_sequence_tokens(job, plan, step::RepresentativeMicroBatch::kMean)),
      .too_long = packs.too_long,
      .tokens = tokens.of_documents,
      .tokens_per_s = tokens.of_documents / step_s,
      .even_step_s = step_s - prediction.price.uneven.waits_s,
      .uneven = prediction.price.uneven};
}

std::vector<DocumentPackingGain> document_packing_gains(const PlanPrediction& prediction) {
  const double own = document_step_metrics(prediction).tokens_per_s;
  std::vector<DocumentPackingGain> gains;
  for (const auto& [set, packing] : neighbours_of(prediction.planned.job.documents->packing)) {
    const PlanPrediction other = predict_plan(repacked(prediction.planned, packing));
    const double tokens_per_s = document_step_metrics(other).tokens_per_s;
    gains.push_back({set, other.step_time_s(), tokens_per_s, tokens_per_s / own - 1});
  }
  std::ranges::stable_sort(gains, std::greater{}, &DocumentPackingGain::gain);
  return gains;
}

std::optional<DynamicContextParallelGain> dynamic_context_parallel_gain(
    const PlanPrediction& prediction) {
  const plan::PlannedJob& planned = prediction.planned;
  if (!can_choose_context(planned.job, planned.plan)) return std::nullopt;
  const std::int64_t context = planned.plan.parallel.context;
  packing::LengthHistogram short_ones;
  packing::LengthHistogram long_ones;
  for (const packing::DocumentLengthCount& each :
       step::mean_documents_by_length(planned.job, planned.plan)) {
    (each.length <= planned.job.length / context ? short_ones : long_ones).push_back(each);
  }
  if (short_ones.empty()) return std::nullopt;
  double seconds = 0;
  const auto add = [&](const packing::LengthHistogram& lengths, std::int64_t fewer) {
    if (lengths.empty()) return true;
    const plan::PlannedJob part = on_ranks(planned, lengths, fewer);
    if (plan::find_plan_rejection(part.job, part.plan)) return false;
    seconds +=
        packing::total_tokens(lengths) / document_step_metrics(predict_plan(part)).tokens_per_s;
    return true;
  };
  if (!add(short_ones, context) || !add(long_ones, 1)) return std::nullopt;
  const double tokens_per_s =
      (packing::total_tokens(short_ones) + packing::total_tokens(long_ones)) / seconds;
  return DynamicContextParallelGain{
      tokens_per_s, tokens_per_s / document_step_metrics(prediction).tokens_per_s - 1};
}

Json document_metrics_json(const PlanPrediction& prediction) {
  const DocumentStepMetrics figures = document_step_metrics(prediction);
  const double step_s = prediction.step_time_s();
  const std::optional<DynamicContextParallelGain> dynamic =
      dynamic_context_parallel_gain(prediction);
  Json gains = Json::array();
  for (const DocumentPackingGain& gain : document_packing_gains(prediction)) {
    gains.push_back({{"set", gain.set},
                     {"step_time_s", gain.step_time_s},
                     {"document_tokens_per_s", gain.tokens_per_s},
                     {"gain", gain.gain}});
  }
  return {{"efficiency", figures.efficiency},
          {"documents_per_sequence", figures.per_sequence},
          {"mean_length", figures.mean_length},
          {"sequence_length", figures.padded_sequence_tokens},
          {"too_long_share", figures.too_long},
          {"tokens_per_step", figures.tokens},
          {"document_tokens_per_s", figures.tokens_per_s},
          {"even_step_s", figures.even_step_s},
          {"waits_s", figures.uneven.waits_s},
          {"steps_low_s", step_s + figures.uneven.low_s},
          {"steps_high_s", step_s + figures.uneven.high_s},
          {"gains", gains},
          {"dynamic_context",
           dynamic ? Json{{"document_tokens_per_s", dynamic->tokens_per_s}, {"gain", dynamic->gain}}
                   : Json(nullptr)}};
}

}  // namespace stepwright::simulate
