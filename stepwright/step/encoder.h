#pragma once

#include <span>
#include <vector>

#include "stepwright/step/blocks.h"

namespace stepwright::step {

/// Appends the operators of the encoder of a micro-batch's images to the embedding's templates.
/// Every rank of the first pipeline stage runs the whole encoder on whole images, whatever the
/// context and tensor parallelism; products are in the type of activations.
class ImageEncoderOperatorWriter {
 public:
  /// Prepares the layers of the image encoder. `whole`: they are fully recomputed, so that only
  /// their inputs are kept.
  ImageEncoderOperatorWriter(const StepBuildSettings& s, bool whole);
  ImageEncoderOperatorWriter(const ImageEncoderOperatorWriter&) = delete;
  ImageEncoderOperatorWriter& operator=(const ImageEncoderOperatorWriter&) = delete;

  /// Appends the image encoder's forward, and adds its image tokens to the embedded tokens `rows`,
  /// in place.
  void forward(ModelBlockBuildContext& e, TensorId rows);
  /// Tensors that the image encoder keeps for its backward: one set for each layer, then one for
  /// the operators around the layers.
  [[nodiscard]] const std::vector<KeptTensors>& tensors_kept_by_encoder() const { return kept_; }
  /// Appends the image encoder's backward, from `d_rows`, the gradient of the embedded tokens.
  /// `restored`: the tensors kept by the forward; `source`: the forward's template;
  /// `source_parameters`: its gathered parameters.
  void backward(ModelBlockBuildContext& b, std::span<KeptTensors> restored, TensorId d_rows,
                const OperatorTemplateBuilder& source, TensorId source_parameters) const;

 private:
  [[nodiscard]] ModelBlockBuildContext within(const ModelBlockBuildContext& e,
                                              KeptTensors& kept) const;
  [[nodiscard]] MatrixProduct patches() const;
  [[nodiscard]] MatrixProduct projector() const;
  /// Appends the copy between the encoder's image tokens and the embedded tokens of this rank,
  /// which are only a share of all: from the tensor `from` to the tensor `to`.
  void copy_image_tokens_into_embeddings(ModelBlockBuildContext& e, Phase phase, TensorId from,
                                         TensorId to) const;

  const StepBuildSettings& own_;
  model::ModelArchitecture tower_;
  StepBuildSettings s_;  ///< Sizes of the image encoder, whose rows are patches of images.
  std::int64_t tokens_ = 0;
  std::vector<LayerOperatorWriter> layers_;
  std::vector<KeptTensors> all_;
  std::vector<KeptTensors> kept_;
};

}  // namespace stepwright::step
