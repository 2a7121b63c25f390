#include "stepwright/framework_files/draft/tables.h"

#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/recognition/embedded.h"

namespace stepwright::framework_files {
namespace {

constexpr Named<bool> kWrites[] = {{true, "always"}};

}  // namespace

Document parse_embedded_table(std::string_view name) {
  const EmbeddedFile* file = find_embedded_file(embedded_tables(), name);
  if (file == nullptr) fail_input(fmt::format("there is no table '{}'", name));
  return Document::parse(file->text, fmt::format("{}.yaml", name));
}

std::vector<std::string_view> embedded_table_names() {
  return embedded_file_names(embedded_tables());
}

std::vector<std::string> one_or_several_texts(Node row, std::string_view one,
                                              std::string_view several) {
  const auto list = row.find(several);
  if (!list) return {row.get(one).text()};
  if (row.find(one)) row.fail(fmt::format("has {} and {}: one of them is enough", one, several));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < list->size(); ++i) texts.push_back(list->at(i).text());
  return texts;
}

std::string_view TableTextStore::keep(Node row, std::string_view key) {
  const auto value = row.find(key);
  return value ? keep(value->text()) : std::string_view();
}

void check_table_source(Node group) {
  if (group.get("source").text().empty()) {
    group.fail("needs a source: where the program defines its settings");
  }
}

void visit_table_rows(const Document& table, std::string_view list,
                      const std::function<void(Node row, const std::string& source)>& visit) {
  const Node groups = table.root();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Node group = groups.at(i);
    group.allow_only({"source", "places", "rows", "arguments", "idle", "optimizers", "families",
                      "sizes", "telling"});
    check_table_source(group);
    const std::string source = group.get("source").text();
    const auto rows = group.find(list);
    for (std::size_t row = 0; rows && row < rows->size(); ++row) visit(rows->at(row), source);
  }
}

KnownSettingTable::KnownSettingTable(const Document& document) {
  visit_table_rows(document, "rows",
                   [&](Node row, const std::string& source) { add(row, source); });
}

void KnownSettingTable::add(Node row, const std::string& source) {
  row.allow_only({"key", "keys", "field", "matters", "leaves_out", "harmless", "taken", "usual",
                  "needs", "when", "write"});
  const auto matters = row.find("matters");
  KnownSetting setting{.name = {},
                       .field = texts_.keep(row, "field"),
                       .leaves_out = texts_.keep(row, "leaves_out"),
                       .harmless = texts_.keep(row, "harmless"),
                       .source = texts_.keep(source),
                       .usual = by_framework(row, "usual"),
                       .needs = by_framework(row, "needs"),
                       .when = texts_.keep(row, "when")};
  if (const auto write = row.find("write")) setting.always = write->choice(kWrites);
  const auto taken = row.find("taken");
  for (std::size_t i = 0; taken && i < taken->size(); ++i) {
    setting.taken.push_back(texts_.keep(taken->at(i).text()));
  }
  const bool leaves_out = row.find("leaves_out").has_value();
  if (leaves_out) setting.matters = SettingImpact::kYes;
  if (matters) setting.matters = matters->choice(kSettingImpactNames);
  const bool open = setting.matters == SettingImpact::kMaybe;
  if ((setting.matters != SettingImpact::kNo) != leaves_out ||
      (leaves_out && setting.leaves_out.empty() && !open)) {
    row.fail("needs leaves_out where it matters, and only there");
  }
  for (std::string& name : one_or_several_texts(row, "key", "keys")) {
    setting.name = texts_.keep(std::move(name));
    rows_.push_back(setting);
  }
}

PerFrameworkText KnownSettingTable::by_framework(Node row, std::string_view key) {
  const auto words = row.find(key);
  if (!words) return {};
  if (words->is_scalar()) return {{{kOtherFrameworksKey, texts_.keep(words->text())}}};
  PerFrameworkText found;
  for (const auto& [framework, word] : words->members()) {
    if (framework == kOtherFrameworksKey) continue;
    found.words.emplace_back(texts_.keep(framework), texts_.keep(word.text()));
  }
  found.words.emplace_back(kOtherFrameworksKey,
                           texts_.keep(words->get(kOtherFrameworksKey).text()));
  return found;
}

std::span<const KnownSetting> known_settings(std::string_view table) {
  return loaded_table<KnownSettingTable>(table).rows();
}

const KnownSetting& find_setting_row(std::string_view table, std::string_view key) {
  const KnownSetting* found = find_known_setting(known_settings(table), key);
  if (found == nullptr) fail_input(fmt::format("{}.yaml: has no row '{}'", table, key));
  return *found;
}

}  // namespace stepwright::framework_files
