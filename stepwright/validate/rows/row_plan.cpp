#include "stepwright/validate/rows/row_plan.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/tree_members.h"
#include "stepwright/plan/choices/write_choices.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/files/write_plan.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::validate {
namespace {

/// Reads the mapping in a cell.
DocumentTree cell_tree(std::string_view column, const std::string& cell) {
  if (cell.empty()) return DocumentTree::make_empty_mapping();
  // A document that begins with a brace must be JSON; as the value of a key, the cell may also be
  // YAML.
  const YamlJsonDocument document = YamlJsonDocument::parse(fmt::format("{}: {}", column, cell),
                                                            fmt::format("column {}", column));
  const DocumentNode mapping = document.root().get(column);
  static_cast<void>(mapping.mapping_members());  // fails unless it is a mapping
  return mapping.copy_tree();
}

/// Merges one mapping into another: mappings recursively; other values replace.
void merge_over(DocumentTree& under, const DocumentTree& over) {
  for (const auto& [key, value] : tree_members(over)) {
    DocumentTree* present = under.find(key);
    if (present != nullptr && present->kind == DocumentTree::TreeValueKind::kMapping &&
        value.kind == DocumentTree::TreeValueKind::kMapping) {
      merge_over(*present, value);
    } else {
      under.set(key, value);
    }
  }
}

/// True if a row's job names its model, so that no column needs to give sizes.
bool names_model(const DocumentTree& job) {
  const DocumentTree* model = job.find("model");
  return model != nullptr && model->kind == DocumentTree::TreeValueKind::kScalar;
}

bool says_model(const PublishedRunRow& row, const plan::Job* of) {
  return of == nullptr || !row.model.empty() || row.layers;
}

/// Returns the first required column that is empty; nullopt: none.
std::optional<SkippedRowReason> silent_column(const PublishedRunRow& row, const plan::Job* of,
                                              const DocumentTree& job) {
  const bool own = says_model(row, of) && !names_model(job);
  const DocumentTree* model = job.find("model");
  const bool has_width =
      row.ffn || (model != nullptr && (model->find("ffn") || model->find("experts")));
  const std::pair<std::string_view, bool> columns[] = {
      {"layers", !own || row.layers},
      {"hidden", !own || row.hidden},
      {"heads", !own || row.heads},
      {"vocab", !own || row.vocabulary},
      {"seq_len", row.length.has_value()},
      {"ffn_hidden", !own || has_width},
      {"gpus", row.gpus.has_value()},
      {"tp", row.tensor.has_value()},
      {"pp", row.pipeline.has_value()},
      {"global_batch", row.global_batch.has_value()},
      {"micro_batch", row.micro_batch.has_value()},
      {"vpp", row.chunks || row.pipeline == 1}};
  for (const auto& [column, says] : columns) {
    if (!says) return SkippedRowReason{fmt::format("{} not stated", column)};
  }
  return std::nullopt;
}

DocumentTree model_of(const PublishedRunRow& row) {
  DocumentTree model = DocumentTree::make_empty_mapping();
  model.set("name", row.model).set("layers", *row.layers).set("hidden", *row.hidden);
  model.set("heads", *row.heads).set("kv_heads", row.kv_heads.value_or(*row.heads));
  model.set("vocab", *row.vocabulary).set("positions", *row.length);
  if (row.ffn) model.set("ffn", *row.ffn);
  return model;
}

/// Returns the cluster's profile; a file is relative to the working directory, not to the table's
/// folder.
std::string profile_of(const std::string& cluster) {
  return path_exists(cluster) ? std::filesystem::absolute(cluster).string() : cluster;
}

/// True if a row names another framework than the job whose run it is.
bool says_other_framework(const DocumentTree& said, const plan::Job* of) {
  const DocumentTree* framework = said.find("framework");
  return framework != nullptr && (of == nullptr || framework->text != of->framework.name);
}

/// Returns the values of the job known without the row. If the row has its own framework, the job's
/// kernels and optimizer are left out.
DocumentTree known_job(const plan::Job* of, bool own_framework) {
  DocumentTree known = DocumentTree::make_empty_mapping();
  if (of == nullptr) return known;
  plan::PlannedJob planned{.job = *of, .plan = {}};
  planned.job.space = {};
  const DocumentTree file = plan::plan_file_tree(planned, false);
  const DocumentTree& job = *file.find("job");
  for (const auto& [key, value] : tree_members(job)) {
    if (own_framework && (key == "kernels" || key == "optimizer")) continue;
    known.set(key, value);
  }
  return known;
}

DocumentTree job_of(const PublishedRunRow& row, const plan::Job* of, DocumentTree said) {
  DocumentTree job = known_job(of, says_other_framework(said, of));
  if (says_model(row, of) && !names_model(said)) job.set("model", model_of(row));
  if (!row.cluster.empty())
    said.set("cluster", DocumentTree::make_empty_mapping().set("profile", profile_of(row.cluster)));
  const DocumentTree* cluster = said.find("cluster");
  const bool says_nodes = cluster != nullptr && cluster->find("nodes") != nullptr;
  if (of == nullptr || cluster != nullptr) {
    DocumentTree devices = DocumentTree::make_empty_mapping();
    if (!says_nodes) devices.set("devices", *row.gpus);
    job.set("cluster", std::move(devices));
  }
  job.set("batch", DocumentTree::make_empty_mapping()
                       .set("sequences", *row.global_batch)
                       .set("length", *row.length));
  merge_over(job, said);
  return job;
}

/// Builds the plan file of a row.
DocumentTree file_of(const PublishedRunRow& row, DocumentTree job, const DocumentTree& said) {
  const std::int64_t replica = *row.tensor * *row.pipeline * row.context.value_or(1);
  DocumentTree degrees = DocumentTree::make_empty_mapping();
  degrees.set("tensor", *row.tensor).set("pipeline", *row.pipeline);
  degrees.set("context", row.context.value_or(1)).set("expert", row.expert.value_or(1));
  degrees.set("data", *row.gpus / replica);
  DocumentTree file = DocumentTree::make_empty_mapping();
  file.set("stepwright", "plan/2").set("job", std::move(job)).set("parallel", degrees);
  file.set("micro_batch", *row.micro_batch);
  if (*row.pipeline > 1 && *row.chunks > 1) {
    const auto kind =
        name_of(schedule::kScheduleKindNames, schedule::PipelineScheduleKind::kInterleaved);
    file.set("schedule",
             DocumentTree::make_empty_mapping().set("kind", kind).set("chunks", *row.chunks));
  }
  merge_over(file, said);
  return file;
}

plan::PlannedJob read(const DocumentTree& file, const PublishedRunRow& row) {
  return plan::read_plan(YamlJsonDocument::from_tree(file, "row"), row.folder);
}

/// Reads the plan file of a row; absent choices come from the recipe of its framework.
plan::PlannedJob read_with_recipe(DocumentTree file, const PublishedRunRow& row) {
  plan::PlannedJob planned = read(file, row);
  const bool shards = file.find("sharding") != nullptr;
  const bool splits = *row.tensor == 1 || file.find("sequence_parallel") != nullptr;
  if (shards && splits) return planned;
  const plan::FrameworkDefaults& defaults = plan::framework_defaults(planned.job.framework);
  if (!shards) file.set("sharding", plan::sharding_letters(defaults.recipe_sharding));
  if (!splits) file.set("sequence_parallel", defaults.recipe_sequence_parallel);
  return read(file, row);
}

std::variant<TableRowPlan, SkippedRowReason> made_plan(const PublishedRunRow& row,
                                                       const plan::Job* of) {
  const DocumentTree said = cell_tree("job", row.job);
  if (const auto silent = silent_column(row, of, said)) return *silent;
  if (*row.gpus % (*row.tensor * *row.pipeline * row.context.value_or(1)) != 0) {
    return SkippedRowReason{"degrees do not divide the GPUs"};
  }
  const DocumentTree file = file_of(row, job_of(row, of, said), cell_tree("plan", row.plan));
  TableRowPlan made{.planned = read_with_recipe(file, row), .notes = {}};
  const auto& [job, plan] = made.planned;
  if (job.model.experts && !row.expert) return SkippedRowReason{"ep not stated"};
  if (const auto rule = plan::first_broken_rule(job, plan)) {
    return SkippedRowReason{fmt::format("no legal plan: {}", plan::plan_rule_name(*rule))};
  }
  if (file.find("job")->find("precision") == nullptr) {
    made.notes.emplace_back("precision not stated: bf16 assumed");
  }
  if (file.find("recompute") == nullptr) {
    made.notes.emplace_back("recompute not stated: none assumed");
  }
  return made;
}

}  // namespace

std::variant<TableRowPlan, SkippedRowReason> job_and_plan_of_row(const PublishedRunRow& row,
                                                                 const plan::Job* of) {
  if (!row.no_plan.empty()) return SkippedRowReason{row.no_plan};
  try {
    return made_plan(row, of);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRuntime) throw;
    return SkippedRowReason{"no job with a plan", error.what()};
  }
}

}  // namespace stepwright::validate
