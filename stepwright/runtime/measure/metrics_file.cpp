#include "stepwright/runtime/measure/metrics_file.h"

#include <nlohmann/json.hpp>

#include "stepwright/core/input_file.h"
#include "stepwright/core/output_path.h"

namespace stepwright::runtime {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30U;

/// True if a line belongs to `step` or a later one.
bool is_from(std::string_view line, std::int64_t step) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) return false;
  const auto own = json.find("step");
  return own != json.end() && own->is_number_integer() && own->get<std::int64_t>() >= step;
}

}  // namespace

std::string metrics_file_lines_before_step(std::string_view text, std::int64_t step) {
  std::string kept;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
    const std::string_view line = text.substr(0, end + 1);
    if (!is_from(line, step)) kept += line;
    text.remove_prefix(end + 1);
  }
  return kept;
}

void MetricsFile::open(std::int64_t step) {
  if (resolve_output_target(path_).is_plain) {
    const bool goes_on = resumed_ && path_exists(path_);
    const std::string old = goes_on ? read_file_or_standard_input(path_, kMostBytes) : "";
    const std::string kept = metrics_file_lines_before_step(old, step);
    if (!goes_on || kept != old) write_file(path_, kept);
  }
  file_.emplace(path_);
}

void MetricsFile::add(std::int64_t step, std::string_view line) {
  if (!file_) open(step);
  file_->add(std::string(line) + '\n');
}

void MetricsFile::close() {
  if (file_) file_->close();
  file_.reset();
}

}  // namespace stepwright::runtime
