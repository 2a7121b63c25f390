#pragma once

#include <string_view>
#include <vector>

#include "stepwright/runtime/rank/call.h"

namespace stepwright::runtime {

/// Sizes of matrices that stand side by side in rows, or one below the other in a parameter.
using PartSizes = std::vector<std::int64_t>;

/// A mixer with a state where its sequences are whole: the heads that tensor and context
/// parallelism leave this rank.
struct MixerParts {
  model::Mixer kind{};
  std::int64_t ranks = 1;  ///< Context ranks, which share what a tensor rank has.
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t groups = 0;  ///< Heads of keys and queries.
  std::int64_t state = 0;

  [[nodiscard]] std::int64_t values() const { return heads * head_dim; }
  [[nodiscard]] std::int64_t keys() const { return groups * state; }
  /// Columns of rows of the first projection, in their order (`layer_parameters`).
  [[nodiscard]] PartSizes in() const;
  /// Channels of the convolution, in their order.
  [[nodiscard]] PartSizes convolution() const;
  /// The first column of rows of the first projection that the convolution takes, the first of the
  /// gates, and the first behind both.
  [[nodiscard]] std::int64_t convolved_at() const;
  [[nodiscard]] std::int64_t gates_at() const;
  [[nodiscard]] std::int64_t scalars_at() const;
};
MixerParts mixer_parts(const RankState& rank, model::Mixer kind);

/// The columns (or rows) of all parts on a tensor rank that context rank `rank` has: of each part,
/// given by its size on one context rank, a run. On one rank all in their order.
at::Tensor context_part(const MixerParts& parts, const PartSizes& sizes, std::int64_t rank,
                        const at::TensorOptions& indices);

/// The part of a parameter that this rank uses, in the exact type; undefined when the block has
/// none.
at::Tensor own_part(const Call& call, const MixerParts& parts, std::string_view name,
                    const PartSizes& sizes);
/// Adds to the gradient of what it uses.
void add_to_part(const Call& call, const MixerParts& parts, std::string_view name,
                 const PartSizes& sizes, const at::Tensor& gradient);

/// Columns of rows [batch * length, columns] as [batch, length, heads, count / heads], in the exact
/// type; and back in that of `like`.
at::Tensor by_head(const Call& call, const at::Tensor& rows, std::int64_t first, std::int64_t count,
                   std::int64_t heads);
at::Tensor as_rows(const at::Tensor& heads, const at::Tensor& like);

}  // namespace stepwright::runtime
