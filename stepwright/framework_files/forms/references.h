#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/tree.h"

namespace stepwright::framework_files {

/// A scalar as YAML means it: a number, a truth value, null or text.
Tree plain_scalar(std::string_view text);

/// A copy of a value and everything below it, with lines.
Tree placed_tree(Node node);

/// A file over another one: mappings below mappings, anything else in its place.
void lay_over(Tree& under, const Tree& over);

/// Puts the members of a mapping in the place of those of another one.
void lay_members_over(Tree& under, const Tree& over);

/// A mapping without one of its members.
Tree without(const Tree& mapping, std::string_view key);

/// Takes the lines from a tree: those of a file that another goes over would be taken for lines of
/// that.
void forget_lines(Tree& tree);

/// A document whose texts have in the place of `${...}` what it means: `${a.b}` of OmegaConf from
/// the root, `${.a}` and `${..a}` from its own mapping, `${oc.select:a.b,default}`,
/// `${multiply:a,b}` of NeMo's launcher, and of variables what `environment` says, else the
/// default,
/// `${NAME:default}` and `${oc.env:NAME,default}`, which `notes` then name. Anything else stays as
/// it is written.
Document with_references(const Document& document, std::vector<std::string>& notes,
                         const std::map<std::string, std::string>& environment = {});

}  // namespace stepwright::framework_files
