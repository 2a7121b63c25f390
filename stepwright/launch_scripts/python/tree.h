#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stepwright/core/tree.h"
#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// An expression that is no literal: null with the text that was written.
Tree unread_value(std::string_view text);
bool is_unread(const Tree& tree);

/// A value as a tree: an object as a mapping with its class under `()` and what it was given
/// without names under `[]`; what is open as `unread_value`. Fails with `kInput`, naming the file,
/// where it nests deeper than 80 levels or holds more than a million values, each 64 bytes of text
/// counted as another.
Tree python_tree(const PythonObject& value, const std::string& file);

/// Arguments by name, those without one under `[]`.
Tree python_tree(const PythonArguments& arguments, const std::string& file);

/// A tree as a value that stands in a line.
PythonObject python_object(const Tree& tree, std::uint32_t line);

}  // namespace stepwright::launch_scripts
