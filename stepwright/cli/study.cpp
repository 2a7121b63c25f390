#include "stepwright/study/study.h"

#include <spdlog/logger.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "stepwright/cli/command.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/study_text.h"
#include "stepwright/tune/tune.h"

namespace stepwright {
namespace {

class StudyCommand : public Command {
 public:
  explicit StudyCommand(CLI::App& program)
      : Command(program, "study", "Say what drives the time of a step",
                "  stepwright study utilization examples/llama-3-70b.yaml\n"
                "  stepwright study bandwidth plan.yaml -o bandwidth.html\n"
                "  stepwright study search examples/llama-3-70b.yaml") {
    app()
        .add_option("WHAT", what_,
                    "utilization: of the GPU, over sizes; bandwidth: effective, over messages\n"
                    "and placements; search: what other ways to choose a plan choose")
        ->required()
        ->check(CLI::IsMember({"utilization", "bandwidth", "search"}));
    app()
        .add_option("JOB", file_, "Job file (its best plan is studied), or a plan file")
        ->required();
    app()
        .add_option("-o,--output", page_, "Also write the curves as a page of pictures")
        ->type_name("HTML");
  }

  void run(const Console& console) override {
    if (!page_.empty()) check_not_input(page_, file_);
    if (what_ == "search") return compare(console);
    const PlannedJob planned = plan_to_study();
    const Study study =
        what_ == "utilization" ? study_utilization(planned) : study_bandwidth(planned);
    if (!page_.empty()) write_page(study, console);
    if (json()) {
      print_json(console.out, study_json(study));
    } else {
      console.out << study_text(study);
    }
  }

 private:
  void compare(const Console& console) {
    const SearchComparison comparison = compare_searches(load_job_file(file_));
    if (json()) {
      print_json(console.out, comparison_json(comparison));
    } else {
      console.out << comparison_text(comparison);
    }
  }

  [[nodiscard]] PlannedJob plan_to_study() const {
    if (is_plan_file(file_)) return load_legal_plan(file_);
    const TuneResult result = tune(load_job_file(file_), {.top = 1});
    return {result.job, result.plans.front().plan};
  }

  void write_page(const Study& study, const Console& console) {
    std::vector<Chart> charts;
    for (const Panel& panel : study.panels) charts.push_back(panel.chart);
    const std::string page = to_html("What drives the step: " + study.variable, charts);
    write_file(page_, [&](std::ostream& out) { out << page; });
    console.log.info("wrote the pictures to {}", page_);
  }

  std::string what_;
  std::string file_;
  std::string page_;
};

}  // namespace

std::unique_ptr<Command> study_command(CLI::App& program) {
  return std::make_unique<StudyCommand>(program);
}

}  // namespace stepwright
