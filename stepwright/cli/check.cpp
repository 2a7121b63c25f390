#include "stepwright/check/check.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "stepwright/cli/check_text.h"
#include "stepwright/cli/command.h"
#include "stepwright/cli/import_options.h"
#include "stepwright/cli/memory_reserve.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/run_comparison.h"
#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/plan/laws/legality.h"

namespace stepwright::cli {
namespace {

class Check : public Command {
 public:
  explicit Check(CLI::App& program)
      : Command(program, "check", "Say before a job is queued whether it starts, fits, and is fast",
                "  stepwright check train.sh --cluster dgx-h100\n"
                "  stepwright check plan.yaml --gain 5%\n"
                "  stepwright check args.json ds.json --model llama-3-8b --cluster dgx-h100:2 "
                "--json") {
    app()
        .add_option("--gain", gain_,
                    "Fail where changes of the plan would save this share of a step or more:\n"
                    "5% or 0.05")
        ->type_name("SHARE");
    app()
        .add_option("--log", logs_,
                    "Logs of a run of it (docs/logs.md), to compare what it sent and how long a\n"
                    "step took")
        ->type_name("FILE");
  }

  void run(const Console& console) override {
    const std::optional<double> most_gain = read_gain();
    framework_files::ImportedPlan imported = read(console);
    reserve_.apply(imported.planned.job);
    const check::JobCheck check = checked(std::move(imported));
    std::optional<RunComparison> run;
    if (!logs_.empty() && check.starts()) run = compare_run(*check.prediction, logs_);
    std::string fault = check::fault_of(check, most_gain);
    if (fault.empty() && run && run->differs())
      fault = "its run sent something else than the plan says";
    if (json()) {
      nlohmann::ordered_json answer = check::check_json(check, fault);
      if (run) answer["log"] = run_comparison_json(*run, *check.prediction);
      print_json(console.out, answer);
    } else {
      console.out << check_text(check);
      if (run) console.out << '\n' << run_comparison_text(*run, *check.prediction);
    }
    if (!fault.empty()) {
      throw Error(ErrorKind::kRuntime, fmt::format("{}: {}", files_.files().front(), fault));
    }
  }

 private:
  /// A plan file, or the files of a framework.
  [[nodiscard]] framework_files::ImportedPlan read(const Console& console) const {
    const std::string& first = files_.files().front();
    if (holds_job(first, console)) {
      fail_input(
          fmt::format("{}: is a job, which says no plan to check: `stepwright tune {}` finds "
                      "one",
                      first, first),
          {.file = first});
    }
    if (!holds_plan(first, console)) return files_.read(console, true);
    framework_files::ImportedPlan imported{
        .target = "", .planned = load_plan_file(first, console), .report = {}, .refused = {}};
    imported.refused = plan::illegal(imported.planned.job, imported.planned.plan);
    return imported;
  }

  /// A search that finds fault with the job names its file.
  [[nodiscard]] check::JobCheck checked(framework_files::ImportedPlan imported) const {
    try {
      return check::check_job(std::move(imported));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kInput) throw;
      const std::string& first = files_.files().front();
      fail_input(fmt::format("{}: {}", first, error.what()), {.file = first});
    }
  }

  [[nodiscard]] std::optional<double> read_gain() const {
    if (gain_.empty()) return std::nullopt;
    const bool percent = gain_.ends_with('%');
    const Document document =
        Document::parse("gain: " + (percent ? gain_.substr(0, gain_.size() - 1) : gain_), "--gain");
    const double value = document.root().get("gain").number(0, percent ? 100 : 1);
    return percent ? value / 100 : value;
  }

  ImportOptions files_{app()};
  std::string gain_;
  std::vector<std::string> logs_;
  MemoryReserve reserve_{app()};
};

}  // namespace

std::unique_ptr<Command> check_command(CLI::App& program) {
  return std::make_unique<Check>(program);
}

}  // namespace stepwright::cli
