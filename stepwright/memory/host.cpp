#include "stepwright/memory/host.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "stepwright/memory/sequences.h"
#include "stepwright/memory/slots.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/host_memory.h"

namespace stepwright::memory {
namespace {

/// Batches that a torch.utils.data worker prefetches (`prefetch_factor`), and the host bytes of a
/// token: its id, label, position and mask as int64.
constexpr double kPrefetched = 2;
constexpr double kBytesOfToken = 4 * 8;

double& at(HostBytes& kinds, HostMemoryKind kind) { return kinds[static_cast<std::size_t>(kind)]; }

/// Returns, for each position, the peak bytes of activations that a rank keeps in host memory.
std::vector<double> kept_on_host(const step::StepProgram& program) {
  std::vector<double> kept(program.stages.size());
  if (!program.keeps_on_host) return kept;
  const std::vector<OperatorTemplateMemory> footprints =
      template_memory_footprints(program, MemoryPlace::kHost);
  for (std::size_t s = 0; s < kept.size(); ++s) {
    const auto keep_most = [&](const step::PipelineScheduleSlot&,
                               const ScheduleSlotTensorBytes& tensors) {
      kept[s] = std::max(kept[s], total_bytes(tensors.during));
    };
    visit_slot_tensor_bytes(program, program.stages[s], footprints, keep_most, MemoryPlace::kHost);
  }
  return kept;
}

/// Returns the host bytes that a plan uses for one rank of a position.
HostBytes left_there(const step::HostModelStateBytes& states, double activations) {
  HostBytes kinds{};
  at(kinds, HostMemoryKind::kStates) = static_cast<double>(states.states);
  at(kinds, HostMemoryKind::kGradients) = static_cast<double>(states.gradients);
  at(kinds, HostMemoryKind::kPinned) = static_cast<double>(states.pinned);
  at(kinds, HostMemoryKind::kActivations) = activations;
  return kinds;
}

double loader_bytes(const plan::Job& job, const plan::FrameworkDefaults& defaults) {
  // The loader's batch is not known here; a worker produces samples of one whole sequence.
  const double batches = kPrefetched * kBytesOfToken * static_cast<double>(job.length);
  return static_cast<double>(defaults.host_workers) * (defaults.host_worker_bytes + batches);
}

/// True if the run starts from a checkpoint that it loads.
bool loads(const plan::Job& job) {
  return job.model.has_frozen_weights() || job.method.kind != plan::TrainingMethodKind::kPretrain;
}

/// Bytes of the checkpoint that the ranks of a node hold at the start.
double loading_bytes(const plan::Job& job, const plan::FrameworkDefaults& defaults, bool sharded,
                     double ranks) {
  if (!loads(job)) return 0;
  const auto parameters = static_cast<double>(model::count_parameters(job.model));
  const bool narrow = job.model.adapters && job.model.adapters->quantised();
  const std::int64_t bits =
      narrow ? element_size_centibits(job.model.adapters->base)
             : element_size_centibits(plan::parameter_storage_type(job.precision));
  const double whole = parameters * static_cast<double>(bits) / 800;
  switch (sharded ? defaults.loading.sharded : defaults.loading.whole) {
    case plan::CheckpointLoadingRanks::kNone: return 0;
    case plan::CheckpointLoadingRanks::kFirst: return whole;
    case plan::CheckpointLoadingRanks::kEach: break;
  }
  return ranks * whole;
}

}  // namespace

double total_bytes(const HostBytes& kinds) {
  return std::accumulate(kinds.begin(), kinds.end(), 0.0);
}

HostBytes host_bytes(const plan::Job& job, const step::StepProgram& program) {
  const std::vector<double> kept = kept_on_host(program);
  std::vector<HostBytes> of_rank;
  std::vector<double> sums;
  for (std::size_t s = 0; s < kept.size(); ++s) {
    of_rank.push_back(left_there(program.stages[s].states.host, kept[s]));
    sums.push_back(total_bytes(of_rank.back()));
  }
  const plan::PipelineNodePlacement nodes{.ranks = program.ranks,
                                          .stride = program.pipeline_stride,
                                          .of_node = job.cluster.devices_per_node};
  const std::vector<std::int64_t> ranks = plan::pipeline_rank_counts_of_fullest_node(sums, nodes);
  HostBytes kinds{};
  double of_node = 0;
  for (std::size_t s = 0; s < ranks.size(); ++s) {
    of_node += static_cast<double>(ranks[s]);
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      kinds[k] += static_cast<double>(ranks[s]) * of_rank[s][k];
    }
  }
  const plan::FrameworkDefaults& defaults = plan::framework_defaults(job.framework);
  at(kinds, HostMemoryKind::kProcesses) = of_node * defaults.host_process_bytes;
  at(kinds, HostMemoryKind::kLoaders) = of_node * loader_bytes(job, defaults);
  const double at_start = at(kinds, HostMemoryKind::kProcesses) +
                          loading_bytes(job, defaults, program.shards_parameters, of_node);
  at(kinds, HostMemoryKind::kLoading) = std::max(0.0, at_start - total_bytes(kinds));
  return kinds;
}

}  // namespace stepwright::memory
