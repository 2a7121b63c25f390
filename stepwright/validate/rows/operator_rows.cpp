#include <fmt/format.h>

#include <map>
#include <tuple>

#include "stepwright/core/error.h"
#include "stepwright/validate/rows/run_row.h"
#include "stepwright/validate/rows/sample_machines.h"
#include "stepwright/validate/rows/sample_rows.h"
#include "stepwright/validate/rows/sample_table.h"

namespace stepwright::validate {
namespace {

/// Returns the class of a lower bound of the time (FLOPs and bytes at their peak rates), for groups
/// of errors.
std::string floor_class(double floor_s) {
  const double floor_us = 1e6 * floor_s;
  for (const double from : {1e4, 1e3, 1e2, 1e1}) {
    if (floor_us >= from) return fmt::format("from {:.0f} us", from);
  }
  return "from 0 us";
}

/// One direction (forward or backward) of a sample.
struct TimedPass {
  const fit::OperatorSample* sample = nullptr;
  cost::OperatorPass pass{};
  OperatorTimeMachine* machine = nullptr;
  double measured_s = 0;
  double floor_s = 0;

  [[nodiscard]] bool impossible() const {
    return measured_s < fit::kImpossibleOperatorTimeShare * floor_s;
  }
};

/// Predicts the rows of a table that were measured on one machine.
class OperatorRows {
 public:
  OperatorRows(const CsvTable& whole, std::vector<TableRowOutcome>& outcomes)
      : whole_(whole), outcomes_(outcomes) {}

  void predict(const fit::OperatorSampleTable& read, const std::string& machine,
               OperatorMachineFinder& machines);

 private:
  TableRowOutcome& outcome(std::size_t line) {
    return outcomes_[table_row_index_at_line(whole_, line)];
  }
  void skip(const std::vector<fit::UnusableOperatorRow>& rows);
  void add(const fit::OperatorSample& sample, OperatorTimeMachine& machine);
  void judge(const TimedPass& timed);
  [[nodiscard]] SkippedRowReason fault(const TimedPass& timed, double predicted_s) const;

  const CsvTable& whole_;
  std::vector<TableRowOutcome>& outcomes_;
  std::vector<TimedPass> passes_;
  /// For each device, operator and direction: number of impossible rows, number of all rows.
  std::map<std::tuple<std::string, std::string, cost::OperatorPass>,
           std::pair<std::size_t, std::size_t>>
      series_;
};

void OperatorRows::skip(const std::vector<fit::UnusableOperatorRow>& rows) {
  for (const fit::UnusableOperatorRow& row : rows)
    outcome(row.line).skipped = SkippedRowReason{row.reason, row.detail};
}

void OperatorRows::add(const fit::OperatorSample& sample, OperatorTimeMachine& machine) {
  for (const Named<cost::OperatorPass>& pass : cost::kPassNames) {
    const auto& measured =
        pass.value == cost::OperatorPass::kForward ? sample.forward_s : sample.backward_s;
    if (!measured) continue;
    const double floor_s =
        machine.cost(sample.kernel).min_operator_pass_seconds(sample.what, pass.value, sample.op);
    passes_.push_back({&sample, pass.value, &machine, *measured, floor_s});
    auto& [impossible, all] = series_[{machine.device(), sample.name, pass.value}];
    impossible += passes_.back().impossible() ? 1 : 0;
    ++all;
  }
}

SkippedRowReason OperatorRows::fault(const TimedPass& timed, double predicted_s) const {
  if (timed.impossible()) {
    return {"above peak", fmt::format("{:.6g} us where the peaks allow {:.6g}",
                                      1e6 * timed.measured_s, 1e6 * timed.floor_s)};
  }
  const double factor = timed.measured_s / predicted_s;
  if (factor >= fit::kSuspectedUnitErrorFactor || factor <= 1 / fit::kSuspectedUnitErrorFactor) {
    return {"other units", fmt::format("{:.3g} times the prediction", factor)};
  }
  const auto [impossible, all] =
      series_.at({timed.machine->device(), timed.sample->name, timed.pass});
  if (2 * impossible <= all) return {};
  return {"series above peak",
          fmt::format("{} of {} rows of the series are impossible", impossible, all)};
}

void OperatorRows::judge(const TimedPass& timed) {
  const fit::OperatorSample& sample = *timed.sample;
  const double predicted = fit::predicted_s(timed.machine->cost(sample.kernel), sample, timed.pass);
  const std::string direction(name_of(cost::kPassNames, timed.pass));
  TableRowOutcome& out = outcome(sample.line);
  if (SkippedRowReason skipped = fault(timed, predicted); !skipped.reason.empty()) {
    skipped.detail = fmt::format("{} {}: {}", sample.name, direction, skipped.detail);
    out.left_out.push_back(std::move(skipped));
    return;
  }
  const TableRowName name =
      row_name(whole_, whole_.rows[table_row_index_at_line(whole_, sample.line)]);
  TableRowPrediction result{.id = name.id,
                            .predicted = predicted,
                            .measured = timed.measured_s,
                            .error = predicted / timed.measured_s - 1,
                            .groups = {name.source, timed.machine->device(), sample.name, direction,
                                       floor_class(timed.floor_s)}};
  const std::string operator_time_warning =
      timed.machine->operator_time_warning(sample, timed.pass);
  if (!operator_time_warning.empty()) result.notes.push_back(operator_time_warning);
  out.results.push_back(std::move(result));
}

void OperatorRows::predict(const fit::OperatorSampleTable& read, const std::string& machine,
                           OperatorMachineFinder& machines) {
  skip(read.bad);
  skip(read.passed_over);
  for (const fit::OperatorSample& sample : read.samples) {
    const std::string& name = machine.empty() ? sample.device : machine;
    if (name.empty()) {
      outcome(sample.line).skipped = SkippedRowReason{"no machine: `cluster` is empty"};
    } else {
      add(sample, machines.machine_by_name(name));
    }
  }
  for (const TimedPass& timed : passes_) judge(timed);
}

}  // namespace

std::vector<TableRowOutcome> predict_operator_times(const CsvTable& table,
                                                    const std::string& profile) {
  const bool says = !table.column("fwd_us") && table.column("gpu");
  std::vector<TableRowOutcome> outcomes(table.rows.size());
  OperatorMachineFinder machines;
  for (const auto& [machine, of_machine] : divide_rows_by_machine(table, profile, says)) {
    try {
      if (!machine.empty()) machines.machine_by_name(machine);
    } catch (const Error& error) {
      if (!profile.empty()) throw;
      for (const CsvRow& row : of_machine.rows) {
        outcomes[table_row_index_at_line(table, row.line)].skipped =
            SkippedRowReason{fmt::format("no machine: {}", machine), error.what()};
      }
      continue;
    }
    OperatorRows(table, outcomes)
        .predict(fit::read_operator_samples(of_machine), machine, machines);
  }
  return outcomes;
}

}  // namespace stepwright::validate
