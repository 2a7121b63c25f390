#include "stepwright/plan/choices/changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "stepwright/plan/choices/plan_table.h"
#include "stepwright/plan/overlap_table.h"

namespace stepwright::plan {
namespace {

/// Collects "field value" for each difference of two plans.
class Differences {
 public:
  void add(std::string_view field, std::string_view value) {
    const std::string_view joint = found_.empty() ? "" : count_ == 1 ? " with " : ", ";
    found_ += fmt::format("{}{} {}", joint, field, value);
    ++count_;
  }

  [[nodiscard]] const std::string& text() const { return found_; }

 private:
  std::string found_;
  int count_ = 0;
};

std::string text_of(const ActivationRecomputation& recompute) {
  return recompute_setting_text(recompute);
}
std::string text_of(const std::vector<std::int64_t>& layers) {
  return layers.empty() ? "even" : fmt::format("[{}]", fmt::join(layers, ", "));
}

/// Compares one choice of both plans.
template <class Row>
void compare(Differences& found, const Row& choice, const Plan& from, const Plan& to) {
  const auto& value = choice.of(to);
  if constexpr (std::is_same_v<KindOf<Row>, OverlapFlags>) {
    for (const auto& [flag, name] : kOverlapFlagNames) {
      if (choice.of(from).*flag == value.*flag) continue;
      found.add(fmt::format("{}.{}", choice.key, name), value.*flag ? "true" : "false");
    }
  } else if constexpr (requires { text_of(value); }) {
    if (choice.of(from) != value) found.add(choice.key, text_of(value));
  } else {
    // For a sharding only the states are written, as its group sizes are choices of their own.
    const nlohmann::ordered_json written = choice.write(value);
    if (choice.write(choice.of(from)) == written) return;
    found.add(choice.key, written.is_string() ? written.get<std::string>() : written.dump());
  }
}

}  // namespace

std::string differing_choices_text(const Plan& from, const Plan& to) {
  Differences found;
  each_choice([&](const auto& choice) { compare(found, choice, from, to); });
  const std::int64_t group = to.schedule.group;
  if (from.schedule.group != group) {
    found.add("schedule.group", group > 0 ? std::to_string(group) : "as small as it can be");
  }
  if (const auto placement = to.schedule.placement; from.schedule.placement != placement) {
    found.add("schedule.placement",
              placement ? std::string(name_of(schedule::kSearchableChunkPlacements, *placement))
                        : "either");
  }
  const schedule::OrderSearchBasis& basis = to.schedule.basis;
  if (from.schedule.basis != basis) {
    found.add("order found for", basis.chunks.empty() ? "this plan" : "another");
  }
  return found.text();
}

}  // namespace stepwright::plan
