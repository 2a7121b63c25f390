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

constexpr Named<Storage> kStorages[] = {{Storage::kTransposed, "transposed"},
                                        {Storage::kFilters, "filters"},
                                        {Storage::kRow, "row"},
                                        {Storage::kParts, "parts"},
                                        {Storage::kPartFilters, "part_filters"},
                                        {Storage::kByHead, "by_head"},
                                        {Storage::kByGroup, "by_group"},
                                        {Storage::kByFour, "by_four"},
                                        {Storage::kHeads, "heads"},
                                        {Storage::kHeadRows, "head_rows"},
                                        {Storage::kExperts, "experts"},
                                        {Storage::kExpertParts, "expert_parts"},
                                        {Storage::kStacked, "stacked"},
                                        {Storage::kStackedTransposed, "stacked_transposed"},
                                        {Storage::kAlternating, "alternating"},
                                        {Storage::kJoinedParts, "joined_parts"},
                                        {Storage::kJoinedTransposed, "joined_transposed"}};

constexpr Named<RotaryOrder> kRotaryOrders[] = {{RotaryOrder::kHalves, "halves"},
                                                {RotaryOrder::kSwapped, "swapped"},
                                                {RotaryOrder::kPairs, "pairs"},
                                                {RotaryOrder::kPairsAsStated, "pairs_as_stated"}};

/// Returns the texts of a list, or a single text as a list; empty if absent.
std::vector<std::string> texts_of(const std::optional<Node>& node) {
  if (!node) return {};
  if (!node->is_sequence()) return {node->text()};
  return node->texts();
}

ParameterNames read_names(const std::string& own, Node node) {
  ParameterNames names{.own = own};
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
  explicit FamilyReader(Node root) : lists_(root.get("lists")) {
    const Node groups = root.get("groups");
    for (std::size_t i = 0; i < groups.size(); ++i) {
      static_cast<void>(groups.at(i).get("source"));
      const Node families = groups.at(i).get("families");
      for (std::size_t k = 0; k < families.size(); ++k) add(families.at(k), groups.at(i));
    }
  }

  std::vector<Family> take() { return std::move(families_); }

 private:
  void add(Node own, Node group) {
    own.allow_only({"type", "class", "prefix", "layer", "names", "parallel", "rotary",
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
    Family family{.model_type = own.get("type").text(),
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

  void add_lists(const std::vector<std::string>& lists, std::vector<ParameterNames>& into) const {
    for (const std::string& list : lists) {
      for (const auto& [own, names] : lists_.get(list).members()) {
        into.push_back(read_names(own, names));
      }
    }
  }

  Node lists_;
  std::vector<Family> families_;
};

std::vector<Family> read_families() {
  const Document document = Document::parse(embedded_families().front().text, "families.yaml");
  return FamilyReader(document.root()).take();
}

}  // namespace

const std::vector<Family>& weight_families() {
  static const std::vector<Family> kAll = read_families();
  return kAll;
}

const Family* find_family(std::string_view model_type) {
  const auto found = std::ranges::find(weight_families(), model_type, &Family::model_type);
  return found == weight_families().end() ? nullptr : &*found;
}

}  // namespace stepwright::huggingface
