#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "stepwright/cluster/catalog.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/plan/notes.h"
#include "tests/plan/random_plans.h"
#include "tests/plan/refusal.h"

namespace stepwright::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kJob = R"(stepwright: plan/1
job:
  model: llama-3-70b
  cluster: {profile: dgx-a100-80g, nodes: 8}
  batch: {sequences: 512, length: 4096}
)";

PlannedJob read_plan_text(const std::string& text) {
  return read_plan(YamlJsonDocument::parse(text, "plan.yaml"), {});
}

Plan plan_with(const std::string& lines) { return read_plan_text(std::string(kJob) + lines).plan; }

std::string plan_refused(const std::string& lines, ErrorKind kind = ErrorKind::kInput) {
  return refusal_of(kind, [&] { plan_with(lines); });
}

TEST(PlanFile, AnOrderIsAskedForInAPlacement) {
  const std::string schedule = "parallel: {pipeline: 4}\nschedule: {kind: auto, chunks: 2";
  const PlannedJob read = read_plan_text(std::string(kJob) + schedule + ", placement: cyclic}\n");
  EXPECT_EQ(read.plan.schedule.placement, schedule::ModelChunkPlacementKind::kCyclic);
  EXPECT_EQ(read_plan_text(plan_yaml(read)).plan.schedule, read.plan.schedule);
  EXPECT_EQ(plan_with(schedule + "}\n").schedule.placement, std::nullopt);
  EXPECT_THAT(plan_refused("schedule: {kind: auto, chunks: 1, placement: v}"),
              HasSubstr("needs chunks 2"));
  EXPECT_THAT(plan_refused("schedule: {kind: zb-v, placement: v}"),
              HasSubstr("only the schedule auto"));
}

TEST(PlanFile, ReadsTheExampleOfTheDesign) {
  const Plan plan = plan_with(R"(
parallel: {tensor: 4, pipeline: 2, context: 1, expert: 1, expert_tensor: 1, data: 8}
layers: [40, 40]
sequence_parallel: true
tensor_input: keep
context_kind: ring
micro_batch: 1
schedule: {kind: 1f1b, chunks: 1, strands: 1}
sharding: {states: IIG, group: 4, expert_group: 1}
recompute: selective
accumulate: fp32
buckets: {gradients: 40e6, parameters: 30e6}
overlap: {gradients: true, parameters: true, tensor: false, context: true, expert: false, pipeline: false}
collectives: {data: two-level, tensor: ring, pipeline: ring}
rank_order: tp-cp-ep-dp-pp
)");
  EXPECT_EQ(plan.parallel, (ParallelismDegrees{.tensor = 4, .pipeline = 2, .data = 8}));
  EXPECT_THAT(plan.layers, ElementsAre(40, 40));
  EXPECT_TRUE(plan.sequence_parallel);
  EXPECT_EQ(plan.tensor_input, GatheredInputPolicy::kKeep);
  EXPECT_EQ(sharding_letters(plan.sharding), "IIG");
  EXPECT_EQ(plan.sharding.group, 4);
  EXPECT_EQ(plan.recompute.kind, RecomputeKind::kSelective);
  EXPECT_EQ(plan.parameter_bucket, 30'000'000);
  EXPECT_FALSE(plan.overlap.pipeline);
  EXPECT_EQ(plan.collectives.data, collective::CollectiveAlgorithm::kTwoLevel);
}

/// Returns a plan of eight whole nodes in the words of a file version.
Plan of_version(int version, const std::string& lines) {
  std::string text(kJob);
  text.replace(text.find("plan/1"), 6, "plan/" + std::to_string(version));
  return read_plan_text(text + lines).plan;
}

TEST(PlanFile, ARingOfVersionOneIsWhatTheLibraryChooses) {
  EXPECT_EQ(of_version(1, "collectives: {data: ring, expert: ring}\n").collectives,
            CollectiveAlgorithmChoices{});
  EXPECT_EQ(of_version(2, "collectives: {data: ring}\n").collectives.data,
            collective::CollectiveAlgorithm::kRing);
  EXPECT_EQ(
      of_version(2, "collectives: {tensor: nvls, context: direct, expert: relay}\n").collectives,
      (CollectiveAlgorithmChoices{.tensor = collective::CollectiveAlgorithm::kNvls,
                                  .context = collective::CollectiveAlgorithm::kDirect,
                                  .expert = collective::CollectiveAlgorithm::kRelay}));
  EXPECT_THAT(refusal_of(ErrorKind::kInput, [] { read_plan_text("stepwright: plan/3\n"); }),
              HasSubstr("must be plan/2 or plan/1; it is 'plan/3'"));
}

