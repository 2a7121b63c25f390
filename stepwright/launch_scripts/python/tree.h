#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stepwright/core/tree.h"
#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// Returns a tree for an expression that is not a literal: null, with the expression's text.
Tree unread_value(std::string_view text);
bool is_unread(const Tree& tree);

/// Converts a value to a tree. An object becomes a mapping with its class under `()` and its
/// positional arguments under `[]`; an unknown value becomes `unread_value`. Fails with `kInput`,
/// naming the file, if it nests deeper than 80 levels or holds more than a million values, where
/// each 64 bytes of text count as one more.
Tree python_tree(const PythonObject& value, const std::string& file);

/// Converts arguments to a tree: named ones by name, positional ones under `[]`.
Tree python_tree(const PythonArguments& arguments, const std::string& file);

/// Converts a tree to a value with this line number.
PythonObject python_object(const Tree& tree, std::uint32_t line);

}  // namespace stepwright::launch_scripts
