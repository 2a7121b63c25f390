#include "random_job.h"

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "stepwright/cluster/catalog.h"
#include "stepwright/model/catalog.h"

namespace stepwright::tune {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed * 2654435761U + 17) {}
  bool chance(std::uint64_t one_in) { return engine_() % one_in == 0; }
  template <class Value>
  Value of(const std::vector<Value>& values) {
    return values[engine_() % values.size()];
  }

 private:
  std::mt19937_64 engine_;
};

void draw_kernels(Draw& draw, plan::Job& job) {
  using Kernel = cluster::AttentionKernel;
  job.kernels.attention =
      draw.of<Kernel>({Kernel::kFlash2, Kernel::kFlash2, Kernel::kFlash1, Kernel::kUnfused});
  job.kernels.fused_norm = !draw.chance(4);
  if (draw.chance(3)) job.framework = plan::TrainingFramework{"megatron-core"};
  if (draw.chance(4)) job.dispatcher = plan::TokenDispatcher::kOncePerNode;
}

/// Draws optimizers that treat matrices separately, offloading hosts, and sequences of documents.
void draw_training(Draw& draw, plan::Job& job) {
  job.optimizer = draw.of<plan::Optimizer>({plan::Optimizer::kAdam, plan::Optimizer::kAdamW,
                                            plan::Optimizer::kAdam8bit, plan::Optimizer::kMuon,
                                            plan::Optimizer::kAdafactor});
  job.muon = draw.of<plan::MuonTensorSplit>({plan::MuonTensorSplit::kDuplicated,
                                             plan::MuonTensorSplit::kDistributed,
                                             plan::MuonTensorSplit::kBlockwise});
  if (draw.chance(4)) {
    job.space.offload.optimizer = {0, 0.5, 1};
    if (draw.chance(2)) job.space.offload.masters = {true, false};
    if (draw.chance(2)) job.space.offload.parameters = {false, true};
  }
  if (draw.chance(4)) {
    job.space.offload.activations = {
        {}, {plan::OffloadModule::kCoreAttention}, {plan::OffloadModule::kLayerInput}};
  }
  if (!draw.chance(5)) return;
  const packing::Packing packing{
      .kind = draw.of<packing::PackingKind>(
          {packing::PackingKind::kNone, packing::PackingKind::kGreedy,
           packing::PackingKind::kFirstFit, packing::PackingKind::kSorted}),
      .pad_to = draw.of<packing::PaddingTarget>(
          {packing::PaddingTarget::kLength, packing::PaddingTarget::kLongest}),
      .too_long = packing::LongDocumentPolicy::kDrop,
      .balance = draw.of<packing::SequenceToRankAssignment>(
          {packing::SequenceToRankAssignment::kAsTheyCome,
           packing::SequenceToRankAssignment::kByCost})};
  const packing::LengthHistogram lengths =
      packing::lognormal_length_histogram(static_cast<double>(job.length) / 8, 0.9);
  job.documents = plan::PackedDocumentBatch{.lengths = lengths, .packing = packing};
  job.documents->packs = packing::packed_sequence_statistics(lengths, packing, job.length);
}

/// Draws an image encoder of 24 layers, frozen or trained.
void draw_encoder(Draw& draw, plan::Job& job) {
  job.model.encoder = model::ImageEncoder{.name = "tower",
                                          .parameters = 303'507'456,
                                          .projector = 20'979'712,
                                          .patches = 576,
                                          .tokens = 576,
                                          .flops = 4.06e11,
                                          .layers = 24,
                                          .hidden = 1024,
                                          .heads = 16,
                                          .ffn = 4096,
                                          .images = draw.of<double>({0.5, 1})};
  job.model.frozen.encoder = draw.chance(2);
}

/// Lists a few values of some dimensions, so that many spaces are small enough to enumerate.
void draw_space(Draw& draw, plan::Job& job) {
  using Size = std::int64_t;
  if (draw.chance(2)) job.space.micro_batch = {1, 2};
  if (draw.chance(2)) job.space.context = {1};
  if (draw.chance(3)) job.space.tensor = {1, 2, job.cluster.devices_per_node};
  if (draw.chance(3)) job.space.expert_tensor = {1};
  if (draw.chance(3))
    job.space.sharding = {*plan::sharding_named_by_word("NNG"),
                          *plan::sharding_named_by_word("GGG")};
  if (draw.chance(3)) job.space.sharding_group = {plan::kNodeSizedShardingGroup, Size{2}};
  if (draw.chance(4)) job.space.chunks = {2, 3};
  if (draw.chance(4)) job.space.overlap = {plan::OverlapFlags{}, plan::all_overlap_flags(true)};
  if (draw.chance(5)) {
    job.space.schedule = {schedule::PipelineScheduleKind::kOneForwardOneBackward,
                          schedule::PipelineScheduleKind::kZeroBubbleH1};
  }
  if (draw.chance(5)) {
    job.space.schedule = {schedule::PipelineScheduleKind::kVHalf,
                          schedule::PipelineScheduleKind::kDualPipeV,
                          schedule::PipelineScheduleKind::kPaired};
  }
}

}  // namespace

plan::Job random_job(std::uint64_t seed) {
  Draw draw(seed);
  std::vector<std::string> models;
  for (const std::string_view name : model::built_in_model_names()) models.emplace_back(name);
  std::vector<std::string> clusters;
  for (const std::string_view name : cluster::built_in_cluster_names()) clusters.emplace_back(name);
  plan::Job job;
  job.model_name = draw.of(models);
  job.model = model::built_in_model(job.model_name).value();
  const std::string cluster = draw.of(clusters);
  job.cluster = cluster::built_in_cluster(cluster, draw.of<std::int64_t>({1, 2, 3, 4, 8})).value();
  job.sequences = draw.of<std::int64_t>({8, 24, 32, 64});
  job.length = draw.of<std::int64_t>({1024, 2048, 4096, 16384});
  job.precision = draw.of<DType>({DType::kBf16, DType::kBf16, DType::kFp16, DType::kFp8});
  draw_kernels(draw, job);
  draw_space(draw, job);
  draw_training(draw, job);
  if (draw.chance(6)) draw_encoder(draw, job);
  job.kernels.masters = draw.of<plan::MasterWeights>(
      {plan::MasterWeights::kBeside, plan::MasterWeights::kAlone, plan::MasterWeights::kNone});
  if (draw.chance(2)) job.cluster.host.memory_bytes *= draw.of<double>({0.02, 0.1, 0.3});
  return job;
}

std::ranges::iota_view<std::uint64_t, std::uint64_t> random_seeds(std::uint64_t usual) {
  const char* const set = std::getenv("STEPWRIGHT_RANDOM_JOBS");
  const std::string asked = set != nullptr ? set : std::to_string(usual);
  const std::size_t colon = asked.find(':');
  const std::uint64_t first = colon == std::string::npos ? 0 : std::stoull(asked.substr(0, colon));
  const std::uint64_t count =
      std::stoull(colon == std::string::npos ? asked : asked.substr(colon + 1));
  return std::views::iota(first, first + count);
}

}  // namespace stepwright::tune
