#include "stepwright/core/json_writer.h"

#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/core/scalar.h"

namespace stepwright {
namespace {

using Json = nlohmann::ordered_json;

Json scalar_json(const DocumentTree& scalar) {
  if (scalar.quoted || !is_non_text_scalar(scalar.text)) return scalar.text;
  if (is_null_word(scalar.text)) return nullptr;
  if (const auto truth = parse_boolean_word(scalar.text)) return *truth;
  const IntegerParseResult integer = read_integer(scalar.text);
  if (integer.status == IntegerParseResult::IntegerParseStatus::kGood) return integer.value;
  if (const auto number = read_double(scalar.text)) return *number;
  return scalar.text;
}

}  // namespace

Json json_from_tree(const DocumentTree& tree) {
  switch (tree.kind) {
    case DocumentTree::TreeValueKind::kNull: return nullptr;
    case DocumentTree::TreeValueKind::kScalar: return scalar_json(tree);
    case DocumentTree::TreeValueKind::kSequence: {
      Json list = Json::array();
      for (const DocumentTree& item : tree.items) list.push_back(json_from_tree(item));
      return list;
    }
    case DocumentTree::TreeValueKind::kMapping: break;
  }
  Json mapping = Json::object();
  for (std::size_t i = 0; i + 1 < tree.items.size(); i += 2) {
    mapping[tree.items[i].text] = json_from_tree(tree.items[i + 1]);
  }
  return mapping;
}

}  // namespace stepwright
