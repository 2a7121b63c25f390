#include "stepwright/whole_run/whole_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "stepwright/core/error.h"
#include "stepwright/model/parameters.h"
#include "stepwright/packing/largest_of.h"
#include "stepwright/plan/files.h"
#include "stepwright/whole_run/forward_time.h"
#include "stepwright/whole_run/plans_by_run.h"

namespace stepwright::whole_run {
namespace {

const char* const kPlan = R"(stepwright: plan/2
job:
  model: llama-3-8b
  cluster: {profile: dgx-h100, nodes: 2}
  batch: {sequences: 64, length: 8192}
)";

plan::PlannedJob planned(const std::string& choices, const std::string& job = "") {
  const YamlJsonDocument document = YamlJsonDocument::parse(kPlan + job + choices, "plan.yaml");
  return plan::read_plan(document, {});
}

/// Returns settings in which everything is stated and nothing fails.
plan::TrainingRunSettings calm(double tokens = 1e12) {
  return {.tokens = tokens,
          .failures_per_device_hour = 0,
          .restart_s = 0,
          .checkpoints = plan::CheckpointWriting::kExposed,
          .storage_bytes_per_s = 1e18,
          .evaluation = 0,
          .straggler_spread = 0};
}

TEST(TrainingRunPrediction, WhereNothingGoesWrongIsSteps) {
  const simulate::PlanPrediction prediction =
      simulate::predict_plan(planned("parallel: {tensor: 2, data: 8}\n"));
  const double batch = 64.0 * 8192;
  const TrainingRunPrediction run = predict_training_run(prediction, calm(1000 * batch));
  EXPECT_EQ(run.process.steps, 1000);
  EXPECT_NEAR(run.time.wall_s, 1000 * prediction.step_time_s(), 1e-3);
  EXPECT_NEAR(run.useful_training_time_share(), 1, 1e-6);
  EXPECT_NEAR(run.low_s, prediction.interval.low * run.time.wall_s, 1e-6 * run.low_s);
  EXPECT_NEAR(run.high_s, prediction.interval.high * run.time.wall_s, 1e-6 * run.high_s);
  EXPECT_EQ(run.devices, 16);
  EXPECT_EQ(predict_training_run(prediction, calm(1000 * batch + 1)).process.steps, 1001);
}

TEST(TrainingRunPrediction, ACheckpointHoldsEachStateOnceWhateverThePlan) {
  // bf16 weights, fp32 copies and two fp32 moments: 14 bytes of each parameter.
  for (const char* choices :
       {"parallel: {data: 16}\nsharding: zero3\n",
        "parallel: {tensor: 4, data: 4}\nsharding: ddp\n",
        "parallel: {tensor: 2, pipeline: 2, data: 4}\nsharding: zero1\n",
        "parallel: {tensor: 2, data: 8}\nsharding: {states: IIG, group: 4}\n"}) {
    const simulate::PlanPrediction prediction = simulate::predict_plan(planned(choices));
    const CheckpointSize size = checkpoint_size(prediction.planned.plan, prediction.program);
    const double parameters =
        static_cast<double>(model::count_parameters(prediction.planned.job.model));
    EXPECT_NEAR(size.bytes, 14 * parameters, 0.002 * size.bytes) << choices;
    EXPECT_GE(size.largest_part_bytes, size.bytes / 16 * 0.999) << choices;
  }
}

TEST(TrainingRunPrediction, ACheckpointOfExpertsHoldsEachOnce) {
  const YamlJsonDocument document = YamlJsonDocument::parse(R"(stepwright: plan/2
job:
  model: mixtral-8x7b
  cluster: {profile: dgx-h100, nodes: 4}
  batch: {sequences: 64, length: 4096}
parallel: {tensor: 2, expert: 4, data: 16}
sequence_parallel: true
sharding: zero1
)",
                                                            "plan.yaml");
  const simulate::PlanPrediction prediction = simulate::predict_plan(plan::read_plan(document, {}));
  const CheckpointSize size = checkpoint_size(prediction.planned.plan, prediction.program);
  const double parameters =
      static_cast<double>(model::count_parameters(prediction.planned.job.model));
  EXPECT_NEAR(size.bytes, 14 * parameters, 0.002 * size.bytes);
}

