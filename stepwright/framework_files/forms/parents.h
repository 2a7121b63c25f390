#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// A key under which a configuration names the files that it overrides (its parents): a path, or a
/// list of paths of which later ones override earlier ones.
struct ParentKey {
  std::string_view name;
  /// True if each top-level member of the overriding file replaces the parent's member completely,
  /// even if both are mappings.
  bool replaces = false;
};

/// A configuration merged with the parent files that it overrides.
struct MergedConfiguration {
  /// The merged values; lines are those of the topmost file. A key of parents stays if one is
  /// absent.
  Tree tree;
  /// Parents that were not given, as the configuration names them.
  std::vector<std::string> absent;
  std::vector<const SourceFile*> together;  ///< The files that were merged, each once.
};

/// Returns the given file whose name is the last part of a path; null if there is none.
const SourceFile* file_of(std::string_view path, Sources files);

/// Returns the file that no other file names as a parent; if there are several, the last one.
const SourceFile& topmost_file(Sources files, std::span<const ParentKey> keys);

/// Merges `top` over its parents, and those over theirs; a parent is found by the last part of its
/// path. Fails with `kInput` if a file is not a mapping or overrides itself.
MergedConfiguration merge_over_parents(const SourceFile& top, Sources files,
                                       std::span<const ParentKey> keys);

}  // namespace stepwright::framework_files
