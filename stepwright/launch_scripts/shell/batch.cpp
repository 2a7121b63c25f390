#include "stepwright/launch_scripts/shell/batch.h"

#include <charconv>
#include <optional>

namespace stepwright::launch_scripts {
namespace {

std::optional<std::int64_t> batch_number(std::string_view text) {
  // Accepts "gpu:8", "gpu:a100:8" and "8(x4)".
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) text.remove_prefix(colon + 1);
  text = text.substr(0, text.find_first_not_of("0123456789"));
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool sound = error == std::errc() && value > 0 && value < 1'000'000;
  return sound ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> launcher_option_number(std::span<const ShellWord> words,
                                                   std::string_view full, std::string_view brief) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view text = words[i].text;
    const bool follows = i + 1 < words.size();
    if ((text == full || (text == brief && !brief.empty())) && follows) {
      return batch_number(words[i + 1].text);
    }
    if (text.starts_with(full) && text.substr(full.size()).starts_with('=')) {
      return batch_number(text.substr(full.size() + 1));
    }
    if (!brief.empty() && text.starts_with(brief) && !text.starts_with("--")) {
      return batch_number(text.substr(brief.size()));
    }
  }
  return std::nullopt;
}

}  // namespace stepwright::launch_scripts
