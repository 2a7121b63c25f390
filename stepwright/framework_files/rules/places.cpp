#include "stepwright/framework_files/rules/places.h"

#include <fmt/format.h>

#include "stepwright/plan/choices/plan_table.h"

namespace stepwright::framework_files {
namespace {

template <class Value>
concept PlainValue = std::is_same_v<Value, bool> || std::is_same_v<Value, std::int64_t>;

/// Calls `visit` with the switch or count in a field of a plan, if there is one.
template <class AnyPlan, class VisitorCallback>
void visit_plain(AnyPlan& plan, std::string_view place, const VisitorCallback& visit) {
  plan::each_choice([&](const auto& choice) {
    if constexpr (PlainValue<plan::KindOf<decltype(choice)>>) {
      if (choice.place == place) visit(choice.of(plan));
    }
  });
  for (const auto& [flag, name] : plan::kOverlapFlagNames) {
    if (place == fmt::format("overlap.{}", name)) visit(plan.overlap.*flag);
  }
}

}  // namespace

std::optional<Plain> read_plan_switch_or_count(const plan::Plan& plan, std::string_view place) {
  std::optional<Plain> found;
  visit_plain(plan, place, [&](const auto& value) { found = value; });
  return found;
}

void write_plan_switch_or_count(plan::Plan& plan, std::string_view place, const Plain& value) {
  if (!read_plan_switch_or_count(plan, place)) throw std::bad_optional_access();
  visit_plain(plan, place,
              [&](auto& to) { to = std::get<std::remove_cvref_t<decltype(to)>>(value); });
}

}  // namespace stepwright::framework_files
