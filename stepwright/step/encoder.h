#pragma once

#include <span>
#include <vector>

#include "stepwright/step/blocks.h"

namespace stepwright::step {

/// Writes the encoder of a micro-batch's images into the block of the embedding. Every rank of the
/// first position runs all of it, whole images, whatever cuts sequences and matrices; its products
/// are in the type of storage.
class EncoderWriter {
 public:
  /// `whole`: of its layers only the inputs are kept.
  EncoderWriter(const Setting& s, bool whole);
  EncoderWriter(const EncoderWriter&) = delete;
  EncoderWriter& operator=(const EncoderWriter&) = delete;

  /// Adds the images' tokens to `rows`, in their place.
  void forward(Emit& e, TensorId rows);
  /// Tensors that the backward needs: of each layer, then of what stands around the layers.
  [[nodiscard]] const std::vector<Kept>& kept() const { return kept_; }
  /// From the gradient of the rows. `source`: the forward's template and its gathered parameters.
  void backward(Emit& b, std::span<Kept> restored, TensorId d_rows, const TemplateBuilder& source,
                TensorId source_parameters) const;

 private:
  [[nodiscard]] Emit within(const Emit& e, Kept& kept) const;
  [[nodiscard]] Product patches() const;
  [[nodiscard]] Product projector() const;
  /// Image tokens as a rank's part of the rows.
  void place(Emit& e, Phase phase, TensorId from, TensorId to) const;

  const Setting& own_;
  model::Architecture tower_;
  Setting s_;  ///< Setting of the tower, whose rows are patches.
  std::int64_t tokens_ = 0;
  std::vector<LayerWriter> layers_;
  std::vector<Kept> all_;
  std::vector<Kept> kept_;
};

}  // namespace stepwright::step
