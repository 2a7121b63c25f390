#include "stepwright/validate/rows/launch_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stepwright/core/error.h"
#include "stepwright/core/parallel.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/memory/allocated.h"
#include "stepwright/model/catalog.h"

namespace stepwright::validate {
namespace {

std::string model_of(const model::ModelArchitecture& model) {
  std::string text = model.experts ? "experts" : "dense";
  return model.latent ? text + ", latent attention" : text;
}

std::string scheme_of(const plan::ParallelismDegrees& degrees) {
  std::vector<std::string_view> words;
  const auto add = [&](std::int64_t degree, std::string_view word) {
    if (degree > 1) words.push_back(word);
  };
  add(degrees.tensor, "tensor");
  add(degrees.pipeline, "pipeline");
  add(degrees.context, "context");
  add(degrees.expert, "expert");
  return words.empty() ? "data" : fmt::format("{}", fmt::join(words, ", "));
}

/// A quantity that a row may give.
struct Measured {
  std::string_view title, name;
  double memory::PyTorchAllocatedMemory::* predicted;
};
constexpr Measured kMeasured[] = {
    {"allocated_gib", "after a step", &memory::PyTorchAllocatedMemory::after_step_bytes},
    {"peak_gib", "peak", &memory::PyTorchAllocatedMemory::peak_bytes}};

/// Returns the job that a row starts, as the reader of its files sees it.
plan::PlannedJob started_job(const CsvTable& table, const CsvRow& row) {
  const launch_scripts::SourceFile file{.name = "launch",
                                        .text = std::string(cell(table, row, "launch"))};
  framework_files::UserFacts given{.cluster = std::string(cell(table, row, "cluster"))};
  if (const std::string_view model = cell(table, row, "model"); !model.empty()) {
    const YamlJsonDocument document =
        YamlJsonDocument::parse(fmt::format("model: {}", model), "column model");
    given.known_model = model::read_job_model(document.root().get("model"), "");
  }
  return framework_files::import_plan_files(cell(table, row, "target"), {&file, 1}, given).planned;
}

TableRowOutcome compared(const CsvTable& table, const CsvRow& row, const plan::PlannedJob& planned,
                         const memory::PyTorchAllocatedMemory& predicted) {
  TableRowOutcome outcome;
  for (const auto& [title, name, quantity] : kMeasured) {
    const std::string_view text = cell(table, row, title);
    if (text.empty()) continue;
    const auto gib = positive_number(text);
    if (!gib)
      return {.skipped =
                  SkippedRowReason{fmt::format("column {}: not a number above zero", title)}};
    outcome.results.push_back(
        {.id = row_name(table, row).id,
         .predicted = predicted.*quantity,
         .measured = *gib * kBytesPerGib,
         .error = predicted.*quantity / (*gib * kBytesPerGib) - 1,
         .groups = {std::string(name), planned.job.cluster.device.name, model_of(planned.job.model),
                    scheme_of(planned.plan.parallel)}});
  }
  if (outcome.results.empty()) outcome.skipped = SkippedRowReason{"nothing measured"};
  return outcome;
}

TableRowOutcome predict_launch(const CsvTable& table, const CsvRow& row) {
  try {
    const plan::PlannedJob planned = started_job(table, row);
    const step::StepProgram program = step::build_step_program(planned.job, planned.plan);
    const std::vector<memory::PyTorchAllocatedMemory> stages =
        memory::pytorch_allocated_memory(planned.job, program);
    const bool first = cell(table, row, "stage") == "first";
    return compared(table, row, planned, first ? stages.front() : stages.back());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRuntime) throw;
    return {.skipped = SkippedRowReason{"the command is not read", error.what()}};
  }
}

}  // namespace

std::span<const std::string_view> launch_table_columns() {
  static constexpr std::string_view kColumns[] = {"id",      "source_url",    "target",
                                                  "cluster", "model",         "stage",
                                                  "launch",  "allocated_gib", "peak_gib"};
  return kColumns;
}

std::vector<TableRowOutcome> predict_launch_memory(const CsvTable& table, int threads) {
  std::vector<TableRowOutcome> outcomes(table.rows.size());
  parallel_for(threads, outcomes.size(),
               [&](std::size_t i) { outcomes[i] = predict_launch(table, table.rows[i]); });
  return outcomes;
}

}  // namespace stepwright::validate
