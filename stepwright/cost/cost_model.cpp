#include "stepwright/cost/cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "stepwright/cluster/generation.h"
#include "stepwright/collective/wire.h"
#include "stepwright/cost/laws/constants.h"
#include "stepwright/cost/laws/expert_exchange.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/host_memory.h"
#include "stepwright/step/matrices.h"
#include "stepwright/step/work.h"

namespace stepwright::cost {
namespace {

/// Returns the number of calls by which the modules of each expert of a grouped product fetch and
/// release their parameters. Their order differs from step to step, so nothing is fetched ahead.
double fetch_calls(const step::Operator& op) {
  return constants::kFetchCalls.value * static_cast<double>(op.module_fetches);
}

/// Returns the host's microseconds of fetching and releasing the parameters of an operator's
/// modules outside of experts. The last product of an attention or of an MLP stands for the modules
/// around it, too, which have hooks without sharded parameters.
double fetch_us(const step::Operator& op) {
  if (op.kind == step::OperatorKind::kGroupedLinear) return 0;
  const bool backward = step::is_backward_phase(op.phase);
  const double fetch = (backward ? constants::kModuleFetchBackward : constants::kModuleFetch).value;
  const double hooks = (backward ? constants::kModuleHooksBackward : constants::kModuleHooks).value;
  const bool last =
      op.part == step::LayerPart::kAttentionOutput || op.part == step::LayerPart::kFc2;
  const double others = last && op.module_fetches > 0 ? constants::kHookedModules.value : 0;
  return fetch * static_cast<double>(op.module_fetches) + hooks * others;
}

/// Returns the host's launches for an operator, in units of kernels issued by the framework. The
/// library that the framework calls issues the casts of a narrow product and the experts of a
/// grouped one.
double launches(const step::Operator& op, const ComputationCostModel& compute) {
  const bool narrow = op.dtype != plan::parameter_storage_type(op.dtype);
  const double casts =
      narrow ? constants::kProductCasts.value * constants::kLibraryLaunch.value : 0;
  switch (op.kind) {
    case step::OperatorKind::kLinear: return 1 + casts;
    case step::OperatorKind::kGroupedLinear:
      // A loop over experts gathers, multiplies, weighs and adds the rows of each expert.
      if (compute.kernel_launch_count(op) > 1) {
        return compute.kernel_launch_count(op) *
               (1 + casts + constants::kLoopKernels.value + fetch_calls(op));
      }
      return 1 + casts + constants::kLibraryLaunch.value * static_cast<double>(op.shape.batch);
    case step::OperatorKind::kAttention:
      return step::is_backward_phase(op.phase) ? constants::kAttentionBackwardKernels.value
                                               : constants::kAttentionKernels.value;
    case step::OperatorKind::kAdd:
      if (op.purpose != step::OperatorPurpose::kExpertBias) return compute.kernel_launch_count(op);
      return 1 + constants::kLibraryLaunch.value * static_cast<double>(op.shape.batch);
    case step::OperatorKind::kTopK: return constants::kRouterKernels.value;
    case step::OperatorKind::kLossLocal:
      if (op.purpose == step::OperatorPurpose::kDocumentLoss)
        return compute.kernel_launch_count(op);
      return constants::kSortKernels.value;
    case step::OperatorKind::kPermute:
    case step::OperatorKind::kUnpermute:
    case step::OperatorKind::kAllToAll: return constants::kSortKernels.value;
    case step::OperatorKind::kOrthogonalize:
      return step::kMuonMatrixProductsPerUpdate * static_cast<double>(op.shape.rows);
    default: return compute.kernel_launch_count(op);
  }
}

/// True if a CUDA graph replays an operator: a graph of the whole step, or of the operator's part
/// of a layer. The norm before a part belongs to it; the norm before experts and shared experts
/// belong to the router's part. Operators on communication streams are never part of a layer's
/// graph.
bool in_graph(const plan::CudaGraphScope& graphs, const step::Operator& op) {
  if (graphs.step) return true;
  if (op.stream != step::DeviceStream::kCompute) return false;
  const bool norm = op.part == step::LayerPart::kMlpNorm;
  return (graphs.attention && step::is_of_attention(op.part)) ||
         (graphs.mlp && (norm || step::is_layer_part_between(op.part, step::LayerPart::kFc1,
                                                             step::LayerPart::kFc2))) ||
         (graphs.router &&
          (norm ||
           step::is_layer_part_between(op.part, step::LayerPart::kRouter, step::LayerPart::kTopK) ||
           step::is_layer_part_between(op.part, step::LayerPart::kSharedFc1,
                                       step::LayerPart::kSharedGate)));
}

/// Compute capability of Hopper, on which DeepEP's kernels inside a node were measured.
constexpr int kExchangeCapability = 9;

/// Returns half of an interval's width, as a relative error.
double error_of(const StepTimeRatioInterval& interval) {
  return std::sqrt(interval.high / interval.low) - 1;
}

/// Returns `word` and the profile ("by PROFILE"), or "unfitted".
std::string fit_text(std::string_view word, const std::optional<std::string>& fit) {
  return fit ? fmt::format("{} {}", word, *fit) : "unfitted";
}

}  // namespace

double low_precision_cast_bytes(const step::Operator& op, plan::LowPrecisionCastScaling casts) {
  const auto narrow = static_cast<double>(element_size_centibits(op.dtype)) / 800;
  const auto stored =
      static_cast<double>(element_size_centibits(plan::parameter_storage_type(op.dtype))) / 800;
  const auto rows = static_cast<double>(op.shape.rows);
  const double input = rows * static_cast<double>(op.shape.inner);
  const double gradient = rows * static_cast<double>(op.shape.columns);
  const double weight = static_cast<double>(std::max<std::int64_t>(1, op.shape.batch)) *
                        static_cast<double>(op.shape.inner) * static_cast<double>(op.shape.columns);
  const bool weights_gradient = op.phase == step::Phase::kWeightGradient;
  const bool inputs_gradient = op.phase == step::Phase::kDataGradient;
  if (casts == plan::LowPrecisionCastScaling::kLibrary) {
    const double elements = weights_gradient ? 0 : inputs_gradient ? gradient : input;
    return elements * (stored + 2 * narrow);
  }
  const double once = stored + narrow;       // scaled by the row that is read
  const double twice = 2 * stored + narrow;  // read first for the scale
  // Scaled along the other direction, written with rows and columns exchanged.
  const double across = twice / constants::kTransposedCast.value;
  if (casts == plan::LowPrecisionCastScaling::kTensorwise) {
    if (weights_gradient) return input * twice;
    return inputs_gradient ? gradient * (twice + narrow) + weight * twice
                           : (input + weight) * twice;
  }
  // Products without fast accumulation are multiplied without scales, which are applied to the
  // result.
  const double scaled = 2 * stored;
  if (weights_gradient) return (input + gradient) * across + weight * scaled;
  return inputs_gradient ? gradient * once + weight * across + input * scaled
                         : (input + weight) * once;
}

CostModel::CostModel(const plan::Job& job) : CostModel(job, applicable_training_conditions(job)) {
  if (job.conditions.empty()) return;
  fit_ += ", conditions of " + job.conditions;
  conditions_file_ = job.conditions;
}

CostModel::CostModel(const plan::Job& job, const TrainingConditions& conditions)
    : framework_(applicable_training_conditions(conditions, job.framework)),
      graphs_(job.kernels.cuda_graphs),
      casts_(job.kernels.casts),
      blocking_launches_(job.kernels.blocking_launches),
      compute_(job),
      collective_(job.cluster),
      fit_(fmt::format("computation {}, messages {}",
                       fit_text("by", compute_.operator_profile_names()),
                       fit_text("of", collective_.profile_name()))) {
  device_ = applicable_training_conditions(conditions, job.cluster.device.name,
                                           cluster::device_generation_of(job.cluster.device).name);
  interval_ = job_step_time_ratio_interval(conditions, job);
  waits_factor_ = conditions.intervals.waits;
  stated_error_ = error_of(interval_);
  attention_rate_ = device_.attention_rate;
  if (job.kernels.attention == cluster::AttentionKernel::kFlash1)
    attention_rate_ *= device_.flash1_rate;
  if (job.dispatcher == plan::TokenDispatcher::kOncePerNode && job.model.experts) {
    copies_once_ = job.model.experts->top_k;
    routed_width_ = job.model.expert_input_width();
    const cluster::NetworkLevel& links = job.cluster.levels.front();
    const int capability = cluster::device_generation_of(job.cluster.device).compute_capability;
    if (capability == kExchangeCapability && links.links == cluster::LinkTechnology::kNvlink) {
      exchange_link_ = links.uplink_bytes_per_s;
    }
  }
  contention_ = {framework_.beside_inside, framework_.beside_network};
  if (!job.measured.empty()) {
    measured_ = std::make_shared<MeasuredProfile>(load_measured_profile(job.measured));
    fit_ = fmt::format("measured here ({}): {}; else {}", measured_->name,
                       measured_->measured_parts_text(), fit_);
    const MeasuredOverlapSlowdown& overlap = measured_->overlap;
    if (overlap.beside_inside > 0) contention_.compute_beside_inside = overlap.beside_inside;
    if (overlap.beside_network > 0) contention_.compute_beside_network = overlap.beside_network;
  }
  devices_per_node_ = std::min(job.cluster.devices_per_node, job.cluster.devices());
  memory_s_per_byte_ = 1 / job.cluster.device.memory_bandwidth_bytes_per_s;
  node_levels_ = collective::intra_node_level_count(job.cluster);
  const double link = job.cluster.device.host_link_bytes_per_s;
  if (link > 0) host_link_s_per_byte_ = 1 / (constants::kHostLinkShare.value * link);
  host_memory_s_per_byte_ =
      static_cast<double>(devices_per_node_) /
      (constants::kHostUpdateShare.value * plan::host_memory_bandwidth(job.cluster));
  if (const std::int64_t threads = plan::host_threads(job); threads > 0) {
    host_update_s_ = 1e-9 * constants::kHostUpdateThread.value / static_cast<double>(threads);
  }
}

StepTimeRatioInterval CostModel::step_time_ratio_interval(double waiting_share) const {
  return widened_ratio_interval(interval_, std::pow(waits_factor_, waiting_share));
}

std::string CostModel::measurements_behind_prediction_text() const {
  const std::optional<std::string> computation = compute_.operator_profile_names();
  const std::optional<std::string>& messages = collective_.profile_name();
  std::string text =
      computation ? fmt::format("Seconds of computation follow measurements of {}", *computation)
                  : "Seconds of computation follow the device's data sheet, because there are no "
                    "measurements of it";
  text += messages ? fmt::format("; seconds of messages follow measurements of {}", *messages)
                   : "; seconds of messages follow documented defaults, because there are no "
                     "measurements of this network";
  if (!conditions_file_.empty()) {
    text += fmt::format(", under the conditions of {}", conditions_file_);
  }
  if (measured_) {
    text += fmt::format("; {} ({}) overrides all of these", measured_->name,
                        measured_->measured_parts_text());
  }
  return fmt::format("{}. The expected error of a step is {:.0f}%.", text, 100 * stated_error_);
}

/// Returns the share of an operator's single-kernel rate that the device keeps in a run.
double CostModel::rate_of(const step::Operator& op) const {
  switch (op.kind) {
    case step::OperatorKind::kLinear:
    case step::OperatorKind::kGroupedLinear:
      return op.dtype == plan::parameter_storage_type(op.dtype) ? device_.product_rate
                                                                : device_.narrow_product_rate;
    case step::OperatorKind::kOrthogonalize:
    case step::OperatorKind::kScores:
    case step::OperatorKind::kAttendValues: return device_.product_rate;
    case step::OperatorKind::kAttention: return attention_rate_;
    case step::OperatorKind::kNormSquare:
    case step::OperatorKind::kOptimizer: return device_.memory_rate / framework_.update_passes;
    default: return device_.memory_rate;
  }
}

/// Returns the seconds of a copy over the host link, limited by bytes, or of an optimizer update on
/// the host. An update is limited by the bytes of all ranks of a node, or by the threads of one
/// rank, whose time for a parameter grows in proportion to its bytes above
/// `kHostAdamBytesPerParameter`.
double CostModel::of_host_s(const step::Operator& op) const {
  if (op.kind != step::OperatorKind::kHostOptimizer)
    return step::device_memory_traffic_bytes(op) * host_link_s_per_byte_;
  const auto bytes = static_cast<double>(op.shape.inner);
  return static_cast<double>(op.shape.rows) *
         std::max(bytes * host_memory_s_per_byte_,
                  std::max(1.0, bytes / constants::kHostAdamBytesPerParameter) * host_update_s_);
}

double CostModel::compute_s(const step::Operator& op) const {
  if (step::operator_involves_host(op.kind)) return op.busiest_rank_load_factor() * of_host_s(op);
  if (const ComputationTimeLaw* law = measured_ ? measured_->find(op) : nullptr) {
    return law->seconds(op.busiest_rank_load_factor() * step::operator_flops(op),
                        op.busiest_rank_load_factor() * step::device_memory_traffic_bytes(op));
  }
  if (op.kind == step::OperatorKind::kUnpack) {
    const double copy_us = in_graph(graphs_, op) ? 0 : constants::kTensorCopy.value;
    const double host_launch_s = 1e-6 * copy_us * static_cast<double>(op.shape.batch);
    return std::max(host_launch_s, compute_.operator_run_seconds(op) / rate_of(op));
  }
  const bool product =
      op.kind == step::OperatorKind::kLinear || op.kind == step::OperatorKind::kGroupedLinear;
  const bool narrow = product && op.dtype != plan::parameter_storage_type(op.dtype);
  const bool slower = narrow && casts_ == plan::LowPrecisionCastScaling::kRowwise &&
                      !step::is_backward_phase(op.phase);
  const double rate = rate_of(op) * (slower ? constants::kRowwiseRate.value : 1);
  return compute_.operator_run_seconds(op) / rate + (narrow ? cast_s(op) : 0);
}

double CostModel::min_fused_compute_seconds(const step::Operator& op) const {
  if (const ComputationTimeLaw* law = measured_ ? measured_->find(op) : nullptr) {
    return op.busiest_rank_load_factor() * step::operator_flops(op) * law->s_per_flop;
  }
  return compute_.min_operator_seconds(op) / rate_of(op);
}

double CostModel::cast_s(const step::Operator& op) const {
  const double bytes = low_precision_cast_bytes(op, casts_);
  return bytes * memory_s_per_byte_ / (constants::kMemoryShare.value * device_.memory_rate);
}

double CostModel::host_kernel_launch_seconds(const step::Operator& op) const {
  if (in_graph(graphs_, op)) return 0;
  const double issued_us = step::is_communication(op.kind) ? framework_.message_us : 0;
  return 1e-6 * (framework_.host_us * launches(op, compute_) + issued_us + fetch_us(op)) *
         op.repeats;
}

std::optional<double> CostModel::deepep_all_to_all_s(const step::Operator& op,
                                                     const cluster::GroupLayout& layout) const {
  if (exchange_link_ == 0 || op.kind != step::OperatorKind::kAllToAll || layout.size == 1 ||
      collective::group_node_count(layout, node_levels_) > 1) {
    return std::nullopt;
  }
  if (op.part == step::LayerPart::kGateWeights) return 0;  // Gate weights are sent with the rows.
  const double met = step::expected_distinct_count(layout.size, copies_once_);
  const auto width = static_cast<double>(routed_width_);
  const double element = static_cast<double>(element_size_centibits(op.dtype)) / 800;
  const double bytes = op.busiest_rank_load_factor() * static_cast<double>(op.payload_bytes());
  return deepep_exchange_s({.combines = op.purpose == step::OperatorPurpose::kFromExperts,
                            .tokens = bytes / (met * width * element),
                            .width = width,
                            .bytes = element,
                            .ranks = layout.size,
                            .met_ranks = met},
                           exchange_link_);
}

/// Returns the share of an exchange's rows that cross between nodes when a row enters each node
/// once, and the node's ranks pass it on.
double CostModel::entering_share(const step::Operator& op,
                                 const cluster::GroupLayout& layout) const {
  if (copies_once_ == 0 || op.kind != step::OperatorKind::kAllToAll) return 1;
  const std::int64_t nodes = collective::group_node_count(layout, node_levels_);
  if (nodes <= 1) return 1;
  return step::expected_distinct_count(nodes, copies_once_) /
         step::expected_distinct_count(layout.size, copies_once_);
}

void CostModel::price_template_operators(
    const step::OperatorTemplate& piece,
    const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
    const plan::CollectiveAlgorithmChoices& collectives, std::vector<OperatorTime>& times) const {
  times.clear();
  for (const step::Operator& op : piece.operators)
    times.push_back(price_template_operators(op, layouts, collectives));
  add_host_launch_waits(piece, layouts, times);
}

void CostModel::add_host_launch_waits(
    const step::OperatorTemplate& piece,
    const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
    std::vector<OperatorTime>& times) const {
  double host = 0;
  double alone = 0;  // Seconds of the host while the device has nothing to run.
  double device = 0;
  double computation = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const step::Operator& op = piece.operators[i];
    (op.purpose == step::OperatorPurpose::kDocumentLoss ? alone : host) +=
        host_kernel_launch_seconds(op);
    if (op.stream == step::DeviceStream::kCompute) device += times[i].seconds;
    if (step::computes_on_device(op.kind)) computation += times[i].seconds;
  }
  if (collective::group_node_count(
          layouts[static_cast<std::size_t>(plan::CommunicatorKind::kPipeline)], node_levels_) > 1) {
    const auto ranks = layouts[static_cast<std::size_t>(plan::CommunicatorKind::kTensor)].size;
    const double longer = 1 + framework_.stage_wait * static_cast<double>(ranks);
    host *= longer;
    alone *= longer;
  }
  const double waits = alone + (blocking_launches_ ? host : std::max(0.0, host - device));
  if (waits <= 0 || computation <= 0) return;
  const double stretch = 1 + waits / computation;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (step::computes_on_device(piece.operators[i].kind)) times[i].seconds *= stretch;
  }
}

