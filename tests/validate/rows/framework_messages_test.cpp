#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/plan/grid.h"
#include "stepwright/step/program.h"
#include "stepwright/traffic/ledger.h"
#include "stepwright/validate/rows/row_plan.h"

namespace stepwright::validate {
namespace {

/// Collectives that one rank calls in a step.
struct Calls {
  double count = 0;
  double gib = 0;  ///< GiB of their full buffers.
};

const std::string& cell(const CsvTable& table, const CsvRow& row, const std::string& title) {
  return row.cells.at(table.column(title).value());
}

Calls planned_calls(const plan::PlannedJob& planned, step::OperatorKind kind) {
  constexpr double kBytesPerGib = 1024.0 * 1024 * 1024;
  const step::StepProgram program = step::build_step_program(planned.job, planned.plan);
  Calls calls;
  for (const traffic::TrafficLedgerRow& message :
       traffic::count_traffic_of_step(program, 0, plan::RankGrid(planned.plan)).messages) {
    if (message.operation != kind) continue;
    const auto count = static_cast<double>(message.count);
    calls.count += count;
    calls.gib += count * static_cast<double>(message.payload_bytes) / kBytesPerGib;
  }
  return calls;
}

/// A collective in the table, and the allowed median and largest error of its bytes.
struct Collective {
  step::OperatorKind kind{};
  std::string word;
  double median = 0, most = 0;
};

// Messages that frameworks' programs send on fake tensors (tools/judges/framework_memory.py
// --messages), compared with the ledger. For gathers, the ledger gathers a head that stays for its
// backward pass again, and counts one gather where torchtune gathers for each chunk
// (docs/accuracy/framework_memory.md).
TEST(FrameworkMessages, AreThoseOfTheLedger) {
  const CsvTable table = load_csv("data/framework_messages.csv");
  const std::array collectives = {
      Collective{step::OperatorKind::kAllGather, "all_gather", 0.001, 0.75},
      Collective{step::OperatorKind::kReduceScatter, "reduce_scatter", 0.001, 0.001},
      Collective{step::OperatorKind::kAllToAll, "all_to_all", 0.001, 0.002}};
  for (const Collective& collective : collectives) {
    std::vector<double> errors;
    for (const CsvRow& row : table.rows) {
      const double measured = std::stod(cell(table, row, collective.word + "_gib"));
      if (measured < 0.01) continue;  // written with four digits
      const auto read = read_measured_run_row(table, row);
      ASSERT_TRUE(std::holds_alternative<PublishedRunRow>(read));
      const auto made = job_and_plan_of_row(std::get<PublishedRunRow>(read));
      ASSERT_TRUE(std::holds_alternative<TableRowPlan>(made)) << cell(table, row, "id");
      const Calls calls = planned_calls(std::get<TableRowPlan>(made).planned, collective.kind);
      errors.push_back(std::abs(calls.gib / measured - 1));
      std::cout << fmt::format("{} {}: {} calls of {}, {:.4f} GiB of {:.4f}\n",
                               cell(table, row, "id"), collective.word, calls.count,
                               cell(table, row, collective.word), calls.gib, measured);
    }
    ASSERT_GT(errors.size(), 3) << collective.word;
    std::ranges::sort(errors);
    EXPECT_LT(errors[errors.size() / 2], collective.median) << collective.word;
    EXPECT_LT(errors.back(), collective.most) << collective.word;
  }
}

}  // namespace
}  // namespace stepwright::validate
