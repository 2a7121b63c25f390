#include "tests/collective_files/tuner_plugin.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>

namespace stepwright::collective_files {
namespace {

constexpr std::size_t kLineBuffer = 255;
const std::set<std::string, std::less<>> kCollectives = {"broadcast", "reduce", "allgather",
                                                         "reducescatter", "allreduce"};
const std::set<std::string, std::less<>> kAlgorithms = {
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
const std::set<std::string, std::less<>> kProtocols = {"ll", "ll128", "simple"};

std::string trimmed(std::string_view field) {
  const std::size_t first = field.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return std::string(field.substr(first, field.find_last_not_of(" \t") - first + 1));
}

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

template <class Number>
Number number(const std::string& field) {
  Number value{};
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size()) {
    throw std::runtime_error("no number: " + field);
  }
  return value;
}

std::string word(const std::set<std::string, std::less<>>& known, const std::string& field) {
  if (!known.contains(field)) throw std::runtime_error("no such word: " + field);
  return field;
}

PluginLine read_line(std::string_view text) {
  const std::vector<std::string> fields = fields_of(text);
  if (fields.size() < 8 || fields.size() > 10) throw std::runtime_error("number of fields");
  return {.collective = word(kCollectives, fields[0]),
          .min_bytes = number<std::uint64_t>(fields[1]),
          .max_bytes = number<std::uint64_t>(fields[2]),
          .algorithm = word(kAlgorithms, fields[3]),
          .protocol = word(kProtocols, fields[4]),
          .channels = number<int>(fields[5]),
          .nodes = number<int>(fields[6]),
          .ranks = number<int>(fields[7])};
}

}  // namespace

std::vector<PluginLine> read_tuner_file(std::string_view text) {
  std::vector<PluginLine> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n') + 1, std::min(kLineBuffer, text.size()));
    const std::size_t taken = end == 0 ? std::min(kLineBuffer, text.size()) : end;
    std::string_view line = text.substr(0, taken);
    text.remove_prefix(taken);
    if (line.starts_with('#') || line.starts_with('\n')) continue;
    if (line.ends_with('\n')) line.remove_suffix(1);
    lines.push_back(read_line(line));
  }
  return lines;
}

const PluginLine* line_for(const std::vector<PluginLine>& lines, std::string_view collective,
                           std::uint64_t bytes, int nodes, int ranks) {
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const PluginLine& line) {
    return line.collective == collective && bytes >= line.min_bytes && bytes <= line.max_bytes &&
           (line.nodes == -1 || line.nodes == nodes) && (line.ranks == -1 || line.ranks == ranks);
  });
  return found == lines.end() ? nullptr : &*found;
}

}  // namespace stepwright::collective_files
