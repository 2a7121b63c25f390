#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/huggingface/families.h"
#include "stepwright/model/architecture.h"

namespace stepwright {

/// Rows of one of our parameters; those of experts stand one after the other.
struct RowRun {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  bool operator==(const RowRun&) const = default;
};

/// A tensor of a Hugging Face file as rows of one of our parameters.
struct ForeignTensor {
  std::string name;
  std::string own;           ///< As checkpoints call it: "layers.3.attention.qkv".
  std::vector<RowRun> rows;  ///< In the order of the tensor's.
  std::int64_t columns = 1;  ///< Of both.
  bool transposed = false;   ///< Stored columns x rows.
  bool filters = false;      ///< Stored rows x 1 x columns.
  bool vector = false;       ///< Of one column: stored with one extent,
  std::int64_t heads = 0;    ///< or, above 0, with a row for each head.

  [[nodiscard]] std::int64_t row_count() const;
  [[nodiscard]] std::vector<std::int64_t> shape() const;
};

/// The tensors of a model in the files of a family, parameter after parameter. Each row of each of
/// our parameters is in exactly one. Fails with `kUnsupported` for parameters that the family has
/// no name for.
std::vector<ForeignTensor> foreign_tensors(const Architecture& model, const Family& family);

}  // namespace stepwright
