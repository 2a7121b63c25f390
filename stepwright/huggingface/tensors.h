#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/huggingface/families.h"
#include "stepwright/model/architecture.h"

namespace stepwright::huggingface {

/// Rows of one of our parameters; those of experts stand one after the other.
struct RowRun {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::int64_t place = 0;  ///< Index of the run's first row in the tensor.
  std::int64_t step = 1;   ///< Rows from one row of the run to the next in the tensor.
  bool operator==(const RowRun&) const = default;
};

/// A tensor of a Hugging Face file as rows of one of our parameters.
struct ForeignTensor {
  std::string name;
  std::string own;           ///< Name in checkpoints: "layers.3.attention.qkv".
  std::vector<RowRun> rows;  ///< Runs of rows, none of which crosses a block.
  std::int64_t columns = 1;  ///< Columns of both tensors.
  std::int64_t blocks = 1;   ///< Equal blocks in which its rows stand (experts).
  bool transposed = false;   ///< Each block is stored columns x rows.
  bool stacked = false;      ///< Blocks are an extent of their own, the first one.
  bool filters = false;      ///< Stored rows x 1 x columns.
  bool vector = false;       ///< One column, which is no extent of its own.

  [[nodiscard]] std::int64_t row_count() const;
  [[nodiscard]] std::vector<std::int64_t> shape() const;
  /// Where an element stands among the tensor's numbers. `row` is one of the tensor's.
  [[nodiscard]] std::int64_t index_of(std::int64_t row, std::int64_t column) const;
  /// How far apart the elements of one row stand.
  [[nodiscard]] std::int64_t column_stride() const;
};

/// The tensors of a model in the files of a family, parameter after parameter. Each row of each of
/// our parameters is in exactly one. Fails with `kUnsupported` for parameters, or parts of them,
/// that the family has no name for.
std::vector<ForeignTensor> foreign_tensors(const model::Architecture& model, const Family& family);

}  // namespace stepwright::huggingface
