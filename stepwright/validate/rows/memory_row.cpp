#include "stepwright/validate/rows/memory_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/memory/memory.h"
#include "stepwright/validate/rows/row_plan.h"

namespace stepwright::validate {
namespace {

/// The part of a stage's peak that a kind of measurement sees: a process holds everything; the
/// caching allocator holds the tensors with their rounding; the tensors themselves are less.
double seen_bytes(const memory::StageMemory& stage, const memory::Reserve& reserve, PeakKind kind) {
  const double margin = stage.kinds[static_cast<std::size_t>(memory::MemoryKind::kReserve)];
  if (kind == PeakKind::kAllocated) return stage.peak_bytes - margin;
  return kind == PeakKind::kReserved ? stage.peak_bytes - reserve.fixed_bytes : stage.peak_bytes;
}

/// The stage that holds most, or least where a row means the smallest rank, in the sense of a kind
/// of measurement.
void set_peak(RowResult& row, const memory::MemoryReport& report, const memory::Reserve& reserve,
              PeakKind kind, bool smallest) {
  for (const memory::StageMemory& stage : report.stages) {
    const double bytes = seen_bytes(stage, reserve, kind);
    const bool better = smallest ? bytes < row.predicted : bytes > row.predicted;
    if (row.predicted > 0 && !better) continue;
    row.predicted = bytes;
    row.terms.clear();
    for (const auto& [part, name] : memory::kMemoryKindNames) {
      row.terms.emplace_back(name, stage.kinds[static_cast<std::size_t>(part)]);
    }
  }
}

}  // namespace

std::variant<MemoryResult, Skipped> predict_memory(const RunRow& row) {
  const auto* const kind = std::ranges::find(kPeakKindNames, row.peak, &Named<PeakKind>::name);
  if (kind == std::end(kPeakKindNames)) return Skipped{"kind of peak not stated"};
  auto made = row_plan(row);
  if (auto* skipped = std::get_if<Skipped>(&made)) return *skipped;
  auto& [planned, notes] = std::get<RowPlan>(made);
  MemoryResult result{.kind = kind->value};
  if (!result.is_label() && !row.memory_gib) return Skipped{"nothing measured"};
  try {
    const memory::MemoryReport report =
        memory::memory_report(planned.job, step::build_program(planned.job, planned.plan));
    result.capacity_bytes = report.capacity_bytes;
    result.row = {.id = row.id,
                  .measured = row.memory_gib.value_or(0) * kGib,
                  .notes = std::move(notes),
                  .groups = row_groups(row, planned),
                  .capacity_bytes = report.capacity_bytes,
                  .p_fits = report.p_fits};
    set_peak(result.row, report, memory::framework_reserve(planned.job), result.kind,
             row.peak_of == "least");
    if (result.is_label()) {
      result.label = label_of(row.id, planned, row.gpu);
      result.label.fits = result.kind == PeakKind::kFits;
      result.label.capacity_bytes = report.capacity_bytes;
    } else {
      result.row.error = result.row.predicted / result.row.measured - 1;
    }
    return result;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRuntime) throw;
    return Skipped{fmt::format("no program: {}", error.what())};
  }
}

}  // namespace stepwright::validate
