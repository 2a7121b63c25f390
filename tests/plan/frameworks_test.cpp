#include <gmock/gmock.h>

#include <functional>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cluster/generation.h"
#include "stepwright/core/error.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/law.h"
#include "stepwright/plan/frameworks/table.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/schedule/kinds.h"
#include "tests/plan/breaks.h"
#include "tests/plan/random_plans.h"
#include "tests/plan/refusal.h"
#include "tests/plan/shown.h"

namespace stepwright::plan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Abilities for which a file without an entry means no limit.
constexpr FrameworkProperty kOpen[] = {
    FrameworkProperty::kGroups,         FrameworkProperty::kAccumulate, FrameworkProperty::kExposed,
    FrameworkProperty::kAlgorithmScope, FrameworkProperty::kOptimizer,  FrameworkProperty::kModel,
    FrameworkProperty::kTrained};

bool always(const FrameworkPropertyLine& line) {
  return line.with.none() && line.without.none() && line.releases.from.empty() &&
         line.releases.before.empty();
}

TEST(Frameworks, EveryNameHasAnEntryThatIsCompleteAndHasSources) {
  for (const std::string_view name : kFrameworkNames) {
    const FrameworkDescription& entry = framework_description(name);
    EXPECT_EQ(entry.name, name);
    EXPECT_NE(entry.about, "") << name;
    EXPECT_NE(entry.checked, "") << name;
    EXPECT_FALSE(entry.defaults.empty()) << name;
    for (const FrameworkDefaultLine& line : entry.defaults) EXPECT_NE(line.source, "") << name;
    for (const FrameworkPropertyLine& line : entry.runs) EXPECT_NE(line.source, "") << name;
    for (const auto& [ability, word] : kAbilityNames) {
      const auto of = [&](const FrameworkPropertyLine& line) { return line.ability == ability; };
      if (std::ranges::count(kOpen, ability) > 0 && std::ranges::none_of(entry.runs, of)) continue;
      EXPECT_TRUE(std::ranges::any_of(entry.runs,
                                      [&](const auto& line) { return of(line) && always(line); }))
          << name << " " << word;
    }
  }
}

TEST(Frameworks, ComputeByDefaultWithKernelsThatTheyHave) {
  for (const std::string_view name : kFrameworkNames) {
    const FrameworkSupport law({.name = std::string(name), .version = ""});
    for (const cluster::DeviceGeneration& generation : cluster::device_generations()) {
      const cluster::AttentionKernel kernel =
          default_kernels({.name = std::string(name)}, {.generation = &generation}).attention;
      EXPECT_TRUE(law.supported_property_words(FrameworkProperty::kAttention,
                                               0)[static_cast<std::size_t>(kernel)])
          << name;
    }
  }
}

TEST(Frameworks, OverlapByDefaultWhatTheyRun) {
  for (const std::string_view name : kFrameworkNames) {
    const FrameworkSupport law({.name = std::string(name)});
    const OverlapFlags within = overlap_limited_to_listed_flags(
        all_overlap_flags(true), law.supported_property_words(FrameworkProperty::kOverlap, 0));
    const auto& usual = framework_defaults({.name = std::string(name)}).overlap;
    for (std::size_t i = 0; i < usual.size(); ++i) {
      if (kOverlapFlagNames[i].value == &OverlapFlags::context) continue;  // where there is any
      if (within.*kOverlapFlagNames[i].value) continue;
      EXPECT_EQ(usual[i], FrameworkDefaultCondition::kNowhere)
          << name << " " << kOverlapFlagNames[i].name;
    }
  }
}