TEST(PlanFile, VersionOneLetTheLibraryCarryOutWhatTheAlgorithmCannot) {
  const std::string inside = "parallel: {pipeline: 8, data: 8}\ncollectives: {data: ho-ring}\n";
  const std::string across = "parallel: {data: 64}\ncollectives: {data: ho-ring}\n";
  EXPECT_EQ(of_version(1, inside).collectives.data, collective::CollectiveAlgorithm::kLibrary);
  EXPECT_EQ(of_version(2, inside).collectives.data, collective::CollectiveAlgorithm::kHoRing);
  EXPECT_EQ(of_version(1, across).collectives.data, collective::CollectiveAlgorithm::kHoRing);
}

TEST(PlanFile, OnlyTheLibraryCarriesOutThePipeline) {
  EXPECT_EQ(of_version(2, "collectives: {pipeline: library}\n").collectives,
            CollectiveAlgorithmChoices{});
  EXPECT_THAT(
      refusal_of(ErrorKind::kInput, [] { of_version(2, "collectives: {pipeline: ring}\n"); }),
      HasSubstr("collectives.pipeline: must be library"));
}

TEST(PlanFile, SaysWhereAKeyBelongs) {
  EXPECT_THAT(
      plan_refused("tensor: 8\n"),
      HasSubstr("plan.yaml:6:9: tensor: stands in `parallel`, as in `parallel: {tensor: 2}`"));
  EXPECT_THAT(plan_refused("precision: fp8\n"), HasSubstr("precision: stands in `job`"));
}

TEST(PlanFile, WhatIsLeftOutHasItsDefault) { EXPECT_EQ(plan_with(""), Plan{}); }

TEST(PlanFile, GradientsOfFp64AreSummedInFp64) {
  EXPECT_EQ(plan_with("").accumulate, DType::kFp32);
  EXPECT_EQ(read_plan_text(std::string(kJob).append("  precision: fp64\n")).plan.accumulate,
            DType::kFp64);
}

TEST(PlanFile, ReadsShortForms) {
  const Plan plan = plan_with("schedule: gpipe\nsharding: zero3\noverlap: false\n");
  EXPECT_EQ(plan.schedule.kind, schedule::PipelineScheduleKind::kGpipe);
  EXPECT_EQ(plan.sharding, *sharding_named_by_word("GGG"));
  EXPECT_EQ(plan.overlap, all_overlap_flags(false));
  EXPECT_EQ(plan_with("recompute: {every: 3}\n").recompute,
            (ActivationRecomputation{.kind = RecomputeKind::kEvery, .every = 3}));
}

TEST(PlanFile, TheFirstLayersOfAChunkMayBeRecomputedAlone) {
  const ActivationRecomputation first{.kind = RecomputeKind::kEvery, .first = 3};
  EXPECT_EQ(plan_with("recompute: {first: 3}\n").recompute, first);
  EXPECT_EQ(recompute_setting_text(first), "first 3");
  EXPECT_EQ(recompute_setting_text(plan_with("recompute: {modules: [mlp], first: 2}\n").recompute),
            "mlp first 2");
  EXPECT_THAT(plan_refused("recompute: {every: 2, first: 3}\n"), HasSubstr("together with every"));
  EXPECT_THAT(plan_refused("recompute: {first: 0}\n"), HasSubstr("recompute.first"));
}

TEST(PlanFile, RecomputationByOperatorIsAWordAndAModule) {
  const ActivationRecomputation by_operator{.kind = RecomputeKind::kModules,
                                            .modules = kPerOperator};
  EXPECT_EQ(plan_with("recompute: per-operator\n").recompute, by_operator);
  EXPECT_EQ(plan_with("recompute: {modules: [per-operator]}\n").recompute, by_operator);
  EXPECT_EQ(recompute_setting_text(by_operator), "per-operator");
}

