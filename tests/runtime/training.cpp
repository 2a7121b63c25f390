#include "tests/runtime/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include "tests/folder.h"

namespace stepwright::testing {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

}  // namespace

std::filesystem::path training_text() {
  static const Folder folder;
  const auto path = folder / "text";
  if (!std::filesystem::exists(path)) {
    std::string text;
    std::uint32_t state = 7;
    for (int i = 0; i < 4096; ++i) {
      state = state * 1664525U + 1013904223U;
      text += static_cast<char>('a' + (state >> 24U) % 26);
      if (i % 7 == 0) text += ' ';
    }
    write(path, text);
  }
  return path;
}

Trained train(const Training& training) {
  const Folder folder;
  write(folder / "plan.yaml", training.plan);
  const auto file = [&](const char* name) { return (folder / name).string(); };
  std::string command = fmt::format(
      "OMP_NUM_THREADS=1 timeout -k 5 600 {} train {} --data {} --steps {} --weights {} "
      "--gradients {} --metrics {} "
      "--ledger {}",
      std::getenv("STEPWRIGHT_COMMAND"), file("plan.yaml"), training_text().string(),
      training.steps, file("weights"), file("gradients"), file("metrics"), file("ledger"));
  if (std::ranges::none_of(training.options,
                           [](const auto& o) { return o.starts_with("--timeout"); })) {
    command += " --timeout 300";
  }
  for (const std::string& option : training.options) command += " " + option;
  const int status = std::system((command + " 2>" + file("errors")).c_str());
  Trained result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.errors = read(folder / "errors");
  if (result.exit_code == 0) {
    std::istringstream lines(read(folder / "metrics"));
    for (std::string line; std::getline(lines, line);) {
      const auto step = nlohmann::json::parse(line);
      // JSON cannot represent values that are not numbers.
      const auto number = [&](const char* key) {
        return step[key].is_null() ? std::numeric_limits<double>::quiet_NaN() : double{step[key]};
      };
      result.losses.push_back(number("loss"));
      result.norms.push_back(number("gradient_norm"));
    }
    result.weights = read_tensors(folder / "weights");
    result.gradients = read_tensors(folder / "gradients");
    const auto ledger = nlohmann::json::parse(read(folder / "ledger"));
    for (const auto& one : ledger["communicators"]) result.scheduled += one["scheduled"].get<int>();
  }
  const std::string compare =
      fmt::format("{} compare {} --log {} >{} 2>&1", std::getenv("STEPWRIGHT_COMMAND"),
                  file("plan.yaml"), file("ledger"), file("comparison"));
  if (result.exit_code == 0 && std::system(compare.c_str()) >= 0) {
    result.comparison = read(folder / "comparison");
  }
  return result;
}

std::string plan_text_of(const PlanText& plan) {
  return fmt::format(
      "stepwright: plan/1\njob:\n  model: {}\n"
      "  cluster: {{name: here, device: {{name: cpu, memory: 16e9, memory_bandwidth: 20e9, "
      "host_link: 10e9, "
      "peak: {{fp64: 1e11, fp32: 2e11, bf16: 2e11}}}}, devices_per_node: {}, devices: {}, "
      "levels: [{{name: bus, size: {}, bandwidth: 1e9}}], nics_per_node: 1, nic: 1e9, "
      "host: {{memory: 64e9, memory_bandwidth: 50e9}}}}\n"
      "  batch: {{sequences: {}, length: {}{}}}\n  precision: {}\n{}{}",
      plan.model, plan.node, plan.ranks, plan.node, plan.sequences, plan.length, plan.batch,
      plan.precision, plan.job, plan.choices);
}

double distance(const Values& a, const Values& b) {
  double largest = a.size() == b.size() ? 0 : std::numeric_limits<double>::infinity();
  for (const auto& [name, values] : a) {
    const auto other = b.find(name);
    if (other == b.end() || other->second.size() != values.size()) {
      return std::numeric_limits<double>::infinity();
    }
    std::vector<double> difference = values;
    for (std::size_t i = 0; i < values.size(); ++i) difference[i] -= other->second[i];
    const double far = norm(difference) / (1 + norm(values));
    largest = std::isnan(far) ? far : std::max(largest, far);
  }
  return largest;
}

Values read_tensors(const std::filesystem::path& path) {
  const std::string content = read(path);
  std::uint64_t size = 0;
  std::memcpy(&size, content.data(), sizeof(size));
  const auto header = nlohmann::json::parse(content.substr(8, size));
  Values values;
  for (const auto& [name, entry] : header.items()) {
    const std::size_t begin = entry["data_offsets"][0];
    const std::size_t end = entry["data_offsets"][1];
    std::vector<double>& numbers = values[name];
    numbers.resize((end - begin) / 8);
    std::memcpy(numbers.data(), content.data() + 8 + size + begin, end - begin);
  }
  return values;
}

std::vector<std::string> all_zero(const Values& values) {
  std::vector<std::string> names;
  for (const auto& [name, numbers] : values) {
    if (std::ranges::all_of(numbers, [](double v) { return v == 0; })) names.push_back(name);
  }
  return names;
}

}  // namespace stepwright::testing
