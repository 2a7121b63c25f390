#include "stepwright/framework_files/forms/parents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/mapping_builder.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/forms/references.h"

namespace stepwright::framework_files {
namespace {

/// Files that are laid for one configuration, at most: parents of parents may be named twice.
constexpr std::size_t kMostLaid = 100;

/// The texts of a path or of a list of paths.
std::vector<std::string> paths_of(const Tree& value) {
  std::vector<std::string> paths;
  if (value.kind == Tree::Kind::kScalar) paths.push_back(value.text);
  if (value.kind != Tree::Kind::kSequence) return paths;
  for (const Tree& item : value.items) {
    if (item.kind == Tree::Kind::kScalar) paths.push_back(item.text);
  }
  return paths;
}

void lay_members_over(Tree& under, const Tree& over) {
  MappingBuilder members(std::move(under));
  for (std::size_t i = 0; i + 1 < over.items.size(); i += 2) {
    members.set(over.items[i].text, over.items[i + 1]);
  }
  under = members.take();
}

/// Lays files over each other, from the topmost down.
class LaidLayers {
 public:
  LaidLayers(Sources files, std::span<const ParentKey> keys) : files_(files), keys_(keys) {}

  Tree laid(const SourceFile& file) {
    if (std::ranges::find(path_, &file) != path_.end()) {
      fail_input(fmt::format("{}: goes over itself, by the files that it names", file.name));
    }
    if (++count_ > kMostLaid) {
      fail_input(fmt::format("{}: goes over more than {} files", file.name, kMostLaid));
    }
    path_.push_back(&file);
    if (std::ranges::find(together, &file) == together.end()) together.push_back(&file);
    const Document document = parse_as_python(file.text, file.name);
    if (!document.root().is_mapping()) document.root().fail("must be a mapping");
    Tree own = placed_tree(document.root());
    if (path_.size() > 1) forget_lines(own);
    for (const ParentKey& key : keys_) own = over_named(std::move(own), key);
    path_.pop_back();
    return own;
  }

  std::vector<std::string> absent;
  std::vector<const SourceFile*> together;

 private:
  Tree over_named(Tree own, const ParentKey& key) {
    const Tree* named = own.find(key.name);
    if (named == nullptr) return own;
    Tree under = Tree::mapping();
    bool all = true;
    for (const std::string& path : paths_of(*named)) {
      const SourceFile* parent = file_of(path, files_);
      if (parent != nullptr) {
        lay_over(under, laid(*parent));
        continue;
      }
      absent.push_back(path);
      all = false;
    }
    if (all) own = without(own, key.name);
    if (key.replaces) {
      lay_members_over(under, own);
    } else {
      lay_over(under, own);
    }
    return under;
  }

  Sources files_;
  std::span<const ParentKey> keys_;
  std::vector<const SourceFile*> path_;  ///< From the topmost file to the one that is laid.
  std::size_t count_ = 0;
};

/// True if a configuration names a file as a parent of its own.
bool names_parent(const SourceFile& file, const SourceFile& parent,
                  std::span<const ParentKey> keys) {
  const Document document = parse_as_python(file.text, file.name);
  if (!document.root().is_mapping()) return false;
  return std::ranges::any_of(keys, [&](const ParentKey& key) {
    const auto value = document.root().find(key.name);
    if (!value) return false;
    const std::vector<std::string> paths = paths_of(placed_tree(*value));
    return std::ranges::any_of(
        paths, [&](const std::string& path) { return last_part(path) == last_part(parent.name); });
  });
}

}  // namespace

const SourceFile* file_of(std::string_view path, Sources files) {
  const auto found = std::ranges::find_if(
      files, [&](const SourceFile& file) { return last_part(file.name) == last_part(path); });
  return found == files.end() ? nullptr : &*found;
}

const SourceFile& topmost_file(Sources files, std::span<const ParentKey> keys) {
  const SourceFile* top = &files.front();
  for (const SourceFile& file : files) {
    const bool named = std::ranges::any_of(files, [&](const SourceFile& other) {
      return &other != &file && names_parent(other, file, keys);
    });
    if (!named) top = &file;
  }
  return *top;
}

LaidConfiguration over_parents(const SourceFile& top, Sources files,
                               std::span<const ParentKey> keys) {
  LaidLayers layers(files, keys);
  LaidConfiguration laid{.tree = layers.laid(top), .absent = {}, .together = {}};
  laid.absent = std::move(layers.absent);
  laid.together = std::move(layers.together);
  return laid;
}

}  // namespace stepwright::framework_files
