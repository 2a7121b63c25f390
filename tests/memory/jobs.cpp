#include "tests/memory/jobs.h"

#include <stdexcept>
#include <vector>

#include "stepwright/plan/laws/legality.h"
#include "stepwright/schedule/kinds.h"
#include "tests/step/adapters.h"

namespace stepwright::testing {
namespace {

template <class Value>
Value one_of(std::mt19937& random, const std::vector<Value>& values) {
  return values[random() % values.size()];
}

bool flip(std::mt19937& random) { return random() % 2 == 0; }

model::ModelArchitecture any_model(std::mt19937& random) {
  model::ModelArchitecture model;
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
  model.norm = flip(random) ? model::Norm::kLayer : model::Norm::kRms;
  model.position =
      flip(random) ? model::PositionEncoding::kLearned : model::PositionEncoding::kRope;
  model.positions = 256;
  model.qk_norm = flip(random) ? model::QkNorm::kHead : model::QkNorm::kNone;
  model.embedding_norm = flip(random);
  if (random() % 3 == 0) model.experts = model::MixtureOfExperts{.count = 8, .top_k = 2, .ffn = 96};
  if (!model.experts) model.parallel_residual = flip(random);
  return model;
}

plan::Job any_job(std::mt19937& random) {
  plan::Job job;
  job.model = any_model(random);
  job.sequences = 32;
  job.length = 128;
  job.kernels.attention =
      flip(random) ? cluster::AttentionKernel::kUnfused : cluster::AttentionKernel::kFlash2;
  job.kernels.cross_entropy = one_of<plan::CrossEntropyKernel>(
      random, {plan::CrossEntropyKernel::kUnfused, plan::CrossEntropyKernel::kCompiled,
               plan::CrossEntropyKernel::kNative, plan::CrossEntropyKernel::kTe});
  if (flip(random)) job.kernels.expert_weights = plan::RouterWeightPlacement::kBefore;
  job.dispatcher =
      flip(random) ? plan::TokenDispatcher::kAllToAll : plan::TokenDispatcher::kAllGather;
  job.imbalance = 1.3;
  job.kernels.masters = one_of<plan::MasterWeights>(
      random,
      {plan::MasterWeights::kBeside, plan::MasterWeights::kAlone, plan::MasterWeights::kNone});
  job.cluster.device.peak_flops[DType::kBf16] = 1e12;
  job.kernels.loss_chunks = one_of<std::int64_t>(random, {1, 0, 3, 8});
  job.kernels.loss_keeps = one_of<plan::LossSavedTensors>(
      random, {plan::LossSavedTensors::kLogits, plan::LossSavedTensors::kGradients,
               plan::LossSavedTensors::kRows, plan::LossSavedTensors::kSums});
  return job;
}

plan::Plan any_plan(const plan::Job& job, std::mt19937& random) {
  const std::vector<std::int64_t> degrees = {1, 2, 4};
  plan::Plan plan;
  plan.parallel = {.tensor = one_of(random, degrees),
                   .pipeline = one_of(random, degrees),
                   .context = one_of<std::int64_t>(random, {1, 1, 2}),
                   .expert = job.model.experts ? one_of(random, degrees) : 1,
                   .data = one_of(random, degrees)};
  plan.micro_batch = one_of<std::int64_t>(random, {1, 2});
  plan.schedule.kind = one_of<schedule::PipelineScheduleKind>(
      random,
      {schedule::PipelineScheduleKind::kGpipe,
       schedule::PipelineScheduleKind::kOneForwardOneBackward,
       schedule::PipelineScheduleKind::kInterleaved, schedule::PipelineScheduleKind::kZeroBubbleH1,
       schedule::PipelineScheduleKind::kZeroBubbleH2, schedule::PipelineScheduleKind::kVHalf,
       schedule::PipelineScheduleKind::kFolded, schedule::PipelineScheduleKind::kDualPipeV,
       schedule::PipelineScheduleKind::kPaired, schedule::PipelineScheduleKind::kStp,
       schedule::PipelineScheduleKind::kSpreadVocabulary,
       schedule::PipelineScheduleKind::kVocabularyOne,
       schedule::PipelineScheduleKind::kVocabularyTwo});
  plan.schedule.chunks =
      schedule::model_chunk_counts_to_try(plan.schedule.kind, {plan.parallel.pipeline > 1 ? 2 : 1})
          .front();
  if (schedule::traits_of(plan.schedule.kind).pairs && flip(random)) plan.schedule.strands = 2;
  plan.sharding = one_of(random, plan::paro_strategies());
  plan.sharding.group = one_of(random, degrees);
  plan.sharding.expert_group = one_of(random, degrees);
  plan.recompute = one_of<plan::ActivationRecomputation>(
      random, {{.kind = plan::RecomputeKind::kNone},
               {.kind = plan::RecomputeKind::kSelective},
               {.kind = plan::RecomputeKind::kFull},
               {.kind = plan::RecomputeKind::kEvery, .every = 2},
               {.kind = plan::RecomputeKind::kModules,
                .modules = {plan::RecomputeModule::kNorm, plan::RecomputeModule::kCoreAttention}},
               {.kind = plan::RecomputeKind::kModules,
                .every = 2,
                .modules = {plan::RecomputeModule::kNorm}},
               {.kind = plan::RecomputeKind::kSelective,
                .stages = {{.position = 0, .kind = plan::RecomputeKind::kFull}}}});
  plan.sequence_parallel = flip(random);
  plan.tensor_input =
      flip(random) ? plan::GatheredInputPolicy::kKeep : plan::GatheredInputPolicy::kRegather;
  plan.context_kind = one_of<plan::ContextKind>(
      random,
      {plan::ContextKind::kRing, plan::ContextKind::kAllGather, plan::ContextKind::kUlysses});
  plan.gradient_bucket = one_of<std::int64_t>(random, {1, 50'000, 40'000'000});
  plan.overlap.gradients = flip(random);
  plan.overlap.parameters = flip(random);
  plan.overlap.pipeline = flip(random);
  return plan;
}

bool covered(const plan::Job& job, const plan::Plan& plan) {
  return job.kernels.attention != cluster::AttentionKernel::kUnfused ||
         plan.parallel.context == 1 || plan.context_kind == plan::ContextKind::kUlysses;
}

}  // namespace

plan::Job gpt_job(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                  std::int64_t length) {
  plan::Job job;
  job.model.layers = layers;
  job.model.hidden = hidden;
  job.model.heads = heads;
  job.model.kv_heads = heads;
  job.model.head_dim = hidden / heads;
  job.model.ffn = 4 * hidden;
  job.model.vocabulary = 51'200;
  job.model.positions = length;
  job.model.position = model::PositionEncoding::kLearned;
  job.model.gated = false;
  job.model.activation = model::ActivationFunction::kGelu;
  job.model.norm = model::Norm::kLayer;
  job.model.dropout = 0.1;
  job.kernels.attention = cluster::AttentionKernel::kUnfused;
  job.sequences = 64;
  job.length = length;
  return job;
}

const step::OperatorTemplate& template_named(const step::StepProgram& program,
                                             std::string_view name) {
  for (const step::OperatorTemplate& piece : program.templates) {
    if (piece.name == name) return piece;
  }
  throw std::runtime_error("no template " + std::string(name));
}

plan::PlannedJob any_planned_job(std::mt19937& random, bool frozen) {
  while (true) {
    plan::PlannedJob planned;
    planned.job = any_job(random);
    if (frozen) step::freeze_any(planned.job, random);
    planned.plan = any_plan(planned.job, random);
    const plan::ParallelismDegrees& p = planned.plan.parallel;
    planned.job.cluster.nodes = p.tensor * p.pipeline * p.context * p.data;
    if (covered(planned.job, planned.plan) && !plan::first_broken_rule(planned.job, planned.plan)) {
      return planned;
    }
  }
}

}  // namespace stepwright::testing