TEST(Frameworks, VariantsDoOtherwise) {
  const TrainingFramework fork{.name = "megatron-lm", .variant = "aleph-alpha"};
  EXPECT_EQ(framework_defaults({.name = "megatron-lm"}).layers, StageSplitRule::kEven);
  EXPECT_EQ(framework_defaults(fork).layers, StageSplitRule::kModules);
  const cluster::DeviceModel device = cluster::built_in_cluster("dgx-h100", 1)->device;
  EXPECT_TRUE(default_kernels({.name = "megatron-lm"}, device).scattered_pipeline);
  EXPECT_FALSE(default_kernels(fork, device).scattered_pipeline);
  EXPECT_THAT(framework_variant_names("megatron-core"),
              ElementsAre("ms-swift", "nemo-rl", "bridge", "verl", "slime"));
  EXPECT_THAT(framework_variant_names("nemo"), IsEmpty());
  EXPECT_THAT(framework_field_words(), testing::Contains("ms-swift"));
  EXPECT_EQ(base_framework_of_variant("ms-swift")->name, "megatron-core");
  EXPECT_FALSE(base_framework_of_variant("megatron-core"));
}

TEST(Frameworks, MegatronCoreSharesKeyValueHeadsFromSixteenOn) {
  const cluster::DeviceModel device = cluster::built_in_cluster("dgx-h100", 1)->device;
  const auto gathers = [&](std::string_view release) {
    const TrainingFramework framework{.name = "megatron-core", .version = std::string(release)};
    return default_kernels(framework, device).gathered_heads;
  };
  EXPECT_TRUE(gathers(""));
  EXPECT_TRUE(gathers("0.16"));
  EXPECT_FALSE(gathers("0.15"));
}

TEST(Frameworks, ANameOfSeveralVariantsStandsForOne) {
  EXPECT_EQ(base_framework_of_variant("verl")->name, "fsdp");
  EXPECT_EQ(base_framework_of_variant("trl")->name, "accelerate");
  EXPECT_EQ(base_framework_of_variant("openrlhf")->name, "deepspeed");
  EXPECT_EQ(base_framework_of_variant("axolotl")->name, "accelerate");
  EXPECT_EQ(base_framework_of_variant("nemo-rl")->name, "megatron-core");
  for (const std::string_view name : kFrameworkNames) {
    for (const std::string_view variant : framework_variant_names(name)) {
      EXPECT_TRUE(base_framework_of_variant(variant)) << name << " " << variant;
    }
  }
  const std::vector<std::string> words = framework_field_words();
  for (const std::string& word : words) EXPECT_EQ(std::ranges::count(words, word), 1) << word;
}

TEST(Frameworks, AccelerateCopiesNoGroupOfContextAlone) {
  Job job;
  job.model = *model::built_in_model("llama-3-8b");
  job.cluster = *cluster::built_in_cluster("dgx-h100", 2);
  job.sequences = 16;
  job.length = 8192;
  const auto runs = [&](const std::string& name, std::int64_t group) {
    job.framework = {.name = name};
    Plan plan;
    plan.parallel = {.context = 2, .data = 8};
    plan.sharding = *sharding_named_by_word("III");
    plan.sharding.group = group;
    return FrameworkSupport(job.framework).supports_plan(FrameworkProperty::kGroups, job, plan);
  };
  EXPECT_FALSE(runs("accelerate", 2));
  EXPECT_TRUE(runs("accelerate", 4));
  EXPECT_TRUE(runs("torchtitan", 2));
}

TEST(Frameworks, NobodyHasUserBuffersOnRocm) {
  Job job;
  job.model = *model::built_in_model("llama-3-8b");
  job.sequences = 16;
  job.length = 8192;
  job.framework = {.name = "megatron-core"};
  Plan plan;
  plan.parallel = {.tensor = 8, .data = 1};
  plan.sequence_parallel = true;
  plan.overlap.tensor = true;
  for (const auto& [profile, runs] : {std::pair("dgx-h100", true), {"mi300x-8gpu", false}}) {
    job.cluster = *cluster::built_in_cluster(profile, 1);
    EXPECT_EQ(FrameworkSupport(job.framework)
                  .supports_plan(FrameworkProperty::kOverlap, job, canonical_plan(plan, job)),
              runs)
        << profile;
  }
}

