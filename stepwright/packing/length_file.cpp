#include "stepwright/packing/length_file.h"

#include <fmt/format.h>

#include <sstream>

namespace stepwright::packing {
namespace {

constexpr std::int64_t kLongest = std::int64_t{1} << 40;
constexpr double kMostDocuments = 1e15;
constexpr std::string_view kVersion = "lengths/1";

}  // namespace

LengthHistogram read_length_histogram(DocumentNode list) {
  if (list.is_null() || !list.is_sequence() || list.size() == 0) {
    list.fail("must be a list of [length, count] with at least one of them");
  }
  LengthHistogram histogram;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const DocumentNode pair = list.at(i);
    if (!pair.is_sequence() || pair.size() != 2) pair.fail("must be [length, count]");
    histogram.push_back({pair.at(0).integer(1, kLongest), pair.at(1).number(0, kMostDocuments)});
  }
  histogram = merge_equal_lengths(std::move(histogram));
  if (histogram.empty()) list.fail("holds no document: all counts are 0");
  return histogram;
}

LengthHistogram load_length_histogram(const std::filesystem::path& path) {
  const YamlJsonDocument document = YamlJsonDocument::load(path);
  const DocumentNode root = document.root();
  const DocumentNode version = root.get("stepwright");
  if (version.text() != kVersion) {
    version.fail(fmt::format("must be {}: `stepwright lengths` writes such files", kVersion));
  }
  root.allow_only_keys({"stepwright", "histogram"});
  return read_length_histogram(root.get("histogram"));
}

std::string length_histogram_text(const LengthHistogram& histogram, const std::string& comment) {
  std::string text;
  std::istringstream lines(comment);
  for (std::string line; std::getline(lines, line);) text += "# " + line + "\n";
  text += fmt::format("stepwright: {}\nhistogram:\n", kVersion);
  for (const auto& [length, count] : histogram) text += fmt::format("- [{}, {}]\n", length, count);
  return text;
}

}  // namespace stepwright::packing
