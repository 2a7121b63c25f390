// Relations between price, bounds, simulation and memory, on random legal plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "stepwright/cluster/catalog.h"
#include "stepwright/memory/memory.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/plan/layer_split.h"
#include "stepwright/schedule/found/found.h"
#include "stepwright/schedule/placement.h"
#include "stepwright/simulate/found_order.h"
#include "stepwright/simulate/price/pricer.h"
#include "stepwright/simulate/timeline/simulation.h"
#include "tests/plan/shown.h"
#include "tests/step/adapters.h"

namespace stepwright::simulate {
namespace {

using Sizes = std::vector<std::int64_t>;

/// Draws random jobs and plans; most are illegal and dropped.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  template <class T>
  T pick(const std::vector<T>& values) {
    return values[engine_() % values.size()];
  }
  bool flag(unsigned one_in) { return engine_() % one_in != 0; }

  plan::Job job() {
    plan::Job job;
    job.model_name = pick<std::string>(
        {"llama-3-8b", "llama-2-13b", "llama-3-70b", "mixtral-8x7b", "gpt-neox-20b", "gpt2-xl"});
    job.model = *model::built_in_model(job.model_name);
    if (job.model.position == model::PositionEncoding::kRope && ++jobs_ % 4 == 0) {
      job.model.multi_token_layers = 1 + jobs_ % 8 / 4;
      job.model.count_multi_token = true;
    }
    job.cluster = *cluster::built_in_cluster(
        pick<std::string>({"dgx-h100", "dgx-a100-80g", "gb200-nvl72", "perlmutter-a100-40g"}), 8);
    job.length = job.model_name == "gpt2-xl" ? 1024 : pick(Sizes{2048, 4096, 8192});
    job.sequences = pick(Sizes{64, 128, 256, 1152});
    job.kernels.masters = plan::kMasterWeightsNames[static_cast<std::size_t>(jobs_ % 3)].value;
    job.kernels.loss_chunks = jobs_ % 5 == 0 ? 8 : 1;
    job.kernels.loss_keeps =
        plan::kLossSavedTensorsNames[jobs_ % 16 < 4 ? static_cast<std::size_t>(jobs_ % 4) : 0]
            .value;
    return job;
  }

  /// Returns a plan with this schedule, if one is given.
  plan::Plan plan(const plan::Job& job,
                  const std::optional<schedule::PipelineSchedule>& schedule = std::nullopt) {
    plan::Plan p;
    p.parallel.tensor = pick(Sizes{1, 2, 4, 8});
    p.parallel.pipeline = pick(Sizes{1, 2, 4, 8});
    p.parallel.context = pick(Sizes{1, 1, 1, 2, 4});
    p.parallel.data =
        job.cluster.devices() / (p.parallel.tensor * p.parallel.pipeline * p.parallel.context);
    p.micro_batch = pick(Sizes{1, 1, 2, 4});
    p.schedule.kind = pick<schedule::PipelineScheduleKind>(
        {schedule::PipelineScheduleKind::kGpipe,
         schedule::PipelineScheduleKind::kOneForwardOneBackward,
         schedule::PipelineScheduleKind::kOneForwardOneBackward,
         schedule::PipelineScheduleKind::kInterleaved,
         schedule::PipelineScheduleKind::kZeroBubbleH1,
         schedule::PipelineScheduleKind::kZeroBubbleH2,
         schedule::PipelineScheduleKind::kZeroBubbleV, schedule::PipelineScheduleKind::kVHalf,
         schedule::PipelineScheduleKind::kVMin, schedule::PipelineScheduleKind::kFolded,
         schedule::PipelineScheduleKind::kDualPipeV, schedule::PipelineScheduleKind::kPaired,
         schedule::PipelineScheduleKind::kStp});
    p.schedule.chunks =
        schedule::model_chunk_counts_to_try(p.schedule.kind, {pick(Sizes{2, 4, 5})}).front();
    if (schedule::traits_of(p.schedule.kind).pairs && flag(2)) p.schedule.strands = 2;
    if (schedule::traits_of(p.schedule.kind).groups && flag(2))
      p.schedule.group = pick(Sizes{3, 5, 8, 12});
    if (schedule) p.schedule = *schedule;
    if (!flag(4))
      p.layers =
          fewer_at_the_ends(job.model.layers, plan::model_chunk_placement(p).model_chunk_count());
    p.recompute.kind = pick<plan::RecomputeKind>(
        {plan::RecomputeKind::kNone, plan::RecomputeKind::kSelective, plan::RecomputeKind::kFull,
         plan::RecomputeKind::kEvery, plan::RecomputeKind::kModules});
    const auto leave_layers = [&] {
      if (p.micro_batch > 1) {
        p.recompute.every = 2;
      } else {
        p.recompute.first = p.parallel.pipeline > 2 ? 1 : 3;
      }
    };
    if (p.recompute.kind == plan::RecomputeKind::kEvery) leave_layers();
    if (p.recompute.kind == plan::RecomputeKind::kModules) {
      for (const auto& [module, name] : plan::kModuleNames) {
        if (flag(2)) p.recompute.modules.add(module);
      }
      p.recompute.modules.add(plan::RecomputeModule::kNorm);
      p.recompute.modules = plan::modules_existing_in_model(job.model, p.recompute.modules);
      if (flag(3)) leave_layers();
    }
    if (!flag(4)) {
      p.recompute.stages = {{.position = 0, .kind = plan::RecomputeKind::kFull},
                            {.position = 1,
                             .kind = plan::RecomputeKind::kModules,
                             .modules = {plan::RecomputeModule::kNorm}}};
    }
    p.sequence_parallel = p.parallel.tensor > 1 && flag(3);
    p.tensor_input = pick<plan::GatheredInputPolicy>(
        {plan::GatheredInputPolicy::kKeep, plan::GatheredInputPolicy::kRegather});
    p.context_kind = pick<plan::ContextKind>(
        {plan::ContextKind::kRing, plan::ContextKind::kAllGather, plan::ContextKind::kUlysses});
    p.overlap = {.gradients = flag(4),
                 .parameters = flag(4),
                 .tensor = !flag(4),
                 .tensor_gradients = flag(4),
                 .context = flag(4),
                 .expert = !flag(4),
                 .pipeline = flag(4)};
    shard(job, p);
    return p;
  }

