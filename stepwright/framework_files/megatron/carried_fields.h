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

/// The dotted path at which another program's file (verl, NeMo-RL) states a field of
/// Megatron-Core's configuration.
struct MegatronFieldPath {
  /// Dotted path in the file; with `.*` at its end, a section whose keys are named as
  /// Megatron-Core's fields.
  std::string_view path;
  /// Megatron-Core's name of the field; empty for a section, and for a setting that is no field of
  /// Megatron-Core.
  std::string_view field;
};

/// Table of the dotted paths at which a program's files state fields of Megatron-Core's
/// configuration.
class MegatronFieldPathTable {
 public:
  /// Reads rows `{path, field}` under `places` of a YAML table; `paths` lists several paths for one
  /// field. Fails with `kInput` if a group has no source or a row has no path.
  explicit MegatronFieldPathTable(const YamlJsonDocument& document);
  MegatronFieldPathTable(MegatronFieldPathTable&&) = default;
  MegatronFieldPathTable& operator=(MegatronFieldPathTable&&) = default;

  [[nodiscard]] std::span<const MegatronFieldPath> places() const { return places_; }

 private:
  TableTextStore texts_;
  std::vector<MegatronFieldPath> places_;
};

/// Returns the paths of Megatron-Core's fields that a compiled-in table (`rl/verl`) lists.
std::span<const MegatronFieldPath> megatron_field_paths(std::string_view table);

/// Returns the settings of a file as a flat mapping. Settings at the paths in `places` have
/// Megatron-Core's field names as keys, all others their dotted paths. If a file states a field at
/// several paths, the last one counts.
DocumentTree flat_megatron_settings(DocumentNode root, std::span<const MegatronFieldPath> places);

/// Calls `visit` for each Megatron-Core field in `fields` that a program's file must state for a
/// plan: all but the model's sizes and those under `unwritten` in the program's table.
void visit_written_megatron_fields(
    const plan::PlannedJob& planned, const DocumentTree& fields, std::string_view table,
    const std::function<void(const std::string& field, const DocumentTree& value)>& visit);

/// The fields of Megatron-Core that another program's file states, and the defaults and derived
/// fields that complete them.
struct MegatronFieldSources {
  /// All settings of the other program's file as a flat mapping in which fields of Megatron-Core
  /// have Megatron-Core's names (`flat_megatron_settings`).
  DocumentTree said;
  /// Defaults of the other program for Megatron-Core's fields that its file lacks.
  DocumentTree usual = DocumentTree::make_empty_mapping();
  std::string_view program = {};  ///< Name of the program whose defaults `usual` are.
  /// Values of Megatron-Core's fields that follow from other settings of the file.
  DocumentTree derived = DocumentTree::make_empty_mapping();
};

/// Reads a plan from Megatron-Core's fields in a program's file. If the file names a model, it
/// supplies sizes that no field states. Settings are reported under the file's names; those already
/// read through `root` count as read.
PlanDraft read_plan_from_megatron_fields(const MegatronFieldSources& text,
                                         const FrameworkSettingsReader& root,
                                         std::span<const KnownSetting> known,
                                         const UserFacts& given, PlanDraft draft,
                                         ImportReport& the_report, const std::string& file);

}  // namespace stepwright::framework_files
