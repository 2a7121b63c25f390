#include "stepwright/process_group/requests.h"

namespace stepwright {
namespace {

double premultiplied_by(const c10d::ReduceOp& op) {
  const auto* supplement = static_cast<const c10d::PreMulSumSupplement*>(op.supplement_.get());
  if (supplement == nullptr) return 1;
  if (supplement->tensor_factor.defined()) return supplement->tensor_factor.item<double>();
  return supplement->double_factor;
}

}  // namespace

std::optional<ElementType> element_type(at::ScalarType type) {
  switch (type) {
    case at::kDouble: return ElementType::kFloat64;
    case at::kFloat: return ElementType::kFloat32;
    case at::kHalf: return ElementType::kFloat16;
    case at::kBFloat16: return ElementType::kBfloat16;
    case at::kLong: return ElementType::kInt64;
    case at::kInt: return ElementType::kInt32;
    case at::kShort: return ElementType::kInt16;
    case at::kChar: return ElementType::kInt8;
    case at::kByte: return ElementType::kUint8;
    default: return {};
  }
}

std::optional<KnownReduction> known_reduction(const c10d::ReduceOp& op, at::ScalarType type) {
  const std::optional<ElementType> element = element_type(type);
  if (!element) return {};
  KnownReduction known{.reduction = {.type = *element}};
  switch (op.op_) {
    case c10d::ReduceOp::SUM: return known;
    case c10d::ReduceOp::MIN: known.reduction.kind = ReduceKind::kMin; return known;
    case c10d::ReduceOp::MAX: known.reduction.kind = ReduceKind::kMax; return known;
    case c10d::ReduceOp::AVG: known.average = true; break;
    case c10d::ReduceOp::PREMUL_SUM: known.factor = premultiplied_by(op); break;
    default: return {};
  }
  if (!is_floating(*element)) return {};
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

}  // namespace stepwright
