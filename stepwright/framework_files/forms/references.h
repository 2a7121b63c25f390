#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/tree.h"

namespace stepwright::framework_files {

/// Converts a text to a scalar as YAML does: number, truth value, null or text.
DocumentTree text_as_yaml_scalar(std::string_view text);

/// Returns a copy of a document's value and everything below it, with line numbers.
DocumentTree copy_tree_with_file_positions(DocumentNode node);

/// Merges configuration `over` into configuration `under`, which it overrides: mappings are merged
/// recursively, any other value is replaced.
void merge_mappings(DocumentTree& under, const DocumentTree& over);

/// Sets the members of mapping `over` in mapping `under`, which it overrides; a member of both is
/// replaced as a whole, without merging.
void replace_mapping_members(DocumentTree& under, const DocumentTree& over);

/// Returns a mapping without one of its members.
DocumentTree copy_without_key(const DocumentTree& mapping, std::string_view key);

/// Removes the line numbers of a parent file's values, so that messages do not take them for lines
/// of the file that overrides it.
void drop_line_numbers(DocumentTree& tree);

/// Returns a document with the `${...}` in its texts replaced by values. OmegaConf: `${a.b}` from
/// the root, `${.a}` and `${..a}` from the mapping itself or the one around it,
/// `${oc.select:a.b,default}`. NeMo's launcher: `${multiply:a,b}`. Environment: `${NAME:default}`,
/// `${oc.env:NAME,default}`; a used default is noted. Any other `${...}` stays as written.
YamlJsonDocument resolve_configuration_references(
    const YamlJsonDocument& document, std::vector<std::string>& notes,
    const std::map<std::string, std::string>& environment = {});

}  // namespace stepwright::framework_files
