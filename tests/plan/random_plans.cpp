#include "tests/plan/random_plans.h"

#include <algorithm>
#include <utility>

#include "stepwright/model/layer_class_index.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/plan/layer_split.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::plan {
namespace {

model::MixtureOfExperts small_experts() {
  return {.count = 8,
          .top_k = 2,
          .ffn = 48,
          .shared_ffn = 32,
          .shared_gate = false,
          .correction_bias = false};
}

std::vector<std::int64_t> near_divisors(std::int64_t number) {
  std::vector<std::int64_t> values = divisors(number);
  values.push_back(3);
  return values;
}

void pick_degrees(Dice& dice, const Job& job, Plan& plan) {
  ParallelismDegrees& degrees = plan.parallel;
  std::int64_t rest = job.cluster.devices();
  const auto take = [&](std::int64_t& degree) {
    degree = dice.pick(divisors(rest));
    rest /= degree;
  };
  take(degrees.tensor);
  take(degrees.context);
  take(degrees.pipeline);
  degrees.data = dice.chance(20) ? dice.pick(near_divisors(rest)) : rest;
  const bool routed = job.model.experts ? dice.chance(2) : dice.chance(20);
  if (!routed) return;
  degrees.expert = dice.pick(near_divisors(8));
  degrees.expert_tensor = dice.chance(2) ? 1 : dice.pick(near_divisors(4));
}

schedule::OrderSearchBasis basis(Dice& dice, const Plan& plan) {
  const std::int64_t stages = plan.parallel.pipeline;
  const std::int64_t chunks = plan.schedule.chunks;
  schedule::OrderSearchBasis of{
      .placement = dice.pick<schedule::ModelChunkPlacementKind>(
          {schedule::ModelChunkPlacementKind::kV, schedule::ModelChunkPlacementKind::kCyclic}),
      .chunks = {},
      .hop_ns = 100,
      .room_bytes = {}};
  for (std::int64_t i = 0; i < stages * chunks; ++i) {
    of.chunks.push_back({.forward_ns = dice.pick<std::int64_t>({1000, 1500}),
                         .data_ns = dice.pick<std::int64_t>({1000, 2000}),
                         .weight_ns = 1000,
                         .backward_ns = dice.pick<std::int64_t>({1800, 2500}),
                         .forward_bytes = 2,
                         .weight_bytes = dice.pick<std::int64_t>({1, 3})});
  }
  for (std::int64_t i = 0; i < stages; ++i) {
    of.room_bytes.push_back(2 * chunks * dice.pick<std::int64_t>({stages, stages + 1}));
  }
  return of;
}

/// Returns a random recomputation for one pipeline position.
ActivationRecomputation recompute(Dice& dice, const Job& job) {
  const auto kind = dice.pick<RecomputeKind>({RecomputeKind::kNone, RecomputeKind::kSelective,
                                              RecomputeKind::kFull, RecomputeKind::kEvery,
                                              RecomputeKind::kModules});
  const bool spares = kind == RecomputeKind::kEvery || kind == RecomputeKind::kModules;
  ActivationRecomputation own = {.kind = kind,
                                 .every = spares ? dice.pick<std::int64_t>({1, 2, 3, 99}) : 1};
  if (spares && own.every == 1) own.first = dice.pick<std::int64_t>({0, 1, 3, 99});
  for (const auto& [module, name] : kModuleNames) {
    if (kind == RecomputeKind::kModules && dice.chance(2)) own.modules.add(module);
  }
  if (dice.chance(20)) return own;
  own.modules = modules_existing_in_model(job.model, own.modules);
  return kind == RecomputeKind::kModules && own.modules.empty() ? ActivationRecomputation() : own;
}

void pick_schedule(Dice& dice, const Job& job, Plan& plan) {
  plan.micro_batch = dice.pick<std::int64_t>({1, 1, 1, 2, 4, 3});
  const std::int64_t pipeline = plan.parallel.pipeline;
  if (pipeline > 1 ? dice.chance(3) : dice.chance(20)) {
    plan.schedule = {.kind = schedule::PipelineScheduleKind::kInterleaved,
                     .chunks = dice.pick<std::int64_t>({1, 2, 2, 3, 4})};
    if (dice.chance(3)) plan.schedule.group = dice.pick<std::int64_t>({2, 3, 4, 5, 8});
  } else {
    plan.schedule.kind = dice.pick<schedule::PipelineScheduleKind>(
        {schedule::PipelineScheduleKind::kGpipe,
         schedule::PipelineScheduleKind::kOneForwardOneBackward,
         schedule::PipelineScheduleKind::kZeroBubbleH1, schedule::PipelineScheduleKind::kVMin,
         schedule::PipelineScheduleKind::kFolded, schedule::PipelineScheduleKind::kDualPipeV,
         schedule::PipelineScheduleKind::kPaired, schedule::PipelineScheduleKind::kStp,
         schedule::PipelineScheduleKind::kSpreadVocabulary,
         schedule::PipelineScheduleKind::kVocabularyOne,
         schedule::PipelineScheduleKind::kVocabularyTwo});
    plan.schedule.chunks =
        schedule::model_chunk_counts_to_try(plan.schedule.kind, {pipeline > 1 ? 2 : 1}).front();
    const bool pairs = schedule::traits_of(plan.schedule.kind).pairs;
    if (dice.chance(pairs ? 2 : 20)) plan.schedule.strands = 2;
    if (dice.chance(30))
      plan.schedule = {.kind = schedule::PipelineScheduleKind::kAuto, .chunks = 1};
    if (dice.chance(20)) plan.schedule.chunks = 3 - plan.schedule.chunks;
    if (plan.schedule.kind == schedule::PipelineScheduleKind::kAuto)
      plan.schedule.basis = basis(dice, plan);
  }
  if (dice.chance(4))
    plan.layers = even_layer_split(job.model.layers, pipeline * plan.schedule.chunks);
  if (plan.layers.size() > 1 && dice.chance(2)) {
    --plan.layers.front();
    ++plan.layers.back();
  }
  if (plan.layers.size() > 1 && dice.chance(4)) {
    const std::size_t emptied = dice.pick<std::size_t>({1, 2, 3}) % plan.layers.size();
    plan.layers[emptied == 0 ? 1 : 0] += std::exchange(plan.layers[emptied], 0);
  }
  if (!plan.layers.empty() && dice.chance(10)) plan.layers.pop_back();
  plan.recompute = recompute(dice, job);
  if (!dice.chance(4)) return;
  // A file cannot express this kind together with per-stage settings.
  if (plan.recompute.kind > RecomputeKind::kFull) plan.recompute = {};
  for (std::int64_t position = 0; position < pipeline + (dice.chance(10) ? 1 : 0); ++position) {
    const ActivationRecomputation own = recompute(dice, job);
    if (dice.chance(2)) {
      plan.recompute.stages.push_back({position, own.kind, own.every, own.first, own.modules});
    }
  }
}

void pick_sharding(Dice& dice, const Job& job, Plan& plan) {
  const std::vector<StateShardingScope> spreads = {
      StateShardingScope::kNone, StateShardingScope::kInner, StateShardingScope::kGlobal};
  plan.sharding = dice.pick(paro_strategies());
  if (dice.chance(20)) plan.sharding.parameters = dice.pick(spreads);
  const ParallelismDegrees& degrees = plan.parallel;
  if (!plan.sharding.uses(StateShardingScope::kInner) && !dice.chance(30)) return;
  plan.sharding.group = dice.pick(near_divisors(degrees.context * degrees.data));
  if (!job.model.experts && !dice.chance(30)) return;
  plan.sharding.expert_group =
      dice.pick(near_divisors(std::max<std::int64_t>(1, degrees.expert_data_degree())));
}

void pick_flags(Dice& dice, Plan& plan) {
  const bool needs = plan.parallel.expert > 1 || plan.parallel.expert_tensor > 1;
  const bool tensor = plan.parallel.tensor > 1;
  plan.sequence_parallel = tensor ? needs || dice.chance(2) : dice.chance(20);
  if (dice.chance(20)) plan.sequence_parallel = !plan.sequence_parallel;
  plan.tensor_input =
      dice.pick<GatheredInputPolicy>({GatheredInputPolicy::kKeep, GatheredInputPolicy::kRegather});
  plan.context_kind =
      dice.pick<ContextKind>({ContextKind::kRing, ContextKind::kAllGather, ContextKind::kUlysses});
  plan.accumulate = dice.pick<DType>({DType::kFp32, DType::kFp32, DType::kFp64, DType::kBf16});
  plan.gradient_bucket = dice.pick<std::int64_t>({1, 40'000'000});
  plan.overlap.tensor = dice.chance(2);
  plan.overlap.context = dice.chance(2);
  if (needs) plan.overlap.shared_experts = dice.chance(2);
  // In one of four, of dice that are thrown anyway.
  plan.overlap.defer_embedding_gradient = plan.overlap.tensor && !plan.overlap.context;
  using enum collective::CollectiveAlgorithm;
  plan.collectives.data = dice.pick<collective::CollectiveAlgorithm>(
      {kLibrary, kLibrary, kLibrary, kTwoLevel, kHoRing, kTree, kHalvingDoubling});
  plan.collectives.tensor = dice.pick<collective::CollectiveAlgorithm>(
      {kLibrary, kLibrary, kLibrary, kLibrary, kHalvingDoubling, kNvls});
  if (dice.chance(2)) return;
  auto& axes = plan.rank_order.axes;
  for (std::size_t i = kAxes - 1; i > 0; --i) std::swap(axes[i], axes[dice.below(i + 1)]);
}

}  // namespace

