#include "stepwright/cost/compute_cost.h"

#include <algorithm>
#include <cmath>

#include "stepwright/cost/device_defaults.h"
#include "stepwright/step/work.h"

namespace stepwright {
namespace {

std::size_t index(DType type) { return static_cast<std::size_t>(type); }

double peak_or(const Device& device, DType type, double otherwise) {
  const auto peak = device.peak_flops.find(type);
  return peak == device.peak_flops.end() ? otherwise : peak->second;
}

/// FLOP/s that large matrix products of a type reach.
double matrix_flops(const Device& device, const DeviceDefaults& defaults, DType type) {
  const double wide = sixteen_bit_flops(device);
  const double attained = defaults.matrix_share * wide;
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

/// Time of a fused attention over that of a long unmasked one at head dimension 128.
double attention_slowdown(const Operator& op) {
  const Shape& s = op.shape;
  const double all = static_cast<double>(s.queries) * static_cast<double>(s.keys);
  const double left = static_cast<double>(std::max<std::int64_t>(1, s.pairs));
  const double masked = left < all ? constants::kMaskedKeys.value : 0;
  const double added = (constants::kAttentionKeys.value + masked) * static_cast<double>(s.queries);
  constexpr double kHalf = constants::kHeadDimension.value;
  const double dimension = static_cast<double>(std::max<std::int64_t>(1, s.head_dim));
  const double narrow = std::max(1.0, (dimension + kHalf) / dimension * 128 / (128 + kHalf));
  const double back = is_backward(op.phase) ? 1 / constants::kAttentionBackward.value : 1;
  return (left + added) / left * narrow * back;
}

double grouped_slowdown(const Shape& shape) {
  const double padding = constants::kGroupedPadding.value * static_cast<double>(shape.batch);
  const double rows = static_cast<double>(std::max<std::int64_t>(1, shape.rows));
  return (rows + padding) / rows / constants::kGroupedShare.value;
}

bool has_unfused_form(const Operator& op) {
  return op.kind == OperatorKind::kNorm || op.kind == OperatorKind::kRotary ||
         (op.kind == OperatorKind::kActivation && op.gated);
}

double unfused_traffic(const Operator& op) {
  switch (op.kind) {
    case OperatorKind::kNorm:
      return is_backward(op.phase) ? constants::kUnfusedNormBackward.value
                                   : constants::kUnfusedNormForward.value;
    case OperatorKind::kRotary:
      return is_backward(op.phase) ? constants::kUnfusedRotaryBackward.value
                                   : constants::kUnfusedRotaryForward.value;
    default: return constants::kUnfusedActivation.value;
  }
}

double memory_share(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::kNorm: return constants::kNormShare.value;
    case OperatorKind::kEmbedding: return constants::kEmbeddingShare.value;
    default: return constants::kMemoryShare.value;
  }
}

}  // namespace

ComputeCost::ComputeCost(const Job& job) : imbalance_(job.imbalance) {
  const Device& device = job.cluster.device;
  const DeviceDefaults& defaults = device_defaults(device);
  const double wide = sixteen_bit_flops(device);
  const double attention = attention_share(defaults, job.kernels.attention);
  for (const Named<DType>& entry : kDTypeNames) {
    const DType type = entry.value;
    rates_.matrix_s_per_flop[index(type)] = 1 / matrix_flops(device, defaults, type);
    const double peak = storage_type(type) == type ? peak_or(device, type, wide) : wide;
    rates_.attention_s_per_flop[index(type)] = 1 / (attention * peak);
  }
  rates_.vector_s_per_flop = 1 / peak_or(device, DType::kFp32, wide / 16);
  rates_.memory_s_per_byte = 1 / device.memory_bandwidth_bytes_per_s;
  rates_.start_s = defaults.start_us * 1e-6;
  rates_.launch_s =
      1e-6 * (job.kernels.cuda_graphs ? constants::kGraphLaunch.value : constants::kLaunch.value);
  rates_.fused_norm = job.kernels.fused_norm;
}

double ComputeCost::arithmetic_s(const Operator& op) const {
  const double work = flops(op);
  switch (op.kind) {
    // F/rate + start is a rate that saturates: rate * F / (F + start * rate).
    case OperatorKind::kLinear:
      return work * rates_.matrix_s_per_flop[index(op.dtype)] + rates_.start_s;
    case OperatorKind::kGroupedLinear:
      return work * rates_.matrix_s_per_flop[index(op.dtype)] * grouped_slowdown(op.shape) +
             rates_.start_s;
    case OperatorKind::kAttention:
      return work * rates_.attention_s_per_flop[index(op.dtype)] * attention_slowdown(op) +
             rates_.start_s;
    case OperatorKind::kScores:
    case OperatorKind::kAttendValues:
      return work * rates_.attention_s_per_flop[index(op.dtype)] + rates_.start_s;
    default: return work * rates_.vector_s_per_flop;
  }
}

double ComputeCost::memory_s(const Operator& op) const {
  const bool unfused = !rates_.fused_norm && has_unfused_form(op);
  const double bytes = memory_bytes(op) * (unfused ? unfused_traffic(op) : 1);
  return bytes * rates_.memory_s_per_byte / memory_share(op.kind);
}

double ComputeCost::seconds(const Operator& op) const {
  if (op.routed && imbalance_ > 1) {
    Operator busiest = op;
    busiest.routed = false;
    busiest.shape.rows = std::llround(imbalance_ * static_cast<double>(op.shape.rows));
    return seconds(busiest);
  }
  const bool many = !rates_.fused_norm && has_unfused_form(op);
  const double kernels = many ? constants::kUnfusedKernels.value : 1;
  return std::max(arithmetic_s(op), memory_s(op)) + kernels * rates_.launch_s;
}

}  // namespace stepwright
