// The law for steps with unequal micro-batches, compared with random steps that are simulated.
#include "stepwright/simulate/price/uneven.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "stepwright/cluster/catalog.h"
#include "stepwright/model/catalog.h"
#include "stepwright/simulate/document_figures.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::simulate {
namespace {

constexpr std::int64_t kLength = 4096;

plan::Job job_of_documents(const packing::Packing& packing, std::int64_t sequences) {
  plan::Job job;
  job.model_name = "llama-3-8b";
  job.model = *model::built_in_model(job.model_name);
  job.cluster = *cluster::built_in_cluster("dgx-h100", 8);
  job.sequences = sequences;
  job.length = kLength;
  job.documents = plan::PackedDocumentBatch{
      .lengths = packing::lognormal_length_histogram(900, 0.9), .packing = packing};
  job.documents->packs =
      packing::packed_sequence_statistics(job.documents->lengths, packing, kLength);
  return job;
}

packing::Packing packed(packing::PackingKind kind = packing::PackingKind::kGreedy) {
  return {.kind = kind, .too_long = packing::LongDocumentPolicy::kDrop};
}

/// Draws many sequences and packs them; returns their attention pairs divided by the mean.
std::vector<double> drawn_pairs(const plan::Job& job) {
  std::vector<std::int64_t> lengths;
  std::mt19937_64 random(5);
  std::vector<double> weights;
  for (const auto& [length, count] : job.documents->lengths) {
    weights.push_back(length > kLength ? 0 : count);
  }
  std::discrete_distribution<std::size_t> draw(weights.begin(), weights.end());
  for (int i = 0; i < 60'000; ++i) lengths.push_back(job.documents->lengths[draw(random)].length);
  std::vector<double> pairs;
  double mean = 0;
  for (const packing::Documents& pack :
       packing::pack_documents(lengths, kLength, job.documents->packing.kind)) {
    double sum = 0;
    for (const std::int64_t length : pack) sum += packing::causal_attention_pairs(length);
    pairs.push_back(sum);
    mean += sum;
  }
  for (double& each : pairs) each *= static_cast<double>(pairs.size()) / mean;
  return pairs;
}

/// Returns the mean extra seconds of random steps over a step of equal micro-batches. Each rank is
/// simulated with its own micro-batches, and the step ends with the last rank. `seconds`: time of a
/// micro-batch.
double drawn_waits(const plan::Job& job, const plan::Plan& plan,
                   const MicroBatchGrowthSeconds& seconds) {
  const std::vector<double> pairs = drawn_pairs(job);
  std::mt19937_64 random(9);
  SimulatedScheduleCache store;
  const std::int64_t count = plan::micro_batches_per_pipeline(job, plan);
  const auto schedule = store.turns({plan.schedule, plan.parallel.pipeline, count});
  schedule::PipelineScheduleSeconds turns;
  const double all = seconds.pairs + seconds.tokens;
  turns.parts.assign(static_cast<std::size_t>(plan.parallel.pipeline),
                     {{.forward = all / 3, .backward = 2 * all / 3}});
  schedule::ScheduleTurnSimulator player;
  const double even_s =
      schedule::makespan_s(player.turn_end_seconds(schedule->order, schedule->turns, turns));
  constexpr int kSteps = 300;
  double waits = 0;
  for (int step = 0; step < kSteps; ++step) {
    double last_s = 0;
    for (std::int64_t rank = 0; rank < plan.parallel.data; ++rank) {
      turns.factors.clear();
      for (std::int64_t i = 0; i < count; ++i) {
        double mean = 0;
        for (std::int64_t k = 0; k < plan.micro_batch; ++k) {
          mean += pairs[random() % pairs.size()] / static_cast<double>(plan.micro_batch);
        }
        turns.factors.push_back((seconds.tokens + seconds.pairs * mean) / all);
      }
      last_s = std::max(last_s, schedule::makespan_s(player.turn_end_seconds(
                                    schedule->order, schedule->turns, turns)));
    }
    waits += (last_s - even_s) / kSteps;
  }
  return waits;
}

plan::Plan plan_with(std::int64_t data, std::int64_t pipeline, std::int64_t micro_batch) {
  plan::Plan plan;
  plan.parallel.data = data;
  plan.parallel.pipeline = pipeline;
  plan.micro_batch = micro_batch;
  return plan;
}

TEST(Uneven, WaitsAreNearToThoseOfDrawnSteps) {
  const MicroBatchGrowthSeconds seconds{.pairs = 0.2, .tokens = 0.8};
  for (const auto& [data, pipeline, micro_batch, count] :
       {std::array{8, 1, 1, 8}, std::array{64, 1, 1, 4}, std::array{16, 1, 4, 2},
        std::array{64, 1, 1, 1}, std::array{4, 4, 1, 16}, std::array{8, 8, 1, 32},
        std::array{1, 8, 1, 64}, std::array{8, 2, 2, 16}}) {
    const plan::Plan plan = plan_with(data, pipeline, micro_batch);
    const plan::Job job = job_of_documents(packed(), data * micro_batch * count);
    UnevenMicroBatchWaitModel law(job, std::make_shared<SimulatedScheduleCache>());
    const double step_s = count + pipeline - 1;
    EXPECT_NEAR(law.expected_waits_of_plan(plan, seconds).waits_s, drawn_waits(job, plan, seconds),
                0.015 * step_s)
        << "data " << data << ", pipeline " << pipeline << ", micro-batch " << micro_batch
        << ", micro-batches " << count;
  }
}

/// The largest micro-batch decides in this case, while the law knows only the tail of a sum.
TEST(Uneven, WithFewMicroBatchesForManyStagesTheLawIsLow) {
  const MicroBatchGrowthSeconds seconds{.pairs = 0.2, .tokens = 0.8};
  for (const auto& [data, count] : {std::array{4, 8}, std::array{8, 4}, std::array{1, 8}}) {
    const plan::Plan plan = plan_with(data, 16, 1);
    const plan::Job job = job_of_documents(packed(), data * count);
    UnevenMicroBatchWaitModel law(job, std::make_shared<SimulatedScheduleCache>());
    const double waits_s = law.expected_waits_of_plan(plan, seconds).waits_s;
    const double step_s = count + 15;
    EXPECT_GT(waits_s, 0) << "data " << data << ", micro-batches " << count;
    EXPECT_NEAR(waits_s, drawn_waits(job, plan, seconds), 0.07 * step_s)
        << "data " << data << ", micro-batches " << count;
  }
}

TEST(Uneven, OneRankWithoutAPipelineWaitsForNobody) {
  const plan::Job job = job_of_documents(packed(), 8);
  UnevenMicroBatchWaitModel law(job, std::make_shared<SimulatedScheduleCache>());
  const UnevenMicroBatchWaits uneven =
      law.expected_waits_of_plan(plan_with(1, 1, 1), {.pairs = 0.2, .tokens = 0.8});
  EXPECT_NEAR(uneven.waits_s, 0, 1e-4);
  EXPECT_LT(uneven.low_s, 0);
  EXPECT_GT(uneven.high_s, 0);
}

TEST(Uneven, RanksThatGatherParametersWaitInEveryMicroBatch) {
  const plan::Job job = job_of_documents(packed(), 64);
  UnevenMicroBatchWaitModel law(job, std::make_shared<SimulatedScheduleCache>());
  const MicroBatchGrowthSeconds seconds{.pairs = 0.2, .tokens = 0.8};
  plan::Plan plan = plan_with(8, 1, 1);
  const double apart = law.expected_waits_of_plan(plan, seconds).waits_s;
  plan.sharding = {.parameters = plan::StateShardingScope::kGlobal,
                   .gradients = plan::StateShardingScope::kGlobal,
                   .optimizer = plan::StateShardingScope::kGlobal};
  EXPECT_GT(law.expected_waits_of_plan(plan, seconds).waits_s, 2 * apart);
}

TEST(Uneven, DealingByCostAndSortingTakeTheWaitsAway) {
  const MicroBatchGrowthSeconds seconds{.pairs = 0.2, .tokens = 0.8};
  const plan::Plan plan = plan_with(8, 1, 1);
  const auto waits = [&](const packing::Packing& packing) {
    const plan::Job job = job_of_documents(packing, 64);
    return UnevenMicroBatchWaitModel(job, std::make_shared<SimulatedScheduleCache>())
        .expected_waits_of_plan(plan, seconds)
        .waits_s;
  };
  packing::Packing dealt = packed();
  dealt.balance = packing::SequenceToRankAssignment::kByCost;
  EXPECT_LT(waits(dealt), 0.3 * waits(packed()));
  EXPECT_EQ(waits(packed(packing::PackingKind::kSorted)), 0);
}

/// Half of the sequences are one document, half are eight. Of eight ranks with one sequence each,
/// at least one has the long document in all but one of 256 steps: half of the difference above the
/// mean.
TEST(Uneven, MicroBatchesDifferByWhatTheyTakeAlone) {
  const packing::Packing packing = packed(packing::PackingKind::kFirstFit);
  const auto figures = [&](const packing::LengthHistogram& lengths) {
    plan::Job job = job_of_documents(packing, 8);
    job.cluster = *cluster::built_in_cluster("dgx-h100", 1);
    job.documents->lengths = lengths;
    job.documents->packs = packing::packed_sequence_statistics(lengths, packing, kLength);
    return document_step_metrics(predict_plan({job, plan_with(8, 1, 1)}));
  };
  const double difference = figures({{4096, 1}}).even_step_s - figures({{512, 1}}).even_step_s;
  EXPECT_GT(difference, 0);
  const double waits = figures({{512, 8}, {4096, 1}}).uneven.waits_s;
  EXPECT_NEAR(waits / difference, 0.5, 0.08);
}

TEST(Uneven, PredictionsAddWhatStepsWaitAndCountTokensOfDocuments) {
  plan::Job job = job_of_documents(packed(), 512);
  plan::Plan plan = plan_with(64, 1, 1);
  plan.recompute.kind = plan::RecomputeKind::kFull;
  plan.sharding = {.parameters = plan::StateShardingScope::kGlobal,
                   .gradients = plan::StateShardingScope::kGlobal,
                   .optimizer = plan::StateShardingScope::kGlobal};
  const PlanPrediction prediction = predict_plan({job, plan});
  const DocumentStepMetrics figures = document_step_metrics(prediction);
  EXPECT_GT(figures.uneven.waits_s, 0);
  EXPECT_NEAR(figures.even_step_s + figures.uneven.waits_s, prediction.step_time_s(), 1e-12);
  EXPECT_NEAR(figures.efficiency, job.documents->packs.tokens.mean / kLength, 1e-9);
  EXPECT_LE(prediction.price.lower_bound_s, prediction.step_time_s());
  EXPECT_GE(prediction.price.upper_bound_s, prediction.step_time_s());
  EXPECT_NEAR(prediction.price.seconds / prediction.step_time_s(), 1, 0.05);
  // First fit fills sequences better.
  const std::vector<DocumentPackingGain> gains = document_packing_gains(prediction);
  const auto first_fit =
      std::ranges::find(gains, "batch.packing.kind=first-fit", &DocumentPackingGain::set);
  ASSERT_NE(first_fit, gains.end());
  EXPECT_GT(first_fit->gain, 0);
  const auto none = std::ranges::find(gains, "batch.packing.kind=none", &DocumentPackingGain::set);
  EXPECT_LT(none->gain, -0.3);
}

}  // namespace
}  // namespace stepwright::simulate
