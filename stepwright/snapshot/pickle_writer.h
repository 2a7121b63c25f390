#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stepwright::snapshot {

/// Writes plain values in Python's pickle format, protocol 2 (Lib/pickle.py). Containers are opened
/// and closed; a repeated text is written once and referred to afterwards.
class PickleWriter {
 public:
  using Sink = std::function<void(std::string_view bytes)>;

  explicit PickleWriter(Sink sink);

  void open_list() { put("]("); }
  void close_list() { put("e"); }
  void open_mapping() { put("}("); }
  void close_mapping() { put("u"); }
  void text(std::string_view text);
  void integer(std::int64_t value);
  /// Returns a number with which `write_memoized_pickle_value` repeats the value just written.
  std::uint32_t memoize_pickle_value();
  /// Writes again the value for which `memoize_pickle_value` returned this number.
  void write_memoized_pickle_value(std::uint32_t name);
  void end();

 private:
  void put(std::string_view bytes);
  void put_little(std::uint64_t value, int width);

  Sink sink_;
  std::string buffer_;
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::uint32_t names_ = 0;
};

}  // namespace stepwright::snapshot