cluster::Cluster small_cluster(std::int64_t nodes, std::int64_t devices_per_node) {
  cluster::Cluster cluster;
  cluster.name = "small";
  cluster.device = {.name = "toy",
                    .peak_flops = {{DType::kFp32, 1e13}, {DType::kBf16, 1e14}},
                    .memory_bytes = 40e9,
                    .memory_bandwidth_bytes_per_s = 1e12};
  cluster.nodes = nodes;
  cluster.devices_per_node = devices_per_node;
  cluster.nic_bytes_per_s = 25e9;
  cluster.levels = {
      {.name = "inside", .size = devices_per_node, .uplink_bytes_per_s = 100e9, .latency_s = 1e-6},
      {.name = "network",
       .size = nodes * devices_per_node,
       .uplink_bytes_per_s = 25e9,
       .latency_s = 5e-6,
       .network = true}};
  return cluster;
}

Job small_job() {
  Job job;
  job.model_name = job.model.name = "small";
  job.model.layers = 8;
  job.model.hidden = 64;
  job.model.heads = 8;
  job.model.kv_heads = 4;
  job.model.head_dim = 8;
  job.model.ffn = 96;
  job.model.vocabulary = 1000;
  job.model.positions = 64;
  job.cluster = small_cluster(2, 8);
  job.sequences = 32;
  job.length = 64;
  return job;
}

