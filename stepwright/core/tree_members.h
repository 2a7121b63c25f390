#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "stepwright/core/tree.h"

namespace stepwright {

/// The keys and values of a mapping's tree, as a range in the order of the file.
class TreeMembers {
 public:
  /// Iterator over the members; a member is a pair of references into the tree.
  class Iterator {
   public:
    explicit Iterator(const DocumentTree* key) : key_(key) {}
    std::pair<const std::string&, const DocumentTree&> operator*() const {
      return {key_->text, key_[1]};
    }
    Iterator& operator++() {
      key_ += 2;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const DocumentTree* key_;
  };

  explicit TreeMembers(const DocumentTree& mapping)
      : first_(mapping.items.data()), count_(mapping.items.size() / 2) {}
  [[nodiscard]] Iterator begin() const { return Iterator(first_); }
  [[nodiscard]] Iterator end() const { return Iterator(first_ + 2 * count_); }

 private:
  const DocumentTree* first_;
  std::size_t count_;  ///< Number of members of the mapping.
};

/// Returns the keys and values of a mapping's tree, which must outlive them: `for (const auto&
/// [key, value] : tree_members(mapping))`. Empty for a null tree.
inline TreeMembers tree_members(const DocumentTree& mapping) { return TreeMembers(mapping); }
TreeMembers tree_members(const DocumentTree&& mapping) = delete;

}  // namespace stepwright
