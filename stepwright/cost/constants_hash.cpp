#include "stepwright/cost/constants_hash.h"

#include <fmt/format.h>

#include <cstdint>
#include <span>

#include "stepwright/cluster/profile_files.h"
#include "stepwright/core/embedded.h"
#include "stepwright/cost/profiles/machine_files.h"
#include "stepwright/cost/profiles/profile_catalog.h"

namespace stepwright::cost {

std::span<const EmbeddedFile> embedded_conditions();

namespace {

/// FNV-1a with 64 bits (Fowler, Noll and Vo).
class ConstantsDigest {
 public:
  void add(std::string_view text) {
    for (const char c : text) {
      sum_ ^= static_cast<unsigned char>(c);
      sum_ *= 0x100000001b3;
    }
  }
  void add(std::span<const EmbeddedFile> files) {
    for (const EmbeddedFile& file : files) {
      add(file.name);
      add(embedded(file.text));
    }
  }
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}", sum_); }

 private:
  std::uint64_t sum_ = 0xcbf29ce484222325;
};

std::string digest_of_constants() {
  ConstantsDigest digest;
  digest.add(cluster::embedded_devices());
  digest.add(cluster::embedded_clusters());
  digest.add(cluster::embedded_generations());
  digest.add(embedded_profiles());
  digest.add(embedded_machines());
  digest.add(embedded_conditions());
  return digest.text();
}

}  // namespace

const std::string& constants_hash() {
  static const std::string hash = digest_of_constants();
  return hash;
}

}  // namespace stepwright::cost