TEST(Frameworks, ALineAsksForAChoiceOfAPlanAndOneOfItsJob) {
  Job job;
  job.model = *model::built_in_model("llama-3-8b");
  job.cluster = *cluster::built_in_cluster("dgx-h100", 1);
  job.precision = DType::kBf16;
  const TrainingFramework axolotl{.name = "accelerate", .variant = "axolotl"};
  const auto sums_in = [&](const TrainingFramework& framework, DType type, bool adapters) {
    Job trained = job;
    if (adapters) trained.model.adapters = model::LoraAdapters{.targets = model::AdapterTargets(1)};
    Plan plan;
    plan.parallel.data = 8;
    plan.accumulate = type;
    return FrameworkSupport(framework).supports_plan(FrameworkProperty::kAccumulate, trained,
                                                     canonical_plan(plan, trained));
  };
  EXPECT_TRUE(sums_in(axolotl, DType::kBf16, false));
  EXPECT_FALSE(sums_in(axolotl, DType::kFp32, false));
  EXPECT_FALSE(sums_in(axolotl, DType::kBf16, true));
  EXPECT_TRUE(sums_in(axolotl, DType::kFp32, true));
  EXPECT_FALSE(sums_in({.name = "accelerate"}, DType::kBf16, false));
  EXPECT_TRUE(sums_in({.name = "accelerate"}, DType::kFp32, false));
}

TEST(Frameworks, TogetherRunEveryWord) {
  for (const auto& [ability, word] : kAbilityNames) {
    WordSet all;
    for (const std::string_view name : kFrameworkNames) {
      all |= FrameworkSupport({.name = std::string(name), .version = ""})
                 .supported_property_words(ability, 0);
    }
    for (std::size_t i = 0; i < framework_property_value_names(ability).size(); ++i) {
      if (ability == FrameworkProperty::kSchedule && i < std::size(schedule::kScheduleRows) &&
          !schedule::kScheduleRows[i].definition->traits.runs)
        continue;
      EXPECT_TRUE(all[i]) << word << " " << framework_property_value_names(ability)[i];
    }
  }
}

TEST(Frameworks, OurExecutorRunsWhateverItsJobAsksFor) {
  Dice dice(1);
  for (int i = 0; i < 300; ++i) {
    Job job = random_good_job(dice);
    job.precision = DType::kBf16;
    Plan plan = random_legal_plan(dice, job);
    for (const auto& [choice, scheme] : kChoosingSchemes) {
      if (plan.collectives.*choice == collective::CollectiveAlgorithm::kNvls)
        plan.collectives.*choice = {};
    }
    bool by_operator = false;
    each_setting(plan.recompute, [&](const ActivationRecomputation& setting) {
      by_operator = by_operator || setting.modules.has(RecomputeModule::kPerOperator);
    });
    if (by_operator || job.dispatcher == TokenDispatcher::kOncePerNode) continue;
    EXPECT_THAT(frameworks_supporting_plan(job, plan), Contains("stepwright")) << shown(plan);
  }
}

/// A change of a plan that makes a framework refuse it, and the refusal.
struct Refused {
  TrainingFramework framework;
  std::function<void(Plan&)> change;
  std::string message;
};

