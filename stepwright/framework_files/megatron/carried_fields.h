#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/framework_files/draft/tables.h"

namespace stepwright::framework_files {

// Configurations of other programs that carry the fields of Megatron-Core.

/// Where a file has a field of Megatron.
struct MegatronPlace {
  /// Dotted path in a file; with `.*` at the end, fields of a section under their own names.
  std::string_view path;
  std::string_view field;  ///< Empty for a section, and for what is left where it is.
};

/// The places of a table.
class PlaceTable {
 public:
  /// Reads `{path, field}` below `places`, with `paths` for several alike. Fails with `kInput` on a
  /// group without a source, and on a place without a path.
  explicit PlaceTable(const Document& document);
  PlaceTable(PlaceTable&&) = default;
  PlaceTable& operator=(PlaceTable&&) = default;

  [[nodiscard]] std::span<const MegatronPlace> places() const { return places_; }

 private:
  KeptTexts texts_;
  std::vector<MegatronPlace> places_;
};

/// The places of a table (`rl/verl`).
std::span<const MegatronPlace> megatron_places(std::string_view table);

/// Fields of Megatron under their names, and all else under its dotted path. Later places of a file
/// count.
Tree megatron_tree(Node root, std::span<const MegatronPlace> places);

/// Visits the fields of a plan (`megatron_fields`) that are no sizes of its model and that the
/// section `unwritten` of a table does not name, in their order.
void each_written_field(
    const plan::PlannedJob& planned, const Tree& fields, std::string_view table,
    const std::function<void(const std::string& field, const Tree& value)>& visit);

/// Fields of Megatron that a file says, and others.
struct MegatronText {
  Tree said;                       ///< As `megatron_tree` gives them.
  Tree usual = Tree::mapping();    ///< Fields that the program assumes where the file is silent.
  std::string_view program = {};   ///< Whose assumptions these are.
  Tree derived = Tree::mapping();  ///< Fields that follow from other settings of the file.
};

/// Reads such fields; sizes of the model that nobody says are those of the one that the file names.
/// Lists the settings, and those that were asked for of the file's own form, `root`.
Draft read_megatron_text(const MegatronText& text, const Fields& root,
                         std::span<const KnownSetting> known, const Given& given, Draft draft,
                         ImportReport& the_report, const std::string& file);

}  // namespace stepwright::framework_files
