#include "stepwright/fit/samples/operator_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/step/work.h"

namespace stepwright::fit {
namespace {

constexpr std::string_view kShapeHeader[] = {"op",    "tp",     "batch",  "seq",   "hidden",
                                             "heads", "layers", "fwd_us", "bwd_us"};
constexpr std::string_view kKernelHeader[] = {
    "gpu",   "op",       "dtype",    "m",      "n",         "k",      "batch", "seq_len",
    "heads", "kv_heads", "head_dim", "causal", "direction", "metric", "value"};
/// All columns that are read, and other columns that such tables may have.
constexpr std::string_view kOperatorColumns[] = {
    "op",       "tp",          "batch",  "seq",      "hidden",    "heads",  "layers",
    "fwd_us",   "bwd_us",      "gpu",    "dtype",    "m",         "n",      "k",
    "seq_len",  "kv_heads",    "causal", "head_dim", "direction", "metric", "value",
    "software", "other_shape", "id",     "cluster",  "extra"};

bool has_all(const CsvTable& table, std::span<const std::string_view> titles) {
  return std::ranges::all_of(titles, [&](auto title) { return table.column(title).has_value(); });
}

/// The cells of one row by column title.
class OperatorCells {
 public:
  OperatorCells(const CsvTable& table, const CsvRow& row) : table_(table), row_(row) {}

  [[nodiscard]] const std::string& text(std::string_view title) const {
    return row_.cells[table_.column(title).value()];
  }
  /// Returns the text of a column; empty if the table does not have it.
  [[nodiscard]] std::string_view text_if_there(std::string_view title) const {
    const auto column = table_.column(title);
    return column ? std::string_view(row_.cells[*column]) : std::string_view();
  }
  /// Returns the number in a cell; nullopt when the cell is empty. Fails with `kInput`.
  [[nodiscard]] std::optional<double> number(std::string_view title) const {
    const std::string& cell = text(title);
    if (cell.empty()) return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value)) {
      fail_input(
          fmt::format("{} is `{}`, not a finite number", title, one_line_printable_text(cell)));
    }
    return value;
  }
  /// Returns the size in a cell; `otherwise` when the cell is empty. Fails with `kInput`.
  [[nodiscard]] std::int64_t size(std::string_view title, std::int64_t otherwise) const {
    const std::optional<double> value = number(title);
    if (!value) return otherwise;
    if (*value < 1 || *value > 1e9 || *value != std::floor(*value)) {
      fail_input(fmt::format("{} is {}; allowed: a whole number from 1 to 1e9", title, *value));
    }
    return static_cast<std::int64_t>(*value);
  }
  /// Returns the seconds of a cell in microseconds; nullopt when it is empty. Fails with `kInput`
  /// when not positive.
  [[nodiscard]] std::optional<double> seconds(std::string_view title) const {
    const std::optional<double> value = number(title);
    if (value && *value <= 0) fail_input(fmt::format("{} is {}, not positive", title, *value));
    return value ? std::optional(*value * 1e-6) : std::nullopt;
  }

 private:
  const CsvTable& table_;
  const CsvRow& row_;
};

OperatorSample shape_sample(const OperatorCells& cells) {
  const SampledSizes sizes{.op = cells.text("op"),
                           .tensor = cells.size("tp", 1),
                           .batch = cells.size("batch", 0),
                           .length = cells.size("seq", 0),
                           .hidden = cells.size("hidden", 0),
                           .heads = cells.size("heads", 0),
                           .layers = cells.size("layers", 0)};
  const std::optional<SampledOperator> sampled = sampled_operator(sizes);
  if (!sampled) {
    fail_input(fmt::format("op is `{}`, which no class of operators covers",
                           one_line_printable_text(sizes.op)));
  }
  OperatorSample sample{.name = sizes.op,
                        .what = sampled->what,
                        .op = sampled->op,
                        .forward_s = cells.seconds("fwd_us"),
                        .backward_s = cells.seconds("bwd_us"),
                        .hold_out = sampled->hold_out};
  if (!sample.forward_s && !sample.backward_s) fail_input("neither fwd_us nor bwd_us is given");
  return sample;
}

struct DeviceName {
  std::string_view written;
  std::string_view ours;
};
constexpr DeviceName kDeviceNames[] = {{"A100-SXM-80GB", "a100-sxm-80g"},
                                       {"A100-SXM4-80GB", "a100-sxm-80g"},
                                       {"A100-PCIe-80GB", "a100-pcie-80g"},
                                       {"H100-SXM-80GB", "h100-sxm-80g"},
                                       {"H200-SXM-141GB", "h200-sxm"},
                                       {"B200-SXM", "b200-sxm"},
                                       {"GB200", "gb200"}};

std::string_view device_of(const std::string& written) {
  for (const DeviceName& name : kDeviceNames) {
    if (name.written == written) return name.ours;
  }
  return {};
}

step::Operator kernel_product(const OperatorCells& cells) {
  return {
      .kind = step::OperatorKind::kLinear,
      .shape = {
          .rows = cells.size("m", 0), .columns = cells.size("n", 0), .inner = cells.size("k", 0)}};
}

step::Operator kernel_attention(const OperatorCells& cells) {
  const std::int64_t length = cells.size("seq_len", 0);
  const std::int64_t heads = cells.size("heads", 0);
  const bool causal = cells.text("causal") == "y";
  return {.kind = step::OperatorKind::kAttention,
          .shape = {.batch = cells.size("batch", 1),
                    .heads = heads,
                    .kv_heads = cells.size("kv_heads", heads),
                    .queries = length,
                    .keys = length,
                    .head_dim = cells.size("head_dim", 0),
                    .value_dim = cells.size("head_dim", 0),
                    .pairs = causal ? length * (length + 1) / 2 : length * length}};
}

