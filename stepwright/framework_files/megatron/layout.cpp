#include "stepwright/framework_files/megatron/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace stepwright::framework_files {
namespace {

constexpr std::size_t kMostParts = 65'536;
constexpr int kDeepestGroup = 50;

/// Expands the repetitions in a layout: "(tt|)*2L" becomes "tt|tt|L".
class LayoutReader {
 public:
  explicit LayoutReader(std::string_view text) : text_(text) {}

  std::optional<std::string> read() {
    const auto all = parts();
    return at_ == text_.size() ? all : std::nullopt;
  }

 private:
  std::optional<std::string> parts() {
    std::string all;
    while (at_ < text_.size() && text_[at_] != ')') {
      const auto one = part();
      if (!one) return std::nullopt;
      const auto count = repetitions();
      if (!count || all.size() + one->size() * *count > kMostParts) return std::nullopt;
      for (std::size_t i = 0; i < *count; ++i) all += *one;
    }
    return all;
  }

  std::optional<std::string> part() {
    const char c = text_[at_++];
    if (c == ',' || c == ' ') return "";
    if (c != '(') {
      const bool known = std::string_view("EtmL|").find(c) != std::string_view::npos;
      return known ? std::optional(std::string(1, c)) : std::nullopt;
    }
    if (++depth_ > kDeepestGroup) return std::nullopt;
    const auto inner = parts();
    if (!inner || at_ == text_.size()) return std::nullopt;
    ++at_;
    --depth_;
    return inner;
  }

  std::optional<std::size_t> repetitions() {
    if (at_ == text_.size() || text_[at_] != '*') return 1;
    ++at_;
    std::size_t count = 0;
    const std::size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      count = count * 10 + static_cast<std::size_t>(text_[at_] - '0');
      if (count > kMostParts) return std::nullopt;
    }
    return at_ > begin ? std::optional(count) : std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string megatron_layout_text(std::span<const std::int64_t> layers, std::int64_t multi_token) {
  std::string text = "E";
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (i > 0) text += '|';
    if (layers[i] > 0) text += fmt::format("t*{}", layers[i]);
  }
  return text + std::string(static_cast<std::size_t>(multi_token), 'm') + 'L';
}

std::vector<std::int64_t> parse_megatron_layout(DocumentNode node) {
  const auto text = LayoutReader(node.text()).read();
  const bool whole = text && text->starts_with('E') && text->ends_with('L') &&
                     std::ranges::count(*text, 'E') == 1 && std::ranges::count(*text, 'L') == 1;
  if (!whole) {
    node.fail("is no layout of a pipeline: E, t, m and L, stages parted by |, as Ett|tt|ttL");
  }
  std::vector<std::int64_t> layers = {0};
  for (const char c : *text) {
    if (c == '|') layers.push_back(0);
    if (c == 't') ++layers.back();
  }
  return layers;
}

bool has_multi_token_layers_before_last_stage(DocumentNode node) {
  const auto text = LayoutReader(node.text()).read();
  return text && text->find('|', std::min(text->find('m'), text->size())) != std::string::npos;
}

std::int64_t layer_count_to_split(const FrameworkSettingsReader& fields, std::int64_t layers) {
  const bool embedding = fields.flag("account_for_embedding_in_pipeline_split", false);
  const bool loss = fields.flag("account_for_loss_in_pipeline_split", false);
  return layers + (embedding ? 1 : 0) + (loss ? 1 : 0);
}

std::vector<std::int64_t> megatron_uneven_chunk_layer_counts(const FrameworkSettingsReader& fields,
                                                             std::int64_t layers,
                                                             std::int64_t chunks) {
  const bool embedding = fields.flag("account_for_embedding_in_pipeline_split", false);
  const bool loss = fields.flag("account_for_loss_in_pipeline_split", false);
  const auto first = fields.find("num_layers_in_first_pipeline_stage");
  const auto last = fields.find("num_layers_in_last_pipeline_stage");
  if (layers == 0 || chunks < 2 || (!embedding && !loss && !first && !last)) return {};
  std::vector<std::int64_t> split(static_cast<std::size_t>(chunks), 0);
  const std::int64_t whole = layer_count_to_split(fields, layers);
  std::int64_t middle = whole / chunks;
  split.front() = middle - (embedding ? 1 : 0);
  split.back() = middle - (loss ? 1 : 0);
  bool fits = whole % chunks == 0;
  if (first || last) {
    std::int64_t rest = layers;
    std::int64_t others = chunks;
    for (const auto& [given, stage] : {std::pair{first, &split.front()}, {last, &split.back()}}) {
      *stage = given ? given->integer(1, layers) : 0;
      rest -= *stage;
      others -= given ? 1 : 0;
    }
    fits = others == 0 ? rest == 0 : rest > 0 && rest % others == 0;
    middle = others == 0 ? 0 : rest / others;
    for (const auto& [given, stage] : {std::pair{first, &split.front()}, {last, &split.back()}}) {
      if (!given) *stage = middle;
    }
  }
  // A chunk with the embedding or the loss can be without layers: NVIDIA/Megatron-LM core 0.16
  // megatron/core/transformer/transformer_block.py, get_num_layers_to_build.
  if (!fits || split.front() < (embedding ? 0 : 1) || split.back() < (loss ? 0 : 1)) {
    fields.node().fail(
        fmt::format("{} layers cannot be split over {} chunks as the first and the "
                    "last are said to be",
                    layers, chunks));
  }
  for (std::size_t i = 1; i + 1 < split.size(); ++i) split[i] = middle;
  return split;
}

}  // namespace stepwright::framework_files
