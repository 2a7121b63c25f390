#pragma once

#include <cstdint>
#include <string>

namespace stepwright::model {

struct Architecture;

/// An encoder of images before a decoder: a tower of layers over patches, and the projector from
/// the tower into the decoder's width. The decoder's counts leave it out.
struct Encoder {
  std::string name = {};        ///< Model type in the encoder's own configuration.
  std::int64_t parameters = 0;  ///< Parameters of the tower; 0: unknown, and no step includes it.
  std::int64_t projector = 0;   ///< Parameters of the projector behind the tower.
  std::int64_t patches = 0;     ///< Patches of an image; 0: unknown, and no step encodes images.
  std::int64_t tokens = 0;      ///< Tokens of the decoder that one image becomes.
  /// FLOPs of the forward of one image through tower and projector.
  double flops = 0;
  bool any_size = false;  ///< Images can have any size; `patches` are those of a usual image.
  /// Layers of the tower and their sizes. With 0 layers the work of the tower is one matrix
  /// product.
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 1;
  std::int64_t ffn = 0;
  bool gated = false;
  /// Patches in an attention window; 0: attention over the whole image.
  std::int64_t window = 0;
  /// Layers with attention over the whole image, in a tower with windows.
  std::int64_t full_layers = 0;
  double images = 1;  ///< Mean number of images of a sequence; a job can override it.
  bool operator==(const Encoder&) const = default;

  /// True if a step encodes images: sizes are known and sequences have images.
  [[nodiscard]] bool takes_part() const { return parameters > 0 && patches > 0 && images > 0; }
};

inline constexpr std::int64_t kMostEncoderLayers = 256;
inline constexpr std::int64_t kMostPatches = 1 << 20;  ///< Largest number of patches of an image.
inline constexpr double kMostImages = 1 << 16;         ///< Largest number of images of a sequence.

/// Returns the encoder for images of another size, with their tokens and FLOPs.
Encoder with_patches(Encoder encoder, std::int64_t patches);

/// Returns the tower's layers as a model, which has the tower's matrices and norms but no biases or
/// embedding tables.
Architecture encoder_tower_model(const Encoder& encoder);

/// FLOPs of the forward of one image, split into `layers` (the tower's layers), `projector` and
/// `rest` (such as the embedding of patches); the three add up to `Encoder::flops`.
struct EncoderFlops {
  double layers = 0;
  double projector = 0;
  double rest = 0;
};
EncoderFlops flops_of(const Encoder& encoder);

}  // namespace stepwright::model