OperatorTime CostModel::message_time(step::OperatorKind kind, double payload_bytes,
                                     const cluster::GroupLayout& layout,
                                     collective::CollectiveAlgorithm algorithm,
                                     step::ParallelismScheme scheme) const {
  OperatorTime time = transfer(kind, payload_bytes, layout, algorithm);
  if (measured_ && layout.size > 1) {
    time.seconds += measured_->message_host_overhead_s(scheme, step::collective_of_operator(kind),
                                                       payload_bytes);
  }
  return time;
}

OperatorTime CostModel::transfer(step::OperatorKind kind, double payload_bytes,
                                 const cluster::GroupLayout& layout,
                                 collective::CollectiveAlgorithm algorithm) const {
  const collective::CollectiveOperation collective = step::collective_of_operator(kind);
  if (measured_ && layout.span < 0) return {};
  if (measured_) {
    const GroupNodePlacement group = group_node_placement(layout);
    const auto time = measured_->messages.measured_message_time(
        algorithm_run_as_explicit_schedule(algorithm, collective, group), collective, payload_bytes,
        group);
    if (time) return *time;
  }
  OperatorTime time =
      collective_.priced_message_time({collective, payload_bytes, layout, algorithm});
  if (!collective_.is_measured_on_this_cluster(collective, time.link)) {
    time.seconds /= time.link == LinkClass::kInside ? device_.inside_rate : device_.network_rate;
  }
  return time;
}

