#include "small_jobs.h"

#include <random>
#include <vector>

#include "stepwright/model/layer_class_index.h"

namespace stepwright::tune {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  bool chance(std::uint64_t one_in) { return engine_() % one_in == 0; }
  template <class Value>
  Value pick(std::initializer_list<Value> values) {
    return values.begin()[engine_() % values.size()];
  }

 private:
  std::mt19937_64 engine_;
};

cluster::Cluster two_level_cluster(std::int64_t nodes, std::int64_t devices_per_node) {
  cluster::Cluster cluster;
  cluster.name = "small";
  cluster.device = {.name = "toy",
                    .peak_flops = {{DType::kFp32, 1e13}, {DType::kBf16, 1e14}},
                    .memory_bytes = 16e9,
                    .memory_bandwidth_bytes_per_s = 1e12};
  cluster.nodes = nodes;
  cluster.devices_per_node = devices_per_node;
  cluster.nics_per_node = 1;
  cluster.nic_bytes_per_s = 25e9;
  cluster.nic_of_device.assign(static_cast<std::size_t>(devices_per_node), 0);
  cluster.levels = {
      {.name = "inside", .size = devices_per_node, .uplink_bytes_per_s = 100e9, .latency_s = 1e-6},
      {.name = "network",
       .size = nodes * devices_per_node,
       .uplink_bytes_per_s = 25e9,
       .latency_s = 5e-6,
       .network = true}};
  return cluster;
}

void set_model(plan::Job& job, std::int64_t layers, std::int64_t hidden) {
  job.model_name = job.model.name = "small";
  job.model.layers = layers;
  job.model.hidden = hidden;
  job.model.heads = 8;
  job.model.kv_heads = 4;
  job.model.head_dim = hidden / 8;
  job.model.ffn = 4 * hidden;
  job.model.vocabulary = 32000;
  job.model.positions = 8192;
}

void list_dimensions(Dice& dice, plan::TunerSearchSpace& space) {
  using Size = std::int64_t;
  if (dice.chance(4))
    space.schedule = {schedule::PipelineScheduleKind::kGpipe,
                      schedule::PipelineScheduleKind::kInterleaved};
  if (dice.chance(4)) {
    space.schedule = {schedule::PipelineScheduleKind::kOneForwardOneBackward,
                      schedule::PipelineScheduleKind::kZeroBubbleH1};
  }
  if (dice.chance(3)) {
    space.schedule = {schedule::PipelineScheduleKind::kOneForwardOneBackward,
                      schedule::PipelineScheduleKind::kVMin,
                      schedule::PipelineScheduleKind::kFolded,
                      schedule::PipelineScheduleKind::kDualPipeV,
                      schedule::PipelineScheduleKind::kStp,
                      schedule::PipelineScheduleKind::kSpreadVocabulary};
    if (dice.chance(2)) space.strands = {1, 2};
  }
  if (dice.chance(4)) {
    space.recompute = {{.kind = plan::RecomputeKind::kNone},
                       {.kind = plan::RecomputeKind::kEvery, .every = 2}};
  }
  if (dice.chance(4)) {
    space.recompute = {
        {.kind = plan::RecomputeKind::kNone},
        {.kind = plan::RecomputeKind::kModules, .modules = {plan::RecomputeModule::kNorm}},
        {.kind = plan::RecomputeKind::kModules,
         .modules = {plan::RecomputeModule::kNorm, plan::RecomputeModule::kCoreAttention}},
        {.kind = plan::RecomputeKind::kModules,
         .every = 2,
         .modules = {plan::RecomputeModule::kCoreAttention}}};
  }
  if (dice.chance(4)) space.accumulate = {DType::kFp32, DType::kBf16, DType::kFp16};
  if (dice.chance(4)) {
    space.collectives.data = {
        collective::CollectiveAlgorithm::kLibrary, collective::CollectiveAlgorithm::kTwoLevel,
        collective::CollectiveAlgorithm::kHoRing, collective::CollectiveAlgorithm::kTree};
  }
  if (dice.chance(5))
    space.collectives.tensor = {collective::CollectiveAlgorithm::kLibrary,
                                collective::CollectiveAlgorithm::kDirect};
  if (dice.chance(5)) {
    space.collectives.expert = {collective::CollectiveAlgorithm::kDirect,
                                collective::CollectiveAlgorithm::kLibrary,
                                collective::CollectiveAlgorithm::kRelay};
  }
  if (dice.chance(4)) space.parameter_bucket = {Size{1'000'000}, Size{40'000'000}};
  if (dice.chance(4)) {
    plan::OverlapFlags blocking;
    blocking.parameters = false;
    space.overlap = {plan::OverlapFlags{}, plan::all_overlap_flags(false), blocking};
  }
  if (dice.chance(4)) space.sharding_group = {plan::kNodeSizedShardingGroup, 2};
  if (dice.chance(4)) space.layers = {{}, {1, 3}, {2, 2}};
  if (dice.chance(5)) {
    plan::RankOrder other;
    std::swap(other.axes[0], other.axes[3]);
    space.rank_order = {plan::RankOrder{}, other};
  }
}

}  // namespace