/// Frozen weights are not part of a checkpoint: 14 bytes for each weight of an adapter.
TEST(TrainingRunPrediction, ACheckpointHoldsWhatIsTrained) {
  const simulate::PlanPrediction prediction = simulate::predict_plan(
      planned("parallel: {data: 16}\n", "  adapters: {rank: 8, targets: [projection]}\n"));
  const CheckpointSize size = checkpoint_size(prediction.planned.plan, prediction.program);
  const double elements = 32.0 * 8 * (4096 + 4096);
  EXPECT_NEAR(size.bytes, 14 * elements, 0.01 * size.bytes);
}

TEST(TrainingRunPrediction, StepsOfAMethodAreSaidToBeUpdatesAlone) {
  const auto said = [](const std::string& job) {
    const simulate::PlanPrediction prediction =
        simulate::predict_plan(planned("parallel: {tensor: 2, data: 8}\n", job));
    const std::vector<std::string> assumed = predict_training_run(prediction, calm()).assumed;
    return std::ranges::any_of(assumed, [](const std::string& sentence) {
      return sentence.find("only the updates of dpo") != std::string::npos;
    });
  };
  EXPECT_TRUE(said("  objective: dpo\n"));
  EXPECT_FALSE(said(""));
}

TEST(TrainingRunPrediction, AsynchronousCheckpointsExposeTheCopyAlone) {
  const simulate::PlanPrediction prediction =
      simulate::predict_plan(planned("parallel: {tensor: 2, data: 8}\n"));
  plan::TrainingRunSettings settings = calm();
  settings.failures_per_device_hour = 1e-3;
  settings.storage_bytes_per_s = 1e9;
  const TrainingRunPrediction exposed = predict_training_run(prediction, settings);
  settings.checkpoints = plan::CheckpointWriting::kAsynchronous;
  settings.host_copy_bytes_per_s = 20e9;
  const TrainingRunPrediction hidden = predict_training_run(prediction, settings);
  EXPECT_NEAR(exposed.process.copy_s, exposed.checkpoint.bytes / 1e9, 1e-9);
  EXPECT_NEAR(hidden.process.copy_s, hidden.checkpoint.largest_part_bytes / 20e9, 1e-9);
  EXPECT_EQ(hidden.process.write_s, exposed.process.copy_s);
  EXPECT_LT(hidden.time.wall_s, exposed.time.wall_s);
}

TEST(TrainingRunPrediction, AStatedIntervalIsTakenInWholeSteps) {
  const simulate::PlanPrediction prediction =
      simulate::predict_plan(planned("parallel: {tensor: 2, data: 8}\n"));
  plan::TrainingRunSettings settings = calm();
  settings.failures_per_device_hour = 1e-4;
  settings.checkpoint_interval_s = 100 * prediction.step_time_s() + 0.1;
  EXPECT_EQ(predict_training_run(prediction, settings).process.checkpoint_every, 100);
  settings.checkpoint_interval_s = 1e-6;
  EXPECT_EQ(predict_training_run(prediction, settings).process.checkpoint_every, 1);
  settings.checkpoint_interval_s = std::nullopt;
  const TrainingRunPrediction best = predict_training_run(prediction, settings);
  EXPECT_EQ(best.process.checkpoint_every, best.best_every);
}

TEST(TrainingRunPrediction, StragglersAreTheSlowestOfAllDevices) {
  const simulate::PlanPrediction prediction =
      simulate::predict_plan(planned("parallel: {tensor: 2, data: 8}\n"));
  plan::TrainingRunSettings settings = calm();
  settings.straggler_spread = 0.02;
  const TrainingRunPrediction run = predict_training_run(prediction, settings);
  EXPECT_NEAR(run.process.straggling_s,
              0.02 * packing::maximum_distribution(16, 0).mean * prediction.step_time_s(), 1e-12);
}

