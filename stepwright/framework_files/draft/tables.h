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

/// Reads a table by folder and name, `megatron/settings`: a list of groups, each a `source`, which
/// says where the program defines its settings, and `rows` (`SettingTable`), `places`
/// (`megatron/carried_fields.h`), `arguments` and `idle` (`megatron/arguments.h`), or others. Fails
/// with `kInput` where there is none of that name.
Document table_document(std::string_view name);

/// The names of all tables, sorted.
std::vector<std::string_view> table_names();

/// Returns a table as a `Table`, which is made of its document when it is first asked for. Fails
/// with `kInput` where there is none of that name.
template <class Table>
const Table& loaded_table(std::string_view name) {
  using Tables = std::map<std::string_view, std::unique_ptr<Later<Table>>>;
  static const Tables kTables = [] {
    Tables tables;
    for (const std::string_view each : table_names()) {
      const std::function<Table()> load = [each] { return Table(table_document(each)); };
      tables.emplace(each, std::make_unique<Later<Table>>(load));
    }
    return tables;
  }();
  const auto found = kTables.find(name);
  // The document of an unknown table cannot be read: the call fails.
  if (found == kTables.end()) static_cast<void>(table_document(name));
  return found->second->get();
}

/// Fails with `kInput` on a group without a source.
void check_source(Node group);

/// Visits the rows of a list (`rows`) in each group of a table. Fails with `kInput` on a group
/// without a source.
void each_row(const Document& table, std::string_view list,
              const std::function<void(Node row, const std::string& source)>& visit);

/// The texts below `one`, or the list below `several`, of which a row has exactly one.
std::vector<std::string> texts_of(Node row, std::string_view one, std::string_view several);

/// Texts to which the rows of a table point. They stay in their place when the owner is moved.
class KeptTexts {
 public:
  std::string_view keep(std::string text) { return *texts_.insert(std::move(text)).first; }
  /// The text below a key; empty if absent.
  std::string_view keep(Node row, std::string_view key);

 private:
  std::set<std::string> texts_;
};

/// Settings of a program. The first row counts whose key fits a setting's name.
class SettingTable {
 public:
  /// Reads `{key, field, matters, leaves_out, harmless}`, with `keys` for several settings alike:
  /// the members of `KnownSetting`. `write: always` is `always`; `usual` and `needs` are a word, or
  /// a mapping from frameworks and `others` to words. A row with `leaves_out` matters, unless it
  /// says `matters: unknown`; `leaves_out: ""`: nobody knows what. Fails with `kInput` on a group
  /// without a source, and on a row without a key.
  explicit SettingTable(const Document& document);
  SettingTable(SettingTable&&) = default;
  SettingTable& operator=(SettingTable&&) = default;

  [[nodiscard]] std::span<const KnownSetting> rows() const { return rows_; }

 private:
  void add(Node row, const std::string& source);
  ByFramework by_framework(Node row, std::string_view key);

  KeptTexts texts_;
  std::vector<KnownSetting> rows_;
};

/// The settings of a table (`axolotl/settings`), which is read when it is first asked for.
std::span<const KnownSetting> known_settings(std::string_view table);

/// The row of a setting in a table. Fails with `kInput` if there is none.
const KnownSetting& setting_of(std::string_view table, std::string_view key);

}  // namespace stepwright::framework_files
