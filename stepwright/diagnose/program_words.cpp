#include "stepwright/diagnose/program_words.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "stepwright/diagnose/line_origin.h"
#include "stepwright/logs/record.h"

namespace stepwright::diagnose {
namespace {

/// Digits of the longest figure.
constexpr std::size_t kMostDigits = 40;

constexpr ProgramWords kWords[] = {{.program = TrainingProgram::kMegatron,
                                    .mark = "elapsed time per iteration (ms):",
                                    .numbers = {"iteration ", ""},
                                    .time = "elapsed time per iteration (ms):",
                                    .time_unit_s = 1e-3,
                                    .rate = "",
                                    .loss = {"lm loss:", "lm_loss:"},
                                    .norm = "grad norm:"},
                                   {.program = TrainingProgram::kNemo,
                                    .mark = "reduced_train_loss",
                                    .numbers = {"global_step: ", "iteration "},
                                    .time = "train_step_timing in s: ",
                                    .rate = "",
                                    .loss = {"reduced_train_loss:", ""},
                                    .norm = "grad_norm:"},
                                   {.program = TrainingProgram::kDeepSpeed,
                                    .mark = "iter time (s)",
                                    .numbers = {"steps: ", ""},
                                    .time = "iter time (s): ",
                                    .rate = "",
                                    .loss = {"loss:", ""},
                                    .norm = "grad_norm:"},
                                   {.program = TrainingProgram::kVerl,
                                    .mark = "timing_s/step",
                                    .numbers = {"step:", ""},
                                    .time = "timing_s/step:",
                                    .rate = "",
                                    .loss = {"actor/pg_loss:", ""},
                                    .norm = "actor/grad_norm:"},
                                   {.program = TrainingProgram::kTorchtitan,
                                    .mark = "tps:",
                                    .numbers = {"step: ", ""},
                                    .time = "",
                                    .rate = "tps: ",
                                    .loss = {"loss:", ""},
                                    .norm = "grad_norm:"},
                                   {.program = TrainingProgram::kTransformers,
                                    .mark = "{'loss':",
                                    .numbers = {"'step':", ""},
                                    .time = "",
                                    .rate = "",
                                    .loss = {"'loss':", ""},
                                    .norm = "'grad_norm':"},
                                   {.program = TrainingProgram::kMmengine,
                                    .mark = "Epoch(train)",
                                    .numbers = {"Epoch(train) [", ""},
                                    .by_epoch = true,
                                    .time = " time: ",
                                    .rate = "",
                                    .loss = {" loss: ", ""},
                                    .norm = "grad_norm: "}};

/// The step behind "2][10/735]": 745.
std::int64_t step_of_epochs(std::string_view text) {
  constexpr std::int64_t kLongestEpoch = 1'000'000'000;
  const std::int64_t epoch = leading_number(text);
  const std::string_view inside = after(text, "][");
  const std::int64_t step = leading_number(inside);
  const std::int64_t steps = leading_number(after(inside, "/"));
  if (epoch < 1 || step < 0 || steps < step || steps > kLongestEpoch || epoch > kLongestEpoch)
    return logs::kUnknown;
  return (epoch - 1) * steps + step;
}

}  // namespace

std::span<const ProgramWords> program_words() { return kWords; }

std::int64_t step_number(std::string_view line, const ProgramWords& words) {
  for (const std::string_view word : words.numbers) {
    if (word.empty()) continue;
    const std::string_view text = after(line, word);
    const std::int64_t number = words.by_epoch ? step_of_epochs(text) : leading_number(text);
    if (number >= 0) return number;
  }
  return logs::kUnknown;
}

std::optional<double> figure_behind(std::string_view line, std::string_view word) {
  if (word.empty() || !holds(line, word)) return std::nullopt;
  std::string_view text = after(line, word);
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
