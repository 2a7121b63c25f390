#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace stepwright::logs {

/// A pickle of plain values as JSON: mappings, lists, tuples (as lists), texts, numbers, booleans
/// and None (as null). Nothing is ever executed: whatever names a class or a function (GLOBAL,
/// REDUCE, BUILD, ...) is refused, as are references in a circle, nesting deeper than 100 levels
/// and values that grow to more than 100 times the pickle. Fails with `kInput`, naming file and
/// byte.
std::string pickle_to_json(std::span<const char> bytes, const std::string& file);

}  // namespace stepwright::logs
