#include "keywords.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/answers/known_word.h"
#include "stepwright/answers/training_run.h"
#include "stepwright/answers/tune_answer.h"
#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"

namespace stepwright::python {
namespace {

template <class Number>
[[noreturn]] void fail_number(std::string_view name, const std::string& word, Number low,
                              Number high) {
  fail_input(fmt::format("{}: must be a number from {} to {}; it is '{}'", name, low, high,
                         one_line_printable_text(word)));
}

}  // namespace

std::string Keywords::text(std::string_view name) const {
  const std::vector<std::string> words = texts(name);
  return words.empty() ? "" : words.front();
}

std::vector<std::string> Keywords::texts(std::string_view name) const {
  const auto found = words_.find(name);
  return found == words_.end() ? std::vector<std::string>() : found->second;
}

std::string Keywords::one_of(std::string_view name, const std::vector<std::string>& known) const {
  std::string word = text(name);
  if (!has(name)) return word;
  const std::string fault = answers::unknown_word_message(word, known);
  if (!fault.empty()) fail_input(fmt::format("{}: {}", name, fault));
  return word;
}

std::optional<std::int64_t> Keywords::whole(std::string_view name, std::int64_t low,
                                            std::int64_t high) const {
  if (!has(name)) return std::nullopt;
  const std::string word = text(name);
  const IntegerParseResult read = read_integer(word);
  const bool good = read.status == IntegerParseResult::IntegerParseStatus::kGood;
  if (good && read.value >= low && read.value <= high) return read.value;
  fail_number(name, word, low, high);
}

std::optional<double> Keywords::number(std::string_view name, double low, double high) const {
  if (!has(name)) return std::nullopt;
  const std::string word = text(name);
  const std::optional<double> read = read_double(word);
  if (read && *read >= low && *read <= high) return read;
  fail_number(name, word, low, high);
}

std::vector<answers::UserFile> Keywords::files(std::string_view name) const {
  const auto found = files_.find(name);
  return found == files_.end() ? std::vector<answers::UserFile>() : found->second;
}

const answers::UserFile& Keywords::file(std::string_view name) const {
  const auto found = files_.find(name);
  if (found != files_.end() && !found->second.empty()) return found->second.front();
  fail_input(fmt::format("{} is required", name));
}

answers::MemoryHeadroom Keywords::reserve() const {
  if (has("memory_reserve") && has("memory_confidence")) {
    fail_input("memory_reserve excludes memory_confidence");
  }
  return {.share = number("memory_reserve", 0, answers::kMaxMemoryHeadroomShare),
          .confidence = number("memory_confidence", plan::kMinMemoryFitConfidence,
                               plan::kMaxMemoryFitConfidence)};
}

std::optional<tune::TrainingLengthAndPrice> Keywords::training_run() const {
  if (has("price_per_gpu_hour") && !has("tokens")) {
    fail_input("price_per_gpu_hour requires tokens");
  }
  return answers::read_run_tokens_and_device_price(text("tokens"), text("price_per_gpu_hour"));
}

int Keywords::threads() const {
  return static_cast<int>(whole("threads", 1, answers::kMaxTuneThreads).value_or(0));
}

}  // namespace stepwright::python
