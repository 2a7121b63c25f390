// The pricer's counts of data-parallel messages, compared with the program.
#include "stepwright/simulate/price/position_messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <utility>

#include "stepwright/cluster/catalog.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/price/block_costs.h"
#include "tests/plan/shown.h"

namespace stepwright::simulate {
namespace {

struct Sum {
  double messages = 0;
  double elements = 0;
  double largest = 0;  ///< The most elements of one message.
};
using Key = std::pair<step::OperatorKind, plan::CommunicatorKind>;
using Sums = std::map<Key, Sum>;

/// Sums the operators of a scheme and kind over one step of a stage.
template <class Pick>
Sums written(const step::StepProgram& program, const step::PipelineStageProgram& stage, Pick pick) {
  Sums sums;
  for (const step::PipelineScheduleSlot& slot : stage.schedule) {
    for (const step::TemplateSequenceItem& item :
         stage.sequences[static_cast<std::size_t>(slot.sequence)].items) {
      for (const step::Operator& op :
           program.templates[static_cast<std::size_t>(item.which)].operators) {
        if (!step::is_communication(op.kind) || !pick(op)) continue;
        Sum& sum = sums[{op.kind, op.group}];
        sum.messages += op.repeats;
        sum.elements += static_cast<double>(op.payload_elements * op.repeats);
        sum.largest = std::max(sum.largest, static_cast<double>(op.payload_elements));
      }
    }
  }
  return sums;
}

double times_of(step::DataParallelMessageMoment moment, double micro_batches) {
  if (moment == step::DataParallelMessageMoment::kEachUse) return 2 * micro_batches;
  return moment == step::DataParallelMessageMoment::kEachBackward ? micro_batches : 1;
}

/// Returns the sums of the position's messages as the pricer counts them.
Sums counted(const plan::Job& job, const plan::Plan& plan, const PipelinePositionCost& stage) {
  Sums sums;
  const auto m = static_cast<double>(plan::micro_batches_per_pipeline(job, plan));
  const plan::RankGrid grid(plan);
  for (const step::ShardingGroups& spread : {step::dense_spread(plan), step::routed_spread(plan)}) {
    each_message(job, plan, stage, spread, [&](const PositionDataParallelMessages& message) {
      if (message.elements <= 0 || grid.size(message.group) <= 1) return;
      Sum& sum = sums[{message.kind, message.group}];
      sum.messages += times_of(message.moment, m) * message.count;
      sum.elements += times_of(message.moment, m) * message.elements;
      sum.largest = std::max(sum.largest, message.largest);
    });
  }
  return sums;
}

bool equal_blocks(const plan::Job& job, const plan::Plan& plan,
                  const step::PipelineStageProgram& stage) {
  if (stage.position == 0 || stage.position + 1 == plan.parallel.pipeline) return false;
  for (const std::int64_t layer : stage.chunks.front()) {
    if (job.model.layer_class(layer) != job.model.layer_class(stage.chunks.front().front())) {
      return false;
    }
  }
  return stage.chunks.size() == 1;
}

/// True if the pricer claims to count these messages exactly: messages that are not divided, those
/// of a whole position, and all if blocks are equal.
bool exact(const plan::Job& job, const plan::Plan& plan, const step::PipelineStageProgram& stage,
           const Key& key) {
  if (equal_blocks(job, plan, stage)) return true;
  if (key.first != step::OperatorKind::kAllGather) return !step::reduces_in_buckets(plan);
  const bool rail = key.second == plan::CommunicatorKind::kShardOuter ||
                    key.second == plan::CommunicatorKind::kExpertShardOuter;
  const bool each_use = plan.sharding.parameters != plan::StateShardingScope::kNone && !rail;
  return each_use || !step::gathers_updates_by_block(plan);
}

void expect_count(const plan::Job& job, const plan::Plan& plan,
                  const step::PipelineStageProgram& stage, const Key& key, const Sum& written,
                  const Sum& counted) {
  const double built = written.messages;
  const double priced = counted.messages;
  if (exact(job, plan, stage, key)) {
    EXPECT_EQ(built, priced);
    return;
  }
  const bool gather = key.first == step::OperatorKind::kAllGather;
  const bool routed = key.second == plan::CommunicatorKind::kExpertData ||
                      key.second == plan::CommunicatorKind::kExpertShardInner ||
                      key.second == plan::CommunicatorKind::kExpertShardOuter;
  const auto own = static_cast<double>(routed ? stage.expert_parameters : stage.dense_parameters);
  const auto all = static_cast<double>(stage.dense_parameters + stage.expert_parameters);
  const auto bucket = static_cast<double>(gather ? plan.parameter_bucket : plan.gradient_bucket);
  const double ends = gather ? static_cast<double>(job.model.layers + 2)
                             : all / bucket + static_cast<double>(plan.schedule.chunks);
  // One group may carry the reductions of every backward pass and those of the last one.
  const auto steps = static_cast<double>(plan::micro_batches_per_pipeline(job, plan) + 1);
  for (const double count : {built, priced}) {
    EXPECT_GE(count, counted.elements / (2 * bucket));
    EXPECT_LE(count, steps * (own / bucket + ends));
  }
}

void expect_same(const plan::Job& job, const plan::Plan& plan,
                 const step::PipelineStageProgram& stage, const Sums& built, const Sums& priced) {
  ASSERT_EQ(built.size(), priced.size());
  const plan::RankGrid grid(plan);
  for (const auto& [key, sum] : built) {
    SCOPED_TRACE(testing::Message() << plan::shown(plan) << " stage " << stage.position << " group "
                                    << name_of(plan::kGroupNames, key.second));
    const auto found = priced.find(key);
    ASSERT_NE(found, priced.end());
    // Each message is cut into equal pieces of equal shards: less than one element for each rank.
    const double padding = sum.messages * static_cast<double>(grid.size(key.second));
    EXPECT_GE(sum.elements, found->second.elements * (1 - 1e-12));
    EXPECT_LE(sum.elements, found->second.elements + padding);
    EXPECT_LE(sum.largest, found->second.largest + static_cast<double>(grid.size(key.second)));
    expect_count(job, plan, stage, key, sum, found->second);
  }
}

// Half a bucket stays whole; 2.5 are two pieces of 1.25; of 3 and more none is above 4/3.
TEST(LargestPiece, IsThatOfTheFewestWholeBuckets) {
  EXPECT_EQ(largest_bucket_piece_elements(40, 50, 100), 50);
  EXPECT_EQ(largest_bucket_piece_elements(50, 190, 100), 190);
  EXPECT_EQ(largest_bucket_piece_elements(50, 250, 100), 200);
  EXPECT_DOUBLE_EQ(largest_bucket_piece_elements(300, 1000, 100), 400.0 / 3);
  EXPECT_EQ(largest_bucket_piece_elements(300, 1000, 0), 1000);
}

plan::Job job_of(const std::string& model, std::int64_t layers) {
  plan::Job job;
  job.model = *model::built_in_model(model);
  job.model.layers = layers;
  job.model.count_multi_token = true;  // layers of models that have any
  job.cluster = *cluster::built_in_cluster("dgx-h100", 8);
  job.sequences = 64;
  job.length = 1024;
  return job;
}

/// Compares the sums of messages for every position of a plan.
void compare(const plan::Job& job, const plan::Plan& plan) {
  ASSERT_FALSE(plan::first_broken_rule(job, plan)) << plan::shown(plan);
  const cost::CostModel cost(job);
  PlanPricer pricer(job, cost);
  const PipelineCost pipeline = pricer.pipeline_cost_of_plan(pricer.blocks(plan), plan);
  const step::StepProgram program = step::build_step_program(job, plan);
  for (const PipelinePositionCost& stage : pipeline.stages) {
    const step::PipelineStageProgram& built =
        program.stages[static_cast<std::size_t>(stage.position)];
    expect_same(job, plan, built,
                written(program, built,
                        [](const step::Operator& op) {
                          return op.scheme == step::ParallelismScheme::kData;
                        }),
                counted(job, plan, stage));
  }
}

/// Compares a strategy under every combination of overlap and buckets.
void compare_choices(const plan::Job& job, plan::Plan plan) {
  for (const std::int64_t bucket :
       {3'000'000LL, 40'000'000LL, 300'000'000LL, 1'000'000'000'000LL}) {
    for (const int overlap : {0, 1, 2, 3}) {
      plan.gradient_bucket = bucket;
      plan.parameter_bucket = bucket / 2;
      plan.overlap.parameters = overlap % 2 == 1;
      plan.overlap.gradients = overlap / 2 == 1;
      compare(job, plan);
    }
  }
}

struct Case {
  friend void PrintTo(const Case& which, std::ostream* out) { *out << which.name; }
  const char* name;
  const char* model;
  std::int64_t layers;
  plan::ParallelismDegrees parallel;
  schedule::PipelineSchedule schedule;
};

class Strategies : public testing::TestWithParam<Case> {};

TEST_P(Strategies, SendWhatThePricerCounts) {
  const Case& which = GetParam();
  const plan::Job job = job_of(which.model, which.layers);
  for (const plan::Sharding& sharding : plan::paro_strategies()) {
    plan::Plan plan;
    plan.parallel = which.parallel;
    plan.schedule = which.schedule;
    plan.sharding = sharding;
    plan.sequence_parallel = plan.parallel.tensor > 1;
    if (sharding.uses(plan::StateShardingScope::kInner)) {
      plan.sharding.group = 4;
      if (job.model.experts) plan.sharding.expert_group = 2;
    }
    compare_choices(job, plan);
    plan::Job whole = job;
    whole.kernels.scattered_gradients = false;
    whole.kernels.masters = plan::MasterWeights::kAlone;
    compare(whole, plan);
  }
}

const schedule::PipelineSchedule kOneByOne{
    .kind = schedule::PipelineScheduleKind::kOneForwardOneBackward};
INSTANTIATE_TEST_SUITE_P(
    Models, Strategies,
    testing::Values(
        Case{"Dense", "llama-3-8b", 16, {.tensor = 2, .pipeline = 4, .data = 8}, kOneByOne},
        Case{"Context", "llama-3-8b", 8, {.pipeline = 2, .context = 4, .data = 8}, kOneByOne},
        Case{"Interleaved",
             "llama-3-8b",
             16,
             {.tensor = 2, .pipeline = 4, .data = 8},
             {.kind = schedule::PipelineScheduleKind::kInterleaved, .chunks = 2}},
        Case{"TiedOnOneRank", "gpt2-xl", 12, {.data = 64}, kOneByOne},
        Case{"TiedAcrossStages", "gpt2-xl", 12, {.pipeline = 4, .data = 16}, kOneByOne},
        Case{"Experts", "mixtral-8x7b", 16, {.pipeline = 4, .expert = 4, .data = 16}, kOneByOne},
        Case{"DenseThenExperts",
             "deepseek-v3",
             16,
             {.tensor = 2, .pipeline = 4, .expert = 4, .data = 8},
             kOneByOne}),
    [](const auto& test) { return test.param.name; });

struct EndCase {
  const char* model;
  plan::ParallelismDegrees parallel;
  model::FrozenModelParts frozen = {};
  std::optional<model::LoraAdapters> adapters = {};
};

/// Norms, tied tables, the loss and loads of experts end a step in the same way in price and
/// program.
TEST(StepEndSumSizes, IsWhatTheUpdateSends) {
  const plan::ParallelismDegrees routed{.tensor = 2, .pipeline = 2, .expert = 2, .data = 16};
  for (const auto& [model, parallel, frozen, adapters] :
       {EndCase{"gpt2-xl", {.pipeline = 4, .data = 16}},
        {"llama-3-8b", {.tensor = 4, .pipeline = 2, .data = 8}},
        {"mixtral-8x7b", routed},
        {"deepseek-v3", routed},
        {"deepseek-v3",
         {.tensor = 2, .expert = 2, .data = 32},
         {.embedding = true, .first = 0, .layers = 4}},
        {"deepseek-v3", routed, {.first = 4, .layers = 2}},
        {"deepseek-v3", routed, {}, model::LoraAdapters{.rank = 8}}}) {
    plan::Job job = job_of(model, 8);
    job.model.count_multi_token = !frozen.any() && !adapters;  // They do not go together.
    job.model.frozen = frozen;
    job.model.adapters = adapters;
    if (adapters) job.model.adapters->targets = model::possible_adapter_targets(job.model);
    plan::Plan plan;
    plan.parallel = parallel;
    plan.sequence_parallel = parallel.tensor > 1;
    plan.sharding = *plan::sharding_named_by_word("NGG");
    ASSERT_FALSE(plan::first_broken_rule(job, plan)) << plan::shown(plan);
    const cost::CostModel cost(job);
    PlanPricer pricer(job, cost);
    const step::StepProgram program = step::build_step_program(job, plan);
    const plan::RankGrid grid(plan);
    for (const PipelinePositionCost& stage :
         pricer.pipeline_cost_of_plan(pricer.blocks(plan), plan).stages) {
      Sums priced;
      const auto add = [&](const step::StepEndMessage& message) {
        if (message.elements == 0 || grid.size(message.group) <= 1) return;
        Sum& sum = priced[{step::OperatorKind::kAllReduce, message.group}];
        sum.messages += 1;
        sum.elements += static_cast<double>(message.elements);
      };
      const step::StepEndSumSizes end = step_end_reductions(job, plan, stage);
      std::ranges::for_each(step::partial_gradient_all_reduces(plan, end), add);
      std::ranges::for_each(step::step_statistics_all_reduces(end, DType::kFp32), add);
      const Sums built = written(program, program.stages[static_cast<std::size_t>(stage.position)],
                                 [](const step::Operator& op) {
                                   return op.phase == step::Phase::kOptimizer &&
                                          op.scheme != step::ParallelismScheme::kData;
                                 });
      ASSERT_EQ(built.size(), priced.size()) << model << " stage " << stage.position;
      for (const auto& [key, sum] : built) {
        EXPECT_EQ(sum.messages, priced[key].messages) << name_of(plan::kGroupNames, key.second);
        EXPECT_EQ(sum.elements, priced[key].elements) << name_of(plan::kGroupNames, key.second);
      }
    }
  }
}

}  // namespace
}  // namespace stepwright::simulate
