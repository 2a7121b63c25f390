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

/// Reads a table by folder and name, such as `megatron/settings`. A table is a list of groups, each
/// with a `source`, which says where the program defines its settings, and a list of `rows`
/// (`SettingTable`), `places` (`megatron/carried_fields.h`), `arguments` and `idle`
/// (`megatron/arguments.h`), or others. Fails with `kInput` if there is no such table.
Document table_document(std::string_view name);

/// Returns the names of all tables, sorted.
std::vector<std::string_view> table_names();

/// Returns a table as a `Table`, which is built from its document when it is first asked for. Fails
/// with `kInput` if there is no such table.
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
  // This call fails, because the table does not exist.
  if (found == kTables.end()) static_cast<void>(table_document(name));
  return found->second->get();
}

/// Fails with `kInput` if a group of table rows has no source.
void check_source(Node group);

/// Calls `visit` for each row of the list `list` in each group of a table. Fails with `kInput` if a
/// group has no source.
void visit_table_rows(const Document& table, std::string_view list,
                      const std::function<void(Node row, const std::string& source)>& visit);

/// Returns the text under `one` as a list, or the list under `several`; a row must have exactly one
/// of the two keys.
std::vector<std::string> row_texts(Node row, std::string_view one, std::string_view several);

/// Owner of the texts to which table rows point. Texts keep their address when the owner is moved.
class TextStore {
 public:
  std::string_view keep(std::string text) { return *texts_.insert(std::move(text)).first; }
  /// Stores the text under a key of a table row; empty if the key is absent.
  std::string_view keep(Node row, std::string_view key);

 private:
  std::set<std::string> texts_;
};

/// Known settings of a program. If several rows match a setting's name, the first one counts.
class SettingTable {
 public:
  /// Reads rows `{key, field, matters, leaves_out, harmless}`, or `keys` for several settings of
  /// the same kind, into `KnownSetting`. `write: always` sets `always`; `usual` and `needs` are a
  /// word, or a mapping from frameworks and `others` to words. A row with `leaves_out` matters,
  /// unless it has `matters: unknown`; `leaves_out: ""` means an unknown effect. Fails with
  /// `kInput` if a group has no source or a row no key.
  explicit SettingTable(const Document& document);
  SettingTable(SettingTable&&) = default;
  SettingTable& operator=(SettingTable&&) = default;

  [[nodiscard]] std::span<const KnownSetting> rows() const { return rows_; }

 private:
  void add(Node row, const std::string& source);
  FrameworkWord by_framework(Node row, std::string_view key);

  TextStore texts_;
  std::vector<KnownSetting> rows_;
};

/// Returns the settings of a table (`axolotl/settings`), which is read when it is first asked for.
std::span<const KnownSetting> known_settings(std::string_view table);

/// Returns the row of a setting in a table. Fails with `kInput` if there is none.
const KnownSetting& setting_row(std::string_view table, std::string_view key);

}  // namespace stepwright::framework_files
