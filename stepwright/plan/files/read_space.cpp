#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/plan/choices/plan_table.h"
#include "stepwright/plan/files/read_job.h"

namespace stepwright::plan {
namespace {

/// Returns the keys of a mapping of a plan; empty if the key has a single value.
std::vector<std::string_view> parts_of(std::string_view group) {
  std::vector<std::string_view> parts;
  each_choice([&](const auto& choice) {
    const bool inside = choice.plan_file_top_level_key() == group && choice.place != group;
    if (inside) parts.push_back(choice.place.substr(group.size() + 1));
  });
  if (group == "collectives") parts.emplace_back("pipeline");
  return parts;
}

/// True if a mapping may be written as the value of this key alone.
bool stands_alone(std::string_view part) { return part == "kind" || part == "states"; }

/// Reads one value or a list of values into an empty list.
template <class Value, class Read>
void read_many(DocumentNode node, std::vector<Value>& list, Read read, bool is_list) {
  if (!list.empty()) node.fail("fixes or lists a dimension that is given elsewhere too");
  if (!is_list) {
    list.push_back(read(node));
    return;
  }
  if (node.size() == 0) node.fail("lists no value; leave it out to leave the dimension free");
  for (std::size_t i = 0; i < node.size(); ++i) {
    const Value value = read(node.at(i));
    if (std::ranges::find(list, value) != list.end()) node.at(i).fail("is listed twice");
    list.push_back(value);
  }
}

/// True if a list contains sets of modules (a set is itself a list).
bool lists_sets(DocumentNode node) {
  return node.is_sequence() && node.size() > 0 && !node.at(0).is_scalar();
}

/// True if a list contains splits of layers (a split is itself a list).
bool lists_splits(DocumentNode node) {
  return node.is_sequence() && node.size() > 0 &&
         (node.at(0).is_sequence() || node.at(0).text() == "even");
}

/// Reads collectives of version 1: a list of mappings with only the key `data`.
void read_listed_data(DocumentNode node, TunerSearchSpace& space, const PlanFileReading& reading) {
  const auto read = [&](DocumentNode choice) {
    choice.allow_only_keys({"data"});
    return read_collective_algorithm(choice.get("data"), reading);
  };
  read_many(node, space.collectives.data, read, true);
}

void read_places(DocumentNode file, TunerSearchSpace& space, const PlanFileReading& reading,
                 bool search) {
  each_choice([&](const auto& choice) {
    const auto given = find_choice_node(file, search ? choice.key : choice.place);
    if (!given) return;
    const auto read = [&](DocumentNode node) { return choice.read(node, reading); };
    using Kind = KindOf<decltype(choice)>;
    const bool splits = std::is_same_v<Kind, std::vector<std::int64_t>>;
    const bool sets = std::is_same_v<Kind, OffloadModuleSet>;
    read_many(*given, choice.list(space), read,
              splits ? lists_splits(*given)
              : sets ? lists_sets(*given)
                     : given->is_sequence());
  });
  const auto collectives = file.find("collectives");
  if (!collectives) return;
  if (collectives->is_sequence()) return read_listed_data(*collectives, space, reading);
  reject_pipeline_algorithm(*collectives, reading);
}

}  // namespace

std::optional<DocumentNode> find_choice_node(DocumentNode file, std::string_view place) {
  const std::size_t dot = place.find('.');
  const auto group = file.find(place.substr(0, dot));
  if (!group || dot == std::string_view::npos) return group;
  const std::string_view part = place.substr(dot + 1);
  if (group->is_mapping()) return group->find(part);
  return stands_alone(part) ? group : std::nullopt;
}

void check_plan_part_keys(DocumentNode file, std::span<const std::string_view> of_schedule) {
  for (const std::string_view key : kAllPlanFileKeys) {
    const auto group = file.find(key);
    std::vector<std::string_view> parts = parts_of(key);
    if (!group || parts.empty()) continue;
    if (key == "offload") {
      check_offload_value(*group, parts);
      continue;
    }
    const bool listed = key == "collectives" && group->is_sequence();
    if (!group->is_mapping() && (listed || stands_alone(parts.front()))) continue;
    if (key == "schedule") parts.insert(parts.end(), of_schedule.begin(), of_schedule.end());
    group->allow_only_keys(parts);
  }
}

void check_plan_key_places(DocumentNode file, std::span<const std::string_view> of_job) {
  const std::vector<std::string_view> degrees = parts_of("parallel");
  for (const auto& [key, value] : file.mapping_members()) {
    if (std::ranges::find(degrees, key) != degrees.end()) {
      value.fail(fmt::format("stands in `parallel`, as in `parallel: {{{}: 2}}`", key));
    }
    if (std::ranges::find(of_job, key) != of_job.end()) value.fail("stands in `job`");
  }
}

TunerSearchSpace read_search_space(DocumentNode job, PlanFileVersion version, Notes& notes) {
  const PlanFileReading reading{version, notes};
  TunerSearchSpace space;
  if (const auto search = job.find("search")) {
    std::vector<std::string_view> keys;
    each_choice([&](const auto& choice) {
      const std::string_view head = choice.key.substr(0, choice.key.find('.'));
      if (std::ranges::find(keys, head) == keys.end()) keys.push_back(head);
    });
    search->allow_only_keys(keys);
    if (const auto offload = search->find("offload"))
      check_offload_value(*offload, parts_of("offload"));
    const auto collectives = search->find("collectives");
    if (collectives && !collectives->is_sequence())
      collectives->allow_only_keys(parts_of("collectives"));
    read_places(*search, space, reading, true);
  }
  check_plan_part_keys(job);
  read_places(job, space, reading, false);
  return space;
}

}  // namespace stepwright::plan