TEST(Frameworks, SayWhatTheyDoNotRunAndWhatInstead) {
  const Job job = small_expert_job();
  const std::vector<Refused> all = {
      {{"megatron-lm", ""},
       [](Plan& plan) { plan.schedule.kind = schedule::PipelineScheduleKind::kZeroBubbleH1; },
       "schedule zb-h1: megatron-lm supports only 1f1b, interleaved"},
      {{"megatron-core", ""},
       [](Plan& plan) { plan.sharding = *sharding_named_by_word("GGG"); },
       "sharding GGG: megatron-core supports only NNN, NNI, NNG with pipeline"},
      {{"deepspeed", ""},
       [](Plan& plan) { plan.context_kind = ContextKind::kRing; },
       "context_kind ring: deepspeed supports only ulysses"},
      {{"fsdp", ""}, [](Plan&) {}, "parallel pipeline, context, expert: fsdp supports only tensor"},
      {{"megatron-core", "0.12.1"},
       [](Plan& plan) { plan.layers = {3, 5}; },
       "layers any: megatron-core supports only equal"},
      {{"megatron-core", "0.9"},
       [](Plan& plan) { plan.parallel.expert_tensor = 2; },
       "parallel expert_tensor: megatron-core supports only tensor, pipeline, context, expert"},
      {{"torchtitan", "0.3"},
       [](Plan& plan) { plan.parallel.expert_tensor = 2; },
       "parallel expert_tensor: torchtitan supports only tensor, pipeline, context, expert"},
      {{"nanotron", ""},
       [](Plan& plan) {
         plan.parallel.data *= 2;
         plan.parallel.tensor = 1;
       },
       "rank_order tp-cp-ep-dp-pp: nanotron supports only tp-cp-ep-pp-dp with expert"},
      {{"deepspeed", ""},
       [](Plan& plan) { plan.recompute.kind = RecomputeKind::kSelective; },
       "recompute selective: deepspeed supports only none, full"},
      {{"megatron-core", ""},
       [](Plan& plan) { plan.recompute.stages = {{.position = 0, .kind = RecomputeKind::kFull}}; },
       "recompute stages: megatron-core supports only none, selective, full, first, modules, "
       "shared_experts"},
      {{"torchtitan", ""},
       [](Plan& plan) { plan.overlap.expert = true; },
       "overlap tensor_gradients, expert, pipeline: torchtitan supports only gradients, "
       "parameters, tensor, "
       "context"},
      {{"stepwright", ""},
       [](Plan& plan) { plan.collectives.tensor = collective::CollectiveAlgorithm::kNvls; },
       "collectives nvls: stepwright supports only library, ring"}};
  for (const Refused& way : all) {
    Plan plan = legal_expert_plan();
    way.change(plan);
    std::vector<std::string> messages;
    for (const UnsupportedChoice& what : choices_unsupported_by_framework(way.framework, job, plan))
      messages.push_back(what.message);
    EXPECT_THAT(messages, Contains(HasSubstr(way.message)));
  }
}

TEST(Frameworks, ReleasesDiffer) {
  const auto runs = [](std::string version, FrameworkProperty ability) {
    return property_words_text(ability, FrameworkSupport({"megatron-core", std::move(version)})
                                            .supported_property_words(ability, 0));
  };
  EXPECT_EQ(runs("0.12.3", FrameworkProperty::kLayers), "equal");
  EXPECT_EQ(runs("core_v0.13.0", FrameworkProperty::kLayers), "equal, nearly, any, hollow");
  EXPECT_EQ(runs("", FrameworkProperty::kLayers), "equal, nearly, any, hollow");
  EXPECT_EQ(runs("nightly", FrameworkProperty::kLayers), "equal, nearly, any, hollow");
  EXPECT_EQ(runs("0.9", FrameworkProperty::kDispatcher), "alltoall, allgather");
}

TEST(Frameworks, MegatronRunsSharedExpertsBesideOneDispatcherAlone) {
  Job job = small_expert_job();
  job.model.experts->shared_ffn = 64;
  Plan plan = legal_expert_plan();
  plan.overlap = {.tensor_gradients = true, .shared_experts = true, .pipeline = false};
  const auto runs = [&](std::string version) {
    return FrameworkSupport({"megatron-core", std::move(version)})
        .supports_plan(FrameworkProperty::kOverlap, job, plan);
  };
  EXPECT_TRUE(runs(""));
  EXPECT_FALSE(runs("0.8"));
  job.dispatcher = TokenDispatcher::kAllGather;
  EXPECT_FALSE(runs(""));
  job.dispatcher = TokenDispatcher::kAllToAll;
  plan.recompute = {.kind = RecomputeKind::kModules, .modules = {RecomputeModule::kMoe}};
  EXPECT_TRUE(runs(""));
  plan.recompute.modules = {RecomputeModule::kSharedExperts};
  EXPECT_FALSE(runs(""));
}

