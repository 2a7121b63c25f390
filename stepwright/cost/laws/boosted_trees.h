#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::cost {

/// A boosted ensemble of regression trees, fitted by XGBoost and evaluated here in single
/// precision: a base value plus one leaf of each tree. In the saved text of a tree each node comes
/// before its children, the lower child first: `feature<largest value of the lower child` for a
/// split, a number for a leaf.
class BoostedTrees {
 public:
  BoostedTrees() = default;
  /// Reads each tree from its text. Fails with `kInput`, naming `where`, if a text is not a tree or
  /// uses a feature index of `features` or above.
  BoostedTrees(float base, std::span<const std::string> trees, std::size_t features,
               const std::string& where);

  /// Returns the ensemble's prediction for one row of features: the base plus one leaf per tree.
  /// Allocates no memory.
  [[nodiscard]] double predict_from_features(std::span<const float> features) const;
  [[nodiscard]] bool empty() const { return roots_.empty(); }
  [[nodiscard]] float base() const { return base_; }
  /// Returns the text of each tree, from which the constructor can read it again.
  [[nodiscard]] std::vector<std::string> boosted_tree_texts() const;

 private:
  struct Node {
    float value = 0;  ///< Threshold of a split node; value to add if the node is a leaf.
    /// Index of the child for values at or above the threshold; the other child is the next node.
    std::int32_t upper = -1;
    /// Index of the feature that a split node compares; -1: the node is a leaf.
    std::int16_t feature = -1;
  };

  std::size_t read(std::string_view text, std::size_t at, std::size_t features,
                   const std::string& where, int depth);

  float base_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> roots_;
};

}  // namespace stepwright::cost
