#pragma once

#include <span>
#include <vector>

#include "stepwright/step/blocks.h"

namespace stepwright::step {

/// Appends the operators of the encoder of a micro-batch's images to the embedding's templates.
/// Every rank of the first pipeline position runs the whole encoder on whole images, whatever the
/// context and tensor parallelism; products are in the type of activations.
class EncoderWriter {
 public:
  /// Prepares the layers of the image encoder. `whole`: they are fully recomputed, so that only
  /// their inputs are kept.
  EncoderWriter(const Setting& s, bool whole);
  EncoderWriter(const EncoderWriter&) = delete;
  EncoderWriter& operator=(const EncoderWriter&) = delete;

  /// Appends the image encoder's forward, and adds its image tokens to the embedded tokens `rows`,
  /// in place.
  void forward(BlockBuildContext& e, TensorId rows);
  /// Tensors that the image encoder keeps for its backward: one set for each layer, then one for
  /// the operators around the layers.
  [[nodiscard]] const std::vector<Kept>& kept() const { return kept_; }
  /// Appends the image encoder's backward, from `d_rows`, the gradient of the embedded tokens.
  /// `restored`: the tensors kept by the forward; `source`: the forward's template;
  /// `source_parameters`: its gathered parameters.
  void backward(BlockBuildContext& b, std::span<Kept> restored, TensorId d_rows,
                const TemplateBuilder& source, TensorId source_parameters) const;

 private:
  [[nodiscard]] BlockBuildContext within(const BlockBuildContext& e, Kept& kept) const;
  [[nodiscard]] Product patches() const;
  [[nodiscard]] Product projector() const;
  /// Appends the copy between the image tokens of the encoder and the embedded tokens of this rank,
  /// which holds only a share of them: `from` one `to` the other.
  void place(BlockBuildContext& e, Phase phase, TensorId from, TensorId to) const;

  const Setting& own_;
  model::Architecture tower_;
  Setting s_;  ///< Sizes of the image encoder, whose rows are patches of images.
  std::int64_t tokens_ = 0;
  std::vector<LayerWriter> layers_;
  std::vector<Kept> all_;
  std::vector<Kept> kept_;
};

}  // namespace stepwright::step
