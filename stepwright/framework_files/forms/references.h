#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/tree.h"

namespace stepwright::framework_files {

/// Reads a scalar as YAML does: a number, a truth value, null or text.
Tree plain_scalar(std::string_view text);

/// Copies a value and everything below it, with line numbers.
Tree placed_tree(Node node);

/// Merges `over` into `under`: mappings are merged recursively, any other value is replaced.
void merge_over(Tree& under, const Tree& over);

/// Replaces or adds the members of one mapping in another one.
void merge_members_over(Tree& under, const Tree& over);

/// Returns a mapping without one of its members.
Tree without(const Tree& mapping, std::string_view key);

/// Removes the line numbers from a tree of an overridden file, where they would be taken for lines
/// of the overriding file.
void drop_line_numbers(Tree& tree);

/// Returns a document with each `${...}` in its texts replaced: `${a.b}` of OmegaConf by the value
/// from the root, `${.a}` and `${..a}` from the mapping itself or the one around it,
/// `${oc.select:a.b,default}`, and `${multiply:a,b}` of NeMo's launcher.
/// Variables, `${NAME:default}` and `${oc.env:NAME,default}`, are replaced by the value in
/// `environment`, else by the default, which `notes` then names. Any other `${...}` stays as
/// written.
Document with_references(const Document& document, std::vector<std::string>& notes,
                         const std::map<std::string, std::string>& environment = {});

}  // namespace stepwright::framework_files
