#include "stepwright/cost/compute_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stepwright/cluster/generation.h"
#include "stepwright/cost/laws/constants.h"
#include "stepwright/cost/profiles/profile_catalog.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/step/matrices.h"
#include "stepwright/step/work.h"

namespace stepwright::cost {
namespace {

template <class Enum>
constexpr std::size_t index(Enum value) {
  return static_cast<std::size_t>(value);
}

double peak_or(const cluster::DeviceModel& device, DType type, double otherwise) {
  const auto peak = device.peak_flops.find(type);
  return peak == device.peak_flops.end() ? otherwise : peak->second;
}

/// True if products in a type run in TF32: products in fp32, if the job allows TF32 and the device
/// has it.
bool in_tf32(const plan::FrameworkKernels& kernels, const cluster::DeviceGeneration& generation,
             DType type) {
  return kernels.tf32 && generation.tf32_slowdown > 0 && type == DType::kFp32;
}

/// Compute capability of Hopper, whose fast products (wgmma) cannot transpose operands in TF32.
constexpr int kWarpGroupCapability = 9;

/// False for products with an operand across the inner dimension: gradients of weights and inputs,
/// weighted values, and gradients of queries, keys and values.
bool along_inner_dimension(const step::Operator& op) {
  switch (op.kind) {
    case step::OperatorKind::kLinear:
    case step::OperatorKind::kGroupedLinear:
    case step::OperatorKind::kScores: return !step::is_backward_phase(op.phase);
    case step::OperatorKind::kAttendValues:
      return op.part == step::LayerPart::kProbabilitiesGradient;
    default: return true;
  }
}

/// Returns the FLOP/s that large matrix products of a type reach.
double matrix_flops(const cluster::DeviceModel& device, const cluster::DeviceGeneration& defaults,
                    const plan::FrameworkKernels& kernels, DType type) {
  const double wide = cluster::dense_sixteen_bit_peak_flops(device);
  const double attained = defaults.matrix_share * wide;
  if (in_tf32(kernels, defaults, type)) return attained / defaults.tf32_slowdown;
  switch (type) {
    case DType::kFp16:
    case DType::kBf16: return defaults.matrix_share * peak_or(device, type, wide);
    case DType::kFp8:
    case DType::kMxfp8:
      return std::min(defaults.fp8_speedup * attained, peak_or(device, type, attained));
    case DType::kNvfp4:
      return std::min(defaults.fp4_speedup * attained, peak_or(device, type, attained));
    default: return constants::kWideShare.value * peak_or(device, type, wide / 16);
  }
}

/// Returns the time of a fused attention over that of a long unmasked forward at head dimension
/// 128; `backward_rate`: rate of a long backward over a forward's.
double attention_slowdown(const step::Operator& op, double backward_rate) {
  const step::OperatorShape& s = op.shape;
  const double all = static_cast<double>(s.queries) * static_cast<double>(s.keys);
  const double left = static_cast<double>(std::max<std::int64_t>(1, s.pairs));
  const bool backward = step::is_backward_phase(op.phase);
  const double cut = backward ? constants::kAttentionBackwardMasked.value : 1;
  const double masked = left < all ? cut * constants::kMaskedKeys.value : 0;
  const double more = backward ? constants::kAttentionBackwardKeys.value : 0;
  const double added =
      (constants::kAttentionKeys.value + more + masked) * static_cast<double>(s.queries);
  constexpr double kHalf = constants::kHeadDimension.value;
  const double dimension = static_cast<double>(std::max<std::int64_t>(1, s.head_dim));
  const double narrow = std::max(1.0, (dimension + kHalf) / dimension * 128 / (128 + kHalf));
  const double back = backward ? 1 / backward_rate : 1;
  return (left + added) / left * narrow * back;
}

/// True if attention computes in the narrow type of a job's products.
bool has_narrow_attention(const plan::Job& job) {
  return job.kernels.narrow_attention &&
         plan::parameter_storage_type(job.precision) != job.precision;
}

/// Returns a grouped product with the rows that its kernels multiply: tiles are padded for each
/// expert.
step::Operator padded(step::Operator op) {
  const double padding = constants::kGroupedPadding.value * static_cast<double>(op.shape.batch);
  op.shape.rows += std::llround(padding);
  return op;
}

/// Returns the number of products that a grouped product is issued as: one, or one for each expert.
double experts_apart(const step::Operator& op, const plan::FrameworkKernels& kernels) {
  const bool apart = op.kind == step::OperatorKind::kGroupedLinear && !kernels.grouped_experts;
  return apart ? static_cast<double>(std::max<std::int64_t>(1, op.shape.batch)) : 1;
}

step::Operator in_phase_of(step::Operator op, OperatorPass pass) {
  op.phase = pass == OperatorPass::kForward ? step::Phase::kForward : step::Phase::kDataGradient;
  return op;
}

/// True for products whose two gradients are measured as one backward.
bool has_two_gradients(OperatorClass what, OperatorPass pass) {
  return what == OperatorClass::kProduct && pass == OperatorPass::kBackward;
}

double unfused_traffic(const step::Operator& op) {
  switch (op.kind) {
    case step::OperatorKind::kNorm:
      return step::is_backward_phase(op.phase) ? constants::kUnfusedNormBackward.value
                                               : constants::kUnfusedNormForward.value;
    case step::OperatorKind::kRotary:
      return step::is_backward_phase(op.phase) ? constants::kUnfusedRotaryBackward.value
                                               : constants::kUnfusedRotaryForward.value;
    case step::OperatorKind::kSoftmax:
      if (op.dtype != DType::kFp32) return constants::kUnfusedSoftmax.value;
      return step::is_backward_phase(op.phase) ? constants::kUnfusedWideSoftmaxBackward.value
                                               : constants::kUnfusedWideSoftmaxForward.value;
    default: return constants::kUnfusedActivation.value;
  }
}

/// Returns the number of kernels of expert biases: a product and a sum for each expert (in the
/// backward two of each), and one copy for all.
double expert_bias_kernels(const step::Operator& op) {
  return (step::is_backward_phase(op.phase) ? 4 : 2) * static_cast<double>(op.shape.batch) + 1;
}

double kernels_of(const step::Operator& op, bool is_run_as_unfused_kernels) {
  if (op.purpose == step::OperatorPurpose::kExpertBias) return expert_bias_kernels(op);
  if (op.purpose == step::OperatorPurpose::kDocumentLoss)
    return static_cast<double>(op.shape.inner);
  return is_run_as_unfused_kernels ? constants::kUnfusedKernels.value : 1;
}

double memory_share(step::OperatorKind kind) {
  switch (kind) {
    case step::OperatorKind::kNorm: return constants::kNormShare.value;
    case step::OperatorKind::kEmbedding: return constants::kEmbeddingShare.value;
    case step::OperatorKind::kUnpack: return constants::kLayoutShare.value;
    default: return constants::kMemoryShare.value;
  }
}

}  // namespace

double attention_peak_share(const cluster::DeviceGeneration& generation,
                            cluster::AttentionKernel kernel) {
  if (kernel == cluster::AttentionKernel::kUnfused) return constants::kUnfusedAttentionShare.value;
  return generation.attention_peak_share[static_cast<std::size_t>(kernel)];
}

double power_limited_peak_share(const cluster::DeviceGeneration& generation,
                                const cluster::DeviceModel& device) {
  const double usual = generation.board_power_w;
  if (device.board_power_w <= 0 || usual <= 0) return 1;
  const double idle = constants::kIdlePower.value * usual;
  const double flops = cluster::dense_sixteen_bit_peak_flops(device);
  const double usual_flops = generation.board_tflops > 0 ? 1e12 * generation.board_tflops : flops;
  const double left =
      std::max(0.05, (device.board_power_w - idle) / (usual - idle)) * usual_flops / flops;
  return std::min(std::pow(left, constants::kPowerExponent.value), constants::kFreeClock.value);
}

double attention_backward_rate_ratio(const cluster::DeviceGeneration& generation,
                                     cluster::AttentionKernel kernel) {
  const double own = generation.attention_backward_rate_ratio[static_cast<std::size_t>(kernel)];
  return own > 0 ? own : constants::kAttentionBackward.value;
}

ComputationCostModel::ComputationCostModel(const plan::Job& job)
    : ComputationCostModel(job, operator_profiles_for(job.cluster.device)) {}

ComputationCostModel::ComputationCostModel(const plan::Job& job,
                                           std::span<const OperatorProfile* const> profiles,
                                           DeviceLoad load)
    : generation_(&cluster::device_generation_of(job.cluster.device)),
      kernels_(job.kernels),
      apart_(plan::framework_defaults(job.framework).apart),
      load_(load),
      attention_speedup_(has_narrow_attention(job) ? generation_->fp8_attention_speedup : 1),
      clock_(load == DeviceLoad::kRunning
                 ? power_limited_peak_share(*generation_, job.cluster.device)
                 : 1),
      device_(job.cluster.device.name),
      peaks_{cluster::dense_sixteen_bit_peak_flops(job.cluster.device),
             job.cluster.device.memory_bandwidth_bytes_per_s} {
  // The fused kernel of scale, mask and softmax runs in 16 bits only (NVIDIA/Megatron-LM
  // megatron/core/fusions/fused_softmax.py, is_kernel_available).
  if (job.precision == DType::kFp32) kernels_.fused_softmax = false;
  set_rates(job.cluster.device);
  for (const Named<OperatorClass>& what : kOperatorClassNames) {
    for (const Named<OperatorPass>& pass : kPassNames) {
      fitted_[index(what.value)][index(pass.value)] = best_fit(what.value, pass.value, profiles);
    }
  }
}

void ComputationCostModel::set_rates(const cluster::DeviceModel& device) {
  const double attention = attention_peak_share(*generation_, kernels_.attention);
  attention_backward_ = attention_backward_rate_ratio(*generation_, kernels_.attention);
  for (const Named<DType>& entry : kDTypeNames) {
    const DType type = entry.value;
    const double flops_per_s = matrix_flops(device, *generation_, kernels_, type);
    rates_.matrix_s_per_flop[index(type)] = 1 / (clock_ * flops_per_s);
    const bool tf32 = in_tf32(kernels_, *generation_, type);
    const bool wide = !tf32 && type != DType::kFp16 && type != DType::kBf16 &&
                      plan::parameter_storage_type(type) == type;
    narrow_speedup_[index(type)] =
        wide ? 0 : flops_per_s / (generation_->matrix_share * peaks_.flops);
    const double tf32_peak = tf32 ? peaks_.flops / generation_->tf32_slowdown : 0;
    const double stated = tf32 ? tf32_peak : peak_or(device, type, peaks_.flops);
    const double peak = plan::parameter_storage_type(type) == type ? stated : peaks_.flops;
    rates_.attention_s_per_flop[index(type)] = 1 / (clock_ * attention_speedup_ * attention * peak);
    peak_flops_[index(type)] = tf32 ? tf32_peak : peak_or(device, type, 0);
  }
  rates_.vector_s_per_flop = 1 / peak_or(device, DType::kFp32, peaks_.flops / 16);
  rates_.memory_s_per_byte = 1 / device.memory_bandwidth_bytes_per_s;
  rates_.start_s = generation_->start_us * 1e-6;
  rates_.launch_s =
      1e-6 * (kernels_.cuda_graphs.step ? constants::kGraphLaunch.value : constants::kLaunch.value);
}

ComputationCostModel::PricingProfileEntry ComputationCostModel::best_fit(
    OperatorClass what, OperatorPass pass, std::span<const OperatorProfile* const> profiles) const {
  for (const OperatorProfile* profile : profiles) {
    const Later<OperatorClassFit>* entry = profile->find(what, pass, kernels_.attention);
    if (entry != nullptr) return {profile, entry, speedup(*profile, what, pass, *entry)};
  }
  return {};
}

/// Returns how much faster the arithmetic of a fit is on this device and job than the fit's share
/// of the peak says: generations and kernels attain different shares, and a running job less than a
/// single kernel.
double ComputationCostModel::speedup(const OperatorProfile& profile, OperatorClass what,
                                     OperatorPass pass,
                                     const Later<OperatorClassFit>& entry) const {
  const cluster::DeviceGeneration& there = *profile.generation;
  if (what == OperatorClass::kAttention) {
    const cluster::AttentionKernel sampled = entry.get().kernel;
    const double backward =
        pass == OperatorPass::kForward
            ? 1
            : attention_backward_ / attention_backward_rate_ratio(there, sampled);
    return backward * clock_ * attention_speedup_ *
           attention_peak_share(*generation_, kernels_.attention) /
           attention_peak_share(there, sampled);
  }
  const double running = load_ == DeviceLoad::kRunning ? generation_->sustained_share : 1;
  return clock_ * running * generation_->matrix_share / there.matrix_share;
}

double ComputationCostModel::matrix_product_rate_factor_of_layout(const step::Operator& op) const {
  const bool slower = generation_->compute_capability == kWarpGroupCapability &&
                      in_tf32(kernels_, *generation_, op.dtype) && !along_inner_dimension(op);
  return slower ? constants::kTransposedTf32.value : 1;
}

double ComputationCostModel::row_sum_share(const step::Operator& op) const {
  const auto runs = [&](plan::UnfusedWork work) { return apart_[static_cast<std::size_t>(work)]; };
  const bool sums =
      op.purpose == step::OperatorPurpose::kOwnCopies && runs(plan::UnfusedWork::kAtomicRowSums);
  const bool products =
      op.purpose == step::OperatorPurpose::kGateGradient && runs(plan::UnfusedWork::kOuterProducts);
  const double elements =
      static_cast<double>(op.shape.rows) * static_cast<double>(op.shape.columns);
  if (elements == 0 || (!sums && !products)) return 1;
  const double share =
      sums ? constants::kAtomicSumShare.value : constants::kOuterProductShare.value;
  return step::operator_flops(op) / elements * share;
}

double ComputationCostModel::arithmetic_s(const step::Operator& op) const {
  const double work = step::operator_flops(op);
  switch (op.kind) {
    // F/rate + start is a rate that saturates: rate * F / (F + start * rate).
    case step::OperatorKind::kLinear:
      return work * rates_.matrix_s_per_flop[index(op.dtype)] /
                 matrix_product_rate_factor_of_layout(op) +
             rates_.start_s;
    case step::OperatorKind::kGroupedLinear:
      return step::operator_flops(padded(op)) * rates_.matrix_s_per_flop[index(op.dtype)] /
                 constants::kGroupedShare.value / matrix_product_rate_factor_of_layout(op) +
             rates_.start_s * experts_apart(op, kernels_);
    case step::OperatorKind::kAttention:
      return work * rates_.attention_s_per_flop[index(op.dtype)] *
                 attention_slowdown(op, attention_backward_) +
             rates_.start_s;
    case step::OperatorKind::kScores:
    case step::OperatorKind::kAttendValues:
      return work * rates_.attention_s_per_flop[index(op.dtype)] /
                 matrix_product_rate_factor_of_layout(op) +
             rates_.start_s;
    case step::OperatorKind::kOrthogonalize:
      return work * rates_.matrix_s_per_flop[index(op.dtype)] +
             step::kMuonMatrixProductsPerUpdate * static_cast<double>(op.shape.rows) *
                 rates_.start_s;
    case step::OperatorKind::kScan:
      // A decay for each element of the state leaves no matrix products (Mamba).
      if (op.purpose == step::OperatorPurpose::kMambaScan) return work * rates_.vector_s_per_flop;
      return work * rates_.vector_s_per_flop / constants::kScanShare.value + rates_.start_s;
    case step::OperatorKind::kUnpermute: return work * rates_.vector_s_per_flop / row_sum_share(op);
    default: return work * rates_.vector_s_per_flop;
  }
}

bool ComputationCostModel::is_run_as_unfused_kernels(const step::Operator& op) const {
  switch (op.kind) {
    case step::OperatorKind::kSoftmax: return !kernels_.fused_softmax;
    case step::OperatorKind::kNorm: return !kernels_.fused_norm;
    case step::OperatorKind::kRotary:
      return op.purpose == step::OperatorPurpose::kScaledRotary ||
             !(kernels_.fused_norm && kernels_.fused_activation);
    case step::OperatorKind::kActivation:
      return op.gated && !(kernels_.fused_norm && kernels_.fused_activation);
    default: return false;
  }
}

double ComputationCostModel::kernel_launch_count(const step::Operator& op) const {
  return kernels_of(op, is_run_as_unfused_kernels(op)) * experts_apart(op, kernels_);
}

double ComputationCostModel::default_s(const step::Operator& op,
                                       bool is_run_as_unfused_kernels) const {
  const double bytes =
      step::device_memory_traffic_bytes(op) * (is_run_as_unfused_kernels ? unfused_traffic(op) : 1);
  const double memory_s = bytes * rates_.memory_s_per_byte / memory_share(op.kind);
  return std::max(arithmetic_s(op), memory_s) +
         kernels_of(op, is_run_as_unfused_kernels) * experts_apart(op, kernels_) * rates_.launch_s;
}

double ComputationCostModel::operator_peak_flops(const step::Operator& op) const {
  const bool narrow = op.kind == step::OperatorKind::kAttention && attention_speedup_ > 1;
  const double stated = peak_flops_[index(narrow ? DType::kFp8 : op.dtype)];
  return stated > 0 ? stated : peaks_.flops;
}

double ComputationCostModel::roofline_lower_bound_s(const step::Operator& op) const {
  return std::max(step::operator_flops(op) / operator_peak_flops(op),
                  step::device_memory_traffic_bytes(op) * rates_.memory_s_per_byte);
}

const ComputationCostModel::PricingProfileEntry* ComputationCostModel::fitted(
    OperatorClass what, OperatorPass pass) const {
  const PricingProfileEntry& fit = fitted_[index(what)][index(pass)];
  return fit.entry == nullptr ? nullptr : &fit;
}

double ComputationCostModel::operator_pass_seconds(OperatorClass what, OperatorPass pass,
                                                   const step::Operator& op) const {
  const PricingProfileEntry* fit = fitted(what, pass);
  if (fit == nullptr) {
    const bool is_run_as_unfused_kernels = what == OperatorClass::kUnfusedNorm ||
                                           what == OperatorClass::kUnfusedRotary ||
                                           what == OperatorClass::kUnfusedSoftmax;
    const int parts = has_two_gradients(what, pass) ? 2 : operators_per_measured_time(what, pass);
    return parts * default_s(in_phase_of(op, pass), is_run_as_unfused_kernels);
  }
  const std::array<double, 2> seconds =
      fitted_kernel_seconds(*fit->profile, fit->entry->get(), op, {peaks_, fit->speedup});
  return std::max(seconds[0] + seconds[1], min_operator_pass_seconds(what, pass, op));
}

double ComputationCostModel::min_operator_pass_seconds(OperatorClass what, OperatorPass pass,
                                                       const step::Operator& op) const {
  const double one_s = roofline_lower_bound_s(in_phase_of(op, pass));
  // One kernel alone moves only this part of the bytes that a program's operators count.
  if (what == OperatorClass::kLoss) return one_s;                 // one pass over the logits
  if (what == OperatorClass::kCausalSoftmax) return 0.5 * one_s;  // half of the scores are masked
  if (what == OperatorClass::kNorm && pass == OperatorPass::kBackward) {
    return 0.75 * one_s;  // without the residual's gradient
  }
  return (has_two_gradients(what, pass) ? 2 : operators_per_measured_time(what, pass)) * one_s;
}

/// Trees are not used for products that share a launch, nor for rows that routing decides, whose
/// numbers are means.
FittedTimeConditions ComputationCostModel::use_of(const PricingProfileEntry& fit,
                                                  const step::Operator& op) const {
  // Unfused attention multiplies in the storage type, also in TF32.
  const bool own_rate =
      fit.entry->get().what == OperatorClass::kProduct || in_tf32(kernels_, *generation_, op.dtype);
  const double rate =
      own_rate ? narrow_speedup_[index(op.dtype)] * matrix_product_rate_factor_of_layout(op) : 1;
  return {peaks_, fit.speedup * rate, !op.routed, load_ == DeviceLoad::kRunning};
}

std::optional<double> ComputationCostModel::fitted_s(const step::Operator& op) const {
  const std::optional<OperatorClass> what = priced_operator_class(op, kernels_);
  if (!what) return std::nullopt;
  const OperatorPass pass = forward_or_backward_of_phase(op.phase);
  const PricingProfileEntry* fit = fitted(*what, pass);
  const bool narrow = narrow_speedup_[index(op.dtype)] > 0;
  if (fit == nullptr || (can_be_compute_bound(*what) && !narrow)) return std::nullopt;
  const auto kernel_seconds = [&](const step::Operator& kernels) {
    return fitted_kernel_seconds(*fit->profile, fit->entry->get(), kernels, use_of(*fit, op));
  };
  const bool grouped = op.kind == step::OperatorKind::kGroupedLinear;
  std::array<double, 2> seconds = grouped ? kernel_seconds(padded(op)) : kernel_seconds(op);
  if (has_two_gradients(*what, pass)) {
    seconds = {seconds[op.phase == step::Phase::kWeightGradient ? 1 : 0], 0};
  }
  return (seconds[0] + seconds[1]) / operators_per_measured_time(*what, pass) /
         (grouped ? constants::kGroupedShare.value : 1);
}

double ComputationCostModel::unrouted_s(const step::Operator& op) const {
  const std::optional<double> fit_s = fitted_s(op);
  return std::max(fit_s ? *fit_s : default_s(op, is_run_as_unfused_kernels(op)),
                  roofline_lower_bound_s(op));
}

double ComputationCostModel::operator_run_seconds(const step::Operator& op) const {
  if (op.busiest_rank_load_factor() <= 1) return unrouted_s(op);
  step::Operator busiest = op;
  busiest.shape.rows =
      std::llround(op.busiest_rank_load_factor() * static_cast<double>(op.shape.rows));
  return unrouted_s(busiest);
}

double ComputationCostModel::min_operator_seconds(const step::Operator& op) const {
  const std::optional<OperatorClass> what = priced_operator_class(op, kernels_);
  const PricingProfileEntry* fit =
      what ? fitted(*what, forward_or_backward_of_phase(op.phase)) : nullptr;
  const double work = step::operator_flops(op) * op.busiest_rank_load_factor();
  const std::size_t type = index(op.dtype);
  double least_s = 0;
  if (fit != nullptr && narrow_speedup_[type] > 0) {
    least_s = min_seconds_by_fitted_model(fit->entry->get(), work, use_of(*fit, op));
  } else if (op.kind == step::OperatorKind::kAttention) {
    least_s = work * rates_.attention_s_per_flop[type];
  } else {
    least_s = work * rates_.matrix_s_per_flop[type];
  }
  return std::max(least_s, work / operator_peak_flops(op));
}

std::string ComputationCostModel::outside_fitted_range_text(const step::Operator& op) const {
  const std::optional<OperatorClass> what = priced_operator_class(op, kernels_);
  const PricingProfileEntry* fit =
      what ? fitted(*what, forward_or_backward_of_phase(op.phase)) : nullptr;
  return fit == nullptr ? std::string()
                        : stepwright::cost::outside_fitted_range_text(fit->entry->get(), op);
}

std::optional<std::string> ComputationCostModel::operator_profile_names() const {
  std::vector<std::string> names;
  for (const auto& of_class : fitted_) {
    for (const PricingProfileEntry& fit : of_class) {
      if (fit.profile == nullptr) continue;
      const bool own = fit.profile->device == device_;
      std::string name = own ? fit.profile->name : fmt::format("{} (scaled)", fit.profile->name);
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  }
  if (names.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace stepwright::cost
