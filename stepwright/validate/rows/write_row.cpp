#include "stepwright/validate/rows/write_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/core/csv.h"
#include "stepwright/core/error.h"
#include "stepwright/plan/files/write_plan.h"

namespace stepwright::validate {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the text of a cell, in quotes if it needs them (RFC 4180).
std::string cell_text(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

/// Returns the job without settings that do not affect a single run.
Json job_cell(const plan::PlannedJob& planned) {
  Json job = plan::job_json(planned.job, false);
  job.erase("search");
  job.erase("run");
  return job;
}

/// Returns the plan without its job.
Json plan_cell(const plan::PlannedJob& planned) {
  Json plan = plan::plan_file_json(planned, false);
  plan.erase("stepwright");
  plan.erase("job");
  return plan;
}

}  // namespace

std::vector<RowCell> run_to_table_row_cells(const plan::PlannedJob& planned, const std::string& id,
                                            const std::string& outcome,
                                            std::optional<double> seconds) {
  const auto& [job, plan] = planned;
  const model::ModelArchitecture& model = job.model;
  const auto number = [](std::int64_t value) { return fmt::format("{}", value); };
  return {{"id", id},
          {"gpus", number(job.cluster.devices())},
          {"global_batch", number(job.sequences)},
          {"seq_len", number(job.length)},
          {"micro_batch", number(plan.micro_batch)},
          {"tp", number(plan.parallel.tensor)},
          {"pp", number(plan.parallel.pipeline)},
          {"vpp", number(plan.schedule.kind == schedule::PipelineScheduleKind::kInterleaved
                             ? plan.schedule.chunks
                             : 1)},
          {"cp", number(plan.parallel.context)},
          {"ep", number(plan.parallel.expert)},
          {"model", model.name},
          {"layers", number(model.layers)},
          {"hidden", number(model.hidden)},
          {"heads", number(model.heads)},
          {"kv_heads", number(model.kv_heads)},
          {"ffn_hidden", model.ffn > 0 ? number(model.ffn) : ""},
          {"vocab", number(model.vocabulary)},
          {"job", job_cell(planned).dump()},
          {"plan", plan_cell(planned).dump()},
          {"outcome", outcome},
          {"measured_metric", seconds ? "iteration_time_s" : ""},
          {"measured_value", seconds ? fmt::format("{}", *seconds) : ""}};
}

std::string table_row_csv_line(const std::vector<RowCell>& row, const std::string& table,
                               const std::string& name) {
  std::vector<std::string> titles;
  std::string line;
  if (table.empty()) {
    for (const auto& [title, cell] : row) titles.push_back(title);
    line = fmt::format("{}\n", fmt::join(titles, ","));
  } else {
    titles = parse_csv(table, name).header;
    if (!table.ends_with('\n')) line = "\n";
  }
  for (const auto& [title, cell] : row) {
    if (cell.empty() || std::ranges::find(titles, title) != titles.end()) continue;
    fail_input(fmt::format(
        "{}: has no column {}, which the row needs; name a new file, which gets all columns", name,
        title));
  }
  std::vector<std::string> cells;
  for (const std::string& title : titles) {
    const auto found = std::ranges::find(row, title, &RowCell::first);
    cells.push_back(found == row.end() ? "" : cell_text(found->second));
  }
  return line + fmt::format("{}\n", fmt::join(cells, ","));
}

}  // namespace stepwright::validate
