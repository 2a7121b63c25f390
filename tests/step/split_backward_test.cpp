#include "stepwright/step/split_backward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "stepwright/model/catalog.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/template_builder.h"
#include "tests/step/jobs.h"

namespace stepwright::step {
namespace {

struct LayerBackward {
  std::string name;
  OperatorTemplate backward;
};

/// Returns backward passes of layers of several architectures under several plans.
std::vector<LayerBackward> backwards() {
  std::vector<LayerBackward> all;
  for (const char* model : {"llama-3-8b", "mixtral-8x7b", "gpt-neox-20b", "deepseek-v3"}) {
    const plan::Job job = job_of(model, 1, 8, 4096);
    for (const bool sequence_parallel : {false, true}) {
      for (const plan::StateShardingScope states :
           {plan::StateShardingScope::kNone, plan::StateShardingScope::kGlobal}) {
        plan::Plan plan;
        plan.parallel = {.tensor = 2, .pipeline = 2, .data = 2};
        plan.sequence_parallel = sequence_parallel;
        plan.sharding = {states, states, plan::StateShardingScope::kGlobal};
        const StepBuildSettings setting = make_setting(job, plan);
        const plan::LayerRecompute modules{
            .whole = false,
            .modules = {plan::RecomputeModule::kNorm, plan::RecomputeModule::kMlp,
                        plan::RecomputeModule::kMoeActivation}};
        for (const plan::LayerRecompute& recompute :
             {plan::kNoRecompute, plan::kCoreRecompute, plan::kWholeRecompute, modules}) {
          const model::LayerClass last = job.model.layer_class(job.model.layers - 1);
          all.push_back({model, build_layer_templates(setting, last, recompute).backward});
        }
      }
    }
  }
  return all;
}

std::map<std::string, int> census(const OperatorTemplate& piece) {
  std::map<std::string, int> count;
  for (const Operator& op : piece.operators) {
    ++count[std::string(op.name) + "/" + std::string(name_of(kOperatorNames, op.kind)) + "/" +
            std::string(name_of(kPhaseNames, op.phase))];
  }
  return count;
}

bool given(const OperatorTemplate& piece, TensorId id) {
  const auto in = [&](const std::vector<TensorId>& ids) {
    return std::ranges::find(ids, id) != ids.end();
  };
  return in(piece.inputs) || in(piece.restored);
}

/// Expects every tensor that an operator reads to be given or written before.
void expect_complete(const OperatorTemplate& piece) {
  std::vector<bool> made(piece.tensors.size(), false);
  for (std::size_t id = 0; id < made.size(); ++id) {
    made[id] = given(piece, static_cast<TensorId>(id));
  }
  for (const Operator& op : piece.operators) {
    for (const TensorId id : piece.reads(op)) {
      EXPECT_TRUE(made[static_cast<std::size_t>(id)]) << piece.name << ": " << op.name;
    }
    for (const TensorId id : piece.writes(op)) made[static_cast<std::size_t>(id)] = true;
  }
}

TEST(SplitBackwardTemplates, TheTwoPartsHoldEveryOperatorOnce) {
  for (const LayerBackward& layer : backwards()) {
    const SplitBackwardTemplates parts = split_backward(layer.backward);
    std::map<std::string, int> both = census(parts.data);
    for (const auto& [name, count] : census(parts.weight)) both[name] += count;
    EXPECT_EQ(both, census(layer.backward)) << layer.name;
    expect_complete(parts.data);
    expect_complete(parts.weight);
  }
}

TEST(SplitBackwardTemplates, WeightGradientsAndTheInputsGatheredForThemWait) {
  for (const LayerBackward& layer : backwards()) {
    const SplitBackwardTemplates parts = split_backward(layer.backward);
    for (const Operator& op : parts.data.operators) {
      const bool product =
          op.kind == OperatorKind::kLinear || op.kind == OperatorKind::kGroupedLinear;
      EXPECT_FALSE(product && op.phase == Phase::kWeightGradient) << layer.name << ": " << op.name;
    }
    ASSERT_FALSE(parts.weight.operators.empty());
    for (const Operator& op : parts.weight.operators) {
      EXPECT_TRUE(op.phase == Phase::kWeightGradient || is_communication(op.kind)) << op.name;
    }
  }
}

TEST(SplitBackwardTemplates, TheWeightPartRestoresWhatTheDataPartSaved) {
  for (const LayerBackward& layer : backwards()) {
    const SplitBackwardTemplates parts = split_backward(layer.backward);
    ASSERT_EQ(parts.data.saved.size(), parts.weight.restored.size());
    for (std::size_t i = 0; i < parts.data.saved.size(); ++i) {
      const TemplateTensor& left =
          parts.data.tensors[static_cast<std::size_t>(parts.data.saved[i])];
      const TemplateTensor& right =
          parts.weight.tensors[static_cast<std::size_t>(parts.weight.restored[i])];
      EXPECT_EQ(left.name, right.name);
      EXPECT_EQ(left.extents, right.extents);
    }
    EXPECT_EQ(parts.data.restored.size(), layer.backward.restored.size());
    EXPECT_EQ(parts.data.inputs.size(), layer.backward.inputs.size());
    EXPECT_EQ(parts.data.outputs.size() + parts.weight.outputs.size(),
              layer.backward.outputs.size());
  }
}

/// An operator on tensors 0, 1, ... of a template, in order.
struct Line {
  Phase phase;
  std::vector<TensorId> reads, writes;
};

OperatorTemplate template_of(int tensors, const std::vector<Line>& lines) {
  OperatorTemplateBuilder out("layer.backward", {});
  for (int i = 0; i < tensors; ++i) out.tensor({.name = "t"});
  out.piece().restored = {0};
  for (const Line& line : lines) {
    out.add({.kind = OperatorKind::kLinear, .phase = line.phase, .name = "product"}, line.reads,
            line.writes);
  }
  return std::move(out.piece());
}

TEST(SplitBackwardTemplates, WhatTheDataPartReadsDoesNotWait) {
  const SplitBackwardTemplates parts = split_backward(
      template_of(3, {{Phase::kWeightGradient, {0}, {1}}, {Phase::kDataGradient, {1}, {2}}}));
  EXPECT_EQ(parts.data.operators.size(), 2U);
  EXPECT_TRUE(parts.weight.operators.empty());
}

TEST(SplitBackwardTemplates, WhatTheDataPartWritesOverDoesNotWait) {
  const SplitBackwardTemplates parts = split_backward(
      template_of(3, {{Phase::kWeightGradient, {0}, {1}}, {Phase::kDataGradient, {2}, {0}}}));
  EXPECT_TRUE(parts.weight.operators.empty());
}

}  // namespace
}  // namespace stepwright::step
