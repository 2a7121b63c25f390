#include "stepwright/cost/cost_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stepwright/cluster/catalog.h"
#include "tests/cost/jobs.h"

namespace stepwright::cost {
namespace {

std::array<cluster::GroupLayout, plan::kGroupKinds> tensor_and_data(
    const cluster::Cluster& cluster) {
  std::array<cluster::GroupLayout, plan::kGroupKinds> layouts;
  layouts.fill(cluster::network_layout_of_strided_group(cluster, 1, 1));
  layouts[static_cast<std::size_t>(plan::CommunicatorKind::kTensor)] =
      cluster::network_layout_of_strided_group(cluster, 8, 1);
  layouts[static_cast<std::size_t>(plan::CommunicatorKind::kDataContext)] =
      cluster::network_layout_of_strided_group(cluster, 16, 1);
  return layouts;
}

step::Operator gather(plan::CommunicatorKind group, step::ParallelismScheme scheme) {
  return {.kind = step::OperatorKind::kAllGather,
          .scheme = scheme,
          .group = group,
          .payload_elements = 100'000'000};
}

/// A board that no published run used, although many runs used its generation.
TEST(CostModel, AVariantHasTheIntervalOfAnUnknownDevice) {
  const auto interval = [](const char* name) {
    plan::Job job;
    job.cluster = cluster::load_cluster(name, 2);
    job.framework.name = "megatron-core";
    return CostModel(job, built_in_training_conditions()).step_time_ratio_interval();
  };
  const StepTimeRatioUncertainty intervals = built_in_training_conditions().intervals;
  const double unknown = std::pow(intervals.known.high, intervals.unknown);
  EXPECT_DOUBLE_EQ(interval("dgx-h100").high, intervals.known.high);
  EXPECT_DOUBLE_EQ(interval("h20-8gpu").high, unknown);
  EXPECT_DOUBLE_EQ(interval("mi355x-8gpu").high, unknown);
  EXPECT_LT(interval("h20-8gpu").low, interval("dgx-h100").low);
}

/// Compares the logarithm of an interval's width with that of a known job.
TEST(CostModel, IntervalsWidenWithTheDistanceOfAKind) {
  const StepTimeRatioUncertainty intervals{
      .known = {.low = 0.9, .high = 1.2}, .unknown = 1.5, .experts = 2, .waits = 3};
  TrainingConditions conditions = built_in_training_conditions();
  conditions.intervals = intervals;
  const auto factor = [&](const char* cluster, const char* framework, DType precision, bool experts,
                          double waits = 0) {
    plan::Job job;
    job.cluster = cluster::load_cluster(cluster, 2);
    job.framework.name = framework;
    job.precision = precision;
    if (experts) job.model.experts.emplace();
    const CostModel cost(job, conditions);
    const StepTimeRatioInterval never = cost.step_time_ratio_interval();
    EXPECT_NEAR(std::pow(1 + cost.step_time_relative_error(), 2), never.high / never.low, 1e-9);
    const StepTimeRatioInterval interval = cost.step_time_ratio_interval(waits);
    EXPECT_NEAR(std::log(interval.low) / std::log(0.9), std::log(interval.high) / std::log(1.2),
                1e-9);
    return std::log(interval.high) / std::log(1.2);
  };
  EXPECT_NEAR(factor("dgx-h100", "megatron-core", DType::kBf16, false), 1, 1e-9);
  EXPECT_NEAR(factor("dgx-h100", "megatron-core", DType::kFp8, false), 1, 1e-9);
  EXPECT_NEAR(factor("dgx-h100", "colossalai", DType::kBf16, false), 1.5, 1e-9);
  EXPECT_NEAR(factor("mi300x-8gpu", "megatron-core", DType::kBf16, false), 1.5, 1e-9);
  EXPECT_NEAR(factor("mi300x-8gpu", "colossalai", DType::kBf16, false), 2.25, 1e-9);
  EXPECT_NEAR(factor("mi300x-8gpu", "colossalai", DType::kFp32, false), 3.375, 1e-9);
  EXPECT_NEAR(factor("dgx-h100", "megatron-core", DType::kBf16, true), 2, 1e-9);
  EXPECT_NEAR(factor("dgx-h100", "megatron-core", DType::kBf16, false, 0.5), std::sqrt(3), 1e-9);
  EXPECT_NEAR(factor("dgx-h100", "colossalai", DType::kBf16, true, 1), 9, 1e-9);
}

TEST(CostModel, IntervalsOfConditionsAreReadAndWritten) {
  TrainingConditions conditions = built_in_training_conditions();
  conditions.intervals = {
      .known = {.low = 0.8, .high = 1.5}, .unknown = 1.25, .experts = 2.5, .waits = 4};
  const YamlJsonDocument written =
      YamlJsonDocument::parse(training_conditions_yaml(conditions), "conditions.yaml");
  const StepTimeRatioUncertainty read = read_conditions(written).intervals;
  EXPECT_DOUBLE_EQ(read.known.low, 0.8);
  EXPECT_DOUBLE_EQ(read.known.high, 1.5);
  EXPECT_DOUBLE_EQ(read.unknown, 1.25);
  EXPECT_DOUBLE_EQ(read.experts, 2.5);
  EXPECT_DOUBLE_EQ(read.waits, 4);
}

// A cast reads 2 bytes an element and writes 1 twice, at .8 of 3.35 TB/s.
TEST(CostModel, NarrowProductsPayForTheirCasts) {
  const plan::Job job = h100_job();
  const CostModel cost(job, TrainingConditions{});
  const auto cast_s = [&](step::Phase phase) {
    const step::Operator op{.kind = step::OperatorKind::kLinear,
                            .phase = phase,
                            .dtype = DType::kFp8,
                            .shape = {.rows = 4096, .columns = 1024, .inner = 8192}};
    return cost.compute_s(op) - cost.compute().operator_run_seconds(op);
  };
  const double element_s = 4 / (0.8 * job.cluster.device.memory_bandwidth_bytes_per_s);
  EXPECT_NEAR(cast_s(step::Phase::kForward), 4096.0 * 8192 * element_s, 1e-9);
  EXPECT_NEAR(cast_s(step::Phase::kDataGradient), 4096.0 * 1024 * element_s, 1e-9);
  EXPECT_EQ(cast_s(step::Phase::kWeightGradient), 0);
}

/// A product 4096 x 8192 times 8192 x 1024 in fp8, from bf16: 33.6e6 elements of input, 8.4e6 of
/// weight, 4.2e6 of gradient; 5 bytes each if a scale for the tensor must be found first, 3 with a
/// scale for each row.
TEST(CostModel, DynamicScalesReadEachOperandForEachProduct) {
  const auto bytes = [](step::Phase phase, plan::LowPrecisionCastScaling casts) {
    return low_precision_cast_bytes({.kind = step::OperatorKind::kLinear,
                                     .phase = phase,
                                     .dtype = DType::kFp8,
                                     .shape = {.rows = 4096, .columns = 1024, .inner = 8192}},
                                    casts);
  };
  const double input = 4096.0 * 8192;
  const double weight = 8192.0 * 1024;
  const double gradient = 4096.0 * 1024;
  EXPECT_EQ(bytes(step::Phase::kForward, plan::LowPrecisionCastScaling::kTensorwise),
            5 * (input + weight));
  EXPECT_EQ(bytes(step::Phase::kDataGradient, plan::LowPrecisionCastScaling::kTensorwise),
            6 * gradient + 5 * weight);
  EXPECT_EQ(bytes(step::Phase::kWeightGradient, plan::LowPrecisionCastScaling::kTensorwise),
            5 * input);
  EXPECT_EQ(bytes(step::Phase::kForward, plan::LowPrecisionCastScaling::kRowwise),
            3 * (input + weight));
  EXPECT_EQ(bytes(step::Phase::kDataGradient, plan::LowPrecisionCastScaling::kRowwise),
            3 * gradient + 5 * weight / 0.64 + 4 * input);
  EXPECT_EQ(bytes(step::Phase::kWeightGradient, plan::LowPrecisionCastScaling::kRowwise),
            (input + gradient) * (5 / 0.64) + 4 * weight);
}

TEST(CostModel, AnUpdateGrowsWithItsBytesAndWaitsForTheHostOnce) {
  TrainingConditions conditions;
  conditions.frameworks = {{.framework = "", .step_ms = 20, .update_passes = 3}};
  const plan::Job job = a100_job();
  const auto layouts = tensor_and_data(job.cluster);
  const auto seconds = [&](const TrainingConditions& c, std::int64_t parameters) {
    const step::Operator op{.kind = step::OperatorKind::kOptimizer,
                            .phase = step::Phase::kOptimizer,
                            .shape = {.rows = parameters, .inner = 30}};
    return CostModel(job, c)
        .price_template_operators(op, layouts, plan::CollectiveAlgorithmChoices{})
        .seconds;
  };
  for (const std::int64_t parameters : {1'000'000, 1'000'000'000}) {
    EXPECT_NEAR(seconds(conditions, parameters), 0.02 + 3 * seconds({}, parameters), 1e-9);
  }
}

// 1.27 s by the memory of a node with 409.6 GB/s for eight ranks, of which Adam reaches .43; 2.45 s
// by one thread for each rank, the number that torchrun sets.
TEST(CostModel, AnUpdateOfTheHostIsBoundByItsMemoryOrByTheThreadsOfAProcess) {
  plan::Job job = a100_job();
  job.cluster.devices_per_node = 8;
  job.cluster.host.memory_bandwidth_bytes_per_s = 409.6e9;
  const auto layouts = tensor_and_data(job.cluster);
  const auto seconds = [&](const char* framework, std::optional<std::int64_t> threads,
                           std::int64_t bytes = 28) {
    job.framework.name = framework;
    job.host_threads = threads;
    const step::Operator op{.kind = step::OperatorKind::kHostOptimizer,
                            .phase = step::Phase::kOptimizer,
                            .shape = {.rows = 1'000'000'000, .inner = bytes}};
    return CostModel(job, TrainingConditions{})
        .price_template_operators(op, layouts, plan::CollectiveAlgorithmChoices{})
        .seconds;
  };
  const double by_memory = 28e9 * 8 / (0.43 * 409.6e9);
  EXPECT_NEAR(seconds("", {}), by_memory, 1e-9);
  EXPECT_NEAR(seconds("deepspeed", {}), by_memory, 1e-9);
  EXPECT_NEAR(seconds("", 1), 2.45, 1e-9);
  EXPECT_NEAR(seconds("fsdp", {}), 2.45, 1e-9);
  EXPECT_NEAR(seconds("fsdp", 16), by_memory, 1e-9);
  EXPECT_NEAR(seconds("", 1, 14), 2.45, 1e-9) << "narrow numbers take a thread as long";
  EXPECT_NEAR(seconds("", 1, 42), 1.5 * 2.45, 1e-9);
}

// Of a pipeline between nodes, hosts of tensor groups wait for each other; inside a node they run
// ahead.
TEST(CostModel, StagesOnOtherNodesMakeHostsWait) {
  TrainingConditions conditions;
  conditions.frameworks = {{.framework = "", .host_us = 1000, .stage_wait = 0.5}};
  const plan::Job job = a100_job();
  const CostModel cost(job, conditions);
  step::OperatorTemplate piece;
  piece.operators = {
      {.kind = step::OperatorKind::kLinear, .shape = {.rows = 1, .columns = 1, .inner = 1}}};
  const auto seconds = [&](std::int64_t stride) {
    auto layouts = tensor_and_data(job.cluster);
    layouts[static_cast<std::size_t>(plan::CommunicatorKind::kPipeline)] =
        cluster::network_layout_of_strided_group(job.cluster, 2, stride);
    std::vector<OperatorTime> times;
    cost.price_template_operators(piece, layouts, plan::CollectiveAlgorithmChoices{}, times);
    return times.front().seconds;
  };
  EXPECT_NEAR(seconds(1), 1e-3, 1e-12);
  EXPECT_NEAR(seconds(8), 5e-3, 1e-12) << "8 tensor ranks: 1 + 8 / 2";
}

// If the device waits for the host, the host's time adds to the device's: 30 ms for 30 kernels at 1
// ms. If the host issues the same bytes ahead, 10 ms of kernels are hidden.
TEST(CostModel, TheHostStandsAloneWhereItWaitsForTheLossOfADocument) {
  TrainingConditions conditions;
  conditions.frameworks = {{.framework = "", .host_us = 1000}};
  const plan::Job job = h100_job();
  const CostModel cost(job, conditions);
  std::array<cluster::GroupLayout, plan::kGroupKinds> layouts;
  layouts.fill(cluster::network_layout_of_strided_group(job.cluster, 1, 1));
  const step::Operator loss{.kind = step::OperatorKind::kLossLocal,
                            .dtype = DType::kFp32,
                            .shape = {.rows = 65536, .columns = 128256, .inner = 30},
                            .purpose = step::OperatorPurpose::kDocumentLoss};
  step::OperatorTemplate piece;
  piece.operators = {loss};
  std::vector<OperatorTime> times;
  cost.price_template_operators(piece, layouts, {}, times);
  EXPECT_NEAR(times[0].seconds, cost.compute_s(loss) + 30e-3, 1e-9);
  piece.operators[0].purpose = step::OperatorPurpose::kPlain;
  cost.price_template_operators(piece, layouts, {}, times);
  EXPECT_NEAR(times[0].seconds, cost.compute_s(piece.operators[0]), 1e-9);
}

// Of a layer in graphs the host issues the rest alone: 1 ms for each kernel that no graph replays.
TEST(CostModel, PartsInGraphsCostTheHostNothing) {
  TrainingConditions conditions;
  conditions.frameworks = {{.framework = "", .host_us = 1000}};
  step::OperatorTemplate piece;
  for (const step::LayerPart part :
       {step::LayerPart::kAttentionNorm, step::LayerPart::kQkv, step::LayerPart::kMlpNorm,
        step::LayerPart::kFc1, step::LayerPart::kRouter, step::LayerPart::kExpertFc1}) {
    piece.operators.push_back({.kind = step::OperatorKind::kLinear,
                               .shape = {.rows = 1, .columns = 1, .inner = 1},
                               .part = part});
  }
  const auto host_ms = [&](plan::CudaGraphScope graphs) {
    plan::Job job = a100_job();
    job.kernels.cuda_graphs = graphs;
    std::vector<OperatorTime> times;
    CostModel(job, conditions)
        .price_template_operators(piece, tensor_and_data(job.cluster),
                                  plan::CollectiveAlgorithmChoices{}, times);
    double sum = 0;
    for (const OperatorTime& time : times) sum += 1e3 * time.seconds;
    return sum;
  };
  EXPECT_NEAR(host_ms({}), 6, 1e-9);
  EXPECT_NEAR(host_ms({.attention = true}), 4, 1e-9);
  EXPECT_NEAR(host_ms({.mlp = true}), 4, 1e-9);
  EXPECT_NEAR(host_ms({.router = true}), 4, 1e-9);
  EXPECT_NEAR(host_ms({.attention = true, .mlp = true, .router = true}), 1, 1e-9);
  EXPECT_LT(host_ms({.step = true}), 0.5);
}

TEST(CostModel, RunsElsewhereCorrectOnlyMessagesThatAClusterDidNotMeasure) {
  TrainingConditions slower;
  slower.devices = {{.device = "a100", .network_rate = 0.5}};
  const auto ratio = [&](const std::string& cluster, step::OperatorKind kind) {
    plan::Job job = a100_job();
    job.cluster.name = cluster;
    const cluster::GroupLayout group = cluster::network_layout_of_strided_group(job.cluster, 16, 1);
    const auto seconds = [&](const TrainingConditions& conditions) {
      return CostModel(job, conditions)
          .message_time(kind, 1e9, group, collective::CollectiveAlgorithm::kLibrary,
                        step::ParallelismScheme::kNone)
          .seconds;
    };
    return seconds(slower) / seconds({});
  };
  EXPECT_NEAR(ratio("elsewhere", step::OperatorKind::kAllReduce), 2, 1e-12);
  EXPECT_EQ(ratio("a100_sxm4_80g_perlmutter", step::OperatorKind::kAllReduce), 1);
  EXPECT_NEAR(ratio("a100_sxm4_80g_perlmutter", step::OperatorKind::kAllToAll), 2, 1e-12);
}

TEST(CostModel, PricesAMessageInItsGroupAndItsElementType) {
  const plan::Job job = a100_job();
  const CostModel cost(job);
  const auto layouts = tensor_and_data(job.cluster);
  const OperatorTime time = cost.price_template_operators(
      gather(plan::CommunicatorKind::kTensor, step::ParallelismScheme::kTensor), layouts,
      plan::CollectiveAlgorithmChoices{});
  EXPECT_EQ(
      time.seconds,
      cost.message_time(step::OperatorKind::kAllGather, 200e6,
                        cluster::network_layout_of_strided_group(job.cluster, 8, 1),
                        collective::CollectiveAlgorithm::kLibrary, step::ParallelismScheme::kTensor)
          .seconds);
  EXPECT_EQ(time.link, LinkClass::kInside);
}

TEST(CostModel, OnlyDataParallelMessagesTakeTheDataAlgorithm) {
  const plan::Job job = a100_job();
  const CostModel cost(job);
  const auto layouts = tensor_and_data(job.cluster);
  const auto seconds = [&](step::ParallelismScheme scheme,
                           collective::CollectiveAlgorithm algorithm) {
    return cost
        .price_template_operators(gather(plan::CommunicatorKind::kDataContext, scheme), layouts,
                                  {.data = algorithm})
        .seconds;
  };
  EXPECT_NE(seconds(step::ParallelismScheme::kData, collective::CollectiveAlgorithm::kTwoLevel),
            seconds(step::ParallelismScheme::kData, collective::CollectiveAlgorithm::kLibrary));
  EXPECT_EQ(seconds(step::ParallelismScheme::kControl, collective::CollectiveAlgorithm::kTwoLevel),
            seconds(step::ParallelismScheme::kData, collective::CollectiveAlgorithm::kLibrary));
}

TEST(CostModel, RepeatsAreBackToBack) {
  const plan::Job job = a100_job();
  const CostModel cost(job);
  const auto layouts = tensor_and_data(job.cluster);
  step::Operator op = gather(plan::CommunicatorKind::kTensor, step::ParallelismScheme::kTensor);
  const double one =
      cost.price_template_operators(op, layouts, plan::CollectiveAlgorithmChoices{}).seconds;
  op.repeats = 3;
  EXPECT_DOUBLE_EQ(
      cost.price_template_operators(op, layouts, plan::CollectiveAlgorithmChoices{}).seconds,
      3 * one);
}

TEST(CostModel, RoutedPayloadsCountTheBusiestRank) {
  const plan::Job job = a100_job();
  const CostModel cost(job);
  const auto layouts = tensor_and_data(job.cluster);
  step::Operator op{.kind = step::OperatorKind::kAllToAll,
                    .scheme = step::ParallelismScheme::kExpert,
                    .group = plan::CommunicatorKind::kTensor,
                    .routed = true,
                    .payload_elements = 100'000'000,
                    .busiest = 1.25};
  const double routed =
      cost.price_template_operators(op, layouts, plan::CollectiveAlgorithmChoices{}).seconds;
  op.routed = false;
  op.payload_elements = 125'000'000;
  EXPECT_EQ(routed,
            cost.price_template_operators(op, layouts, plan::CollectiveAlgorithmChoices{}).seconds);
}

TEST(CostModel, ComputationKeepsNoLinkBusy) {
  const plan::Job job = a100_job();
  const CostModel cost(job);
  const step::Operator op{.kind = step::OperatorKind::kAdd,
                          .shape = {.rows = 4096, .columns = 4096}};
  const OperatorTime time = cost.price_template_operators(op, tensor_and_data(job.cluster),
                                                          plan::CollectiveAlgorithmChoices{});
  EXPECT_EQ(time.seconds, cost.compute_s(op));
  EXPECT_EQ(time.link, LinkClass::kNone);
}

TEST(CostModel, SaysWhatIsFittedAndHowFarOffItMayBe) {
  const CostModel cost(h100_job());
  EXPECT_THAT(cost.profiles_in_use_text(), testing::StartsWith("computation by "));
  EXPECT_THAT(cost.profiles_in_use_text(), testing::EndsWith("messages unfitted"));
  EXPECT_GE(cost.step_time_relative_error(), 0.1);
  EXPECT_LE(cost.step_time_relative_error(), 0.3);
}

TEST(CostModel, OverlapIsNeverFree) {
  const OverlapSlowdownFactors contention = CostModel(h100_job()).contention();
  EXPECT_GT(contention.compute_beside_inside, 1);
  EXPECT_GT(contention.compute_beside_network, 1);
}

TEST(CostModel, LaysOutEveryKindOfGroupOfAPlan) {
  const plan::Job job = a100_job();
  plan::Plan plan;
  plan.parallel = {.tensor = 4, .pipeline = 2, .data = 2};
  const plan::RankGrid grid(plan);
  const auto layouts = rank_group_network_layouts(job.cluster, grid);
  for (const Named<plan::CommunicatorKind>& entry : plan::kGroupNames) {
    const auto& layout = layouts[static_cast<std::size_t>(entry.value)];
    EXPECT_EQ(layout.size, grid.size(entry.value)) << entry.name;
    EXPECT_EQ(layout,
              plan::rank_group_network_layout(job.cluster, grid.communicator_shape(entry.value)))
        << entry.name;
  }
}

// The last product of an MLP stands for the hooks of three modules without sharded parameters.
TEST(CostModel, ModulesWithoutShardedParametersHaveHooks) {
  plan::Job job = h100_job();
  job.framework.name = "deepspeed";
  const CostModel cost(job, built_in_training_conditions());
  const auto host_us = [&](step::LayerPart part, step::Phase phase, std::uint8_t fetches) {
    return 1e6 * cost.host_kernel_launch_seconds({.kind = step::OperatorKind::kLinear,
                                                  .phase = phase,
                                                  .dtype = DType::kBf16,
                                                  .part = part,
                                                  .module_fetches = fetches});
  };
  using enum step::LayerPart;
  const double launch_us = host_us(kFc1, step::Phase::kForward, 0);
  EXPECT_NEAR(host_us(kFc1, step::Phase::kForward, 1) - launch_us, 160, 1e-6);
  EXPECT_NEAR(host_us(kFc2, step::Phase::kForward, 1) - launch_us, 160 + 3 * 111, 1e-6);
  EXPECT_NEAR(host_us(kAttentionOutput, step::Phase::kDataGradient, 1) - launch_us, 240 + 3 * 57,
              1e-6);
  EXPECT_EQ(host_us(kFc2, step::Phase::kForward, 0), launch_us);
}

// DeepSpeed's ZeRO-3 fetches the parameters of each expert in a loop with 17 calls, in addition to
// the 5 calls that issue its product.
TEST(CostModel, ExpertsThatFetchTheirParametersCostTheHostMore) {
  plan::Job job = h100_job();
  job.framework.name = "deepspeed";
  job.kernels.grouped_experts = false;
  const CostModel cost(job, built_in_training_conditions());
  step::OperatorTemplate piece;
  piece.operators.push_back({.kind = step::OperatorKind::kGroupedLinear,
                             .phase = step::Phase::kForward,
                             .dtype = DType::kBf16,
                             .shape = {.rows = 64, .columns = 64, .inner = 64, .batch = 64}});
  const auto layouts = tensor_and_data(job.cluster);
  const auto seconds = [&] {
    std::vector<OperatorTime> times;
    cost.price_template_operators(piece, layouts, {}, times);
    return times[0].seconds;
  };
  const double resident_s = seconds();
  piece.operators[0].module_fetches = 1;
  const double call_s =
      1e-6 * applicable_training_conditions(built_in_training_conditions(), job.framework).host_us;
  EXPECT_NEAR(seconds() - resident_s, 64 * 17 * call_s, 1e-3 * resident_s);
  piece.operators[0].module_fetches = 2;
  EXPECT_NEAR(seconds() - resident_s, 64 * 34 * call_s, 1e-3 * resident_s);
}

}  // namespace
}  // namespace stepwright::cost
