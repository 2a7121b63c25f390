#include "stepwright/cost/profiles/measured_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/core/name.h"
#include "stepwright/core/utf8.h"
#include "stepwright/cost/profiles/law_fields.h"

namespace stepwright::cost {
namespace {

using Json = nlohmann::ordered_json;

ComputationTimeLaw read_computation_law(DocumentNode node) {
  node.allow_only_keys({"operator", "phase", "dtype", "start_us", "flops_per_s", "bytes_per_s",
                        "rows", "held_out_error"});
  return {.kind = node.get("operator").choice(step::kOperatorNames),
          .phase = node.get("phase").choice(step::kPhaseNames),
          .dtype = node.get("dtype").choice(kDTypeNames),
          .start_s = read_microseconds(node, "start_us"),
          .s_per_flop = read_rate_as_seconds_per_unit(node, "flops_per_s"),
          .s_per_byte = read_rate_as_seconds_per_unit(node, "bytes_per_s")};
}

MessageHostOverheadLaw read_host_overhead_law(DocumentNode node) {
  node.allow_only_keys({"scheme", "operation", "start_us", "bytes_per_s", "rows"});
  return {.scheme = node.get("scheme").choice(step::kSchemeNames),
          .operation = node.get("operation").choice(kCollectiveNames),
          .start_s = read_microseconds(node, "start_us"),
          .s_per_byte = read_rate_as_seconds_per_unit(node, "bytes_per_s")};
}

MeasuredOverlapSlowdown read_overlap(DocumentNode node) {
  node.allow_only_keys({"beside_inside", "beside_network"});
  const auto factor = [&](std::string_view key) {
    const auto found = node.find(key);
    return found ? found->number(1, kMaxMeasuredSlowdownFactor) : 0;
  };
  return {.beside_inside = factor("beside_inside"), .beside_network = factor("beside_network")};
}

}  // namespace

const ComputationTimeLaw* MeasuredProfile::find(const step::Operator& op) const {
  const auto found = std::ranges::find_if(computations, [&](const ComputationTimeLaw& law) {
    return law.kind == op.kind && law.phase == phase_as_measured(op.phase) && law.dtype == op.dtype;
  });
  return found == computations.end() ? nullptr : &*found;
}

double MeasuredProfile::message_host_overhead_s(step::ParallelismScheme scheme,
                                                collective::CollectiveOperation operation,
                                                double payload_bytes) const {
  const auto found = std::ranges::find_if(host_overhead, [&](const MessageHostOverheadLaw& law) {
    return law.scheme == scheme && law.operation == operation;
  });
  return found == host_overhead.end() ? 0 : found->seconds(payload_bytes);
}

std::string MeasuredProfile::measured_parts_text() const {
  std::vector<std::string> parts;
  if (messages.any()) parts.emplace_back("messages");
  if (!computations.empty()) {
    parts.push_back(fmt::format("{} kinds of computation", computations.size()));
  }
  if (overlap.beside_inside > 0 || overlap.beside_network > 0) parts.emplace_back("contention");
  return fmt::format("{}", fmt::join(parts, ", "));
}

MeasuredProfile load_measured_profile(const std::filesystem::path& path) {
  return read_measured(YamlJsonDocument::load(path));
}

MeasuredProfile read_measured(const YamlJsonDocument& document) {
  const DocumentNode root = document.root();
  const DocumentNode version = root.get("stepwright");
  if (version.text() != "measured/1") {
    version.fail(fmt::format("must be measured/1 here; it is '{}'",
                             one_line_printable_text(version.text())));
  }
  root.allow_only_keys(
      {"stepwright", "name", "messages", "handling", "computations", "overlap", "sources"});
  MeasuredProfile profile;
  profile.name = read_name(root.get("name"));
  if (const auto list = root.find("messages")) {
    for (std::size_t i = 0; i < list->size(); ++i)
      read_measured_message_law(list->at(i), profile.messages);
  }
  if (const auto list = root.find("handling")) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      profile.host_overhead.push_back(read_host_overhead_law(list->at(i)));
    }
  }
  if (const auto list = root.find("computations")) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      profile.computations.push_back(read_computation_law(list->at(i)));
    }
  }
  if (const auto overlap = root.find("overlap")) profile.overlap = read_overlap(*overlap);
  return profile;
}

Json computation_time_law_json(const ComputationTimeLaw& law) {
  Json json = {{"operator", name_of(step::kOperatorNames, law.kind)},
               {"phase", name_of(step::kPhaseNames, law.phase)},
               {"dtype", name_of(kDTypeNames, law.dtype)}};
  write_seconds_as_microseconds(json, "start_us", law.start_s);
  write_seconds_per_unit_as_rate(json, "flops_per_s", law.s_per_flop);
  write_seconds_per_unit_as_rate(json, "bytes_per_s", law.s_per_byte);
  return json;
}

Json host_overhead_law_json(const MessageHostOverheadLaw& law) {
  Json json = {{"scheme", name_of(step::kSchemeNames, law.scheme)},
               {"operation", name_of(kCollectiveNames, law.operation)}};
  write_seconds_as_microseconds(json, "start_us", law.start_s);
  write_seconds_per_unit_as_rate(json, "bytes_per_s", law.s_per_byte);
  return json;
}

}  // namespace stepwright::cost
