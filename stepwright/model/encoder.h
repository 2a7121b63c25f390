#pragma once

#include <cstdint>
#include <string>

namespace stepwright::model {

struct ModelArchitecture;

/// An image encoder before a decoder: a tower of transformer layers over image patches, and a
/// projector into the decoder's hidden width. Counts of the decoder's parameters and FLOPs exclude
/// it.
struct ImageEncoder {
  /// Model type in the encoder's own configuration ("siglip_vision_model").
  std::string name = {};
  /// Parameters of the tower; 0: unknown, and training steps leave the encoder out.
  std::int64_t parameters = 0;
  std::int64_t projector = 0;  ///< Parameters of the projector between tower and decoder.
  /// Patches of one image; 0: unknown, and training steps leave the encoder out.
  std::int64_t patches = 0;
  std::int64_t tokens = 0;  ///< Number of decoder tokens that one image becomes.
  /// FLOPs of the forward of one image through the tower and the projector.
  double flops = 0;
  /// True if images can have any size; `patches` then describes a usual one.
  bool any_size = false;
  /// Number of layers of the tower; 0: the tower's work is modelled as one matrix product.
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 1;
  std::int64_t ffn = 0;
  bool gated = false;
  /// Number of image patches in one attention window; 0: every layer attends to the whole image.
  std::int64_t window = 0;
  /// Number of layers that attend to the whole image in a tower with windows.
  std::int64_t full_layers = 0;
  double images = 1;  ///< Mean number of images per training sequence; a job can override it.
  bool operator==(const ImageEncoder&) const = default;

  /// True if training steps include the encoder: its sizes are known and sequences contain images.
  [[nodiscard]] bool is_encoder_in_training_step() const {
    return parameters > 0 && patches > 0 && images > 0;
  }
};

inline constexpr std::int64_t kMostEncoderLayers = 256;
/// Largest allowed number of patches per image.
inline constexpr std::int64_t kMaxImagePatches = 1 << 20;
/// Largest allowed number of images per sequence.
inline constexpr double kMaxImagesPerSequence = 1 << 16;

/// Returns the encoder for images of `patches` patches, with tokens and FLOPs adapted.
ImageEncoder encoder_with_patches(ImageEncoder encoder, std::int64_t patches);

/// Returns an image encoder's tower as a model with its matrices and norms, without biases and
/// embedding tables.
ModelArchitecture encoder_tower_model(const ImageEncoder& encoder);

/// Forward FLOPs of one image in three parts: tower layers, projector, and `rest` (patch
/// embedding). They add up to `ImageEncoder::flops`.
struct ImageEncoderFlops {
  double layers = 0;
  double projector = 0;
  double rest = 0;
};
ImageEncoderFlops flops_of(const ImageEncoder& encoder);

}  // namespace stepwright::model
