#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace stepwright::runtime {

struct Call;

/// The place in a block at which a dropout mask is drawn; each place draws different random
/// numbers.
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

/// The numbers that determine the masks of one dropout in one step.
struct DropoutDraw {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  std::int64_t layer = -1;  ///< Layer of the model; -1: the embedding.
  DropoutPlace place{};
  double probability = 0;  ///< Probability of dropping an element.
};

/// The rows and columns that a rank has of a matrix of the global batch.
struct DropoutSheet {
  at::Tensor rows;         ///< Numbers of the rows in the whole matrix.
  at::Tensor columns;      ///< Numbers of the columns in the whole matrix.
  std::int64_t width = 0;  ///< Number of columns of the whole matrix.
};

/// Returns the elements that a dropout keeps: bool [rows, columns], on the device of the rows. An
/// element's random number is that of Philox4x32 with ten rounds (Salmon et al. 2011, as ATen has
/// it) keyed by the seed, with the step, the layer, the place and the element's number in the whole
/// matrix as counter. It therefore depends neither on the order of work nor on the rank that draws
/// it.
at::Tensor kept_elements(const DropoutDraw& draw, const DropoutSheet& sheet);

/// Draws the mask of `kept_elements` by tensor arithmetic, for devices other than the CPU, so that
/// the host need not wait for the rows' numbers. Whole rows are drawn, then the wanted columns are
/// selected.
at::Tensor kept_by_tensors(const DropoutDraw& draw, const DropoutSheet& sheet);

/// Returns the draw of an operator's dropout.
DropoutDraw draw_of(const Call& call, DropoutPlace place);

}  // namespace stepwright::runtime
