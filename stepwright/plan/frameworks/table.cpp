#include "stepwright/plan/frameworks/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stepwright/core/embedded.h"
#include "stepwright/plan/choices/read_choices.h"

namespace stepwright::plan {

/// The files of this folder, which are compiled in.
std::span<const EmbeddedFile> embedded_frameworks();

namespace {

WordSet all_words(FrameworkProperty ability) {
  return WordSet().set() >> (WordSet().size() - framework_property_value_names(ability).size());
}

/// Reads a list of words of an ability, or `any`.
WordSet read_words(DocumentNode node, FrameworkProperty ability) {
  const std::vector<std::string>& known = framework_property_value_names(ability);
  WordSet words;
  if (node.is_scalar() && node.text() == "any") return all_words(ability);
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

FrameworkProperty named_ability(DocumentNode node, std::string_view name) {
  const auto* found = std::ranges::find(kAbilityNames, name, &Named<FrameworkProperty>::name);
  if (found == std::end(kAbilityNames)) node.fail(fmt::format("names no ability: {}", name));
  return found->value;
}

FixedFrameworkBuckets read_buckets(DocumentNode node) {
  node.allow_only_keys({"sharding", "gradients", "parameters", "variant", "source"});
  FixedFrameworkBuckets buckets;
  buckets.sharding = read_words(node.get("sharding"), FrameworkProperty::kSharding);
  const DocumentNode gradients = node.get("gradients");
  if (gradients.is_mapping()) {
    gradients.allow_only_keys({"least", "of_rank"});
    buckets.gradients = gradients.get("least").integer(1, kMaxPlanFileCount);
    buckets.of_rank = gradients.get("of_rank").integer(1, kMaxPlanFileCount);
  } else if (gradients.text() == "plan") {
    buckets.of_plan = true;
  } else if (gradients.text() != "layer") {
    buckets.gradients = gradients.integer(1, kMaxPlanFileCount);
  }
  buckets.parameters = node.find("parameters").has_value();
  buckets.source = read_source_of_framework_rule(node);
  return buckets;
}

/// Reads the conditions of a line: degrees or words of another ability, and words of abilities of
/// the job.
void read_with(DocumentNode with, FrameworkPropertyLine& entry) {
  if (!with.is_mapping()) {
    entry.with = read_words(with, FrameworkProperty::kParallel);
    return;
  }
  for (const auto& [name, words] : with.mapping_members()) {
    const FrameworkProperty ability = named_ability(with, name);
    const FrameworkPropertyCondition condition{ability, read_words(words, ability)};
    if (entry.with.none()) {
      entry.other = ability;
      entry.with = condition.words;
    } else if (!of_plan(ability)) {
      entry.of_job.push_back(condition);
    } else {
      words.fail("is a second choice of a plan: one, and what the job says beside it");
    }
  }
}

FrameworkPropertyLine read_line(DocumentNode node) {
  node.allow_only_keys(
      {"ability", "words", "except", "with", "without", "variant", "from", "before", "source"});
  FrameworkPropertyLine entry;
  entry.ability = node.get("ability").choice(kAbilityNames);
  if (const auto except = node.find("except")) {
    if (node.find("words")) except->fail("beside words: one of the two says what runs");
    entry.words = all_words(entry.ability) & ~read_words(*except, entry.ability);
  } else {
    entry.words = read_words(node.get("words"), entry.ability);
  }
  entry.source = read_source_of_framework_rule(node);
  if (const auto without = node.find("without")) {
    entry.without = read_words(*without, FrameworkProperty::kParallel);
  }
  if (const auto with = node.find("with")) read_with(*with, entry);
  entry.releases = read_release_range(node);
  return entry;
}

FrameworkVariant read_variant(const std::string& name, DocumentNode node) {
  if (node.is_scalar()) return {.name = name, .about = node.text(), .word_of = ""};
  node.allow_only_keys({"about", "word_of"});
  return {.name = name, .about = node.get("about").text(), .word_of = node.get("word_of").text()};
}

/// Reads the variants that a line names; an empty name means all.
std::vector<std::string> named_variants(DocumentNode line, const FrameworkDescription& entry) {
  const auto given = line.find("variant");
  if (!given) return {""};
  std::vector<DocumentNode> nodes = {*given};
  if (given->is_sequence()) nodes.clear();
  for (std::size_t i = 0; given->is_sequence() && i < given->size(); ++i) {
    nodes.push_back(given->at(i));
  }
  std::vector<std::string> names;
  for (const DocumentNode& node : nodes) {
    names.push_back(node.text());
    const auto known = std::ranges::find(entry.variants, names.back(), &FrameworkVariant::name);
    if (known == entry.variants.end()) node.fail("is not among the variants");
  }
  return names;
}

/// Appends the lines under a key; a line of several variants becomes one line for each.
template <class Line>
void read_lines(DocumentNode node, std::string_view key, Line (*read)(DocumentNode line),
                FrameworkDescription& entry, std::vector<Line>& lines) {
  const auto given = node.find(key);
  for (std::size_t i = 0; given && i < given->size(); ++i) {
    Line line = read(given->at(i));
    for (std::string& variant : named_variants(given->at(i), entry)) {
      line.variant = std::move(variant);
      lines.push_back(line);
    }
  }
}

/// Replaces inherited lines by the entry's own lines about the same ability under the same
/// conditions.
void put_in_place(std::vector<FrameworkPropertyLine>& runs, std::size_t inherited) {
  const std::vector<FrameworkPropertyLine> own(
      runs.begin() + static_cast<std::ptrdiff_t>(inherited), runs.end());
  runs.resize(inherited);
  std::erase_if(runs, [&](const FrameworkPropertyLine& line) {
    return line.other != FrameworkProperty::kParallel &&
           std::ranges::any_of(own, [&](const FrameworkPropertyLine& one) {
             return one.ability == line.ability && one.other == line.other &&
                    one.with == line.with && one.of_job == line.of_job;
           });
  });
  runs.insert(runs.end(), own.begin(), own.end());
}

template <class Line>
void erase_variants(std::vector<Line>& lines) {
  std::erase_if(lines, [](const Line& line) { return !line.variant.empty(); });
}

FrameworkDescription read_embedded(std::string_view name) {
  const EmbeddedFile* file = find_embedded_file(embedded_frameworks(), name);
  const YamlJsonDocument document =
      YamlJsonDocument::parse(file->text, fmt::format("{}.yaml", name));
  return read_framework_entry(document.root());
}

/// An entry that is read on its first use.
template <std::size_t kIndex>
const FrameworkDescription& entry_at() {
  static const FrameworkDescription kEntry = read_embedded(kFrameworkNames[kIndex]);
  return kEntry;
}

using EntryReader = const FrameworkDescription& (*)();
template <std::size_t... kIndices>
constexpr std::array<EntryReader, sizeof...(kIndices)> readers(
    std::index_sequence<kIndices...> /*all*/) {
  return {entry_at<kIndices>...};
}
constexpr auto kEntries = readers(std::make_index_sequence<std::size(kFrameworkNames)>());

}  // namespace

FrameworkDescription read_framework_entry(DocumentNode node) {
  node.allow_only_keys({"framework", "about", "checked", "like", "launches_like", "runs", "buckets",
                        "defaults", "variants", "notes"});
  FrameworkDescription entry;
  if (const auto like = node.find("like")) {
    entry = framework_description(like->text());
    entry.like = like->text();
  }
  if (const auto host = node.find("launches_like")) {
    entry.launches_like = framework_description(host->text()).name;
  }
  entry.variants.clear();
  erase_variants(entry.runs);
  erase_variants(entry.buckets);
  erase_variants(entry.defaults);
  entry.name = node.get("framework").text();
  entry.about = node.get("about").text();
  entry.checked = node.get("checked").text();
  if (const auto variants = node.find("variants")) {
    for (const auto& [name, about] : variants->mapping_members()) {
      entry.variants.push_back(read_variant(name, about));
    }
  }
  const std::size_t inherited = entry.runs.size();
  read_lines(node, "runs", read_line, entry, entry.runs);
  put_in_place(entry.runs, inherited);
  read_lines(node, "buckets", read_buckets, entry, entry.buckets);
  read_lines(node, "defaults", read_framework_default_rule, entry, entry.defaults);
  if (const auto notes = node.find("notes")) {
    entry.notes.clear();
    for (std::size_t i = 0; i < notes->size(); ++i) entry.notes.push_back(notes->at(i).text());
  }
  return entry;
}

const FrameworkDescription& framework_description(std::string_view name) {
  const auto found = std::ranges::find(kFrameworkNames, name);
  return kEntries[static_cast<std::size_t>(found - std::begin(kFrameworkNames))]();
}

}  // namespace stepwright::plan