TEST(PlanFile, PositionsMayRecomputeOtherwise) {
  const auto read = [](const std::string& value) {
    return plan_with("recompute: " + value + "\n").recompute;
  };
  EXPECT_EQ(read("{stages: {1: {every: 2}, 0: full}}"),
            (ActivationRecomputation{
                .stages = {{.position = 0, .kind = RecomputeKind::kFull},
                           {.position = 1, .kind = RecomputeKind::kEvery, .every = 2}}}));
  EXPECT_EQ(read("{every: 1, stages: {0: none}}"),
            (ActivationRecomputation{.kind = RecomputeKind::kFull, .stages = {{.position = 0}}}));
  EXPECT_EQ(read("{modules: [core_attn], stages: {3: {modules: [norm]}}}"),
            (ActivationRecomputation{.kind = RecomputeKind::kSelective,
                                     .stages = {{.position = 3,
                                                 .kind = RecomputeKind::kModules,
                                                 .modules = {RecomputeModule::kNorm}}}}));
  EXPECT_EQ(
      recompute_setting_text(read("{every: 3, stages: {0: full, 1: full, 3: full, 4: none}}")),
      "every 3, full on stages 0-1, full on stage 3, none on stage 4");
}

TEST(PlanFile, AGroupIsByDefaultWhatSharesANode) {
  const std::string parallel = "parallel: {tensor: 2, data: 32}\n";
  EXPECT_EQ(plan_with(parallel + "sharding: IIG\n").sharding.group, 4);
  EXPECT_EQ(plan_with(parallel + "sharding: {states: IIG, group: node}\n").sharding.group, 4);
  EXPECT_EQ(plan_with(parallel + "sharding: {states: IIG, group: 8}\n").sharding.group, 8);
  EXPECT_EQ(plan_with(parallel + "sharding: {states: GGG, group: node}\n").sharding.group, 1);
}

TEST(PlanNotes, SayThatAGroupIsOne) {
  const auto notes = [](const std::string& lines) {
    return plan_notes(read_plan_text(std::string(kJob) + lines));
  };
  EXPECT_THAT(notes("parallel: {tensor: 8, data: 8}\nsharding: {states: IIG, group: node}\n"),
              ElementsAre(HasSubstr("sharding group is 1")));
  EXPECT_THAT(notes("parallel: {data: 64}\nsharding: IIG\n"), IsEmpty());
  EXPECT_THAT(notes("parallel: {data: 64}\nsharding: hpz\n"),
              ElementsAre(HasSubstr("hpz is read as IGG")));
}

TEST(PlanNotes, SayThatOtherOptimizersReadNoFormOfMuon) {
  PlannedJob planned = read_plan_text(std::string(kJob) + "parallel: {data: 64}\n");
  planned.job.muon = MuonTensorSplit::kBlockwise;
  EXPECT_THAT(plan_notes(planned), ElementsAre(HasSubstr("the optimizer is adam")));
  planned.job.optimizer = Optimizer::kMuon;
  EXPECT_THAT(plan_notes(planned), IsEmpty());
}

// 128,256 tokens are no multiple of 5.
TEST(PlanNotes, SayHowManyTokensAllPartsOfTheVocabularyHave) {
  const auto notes = [](const std::string& lines) {
    return plan_notes(read_plan_text(std::string(kJob) + lines));
  };
  const std::string parallel = "parallel: {pipeline: 5}\n";
  EXPECT_THAT(notes(parallel), IsEmpty());
  EXPECT_THAT(notes(parallel + "schedule: 1f1b-vocab\n"),
              ElementsAre(HasSubstr("to 128,260 tokens, so that the ranks that share it get")));
}

TEST(PlanFile, DegreesThatFillNoClusterAreReadAndLeftToLegality) {
  const Plan plan = plan_with(
      "parallel: {tensor: 1e6, pipeline: 1e6, context: 1e6, data: 1e6, expert: 1e6}\n"
      "sharding: IIG\n");
  EXPECT_EQ(plan.sharding.group, 1);
}

