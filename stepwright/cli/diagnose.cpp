#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "stepwright/answers/diagnosis_answer.h"
#include "stepwright/cli/command.h"
#include "stepwright/cli/diagnosis_text.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/report_file.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/output_file.h"

namespace stepwright::cli {
namespace {

/// Largest table of runs to which a row can be added, in bytes.
constexpr std::size_t kMostTableBytes = std::size_t{64} << 20;

class Diagnose : public Subcommand {
 public:
  explicit Diagnose(CLI::App& program)
      : Subcommand(program, "diagnose",
                   "Find out why a job hung, died, ran out of memory or is slow",
                   "  stepwright diagnose slurm-4711.out\n"
                   "  stepwright diagnose nccl_trace_rank_* job.log\n"
                   "  stepwright diagnose plan.yaml logs/*/*/attempt_0/*/stderr.log --json") {
    reads(app().add_option(
              "FILE", files_,
              "What the job left: logs of any launcher, and dumps of PyTorch's flight\n"
              "recorder (docs/diagnose.md), recognised by their content; all ranks' files\n"
              "together say most. Beside them its plan, or the files that started it"),
          OptionInputKind::kDocument)
        ->required();
    reads(app().add_option("--cluster", cluster_,
                           "Cluster of the job, if no file states it: a profile\n(stepwright list "
                           "profiles), also as PROFILE:NODES, or a file"))
        ->type_name("NAME");
    mark_option_as_output(
        app().add_option(
            "--row", row_,
            "Add the run to a table for tune --runs; the table is created if it does not exist"))
        ->type_name("CSV");
  }

  void run_subcommand(const Console& console) override {
    std::vector<answers::UserFile> given;
    for (const std::string& file : files_)
      given.push_back(read_file_or_console_text(file, console));
    const answers::JobDiagnosisAnswer answer = answers::diagnose_job_files(given, cluster_);
    if (!row_.empty()) add_row(console, answer);
    if (report_.wanted()) report_.write_report_page(console, answers::diagnosis_report(answer));
    if (wants_json_output()) return print_json(console.out, answers::diagnosis_answer_json(answer));
    console.out << diagnosis_text(answer.diagnosis);
  }

 private:
  void add_row(const Console& console, const answers::JobDiagnosisAnswer& answer) const {
    const std::string table =
        path_exists(row_) ? read_file_or_standard_input(row_, kMostTableBytes) : "";
    const std::string line = answers::measured_run_row(answer, table, row_);
    AppendedFile file(row_);
    file.add(line);
    file.close();
    console.log.info(fmt::format("added the run to {}", row_));
  }

  std::vector<std::string> files_;
  std::string cluster_;
  std::string row_;
  ReportFileOption report_{app()};
};

}  // namespace

std::unique_ptr<Subcommand> diagnose_command(CLI::App& program) {
  return std::make_unique<Diagnose>(program);
}

}  // namespace stepwright::cli