TEST(Frameworks, VariantsSpeakInPlaceOfTheirFramework) {
  const auto runs = [](std::string variant, FrameworkProperty ability) {
    const FrameworkSupport law(
        {.name = "megatron-lm", .version = "", .variant = std::move(variant)});
    return property_words_text(ability, law.supported_property_words(ability, 0));
  };
  EXPECT_EQ(runs("", FrameworkProperty::kLayers), "equal");
  EXPECT_EQ(runs("aleph-alpha", FrameworkProperty::kLayers), "equal, nearly, any");
  EXPECT_EQ(runs("aleph-alpha", FrameworkProperty::kSchedule), "1f1b");
  EXPECT_EQ(runs("aleph-alpha", FrameworkProperty::kSharding), "NNN, NNG");
}

TEST(Frameworks, RunWhatTheyDoByDefault) {
  const Job plain = small_job();
  for (const std::string_view name : kFrameworkNames) {
    std::vector<std::string_view> variants = framework_variant_names(name);
    variants.emplace_back("");
    for (const std::string_view variant : variants) {
      Job job = plain;
      job.framework = {.name = std::string(name), .version = "", .variant = std::string(variant)};
      const FrameworkSupport law(job.framework);
      Plan plan;
      plan.parallel = {.tensor = 2, .data = 8};
      plan.sequence_parallel =
          law.supported_property_words(FrameworkProperty::kSequenceParallel, 1)[1];
      plan.tensor_input = default_gathered_input_policy(job);
      plan.overlap = default_overlap(job, plan);
      EXPECT_TRUE(law.supports_property_value_alone(FrameworkProperty::kTensorInput, job, plan))
          << name << " " << variant;
      EXPECT_TRUE(law.supports_property_value_alone(FrameworkProperty::kOverlap, job, plan))
          << name << " " << variant;
    }
  }
}

TEST(Frameworks, DefaultsFollowTheSharding) {
  Job job = small_job();
  job.precision = DType::kBf16;
  job.framework = {.name = "accelerate"};
  const auto of = [&](std::string_view states) {
    Plan plan;
    plan.parallel = {.data = 16};
    plan.sharding = *sharding_named_by_word(states);
    return std::pair(default_gradient_type(job, plan), default_overlap(job, plan).gradients);
  };
  EXPECT_EQ(of("NNN"), std::pair(DType::kFp32, true));
  EXPECT_EQ(of("NNG"), std::pair(DType::kFp32, false));
  EXPECT_EQ(of("GGG"), std::pair(DType::kBf16, true));
}

TEST(Frameworks, RunPlansMadeByHand) {
  Job job = small_job();
  Plan plan;
  plan.parallel = {.data = 16};
  EXPECT_THAT(frameworks_supporting_plan(job, plan),
              ElementsAre("stepwright", "megatron-core", "megatron-deepspeed", "nemo", "fsdp",
                          "nanotron", "maxtext", "internevo", "colossalai"));
  // DistributedDataParallel has buckets of its own under torchtitan and accelerate.
  for (const std::string name : {"torchtitan", "accelerate"}) {
    const TrainingFramework framework{.name = name, .version = ""};
    EXPECT_THAT(frameworks_supporting_plan(
                    job, FrameworkSupport(framework).with_framework_bucket_sizes(job, plan)),
                Contains(name));
  }
  // Some frameworks reduce after the last backward pass, others only concurrently with it.
  plan.overlap = all_overlap_flags(false);
  EXPECT_THAT(frameworks_supporting_plan(job, plan),
              ElementsAre("stepwright", "megatron-core", "megatron-lm", "megatron-deepspeed",
                          "nemo", "nanotron", "internevo", "colossalai"));
  plan.sharding = *sharding_named_by_word("GGG");
  EXPECT_THAT(frameworks_supporting_plan(job, plan),
              ElementsAre("stepwright", "megatron-core", "megatron-deepspeed", "deepspeed", "nemo",
                          "internevo", "colossalai"));
  // fsdp and torchtitan reduce a layer at a time, accelerate in bf16.
  plan.overlap = OverlapFlags();
  EXPECT_THAT(frameworks_supporting_plan(job, plan),
              ElementsAre("stepwright", "megatron-core", "megatron-deepspeed", "deepspeed", "nemo",
                          "maxtext", "internevo", "colossalai"));
  plan.sharding = *sharding_named_by_word("NIG");
  plan.sharding.group = 8;
  EXPECT_THAT(frameworks_supporting_plan(job, plan), ElementsAre("stepwright"));
  plan.sharding = *sharding_named_by_word("NIG");
  plan.sharding.group = 16;  // that is NGG
  EXPECT_THAT(
      frameworks_supporting_plan(
          job, FrameworkSupport({.name = "torchtitan"}).with_framework_bucket_sizes(job, plan)),
      Contains("torchtitan"));
  plan = Plan();
  plan.parallel = {.pipeline = 2, .data = 8};
  plan.schedule.kind = schedule::PipelineScheduleKind::kZeroBubbleH1;
  EXPECT_THAT(frameworks_supporting_plan(job, plan), ElementsAre("stepwright", "internevo"));
  job.precision = DType::kFp16;
  EXPECT_THAT(frameworks_supporting_plan(job, plan), ElementsAre("internevo"));
}

