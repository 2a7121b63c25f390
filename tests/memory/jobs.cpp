#include "tests/memory/jobs.h"

#include <stdexcept>
#include <vector>

#include "stepwright/plan/legality.h"
#include "tests/step/adapters.h"

namespace stepwright::testing {
namespace {

template <class Value>
Value one_of(std::mt19937& random, const std::vector<Value>& values) {
  return values[random() % values.size()];
}

bool flip(std::mt19937& random) { return random() % 2 == 0; }

Architecture any_model(std::mt19937& random) {
  Architecture model;
  model.layers = one_of<std::int64_t>(random, {4, 6, 8});
  model.hidden = 64;
  model.heads = 8;
  model.kv_heads = flip(random) ? 8 : 4;
  model.head_dim = 8;
  model.ffn = 192;
  model.vocabulary = 1000;
  model.gated = flip(random);
  model.tied = flip(random);
  model.dropout = flip(random) ? 0.1 : 0.0;
  model.norm = flip(random) ? Norm::kLayer : Norm::kRms;
  model.position = flip(random) ? Position::kLearned : Position::kRope;
  model.positions = 256;
  model.qk_norm = flip(random) ? QkNorm::kHead : QkNorm::kNone;
  model.embedding_norm = flip(random);
  if (random() % 3 == 0) model.experts = Experts{.count = 8, .top_k = 2, .ffn = 96};
  if (!model.experts) model.parallel_residual = flip(random);
  return model;
}

Job any_job(std::mt19937& random) {
  Job job;
  job.model = any_model(random);
  job.sequences = 32;
  job.length = 128;
  job.kernels.attention = flip(random) ? AttentionKernel::kUnfused : AttentionKernel::kFlash2;
  job.kernels.fused_cross_entropy = flip(random);
  job.dispatcher = flip(random) ? Dispatcher::kAllToAll : Dispatcher::kAllGather;
  job.imbalance = 1.3;
  job.kernels.masters =
      one_of<Masters>(random, {Masters::kBeside, Masters::kAlone, Masters::kNone});
  job.cluster.device.peak_flops[DType::kBf16] = 1e12;
  job.kernels.loss_chunks = one_of<std::int64_t>(random, {1, 0, 3, 8});
  job.kernels.loss_keeps = one_of<LossKeeps>(
      random, {LossKeeps::kLogits, LossKeeps::kGradients, LossKeeps::kRows, LossKeeps::kSums});
  return job;
}

Plan any_plan(const Job& job, std::mt19937& random) {
  const std::vector<std::int64_t> degrees = {1, 2, 4};
  Plan plan;
  plan.parallel = {.tensor = one_of(random, degrees),
                   .pipeline = one_of(random, degrees),
                   .context = one_of<std::int64_t>(random, {1, 1, 2}),
                   .expert = job.model.experts ? one_of(random, degrees) : 1,
                   .data = one_of(random, degrees)};
  plan.micro_batch = one_of<std::int64_t>(random, {1, 2});
  plan.schedule.kind = one_of<ScheduleKind>(
      random, {ScheduleKind::kGpipe, ScheduleKind::kOneForwardOneBackward,
               ScheduleKind::kInterleaved, ScheduleKind::kZeroBubbleH1, ScheduleKind::kZeroBubbleH2,
               ScheduleKind::kVHalf, ScheduleKind::kFolded, ScheduleKind::kDualPipeV,
               ScheduleKind::kPaired, ScheduleKind::kStp, ScheduleKind::kSpreadVocabulary,
               ScheduleKind::kVocabularyOne, ScheduleKind::kVocabularyTwo});
  plan.schedule.chunks =
      chunks_of(plan.schedule.kind, {plan.parallel.pipeline > 1 ? 2 : 1}).front();
  if (traits_of(plan.schedule.kind).pairs && flip(random)) plan.schedule.strands = 2;
  plan.sharding = one_of(random, paro_strategies());
  plan.sharding.group = one_of(random, degrees);
  plan.sharding.expert_group = one_of(random, degrees);
  plan.recompute = one_of<Recompute>(
      random,
      {{.kind = RecomputeKind::kNone},
       {.kind = RecomputeKind::kSelective},
       {.kind = RecomputeKind::kFull},
       {.kind = RecomputeKind::kEvery, .every = 2},
       {.kind = RecomputeKind::kModules, .modules = {Module::kNorm, Module::kCoreAttention}},
       {.kind = RecomputeKind::kModules, .every = 2, .modules = {Module::kNorm}},
       {.kind = RecomputeKind::kSelective,
        .stages = {{.position = 0, .kind = RecomputeKind::kFull}}}});
  plan.sequence_parallel = flip(random);
  plan.tensor_input = flip(random) ? TensorInput::kKeep : TensorInput::kRegather;
  plan.context_kind = one_of<ContextKind>(
      random, {ContextKind::kRing, ContextKind::kAllGather, ContextKind::kUlysses});
  plan.gradient_bucket = one_of<std::int64_t>(random, {1, 50'000, 40'000'000});
  plan.overlap.gradients = flip(random);
  plan.overlap.parameters = flip(random);
  plan.overlap.pipeline = flip(random);
  return plan;
}

bool covered(const Job& job, const Plan& plan) {
  return job.kernels.attention != AttentionKernel::kUnfused || plan.parallel.context == 1 ||
         plan.context_kind == ContextKind::kUlysses;
}

}  // namespace

Job gpt_job(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t length) {
  Job job;
  job.model.layers = layers;
  job.model.hidden = hidden;
  job.model.heads = heads;
  job.model.kv_heads = heads;
  job.model.head_dim = hidden / heads;
  job.model.ffn = 4 * hidden;
  job.model.vocabulary = 51'200;
  job.model.positions = length;
  job.model.position = Position::kLearned;
  job.model.gated = false;
  job.model.activation = Activation::kGelu;
  job.model.norm = Norm::kLayer;
  job.model.dropout = 0.1;
  job.kernels.attention = AttentionKernel::kUnfused;
  job.sequences = 64;
  job.length = length;
  return job;
}

const Template& template_named(const StepProgram& program, std::string_view name) {
  for (const Template& piece : program.templates) {
    if (piece.name == name) return piece;
  }
  throw std::runtime_error("no template " + std::string(name));
}

PlannedJob any_planned_job(std::mt19937& random, bool frozen) {
  while (true) {
    PlannedJob planned;
    planned.job = any_job(random);
    if (frozen) freeze_any(planned.job, random);
    planned.plan = any_plan(planned.job, random);
    const Parallel& p = planned.plan.parallel;
    planned.job.cluster.nodes = p.tensor * p.pipeline * p.context * p.data;
    if (covered(planned.job, planned.plan) && !broken_rule(planned.job, planned.plan)) {
      return planned;
    }
  }
}

}  // namespace stepwright::testing
