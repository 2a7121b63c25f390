#include "stepwright/core/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stepwright/core/nearest.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"

namespace stepwright {
namespace {

/// A unit, and its size in the first unit of its kind.
struct FileUnit {
  std::string_view name;
  double size;
};

constexpr double kKibi = 1024;
constexpr FileUnit kByteUnits[] = {{"B", 1},
                                   {"kB", 1e3},
                                   {"KB", 1e3},
                                   {"MB", 1e6},
                                   {"GB", 1e9},
                                   {"TB", 1e12},
                                   {"KiB", kKibi},
                                   {"MiB", kKibi * kKibi},
                                   {"GiB", kKibi * kKibi * kKibi},
                                   {"TiB", kKibi * kKibi * kKibi * kKibi}};
constexpr FileUnit kRateUnits[] = {{"B/s", 1},
                                   {"kB/s", 1e3},
                                   {"MB/s", 1e6},
                                   {"GB/s", 1e9},
                                   {"TB/s", 1e12},
                                   {"KiB/s", kKibi},
                                   {"MiB/s", kKibi * kKibi},
                                   {"GiB/s", kKibi * kKibi * kKibi},
                                   {"TiB/s", kKibi * kKibi * kKibi * kKibi},
                                   {"bit/s", 0.125},
                                   {"kbit/s", 125},
                                   {"Mbit/s", 125e3},
                                   {"Gbit/s", 125e6},
                                   {"Tbit/s", 125e9},
                                   {"kbps", 125},
                                   {"Mbps", 125e3},
                                   {"Gbps", 125e6},
                                   {"Tbps", 125e9}};
constexpr FileUnit kFlopsUnits[] = {
    {"FLOP/s", 1}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}};
constexpr FileUnit kTimeUnits[] = {{"s", 1},     {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6},
                                   {"ns", 1e-9}, {"min", 60},  {"h", 3600},  {"d", 86400}};
constexpr FileUnit kTokenUnits[] = {{"K", 1e3}, {"M", 1e6}, {"B", 1e9}, {"T", 1e12}};

struct Meaning {
  std::string_view plain;
  std::string_view example;
  std::span<const FileUnit> units;
};

Meaning meaning_of(QuantityKind quantity) {
  switch (quantity) {
    case QuantityKind::kBytes: return {"bytes", "80 GiB", kByteUnits};
    case QuantityKind::kRate: return {"bytes/s", "400 Gbit/s", kRateUnits};
    case QuantityKind::kFlops: return {"FLOP/s", "989 TFLOP/s", kFlopsUnits};
    case QuantityKind::kTokens: return {"tokens", "15T", kTokenUnits};
    case QuantityKind::kTime: break;
  }
  return {"seconds", "1.5 us", kTimeUnits};
}

std::string unit_names(std::span<const FileUnit> units) {
  std::vector<std::string_view> names;
  for (const FileUnit& unit : units) names.push_back(unit.name);
  return join_with_commas(names);
}

/// Reads `400 Gbit/s` or `400Gbit/s`; nullopt if the text is not a number and a unit.
std::optional<double> value_of(std::string_view text, std::span<const FileUnit> units) {
  for (const FileUnit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    std::string_view number = text.substr(0, text.size() - unit.name.size());
    while (number.ends_with(' ')) number.remove_suffix(1);
    const std::optional<double> value = read_double(number);
    if (value) return *value * unit.size;
  }
  return std::nullopt;
}

}  // namespace

std::string_view default_unit_of_quantity(QuantityKind quantity) {
  return meaning_of(quantity).plain;
}

double read_quantity(DocumentNode node, QuantityKind quantity, double low, double high) {
  const Meaning meaning = meaning_of(quantity);
  if (!node.is_scalar() || node.is_number()) {
    return node.number(low, high);
  }
  const std::optional<double> value = value_of(node.text(), meaning.units);
  if (!value) {
    node.fail(fmt::format(
        "must be a number of {}, or one with a unit as {} (units: {}); it is '{}'", meaning.plain,
        meaning.example, unit_names(meaning.units), one_line_printable_text(node.text())));
  }
  if (*value >= low && *value <= high) return *value;
  node.fail(fmt::format("must be from {} to {} {}; {} is {}", low, high, meaning.plain,
                        one_line_printable_text(node.text()), *value));
}

}  // namespace stepwright
