#include "stepwright/framework_files/draft/tables.h"

#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/recognition/embedded.h"

namespace stepwright::framework_files {
namespace {

constexpr Named<bool> kWrites[] = {{true, "always"}};

}  // namespace

YamlJsonDocument parse_embedded_table(std::string_view name) {
  const EmbeddedFile* file = find_embedded_file(embedded_tables(), name);
  if (file == nullptr) fail_input(fmt::format("there is no table '{}'", name));
  return YamlJsonDocument::parse(file->text, fmt::format("{}.yaml", name));
}

std::vector<std::string_view> embedded_table_names() {
  return embedded_file_names(embedded_tables());
}

std::vector<std::string> single_text_or_text_list(DocumentNode row, std::string_view one,
                                                  std::string_view several) {
  const auto list = row.find(several);
  if (!list) return {row.get(one).text()};
  if (row.find(one)) row.fail(fmt::format("has both {} and {}: give only one", one, several));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < list->size(); ++i) texts.push_back(list->at(i).text());
  return texts;
}

std::string_view TableTextStore::store_table_row_text(DocumentNode row, std::string_view key) {
  const auto value = row.find(key);
  return value ? store_table_row_text(value->text()) : std::string_view();
}

void check_settings_table_source(DocumentNode group) {
  if (group.get("source").text().empty()) {
    group.fail("needs a source: where the program defines its settings");
  }
}

void visit_rows_of_yaml_table(
    const YamlJsonDocument& table, std::string_view list,
    const std::function<void(DocumentNode row, const std::string& source)>& visit) {
  const DocumentNode groups = table.root();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const DocumentNode group = groups.at(i);
    group.allow_only_keys({"source", "places", "rows", "arguments", "idle", "optimizers",
                           "families", "sizes", "telling"});
    check_settings_table_source(group);
    const std::string source = group.get("source").text();
    const auto rows = group.find(list);
    for (std::size_t row = 0; rows && row < rows->size(); ++row) visit(rows->at(row), source);
  }
}

KnownSettingTable::KnownSettingTable(const YamlJsonDocument& document) {
  visit_rows_of_yaml_table(document, "rows",
                           [&](DocumentNode row, const std::string& source) { add(row, source); });
}

void KnownSettingTable::add(DocumentNode row, const std::string& source) {
  row.allow_only_keys({"key", "keys", "field", "matters", "leaves_out", "harmless", "taken",
                       "usual", "needs", "when", "write"});
  const auto matters = row.find("matters");
  KnownSetting setting{.name = {},
                       .field = texts_.store_table_row_text(row, "field"),
                       .leaves_out = texts_.store_table_row_text(row, "leaves_out"),
                       .harmless = texts_.store_table_row_text(row, "harmless"),
                       .source = texts_.store_table_row_text(source),
                       .usual = by_framework(row, "usual"),
                       .needs = by_framework(row, "needs"),
                       .when = texts_.store_table_row_text(row, "when")};
  if (const auto write = row.find("write")) setting.always = write->choice(kWrites);
  const auto taken = row.find("taken");
  for (std::size_t i = 0; taken && i < taken->size(); ++i) {
    setting.taken.push_back(texts_.store_table_row_text(taken->at(i).text()));
  }
  const bool leaves_out = row.find("leaves_out").has_value();
  if (leaves_out) setting.matters = SettingImpact::kYes;
  if (matters) setting.matters = matters->choice(kSettingImpactNames);
  const bool open = setting.matters == SettingImpact::kMaybe;
  if ((setting.matters != SettingImpact::kNo) != leaves_out ||
      (leaves_out && setting.leaves_out.empty() && !open)) {
    row.fail("needs leaves_out where it matters, and only there");
  }
  for (std::string& name : single_text_or_text_list(row, "key", "keys")) {
    setting.name = texts_.store_table_row_text(std::move(name));
    rows_.push_back(setting);
  }
}

PerFrameworkText KnownSettingTable::by_framework(DocumentNode row, std::string_view key) {
  const auto words = row.find(key);
  if (!words) return {};
  if (words->is_scalar())
    return {{{kOtherFrameworksKey, texts_.store_table_row_text(words->text())}}};
  PerFrameworkText found;
  for (const auto& [framework, word] : words->mapping_members()) {
    if (framework == kOtherFrameworksKey) continue;
    found.words.emplace_back(texts_.store_table_row_text(framework),
                             texts_.store_table_row_text(word.text()));
  }
  found.words.emplace_back(kOtherFrameworksKey,
                           texts_.store_table_row_text(words->get(kOtherFrameworksKey).text()));
  return found;
}

std::span<const KnownSetting> known_program_settings(std::string_view table) {
  return loaded_table<KnownSettingTable>(table).rows();
}

const KnownSetting& find_setting_row(std::string_view table, std::string_view key) {
  const KnownSetting* found = find_known_setting(known_program_settings(table), key);
  if (found == nullptr) fail_input(fmt::format("{}.yaml: has no row '{}'", table, key));
  return *found;
}

}  // namespace stepwright::framework_files
