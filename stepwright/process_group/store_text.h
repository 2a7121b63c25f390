#pragma once

#include <cstdint>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

namespace stepwright::process_group {

/// Stores a text under a key of a c10d store. Throws what the store throws.
inline void put_text_into_c10d_store(c10d::Store& store, const std::string& key,
                                     const std::string& text) {
  store.set(key, std::vector<std::uint8_t>(text.begin(), text.end()));
}

/// Returns the text under a key of a c10d store, waiting for the key for the store's timeout.
inline std::string get_text_from_c10d_store(c10d::Store& store, const std::string& key) {
  const std::vector<std::uint8_t> text = store.get(key);
  return {text.begin(), text.end()};
}

}  // namespace stepwright::process_group
