#include "stepwright/step/encoder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "jobs.h"
#include "stepwright/cluster/catalog.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/parameters.h"
#include "stepwright/step/program.h"
#include "stepwright/step/work.h"

namespace stepwright::step {
namespace {

/// Returns SigLIP with 400 M parameters as in SigLIP-so400m-patch14-384: 27 layers, 729 patches.
model::ImageEncoder siglip() {
  model::ImageEncoder encoder{.name = "siglip_vision_model",
                              .parameters = 428'225'600,
                              .projector = 21'498'880,
                              .patches = 729,
                              .tokens = 729,
                              .layers = 27,
                              .hidden = 1152,
                              .heads = 16,
                              .ffn = 4304};
  const double matrices = 4.0 * 1152 * 1152 + 2.0 * 1152 * 4304;
  encoder.flops = 27 * (2 * 729 * matrices + 4.0 * 729 * 729 * 1152) + 2.0 * 729 * 588 * 1152 +
                  2.0 * 729 * 21'498'880;
  return encoder;
}

plan::Job seeing_job(double images = 2) {
  plan::Job job;
  job.model_name = "llama-3-8b";
  job.model = *model::built_in_model(job.model_name);
  job.model.encoder = siglip();
  job.model.encoder->images = images;
  job.cluster = *cluster::built_in_cluster("dgx-h100", 1);
  job.sequences = 8;
  job.length = 4096;
  return job;
}

plan::Plan eight_ranks() {
  plan::Plan plan;
  plan.parallel.data = 8;
  return plan;
}

ModelBlockTemplatePair embedding(const plan::Job& job, bool whole = false,
                                 plan::Plan plan = eight_ranks()) {
  return build_embedding_templates(make_setting(job, plan), whole);
}

/// Returns the FLOPs of matrix products and attention in a phase.
double work_flops(const OperatorTemplate& piece, Phase phase) {
  double sum = 0;
  for (const Operator& op : piece.operators) {
    const bool product = op.kind == OperatorKind::kLinear || op.kind == OperatorKind::kAttention;
    if (product && op.phase == phase) sum += operator_flops(op);
  }
  return sum;
}

std::int64_t kept_bytes(const OperatorTemplate& piece) {
  std::int64_t sum = 0;
  for (const TensorId id : piece.saved) sum += piece.tensors[static_cast<std::size_t>(id)].bytes();
  return sum;
}

TEST(ImageEncoder, HasTheParametersThatItSays) {
  const plan::Job job = seeing_job();
  std::int64_t sum = 0;
  for (const model::ModelParameter& parameter : model::encoder_parameters(job.model))
    sum += parameter.elements();
  EXPECT_EQ(sum, 428'225'600 + 21'498'880);
  EXPECT_EQ(model::count_parameters(job.model),
            model::count_parameters(*model::built_in_model("llama-3-8b")));
  const ModelBlockParameterCounts own =
      unit_size(make_setting(job, eight_ranks()),
                local_embedding_parameters(make_setting(job, eight_ranks())));
  EXPECT_EQ(own.dense, sum + 128'256 * 4096);
}

TEST(ImageEncoder, DoesTheProductsOfItsImages) {
  for (const double images : {1.0, 2.5, 0.25}) {
    const plan::Job job = seeing_job(images);
    const double said = images * job.model.encoder->flops;
    EXPECT_NEAR(work_flops(embedding(job).forward, Phase::kForward), said, 2e-3 * said);
  }
  plan::Plan two = eight_ranks();
  two.parallel = {.tensor = 2, .context = 2, .data = 2};
  two.micro_batch = 2;
  two.sequence_parallel = true;
  const plan::Job job = seeing_job();
  const double said = 4 * job.model.encoder->flops;
  EXPECT_NEAR(work_flops(embedding(job, false, two).forward, Phase::kForward), said, 1e-3 * said);
}

TEST(ImageEncoder, OfUnknownLayersIsOneProduct) {
  plan::Job job = seeing_job();
  job.model.encoder->layers = job.model.encoder->hidden = 0;
  const double said = 2 * job.model.encoder->flops;
  EXPECT_NEAR(work_flops(embedding(job).forward, Phase::kForward), said, 1e-3 * said);
}

TEST(ImageEncoder, LearnsWithTwiceItsForward) {
  const plan::Job job = seeing_job();
  const ModelBlockTemplatePair pair = embedding(job);
  const double forward = work_flops(pair.forward, Phase::kForward);
  const double back = work_flops(pair.backward, Phase::kDataGradient) +
                      work_flops(pair.backward, Phase::kWeightGradient);
  // The gradient of pixels is not needed; attention's backward pass has five products for two.
  const double attention = 2 * 27 * 4.0 * 729 * 729 * 1152;
  EXPECT_NEAR(back, 2 * forward + 0.5 * attention - 2 * 2.0 * 729 * 588 * 1152, 2e-3 * forward);
}

TEST(ImageEncoder, RecomputedKeepsTheInputsOfItsLayers) {
  const plan::Job job = seeing_job();
  const ModelBlockTemplatePair pair = embedding(job, true);
  const std::int64_t rows = 2 * 729;
  // The inputs of 27 layers and of the projector, and patches as rows of 588 numbers, in bf16.
  EXPECT_EQ(kept_bytes(pair.forward), 2 * rows * (27 * 1152 + 1152 + 588));
  EXPECT_GT(kept_bytes(embedding(job).forward), 8 * kept_bytes(pair.forward));
  EXPECT_NEAR(work_flops(pair.backward, Phase::kRecompute),
              2 * model::flops_of(*job.model.encoder).layers, 1e-3 * job.model.encoder->flops);
}

TEST(ImageEncoder, FrozenLeavesItsProjectorToLearn) {
  plan::Job job = seeing_job();
  job.model.frozen.encoder = true;
  const ModelBlockTemplatePair pair = embedding(job);
  const double projector = 2 * model::flops_of(*job.model.encoder).projector;
  EXPECT_NEAR(work_flops(pair.backward, Phase::kWeightGradient), projector, 1e-3 * projector);
  EXPECT_EQ(work_flops(pair.backward, Phase::kDataGradient), 0);
  EXPECT_EQ(kept_bytes(pair.forward), 2 * 2 * 729 * 1152);
  const ModelBlockParameterCounts own =
      unit_size(make_setting(job, eight_ranks()),
                local_embedding_parameters(make_setting(job, eight_ranks())));
  EXPECT_EQ(own.frozen_dense, 428'225'600);
  job.model.frozen = {.embedding = true, .encoder = true, .projector = true};
  EXPECT_TRUE(embedding(job).backward.operators.empty());
  EXPECT_EQ(job.model.layer_class(0).gradients, model::LayerGradientFlow::kEnds);
  job.model.frozen.projector = false;
  EXPECT_EQ(job.model.layer_class(0).gradients, model::LayerGradientFlow::kThrough);
}

TEST(ImageEncoder, WithoutImagesIsNotThere) {
  EXPECT_EQ(embedding(seeing_job(0)).forward.operators.size(), 1U);
  plan::Job unknown = seeing_job();
  unknown.model.encoder->parameters = 0;
  EXPECT_EQ(embedding(unknown).forward.operators.size(), 1U);
}

TEST(ImageEncoder, OfLargerImagesDoesMore) {
  const model::ImageEncoder large = model::encoder_with_patches(siglip(), 4 * 729);
  EXPECT_EQ(large.tokens, 4 * 729);
  EXPECT_NEAR(model::flops_of(large).projector, 4 * model::flops_of(siglip()).projector, 1e6);
  EXPECT_GT(model::flops_of(large).layers, 4.5 * model::flops_of(siglip()).layers);
  EXPECT_EQ(model::encoder_with_patches(large, 729).tokens, 729);
  EXPECT_NEAR(model::encoder_with_patches(large, 729).flops, siglip().flops, 1e3);
}

TEST(ImageEncoder, LiesOnTheFirstPosition) {
  const plan::Job job = seeing_job();
  plan::Plan plan = eight_ranks();
  plan.parallel = {.pipeline = 4, .data = 2};
  const StepProgram program = build_step_program(job, plan);
  plan::Job text = job;
  text.model.encoder.reset();
  const StepProgram without = build_step_program(text, plan);
  EXPECT_EQ(program.stages[0].states.parameters - without.stages[0].states.parameters,
            2 * (428'225'600 + 21'498'880));
  EXPECT_EQ(program.stages[1].states.parameters, without.stages[1].states.parameters);
}

}  // namespace
}  // namespace stepwright::step
