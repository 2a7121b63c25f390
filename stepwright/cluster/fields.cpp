#include "stepwright/cluster/fields.h"

#include <fmt/format.h>

#include <vector>

#include "stepwright/core/name.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"

namespace stepwright::cluster {

void read_quantity_field(DocumentNode node, std::string_view key, QuantityKind quantity,
                         double& value) {
  if (value == 0 || node.find(key))
    value = read_quantity(node.get(key), quantity, 1, kMaxClusterFileQuantity);
}

void read_count(DocumentNode node, std::string_view key, std::int64_t high, std::int64_t& value) {
  if (value == 0 || node.find(key)) value = node.get(key).integer(1, high);
}

void read_name(DocumentNode node, std::string_view key, std::string& value) {
  if (!value.empty() && !node.find(key)) return;
  const DocumentNode name = node.get(key);
  value = stepwright::read_name(name);
  if (value.empty()) name.fail("must not be empty");
}

void check_mapping_keys(DocumentNode node, MappingPlace place, std::string_view version,
                        std::span<const std::string_view> keys) {
  std::vector<std::string_view> known(keys.begin(), keys.end());
  if (place == MappingPlace::kFile) {
    const DocumentNode stated = node.get("stepwright");
    if (stated.text() != version) {
      stated.fail(fmt::format("must be {} here; it is '{}'", version,
                              one_line_printable_text(stated.text())));
    }
    known.insert(known.begin(), "stepwright");
  }
  node.allow_only_keys(known);
}

void fail_unknown_built_in_name(DocumentNode node, std::string_view kind, std::string_view word,
                                std::span<const EmbeddedFile> files, std::string_view also) {
  node.fail(fmt::format(
      "unknown {} '{}'{}; {} is allowed here, too", kind, one_line_printable_text(word),
      unknown_word_hint_text(word, embedded_file_names(files), "stepwright list profiles"), also));
}

}  // namespace stepwright::cluster