double CostModel::payload_bytes(const step::Operator& op,
                                const cluster::GroupLayout& layout) const {
  return op.busiest_rank_load_factor() * entering_share(op, layout) *
         static_cast<double>(op.payload_bytes());
}

OperatorTime CostModel::price_template_operators(
    const step::Operator& op, const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
    const plan::CollectiveAlgorithmChoices& collectives) const {
  OperatorTime time;
  if (step::is_communication(op.kind)) {
    const cluster::GroupLayout& layout = layouts[static_cast<std::size_t>(op.group)];
    time = message_time(op.kind, payload_bytes(op, layout), layout,
                        step::planned_collective_algorithm(collectives, op.scheme), op.scheme);
    if (const auto exchange = deepep_all_to_all_s(op, layout)) time.seconds = *exchange;
  } else {
    time.seconds = compute_s(op);
  }
  if (op.kind == step::OperatorKind::kOptimizer)
    time.seconds += device_idle_seconds_between_steps();
  if (op.in_pieces) {
    const bool expert = op.scheme == step::ParallelismScheme::kExpert;
    time.seconds *= expert ? framework_.expert_exposed : framework_.tensor_exposed;
  }
  time.seconds *= op.repeats;
  return time;
}

std::array<cluster::GroupLayout, plan::kGroupKinds> rank_group_network_layouts(
    const cluster::Cluster& cluster, const plan::RankGrid& grid) {
  std::array<cluster::GroupLayout, plan::kGroupKinds> layouts;
  for (int kind = 0; kind < plan::kGroupKinds; ++kind) {
    layouts[kind] = plan::rank_group_network_layout(
        cluster, grid.communicator_shape(static_cast<plan::CommunicatorKind>(kind)));
  }
  return layouts;
}

}  // namespace stepwright::cost
