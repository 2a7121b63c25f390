#pragma once

#include <variant>

#include "stepwright/core/named.h"
#include "stepwright/validate/rows/label_conflict.h"
#include "stepwright/validate/rows/row_prediction.h"

namespace stepwright::validate {

/// Kind of statement in a row of measured memory: whether the run fitted, or one of several peaks.
enum class MeasuredMemoryKind : std::uint8_t {
  kFits,       ///< The run fitted in memory; no bytes are given.
  kOom,        ///< The run ran out of memory; no bytes are given.
  kAllocated,  ///< Peak bytes of allocated tensors (torch.cuda.max_memory_allocated).
  /// Peak bytes reserved by PyTorch's caching allocator (torch.cuda.max_memory_reserved).
  kReserved,
  kProcess,  ///< Bytes of the process in nvidia-smi, including CUDA's context.
};

inline constexpr Named<MeasuredMemoryKind> kPeakKindNames[] = {
    {MeasuredMemoryKind::kFits, "fits"},
    {MeasuredMemoryKind::kOom, "oom"},
    {MeasuredMemoryKind::kAllocated, "allocated"},
    {MeasuredMemoryKind::kReserved, "reserved"},
    {MeasuredMemoryKind::kProcess, "process"}};

/// The prediction for a row of measured memory.
struct MemoryResult {
  MeasuredMemoryKind kind{};
  /// Predicted and measured bytes; the measured value is absent if the row states only whether the
  /// run fitted.
  TableRowPrediction row;
  double capacity_bytes = 0;
  /// Whether the run fitted according to the row, and according to the prediction.
  MemoryFitLabel label;
  [[nodiscard]] bool fits() const { return row.predicted <= capacity_bytes; }
  [[nodiscard]] bool is_label() const {
    return kind == MeasuredMemoryKind::kFits || kind == MeasuredMemoryKind::kOom;
  }
};

/// Predicts the peak memory of the fullest stage of a row's run, by the measure that the row
/// states.
std::variant<MemoryResult, SkippedRowReason> predict_row_memory(const PublishedRunRow& row);

}  // namespace stepwright::validate