TEST(PlanFile, RefusesWhatIsMalformed) {
  EXPECT_THAT(plan_refused("paralel: {}\n"), HasSubstr("did you mean 'parallel'?"));
  EXPECT_THAT(plan_refused("parallel: {tensr: 2}\n"), HasSubstr("did you mean 'tensor'?"));
  EXPECT_THAT(plan_refused("parallel: 4\n"), HasSubstr("parallel: must be a mapping"));
  EXPECT_THAT(plan_refused("layers: []\n"), HasSubstr("layers: must be 'even' or the layers"));
  EXPECT_THAT(plan_refused("layers: [40, -1]\n"), HasSubstr("layers.1: must be an integer from 0"));
  EXPECT_THAT(plan_refused("sharding: {group: 2}\n"), HasSubstr("the key 'states' is missing"));
  EXPECT_THAT(plan_refused("sharding: {states: IIG, group: rack}\n"),
              HasSubstr("sharding.group: must be an integer from 1 to 1048576 or 'node'"));
  EXPECT_THAT(plan_refused("sharding: {states: IIG, group: 0}\n"), HasSubstr("sharding.group"));
  EXPECT_THAT(plan_refused("recompute: every\n"),
              HasSubstr("must be one of none, selective, full"));
  EXPECT_THAT(plan_refused("recompute: {every: 0}\n"),
              HasSubstr("recompute.every: must be an integer"));
  EXPECT_THAT(plan_refused("recompute: {}\n"),
              HasSubstr("must name every, first, modules, stages"));
  EXPECT_THAT(plan_refused("recompute: {stages: {}}\n"),
              HasSubstr("recompute.stages: must name positions of the pipeline"));
  EXPECT_THAT(plan_refused("recompute: {stages: {-1: full}}\n"),
              HasSubstr("stages are positions of the pipeline, from 0; it is '-1'"));
  EXPECT_THAT(plan_refused("recompute: {stages: {first: full}}\n"),
              HasSubstr("recompute.stages.first: stages are positions"));
  EXPECT_THAT(plan_refused("recompute: {stages: {1: full, 1e0: none}}\n"),
              HasSubstr("names stage 1 a second time"));
  EXPECT_THAT(plan_refused("recompute: {stages: {0: fully}}\n"),
              HasSubstr("recompute.stages.0: must be one of none, selective, full"));
  EXPECT_THAT(plan_refused("recompute: {stages: {0: {stages: {1: full}}}}\n"),
              HasSubstr("recompute.stages.0: is of one stage"));
  EXPECT_THAT(plan_refused("recompute: {stages: {0: {every: 0}}}\n"),
              HasSubstr("recompute.stages.0.every: must be an integer"));
  EXPECT_THAT(plan_refused("overlap: 1\n"), HasSubstr("overlap: must be true or false"));
  EXPECT_THAT(plan_refused("collectives: {data: star}\n"),
              HasSubstr("collectives.data: must be one of library, nvls, ring"));
  EXPECT_THAT(plan_refused("accumulate: fp8\n"),
              HasSubstr("must be one of fp64, fp32, fp16, bf16"));
  EXPECT_THAT(refusal_of(ErrorKind::kInput, [] { read_plan_text("stepwright: plan/1\n"); }),
              HasSubstr("the key 'job' is missing"));
}

TEST(PlanFile, WhatTheSchemaKnowsAndNothingCoversIsUnsupported) {
  for (const std::string line : {"schedule: dualpipe", "schedule: {kind: dualpipe}"}) {
    EXPECT_THAT(plan_refused(line + "\n", ErrorKind::kUnsupported), HasSubstr("not supported"))
        << line;
  }
  EXPECT_THAT(plan_refused("offload: {parameters: nvme}\n"),
              HasSubstr("offload.parameters: must be true or false; it is 'nvme'"));
}

