#include "stepwright/cli/breakdown_text.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/simulate/breakdown_terms.h"

namespace stepwright::cli {
namespace {

std::string signed_time(double seconds) { return (seconds > 0 ? "+" : "") + format_time(seconds); }

/// Names of the kinds of computation, in the order of their enumeration.
constexpr std::array<std::string_view, simulate::kComputeKinds> kComputationNames = {
    "matrix products",      "attention",         "matrix products of experts", "routing of tokens",
    "memory-bound kernels", "embedding and head"};

/// Calls `add(name, seconds before, seconds after)` for each term and, below computation, for each
/// of its kinds; terms that are zero in both are left out.
template <class Add>
void each_row(const simulate::StageTimeBreakdown& before, const simulate::StageTimeBreakdown& after,
              Add&& add) {
  const auto olds = simulate::breakdown_terms(before);
  const auto news = simulate::breakdown_terms(after);
  const auto add_some = [&](const std::string& name, double old_s, double new_s) {
    if (old_s != 0 || new_s != 0) add(name, old_s, new_s);
  };
  for (std::size_t i = 0; i < olds.size(); ++i) {
    add_some(simulate::kTermNames[i], olds[i], news[i]);
    if (i > 0) continue;
    for (std::size_t kind = 0; kind < simulate::kComputeKinds; ++kind) {
      add_some(fmt::format("  {}", kComputationNames[kind]), before.computation[kind],
               after.computation[kind]);
    }
    add_some("  of all these, recomputation", before.recomputation_s(), after.recomputation_s());
  }
}

std::vector<std::string> difference_row(std::string_view name, double before, double after) {
  constexpr double kRounding = 1e-9;  // differences caused by summing in another order
  if (std::abs(after - before) <= kRounding * before) after = before;
  const std::string share =
      before > 0 ? (after > before ? "+" : "") + format_percent((after - before) / before)
                 : std::string("-");
  return {std::string(name), format_time(before), format_time(after), signed_time(after - before),
          share};
}

}  // namespace

std::string step_time_breakdown_text(const simulate::StageTimeBreakdown& breakdown) {
  TextTable table{.columns = {{"where the time goes"},
                              {"time", ColumnAlignment::kRight},
                              {"share", ColumnAlignment::kRight}},
                  .rows = {}};
  const double total = breakdown.total();
  each_row(breakdown, breakdown, [&](const std::string& name, double seconds, double) {
    table.rows.push_back({name, format_time(seconds), format_percent(seconds / total)});
  });
  return format_text_table(table);
}

std::string step_time_difference_text(const simulate::StageTimeBreakdown& before,
                                      const simulate::StageTimeBreakdown& after) {
  TextTable table{.columns = {{"where the time goes"},
                              {"before", ColumnAlignment::kRight},
                              {"after", ColumnAlignment::kRight},
                              {"difference", ColumnAlignment::kRight},
                              {"change", ColumnAlignment::kRight}},
                  .rows = {}};
  each_row(before, after, [&](const std::string& name, double old_s, double new_s) {
    table.rows.push_back(difference_row(name, old_s, new_s));
  });
  table.rows.push_back(difference_row("step", before.total(), after.total()));
  return format_text_table(table);
}

}  // namespace stepwright::cli
