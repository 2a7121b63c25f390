#include "stepwright/launch_scripts/shell/format.h"

#include <algorithm>
#include <span>

namespace stepwright::launch_scripts {
namespace {

/// Longest text that one format may print.
constexpr std::size_t kLongestPrinted = std::size_t{1} << 18;

/// Returns an integer with leading zeros up to a width ("2" with "03": "002").
std::optional<std::string> padded(const std::string& number, std::string_view width) {
  const bool whole =
      !number.empty() && number != "-" &&
      number.find_first_not_of("0123456789", number[0] == '-' ? 1 : 0) == std::string::npos;
  if (!whole) return std::nullopt;
  if (width.empty()) return number;
  if (width.size() != 2 || width[0] != '0' || number[0] == '-') return std::nullopt;
  const auto wide = static_cast<std::size_t>(width[1] - '0');
  return std::string(wide - std::min(wide, number.size()), '0') + number;
}

/// Arguments of printf, which repeated uses of the format consume.
class Arguments {
 public:
  explicit Arguments(std::span<const std::string> all) : left_(all) {}

  [[nodiscard]] bool empty() const { return left_.empty(); }
  [[nodiscard]] std::size_t size() const { return left_.size(); }
  std::string next(const char* without) {
    if (left_.empty()) return without;
    std::string taken = left_.front();
    left_ = left_.subspan(1);
    return taken;
  }

 private:
  std::span<const std::string> left_;
};

/// Returns the text that a conversion prints; `kind` and `width` follow its `%`.
std::optional<std::string> converted(char kind, std::string_view width, Arguments& arguments) {
  if (kind == 'd') return padded(arguments.next("0"), width);
  if (!width.empty()) return std::nullopt;
  if (kind == '%') return "%";
  if (kind == 's') return arguments.next("");
  return kind == 'b' ? shell_echo_unescaped(arguments.next("")) : std::nullopt;
}

/// Returns the text that one use of a format prints.
std::optional<std::string> used_once(std::string_view format, Arguments& arguments) {
  std::string text;
  while (!format.empty()) {
    const std::size_t plain = std::min(format.find('%'), format.size());
    const auto words = shell_echo_unescaped(format.substr(0, plain));
    if (!words) return std::nullopt;
    text += *words;
    format.remove_prefix(plain);
    if (format.empty()) break;
    const std::size_t end = format.find_first_not_of("0123456789", 1);
    if (end == std::string_view::npos) return std::nullopt;
    const auto one = converted(format[end], format.substr(1, end - 1), arguments);
    if (!one) return std::nullopt;
    text += *one;
    format.remove_prefix(end + 1);
  }
  return text;
}

}  // namespace

std::optional<std::string> shell_printf_text(std::string_view format,
                                             const std::vector<std::string>& arguments) {
  Arguments left(arguments);
  std::string text;
  do {
    const std::size_t before = left.size();
    const auto one = used_once(format, left);
    if (!one) return std::nullopt;
    text += *one;
    if (text.size() > kLongestPrinted || (!left.empty() && left.size() == before)) {
      return std::nullopt;
    }
  } while (!left.empty());
  return text;
}

std::optional<std::string> shell_echo_unescaped(std::string_view text) {
  constexpr std::string_view kNames = "ntr\\\"'";
  constexpr std::string_view kSigns = "\n\t\r\\\"'";
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      made += text[i];
      continue;
    }
    const std::size_t at = i + 1 < text.size() ? kNames.find(text[++i]) : std::string_view::npos;
    if (at == std::string_view::npos) return std::nullopt;
    made += kSigns[at];
  }
  return made;
}

}  // namespace stepwright::launch_scripts