TEST(PlanFile, WritesTheCompactForm) {
  PlannedJob planned = read_plan_text(std::string(kJob));
  planned.plan.parallel = {.tensor = 4, .pipeline = 2, .data = 8};
  planned.plan.layers = {40, 40};
  planned.plan.recompute = {.kind = RecomputeKind::kEvery, .every = 2};
  planned.job.framework = {"megatron-core", "0.12"};
  planned.job.space.tensor = {1, 2, 4};
  planned.job.space.schedule = {schedule::PipelineScheduleKind::kOneForwardOneBackward};
  EXPECT_EQ(plan_yaml(planned), R"(stepwright: plan/2
job:
  model: llama-3-70b
  cluster: {profile: dgx-a100-80g, nodes: 8}
  batch: {sequences: 512, length: 4096}
  precision: bf16
  optimizer: adam
  framework: {name: megatron-core, version: "0.12"}
  kernels: {attention: flash2, fused_norm: true, fused_activation: true, fused_softmax: true, cross_entropy: unfused, fused_accumulation: true, cuda_graphs: false, gathered_logits: false, plain_loss: false, loss_chunks: 1, loss_keeps: logits, document_loss: false, scattered_pipeline: false, gathered_heads: false, scattered_gradients: true, refresh_by_tensor: false, wide_gradients: false, fused_gate: true, fused_qkv: true, grouped_experts: true, transformer_engine: false, narrow_attention: false, narrow_parameters: false, tf32: false, deterministic: false, blocking_launches: false, masters: beside}
  objective: step_time
  search: {tensor: [1, 2, 4], schedule: 1f1b}
parallel: {tensor: 4, pipeline: 2, context: 1, expert: 1, expert_tensor: 1, data: 8}
layers: [40, 40]
sequence_parallel: false
tensor_input: regather
context_kind: ring
micro_batch: 1
schedule: {kind: 1f1b, chunks: 1, strands: 1}
sharding: {states: NNN, group: 1, expert_group: 1}
recompute: {every: 2}
accumulate: fp32
buckets: {gradients: 40000000, parameters: 40000000}
overlap: {gradients: true, parameters: true, tensor: false, tensor_gradients: true, context: true, expert: false, shared_experts: false, pipeline: true}
collectives: {tensor: library, context: library, expert: library, data: library}
rank_order: tp-cp-ep-dp-pp
)");
}

/// Expects equal plans and jobs, except for notes, which files do not contain.
void expect_equal(const PlannedJob& a, const PlannedJob& b) {
  EXPECT_EQ(a.plan, b.plan);
  EXPECT_EQ(a.job.model_name, b.job.model_name);
  EXPECT_EQ(a.job.model, b.job.model);
  EXPECT_EQ(a.job.cluster, b.job.cluster);
  EXPECT_EQ(a.job.space, b.job.space);
  EXPECT_EQ(plan_json(a), plan_json(b));
}

TEST(PlanFile, TheSeedsOfTheFuzzerReachThroughTheReader) {
  const PlannedJob planned = load_plan("tests/plan/corpus/plan_fuzz/plan.yaml");
  EXPECT_FALSE(first_broken_rule(planned.job, planned.plan));
  EXPECT_EQ(planned.plan.sharding.group, 4);
  EXPECT_EQ(load_job("tests/plan/corpus/plan_fuzz/job.yaml").space.sharding.size(), 2);
  EXPECT_THAT(refusal_of(ErrorKind::kInput, [] { load_plan("tests/plan/nowhere.yaml"); }),
              HasSubstr("tests/plan/nowhere.yaml"));
}

