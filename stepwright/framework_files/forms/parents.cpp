#include "stepwright/framework_files/forms/parents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/python_document.h"
#include "stepwright/framework_files/forms/references.h"

namespace stepwright::framework_files {
namespace {

/// Largest number of files merged into one configuration; a parent counts each time that it is
/// reached.
constexpr std::size_t kMostLaid = 100;

/// Returns the texts of a path or of a list of paths.
std::vector<std::string> paths_of(const DocumentTree& value) {
  std::vector<std::string> paths;
  if (value.kind == DocumentTree::TreeValueKind::kScalar) paths.push_back(value.text);
  if (value.kind != DocumentTree::TreeValueKind::kSequence) return paths;
  for (const DocumentTree& item : value.items) {
    if (item.kind == DocumentTree::TreeValueKind::kScalar) paths.push_back(item.text);
  }
  return paths;
}

/// Merges files over their parents, starting with the topmost.
class LaidLayers {
 public:
  LaidLayers(Sources files, std::span<const ParentConfigurationKey> keys)
      : files_(files), keys_(keys) {}

  DocumentTree laid(const SourceFile& file) {
    if (std::ranges::find(path_, &file) != path_.end()) {
      fail_input(fmt::format("{}: extends itself, through the files that it names", file.name));
    }
    if (++count_ > kMostLaid) {
      fail_input(fmt::format("{}: extends more than {} files", file.name, kMostLaid));
    }
    path_.push_back(&file);
    if (std::ranges::find(together, &file) == together.end()) together.push_back(&file);
    const YamlJsonDocument document = parse_like_python_yaml(file.text, file.name);
    if (!document.root().is_mapping()) document.root().fail("must be a mapping");
    DocumentTree own = copy_tree_with_file_positions(document.root());
    if (path_.size() > 1) drop_line_numbers(own);
    for (const ParentConfigurationKey& key : keys_) own = over_named(std::move(own), key);
    path_.pop_back();
    return own;
  }

  std::vector<std::string> absent;
  std::vector<const SourceFile*> together;

 private:
  DocumentTree over_named(DocumentTree own, const ParentConfigurationKey& key) {
    const DocumentTree* named = own.find(key.name);
    if (named == nullptr) return own;
    DocumentTree under = DocumentTree::make_empty_mapping();
    bool all = true;
    for (const std::string& path : paths_of(*named)) {
      const SourceFile* parent = find_file_by_name(path, files_);
      if (parent != nullptr) {
        merge_mappings(under, laid(*parent));
        continue;
      }
      absent.push_back(path);
      all = false;
    }
    if (all) own = copy_without_key(own, key.name);
    if (key.replaces) {
      replace_mapping_members(under, own);
    } else {
      merge_mappings(under, own);
    }
    return under;
  }

  Sources files_;
  std::span<const ParentConfigurationKey> keys_;
  /// Files from the topmost one to the one that is being merged.
  std::vector<const SourceFile*> path_;
  std::size_t count_ = 0;
};

/// Returns the last parts of the paths that a configuration names as parents.
std::set<std::string, std::less<>> parent_names(const SourceFile& file,
                                                std::span<const ParentConfigurationKey> keys) {
  std::set<std::string, std::less<>> names;
  const YamlJsonDocument document = parse_like_python_yaml(file.text, file.name);
  if (!document.root().is_mapping()) return names;
  for (const ParentConfigurationKey& key : keys) {
    const auto value = document.root().find(key.name);
    if (!value) continue;
    for (const std::string& path : paths_of(copy_tree_with_file_positions(*value)))
      names.emplace(last_path_part(path));
  }
  return names;
}

}  // namespace

const SourceFile* find_file_by_name(std::string_view path, Sources files) {
  const auto found = std::ranges::find_if(files, [&](const SourceFile& file) {
    return last_path_part(file.name) == last_path_part(path);
  });
  return found == files.end() ? nullptr : &*found;
}

const SourceFile& configuration_file_without_child(Sources files,
                                                   std::span<const ParentConfigurationKey> keys) {
  if (files.size() == 1) return files.front();
  std::vector<std::set<std::string, std::less<>>> parents;
  for (const SourceFile& file : files) parents.push_back(parent_names(file, keys));
  std::size_t top = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    bool named = false;
    for (std::size_t other = 0; other < files.size(); ++other) {
      named = named || (other != i && parents[other].contains(last_path_part(files[i].name)));
    }
    if (!named) top = i;
  }
  return files[top];
}

MergedConfiguration merge_with_parent_files(const SourceFile& top, Sources files,
                                            std::span<const ParentConfigurationKey> keys) {
  LaidLayers layers(files, keys);
  MergedConfiguration laid{.tree = layers.laid(top), .absent = {}, .together = {}};
  laid.absent = std::move(layers.absent);
  laid.together = std::move(layers.together);
  return laid;
}

}  // namespace stepwright::framework_files
