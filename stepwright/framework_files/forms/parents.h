#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// A key under which a configuration names the files that it goes over: a path, or a list of paths
/// of which later ones go over earlier ones.
struct ParentKey {
  std::string_view name;
  /// True if each member of the upper file replaces that of the lower file whole, also where both
  /// are mappings.
  bool replaces = false;
};

/// A configuration together with the files that it goes over.
struct LaidConfiguration {
  Tree tree;  ///< Lines are those of the topmost file; a key of parents that were absent is kept.
  std::vector<std::string> absent;          ///< Parents, as they are named, that nobody gave.
  std::vector<const SourceFile*> together;  ///< The files that were laid, each once.
};

/// Returns the file that has the last part of a path, among those that are given; null: none has.
const SourceFile* file_of(std::string_view path, Sources files);

/// Returns the file that no other file names as a parent: the last of several.
const SourceFile& topmost_file(Sources files, std::span<const ParentKey> keys);

/// Lays `top` over its parents and these over theirs; a parent is found by the last part of its
/// path. Fails with `kInput` on what is no mapping, and on a file that goes over itself.
LaidConfiguration over_parents(const SourceFile& top, Sources files,
                               std::span<const ParentKey> keys);

}  // namespace stepwright::framework_files
