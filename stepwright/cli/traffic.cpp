#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "stepwright/cli/command.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/prediction_text.h"
#include "stepwright/cli/traffic_sweep.h"
#include "stepwright/cli/traffic_text.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/notes.h"
#include "stepwright/traffic/traffic_json.h"

namespace stepwright::cli {
namespace {

class Traffic : public Command {
 public:
  explicit Traffic(CLI::App& program)
      : Command(program, "traffic", "List every message that a step of a plan sends",
                "  stepwright traffic plan.yaml\n"
                "  stepwright traffic plan.yaml --rank 0 --json\n"
                "  stepwright traffic plan.yaml --links --matrix matrix.csv\n"
                "  stepwright traffic plan.yaml --sweep batch.length=2048,4096,8192") {
    app().add_option("PLAN", plan_, "Plan file, as `stepwright tune -o` writes it")->required();
    app().add_option("--rank", rank_, "Only the messages of this rank (from 0)")->type_name("R");
    app()
        .add_option("--matrix", matrix_, "Write who sends how much to whom: lines from,to,bytes")
        ->type_name("FILE");
    app()
        .add_option("--set", changes_, "What if: FIELD=VALUE, as of predict; repeatable")
        ->type_name("F=V")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app()
        .add_option("--sweep", sweep_,
                    "Count and predict the plan with each value of a field, as of --set:\n"
                    "batch.length=2048,4096, model.hidden=1x,2x, sharding=NNN,NNG,GGG")
        ->type_name("F=A,B,C");
    app().add_flag("--links", links_, "Add the bytes that links and NICs carry");
  }

  void run(const Console& console) override {
    if (!matrix_.empty()) check_output(matrix_, plan_);
    const plan::PlannedJob planned =
        settled_plan(plan::with_fields(load_plan_file(plan_, console), changes_), plan_);
    const step::StepProgram program = step::build_program(planned.job, planned.plan);
    const plan::Grid grid(planned.plan);
    const traffic::Ledger messages =
        traffic::ledger(program, rank_, grid, {&planned.job.cluster, planned.plan.collectives});
    const traffic::TrafficMatrix matrix(program, grid, planned.job.cluster,
                                        planned.plan.collectives);
    std::optional<collective::LinkLoads> loads;
    if (links_) loads = traffic::link_loads(matrix, planned.job.cluster);
    if (!matrix_.empty()) {
      write_file(matrix_, [&](std::ostream& out) { traffic::write_matrix(out, matrix, rank_); });
      console.log.info(fmt::format("wrote the matrix to {}", matrix_));
    }
    const std::vector<std::string> notes = plan::plan_notes(planned);
    std::optional<TrafficSweep> sweep;
    if (!sweep_.empty()) sweep = sweep_traffic(planned, sweep_);
    if (!json()) {
      console.out << traffic_text(messages, rank_) << (loads ? links_text(*loads) : "")
                  << (sweep ? traffic_sweep_text(*sweep) : "") << notes_text(notes);
      return;
    }
    nlohmann::ordered_json answer = traffic::traffic_json(messages, program.ranks);
    if (rank_) answer["rank"] = *rank_;
    if (loads) answer["links"] = traffic::links_json(*loads);
    if (sweep) answer["sweep"] = traffic_sweep_json(*sweep);
    answer["notes"] = notes;
    print_json(console.out, answer);
  }

 private:
  std::string plan_;
  std::optional<std::int64_t> rank_;
  std::string matrix_;
  std::vector<std::string> changes_;
  std::string sweep_;
  bool links_ = false;
};

}  // namespace

std::unique_ptr<Command> traffic_command(CLI::App& program) {
  return std::make_unique<Traffic>(program);
}

}  // namespace stepwright::cli