 private:
  /// Returns a split in which embedding and head count as a layer each; they may be alone on a
  /// position.
  static std::vector<std::int64_t> fewer_at_the_ends(std::int64_t layers, std::int64_t chunks) {
    std::vector<std::int64_t> split = plan::even_layer_split(layers + 2, chunks);
    --split.front();
    --split.back();
    return split;
  }

  void shard(const plan::Job& job, plan::Plan& p) {
    p.sharding = pick(plan::paro_strategies());
    const bool inner = plan::sharding_letters(p.sharding).find('I') != std::string::npos;
    if (inner) p.sharding.group = pick(Sizes{1, 2, 4, 8});
    if (!job.model.experts) return;
    p.parallel.expert = pick(Sizes{1, 2, 4, 8});
    p.parallel.expert_tensor = pick(Sizes{1, 1, 2});
    if (inner) p.sharding.expert_group = pick(Sizes{1, 2, 4});
  }

  std::mt19937_64 engine_;
  std::int64_t jobs_ = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

TEST(Simulation, KindsOfComputationSumToIt) {
  Dice dice(7);
  int routed = 0;
  for (int seen = 0; seen < 100;) {
    const plan::Job job = dice.job();
    const plan::Plan plan = dice.plan(job);
    if (plan::first_broken_rule(job, plan)) continue;
    ++seen;
    const Simulation simulation = simulate_step_program(
        step::build_step_program(job, plan), cost::CostModel(job),
        cost::rank_group_network_layouts(job.cluster, plan::RankGrid(plan)), plan);
    for (const StageTimes& stage : simulation.stages) {
      const ComputeSeconds& kinds = stage.breakdown.computation;
      const double sum_s = std::accumulate(kinds.begin(), kinds.end(), 0.0);
      EXPECT_NEAR(sum_s, stage.breakdown.compute_s, 1e-9 * sum_s) << plan::shown(plan);
      const bool experts = kinds[static_cast<std::size_t>(ComputationKind::kExperts)] > 0;
      EXPECT_EQ(experts, job.model.experts.has_value()) << plan::shown(plan);
      routed += experts ? 1 : 0;
    }
  }
  EXPECT_GT(routed, 0);
}

/// Relative distances over random plans: from price to simulation, and from lower bound to
/// simulation.
struct Distances {
  std::vector<double> gaps;
  std::vector<double> slack;
};

Distances distances(std::uint64_t seed, std::size_t plans, bool frozen) {
  Dice dice(seed);
  std::mt19937 freezing(static_cast<unsigned>(seed));
  std::vector<double> gaps;
  std::vector<double> slack;
  while (gaps.size() < plans) {
    plan::Job job = dice.job();
    if (frozen) step::freeze_any(job, freezing);
    const plan::Plan plan = dice.plan(job);
    if (plan::first_broken_rule(job, plan)) continue;
    const cost::CostModel cost(job);
    const Simulation simulation = simulate_step_program(
        step::build_step_program(job, plan), cost,
        cost::rank_group_network_layouts(job.cluster, plan::RankGrid(plan)), plan);
    PlanPricer pricer(job, cost);
    const PlanPrice price = pricer.price(plan);
    const double time = simulation.step_time_s;
    EXPECT_LE(price.lower_bound_s, time * (1 + 1e-9)) << plan::shown(plan);
    const double played_s = pricer.played_price(plan, SimulationExtent::kFloors).lower_bound_s;
    EXPECT_LE(played_s, time * (1 + 1e-9)) << plan::shown(plan);
    EXPECT_GE(played_s, price.lower_bound_s) << plan::shown(plan);
    slack.push_back(1 - played_s / time);
    EXPECT_GE(price.upper_bound_s, time * (1 - 1e-9)) << plan::shown(plan);
    const PipelineCost pipeline = pricer.pipeline_cost_of_plan(pricer.blocks(plan), plan);
    EXPECT_LE(pipeline.floor_s, time * (1 + 1e-9)) << plan::shown(plan);
    gaps.push_back(std::abs(price.seconds / time - 1));
  }
  return {gaps, slack};
}

TEST(PlanPrice, EnclosesAndApproachesTheSimulation) {
  const auto [gaps, slack] = distances(20240, 400, false);
  EXPECT_LE(median(gaps), 0.02);
  RecordProperty("slack_of_bounds", std::to_string(median(slack)));
  EXPECT_LE(median(slack), 0.07);
}

TEST(PlanPrice, EnclosesAndApproachesStepsThatTrainAPart) {
  const auto [gaps, slack] = distances(31, 200, true);
  EXPECT_LE(median(gaps), 0.02);
  EXPECT_LE(median(slack), 0.07);
}

TEST(PlanPrice, OfStepsThatTrainAPartNeverNeedsMoreMemoryThanTheProgram) {
  Dice dice(77);
  std::mt19937 freezing(77);
  std::vector<double> shares;
  while (shares.size() < 200) {
    plan::Job job = dice.job();
    step::freeze_any(job, freezing);
    const plan::Plan plan = dice.plan(job);
    if (plan::first_broken_rule(job, plan)) continue;
    const cost::CostModel cost(job);
    const double memory = memory::memory_report(job, step::build_step_program(job, plan))
                              .device_bytes_needed_by_plan();
    const double priced = PlanPricer(job, cost).price(plan).memory_bytes;
    EXPECT_LE(priced, memory + 1) << plan::shown(plan);
    shares.push_back(priced / memory);
  }
  EXPECT_GE(median(shares), 0.97);
}

/// Moves the layers of a chunk to its neighbour.
void empty_chunk(plan::Plan& plan, const plan::Job& job, std::size_t which) {
  const std::int64_t chunks = plan::model_chunk_placement(plan).model_chunk_count();
  if (plan.layers.empty()) plan.layers = plan::even_layer_split(job.model.layers, chunks);
  which %= plan.layers.size();
  plan.layers[which == 0 ? 1 : which - 1] += std::exchange(plan.layers[which], 0);
}

/// Returns the priced step time divided by the simulated one. Expects the price's bounds to enclose
/// the simulated time, and the price's memory not to exceed the program's.
double bounded_ratio(const plan::Job& job, const plan::Plan& plan) {
  const cost::CostModel cost(job);
  const step::StepProgram program = step::build_step_program(job, plan);
  const double time =
      simulate_step_program(
          program, cost, cost::rank_group_network_layouts(job.cluster, plan::RankGrid(plan)), plan)
          .step_time_s;
  PlanPricer pricer(job, cost);
  const PlanPrice price = pricer.price(plan);
  EXPECT_LE(price.lower_bound_s, time * (1 + 1e-9)) << plan::shown(plan);
  EXPECT_GE(price.upper_bound_s, time * (1 - 1e-9)) << plan::shown(plan);
  EXPECT_LE(price.memory_bytes,
            memory::memory_report(job, program).device_bytes_needed_by_plan() + 1)
      << plan::shown(plan);
  return price.seconds / time;
}

TEST(PlanPrice, BoundsPlansWithAChunkWithoutLayers) {
  Dice dice(7);
  for (int drawn = 0; drawn < 200;) {
    const plan::Job job = dice.job();
    plan::Plan plan = dice.plan(job);
    if (plan::model_chunk_placement(plan).model_chunk_count() < 3) continue;
    empty_chunk(plan, job, dice.pick<std::size_t>({0, 1, 2, 3, 7}));
    if (!plan::has_empty_middle_chunk(plan.layers) || plan::first_broken_rule(job, plan)) continue;
    ++drawn;
    bounded_ratio(job, plan);
  }
}

/// Makes a job defer its head to the drain, with unchunked logits and without multi-token layers.
void defer_head(plan::Job& job, plan::Plan& plan) {
  job.kernels.loss_chunks = 1;
  job.kernels.loss_keeps = plan::LossSavedTensors::kLogits;
  job.model.multi_token_layers = 0;
  job.model.count_multi_token = false;
  plan.overlap.defer_embedding_gradient = true;
}

TEST(PlanPrice, BoundsPlansThatDeferTheHeadsGradients) {
  Dice dice(15);
  std::vector<double> gaps;
  std::vector<double> shares;
  while (gaps.size() < 300) {
    plan::Job job = dice.job();
    plan::Plan plan = dice.plan(job);
    defer_head(job, plan);
    job.model.tied = dice.pick<int>({0, 1, 2}) == 0;
    if (plan.parallel.pipeline == 1 || plan::first_broken_rule(job, plan)) continue;
    gaps.push_back(std::abs(bounded_ratio(job, plan) - 1));
    const cost::CostModel cost(job);
    const double priced = PlanPricer(job, cost).price(plan).memory_bytes;
    shares.push_back(priced / memory::memory_report(job, step::build_step_program(job, plan))
                                  .device_bytes_needed_by_plan());
  }
  EXPECT_LE(median(gaps), 0.02);
  std::ranges::sort(shares);
  RecordProperty("least", std::to_string(shares.front()));
  EXPECT_GE(shares[shares.size() / 20], 0.7);
  EXPECT_GE(median(shares), 0.96);
}

/// Seconds of a step, priced and simulated.
struct StepSeconds {
  double priced = 0;
  double simulated = 0;
};

/// Returns the step seconds of Llama 3 70B on `pipeline` nodes with so many micro-batches, without
/// any overlap.
StepSeconds seconds_of_70b(std::int64_t pipeline, std::int64_t micro_batches, bool deferring) {
  plan::Job job;
  job.model = *model::built_in_model("llama-3-70b");
  job.cluster = *cluster::built_in_cluster("dgx-h100", pipeline);
  job.length = 4096;
  job.sequences = micro_batches;
  plan::Plan plan;
  plan.parallel = {.tensor = 8, .pipeline = pipeline, .data = 1};
  plan.sequence_parallel = true;
  plan.overlap = plan::all_overlap_flags(false);
  plan.overlap.defer_embedding_gradient = deferring;
  const cost::CostModel cost(job);
  const Simulation simulation = simulate_step_program(
      step::build_step_program(job, plan), cost,
      cost::rank_group_network_layouts(job.cluster, plan::RankGrid(plan)), plan);
  return {PlanPricer(job, cost).price(plan).seconds, simulation.step_time_s};
}

/// The drain of two positions hides the head's products of few micro-batches; that of eight
/// positions hides those of more.
TEST(PlanPrice, OfADeferredHeadIsWhatTheDrainDoesNotHide) {
  for (const std::int64_t pipeline : {2, 4, 8}) {
    double before_s = 0;
    for (const std::int64_t micro_batches : {2, 8, 64, 256}) {
      const StepSeconds at_once = seconds_of_70b(pipeline, micro_batches, false);
      const StepSeconds deferring = seconds_of_70b(pipeline, micro_batches, true);
      EXPECT_NEAR(deferring.priced / deferring.simulated, 1, 0.01);
      const double gain_s = at_once.simulated - deferring.simulated;
      EXPECT_NEAR(at_once.priced - deferring.priced, gain_s, 1e-3 * at_once.simulated);
      // It is never more than the drain, which is as long however many there are.
      EXPECT_GE(gain_s, before_s * (1 - 1e-9));
      before_s = gain_s;
    }
    EXPECT_LT(before_s, seconds_of_70b(pipeline, 1, false).simulated);
  }
}

TEST(PlanPrice, BoundsPlansThatSpreadTheVocabulary) {
  Dice dice(9);
  for (int drawn = 0; drawn < 450;) {
    plan::Job job = dice.job();
    plan::Plan plan = dice.plan(job);
    constexpr schedule::PipelineScheduleKind kKinds[] = {
        schedule::PipelineScheduleKind::kSpreadVocabulary,
        schedule::PipelineScheduleKind::kVocabularyOne,
        schedule::PipelineScheduleKind::kVocabularyTwo};
    plan.schedule = {.kind = kKinds[drawn % 3]};
    plan.layers.clear();
    if (drawn % 3 != 0) {
      job.kernels.loss_chunks = 1;
      job.kernels.loss_keeps = plan::LossSavedTensors::kLogits;
      plan.sharding.parameters = plan.sharding.gradients = plan::StateShardingScope::kNone;
    }
    if (plan::first_broken_rule(job, plan)) continue;
    ++drawn;
    // Hidden are messages of data parallelism, and of passes.
    EXPECT_NEAR(bounded_ratio(job, plan), 1, 0.25) << plan::shown(plan);
  }
}

/// The price's bytes of the fullest host never exceed the program's.
TEST(PlanPrice, NeverNeedsMoreOfAHostThanTheProgram) {
  Dice dice(19);
  std::mt19937 random(19);
  std::vector<double> shares;
  while (shares.size() < 300) {
    plan::Job job = dice.job();
    plan::Plan plan = dice.plan(job);
    plan.offload.optimizer = static_cast<double>(random() % 3) / 2;
    if (random() % 2 == 0) {
      plan.offload.activations = {plan::OffloadModule::kQkv, plan::OffloadModule::kCoreAttention,
                                  plan::OffloadModule::kLayerInput};
    }
    plan.offload.parameters = random() % 4 == 0;
    if (random() % 3 == 0) job.method.reference.place = plan::SecondModelPlace::kHost;
    job.cluster.host.memory_bytes = 1e15;
    if (plan::first_broken_rule(job, plan)) continue;
    const double host = memory::memory_report(job, step::build_step_program(job, plan)).host_bytes;
    const cost::CostModel cost(job);
    const double priced = PlanPricer(job, cost).price(plan).host_bytes;
    EXPECT_LE(priced, host + 1) << plan::shown(plan);
    if (host > 0) shares.push_back(priced / host);
  }
  RecordProperty("least", std::to_string(std::ranges::min(shares)));
  EXPECT_GE(std::ranges::min(shares), 0.9);
  EXPECT_GE(median(shares), 0.999);
}

/// Plans that the search drops because of memory do not fit; plans that it keeps are accounted
/// exactly before they are shown.
TEST(PlanPrice, NeverNeedsMoreMemoryThanTheProgram) {
  Dice dice(642);
  std::vector<double> shares;
  std::vector<double> of_cut_backwards;
  while (shares.size() < 2000) {
    const plan::Job job = dice.job();
    const plan::Plan plan = dice.plan(job);
    if (plan::first_broken_rule(job, plan)) continue;
    const cost::CostModel cost(job);
    PlanPricer pricer(job, cost);
    const PipelineCost pipeline = pricer.pipeline_cost_of_plan(pricer.blocks(plan), plan);
    const PlanPrice price = pricer.finish(pipeline, plan);
    const double memory = memory::memory_report(job, step::build_step_program(job, plan))
                              .device_bytes_needed_by_plan();
    EXPECT_LE(price.memory_bytes, memory + 1) << plan::shown(plan);
    EXPECT_LE(pipeline.memory_floor_bytes, price.memory_bytes + 1) << plan::shown(plan);
    const bool cut = schedule::splits_backward(plan.schedule);
    (cut ? of_cut_backwards : shares).push_back(price.memory_bytes / memory);
  }
  std::ranges::sort(shares);
  RecordProperty("least", std::to_string(shares.front()));
  EXPECT_GE(shares.front(), 0.45);              // at worst
  EXPECT_GE(shares[shares.size() / 20], 0.85);  // of nineteen in twenty
  EXPECT_GE(median(shares), 0.98);
  ASSERT_GE(of_cut_backwards.size(), 100U);
  std::ranges::sort(of_cut_backwards);
  RecordProperty("least_of_cut_backwards", std::to_string(of_cut_backwards.front()));
  // With two chunks the moment with most activations need not be the one with most gradients.
  EXPECT_GE(of_cut_backwards.front(), 0.2);
  EXPECT_GE(of_cut_backwards[of_cut_backwards.size() / 20], 0.6);
  EXPECT_GE(median(of_cut_backwards), 0.9);
}

/// Two strands: layers of a forward pass run beside layers, or parts, of a backward pass. Data
/// gradients keep the most for weight gradients if layers keep their inputs and little is sharded.
TEST(PlanPrice, NeverNeedsMoreMemoryThanTheProgramOfTwoStrands) {
  using enum schedule::PipelineScheduleKind;
  Dice dice(44);
  std::vector<double> shares;
  while (shares.size() < 2000) {
    const plan::Job job = dice.job();
    const schedule::PipelineScheduleKind kind =
        shares.size() % 4 == 0
            ? dice.pick<schedule::PipelineScheduleKind>({kFolded, kDualPipeV, kPaired})
            : kStp;
    plan::Plan plan =
        dice.plan(job, schedule::PipelineSchedule{.kind = kind, .chunks = 2, .strands = 2});
    if (kind == kStp) {
      plan.micro_batch = 4;
      plan.tensor_input = plan::GatheredInputPolicy::kKeep;
      plan.sequence_parallel = plan.parallel.tensor > 1;
    }
    if (plan::first_broken_rule(job, plan)) continue;
    const cost::CostModel cost(job);
    const double priced = PlanPricer(job, cost).price(plan).memory_bytes;
    const double memory = memory::memory_report(job, step::build_step_program(job, plan))
                              .device_bytes_needed_by_plan();
    EXPECT_LE(priced, memory + 1) << plan::shown(plan);
    shares.push_back(priced / memory);
  }
  std::ranges::sort(shares);
  RecordProperty("twentieth", std::to_string(shares[shares.size() / 20]));
  RecordProperty("median", std::to_string(median(shares)));
  EXPECT_GE(shares[shares.size() / 20], 0.6);
  EXPECT_GE(median(shares), 0.95);
}

/// Layers of several classes alternate; the largest moment of each class is at its last layer,
/// wherever in a chunk that is.
TEST(PlanPrice, NeverNeedsMoreMemoryThanTheProgramOfUnlikeLayers) {
  Dice dice(17);
  std::vector<double> shares;
  while (shares.size() < 300) {
    plan::Job job = dice.job();
    job.model_name = dice.pick<std::string>({"gpt-oss-20b", "nemotron-h-47b", "gemma-3-4b"});
    job.model = *model::built_in_model(job.model_name);
    if (!dice.flag(2)) job.kernels.attention = cluster::AttentionKernel::kUnfused;
    if (!dice.flag(3)) {
      job.model.encoder = model::ImageEncoder{.parameters = 400'000'000,
                                              .projector = 20'000'000,
                                              .patches = 1024,
                                              .tokens = 256,
                                              .flops = 9e11,
                                              .layers = 24,
                                              .hidden = 1024,
                                              .heads = 16,
                                              .ffn = 4096};
      job.model.frozen.encoder = !dice.flag(2);
    }
    const plan::Plan plan = dice.plan(job);
    if (plan::first_broken_rule(job, plan)) continue;
    const cost::CostModel cost(job);
    const double priced = PlanPricer(job, cost).price(plan).memory_bytes;
    const double memory = memory::memory_report(job, step::build_step_program(job, plan))
                              .device_bytes_needed_by_plan();
    EXPECT_LE(priced, memory + 1) << job.model_name << " " << plan::shown(plan);
    shares.push_back(priced / memory);
  }
  EXPECT_GE(median(shares), 0.98);
}

TEST(PlanPrice, EqualsTheSimulationForEqualStagesWithoutContention) {
  // A small vocabulary makes embedding and head negligible, so that stages are equal; nothing
  // overlaps, so that nothing contends.
  for (const std::int64_t pipeline : {1, 2, 4, 8}) {
    for (const schedule::PipelineSchedule& schedule :
         {schedule::PipelineSchedule{schedule::PipelineScheduleKind::kGpipe, 1},
          schedule::PipelineSchedule{schedule::PipelineScheduleKind::kOneForwardOneBackward, 1},
          schedule::PipelineSchedule{schedule::PipelineScheduleKind::kInterleaved, 2},
          schedule::PipelineSchedule{schedule::PipelineScheduleKind::kInterleaved, 5},
          schedule::PipelineSchedule{
              .kind = schedule::PipelineScheduleKind::kInterleaved, .chunks = 2, .group = 12},
          schedule::PipelineSchedule{
              .kind = schedule::PipelineScheduleKind::kPaired, .chunks = 2, .group = 12},
          schedule::PipelineSchedule{schedule::PipelineScheduleKind::kZeroBubbleH1, 1},
          schedule::PipelineSchedule{schedule::PipelineScheduleKind::kZeroBubbleV, 2},
          schedule::PipelineSchedule{schedule::PipelineScheduleKind::kVMin, 2},
          schedule::PipelineSchedule{schedule::PipelineScheduleKind::kFolded, 2},
          schedule::PipelineSchedule{schedule::PipelineScheduleKind::kDualPipeV, 2},
          schedule::PipelineSchedule{schedule::PipelineScheduleKind::kPaired, 2},
          schedule::PipelineSchedule{schedule::PipelineScheduleKind::kStp, 2},
          schedule::PipelineSchedule{schedule::PipelineScheduleKind::kAuto, 1},
          schedule::PipelineSchedule{schedule::PipelineScheduleKind::kAuto, 2}}) {
      const schedule::PipelineScheduleKind kind = schedule.kind;
      const bool alone =
          schedule::traits_of(kind).alone && kind != schedule::PipelineScheduleKind::kPaired;
      if (pipeline == 1 && !alone) continue;
      plan::Job job;
      job.model = *model::built_in_model("llama-3-70b");
      job.model.vocabulary = 128;
      job.cluster = *cluster::built_in_cluster("dgx-h100", 8);
      job.length = 4096;
      job.sequences = 512;
      plan::Plan plan;
      plan.parallel = {.tensor = 8, .pipeline = pipeline, .data = 8 / pipeline};
      plan.sequence_parallel = true;
      plan.schedule = schedule;
      plan.overlap = plan::all_overlap_flags(false);
      ASSERT_FALSE(plan::find_plan_rejection(job, plan))
          << plan::find_plan_rejection(job, plan)->message;
      const cost::CostModel cost(job);
      PlanPricer pricer(job, cost);
      if (!schedule::is_schedule_order_decided(plan.schedule)) {
        plan.schedule.basis = order_search_input_of_plan(pricer, plan, pipeline);
        // Whether it fits is not asked.
        plan.schedule.basis.room_bytes.assign(static_cast<std::size_t>(pipeline),
                                              std::int64_t{1} << 45);
      }
      const Simulation simulation = simulate_step_program(
          step::build_step_program(job, plan), cost,
          cost::rank_group_network_layouts(job.cluster, plan::RankGrid(plan)), plan);
      EXPECT_NEAR(pricer.price(plan).seconds / simulation.step_time_s, 1, 0.01)
          << plan::shown(plan);
    }
  }
}

TEST(PlanPrice, IsTheSameWhateverWasPricedBefore) {
  Dice dice(7);
  plan::Job job;
  job.model = *model::built_in_model("llama-3-8b");
  job.cluster = *cluster::built_in_cluster("dgx-h100", 8);
  job.sequences = 256;
  job.length = 4096;
  const cost::CostModel cost(job);
  PlanPricer warm(job, cost);
  int compared = 0;
  while (compared < 30) {
    const plan::Plan plan = dice.plan(job);
    if (plan::first_broken_rule(job, plan)) continue;
    PlanPricer fresh(job, cost);
    EXPECT_EQ(warm.price(plan).seconds, fresh.price(plan).seconds) << plan::shown(plan);
    ++compared;
  }
}

}  // namespace
}  // namespace stepwright::simulate