TEST(Frameworks, TheNearestPlanIsLegalAndRuns) {
  Dice dice(2);
  int found = 0;
  for (int i = 0; i < 200; ++i) {
    Job job = random_good_job(dice);
    job.precision = DType::kBf16;
    const Plan plan = random_legal_plan(dice, job);
    const std::vector<std::string_view> as_it_is = frameworks_supporting_plan(job, plan);
    for (const std::string_view name : kFrameworkNames) {
      const TrainingFramework framework{.name = std::string(name), .version = ""};
      const std::optional<Plan> nearest = nearest_runnable_plan(framework, job, plan);
      if (std::ranges::find(as_it_is, name) != as_it_is.end()) {
        EXPECT_EQ(nearest, canonical_plan(plan, job));
      }
      if (!nearest) continue;
      ++found;
      EXPECT_FALSE(first_broken_rule(job, *nearest)) << name << " " << shown(*nearest);
      EXPECT_THAT(frameworks_supporting_plan(job, *nearest), Contains(name)) << shown(*nearest);
    }
  }
  EXPECT_GE(found, 2000);
}

TEST(Frameworks, TheNearestChangesNoMoreThanItMust) {
  const Job job = small_job();
  Plan plan;
  plan.parallel = {.tensor = 2, .pipeline = 2, .data = 4};
  plan.schedule.kind = schedule::PipelineScheduleKind::kZeroBubbleH1;
  plan.sharding = *sharding_named_by_word("NNG");
  plan.overlap = all_overlap_flags(false);
  Plan expected = plan;
  expected.schedule.kind = schedule::PipelineScheduleKind::kOneForwardOneBackward;
  EXPECT_EQ(nearest_runnable_plan({"megatron-lm", ""}, job, plan), canonical_plan(expected, job));
  expected.parallel = {.tensor = 2, .data = 8};
  expected.sharding = *sharding_named_by_word("NGG");
  expected.overlap.gradients = expected.overlap.parameters = true;
  expected = FrameworkSupport({"fsdp", ""}).with_framework_bucket_sizes(job, expected);
  EXPECT_EQ(nearest_runnable_plan({"fsdp", ""}, job, plan), expected);
  Job narrow = job;
  narrow.precision = DType::kFp8;
  EXPECT_EQ(nearest_runnable_plan({"deepspeed", ""}, narrow, plan), std::nullopt);
}

TEST(Frameworks, ImagesRunWhereFilesLeaveTheModelToTheTrainingCode) {
  Job job;
  job.model = model::built_in_model("llama-3-8b").value();
  job.model.encoder = model::ImageEncoder{
      .name = "tower", .parameters = 1'000'000, .patches = 64, .tokens = 16, .flops = 1e9};
  job.cluster = cluster::built_in_cluster("dgx-h100", 1).value();
  job.sequences = 64;
  job.length = 4096;
  Plan plan;
  plan.parallel.data = 8;
  plan.sharding = *sharding_named_by_word("GGG");
  EXPECT_FALSE(choices_unsupported_by_framework({.name = "megatron-core"}, job, plan).empty());
  EXPECT_FALSE(choices_unsupported_by_framework({.name = "stepwright"}, job, plan).empty());
  const auto images = [](const UnsupportedChoice& what) {
    return what.ability == FrameworkProperty::kModel;
  };
  EXPECT_TRUE(std::ranges::none_of(
      choices_unsupported_by_framework({.name = "deepspeed"}, job, plan), images));
  job.model.encoder->images = 0;
  EXPECT_TRUE(std::ranges::none_of(
      choices_unsupported_by_framework({.name = "stepwright"}, job, plan), images));
}