TEST(TrainingRunPrediction, EvaluationIsForwardPassesOfTheProgram) {
  for (const char* choices : {"parallel: {tensor: 2, data: 8}\nsharding: zero3\n",
                              "parallel: {tensor: 2, pipeline: 4, data: 2}\n"}) {
    const simulate::PlanPrediction prediction = simulate::predict_plan(planned(choices));
    const double forward = evaluation_batch_time_s(prediction);
    // A third of the FLOPs, without gradients' messages and the update.
    EXPECT_GT(forward, 0.2 * prediction.step_time_s()) << choices;
    EXPECT_LT(forward, 0.45 * prediction.step_time_s()) << choices;
    plan::TrainingRunSettings settings = calm();
    settings.evaluation = std::nullopt;
    settings.evaluation_tokens = 10 * 64 * 8192.0;
    settings.evaluation_every = 100;
    const TrainingRunPrediction run = predict_training_run(prediction, settings);
    EXPECT_NEAR(run.process.evaluation_s, 10 * forward, 1e-9 * forward);
    EXPECT_EQ(run.process.evaluation_every, 100);
  }
}

TEST(TrainingRunPrediction, AShareOfEvaluationIsThatShare) {
  const simulate::PlanPrediction prediction =
      simulate::predict_plan(planned("parallel: {tensor: 2, data: 8}\n"));
  plan::TrainingRunSettings settings = calm();
  settings.evaluation = 0.05;
  const TrainingRunPrediction run = predict_training_run(prediction, settings);
  EXPECT_NEAR(run.useful_training_time_share(), 0.95, 1e-6);
}

/// Half of all runs have a failure, which costs a hundred days.
TEST(TrainingRunPrediction, IsNoShorterThanOneInWhichNothingFails) {
  const simulate::PlanPrediction prediction =
      simulate::predict_plan(planned("parallel: {tensor: 2, data: 8}\n"));
  plan::TrainingRunSettings settings = calm();
  const TrainingRunPrediction none = predict_training_run(prediction, settings);
  settings.failures_per_device_hour = 0.5 * 3600 / (16 * none.time.wall_s);
  settings.restart_s = 100 * 86400;
  const TrainingRunPrediction run = predict_training_run(prediction, settings);
  EXPECT_GT(run.time.wall_s, none.time.wall_s);
  EXPECT_NEAR(run.low_s, none.low_s, 1e-6 * none.low_s);
  EXPECT_NEAR(run.useful_high, 1, 1e-6);
  EXPECT_GT(run.high_s, none.high_s);
}

TEST(TrainingRunPrediction, SparesAndIdleDevicesArePaid) {
  const simulate::PlanPrediction prediction =
      simulate::predict_plan(planned("parallel: {tensor: 2, data: 8}\n"));
  plan::TrainingRunSettings settings = calm();
  settings.spare_nodes = 1;
  settings.price_per_gpu_hour = 2;
  const TrainingRunPrediction run =
      predict_training_run(prediction, settings, {.devices = 10, .nodes = 1});
  EXPECT_EQ(run.devices, 16 + 8 + 10);
  EXPECT_EQ(run.process.spare_nodes, 2);
  EXPECT_NEAR(*run.cost(3600), 2 * 34, 1e-9);
}

TEST(TrainingRunPrediction, TheBestNumberOfSparesIsCheapest) {
  const simulate::PlanPrediction prediction =
      simulate::predict_plan(planned("parallel: {tensor: 2, data: 8}\n"));
  plan::TrainingRunSettings settings = calm();
  settings.failures_per_device_hour = 1e-3;
  EXPECT_FALSE(predict_training_run(prediction, settings).best_spare_nodes);
  settings.repair_s = 2 * 86400;
  settings.price_per_gpu_hour = 1;
  const auto cost = [&](std::int64_t spares) {
    settings.spare_nodes = static_cast<double>(spares);
    const TrainingRunPrediction run = predict_training_run(prediction, settings);
    return *run.cost(run.time.wall_s);
  };
  const std::int64_t best = *predict_training_run(prediction, settings).best_spare_nodes;
  EXPECT_GT(best, 0);
  EXPECT_LT(cost(best), cost(best - 1));
  EXPECT_LT(cost(best), cost(best + 1));
}

