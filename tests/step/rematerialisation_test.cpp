#include "stepwright/step/rematerialisation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "stepwright/plan/modules.h"
#include "stepwright/plan/recompute.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/work.h"
#include "tests/step/jobs.h"

namespace stepwright::step {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

ModelBlockTemplatePair layer_of(const plan::Job& job, std::int64_t tensor,
                                plan::RecomputeModuleSet modules, std::int64_t index = 0,
                                std::int64_t expert = 1) {
  plan::Plan plan = plan_of(job, tensor, 1, 1);
  plan.parallel.expert = expert;
  plan.sequence_parallel = tensor > 1;
  plan.tensor_input = plan::GatheredInputPolicy::kKeep;
  return build_layer_templates(make_setting(job, plan), job.model.layer_class(index),
                               {.whole = false, .modules = modules});
}

std::int64_t saved(const OperatorTemplate& piece) {
  std::int64_t bytes = 0;
  for (const TensorId id : piece.saved)
    bytes += piece.tensors[static_cast<std::size_t>(id)].bytes();
  return bytes;
}

/// Counts how often each operator is repeated.
std::map<std::string, int> again(const OperatorTemplate& backward) {
  std::map<std::string, int> count;
  for (const Operator& op : backward.operators) {
    if (op.phase == Phase::kRecompute) ++count[std::string(op.name)];
  }
  return count;
}

/// llama-3-8b, 4096 tokens in bf16: fc1 makes 2 x 14336 columns, its activation 14336; the rows
/// that enter are kept in both cases.
TEST(Rematerialisation, AnMlpIsNotKeptAndRunsAgainWhole) {
  const plan::Job job = job_of("llama-3-8b", 1, 8, 4096);
  const ModelBlockTemplatePair none = layer_of(job, 1, {});
  const ModelBlockTemplatePair mlp = layer_of(job, 1, {plan::RecomputeModule::kMlp});
  EXPECT_EQ(saved(none.forward) - saved(mlp.forward), std::int64_t{4096} * 3 * 14336 * 2);
  EXPECT_THAT(again(none.backward), ElementsAre());
  EXPECT_THAT(again(mlp.backward),
              ElementsAre(Pair("activation", 1), Pair("mlp.fc1", 1), Pair("mlp.fc2", 1)));
}

/// On two tensor ranks, the gathered rows of each region are a whole tensor, the rows before the
/// gather half of one.
TEST(Rematerialisation, WhatWasGatheredIsGatheredAgain) {
  const plan::Job job = job_of("llama-3-8b", 1, 8, 4096);
  const ModelBlockTemplatePair none = layer_of(job, 2, {});
  const ModelBlockTemplatePair norms = layer_of(job, 2, {plan::RecomputeModule::kNorm});
  const std::int64_t sheet = std::int64_t{4096} * 4096 * 2;
  EXPECT_EQ(saved(none.forward) - saved(norms.forward), 2 * sheet);
  EXPECT_THAT(again(norms.backward), ElementsAre(Pair("attention.qkv", 1), Pair("mlp.fc1", 1),
                                                 Pair("norm.attention", 1), Pair("norm.mlp", 1)));
  for (const Operator& op : norms.backward.operators) {
    if (op.phase != Phase::kRecompute || op.kind == OperatorKind::kNorm) continue;
    EXPECT_EQ(op.kind, OperatorKind::kAllGather);
  }
}

/// llama-3-8b, 4096 tokens: of wq wk wv wo w1 w3 w2, the backward pass repeats wo and w3, with the
/// operators that lead to them. It keeps one half of the 2 x 14336 columns instead of both and the
/// activation, and neither the normed rows nor the sum between the branches, 4096 wide each.
TEST(Rematerialisation, EverySecondProductRunsAgainByOperator) {
  const plan::Job job = job_of("llama-3-8b", 1, 8, 4096);
  const ModelBlockTemplatePair none = layer_of(job, 1, {});
  const ModelBlockTemplatePair half = layer_of(job, 1, plan::kPerOperator);
  EXPECT_EQ(saved(none.forward) - saved(half.forward),
            std::int64_t{4096} * (2 * 14336 + 3 * 4096) * 2);
  EXPECT_THAT(again(half.backward),
              ElementsAre(Pair("activation", 1), Pair("attention.output", 1), Pair("mlp.fc1", 1),
                          Pair("norm.attention", 1), Pair("norm.mlp", 1), Pair("residual", 1)));
  double products = 0;
  for (const Operator& op : half.backward.operators) {
    if (op.phase == Phase::kRecompute && op.kind == OperatorKind::kLinear)
      products += operator_flops(op);
  }
  EXPECT_EQ(products, 2.0 * 4096 * 4096 * (4096 + 14336));
}

/// The sum of attention's last product over tensor ranks is kept, so that no product is repeated
/// for it.
TEST(Rematerialisation, ByOperatorWhatRanksHaveSummedIsKept) {
  const plan::Job job = job_of("llama-3-8b", 1, 8, 4096);
  const ModelBlockTemplatePair half = layer_of(job, 2, plan::kPerOperator);
  EXPECT_EQ(again(half.backward).count("attention.output"), 0U);
  EXPECT_EQ(again(half.backward).at("mlp.fc1"), 2);  // gathered again, and w3
}

/// qwen3-30b-a3b, 4,096 tokens of 2,048 columns to 8 of 128 experts of 768: of the routed path,
/// only the top k, their weights and counts are kept, and the rows that an exchange delivers in
/// either direction.
TEST(Rematerialisation, ByOperatorNoGroupedProductIsKept) {
  plan::Job job = job_of("qwen3-30b-a3b", 1, 8, 4096);
  const ModelBlockTemplatePair none = layer_of(job, 1, {});
  const ModelBlockTemplatePair half = layer_of(job, 1, plan::kPerOperator);
  const std::int64_t copies = std::int64_t{4096} * 8;
  // Two normed sheets and the sum between the branches, and normed heads.
  const std::int64_t attention = std::int64_t{4096} * (3 * 2048 + (32 + 4 + 4) * 128) * 2;
  const std::int64_t routed = copies * (2048 + 2 * 768 + 768 + 2048) * 2 + 4096 * 128 * 4;
  EXPECT_EQ(saved(none.forward) - saved(half.forward), routed + attention);
  const auto rerun = again(half.backward);
  for (const char* name : {"experts.fc1", "experts.fc2", "experts.permute", "router.weight"}) {
    EXPECT_EQ(rerun.count(name), 1U) << name;
  }
  const ModelBlockTemplatePair apart_none = layer_of(job, 1, {}, 0, 8);
  const ModelBlockTemplatePair apart = layer_of(job, 1, plan::kPerOperator, 0, 8);
  EXPECT_EQ(saved(apart_none.forward) - saved(apart.forward),
            routed + attention - 2 * copies * 2048 * 2);
}

TEST(Rematerialisation, OnlyTheActivationOfExperts) {
  const plan::Job job = job_of("mixtral-8x7b", 1, 8, 4096);
  const ModelBlockTemplatePair none = layer_of(job, 1, {});
  const ModelBlockTemplatePair act = layer_of(job, 1, {plan::RecomputeModule::kMoeActivation});
  EXPECT_EQ(saved(none.forward) - saved(act.forward), std::int64_t{4096} * 2 * 14336 * 2);
  EXPECT_THAT(again(act.backward), ElementsAre(Pair("activation", 1)));
}

TEST(Rematerialisation, UpProjectionsOfLatentAttention) {
  const plan::Job job = job_of("deepseek-v3", 1, 8, 4096);
  const ModelBlockTemplatePair up = layer_of(job, 1, {plan::RecomputeModule::kLatentUp}, 10);
  EXPECT_THAT(again(up.backward), ElementsAre(Pair("attention.kv_up", 1), Pair("attention.q_up", 1),
                                              Pair("attention.rotary", 1)));
}

/// Whatever is kept, a backward pass computes the same gradients.
TEST(Rematerialisation, ChangesNothingElseOfABackward) {
  for (const char* model : {"llama-3-8b", "mixtral-8x7b", "gpt-neox-20b", "deepseek-v3"}) {
    const plan::Job job = job_of(model, 1, 8, 4096);
    const auto own = [&](plan::RecomputeModuleSet modules) {
      std::map<std::string, int> count;
      const ModelBlockTemplatePair pair = layer_of(job, 2, modules, job.model.layers - 1);
      for (const Operator& op : pair.backward.operators) {
        if (op.phase != Phase::kRecompute) ++count[std::string(op.name)];
      }
      return count;
    };
    plan::RecomputeModuleSet all;
    for (const auto& [module, name] : plan::kModuleNames) {
      EXPECT_EQ(own({module}), own({})) << model << " " << name;
      all.add(module);
    }
    EXPECT_EQ(own(all), own({})) << model;
  }
}

// The list of recomputation by operator has exchanges of rows for experts, and no gathers.
TEST(Rematerialisation, ByOperatorGathersRowsForExpertsAgain) {
  plan::Job job = job_of("mixtral-8x7b", 1, 8, 4096);
  for (const plan::TokenDispatcher dispatcher :
       {plan::TokenDispatcher::kAllToAll, plan::TokenDispatcher::kAllGather}) {
    job.dispatcher = dispatcher;
    const ModelBlockTemplatePair pair =
        layer_of(job, 1, {plan::RecomputeModule::kPerOperator}, 0, 8);
    const bool sends = std::ranges::any_of(pair.backward.operators, [](const Operator& op) {
      return op.phase == Phase::kRecompute && op.scheme == ParallelismScheme::kExpert &&
             op.payload_elements > 0;
    });
    EXPECT_EQ(sends, dispatcher == plan::TokenDispatcher::kAllGather);
  }
}

}  // namespace
}  // namespace stepwright::step
