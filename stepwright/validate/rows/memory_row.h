#pragma once

#include <variant>

#include "stepwright/core/named.h"
#include "stepwright/validate/rows/label_conflict.h"
#include "stepwright/validate/rows/row_prediction.h"

namespace stepwright::validate {

/// The measure of memory that a row gives.
enum class PeakKind : std::uint8_t {
  kFits,       ///< A label: the run fitted in memory.
  kOom,        ///< A label: the run did not fit in memory.
  kAllocated,  ///< Peak bytes of tensors (torch.cuda.max_memory_allocated).
  kReserved,   ///< Bytes reserved by the caching allocator.
  kProcess,    ///< Bytes of the process in nvidia-smi, including its context.
};

inline constexpr Named<PeakKind> kPeakKindNames[] = {{PeakKind::kFits, "fits"},
                                                     {PeakKind::kOom, "oom"},
                                                     {PeakKind::kAllocated, "allocated"},
                                                     {PeakKind::kReserved, "reserved"},
                                                     {PeakKind::kProcess, "process"}};

/// The prediction for a memory row.
struct MemoryResult {
  PeakKind kind{};
  RowResult row;  ///< Result in bytes; the measured value is absent for labels.
  double capacity_bytes = 0;
  FitLabel label;  ///< The row's label, with the predicted verdict.
  [[nodiscard]] bool fits() const { return row.predicted <= capacity_bytes; }
  [[nodiscard]] bool is_label() const { return kind == PeakKind::kFits || kind == PeakKind::kOom; }
};

/// Predicts the peak memory of the row's fullest stage, in the measure that the row gives.
std::variant<MemoryResult, Skipped> predict_memory(const RunRow& row);

}  // namespace stepwright::validate
