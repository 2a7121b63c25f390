#include "stepwright/diagnose/line_origin.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace stepwright::diagnose {
namespace {

/// The farthest position in a line at which a mark of a rank may begin.
constexpr std::size_t kMostPrefix = 120;
/// The most bytes of a line that a finding quotes.
constexpr std::size_t kMostText = 240;

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

/// Removes a colour, as "\x1b[31m", from the front.
bool skip_colour(std::string_view& text) {
  if (!text.starts_with("\x1b[")) return false;
  const std::size_t end = text.find('m');
  if (end == std::string_view::npos || end > 12) return false;
  text.remove_prefix(end + 1);
  return true;
}

/// Removes a time from the front: "2026-11-29T05:22:56.123Z" or "[2026-11-29 05:22:56,123]".
bool skip_time(std::string_view& text) {
  std::string_view rest = text;
  const bool bracket = rest.starts_with('[');
  if (bracket) rest.remove_prefix(1);
  const auto digit = [&](std::size_t at) {
    return std::isdigit(static_cast<unsigned char>(rest[at]));
  };
  if (rest.size() < 19 || !digit(0) || !digit(3) || rest[4] != '-' || rest[7] != '-' ||
      rest[13] != ':' || rest[16] != ':') {
    return false;
  }
  rest.remove_prefix(19);
  rest.remove_prefix(std::min(rest.find_first_not_of("0123456789.,Z+:"), rest.size()));
  if (bracket && rest.starts_with(']')) rest.remove_prefix(1);
  text = rest;
  return true;
}

/// Removes a rank between two words from the front: "[rank", "]:".
bool take_rank(std::string_view& text, std::string_view begin, std::string_view end,
               std::int64_t& rank) {
  const std::size_t at = text.substr(0, kMostPrefix).find(begin);
  if (at == std::string_view::npos) return false;
  std::string_view rest = text.substr(at + begin.size());
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (digits == 0 || digits > 8 || !rest.substr(digits).starts_with(end)) return false;
  rank = whole_number_at_text_start(rest);
  rest.remove_prefix(digits + end.size());
  text = rest;
  return true;
}

/// Removes mpirun's mark of a rank, such as "[1,3]<stderr>:", from the front.
bool take_mpi_rank(std::string_view& text, std::int64_t& rank) {
  if (!text.starts_with("[1,")) return false;
  const std::size_t end = text.find(">:");
  if (end == std::string_view::npos || end > 24) return false;
  rank = whole_number_at_text_start(text.substr(3));
  text.remove_prefix(end + 2);
  return rank >= 0;
}

/// Removes the "3: " of `srun -l` from the front.
bool take_task(std::string_view& text, std::int64_t& rank) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return false;
  std::string_view rest = text.substr(first);
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (digits == 0 || digits > 6 || !rest.substr(digits).starts_with(": ")) return false;
  rank = whole_number_at_text_start(rest);
  text = rest.substr(digits + 2);
  return true;
}

bool skip_ray(std::string_view& text) {
  if (!text.starts_with('(') || !line_contains_text(text.substr(0, kMostPrefix), " pid="))
    return false;
  const std::size_t end = text.find(')');
  if (end == std::string_view::npos || end > kMostPrefix) return false;
  text.remove_prefix(end + 1);
  return true;
}

}  // namespace

LogLineOrigin strip_log_line_prefix(std::string_view line) {
  LogLineOrigin origin{.text = line};
  std::int64_t task = logs::kUnknown;
  while (skip_colour(origin.text) || skip_time(origin.text)) skip_blanks(origin.text);
  if (skip_ray(origin.text)) skip_blanks(origin.text);
  take_task(origin.text, task);
  while (skip_colour(origin.text)) {
  }
  if (take_rank(origin.text, "[rank", "]:", origin.rank) ||
      take_mpi_rank(origin.text, origin.rank)) {
    if (origin.text.starts_with(' ')) origin.text.remove_prefix(1);
  } else if (take_rank(origin.text, "[default", "]:", origin.rank)) {
    origin.local = true;
    std::int64_t global = logs::kUnknown;
    if (take_rank(origin.text, "[rank", "]:", global)) {
      origin.rank = global;
      origin.local = false;
      if (origin.text.starts_with(' ')) origin.text.remove_prefix(1);
    }
  } else {
    origin.rank = task;
  }
  while (skip_colour(origin.text)) {
  }
  return origin;
}

std::int64_t rank_in_log_path(const std::string& path) {
  const std::string_view name = std::string_view(path).substr(path.find_last_of('/') + 1);
  if (const std::size_t at = name.rfind("rank"); at != std::string_view::npos) {
    std::string_view rest = name.substr(at + 4);
    if (rest.starts_with('_') || rest.starts_with('-') || rest.starts_with('.'))
      rest.remove_prefix(1);
    if (const std::int64_t rank = whole_number_at_text_start(rest); rank >= 0) return rank;
  }
  if (name != "stderr.log" && name != "stdout.log") return logs::kUnknown;
  std::string_view folder = std::string_view(path).substr(0, path.size() - name.size());
  if (folder.ends_with('/')) folder.remove_suffix(1);
  folder = folder.substr(folder.find_last_of('/') + 1);
  const bool number = !folder.empty() && folder.find_first_not_of("0123456789") == folder.npos;
  return number ? whole_number_at_text_start(folder) : logs::kUnknown;
}

std::string line_start_for_quoting(std::string_view text) {
  if (text.size() <= kMostText) return std::string(text);
  std::size_t end = kMostText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

bool line_contains_text(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

bool is_installed_library_file(std::string_view path) {
  return line_contains_text(path, "/torch/") || line_contains_text(path, "/site-packages/") ||
         line_contains_text(path, "/dist-packages/") || path.starts_with('<') ||
         path.starts_with("??");
}

std::string_view text_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + word.size());
}

std::string_view text_between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::string_view rest = text_after(text, begin);
  const std::size_t at = rest.find(end);
  return at == std::string_view::npos ? std::string_view() : rest.substr(0, at);
}

std::int64_t whole_number_at_text_start(std::string_view text) {
  skip_blanks(text);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && number >= 0 ? number : logs::kUnknown;
}

double byte_size_at_text_start(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 8> kUnits = {
      {{"bytes", 1.0},
       {"KiB", 1024.0},
       {"MiB", 1024.0 * 1024},
       {"GiB", 1024.0 * 1024 * 1024},
       {"kB", 1024.0},
       {"KB", 1024.0},
       {"MB", 1024.0 * 1024},
       {"GB", 1024.0 * 1024 * 1024}}};
  skip_blanks(text);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number >= 0) || number > 1e15) return -1;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  skip_blanks(unit);
  for (const auto& [name, bytes] : kUnits) {
    if (unit.starts_with(name)) return number * bytes;
  }
  return -1;
}

}  // namespace stepwright::diagnose
