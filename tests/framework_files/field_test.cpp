#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/changed_lines.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/plan/files.h"
#include "tests/framework_files/imported.h"

namespace stepwright::framework_files {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

constexpr std::string_view kFieldFolder = "tests/framework_files/field/";
constexpr std::string_view kFieldModel =
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
    "--max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 256 --vocab-size "
    "32000 "
    "--bf16";

/// Launch files, and what must be read from them.
struct FieldCase {
  std::string name;
  std::vector<launch_scripts::SourceFile> files;
  UserFacts given;
  std::vector<std::pair<std::string, std::string>> plan;  ///< Expected fields and their values.
  /// Settings that must be listed as not read, and whether they matter.
  std::vector<std::pair<std::string, std::string>> not_read;
  std::vector<std::string> assumed, notes, refused;
};

std::vector<std::pair<std::string, std::string>> pairs_below(DocumentNode node,
                                                             std::string_view key) {
  std::vector<std::pair<std::string, std::string>> pairs;
  if (const auto found = node.find(key)) {
    for (const auto& [name, value] : found->mapping_members())
      pairs.emplace_back(name, value.text());
  }
  return pairs;
}

std::vector<std::string> list_below(DocumentNode node, std::string_view key) {
  std::vector<std::string> texts;
  const auto found = node.find(key);
  for (std::size_t i = 0; found && i < found->size(); ++i) texts.push_back(found->at(i).text());
  return texts;
}

FieldCase read_field_case(DocumentNode node) {
  FieldCase one{.name = node.get("case").text(), .files = {}, .given = {.cluster = "dgx-h100"}};
  for (auto& [name, text] : pairs_below(node, "write")) {
    for (std::size_t at = text.find("MODEL"); at != std::string::npos;
         at = text.find("MODEL", at)) {
      text.replace(at, 5, kFieldModel);
      at += kFieldModel.size();
    }
    one.files.push_back({name, text});
  }
  for (const std::string& name : list_below(node, "files")) {
    one.files.push_back({name, read_text_file(std::string(kFieldFolder) + name)});
  }
  if (const auto gpus = node.find("gpus")) one.given.devices = gpus->integer(1);
  if (const auto nodes = node.find("nodes")) one.given.nodes = nodes->integer(1);
  if (const auto batch = node.find("batch")) one.given.batch = batch->text();
  one.given.settings = list_below(node, "set");
  one.plan = pairs_below(node, "plan");
  one.not_read = pairs_below(node, "not_read");
  one.assumed = list_below(node, "assumed");
  one.notes = list_below(node, "notes");
  one.refused = list_below(node, "refused");
  return one;
}

/// Returns the value at a dotted path of a plan file; "absent": there is none.
std::string value_at(const plan::PlannedJob& planned, const std::string& place) {
  if (place == "devices") return std::to_string(planned.job.cluster.devices());
  if (place == "vocabulary") return std::to_string(planned.job.model.vocabulary);
  if (place == "job.adapters.targets") {
    const auto& adapters = planned.job.model.adapters;
    if (!adapters) return "absent";
    return adapters->targets == model::possible_adapter_targets(planned.job.model) ? "all" : "some";
  }
  const auto file = plan::plan_json(planned);
  const auto* value = &file;
  for (std::size_t at = 0; at <= place.size();) {
    const std::size_t dot = std::min(place.find('.', at), place.size());
    const std::string key = place.substr(at, dot - at);
    if (!value->is_object() || !value->contains(key)) return "absent";
    value = &(*value)[key];
    at = dot + 1;
  }
  return value->is_string() ? value->get<std::string>() : value->dump();
}

/// True if an error contains everything that a case expects.
bool is_expected_refusal(const FieldCase& one, const std::string& message) {
  return !one.refused.empty() && std::ranges::all_of(one.refused, [&](const std::string& words) {
    return message.find(words) != std::string::npos;
  });
}

void expect_report(const FieldCase& one, const ImportedPlan& imported) {
  for (const auto& [name, matters] : one.not_read) {
    const auto& not_read = imported.report.not_read;
    const auto listed = std::ranges::find(not_read, name, &SettingNotInPlan::name);
    const bool there = listed != not_read.end();
    EXPECT_EQ(there ? name_of(kSettingImpactNames, listed->matters) : "absent", matters) << name;
  }
  for (const std::string& field : one.assumed) {
    EXPECT_THAT(imported.report.assumed, Contains(Field(&AssumedPlanField::field, field)));
  }
  for (const std::string& words : one.notes) {
    EXPECT_THAT(imported.planned.job.notes, Contains(HasSubstr(words)));
  }
}

void expect_case(const FieldCase& one) try {
  const ImportedPlan imported = import_plan_files("", one.files, one.given);
  EXPECT_TRUE(one.refused.empty()) << "is read";
  for (const auto& [place, value] : one.plan) {
    EXPECT_EQ(value_at(imported.planned, place), value) << place;
  }
  expect_report(one, imported);
} catch (const Error& error) {
  EXPECT_TRUE(is_expected_refusal(one, error.what())) << error.what();
}

TEST(FieldFiles, AreReadAsTheirProgramsReadThem) {
  const YamlJsonDocument document =
      YamlJsonDocument::load(std::string(kFieldFolder) + "cases.yaml");
  for (std::size_t i = 0; i < document.root().size(); ++i) {
    const FieldCase one = read_field_case(document.root().at(i));
    SCOPED_TRACE(one.name);
    expect_case(one);
  }
}

/// Returns the lines that an import's files need to turn recomputation off.
std::vector<std::string> lines_without_recomputation(const ImportedPlan& imported) {
  plan::PlannedJob after = imported.planned;
  after.plan.recompute = {};
  EXPECT_NE(after.plan, imported.planned.plan);
  return changed_launch_file_lines(imported.target, imported.planned, after);
}

TEST(ChangedLines, AreThoseThatThePersonsFilesHave) {
  // DeepSpeed's JSON states recomputation only under `stepwright`, which a user's file does not
  // have.
  const ImportedPlan json = import_text(
      "deepspeed", "zero.json",
      R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true},
          "zero_optimization": {"stage": 3}, "stepwright": {"recompute": "full"}})",
      {.model = "llama-3.1-8b", .batch = "64x4096"});
  EXPECT_THAT(lines_without_recomputation(json), ::testing::IsEmpty());
  // No file is written for NeMo-RL's trainer on FSDP: the program that `fsdp` writes is another.
  const ImportedPlan dtensor = import_text("nemo-rl", "sft.yaml", R"(
policy:
  model_name: meta-llama/Llama-3.1-8B
  train_global_batch_size: 64
  train_micro_batch_size: 1
  max_total_sequence_length: 4096
  precision: bfloat16
  dtensor_cfg: {enabled: true, activation_checkpointing: true, tensor_parallel_size: 1, context_parallel_size: 1}
cluster: {gpus_per_node: 8, num_nodes: 2}
)");
  EXPECT_THAT(lines_without_recomputation(dtensor), ::testing::IsEmpty());
}

}  // namespace
}  // namespace stepwright::framework_files
