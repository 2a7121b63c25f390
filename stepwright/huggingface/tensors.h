#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/huggingface/families.h"
#include "stepwright/model/architecture.h"

namespace stepwright::huggingface {

/// A run of rows of a Stepwright parameter. The rows of experts follow one another.
struct RowRun {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::int64_t place = 0;  ///< Row of the tensor that holds the first row of the run.
  std::int64_t step = 1;   ///< Number of tensor rows from one row of the run to the next.
  bool operator==(const RowRun&) const = default;
};

/// A tensor of a Hugging Face file, described as rows of a Stepwright parameter.
struct ForeignTensor {
  std::string name;
  std::string own;           ///< Stepwright's name in checkpoints: "layers.3.attention.qkv".
  std::vector<RowRun> rows;  ///< Runs of rows; no run crosses a block.
  /// Number of columns, which is the same in the parameter and the tensor.
  std::int64_t columns = 1;
  std::int64_t blocks = 1;  ///< Equal blocks (experts) that the tensor's rows are divided into.
  bool transposed = false;  ///< Each block is stored as columns x rows.
  bool stacked = false;     ///< The blocks are the tensor's first dimension.
  bool filters = false;     ///< The tensor is stored as rows x 1 x columns.
  bool vector = false;      ///< One column, which is not a dimension of the tensor.

  [[nodiscard]] std::int64_t row_count() const;
  [[nodiscard]] std::vector<std::int64_t> shape() const;
  /// Returns the index in the tensor's numbers of an element. `row` counts the tensor's rows.
  [[nodiscard]] std::int64_t index_of(std::int64_t row, std::int64_t column) const;
  /// Returns the distance between neighbouring elements of one row.
  [[nodiscard]] std::int64_t column_stride() const;
};

/// Returns the tensors of a model in a family's files, parameter by parameter. Each row of each
/// Stepwright parameter is in exactly one tensor. Fails with `kUnsupported` for parameters, or
/// parts of them, that the family has no name for.
std::vector<ForeignTensor> foreign_tensors(const model::Architecture& model, const Family& family);

}  // namespace stepwright::huggingface
