#include "stepwright/step/program.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "stepwright/core/error.h"
#include "stepwright/model/flops.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/step/program_json.h"
#include "stepwright/step/work.h"
#include "tests/step/jobs.h"

namespace stepwright::step {
namespace {

/// Calls `visit` with every operator that one rank of a stage runs in a step, in order.
template <class VisitorCallback>
void for_each_operator(const StepProgram& program, const PipelineStageProgram& stage,
                       VisitorCallback visit) {
  for (const PipelineScheduleSlot& slot : stage.schedule) {
    for (const TemplateSequenceItem& item :
         stage.sequences[static_cast<std::size_t>(slot.sequence)].items) {
      const OperatorTemplate& piece = program.templates[static_cast<std::size_t>(item.which)];
      for (const Operator& op : piece.operators) visit(op);
    }
  }
}

/// Returns how often one rank of a stage calls an operation of a scheme in a step.
std::int64_t calls(const StepProgram& program, std::size_t stage, OperatorKind kind,
                   ParallelismScheme scheme, Phase phase) {
  std::int64_t count = 0;
  for_each_operator(program, program.stages[stage], [&](const Operator& op) {
    if (op.kind == kind && op.scheme == scheme && op.phase == phase) count += op.repeats;
  });
  return count;
}

/// Returns the FLOPs of matrix products and attention in one step, summed over one rank of each
/// stage.
double product_flops(const StepProgram& program, bool recompute) {
  double sum = 0;
  for (const PipelineStageProgram& stage : program.stages) {
    for_each_operator(program, stage, [&](const Operator& op) {
      if (op.kind != OperatorKind::kLinear) return;
      if ((op.phase == Phase::kRecompute) == recompute) sum += operator_flops(op);
    });
  }
  return sum;
}

void expect_inputs_match(const StepProgram& program, const TemplateSequence& sequence,
                         std::size_t i) {
  const TemplateSequenceItem& item = sequence.items[i];
  const OperatorTemplate& piece = program.templates[static_cast<std::size_t>(item.which)];
  ASSERT_EQ(item.inputs.size(), piece.inputs.size()) << piece.name;
  for (std::size_t k = 0; k < item.inputs.size(); ++k) {
    const OperatorTemplateInputSource& source = item.inputs[k];
    ASSERT_GE(source.item, 0) << piece.name;
    ASSERT_LT(source.item, static_cast<std::int32_t>(i)) << piece.name;
    const TemplateSequenceItem& maker = sequence.items[static_cast<std::size_t>(source.item)];
    const OperatorTemplate& from = program.templates[static_cast<std::size_t>(maker.which)];
    ASSERT_LT(source.output, static_cast<std::int32_t>(from.outputs.size())) << from.name;
    const TensorId made = from.outputs[static_cast<std::size_t>(source.output)];
    EXPECT_EQ(from.tensors[static_cast<std::size_t>(made)].bytes(),
              piece.tensors[static_cast<std::size_t>(piece.inputs[k])].bytes())
        << from.name << " -> " << piece.name;
  }
}

void expect_well_formed(const StepProgram& program) {
  for (const OperatorTemplate& piece : program.templates) {
    std::set<TensorId> written(piece.inputs.begin(), piece.inputs.end());
    written.insert(piece.restored.begin(), piece.restored.end());
    for (std::size_t i = 0; i < piece.operators.size(); ++i) {
      for (const TensorId id : piece.reads(piece.operators[i])) {
        EXPECT_TRUE(written.contains(id))
            << piece.name << ": operator " << i << " \"" << piece.operators[i].name << "\" reads "
            << piece.tensors[static_cast<std::size_t>(id)].name;
      }
      for (const TensorId id : piece.writes(piece.operators[i])) written.insert(id);
      for (const std::int32_t other : piece.after(piece.operators[i])) {
        EXPECT_LT(other, static_cast<std::int32_t>(i));
      }
    }
    for (const TensorId id : piece.outputs) EXPECT_TRUE(written.contains(id)) << piece.name;
    for (const TensorId id : piece.saved) EXPECT_TRUE(written.contains(id)) << piece.name;
  }
  for (const PipelineStageProgram& stage : program.stages) {
    for (const TemplateSequence& sequence : stage.sequences) {
      for (std::size_t i = 0; i < sequence.items.size(); ++i) {
        expect_inputs_match(program, sequence, i);
      }
    }
  }
}

TEST(Program, AGradientThatNoProductAddsIsAddedByItself) {
  plan::Job job = job_of("llama-2-7b", 1, 16, 2048);
  const plan::Plan plan = plan_of(job, 2, 1);
  const auto weights = [&] {
    std::map<OperatorKind, std::int64_t> sums;
    const StepProgram program = build_step_program(job, plan);
    for_each_operator(program, program.stages.front(), [&](const Operator& op) {
      if (op.phase != Phase::kWeightGradient) return;
      const std::int64_t rows = op.kind == OperatorKind::kLinear ? op.shape.inner : op.shape.rows;
      sums[op.kind] += rows * op.shape.columns;
    });
    return sums;
  };
  EXPECT_EQ(weights().count(OperatorKind::kAccumulate), 0U);
  job.kernels.fused_accumulation = false;
  auto sums = weights();
  EXPECT_GT(sums[OperatorKind::kLinear], 0);
  EXPECT_EQ(sums[OperatorKind::kAccumulate], sums[OperatorKind::kLinear]);
}

TEST(StepProgram, OneDeviceHasNoMessages) {
  plan::Job job = job_of("gpt2", 1, 8, 1024);
  job.cluster.nodes = 1;
  const plan::Plan plan = plan_of(job, 1, 1);
  plan::Job single = job;
  single.cluster.devices_per_node = 1;
  plan::Plan alone = plan;
  alone.parallel.data = 1;
  const StepProgram program = build_step_program(single, alone);
  for (const OperatorTemplate& piece : program.templates) {
    for (const Operator& op : piece.operators) EXPECT_FALSE(is_communication(op.kind)) << op.name;
  }
  expect_well_formed(program);
}

TEST(StepProgram, SequenceParallelLayersHaveMegatronsCollectives) {
  // Traffic reference, "TP with SP": forward 2 AG + 2 RS; backward 2 AG + 2 RS + 2 AG re-gather.
  const plan::Job job = job_of("llama-3-8b", 1, 8, 8192);
  plan::Plan plan = plan_of(job, 8, 1);
  plan.tensor_input = plan::GatheredInputPolicy::kRegather;
  const StepProgram program = build_step_program(job, plan);
  const std::int64_t layers = 32;
  const std::int64_t m = 8;
  // Beyond the layers: embedding RS forward and AG backward; head AG forward, AG + RS backward.
  EXPECT_EQ(
      calls(program, 0, OperatorKind::kAllGather, ParallelismScheme::kTensor, Phase::kForward),
      m * (2 * layers + 1));
  EXPECT_EQ(
      calls(program, 0, OperatorKind::kReduceScatter, ParallelismScheme::kTensor, Phase::kForward),
      m * (2 * layers + 1));
  EXPECT_EQ(
      calls(program, 0, OperatorKind::kAllGather, ParallelismScheme::kTensor, Phase::kDataGradient),
      m * (4 * layers + 1));
  EXPECT_EQ(calls(program, 0, OperatorKind::kReduceScatter, ParallelismScheme::kTensor,
                  Phase::kDataGradient),
            m * (2 * layers + 1));
  EXPECT_EQ(calls(program, 0, OperatorKind::kAllGather, ParallelismScheme::kTensor,
                  Phase::kWeightGradient),
            m);
  plan.tensor_input = plan::GatheredInputPolicy::kKeep;
  EXPECT_EQ(calls(build_step_program(job, plan), 0, OperatorKind::kAllGather,
                  ParallelismScheme::kTensor, Phase::kDataGradient),
            m * 2 * layers);
}

TEST(StepProgram, FullRecomputationRepeatsTheForwardsCollectives) {
  const plan::Job job = job_of("llama-3-8b", 1, 8, 8192);
  plan::Plan plan = plan_of(job, 8, 1);
  plan.recompute.kind = plan::RecomputeKind::kFull;
  const StepProgram program = build_step_program(job, plan);
  EXPECT_EQ(
      calls(program, 0, OperatorKind::kAllGather, ParallelismScheme::kTensor, Phase::kRecompute),
      8 * 2 * 32);
  EXPECT_EQ(calls(program, 0, OperatorKind::kReduceScatter, ParallelismScheme::kTensor,
                  Phase::kRecompute),
            8 * 2 * 32);
  EXPECT_NEAR(product_flops(program, true),
              (product_flops(program, false) - 3 * 2.0 * 8 * 8192 * 4096 * 128'256.0 / 8) / 3,
              0.01 * product_flops(program, true));
}

TEST(StepProgram, WithoutSequenceParallelThereAreFourAllReducesALayer) {
  const plan::Job job = job_of("llama-3-8b", 1, 8, 8192);
  plan::Plan plan = plan_of(job, 8, 1);
  plan.sequence_parallel = false;
  const StepProgram program = build_step_program(job, plan);
  // Forward: 2 a layer, embedding, three of the cross entropy; backward: 2 a layer, head.
  EXPECT_EQ(
      calls(program, 0, OperatorKind::kAllReduce, ParallelismScheme::kTensor, Phase::kForward),
      8 * (2 * 32 + 1 + 3));
  EXPECT_EQ(
      calls(program, 0, OperatorKind::kAllReduce, ParallelismScheme::kTensor, Phase::kDataGradient),
      8 * (2 * 32 + 1));
}

TEST(StepProgram, AGateOfItsOwnHasItsGradientReducedByItself) {
  plan::Job job = job_of("llama-3-8b", 1, 8, 8192);
  plan::Plan plan = plan_of(job, 8, 1);
  const auto counted = [&](OperatorKind kind, ParallelismScheme scheme) {
    return calls(build_step_program(job, plan), 0, kind, scheme, Phase::kDataGradient);
  };
  const std::int64_t sums = counted(OperatorKind::kReduceScatter, ParallelismScheme::kTensor);
  const std::int64_t adds = counted(OperatorKind::kAdd, ParallelismScheme::kNone);
  job.kernels.fused_gate = false;
  job.kernels.fused_qkv = false;
  EXPECT_EQ(counted(OperatorKind::kReduceScatter, ParallelismScheme::kTensor), sums)
      << "rows that are gathered for all have one sum";
  EXPECT_EQ(counted(OperatorKind::kAdd, ParallelismScheme::kNone), adds + 8 * 2 * 32);
  job.kernels.fused_qkv = true;
  plan.sequence_parallel = false;
  const StepProgram program = build_step_program(job, plan);
  EXPECT_EQ(
      calls(program, 0, OperatorKind::kAllReduce, ParallelismScheme::kTensor, Phase::kDataGradient),
      8 * (3 * 32 + 1));
  expect_well_formed(program);
  job.kernels.fused_gate = true;
  EXPECT_DOUBLE_EQ(product_flops(program, false),
                   product_flops(build_step_program(job, plan), false));
}

TEST(StepProgram, TheWholeSumOfGradientsMayGoToEveryRankOfAShardedOptimizer) {
  plan::Job job = job_of("llama-3-8b", 2, 16, 2048);
  plan::Plan plan = plan_of(job, 2, 1);
  plan.sharding = {.optimizer = plan::StateShardingScope::kGlobal};
  plan.accumulate = DType::kBf16;
  const auto reduced = [&] {
    std::map<std::pair<OperatorKind, DType>, std::int64_t> elements;
    const StepProgram program = build_step_program(job, plan);
    for_each_operator(program, program.stages.front(), [&](const Operator& op) {
      if (op.purpose != OperatorPurpose::kReduceGradients) return;
      elements[{op.kind, op.dtype}] += op.payload_elements * op.repeats;
    });
    return elements;
  };
  const auto scattered = reduced();
  ASSERT_EQ(scattered.size(), 1U);
  EXPECT_EQ(scattered.begin()->first, std::pair(OperatorKind::kReduceScatter, DType::kBf16));
  job.kernels.scattered_gradients = false;
  job.kernels.wide_gradients = true;
  const auto whole = reduced();
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(whole.begin()->first, std::pair(OperatorKind::kAllReduce, DType::kFp32));
  EXPECT_LE(whole.begin()->second, scattered.begin()->second) << "shards are padded";
  EXPECT_NEAR(static_cast<double>(whole.begin()->second),
              static_cast<double>(scattered.begin()->second), 1000);
}

TEST(StepProgram, GatheredParametersAreUnpackedTensorByTensorForEachRank) {
  plan::Job job = job_of("llama-3-8b", 1, 8, 8192);
  plan::Plan plan = plan_of(job, 1, 1);
  plan.sharding = {.optimizer = plan::StateShardingScope::kGlobal};
  plan.overlap.parameters = false;
  const auto unpacked = [&] {
    std::vector<OperatorShape> found;
    const StepProgram program = build_step_program(job, plan);
    for_each_operator(program, program.stages.front(), [&](const Operator& op) {
      if (op.kind == OperatorKind::kUnpack) found.push_back(op.shape);
    });
    return found;
  };
  EXPECT_TRUE(unpacked().empty());
  job.kernels.refresh_by_tensor = true;
  const std::vector<OperatorShape> all = unpacked();
  ASSERT_EQ(all.size(), 1U);
  // Two norms, queries with keys and values, output, gate with input, down in each layer; the
  // embedding, the head and its norm.
  EXPECT_EQ(all.front().batch, 8 * (32 * 6 + 3));
  EXPECT_GE(all.front().rows, 8'030'000'000);
  plan.overlap.parameters = true;
  EXPECT_TRUE(unpacked().empty()) << "blocks come before their first use";
  plan.overlap.parameters = false;
  plan.sharding = {};
  EXPECT_TRUE(unpacked().empty()) << "nothing is gathered";
}

TEST(StepProgram, RingContextSendsKeysAndValuesRound) {
  const plan::Job job = job_of("llama-3-8b", 1, 8, 8192);
  plan::Plan plan = plan_of(job, 1, 1, 4);
  const StepProgram program = build_step_program(job, plan);
  const std::int64_t m = plan::micro_batches_per_pipeline(job, plan);
  EXPECT_EQ(calls(program, 0, OperatorKind::kShift, ParallelismScheme::kContext, Phase::kForward),
            m * 32 * 3);
  EXPECT_EQ(
      calls(program, 0, OperatorKind::kShift, ParallelismScheme::kContext, Phase::kDataGradient),
      m * 32 * 6);
  expect_well_formed(program);
}

TEST(StepProgram, ExpertsExchangeTokensFourTimesALayer) {
  plan::Job job = job_of("mixtral-8x7b", 1, 8, 4096);
  plan::Plan plan = plan_of(job, 1, 1);
  plan.parallel.expert = 8;
  const StepProgram program = build_step_program(job, plan);
  // Two for the rows and one for the probabilities in each direction.
  EXPECT_EQ(calls(program, 0, OperatorKind::kAllToAll, ParallelismScheme::kExpert, Phase::kForward),
            32 * 3);
  EXPECT_EQ(
      calls(program, 0, OperatorKind::kAllToAll, ParallelismScheme::kExpert, Phase::kDataGradient),
      32 * 3);
  EXPECT_EQ(
      calls(program, 0, OperatorKind::kAllGather, ParallelismScheme::kExpert, Phase::kForward), 32);
  expect_well_formed(program);
}

TEST(StepProgram, ADispatcherThatSendsOnceSendsARowToEachRankThatItMeets) {
  plan::Job job = job_of("mixtral-8x7b", 1, 8, 4096);
  job.dispatcher = plan::TokenDispatcher::kOncePerNode;
  plan::Plan plan = plan_of(job, 1, 1);
  plan.parallel.expert = 8;
  const StepProgram program = build_step_program(job, plan);
  // Two experts of random rows on eight ranks: 8 (1 - (7/8)^2) = 1.875 of 2.
  std::int64_t exchanges = 0;
  std::int64_t reorderings = 0;
  for_each_operator(program, program.stages[0], [&](const Operator& op) {
    if (op.phase != Phase::kForward) return;
    if (op.name == "experts.dispatch" || op.name == "experts.combine") {
      EXPECT_EQ(op.payload_elements, 4096 * 15 / 8 * 4096) << op.name;
      ++exchanges;
    }
    if (op.kind == OperatorKind::kPermute || op.kind == OperatorKind::kUnpermute) {
      EXPECT_EQ(op.shape.rows, 2 * 4096) << op.name;
      ++reorderings;
    }
  });
  EXPECT_EQ(exchanges, 32 * 2);
  EXPECT_EQ(reorderings,
            32 * 2);  // Into the order of experts and back; the exchange does the rest.
  expect_well_formed(program);
}

TEST(StepProgram, TensorMessagesOfGradientsStandBesideTheOtherGradient) {
  const plan::Job job = job_of("llama-3-8b", 1, 8, 8192);
  const auto streams = [&](bool gradients, bool pieces) {
    plan::Plan plan = plan_of(job, 8, 1);
    plan.overlap.tensor_gradients = gradients;
    plan.overlap.tensor = pieces;
    const StepProgram program = build_step_program(job, plan);
    std::map<std::string, std::set<std::pair<DeviceStream, bool>>> found;
    for_each_operator(program, program.stages[0], [&](const Operator& op) {
      if (op.scheme != ParallelismScheme::kTensor || op.phase != Phase::kDataGradient) return;
      found[std::string(op.name)].insert({op.stream, op.in_pieces});
    });
    return found;
  };
  using Found = std::set<std::pair<DeviceStream, bool>>;
  const auto whole = streams(true, false);
  EXPECT_EQ(whole.at("mlp.fc1"), (Found{{DeviceStream::kTensor, false}}));
  EXPECT_EQ(whole.at("mlp.fc2"), (Found{{DeviceStream::kCompute, false}}));
  EXPECT_EQ(streams(false, false).at("mlp.fc1"), (Found{{DeviceStream::kCompute, false}}));
  const auto pieces = streams(true, true);
  EXPECT_EQ(pieces.at("mlp.fc1"), (Found{{DeviceStream::kTensor, false}}));
  EXPECT_EQ(pieces.at("mlp.fc2"), (Found{{DeviceStream::kTensor, true}}));
}

TEST(StepProgram, ProductsAddUpToTheModelsFlops) {
  for (const char* name : {"llama-3-8b", "gpt2-xl", "gpt-neox-20b", "qwen3-8b"}) {
    plan::Job job = job_of(name, 1, 8, 1024);
    plan::Plan plan = plan_of(job, 1, 1);
    const StepProgram program = build_step_program(job, plan);
    const double attention = 3 * 2.0 * 1024 * static_cast<double>(job.model.heads) * 2 *
                             static_cast<double>(job.model.head_dim * job.model.layers);
    const double expected = (model::training_flops_per_token(job.model, 1024) - attention) * 1024;
    EXPECT_NEAR(product_flops(program, false), expected, 1e-6 * expected) << name;
  }
}

TEST(StepProgram, HeadAndRouterStayOutOfNarrowProducts) {
  plan::Job job = job_of("mixtral-8x7b", 1, 8, 4096);
  job.precision = DType::kFp8;
  const StepProgram program = build_step_program(job, plan_of(job, 1, 1));
  std::set<std::string_view> wide, narrow;
  for_each_operator(program, program.stages[0], [&](const Operator& op) {
    if (op.kind != OperatorKind::kLinear && op.kind != OperatorKind::kGroupedLinear) return;
    (op.dtype == DType::kFp8 ? narrow : wide).insert(op.name);
  });
  EXPECT_EQ(wide, (std::set<std::string_view>{"head.weight", "router.weight"}));
  EXPECT_EQ(narrow.size(), 4U);  // Of attention and of the experts, in and out.
}

TEST(StepProgram, StagesHoldEveryParameterOnce) {
  for (const char* name : {"llama-3-8b", "mixtral-8x7b", "deepseek-v3", "gpt-neox-20b"}) {
    plan::Job job = job_of(name, 2, 32, 2048);
    plan::Plan plan = plan_of(job, 1, 2);
    const StepProgram program = build_step_program(job, plan);
    std::int64_t held = 0;
    for (const PipelineStageProgram& stage : program.stages) {
      held += stage.dense_parameters + stage.expert_parameters;
    }
    EXPECT_EQ(held, model::count_parameters(job.model)) << name;
  }
}

TEST(StepProgram, ShardingDividesTheStatesAsPaRODoes) {
  // 65e9-like check of the memory formula on one model: M = e_p/d_p + e_g/d_g + e_o/d_o.
  const plan::Job job = job_of("llama-3-8b", 4, 64, 8192);
  for (plan::Sharding sharding : plan::paro_strategies()) {
    plan::Plan plan = plan_of(job, 1, 1);
    const bool inner = sharding.parameters == plan::StateShardingScope::kInner ||
                       sharding.gradients == plan::StateShardingScope::kInner ||
                       sharding.optimizer == plan::StateShardingScope::kInner;
    sharding.group = inner ? 8 : 1;
    plan.sharding = sharding;
    const StepProgram program = build_step_program(job, plan);
    const auto part = [](plan::StateShardingScope spread) {
      return spread == plan::StateShardingScope::kNone    ? 1.0
             : spread == plan::StateShardingScope::kInner ? 8.0
                                                          : 32.0;
    };
    const double elements = 8'030'261'248.0;
    const double expected =
        elements * (2 / part(sharding.parameters) + 4 / part(sharding.gradients) +
                    12 / part(sharding.optimizer));
    const RankModelStateBytes& states = program.stages[0].states;
    EXPECT_NEAR(static_cast<double>(states.parameters + states.gradients + states.optimizer),
                expected, 1e-6 * expected)
        << plan::sharding_letters(sharding);
    expect_well_formed(program);
  }
}

TEST(StepProgram, DataMessagesFollowTheTableOfStrategies) {
  // Full-buffer units of intra (I), rail (E) and world (W) collectives per step with s = 4
  // micro-batches, from the table of sharding strategies (docs/algorithms.md).
  struct Row {
    const char* name;
    int inner, outer, world;
  };
  const int s = 4;
  const Row rows[] = {{"NNN", 0, 0, 1},         {"NNI", 2, 1, 0},     {"NNG", 0, 0, 2},
                      {"NII", s + 1, 1, 0},     {"NIG", s, 1, 1},     {"NGG", 0, 0, s + 1},
                      {"INI", 2 * s + 1, 1, 0}, {"ING", 2 * s, 1, 1}, {"III", 3 * s, 1, 0},
                      {"IIG", 3 * s, 2, 0},     {"IGG", 2 * s, 1, s}, {"GNG", 0, 0, 2 * s + 1},
                      {"GIG", s, 1, 2 * s},     {"GGG", 0, 0, 3 * s}};
  const plan::Job job = job_of("llama-3-8b", 2, 64, 8192);
  for (const Row& row : rows) {
    plan::Plan plan = plan_of(job, 1, 1);
    for (const plan::Sharding& sharding : plan::paro_strategies()) {
      if (plan::sharding_letters(sharding) == row.name) plan.sharding = sharding;
    }
    const std::string_view word = row.name;
    plan.sharding.group = word.find('I') == std::string_view::npos ? 1 : 8;
    const StepProgram program = build_step_program(job, plan);
    std::map<plan::CommunicatorKind, double> elements;
    for_each_operator(program, program.stages[0], [&](const Operator& op) {
      if (op.scheme != ParallelismScheme::kData) return;
      elements[op.group] += static_cast<double>(op.payload_elements * op.repeats);
    });
    const double whole = 8'030'261'248.0;
    EXPECT_NEAR(elements[plan::CommunicatorKind::kShardInner] / whole, row.inner, 1e-4) << row.name;
    EXPECT_NEAR(elements[plan::CommunicatorKind::kShardOuter] / (whole / 8), row.outer, 1e-4)
        << row.name;
    EXPECT_NEAR(elements[plan::CommunicatorKind::kDataContext] / whole, row.world, 1e-4)
        << row.name;
  }
}

TEST(StepProgram, ParametersOnTheHostAreFetchedForEachUseAndGradientsLeftThere) {
  const plan::Job job = job_of("llama-3-8b", 2, 64, 8192);
  plan::Plan plan = plan_of(job, 1, 1);
  plan.sharding = {plan::StateShardingScope::kGlobal, plan::StateShardingScope::kGlobal,
                   plan::StateShardingScope::kGlobal};
  const StepProgram on_device = build_step_program(job, plan);
  plan.offload = {.optimizer = 1, .parameters = true};
  const StepProgram on_host = build_step_program(job, plan);
  std::map<OperatorKind, double> rows;
  for_each_operator(on_host, on_host.stages[0], [&](const Operator& op) {
    if (op.name.ends_with("_host") && op.kind != OperatorKind::kHostOptimizer)
      rows[op.kind] += static_cast<double>(op.shape.rows);
  });
  // Four micro-batches, a sixteenth for each of 16 ranks: a forward and a backward, and gradients.
  const double part = 8'030'261'248.0 / 16;
  EXPECT_NEAR(rows[OperatorKind::kCopyFromHost] / part, 8, 1e-3);
  EXPECT_NEAR(rows[OperatorKind::kCopyToHost] / part, 4, 1e-3);
  const RankModelStateBytes& there = on_host.stages[0].states;
  const RankModelStateBytes& here = on_device.stages[0].states;
  EXPECT_EQ(there.parameters + there.gradients + there.optimizer, 0);
  EXPECT_EQ(there.fetched, here.parameters);
  EXPECT_NEAR(static_cast<double>(there.host.bytes()) / part, 16 + 2, 1e-3);
}

// A layer that is recomputed as a whole keeps its input alone: 8,192 x 4,096 in bf16, once each way
// for each micro-batch and layer.
TEST(StepProgram, InputsOfRecomputedLayersTravelOnceEachWay) {
  plan::Job job = job_of("llama-3-8b", 1, 64, 8192);
  plan::Plan plan = plan_of(job, 1, 1);
  plan.offload.move_inputs();
  const auto copied = [&] {
    std::map<OperatorKind, std::int64_t> rows;
    const StepProgram program = build_step_program(job, plan);
    for_each_operator(program, program.stages[0], [&](const Operator& op) {
      if (op.name.starts_with("activations.")) rows[op.kind] += op.shape.rows * op.repeats;
    });
    EXPECT_EQ(rows[OperatorKind::kCopyToHost], rows[OperatorKind::kCopyFromHost]);
    return rows[OperatorKind::kCopyToHost];
  };
  const std::int64_t input = 8192 * 4096;
  const std::int64_t rounds = plan::micro_batches_per_pipeline(job, plan);
  EXPECT_EQ(copied(), 0) << "nothing is recomputed";
  plan.recompute = {.kind = plan::RecomputeKind::kFull};
  EXPECT_EQ(copied(), 32 * input * rounds);
  plan.recompute = {.kind = plan::RecomputeKind::kEvery, .every = 4};
  EXPECT_EQ(copied(), 8 * input * rounds);
  plan.offload.activations = {plan::OffloadModule::kAttentionNorm};
  EXPECT_EQ(copied(), 24 * input * rounds) << "of the other layers the same tensor";
}

/// Returns the bytes of logits, or of tensors that a loss makes of them, in a template: the ones it
/// keeps, or the others.
double logits_bytes(const StepProgram& program, std::string_view name, bool saved) {
  double bytes = 0;
  for (const OperatorTemplate& piece : program.templates) {
    if (piece.name != name) continue;
    for (std::size_t i = 0; i < piece.tensors.size(); ++i) {
      const TemplateTensor& tensor = piece.tensors[i];
      const bool kept =
          std::ranges::find(piece.saved, static_cast<TensorId>(i)) != piece.saved.end();
      if (tensor.kind == TensorPurpose::kLogits && kept == saved) {
        bytes += static_cast<double>(tensor.bytes());
      }
    }
  }
  return bytes;
}

// Logits of 8,192 tokens over 128,256 words: log-probabilities in fp32 stay for the backward, which
// writes two gradients of them beside, and one in bf16.
TEST(StepProgram, APlainLossKeepsLogProbabilitiesAndWritesTwoGradientsOfThem) {
  plan::Job job = job_of("llama-3-8b", 1, 8, 8192);
  job.kernels.plain_loss = true;
  const plan::Plan plan = plan_of(job, 1, 1);
  const double wide = 8192.0 * 128256 * 4;
  const StepProgram program = build_step_program(job, plan);
  EXPECT_EQ(logits_bytes(program, "head.forward", true), wide);
  EXPECT_EQ(logits_bytes(program, "head.backward", false), 3.5 * wide) << "and what was kept";
  job.kernels.cross_entropy = plan::CrossEntropyKernel::kCompiled;
  EXPECT_LT(logits_bytes(build_step_program(job, plan), "head.forward", true), wide)
      << "no plain one";
}

// Tensors that a loss of the same logits keeps and writes in addition to the head's result, in fp32
// copies.
TEST(StepProgram, KernelsOfTheLossDifferInTheirCopiesOfLogits) {
  struct Case {
    plan::CrossEntropyKernel kernel{};
    double kept = 0;
    double in_backward = 0;
  };
  for (const Case& each : {Case{plan::CrossEntropyKernel::kUnfused, 1, 1.5},
                           Case{plan::CrossEntropyKernel::kCompiled, 0, 0.5},
                           Case{plan::CrossEntropyKernel::kNative, 1, 2.5},
                           Case{plan::CrossEntropyKernel::kTe, 0, 0}}) {
    plan::Job job = job_of("llama-3-8b", 1, 8, 8192);
    job.kernels.cross_entropy = each.kernel;
    const StepProgram program = build_step_program(job, plan_of(job, 1, 1));
    const double wide = 8192.0 * 128256 * 4;
    EXPECT_EQ(logits_bytes(program, "head.forward", true), each.kept * wide);
    EXPECT_EQ(logits_bytes(program, "head.backward", false), each.in_backward * wide);
  }
}

TEST(StepProgram, Fp32ShardsOnTheHostTravelAsTheyAre) {
  plan::Job job = job_of("llama-3-8b", 2, 64, 8192);
  job.kernels.masters = plan::MasterWeights::kAlone;
  plan::Plan plan = plan_of(job, 1, 1);
  plan.accumulate = DType::kBf16;
  plan.sharding = {plan::StateShardingScope::kGlobal, plan::StateShardingScope::kGlobal,
                   plan::StateShardingScope::kGlobal};
  const double part = 8'030'261'248.0 / 16;
  const RankModelStateBytes here = build_step_program(job, plan).stages[0].states;
  EXPECT_NEAR(static_cast<double>(here.parameters) / part, 4, 1e-3);
  EXPECT_NEAR(static_cast<double>(here.gradients) / part, 4, 1e-3);
  EXPECT_NEAR(static_cast<double>(here.optimizer) / part, 8, 1e-3);
  plan.offload = {.optimizer = 1, .parameters = true};
  const StepProgram program = build_step_program(job, plan);
  for_each_operator(program, program.stages[0], [&](const Operator& op) {
    const bool copies = op.kind == OperatorKind::kCopyFromHost ||  //
                        op.kind == OperatorKind::kCopyToHost;
    const bool sends = op.purpose == OperatorPurpose::kGatherParameters ||
                       op.purpose == OperatorPurpose::kReduceGradients;
    if (copies) {
      EXPECT_EQ(op.dtype, DType::kFp32) << op.name;
    } else if (sends) {
      EXPECT_EQ(op.dtype, DType::kBf16) << op.name;
    } else if (op.kind == OperatorKind::kHostOptimizer) {
      EXPECT_EQ(op.shape.inner, 28 + 12);
    }
  });
  EXPECT_NEAR(static_cast<double>(program.stages[0].states.host.bytes()) / part, 16, 1e-3);
}

/// Programs that execute a step find a message's meaning by its purpose alone.
void expect_purposes(const StepProgram& program) {
  for (const PipelineStageProgram& stage : program.stages) {
    for_each_operator(program, stage, [&](const Operator& op) {
      const bool at_the_end = is_communication(op.kind) && op.phase == Phase::kOptimizer;
      const bool of_states = op.scheme == ParallelismScheme::kData ||
                             op.scheme == ParallelismScheme::kControl || at_the_end;
      EXPECT_EQ(carries_model_states(op.purpose), of_states) << op.name;
      const bool travels = op.scheme == ParallelismScheme::kExpert && op.routed;
      EXPECT_EQ(
          op.purpose == OperatorPurpose::kToExperts || op.purpose == OperatorPurpose::kFromExperts,
          travels)
          << op.name;
    });
  }
}

TEST(StepProgram, MessagesOfEveryStrategySayWhatTheyAreFor) {
  plan::Job job = job_of("mixtral-8x7b", 2, 64, 4096);
  for (const plan::Sharding& sharding : plan::paro_strategies()) {
    for (const bool overlapped : {false, true}) {
      plan::Plan plan = plan_of(job, 2, 2);
      plan.parallel.expert = 2;
      plan.sharding = sharding;
      plan.overlap.gradients = overlapped;
      plan.overlap.parameters = overlapped;
      expect_purposes(build_step_program(job, plan));
    }
  }
}

TEST(StepProgram, MessagesAboutATiedTableSayWhatTheyAreFor) {
  const plan::Job job = job_of("gpt2", 1, 64, 1024);
  const StepProgram program = build_step_program(job, plan_of(job, 2, 2));
  expect_purposes(program);
  int tables = 0;
  for_each_operator(program, program.stages[0], [&](const Operator& op) {
    if (op.purpose == OperatorPurpose::kReduceTiedTable) ++tables;
  });
  EXPECT_EQ(tables, 1);
}

TEST(StepProgram, ExchangesOfHeadsSayWhatTheyMove) {
  const plan::Job job = job_of("llama-3-8b", 1, 8, 8192);
  plan::Plan plan = plan_of(job, 1, 1, 4);
  plan.context_kind = plan::ContextKind::kUlysses;
  const StepProgram program = build_step_program(job, plan);
  std::map<OperatorPurpose, std::int64_t> moved;
  for_each_operator(program, program.stages[0], [&](const Operator& op) {
    if (op.scheme == ParallelismScheme::kContext) moved[op.purpose] += op.repeats;
  });
  const std::int64_t each = plan::micro_batches_per_pipeline(job, plan) * 32 * 2;
  const std::map<OperatorPurpose, std::int64_t> expected{{OperatorPurpose::kQueries, each},
                                                         {OperatorPurpose::kKeys, each},
                                                         {OperatorPurpose::kValues, each},
                                                         {OperatorPurpose::kAttentionOut, each}};
  EXPECT_EQ(moved, expected);
}

TEST(StepProgram, EveryMicroBatchPassesEveryChunkOnceEachWay) {
  const plan::Job job = job_of("llama-3-70b", 8, 128, 4096);
  plan::Plan plan = plan_of(job, 2, 4);
  plan.schedule = {.kind = schedule::PipelineScheduleKind::kInterleaved, .chunks = 5};
  ASSERT_FALSE(plan::find_plan_rejection(job, plan));
  const StepProgram program = build_step_program(job, plan);
  for (const PipelineStageProgram& stage : program.stages) {
    std::map<std::tuple<schedule::Direction, std::int32_t, std::int32_t>, int> seen;
    for (const PipelineScheduleSlot& slot : stage.schedule) {
      const TemplateSequence& sequence = stage.sequences[static_cast<std::size_t>(slot.sequence)];
      ++seen[{sequence.direction, sequence.chunk, slot.micro_batch}];
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(10 * program.micro_batches + 1));
    for (const auto& [key, count] : seen) EXPECT_EQ(count, 1);
  }
  expect_well_formed(program);
}

TEST(StepProgram, TiedTablesOnTwoStagesAreReducedOnce) {
  const plan::Job job = job_of("gpt2-xl", 1, 32, 1024);
  const plan::Plan plan = plan_of(job, 1, 2);
  const StepProgram program = build_step_program(job, plan);
  for (std::size_t stage = 0; stage < 2; ++stage) {
    EXPECT_EQ(calls(program, stage, OperatorKind::kAllReduce, ParallelismScheme::kPipeline,
                    Phase::kOptimizer),
              1);
  }
}

TEST(StepProgram, IsWrittenWholeAsJson) {
  const plan::Job job = job_of("mixtral-8x7b", 1, 8, 4096);
  const StepProgram program = build_step_program(job, plan_of(job, 2, 2));
  const auto json = step_program_json(program);
  EXPECT_EQ(json.at("templates").size(), program.templates.size());
  EXPECT_EQ(json.at("stages").at(1).at("schedule").size(), program.stages[1].schedule.size());
  EXPECT_EQ(json.dump(), step_program_json(program).dump());
}

TEST(LayerPart, NamesStandInTheOrderOfTheEnumerators) {
  for (std::size_t i = 0; i < std::size(kLayerPartNames); ++i) {
    EXPECT_EQ(kLayerPartNames[i].value, static_cast<LayerPart>(i)) << kLayerPartNames[i].name;
  }
}

// A gather is followed, a reduction preceded by a copy of the whole buffer of 2 x 4,096 rows,
// unless a compiler makes it, or one sequence needs none.
TEST(Program, MessagesAlongPositionsAreCopiedWhereTheFrameworkDoes) {
  const auto copies = [](const char* framework, bool pieces, bool compiled, int sequences) {
    plan::Job job = job_of("llama-3-8b", 1, 8, 4096);
    job.framework.name = framework;
    job.kernels.fused_activation = compiled;
    plan::Plan plan = plan_of(job, 8, 1);
    plan.micro_batch = sequences;
    plan.overlap.tensor = pieces;
    const std::int64_t buffer = sequences * 4096 * 4096;
    int copied = 0;
    int messages = 0;
    for (const OperatorTemplate& piece : build_step_program(job, plan).templates) {
      for (const Operator& op : piece.operators) {
        if (op.scheme == ParallelismScheme::kTensor && op.payload_elements == buffer) ++messages;
        if (op.kind != OperatorKind::kUnpack) continue;
        EXPECT_EQ(op.shape.rows * op.shape.columns, buffer);
        EXPECT_EQ(op.dtype, DType::kBf16);
        ++copied;
      }
    }
    EXPECT_GT(messages, 0);
    return copied == messages ? "each" : copied == 0 ? "none" : "some";
  };
  EXPECT_STREQ(copies("torchtitan", false, false, 2), "each");
  EXPECT_STREQ(copies("torchtitan", false, false, 1), "none");
  EXPECT_STREQ(copies("torchtitan", false, true, 2), "none");
  EXPECT_STREQ(copies("torchtitan", true, false, 2), "none");
  EXPECT_STREQ(copies("megatron-core", false, false, 2), "none");
}

}  // namespace
}  // namespace stepwright::step
