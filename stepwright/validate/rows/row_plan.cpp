#include "stepwright/validate/rows/row_plan.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/tree.h"
#include "stepwright/plan/choices/write_choices.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/files/write_plan.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::validate {
namespace {

/// Reads the mapping in a cell.
Tree cell_tree(std::string_view column, const std::string& cell) {
  if (cell.empty()) return Tree::mapping();
  // A document that begins with a brace must be JSON; as the value of a key, the cell may also be
  // YAML.
  const Document document =
      Document::parse(fmt::format("{}: {}", column, cell), fmt::format("column {}", column));
  const Node mapping = document.root().get(column);
  static_cast<void>(mapping.members());  // fails unless it is a mapping
  return mapping.tree();
}

/// Merges one mapping into another: mappings recursively; other values replace.
void merge_over(Tree& under, const Tree& over) {
  for (std::size_t i = 0; i < over.items.size(); i += 2) {
    Tree* present = under.find(over.items[i].text);
    const Tree& value = over.items[i + 1];
    if (present != nullptr && present->kind == Tree::Kind::kMapping &&
        value.kind == Tree::Kind::kMapping) {
      merge_over(*present, value);
    } else {
      under.set(over.items[i].text, value);
    }
  }
}

/// True if a row's job names its model, so that no column needs to give sizes.
bool names_model(const Tree& job) {
  const Tree* model = job.find("model");
  return model != nullptr && model->kind == Tree::Kind::kScalar;
}

bool says_model(const RunRow& row, const plan::Job* of) {
  return of == nullptr || !row.model.empty() || row.layers;
}

/// Returns the first required column that is empty; nullopt: none.
std::optional<Skipped> silent_column(const RunRow& row, const plan::Job* of, const Tree& job) {
  const bool own = says_model(row, of) && !names_model(job);
  const Tree* model = job.find("model");
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
    if (!says) return Skipped{fmt::format("{} not stated", column)};
  }
  return std::nullopt;
}

Tree model_of(const RunRow& row) {
  Tree model = Tree::mapping();
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
bool says_other_framework(const Tree& said, const plan::Job* of) {
  const Tree* framework = said.find("framework");
  return framework != nullptr && (of == nullptr || framework->text != of->framework.name);
}

/// Returns the values of the job known without the row. If the row has its own framework, the job's
/// kernels and optimizer are left out.
Tree known_job(const plan::Job* of, bool own_framework) {
  Tree known = Tree::mapping();
  if (of == nullptr) return known;
  plan::PlannedJob planned{.job = *of, .plan = {}};
  planned.job.space = {};
  const Tree file = plan::plan_file_tree(planned, false);
  const Tree& job = *file.find("job");
  for (std::size_t i = 0; i < job.items.size(); i += 2) {
    const std::string& key = job.items[i].text;
    if (own_framework && (key == "kernels" || key == "optimizer")) continue;
    known.set(key, job.items[i + 1]);
  }
  return known;
}

Tree job_of(const RunRow& row, const plan::Job* of, Tree said) {
  Tree job = known_job(of, says_other_framework(said, of));
  if (says_model(row, of) && !names_model(said)) job.set("model", model_of(row));
  if (!row.cluster.empty())
    said.set("cluster", Tree::mapping().set("profile", profile_of(row.cluster)));
  const Tree* cluster = said.find("cluster");
  const bool says_nodes = cluster != nullptr && cluster->find("nodes") != nullptr;
  if (of == nullptr || cluster != nullptr) {
    Tree devices = Tree::mapping();
    if (!says_nodes) devices.set("devices", *row.gpus);
    job.set("cluster", std::move(devices));
  }
  job.set("batch", Tree::mapping().set("sequences", *row.global_batch).set("length", *row.length));
  merge_over(job, said);
  return job;
}

/// Builds the plan file of a row.
Tree file_of(const RunRow& row, Tree job, const Tree& said) {
  const std::int64_t replica = *row.tensor * *row.pipeline * row.context.value_or(1);
  Tree degrees = Tree::mapping();
  degrees.set("tensor", *row.tensor).set("pipeline", *row.pipeline);
  degrees.set("context", row.context.value_or(1)).set("expert", row.expert.value_or(1));
  degrees.set("data", *row.gpus / replica);
  Tree file = Tree::mapping();
  file.set("stepwright", "plan/2").set("job", std::move(job)).set("parallel", degrees);
  file.set("micro_batch", *row.micro_batch);
  if (*row.pipeline > 1 && *row.chunks > 1) {
    const auto kind = name_of(schedule::kScheduleKindNames, schedule::ScheduleKind::kInterleaved);
    file.set("schedule", Tree::mapping().set("kind", kind).set("chunks", *row.chunks));
  }
  merge_over(file, said);
  return file;
}

plan::PlannedJob read(const Tree& file, const RunRow& row) {
  return plan::read_plan(Document::from(file, "row"), row.folder);
}

/// Reads the plan file of a row; absent choices come from the recipe of its framework.
plan::PlannedJob read_with_recipe(Tree file, const RunRow& row) {
  plan::PlannedJob planned = read(file, row);
  const bool shards = file.find("sharding") != nullptr;
  const bool splits = *row.tensor == 1 || file.find("sequence_parallel") != nullptr;
  if (shards && splits) return planned;
  const plan::FrameworkDefaults& defaults = plan::framework_defaults(planned.job.framework);
  if (!shards) file.set("sharding", plan::sharding_letters(defaults.recipe_sharding));
  if (!splits) file.set("sequence_parallel", defaults.recipe_sequence_parallel);
  return read(file, row);
}

std::variant<RowPlan, Skipped> made_plan(const RunRow& row, const plan::Job* of) {
  const Tree said = cell_tree("job", row.job);
  if (const auto silent = silent_column(row, of, said)) return *silent;
  if (*row.gpus % (*row.tensor * *row.pipeline * row.context.value_or(1)) != 0) {
    return Skipped{"degrees do not divide the GPUs"};
  }
  const Tree file = file_of(row, job_of(row, of, said), cell_tree("plan", row.plan));
  RowPlan made{.planned = read_with_recipe(file, row), .notes = {}};
  const auto& [job, plan] = made.planned;
  if (job.model.experts && !row.expert) return Skipped{"ep not stated"};
  if (const auto rule = plan::first_broken_rule(job, plan)) {
    return Skipped{fmt::format("no legal plan: {}", plan::plan_rule_name(*rule))};
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

std::variant<RowPlan, Skipped> job_and_plan_of_row(const RunRow& row, const plan::Job* of) {
  if (!row.no_plan.empty()) return Skipped{row.no_plan};
  try {
    return made_plan(row, of);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRuntime) throw;
    return Skipped{"no job with a plan", error.what()};
  }
}

}  // namespace stepwright::validate
