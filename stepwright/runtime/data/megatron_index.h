#pragma once

#include <cstdint>
#include <filesystem>

namespace stepwright::runtime {

/// The content of the `.idx` file of a Megatron data set about its `.bin` file.
struct MegatronIndex {
  int token_bytes = 0;
  std::int64_t sequences = 0;
  std::int64_t tokens = 0;
};

/// Reads the index beside a `.bin` file (Megatron-LM's MMapIndexedDataset, version 1). Fails with
/// `kInput`: no index, another format or version, tokens that are no integers, a truncated file.
MegatronIndex read_megatron_index(const std::filesystem::path& data);

}  // namespace stepwright::runtime