TEST(TrainingRunPrediction, APlanFileKeepsWhatItsJobSaysOfIt) {
  const plan::PlannedJob given =
      planned("parallel: {tensor: 2, data: 8}\n",
              "  run: {tokens: 2e12, repair: 1d, checkpoints: asynchronous}\n");
  EXPECT_EQ(given.job.run.repair_s, 86400);
  const YamlJsonDocument written = YamlJsonDocument::parse(plan::plan_yaml(given), "plan.yaml");
  EXPECT_EQ(plan::read_plan(written, {}).job.run, given.job.run);
  const plan::PlannedJob silent = planned("parallel: {tensor: 2, data: 8}\n");
  EXPECT_EQ(plan::plan_yaml(silent).find("run"), std::string::npos);
}

TEST(TrainingRunPrediction, NeedsTokens) {
  const simulate::PlanPrediction prediction =
      simulate::predict_plan(planned("parallel: {tensor: 2, data: 8}\n"));
  EXPECT_THROW(predict_training_run(prediction, {}), Error);
}

TEST(CompareRuns, TheFastestStepNeedNotBeTheShortestRun) {
  const YamlJsonDocument document = YamlJsonDocument::parse(R"(stepwright: job/2
model: llama-3-8b
cluster: {profile: dgx-h100, nodes: 4}
batch: {sequences: 64, length: 8192}
run: {tokens: 1e12, device_mttf: 2000h, repair: 5d}
)",
                                                            "job.yaml");
  const plan::Job job = plan::read_job(document, {});
  const auto search = [](const plan::Job& part) {
    return tune::tune(part, {.threads = 1, .top = 2});
  };
  const PlanRunComparison found = compare_plans_by_run(job, search);
  const PlanWithTrainingRun& best = found.candidates.front();
  const PlanWithTrainingRun& fastest = found.candidates[found.fastest_step];
  // Of four nodes one is out after 62 hours, for 120: spares are worth more than their steps.
  EXPECT_EQ(fastest.prediction.planned.job.cluster.nodes, 4);
  EXPECT_LT(best.prediction.planned.job.cluster.nodes, 4);
  EXPECT_GT(best.run.process.step_s, fastest.run.process.step_s);
  EXPECT_LT(best.run.time.wall_s, fastest.run.time.wall_s);
  EXPECT_EQ(best.run.devices, fastest.run.devices);
  for (std::size_t i = 1; i < found.candidates.size(); ++i) {
    EXPECT_LE(found.candidates[i - 1].run.time.wall_s, found.candidates[i].run.time.wall_s);
  }
}

plan::Job failing_job(const std::string& run) {
  const YamlJsonDocument document = YamlJsonDocument::parse(R"(stepwright: job/2
model: llama-3-8b
cluster: {profile: dgx-h100, nodes: 8}
batch: {sequences: 128, length: 4096}
run: )" + run,
                                                            "job.yaml");
  return plan::read_job(document, {});
}

/// Sixty-four devices fail every six minutes and restart in an hour; eight of them can keep
/// running.
TEST(CompareRuns, FewerNodesAreTriedAsLongAsTheyAreBetter) {
  const auto search = [](const plan::Job& part) {
    return tune::tune(part, {.threads = 1, .top = 1});
  };
  const PlanRunComparison found =
      compare_plans_by_run(failing_job("{tokens: 1e12, device_mttf: 7h, restart: 1h}\n"), search);
  EXPECT_EQ(found.candidates.front().prediction.planned.job.cluster.nodes, 1);
  EXPECT_EQ(found.candidates.front().idle.nodes, 7);
  ASSERT_FALSE(found.endless.empty());
  EXPECT_EQ(found.endless.front().planned.job.cluster.nodes, 8);
  EXPECT_NE(found.endless.front().why.find("no run would end"), std::string::npos);
  EXPECT_THROW(
      compare_plans_by_run(failing_job("{tokens: 1e12, device_mttf: 7h, restart: 9h}\n"), search),
      Error);
}

}  // namespace
}  // namespace stepwright::whole_run
