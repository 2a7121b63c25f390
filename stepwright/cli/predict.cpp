#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "stepwright/cli/command.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/memory_reserve.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/prediction_text.h"
#include "stepwright/cli/report_file.h"
#include "stepwright/cli/report_names.h"
#include "stepwright/cli/trace_file.h"
#include "stepwright/cli/training_run_options.h"
#include "stepwright/plan/choices/words.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/notes.h"
#include "stepwright/report/prediction_pictures.h"
#include "stepwright/step/program_json.h"
#include "stepwright/whole_run/asked_run.h"

namespace stepwright::cli {
namespace {

using Json = nlohmann::ordered_json;

/// `after` minus `before`, number by number; what is no number in both is left out.
Json difference(const Json& before, const Json& after) {
  Json result = Json::object();
  for (const auto& [key, value] : after.items()) {
    if (!before.contains(key)) continue;
    const Json& old = before[key];
    if (value.is_object()) result[key] = difference(old, value);
    if (value.is_number_integer() && old.is_number_integer()) {
      result[key] = value.get<std::int64_t>() - old.get<std::int64_t>();
    } else if (value.is_number() && old.is_number()) {
      result[key] = value.get<double>() - old.get<double>();
    }
  }
  return result;
}

/// All that a prediction says but its remarks.
Json figures(const simulate::Prediction& prediction) {
  Json json = simulate::prediction_json(prediction);
  json.erase("notes");
  return json;
}

Json answer_json(const simulate::Prediction& prediction,
                 const std::optional<tune::TrainingRun>& run) {
  Json json = simulate::prediction_json(prediction);
  if (!run) return json;
  tune::add_run_cost(json, prediction.planned.job, 0, *run);
  json["whole_run"] = whole_run::asked_run_json(prediction, {.run = run});
  return json;
}

Json comparison_json(const simulate::Prediction& before, const simulate::Prediction& after,
                     const std::optional<tune::TrainingRun>& run) {
  const Json old = answer_json(before, run);
  const Json changed = answer_json(after, run);
  Json result = changed;
  result["baseline"] = old;
  result["changed"] = changed;
  result["difference"] = difference(old, changed);
  return result;
}

class Predict : public Command {
 public:
  explicit Predict(CLI::App& program)
      : Command(program, "predict", "Say how long a step of a plan takes, and why",
                "  stepwright predict plan.yaml\n"
                "  stepwright predict plan.yaml --set cluster.nic=2x --set micro_batch=2\n"
                "  stepwright predict plan.yaml --trace step.json") {
    app().add_option("PLAN", plan_, "Plan file, as `stepwright tune -o` writes it")->required();
    app()
        .add_option("--set", changes_,
                    "What if: FIELD=VALUE or FIELD=2x; repeatable. Any field of the\n"
                    "plan file, as in micro_batch=2, parallel.tensor=4, cluster.nic=2x,\n"
                    "cluster.profile=dgx-h200, batch.length=16384, model.layers=40. Shows\n"
                    "before and after")
        ->type_name("F=V")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app()
        .add_option("--trace", trace_,
                    "Write the timeline as a Chrome trace, for ui.perfetto.dev; a smaller\n"
                    "batch makes a smaller file")
        ->type_name("FILE");
    app()
        .add_option("--program", program_, "Write every operator of the step as JSON")
        ->type_name("FILE");
  }

  void run(const Console& console) override {
    for (const std::string& file : {trace_, program_}) {
      if (!file.empty()) check_output(file, plan_);
    }
    report_.check(plan_);
    const std::optional<tune::TrainingRun> run = run_.run();
    plan::PlannedJob given = load_plan_file(plan_, console);
    reserve_.apply(given.job);
    const plan::PlannedJob planned = settled_plan(plan::with_fields(given, changes_), plan_);
    std::optional<simulate::Prediction> before;
    if (!changes_.empty()) before = simulate::predict(given);
    simulate::Prediction prediction = simulate::predict(planned, !trace_.empty());
    if (before && figures(*before) == figures(prediction)) {
      prediction.notes.emplace_back("What --set changes changes no figure of this prediction.");
    }
    if (std::string note = plan::method_note(planned.job); !note.empty()) {
      prediction.notes.push_back(std::move(note));
    }
    write_files(prediction, console);
    const Json answer =
        before ? comparison_json(*before, prediction, run) : answer_json(prediction, run);
    if (report_.wanted()) write_report(prediction, answer, console);
    if (json()) {
      print_json(console.out, answer);
    } else {
      const whole_run::AskedRun asked{.run = run};
      console.out << (before ? comparison_text(*before, prediction, asked)
                             : prediction_text(prediction, asked));
    }
  }

 private:
  void write_files(const simulate::Prediction& prediction, const Console& console) {
    if (!trace_.empty()) {
      write_file(trace_, [&](std::ostream& out) { write_prediction_trace(prediction, out); });
      console.log.info(fmt::format("wrote the timeline to {}", trace_));
    }
    if (!program_.empty()) {
      write_file(program_, [&](std::ostream& out) {
        print_json(out, step::program_json(prediction.program));
      });
      console.log.info(fmt::format("wrote the program to {}", program_));
    }
  }

  void write_report(const simulate::Prediction& prediction, const Json& answer,
                    const Console& console) const {
    const plan::PlannedJob& planned = prediction.planned;
    Json pictures = report::prediction_pictures(prediction);
    pictures["name"] = plan_name(planned.plan, planned.job);
    pictures["whole_run"] = whole_run::asked_run_json(prediction, {.run = run_.run()});
    report_.write(console, plan::job_line(planned.job), answer, pictures);
  }

  std::string plan_;
  std::vector<std::string> changes_;
  TrainingRunOptions run_{app()};
  MemoryReserve reserve_{app()};
  ReportFile report_{app()};
  std::string trace_;
  std::string program_;
};

}  // namespace

std::unique_ptr<Command> predict_command(CLI::App& program) {
  return std::make_unique<Predict>(program);
}

}  // namespace stepwright::cli