/// Returns the bytes that a copy of the queries, keys and values reads and writes, in 16 bits.
double copied_bytes(const step::OperatorShape& attention) {
  return 2.0 * 2.0 * static_cast<double>(attention.batch * attention.queries) *
         static_cast<double>((attention.heads + attention.kv_heads) * attention.head_dim +
                             attention.kv_heads * attention.value_dim);
}

/// Returns the seconds of a row: its time, or the FLOPs of a product over its rate.
double measured_s(const OperatorCells& cells, const step::Operator& op) {
  const std::optional<double> rate = cells.number("value");
  if (!rate) fail_input("value is not given");
  if (cells.text("metric") == "time_us") return cells.seconds("value").value();
  if (*rate <= 0) fail_input(fmt::format("value is {}, not positive", *rate));
  return step::operator_flops(op) / (*rate * 1e12);
}

/// Returns the attention kernel that the row's software implies, else the device's.
cluster::AttentionKernel kernel_of(std::string_view software, std::string_view device) {
  if (software.find("FlashAttention-2") != std::string_view::npos)
    return cluster::AttentionKernel::kFlash2;
  if (software.find("SDPA cuDNN") != std::string_view::npos)
    return cluster::AttentionKernel::kCudnn;
  if (device.starts_with("a100")) return cluster::AttentionKernel::kFlash2;
  return device.starts_with('h') ? cluster::AttentionKernel::kFlash3
                                 : cluster::AttentionKernel::kCudnn;
}

/// Returns why no class covers a row of kernels; empty when one does.
std::string kernel_refusal(const OperatorCells& cells) {
  const std::string& op = cells.text("op");
  const std::string& dtype = cells.text("dtype");
  const std::string& direction = cells.text("direction");
  if (op != "gemm" && op != "attention") return "operator: " + op;
  if (device_of(cells.text("gpu")).empty()) return "device: " + cells.text("gpu");
  if (dtype != "bf16" && dtype != "fp16") return "type: " + dtype;
  const bool whole_backward = op == "attention" && direction == "backward";
  if (direction != "forward" && !direction.empty() && !whole_backward) {
    return "direction: " + direction;
  }
  if (cells.text("metric") == "time_us" || (cells.text("metric") == "tflops" && op == "gemm")) {
    return {};
  }
  return fmt::format("metric of {}: {}", op, cells.text("metric"));
}

/// Returns the sample of a row that `kernel_refusal` accepts.
OperatorSample kernel_sample(const OperatorCells& cells) {
  const std::string_view device = device_of(cells.text("gpu"));
  const std::string& op = cells.text("op");
  const bool product = op == "gemm";
  OperatorSample sample{
      .name = op,
      .what = product ? cost::OperatorClass::kProduct : cost::OperatorClass::kAttention,
      .op = product ? kernel_product(cells) : kernel_attention(cells),
      .device = std::string(device),
      .kernel = kernel_of(cells.text_if_there("software"), device)};
  const step::OperatorShape& shape = sample.op.shape;
  sample.hold_out = product ? shape.inner : shape.heads * shape.head_dim;
  if (sample.hold_out <= 0 || (product ? shape.rows * shape.columns : shape.queries) <= 0) {
    fail_input("a size is missing");
  }
  const bool backward = cells.text("direction") == "backward";
  (backward ? sample.backward_s : sample.forward_s) = measured_s(cells, sample.op);
  if (cells.text_if_there("other_shape") == "copied=qkv") sample.copied_bytes = copied_bytes(shape);
  return sample;
}

/// Returns a row's text without its id and measured values: equal for two rows of the same
/// measurement.
std::string identity(const CsvTable& table, const CsvRow& row) {
  constexpr std::string_view kOther[] = {"id", "value", "extra", "fwd_us", "bwd_us"};
  std::string text;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (std::ranges::find(kOther, table.header[i]) == std::end(kOther)) text += row.cells[i] + '\n';
  }
  return text;
}

}  // namespace

bool table_has_operator_timings(const CsvTable& table) {
  return has_all(table, kShapeHeader) || has_all(table, kKernelHeader);
}

OperatorSampleTable read_operator_samples(const CsvTable& table) {
  const bool shapes = has_all(table, kShapeHeader);
  table.refuse_misspelt_column_titles(kOperatorColumns);
  if (!table_has_operator_timings(table)) {
    fail_input(
        fmt::format("{}: is not a table of operator samples; allowed headers: {}; or columns {}",
                    table.name, fmt::join(kShapeHeader, ","), fmt::join(kKernelHeader, ", ")));
  }
  table.require_table_rows();
  OperatorSampleTable out{.file = table.name};
  std::map<std::string, std::size_t> seen;
  for (const CsvRow& row : table.rows) {
    try {
      const OperatorCells cells(table, row);
      if (const std::string refusal = shapes ? "" : kernel_refusal(cells); !refusal.empty()) {
        out.passed_over.push_back({table.name, row.line, "no class covers " + refusal, ""});
        continue;
      }
      OperatorSample sample = shapes ? shape_sample(cells) : kernel_sample(cells);
      sample.line = row.line;
      const auto [first, fresh] = seen.try_emplace(identity(table, row), row.line);
      if (!fresh) {
        out.bad.push_back({table.name, row.line, "duplicate",
                           fmt::format("{} as in line {}", sample.name, first->second)});
        continue;
      }
      out.samples.push_back(std::move(sample));
    } catch (const Error& error) {
      out.bad.push_back({table.name, row.line, "bad value", error.what()});
    }
  }
  return out;
}

}  // namespace stepwright::fit
