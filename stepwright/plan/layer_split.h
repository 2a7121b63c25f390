#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stepwright::plan {

/// The default split of layers over the chunks of a pipeline: as even as possible. The remaining
/// layers go to chunks in the middle (the earlier of two equally central ones), then to the first
/// chunks, never to the last, which has the head. Chunks are numbered from 0; there is at least
/// one.
struct LayerSplit {
  /// Layers that every chunk has at least; `surplus` chunks have one more.
  std::int64_t share = 0;
  std::int64_t surplus = 0;  ///< Number of chunks with one additional layer.
  std::int64_t first = 0;    ///< First chunk with an additional layer.

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

/// Returns the layers of each chunk by `LayerSplit`.
inline std::vector<std::int64_t> even_split(std::int64_t layers, std::int64_t chunks) {
  const LayerSplit split(layers, chunks);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(chunks));
  for (std::int64_t i = 0; i < chunks; ++i) counts[static_cast<std::size_t>(i)] = split.layers(i);
  return counts;
}

/// True if a chunk between the first and the last has no layers.
inline bool is_hollow(const std::vector<std::int64_t>& layers) {
  return layers.size() > 2 &&
         std::find(layers.begin() + 1, layers.end() - 1, 0) != layers.end() - 1;
}

}  // namespace stepwright::plan
