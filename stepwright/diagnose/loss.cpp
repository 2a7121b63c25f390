#include "stepwright/diagnose/loss.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "stepwright/diagnose/advice.h"
#include "stepwright/diagnose/line_origin.h"
#include "stepwright/diagnose/log_line_words.h"

namespace stepwright::diagnose {
namespace {

/// Number of earlier losses with which a loss is compared.
constexpr std::size_t kBefore = 16;
constexpr double kLeap = 1.5;
constexpr double kDeviations = 8;
/// The most jumps that a finding lists.
constexpr std::size_t kMostLeaps = 20;

bool is_number(const LoggedLoss& logged) {
  return std::isfinite(logged.loss) && (!logged.norm || std::isfinite(*logged.norm));
}

std::string step_text(const LoggedLoss& logged) {
  return logged.number >= 0 ? fmt::format("step {}", logged.number)
                            : fmt::format("line {}", logged.line);
}

std::string loss_text(const LoggedLoss& logged) {
  return fmt::format("{} at {}{}", logged.loss, step_text(logged),
                     logged.norm ? fmt::format(" (norm {})", *logged.norm) : "");
}

FaultFinding loss_finding(const LoggedLoss& at, const std::string& file, std::string what) {
  return {.kind = DiagnosedFaultKind::kLoss,
          .where = {.file = file, .line = at.line, .call = step_text(at)},
          .what = std::move(what)};
}

std::vector<std::string> texts_before(const std::vector<LoggedLoss>& losses, std::size_t at) {
  std::vector<std::string> texts;
  for (std::size_t i = at - std::min<std::size_t>(at, 3); i <= at; ++i)
    texts.push_back(loss_text(losses[i]));
  return texts;
}

/// True if a loss jumps above the ones before it.
bool leaps(const std::vector<LoggedLoss>& losses, std::size_t at) {
  if (at < kBefore || !std::isfinite(losses[at].loss)) return false;
  std::vector<double> before;
  for (std::size_t i = at - kBefore; i < at; ++i) {
    if (std::isfinite(losses[i].loss)) before.push_back(losses[i].loss);
  }
  if (before.size() < kBefore / 2) return false;
  std::ranges::nth_element(before, before.begin() + std::ssize(before) / 2);
  const double median = before[before.size() / 2];
  double deviation = 0;
  for (const double loss : before) deviation += std::abs(loss - median);
  deviation /= static_cast<double>(before.size());
  return median > 0 && losses[at].loss > kLeap * median &&
         losses[at].loss - median > kDeviations * deviation;
}

}  // namespace

std::optional<LoggedLoss> read_loss_line(std::string_view line) {
  for (const LogLineWords& words : training_log_line_words()) {
    if (!line_contains_text(line, words.mark)) continue;
    auto loss = number_after_word(line, words.loss.front());
    if (!loss) loss = number_after_word(line, words.loss.back());
    if (!loss) continue;
    return LoggedLoss{.number = step_number_in_log_line(line, words),
                      .loss = *loss,
                      .norm = number_after_word(line, words.norm)};
  }
  return std::nullopt;
}

std::vector<FaultFinding> loss_anomaly_findings(const std::vector<LoggedLoss>& losses,
                                                const std::string& file) {
  std::vector<FaultFinding> findings;
  const auto bad = std::ranges::find_if_not(losses, is_number);
  if (bad != losses.end()) {
    const bool norm = std::isfinite(bad->loss);
    FaultFinding finding = loss_finding(
        *bad, file,
        fmt::format("The {} is not a number at {} ({}).", norm ? "norm of the gradients" : "loss",
                    step_text(*bad), norm ? *bad->norm : bad->loss));
    finding.evidence = {fmt::format(
        "Losses: {}",
        fmt::join(texts_before(losses, static_cast<std::size_t>(bad - losses.begin())), ", "))};
    const auto count = std::ranges::count_if(losses, std::not_fn(is_number));
    finding.evidence.push_back(fmt::format("{} of {} steps are not numbers", count, losses.size()));
    add_causes_and_remedies(finding, "loss.nan");
    findings.push_back(std::move(finding));
  }
  std::vector<std::string> all;
  const LoggedLoss* first = nullptr;
  for (std::size_t i = 0; i < losses.size() && all.size() < kMostLeaps; ++i) {
    if (!leaps(losses, i)) continue;
    if (first == nullptr) first = &losses[i];
    all.push_back(loss_text(losses[i]));
  }
  if (first != nullptr) {
    FaultFinding finding =
        loss_finding(*first, file, fmt::format("The loss jumps to {}.", loss_text(*first)));
    finding.evidence = {fmt::format("Leaps: {}", fmt::join(all, ", "))};
    add_causes_and_remedies(finding, "loss.spike");
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace stepwright::diagnose
