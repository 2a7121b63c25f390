#include "stepwright/framework_files/megatron/carried_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "stepwright/core/mapping_builder.h"
#include "stepwright/core/tree_members.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/forms/references.h"
#include "stepwright/framework_files/megatron/model.h"
#include "stepwright/framework_files/megatron/plan.h"

namespace stepwright::framework_files {
namespace {

/// Collects a file's settings: fields of Megatron-Core under their names there, others under their
/// paths.
class Gatherer {
 public:
  explicit Gatherer(std::span<const MegatronFieldPath> places) : places_(places) {}

  void walk(DocumentNode node, const std::string& prefix) {
    for (const auto& [key, value] : node.mapping_members()) {
      const std::string path = prefix + key;
      const std::string_view field = field_of(path, key);
      if (value.is_null()) continue;
      if (value.is_mapping() && leads_to_place(path)) {
        walk(value, path + ".");
      } else if (!field.empty()) {
        fields_.set(field, copy_tree_with_file_positions(value));
      } else {
        fields_.set(path, copy_tree_with_file_positions(value));
      }
    }
  }

  [[nodiscard]] TreeMappingBuilder& fields() { return fields_; }

 private:
  [[nodiscard]] std::string_view field_of(std::string_view path, std::string_view key) const {
    const auto* const exact =
        std::to_address(std::ranges::find(places_, path, &MegatronFieldPath::path));
    if (exact != std::to_address(places_.end())) return exact->field;
    const bool named = std::ranges::any_of(places_, [&](const MegatronFieldPath& place) {
      if (!place.path.ends_with(".*")) return false;
      const std::string_view section = place.path.substr(0, place.path.size() - 1);
      return path.starts_with(section) && path.substr(section.size()) == key;
    });
    return named ? key : std::string_view();
  }

  [[nodiscard]] bool leads_to_place(std::string_view path) const {
    return std::ranges::any_of(places_, [&](const MegatronFieldPath& place) {
      return place.path.starts_with(path) && place.path.size() > path.size() &&
             place.path[path.size()] == '.';
    });
  }

  std::span<const MegatronFieldPath> places_;
  TreeMappingBuilder fields_;
};

/// True if a file states other sizes than those of the model that it names.
bool changes_model(const DocumentTree& said, const DocumentTree& sizes) {
  for (const auto& [key, value] : tree_members(said)) {
    const KnownSetting* known =
        find_known_setting(known_program_settings("megatron/settings"), key);
    const DocumentTree* size = sizes.find(key);
    const bool same = size != nullptr && size->text == value.text;
    if (known != nullptr && known->field == "job.model" && !same) return true;
  }
  return false;
}

std::set<std::string> keys_of(const DocumentTree& mapping) {
  std::set<std::string> keys;
  for (const auto& [key, value] : tree_members(mapping)) keys.insert(key);
  return keys;
}

/// Moves settings that a reader has read through `root`, the file's own form, from the unread to
/// the read ones.
void move_asked(const FrameworkSettingsReader& root, std::span<const KnownSetting> known,
                ImportReport& report) {
  for (const SettingNotInPlan& one : report.not_read) {
    if (!root.was_setting_read(one.name)) continue;
    const KnownSetting* setting = find_known_setting(known, one.name);
    report.read.push_back({one.name, one.value, one.file, one.line,
                           std::string(setting == nullptr ? "" : setting->field)});
  }
  std::erase_if(report.not_read,
                [&](const SettingNotInPlan& one) { return root.was_setting_read(one.name); });
}

}  // namespace

MegatronFieldPathTable::MegatronFieldPathTable(const YamlJsonDocument& document) {
  visit_rows_of_yaml_table(
      document, "places", [&](DocumentNode row, const std::string& /*source*/) {
        row.allow_only_keys({"path", "paths", "field"});
        for (std::string& path : single_text_or_text_list(row, "path", "paths")) {
          places_.push_back({texts_.store_table_row_text(std::move(path)),
                             texts_.store_table_row_text(row, "field")});
        }
      });
}

std::span<const MegatronFieldPath> megatron_field_paths(std::string_view table) {
  return loaded_table<MegatronFieldPathTable>(table).places();
}

DocumentTree flat_megatron_settings(DocumentNode root, std::span<const MegatronFieldPath> places) {
  Gatherer gatherer(places);
  gatherer.walk(root, "");
  return gatherer.fields().finished_mapping();
}

void visit_written_megatron_fields(
    const plan::PlannedJob& planned, const DocumentTree& fields, std::string_view table,
    const std::function<void(const std::string& field, const DocumentTree& value)>& visit) {
  DocumentTree sizes = DocumentTree::make_empty_mapping();
  add_megatron_model_fields(sizes, planned.job.model);
  for (const auto& [field, value] : tree_members(fields)) {
    const bool said = !meaning_of_program_setting_word(table, "unwritten", field).empty();
    if (sizes.find(field) == nullptr && !said) visit(field, value);
  }
}

PlanDraft read_plan_from_megatron_fields(const MegatronFieldSources& text,
                                         const FrameworkSettingsReader& root,
                                         std::span<const KnownSetting> known,
                                         const UserFacts& given, PlanDraft draft,
                                         ImportReport& the_report, const std::string& file) {
  const std::optional<model::ModelArchitecture> base =
      given.known_model ? given.known_model : draft.model;
  // Sizes in the file override those of the model that it names.
  const bool named = base && (draft.model || text.said.find("num_layers") == nullptr);
  const DocumentTree sizes =
      named ? megatron_model_sizes(*base) : DocumentTree::make_empty_mapping();
  DocumentTree fields = sizes;
  std::set<std::string> added = keys_of(fields);
  std::vector<KnownSetting> table(known.begin(), known.end());
  const std::span<const KnownSetting> fields_known = known_program_settings("megatron/settings");
  table.insert(table.end(), fields_known.begin(), fields_known.end());
  for (const std::string& key : keys_of(text.usual)) {
    const KnownSetting* setting = find_known_setting(table, key);
    const bool open = text.said.find(key) == nullptr && text.derived.find(key) == nullptr;
    if (!open || setting == nullptr) continue;
    the_report.add_assumption(std::string(setting->field),
                              fmt::format("default of {}", text.program));
  }
  for (const DocumentTree* part : {&text.usual, &text.derived}) {
    replace_mapping_members(fields, *part);
    added.merge(keys_of(*part));
  }
  replace_mapping_members(fields, text.said);
  for (const std::string& key : keys_of(text.said)) added.erase(key);
  const YamlJsonDocument document = YamlJsonDocument::from_tree(fields, file);
  const FrameworkSettingsReader all(document.root());
  draft = read_megatron_fields(all, std::move(draft), the_report, given, file);
  if (named && !changes_model(text.said, sizes)) {
    draft.model = given.known_model ? std::nullopt : base;
  }
  ImportReport report;
  report_read_and_unread_settings(all, file, table, report);
  move_asked(root, table, report);
  const auto was_added = [&](const auto& one) { return added.contains(one.name); };
  std::erase_if(report.read, was_added);
  std::erase_if(report.not_read, was_added);
  the_report.read.insert(the_report.read.end(), report.read.begin(), report.read.end());
  the_report.not_read.insert(the_report.not_read.end(), report.not_read.begin(),
                             report.not_read.end());
  return draft;
}

}  // namespace stepwright::framework_files
