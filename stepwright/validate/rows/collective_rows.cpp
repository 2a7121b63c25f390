#include <fmt/format.h>

#include <optional>
#include <string>

#include "stepwright/core/error.h"
#include "stepwright/fit/collectives/machine_fit.h"
#include "stepwright/validate/rows/exchange_rows.h"
#include "stepwright/validate/rows/run_row.h"
#include "stepwright/validate/rows/sample_machines.h"
#include "stepwright/validate/rows/sample_rows.h"
#include "stepwright/validate/rows/sample_table.h"

namespace stepwright::validate {
namespace {

/// Formats the layout of a sample: "2x4", or "2x4 stride 8".
std::string layout_of(const fit::CollectiveSample& sample, const CsvTable& table,
                      const CsvRow& row) {
  const auto stride = table.column("stride");
  if (!stride || row.cells[*stride].empty()) return sample.nodes_by_ranks_text();
  return fmt::format("{} stride {}", sample.nodes_by_ranks_text(), row.cells[*stride]);
}

/// Returns a remark about the prediction of a sample; empty: none.
std::string remark_on(fit::SamplePredictor& predictor, const fit::CollectiveSample& sample) {
  const std::optional<std::string> fit = predictor.fit(sample);
  if (!fit) return "no fit: documented defaults";
  std::string text = *fit == sample.machine->name ? "" : fmt::format("by the fit of {}", *fit);
  const std::string outside = predictor.outside_fitted_range_text(sample);
  if (outside.empty()) return text;
  return text +
         fmt::format("{}outside of the measured sizes: {}", text.empty() ? "" : "; ", outside);
}

TableRowPrediction result_of(const fit::CollectiveSample& sample, const CsvTable& table,
                             fit::SamplePredictor& predictor) {
  const CsvRow& row = table.rows[table_row_index_at_line(table, sample.line)];
  const TableRowName name = row_name(table, row);
  const double predicted = predictor.seconds(sample);
  TableRowPrediction result{
      .id = name.id,
      .predicted = predicted,
      .measured = sample.seconds,
      .error = predicted / sample.seconds - 1,
      .groups = {name.source, std::string(sample.machine->name),
                 std::string(name_of(cost::kCollectiveNames, sample.operation)),
                 layout_of(sample, table, row), message_size_decade(sample.payload_bytes)}};
  const std::string remark = remark_on(predictor, sample);
  if (!remark.empty()) result.notes.push_back(remark);
  return result;
}

void predict_machine(const CsvTable& whole, const fit::CollectiveSampleTable& read,
                     fit::SamplePredictor& predictor, std::vector<TableRowOutcome>& outcomes) {
  std::vector<fit::DroppedSampleRow> dropped = read.dropped;
  for (const fit::MachineCollectiveSamples& machine :
       fit::collective_samples_by_machine(read.samples, dropped)) {
    for (const fit::CollectiveSample* sample : machine.samples) {
      outcomes[table_row_index_at_line(whole, sample->line)].results = {
          result_of(*sample, whole, predictor)};
    }
  }
  for (const fit::DroppedSampleRow& row : dropped) {
    outcomes[table_row_index_at_line(whole, row.line)].skipped =
        SkippedRowReason{row.skip_reason_without_numbers(), row.reason};
  }
}

}  // namespace

std::vector<TableRowOutcome> predict_collective_times(const CsvTable& table,
                                                      const std::string& profile) {
  const bool says = table.column("collective") && table.column("gpu");
  std::vector<TableRowOutcome> outcomes(table.rows.size());
  CollectiveMachineFinder machines;
  for (const auto& [name, of_name] : divide_rows_by_machine(table, profile, says)) {
    const fit::SampledMachine* machine = nullptr;
    SkippedRowReason refusal{says || !name.empty() ? "" : "no machine: `cluster` is empty"};
    try {
      machine = machines.machine_by_name(name);
    } catch (const Error& error) {
      if (!profile.empty()) throw;
      refusal = {fmt::format("no machine: {}", name), error.what()};
    }
    if (refusal.reason.empty()) {
      predict_machine(table, fit::read_collective_samples(of_name, machine), machines.predictor(),
                      outcomes);
      continue;
    }
    for (const CsvRow& row : of_name.rows) {
      outcomes[table_row_index_at_line(table, row.line)].skipped = refusal;
    }
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (measures_expert_exchange(table, table.rows[i]))
      outcomes[i] = predict_expert_exchange(table, table.rows[i]);
  }
  return outcomes;
}

}  // namespace stepwright::validate
