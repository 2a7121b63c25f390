#include "stepwright/lab/owner.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "stepwright/core/input_file.h"

namespace stepwright::lab {
namespace {

constexpr std::string_view kPrefix = "stepwright-";

/// Removes a number and the dash after it from the front of a text; nullopt if there is none.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::size_t length = end - text.data();
  if (error != std::errc() || length == text.size() || text[length] != '-') return std::nullopt;
  text.remove_prefix(length + 1);
  return number;
}

}  // namespace

std::optional<ProcessIdentity> find_process_identity(pid_t pid) {
  constexpr std::size_t kMost = std::size_t{1} << 20U;
  const std::string text = read_regular_file(fmt::format("/proc/{}/stat", pid), kMost).value_or("");
  // The second field, the program's name in brackets, may contain any characters.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string state;
  fields >> state;
  if (state == "Z" || state == "X") return std::nullopt;
  constexpr int kBeforeStart = 18;  // number of fields before the start time: 4 to 21 of proc(5)
  std::string skipped;
  for (int i = 0; i < kBeforeStart; ++i) fields >> skipped;
  ProcessIdentity owner{.pid = pid};
  if (!(fields >> owner.start)) return std::nullopt;
  return owner;
}

std::string emulated_cluster_name(const ProcessIdentity& owner, int number) {
  return fmt::format("{}{}-{}-{}", kPrefix, owner.pid, owner.start, number);
}

std::optional<ProcessIdentity> network_namespace_owner(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const auto pid = take_number<std::uint32_t>(name);
  const auto start = take_number<std::uint64_t>(name);
  const auto number = take_number<std::uint32_t>(name);
  if (!pid || !start || !number) return std::nullopt;
  return ProcessIdentity{.pid = static_cast<pid_t>(*pid), .start = *start};
}

}  // namespace stepwright::lab
