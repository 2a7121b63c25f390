#include "stepwright/huggingface/families.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "stepwright/core/document.h"
#include "stepwright/core/embedded.h"
#include "stepwright/core/named.h"

namespace stepwright::huggingface {

/// Returns the file families.yaml, which is compiled into the program.
std::span<const EmbeddedFile> embedded_families();

namespace {

constexpr Named<ParameterStorageLayout> kStorages[] = {
    {ParameterStorageLayout::kTransposed, "transposed"},
    {ParameterStorageLayout::kFilters, "filters"},
    {ParameterStorageLayout::kRow, "row"},
    {ParameterStorageLayout::kParts, "parts"},
    {ParameterStorageLayout::kPartFilters, "part_filters"},
    {ParameterStorageLayout::kByHead, "by_head"},
    {ParameterStorageLayout::kByGroup, "by_group"},
    {ParameterStorageLayout::kByFour, "by_four"},
    {ParameterStorageLayout::kHeads, "heads"},
    {ParameterStorageLayout::kHeadRows, "head_rows"},
    {ParameterStorageLayout::kExperts, "experts"},
    {ParameterStorageLayout::kExpertParts, "expert_parts"},
    {ParameterStorageLayout::kStacked, "stacked"},
    {ParameterStorageLayout::kStackedTransposed, "stacked_transposed"},
    {ParameterStorageLayout::kAlternating, "alternating"},
    {ParameterStorageLayout::kJoinedParts, "joined_parts"},
    {ParameterStorageLayout::kJoinedTransposed, "joined_transposed"}};

constexpr Named<RotaryOrder> kRotaryOrders[] = {{RotaryOrder::kHalves, "halves"},
                                                {RotaryOrder::kSwapped, "swapped"},
                                                {RotaryOrder::kPairs, "pairs"},
                                                {RotaryOrder::kPairsAsStated, "pairs_as_stated"}};

/// Returns the texts of a list, or a single text as a list; empty if absent.
std::vector<std::string> texts_of(const std::optional<DocumentNode>& node) {
  if (!node) return {};
  if (!node->is_sequence()) return {node->text()};
  return node->as_text_list();
}

HuggingFaceParameterNames read_names(const std::string& own, DocumentNode node) {
  HuggingFaceParameterNames names{.own = own};
  if (!node.is_mapping()) {
    names.theirs = texts_of(node);
    return names;
  }
  for (const auto& [storage, word] : kStorages) {
    const auto theirs = node.find(word);
    if (!theirs) continue;
    names.storage = storage;
    names.theirs = texts_of(theirs);
  }
  names.parts = texts_of(node.find("digits"));
  return names;
}

/// Reads the families that families.yaml lists.
class FamilyReader {
 public:
  explicit FamilyReader(DocumentNode root) : lists_(root.get("lists")) {
    const DocumentNode groups = root.get("groups");
    for (std::size_t i = 0; i < groups.size(); ++i) {
      static_cast<void>(groups.at(i).get("source"));
      const DocumentNode families = groups.at(i).get("families");
      for (std::size_t k = 0; k < families.size(); ++k) add(families.at(k), groups.at(i));
    }
  }

  std::vector<HuggingFaceWeightFamily> take() { return std::move(families_); }

 private:
  void add(DocumentNode own, DocumentNode group) {
    own.allow_only_keys({"type", "class", "prefix", "layer", "names", "parallel", "rotary",
                         "index_rotary", "head_alias", "derived"});
    const auto value = [&](std::string_view key) {
      const auto found = own.find(key);
      return found ? found : group.find(key);
    };
    const auto order = [&](std::string_view key) {
      const auto found = own.find(key);
      return found ? found->choice(kRotaryOrders) : RotaryOrder::kHalves;
    };
    const auto alias = own.find("head_alias");
    HuggingFaceWeightFamily family{.model_type = own.get("type").text(),
                                   .model_class = own.get("class").text(),
                                   .prefix = value("prefix").value().text(),
                                   .layer = value("layer").value().text(),
                                   .rotary = order("rotary"),
                                   .index_rotary = order("index_rotary"),
                                   .head_alias = alias ? alias->text() : "",
                                   .derived = texts_of(value("derived"))};
    add_lists(texts_of(own.find("names")), family.names);
    add_lists(texts_of(group.find("names")), family.names);
    add_lists(texts_of(own.find("parallel")), family.parallel_names);
    families_.push_back(std::move(family));
  }

  void add_lists(const std::vector<std::string>& lists,
                 std::vector<HuggingFaceParameterNames>& into) const {
    for (const std::string& list : lists) {
      for (const auto& [own, names] : lists_.get(list).mapping_members()) {
        into.push_back(read_names(own, names));
      }
    }
  }

  DocumentNode lists_;
  std::vector<HuggingFaceWeightFamily> families_;
};

std::vector<HuggingFaceWeightFamily> read_families() {
  const YamlJsonDocument document =
      YamlJsonDocument::parse(embedded_families().front().text, "families.yaml");
  return FamilyReader(document.root()).take();
}

}  // namespace

const std::vector<HuggingFaceWeightFamily>& huggingface_weight_families() {
  static const std::vector<HuggingFaceWeightFamily> kAll = read_families();
  return kAll;
}

const HuggingFaceWeightFamily* find_huggingface_weight_family(std::string_view model_type) {
  const auto found = std::ranges::find(huggingface_weight_families(), model_type,
                                       &HuggingFaceWeightFamily::model_type);
  return found == huggingface_weight_families().end() ? nullptr : &*found;
}

}  // namespace stepwright::huggingface
