#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/later.h"
#include "stepwright/framework_files/draft/import_report.h"

namespace stepwright::framework_files {

/// Parses a compiled-in YAML table, named by folder and file: `megatron/settings`. A table is a
/// list of groups, each with a `source` (where the framework defines its settings) and lists of
/// rows. Fails with `kInput` if there is no such table.
YamlJsonDocument parse_embedded_table(std::string_view name);

/// Returns the names of all compiled-in YAML tables, such as `megatron/settings`, sorted.
std::vector<std::string_view> embedded_table_names();

/// Returns a compiled-in YAML table as an object of class `ParsedYamlTable`, which is built at the
/// first call for this name and then kept. Fails with `kInput` if there is no such table.
template <class ParsedYamlTable>
const ParsedYamlTable& loaded_table(std::string_view name) {
  using Tables = std::map<std::string_view, std::unique_ptr<Later<ParsedYamlTable>>>;
  static const Tables kTables = [] {
    Tables tables;
    for (const std::string_view each : embedded_table_names()) {
      const std::function<ParsedYamlTable()> load = [each] {
        return ParsedYamlTable(parse_embedded_table(each));
      };
      tables.emplace(each, std::make_unique<Later<ParsedYamlTable>>(load));
    }
    return tables;
  }();
  const auto found = kTables.find(name);
  // This call fails, because the table does not exist.
  if (found == kTables.end()) static_cast<void>(parse_embedded_table(name));
  return found->second->get();
}

/// Fails with `kInput` if a group of a YAML table lacks the key `source`, which says where the
/// program defines its settings.
void check_settings_table_source(DocumentNode group);

/// Calls `visit` for each row of a YAML table of a program's settings: the rows under the key
/// `list` in each of its groups. Fails with `kInput` if a group has no `source` (where the program
/// defines the settings).
void visit_rows_of_yaml_table(
    const YamlJsonDocument& table, std::string_view list,
    const std::function<void(DocumentNode row, const std::string& source)>& visit);

/// Returns the texts that a row of a YAML table states under one of two keys: a single text under
/// the key named by `one`, or a list under the key named by `several`. Fails with `kInput` unless
/// the row has exactly one of the keys.
std::vector<std::string> single_text_or_text_list(DocumentNode row, std::string_view one,
                                                  std::string_view several);

/// Storage for the texts of a YAML table, to which the parsed rows refer by `std::string_view`.
/// Texts keep their address when the storage is moved.
class TableTextStore {
 public:
  std::string_view store_table_row_text(std::string text) {
    return *texts_.insert(std::move(text)).first;
  }
  /// Stores the text under a key of a YAML table's row, so that the returned view stays valid;
  /// empty if the key is absent.
  std::string_view store_table_row_text(DocumentNode row, std::string_view key);

 private:
  std::set<std::string> texts_;
};

/// Table of a program's known settings. If several rows match a setting's name, the first one
/// counts.
class KnownSettingTable {
 public:
  /// Reads rows with the fields of `KnownSetting` (`key`, or `keys` for several settings) from a
  /// YAML table. `usual` and `needs` are a text, or a mapping from frameworks to texts;
  /// `leaves_out` makes a setting important. Fails with `kInput` if a group has no source or a row
  /// no key.
  explicit KnownSettingTable(const YamlJsonDocument& document);
  KnownSettingTable(KnownSettingTable&&) = default;
  KnownSettingTable& operator=(KnownSettingTable&&) = default;

  [[nodiscard]] std::span<const KnownSetting> rows() const { return rows_; }

 private:
  void add(DocumentNode row, const std::string& source);
  PerFrameworkText by_framework(DocumentNode row, std::string_view key);

  TableTextStore texts_;
  std::vector<KnownSetting> rows_;
};

/// Returns the known settings of a program from a compiled-in table such as `axolotl/settings`.
std::span<const KnownSetting> known_program_settings(std::string_view table);

/// Returns the row of a setting in a settings table (`megatron/settings`). Fails with `kInput` if
/// there is none.
const KnownSetting& find_setting_row(std::string_view table, std::string_view key);

}  // namespace stepwright::framework_files
