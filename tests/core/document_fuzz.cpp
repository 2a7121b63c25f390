// Any bytes are read or refused with an Error. An accepted document is written as YAML and read
// back as the same tree. The first byte divides the input: the rest also serves as path and value
// of `with`.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"

namespace {

using stepwright::DocumentNode;
using stepwright::Error;
using stepwright::YamlJsonDocument;

/// True if the action succeeded; a refusal is a valid outcome, any other exception is a bug.
template <class Action>
bool may_refuse(const Action& action) {
  try {
    action();
    return true;
  } catch (const Error&) {
    return false;
  }
}

void read_scalar(const DocumentNode& node) {
  may_refuse([&] { (void)node.text(); });
  may_refuse([&] { (void)node.integer(); });
  may_refuse([&] { (void)node.number(0, 1e300); });
  may_refuse([&] { (void)node.boolean(); });
  may_refuse([&] { node.allow_only_keys({"batch", "length"}); });
}

void walk(const DocumentNode& node) {
  if (node.is_mapping()) {
    for (const auto& [key, value] : node.mapping_members()) walk(value);
  } else if (node.is_sequence()) {
    for (std::size_t i = 0; i < node.size(); ++i) walk(node.at(i));
  } else if (node.is_number()) {
    (void)node.copy_tree();
  }
}

void round_trip(const YamlJsonDocument& document) {
  const std::string text = document.to_yaml();
  try {
    const YamlJsonDocument again = YamlJsonDocument::parse(text, "again.yaml");
    const bool same =
        again.root().copy_tree() == document.root().copy_tree() && again.to_yaml() == text;
    if (!same) std::abort();
  } catch (const Error&) {
    std::abort();  // The planner's own output must never be refused.
  }
}

void change(std::string_view text) {
  const std::size_t half = static_cast<unsigned char>(text[0]) % text.size();
  const std::string_view path = text.substr(1, half);
  const YamlJsonDocument start =
      YamlJsonDocument::parse("a: {b: 4096, c: [1, 2]}\nd: text\n", "start.yaml");
  round_trip(start.copy_with_replaced_scalar(path, text.substr(half)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  may_refuse([&] {
    const YamlJsonDocument document = YamlJsonDocument::parse(text, "fuzz");
    read_scalar(document.root());
    walk(document.root());
    round_trip(document);
  });
  if (size > 2) may_refuse([&] { change(text); });
  return 0;
}
