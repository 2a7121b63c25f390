#pragma once

#include <cstdint>
#include <string>

namespace stepwright::model {

struct Architecture;

/// An encoder of images ahead of a decoder: a tower of layers over patches, and the projector
/// behind it into the decoder's width. The counts of a decoder leave it out.
struct Encoder {
  std::string name = {};        ///< `model_type` of its configuration.
  std::int64_t parameters = 0;  ///< Parameters of the tower; 0: nobody knows, and no step holds it.
  std::int64_t projector = 0;   ///< Parameters of the projector behind it.
  std::int64_t patches = 0;     ///< Patches of an image; 0: no step encodes any.
  std::int64_t tokens = 0;      ///< Tokens of the decoder that such an image becomes.
  /// FLOPs of a forward of such an image through tower and projector.
  double flops = 0;
  bool any_size = false;  ///< Images have any size: `patches` are those of a usual one.
  /// Layers of the tower and their sizes; without layers its work is one product.
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 1;
  std::int64_t ffn = 0;
  bool gated = false;
  std::int64_t window = 0;       ///< Patches that see each other; 0: all of an image.
  std::int64_t full_layers = 0;  ///< Layers without a window, in a tower with windows.
  double images = 1;             ///< Images of a sequence, in the mean: a job may say otherwise.
  bool operator==(const Encoder&) const = default;

  /// Whether a step encodes images.
  [[nodiscard]] bool takes_part() const { return parameters > 0 && patches > 0 && images > 0; }
};

inline constexpr std::int64_t kMostEncoderLayers = 256;
inline constexpr std::int64_t kMostPatches = 1 << 20;  ///< Most patches of an image.
inline constexpr double kMostImages = 1 << 16;         ///< Most images of a sequence.

/// Returns the encoder with images of another size; their tokens and FLOPs follow.
Encoder with_patches(Encoder encoder, std::int64_t patches);

/// The tower's layers as a model of their own: all parameters but biases and tables.
Architecture tower_of(const Encoder& encoder);

/// FLOPs of a forward of one image, of `Encoder::flops` those through the tower's layers, where
/// each patch sees every other, through the projector, and the rest (patches into rows).
struct EncoderFlops {
  double layers = 0;
  double projector = 0;
  double rest = 0;
};
EncoderFlops flops_of(const Encoder& encoder);

}  // namespace stepwright::model
