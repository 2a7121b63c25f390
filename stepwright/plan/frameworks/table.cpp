#include "stepwright/plan/frameworks/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stepwright/cluster/embedded.h"
#include "stepwright/cluster/generation.h"
#include "stepwright/plan/files/read_choices.h"

namespace stepwright {

/// The files of this folder, compiled in.
std::span<const EmbeddedFile> embedded_frameworks();

namespace {

/// A list of words of an ability, or `any`.
WordSet read_words(Node node, Ability ability) {
  const std::vector<std::string>& known = ability_words(ability);
  WordSet words;
  if (node.is_scalar() && node.text() == "any") {
    for (std::size_t i = 0; i < known.size(); ++i) words.set(i);
    return words;
  }
  for (std::size_t i = 0; i < node.size(); ++i) {
    const auto found = std::ranges::find(known, node.at(i).text());
    if (found == known.end()) {
      const std::vector<std::string_view> views(known.begin(), known.end());
      fail_unknown_word(node.at(i), views);
    }
    words.set(static_cast<std::size_t>(found - known.begin()));
  }
  return words;
}

std::string read_source(Node node) {
  std::string source = node.get("source").text();
  if (source.empty()) node.fail("names no source");
  return source;
}

AbilityEntry read_line(Node node) {
  node.allow_only({"ability", "words", "with", "from", "before", "source"});
  AbilityEntry entry;
  entry.ability = node.get("ability").choice(kAbilityNames);
  entry.words = read_words(node.get("words"), entry.ability);
  entry.source = read_source(node);
  if (const auto with = node.find("with")) {
    entry.with = read_words(*with, Ability::kParallel).to_ulong();
  }
  if (const auto from = node.find("from")) entry.from = from->text();
  if (const auto before = node.find("before")) entry.before = before->text();
  return entry;
}

FrameworkKernels read_kernels_of(Node node) {
  node.allow_only({"attention", "fused_norm", "fused_activation", "fused_accumulation",
                   "fused_gate", "scattered_gradients", "source"});
  FrameworkKernels kernels;
  const Node attention = node.get("attention");
  for (const auto& [generation, name] : kGenerationNames) {
    kernels.attention[static_cast<std::size_t>(generation)] =
        attention.get(name).choice(kAttentionKernelNames);
  }
  kernels.fused_norm = node.get("fused_norm").boolean();
  const auto read = [node](std::string_view key, bool& flag) {
    if (const auto given = node.find(key)) flag = given->boolean();
  };
  read("fused_activation", kernels.fused_activation);
  read("fused_accumulation", kernels.fused_accumulation);
  read("fused_gate", kernels.fused_gate);
  read("scattered_gradients", kernels.scattered_gradients);
  kernels.source = read_source(node);
  return kernels;
}

FrameworkEntry read_embedded(std::string_view name) {
  const EmbeddedFile* file = find_embedded(embedded_frameworks(), name);
  const Document document = Document::parse(file->text, fmt::format("{}.yaml", name));
  return read_framework_entry(document.root());
}

/// Read when it is first asked for.
template <std::size_t kIndex>
const FrameworkEntry& entry_at() {
  static const FrameworkEntry kEntry = read_embedded(kFrameworkNames[kIndex]);
  return kEntry;
}

using EntryReader = const FrameworkEntry& (*)();
template <std::size_t... kIndices>
constexpr std::array<EntryReader, sizeof...(kIndices)> readers(
    std::index_sequence<kIndices...> /*all*/) {
  return {entry_at<kIndices>...};
}
constexpr auto kEntries = readers(std::make_index_sequence<std::size(kFrameworkNames)>());

}  // namespace

FrameworkEntry read_framework_entry(Node node) {
  node.allow_only({"framework", "about", "checked", "like", "runs", "kernels", "notes"});
  FrameworkEntry entry;
  if (const auto like = node.find("like")) entry = framework_entry(like->text());
  entry.name = node.get("framework").text();
  entry.about = node.get("about").text();
  entry.checked = node.get("checked").text();
  if (const auto runs = node.find("runs")) {
    for (std::size_t i = 0; i < runs->size(); ++i) entry.runs.push_back(read_line(runs->at(i)));
  }
  if (const auto kernels = node.find("kernels")) entry.kernels = read_kernels_of(*kernels);
  if (const auto notes = node.find("notes")) {
    entry.notes.clear();
    for (std::size_t i = 0; i < notes->size(); ++i) entry.notes.push_back(notes->at(i).text());
  }
  return entry;
}

const FrameworkEntry& framework_entry(std::string_view name) {
  const auto found = std::ranges::find(kFrameworkNames, name);
  return kEntries[static_cast<std::size_t>(found - std::begin(kFrameworkNames))]();
}

Kernels default_kernels(const Framework& framework, const Device& device) {
  Kernels kernels;
  if (framework.name.empty()) return kernels;
  const FrameworkKernels& own = framework_entry(framework.name).kernels;
  kernels.attention = own.attention[static_cast<std::size_t>(generation_of(device))];
  kernels.fused_norm = own.fused_norm;
  kernels.fused_activation = own.fused_activation;
  kernels.fused_accumulation = own.fused_accumulation;
  kernels.fused_gate = own.fused_gate;
  kernels.scattered_gradients = own.scattered_gradients;
  return kernels;
}

}  // namespace stepwright
