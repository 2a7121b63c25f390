#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::cost {

/// A boosted ensemble of regression trees, fitted by XGBoost and evaluated here: the base plus one
/// leaf of each tree, summed in single precision. The saved text of a tree lists its nodes, a node
/// before its children and the lower child first: `feature<threshold` or the value of a leaf.
class BoostedTrees {
 public:
  BoostedTrees() = default;
  /// Reads the trees. Fails with `kInput`, naming `where`, when a text is no tree, or uses a
  /// feature whose index is not below `features`.
  BoostedTrees(float base, std::span<const std::string> trees, std::size_t features,
               const std::string& where);

  /// Returns the sum for one row of features; allocates nothing. 0 without trees.
  [[nodiscard]] double evaluate(std::span<const float> features) const;
  [[nodiscard]] bool empty() const { return roots_.empty(); }
  [[nodiscard]] float base() const { return base_; }
  /// Returns the texts from which the trees can be read again.
  [[nodiscard]] std::vector<std::string> texts() const;

 private:
  struct Node {
    float value = 0;          ///< Threshold of a node, or the value that a leaf adds.
    std::int32_t upper = -1;  ///< Child at or above the threshold; the lower one comes next.
    /// Index of the feature that the node tests; -1: the node is a leaf.
    std::int16_t feature = -1;
  };

  std::size_t read(std::string_view text, std::size_t at, std::size_t features,
                   const std::string& where, int depth);

  float base_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> roots_;
};

}  // namespace stepwright::cost
