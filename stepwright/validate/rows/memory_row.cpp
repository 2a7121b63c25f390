#include "stepwright/validate/rows/memory_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/memory/allocated.h"
#include "stepwright/memory/memory.h"
#include "stepwright/validate/rows/row_plan.h"

namespace stepwright::validate {
namespace {

/// Returns the part of each stage's peak that a kind of measurement sees: for a process everything;
/// for the caching allocator the tensors with rounding; for tensors less.
std::vector<double> seen_bytes(const plan::Job& job, const step::StepProgram& program,
                               const memory::MemoryReport& report, MeasuredMemoryKind kind) {
  std::vector<double> seen;
  if (kind == MeasuredMemoryKind::kAllocated) {
    for (const memory::PyTorchAllocatedMemory& stage :
         memory::pytorch_allocated_memory(job, program)) {
      seen.push_back(stage.peak_bytes);
    }
    return seen;
  }
  const double outside =
      kind == MeasuredMemoryKind::kReserved ? memory::framework_memory_reserve(job).fixed_bytes : 0;
  for (const memory::StageMemory& stage : report.stages) seen.push_back(stage.peak_bytes - outside);
  return seen;
}

/// Sets the row's peak to that of the stage with the most `seen` bytes, or with the least if the
/// row is about the smallest rank.
void set_peak(TableRowPrediction& row, const memory::MemoryReport& report,
              const std::vector<double>& seen, bool smallest) {
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const bool better = smallest ? seen[i] < row.predicted : seen[i] > row.predicted;
    if (row.predicted > 0 && !better) continue;
    const memory::StageMemory& stage = report.stages[i];
    row.predicted = seen[i];
    row.terms.clear();
    for (const auto& [part, name] : memory::kMemoryKindNames) {
      row.terms.emplace_back(name, stage.kinds[static_cast<std::size_t>(part)]);
    }
  }
}

}  // namespace

std::variant<MemoryResult, SkippedRowReason> predict_row_memory(const PublishedRunRow& row) {
  const auto* const kind =
      std::ranges::find(kPeakKindNames, row.peak, &Named<MeasuredMemoryKind>::name);
  if (kind == std::end(kPeakKindNames)) return SkippedRowReason{"kind of peak not stated"};
  auto made = job_and_plan_of_row(row);
  if (auto* skipped = std::get_if<SkippedRowReason>(&made)) return *skipped;
  auto& [planned, notes] = std::get<TableRowPlan>(made);
  MemoryResult result{.kind = kind->value};
  if (!result.is_label() && !row.memory_gib) return SkippedRowReason{"nothing measured"};
  try {
    const step::StepProgram program = step::build_step_program(planned.job, planned.plan);
    const memory::MemoryReport report = memory::memory_report(planned.job, program);
    result.capacity_bytes = report.capacity_bytes;
    result.row = {.id = row.id,
                  .measured = row.memory_gib.value_or(0) * kBytesPerGib,
                  .notes = std::move(notes),
                  .groups = error_group_keys_of_row(row, planned),
                  .capacity_bytes = report.capacity_bytes,
                  .p_fits = report.p_fits};
    set_peak(result.row, report, seen_bytes(planned.job, program, report, result.kind),
             row.peak_of == "least");
    if (result.is_label()) {
      result.label = memory_fit_label(row.id, planned, row.gpu);
      result.label.fits = result.kind == MeasuredMemoryKind::kFits;
      result.label.capacity_bytes = report.capacity_bytes;
    } else {
      result.row.error = result.row.predicted / result.row.measured - 1;
    }
    return result;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRuntime) throw;
    return SkippedRowReason{fmt::format("no program: {}", error.what())};
  }
}

}  // namespace stepwright::validate
