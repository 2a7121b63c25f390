#include "stepwright/logs/compare.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "stepwright/cli/command.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/core/error.h"

namespace stepwright {
namespace {

constexpr std::size_t kShown = 20;  ///< Differences that people get to see.

double mean_bytes(const RoutedCalls& row) {
  return static_cast<double>(row.executed_bytes) / static_cast<double>(row.calls);
}

std::string routed_text(const RoutedCalls& row) {
  return fmt::format(
      "routed: {}; executed {:.0f} bytes in the mean of {} calls, {} at most, "
      "{} of them above the predicted largest of {:.0f}",
      text_of(row.call), mean_bytes(row), row.calls, row.largest_bytes, row.beyond,
      row.bound_bytes);
}

nlohmann::ordered_json routed_json(const std::vector<RoutedCalls>& rows) {
  auto list = nlohmann::ordered_json::array();
  for (const RoutedCalls& row : rows) {
    list.push_back({{"operation", name_of(kOperatorNames, row.call.operation)},
                    {"phase", name_of(kPhaseNames, row.call.phase)},
                    {"name", row.call.name},
                    {"calls", row.calls},
                    {"predicted_bytes", row.call.payload_bytes},
                    {"bound_bytes", row.bound_bytes},
                    {"mean_bytes", mean_bytes(row)},
                    {"largest_bytes", row.largest_bytes},
                    {"beyond_bound", row.beyond}});
  }
  return list;
}

class Compare : public Command {
 public:
  explicit Compare(CLI::App& program)
      : Command(program, "compare", "Compare what a plan should send with what a run sent",
                "  stepwright train plan.yaml --data text.txt --ledger sent.json\n"
                "  stepwright compare plan.yaml --log sent.json") {
    app().add_option("PLAN", plan_, "Plan file, as `stepwright tune -o` writes it")->required();
    app()
        .add_option("--log", log_, "Ledger that `stepwright train --ledger` wrote")
        ->required()
        ->type_name("FILE");
  }

  void run(const Console& console) override {
    const PlannedJob planned = load_legal_plan(plan_);
    const Comparison found = compare_ledgers(build_program(planned.job, planned.plan),
                                             Grid(planned.plan), load_ledger(log_));
    if (json()) {
      print_json(console.out, {{"communicators", found.communicators},
                               {"calls", found.calls},
                               {"differences", found.differences},
                               {"routed", routed_json(found.routed)}});
    } else {
      for (std::size_t i = 0; i < std::min(kShown, found.differences.size()); ++i) {
        console.out << found.differences[i] << '\n';
      }
      for (const RoutedCalls& row : found.routed) console.out << routed_text(row) << '\n';
      console.out << fmt::format("{} calls on {} communicators predicted; {} differences\n",
                                 found.calls, found.communicators, found.differences.size());
    }
    if (!found.differences.empty()) {
      throw Error(ErrorKind::kRuntime, "the run sent something else than the plan says");
    }
  }

 private:
  std::string plan_;
  std::string log_;
};

}  // namespace

std::unique_ptr<Command> compare_command(CLI::App& program) {
  return std::make_unique<Compare>(program);
}

}  // namespace stepwright
