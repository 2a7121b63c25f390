#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// A key under which a configuration names its parents, the files that it overrides: a path, or a
/// list of paths in which later ones override earlier ones.
struct ParentConfigurationKey {
  std::string_view name;
  /// True if each top-level member of the overriding file replaces the parent's member completely,
  /// even if both are mappings.
  bool replaces = false;
};

/// A configuration merged with the parent files that it overrides.
struct MergedConfiguration {
  /// The merged values, with line numbers of the overriding file only. The key that names parents
  /// is removed unless one of them is missing.
  DocumentTree tree;
  /// Paths of parent files that the user did not give, as the configuration states them.
  std::vector<std::string> absent;
  std::vector<const SourceFile*> together;  ///< The files that were merged, without repetitions.
};

/// Returns the file among `files` whose name, without folders, equals that of `path`; null if there
/// is none.
const SourceFile* find_file_by_name(std::string_view path, Sources files);

/// Returns the configuration file that no other file names as its parent; if there are several, the
/// last one.
const SourceFile& configuration_file_without_child(Sources files,
                                                   std::span<const ParentConfigurationKey> keys);

/// Merges the configuration `top` with its parents, and recursively with theirs; a file's own
/// values override its parents'. Parents are found among `files` by name without folders. Fails
/// with `kInput` if a file is not a mapping or is its own ancestor.
MergedConfiguration merge_with_parent_files(const SourceFile& top, Sources files,
                                            std::span<const ParentConfigurationKey> keys);

}  // namespace stepwright::framework_files
