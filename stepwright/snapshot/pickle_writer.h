#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stepwright::snapshot {

/// Writes plain values as a pickle of protocol 2, front to back (Lib/pickle.py of Python).
/// Containers are opened and closed; a text is written once and referred to by number afterwards.
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
  /// Gives the value that was just written a number, by which `named` can repeat it.
  std::uint32_t name();
  /// Writes the value that `name` gave this number once more.
  void named(std::uint32_t name);
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
