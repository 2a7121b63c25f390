#include "stepwright/cli/breakdown_text.h"

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"

namespace stepwright {
namespace {

std::string signed_time(double seconds) { return (seconds > 0 ? "+" : "") + format_time(seconds); }

std::vector<std::string> difference_row(std::string_view name, double before, double after) {
  const std::string share =
      before > 0 ? (after > before ? "+" : "") + format_percent((after - before) / before)
                 : std::string("-");
  return {std::string(name), format_time(before), format_time(after), signed_time(after - before),
          share};
}

}  // namespace

std::array<Term, kTerms> terms(const Breakdown& breakdown) {
  return {{{"computation", breakdown.compute_s},
           {"pipeline bubble", breakdown.bubble_s},
           {"optimizer", breakdown.optimizer_s},
           {"exposed tensor-parallel messages", breakdown.tensor_s},
           {"exposed context-parallel messages", breakdown.context_s},
           {"exposed expert-parallel messages", breakdown.expert_s},
           {"exposed pipeline messages", breakdown.pipeline_s},
           {"exposed data-parallel messages", breakdown.data_s}}};
}

std::string breakdown_text(const Breakdown& breakdown) {
  Table table{
      .columns = {{"where the time goes"}, {"time", Align::kRight}, {"share", Align::kRight}},
      .rows = {}};
  const double total = breakdown.total();
  for (const Term& term : terms(breakdown)) {
    if (term.seconds == 0) continue;
    table.rows.push_back(
        {std::string(term.name), format_time(term.seconds), format_percent(term.seconds / total)});
  }
  return to_text(table);
}

std::string difference_text(const Breakdown& before, const Breakdown& after) {
  Table table{.columns = {{"where the time goes"},
                          {"before", Align::kRight},
                          {"after", Align::kRight},
                          {"difference", Align::kRight},
                          {"change", Align::kRight}},
              .rows = {}};
  const auto olds = terms(before);
  const auto news = terms(after);
  for (std::size_t i = 0; i < olds.size(); ++i) {
    if (olds[i].seconds == 0 && news[i].seconds == 0) continue;
    table.rows.push_back(difference_row(olds[i].name, olds[i].seconds, news[i].seconds));
  }
  table.rows.push_back(difference_row("step", before.total(), after.total()));
  return to_text(table);
}

}  // namespace stepwright
