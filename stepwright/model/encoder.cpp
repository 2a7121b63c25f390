#include "stepwright/model/encoder.h"

#include <algorithm>
#include <cmath>

#include "stepwright/model/architecture.h"
#include "stepwright/model/tower_flops.h"

namespace stepwright::model {
namespace {

double layer_flops(const ImageEncoder& encoder) {
  return encoder_tower_flops(encoder, static_cast<double>(encoder.patches));
}

}  // namespace

double encoder_tower_flops(const ImageEncoder& encoder, double rows) {
  const auto hidden = static_cast<double>(encoder.hidden);
  const double matrices =
      4 * hidden * hidden + (encoder.gated ? 3 : 2) * hidden * static_cast<double>(encoder.ffn);
  const auto window = static_cast<double>(encoder.window);
  const bool windows = window > 0 && window < rows;
  const double seen = windows ? window : rows;
  const auto full = static_cast<double>(windows ? encoder.full_layers : 0);
  const auto layers = static_cast<double>(encoder.layers);
  return layers * 2 * rows * matrices + 4 * rows * hidden * (full * rows + (layers - full) * seen);
}

ImageEncoderFlops flops_of(const ImageEncoder& encoder) {
  ImageEncoderFlops flops;
  flops.layers = std::min(encoder.flops, layer_flops(encoder));
  flops.projector =
      std::min(encoder.flops - flops.layers,
               2 * static_cast<double>(encoder.tokens) * static_cast<double>(encoder.projector));
  flops.rest = encoder.flops - flops.layers - flops.projector;
  return flops;
}

ImageEncoder encoder_with_patches(ImageEncoder encoder, std::int64_t patches) {
  if (encoder.patches == 0 || patches == encoder.patches) return encoder;
  const ImageEncoderFlops before = flops_of(encoder);
  const double ratio = static_cast<double>(patches) / static_cast<double>(encoder.patches);
  encoder.tokens = std::llround(static_cast<double>(encoder.tokens) * ratio);
  encoder.patches = patches;
  encoder.flops = layer_flops(encoder) + (before.projector + before.rest) * ratio;
  return encoder;
}

ModelArchitecture encoder_tower_model(const ImageEncoder& encoder) {
  ModelArchitecture tower;
  tower.name = encoder.name;
  tower.layers = encoder.layers;
  tower.hidden = encoder.hidden;
  tower.heads = tower.kv_heads = encoder.heads;
  tower.head_dim = encoder.hidden / encoder.heads;
  tower.ffn = encoder.ffn;
  tower.gated = encoder.gated;
  tower.activation = ActivationFunction::kGelu;
  tower.position = PositionEncoding::kNone;
  const auto layers = static_cast<std::size_t>(encoder.layers);
  tower.pattern.assign(layers, {.window = encoder.window, .bidirectional = true});
  for (std::size_t i = 0; i < layers && i < static_cast<std::size_t>(encoder.full_layers); ++i) {
    tower.pattern[i].window = 0;
  }
  return tower;
}

}  // namespace stepwright::model
