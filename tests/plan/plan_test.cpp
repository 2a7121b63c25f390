#include "stepwright/plan/plan.h"

#include <gmock/gmock.h>

#include <numeric>
#include <set>

#include "stepwright/plan/choices/changes.h"
#include "stepwright/plan/choices/words.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/job.h"
#include "stepwright/plan/layer_split.h"
#include "stepwright/plan/overlap_table.h"
#include "tests/plan/random_plans.h"

namespace stepwright::plan {
namespace {

using ::testing::ElementsAre;

TEST(Sharding, HasFourteenStrategies) {
  std::vector<std::string> words;
  for (const Sharding& strategy : paro_strategies()) words.push_back(sharding_letters(strategy));
  EXPECT_THAT(words, ElementsAre("NNN", "NNI", "NNG", "NII", "NIG", "NGG", "INI", "ING", "III",
                                 "IIG", "IGG", "GNG", "GIG", "GGG"));
}

TEST(Sharding, WordsSayWhatIsSplit) {
  Job job = small_expert_job();
  Plan plan;
  plan.parallel = {.expert = 2, .data = 16};
  const auto words = [&](std::string_view states, std::int64_t group, std::int64_t expert_group) {
    plan.sharding = *sharding_named_by_word(states);
    plan.sharding.group = group;
    plan.sharding.expert_group = expert_group;
    const std::string text = plan_description(plan, job);
    const std::size_t begin = text.find("sharding ");
    return text.substr(begin, text.find(')', begin) + 1 - begin);
  };
  EXPECT_EQ(words("NIG", 4, 2),
            "sharding NIG (gradients in groups of 4, optimizer states over all, of experts 2)");
  EXPECT_EQ(words("INI", 1, 4),
            "sharding INI (parameters of experts in groups of 4, optimizer states of experts in "
            "groups of 4)");
  EXPECT_EQ(words("NNI", 4, 1), "sharding NNI (optimizer states in groups of 4 but for experts)");
  EXPECT_EQ(words("IIG", 1, 1), "sharding IIG (optimizer states over all)");
  EXPECT_EQ(words("III", 1, 1), "sharding hsdp (nothing split)");
  job = small_job();
  EXPECT_EQ(words("NNI", 4, 1), "sharding NNI (optimizer states in groups of 4)");
}

TEST(Sharding, StrategiesAreThoseOfTheTwentySevenWithTheFinestOptimizer) {
  const std::vector<Sharding> strategies = paro_strategies();
  const StateShardingScope all[] = {StateShardingScope::kNone, StateShardingScope::kInner,
                                    StateShardingScope::kGlobal};
  for (const StateShardingScope p : all) {
    for (const StateShardingScope g : all) {
      for (const StateShardingScope o : all) {
        const Sharding sharding{.parameters = p, .gradients = g, .optimizer = o};
        const bool listed = std::ranges::find(strategies, sharding) != strategies.end();
        EXPECT_EQ(is_paro_strategy(sharding), listed) << sharding_letters(sharding);
        EXPECT_EQ(sharding_named_by_word(sharding_letters(sharding)), sharding);
      }
    }
  }
}

TEST(Sharding, ReadsAliases) {
  const auto word = [](std::string_view alias) {
    return sharding_letters(sharding_named_by_word(alias).value());
  };
  EXPECT_EQ(word("ddp"), "NNN");
  EXPECT_EQ(word("zero1"), "NNG");
  EXPECT_EQ(word("zero2"), "NGG");
  EXPECT_EQ(word("zero3"), "GGG");
  EXPECT_EQ(word("fsdp"), "GGG");
  EXPECT_EQ(word("hsdp"), "III");
  EXPECT_EQ(word("mics"), "III");
  EXPECT_EQ(word("hpz"), "IGG");
  EXPECT_FALSE(sharding_named_by_word("zero4"));
  EXPECT_FALSE(sharding_named_by_word("iig"));
  EXPECT_FALSE(sharding_named_by_word(""));
}

TEST(RankOrder, ReadsAllPermutationsAndNothingElse) {
  RankOrder order;
  std::set<std::string> words;
  do {
    const std::string word = rank_order_text(order);
    words.insert(word);
    EXPECT_EQ(parse_rank_order(word), order);
  } while (std::ranges::next_permutation(order.axes).found);
  EXPECT_EQ(words.size(), 120);
  EXPECT_TRUE(words.contains("tp-cp-ep-dp-pp"));
  EXPECT_TRUE(words.contains("tp-cp-ep-pp-dp"));
  for (const std::string_view word :
       {"", "tp", "tp-cp-ep-dp", "tp-tp-ep-dp-pp", "tp-cp-ep-dp-pp-"}) {
    EXPECT_FALSE(parse_rank_order(word)) << word;
  }
}

TEST(EvenSplit, GivesTheSurplusToTheMiddleAndNeverToTheLast) {
  EXPECT_THAT(even_layer_split(8, 4), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(even_layer_split(9, 4), ElementsAre(2, 3, 2, 2));
  EXPECT_THAT(even_layer_split(10, 4), ElementsAre(2, 3, 3, 2));
  EXPECT_THAT(even_layer_split(11, 4), ElementsAre(3, 3, 3, 2));
  EXPECT_THAT(even_layer_split(61, 5), ElementsAre(12, 12, 13, 12, 12));
  EXPECT_THAT(even_layer_split(7, 1), ElementsAre(7));
}

TEST(EvenSplit, SharesDifferByOneAtMostAndSumUp) {
  for (std::int64_t layers = 1; layers <= 40; ++layers) {
    for (std::int64_t chunks = 1; chunks <= layers; ++chunks) {
      const std::vector<std::int64_t> split = even_layer_split(layers, chunks);
      EXPECT_EQ(std::accumulate(split.begin(), split.end(), std::int64_t{0}), layers);
      EXPECT_LE(std::ranges::max(split) - std::ranges::min(split), 1);
      EXPECT_EQ(split.back(), std::ranges::min(split));
      EXPECT_EQ(split.front() == split.back() || layers % chunks == chunks - 1, true);
    }
  }
}

/// Returns plans that differ from the default plan in one choice each.
std::vector<Plan> plans_of_one_choice() {
  std::vector<Plan> plans(40);
  plans[1].parallel.tensor = 2;
  plans[2].parallel.context = 2;
  plans[3].parallel.expert = 2;
  plans[4].parallel.expert_tensor = 2;
  plans[5].parallel.data = 2;
  plans[6].parallel.pipeline = 2;
  plans[7].micro_batch = 2;
  plans[8].schedule.kind = schedule::PipelineScheduleKind::kGpipe;
  plans[9].schedule.chunks = 2;
  plans[10].sharding.optimizer = StateShardingScope::kInner;
  plans[11].sharding.group = 2;
  plans[12].sharding.expert_group = 2;
  plans[13].recompute.kind = RecomputeKind::kFull;
  plans[14].recompute = {.kind = RecomputeKind::kEvery, .every = 2};
  plans[15].sequence_parallel = true;
  plans[16].tensor_input = GatheredInputPolicy::kKeep;
  plans[17].context_kind = ContextKind::kUlysses;
  plans[18].accumulate = DType::kBf16;
  plans[19].gradient_bucket = 1;
  plans[20].parameter_bucket = 1;
  plans[21].offload.optimizer = 0.25;
  plans[22].collectives.data = collective::CollectiveAlgorithm::kTwoLevel;
  std::swap(plans[23].rank_order.axes[0], plans[23].rank_order.axes[1]);
  plans[24].layers = {1};
  plans[25].collectives.expert = collective::CollectiveAlgorithm::kDirect;
  plans[26].collectives.tensor = collective::CollectiveAlgorithm::kDirect;
  plans[27].offload.optimizer = 0.5;
  plans[28].offload.masters = false;
  plans[29].offload.activations = {OffloadModule::kQkv};
  plans[30].offload.parameters = true;
  plans[31].schedule.strands = 2;
  plans[32].schedule.group = 2;
  plans[33].schedule.kind = schedule::PipelineScheduleKind::kAuto;
  plans[33].schedule.placement = schedule::ModelChunkPlacementKind::kCyclic;
  plans[34].recompute = {.kind = RecomputeKind::kModules, .modules = {RecomputeModule::kMlp}};
  plans[35].schedule = {.kind = schedule::PipelineScheduleKind::kAuto,
                        .basis = {.chunks = {{.forward_ns = 1}}}};
  plans[36].sharding.parameters = StateShardingScope::kInner;
  plans[37].sharding.gradients = StateShardingScope::kInner;
  plans[38].recompute.stages = {{.position = 0, .kind = RecomputeKind::kFull}};
  plans[39].collectives.data = collective::CollectiveAlgorithm::kDirect;
  for (const OverlapFlagTraits& row : kOverlapFlagTable) {
    Plan& plan = plans.emplace_back();
    plan.overlap.*row.flag = !(plan.overlap.*row.flag);
  }
  return plans;
}

TEST(Plan, IsAnotherKeyAndAnotherFileWhereOneChoiceDiffers) {
  const Job job = small_expert_job();
  std::set<Plan> keys;
  std::set<std::string> files;
  for (const Plan& plan : plans_of_one_choice()) {
    EXPECT_TRUE(keys.insert(plan).second) << differing_choices_text(Plan{}, plan);
    EXPECT_TRUE(files.insert(plan_yaml({job, plan})).second)
        << differing_choices_text(Plan{}, plan);
  }
}

TEST(Job, KnowsTypesOfStorageAndAccumulation) {
  EXPECT_EQ(parameter_storage_type(DType::kNvfp4), DType::kBf16);
  EXPECT_EQ(parameter_storage_type(DType::kFp16), DType::kFp16);
  EXPECT_EQ(default_accumulation_type(DType::kFp8), DType::kFp32);
  EXPECT_EQ(default_accumulation_type(DType::kFp64), DType::kFp64);
}

TEST(Job, CountsMicroBatchesAndLayersOfChunks) {
  Job job;
  job.sequences = 512;
  job.model.layers = 10;
  Plan plan;
  plan.parallel = {.tensor = 4, .pipeline = 2, .data = 8};
  plan.micro_batch = 2;
  plan.schedule = {.kind = schedule::PipelineScheduleKind::kInterleaved, .chunks = 2};
  EXPECT_EQ(micro_batches_per_pipeline(job, plan), 32);
  EXPECT_THAT(layers_per_chunk(job, plan), ElementsAre(2, 3, 3, 2));
  plan.layers = {1, 2, 3, 4};
  EXPECT_THAT(layers_per_chunk(job, plan), ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace stepwright::plan
