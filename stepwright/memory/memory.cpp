#include "stepwright/memory/memory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "stepwright/memory/fit_probability.h"
#include "stepwright/memory/fullest_stage.h"
#include "stepwright/memory/gradient_walk.h"
#include "stepwright/memory/sequences.h"
#include "stepwright/memory/slots.h"
#include "stepwright/plan/files/memory_conditions.h"
#include "stepwright/plan/frameworks/defaults.h"

namespace stepwright::memory {
namespace {

/// Bytes of the gradients of one parameter that an update holds in a flat narrow copy and in fp32,
/// over the bytes of the parameter (deepspeed 0.19.8 deepspeed/runtime/zero/stage3.py,
/// _prepare_fp32_grad_for_sub_group).
constexpr double kGradientsOfUpdate = 3;

/// True if a step has one forward and one backward.
bool has_one_backward(const step::StepProgram& program) {
  return program.stages.size() == 1 && program.micro_batches == 1;
}

/// Returns the tensors alive at the peak of a stage.
KindBytes tensors_at_peak(const step::StepProgram& program, const step::PipelineStageProgram& stage,
                          std::span<const OperatorTemplateMemory> footprints) {
  KindBytes at_peak{};
  double peak_bytes = 0;
  const auto keep_largest = [&](const step::PipelineScheduleSlot&,
                                const ScheduleSlotTensorBytes& tensors) {
    const double bytes = total_bytes(tensors.during);
    if (bytes <= peak_bytes) return;
    peak_bytes = bytes;
    at_peak = tensors.during;
  };
  visit_slot_tensor_bytes(program, stage, footprints, keep_largest);
  return at_peak;
}

/// Returns the memory of a stage. `beside.step_parameters`: bytes of the parameters gathered for a
/// step that exist now; all of them if they stay all the time.
StageMemory stage_memory(const step::RankModelStateBytes& states, const TensorsAndGradients& beside,
                         const DeviceMemoryReserve& reserve) {
  StageMemory result;
  const auto set = [&](MemoryKind kind, double bytes) {
    result.kinds[static_cast<std::size_t>(kind)] = bytes;
    result.peak_bytes += bytes;
  };
  const step::OtherModelStates& others = states.others;
  set(MemoryKind::kParameters,
      static_cast<double>(states.parameters - states.for_step + others.parameters) +
          beside.step_parameters);
  set(MemoryKind::kGradients, beside.gradients + static_cast<double>(others.gradients));
  set(MemoryKind::kOptimizer, static_cast<double>(states.optimizer + others.optimizer));
  for (int i = 0; i < step::kTensorKinds; ++i) set(kMemoryKindsByTensorKind[i], beside.tensors[i]);
  set(MemoryKind::kReserve, reserve.bytes(total_bytes(beside.tensors),
                                          static_cast<double>(states.parameters - states.frozen),
                                          static_cast<double>(states.optimizer)));
  return result;
}

/// Returns the memory of a stage slot by slot if the only backward of a step allocates its
/// gradients.
std::vector<ScheduleSlotMemory> moments_with_late_gradients(
    const step::StepProgram& program, const step::PipelineStageProgram& stage,
    std::span<const OperatorTemplateMemory> footprints, const DeviceMemoryReserve& reserve) {
  std::vector<ScheduleSlotMemory> moments;
  GradientMemoryWalk walk(program, stage, footprints, false);
  for (const step::PipelineScheduleSlot& slot : stage.schedule) {
    const StageMemory during = stage_memory(stage.states, walk.memory_at_slot_peak(slot), reserve);
    moments.push_back({during, stage_memory(stage.states, walk.after(), reserve)});
  }
  return moments;
}

std::vector<ScheduleSlotMemory> moments_of(const step::StepProgram& program,
                                           const step::PipelineStageProgram& stage,
                                           std::span<const OperatorTemplateMemory> footprints,
                                           const DeviceMemoryReserve& reserve) {
  std::vector<ScheduleSlotMemory> moments;
  const auto gradients = static_cast<double>(stage.states.gradients);
  const auto gathered = static_cast<double>(stage.states.for_step);
  visit_slot_tensor_bytes(
      program, stage, footprints,
      [&](const step::PipelineScheduleSlot&, const ScheduleSlotTensorBytes& tensors) {
        moments.push_back(
            {stage_memory(stage.states, {tensors.during, gradients, gathered}, reserve),
             stage_memory(stage.states, {tensors.after, gradients, gathered}, reserve)});
      });
  return moments;
}

/// Returns the largest of the moments and of the update, which has all gradients.
StageMemory largest_moment(const std::vector<ScheduleSlotMemory>& moments,
                           const StageMemory& update) {
  StageMemory largest = update;
  for (const ScheduleSlotMemory& moment : moments) {
    if (moment.during.peak_bytes > largest.peak_bytes) largest = moment.during;
  }
  return largest;
}

std::vector<StageMemory> stages_of(const plan::Job& job, const step::StepProgram& program) {
  const std::vector<OperatorTemplateMemory> footprints = template_memory_footprints(program);
  const DeviceMemoryReserve reserve = framework_memory_reserve(job, program.shards_parameters);
  const bool late = allocates_gradients_late(job) && has_one_backward(program);
  std::vector<StageMemory> stages;
  for (const step::PipelineStageProgram& stage : program.stages) {
    const auto gradients = static_cast<double>(stage.states.gradients);
    if (late) {
      stages.push_back(
          largest_moment(moments_with_late_gradients(program, stage, footprints, reserve),
                         stage_memory(stage.states, {{}, gradients}, reserve)));
      continue;
    }
    const KindBytes tensors = tensors_at_peak(program, stage, footprints);
    const auto gathered = static_cast<double>(stage.states.for_step);
    stages.push_back(stage_memory(stage.states, {tensors, gradients, gathered}, reserve));
  }
  return stages;
}

double largest_bytes(const std::vector<StageMemory>& stages) {
  double bytes = 0;
  for (const StageMemory& stage : stages) bytes = std::max(bytes, stage.peak_bytes);
  return bytes;
}

}  // namespace

bool allocates_gradients_late(const plan::Job& job) {
  constexpr auto kFresh = static_cast<std::size_t>(plan::AllocatorMemoryKind::kFreshGradients);
  return plan::framework_defaults(job.framework).holds[kFresh];
}

double device_memory_capacity_bytes(const plan::Job& job) {
  const double limit = job.objective.memory_limit_bytes;
  return limit > 0 ? limit : job.cluster.device.memory_bytes;
}

double usable_memory_bytes(const plan::Job& job) {
  const double capacity = device_memory_capacity_bytes(job);
  const double reserve = job.objective.memory_reserve;
  if (reserve >= 0) return capacity - std::ceil(reserve * capacity);
  const double confidence = memory_fit_confidence(job);
  if (confidence == 0) return capacity;
  return std::floor(predicted_peak_share_at_probability(
                        confidence, memory_prediction_error_model(job.framework)) *
                    capacity);
}

double assumed_expert_load(const plan::Job& job) {
  const bool keeps_free = usable_memory_bytes(job) < device_memory_capacity_bytes(job);
  return keeps_free ? plan::capacity_limited_expert_load(job, kAssumedExpertImbalance) : 1;
}

double memory_fit_confidence(const plan::Job& job) {
  const plan::Objective& objective = job.objective;
  if (objective.memory_reserve >= 0) return 0;
  if (objective.memory_confidence >= 0) return objective.memory_confidence;
  return objective.memory_limit_bytes > 0 ? 0 : kDefaultMemoryFitConfidence;
}

double DeviceMemoryReserve::bytes(double dynamic_bytes, double parameter_bytes,
                                  double optimizer_bytes) const {
  const double sub_group = std::min(sub_group_bytes, kGradientsOfUpdate * parameter_bytes);
  return std::ceil(fixed_bytes + share * dynamic_bytes + parameter_share * parameter_bytes +
                   optimizer_share * optimizer_bytes + sub_group);
}

DeviceMemoryReserve framework_memory_reserve(const plan::Job& job, bool shards_parameters) {
  const double fixed_bytes =
      job.cluster.devices() > 1 ? kFrameworkReservedMemoryBytes : kCudaContextBytes;
  const double process_bytes =
      std::min(fixed_bytes, kMaxFrameworkReservedMemoryShare * job.cluster.device.memory_bytes);
  if (!job.conditions.empty()) {
    const auto measured = plan::load_memory_conditions(job.conditions);
    if (const auto* entry = plan::find_framework_extra_memory(measured, job.framework)) {
      return {.fixed_bytes = process_bytes + entry->other_bytes, .share = entry->fragmentation};
    }
  }
  const plan::FrameworkMemoryMargins& own = plan::framework_defaults(job.framework).memory;
  if (shards_parameters && own.sub_group_parameters > 0) {
    const std::int64_t element = bytes_of_elements(plan::parameter_storage_type(job.precision), 1);
    return {.fixed_bytes = process_bytes,
            .share = own.share,
            .parameter_share = own.parameter_share,
            .sub_group_bytes =
                kGradientsOfUpdate * static_cast<double>(element) * own.sub_group_parameters};
  }
  const bool narrow = plan::parameter_storage_type(job.precision) == DType::kBf16;
  return {.fixed_bytes = process_bytes,
          .share = own.share,
          .parameter_share = own.parameter_share + (narrow ? own.narrow_gradients : 0),
          .optimizer_share = own.optimizer_share};
}

MemoryFitVerdict MemoryReport::memory_fit_verdict_of_job() const {
  if (fits()) return MemoryFitVerdict::kFits;
  if (!fits_hosts() || confidence == 0) return MemoryFitVerdict::kDoesNotFit;
  return std::max(MemoryFitVerdict::kTight, memory_fit_verdict(p_fits, confidence));
}

bool MemoryReport::offloads_to_host_memory() const {
  constexpr HostMemoryKind kLeft[] = {HostMemoryKind::kStates, HostMemoryKind::kActivations};
  return std::ranges::any_of(kLeft, [this](HostMemoryKind kind) {
    return host_kinds[static_cast<std::size_t>(kind)] > 0;
  });
}

namespace {

/// Returns the device memory that a plan needs, as a share of the capacity; infinity if parameters
/// and optimizer states alone, whose sizes are exact, exceed the capacity.
double needed_memory_share(const MemoryReport& report, const step::StepProgram& program) {
  const bool impossible =
      std::ranges::any_of(program.stages, [&](const step::PipelineStageProgram& stage) {
        const step::RankModelStateBytes& states = stage.states;
        const std::int64_t exact = states.parameters + states.optimizer + states.others.parameters +
                                   states.others.optimizer;
        return static_cast<double>(exact) > report.capacity_bytes;
      });
  if (impossible) return std::numeric_limits<double>::infinity();
  return report.device_bytes_needed_by_plan() / report.capacity_bytes;
}

}  // namespace

MemoryReport memory_report(const plan::Job& job, const step::StepProgram& program) {
  MemoryReport report;
  report.capacity_bytes = device_memory_capacity_bytes(job);
  report.confidence = memory_fit_confidence(job);
  report.reserve_bytes = report.capacity_bytes - usable_memory_bytes(job);
  report.stages = stages_of(job, program);
  report.peak_bytes = largest_bytes(report.stages);
  report.host_kinds = host_bytes(job, program);
  report.host_bytes = total_bytes(report.host_kinds);
  report.host_capacity_bytes = job.cluster.host.memory_bytes;
  const double uneven_load = assumed_expert_load(job);
  const bool shared =
      program.group_sizes[static_cast<std::size_t>(plan::CommunicatorKind::kExpert)] > 1;
  if (shared && program.imbalance < uneven_load) {
    step::StepProgram uneven = program;
    uneven.imbalance = uneven_load;
    report.uneven_bytes = largest_bytes(stages_of(job, uneven)) - report.peak_bytes;
    report.reserve_bytes += report.uneven_bytes;
  }
  report.p_fits = memory_fit_probability(needed_memory_share(report, program),
                                         memory_prediction_error_model(job.framework));
  return report;
}

std::vector<std::vector<ScheduleSlotMemory>> slot_memory_by_stage(
    const plan::Job& job, const step::StepProgram& program) {
  const std::vector<OperatorTemplateMemory> footprints = template_memory_footprints(program);
  const DeviceMemoryReserve reserve = framework_memory_reserve(job, program.shards_parameters);
  const bool late = allocates_gradients_late(job) && has_one_backward(program);
  std::vector<std::vector<ScheduleSlotMemory>> stages;
  for (const step::PipelineStageProgram& stage : program.stages) {
    stages.push_back(late ? moments_with_late_gradients(program, stage, footprints, reserve)
                          : moments_of(program, stage, footprints, reserve));
  }
  return stages;
}

MemoryKind largest_memory_kind(const MemoryReport& report) {
  const StageMemory* stage = stage_with_highest_peak_memory(report);
  if (stage == nullptr) return MemoryKind::kReserve;
  const auto largest = std::max_element(stage->kinds.begin(), stage->kinds.end());
  return static_cast<MemoryKind>(largest - stage->kinds.begin());
}

std::string_view largest_part_of_scarce_memory(const MemoryReport& report) {
  if (report.fits_devices() && !report.fits()) return kHostMemoryPartName;
  return name_of(kMemoryKindNames, largest_memory_kind(report));
}

}  // namespace stepwright::memory