TEST(Frameworks, KernelsAreThoseOfTheDevice) {
  const auto attention = [](std::string name, std::string_view cluster) {
    return default_kernels({std::move(name), ""}, cluster::built_in_cluster(cluster, 1)->device)
        .attention;
  };
  EXPECT_EQ(attention("megatron-core", "dgx-h100"), cluster::AttentionKernel::kCudnn);
  EXPECT_EQ(attention("nemo", "dgx-a100-80g"), cluster::AttentionKernel::kFlash2);
  EXPECT_EQ(attention("accelerate", "dgx-h100"), cluster::AttentionKernel::kCudnn);
  EXPECT_EQ(attention("accelerate", "dgx-a100-80g"), cluster::AttentionKernel::kFlash2);
  EXPECT_EQ(attention("", "dgx-h100"), FrameworkKernels().attention);
  EXPECT_FALSE(default_kernels({"accelerate", ""}, cluster::built_in_cluster("dgx-h100", 1)->device)
                   .fused_norm);
}

std::string entry_refused(const std::string& lines) {
  const std::string text = "framework: f\nabout: a\nchecked: c\n" + lines;
  const YamlJsonDocument document = YamlJsonDocument::parse(text, "f.yaml");
  return refusal_of(ErrorKind::kInput, [&] { read_framework_entry(document.root()); });
}

TEST(Frameworks, EntriesNameWhatIsWrong) {
  EXPECT_THAT(entry_refused("runs: [{ability: schedule, words: [1f2b], source: s}]"),
              HasSubstr("f.yaml:4:36: runs.0.words.0: must be one of gpipe, 1f1b"));
  EXPECT_THAT(entry_refused("runs: [{ability: schedule, except: [1f2b], source: s}]"),
              HasSubstr("runs.0.except.0: must be one of gpipe, 1f1b"));
  EXPECT_THAT(entry_refused("runs: [{ability: layers, words: any, except: [any], source: s}]"),
              HasSubstr("one of the two"));
  EXPECT_THAT(entry_refused("runs: [{ability: shedule, words: [], source: s}]"),
              HasSubstr("did you mean 'schedule'?"));
  EXPECT_THAT(entry_refused("runs: [{ability: schedule, words: []}]"), HasSubstr("source"));
  EXPECT_THAT(entry_refused("runs: [{ability: offload, with: {sharding: [NNN], recompute: [full]}, "
                            "words: [], source: s}]"),
              HasSubstr("runs.0.with.recompute: is a second choice of a plan"));
  EXPECT_THAT(entry_refused("runs: [{ability: schedule, words: [], source: ''}]"),
              HasSubstr("names no source"));
  EXPECT_THAT(entry_refused("defaults: [{attention: {V100: flash2}, source: s}]"),
              HasSubstr("other device"));
  EXPECT_THAT(entry_refused("defaults: [{kernels: {fused_nrom: true}, source: s}]"),
              HasSubstr("did you mean 'fused_norm'?"));
  EXPECT_THAT(entry_refused("defaults: [{overlap: {gradients: allways}, source: s}]"),
              HasSubstr("did you mean 'always'?"));
  EXPECT_THAT(entry_refused("defaults: [{accumulate: stored}]"), HasSubstr("source"));
  EXPECT_THAT(entry_refused("defaults: [{source: s}]"), HasSubstr("says nothing"));
  EXPECT_THAT(entry_refused("defaults: [{bucketts: 25 MiB, source: s}]"),
              HasSubstr("did you mean 'bucket'?"));
  EXPECT_THAT(entry_refused("defaults: [{variant: mine, accumulate: stored, source: s}]"),
              HasSubstr("is not among the variants"));
}

}  // namespace
}  // namespace stepwright::plan