plan::Job small_random_job(std::uint64_t seed) {
  Dice dice(seed);
  plan::Job job;
  job.cluster =
      two_level_cluster(dice.pick<std::int64_t>({1, 2, 3}), dice.pick<std::int64_t>({2, 4}));
  set_model(job, dice.pick<std::int64_t>({2, 3, 4, 6}), dice.pick<std::int64_t>({512, 2048}));
  job.sequences = dice.pick<std::int64_t>({4, 6, 8, 12});
  job.length = dice.pick<std::int64_t>({512, 2048});
  job.cluster.device.memory_bytes = dice.pick({4e9, 8e9, 16e9, 64e9});
  if (seed % 3 != 1) {
    job.model.experts = model::MixtureOfExperts{.count = 4, .top_k = 2, .ffn = job.model.hidden};
    if (dice.chance(2)) job.model.experts->shared_ffn = job.model.hidden;
    if (dice.chance(2)) {
      std::vector<std::uint8_t> is_dense(static_cast<std::size_t>(job.model.layers), 0);
      is_dense.front() = 1;
      model::assign_dense_mlp_layers(job.model, is_dense);
    }
  }
  job.model.tied = dice.chance(3);
  list_dimensions(dice, job.space);
  // Keep one space in reach of a visit to every plan.
  job.space.micro_batch =
      dice.chance(2) ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{1, 3, 4};
  if (dice.chance(2)) job.space.context = {1, 2};
  if (dice.chance(2))
    job.space.context_kind = {plan::ContextKind::kRing, plan::ContextKind::kUlysses};
  if (job.model.experts) {
    job.space.context_kind = {plan::ContextKind::kRing};
    job.space.expert_tensor = {1, 2};
    // Spaces where both kinds of parameters have several groups to choose from.
    job.space.sharding = dice.chance(2)
                             ? std::vector<plan::Sharding>{*plan::sharding_named_by_word("NNG"),
                                                           *plan::sharding_named_by_word("IIG"),
                                                           *plan::sharding_named_by_word("GGG")}
                             : std::vector<plan::Sharding>{*plan::sharding_named_by_word("NNI"),
                                                           *plan::sharding_named_by_word("NII"),
                                                           *plan::sharding_named_by_word("III"),
                                                           *plan::sharding_named_by_word("IGG")};
    job.space.expert =
        dice.chance(2) ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{1, 4};
    if (dice.chance(4)) job.space.expert_group = {plan::kNodeSizedShardingGroup, 1, 2};
  }
  if (dice.chance(4)) {
    const plan::StageRecompute full{.position = 0, .kind = plan::RecomputeKind::kFull};
    job.space.recompute = {
        {.kind = plan::RecomputeKind::kFull, .stages = {{.position = 0}}},
        {.kind = plan::RecomputeKind::kSelective, .stages = {full}},
        {.kind = plan::RecomputeKind::kNone,
         .stages = {{.position = 0,
                     .kind = plan::RecomputeKind::kModules,
                     .modules = {plan::RecomputeModule::kNorm}},
                    {.position = 1, .kind = plan::RecomputeKind::kEvery, .every = 2}}}};
  }
  return job;
}

plan::Job small_tune_job() {
  plan::Job job;
  job.cluster = two_level_cluster(2, 4);
  set_model(job, 8, 2048);
  job.sequences = 16;
  job.length = 2048;
  return job;
}

}  // namespace stepwright::tune
