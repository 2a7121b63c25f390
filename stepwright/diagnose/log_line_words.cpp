#include "stepwright/diagnose/log_line_words.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/diagnose/embedded.h"
#include "stepwright/diagnose/line_origin.h"
#include "stepwright/logs/record.h"

namespace stepwright::diagnose {
namespace {

/// The most digits of a figure.
constexpr std::size_t kMostDigits = 40;

LogLineWords read_program(LoggedTrainingProgram program, DocumentNode row) {
  row.allow_only_keys(
      {"mark", "numbers", "by_epoch", "time", "time_unit_s", "rate", "loss", "norm"});
  const auto text = [&](std::string_view key) {
    const auto said = row.find(key);
    return said ? said->text() : "";
  };
  const auto pair = [&](std::string_view key) {
    const DocumentNode list = row.get(key);
    return std::array<std::string, 2>{list.at(0).text(), list.size() > 1 ? list.at(1).text() : ""};
  };
  const auto unit = row.find("time_unit_s");
  return {.program = program,
          .mark = text("mark"),
          .numbers = pair("numbers"),
          .by_epoch = row.find("by_epoch").has_value(),
          .time = text("time"),
          .time_unit_s = unit ? unit->number() : 1,
          .rate = text("rate"),
          .loss = pair("loss"),
          .norm = text("norm")};
}

std::vector<LogLineWords> read_programs() {
  std::vector<LogLineWords> programs;
  for (const auto& [name, row] : log_recognition_words().root().get("programs").mapping_members()) {
    for (const auto& [program, called] : kTrainingProgramNames) {
      if (called == name) programs.push_back(read_program(program, row));
    }
  }
  return programs;
}

/// Returns the step number, over all epochs, after "[": 745 for "2][10/735]".
std::int64_t step_of_epochs(std::string_view text) {
  constexpr std::int64_t kLongestEpoch = 1'000'000'000;
  const std::int64_t epoch = whole_number_at_text_start(text);
  const std::string_view inside = text_after(text, "][");
  const std::int64_t step = whole_number_at_text_start(inside);
  const std::int64_t steps = whole_number_at_text_start(text_after(inside, "/"));
  if (epoch < 1 || step < 0 || steps < step || steps > kLongestEpoch || epoch > kLongestEpoch)
    return logs::kUnknown;
  return (epoch - 1) * steps + step;
}

}  // namespace

const YamlJsonDocument& log_recognition_words() {
  static const YamlJsonDocument kTable =
      YamlJsonDocument::parse(embedded_log_line_words().front().text, "words.yaml");
  return kTable;
}

std::span<const LogLineWords> training_log_line_words() {
  static const std::vector<LogLineWords> kPrograms = read_programs();
  return kPrograms;
}

std::int64_t step_number_in_log_line(std::string_view line, const LogLineWords& words) {
  for (const std::string_view word : words.numbers) {
    if (word.empty()) continue;
    const std::string_view text = text_after(line, word);
    const std::int64_t number =
        words.by_epoch ? step_of_epochs(text) : whole_number_at_text_start(text);
    if (number >= 0) return number;
  }
  return logs::kUnknown;
}

std::optional<double> number_after_word(std::string_view line, std::string_view word) {
  if (word.empty() || !line_contains_text(line, word)) return std::nullopt;
  std::string_view text = text_after(line, word);
  text.remove_prefix(std::min(text.find_first_not_of(" \t':\""), text.size()));
  std::string digits(text.substr(0, kMostDigits));
  for (std::size_t comma = digits.find(','); comma != std::string::npos; comma = digits.find(',')) {
    const bool inside = comma > 0 && comma + 1 < digits.size() &&
                        digits.find_first_not_of("0123456789") >= comma &&
                        digits[comma + 1] >= '0' && digits[comma + 1] <= '9';
    if (!inside) break;
    digits.erase(comma, 1);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) return HUGE_VAL;
  if (error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace stepwright::diagnose
