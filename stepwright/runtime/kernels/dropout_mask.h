#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace stepwright::runtime {

struct Call;

/// The place in a block at which a mask is drawn; each place has numbers of its own.
enum class DropoutPlace : std::uint8_t {
  kEmbedding,
  kAfterAttention,
  kAfterMlp,
  kProbabilities,
  kQkvAdapter,
  kProjectionAdapter,
  kFc1Adapter,
  kFc2Adapter,
  kSharedFc1Adapter,
  kSharedFc2Adapter,
  kQueryDownAdapter,
  kQueryUpAdapter,
  kKeyValueDownAdapter,
  kKeyValueUpAdapter,
};

/// The numbers from which the masks of one dropout in one step are drawn.
struct DropoutDraw {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  std::int64_t layer = -1;  ///< Layer of the model; -1: the embedding.
  DropoutPlace place{};
  double probability = 0;  ///< Probability of dropping an element.
};

/// A matrix of the global batch of which a rank holds some rows and columns.
struct DropoutSheet {
  at::Tensor rows;         ///< Their numbers in the whole matrix.
  at::Tensor columns;      ///< Numbers of the columns in the whole matrix.
  std::int64_t width = 0;  ///< Columns of the whole matrix.
};

/// The elements that a dropout keeps: bool [rows, columns]. An element's number is that of
/// Philox4x32 with ten rounds (Salmon et al. 2011, as ATen has it) keyed by the seed, with the
/// step, the layer, the place and the element's number in the whole matrix as counter. So it
/// depends neither on the order of work nor on who does it. Drawn where the rows are.
at::Tensor kept_elements(const DropoutDraw& draw, const DropoutSheet& sheet);

/// Draws the mask of `kept_elements` by arithmetic of tensors, for devices other than the CPU:
/// nobody waits for the rows' numbers. Whole rows are drawn, whichever columns are wanted.
at::Tensor kept_by_tensors(const DropoutDraw& draw, const DropoutSheet& sheet);

/// The draw of an operator's dropout.
DropoutDraw draw_of(const Call& call, DropoutPlace place);

}  // namespace stepwright::runtime
