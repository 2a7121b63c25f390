#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stepwright/core/tree.h"
#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// Returns a tree that stands for a Python expression whose value is unknown because it is not a
/// literal: null, with the expression's text.
DocumentTree tree_of_unknown_python_value(std::string_view text);
bool is_unread(const DocumentTree& tree);

/// Converts a Python value to a tree. An object becomes a mapping with its class under the key `()`
/// and its positional arguments under `[]`; an unknown value becomes null with the expression's
/// text. Fails with `kInput`, naming the file, if it nests deeper than 80 levels or holds more than
/// a million values, where each 64 bytes of text count as one more.
DocumentTree yaml_tree_of_python_value(const PythonObject& value, const std::string& file);

/// Converts the arguments of a Python call to a mapping: keyword arguments by name, positional ones
/// under the key `[]`.
DocumentTree yaml_tree_of_python_value(const PythonArguments& arguments, const std::string& file);

/// Converts a tree to a Python value, which records `line` as its line number.
PythonObject python_value_of_tree(const DocumentTree& tree, std::uint32_t line);

}  // namespace stepwright::launch_scripts
