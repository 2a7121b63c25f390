#include "stepwright/validate/label_conflict.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>

#include "stepwright/validate/rows/words.h"

namespace stepwright {
namespace {

/// How much a remark recomputes; nothing when it says something else.
std::optional<int> recomputed(const std::string& remark) {
  const Words words(remark);
  if (words.text().starts_with("none")) return 0;
  if (words.text() == "selective") return 1;
  if (words.text() == "full") return 2;
  return std::nullopt;
}

/// "A100-SXM" of "A100-SXM-80GB" or "A100-SXM 80g"; other names as they are.
std::string_view without_capacity(std::string_view gpu) {
  std::string_view name = gpu;
  const auto drop_last = [&name](std::string_view letters) {
    const bool found = !name.empty() && letters.find(name.back()) != std::string_view::npos;
    if (found) name.remove_suffix(1);
    return found;
  };
  drop_last("bB");
  if (!drop_last("gG")) return gpu;
  drop_last(" ");
  constexpr std::string_view kDigits = "0123456789";
  if (!drop_last(kDigits)) return gpu;
  while (drop_last(kDigits)) continue;
  while (drop_last("-_ ")) continue;
  return name;
}

/// Everything that two rows of one configuration have in common.
std::string configuration(const RunRow& row) {
  std::string text;
  for (const auto& size : {row.gpus, row.layers, row.hidden, row.heads, row.kv_heads, row.ffn,
                           row.vocabulary, row.length, row.global_batch, row.tensor, row.pipeline,
                           row.chunks, row.context, row.expert}) {
    text += fmt::format("{} ", size.value_or(-1));
  }
  for (const std::string_view word :
       {without_capacity(row.gpu), std::string_view(row.framework), std::string_view(row.model),
        std::string_view(row.moe), std::string_view(row.precision),
        std::string_view(row.sequence_parallel), std::string_view(row.sharding),
        std::string_view(row.notes)}) {
    text += word;
    text += '\n';
  }
  return recomputed(row.recompute) ? text : text + row.recompute;
}

bool needs_as_much(const Label& one, const Label& other) {
  return one.row->micro_batch >= other.row->micro_batch &&
         recomputed(one.row->recompute) <= recomputed(other.row->recompute) &&
         one.capacity_bytes <= other.capacity_bytes;
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> label_conflicts(std::span<const Label> labels) {
  std::map<std::string, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    alike[configuration(*labels[i].row)].push_back(i);
  }
  std::vector<std::pair<std::size_t, std::size_t>> conflicts;
  for (const auto& [text, rows] : alike) {
    for (const std::size_t oom : rows) {
      for (const std::size_t fits : rows) {
        if (labels[oom].fits || !labels[fits].fits) continue;
        if (needs_as_much(labels[fits], labels[oom])) conflicts.emplace_back(oom, fits);
      }
    }
  }
  return conflicts;
}

}  // namespace stepwright
