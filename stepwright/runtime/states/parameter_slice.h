#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/model/parameters.h"
#include "stepwright/step/setting.h"

namespace stepwright::runtime {

/// Name of the embedding table, which a tied head uses, too.
inline constexpr std::string_view kEmbeddingTable = "embedding.word";

/// The slice of a parameter of the model that one rank holds, before data-parallel sharding. Fused
/// matrices are stored one whole matrix after the other (all queries, all keys, all values; all
/// gates, all ups), so a rank's rows come from several places.
struct ParameterSlice {
  std::string name;       ///< Name in the model: "layers.3.attention.qkv", "embedding.word", ...
  std::int64_t rows = 0;  ///< Rows of the whole parameter, as stored.
  std::int64_t columns = 1;
  std::int64_t copies = 1;
  std::int64_t local_rows = 0;
  std::int64_t local_columns = 1;
  std::int64_t local_copies = 1;
  /// For each local row, its row in the whole parameter; -1: padding.
  std::vector<std::int64_t> row_of;
  /// Rows of each of the matrices that the whole parameter consists of (`matrix_rows`); empty: it
  /// is not a matrix.
  std::vector<std::int64_t> matrices = {};
  /// How tensor ranks (expert-tensor ranks for experts) cut it, if they are several.
  model::TensorSplit cut = model::TensorSplit::kReplicated;
  std::int64_t first_column = 0;
  std::int64_t first_copy = 0;
  bool expert = false;
  bool partial = false;  ///< True if its gradient must be summed over the tensor ranks.
  bool adapter = false;  ///< True for the A or the B of an adapter.
  model::ParameterInit start{};
  /// True if another rank of the tensor group, or the first pipeline position, has the same values
  /// and counts as their holder.
  bool duplicate = false;

  /// Returns the number of elements on this rank; `elements`: of the whole parameter.
  [[nodiscard]] std::int64_t local_elements() const {
    return local_rows * local_columns * local_copies;
  }
  [[nodiscard]] std::int64_t elements() const { return rows * columns * copies; }
  /// Returns the number of rows of matrix `i` that this rank has.
  [[nodiscard]] std::int64_t local_matrix_rows(std::size_t i) const {
    return matrices.size() == 1 ? local_rows : matrices[i] * local_rows / rows;
  }
  /// Returns the index, in the whole parameter, of a local element; -1 in padding.
  [[nodiscard]] std::int64_t whole_index(std::int64_t local) const;
};

/// Returns this rank's slices of a block's parameters (`unit` as in `Item::units`), in the order of
/// the block's templates.
std::vector<ParameterSlice> parameter_slices(const step::Setting& setting,
                                             const plan::Coordinates& place, std::int32_t unit,
                                             const std::vector<step::LocalParameter>& local);

/// Returns this rank's slice of a parameter's row and column sums, as a vector "NAME.sums" of its
/// own: for each matrix its rows, then its columns, copy by copy.
ParameterSlice edge_slice(const ParameterSlice& parameter);

/// Returns `edge_slice` without sums that other tensor ranks write: the sums along a dimension that
/// tensor ranks do not cut are equal on all of them, and only the first tensor rank keeps them.
ParameterSlice own_edge_slice(const ParameterSlice& parameter);

}  // namespace stepwright::runtime
