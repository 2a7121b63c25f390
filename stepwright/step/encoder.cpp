#include "stepwright/step/encoder.h"

#include <algorithm>
#include <cmath>

#include "stepwright/core/divide_up.h"

namespace stepwright::step {
namespace {

/// The images of a micro-batch are concatenated into one sequence of patches, as variable-length
/// kernels expect.
StepBuildSettings tower_setting(const StepBuildSettings& s, const model::ModelArchitecture& tower) {
  const model::ImageEncoder& encoder = *s.model->encoder;
  const double images = encoder.images * static_cast<double>(s.batch);
  StepBuildSettings t = s;
  t.model = &tower;
  t.batch = 1;
  t.context = t.tensor = t.expert = t.expert_tensor = 1;
  t.sequence_parallel = false;
  t.rows = std::max<std::int64_t>(1, std::llround(images * static_cast<double>(encoder.patches)));
  t.length = t.tokens = t.rows;
  t.documents = {{encoder.patches, images}};
  t.matrix = s.storage;
  if (t.kernels.attention == cluster::AttentionKernel::kUnfused) {
    t.kernels.attention = cluster::AttentionKernel::kFlash2;
  }
  return t;
}

}  // namespace

ImageEncoderOperatorWriter::ImageEncoderOperatorWriter(const StepBuildSettings& s, bool whole)
    : own_(s), tower_(model::encoder_tower_model(*s.model->encoder)), s_(tower_setting(s, tower_)) {
  const model::ImageEncoder& encoder = *s.model->encoder;
  tokens_ = std::max<std::int64_t>(
      1, std::llround(encoder.images * static_cast<double>(s.batch * encoder.tokens)));
  const plan::LayerRecompute recompute = whole ? plan::kWholeRecompute : plan::kNoRecompute;
  for (std::int64_t i = 0; i < tower_.layers; ++i) {
    layers_.emplace_back(tower_.layer_class(i), recompute);
  }
  all_.resize(layers_.size() + 1);
  kept_.resize(layers_.size() + 1);
}

ModelBlockBuildContext ImageEncoderOperatorWriter::within(const ModelBlockBuildContext& e,
                                                          KeptTensors& kept) const {
  return {e.out, s_, kept, e.forward, e.parameters, e.gradients};
}

MatrixProduct ImageEncoderOperatorWriter::patches() const {
  const model::ImageEncoder& encoder = *own_.model->encoder;
  const std::int64_t width = tower_.hidden > 0 ? tower_.hidden : own_.model->hidden;
  const double each = 2 * static_cast<double>(encoder.patches) * static_cast<double>(width);
  const auto inner = std::max<std::int64_t>(1, std::llround(model::flops_of(encoder).rest / each));
  return {s_.rows, inner, width, LayerPart::kPatches};
}

MatrixProduct ImageEncoderOperatorWriter::projector() const {
  const model::ImageEncoder& encoder = *own_.model->encoder;
  const std::int64_t width = own_.model->hidden;
  const double each = 2 * static_cast<double>(encoder.tokens) * static_cast<double>(width);
  const auto inner =
      std::max<std::int64_t>(1, std::llround(model::flops_of(encoder).projector / each));
  return {tokens_, inner, width, LayerPart::kProjector};
}

void ImageEncoderOperatorWriter::copy_image_tokens_into_embeddings(ModelBlockBuildContext& e,
                                                                   Phase phase, TensorId from,
                                                                   TensorId to) const {
  const std::int64_t ranks = own_.context * (own_.sequence_parallel ? own_.tensor : 1);
  e.out.add(computation(e, OperatorKind::kAdd, phase, LayerPart::kImages,
                        {.rows = ceil_divide(tokens_, ranks), .columns = own_.model->hidden}),
            {from, to}, {to});
}

void ImageEncoderOperatorWriter::forward(ModelBlockBuildContext& e, TensorId rows) {
  KeptTensors& ends = all_.back();
  ModelBlockBuildContext around = within(e, ends);
  // An encoder without layers is one product, whose input is no wider than its result.
  const std::int64_t numbers = std::min(patches().inner, patches().columns);
  const TensorId pixels = create_activation_tensor(around, "pixels", s_.rows, numbers);
  ends.set(KeptTensorRole::kPixels, pixels);
  TensorId x = append_matrix_product(around, pixels, patches());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    ModelBlockBuildContext layer = within(e, all_[i]);
    const TensorId y = layers_[i].forward(layer, x);
    kept_[i] = layers_[i].tensors_kept_after_forward(all_[i], x);
    x = y;
  }
  if (own_.model->encoder->projector > 0) {
    ends.set(KeptTensorRole::kPatchRows, x);
    x = append_matrix_product(around, x, projector());
  }
  kept_.back() = ends;
  copy_image_tokens_into_embeddings(e, e.forward, x, rows);
}

void ImageEncoderOperatorWriter::backward(ModelBlockBuildContext& b,
                                          std::span<KeptTensors> restored, TensorId d_rows,
                                          const OperatorTemplateBuilder& source,
                                          TensorId source_parameters) const {
  ModelBlockBuildContext around = within(b, restored.back());
  TensorId dx = create_activation_tensor(b, "gradient", tokens_, own_.model->hidden);
  copy_image_tokens_into_embeddings(b, Phase::kDataGradient, d_rows, dx);
  if (own_.model->encoder->projector > 0) {
    dx = append_matrix_product_backward(around, dx, KeptTensorRole::kPatchRows, projector());
  }
  for (std::size_t i = layers_.size(); i-- > 0;) {
    ModelBlockBuildContext layer = within(b, restored[i]);
    dx = layers_[i].backward(layer, dx, {source, all_[i], kept_[i], source_parameters});
  }
  append_matrix_product_weight_gradient(around, dx, restored.back().get(KeptTensorRole::kPixels),
                                        patches());
}

}  // namespace stepwright::step
