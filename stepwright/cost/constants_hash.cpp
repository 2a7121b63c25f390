#include "stepwright/cost/constants_hash.h"

#include <fmt/format.h>

#include <cstdint>
#include <span>

#include "stepwright/cluster/profile_files.h"
#include "stepwright/core/embedded.h"
#include "stepwright/core/fnv.h"
#include "stepwright/cost/profiles/machine_files.h"
#include "stepwright/cost/profiles/profile_catalog.h"

namespace stepwright::cost {

std::span<const EmbeddedFile> embedded_conditions();

namespace {

class ConstantsDigest {
 public:
  void add(std::string_view text) { sum_ = fnv1a(text, sum_); }
  void add(std::span<const EmbeddedFile> files) {
    for (const EmbeddedFile& file : files) {
      add(file.name);
      add(text_without_padding(file.text));
    }
  }
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}", sum_); }

 private:
  std::uint64_t sum_ = kFnvEmptyTextHash;
};

std::string digest_of_constants() {
  ConstantsDigest digest;
  digest.add(cluster::embedded_devices());
  digest.add(cluster::embedded_cluster_files());
  digest.add(cluster::embedded_generations());
  digest.add(embedded_operator_profiles());
  digest.add(embedded_machine_profiles());
  digest.add(embedded_conditions());
  return digest.text();
}

}  // namespace

const std::string& built_in_constants_hash() {
  static const std::string hash = digest_of_constants();
  return hash;
}

}  // namespace stepwright::cost
