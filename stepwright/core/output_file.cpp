#include "stepwright/core/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ostream>
#include <random>
#include <streambuf>
#include <system_error>
#include <utility>

#include "stepwright/core/output_path.h"

namespace stepwright {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestFileName = 255;  // Bytes, on most file systems.
constexpr mode_t kNewFile = 0666;              // The system removes the bits of the umask.
constexpr int kTriesForAName = 100;
constexpr int kTriesForAReader = 200;
constexpr int kBetweenTriesMs = 50;

/// Opens a pipe or a device. If nobody reads from a named pipe, waits up to 10 s for a reader.
FileDescriptor open_directly(const OutputTarget& target, const fs::path& shown, int flags) {
  if (target.descriptor) {
    FileDescriptor copy(::fcntl(*target.descriptor, F_DUPFD_CLOEXEC, 0));
    if (!copy.is_open()) fail_to_write(shown);
    return copy;
  }
  for (int tries = 0;; ++tries) {
    FileDescriptor file(
        ::open(target.path.c_str(), flags | O_WRONLY | O_NONBLOCK | O_CLOEXEC, kNewFile));
    if (file.is_open()) {
      ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) & ~O_NONBLOCK);
      return file;
    }
    if (errno != ENXIO) fail_to_write(shown);
    if (tries == kTriesForAReader) fail_to_write(shown, "no program reads from it");
    ::poll(nullptr, 0, kBetweenTriesMs);
  }
}

/// Creates a file beside another one, under a name that does not exist yet.
FileDescriptor open_beside(const fs::path& target, const fs::path& shown, mode_t mode,
                           fs::path& part, std::optional<UnfinishedPath>& unfinished) {
  std::random_device random;
  for (int tries = 0; tries < kTriesForAName; ++tries) {
    const std::string ending = fmt::format(".part-{:08x}", random());
    const std::string name = target.filename().string();
    part = target;
    part.replace_filename(name.substr(0, kLongestFileName - ending.size()) + ending);
    unfinished.emplace(part);
    FileDescriptor file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file.is_open()) return file;
    if (errno != EEXIST) break;
  }
  const int error = errno;
  unfinished.reset();
  part.clear();
  errno = error;
  fail_to_write(shown);
}

/// True if the bytes are on the disk, or if the file system does not support syncing.
bool sync_file(int file) {
  return ::fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS;
}

/// Makes the name of a new file durable, if the system can.
void sync_folder(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const FileDescriptor open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (open.is_open()) ::fsync(open.get());
}

/// A stream buffer that writes to an output; exceptions of the output are passed through the
/// stream.
class OutputBuffer : public std::streambuf {
 public:
  explicit OutputBuffer(OutputFile& file) : file_(file) {
    setp(block_.data(), block_.data() + block_.size());
  }

 protected:
  int sync() override {
    file_.write(std::string_view(pbase(), static_cast<std::size_t>(pptr() - pbase())));
    setp(block_.data(), block_.data() + block_.size());
    return 0;
  }
  int_type overflow(int_type c) override {
    sync();
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    return sputc(traits_type::to_char_type(c));
  }

 private:
  OutputFile& file_;
  std::array<char, std::size_t{1} << 16U> block_{};
};

}  // namespace

OutputFile::OutputFile(fs::path path) : path_(std::move(path)) {
  const OutputTarget target = resolve_output_target(path_);
  check_output_file_writable(path_);
  target_ = target.path;
  if (!target.is_plain) {
    file_ = open_directly(target, path_, 0);
    return;
  }
  struct stat old{};
  const bool replaces = ::stat(target_.c_str(), &old) == 0;
  // Until the file is complete, only its owner may read it; the final mode is set at the end.
  file_ = open_beside(target_, path_, replaces ? S_IRUSR | S_IWUSR : kNewFile, part_, unfinished_);
  if (!replaces) return;
  [[maybe_unused]] const int owner = ::fchown(file_.get(), old.st_uid, old.st_gid);
  // File systems without modes ignore this. Set-user-ID bits are not kept for new content.
  [[maybe_unused]] const int mode = ::fchmod(file_.get(), old.st_mode & 01777);
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (!part_.empty()) fs::remove(part_, ignored);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void OutputFile::write(std::string_view text) {
  if (!write_all_bytes(file_.get(), text)) fail_to_write(path_);
}

void OutputFile::finish() {
  const bool beside = !part_.empty();
  if (beside && !sync_file(file_.get())) fail_to_write(path_);
  if (::close(file_.release_descriptor()) != 0) fail_to_write(path_);
  if (!beside) return;
  if (::rename(part_.c_str(), target_.c_str()) != 0) fail_to_write(path_);
  unfinished_.reset();
  part_.clear();
  sync_folder(target_);
}

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  OutputFile file(path);
  OutputBuffer buffer(file);
  std::ostream stream(&buffer);
  stream.exceptions(std::ios::badbit);
  write(stream);
  stream.flush();
  file.finish();
}

void write_file(const fs::path& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.finish();
}

AppendedFile::AppendedFile(fs::path path) : path_(std::move(path)) {
  check_output_file_writable(path_);
  file_ = open_directly(resolve_output_target(path_), path_, O_CREAT | O_APPEND);
}

void AppendedFile::add(std::string_view text) {
  struct stat before{};
  const bool plain = ::fstat(file_.get(), &before) == 0 && S_ISREG(before.st_mode);
  if (write_all_bytes(file_.get(), text)) return;
  const int error = errno;
  if (plain) [[maybe_unused]]
    const int cut = ::ftruncate(file_.get(), before.st_size);
  fail_to_write(path_, std::generic_category().message(error));
}

void AppendedFile::close() {
  if (::close(file_.release_descriptor()) != 0) fail_to_write(path_);
}

}  // namespace stepwright
