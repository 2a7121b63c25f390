#include "stepwright/process_group/requests.h"

namespace stepwright::process_group {
namespace {

double premultiplied_by(const c10d::ReduceOp& op) {
  const auto* supplement = static_cast<const c10d::PreMulSumSupplement*>(op.supplement_.get());
  if (supplement == nullptr) return 1;
  if (supplement->tensor_factor.defined()) return supplement->tensor_factor.item<double>();
  return supplement->double_factor;
}

}  // namespace

std::optional<transport::ReductionElementType> transport_element_type(at::ScalarType type) {
  switch (type) {
    case at::kDouble: return transport::ReductionElementType::kFloat64;
    case at::kFloat: return transport::ReductionElementType::kFloat32;
    case at::kHalf: return transport::ReductionElementType::kFloat16;
    case at::kBFloat16: return transport::ReductionElementType::kBfloat16;
    case at::kLong: return transport::ReductionElementType::kInt64;
    case at::kInt: return transport::ReductionElementType::kInt32;
    case at::kShort: return transport::ReductionElementType::kInt16;
    case at::kChar: return transport::ReductionElementType::kInt8;
    case at::kByte: return transport::ReductionElementType::kUint8;
    default: return {};
  }
}

std::optional<TransportReduction> transport_reduction_of(const c10d::ReduceOp& op,
                                                         at::ScalarType type) {
  const std::optional<transport::ReductionElementType> element = transport_element_type(type);
  if (!element) return {};
  TransportReduction known{.reduction = {.type = *element}};
  switch (op.op_) {
    case c10d::ReduceOp::SUM: return known;
    case c10d::ReduceOp::MIN: known.reduction.kind = transport::ReduceKind::kMin; return known;
    case c10d::ReduceOp::MAX: known.reduction.kind = transport::ReduceKind::kMax; return known;
    case c10d::ReduceOp::AVG: known.average = true; break;
    case c10d::ReduceOp::PREMUL_SUM: known.factor = premultiplied_by(op); break;
    default: return {};
  }
  if (!transport::is_floating_point_type(*element)) return {};
  return known;
}

const char* reduction_name(const c10d::ReduceOp& op) {
  switch (op.op_) {
    case c10d::ReduceOp::SUM: return "sum";
    case c10d::ReduceOp::MIN: return "minimum";
    case c10d::ReduceOp::MAX: return "maximum";
    case c10d::ReduceOp::AVG: return "average";
    case c10d::ReduceOp::PREMUL_SUM: return "premultiplied sum";
    default: return "other reduction";
  }
}

}  // namespace stepwright::process_group
