#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/model/parameters.h"
#include "stepwright/step/setting.h"

namespace stepwright::runtime {

/// The name of the table that both ends of a model may use.
inline constexpr std::string_view kEmbeddingTable = "embedding.word";

/// The slice that one rank holds of a parameter of the model, before data-parallel sharding. Fused
/// matrices are laid out whole by whole (all queries, all keys, all values; all gates, all ups), so
/// a rank's rows come from several places.
struct ParameterSlice {
  std::string name;       ///< Name in the model: "layers.3.attention.qkv", "embedding.word", ...
  std::int64_t rows = 0;  ///< Rows of the whole parameter, as stored.
  std::int64_t columns = 1;
  std::int64_t copies = 1;
  std::int64_t local_rows = 0;
  std::int64_t local_columns = 1;
  std::int64_t local_copies = 1;
  std::vector<std::int64_t> row_of;  ///< Per local row the whole one; -1: padding.
  /// The rows, of the whole parameter, of each matrix that stands in it (`matrix_rows`); empty: it
  /// is none.
  std::vector<std::int64_t> matrices = {};
  model::Split cut = model::Split::kReplicated;  ///< How tensor (of experts expert-tensor) ranks
                                                 ///< cut it, if they are several.
  std::int64_t first_column = 0;
  std::int64_t first_copy = 0;
  bool expert = false;
  bool partial = false;  ///< True if its gradient is summed over the tensor ranks.
  bool adapter = false;  ///< The A or the B of an adapter.
  model::Start start{};
  /// Another rank of the tensor group, or the first pipeline position, has the same values.
  bool duplicate = false;

  /// Elements here, and of the whole parameter.
  [[nodiscard]] std::int64_t local_elements() const {
    return local_rows * local_columns * local_copies;
  }
  [[nodiscard]] std::int64_t elements() const { return rows * columns * copies; }
  /// Rows of its matrix `i` that are here.
  [[nodiscard]] std::int64_t local_matrix_rows(std::size_t i) const {
    return matrices.size() == 1 ? local_rows : matrices[i] * local_rows / rows;
  }
  /// The whole parameter's index of a local one; -1 in padding.
  [[nodiscard]] std::int64_t whole_index(std::int64_t local) const;
};

/// The slices of a block's parameters (`unit` as in `Item::units`) that a rank holds, in the order
/// of its templates.
std::vector<ParameterSlice> parameter_slices(const step::Setting& setting,
                                             const plan::Coordinates& place, std::int32_t unit,
                                             const std::vector<step::LocalParameter>& local);

/// The rows of a parameter's matrices, then the columns of each of them, as if they were a vector
/// of its own, "NAME.sums": what this rank holds of them, copy by copy.
ParameterSlice edge_slice(const ParameterSlice& parameter);

/// Edges of the dimension that tensor ranks do not cut: a slice of `edge_slice` without what the
/// first tensor rank has, too.
ParameterSlice own_edge_slice(const ParameterSlice& parameter);

}  // namespace stepwright::runtime
