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
  /// Values of the configuration, merged with those of its parents (the files that it overrides);
  /// only its own values have line numbers. The key that names the parents is removed, unless a
  /// parent is missing.
  DocumentTree tree;
  /// Paths of parent files (that the configuration overrides) which the user did not give, as the
  /// configuration states them.
  std::vector<std::string> absent;
  /// Configuration files that were merged: the overriding file and its parents, each once.
  std::vector<const SourceFile*> together;
};

/// Returns the file among `files` whose name, without folders, equals that of `path`; null if there
/// is none.
const SourceFile* find_file_by_name(std::string_view path, Sources files);

/// Returns the configuration file that overrides others but is overridden by none: no file names it
/// as its parent. If there are several, the last one.
const SourceFile& configuration_file_without_child(Sources files,
                                                   std::span<const ParentConfigurationKey> keys);

/// Merges the configuration `top` with its parents, and recursively with theirs; a file's own
/// values override its parents'. Parents are found among `files` by name without folders. Fails
/// with `kInput` if a file is not a mapping or is its own ancestor.
MergedConfiguration merge_with_parent_files(const SourceFile& top, Sources files,
                                            std::span<const ParentConfigurationKey> keys);

}  // namespace stepwright::framework_files
