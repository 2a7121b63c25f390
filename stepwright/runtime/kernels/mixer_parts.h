#pragma once

#include <string_view>
#include <vector>

#include "stepwright/runtime/rank/call.h"

namespace stepwright::runtime {

/// Sizes of matrices that are stored side by side in rows, or one below the other in a parameter.
using PartSizes = std::vector<std::int64_t>;

/// The sizes of a mixer with a state on a rank that has whole sequences: the heads that tensor and
/// context parallelism leave this rank.
struct MixerParts {
  model::Mixer kind{};
  std::int64_t ranks = 1;  ///< Number of context ranks, which divide the heads of a tensor rank.
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t groups = 0;  ///< Number of heads of keys and queries.
  std::int64_t state = 0;

  [[nodiscard]] std::int64_t values() const { return heads * head_dim; }
  [[nodiscard]] std::int64_t keys() const { return groups * state; }
  /// Returns the widths of the columns of the first projection's output, in their order
  /// (`layer_parameters`).
  [[nodiscard]] PartSizes in() const;
  /// Returns the channels of the convolution, in their order.
  [[nodiscard]] PartSizes convolution() const;
  /// Return the first column, in rows of the first projection's output, of the convolution's input
  /// (`convolved_at`), of the gates (`gates_at`), and after both (`scalars_at`).
  [[nodiscard]] std::int64_t convolved_at() const;
  [[nodiscard]] std::int64_t gates_at() const;
  [[nodiscard]] std::int64_t scalars_at() const;
};
MixerParts mixer_parts(const RankState& rank, model::Mixer kind);

/// Returns the columns (or rows) that context rank `rank` has among those of its tensor rank: a run
/// of each part; `sizes`: sizes of the parts on one context rank. With one context rank, all in
/// their order.
at::Tensor context_part(const MixerParts& parts, const PartSizes& sizes, std::int64_t rank,
                        const at::TensorOptions& indices);

/// Returns the part of a parameter that this rank uses, in the exact type; undefined when the block
/// has no such parameter.
at::Tensor own_part(const Call& call, const MixerParts& parts, std::string_view name,
                    const PartSizes& sizes);
/// Adds `gradient` to the gradient of the part of a parameter that this rank uses.
void add_to_part(const Call& call, const MixerParts& parts, std::string_view name,
                 const PartSizes& sizes, const at::Tensor& gradient);

/// Convert columns of rows [batch * length, columns] to [batch, length, heads, count / heads] in
/// the exact type (`split_by_head`), and back to the type of `like` (`as_rows`).
at::Tensor split_by_head(const Call& call, const at::Tensor& rows, std::int64_t first,
                         std::int64_t count, std::int64_t heads);
at::Tensor as_rows(const at::Tensor& heads, const at::Tensor& like);

}  // namespace stepwright::runtime