TEST(PlanFile, GivesBackEqualPlans) {
  Dice dice(12);
  const auto models = model::built_in_model_names();
  const auto clusters = cluster::built_in_cluster_names();
  for (int i = 0; i < 400; ++i) {
    const Job small = random_good_job(dice);
    PlannedJob planned;
    planned.plan = random_legal_plan(dice, small);
    planned.job.model = *model::built_in_model(models[dice.below(models.size())]);
    planned.job.model_name = planned.job.model.name;
    planned.job.cluster = *cluster::built_in_cluster(clusters[dice.below(clusters.size())],
                                                     static_cast<std::int64_t>(dice.below(5)) + 1);
    planned.job.sequences = small.sequences;
    planned.job.length = small.length;
    if (dice.chance(3)) planned.job.model.dropout = 0.125;
    if (dice.chance(3)) planned.job.cluster.device.memory_bytes *= 1.5;
    if (dice.chance(3)) planned.job.space.sharding = paro_strategies();
    if (dice.chance(3)) planned.job.space.layers = {{}, {1, 2}};
    if (dice.chance(3)) planned.job.space.layers = {{3, 4}};
    if (dice.chance(3)) planned.job.space.sharding_group = {kNodeSizedShardingGroup, 4};
    if (dice.chance(3)) planned.job.imbalance = 1.1;
    if (dice.chance(3)) {
      planned.job.objective = {.kind = TunerObjectiveKind::kSmallestCluster,
                               .memory_limit_bytes = 6e10,
                               .memory_confidence = 0.8,
                               .target_tokens_per_s = 1.5e5};
    }
    expect_equal(read_plan_text(plan_yaml(planned)), planned);
    expect_equal(read_plan_text(plan_yaml(planned, true)), planned);
    expect_equal(read_plan_text(plan_json(planned).dump()), planned);
    EXPECT_EQ(plan_yaml(read_plan_text(plan_yaml(planned, true))), plan_yaml(planned));
  }
}

// Four stages of sixteen layers, the head a module as heavy as a few of them.
TEST(PlanFile, IsSilentOnWhatItsFrameworkDoes) {
  const auto read = [](const std::string& framework, const std::string& choices,
                       const TrainingFramework& unsaid = {}) {
    const std::string text =
        "stepwright: plan/2\njob:\n  model: llama-3-8b\n  cluster: {profile: dgx-h100, nodes: 1}\n"
        "  batch: {sequences: 64, length: 1024}\n" +
        framework + "parallel: {pipeline: 4, data: 2}\n" + choices;
    return read_plan(YamlJsonDocument::parse(text, "plan.yaml"), {}, unsaid).plan;
  };
  EXPECT_EQ(read("", "").overlap, OverlapFlags());
  EXPECT_TRUE(read("", "").layers.empty());
  const Plan nanotron = read("  framework: nanotron\n", "");
  EXPECT_TRUE(nanotron.overlap.gradients);
  EXPECT_FALSE(nanotron.overlap.pipeline);
  EXPECT_EQ(nanotron.layers.size(), 4U);
  EXPECT_NE(nanotron.gradient_bucket, Plan().gradient_bucket);
  EXPECT_FALSE(read("  framework: nanotron\n", "sharding: NNG\n").overlap.gradients);
  EXPECT_TRUE(read("  framework: nanotron\n", "overlap: {pipeline: true}\n").overlap.gradients);
  EXPECT_TRUE(read("  framework: nanotron\n", "layers: even\n").layers.empty());
  EXPECT_EQ(read("  framework: nemo\n", "").accumulate, DType::kBf16);
  EXPECT_EQ(read("  framework: nemo\n", "accumulate: fp32\n").accumulate, DType::kFp32);
  EXPECT_EQ(read("  framework: megatron-core\n", "").accumulate, DType::kFp32);

  const TrainingFramework target{.name = "nanotron"};
  EXPECT_EQ(read("", "", target), nanotron);
  EXPECT_TRUE(read("", "overlap: {pipeline: true}\n", target).overlap.pipeline);
  EXPECT_EQ(read("  framework: nemo\n", "", target).accumulate, DType::kBf16);
}

TEST(PlanFile, HasTheBucketsOfAFrameworkThatLeavesNoChoice) {
  const auto read = [](const std::string& choices) {
    const std::string text =
        "stepwright: plan/2\njob:\n  model: llama-3-8b\n  cluster: {profile: dgx-h100, nodes: 1}\n"
        "  batch: {sequences: 64, length: 1024}\n  framework: fsdp\nparallel: {data: 8}\n" +
        choices;
    return read_plan(YamlJsonDocument::parse(text, "plan.yaml"), {}).plan;
  };
  // FSDP2 reduces each block by itself.
  EXPECT_EQ(read("sharding: GGG\n").gradient_bucket, 0);
  EXPECT_EQ(read("sharding: GGG\nbuckets: {gradients: 1000000}\n").gradient_bucket, 1'000'000);
  EXPECT_EQ(read("sharding: NNN\n").gradient_bucket, Plan().gradient_bucket);
}

}  // namespace
}  // namespace stepwright::plan
