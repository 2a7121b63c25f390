#include "stepwright/study/study.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/one_of.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/report_file.h"
#include "stepwright/cli/scaling_options.h"
#include "stepwright/cli/scaling_text.h"
#include "stepwright/cli/schedule_options.h"
#include "stepwright/cli/schedule_text.h"
#include "stepwright/cli/study_text.h"
#include "stepwright/core/error.h"
#include "stepwright/plan/choices/words.h"
#include "stepwright/tune/misfit.h"
#include "stepwright/tune/tune.h"

namespace stepwright::cli {
namespace {

class StudyCommand : public Subcommand {
 public:
  explicit StudyCommand(CLI::App& program)
      : Subcommand(
            program, "study", "Show what determines the time of a step, or of its messages",
            "  stepwright study utilization examples/llama-3-70b.yaml\n"
            "  stepwright study bandwidth plan.yaml --report bandwidth.html\n"
            "  stepwright study search examples/llama-3-70b.yaml\n"
            "  stepwright study collectives dgx-h100 --bytes 64MB,1GiB --simulate 16384\n"
            "  stepwright study schedules --stages 4 --micro-batches 16 --forward 1 --backward 2 "
            "--weight 1") {
    app()
        .add_option("WHAT", what_,
                    "utilization: of the GPU, over sizes; bandwidth: effective, over messages\n"
                    "and placements; search: plans chosen by other search methods;\n"
                    "collectives: how their schedules scale with the nodes of a cluster;\n"
                    "schedules: pipelines of equal stages, without communication")
        ->required()
        ->transform(one_of_words_validator(
            {"utilization", "bandwidth", "search", "collectives", "schedules"}));
    reads(app().add_option("JOB", file_,
                           "Job file (its best plan is studied), or a plan file; with collectives\n"
                           "a cluster profile or file; with schedules nothing"),
          OptionInputKind::kDocument);
    scaling_.add_options_to_command(app());
    schedules_.add_options_to_command(app());
  }

  void run_subcommand(const Console& console) override {
    if (what_ != "collectives")
      check_absent(CollectiveStudyOptions::collectives_study_option_names(), "collectives");
    if (what_ == "schedules") return play_schedules(console);
    check_absent(PipelineScheduleStudyOptions::schedules_study_option_names(), "schedules");
    if (file_.empty()) fail_input("JOB is required");
    if (what_ == "collectives") return scale(console);
    if (what_ == "search") return compare(console);
    const plan::PlannedJob planned = plan_to_study(console);
    const study::StudyCharts study = what_ == "utilization"
                                         ? study::study_gpu_utilization(planned)
                                         : study::study_collective_bandwidth(planned);
    const nlohmann::ordered_json answer = study::study_json(study);
    report(console, "What drives the step: " + plan::job_summary_line(planned.job), answer);
    if (wants_json_output()) {
      print_json(console.out, answer);
    } else {
      console.out << study_tables_text(study);
    }
  }

 private:
  /// Fails with `kInput` if an option of another study was given.
  void check_absent(std::span<const char* const> names, std::string_view owner) {
    refuse_options(names, fmt::format("`study {}`, not with `study {}`", owner, what_));
  }

  void play_schedules(const Console& console) {
    if (!file_.empty()) {
      fail_input(fmt::format("study schedules has no job, only the times of a stage: '{}'", file_));
    }
    const std::vector<study::PipelineScheduleSimulation> plays =
        study::study_pipeline_schedules(schedules_.pipeline_from_options(app()));
    const nlohmann::ordered_json answer = study::schedules_study_json(plays);
    report(console, "What pipeline schedules cost with equal stages", answer);
    if (wants_json_output()) {
      print_json(console.out, answer);
    } else {
      console.out << simulated_schedules_text(plays);
    }
  }

  void compare(const Console& console) {
    const plan::Job job = load_job_file(file_, console);
    const study::SearchMethodComparison comparison = study::compare_searches(job);
    const nlohmann::ordered_json answer = study::search_comparison_json(comparison);
    report(console, "Plans chosen by other search methods: " + plan::job_summary_line(job), answer);
    if (wants_json_output()) {
      print_json(console.out, answer);
    } else {
      console.out << search_comparison_text(comparison);
    }
  }

  [[nodiscard]] plan::PlannedJob plan_to_study(const Console& console) const {
    if (is_plan_file(file_, console)) return load_settled_plan(file_, console);
    const tune::TuneResult result = tune::tune(load_job_file(file_, console), {.top = 1});
    if (!result.plans.front().fits) {
      throw Error(
          ErrorKind::kRuntime,
          fmt::format("{}: {}", file_, tune::memory_shortage_error_text(result.plans.front())));
    }
    return {result.job, result.plans.front().plan};
  }

  void scale(const Console& console) {
    const study::CollectiveScalingStudy study =
        study::study_collective_scaling(scaling_.scaling_settings_from_options(file_));
    const nlohmann::ordered_json answer = study::collective_scaling_json(study);
    report(console, "How collectives scale: " + study.cluster.name, answer);
    if (wants_json_output()) {
      print_json(console.out, answer);
    } else {
      console.out << collective_study_text(study);
    }
  }

  void report(const Console& console, const std::string& title,
              const nlohmann::ordered_json& answer) const {
    if (report_.wanted()) report_.write_report_page(console, title, answer, {{"what", what_}});
  }

  std::string what_;
  std::string file_;
  CollectiveStudyOptions scaling_;
  PipelineScheduleStudyOptions schedules_;
  ReportFileOption report_{app()};
};

}  // namespace

std::unique_ptr<Subcommand> study_command(CLI::App& program) {
  return std::make_unique<StudyCommand>(program);
}

}  // namespace stepwright::cli
