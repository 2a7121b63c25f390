#pragma once

#include <span>
#include <vector>

#include "stepwright/step/blocks.h"

namespace stepwright::step {

/// Writes the encoder of a micro-batch's images into the embedding's block. Every rank of the first
/// pipeline position runs the whole encoder on whole images, whatever the context and tensor
/// parallelism; products are in the type of storage.
class EncoderWriter {
 public:
  /// `whole`: the encoder's layers are fully recomputed, so only their inputs are kept.
  EncoderWriter(const Setting& s, bool whole);
  EncoderWriter(const EncoderWriter&) = delete;
  EncoderWriter& operator=(const EncoderWriter&) = delete;

  /// Adds the images' tokens to `rows`, in place.
  void forward(Emit& e, TensorId rows);
  /// Tensors that the backward needs: one set for each layer, then one for the operators around the
  /// layers.
  [[nodiscard]] const std::vector<Kept>& kept() const { return kept_; }
  /// Writes the encoder's backward, from `d_rows`, the gradient of the rows. `source`: the
  /// forward's template; `source_parameters`: its gathered parameters.
  void backward(Emit& b, std::span<Kept> restored, TensorId d_rows, const TemplateBuilder& source,
                TensorId source_parameters) const;

 private:
  [[nodiscard]] Emit within(const Emit& e, Kept& kept) const;
  [[nodiscard]] Product patches() const;
  [[nodiscard]] Product projector() const;
  /// Writes the copy between all image tokens and the share of them in this rank's rows.
  void place(Emit& e, Phase phase, TensorId from, TensorId to) const;

  const Setting& own_;
  model::Architecture tower_;
  Setting s_;  ///< Setting of the image encoder, whose rows are patches.
  std::int64_t tokens_ = 0;
  std::vector<LayerWriter> layers_;
  std::vector<Kept> all_;
  std::vector<Kept> kept_;
};

}  // namespace stepwright::step
