#include "stepwright/checkpoint/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/utf8.h"

namespace stepwright::checkpoint {

FileChecksum write_safetensors_file(const std::filesystem::path& path,
                                    const std::vector<ShardTensor>& tensors) {
  std::vector<SafetensorsEntry> entries;
  for (const ShardTensor& tensor : tensors) {
    entries.push_back({.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape});
  }
  DurableFile file(path);
  file.write(safetensors_header(entries));
  for (const ShardTensor& tensor : tensors) file.write(tensor.bytes);
  return file.finish();
}

std::string shard_tensor_name(std::string_view state, std::string_view tensor) {
  return fmt::format("{}/{}", state, tensor);
}

void check_file_size(const std::filesystem::path& directory, const IndexedFile& file) {
  const std::filesystem::path path = directory / file.name;
  const InputFile opened(path, InputFile::Kind::kPlain);
  const auto size = static_cast<std::int64_t>(opened.size_bytes());
  if (size == file.sum.bytes) return;
  fail_input(fmt::format("{}: damaged: {} bytes, the checkpoint's index says {}", path.string(),
                         size, file.sum.bytes));
}

void verify_file_checksum(const std::filesystem::path& directory, const IndexedFile& file) {
  check_file_size(directory, file);
  const std::filesystem::path path = directory / file.name;
  const std::string sum = checksum(MappedFile(path).bytes());
  if (sum == file.sum.checksum) return;
  fail_input(fmt::format("{}: damaged: checksum {}, the checkpoint's index says {}", path.string(),
                         sum, printable(file.sum.checksum)));
}

ShardReader::ShardReader(const std::filesystem::path& directory)
    : ShardReader(directory, load_checkpoint_index(directory)) {}

ShardReader::ShardReader(const std::filesystem::path& directory, CheckpointIndex index)
    : directory_(directory), index_(std::move(index)) {
  for (const IndexedFile& file : index_.files) check_file_size(directory, file);
  check_tensor_coverage(index_, directory / kCheckpointIndexName);
  for (std::size_t i = 0; i < index_.tensors.size(); ++i) places_[index_.tensors[i].name] = i;
}

const IndexedTensor* ShardReader::find(std::string_view tensor) const {
  const auto found = places_.find(tensor);
  return found == places_.end() ? nullptr : &index_.tensors[found->second];
}

std::span<const std::byte> ShardReader::slice(const IndexedTensor& tensor, std::string_view state,
                                              const IndexedSlice& which) {
  std::unique_ptr<SafetensorsFile>& file = open_[which.file];
  if (!file) {
    const IndexedFile& listed = index_.files[static_cast<std::size_t>(which.file)];
    file = std::make_unique<SafetensorsFile>(directory_ / listed.name);
  }
  const std::string name = shard_tensor_name(state, tensor.name);
  const auto found = file->tensors().find(name);
  if (found == file->tensors().end()) {
    fail_input(fmt::format("{}: has no tensor '{}'", file->path().string(), name));
  }
  const std::int64_t elements = pieces_element_count(which.pieces);
  if (found->second.dtype != index_.dtype || found->second.elements() != elements) {
    fail_input(
        fmt::format("{}: tensor '{}': {} elements of {}, the checkpoint's index says {} of {}",
                    file->path().string(), name, found->second.elements(), found->second.dtype,
                    elements, index_.dtype));
  }
  return file->bytes_of(found->second);
}

void ShardReader::check(const IndexedTensor& tensor, std::string_view state) {
  for (const IndexedSlice& one : tensor.slices) slice(tensor, state, one);
}

void ShardReader::read(const IndexedTensor& tensor, std::string_view state,
                       std::span<const ShardPiece> pieces, std::span<std::byte> out) {
  std::vector<Run> sources;
  std::vector<std::span<const std::byte>> bytes;
  for (const IndexedSlice& one : tensor.slices) {
    append_element_runs(sources, one.pieces, std::ssize(bytes));
    bytes.push_back(slice(tensor, state, one));
  }
  std::ranges::sort(sources, {}, &Run::begin);
  std::vector<Run> targets;
  append_element_runs(targets, pieces, 0);
  const std::int64_t width = element_bytes(index_.dtype);
  for (const Run& target : targets) {
    auto source = std::ranges::upper_bound(sources, target.begin, {}, &Run::begin);
    std::int64_t done = 0;
    // always ends: the tensor is complete, so a source has every element
    for (--source; done < target.length; ++source) {
      const std::int64_t skip = target.begin + done - source->begin;
      const std::int64_t count = std::min(source->length - skip, target.length - done);
      std::memcpy(
          out.data() + (target.at + done) * width,
          bytes[static_cast<std::size_t>(source->source)].data() + (source->at + skip) * width,
          static_cast<std::size_t>(count * width));
      done += count;
    }
  }
}

}  // namespace stepwright::checkpoint
