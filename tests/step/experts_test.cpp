// The operators of mixtures of experts: tensors that they read and write, and when their payloads
// are exact.
#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>

#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/program.h"
#include "stepwright/step/setting.h"
#include "tests/step/jobs.h"

namespace stepwright::step {
namespace {

using ::testing::Contains;

plan::Plan expert_plan(const plan::Job& job, std::int64_t expert, std::int64_t expert_tensor) {
  plan::Plan plan = plan_of(job, 1, 1);
  plan.parallel.expert = expert;
  plan.parallel.expert_tensor = expert_tensor;
  return plan;
}

std::vector<std::string_view> names_of(const OperatorTemplate& piece,
                                       std::span<const TensorId> ids) {
  std::vector<std::string_view> names;
  for (const TensorId id : ids) names.push_back(piece.tensors[static_cast<std::size_t>(id)].name);
  return names;
}

bool is_routed_path(const Operator& op) {
  return op.name.starts_with("experts.") || op.name.starts_with("router.");
}

/// Calls `visit` with the operators of the routed path of a mixture of experts, and their
/// templates.
template <class VisitorCallback>
void for_each_routed(const StepProgram& program, VisitorCallback visit) {
  for (const OperatorTemplate& piece : program.templates) {
    for (const Operator& op : piece.operators) {
      if (op.phase != Phase::kOptimizer && is_routed_path(op)) visit(piece, op);
    }
  }
}

void expect_operands(const OperatorTemplate& piece, const Operator& op) {
  if (op.phase == Phase::kWeightGradient) return;
  EXPECT_FALSE(piece.writes(op).empty()) << piece.name << ": " << op.name;
  EXPECT_FALSE(piece.reads(op).empty()) << piece.name << ": " << op.name;
}

TEST(MixtureOfExperts, OperatorsSayWhatTheyMake) {
  using Degrees = std::pair<std::int64_t, std::int64_t>;
  for (const auto& [dispatcher, name] : plan::kDispatcherNames) {
    plan::Job job = job_of("mixtral-8x7b", 1, 8, 4096);
    job.dispatcher = dispatcher;
    for (const auto& [expert, expert_tensor] :
         std::vector<Degrees>{{1, 1}, {4, 1}, {1, 2}, {4, 2}}) {
      const plan::Plan plan = expert_plan(job, expert, expert_tensor);
      for_each_routed(build_step_program(job, plan), expect_operands);
    }
  }
}

TEST(MixtureOfExperts, CountsSayHowManyRowsGoWhere) {
  const plan::Job job = job_of("mixtral-8x7b", 1, 8, 4096);
  const StepProgram program = build_step_program(job, expert_plan(job, 4, 2));
  int exchanges = 0;
  for_each_routed(program, [&](const OperatorTemplate& piece, const Operator& op) {
    const bool exchange = is_communication(op.kind) && op.routed;
    if (!exchange && op.kind != OperatorKind::kGroupedLinear) return;
    EXPECT_THAT(names_of(piece, piece.reads(op)), Contains("token_counts")) << op.name;
    if (exchange) ++exchanges;
  });
  // Rows and weights over the expert and the expert-tensor ranks: out, rows back; and in the
  // backward out rows, rows and gradients of weights back.
  EXPECT_EQ(exchanges, 2 * (4 + 2));
}

TEST(MixtureOfExperts, TheGateSavesWhatItsGradientNeeds) {
  const plan::Job job = job_of("mixtral-8x7b", 1, 8, 4096);
  const StepProgram program = build_step_program(job, expert_plan(job, 1, 1));
  int gates = 0;
  for_each_routed(program, [&](const OperatorTemplate& piece, const Operator& op) {
    if (op.kind != OperatorKind::kTopK || op.phase != Phase::kDataGradient) return;
    const auto reads = names_of(piece, piece.reads(op));
    EXPECT_THAT(reads, Contains("router.probabilities"));
    EXPECT_THAT(reads, Contains("router.indices"));
    ++gates;
  });
  EXPECT_EQ(gates, 1);
}

/// Returns the bytes that the layers of a program keep of one micro-batch, counting each kind of
/// layer once.
double kept_bytes(const StepProgram& program) {
  double bytes = 0;
  for (const OperatorTemplate& piece : program.templates) {
    if (piece.name != "layer.forward") continue;
    for (const TensorId id : piece.saved) {
      bytes += static_cast<double>(piece.tensors[static_cast<std::size_t>(id)].bytes());
    }
  }
  return bytes;
}

// Qwen3-30B-A3B, 4,096 tokens to 8 experts each: results of 2,048 columns, which only the gradient
// of the weights asks for.
TEST(MixtureOfExperts, ResultsAreNotKeptWhereWeightsAreMultipliedBefore) {
  for (const std::int64_t expert : {1, 8}) {
    plan::Job job = job_of("qwen3-30b-a3b", 1, 8, 4096);
    const plan::Plan plan = expert_plan(job, expert, 1);
    const double after = kept_bytes(build_step_program(job, plan));
    job.kernels.expert_weights = plan::RouterWeightPlacement::kBefore;
    const StepProgram program = build_step_program(job, plan);
    EXPECT_EQ(after - kept_bytes(program), 4096.0 * 8 * 2048 * 2) << expert;
    for_each_routed(program, [](const OperatorTemplate& /*piece*/, const Operator& op) {
      EXPECT_NE(op.purpose, OperatorPurpose::kGateGradient) << "the activation's backward has it";
    });
  }
}

/// Returns the bytes of the tensors with this name that the layers keep, counting each kind of
/// layer once.
double kept_bytes(const StepProgram& program, std::string_view name) {
  double bytes = 0;
  for (const OperatorTemplate& piece : program.templates) {
    if (piece.name != "layer.forward") continue;
    for (const TensorId id : piece.saved) {
      const TemplateTensor& tensor = piece.tensors[static_cast<std::size_t>(id)];
      if (tensor.name == name) bytes += static_cast<double>(tensor.bytes());
    }
  }
  return bytes;
}

// Qwen3-30B-A3B's sizes, 4,096 tokens to 8 experts each: activations of 768 columns before their
// weights multiply them. Megatron-Core has a fused kernel for gated activations only.
TEST(MixtureOfExperts, ActivationsStayWithoutWeightsWhereNoKernelFusesTheirProduct) {
  constexpr double kActivations = 4096.0 * 8 * 768 * 2;
  for (const std::int64_t expert : {1, 8}) {
    plan::Job job = job_of("qwen3-30b-a3b", 1, 8, 4096);
    plan::Plan plan = expert_plan(job, expert, 1);
    const auto kept = [&] { return kept_bytes(build_step_program(job, plan), "unweighted"); };
    job.kernels.expert_weights = plan::RouterWeightPlacement::kBefore;
    EXPECT_EQ(kept(), 0) << expert;
    job.kernels.fused_activation = false;
    EXPECT_EQ(kept(), kActivations) << expert;
    job.kernels.fused_activation = true;
    job.model.gated = false;
    EXPECT_EQ(kept(), kActivations) << expert;
    plan.recompute = {.kind = plan::RecomputeKind::kModules,
                      .modules = {plan::RecomputeModule::kMoeActivation}};
    EXPECT_EQ(kept(), 0) << expert;
    plan.recompute = {};
    job.kernels.expert_weights = plan::RouterWeightPlacement::kAfter;
    EXPECT_EQ(kept(), 0) << expert;
  }
}

// megatron-core 0.12.0 and 0.12.1 of PyPI.
TEST(MixtureOfExperts, MegatronCoreMultipliesWeightsInTheActivationSinceAPointRelease) {
  const auto where = [](std::string_view name, std::string_view version) {
    plan::TrainingFramework framework;
    framework.name = name;
    framework.version = version;
    return plan::default_kernels(framework, {}).expert_weights;
  };
  EXPECT_EQ(where("megatron-core", ""), plan::RouterWeightPlacement::kBefore);
  EXPECT_EQ(where("megatron-core", "0.12.1"), plan::RouterWeightPlacement::kBefore);
  EXPECT_EQ(where("megatron-core", "0.12.0"), plan::RouterWeightPlacement::kAfter);
  EXPECT_EQ(where("torchtitan", "0.2.2"), plan::RouterWeightPlacement::kAfter);
  EXPECT_EQ(where("torchtitan", "0.2"), plan::RouterWeightPlacement::kAfterExact);
  EXPECT_EQ(where("torchtitan", "0.3"), plan::RouterWeightPlacement::kAfterExact);
  EXPECT_EQ(where("accelerate", ""), plan::RouterWeightPlacement::kAfterRows);
}

// Qwen3-30B-A3B, 4,096 tokens to 8 experts each: results of 2,048 columns, in fp32 where they are
// weighted in it, and three tensors of such rows in the backward beside them.
TEST(MixtureOfExperts, SingleKernelsWeighResultsRowByRow) {
  constexpr double kNumbers = 4096.0 * 8 * 2048;
  for (const std::int64_t expert : {1, 8}) {
    plan::Job job = job_of("qwen3-30b-a3b", 1, 8, 4096);
    const plan::Plan plan = expert_plan(job, expert, 1);
    const double after = kept_bytes(build_step_program(job, plan));
    job.kernels.expert_weights = plan::RouterWeightPlacement::kAfterRows;
    EXPECT_EQ(kept_bytes(build_step_program(job, plan)), after) << expert;
    job.kernels.expert_weights = plan::RouterWeightPlacement::kAfterExact;
    const StepProgram program = build_step_program(job, plan);
    EXPECT_EQ(kept_bytes(program) - after, kNumbers * 2) << expert;
    int gradients = 0;
    for_each_routed(program, [&](const OperatorTemplate& piece, const Operator& op) {
      if (op.purpose != OperatorPurpose::kGateGradient) return;
      ++gradients;
      double written = 0;
      for (const TensorId id : piece.writes(op)) {
        written += static_cast<double>(piece.tensors[static_cast<std::size_t>(id)].bytes());
      }
      EXPECT_EQ(written, kNumbers * 4 * 2 + 4096 * 8 * 4) << expert;
    });
    EXPECT_EQ(gradients, 1);
  }
}

// Experts accept as many rows as arrive, but never more than the capacity factor times the mean.
TEST(MixtureOfExperts, ACapacityBoundsRows) {
  plan::Job job = job_of("qwen3-30b-a3b", 1, 8, 4096);
  job.imbalance = 1.8;
  const auto rows = [&] {
    std::int64_t most = 0;
    const StepProgram program = build_step_program(job, expert_plan(job, 8, 1));
    for_each_routed(program, [&](const OperatorTemplate& /*piece*/, const Operator& op) {
      if (op.kind == OperatorKind::kGroupedLinear) most = std::max(most, op.shape.rows);
    });
    return static_cast<double>(most) / (4096 * 8) * program.imbalance;
  };
  EXPECT_DOUBLE_EQ(rows(), 1.8);
  job.capacity_factor = 1.25;
  EXPECT_DOUBLE_EQ(rows(), 1.25);
  job.capacity_factor = 4;
  EXPECT_DOUBLE_EQ(rows(), 1.8) << "a bound that nothing reaches";
  job.pad_to_capacity = true;
  EXPECT_DOUBLE_EQ(rows(), 4);
  job.capacity_factor = 0.5;
  EXPECT_DOUBLE_EQ(rows(), 0.5);
  job.pad_to_capacity = false;
  EXPECT_DOUBLE_EQ(rows(), 0.5);
}

TEST(MixtureOfExperts, GatedSharedExpertsHaveAGate) {
  const auto gates = [](const char* model) {
    const plan::Job job = job_of(model, 1, 8, 4096);
    std::vector<std::pair<OperatorKind, Phase>> found;
    for (const OperatorTemplate& piece : build_step_program(job, plan_of(job, 1, 1)).templates) {
      for (const Operator& op : piece.operators) {
        if (op.name == "shared.gate") found.emplace_back(op.kind, op.phase);
      }
    }
    return found;
  };
  using Gate = std::pair<OperatorKind, Phase>;
  EXPECT_THAT(gates("qwen2-57b-a14b"),
              ::testing::UnorderedElementsAre(Gate{OperatorKind::kLinear, Phase::kForward},
                                              Gate{OperatorKind::kActivation, Phase::kForward},
                                              Gate{OperatorKind::kActivation, Phase::kDataGradient},
                                              Gate{OperatorKind::kLinear, Phase::kDataGradient},
                                              Gate{OperatorKind::kLinear, Phase::kWeightGradient}));
  EXPECT_TRUE(gates("qwen3-30b-a3b").empty());
}

/// Returns the operators with a purpose, in the order of a program's templates.
std::vector<Operator> of_purpose(const plan::Job& job, OperatorPurpose purpose) {
  std::vector<Operator> found;
  for (const OperatorTemplate& piece : build_step_program(job, expert_plan(job, 4, 1)).templates) {
    std::ranges::copy_if(piece.operators, std::back_inserter(found),
                         [&](const Operator& op) { return op.purpose == purpose; });
  }
  return found;
}

// Of gpt-oss on Megatron-Core, of two kinds of layers; elsewhere the kernels of others do it.
TEST(MixtureOfExperts, BiasesAndScaledRotationsStandApartWhereTheFrameworkDoes) {
  plan::Job job = job_of("gpt-oss-20b", 1, 8, 4096);
  EXPECT_TRUE(of_purpose(job, OperatorPurpose::kExpertBias).empty());
  EXPECT_TRUE(of_purpose(job, OperatorPurpose::kScaledRotary).empty());
  job.framework.name = "megatron-core";
  const std::vector<Operator> biases = of_purpose(job, OperatorPurpose::kExpertBias);
  ASSERT_EQ(biases.size(), 4U);
  for (const Operator& op : biases) {
    EXPECT_EQ(op.dtype, DType::kBf16);
    EXPECT_EQ(op.shape.batch, 32 / 4);
    EXPECT_EQ(op.shape.rows, 4 * 4096) << "tokens, of which each goes to four experts, on the mean";
    EXPECT_EQ(op.shape.columns, 2880);
  }
  EXPECT_EQ(of_purpose(job, OperatorPurpose::kScaledRotary).size(), 4U);
  job.dispatcher = plan::TokenDispatcher::kOncePerNode;
  EXPECT_EQ(of_purpose(job, OperatorPurpose::kExpertBias).front().dtype, DType::kFp32);
  job.kernels.cuda_graphs.step = true;
  EXPECT_TRUE(of_purpose(job, OperatorPurpose::kExpertBias).empty());
  job.model.rotary_scaling->mscale_all_dim = job.model.rotary_scaling->mscale;
  EXPECT_TRUE(of_purpose(job, OperatorPurpose::kScaledRotary).empty());
}

/// Returns messages of rows, and products of routed and shared experts, in their order in a
/// program.
std::vector<std::string> order_of(const StepProgram& program, std::string_view block) {
  std::vector<std::string> order;
  for (const OperatorTemplate& piece : program.templates) {
    if (!piece.name.ends_with(block)) continue;
    for (const Operator& op : piece.operators) {
      const bool rows = op.part == LayerPart::kDispatch || op.part == LayerPart::kCombine;
      const bool product =
          (op.kind == OperatorKind::kLinear || op.kind == OperatorKind::kGroupedLinear) &&
          op.phase != Phase::kWeightGradient &&
          (op.name.starts_with("shared.fc") || op.name.starts_with("experts.fc"));
      if (rows || product) order.emplace_back(op.name);
    }
    if (!order.empty()) return order;
  }
  return order;
}

TEST(MixtureOfExperts, MessagesMayRunBesideSharedExperts) {
  const plan::Job job = job_of("deepseek-v2-lite", 1, 8, 4096);
  plan::Plan plan = expert_plan(job, 8, 1);
  plan.overlap.shared_experts = true;
  using ::testing::ElementsAre;
  const StepProgram beside = build_step_program(job, plan);
  EXPECT_THAT(order_of(beside, "forward"),
              ElementsAre("experts.dispatch", "shared.fc1", "experts.fc1", "experts.fc2",
                          "experts.combine", "shared.fc2"));
  EXPECT_THAT(order_of(beside, "backward"),
              ElementsAre("experts.combine", "shared.fc2", "experts.fc2", "experts.fc1",
                          "experts.dispatch", "shared.fc1"));
  for_each_routed(beside, [](const OperatorTemplate& /*piece*/, const Operator& op) {
    if (!is_communication(op.kind)) return;
    EXPECT_EQ(op.stream, DeviceStream::kExpert);
    EXPECT_FALSE(op.in_pieces);
  });
  // Beside another micro-batch nothing of it is left to do.
  plan.overlap.expert = true;
  EXPECT_THAT(order_of(build_step_program(job, plan), "forward"),
              ElementsAre("experts.dispatch", "experts.fc1", "experts.fc2", "experts.combine",
                          "shared.fc1", "shared.fc2"));
}

TEST(MixtureOfExperts, BalancedPayloadsAreExactWhereRunsOfTokensDivide) {
  plan::Job job = job_of("mixtral-8x7b", 1, 8, 4096);
  const plan::Plan plan = expert_plan(job, 8, 1);
  EXPECT_TRUE(build_step_program(job, plan).even_routing);
  plan::Job short_job = job;
  short_job.length = 18;  // 36 copies for 8 experts.
  EXPECT_FALSE(build_step_program(short_job, plan).even_routing);
  plan::Job once = job;
  once.dispatcher = plan::TokenDispatcher::kOncePerNode;
  EXPECT_FALSE(build_step_program(once, plan).even_routing);
  job.routing = plan::Routing::kLearned;
  EXPECT_FALSE(build_step_program(job, plan).even_routing);
  const plan::Job dense = job_of("llama-3-8b", 1, 8, 4096);
  EXPECT_TRUE(build_step_program(dense, plan_of(dense, 1, 1)).even_routing);
}

TEST(MixtureOfExperts, ContextRanksHoldTwoRunsOfASequence) {
  plan::Job job = job_of("mixtral-8x7b", 1, 8, 64);
  plan::Plan plan = plan_of(job, 1, 1, 8);
  plan.parallel.expert = 8;
  EXPECT_TRUE(build_step_program(job, plan).even_routing);  // Runs of 4 tokens, 8 copies.
  job.length = 32;
  EXPECT_FALSE(build_step_program(job, plan).even_routing);
}

// In fused layers there are four products; norms stay whole.
TEST(MixtureOfExperts, EachModuleOfADenseLayerFetchesItsParametersWhereTheFrameworkDoes) {
  const auto fetches = [](const char* framework, const char* sharding) {
    plan::Job job = job_of("llama-3-8b", 1, 8, 4096);
    job.framework.name = framework;
    plan::Plan plan = plan_of(job, 1, 1);
    plan.sharding = *plan::sharding_named_by_word(sharding);
    int modules = 0;
    const ModelBlockTemplatePair layer =
        build_layer_templates(make_setting(job, plan), job.model.layer_class(0), {});
    for (const Operator& op : layer.forward.operators) modules += op.module_fetches;
    return modules;
  };
  EXPECT_EQ(fetches("deepspeed", "GGG"), 4);
  EXPECT_EQ(fetches("deepspeed", "NGG"), 0);
  EXPECT_EQ(fetches("fsdp", "GGG"), 0);
}

// DeepSpeed's ZeRO-3 fetches parameters by module; a loop has three modules for each expert.
TEST(MixtureOfExperts, EachOfALoopFetchesItsParametersWhereTheFrameworkDoes) {
  const auto fetching = [](const char* framework, bool grouped, const char* sharding) {
    plan::Job job = job_of("qwen3-30b-a3b", 1, 8, 4096);
    job.framework.name = framework;
    job.kernels.grouped_experts = grouped;
    plan::Plan plan = plan_of(job, 1, 1);
    plan.sharding = *plan::sharding_named_by_word(sharding);
    std::vector<int> fetches;
    for (const OperatorTemplate& piece : build_step_program(job, plan).templates) {
      for (const Operator& op : piece.operators) {
        const bool expert = op.kind == OperatorKind::kGroupedLinear;
        if (expert && op.module_fetches > 0) fetches.push_back(op.module_fetches);
      }
    }
    return fetches;
  };
  EXPECT_THAT(fetching("deepspeed", false, "GGG"), ::testing::ElementsAre(2, 1, 1, 2))
      << "the first product is two modules, forward and in the data gradient";
  EXPECT_THAT(fetching("deepspeed", true, "GGG"), ::testing::IsEmpty());
  EXPECT_THAT(fetching("deepspeed", false, "NGG"), ::testing::IsEmpty());
  EXPECT_THAT(fetching("fsdp", false, "GGG"), ::testing::IsEmpty());
}

// FSDP2 casts experts that only one rank has, and copies their gradients, like all other
// parameters.
TEST(MixtureOfExperts, OfOneRankAreGatheredAndReducedAsOthersByFsdp2) {
  plan::Job job = job_of("mixtral-8x7b", 1, 8, 4096);
  job.kernels.fused_accumulation = false;
  plan::Plan plan = expert_plan(job, 8, 1);
  plan.sharding = *plan::sharding_named_by_word("GGG");
  const StepBuildSettings own = make_setting(job, plan);
  EXPECT_FALSE(own.gather_expert || own.reduce_expert);
  job.framework = {.name = "torchtitan", .version = "0.3"};
  const StepBuildSettings wrapped = make_setting(job, plan);
  EXPECT_TRUE(wrapped.gather_expert && wrapped.reduce_expert);
  const ModelBlockParameterCounts layer =
      unit_size(wrapped, local_layer_parameters(wrapped, job.model.layer_class(0)));
  EXPECT_EQ(gathered_parameter_tensor(wrapped, layer).elements(), layer.dense + layer.expert);
  EXPECT_EQ(block_gradient_tensor(wrapped, layer).elements(), layer.dense + layer.expert);
}

}  // namespace
}  // namespace stepwright::step
