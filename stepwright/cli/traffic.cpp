#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "stepwright/answers/traffic_answer.h"
#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/prediction_text.h"
#include "stepwright/cli/traffic_sweep_text.h"
#include "stepwright/cli/traffic_text.h"
#include "stepwright/cluster/cluster.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {
namespace {

class Traffic : public Subcommand {
 public:
  explicit Traffic(CLI::App& program)
      : Subcommand(program, "traffic", "List every message that a step of a plan sends",
                   "  stepwright traffic plan.yaml\n"
                   "  stepwright traffic plan.yaml --rank 0 --json\n"
                   "  stepwright traffic plan.yaml --links --matrix matrix.csv\n"
                   "  stepwright traffic plan.yaml --sweep batch.length=2048,4096,8192") {
    reads(app().add_option("PLAN", plan_, "Plan file, as `stepwright tune -o` writes it"),
          OptionInputKind::kDocument)
        ->required();
    app()
        .add_option("--rank", rank_, "Only the messages of this rank (from 0)")
        ->check(runtime::whole_number_validator(0, cluster::kMaxClusterDevices - 1))
        ->type_name("R");
    mark_option_as_output(
        app().add_option(
            "--matrix", matrix_,
            "Write the bytes that each rank sends to each other rank: lines from,to,bytes"))
        ->type_name("FILE");
    app()
        .add_option("--set", changes_,
                    "Change a field first: FIELD=VALUE, as in predict; repeatable")
        ->type_name("F=V")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app()
        .add_option("--sweep", sweep_,
                    "Count and predict the plan with each value of a field, as in --set:\n"
                    "batch.length=2048,4096, model.hidden=1x,2x, sharding=NNN,NNG,GGG")
        ->type_name("F=A,B,C");
    app().add_flag("--links", links_, "Add the bytes that links and NICs carry");
  }

  void run_subcommand(const Console& console) override {
    const answers::PlanTrafficAnswer answer = answers::list_plan_messages(
        load_plan_file(plan_, console),
        {.name = plan_, .changes = changes_, .rank = rank_, .links = links_, .sweep = sweep_});
    if (!matrix_.empty()) {
      write_file(matrix_, [&](std::ostream& out) {
        traffic::write_traffic_matrix(out, answer.matrix, rank_);
      });
      console.log.info(fmt::format("wrote the matrix to {}", matrix_));
    }
    if (wants_json_output()) return print_json(console.out, answers::traffic_answer_json(answer));
    console.out << traffic_text(answer.ledger, rank_)
                << (answer.links ? link_traffic_text(*answer.links) : "")
                << (answer.sweep ? traffic_sweep_text(*answer.sweep) : "")
                << notes_text(answer.notes);
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

std::unique_ptr<Subcommand> traffic_command(CLI::App& program) {
  return std::make_unique<Traffic>(program);
}

}  // namespace stepwright::cli
