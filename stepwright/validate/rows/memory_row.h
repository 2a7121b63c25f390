#pragma once

#include <variant>

#include "stepwright/core/named.h"
#include "stepwright/validate/rows/label_conflict.h"
#include "stepwright/validate/rows/row_prediction.h"

namespace stepwright::validate {

/// How a row of memory was measured.
enum class PeakKind : std::uint8_t {
  kFits,       ///< A label that says that the run fitted.
  kOom,        ///< A label that says that the run did not fit.
  kAllocated,  ///< The most that tensors took (torch.cuda.max_memory_allocated).
  kReserved,   ///< Bytes that the caching allocator held.
  kProcess,    ///< Bytes that nvidia-smi shows: the process with its context.
};

inline constexpr Named<PeakKind> kPeakKindNames[] = {{PeakKind::kFits, "fits"},
                                                     {PeakKind::kOom, "oom"},
                                                     {PeakKind::kAllocated, "allocated"},
                                                     {PeakKind::kReserved, "reserved"},
                                                     {PeakKind::kProcess, "process"}};

/// A row of memory, predicted.
struct MemoryResult {
  PeakKind kind{};
  RowResult row;  ///< Bytes; a label has no measured value.
  double capacity_bytes = 0;
  Label label;  ///< Label of the row, predicted.
  [[nodiscard]] bool fits() const { return row.predicted <= capacity_bytes; }
  [[nodiscard]] bool is_label() const { return kind == PeakKind::kFits || kind == PeakKind::kOom; }
};

/// The peak of the fullest stage of a row, in the sense of its kind.
std::variant<MemoryResult, Skipped> predict_memory(const RunRow& row);

}  // namespace stepwright::validate
