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

// Configurations of other programs that contain fields of Megatron-Core.

/// The dotted path at which a file has a field of Megatron.
struct MegatronPlace {
  /// Dotted path; with `.*` at its end, a section whose fields have their own names.
  std::string_view path;
  /// Name of the field; empty for a section, and for a setting that keeps its path.
  std::string_view field;
};

/// A table of the dotted paths at which a program's files have fields of Megatron.
class PlaceTable {
 public:
  /// Reads rows `{path, field}` of lists `places`, or `paths` for several of one kind. Fails with
  /// `kInput` if a group has no source or a row no path.
  explicit PlaceTable(const Document& document);
  PlaceTable(PlaceTable&&) = default;
  PlaceTable& operator=(PlaceTable&&) = default;

  [[nodiscard]] std::span<const MegatronPlace> places() const { return places_; }

 private:
  TextStore texts_;
  std::vector<MegatronPlace> places_;
};

/// Returns the paths of Megatron's fields that a table (`rl/verl`) lists.
std::span<const MegatronPlace> megatron_places(std::string_view table);

/// Returns the fields of Megatron under their names, and all other settings under their dotted
/// paths. If a file has a field at several paths, the last one counts.
Tree megatron_tree(Node root, std::span<const MegatronPlace> places);

/// Visits, in order, the fields of a plan (`megatron_fields`) that are not sizes of its model and
/// that the section `unwritten` of a table does not list.
void each_written_field(
    const plan::PlannedJob& planned, const Tree& fields, std::string_view table,
    const std::function<void(const std::string& field, const Tree& value)>& visit);

/// The fields of Megatron that a file states, and further ones that complete them.
struct MegatronText {
  Tree said;                       ///< Fields in the file, as `megatron_tree` returns them.
  Tree usual = Tree::mapping();    ///< The program's defaults for fields that the file lacks.
  std::string_view program = {};   ///< Name of the program whose defaults `usual` are.
  Tree derived = Tree::mapping();  ///< Fields that are derived from other settings of the file.
};

/// Reads a plan from these fields. If the file names a model, it supplies the sizes that no field
/// states. Reports these settings, and the settings in `root`, the file's own form, that were asked
/// for.
Draft read_megatron_text(const MegatronText& text, const Fields& root,
                         std::span<const KnownSetting> known, const UserFacts& given, Draft draft,
                         ImportReport& the_report, const std::string& file);

}  // namespace stepwright::framework_files
