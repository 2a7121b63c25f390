#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stepwright::plan {

/// The default division of layers among pipeline chunks (numbered from 0), as even as possible. The
/// chunks with one layer more are consecutive and in the middle; the last chunk, which has the
/// head, is never among them.
struct EvenLayerSplit {
  /// Least number of layers of a chunk; `surplus` chunks have one more.
  std::int64_t share = 0;
  std::int64_t surplus = 0;  ///< Number of chunks with one more layer than the others.
  std::int64_t first = 0;    ///< Index of the first chunk with one more layer.

  EvenLayerSplit(std::int64_t layers, std::int64_t chunks)
      : share(layers / chunks), surplus(layers % chunks), first((chunks - surplus) / 2) {}

  /// Returns the index of the first layer of a chunk.
  [[nodiscard]] std::int64_t first_layer_of_chunk(std::int64_t chunk) const {
    return chunk * share + std::clamp<std::int64_t>(chunk - first, 0, surplus);
  }
  [[nodiscard]] std::int64_t layers(std::int64_t chunk) const {
    return first_layer_of_chunk(chunk + 1) - first_layer_of_chunk(chunk);
  }
};

/// Returns the number of layers of each pipeline chunk in the default, even division.
inline std::vector<std::int64_t> even_layer_split(std::int64_t layers, std::int64_t chunks) {
  const EvenLayerSplit split(layers, chunks);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(chunks));
  for (std::int64_t i = 0; i < chunks; ++i) counts[static_cast<std::size_t>(i)] = split.layers(i);
  return counts;
}

/// True if a chunk between the first and the last has no layers.
inline bool has_empty_middle_chunk(const std::vector<std::int64_t>& layers) {
  return layers.size() > 2 &&
         std::find(layers.begin() + 1, layers.end() - 1, 0) != layers.end() - 1;
}

}  // namespace stepwright::plan
