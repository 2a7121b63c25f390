#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "stepwright/answers/prediction_answer.h"
#include "stepwright/answers/trace_file.h"
#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/memory_reserve.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/prediction_text.h"
#include "stepwright/cli/remedies_text.h"
#include "stepwright/cli/report_file.h"
#include "stepwright/cli/training_run_options.h"
#include "stepwright/plan/choices/words.h"
#include "stepwright/step/program_json.h"

namespace stepwright::cli {
namespace {

class Predict : public Subcommand {
 public:
  explicit Predict(CLI::App& program)
      : Subcommand(program, "predict", "Predict how long a step of a plan takes, and why",
                   "  stepwright predict plan.yaml\n"
                   "  stepwright predict plan.yaml --set cluster.nic=2x --set micro_batch=2\n"
                   "  stepwright predict plan.yaml --trace step.json") {
    reads(app().add_option("PLAN", plan_, "Plan file, as `stepwright tune -o` writes it"),
          OptionInputKind::kDocument)
        ->required();
    app()
        .add_option("--set", changes_,
                    "What if: FIELD=VALUE or FIELD=2x; repeatable. Any field of the\n"
                    "plan file, as in micro_batch=2, parallel.tensor=4, cluster.nic=2x,\n"
                    "cluster.profile=dgx-h200, batch.length=16384, model.layers=40. Shows\n"
                    "before and after")
        ->type_name("F=V")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    mark_option_as_output(
        app().add_option("--trace", trace_,
                         "Write the timeline as a Chrome trace, for ui.perfetto.dev; a smaller\n"
                         "batch makes a smaller file"))
        ->type_name("FILE");
    mark_option_as_output(
        app().add_option("--program", program_, "Write every operator of the step as JSON"))
        ->type_name("FILE");
    app().add_flag("-v,--verbose", verbose_,
                   "Also print the least important notes, and the sizes that were not measured");
  }

  void run_subcommand(const Console& console) override {
    const answers::PredictionRequest request{.name = plan_,
                                             .changes = changes_,
                                             .run = run_.training_length_and_price(),
                                             .reserve = reserve_.given(),
                                             .timeline = !trace_.empty()};
    const answers::PredictionAnswer answer =
        answers::predict_step_time_and_memory(load_plan_file(plan_, console), request);
    write_files(answer.prediction, console);
    if (report_.wanted()) report_.write_report_page(console, answers::prediction_report(answer));
    if (wants_json_output())
      return print_json(console.out, answers::prediction_answer_json(answer));
    const whole_run::RequestedTrainingRun asked{.run = answer.run};
    console.out << (answer.before
                        ? prediction_difference_text(*answer.before, answer.prediction, asked)
                        : prediction_text(answer.prediction, asked))
                << first_notes_text(answer.prediction.ordered_prediction_notes(), verbose_)
                << (verbose_ ? unmeasured_operators_text(answer.prediction) : "")
                << memory_remedies_table(answer.remedies);
  }

 private:
  void write_files(const simulate::PlanPrediction& prediction, const Console& console) {
    if (!trace_.empty()) {
      write_file(trace_,
                 [&](std::ostream& out) { answers::write_predicted_step_trace(prediction, out); });
      console.log.info(fmt::format("wrote the timeline to {}", trace_));
    }
    if (!program_.empty()) {
      write_file(program_,
                 answers::indented_json_text(step::step_program_json(prediction.program)));
      console.log.info(fmt::format("wrote the program to {}", program_));
    }
  }

  std::string plan_;
  std::vector<std::string> changes_;
  TrainingRunOptions run_{app()};
  MemoryHeadroom reserve_{app()};
  ReportFileOption report_{app()};
  std::string trace_;
  std::string program_;
  bool verbose_ = false;
};

}  // namespace

std::unique_ptr<Subcommand> predict_command(CLI::App& program) {
  return std::make_unique<Predict>(program);
}

}  // namespace stepwright::cli
