#include "stepwright/model/config_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "stepwright/core/name.h"
#include "stepwright/core/utf8.h"
#include "stepwright/model/config_fields.h"
#include "stepwright/model/tower_flops.h"

namespace stepwright::model {
namespace {

// Widest tower layer that is accepted; the product of two widths does not overflow.
constexpr std::int64_t kLargestWidth = 1 << 20;
// Patches assumed for encoders of any image size: 448 pixels a side, patches of 14.
constexpr std::int64_t kUsualPatches = 1024;

/// A stack of bidirectional layers over the patches of an image.
struct Tower {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;
  bool gated = false;
  std::int64_t norm = 2;  ///< Vectors of a norm: 2, weight and bias; 1, the weight.
  bool qkv_bias = true;
  bool output_bias = true;
  bool mlp_bias = true;
  std::int64_t patch = 0;  ///< Numbers (pixels times channels) in one patch.
  bool patch_bias = true;
  std::int64_t positions = 0;  ///< Rows of the learned table of positions.
  std::int64_t summaries = 0;  ///< Learned tokens that are rows in addition to the patches.
  /// Norms outside of the layers: before the first, after the last.
  std::int64_t outer_norms = 0;
  std::int64_t layer_vectors = 0;  ///< Additional vectors of each layer, `hidden` long.
  std::int64_t rest = 0;           ///< Number of parameters after the last layer.
  std::int64_t patches = 0;        ///< Patches of an image; 0: images can have any size.
  std::int64_t heads = 1;
  /// Patches in an attention window; 0: attention over the whole image.
  std::int64_t window = 0;
  /// Layers with attention over the whole image, in a tower with windows.
  std::int64_t full_layers = 0;
};

/// Layers that take the tower's rows to the decoder's width.
struct Projector {
  std::int64_t parameters = 0;
  std::int64_t matrices = 0;  ///< Parameters of its matrices, by which every row is multiplied.
  std::int64_t tokens = 0;    ///< Tokens of the decoder that one image becomes.
  std::int64_t rows = 0;      ///< Rows that the projector multiplies for one image.
  std::int64_t square = 1;    ///< Patches that merge into one token, if images can have any size.
};

std::int64_t layer_matrices(const Tower& t) {
  return 4 * t.hidden * t.hidden + (t.gated ? 3 : 2) * t.hidden * t.ffn;
}

std::int64_t parameters_of(const Tower& t) {
  std::int64_t layer = layer_matrices(t) + (2 * t.norm + t.layer_vectors) * t.hidden;
  if (t.qkv_bias) layer += 3 * t.hidden;
  if (t.output_bias) layer += t.hidden;
  if (t.mlp_bias) layer += (t.gated ? 2 : 1) * t.ffn + t.hidden;
  const std::int64_t table = t.positions + t.summaries + (t.patch_bias ? 1 : 0);
  return t.layers * layer + (t.patch + table + t.outer_norms * t.norm) * t.hidden + t.rest;
}

/// Returns the FLOPs of the forward of one image through a tower and the projector behind it.
double flops_of(const ImageEncoder& encoder, const Tower& t, const Projector& p) {
  return encoder_tower_flops(encoder, static_cast<double>(t.patches + t.summaries)) +
         2 * static_cast<double>(t.patches) * static_cast<double>(t.patch * t.hidden) +
         2 * static_cast<double>(p.rows) * static_cast<double>(p.matrices);
}

/// Returns a projector of two matrices, each with a bias if `bias` is true.
Projector two_layers(std::int64_t in, std::int64_t inner, std::int64_t out, bool bias) {
  const std::int64_t matrices = in * inner + inner * out;
  return {.parameters = matrices + (bias ? inner + out : 0), .matrices = matrices};
}

std::int64_t width(const ConfigJsonReader& fields, std::initializer_list<std::string_view> keys,
                   std::int64_t fallback) {
  return fields.size_or_default(keys, fallback, 1, kLargestWidth);
}

/// Reads a side of an image or a patch in pixels: a number, or a list of two equal ones.
std::int64_t side(const ConfigJsonReader& fields, std::string_view key, std::int64_t fallback) {
  const auto found = fields.value(key);
  if (!found) return fallback;
  if (!found->is_sequence()) return found->integer(1, kLargestWidth);
  if (found->size() != 2) found->fail("must be a number or a list of two");
  const std::int64_t high = found->at(0).integer(1, kLargestWidth);
  if (found->at(1).integer(1, kLargestWidth) != high) {
    found->fail_unsupported("sides that differ");
  }
  return high;
}

struct TowerDefaults {
  std::int64_t hidden, layers, ffn, image, patch;
};

Tower usual_tower(const ConfigJsonReader& vision, const TowerDefaults& usual) {
  Tower t{.layers = vision.size_or_default({"num_hidden_layers", "depth"}, usual.layers, 1,
                                           kMostEncoderLayers),
          .hidden = width(vision, {"hidden_size"}, usual.hidden),
          .ffn = width(vision, {"intermediate_size"}, usual.ffn)};
  const std::int64_t edge = side(vision, "patch_size", usual.patch);
  t.patch = width(vision, {"num_channels", "in_channels", "in_chans"}, 3) * edge * edge;
  const std::int64_t row = side(vision, "image_size", usual.image) / edge;
  t.patches = row * row;
  t.positions = t.patches;
  return t;
}

Tower clip_tower(const ConfigJsonReader& vision) {
  Tower t = usual_tower(vision, {768, 12, 3072, 224, 32});
  t.patch_bias = false;
  t.summaries = 1;
  t.positions = t.patches + 1;
  t.outer_norms = 2;
  return t;
}

/// Reads SigLIP's tower, which ends with a norm and, unless `vision_use_head` is false, a pooling
/// head.
Tower siglip_tower(const ConfigJsonReader& vision) {
  Tower t = usual_tower(vision, {768, 12, 3072, 224, 16});
  t.outer_norms = 1;
  if (vision.flag("vision_use_head", true)) {
    const std::int64_t probe = t.hidden;
    const std::int64_t biases = 4 * t.hidden + t.ffn + t.hidden;
    t.rest = probe + layer_matrices(t) + biases + t.norm * t.hidden;
  }
  return t;
}

Tower idefics3_tower(const ConfigJsonReader& vision) {
  Tower t = usual_tower(vision, {1152, 12, 3072, 224, 32});
  t.outer_norms = 1;
  return t;
}

Tower pixtral_tower(const ConfigJsonReader& vision) {
  Tower t = usual_tower(vision, {1024, 24, 4096, 1024, 16});
  t.gated = true;
  t.norm = 1;
  t.qkv_bias = t.output_bias = t.mlp_bias = t.patch_bias = false;
  t.positions = 0;
  t.outer_norms = 1;
  return t;
}

Tower internvl_tower(const ConfigJsonReader& vision) {
  Tower t = usual_tower(vision, {1024, 24, 4096, 448, 14});
  t.qkv_bias = vision.flag("attention_bias", false);
  t.summaries = 1;
  t.positions = vision.flag("use_absolute_position_embeddings", true) ? t.patches + 1 : 0;
  t.layer_vectors = 2;
  const auto norm = vision.value("norm_type");
  if (norm && norm->text() == "rms_norm") t.norm = 1;
  // This norm is an RMSNorm, even if the others are not.
  if (vision.flag("use_qk_norm", false)) t.layer_vectors += 2;
  if (vision.flag("use_mask_token", false)) t.rest = t.hidden;
  if (!vision.flag("use_mean_pooling", true)) t.outer_norms = 1;
  return t;
}

/// Reads Llama 4's tower, behind whose layers pixels are shuffled into fewer, wider rows for an
/// MLP.
Tower llama4_tower(const ConfigJsonReader& vision) {
  Tower t = usual_tower(vision, {768, 34, 5632, 448, 14});
  t.patch_bias = false;
  t.summaries = 1;
  t.positions = t.patches + 1;
  t.outer_norms = 2;
  // In transformers the second matrix of this MLP is square.
  const std::int64_t output = width(vision, {"projector_output_dim"}, 4096);
  t.rest = t.ffn * width(vision, {"projector_input_dim"}, 4096) + output * output;
  return t;
}

/// Reads a tower of Qwen's models, which take images of any size, in pairs of frames.
Tower tower_of_any_size(const ConfigJsonReader& vision, const TowerDefaults& usual) {
  Tower t = usual_tower(vision, usual);
  t.patch *= width(vision, {"temporal_patch_size"}, 2);
  t.patches = t.positions = 0;
  return t;
}

/// Returns a projector that merges a square of neighbouring patches into one row, norms it with
/// `normed` numbers and takes it through an MLP to the decoder's width.
Projector merger(const ConfigJsonReader& vision, std::int64_t hidden, std::int64_t out,
                 std::int64_t normed) {
  const std::int64_t edge = width(vision, {"spatial_merge_size"}, 2);
  const std::int64_t wide = edge * edge * hidden;
  Projector p = two_layers(wide, wide, out, true);
  p.parameters += normed;
  p.square = edge * edge;
  return p;
}

Tower qwen2_vl_tower(const ConfigJsonReader& vision) {
  Tower t = tower_of_any_size(vision, {1280, 32, 5120, 224, 14});
  t.hidden = width(vision, {"embed_dim"}, 1280);
  t.ffn = static_cast<std::int64_t>(vision.read_number_or("mlp_ratio", 4, 0.01, 100) *
                                    static_cast<double>(t.hidden));
  t.patch_bias = false;
  return t;
}

Tower qwen2_5_vl_tower(const ConfigJsonReader& vision) {
  Tower t = tower_of_any_size(vision, {3584, 32, 3420, 224, 14});
  t.gated = true;
  t.norm = 1;
  t.patch_bias = false;
  const std::int64_t side = std::max<std::int64_t>(
      1, width(vision, {"window_size"}, 112) / width(vision, {"patch_size"}, 14));
  t.window = side * side;
  const auto full = vision.value("fullatt_block_indexes");
  t.full_layers = full ? static_cast<std::int64_t>(full->size()) : 4;
  return t;
}

Tower qwen3_vl_tower(const ConfigJsonReader& vision) {
  Tower t = tower_of_any_size(vision, {1152, 27, 4304, 224, 16});
  t.positions = width(vision, {"num_position_embeddings"}, 2304);
  return t;
}

struct TowerKind {
  std::string_view model_type;
  Tower (*read)(const ConfigJsonReader& vision);
};
constexpr TowerKind kTowers[] = {{"clip_vision_model", clip_tower},
                                 {"siglip_vision_model", siglip_tower},
                                 {"pixtral", pixtral_tower},
                                 {"internvl_vision", internvl_tower},
                                 {"llama4_vision_model", llama4_tower},
                                 {"idefics3_vision", idefics3_tower},
                                 {"smolvlm_vision", idefics3_tower},
                                 {"qwen2_vl_vision", qwen2_vl_tower},
                                 {"qwen2_5_vl_vision", qwen2_5_vl_tower},
                                 {"qwen3_vl_vision", qwen3_vl_tower},
                                 {"qwen3_vl_moe_vision", qwen3_vl_tower},
                                 {"qwen3_5_vision", qwen3_vl_tower},
                                 {"qwen3_5_moe_vision", qwen3_vl_tower},
                                 // These are the type names in released files.
                                 {"qwen2_vl", qwen2_vl_tower},
                                 {"qwen2_5_vl", qwen2_5_vl_tower},
                                 {"qwen3_vl", qwen3_vl_tower},
                                 {"qwen3_vl_moe", qwen3_vl_tower},
                                 {"qwen3_5", qwen3_vl_tower},
                                 {"qwen3_5_moe", qwen3_vl_tower}};

/// Everything that the size of a projector is derived from.
struct Between {
  const ConfigJsonReader& config;
  const ConfigJsonReader& vision;
  const Tower& tower;
  std::int64_t out;  ///< Width of the decoder's rows.
};

/// Returns how many layers of the tower the projector reads: 1, or the length of a list.
std::int64_t feature_layers(const ConfigJsonReader& config) {
  const auto layers = config.value("vision_feature_layer");
  return layers && layers->is_sequence() ? static_cast<std::int64_t>(layers->size()) : 1;
}

Projector project_llava(const Between& b) {
  const std::int64_t in = b.tower.hidden * feature_layers(b.config);
  Projector p = two_layers(in, b.out, b.out, b.config.flag("multimodal_projector_bias", true));
  p.tokens = p.rows = b.tower.patches;
  return p;
}

/// Reads LLaVA-NeXT, which cuts an image into any number of tiles and adds one learned row between
/// the rows of tiles.
Projector project_llava_next(const Between& b) {
  Projector p = project_llava(b);
  p.parameters += b.out;
  return p;
}

Projector project_mistral3(const Between& b) {
  const std::int64_t edge = width(b.config, {"spatial_merge_size"}, 2);
  const std::int64_t in = b.tower.hidden * feature_layers(b.config);
  Projector p = two_layers(in, b.out, b.out, b.config.flag("multimodal_projector_bias", false));
  const std::int64_t merging = edge * edge * b.tower.hidden * b.tower.hidden;
  p.parameters += merging + b.tower.hidden;
  p.matrices += merging;
  p.tokens = p.rows = b.tower.patches / (edge * edge);
  return p;
}

Projector project_gemma3(const Between& b) {
  const std::int64_t matrix = b.tower.hidden * b.out;
  const std::int64_t tokens = width(b.config, {"mm_tokens_per_image"}, 256);
  return {
      .parameters = matrix + b.tower.hidden, .matrices = matrix, .tokens = tokens, .rows = tokens};
}

Projector project_paligemma(const Between& b) {
  const std::int64_t out = width(b.vision, {"projection_dim"}, b.out);
  return {.parameters = b.tower.hidden * out + out,
          .matrices = b.tower.hidden * out,
          .tokens = b.tower.patches,
          .rows = b.tower.patches};
}

Projector project_internvl(const Between& b) {
  const double ratio = b.config.read_number_or("downsample_ratio", 0.5, 0.01, 1);
  const auto edge = static_cast<std::int64_t>(1 / ratio);
  const std::int64_t in = edge * edge * b.tower.hidden;
  Projector p = two_layers(in, b.out, b.out, true);
  p.parameters += 2 * in;
  p.tokens = p.rows = width(b.config, {"image_seq_length"}, b.tower.patches / (edge * edge));
  return p;
}

Projector project_llama4(const Between& b) {
  const std::int64_t in = width(b.vision, {"vision_output_dim"}, 7680);
  const double ratio = b.vision.read_number_or("pixel_shuffle_ratio", 0.5, 0.01, 1);
  const auto tokens =
      static_cast<std::int64_t>(static_cast<double>(b.tower.patches) * ratio * ratio);
  return {.parameters = in * b.out, .matrices = in * b.out, .tokens = tokens, .rows = tokens};
}

Projector project_idefics3(const Between& b) {
  const std::int64_t edge = width(b.config, {"scale_factor"}, 2);
  const std::int64_t matrix = edge * edge * b.tower.hidden * b.out;
  const std::int64_t tokens = b.tower.patches / (edge * edge);
  return {.parameters = matrix, .matrices = matrix, .tokens = tokens, .rows = tokens};
}

/// In Qwen2-VL's vision_config `hidden_size` is the decoder's width.
Projector project_qwen2_vl(const Between& b) {
  return merger(b.vision, b.tower.hidden, width(b.vision, {"hidden_size"}, 3584),
                2 * b.tower.hidden);
}

Projector project_qwen2_5_vl(const Between& b) {
  return merger(b.vision, b.tower.hidden, width(b.vision, {"out_hidden_size"}, 3584),
                b.tower.hidden);
}

/// Reads Qwen3-VL's projector: rows of some tower layers also go to the decoder, through mergers of
/// their own.
Projector project_qwen3_vl(const Between& b) {
  const std::int64_t hidden = b.tower.hidden;
  const std::int64_t out = width(b.vision, {"out_hidden_size"}, 3584);
  Projector p = merger(b.vision, hidden, out, 2 * hidden);
  const bool deep = b.vision.value("model_type")->text().starts_with("qwen3_vl");
  const auto listed = b.vision.value("deepstack_visual_indexes");
  const std::int64_t usual = deep ? 3 : 0;
  const auto taken = listed ? static_cast<std::int64_t>(listed->size()) : usual;
  const Projector other = merger(b.vision, hidden, out, 2 * p.square * hidden);
  p.parameters += taken * other.parameters;
  p.matrices += taken * other.matrices;
  return p;
}

struct ProjectorKind {
  std::string_view model_type;  ///< Type of the whole multimodal model.
  Projector (*read)(const Between& between);
};
constexpr ProjectorKind kProjectors[] = {{"llava", project_llava},
                                         {"llava_next", project_llava_next},
                                         {"llava_next_video", project_llava_next},
                                         {"llava_onevision", project_llava_next},
                                         {"mistral3", project_mistral3},
                                         {"lighton_ocr", project_mistral3},
                                         {"gemma3", project_gemma3},
                                         {"shieldgemma2", project_gemma3},
                                         {"paligemma", project_paligemma},
                                         {"internvl", project_internvl},
                                         {"llama4", project_llama4},
                                         {"idefics3", project_idefics3},
                                         {"smolvlm", project_idefics3},
                                         {"qwen2_vl", project_qwen2_vl},
                                         {"qwen2_5_vl", project_qwen2_5_vl},
                                         {"qwen3_vl", project_qwen3_vl},
                                         {"qwen3_vl_moe", project_qwen3_vl},
                                         {"qwen3_5", project_qwen3_vl},
                                         {"qwen3_5_moe", project_qwen3_vl}};

template <class Kind>
const Kind* known(std::span<const Kind> kinds, const std::string& word) {
  const auto found = std::ranges::find(kinds, word, &Kind::model_type);
  return found == kinds.end() ? nullptr : &*found;
}

std::string word_of(const ConfigJsonReader& fields, std::string_view fallback) {
  const auto type = fields.value("model_type");
  return type ? read_name(*type) : std::string(fallback);
}

}  // namespace

std::optional<ImageEncoder> read_image_encoder(DocumentNode config,
                                               const ModelArchitecture& decoder) {
  const auto nested = config.find("vision_config");
  if (!nested || !nested->is_mapping()) return std::nullopt;
  const ConfigJsonReader fields(config, std::nullopt);
  const ConfigJsonReader vision(*nested, std::nullopt);
  ImageEncoder encoder{.name = word_of(vision, "a tower without a model_type")};
  const auto* tower = known<TowerKind>(kTowers, encoder.name);
  const auto* projector = known<ProjectorKind>(kProjectors, word_of(fields, ""));
  if (tower == nullptr || projector == nullptr) return encoder;
  Tower t = tower->read(vision);
  t.heads = vision.size_or_default({"num_attention_heads", "num_heads"}, 1, 1, kLargestWidth);
  Projector p = projector->read({fields, vision, t, decoder.hidden});
  encoder.parameters = parameters_of(t);
  encoder.projector = p.parameters;
  encoder.layers = t.layers;
  encoder.hidden = t.hidden;
  encoder.heads = t.hidden % t.heads == 0 ? t.heads : 1;
  encoder.ffn = t.ffn;
  encoder.gated = t.gated;
  encoder.window = t.window;
  encoder.full_layers = std::min(t.full_layers, t.layers);
  encoder.any_size = t.patches == 0;
  if (encoder.any_size) {
    t.patches = kUsualPatches;
    p.tokens = p.rows = std::max<std::int64_t>(1, kUsualPatches / p.square);
  }
  encoder.patches = t.patches;
  encoder.tokens = p.tokens;
  encoder.flops = flops_of(encoder, t, p);
  return encoder;
}

}  // namespace stepwright::model
