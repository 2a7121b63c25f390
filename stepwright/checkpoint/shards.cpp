#include "stepwright/checkpoint/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/utf8.h"

namespace stepwright::checkpoint {

FileChecksum write_safetensors_file(const std::filesystem::path& path,
                                    const std::vector<FlatTensorView>& tensors) {
  std::vector<SafetensorsEntry> entries;
  for (const FlatTensorView& tensor : tensors) {
    entries.push_back({.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape});
  }
  DurableFile file(path);
  file.write(build_safetensors_header(entries));
  for (const FlatTensorView& tensor : tensors) file.write(tensor.bytes);
  return file.finish();
}

std::string checkpoint_name_of_tensor_state(std::string_view state, std::string_view tensor) {
  return fmt::format("{}/{}", state, tensor);
}

void check_file_size(const std::filesystem::path& directory, const CheckpointFileEntry& file) {
  const std::filesystem::path path = directory / file.name;
  const InputFileReader opened(path, InputFileReader::FileKindToOpen::kPlain);
  const auto size = static_cast<std::int64_t>(opened.file_size_bytes());
  if (size == file.sum.bytes) return;
  fail_input(fmt::format("{}: damaged: it has {} bytes, but the checkpoint's index states {}",
                         path.string(), size, file.sum.bytes));
}

void verify_file_checksum(const std::filesystem::path& directory, const CheckpointFileEntry& file) {
  check_file_size(directory, file);
  const std::filesystem::path path = directory / file.name;
  const std::string sum = checksum(MappedFile(path).bytes());
  if (sum == file.sum.checksum) return;
  fail_input(fmt::format("{}: damaged: its checksum is {}, but the checkpoint's index states {}",
                         path.string(), sum, one_line_printable_text(file.sum.checksum)));
}

CheckpointShardReader::CheckpointShardReader(const std::filesystem::path& directory)
    : CheckpointShardReader(directory, load_checkpoint_index(directory)) {}

CheckpointShardReader::CheckpointShardReader(const std::filesystem::path& directory,
                                             CheckpointIndex index)
    : directory_(directory), index_(std::move(index)) {
  for (const CheckpointFileEntry& file : index_.files) check_file_size(directory, file);
  check_tensor_coverage(index_, directory / kCheckpointIndexName);
  for (std::size_t i = 0; i < index_.tensors.size(); ++i) places_[index_.tensors[i].name] = i;
}

const CheckpointTensorEntry* CheckpointShardReader::find(std::string_view tensor) const {
  const auto found = places_.find(tensor);
  return found == places_.end() ? nullptr : &index_.tensors[found->second];
}

std::span<const std::byte> CheckpointShardReader::slice(const CheckpointTensorEntry& tensor,
                                                        std::string_view state,
                                                        const CheckpointTensorSlice& which) {
  std::unique_ptr<SafetensorsFile>& file = open_[which.file];
  if (!file) {
    const CheckpointFileEntry& listed = index_.files[static_cast<std::size_t>(which.file)];
    file = std::make_unique<SafetensorsFile>(directory_ / listed.name);
  }
  const std::string name = checkpoint_name_of_tensor_state(state, tensor.name);
  const auto found = file->tensors().find(name);
  if (found == file->tensors().end()) {
    fail_input(fmt::format("{}: has no tensor '{}'", file->path().string(), name));
  }
  const std::int64_t elements = pieces_element_count(which.pieces);
  if (found->second.dtype != index_.dtype || found->second.elements() != elements) {
    fail_input(fmt::format(
        "{}: tensor '{}': has {} elements of {}, but the checkpoint's index states {} of {}",
        file->path().string(), name, found->second.elements(), found->second.dtype, elements,
        index_.dtype));
  }
  return file->bytes_of(found->second);
}

void CheckpointShardReader::check(const CheckpointTensorEntry& tensor, std::string_view state) {
  for (const CheckpointTensorSlice& one : tensor.slices) slice(tensor, state, one);
}

void CheckpointShardReader::read_tensor_state(const CheckpointTensorEntry& tensor,
                                              std::string_view state,
                                              std::span<const StridedShardPiece> pieces,
                                              std::span<std::byte> out) {
  std::vector<StoredElementRun> sources;
  std::vector<std::span<const std::byte>> bytes;
  for (const CheckpointTensorSlice& one : tensor.slices) {
    append_element_runs_of_pieces(sources, one.pieces, std::ssize(bytes));
    bytes.push_back(slice(tensor, state, one));
  }
  std::ranges::sort(sources, {}, &StoredElementRun::begin);
  std::vector<StoredElementRun> targets;
  append_element_runs_of_pieces(targets, pieces, 0);
  const std::int64_t width = element_bytes(index_.dtype);
  for (const StoredElementRun& target : targets) {
    auto source = std::ranges::upper_bound(sources, target.begin, {}, &StoredElementRun::begin);
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
