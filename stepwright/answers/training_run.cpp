#include "stepwright/answers/training_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/utf8.h"
#include "stepwright/plan/files/run_keys.h"

namespace stepwright::answers {
namespace {

constexpr double kMostPrice = 1e9;

double price_of(const std::string& word) {
  const std::optional<double> number = read_double(word);
  if (number && *number >= 0 && *number <= kMostPrice) return *number;
  fail_input(fmt::format("--price-per-gpu-hour: must be a number from 0 to {}; it is '{}'",
                         kMostPrice, one_line_printable_text(word)));
}

}  // namespace

std::optional<tune::TrainingLengthAndPrice> read_run_tokens_and_device_price(
    const std::string& tokens, const std::string& price) {
  if (tokens.empty()) return std::nullopt;
  const plan::TrainingRunSettingKey& key =
      *std::ranges::find(plan::kRunKeys, "tokens", &plan::TrainingRunSettingKey::key);
  const YamlJsonDocument document =
      YamlJsonDocument::from_tree(DocumentTree::make_scalar(tokens, false), "--tokens");
  tune::TrainingLengthAndPrice run{.tokens = plan::read_run_setting_number(document.root(), key),
                                   .price_per_gpu_hour = std::nullopt};
  if (!price.empty()) run.price_per_gpu_hour = price_of(price);
  return run;
}

}  // namespace stepwright::answers
