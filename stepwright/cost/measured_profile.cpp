#include "stepwright/cost/measured_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "stepwright/core/document.h"

namespace stepwright {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLongestUs = 1e12;
constexpr double kLeastRate = 1e-3;
constexpr double kMostRate = 1e21;
constexpr std::string_view kLibrary = "gloo";

double read_micros(Node node, std::string_view key) {
  const auto found = node.find(key);
  return found ? 1e-6 * found->number(0, kLongestUs) : 0;
}

/// Seconds of one; 0 when there is no rate.
double read_rate(Node node, std::string_view key) {
  const auto found = node.find(key);
  return found ? 1 / found->number(kLeastRate, kMostRate) : 0;
}

SocketLaw read_socket_law(Node node) {
  node.allow_only({"start_us", "hop_us", "network_hop_us", "inside_bytes_per_s",
                   "network_bytes_per_s", "rows", "held_out_error"});
  return {.start_s = read_micros(node, "start_us"),
          .hop_s = read_micros(node, "hop_us"),
          .network_hop_s = read_micros(node, "network_hop_us"),
          .inside_s_per_byte = read_rate(node, "inside_bytes_per_s"),
          .network_s_per_byte = read_rate(node, "network_bytes_per_s")};
}

void read_messages(Node node, MeasuredProfile& profile) {
  node.allow_only({"library", "operations"});
  const Node library = node.get("library");
  if (library.text() != kLibrary) {
    library.fail_unsupported(fmt::format("only messages of {} are modelled", kLibrary));
  }
  const Node operations = node.get("operations");
  std::vector<std::string_view> known;
  for (const auto& each : kCollectiveNames) known.push_back(each.name);
  operations.allow_only(known);
  for (const auto& each : kCollectiveNames) {
    if (const auto found = operations.find(each.name)) {
      profile.messages[static_cast<std::size_t>(each.value)] = read_socket_law(*found);
    }
  }
}

ComputationLaw read_computation_law(Node node) {
  node.allow_only({"operator", "phase", "dtype", "start_us", "flops_per_s", "bytes_per_s", "rows",
                   "held_out_error"});
  return {.kind = node.get("operator").choice(kOperatorNames),
          .phase = node.get("phase").choice(kPhaseNames),
          .dtype = node.get("dtype").choice(kDTypeNames),
          .start_s = read_micros(node, "start_us"),
          .s_per_flop = read_rate(node, "flops_per_s"),
          .s_per_byte = read_rate(node, "bytes_per_s")};
}

MeasuredOverlap read_overlap(Node node) {
  constexpr double kMostSlower = 100;
  node.allow_only({"beside_inside", "beside_network"});
  const auto factor = [&](std::string_view key) {
    const auto found = node.find(key);
    return found ? found->number(1, kMostSlower) : 0;
  };
  return {.beside_inside = factor("beside_inside"), .beside_network = factor("beside_network")};
}

double five_digits(double value) {
  if (value == 0) return 0;
  const double scale = std::pow(10.0, 4 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

void write_micros(Json& json, const char* key, double seconds) {
  if (seconds > 0) json[key] = five_digits(1e6 * seconds);
}

void write_rate(Json& json, const char* key, double seconds_of_one) {
  if (seconds_of_one > 0) json[key] = five_digits(1 / seconds_of_one);
}

}  // namespace

const ComputationLaw* MeasuredProfile::find(const Operator& op) const {
  const auto found = std::ranges::find_if(computations, [&](const ComputationLaw& law) {
    return law.kind == op.kind && law.phase == law_phase(op.phase) && law.dtype == op.dtype;
  });
  return found == computations.end() ? nullptr : &*found;
}

std::string MeasuredProfile::contents() const {
  const bool any = std::ranges::any_of(messages, [](const auto& law) { return law.has_value(); });
  std::string text = any ? fmt::format("messages of {}", kLibrary) : "";
  if (computations.empty()) return text;
  return fmt::format("{}{}{} kinds of computation", text, any ? ", " : "", computations.size());
}

MeasuredProfile load_measured(const std::filesystem::path& path) {
  const Document document = Document::load(path);
  const Node root = document.root();
  const Node version = root.get("stepwright");
  if (version.text() != "measured/1") {
    version.fail(fmt::format("must be measured/1 here; it is '{}'", version.text()));
  }
  root.allow_only({"stepwright", "name", "messages", "computations", "overlap", "sources"});
  MeasuredProfile profile;
  profile.name = root.get("name").text();
  if (const auto messages = root.find("messages")) read_messages(*messages, profile);
  if (const auto list = root.find("computations")) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      profile.computations.push_back(read_computation_law(list->at(i)));
    }
  }
  if (const auto overlap = root.find("overlap")) profile.overlap = read_overlap(*overlap);
  return profile;
}

Json socket_law_json(const SocketLaw& law) {
  Json json = Json::object();
  write_micros(json, "start_us", law.start_s);
  write_micros(json, "hop_us", law.hop_s);
  write_micros(json, "network_hop_us", law.network_hop_s);
  write_rate(json, "inside_bytes_per_s", law.inside_s_per_byte);
  write_rate(json, "network_bytes_per_s", law.network_s_per_byte);
  return json;
}

Json computation_law_json(const ComputationLaw& law) {
  Json json = {{"operator", name_of(kOperatorNames, law.kind)},
               {"phase", name_of(kPhaseNames, law.phase)},
               {"dtype", name_of(kDTypeNames, law.dtype)}};
  write_micros(json, "start_us", law.start_s);
  write_rate(json, "flops_per_s", law.s_per_flop);
  write_rate(json, "bytes_per_s", law.s_per_byte);
  return json;
}

}  // namespace stepwright
