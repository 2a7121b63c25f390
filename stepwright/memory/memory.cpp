#include "stepwright/memory/memory.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "stepwright/memory/fit_probability.h"
#include "stepwright/memory/sequences.h"
#include "stepwright/memory/slots.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/host_memory.h"

namespace stepwright::memory {
namespace {

constexpr MemoryKind kKindOfTensors[] = {MemoryKind::kActivations, MemoryKind::kLogits,
                                         MemoryKind::kGathered, MemoryKind::kCommunication};
static_assert(std::size(kKindOfTensors) == step::kTensorKinds);

/// The tensors alive at the largest moment of a stage.
KindBytes tensors_at_peak(const step::StepProgram& program, const step::Stage& stage,
                          std::span<const Footprint> footprints, MemoryPlace place) {
  KindBytes at_peak{};
  double peak_bytes = 0;
  const auto keep_largest = [&](const step::Slot&, const SlotTensors& tensors) {
    const double bytes = total_bytes(tensors.during);
    if (bytes <= peak_bytes) return;
    peak_bytes = bytes;
    at_peak = tensors.during;
  };
  walk_slots(program, stage, footprints, keep_largest, place);
  return at_peak;
}

StageMemory stage_memory(const step::States& states, const KindBytes& tensors,
                         const Reserve& reserve) {
  StageMemory result;
  const auto set = [&](MemoryKind kind, double bytes) {
    result.kinds[static_cast<std::size_t>(kind)] = bytes;
    result.peak_bytes += bytes;
  };
  const step::OtherStates& others = states.others;
  set(MemoryKind::kParameters, static_cast<double>(states.parameters + others.parameters));
  set(MemoryKind::kGradients, static_cast<double>(states.gradients + others.gradients));
  set(MemoryKind::kOptimizer, static_cast<double>(states.optimizer + others.optimizer));
  for (int i = 0; i < step::kTensorKinds; ++i) set(kKindOfTensors[i], tensors[i]);
  set(MemoryKind::kReserve,
      reserve.bytes(total_bytes(tensors), static_cast<double>(states.parameters - states.frozen),
                    static_cast<double>(states.optimizer)));
  return result;
}

std::vector<StageMemory> stages_of(const plan::Job& job, const step::StepProgram& program) {
  const std::vector<Footprint> footprints = footprints_of(program);
  const Reserve reserve = framework_reserve(job);
  std::vector<StageMemory> stages;
  for (const step::Stage& stage : program.stages) {
    const KindBytes tensors = tensors_at_peak(program, stage, footprints, MemoryPlace::kDevice);
    stages.push_back(stage_memory(stage.states, tensors, reserve));
  }
  return stages;
}

/// The largest bytes of activations that a rank of each stage has on its host.
std::vector<double> kept_on_host(const step::StepProgram& program) {
  std::vector<double> kept(program.stages.size());
  if (!program.keeps_on_host) return kept;
  constexpr MemoryPlace kPlace = MemoryPlace::kHost;
  const std::vector<Footprint> footprints = footprints_of(program, kPlace);
  for (std::size_t s = 0; s < kept.size(); ++s) {
    kept[s] = total_bytes(tensors_at_peak(program, program.stages[s], footprints, kPlace));
  }
  return kept;
}

/// Bytes of states and activations that a rank of each stage has on its host.
std::vector<double> host_bytes_of_rank(const step::StepProgram& program) {
  std::vector<double> of_rank = kept_on_host(program);
  for (std::size_t s = 0; s < of_rank.size(); ++s) {
    of_rank[s] += static_cast<double>(program.stages[s].states.host);
  }
  return of_rank;
}

double largest_bytes(const std::vector<StageMemory>& stages) {
  double bytes = 0;
  for (const StageMemory& stage : stages) bytes = std::max(bytes, stage.peak_bytes);
  return bytes;
}

}  // namespace

double capacity_bytes(const plan::Job& job) {
  const double limit = job.objective.memory_limit_bytes;
  return limit > 0 ? limit : job.cluster.device.memory_bytes;
}

double usable_bytes(const plan::Job& job) {
  const double capacity = capacity_bytes(job);
  const double reserve = job.objective.memory_reserve;
  if (reserve >= 0) return capacity - std::ceil(reserve * capacity);
  const double confidence = fit_confidence(job);
  if (confidence == 0) return capacity;
  return std::floor(share_at(confidence, memory_error_model(job.framework)) * capacity);
}

double fit_confidence(const plan::Job& job) {
  const plan::Objective& objective = job.objective;
  if (objective.memory_reserve >= 0) return 0;
  if (objective.memory_confidence >= 0) return objective.memory_confidence;
  return objective.memory_limit_bytes > 0 ? 0 : kMemoryConfidence;
}

double Reserve::bytes(double dynamic_bytes, double parameter_bytes, double optimizer_bytes) const {
  return std::ceil(fixed_bytes + share * dynamic_bytes + parameter_share * parameter_bytes +
                   optimizer_share * optimizer_bytes);
}

Reserve framework_reserve(const plan::Job& job) {
  const double fixed_bytes = job.cluster.devices() > 1 ? kFrameworkBytes : kContextBytes;
  const plan::MemoryMargins own = plan::framework_defaults(job.framework).memory;
  const bool narrow = plan::storage_type(job.precision) == DType::kBf16;
  return {.fixed_bytes =
              std::min(fixed_bytes, kFrameworkShareOfDevice * job.cluster.device.memory_bytes),
          .share = own.share,
          .parameter_share = own.parameter_share + (narrow ? own.narrow_gradients : 0),
          .optimizer_share = own.optimizer_share};
}

MemoryReport memory_report(const plan::Job& job, const step::StepProgram& program) {
  MemoryReport report;
  report.capacity_bytes = capacity_bytes(job);
  report.reserve_bytes = report.capacity_bytes - usable_bytes(job);
  report.stages = stages_of(job, program);
  report.peak_bytes = largest_bytes(report.stages);
  report.host_bytes = plan::fullest_host_bytes(host_bytes_of_rank(program),
                                               {.ranks = program.ranks,
                                                .stride = program.pipeline_stride,
                                                .of_node = job.cluster.devices_per_node});
  report.host_capacity_bytes = job.cluster.host.memory_bytes;
  const double uneven_load = plan::bounded_load(job, kExpertImbalance);
  const bool shared = program.group_sizes[static_cast<std::size_t>(plan::GroupKind::kExpert)] > 1;
  if (report.reserve_bytes > 0 && shared && program.imbalance < uneven_load) {
    step::StepProgram uneven = program;
    uneven.imbalance = uneven_load;
    report.uneven_bytes = largest_bytes(stages_of(job, uneven)) - report.peak_bytes;
    report.reserve_bytes += report.uneven_bytes;
  }
  report.p_fits = fit_probability(report.needed_bytes() / report.capacity_bytes,
                                  memory_error_model(job.framework));
  return report;
}

std::vector<std::vector<MemoryMoment>> memory_moments(const plan::Job& job,
                                                      const step::StepProgram& program) {
  const std::vector<Footprint> footprints = footprints_of(program);
  const Reserve reserve = framework_reserve(job);
  std::vector<std::vector<MemoryMoment>> stages;
  for (const step::Stage& stage : program.stages) {
    std::vector<MemoryMoment>& moments = stages.emplace_back();
    walk_slots(program, stage, footprints, [&](const step::Slot&, const SlotTensors& tensors) {
      moments.push_back({stage_memory(stage.states, tensors.during, reserve),
                         stage_memory(stage.states, tensors.after, reserve)});
    });
  }
  return stages;
}

MemoryKind largest_kind(const MemoryReport& report) {
  const auto by_peak = [](const StageMemory& a, const StageMemory& b) {
    return a.peak_bytes < b.peak_bytes;
  };
  const auto stage = std::max_element(report.stages.begin(), report.stages.end(), by_peak);
  if (stage == report.stages.end()) return MemoryKind::kReserve;
  const auto largest = std::max_element(stage->kinds.begin(), stage->kinds.end());
  return static_cast<MemoryKind>(largest - stage->kinds.begin());
}

std::string_view largest_part(const MemoryReport& report) {
  if (report.fits_devices() && !report.fits()) return kHostMemoryPart;
  return name_of(kMemoryKindNames, largest_kind(report));
}

}  // namespace stepwright::memory
