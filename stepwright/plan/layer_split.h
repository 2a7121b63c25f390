#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stepwright::plan {

/// How layers fall to the chunks of a pipeline when nothing is said: as even as possible, the
/// surplus going to chunks in the middle (of two equally far the earlier), then to the first, never
/// to the last: it has the head. Chunks from 0; at least one.
struct LayerSplit {
  std::int64_t share = 0;    ///< Layers that every chunk has.
  std::int64_t surplus = 0;  ///< Chunks that have one layer more.
  std::int64_t first = 0;    ///< First chunk that has one layer more.

  LayerSplit(std::int64_t layers, std::int64_t chunks)
      : share(layers / chunks), surplus(layers % chunks), first((chunks - surplus) / 2) {}

  /// The first layer of a chunk.
  [[nodiscard]] std::int64_t start(std::int64_t chunk) const {
    return chunk * share + std::clamp<std::int64_t>(chunk - first, 0, surplus);
  }
  [[nodiscard]] std::int64_t layers(std::int64_t chunk) const {
    return start(chunk + 1) - start(chunk);
  }
};

/// The layers of each chunk by `LayerSplit`.
inline std::vector<std::int64_t> even_split(std::int64_t layers, std::int64_t chunks) {
  const LayerSplit split(layers, chunks);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(chunks));
  for (std::int64_t i = 0; i < chunks; ++i) counts[static_cast<std::size_t>(i)] = split.layers(i);
  return counts;
}

/// Whether a listed chunk between the first and the last has no layers.
inline bool is_hollow(const std::vector<std::int64_t>& layers) {
  return layers.size() > 2 &&
         std::find(layers.begin() + 1, layers.end() - 1, 0) != layers.end() - 1;
}

}  // namespace stepwright::plan
