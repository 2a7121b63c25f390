#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/answers/memory_answer.h"
#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/memory_reserve.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/prediction_text.h"
#include "stepwright/cli/snapshot_text.h"
#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/plan/choices/words.h"

namespace stepwright::cli {
namespace {

/// Returns the row for consecutive stages with equal memory.
std::vector<std::string> stage_row(const memory::StageMemory& stage, std::size_t first,
                                   std::size_t last) {
  std::vector<std::string> row = {first == last ? fmt::format("{}", first)
                                                : fmt::format("{}-{}", first, last)};
  for (const double bytes : stage.kinds) row.push_back(format_bytes(bytes));
  row.push_back(format_bytes(stage.peak_bytes));
  return row;
}

std::string stages_text(const memory::MemoryReport& report) {
  TextTable table{.columns = {{"stage"}}, .rows = {}};
  for (const auto& [kind, name] : memory::kMemoryKindNames) {
    std::string header(name.substr(0, name.find('_')));
    table.columns.push_back({std::move(header), ColumnAlignment::kRight});
  }
  table.columns.push_back({"peak", ColumnAlignment::kRight});
  for (std::size_t first = 0; first < report.stages.size();) {
    std::size_t end = first + 1;
    while (end < report.stages.size() && report.stages[end].kinds == report.stages[first].kinds) {
      ++end;
    }
    table.rows.push_back(stage_row(report.stages[first], first, end - 1));
    first = end;
  }
  return format_text_table(table);
}

constexpr const char* kKinds =
    "gathered: parameters gathered for use; communication: buffers of messages; framework: CUDA "
    "context, communicators and allocator waste, estimated\n";

std::string allocated_text(const std::vector<memory::PyTorchAllocatedMemory>& stages) {
  const auto fullest =
      std::ranges::max_element(stages, {}, &memory::PyTorchAllocatedMemory::peak_bytes);
  return fmt::format(
      "As counted by PyTorch's allocator, without CUDA context and communicators: {} at the peak "
      "of stage "
      "{}, "
      "{} after its step.\n",
      format_bytes(fullest->peak_bytes), fullest - stages.begin(),
      format_bytes(fullest->after_step_bytes));
}

std::string verdict(const memory::MemoryReport& report) {
  const std::string sizes = memory_use_text(report);
  if (report.fits()) return fmt::format("The fullest device needs {}.\n", sizes);
  const bool tight = report.memory_fit_verdict_of_job() == memory::MemoryFitVerdict::kTight;
  return fmt::format("{}: {}the fullest device needs {}. That is {}; the largest part is {}.\n",
                     tight ? "TIGHT" : "DOES NOT FIT", memory_fit_probability_text(report), sizes,
                     memory_shortage_text(report), memory::largest_part_of_scarce_memory(report));
}

class Memory : public Subcommand {
 public:
  explicit Memory(CLI::App& program)
      : Subcommand(program, "memory", "Show what fills the memory of each stage at its peak",
                   "  stepwright memory plan.yaml\n"
                   "  stepwright memory plan.yaml --set micro_batch=2 --set recompute=full\n"
                   "  stepwright memory plan.yaml --snapshot rank0.pickle rank8.pickle\n"
                   "  stepwright memory plan.yaml --write-snapshot plan.pickle\n"
                   "  stepwright memory plan.yaml --json") {
    reads(app().add_option("PLAN", plan_, "Plan file, as `stepwright tune -o` writes it"),
          OptionInputKind::kDocument)
        ->required();
    app()
        .add_option("--set", changes_,
                    "Change a field first: FIELD=VALUE, as in predict; repeatable")
        ->type_name("F=V")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    reads(app().add_option("--snapshot", snapshots_,
                           "Memory snapshots (torch.cuda.memory._dump_snapshot) of ranks that run "
                           "the\nplan: compares what was in use at the peak with the plan"))
        ->type_name("FILE");
    mark_option_as_output(
        app().add_option("--write-snapshot", written_,
                         "Write the step of the plan in that format, for PyTorch's viewer\n"
                         "(pytorch.org/memory_viz); device N is pipeline position N"))
        ->type_name("FILE");
  }

  void run_subcommand(const Console& console) override {
    const answers::PlanMemoryAnswer answer = answers::compute_plan_peak_memory(
        load_plan_file(plan_, console),
        {.name = plan_, .changes = changes_, .reserve = reserve_.given(), .snapshots = snapshots_});
    if (!written_.empty()) {
      answers::write_predicted_memory_snapshot(answer.planned, written_);
      console.log.info("wrote the step's memory to " + written_);
    }
    if (wants_json_output()) return print_json(console.out, answers::memory_answer_json(answer));
    console.out << plan::job_summary_line(answer.planned.job)
                << "\n\nWhat fills the memory of one device of each pipeline stage at its peak\n\n"
                << stages_text(answer.report) << kKinds << '\n'
                << allocated_text(answer.allocated) << verdict(answer.report)
                << (answer.snapshot ? snapshot_comparison_text(*answer.snapshot) : "")
                << notes_text(answer.notes);
  }

 private:
  std::string plan_;
  std::vector<std::string> changes_;
  std::vector<std::string> snapshots_;
  std::string written_;
  MemoryHeadroom reserve_{app()};
};

}  // namespace

std::unique_ptr<Subcommand> memory_command(CLI::App& program) {
  return std::make_unique<Memory>(program);
}

}  // namespace stepwright::cli