Job small_expert_job() {
  Job job = small_job();
  job.model.experts = small_experts();
  model::assign_dense_mlp_layers(job.model, {1, 0, 0, 0, 0, 0, 0, 0});
  return job;
}

Job random_job(Dice& dice) {
  Job job = dice.chance(2) ? small_job() : small_expert_job();
  // Compilers evaluate arguments of a call in different orders.
  const auto devices = dice.pick<std::int64_t>({1, 2, 4, 6, 8});
  const auto nodes = dice.pick<std::int64_t>({1, 2, 3, 4});
  job.cluster = small_cluster(nodes, devices);
  job.model.layers = dice.pick<std::int64_t>({8, 8, 12, 7, 2});
  job.model.heads = dice.pick<std::int64_t>({8, 16, 12});
  job.model.kv_heads = dice.pick<std::int64_t>({4, job.model.heads});
  if (dice.chance(6)) job.model.latent = model::LatentAttention{};
  job.model.ffn = dice.pick<std::int64_t>({96, 64, 20});
  if (dice.chance(6)) job.model.position = model::PositionEncoding::kLearned;
  job.length = dice.pick<std::int64_t>({64, 48, 24, 96});
  job.sequences = dice.pick<std::int64_t>({32, 48, 24, 7});
  job.precision = dice.pick<DType>({DType::kBf16, DType::kBf16, DType::kFp32, DType::kFp64});
  job.model.pattern.clear();
  if (job.model.experts && !dice.chance(3)) {
    std::vector<std::uint8_t> is_dense(static_cast<std::size_t>(job.model.layers), 0);
    is_dense.front() = 1;
    model::assign_dense_mlp_layers(job.model, is_dense);
  }
  if (job.model.experts && dice.chance(3)) job.model.experts->shared_ffn = 0;
  return job;
}

Job random_good_job(Dice& dice) {
  while (true) {
    const Job job = random_job(dice);
    for (int i = 0; i < 50; ++i) {
      if (!first_broken_rule(job, random_plan(dice, job))) return job;
    }
  }
}

Plan random_plan(Dice& dice, const Job& job) {
  Plan plan;
  pick_degrees(dice, job, plan);
  pick_schedule(dice, job, plan);
  pick_sharding(dice, job, plan);
  pick_flags(dice, plan);
  return plan;
}

Plan random_legal_plan(Dice& dice, const Job& job) {
  while (true) {
    const Plan plan = random_plan(dice, job);
    if (!first_broken_rule(job, plan)) return plan;
  }
}

}  // namespace stepwright::plan
