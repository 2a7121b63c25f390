#include "stepwright/model/layer_letters.h"

#include <algorithm>

namespace stepwright::model {
namespace {

struct LayerLetter {
  char letter;
  TokenMixer mixer;
  FeedForward feed_forward;
};
constexpr LayerLetter kLetters[] = {{'M', TokenMixer::kMamba2, FeedForward::kNone},
                                    {'*', TokenMixer::kAttention, FeedForward::kNone},
                                    {'-', TokenMixer::kNone, FeedForward::kDense},
                                    {'E', TokenMixer::kNone, FeedForward::kExperts}};

}  // namespace

std::optional<std::vector<LayerClass>> layers_from_hybrid_pattern(std::string_view letters) {
  std::vector<LayerClass> layers;
  for (const char letter : letters) {
    const auto* known = std::ranges::find(kLetters, letter, &LayerLetter::letter);
    if (known == std::end(kLetters)) return std::nullopt;
    layers.push_back({.mixer = known->mixer, .feed_forward = known->feed_forward});
  }
  return layers;
}

std::optional<char> hybrid_layer_letter(const LayerClass& layer) {
  for (const LayerLetter& known : kLetters) {
    if (known.mixer == layer.mixer && known.feed_forward == layer.feed_forward) return known.letter;
  }
  return std::nullopt;
}

}  // namespace stepwright::model
